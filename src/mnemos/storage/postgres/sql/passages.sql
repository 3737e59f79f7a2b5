-- name: messages_of_others
SELECT coalesce(sum(message_count), 0)::bigint
FROM mnemos.sessions
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
            FROM mnemos.messages AS b
            WHERE b.space = :space
                AND b.session = c.session
                AND b.id < c.id
            ORDER BY b.id DESC
            LIMIT 1 OFFSET :reach::int - 1
        ),
        0
    ) AS low,
    coalesce(
        (
            SELECT a.id
            FROM mnemos.messages AS a
            WHERE a.space = :space
                AND a.session = c.session
                AND a.id > c.id
            ORDER BY a.id
            LIMIT 1 OFFSET :reach::int - 1
        ),
        9223372036854775807
    )
FROM mnemos.messages AS c
WHERE c.space = :space
    AND c.id IN (SELECT json_array_elements_text(:ids::json)::bigint)
ORDER BY c.session, low

-- name: sessions_of
SELECT key, id, title, project
FROM mnemos.sessions
WHERE space = :space
    AND key IN (SELECT json_array_elements_text(?::json)::bigint)
    AND NOT doomed

-- Stretches of sessions. Of plain texts the beginning; JSON is not cut.
-- name: stretches
SELECT
    s.place, m.id, m.role, m.encoded, m.tool_name, m.timestamp, m.metadata, m.forgotten_at,
    CASE WHEN m.encoded THEN m.content ELSE substr(m.content, 1, :characters::int) END,
    CASE
        WHEN m.content IS NULL OR m.content = '' OR m.origin IS NOT NULL
            THEN substr(m.tool_calls, 1, :characters::int)
    END,
    m.origin
FROM json_array_elements(:stretches::json) WITH ORDINALITY AS s (value, place)
JOIN mnemos.messages AS m ON m.space = :space
    AND m.session = (s.value ->> 0)::bigint
    AND m.id BETWEEN (s.value ->> 1)::bigint AND (s.value ->> 2)::bigint
ORDER BY s.place, m.id

-- name: longer
SELECT m.id, substr(m.content, 1, :characters::int)
FROM mnemos.messages AS m
WHERE m.space = :space
    AND m.id IN (SELECT json_array_elements_text(:ids::json)::bigint)
    AND NOT m.encoded
    AND length(m.content) > :shorter::int

-- name: sizes
SELECT m.id, coalesce(octet_length(m.content), 0)::bigint
FROM mnemos.messages AS m
WHERE m.space = :space
    AND m.id IN (SELECT json_array_elements_text(:ids::json)::bigint)

-- name: of_ids
SELECT id, kind, ref, session_id, speaker, at, live, text, also, "group", user_id
FROM mnemos.passages
WHERE space = :space
    AND id IN (SELECT json_array_elements_text(:ids::json)::bigint)

-- name: of_ref
SELECT id, kind, ref, session_id, speaker, at, live, text, also, "group", user_id
FROM mnemos.passages
WHERE space = ?
    AND kind = ?
    AND ref = ?

-- name: of_kind
SELECT id, kind, ref, session_id, speaker, at, live, text, also, "group", user_id
FROM mnemos.passages
WHERE space = ?
    AND kind = ?
ORDER BY ref

-- name: take_id
UPDATE mnemos.space_states
SET next_passage = greatest(next_passage, ?1) + 1
WHERE space = ?2
RETURNING next_passage - 1

-- name: put
INSERT INTO mnemos.passages (
    space, id, kind, ref, session_id, speaker, at, live, text, also, "group", user_id
)
VALUES (:space, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: outdate
UPDATE mnemos.passages
SET live = FALSE
WHERE space = ?
    AND kind = ?
    AND ref = ?

-- name: delete
DELETE FROM mnemos.passages
WHERE space = :space
    AND id = ?

-- name: last_passage
SELECT next_passage - 1
FROM mnemos.space_states
WHERE space = ?

-- name: version
SELECT next_passage, removals
FROM mnemos.space_states
WHERE space = ?

-- The message that an id belongs to: a long one has several.
-- name: messages_within
SELECT s.value::bigint, m.id, m.session, m.role
FROM json_array_elements_text(:ids::json) AS s (value)
CROSS JOIN LATERAL (
    SELECT o.id, o.session, o.role, o.timestamp, o.forgotten_at
    FROM mnemos.messages AS o
    WHERE o.space = :space
        AND o.id <= s.value::bigint
    ORDER BY o.id DESC
    LIMIT 1
) AS m
WHERE s.value::bigint BETWEEN :first AND :last
    AND m.timestamp >= :since
    AND m.timestamp < :until
    AND m.forgotten_at IS NULL

-- name: passages_within
SELECT id, kind, "group", user_id
FROM mnemos.passages
WHERE space = :space
    AND id IN (SELECT json_array_elements_text(:ids::json)::bigint)
    AND at >= :since
    AND at < :until

-- name: present
SELECT m.id
FROM mnemos.messages AS m
JOIN mnemos.sessions AS s ON s.space = :space AND s.key = m.session
WHERE m.space = :space
    AND m.id IN (SELECT json_array_elements_text(:ids::json)::bigint)
    AND m.forgotten_at IS NULL
    AND NOT s.doomed
UNION ALL
SELECT p.id
FROM mnemos.passages AS p
WHERE p.space = :space
    AND p.id IN (SELECT json_array_elements_text(:ids::json)::bigint)

-- name: count_removal
UPDATE mnemos.space_states
SET removals = removals + 1
WHERE space = ?

-- name: every
SELECT id, kind, ref, session_id, speaker, at, live, text, also, "group", user_id
FROM mnemos.passages
WHERE space = :space
ORDER BY id
