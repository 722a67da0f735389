CREATE TABLE hits (
    user TEXT NOT NULL,
    kind TEXT NOT NULL,
    mark TEXT NOT NULL,
    until REAL NOT NULL,
    PRIMARY KEY (user, kind, mark)
) STRICT;

CREATE INDEX hits_by_age ON hits (until);

-- The deployment's own rows have no user's name: a user's is never empty.
CREATE TABLE spending (
    user TEXT NOT NULL,
    day TEXT NOT NULL,
    microdollars INTEGER NOT NULL,
    PRIMARY KEY (user, day)
) STRICT;

-- Turns are counted in the row without a model.
CREATE TABLE usage (
    user TEXT NOT NULL,
    day TEXT NOT NULL,
    model TEXT NOT NULL,
    turns INTEGER NOT NULL,
    tokens_in INTEGER NOT NULL,
    tokens_out INTEGER NOT NULL,
    audio_ms INTEGER NOT NULL,
    characters INTEGER NOT NULL,
    cost_microdollars INTEGER NOT NULL,
    PRIMARY KEY (user, day, model)
) STRICT;
