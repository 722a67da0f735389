CREATE TABLE confirmations (
    user TEXT NOT NULL,
    id TEXT NOT NULL,
    conversation_id TEXT,
    expires_at TEXT NOT NULL,
    document TEXT NOT NULL,
    PRIMARY KEY (user, id)
) STRICT;

CREATE INDEX confirmations_by_age ON confirmations (expires_at);

CREATE TABLE actions (
    user TEXT NOT NULL,
    id TEXT NOT NULL,
    conversation_id TEXT,
    at TEXT NOT NULL,
    can_be_undone INTEGER NOT NULL,
    undone_at TEXT,
    document TEXT NOT NULL,
    PRIMARY KEY (user, id)
) STRICT;

CREATE INDEX actions_by_time ON actions (user, at, id);
CREATE INDEX actions_of_conversations ON actions (user, conversation_id, at);
