CREATE TABLE user_jobs (
    user TEXT NOT NULL,
    id TEXT NOT NULL,
    status TEXT NOT NULL,
    document TEXT NOT NULL,
    PRIMARY KEY (user, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX user_jobs_running ON user_jobs (status) WHERE status = 'running';
