-- name: file
SELECT kind, path, size, changed_ns, position, line, digest, state
FROM imported_files
WHERE space = ?
    AND kind = ?
    AND path = ?

-- name: files
SELECT kind, path, size, changed_ns, position, line, digest, state
FROM imported_files
WHERE space = :space
    AND (:kind IS NULL OR kind = :kind)

-- name: note_file
INSERT INTO imported_files (space, kind, path, size, changed_ns, position, line, digest, state)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (space, kind, path) DO UPDATE
SET size = excluded.size,
    changed_ns = excluded.changed_ns,
    position = excluded.position,
    line = excluded.line,
    digest = excluded.digest,
    state = excluded.state

-- name: drop_files
DELETE FROM imported_files
WHERE space = ?

-- name: session_key
SELECT key
FROM sessions
WHERE space = ?
    AND id = ?
    AND NOT doomed

-- name: owners
SELECT i.key, coalesce(s.id, '')
FROM json_each(:keys) AS asked
JOIN imported AS i ON i.key = asked.value
LEFT JOIN sessions AS s ON s.key = i.session AND NOT s.doomed
WHERE i.space = :space

-- name: keys_of
SELECT i.key
FROM imported AS i
WHERE i.space = :space
    AND i.session IN (
        SELECT s.key
        FROM json_each(:ids) AS asked
        JOIN sessions AS s ON s.space = :space AND s.id = asked.value
    )

-- name: key_page
SELECT i.key, coalesce(s.id, '')
FROM imported AS i
LEFT JOIN sessions AS s ON s.key = i.session AND NOT s.doomed
WHERE i.space = :space
    AND i.key > :after
ORDER BY i.key
LIMIT :limit

-- name: note
INSERT INTO imported (key, space, session)
SELECT value, :space, :session
FROM json_each(:keys)
WHERE TRUE
ON CONFLICT (key) DO NOTHING

-- name: drop
DELETE FROM imported
WHERE key IN (SELECT value FROM json_each(:keys))
    AND space = :space
