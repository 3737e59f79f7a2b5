-- name: record
INSERT INTO audit (space, at, actor, operation, ref, before, after)
VALUES (?, ?, ?, ?, ?, ?, ?)
RETURNING id

-- name: get
SELECT id, at, actor, operation, ref, before, after, undone_by
FROM audit
WHERE space = ?
    AND id = ?

-- name: newest
SELECT id, at, actor, operation, ref, before, after, undone_by
FROM audit
WHERE space = :space
    AND (:before IS NULL OR id < :before)
    AND (:since IS NULL OR at >= :since)
ORDER BY id DESC
LIMIT :limit

-- The plus keeps the index by ref out of it: the rows wanted are the last of the table.
-- name: after
SELECT id, at, actor, operation, ref, before, after, undone_by
FROM audit
WHERE id > :after
    AND +space = :space
ORDER BY id
LIMIT :limit

-- name: first_since
SELECT min(id)
FROM audit
WHERE space = :space
    AND at >= :at

-- name: newest_on
SELECT id, at, actor, operation, ref, before, after, undone_by
FROM audit
WHERE space = ?
    AND ref = ?
ORDER BY id DESC
LIMIT ?

-- name: refs
SELECT DISTINCT ref
FROM audit
WHERE space = :space
    AND ref >= :kind || ':'
    AND ref < :kind || ';'

-- name: mark_undone
UPDATE audit
SET undone_by = ?
WHERE space = ?
    AND id = ?

-- name: scrub
UPDATE audit
SET before = NULL,
    after = NULL
WHERE space = ?
    AND ref = ?
    AND (before IS NOT NULL OR after IS NOT NULL)

-- name: clear
UPDATE audit
SET before = NULL,
    after = NULL
WHERE space = ?
    AND id = ?

-- name: expire
UPDATE audit
SET before = NULL,
    after = NULL
WHERE space = :space
    AND at < :before
    AND substr(operation, 1, length(:operations)) = :operations
    AND (before IS NOT NULL OR after IS NOT NULL)

-- name: note_backup
INSERT INTO backups (path, made_at)
VALUES (?, ?)
ON CONFLICT (path) DO UPDATE
SET made_at = excluded.made_at

-- name: backups
SELECT path, made_at
FROM backups
ORDER BY made_at
