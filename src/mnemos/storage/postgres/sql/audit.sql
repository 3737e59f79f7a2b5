-- name: record
WITH n AS (
    UPDATE mnemos.space_states
    SET next_number = next_number + 1
    WHERE space = :space
    RETURNING next_number - 1 AS number
)
INSERT INTO mnemos.audit (id, space, at, actor, operation, ref, before, after)
VALUES ((SELECT number FROM n), ?, ?, ?, ?, ?, ?, ?)
RETURNING id

-- name: get
SELECT id, at, actor, operation, ref, before, after, undone_by
FROM mnemos.audit
WHERE space = ?
    AND id = ?

-- name: newest
SELECT id, at, actor, operation, ref, before, after, undone_by
FROM mnemos.audit
WHERE space = :space
    AND (:before::bigint IS NULL OR id < :before::bigint)
    AND (:since::float8 IS NULL OR at >= :since::float8)
ORDER BY id DESC
LIMIT :limit

-- name: after
SELECT id, at, actor, operation, ref, before, after, undone_by
FROM mnemos.audit
WHERE space = :space
    AND id > :after
ORDER BY id
LIMIT :limit

-- name: first_since
SELECT min(id)
FROM mnemos.audit
WHERE space = :space
    AND at >= :at::float8

-- name: newest_on
SELECT id, at, actor, operation, ref, before, after, undone_by
FROM mnemos.audit
WHERE space = ?
    AND ref = ?
ORDER BY id DESC
LIMIT ?

-- name: refs
SELECT DISTINCT ref
FROM mnemos.audit
WHERE space = :space
    AND ref >= :kind::text || ':'
    AND ref < :kind::text || ';'

-- name: mark_undone
UPDATE mnemos.audit
SET undone_by = ?
WHERE space = ?
    AND id = ?

-- name: scrub
UPDATE mnemos.audit
SET before = NULL,
    after = NULL
WHERE space = ?
    AND ref = ?
    AND (before IS NOT NULL OR after IS NOT NULL)

-- name: clear
UPDATE mnemos.audit
SET before = NULL,
    after = NULL
WHERE space = ?
    AND id = ?

-- name: expire
UPDATE mnemos.audit
SET before = NULL,
    after = NULL
WHERE space = :space
    AND at < :before::float8
    AND starts_with(operation, :operations::text)
    AND (before IS NOT NULL OR after IS NOT NULL)

-- name: note_backup
INSERT INTO mnemos.backups (space, path, made_at)
VALUES (:space, ?, ?)
ON CONFLICT (space, path) DO UPDATE
SET made_at = excluded.made_at

-- name: backups
SELECT path, made_at
FROM mnemos.backups
WHERE space = :space
ORDER BY made_at
