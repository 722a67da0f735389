CREATE TABLE conversations (
    user TEXT NOT NULL,
    id TEXT NOT NULL,
    device_id TEXT,
    title TEXT NOT NULL,
    overview TEXT NOT NULL,
    action_items TEXT NOT NULL,
    message_count INTEGER NOT NULL,
    last_message TEXT NOT NULL,
    last_number INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    PRIMARY KEY (user, id)
) STRICT;

CREATE INDEX conversations_by_change ON conversations (user, updated_at, id);

CREATE TABLE turns (
    user TEXT NOT NULL,
    id TEXT NOT NULL,
    conversation_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    last_number INTEGER NOT NULL,
    is_whole INTEGER NOT NULL,
    document TEXT NOT NULL,
    PRIMARY KEY (user, id),
    FOREIGN KEY (user, conversation_id) REFERENCES conversations (user, id) ON DELETE CASCADE
) STRICT;

CREATE INDEX turns_in_order ON turns (user, conversation_id, number, id);

CREATE TABLE turn_claims (
    user TEXT NOT NULL,
    key TEXT NOT NULL,
    digest TEXT NOT NULL,
    turn_id TEXT NOT NULL,
    claimed_at TEXT NOT NULL,
    PRIMARY KEY (user, key)
) STRICT;

CREATE INDEX turn_claims_by_age ON turn_claims (claimed_at);

CREATE TABLE turn_runs (
    turn_id TEXT NOT NULL PRIMARY KEY,
    user TEXT NOT NULL,
    begun_at TEXT NOT NULL,
    ended_at TEXT,
    stop_asked INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE turn_events (
    turn_id TEXT NOT NULL REFERENCES turn_runs (turn_id) ON DELETE CASCADE,
    first_number INTEGER NOT NULL,
    last_number INTEGER NOT NULL,
    document TEXT NOT NULL,
    PRIMARY KEY (turn_id, first_number)
) STRICT;

-- The row number ties a memory to its words, so it must be a named key: VACUUM may change any other.
CREATE TABLE memories (
    row INTEGER PRIMARY KEY,
    user TEXT NOT NULL,
    id TEXT NOT NULL,
    content TEXT NOT NULL,
    likeness TEXT NOT NULL,
    kind TEXT NOT NULL,
    category TEXT NOT NULL,
    importance REAL NOT NULL,
    created_at TEXT NOT NULL,
    expires_at TEXT,
    model TEXT NOT NULL,
    vector BLOB NOT NULL,
    UNIQUE (user, id),
    UNIQUE (user, likeness)
) STRICT;

-- Words come cut and folded already; the ascii tokenizer then leaves every other script alone.
CREATE VIRTUAL TABLE memory_words USING fts5 (words, tokenize = 'ascii');
