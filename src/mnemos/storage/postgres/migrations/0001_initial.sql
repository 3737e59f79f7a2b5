-- Every primary key begins with the space, an integer, and every query names it. Ids of messages and passages
-- are those of the SQLite engine: the number of the space times 2^32, and then counted. Other ids are counted
-- in each space (next_number): no shard could promise a sequence of the whole database.
-- Texts are compared by their bytes, as SQLite does.

CREATE TABLE mnemos.properties (
    name TEXT COLLATE "C" PRIMARY KEY,
    value TEXT NOT NULL
);

CREATE TABLE mnemos.spaces (
    id INTEGER PRIMARY KEY CHECK (id BETWEEN 0 AND 2097151),
    name TEXT COLLATE "C" NOT NULL UNIQUE
);

-- The row that a writer locks: one writer at a time in a space. An append does not rewrite it.
CREATE TABLE mnemos.space_states (
    space INTEGER PRIMARY KEY,
    -- The version of the tables, which every write reads with its lock.
    schema INTEGER NOT NULL,
    -- Another number once a backup was restored: what a process remembers is of another database.
    epoch BIGINT NOT NULL,
    -- The rule that made the words. While they are made again by a new one: the last id that is done.
    words_rule INTEGER NOT NULL,
    words_through BIGINT,
    -- No id below this is given again. It moves when messages are removed, not with each append.
    next_message BIGINT NOT NULL,
    next_passage BIGINT NOT NULL,
    next_number BIGINT NOT NULL DEFAULT 1,
    -- Counts removals: vectors made before one are not stored after it.
    removals BIGINT NOT NULL DEFAULT 0
);

CREATE TABLE mnemos.sessions (
    space INTEGER NOT NULL,
    key BIGINT NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    source TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C",
    model TEXT COLLATE "C",
    parent BIGINT,
    started_at DOUBLE PRECISION NOT NULL,
    ended_at DOUBLE PRECISION,
    end_reason TEXT COLLATE "C",
    message_count BIGINT NOT NULL DEFAULT 0,
    tool_call_count BIGINT NOT NULL DEFAULT 0,
    input_tokens BIGINT NOT NULL DEFAULT 0,
    output_tokens BIGINT NOT NULL DEFAULT 0,
    title TEXT COLLATE "C",
    title_folded TEXT COLLATE "C",
    archived BOOLEAN NOT NULL DEFAULT FALSE,
    -- Deleted, its messages still being removed; no reader sees it.
    doomed BOOLEAN NOT NULL DEFAULT FALSE,
    project TEXT COLLATE "C",
    branch TEXT COLLATE "C",
    -- Messages below these ids are in the index without the user and the project.
    user_from BIGINT,
    project_from BIGINT,
    -- Counts the writes to a session, so that a writer notices another one in between.
    revision BIGINT NOT NULL DEFAULT 1,
    updated_at DOUBLE PRECISION NOT NULL DEFAULT 0,
    PRIMARY KEY (space, key)
) WITH (fillfactor = 80);

CREATE UNIQUE INDEX sessions_by_id ON mnemos.sessions (space, id) WHERE NOT doomed;
CREATE INDEX sessions_by_start ON mnemos.sessions (space, started_at);
CREATE INDEX sessions_by_parent ON mnemos.sessions (space, parent) WHERE parent IS NOT NULL;
CREATE INDEX sessions_by_title ON mnemos.sessions (space, title_folded) WHERE title_folded IS NOT NULL;
CREATE INDEX sessions_doomed ON mnemos.sessions (space) WHERE doomed;
CREATE INDEX sessions_by_user ON mnemos.sessions (space, user_id) WHERE user_id IS NOT NULL;
CREATE INDEX sessions_by_project ON mnemos.sessions (space, project) WHERE project IS NOT NULL;

CREATE TABLE mnemos.session_details (
    space INTEGER NOT NULL,
    session BIGINT NOT NULL,
    model_config TEXT,
    system_prompt TEXT,
    metadata TEXT,
    PRIMARY KEY (space, session),
    FOREIGN KEY (space, session) REFERENCES mnemos.sessions (space, key) ON DELETE CASCADE
);

CREATE TABLE mnemos.messages (
    space INTEGER NOT NULL,
    id BIGINT NOT NULL,
    session BIGINT NOT NULL,
    role TEXT COLLATE "C" NOT NULL,
    timestamp DOUBLE PRECISION NOT NULL,
    tool_name TEXT COLLATE "C",
    tool_call_id TEXT COLLATE "C",
    token_count BIGINT,
    encoded BOOLEAN NOT NULL DEFAULT FALSE,
    forgotten_at DOUBLE PRECISION,
    metadata TEXT COLLATE "C",
    tool_calls TEXT COLLATE "C",
    content TEXT COLLATE "C",
    origin TEXT COLLATE "C",
    -- The id that the host has for a message.
    host_key TEXT COLLATE "C",
    -- Left the working history: replaced, and still found.
    retired BOOLEAN NOT NULL DEFAULT FALSE,
    PRIMARY KEY (space, id)
);

CREATE INDEX messages_by_session ON mnemos.messages (space, session, id);
CREATE UNIQUE INDEX messages_by_host_key ON mnemos.messages (space, session, host_key) WHERE host_key IS NOT NULL;

-- The words of a message, of a part of a long one, or of a passage. Every lexeme begins with the space.
-- Row-level security does not fit here: PostgreSQL could not use the index under it.
CREATE TABLE mnemos.words (
    space INTEGER NOT NULL,
    id BIGINT NOT NULL,
    -- More than one row for an id where the words do not fit into one.
    piece SMALLINT NOT NULL DEFAULT 0,
    message BIGINT NOT NULL,
    at DOUBLE PRECISION NOT NULL,
    n INTEGER NOT NULL,
    words TSVECTOR NOT NULL,
    PRIMARY KEY (space, id, piece)
);

-- The statistics that ANALYZE keeps of words mislead the planner.
ALTER TABLE mnemos.words ALTER COLUMN words SET STATISTICS 0;
CREATE INDEX words_by_word ON mnemos.words USING gin (words);
CREATE INDEX words_by_time ON mnemos.words (space, at, message);

-- The words of long rows again, in short stretches, for phrases beyond what a row keeps the places of.
CREATE TABLE mnemos.long_words (
    space INTEGER NOT NULL,
    id BIGINT NOT NULL,
    stretch INTEGER NOT NULL,
    words TSVECTOR NOT NULL,
    PRIMARY KEY (space, id, stretch)
);

CREATE TABLE mnemos.passages (
    space INTEGER NOT NULL,
    id BIGINT NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    ref TEXT COLLATE "C" NOT NULL,
    session_id TEXT COLLATE "C",
    speaker TEXT COLLATE "C",
    at DOUBLE PRECISION NOT NULL,
    live BOOLEAN NOT NULL DEFAULT TRUE,
    text TEXT COLLATE "C" NOT NULL,
    also TEXT COLLATE "C",
    "group" TEXT COLLATE "C",
    user_id TEXT COLLATE "C",
    PRIMARY KEY (space, id)
);

CREATE UNIQUE INDEX passages_by_ref ON mnemos.passages (space, kind, ref);
CREATE INDEX passages_by_user ON mnemos.passages (space, user_id) WHERE user_id IS NOT NULL;

CREATE TABLE mnemos.embeddings (
    space INTEGER NOT NULL,
    id BIGINT NOT NULL,
    model TEXT COLLATE "C" NOT NULL,
    dim INTEGER NOT NULL,
    messages BIGINT NOT NULL,
    passages BIGINT NOT NULL,
    erasures BIGINT NOT NULL DEFAULT 0,
    doomed BOOLEAN NOT NULL DEFAULT FALSE,
    PRIMARY KEY (space, id)
);

CREATE UNIQUE INDEX embeddings_by_model ON mnemos.embeddings (space, model) WHERE NOT doomed;

CREATE TABLE mnemos.vectors (
    space INTEGER NOT NULL,
    id BIGINT NOT NULL,
    embedding BIGINT NOT NULL,
    series INTEGER NOT NULL,
    first BIGINT NOT NULL,
    last BIGINT NOT NULL,
    labels BYTEA NOT NULL,
    bits BYTEA NOT NULL,
    codes BYTEA NOT NULL,
    PRIMARY KEY (space, id)
);

-- Not compressed: vectors would not shrink, and a part of one can be read alone.
ALTER TABLE mnemos.vectors ALTER COLUMN labels SET STORAGE EXTERNAL;
ALTER TABLE mnemos.vectors ALTER COLUMN bits SET STORAGE EXTERNAL;
ALTER TABLE mnemos.vectors ALTER COLUMN codes SET STORAGE EXTERNAL;
CREATE INDEX vectors_by_key ON mnemos.vectors (space, embedding, series, last);

CREATE TABLE mnemos.scopes (
    space INTEGER NOT NULL,
    id BIGINT NOT NULL,
    label TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    opened_at DOUBLE PRECISION NOT NULL,
    touched_at DOUBLE PRECISION NOT NULL,
    closed_at DOUBLE PRECISION,
    PRIMARY KEY (space, id),
    UNIQUE (space, key)
);

CREATE INDEX scopes_by_time ON mnemos.scopes (space, touched_at);

CREATE TABLE mnemos.facts (
    space INTEGER NOT NULL,
    id BIGINT NOT NULL,
    mark TEXT COLLATE "C" NOT NULL CHECK (mark IN ('C', 'D', 'V', '?', '✓', '~')),
    target TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    content TEXT COLLATE "C" NOT NULL,
    scope BIGINT,
    state TEXT COLLATE "C" NOT NULL CHECK (state IN ('live', 'superseded', 'retired')),
    hot BOOLEAN NOT NULL CHECK (NOT hot OR state = 'live'),
    recorded_at DOUBLE PRECISION NOT NULL,
    ended_at DOUBLE PRECISION,
    superseded_by BIGINT,
    valid_from DOUBLE PRECISION NOT NULL,
    valid_to DOUBLE PRECISION,
    used_at DOUBLE PRECISION NOT NULL,
    uses BIGINT NOT NULL DEFAULT 0,
    session_id TEXT COLLATE "C",
    message_id BIGINT,
    actor TEXT COLLATE "C" NOT NULL,
    stated_by TEXT COLLATE "C",
    user_id TEXT COLLATE "C",
    PRIMARY KEY (space, id)
);

-- One live fact for each key and user, whatever the race.
CREATE UNIQUE INDEX facts_live
ON mnemos.facts (space, key, mark, coalesce(scope, 0), coalesce(user_id, ''))
WHERE state = 'live';
CREATE INDEX facts_by_target ON mnemos.facts (space, key, state);
CREATE INDEX facts_by_scope ON mnemos.facts (space, scope, mark, used_at) WHERE state = 'live' AND scope IS NOT NULL;
CREATE INDEX facts_hot ON mnemos.facts (space, (mark = 'C'), used_at) WHERE hot;
CREATE INDEX facts_ended ON mnemos.facts (space, ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX facts_superseded_by ON mnemos.facts (space, superseded_by) WHERE superseded_by IS NOT NULL;

CREATE TABLE mnemos.fact_conflicts (
    space INTEGER NOT NULL,
    id BIGINT NOT NULL,
    older BIGINT NOT NULL,
    newer BIGINT NOT NULL,
    reason TEXT COLLATE "C" NOT NULL DEFAULT 'contradicts',
    PRIMARY KEY (space, id),
    UNIQUE (space, older, newer),
    FOREIGN KEY (space, older) REFERENCES mnemos.facts (space, id) ON DELETE CASCADE,
    FOREIGN KEY (space, newer) REFERENCES mnemos.facts (space, id) ON DELETE CASCADE
);

CREATE INDEX fact_conflicts_by_newer ON mnemos.fact_conflicts (space, newer);

CREATE TABLE mnemos.fact_sessions (
    space INTEGER NOT NULL,
    id BIGINT NOT NULL,
    session_id TEXT COLLATE "C" NOT NULL,
    turn BIGINT NOT NULL,
    scope BIGINT,
    wrote TEXT NOT NULL,
    streak BIGINT NOT NULL,
    streak_scope BIGINT,
    seen_at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (space, id),
    UNIQUE (space, session_id)
);

CREATE INDEX fact_sessions_by_time ON mnemos.fact_sessions (space, seen_at);

CREATE TABLE mnemos.scope_touches (
    space INTEGER NOT NULL,
    session BIGINT NOT NULL,
    scope BIGINT NOT NULL,
    turn BIGINT NOT NULL,
    at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (space, session, scope),
    FOREIGN KEY (space, session) REFERENCES mnemos.fact_sessions (space, id) ON DELETE CASCADE
);

CREATE INDEX scope_touches_by_scope ON mnemos.scope_touches (space, scope, at);

CREATE TABLE mnemos.entry_users (
    space INTEGER NOT NULL,
    id BIGINT NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    model TEXT COLLATE "C",
    words BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (space, id),
    UNIQUE (space, name)
);

CREATE TABLE mnemos.entries (
    space INTEGER NOT NULL,
    id BIGINT NOT NULL,
    "user" BIGINT NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    metadata TEXT,
    created_at DOUBLE PRECISION NOT NULL,
    updated_at DOUBLE PRECISION NOT NULL,
    version BIGINT NOT NULL DEFAULT 1,
    settled BIGINT NOT NULL DEFAULT 0,
    words TEXT,
    chunk BIGINT,
    slot INTEGER,
    value TEXT COLLATE "C" NOT NULL,
    -- The value is JSON and not a text.
    encoded BOOLEAN NOT NULL DEFAULT FALSE,
    -- Paths in the value that are searched, as a JSON list. NULL: all of it.
    fields TEXT,
    expires_at DOUBLE PRECISION,
    PRIMARY KEY (space, id),
    UNIQUE (space, "user", key)
);

CREATE INDEX entries_pending ON mnemos.entries (space, "user") WHERE settled <> version;

CREATE INDEX entries_expiring ON mnemos.entries (space, expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE mnemos.entry_words (
    space INTEGER NOT NULL,
    "user" BIGINT NOT NULL,
    word TEXT COLLATE "C" NOT NULL,
    entry BIGINT NOT NULL,
    place INTEGER NOT NULL,
    PRIMARY KEY (space, "user", word, entry)
);

CREATE TABLE mnemos.entry_vocabulary (
    space INTEGER NOT NULL,
    "user" BIGINT NOT NULL,
    word TEXT COLLATE "C" NOT NULL,
    entries BIGINT NOT NULL,
    PRIMARY KEY (space, "user", word)
);

CREATE TABLE mnemos.entry_signs (
    space INTEGER NOT NULL,
    id BIGINT NOT NULL,
    "user" BIGINT NOT NULL,
    ids BYTEA NOT NULL,
    bits BYTEA NOT NULL,
    PRIMARY KEY (space, id)
);

CREATE INDEX entry_signs_by_user ON mnemos.entry_signs (space, "user", id);

CREATE TABLE mnemos.entry_vectors (
    space INTEGER NOT NULL,
    entry BIGINT NOT NULL,
    codes BYTEA NOT NULL,
    PRIMARY KEY (space, entry)
);

CREATE TABLE mnemos.imported_files (
    space INTEGER NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    path TEXT COLLATE "C" NOT NULL,
    size BIGINT NOT NULL,
    changed_ns BIGINT NOT NULL,
    position BIGINT NOT NULL,
    line BIGINT NOT NULL,
    digest TEXT NOT NULL,
    state TEXT,
    PRIMARY KEY (space, kind, path)
);

CREATE TABLE mnemos.imported (
    space INTEGER NOT NULL,
    key BIGINT NOT NULL,
    session BIGINT NOT NULL,
    PRIMARY KEY (space, key)
);

CREATE INDEX imported_by_session ON mnemos.imported (space, session);

CREATE TABLE mnemos.audit (
    space INTEGER NOT NULL,
    id BIGINT NOT NULL,
    at DOUBLE PRECISION NOT NULL,
    actor TEXT COLLATE "C" NOT NULL,
    operation TEXT COLLATE "C" NOT NULL,
    ref TEXT COLLATE "C" NOT NULL,
    before TEXT,
    after TEXT,
    undone_by BIGINT,
    PRIMARY KEY (space, id)
);

CREATE INDEX audit_by_ref ON mnemos.audit (space, ref, id);

CREATE TABLE mnemos.recalls (
    space INTEGER NOT NULL,
    id BIGINT NOT NULL,
    at DOUBLE PRECISION NOT NULL,
    actor TEXT COLLATE "C" NOT NULL,
    session_id TEXT COLLATE "C",
    query TEXT NOT NULL,
    -- JSON
    hits TEXT NOT NULL,
    certainty TEXT COLLATE "C" NOT NULL,
    tokens BIGINT NOT NULL,
    milliseconds DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (space, id)
);

CREATE TABLE mnemos.backups (
    space INTEGER NOT NULL,
    path TEXT COLLATE "C" NOT NULL,
    made_at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (space, path)
);

-- Notebook and templates of a space, which a home on a disk has as files.
CREATE TABLE mnemos.files (
    space INTEGER NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    content TEXT NOT NULL,
    version BIGINT NOT NULL,
    changed_at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (space, name)
);

-- Removals, so that a sync does not restore the items. They hold no text.
CREATE TABLE mnemos.tombstones (
    space INTEGER NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    at DOUBLE PRECISION NOT NULL,
    -- 1: erased permanently, so that no later change restores it.
    forgotten INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (space, kind, key)
);

-- One row for each write, by which a client that lost the answer to COMMIT learns the outcome. Only inserted:
-- a row rewritten with each write would make appends slower while somebody keeps an old snapshot.
CREATE TABLE mnemos.commits (
    space INTEGER NOT NULL,
    at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
    token BIGINT NOT NULL
);

CREATE INDEX commits_by_time ON mnemos.commits (space, at);

-- The view of readers. The columns up to the last named in storage/base.py come first, in its order.
CREATE VIEW mnemos.session_rows WITH (security_invoker = true) AS
SELECT
    s.id, s.source, s.user_id, s.model, d.model_config, d.system_prompt, p.id AS parent_session_id,
    s.started_at, s.ended_at, s.end_reason, s.message_count, s.tool_call_count, s.input_tokens,
    s.output_tokens, s.title, d.metadata, s.archived, s.project, s.branch, s.revision, s.updated_at, s.key,
    s.space, s.parent
FROM mnemos.sessions AS s
LEFT JOIN mnemos.session_details AS d ON d.space = s.space AND d.session = s.key
LEFT JOIN mnemos.sessions AS p ON p.space = s.space AND p.key = s.parent
WHERE NOT s.doomed;

CREATE VIEW mnemos.message_rows WITH (security_invoker = true) AS
SELECT
    m.id, s.id AS session_id, m.role, m.content, m.encoded, m.tool_name, m.tool_calls,
    m.tool_call_id, m.token_count, m.timestamp, m.metadata, m.forgotten_at, m.origin, m.host_key, m.retired,
    m.session, s.source, s.doomed, CASE WHEN m.id < s.user_from THEN NULL ELSE s.user_id END AS user_id,
    CASE WHEN m.id < s.project_from THEN NULL ELSE s.project END AS project, m.space
FROM mnemos.messages AS m
JOIN mnemos.sessions AS s ON s.space = m.space AND s.key = m.session;

CREATE VIEW mnemos.fact_rows WITH (security_invoker = true) AS
SELECT
    f.id, f.mark, f.target, f.key, f.content, f.scope, s.label, f.state, f.hot, f.recorded_at, f.ended_at,
    f.superseded_by, f.valid_from, f.valid_to, f.used_at, f.uses, f.session_id, f.message_id, f.actor,
    f.stated_by, f.user_id, f.space
FROM mnemos.facts AS f
LEFT JOIN mnemos.scopes AS s ON s.space = f.space AND s.id = f.scope;

-- The wall between spaces, for the owner too: a query that forgets the space finds nothing, and one without
-- the setting is an error.
DO $$
DECLARE
    name TEXT;
BEGIN
    FOREACH name IN ARRAY ARRAY[
        'space_states', 'sessions', 'session_details', 'messages', 'passages', 'embeddings', 'vectors',
        'scopes', 'facts', 'fact_conflicts', 'fact_sessions', 'scope_touches', 'entry_users', 'entries',
        'entry_words', 'entry_vocabulary', 'entry_signs', 'entry_vectors', 'imported_files', 'imported',
        'audit', 'recalls', 'backups', 'files', 'tombstones', 'commits'
    ]
    LOOP
        EXECUTE format('ALTER TABLE %I.%I ENABLE ROW LEVEL SECURITY', current_schema(), name);
        EXECUTE format('ALTER TABLE %I.%I FORCE ROW LEVEL SECURITY', current_schema(), name);
        EXECUTE format(
            'CREATE POLICY of_space ON %I.%I USING (space = current_setting(''mnemos.space'')::int)',
            current_schema(), name
        );
    END LOOP;
END
$$;

-- Only the owner of an index may empty its list of new words, and agents should not own the tables: they call
-- this function, which runs as the owner.
DO $$
BEGIN
    EXECUTE format(
        'CREATE FUNCTION %1$I.empty_pending() RETURNS BIGINT LANGUAGE sql SECURITY DEFINER SET search_path = '''' '
        'BEGIN ATOMIC SELECT pg_catalog.gin_clean_pending_list(%2$L::pg_catalog.regclass); END',
        current_schema(), format('%I.words_by_word', current_schema())
    );
END
$$;
