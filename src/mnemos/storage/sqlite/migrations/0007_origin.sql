-- 'memory' for messages that only repeat the memory itself: calls of its tools, and their results. They are
-- kept, and not indexed. NULL for every other message.
ALTER TABLE messages ADD COLUMN origin TEXT;

DROP VIEW message_rows;
CREATE VIEW message_rows AS
SELECT
    m.id, s.id AS session_id, m.role, m.content, m.encoded, m.tool_name, m.tool_calls,
    m.tool_call_id, m.token_count, m.timestamp, m.metadata, m.forgotten_at, m.origin, m.session, s.source,
    s.doomed
FROM messages AS m
JOIN sessions AS s ON s.key = m.session;

-- Mark what is stored already, as far as names and fences tell. sessions/echoes.py has the whole rule.
CREATE TEMP TABLE tool_messages AS
SELECT
    m.id, m.session, j.value ->> 'id' AS call,
    lower(coalesce(j.value ->> '$.function.name', j.value ->> 'name')) AS name, 0 AS fenced
FROM messages AS m
JOIN json_each(iif(json_valid(m.tool_calls), m.tool_calls, '[]')) AS j
WHERE m.tool_calls IS NOT NULL
    AND j.type = 'object'
UNION ALL
SELECT
    id, session, tool_call_id, lower(tool_name),
    trim(content) GLOB '*<recalled-memory>*</recalled-memory>' OR trim(content) GLOB '<memory-facts>*</memory-facts>'
FROM messages
WHERE role IN ('tool', 'function');

CREATE TEMP TABLE echoes AS
SELECT id, session, call
FROM tool_messages
WHERE (name GLOB '*mnemos[_.:/-]*' AND name NOT GLOB '*sqlite_*')
    OR name IN (
        'remember', 'session_search', 'sessions_search', 'memory_status', 'memory_write', 'memory_search',
        'memory_tick', 'memory_reflect', 'memory_history', 'memory_export', 'memory_purge', 'memory_forget',
        'memory_optimize', 'memory_backend'
    )
    OR (fenced AND (name IS NULL OR name IN ('recall', 'memory')));

UPDATE messages
SET origin = 'memory'
WHERE id IN (SELECT id FROM echoes)
    OR id IN (
        SELECT t.id
        FROM tool_messages AS t
        JOIN echoes AS e ON e.session = t.session AND e.call = t.call
        WHERE t.name IS NULL
            OR t.name IN ('recall', 'memory')
    );

-- Where an index has such messages, or fenced text, it is made again, with the vectors of messages.
CREATE TEMP TABLE outdated AS
SELECT 1
FROM messages
WHERE origin = 'memory'
    OR instr(content, '<recalled-memory>')
    OR instr(content, '<memory-context>')
    OR instr(content, '<memory-facts>')
    OR instr(content, '<workspace-tables>')
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

DROP TABLE temp.tool_messages;
DROP TABLE temp.echoes;
DROP TABLE temp.outdated;
