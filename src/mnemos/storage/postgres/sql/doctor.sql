-- name: role
SELECT rolname::text, rolsuper, rolbypassrls
FROM pg_roles
WHERE rolname = current_user

-- Tables of ours without the wall between spaces.
-- name: unguarded
SELECT c.relname::text
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = ?
    AND c.relkind IN ('r', 'p')
    AND c.relname NOT IN ('words', 'long_words', 'spaces', 'properties')
    AND NOT (c.relrowsecurity AND c.relforcerowsecurity)
ORDER BY 1

-- name: is_replica
SELECT pg_is_in_recovery()

-- A replica that has replayed everything it received is not behind, however long ago the last commit was.
-- name: lag
SELECT CASE
    WHEN pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() THEN 0
    ELSE coalesce(extract(epoch FROM now() - pg_last_xact_replay_timestamp()), 0)
END::float8

-- Roles without special rights see the snapshots of others, but not when their transactions began.
-- name: old_snapshots
SELECT pid, coalesce(application_name, ''), (extract(epoch FROM now() - xact_start) / 60)::float8, age(backend_xmin)
FROM pg_stat_activity
WHERE datname = current_database()
    AND pid <> pg_backend_pid()
    AND backend_type = 'client backend'
    AND (xact_start < now() - interval '5 minutes' OR age(backend_xmin) > 10000)
ORDER BY age(backend_xmin) DESC NULLS LAST
LIMIT 3

-- name: empty_pending
SELECT mnemos.empty_pending()

-- The messages of the space and of all spaces, about, and the bytes of all tables.
-- name: share
SELECT
    (SELECT coalesce(sum(message_count), 0)::bigint FROM mnemos.sessions WHERE space = :space),
    (SELECT greatest(reltuples, 0)::bigint FROM pg_class WHERE oid = ?::regclass),
    (
        SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint
        FROM pg_class AS c
        JOIN pg_namespace AS n ON n.oid = c.relnamespace
        WHERE n.nspname = ?
            AND c.relkind = 'r'
    )

-- name: dead_rows
SELECT relname::text, n_dead_tup
FROM pg_stat_user_tables
WHERE schemaname = ?
    AND n_dead_tup > 10000
    AND n_dead_tup > n_live_tup / 2
ORDER BY n_dead_tup DESC
LIMIT 3

-- name: orphans
SELECT count(*)
FROM mnemos.messages AS m
WHERE m.space = :space
    AND NOT EXISTS (SELECT 1 FROM mnemos.sessions AS s WHERE s.space = :space AND s.key = m.session)

-- name: wrong_counters
SELECT count(*)
FROM mnemos.sessions AS s
LEFT JOIN (
    SELECT m.session, count(*) AS messages
    FROM mnemos.messages AS m
    WHERE m.space = :space
    GROUP BY m.session
) AS c ON c.session = s.key
WHERE s.space = :space
    AND NOT s.doomed
    AND s.message_count <> coalesce(c.messages, 0)

-- name: right_counters
UPDATE mnemos.sessions
SET message_count = (
    SELECT count(*)
    FROM mnemos.messages AS m
    WHERE m.space = :space
        AND m.session = sessions.key
)
WHERE space = :space
    AND NOT doomed

-- Messages with text, the newest of many, that have no words.
-- name: unindexed
SELECT count(*)
FROM (
    SELECT m.id
    FROM mnemos.messages AS m
    WHERE m.space = :space
        AND m.forgotten_at IS NULL
        AND m.origin IS NULL
    ORDER BY m.id DESC
    LIMIT 100000
) AS n
WHERE NOT EXISTS (SELECT 1 FROM mnemos.words AS w WHERE w.space = :space AND w.id = n.id)

-- name: unindexed_passages
SELECT count(*)
FROM mnemos.passages AS p
WHERE p.space = :space
    AND NOT EXISTS (SELECT 1 FROM mnemos.words AS w WHERE w.space = :space AND w.id = p.id)

-- Words of what is not there any more.
-- name: stale
SELECT count(*)
FROM (
    SELECT w.message
    FROM mnemos.words AS w
    WHERE w.space = :space
    ORDER BY w.id DESC
    LIMIT 100000
) AS n
WHERE NOT EXISTS (
        SELECT 1
        FROM mnemos.messages AS m
        WHERE m.space = :space
            AND m.id = n.message
            AND m.forgotten_at IS NULL
    )
    AND NOT EXISTS (SELECT 1 FROM mnemos.passages AS p WHERE p.space = :space AND p.id = n.message)
