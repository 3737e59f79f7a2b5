-- Rows of different spaces never share an id range: the messages of space S have the ids
-- (S << 32) + 1 and up. A search in one space is therefore a range of the full-text index, and its
-- cost does not grow with what other spaces hold. Ids stay below 2^53, exact in JSON.

CREATE TABLE spaces (
    id INTEGER PRIMARY KEY CHECK (id BETWEEN 0 AND 2097151),
    name TEXT NOT NULL UNIQUE,
    -- No id below this is given again, so what was forgotten cannot come back under its old id. It moves
    -- when messages are removed, not with each append: the next id is this or the one after the last
    -- message, whichever is higher.
    next_message INTEGER NOT NULL,
    -- Messages up to this id are in messages_fts; those above are pending.
    indexed INTEGER NOT NULL,
    -- Counts removals of messages: an index step prepared before one is not written after it.
    removals INTEGER NOT NULL DEFAULT 0
) STRICT;

INSERT INTO spaces (id, name, next_message, indexed)
VALUES (0, 'default', 1, 0);

CREATE TABLE sessions (
    -- Never given twice: a process that remembers the key of a deleted session cannot hit another.
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    space INTEGER NOT NULL REFERENCES spaces (id),
    id TEXT NOT NULL,
    source TEXT NOT NULL,
    user_id TEXT,
    model TEXT,
    parent INTEGER REFERENCES sessions (key),
    started_at REAL NOT NULL,
    ended_at REAL,
    end_reason TEXT,
    message_count INTEGER NOT NULL DEFAULT 0,
    tool_call_count INTEGER NOT NULL DEFAULT 0,
    input_tokens INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0,
    title TEXT,
    -- SQLite itself folds the case of ASCII only.
    title_folded TEXT,
    archived INTEGER NOT NULL DEFAULT 0,
    -- Deleted, its messages still being removed; no reader sees it.
    doomed INTEGER NOT NULL DEFAULT 0,
    UNIQUE (space, id)
) STRICT;

CREATE INDEX sessions_by_start ON sessions (space, started_at);
CREATE INDEX sessions_by_parent ON sessions (parent) WHERE parent IS NOT NULL;
CREATE INDEX sessions_by_title ON sessions (space, title_folded) WHERE title_folded IS NOT NULL;
CREATE INDEX sessions_doomed ON sessions (space) WHERE doomed;

-- Apart from the counters, which every append rewrites: a system prompt can be twenty kilobytes.
CREATE TABLE session_details (
    session INTEGER PRIMARY KEY REFERENCES sessions (key) ON DELETE CASCADE,
    model_config TEXT,
    system_prompt TEXT,
    metadata TEXT
) STRICT;

CREATE TABLE messages (
    id INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES sessions (key),
    role TEXT NOT NULL,
    timestamp REAL NOT NULL,
    tool_name TEXT,
    tool_call_id TEXT,
    token_count INTEGER,
    -- 0 plain text, 1 JSON
    encoded INTEGER NOT NULL DEFAULT 0,
    forgotten_at REAL,
    metadata TEXT,
    tool_calls TEXT,
    content TEXT,
    space INTEGER GENERATED ALWAYS AS (id >> 32) VIRTUAL
) STRICT;

CREATE INDEX messages_by_session ON messages (session);

-- The view of readers. The columns up to the last named in storage/base.py come first, in its order.
CREATE VIEW session_rows AS
SELECT
    s.id, s.source, s.user_id, s.model, d.model_config, d.system_prompt, p.id AS parent_session_id,
    s.started_at, s.ended_at, s.end_reason, s.message_count, s.tool_call_count, s.input_tokens,
    s.output_tokens, s.title, d.metadata, s.archived, s.key, s.space, s.parent
FROM sessions AS s
LEFT JOIN session_details AS d ON d.session = s.key
LEFT JOIN sessions AS p ON p.key = s.parent
WHERE NOT s.doomed;

CREATE VIEW message_rows AS
SELECT
    m.id, s.id AS session_id, m.role, m.content, m.encoded, m.tool_name, m.tool_calls,
    m.tool_call_id, m.token_count, m.timestamp, m.metadata, m.forgotten_at, m.session, s.source,
    s.doomed
FROM messages AS m
JOIN sessions AS s ON s.key = m.session;

-- The ascii tokenizer keeps every character above U+007F and splits at blanks: what a word is was
-- decided before the text gets here. A message too long for one row of the index has the ids after its
-- own for the rest.
CREATE VIRTUAL TABLE messages_fts USING fts5 (
    said,
    tool,
    beside,
    tags,
    content = '',
    tokenize = "ascii tokenchars '+#'"
);
INSERT INTO messages_fts (messages_fts, rank) VALUES ('secure-delete', 1);
-- Every piece of the index costs a search time: two of a size are merged, in the background.
INSERT INTO messages_fts (messages_fts, rank) VALUES ('usermerge', 2);

-- The weeks that have indexed messages, counted from the epoch: lets a search go through time in order.
CREATE TABLE calendar (
    space INTEGER NOT NULL REFERENCES spaces (id),
    week INTEGER NOT NULL,
    PRIMARY KEY (space, week)
) STRICT, WITHOUT ROWID;

CREATE TABLE audit (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    space INTEGER NOT NULL REFERENCES spaces (id),
    at REAL NOT NULL,
    actor TEXT NOT NULL,
    operation TEXT NOT NULL,
    ref TEXT NOT NULL,
    before TEXT,
    after TEXT,
    undone_by INTEGER
) STRICT;

CREATE INDEX audit_by_ref ON audit (space, ref);

CREATE TABLE backups (
    path TEXT PRIMARY KEY,
    made_at REAL NOT NULL
) STRICT;

-- Facts about the file itself, such as the version of the word rule its index was made with.
CREATE TABLE properties (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;
