-- name: state
SELECT
    max(
        next_message,
        coalesce((SELECT max(m.id) + 1 FROM messages AS m WHERE m.id BETWEEN ?2 AND ?3), 0)
    ),
    indexed,
    removals,
    EXISTS (SELECT 1 FROM sessions WHERE space = ?1 AND doomed)
FROM spaces
WHERE id = ?1

-- The row that owns the next id to be indexed: a long message has several.
-- name: owner
SELECT max(id)
FROM messages
WHERE id BETWEEN ? AND ?

-- name: pending
SELECT *
FROM message_rows AS m
WHERE m.id BETWEEN ? AND ?
ORDER BY m.id
LIMIT ?

-- A space's messages are indexed in reverse: rowid + id = first id + last id of the space.
-- FTS5 wants ascending rowids, so the last message is added first.
-- name: add
INSERT INTO messages_fts (rowid, said, tool, beside, tags)
VALUES (((?1 >> 32) << 33) + (1 << 31) - ?1, ?2, ?3, ?4, ?5)

-- name: remove
INSERT INTO messages_fts (messages_fts, rowid, said, tool, beside, tags)
VALUES ('delete', ((?1 >> 32) << 33) + (1 << 31) - ?1, ?2, ?3, ?4, ?5)

-- name: add_other
INSERT INTO messages_fts (rowid, said, tool, beside, tags)
VALUES (?, ?, ?, ?, ?)

-- name: remove_other
INSERT INTO messages_fts (messages_fts, rowid, said, tool, beside, tags)
VALUES ('delete', ?, ?, ?, ?, ?)

-- name: mark_indexed
UPDATE spaces
SET indexed = ?
WHERE id = ?

-- name: add_week
INSERT INTO calendar (space, week)
VALUES (?, ?)
ON CONFLICT DO NOTHING

-- name: create_tail
CREATE VIRTUAL TABLE temp.tail USING fts5 (
    said,
    tool,
    beside,
    tags,
    content = '',
    tokenize = "ascii tokenchars '+#'"
)

-- name: drop_tail
DROP TABLE IF EXISTS temp.tail

-- name: add_to_tail
INSERT INTO temp.tail (rowid, said, tool, beside, tags)
VALUES (?, ?, ?, ?, ?)

-- name: merge
INSERT INTO messages_fts (messages_fts, rank)
VALUES ('merge', ?)

-- name: clear
INSERT INTO messages_fts (messages_fts)
VALUES ('delete-all')

-- name: clear_marks
UPDATE spaces
SET indexed = id << 32,
    removals = removals + 1

-- name: clear_late
UPDATE sessions
SET user_from = NULL,
    project_from = NULL
WHERE user_from IS NOT NULL
    OR project_from IS NOT NULL

-- name: words_rule
SELECT value
FROM properties
WHERE name = 'words'

-- name: set_words_rule
INSERT INTO properties (name, value)
VALUES ('words', ?)
ON CONFLICT (name) DO UPDATE
SET value = excluded.value

-- name: every_passage
SELECT id, kind, ref, session_id, speaker, at, live, text, also, "group", user_id
FROM passages
ORDER BY id
