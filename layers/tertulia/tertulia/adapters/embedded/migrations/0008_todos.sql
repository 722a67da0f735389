CREATE TABLE todos (
    user TEXT NOT NULL,
    id TEXT NOT NULL,
    title TEXT NOT NULL,
    note TEXT NOT NULL,
    is_done INTEGER NOT NULL DEFAULT 0,
    created_at TEXT NOT NULL,
    deleted_at TEXT,
    PRIMARY KEY (user, id)
) STRICT, WITHOUT ROWID;
