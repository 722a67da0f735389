ALTER TABLE memories ADD COLUMN key TEXT NOT NULL DEFAULT '';
ALTER TABLE memories ADD COLUMN source TEXT NOT NULL DEFAULT 'chat';
ALTER TABLE memories ADD COLUMN source_id TEXT NOT NULL DEFAULT '';
ALTER TABLE memories ADD COLUMN device_id TEXT;
ALTER TABLE memories ADD COLUMN valid_from TEXT;
ALTER TABLE memories ADD COLUMN valid_to TEXT;
ALTER TABLE memories ADD COLUMN access_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE memories ADD COLUMN used_at TEXT;
ALTER TABLE memories ADD COLUMN vendor_id TEXT NOT NULL DEFAULT '';
ALTER TABLE memories ADD COLUMN version INTEGER NOT NULL DEFAULT 0;

-- Numbers that grow with time, in place of ids made of a turn's id.
UPDATE memories SET id = CAST(CAST((julianday(created_at) - 2440587.5) * 86400000 AS INTEGER) * 4096 + row % 4096 AS TEXT);

CREATE INDEX memories_by_change ON memories (user, version);

-- How far a user's memories are: whoever keeps a copy of them asks here whether it is still good.
CREATE TABLE memory_marks (
    user TEXT NOT NULL PRIMARY KEY,
    version INTEGER NOT NULL,
    removals INTEGER NOT NULL
) STRICT;

INSERT INTO memory_marks (user, version, removals) SELECT DISTINCT user, 0, 0 FROM memories;

-- Words are compared in the process that recalls.
DROP TABLE memory_words;
