-- The history that an agent may query in SQL: one space, without forgotten messages.
-- Times have the format of SQLite's date functions.

-- name: sessions
SELECT
    s.id, s.source, s.model, s.title, s.parent_session_id, datetime(s.started_at, 'unixepoch'),
    datetime(s.ended_at, 'unixepoch'), s.end_reason, s.message_count, s.tool_call_count, s.input_tokens,
    s.output_tokens, s.archived
FROM session_rows AS s
JOIN spaces AS p ON p.id = s.space
WHERE p.name = :space
    AND (:user IS NULL OR s.user_id IS NULL OR s.user_id = :user)
ORDER BY s.started_at, s.id

-- name: messages
SELECT
    m.id, m.session_id, m.role, m.content, m.tool_name, m.tool_calls, m.token_count,
    datetime(m.timestamp, 'unixepoch')
FROM message_rows AS m
JOIN sessions AS o ON o.key = m.session
JOIN spaces AS p ON m.id BETWEEN (p.id << 32) + 1 AND (p.id << 32) + (1 << 31) - 1
WHERE p.name = :space
    AND (:user IS NULL OR o.user_id IS NULL OR o.user_id = :user)
    AND m.forgotten_at IS NULL
    AND NOT m.doomed
ORDER BY m.id

-- name: facts
SELECT
    f.id, f.mark, f.target, f.content, f.label, f.state, f.hot, datetime(f.recorded_at, 'unixepoch'),
    datetime(f.ended_at, 'unixepoch'), f.uses, f.session_id
FROM fact_rows AS f
JOIN spaces AS p ON p.id = f.space
WHERE p.name = :space
    AND (:user IS NULL OR f.user_id IS NULL OR f.user_id = :user)
ORDER BY f.id

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
-- The columns differ between versions.
SELECT *
FROM sessions
WHERE id = ?

-- name: hermes_messages
SELECT *
FROM messages
WHERE session_id = ?
ORDER BY id

-- Other agent programs. `changed` grows whenever something in a session changes.

-- name: has_opencode
SELECT
    (
        SELECT count(*)
        FROM pragma_table_info('session')
        WHERE name IN ('id', 'parent_id', 'directory', 'title', 'time_created', 'time_updated')
    )
    + (SELECT count(*) FROM pragma_table_info('message') WHERE name IN ('id', 'session_id', 'time_updated', 'data'))
    + (SELECT count(*) FROM pragma_table_info('part') WHERE name IN ('id', 'message_id', 'session_id', 'data')) = 14

-- name: opencode_sessions
SELECT
    s.*,
    max(s.time_updated, coalesce((SELECT max(m.time_updated) FROM message AS m WHERE m.session_id = s.id), 0))
        AS changed
FROM session AS s
ORDER BY s.time_created, s.id

-- name: opencode_messages
SELECT m.id, m.data
FROM message AS m
WHERE m.session_id = :session
ORDER BY m.id

-- name: opencode_parts
SELECT p.id, p.message_id, p.data
FROM part AS p
WHERE p.session_id = :session
ORDER BY p.id

-- name: has_goose
SELECT
    (
        SELECT count(*)
        FROM pragma_table_info('sessions')
        WHERE name IN ('id', 'description', 'working_dir', 'created_at', 'updated_at')
    )
    + (
        SELECT count(*)
        FROM pragma_table_info('messages')
        WHERE name IN ('id', 'session_id', 'role', 'content_json', 'created_timestamp')
    ) = 10

-- name: goose_sessions
SELECT s.*, coalesce((SELECT max(m.id) FROM messages AS m WHERE m.session_id = s.id), 0) AS changed
FROM sessions AS s
ORDER BY s.created_at, s.id

-- name: goose_messages
SELECT *
FROM messages
WHERE session_id = :session
ORDER BY id

-- name: has_zed
SELECT count(*) = 5
FROM pragma_table_info('threads')
WHERE name IN ('id', 'summary', 'updated_at', 'data_type', 'data')

-- name: zed_sessions
SELECT id, summary, updated_at AS changed
FROM threads
ORDER BY updated_at, id

-- name: zed_messages
SELECT *
FROM threads
WHERE id = :session

-- Cursor keeps everything under a few kinds of keys. Only ranges of two of them are read.

-- name: has_cursor
SELECT count(*) = 2
FROM pragma_table_info('cursorDiskKV')
WHERE name IN ('key', 'value')

-- name: cursor_sessions
SELECT
    substr(key, length('composerData:') + 1) AS id,
    CASE
        WHEN json_valid(data) THEN CAST(coalesce(data ->> '$.lastUpdatedAt', data ->> '$.createdAt', 0) AS INTEGER)
        ELSE 0
    END AS changed
FROM (
    SELECT key, CAST(value AS TEXT) AS data
    FROM cursorDiskKV
    WHERE key > 'composerData:'
        AND key < 'composerData;'
        AND value IS NOT NULL
)
ORDER BY changed, key

-- name: cursor_about
SELECT CAST(value AS TEXT) AS data
FROM cursorDiskKV
WHERE key = 'composerData:' || :session

-- name: cursor_bubbles
-- Without the files that a message has attached, which may be long.
SELECT
    substr(key, length('bubbleId:' || :session || ':') + 1) AS id,
    CASE
        WHEN json_valid(data)
            THEN json_object(
                'type', data -> '$.type', 'text', data -> '$.text', 'createdAt', data -> '$.createdAt',
                'thinking', data -> '$.thinking', 'tokenCount', data -> '$.tokenCount',
                'toolFormerData', data -> '$.toolFormerData', 'workspaceUris', data -> '$.workspaceUris',
                'images', data -> '$.images'
            )
        ELSE data
    END AS data
FROM (
    SELECT key, CAST(value AS TEXT) AS data
    FROM cursorDiskKV
    WHERE key > 'bubbleId:' || :session || ':'
        AND key < 'bubbleId:' || :session || ';'
        AND value IS NOT NULL
)
ORDER BY key

-- name: has_cursor_workspace
SELECT count(*) = 2
FROM pragma_table_info('ItemTable')
WHERE name IN ('key', 'value')

-- name: cursor_workspace_sessions
SELECT CAST(value AS TEXT) AS data
FROM ItemTable
WHERE key = 'composer.composerData'
