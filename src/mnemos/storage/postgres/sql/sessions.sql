-- name: get
SELECT *
FROM mnemos.session_rows AS s
WHERE s.space = ?
    AND s.id = ?

-- name: key_of
SELECT key
FROM mnemos.sessions
WHERE space = ?
    AND id = ?
    AND NOT doomed

-- name: by_title
SELECT *
FROM mnemos.session_rows AS s
WHERE s.space = :space
    AND s.key IN (SELECT t.key FROM mnemos.sessions AS t WHERE t.space = ? AND t.title_folded = ?)
ORDER BY s.started_at DESC, s.id
LIMIT ?

-- The end of the id range is the text with its last possible continuation.
-- name: by_id_prefix
SELECT *
FROM mnemos.session_rows AS s
WHERE s.space = :space
    AND s.id >= :text::text
    AND s.id < :text::text || chr(1114111)
ORDER BY s.started_at DESC, s.id
LIMIT :limit

-- name: recent
SELECT *
FROM mnemos.session_rows AS s
WHERE s.space = :space
    AND (:source::text IS NULL OR s.source = :source::text)
    AND (:archived::boolean IS NULL OR s.archived = :archived::boolean)
    AND (:projects::json IS NULL OR s.project IN (SELECT json_array_elements_text(:projects::json)))
    AND (:user::text IS NULL OR s.user_id IS NULL OR s.user_id = :user::text)
    AND (:since::float8 IS NULL OR s.started_at >= :since::float8)
    AND (:until::float8 IS NULL OR s.started_at < :until::float8)
    AND (:parent::text IS NULL OR s.parent_session_id = :parent::text)
    AND (:ids::json IS NULL OR s.id IN (SELECT json_array_elements_text(:ids::json)))
    AND (
        :metadata::jsonb IS NULL
        OR NOT EXISTS (
            SELECT 1
            FROM jsonb_each(:metadata::jsonb) AS wanted
            WHERE (s.metadata::jsonb -> wanted.key) IS DISTINCT FROM wanted.value
        )
    )
ORDER BY CASE WHEN :by_update::boolean THEN s.updated_at ELSE s.started_at END DESC, s.id
LIMIT :limit
OFFSET :offset

-- name: page
SELECT *
FROM mnemos.session_rows AS s
WHERE s.space = :space
    AND s.id > :after
    AND (:source::text IS NULL OR s.source = :source::text)
    AND (:projects::json IS NULL OR s.project IN (SELECT json_array_elements_text(:projects::json)))
ORDER BY s.id
LIMIT :limit

-- name: count
SELECT count(*)
FROM mnemos.sessions
WHERE space = :space
    AND NOT doomed
    AND (:source::text IS NULL OR source = :source::text)
    AND (:archived::boolean IS NULL OR archived = :archived::boolean)
    AND (:projects::json IS NULL OR project IN (SELECT json_array_elements_text(:projects::json)))
    AND (:user::text IS NULL OR user_id IS NULL OR user_id = :user::text)
    AND (:since::float8 IS NULL OR started_at >= :since::float8)
    AND (:until::float8 IS NULL OR started_at < :until::float8)
    AND (:ids::json IS NULL OR id IN (SELECT json_array_elements_text(:ids::json)))
    AND (
        :parent::text IS NULL
        OR parent = (
            SELECT p.key
            FROM mnemos.sessions AS p
            WHERE p.space = :space
                AND p.id = :parent::text
                AND NOT p.doomed
        )
    )
    AND (
        :metadata::jsonb IS NULL
        OR NOT EXISTS (
            SELECT 1
            FROM jsonb_each(:metadata::jsonb) AS wanted
            WHERE (
                (
                    SELECT d.metadata::jsonb -> wanted.key
                    FROM mnemos.session_details AS d
                    WHERE d.space = :space
                        AND d.session = sessions.key
                ) IS DISTINCT FROM wanted.value
            )
        )
    )

-- name: by_title_part
SELECT id
FROM mnemos.sessions
WHERE space = ?
    AND NOT doomed
    AND strpos(title_folded, ?) > 0
ORDER BY started_at DESC, id
LIMIT ?

-- name: projects
SELECT DISTINCT project
FROM mnemos.sessions
WHERE space = ?
    AND project IS NOT NULL
    AND NOT doomed

-- Only the first messages are looked at: a session may have thousands that no user wrote.
-- name: openings
SELECT
    s.id, m.role, m.encoded, FALSE,
    CASE
        WHEN NOT m.encoded THEN substr(m.content, 1, :characters::int)
        WHEN length(m.content) < 100000 THEN m.content
    END
FROM mnemos.sessions AS s
CROSS JOIN LATERAL (
    SELECT f.id, f.role, f.encoded, f.content
    FROM (
        SELECT o.id, o.role, o.encoded, o.content, o.forgotten_at, o.origin
        FROM mnemos.messages AS o
        WHERE o.space = :space
            AND o.session = s.key
        ORDER BY o.id
        LIMIT 40
    ) AS f
    WHERE f.role = 'user'
        AND f.forgotten_at IS NULL
        AND f.origin IS NULL
    ORDER BY f.id
    LIMIT 5
) AS m
WHERE s.space = :space
    AND s.id IN (SELECT json_array_elements_text(:ids::json))
    AND NOT s.doomed
ORDER BY m.id

-- name: neighbours_of_id
SELECT
    (SELECT max(b.id) FROM mnemos.sessions AS b WHERE b.space = :space AND b.id < :id AND NOT b.doomed),
    (
        SELECT min(a.id)
        FROM mnemos.sessions AS a
        WHERE a.space = :space
            AND a.id > :id::text || chr(1114111)
            AND NOT a.doomed
    )

-- name: children
SELECT *
FROM mnemos.session_rows
WHERE space = :space
    AND parent = (SELECT p.key FROM mnemos.sessions AS p WHERE p.space = ? AND p.id = ? AND NOT p.doomed)
ORDER BY started_at, key

-- name: last_seen
SELECT
    s.source,
    max(newest.timestamp)
FROM mnemos.sessions AS s
CROSS JOIN LATERAL (
    SELECT m.timestamp
    FROM mnemos.messages AS m
    WHERE m.space = s.space
        AND m.session = s.key
    ORDER BY m.id DESC
    LIMIT 1
) AS newest
WHERE s.space = ?
    AND NOT s.doomed
GROUP BY s.source

-- name: ended_before
SELECT s.id
FROM mnemos.sessions AS s
WHERE s.space = :space
    AND NOT s.doomed
    AND s.ended_at IS NOT NULL
    AND s.started_at < :moment::float8
    AND (:source::text IS NULL OR s.source = :source::text)
    AND (
        :by_start::boolean
        OR coalesce(
            (SELECT max(m.timestamp) FROM mnemos.messages AS m WHERE m.space = :space AND m.session = s.key),
            s.ended_at
        ) < :moment::float8
    )
ORDER BY s.started_at, s.key

-- name: create
WITH n AS (
    UPDATE mnemos.space_states
    SET next_number = next_number + 1
    WHERE space = :space
    RETURNING next_number - 1 AS number
)
INSERT INTO mnemos.sessions (
    key, space, id, source, user_id, model, parent, started_at, ended_at, end_reason, input_tokens,
    output_tokens, title, title_folded, archived, project, branch, updated_at
)
VALUES ((SELECT number FROM n), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (space, id) WHERE NOT doomed DO NOTHING
RETURNING key

-- name: create_details
INSERT INTO mnemos.session_details (space, session, model_config, system_prompt, metadata)
VALUES (:space, ?, ?, ?, ?)

-- Messages that are there already stay in the index as nobody's, or as of no project.
-- name: fill
UPDATE mnemos.sessions
SET user_from = CASE
        WHEN user_id IS NULL AND :user_id::text IS NOT NULL AND message_count > 0 THEN :next::bigint
        ELSE user_from
    END,
    project_from = CASE
        WHEN project IS NULL AND :project::text IS NOT NULL AND message_count > 0 THEN :next::bigint
        ELSE project_from
    END,
    user_id = coalesce(user_id, :user_id::text),
    project = coalesce(project, :project::text),
    branch = coalesce(branch, :branch::text),
    model = coalesce(model, :model::text),
    parent = coalesce(parent, :parent::bigint),
    title = coalesce(title, :title::text),
    title_folded = coalesce(title_folded, :title_folded::text)
WHERE space = :space
    AND key = :key

-- name: fill_details
INSERT INTO mnemos.session_details AS d (space, session, model_config, system_prompt, metadata)
VALUES (:space, :key, :model_config, :system_prompt, :metadata)
ON CONFLICT (space, session) DO UPDATE
SET model_config = coalesce(d.model_config, excluded.model_config),
    system_prompt = coalesce(d.system_prompt, excluded.system_prompt),
    metadata = coalesce(d.metadata, excluded.metadata)

-- 1 if :ancestor is the session itself or above it.
-- name: is_ancestor
WITH RECURSIVE line (key, parent) AS (
    SELECT b.key, b.parent
    FROM mnemos.sessions AS b
    WHERE b.space = :space
        AND b.key = :key
    UNION
    SELECT s.key, s.parent
    FROM line
    JOIN mnemos.sessions AS s ON s.space = :space AND s.key = line.parent
)
SELECT count(*)
FROM line
WHERE key = :ancestor

-- name: end
UPDATE mnemos.sessions
SET ended_at = coalesce(ended_at, ?::float8),
    end_reason = coalesce(end_reason, ?::text)
WHERE space = ?
    AND id = ?
    AND NOT doomed
RETURNING key

-- name: reopen
UPDATE mnemos.sessions
SET ended_at = NULL,
    end_reason = NULL
WHERE space = ?
    AND id = ?
    AND NOT doomed
RETURNING key

-- name: set_system_prompt
INSERT INTO mnemos.session_details (space, session, system_prompt)
VALUES (:space, ?, ?)
ON CONFLICT (space, session) DO UPDATE
SET system_prompt = excluded.system_prompt

-- name: set_metadata
INSERT INTO mnemos.session_details (space, session, metadata)
VALUES (:space, ?, ?)
ON CONFLICT (space, session) DO UPDATE
SET metadata = excluded.metadata

-- name: add_tokens
UPDATE mnemos.sessions
SET input_tokens = input_tokens + ?,
    output_tokens = output_tokens + ?
WHERE space = ?
    AND id = ?
    AND NOT doomed
RETURNING key

-- name: set_title
UPDATE mnemos.sessions
SET title = ?,
    title_folded = ?
WHERE space = ?
    AND id = ?
    AND NOT doomed
RETURNING key

-- name: set_archived
UPDATE mnemos.sessions
SET archived = ?
WHERE space = ?
    AND id = ?
    AND NOT doomed
RETURNING key

-- name: set_parent
UPDATE mnemos.sessions
SET parent = ?
WHERE space = ?
    AND id = ?
    AND NOT doomed
RETURNING key

-- name: next_id
SELECT greatest(
    next_message,
    coalesce((SELECT max(m.id) + 1 FROM mnemos.messages AS m WHERE m.space = ?1 AND m.id BETWEEN ?2 AND ?3), 0)
)
FROM mnemos.space_states
WHERE space = ?1

-- name: keep_ids
UPDATE mnemos.space_states
SET next_message = greatest(next_message, ?)
WHERE space = ?

-- A transaction that writes is the only one in its space.
-- name: hold
SELECT revision
FROM mnemos.sessions
WHERE space = ?
    AND id = ?
    AND NOT doomed

-- name: revise
UPDATE mnemos.sessions
SET revision = revision + 1,
    updated_at = greatest(updated_at, ?::float8)
WHERE space = ?
    AND id = ?
    AND NOT doomed
RETURNING key

-- name: renew
UPDATE mnemos.sessions
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
WHERE space = :space
    AND key = :key

-- Before the message is deleted.
-- name: count_popped
UPDATE mnemos.sessions
SET message_count = message_count - 1,
    tool_call_count = tool_call_count - popped.calls
FROM (
    SELECT
        m.session,
        CASE json_typeof(m.tool_calls::json)
            WHEN 'array' THEN json_array_length(m.tool_calls::json)
            WHEN 'object' THEN 1
            ELSE 0
        END AS calls
    FROM mnemos.messages AS m
    WHERE m.space = :space
        AND m.id = ?
) AS popped
WHERE sessions.space = :space
    AND sessions.key = popped.session

-- name: find_keys
SELECT host_key, id
FROM mnemos.messages
WHERE space = :space
    AND session = ?
    AND host_key IN (SELECT json_array_elements_text(?::json))

-- name: retire
UPDATE mnemos.messages
SET retired = TRUE
WHERE space = :space
    AND session = (SELECT s.key FROM mnemos.sessions AS s WHERE s.space = :space AND s.id = :id AND NOT s.doomed)
    AND id BETWEEN :first AND :last
    AND NOT retired

-- name: free_keys
UPDATE mnemos.messages
SET host_key = NULL
WHERE space = :space
    AND session = (SELECT s.key FROM mnemos.sessions AS s WHERE s.space = ? AND s.id = ? AND NOT s.doomed)
    AND host_key IN (SELECT json_array_elements_text(?::json))
    AND retired

-- name: newest_session
SELECT coalesce(max(key), 0)
FROM mnemos.sessions
WHERE space = :space

-- name: first_since
SELECT
    (SELECT min(m.id) FROM mnemos.messages AS m WHERE m.space = :space AND m.timestamp >= :at::float8),
    (SELECT min(s.key) FROM mnemos.sessions AS s WHERE s.space = :space AND s.started_at >= :at::float8)

-- name: messages_after
SELECT
    m.id, s.id, m.timestamp, m.role, m.encoded, m.forgotten_at IS NOT NULL,
    CASE
        WHEN NOT m.encoded THEN substr(m.content, 1, :characters::int)
        WHEN length(m.content) < 100000 THEN m.content
    END
FROM mnemos.messages AS m
JOIN mnemos.sessions AS s ON s.space = :space AND s.key = m.session
WHERE m.space = :space
    AND m.id > :after
    AND NOT s.doomed
ORDER BY m.id
LIMIT :limit

-- name: sessions_after
SELECT key, id, source, title, started_at
FROM mnemos.sessions
WHERE space = :space
    AND key > :after
    AND NOT doomed
ORDER BY key
LIMIT :limit

-- Needed by an append: the user and the project that messages of a session are indexed under.
-- All that storing messages of a session takes; the last column is the next message's id.
-- name: append_to
SELECT
    s.key, s.source, s.user_id, s.project,
    greatest(
        t.next_message,
        coalesce(
            (SELECT max(m.id) + 1 FROM mnemos.messages AS m WHERE m.space = :space AND m.id BETWEEN :first AND :last),
            0
        )
    )
FROM mnemos.sessions AS s
JOIN mnemos.space_states AS t ON t.space = s.space
WHERE s.space = :space
    AND s.id = ?
    AND NOT s.doomed

-- One round trip stores messages, counts them, indexes their words and leaves the token of the transaction.
-- name: append
WITH marked AS (
    INSERT INTO mnemos.commits (space, token)
    SELECT :space, :token::bigint
    WHERE :token::bigint IS NOT NULL
),
counted AS (
    UPDATE mnemos.sessions
    SET message_count = message_count + :count,
        tool_call_count = tool_call_count + :calls,
        revision = revision + 1,
        updated_at = greatest(updated_at, :at::float8)
    WHERE space = :space
        AND key = :key
),
stored AS (
    INSERT INTO mnemos.messages (
        space, id, session, role, timestamp, tool_name, tool_call_id, token_count, encoded, metadata,
        tool_calls, content, origin, host_key
    )
    SELECT
        :space, m.id, :key, m.role, m.timestamp, m.tool_name, m.tool_call_id, m.token_count, m.encoded,
        m.metadata, m.tool_calls, m.content, m.origin, m.key
    FROM json_to_recordset(:messages::json) AS m (
        id bigint, role text, timestamp float8, tool_name text, tool_call_id text, token_count bigint,
        encoded boolean, metadata text, tool_calls text, content text, origin text, key text
    )
)
INSERT INTO mnemos.words (space, id, piece, message, at, n, words)
SELECT :space, w.id, w.piece, w.message, w.at, w.n, w.words::tsvector
FROM json_to_recordset(:words::json) AS w (
    id bigint, piece smallint, message bigint, at float8, n int, words text
)

-- name: messages
SELECT *
FROM mnemos.message_rows AS m
WHERE m.space = :space
    AND m.session = (SELECT s.key FROM mnemos.sessions AS s WHERE s.space = :space AND s.id = :id AND NOT s.doomed)
    AND m.id > :after
    AND (NOT :working::boolean OR NOT m.retired)
    AND (:since::float8 IS NULL OR m.timestamp >= :since::float8)
ORDER BY m.id
LIMIT :limit

-- name: last_messages
SELECT *
FROM mnemos.message_rows AS m
WHERE m.space = :space
    AND m.session = (SELECT s.key FROM mnemos.sessions AS s WHERE s.space = :space AND s.id = :id AND NOT s.doomed)
    AND m.id > :after
    AND (NOT :working::boolean OR NOT m.retired)
    AND (:since::float8 IS NULL OR m.timestamp >= :since::float8)
ORDER BY m.id DESC
LIMIT :limit

-- name: message_at
SELECT id
FROM mnemos.messages
WHERE space = :space
    AND session = (SELECT s.key FROM mnemos.sessions AS s WHERE s.space = ? AND s.id = ? AND NOT s.doomed)
ORDER BY id
LIMIT 1
OFFSET ?

-- name: position
SELECT count(*)
FROM mnemos.messages
WHERE space = :space
    AND session = (SELECT s.key FROM mnemos.sessions AS s WHERE s.space = ? AND s.id = ? AND NOT s.doomed)
    AND id < ?

-- name: outline
SELECT id, role, coalesce(octet_length(content), 0) + coalesce(octet_length(tool_calls), 0), timestamp
FROM mnemos.messages
WHERE space = :space
    AND session = (SELECT s.key FROM mnemos.sessions AS s WHERE s.space = ? AND s.id = ? AND NOT s.doomed)
ORDER BY id

-- name: message
SELECT *
FROM mnemos.message_rows
WHERE space = :space
    AND id = :id
    AND NOT doomed

-- name: find_call
SELECT *
FROM mnemos.message_rows
WHERE space = :space
    AND id = (
        SELECT o.id
        FROM (
            SELECT m.id, strpos(m.tool_calls, to_json(?::text)::text) > 0 AS has_call
            FROM mnemos.messages AS m
            WHERE m.space = :space
                AND m.session = (
                    SELECT s.key
                    FROM mnemos.sessions AS s
                    WHERE s.space = ?
                        AND s.id = ?
                        AND NOT s.doomed
                )
            ORDER BY m.id DESC
            LIMIT 64
        ) AS o
        WHERE o.has_call
        ORDER BY o.id DESC
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
    CASE WHEN b.encoded THEN b.content ELSE substr(b.content, 1, :characters::int) END,
    a.role, a.encoded, a.forgotten_at IS NOT NULL,
    CASE WHEN a.encoded THEN a.content ELSE substr(a.content, 1, :characters::int) END,
    s.title, s.project
FROM json_array_elements_text(:ids::json) WITH ORDINALITY AS asked (id, place)
JOIN mnemos.messages AS m ON m.space = :space AND m.id = CASE WHEN length(asked.id) < 19 THEN asked.id::bigint END
JOIN mnemos.sessions AS s ON s.space = :space AND s.key = m.session
LEFT JOIN LATERAL (
    SELECT o.role, o.encoded, o.forgotten_at, o.content
    FROM mnemos.messages AS o
    WHERE o.space = :space
        AND o.session = m.session
        AND o.id < m.id
        AND o.origin IS NULL
    ORDER BY o.id DESC
    LIMIT 1
) AS b ON TRUE
LEFT JOIN LATERAL (
    SELECT o.role, o.encoded, o.forgotten_at, o.content
    FROM mnemos.messages AS o
    WHERE o.space = :space
        AND o.session = m.session
        AND o.id > m.id
        AND o.origin IS NULL
    ORDER BY o.id
    LIMIT 1
) AS a ON TRUE
WHERE NOT s.doomed
ORDER BY asked.place

-- name: before
SELECT *
FROM mnemos.message_rows
WHERE space = :space
    AND session = (SELECT m.session FROM mnemos.messages AS m WHERE m.space = :space AND m.id = :id)
    AND id < :id
ORDER BY id DESC
LIMIT :limit

-- name: after
SELECT *
FROM mnemos.message_rows
WHERE space = :space
    AND session = (SELECT m.session FROM mnemos.messages AS m WHERE m.space = :space AND m.id = :id)
    AND id > :id
ORDER BY id
LIMIT :limit

-- name: message_count_of
SELECT message_count
FROM mnemos.sessions
WHERE space = ?
    AND id = ?
    AND NOT doomed

-- name: message_count
SELECT coalesce(sum(message_count), 0)::bigint
FROM mnemos.sessions
WHERE space = ?
    AND NOT doomed

-- name: by_source
SELECT source, count(*), coalesce(sum(message_count), 0)::bigint
FROM mnemos.sessions
WHERE space = ?
    AND NOT doomed
GROUP BY source
ORDER BY 3 DESC, 1

-- Quarters of an hour: the server does not know where the caller's day begins.
-- name: growth
SELECT floor(started_at / 900) * 900, source, count(*), sum(message_count)::bigint
FROM mnemos.sessions
WHERE space = :space
    AND (:since::float8 IS NULL OR started_at >= :since::float8)
    AND NOT doomed
GROUP BY 1, 2

-- name: doom
UPDATE mnemos.sessions
SET doomed = TRUE,
    title = NULL,
    title_folded = NULL
WHERE space = :space
    AND key = ?

-- name: adopt_children
UPDATE mnemos.sessions
SET parent = (SELECT p.parent FROM mnemos.sessions AS p WHERE p.space = :space AND p.key = :key)
WHERE space = :space
    AND parent = :key

-- name: doomed
SELECT key
FROM mnemos.sessions
WHERE space = ?
    AND doomed
LIMIT 1

-- name: delete_message
DELETE FROM mnemos.messages
WHERE space = :space
    AND id = ?

-- name: count_removal
UPDATE mnemos.space_states
SET removals = removals + 1
WHERE space = ?

-- name: delete_session
DELETE FROM mnemos.sessions
WHERE space = :space
    AND key = ?

-- name: set_origin
UPDATE mnemos.messages
SET origin = ?
WHERE space = :space
    AND id = ?

-- name: forget_message
UPDATE mnemos.messages
SET content = NULL,
    encoded = FALSE,
    metadata = NULL,
    tool_calls = ?,
    forgotten_at = ?
WHERE space = :space
    AND id = ?

-- name: messages_of_key
SELECT *
FROM mnemos.message_rows AS m
WHERE m.space = :space
    AND m.session = ?
ORDER BY m.id DESC
LIMIT ?

-- name: message_of_id
SELECT *
FROM mnemos.message_rows AS m
WHERE m.space = :space
    AND m.id = ?

-- The row that owns an id: a long message has several.
-- name: owner_of_id
SELECT max(id)
FROM mnemos.messages
WHERE space = :space
    AND id BETWEEN ? AND ?

-- name: messages_between
SELECT *
FROM mnemos.message_rows AS m
WHERE m.space = :space
    AND m.id BETWEEN ? AND ?
ORDER BY m.id
LIMIT ?
