-- The questions that were asked last, for people who want to see what an agent looked up.
CREATE TABLE recalls (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    space INTEGER NOT NULL REFERENCES spaces (id),
    at REAL NOT NULL,
    actor TEXT NOT NULL,
    -- The conversation it was asked for, where that is known.
    session_id TEXT,
    query TEXT NOT NULL,
    -- JSON: kind and ref of each hit, best first
    hits TEXT NOT NULL,
    certainty TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    milliseconds REAL NOT NULL
) STRICT;

CREATE INDEX recalls_by_space ON recalls (space);
