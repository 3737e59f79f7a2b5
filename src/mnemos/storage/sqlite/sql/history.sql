-- What an agent may read of its own history, in SQL of its own: one space, nothing that was forgotten.
-- Moments are written as SQLite's date functions take them.

-- name: sessions
SELECT
    s.id, s.source, s.model, s.title, s.parent_session_id, datetime(s.started_at, 'unixepoch'),
    datetime(s.ended_at, 'unixepoch'), s.end_reason, s.message_count, s.tool_call_count, s.input_tokens,
    s.output_tokens, s.archived
FROM session_rows AS s
JOIN spaces AS p ON p.id = s.space
WHERE p.name = ?
ORDER BY s.started_at, s.id

-- name: messages
SELECT
    m.id, m.session_id, m.role, m.content, m.tool_name, m.tool_calls, m.token_count,
    datetime(m.timestamp, 'unixepoch')
FROM message_rows AS m
JOIN spaces AS p ON m.id BETWEEN (p.id << 32) + 1 AND (p.id << 32) + (1 << 31) - 1
WHERE p.name = ?
    AND m.forgotten_at IS NULL
    AND NOT m.doomed
ORDER BY m.id

-- name: facts
SELECT
    f.id, f.mark, f.target, f.content, f.label, f.state, f.hot, datetime(f.recorded_at, 'unixepoch'),
    datetime(f.ended_at, 'unixepoch'), f.uses, f.session_id
FROM fact_rows AS f
JOIN spaces AS p ON p.id = f.space
WHERE p.name = ?
ORDER BY f.id
