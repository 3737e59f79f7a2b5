-- name: of_kind
SELECT kind, key, at, forgotten
FROM mnemos.tombstones
WHERE space = :space
    AND (:kind::text IS NULL OR kind = :kind::text)

-- name: get
SELECT kind, key, at, forgotten
FROM mnemos.tombstones
WHERE space = :space
    AND kind = :kind
    AND key = :key

-- name: put
INSERT INTO mnemos.tombstones AS t (space, kind, key, at, forgotten)
VALUES (:space, :kind, :key, :at, :forgotten)
ON CONFLICT (space, kind, key) DO UPDATE
SET at = greatest(t.at, excluded.at),
    forgotten = greatest(t.forgotten, excluded.forgotten)
WHERE t.at < excluded.at
    OR t.forgotten < excluded.forgotten
