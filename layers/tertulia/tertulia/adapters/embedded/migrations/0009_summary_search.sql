-- Numbers that stay when a row is written anew, for the words beside them.
CREATE TABLE summary_entries (
    id INTEGER PRIMARY KEY,
    user TEXT NOT NULL,
    conversation_id TEXT NOT NULL,
    title TEXT NOT NULL,
    overview TEXT NOT NULL,
    created_at TEXT NOT NULL,
    model TEXT NOT NULL,
    vector BLOB NOT NULL,
    -- The signs of the vector; none in rows from before, which are completed at the first search.
    code BLOB,
    revision INTEGER NOT NULL DEFAULT 0,
    UNIQUE (user, conversation_id)
) STRICT;

INSERT INTO summary_entries (user, conversation_id, title, overview, created_at, model, vector)
SELECT user, conversation_id, title, overview, created_at, model, vector FROM summary_vectors;

DROP TABLE summary_vectors;

-- Holds all that is read to look through the codes, so that the rows themselves are not.
CREATE INDEX summary_codes ON summary_entries (user, revision, model, code);

CREATE TABLE summary_states (
    user TEXT PRIMARY KEY,
    revision INTEGER NOT NULL DEFAULT 0,
    removals INTEGER NOT NULL DEFAULT 0
) STRICT;

INSERT INTO summary_states (user) SELECT DISTINCT user FROM summary_entries;

CREATE VIRTUAL TABLE summary_words USING fts5 (words, detail = none, tokenize = 'ascii');
