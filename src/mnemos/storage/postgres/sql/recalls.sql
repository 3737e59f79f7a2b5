-- name: newest
SELECT at, actor, session_id, query, hits, certainty, tokens, milliseconds, id
FROM mnemos.recalls
WHERE space = :space
    AND (:before::bigint IS NULL OR id < :before::bigint)
ORDER BY id DESC
LIMIT :limit

-- name: add
WITH n AS (
    UPDATE mnemos.space_states
    SET next_number = next_number + 1
    WHERE space = :space
    RETURNING next_number - 1 AS number
)
INSERT INTO mnemos.recalls (id, space, at, actor, session_id, query, hits, certainty, tokens, milliseconds)
VALUES ((SELECT number FROM n), ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: drop_old
DELETE FROM mnemos.recalls
WHERE space = :space
    AND id <= (SELECT id FROM mnemos.recalls WHERE space = :space ORDER BY id DESC LIMIT 1 OFFSET :keep)

-- name: remove
DELETE FROM mnemos.recalls
WHERE space = :space
    AND id IN (SELECT value::bigint FROM json_array_elements_text(:ids::json) AS t (value))
