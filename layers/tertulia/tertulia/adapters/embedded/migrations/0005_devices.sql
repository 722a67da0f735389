CREATE TABLE devices (
    id TEXT PRIMARY KEY,
    user TEXT NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    created_at TEXT NOT NULL,
    revoked_at TEXT,
    wishes TEXT NOT NULL DEFAULT '{}'
) STRICT;

CREATE INDEX devices_of_users ON devices (user, created_at);

CREATE TABLE device_messages (
    device_id TEXT NOT NULL,
    id TEXT NOT NULL,
    payload TEXT NOT NULL,
    turn_id TEXT NOT NULL,
    received_at TEXT NOT NULL,
    PRIMARY KEY (device_id, id)
) STRICT;

CREATE TABLE device_utterances (
    device_id TEXT NOT NULL,
    utterance TEXT NOT NULL,
    start TEXT NOT NULL,
    received_at TEXT NOT NULL,
    PRIMARY KEY (device_id, utterance)
) STRICT;

CREATE TABLE utterance_slices (
    device_id TEXT NOT NULL,
    utterance TEXT NOT NULL,
    number INTEGER NOT NULL,
    data BLOB NOT NULL,
    received_at TEXT NOT NULL,
    PRIMARY KEY (device_id, utterance, number)
) STRICT;
