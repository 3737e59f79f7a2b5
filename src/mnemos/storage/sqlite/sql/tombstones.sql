-- name: of_kind
SELECT kind, key, at, forgotten
FROM tombstones
WHERE space = :space
    AND (:kind IS NULL OR kind = :kind)

-- name: get
SELECT kind, key, at, forgotten
FROM tombstones
WHERE space = :space
    AND kind = :kind
    AND key = :key

-- name: put
INSERT INTO tombstones (space, kind, key, at, forgotten)
VALUES (:space, :kind, :key, :at, :forgotten)
ON CONFLICT (space, kind, key) DO UPDATE
SET at = max(at, excluded.at),
    forgotten = max(forgotten, excluded.forgotten)
WHERE at < excluded.at
    OR forgotten < excluded.forgotten
