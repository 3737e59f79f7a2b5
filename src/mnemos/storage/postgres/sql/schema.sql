-- name: is_there
SELECT to_regclass(?) IS NOT NULL

-- name: version
SELECT value
FROM mnemos.properties
WHERE name = 'schema'

-- name: set_property
INSERT INTO mnemos.properties (name, value)
VALUES (?, ?)
ON CONFLICT (name) DO UPDATE
SET value = excluded.value

-- name: get_space
SELECT id
FROM mnemos.spaces
WHERE name = ?

-- name: add_space
INSERT INTO mnemos.spaces (id, name)
SELECT coalesce(max(s.id) + 1, 0), ?
FROM mnemos.spaces AS s
ON CONFLICT (name) DO NOTHING
RETURNING id

-- name: add_state
INSERT INTO mnemos.space_states (space, schema, epoch, words_rule, next_message, next_passage)
VALUES (?, ?, ?, ?, ?, ?)

-- name: lock
SELECT pg_advisory_xact_lock(hashtext('mnemos'), hashtext(?))

-- Roles other than the owner that write.
-- name: grantees
SELECT DISTINCT grantee::text
FROM information_schema.role_table_grants
WHERE table_schema = ?
    AND table_name = 'sessions'
    AND privilege_type = 'INSERT'
    AND grantee NOT IN ('PUBLIC', current_user)

-- name: may_write
SELECT has_table_privilege(:role, :table, 'INSERT')

-- name: set_space
SELECT set_config('mnemos.space', ?, TRUE)

-- name: every_space
SELECT id
FROM mnemos.spaces
ORDER BY id

-- name: set_version
UPDATE mnemos.space_states
SET schema = ?
WHERE space = ?

-- name: epoch
SELECT epoch
FROM mnemos.space_states
WHERE space = ?

-- name: spaces
SELECT id, name
FROM mnemos.spaces
ORDER BY id

-- name: put_space
INSERT INTO mnemos.spaces (id, name)
VALUES (?, ?)

-- name: set_epoch
UPDATE mnemos.space_states
SET epoch = ?
WHERE space = ?

-- name: columns
SELECT column_name::text
FROM information_schema.columns
WHERE table_schema = ?
    AND table_name = ?
ORDER BY ordinal_position

-- name: count_space
SELECT count(*), coalesce(sum(message_count), 0)::bigint
FROM mnemos.sessions
WHERE space = ?
    AND NOT doomed

-- name: server
SELECT pg_is_in_recovery(), EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'citus')

-- name: refer
SELECT create_reference_table(?::regclass)

-- name: distribute
SELECT create_distributed_table(?::regclass, 'space', colocate_with => ?)
