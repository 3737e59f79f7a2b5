-- name: newest
SELECT at, actor, session_id, query, hits, certainty, tokens, milliseconds, id
FROM recalls
WHERE space = :space
    AND (:before IS NULL OR id < :before)
ORDER BY id DESC
LIMIT :limit

-- name: add
INSERT INTO recalls (space, at, actor, session_id, query, hits, certainty, tokens, milliseconds)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: drop_old
DELETE FROM recalls
WHERE space = :space
    AND id <= (SELECT id FROM recalls WHERE space = :space ORDER BY id DESC LIMIT 1 OFFSET :keep)

-- name: remove
DELETE FROM recalls
WHERE space = :space
    AND id IN (SELECT value FROM json_each(:ids))
