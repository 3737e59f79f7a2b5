-- name: messages_of_others
SELECT coalesce(sum(message_count), 0)
FROM sessions
WHERE space = ?
    AND user_id <> ?
    AND NOT doomed

-- How far the neighbourhood of each message goes in its session. Where fewer come before than asked for,
-- the session begins.
-- name: reaches
SELECT
    c.session,
    coalesce(
        (
            SELECT b.id
            FROM messages AS b
            WHERE b.session = c.session
                AND b.id < c.id
            ORDER BY b.id DESC
            LIMIT 1 OFFSET :reach - 1
        ),
        0
    ) AS low,
    coalesce(
        (
            SELECT a.id
            FROM messages AS a
            WHERE a.session = c.session
                AND a.id > c.id
            ORDER BY a.id
            LIMIT 1 OFFSET :reach - 1
        ),
        9223372036854775807
    )
FROM json_each(:ids) AS s
CROSS JOIN messages AS c ON c.id = s.value
WHERE c.id BETWEEN :first AND :last
ORDER BY c.session, low

-- name: sessions_of
SELECT key, id, title, project
FROM sessions
WHERE key IN (SELECT value FROM json_each(?))
    AND NOT doomed

-- Stretches of sessions. Of plain texts the beginning; JSON is not cut.
-- name: stretches
SELECT
    s.id, m.id, m.role, m.encoded, m.tool_name, m.timestamp, m.metadata, m.forgotten_at,
    iif(m.encoded, m.content, substr(m.content, 1, :characters)),
    iif(
        m.content IS NULL OR m.content = '' OR m.origin IS NOT NULL, substr(m.tool_calls, 1, :characters), NULL
    ),
    m.origin
FROM json_each(:stretches) AS s
CROSS JOIN messages AS m ON m.session = s.value ->> 0
    AND m.id BETWEEN s.value ->> 1 AND s.value ->> 2
ORDER BY s.id, m.id

-- name: longer
SELECT m.id, substr(m.content, 1, :characters)
FROM json_each(:ids) AS s
CROSS JOIN messages AS m ON m.id = s.value
WHERE NOT m.encoded
    AND length(m.content) > :shorter

-- name: sizes
SELECT m.id, coalesce(octet_length(m.content), 0)
FROM json_each(:ids) AS s
CROSS JOIN messages AS m ON m.id = s.value
WHERE m.id BETWEEN :first AND :last

-- name: of_ids
SELECT id, kind, ref, session_id, speaker, at, live, text, also, "group", user_id
FROM passages
WHERE id IN (SELECT value FROM json_each(:ids))
    AND id BETWEEN :first AND :last

-- name: of_ref
SELECT id, kind, ref, session_id, speaker, at, live, text, also, "group", user_id
FROM passages
WHERE space = ?
    AND kind = ?
    AND ref = ?

-- name: of_kind
SELECT id, kind, ref, session_id, speaker, at, live, text, also, "group", user_id
FROM passages
WHERE space = ?
    AND kind = ?
ORDER BY ref

-- name: take_id
UPDATE spaces
SET next_passage = max(next_passage, ?1) + 1
WHERE id = ?2
RETURNING next_passage - 1

-- name: put
INSERT INTO passages (id, kind, ref, session_id, speaker, at, live, text, also, "group", user_id)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: outdate
UPDATE passages
SET live = 0
WHERE space = ?
    AND kind = ?
    AND ref = ?

-- name: delete
DELETE FROM passages
WHERE id = ?

-- name: last_passage
SELECT next_passage - 1
FROM spaces
WHERE id = ?

-- name: version
SELECT next_passage, removals
FROM spaces
WHERE id = ?

-- name: messages_within
SELECT s.value, m.id, m.session, m.role
FROM json_each(:ids) AS s
CROSS JOIN messages AS m ON m.id = (SELECT max(o.id) FROM messages AS o WHERE o.id <= s.value)
WHERE s.value BETWEEN :first AND :last
    AND m.id >= :first
    AND m.timestamp >= :since
    AND m.timestamp < :until
    AND m.forgotten_at IS NULL

-- name: passages_within
SELECT id, kind, "group", user_id
FROM passages
WHERE id IN (SELECT value FROM json_each(:ids))
    AND id > :last
    AND id <= :last_passage
    AND at >= :since
    AND at < :until

-- name: present
SELECT m.id
FROM messages AS m
JOIN sessions AS s ON s.key = m.session
WHERE m.id IN (SELECT value FROM json_each(:ids))
    AND m.id BETWEEN :first AND :last
    AND m.forgotten_at IS NULL
    AND NOT s.doomed
UNION ALL
SELECT id
FROM passages
WHERE id IN (SELECT value FROM json_each(:ids))
    AND id BETWEEN :first AND :last

-- name: count_removal
UPDATE spaces
SET removals = removals + 1
WHERE id = ?
