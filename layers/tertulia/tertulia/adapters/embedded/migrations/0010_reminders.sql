CREATE TABLE reminders (
    user TEXT NOT NULL,
    id TEXT NOT NULL,
    revision INTEGER NOT NULL,
    due_at TEXT,
    is_open INTEGER NOT NULL,
    is_to_be_told INTEGER NOT NULL,
    changed_at TEXT NOT NULL,
    document TEXT NOT NULL,
    PRIMARY KEY (user, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX reminders_by_due_time ON reminders (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX reminders_to_be_told ON reminders (user) WHERE is_to_be_told = 1;

CREATE TABLE user_events (
    user TEXT NOT NULL,
    number INTEGER NOT NULL,
    at TEXT NOT NULL,
    name TEXT NOT NULL,
    key TEXT NOT NULL,
    document TEXT NOT NULL,
    PRIMARY KEY (user, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX user_events_by_key ON user_events (user, key) WHERE key <> '';
CREATE INDEX user_events_by_age ON user_events (at);
