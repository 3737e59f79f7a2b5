-- Removals, so that a sync does not restore the items. They hold no text.
CREATE TABLE tombstones (
    space INTEGER NOT NULL REFERENCES spaces (id),
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    at REAL NOT NULL,
    -- 1: erased permanently, so that no later change restores it.
    forgotten INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (space, kind, key)
) STRICT;
