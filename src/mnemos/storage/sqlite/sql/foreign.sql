-- name: has_hermes_memory
SELECT
    (
        SELECT count(*)
        FROM pragma_table_info('facts')
        WHERE name IN (
            'id', 'type', 'target', 'content', 'scope_id', 'status', 'superseded_by', 'created_at', 'updated_at'
        )
    )
    + (SELECT count(*) FROM pragma_table_info('scopes') WHERE name IN ('id', 'label', 'status')) = 12

-- name: hermes_memory
SELECT
    CAST(f.id AS TEXT), CAST(f.type AS TEXT), CAST(f.target AS TEXT), CAST(f.content AS TEXT),
    CAST(s.label AS TEXT), CAST(f.status AS TEXT), CAST(f.superseded_by AS TEXT),
    CAST(f.created_at AS REAL), CAST(f.updated_at AS REAL), CAST(s.status AS TEXT)
FROM facts AS f
LEFT JOIN scopes AS s ON s.id = f.scope_id
ORDER BY f.created_at, f.rowid

-- name: has_hermes_state
SELECT
    (
        SELECT count(*)
        FROM pragma_table_info('sessions')
        WHERE name IN ('id', 'source', 'parent_session_id', 'started_at')
    )
    + (
        SELECT count(*)
        FROM pragma_table_info('messages')
        WHERE name IN ('id', 'session_id', 'role', 'content', 'timestamp')
    ) = 9

-- name: hermes_parents
SELECT CAST(id AS TEXT), CAST(parent_session_id AS TEXT)
FROM sessions
ORDER BY started_at, id

-- name: hermes_session
-- Every version of the table has other columns.
SELECT *
FROM sessions
WHERE id = ?

-- name: hermes_messages
SELECT *
FROM messages
WHERE session_id = ?
ORDER BY id
