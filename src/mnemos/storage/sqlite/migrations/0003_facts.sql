-- Words that a passage is found by besides its text, and what a search can be narrowed to.
ALTER TABLE passages ADD COLUMN also TEXT;
ALTER TABLE passages ADD COLUMN "group" TEXT;

-- Units of work that facts belong to.
CREATE TABLE scopes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    space INTEGER NOT NULL REFERENCES spaces (id),
    label TEXT NOT NULL,
    -- How labels are compared.
    key TEXT NOT NULL,
    opened_at REAL NOT NULL,
    touched_at REAL NOT NULL,
    closed_at REAL,
    UNIQUE (space, key)
) STRICT;

CREATE INDEX scopes_by_time ON scopes (space, touched_at);
CREATE INDEX scopes_open ON scopes (space, touched_at) WHERE closed_at IS NULL;

CREATE TABLE facts (
    -- Never given twice: what was forgotten cannot come back under its old id.
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    space INTEGER NOT NULL REFERENCES spaces (id),
    mark TEXT NOT NULL CHECK (mark IN ('C', 'D', 'V', '?', '✓', '~')),
    target TEXT NOT NULL,
    -- How targets are compared.
    key TEXT NOT NULL,
    content TEXT NOT NULL,
    scope INTEGER REFERENCES scopes (id),
    state TEXT NOT NULL CHECK (state IN ('live', 'superseded', 'retired')),
    hot INTEGER NOT NULL CHECK (hot = 0 OR state = 'live'),
    -- When we learned it and when we stopped believing it.
    recorded_at REAL NOT NULL,
    ended_at REAL,
    superseded_by INTEGER,
    -- When it held in the world.
    valid_from REAL NOT NULL,
    valid_to REAL,
    used_at REAL NOT NULL,
    uses INTEGER NOT NULL DEFAULT 0,
    session_id TEXT,
    message_id INTEGER,
    actor TEXT NOT NULL
) STRICT;

-- One live fact for each key, whatever the race.
CREATE UNIQUE INDEX facts_live ON facts (space, key, mark, coalesce(scope, 0)) WHERE state = 'live';
CREATE INDEX facts_by_target ON facts (space, key, state);
CREATE INDEX facts_by_scope ON facts (scope, mark, used_at) WHERE state = 'live' AND scope IS NOT NULL;
CREATE INDEX facts_hot ON facts (space, (mark = 'C'), used_at) WHERE hot;
CREATE INDEX facts_ended ON facts (space, ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX facts_superseded_by ON facts (superseded_by) WHERE superseded_by IS NOT NULL;

-- The view of readers: the columns of a fact in storage/facts.py, in its order, and the space.
CREATE VIEW fact_rows AS
SELECT
    f.id, f.mark, f.target, f.key, f.content, f.scope, s.label, f.state, f.hot, f.recorded_at, f.ended_at,
    f.superseded_by, f.valid_from, f.valid_to, f.used_at, f.uses, f.session_id, f.message_id, f.actor,
    f.space
FROM facts AS f
LEFT JOIN scopes AS s ON s.id = f.scope;

-- Live facts that contradict each other across types or scopes; gone when one of them ends.
CREATE TABLE fact_conflicts (
    id INTEGER PRIMARY KEY,
    space INTEGER NOT NULL REFERENCES spaces (id),
    older INTEGER NOT NULL REFERENCES facts (id) ON DELETE CASCADE,
    newer INTEGER NOT NULL REFERENCES facts (id) ON DELETE CASCADE,
    UNIQUE (older, newer)
) STRICT;

CREATE INDEX fact_conflicts_by_newer ON fact_conflicts (newer);
CREATE INDEX fact_conflicts_by_space ON fact_conflicts (space);

-- Where a session is in its count of turns, and what it works on.
CREATE TABLE fact_sessions (
    id INTEGER PRIMARY KEY,
    space INTEGER NOT NULL REFERENCES spaces (id),
    session_id TEXT NOT NULL,
    turn INTEGER NOT NULL,
    scope INTEGER REFERENCES scopes (id),
    -- The scopes written to in this turn, as JSON; 0 for none.
    wrote TEXT NOT NULL,
    -- How many turns in a row wrote to one scope alone, and to which.
    streak INTEGER NOT NULL,
    streak_scope INTEGER,
    seen_at REAL NOT NULL,
    UNIQUE (space, session_id)
) STRICT;

CREATE INDEX fact_sessions_by_time ON fact_sessions (space, seen_at);

-- When a session last referred to an open scope.
CREATE TABLE scope_touches (
    session INTEGER NOT NULL REFERENCES fact_sessions (id) ON DELETE CASCADE,
    scope INTEGER NOT NULL REFERENCES scopes (id) ON DELETE CASCADE,
    turn INTEGER NOT NULL,
    at REAL NOT NULL,
    PRIMARY KEY (session, scope)
) STRICT, WITHOUT ROWID;

CREATE INDEX scope_touches_by_scope ON scope_touches (scope, at);
