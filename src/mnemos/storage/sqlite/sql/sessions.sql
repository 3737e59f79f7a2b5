-- name: get_space
SELECT id, next_message, indexed, removals
FROM spaces
WHERE name = ?

-- name: add_space
INSERT INTO spaces (id, name, next_message, indexed)
SELECT s.id, ?, (s.id << 32) + 1, s.id << 32
FROM (SELECT max(id) + 1 AS id FROM spaces) AS s
WHERE TRUE
ON CONFLICT (name) DO NOTHING

-- name: get
SELECT *
FROM session_rows AS s
WHERE s.space = ?
    AND s.id = ?

-- name: key_of
SELECT key
FROM sessions
WHERE space = ?
    AND id = ?
    AND NOT doomed

-- name: by_title
SELECT *
FROM session_rows AS s
WHERE s.key IN (SELECT key FROM sessions WHERE space = ? AND title_folded = ?)
ORDER BY s.started_at DESC, s.id
LIMIT ?

-- The end of the id range is the text with its last possible continuation.
-- name: by_id_prefix
SELECT *
FROM session_rows AS s
WHERE s.space = :space
    AND s.id >= :text
    AND s.id < :text || char(0x10FFFF)
ORDER BY s.started_at DESC, s.id
LIMIT :limit

-- name: recent
SELECT *
FROM session_rows AS s
WHERE s.space = :space
    AND (:source IS NULL OR s.source = :source)
    AND (:archived IS NULL OR s.archived = :archived)
    AND (:projects IS NULL OR s.project IN (SELECT value FROM json_each(:projects)))
    AND (:user IS NULL OR s.user_id IS NULL OR s.user_id = :user)
    AND (:since IS NULL OR s.started_at >= :since)
    AND (:until IS NULL OR s.started_at < :until)
    AND (:parent IS NULL OR s.parent_session_id = :parent)
    AND (
        :metadata IS NULL
        OR NOT EXISTS (
            SELECT 1
            FROM json_each(:metadata) AS wanted
            WHERE NOT EXISTS (
                SELECT 1
                FROM json_each(s.metadata) AS has
                WHERE has.key = wanted.key
                    AND has.value IS wanted.value
                    AND replace(has.type, 'real', 'integer') = replace(wanted.type, 'real', 'integer')
            )
        )
    )
    AND (:ids IS NULL OR s.id IN (SELECT value FROM json_each(:ids)))
ORDER BY iif(:by_update, s.updated_at, s.started_at) DESC, s.id
LIMIT :limit
OFFSET :offset

-- name: page
SELECT *
FROM session_rows AS s
WHERE s.space = :space
    AND s.id > :after
    AND (:source IS NULL OR s.source = :source)
    AND (:projects IS NULL OR s.project IN (SELECT value FROM json_each(:projects)))
ORDER BY s.id
LIMIT :limit

-- name: count
SELECT count(*)
FROM sessions
WHERE space = :space
    AND NOT doomed
    AND (:source IS NULL OR source = :source)
    AND (:archived IS NULL OR archived = :archived)
    AND (:projects IS NULL OR project IN (SELECT value FROM json_each(:projects)))
    AND (:user IS NULL OR user_id IS NULL OR user_id = :user)
    AND (:since IS NULL OR started_at >= :since)
    AND (:until IS NULL OR started_at < :until)
    AND (:parent IS NULL OR parent = (SELECT key FROM sessions WHERE space = :space AND id = :parent))
    AND (
        :metadata IS NULL
        OR NOT EXISTS (
            SELECT 1
            FROM json_each(:metadata) AS wanted
            WHERE NOT EXISTS (
                SELECT 1
                FROM json_each((SELECT d.metadata FROM session_details AS d WHERE d.session = sessions.key)) AS has
                WHERE has.key = wanted.key
                    AND has.value IS wanted.value
                    AND replace(has.type, 'real', 'integer') = replace(wanted.type, 'real', 'integer')
            )
        )
    )
    AND (:ids IS NULL OR id IN (SELECT value FROM json_each(:ids)))

-- name: by_title_part
SELECT id
FROM sessions
WHERE space = ?
    AND NOT doomed
    AND instr(title_folded, ?)
ORDER BY started_at DESC, id
LIMIT ?

-- name: projects
SELECT DISTINCT project
FROM sessions
WHERE space = ?
    AND project IS NOT NULL
    AND NOT doomed

-- Only the first messages are looked at: a session may have thousands that no user wrote.
-- name: openings
SELECT
    s.id, m.role, m.encoded, 0,
    CASE
        WHEN NOT m.encoded THEN substr(m.content, 1, :characters)
        WHEN length(m.content) < 100000 THEN m.content
    END
FROM json_each(:ids) AS asked
CROSS JOIN sessions AS s ON s.space = :space
    AND s.id = asked.value
CROSS JOIN messages AS m ON m.id IN (
    SELECT id
    FROM (
        SELECT f.id, f.role, f.forgotten_at, f.origin
        FROM messages AS f
        WHERE f.session = s.key
        ORDER BY f.id
        LIMIT 40
    )
    WHERE role = 'user'
        AND forgotten_at IS NULL
        AND origin IS NULL
    ORDER BY id
    LIMIT 5
)
WHERE NOT s.doomed
ORDER BY m.id

-- name: neighbours_of_id
SELECT
    (SELECT max(id) FROM sessions WHERE space = :space AND id < :id AND NOT doomed),
    (SELECT min(id) FROM sessions WHERE space = :space AND id > :id || char(0x10FFFF) AND NOT doomed)

-- name: children
SELECT *
FROM session_rows
WHERE parent = (SELECT key FROM sessions WHERE space = ? AND id = ?)
ORDER BY started_at, key

-- name: last_seen
SELECT
    s.source,
    max((SELECT m.timestamp FROM messages AS m WHERE m.session = s.key ORDER BY m.id DESC LIMIT 1))
FROM sessions AS s
WHERE s.space = ?
    AND NOT s.doomed
GROUP BY s.source

-- name: ended_before
SELECT s.id
FROM sessions AS s
WHERE s.space = :space
    AND NOT s.doomed
    AND s.ended_at IS NOT NULL
    AND s.started_at < :moment
    AND (:source IS NULL OR s.source = :source)
    AND (
        :by_start
        OR coalesce((SELECT max(m.timestamp) FROM messages AS m WHERE m.session = s.key), s.ended_at) < :moment
    )
ORDER BY s.started_at, s.key

-- name: create
INSERT INTO sessions (
    space, id, source, user_id, model, parent, started_at, ended_at, end_reason, input_tokens,
    output_tokens, title, title_folded, archived, project, branch, updated_at
)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (space, id) DO NOTHING
RETURNING key

-- name: create_details
INSERT INTO session_details (session, model_config, system_prompt, metadata)
VALUES (?, ?, ?, ?)

-- Messages that are there already stay in the index as nobody's, or as of no project.
-- name: fill
UPDATE sessions
SET user_from = iif(user_id IS NULL AND :user_id IS NOT NULL AND message_count, :next, user_from),
    project_from = iif(project IS NULL AND :project IS NOT NULL AND message_count, :next, project_from),
    user_id = coalesce(user_id, :user_id),
    project = coalesce(project, :project),
    branch = coalesce(branch, :branch),
    model = coalesce(model, :model),
    parent = coalesce(parent, :parent),
    title = coalesce(title, :title),
    title_folded = coalesce(title_folded, :title_folded)
WHERE key = :key

-- name: fill_details
INSERT INTO session_details (session, model_config, system_prompt, metadata)
VALUES (:key, :model_config, :system_prompt, :metadata)
ON CONFLICT (session) DO UPDATE
SET model_config = coalesce(model_config, excluded.model_config),
    system_prompt = coalesce(system_prompt, excluded.system_prompt),
    metadata = coalesce(metadata, excluded.metadata)

-- 1 if :ancestor is the session itself or above it.
-- name: is_ancestor
WITH RECURSIVE line (key, parent) AS (
    SELECT key, parent
    FROM sessions
    WHERE key = :key
    UNION
    SELECT s.key, s.parent
    FROM line
    JOIN sessions AS s ON s.key = line.parent
)
SELECT count(*)
FROM line
WHERE key = :ancestor

-- name: end
UPDATE sessions
SET ended_at = coalesce(ended_at, ?),
    end_reason = coalesce(end_reason, ?)
WHERE space = ?
    AND id = ?
    AND NOT doomed
RETURNING key

-- name: reopen
UPDATE sessions
SET ended_at = NULL,
    end_reason = NULL
WHERE space = ?
    AND id = ?
    AND NOT doomed
RETURNING key

-- name: set_system_prompt
INSERT INTO session_details (session, system_prompt)
VALUES (?, ?)
ON CONFLICT (session) DO UPDATE
SET system_prompt = excluded.system_prompt

-- name: set_metadata
INSERT INTO session_details (session, metadata)
VALUES (?, ?)
ON CONFLICT (session) DO UPDATE
SET metadata = excluded.metadata

-- name: add_tokens
UPDATE sessions
SET input_tokens = input_tokens + ?,
    output_tokens = output_tokens + ?
WHERE space = ?
    AND id = ?
    AND NOT doomed
RETURNING key

-- name: set_title
UPDATE sessions
SET title = ?,
    title_folded = ?
WHERE space = ?
    AND id = ?
    AND NOT doomed
RETURNING key

-- name: set_archived
UPDATE sessions
SET archived = ?
WHERE space = ?
    AND id = ?
    AND NOT doomed
RETURNING key

-- name: set_parent
UPDATE sessions
SET parent = ?
WHERE space = ?
    AND id = ?
    AND NOT doomed
RETURNING key

-- A transaction that writes is the only one.
-- name: hold
SELECT revision
FROM sessions
WHERE space = ?
    AND id = ?
    AND NOT doomed

-- name: revise
UPDATE sessions
SET revision = revision + 1,
    updated_at = max(updated_at, ?)
WHERE space = ?
    AND id = ?
    AND NOT doomed
RETURNING key

-- name: renew
UPDATE sessions
SET started_at = :started_at,
    ended_at = :ended_at,
    end_reason = :end_reason,
    input_tokens = :input_tokens,
    output_tokens = :output_tokens,
    title = :title,
    title_folded = :title_folded,
    archived = :archived,
    revision = revision + 1,
    updated_at = :updated_at
WHERE key = :key

-- name: count_appended
UPDATE sessions
SET message_count = message_count + ?,
    tool_call_count = tool_call_count + ?,
    revision = revision + 1,
    updated_at = max(updated_at, ?)
WHERE key = ?

-- Before the message is deleted.
-- name: count_popped
UPDATE sessions
SET message_count = message_count - 1,
    tool_call_count = tool_call_count - popped.calls
FROM (
    SELECT
        session,
        CASE iif(json_valid(tool_calls), json_type(tool_calls), NULL)
            WHEN 'array' THEN json_array_length(tool_calls)
            WHEN 'object' THEN 1
            ELSE 0
        END AS calls
    FROM messages
    WHERE id = ?
) AS popped
WHERE sessions.key = popped.session

-- name: find_keys
SELECT host_key, id
FROM messages
WHERE session = ?
    AND host_key IN (SELECT value FROM json_each(?))

-- name: retire
UPDATE messages
SET retired = 1
WHERE session = (SELECT key FROM sessions WHERE space = :space AND id = :id)
    AND id BETWEEN :first AND :last
    AND NOT retired

-- name: free_keys
UPDATE messages
SET host_key = NULL
WHERE session = (SELECT key FROM sessions WHERE space = ? AND id = ?)
    AND host_key IN (SELECT value FROM json_each(?))
    AND retired

-- name: next_id
SELECT max(
    next_message,
    coalesce((SELECT max(m.id) + 1 FROM messages AS m WHERE m.id BETWEEN ?2 AND ?3), 0)
)
FROM spaces
WHERE id = ?1

-- name: newest_session
SELECT coalesce(max(key), 0)
FROM sessions

-- name: first_since
SELECT
    (SELECT min(id) FROM messages WHERE id BETWEEN :first AND :last AND timestamp >= :at),
    (SELECT min(key) FROM sessions WHERE space = :space AND started_at >= :at)

-- name: messages_after
SELECT
    m.id, s.id, m.timestamp, m.role, m.encoded, m.forgotten_at IS NOT NULL,
    CASE
        WHEN NOT m.encoded THEN substr(m.content, 1, :characters)
        WHEN length(m.content) < 100000 THEN m.content
    END
FROM messages AS m
CROSS JOIN sessions AS s ON s.key = m.session
WHERE m.id > :after
    AND m.id BETWEEN :first AND :last
    AND NOT s.doomed
ORDER BY m.id
LIMIT :limit

-- name: sessions_after
SELECT key, id, source, title, started_at
FROM sessions
WHERE key > :after
    AND +space = :space
    AND NOT doomed
ORDER BY key
LIMIT :limit

-- name: keep_ids
UPDATE spaces
SET next_message = max(next_message, ?)
WHERE id = ?

-- name: append
INSERT INTO messages (
    id, session, role, timestamp, tool_name, tool_call_id, token_count, encoded, metadata,
    tool_calls, content, origin, host_key
)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- The same for one message, counted in the same call: every call of the driver costs as much as an insert.
-- name: append_one
UPDATE sessions
SET message_count = message_count + 1,
    tool_call_count = tool_call_count + ?,
    revision = revision + 1,
    updated_at = max(updated_at, ?)
WHERE key = ?;
INSERT INTO messages (
    id, session, role, timestamp, tool_name, tool_call_id, token_count, encoded, metadata,
    tool_calls, content, origin, host_key
)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: messages
SELECT *
FROM message_rows AS m
WHERE m.session = (SELECT key FROM sessions WHERE space = :space AND id = :id)
    AND m.id > :after
    AND (NOT :working OR NOT m.retired)
    AND (:since IS NULL OR m.timestamp >= :since)
ORDER BY m.id
LIMIT :limit

-- name: last_messages
SELECT *
FROM message_rows AS m
WHERE m.session = (SELECT key FROM sessions WHERE space = :space AND id = :id)
    AND m.id > :after
    AND (NOT :working OR NOT m.retired)
    AND (:since IS NULL OR m.timestamp >= :since)
ORDER BY m.id DESC
LIMIT :limit

-- The bounds keep every look-up inside the space.
-- name: message
SELECT *
FROM message_rows
WHERE id = :id
    AND id BETWEEN :first AND :last
    AND NOT doomed

-- The index has only sessions and ids, so that skipping thousands takes a few milliseconds.
-- name: message_at
SELECT id
FROM messages
WHERE session = (SELECT key FROM sessions WHERE space = ? AND id = ?)
ORDER BY id
LIMIT 1
OFFSET ?

-- name: position
SELECT count(*)
FROM messages
WHERE session = (SELECT key FROM sessions WHERE space = ? AND id = ?)
    AND id < ?

-- Sizes come from the headers of rows: no text is read.
-- name: outline
SELECT id, role, coalesce(octet_length(content), 0) + coalesce(octet_length(tool_calls), 0), timestamp
FROM messages
WHERE session = (SELECT key FROM sessions WHERE space = ? AND id = ?)
ORDER BY id

-- The calls come before the content, which is not read here.
-- name: find_call
SELECT *
FROM message_rows
WHERE id = (
    SELECT id
    FROM (
        SELECT id, instr(tool_calls, json_quote(?)) AS has_call
        FROM messages
        WHERE session = (SELECT key FROM sessions WHERE space = ? AND id = ?)
        ORDER BY id DESC
        LIMIT 64
    )
    WHERE has_call
    LIMIT 1
)

-- Messages with their session and the ids before and after them, in the order asked for.
-- Echoes are not neighbours. Neighbours are truncated, except encoded ones, whose text may be anywhere inside.
-- name: hits
SELECT
    m.id, s.id, m.role, m.content, m.encoded, m.tool_name, m.tool_calls, m.tool_call_id,
    m.token_count, m.timestamp, m.metadata, m.forgotten_at, m.origin, m.host_key, m.retired,
    s.source, s.model, s.started_at, s.parent IS NOT NULL,
    b.role, b.encoded, b.forgotten_at IS NOT NULL,
    CASE WHEN b.encoded THEN b.content ELSE substr(b.content, 1, :characters) END,
    a.role, a.encoded, a.forgotten_at IS NOT NULL,
    CASE WHEN a.encoded THEN a.content ELSE substr(a.content, 1, :characters) END,
    s.title, s.project
FROM json_each(:ids) AS asked
CROSS JOIN messages AS m ON m.id = asked.value
JOIN sessions AS s ON s.key = m.session
LEFT JOIN messages AS b
    ON b.id = (SELECT max(o.id) FROM messages AS o WHERE o.session = m.session AND o.id < m.id AND o.origin IS NULL)
LEFT JOIN messages AS a
    ON a.id = (SELECT min(o.id) FROM messages AS o WHERE o.session = m.session AND o.id > m.id AND o.origin IS NULL)
WHERE m.id BETWEEN :first AND :last
    AND NOT s.doomed
ORDER BY asked.key

-- name: before
SELECT *
FROM message_rows
WHERE session = (SELECT session FROM messages WHERE id = :id)
    AND id < :id
ORDER BY id DESC
LIMIT :limit

-- name: after
SELECT *
FROM message_rows
WHERE session = (SELECT session FROM messages WHERE id = :id)
    AND id > :id
ORDER BY id
LIMIT :limit

-- name: message_count_of
SELECT message_count
FROM sessions
WHERE space = ?
    AND id = ?
    AND NOT doomed

-- name: message_count
SELECT coalesce(sum(message_count), 0)
FROM sessions
WHERE space = ?
    AND NOT doomed

-- name: by_source
SELECT source, count(*), coalesce(sum(message_count), 0)
FROM sessions
WHERE space = ?
    AND NOT doomed
GROUP BY source
ORDER BY 3 DESC, 1

-- From sessions, because counting messages themselves takes fifty times as long.
-- name: growth
SELECT date(started_at, 'unixepoch', 'localtime') AS day, source, count(*), sum(message_count)
FROM sessions
WHERE space = :space
    AND (:since IS NULL OR started_at >= :since)
    AND NOT doomed
GROUP BY day, source
HAVING day IS NOT NULL
ORDER BY day, source

-- name: doom
UPDATE sessions
SET doomed = 1,
    -- Frees the name at once.
    id = id || char(0) || key,
    title = NULL,
    title_folded = NULL
WHERE key = ?

-- name: adopt_children
UPDATE sessions
SET parent = (SELECT parent FROM sessions WHERE key = :key)
WHERE parent = :key

-- name: doomed
SELECT key
FROM sessions
WHERE space = ?
    AND doomed
LIMIT 1

-- name: delete_message
DELETE FROM messages
WHERE id = ?

-- name: count_removal
UPDATE spaces
SET removals = removals + 1
WHERE id = ?

-- name: delete_session
DELETE FROM sessions
WHERE key = ?

-- name: set_origin
UPDATE messages
SET origin = ?
WHERE id = ?

-- name: forget_message
UPDATE messages
SET content = NULL,
    encoded = 0,
    metadata = NULL,
    tool_calls = ?,
    forgotten_at = ?
WHERE id = ?

-- name: messages_of_key
SELECT *
FROM message_rows AS m
WHERE m.session = ?
ORDER BY m.id DESC
LIMIT ?

-- name: message_of_id
SELECT *
FROM message_rows AS m
WHERE m.id = ?
