-- name: file
SELECT kind, path, size, changed_ns, position, line, digest, state
FROM mnemos.imported_files
WHERE space = ?
    AND kind = ?
    AND path = ?

-- name: files
SELECT kind, path, size, changed_ns, position, line, digest, state
FROM mnemos.imported_files
WHERE space = :space
    AND (:kind::text IS NULL OR kind = :kind::text)

-- name: note_file
INSERT INTO mnemos.imported_files (space, kind, path, size, changed_ns, position, line, digest, state)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (space, kind, path) DO UPDATE
SET size = excluded.size,
    changed_ns = excluded.changed_ns,
    position = excluded.position,
    line = excluded.line,
    digest = excluded.digest,
    state = excluded.state

-- name: drop_files
DELETE FROM mnemos.imported_files
WHERE space = ?

-- name: session_key
SELECT key
FROM mnemos.sessions
WHERE space = ?
    AND id = ?
    AND NOT doomed

-- name: owners
SELECT i.key, coalesce(s.id, '')
FROM mnemos.imported AS i
LEFT JOIN mnemos.sessions AS s ON s.space = :space AND s.key = i.session AND NOT s.doomed
WHERE i.space = :space
    AND i.key IN (SELECT json_array_elements_text(:keys::json)::bigint)

-- name: keys_of
SELECT i.key
FROM mnemos.imported AS i
WHERE i.space = :space
    AND i.session IN (
        SELECT s.key
        FROM mnemos.sessions AS s
        WHERE s.space = :space
            AND s.id IN (SELECT json_array_elements_text(:ids::json))
            AND NOT s.doomed
    )

-- name: key_page
SELECT i.key, coalesce(s.id, '')
FROM mnemos.imported AS i
LEFT JOIN mnemos.sessions AS s ON s.space = :space AND s.key = i.session AND NOT s.doomed
WHERE i.space = :space
    AND i.key > :after
ORDER BY i.key
LIMIT :limit

-- name: note
INSERT INTO mnemos.imported (key, space, session)
SELECT k.value::bigint, :space, :session::bigint
FROM json_array_elements_text(:keys::json) AS k (value)
ON CONFLICT (space, key) DO NOTHING

-- name: drop
DELETE FROM mnemos.imported
WHERE space = :space
    AND key IN (SELECT json_array_elements_text(:keys::json)::bigint)
