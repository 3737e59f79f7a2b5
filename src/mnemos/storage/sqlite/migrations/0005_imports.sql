-- Files of other programs, and how far each was read.
CREATE TABLE imported_files (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    space INTEGER NOT NULL REFERENCES spaces (id),
    kind TEXT NOT NULL,
    path TEXT NOT NULL,
    size INTEGER NOT NULL,
    changed_ns INTEGER NOT NULL,
    position INTEGER NOT NULL,
    line INTEGER NOT NULL,
    digest TEXT NOT NULL,
    -- JSON
    state TEXT,
    UNIQUE (space, kind, path)
) STRICT;

-- Items that came from them. The key is a hash, so that a message costs a few bytes here; it is mixed with the
-- space, because a row has no other name. It stays when its session is deleted: what somebody deleted must
-- not come back with the next import.
CREATE TABLE imported (
    key INTEGER PRIMARY KEY,
    space INTEGER NOT NULL REFERENCES spaces (id),
    session INTEGER NOT NULL
) STRICT;
