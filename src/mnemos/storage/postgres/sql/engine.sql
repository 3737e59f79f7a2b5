-- The number of the space follows, for a writer with FOR UPDATE: one writer at a time.
-- name: state
SELECT schema, epoch
FROM mnemos.space_states
WHERE space =

-- The space and the token follow.
-- name: commit
INSERT INTO mnemos.commits (space, token)

-- The token follows.
-- name: token
SELECT 1
FROM mnemos.commits
WHERE at > now() - interval '10 minutes'
    AND space = current_setting('mnemos.space')::int
    AND token =

-- name: remove_tokens
DELETE FROM mnemos.commits
WHERE space = :space
    AND at < now() - interval '10 minutes'

-- name: empty_pending
SELECT mnemos.empty_pending()

-- name: sizes
SELECT c.relname, pg_total_relation_size(c.oid)
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = ?
    AND c.relkind = 'r'
ORDER BY 2 DESC

-- Changes with every commit on the server.
-- name: snapshot
SELECT pg_current_snapshot()::text

-- name: now
SELECT pg_snapshot_xmax(pg_current_snapshot())::text

-- Sessions of the server, and replicas, that see the database as it was before.
-- name: older_snapshots
SELECT count(*)
FROM pg_stat_activity
WHERE backend_xmin IS NOT NULL
    AND age(backend_xmin) > age((?::text::xid8)::xid)
    AND (datname = current_database() OR datname IS NULL)
    AND backend_type IN ('client backend', 'walsender')
    AND pid <> pg_backend_pid()
