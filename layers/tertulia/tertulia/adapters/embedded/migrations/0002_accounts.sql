CREATE TABLE users (
    user TEXT NOT NULL PRIMARY KEY,
    created_at TEXT NOT NULL
) STRICT;

CREATE TABLE user_settings (
    user TEXT NOT NULL PRIMARY KEY,
    document TEXT NOT NULL
) STRICT;

CREATE TABLE api_tokens (
    digest TEXT NOT NULL PRIMARY KEY,
    user TEXT NOT NULL,
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    scopes TEXT NOT NULL,
    created_at TEXT NOT NULL,
    last_used_at TEXT,
    UNIQUE (user, id)
) STRICT;

CREATE TABLE page_sessions (
    digest TEXT NOT NULL PRIMARY KEY,
    token_digest TEXT NOT NULL,
    expires_at TEXT NOT NULL
) STRICT;

CREATE INDEX page_sessions_by_end ON page_sessions (expires_at);
