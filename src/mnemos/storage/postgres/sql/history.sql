-- Pages of the tables of the history in the workspace, with the key to go on after.

-- name: sessions
SELECT
    s.id, s.source, s.model, s.title, s.parent_session_id,
    to_char(to_timestamp(s.started_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS'),
    to_char(to_timestamp(s.ended_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS'), s.end_reason,
    s.message_count, s.tool_call_count, s.input_tokens, s.output_tokens, s.archived::int, s.key
FROM mnemos.session_rows AS s
WHERE s.space = :space
    AND (:user::text IS NULL OR s.user_id IS NULL OR s.user_id = :user::text)
    AND s.key > :after
ORDER BY s.key
LIMIT :limit

-- name: messages
SELECT
    m.id, m.session_id, m.role, m.content, m.tool_name, m.tool_calls, m.token_count,
    to_char(to_timestamp(m.timestamp) AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS'), m.id
FROM mnemos.message_rows AS m
JOIN mnemos.sessions AS o ON o.space = :space AND o.key = m.session
WHERE m.space = :space
    AND (:user::text IS NULL OR o.user_id IS NULL OR o.user_id = :user::text)
    AND m.forgotten_at IS NULL
    AND NOT m.doomed
    AND m.id > :after
ORDER BY m.id
LIMIT :limit

-- name: facts
SELECT
    f.id, f.mark, f.target, f.content, f.label, f.state, f.hot::int,
    to_char(to_timestamp(f.recorded_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS'),
    to_char(to_timestamp(f.ended_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS'), f.uses, f.session_id, f.id
FROM mnemos.fact_rows AS f
WHERE f.space = :space
    AND (:user::text IS NULL OR f.user_id IS NULL OR f.user_id = :user::text)
    AND f.id > :after
ORDER BY f.id
LIMIT :limit
