-- Counts the writes to a session, so that a writer notices another one in between.
ALTER TABLE sessions ADD COLUMN revision INTEGER NOT NULL DEFAULT 1;
-- The time of the last write.
ALTER TABLE sessions ADD COLUMN updated_at REAL NOT NULL DEFAULT 0;

-- Writes were not dated until now. The last message is the best guess.
UPDATE sessions
SET updated_at = max(
    started_at,
    coalesce(ended_at, started_at),
    coalesce(
        (SELECT m.timestamp FROM messages AS m WHERE m.session = sessions.key ORDER BY m.id DESC LIMIT 1),
        started_at
    )
);

-- The id that the host has for a message.
ALTER TABLE messages ADD COLUMN host_key TEXT;
CREATE UNIQUE INDEX messages_by_host_key ON messages (session, host_key) WHERE host_key IS NOT NULL;
-- 1 for messages that left the working history: replaced, and still found.
ALTER TABLE messages ADD COLUMN retired INTEGER NOT NULL DEFAULT 0;

DROP VIEW session_rows;
CREATE VIEW session_rows AS
SELECT
    s.id, s.source, s.user_id, s.model, d.model_config, d.system_prompt, p.id AS parent_session_id,
    s.started_at, s.ended_at, s.end_reason, s.message_count, s.tool_call_count, s.input_tokens,
    s.output_tokens, s.title, d.metadata, s.archived, s.project, s.branch, s.revision, s.updated_at, s.key,
    s.space, s.parent
FROM sessions AS s
LEFT JOIN session_details AS d ON d.session = s.key
LEFT JOIN sessions AS p ON p.key = s.parent
WHERE NOT s.doomed;

DROP VIEW message_rows;
CREATE VIEW message_rows AS
SELECT
    m.id, s.id AS session_id, m.role, m.content, m.encoded, m.tool_name, m.tool_calls,
    m.tool_call_id, m.token_count, m.timestamp, m.metadata, m.forgotten_at, m.origin, m.host_key, m.retired,
    m.session, s.source, s.doomed, iif(m.id < s.user_from, NULL, s.user_id) AS user_id,
    iif(m.id < s.project_from, NULL, s.project) AS project
FROM messages AS m
JOIN sessions AS s ON s.key = m.session;

-- Messages and outputs of tools nested in a part of content are searchable text from here on. An index that has such messages
-- without it is made again, with their vectors.
CREATE TEMP TABLE outdated AS
SELECT 1
FROM messages
WHERE encoded
    AND (instr(content, '"output"') OR instr(content, '"message"') OR instr(content, '"parts"'))
LIMIT 1;

INSERT INTO messages_fts (messages_fts)
SELECT 'delete-all'
FROM outdated;
UPDATE spaces
SET indexed = id << 32,
    removals = removals + 1
WHERE EXISTS (SELECT 1 FROM outdated);
UPDATE properties
SET value = ''
WHERE name = 'words'
    AND EXISTS (SELECT 1 FROM outdated);
DELETE FROM vectors
WHERE series = 0
    AND EXISTS (SELECT 1 FROM outdated);
UPDATE embeddings
SET messages = space << 32,
    erasures = erasures + 1
WHERE EXISTS (SELECT 1 FROM outdated);

DROP TABLE temp.outdated;
