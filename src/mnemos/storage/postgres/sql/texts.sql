-- name: read
SELECT content, version, changed_at
FROM mnemos.files
WHERE space = :space
    AND name = ?

-- name: versions
SELECT name, version
FROM mnemos.files
WHERE space = :space
    AND starts_with(name, ?)
ORDER BY name

-- A text that was deleted and made again has another version than before.
-- name: put
WITH n AS (
    UPDATE mnemos.space_states
    SET next_number = next_number + 1
    WHERE space = :space
    RETURNING next_number - 1 AS number
)
INSERT INTO mnemos.files (version, space, name, content, changed_at)
VALUES ((SELECT number FROM n), :space, ?, ?, ?)
ON CONFLICT (space, name) DO UPDATE
SET version = excluded.version,
    content = excluded.content,
    changed_at = excluded.changed_at

-- name: remove
DELETE FROM mnemos.files
WHERE space = :space
    AND name = ?
