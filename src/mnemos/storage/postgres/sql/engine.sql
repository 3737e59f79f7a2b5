-- The number of the space follows.
-- name: state_to_read
SELECT schema, epoch
FROM mnemos.space_states
WHERE space =

-- The number of the space follows, and FOR UPDATE: one writer at a time.
-- name: state_to_write
SELECT schema, epoch, pg_current_xact_id()::text
FROM mnemos.space_states
WHERE space =

-- name: outcome
SELECT pg_xact_status(?::xid8)

-- name: empty_pending
SELECT gin_clean_pending_list(?::regclass)

-- name: size
SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = ?
    AND c.relkind = 'r'

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

-- Sessions of the server that see the database as it was before. Those of other roles show it to superusers only.
-- name: older_snapshots
SELECT count(*)
FROM pg_stat_activity
WHERE backend_xmin IS NOT NULL
    AND age(backend_xmin) > age((?::text::xid8)::xid)
    AND datname = current_database()
    AND backend_type = 'client backend'
    AND pid <> pg_backend_pid()
