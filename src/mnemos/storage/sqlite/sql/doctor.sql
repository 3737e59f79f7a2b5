-- name: look
SELECT rowid
FROM messages_fts
WHERE messages_fts MATCH 'said:x'
LIMIT 1

-- name: wrong_counters
SELECT count(*)
FROM sessions AS s
WHERE s.message_count <> (SELECT count(*) FROM messages AS m WHERE m.session = s.key)
    AND NOT s.doomed

-- name: right_counters
UPDATE sessions
SET message_count = (SELECT count(*) FROM messages AS m WHERE m.session = sessions.key)
WHERE message_count <> (SELECT count(*) FROM messages AS m WHERE m.session = sessions.key)

-- name: orphans
SELECT count(*)
FROM messages
WHERE session NOT IN (SELECT key FROM sessions)

-- Messages that should be in the index and are not. A long message has rows under the ids after its own. How
-- rows stand for ids, index.sql tells.
-- name: unindexed
SELECT count(*)
FROM messages AS m
JOIN spaces AS p ON p.id = m.id >> 32
WHERE m.id <= p.indexed
    AND m.forgotten_at IS NULL
    AND ((m.id >> 32) << 33) + (1 << 31) - m.id NOT IN (SELECT id FROM messages_fts_docsize)

-- name: unindexed_passages
SELECT count(*)
FROM passages
WHERE id NOT IN (SELECT id FROM messages_fts_docsize)

-- name: stale
SELECT count(*)
FROM (
    SELECT iif(id & (1 << 31), id, ((id >> 32) << 33) + (1 << 31) - id) AS id
    FROM messages_fts_docsize
) AS d
WHERE d.id NOT IN (SELECT p.id FROM passages AS p)
    AND NOT EXISTS (
        SELECT 1
        FROM messages AS m
        WHERE m.id = (SELECT max(o.id) FROM messages AS o WHERE o.id <= d.id)
            AND m.forgotten_at IS NULL
            AND d.id <= m.id + max(
                length(coalesce(m.content, '')),
                length(coalesce(m.tool_calls, '')) + length(coalesce(m.tool_name, ''))
            ) / :part
    )

-- name: check_index
INSERT INTO messages_fts (messages_fts)
VALUES ('integrity-check')

-- name: pending
SELECT count(*)
FROM messages AS m
JOIN spaces AS p ON p.id = m.id >> 32
WHERE m.id > p.indexed
