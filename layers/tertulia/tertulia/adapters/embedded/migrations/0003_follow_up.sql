ALTER TABLE conversations ADD COLUMN summarized_number INTEGER NOT NULL DEFAULT -1;
ALTER TABLE conversations ADD COLUMN summarized_at TEXT;

CREATE TABLE summary_vectors (
    user TEXT NOT NULL,
    conversation_id TEXT NOT NULL,
    title TEXT NOT NULL,
    overview TEXT NOT NULL,
    created_at TEXT NOT NULL,
    model TEXT NOT NULL,
    vector BLOB NOT NULL,
    PRIMARY KEY (user, conversation_id)
) STRICT;

-- A job that is done stays as long as its turn: it says that the turn was handed over.
CREATE TABLE follow_up_jobs (
    user TEXT NOT NULL,
    turn_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    conversation_id TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'waiting',
    due_at TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    lease TEXT NOT NULL DEFAULT '',
    error TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (user, turn_id, kind),
    FOREIGN KEY (user, turn_id) REFERENCES turns (user, id) ON DELETE CASCADE
) STRICT;

CREATE INDEX follow_up_jobs_by_time ON follow_up_jobs (state, due_at);

CREATE INDEX turns_by_time ON turns (number);
