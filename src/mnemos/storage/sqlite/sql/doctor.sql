-- name: look
SELECT rowid
FROM messages_fts
WHERE messages_fts MATCH 'said:x'
LIMIT 1

-- name: wrong_counters
SELECT count(*)
FROM sessions AS s
WHERE s.message_count <> (SELECT count(*) FROM messages AS m WHERE m.session = s.key)
    AND NOT s.doomed

-- name: right_counters
UPDATE sessions
SET message_count = (SELECT count(*) FROM messages AS m WHERE m.session = sessions.key)
WHERE message_count <> (SELECT count(*) FROM messages AS m WHERE m.session = sessions.key)

-- name: orphans
SELECT count(*)
FROM messages
WHERE session NOT IN (SELECT key FROM sessions)

-- Messages that are missing from the index. A long message also has rows under the ids after its own; see
-- index.sql for how rowids map to ids.
-- name: unindexed
SELECT count(*)
FROM messages AS m
JOIN spaces AS p ON p.id = m.id >> 32
WHERE m.id <= p.indexed
    AND m.forgotten_at IS NULL
    AND m.origin IS NULL
    AND ((m.id >> 32) << 33) + (1 << 31) - m.id NOT IN (SELECT id FROM messages_fts_docsize)

-- name: unindexed_passages
SELECT count(*)
FROM passages
WHERE id NOT IN (SELECT id FROM messages_fts_docsize)

-- name: stale
SELECT count(*)
FROM (
    SELECT iif(id & (1 << 31), id, ((id >> 32) << 33) + (1 << 31) - id) AS id
    FROM messages_fts_docsize
) AS d
WHERE d.id NOT IN (SELECT p.id FROM passages AS p)
    AND NOT EXISTS (
        SELECT 1
        FROM messages AS m
        WHERE m.id = (SELECT max(o.id) FROM messages AS o WHERE o.id <= d.id)
            AND m.forgotten_at IS NULL
            AND d.id <= m.id + max(
                length(coalesce(m.content, '')),
                length(coalesce(m.tool_calls, '')) + length(coalesce(m.tool_name, ''))
            ) / :part
    )

-- name: check_index
PRAGMA integrity_check(messages_fts)

-- name: open_words
CREATE VIRTUAL TABLE temp.words USING fts5vocab ('main', 'messages_fts', 'instance')

-- name: close_words
DROP TABLE temp.words

-- name: left_words
SELECT count(*)
FROM temp.words
WHERE doc NOT IN (SELECT id FROM messages_fts_docsize)

-- name: pending
SELECT count(*)
FROM messages AS m
JOIN spaces AS p ON p.id = m.id >> 32
WHERE m.id > p.indexed

-- Read by position, so that a damaged column name costs nothing. The columns written are the
-- first of those read, in the order of the schema.

-- name: read_spaces
SELECT rowid, *
FROM spaces
WHERE rowid >= ?
ORDER BY rowid
LIMIT ?

-- name: write_spaces
INSERT INTO spaces (id, name, next_message, indexed)
VALUES (?1, ?2, ?3, ?1 << 32)
ON CONFLICT (id) DO UPDATE
SET next_message = excluded.next_message

-- name: read_sessions
SELECT rowid, *
FROM sessions
WHERE rowid >= ?
ORDER BY rowid
LIMIT ?

-- name: write_sessions
INSERT OR IGNORE INTO sessions (
    key, space, id, source, user_id, model, parent, started_at, ended_at, end_reason,
    message_count, tool_call_count, input_tokens, output_tokens, title, title_folded, archived, doomed,
    project, branch, user_from, project_from, revision, updated_at
)
VALUES (
    ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, coalesce(?, 1), coalesce(?, ?8)
)

-- name: read_session_details
SELECT rowid, *
FROM session_details
WHERE rowid >= ?
ORDER BY rowid
LIMIT ?

-- name: write_session_details
INSERT OR IGNORE INTO session_details (session, model_config, system_prompt, metadata)
VALUES (?, ?, ?, ?)

-- name: read_messages
SELECT rowid, *
FROM messages NOT INDEXED
WHERE rowid >= ?
ORDER BY rowid
LIMIT ?

-- name: write_messages
INSERT OR IGNORE INTO messages (
    id, session, role, timestamp, tool_name, tool_call_id, token_count, encoded, forgotten_at,
    metadata, tool_calls, content, origin, host_key, retired
)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, coalesce(?, 0))

-- name: read_passages
SELECT rowid, *
FROM passages NOT INDEXED
WHERE rowid >= ?
ORDER BY rowid
LIMIT ?

-- name: write_passages
INSERT OR IGNORE INTO passages (id, kind, ref, session_id, speaker, at, live, text, also, "group", user_id)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: read_scopes
SELECT rowid, *
FROM scopes NOT INDEXED
WHERE rowid >= ?
ORDER BY rowid
LIMIT ?

-- name: write_scopes
INSERT OR IGNORE INTO scopes (id, space, label, key, opened_at, touched_at, closed_at)
VALUES (?, ?, ?, ?, ?, ?, ?)

-- name: read_facts
SELECT rowid, *
FROM facts NOT INDEXED
WHERE rowid >= ?
ORDER BY rowid
LIMIT ?

-- name: write_facts
INSERT OR IGNORE INTO facts (
    id, space, mark, target, key, content, scope, state, hot, recorded_at, ended_at, superseded_by,
    valid_from, valid_to, used_at, uses, session_id, message_id, actor, stated_by, user_id
)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: read_fact_conflicts
SELECT rowid, *
FROM fact_conflicts NOT INDEXED
WHERE rowid >= ?
ORDER BY rowid
LIMIT ?

-- name: write_fact_conflicts
INSERT OR IGNORE INTO fact_conflicts (id, space, older, newer, reason)
VALUES (?, ?, ?, ?, coalesce(?, 'contradicts'))

-- name: read_entry_users
SELECT rowid, *
FROM entry_users NOT INDEXED
WHERE rowid >= ?
ORDER BY rowid
LIMIT ?

-- name: write_entry_users
INSERT OR IGNORE INTO entry_users (id, space, name)
VALUES (?, ?, ?)

-- name: read_entries
SELECT rowid, *
FROM entries NOT INDEXED
WHERE rowid >= ?
ORDER BY rowid
LIMIT ?

-- name: write_entries
INSERT OR IGNORE INTO entries (
    id, space, user, key, metadata, created_at, updated_at, version, value, encoded, fields, expires_at
)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, coalesce(?, 0), ?, ?)

-- name: read_imported_files
SELECT rowid, *
FROM imported_files NOT INDEXED
WHERE rowid >= ?
ORDER BY rowid
LIMIT ?

-- name: write_imported_files
INSERT OR IGNORE INTO imported_files (
    id, space, kind, path, size, changed_ns, position, line, digest, state
)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: read_imported
SELECT rowid, *
FROM imported
WHERE rowid >= ?
ORDER BY rowid
LIMIT ?

-- name: write_imported
INSERT OR IGNORE INTO imported (key, space, session)
VALUES (?, ?, ?)

-- name: read_audit
SELECT rowid, *
FROM audit
WHERE rowid >= ?
ORDER BY rowid
LIMIT ?

-- name: write_audit
INSERT OR IGNORE INTO audit (id, space, at, actor, operation, ref, before, after, undone_by)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: read_backups
SELECT rowid, *
FROM backups
WHERE rowid >= ?
ORDER BY rowid
LIMIT ?

-- name: write_backups
INSERT OR IGNORE INTO backups (path, made_at)
VALUES (?, ?)

-- A message whose space was lost gets a space with a telling name.
-- name: lost_spaces
INSERT OR IGNORE INTO spaces (id, name, next_message, indexed)
SELECT s.id, 'recovered-' || s.id, (s.id << 32) + 1, s.id << 32
FROM (
    SELECT id >> 32 AS id
    FROM messages
    UNION
    SELECT space
    FROM facts
    UNION
    SELECT space
    FROM entries
) AS s

-- name: lost_sessions
INSERT INTO sessions (key, space, id, source, started_at)
SELECT session, id >> 32, 'recovered-' || session, 'recovered', min(timestamp)
FROM messages
WHERE session NOT IN (SELECT key FROM sessions)
GROUP BY session

-- name: lost_parents
UPDATE sessions
SET parent = NULL
WHERE parent NOT IN (SELECT key FROM sessions)

-- name: lost_details
DELETE FROM session_details
WHERE session NOT IN (SELECT key FROM sessions)

-- name: lost_scopes
INSERT INTO scopes (id, space, label, key, opened_at, touched_at)
SELECT scope, space, 'recovered-' || scope, 'recovered-' || scope, min(recorded_at), max(recorded_at)
FROM facts
WHERE scope IS NOT NULL
    AND scope NOT IN (SELECT id FROM scopes)
GROUP BY scope

-- name: lost_conflicts
DELETE FROM fact_conflicts
WHERE older NOT IN (SELECT id FROM facts WHERE state = 'live')
    OR newer NOT IN (SELECT id FROM facts WHERE state = 'live')

-- name: lost_users
INSERT INTO entry_users (id, space, name)
SELECT DISTINCT user, space, 'recovered-' || user
FROM entries
WHERE user NOT IN (SELECT id FROM entry_users)

-- name: passages_of_entries
DELETE FROM passages
WHERE kind = 'entry'
    OR kind GLOB 'entry:*'

-- name: next_messages
UPDATE spaces
SET next_message = max(
    next_message,
    coalesce((SELECT max(m.id) + 1000000 FROM messages AS m WHERE m.id >> 32 = spaces.id), 0)
)

-- name: next_passages
UPDATE spaces
SET next_passage = coalesce((SELECT max(p.id) + 1000000 FROM passages AS p WHERE p.id >> 32 = spaces.id), 0)

-- name: counters
UPDATE sessions
SET message_count = (SELECT count(*) FROM messages AS m WHERE m.session = sessions.key)

-- name: has_table
SELECT 1
FROM sqlite_schema
WHERE name = ?

-- name: read_tombstones
SELECT rowid, *
FROM tombstones NOT INDEXED
WHERE rowid >= ?
ORDER BY rowid
LIMIT ?

-- name: write_tombstones
INSERT OR IGNORE INTO tombstones (space, kind, key, at, forgotten)
VALUES (?, ?, ?, ?, ?)
