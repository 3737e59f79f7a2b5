-- Columns of an entry in storage/entries.py, in its order.

-- name: number_of
SELECT id
FROM entry_users
WHERE space = ?
    AND name = ?

-- name: user_of
SELECT id, model
FROM entry_users
WHERE space = ?
    AND name = ?

-- name: add_user
INSERT INTO entry_users (space, name)
VALUES (?, ?)
RETURNING id

-- name: get
SELECT id, key, value, metadata, created_at, updated_at, version, encoded, fields, expires_at
FROM entries
WHERE user = ?
    AND key = ?

-- name: of_ids
SELECT e.id, e.key, e.value, e.metadata, e.created_at, e.updated_at, e.version, e.encoded, e.fields, e.expires_at
FROM json_each(:ids) AS s
CROSS JOIN entries AS e ON e.id = s.value
WHERE e.user = :user

-- name: owner
SELECT u.name, e.key
FROM entries AS e
JOIN entry_users AS u ON u.id = e.user
WHERE e.id = ?
    AND e.space = ?

-- name: keys
SELECT key
FROM entries
WHERE user = :user
    AND (:now IS NULL OR expires_at IS NULL OR expires_at > :now)
ORDER BY updated_at DESC, id DESC

-- name: count
SELECT count(*)
FROM entries
WHERE space = ?

-- name: users
SELECT name, (SELECT count(*) FROM entries AS e WHERE e.user = u.id)
FROM entry_users AS u
WHERE space = ?
ORDER BY name
LIMIT ?

-- name: others
SELECT 1
FROM entry_users
WHERE space = ?
    AND name <> ?
LIMIT 1

-- A condition is wrong if what it says is what it must not be. See storage/entries.py for what it says.
-- name: choose
SELECT
    e.id, e.name, e.key, e.value, e.metadata, e.created_at, e.updated_at, e.version, e.encoded, e.fields,
    e.expires_at
FROM (
    SELECT e.*, u.name, iif(e.encoded, e.value, json_quote(e.value)) AS doc
    FROM entry_users AS u
    CROSS JOIN entries AS e ON e.user = u.id
    WHERE u.space = :space
        AND (
            :user IS NULL
            OR u.name = :user
            OR (:below AND u.name > :user || char(31) AND u.name < :user || char(32))
        )
) AS e
WHERE (:ids IS NULL OR e.id IN (SELECT value FROM json_each(:ids)))
    AND (:now IS NULL OR e.expires_at IS NULL OR e.expires_at > :now)
    AND (
        :conditions IS NULL
        OR EXISTS (
            SELECT 1
            FROM json_each(:conditions) AS alternative
            WHERE NOT EXISTS (
                SELECT 1
                FROM json_each(alternative.value) AS c
                WHERE (c.value ->> 'not') = coalesce(
                    CASE
                        WHEN (c.value ->> 'op') <> 'eq'
                            THEN
                                CASE
                                    WHEN replace(json_type(e.doc, c.value ->> 'path'), 'real', 'integer')
                                        <> replace(json_type(c.value, '$.value'), 'real', 'integer')
                                        OR json_type(e.doc, c.value ->> 'path') NOT IN ('integer', 'real', 'text')
                                        THEN 0
                                    WHEN (c.value ->> 'op') = 'gt'
                                        THEN (e.doc ->> (c.value ->> 'path')) > (c.value ->> 'value')
                                    WHEN (c.value ->> 'op') = 'gte'
                                        THEN (e.doc ->> (c.value ->> 'path')) >= (c.value ->> 'value')
                                    WHEN (c.value ->> 'op') = 'lt'
                                        THEN (e.doc ->> (c.value ->> 'path')) < (c.value ->> 'value')
                                    WHEN (c.value ->> 'op') = 'lte'
                                        THEN (e.doc ->> (c.value ->> 'path')) <= (c.value ->> 'value')
                                END
                        WHEN json_type(c.value, '$.value') = 'null'
                            THEN coalesce(json_type(e.doc, c.value ->> 'path'), 'null') = 'null'
                        WHEN json_type(c.value, '$.value') IN ('integer', 'real')
                            THEN
                                json_type(e.doc, c.value ->> 'path') IN ('integer', 'real')
                                AND (e.doc ->> (c.value ->> 'path')) = (c.value ->> 'value')
                        WHEN json_type(c.value, '$.value') = 'text'
                            THEN
                                json_type(e.doc, c.value ->> 'path') = 'text'
                                AND (e.doc ->> (c.value ->> 'path')) = (c.value ->> 'value')
                        ELSE (e.doc -> (c.value ->> 'path')) = (c.value -> 'value')
                    END,
                    0
                )
            )
        )
    )
ORDER BY e.updated_at DESC, e.id DESC
LIMIT :limit
OFFSET :offset

-- name: users_below
SELECT name
FROM entry_users
WHERE space = :space
    AND (:user IS NULL OR name = :user OR (name > :user || char(31) AND name < :user || char(32)))
ORDER BY name

-- name: expired
SELECT e.id, u.name, e.key
FROM entries AS e INDEXED BY entries_expiring
CROSS JOIN entry_users AS u ON u.id = e.user
WHERE e.space = ?
    AND e.expires_at <= ?
LIMIT ?

-- name: set_expiry
UPDATE entries
SET expires_at = ?
WHERE user = ?
    AND key = ?
RETURNING id

-- name: pending
SELECT e.id, u.name, e.key, e.value, e.metadata, e.created_at, e.updated_at, e.version, e.encoded, e.fields, e.expires_at
FROM entries AS e INDEXED BY entries_pending
CROSS JOIN entry_users AS u ON u.id = e.user
WHERE e.space = ?
    AND e.settled <> e.version
LIMIT ?

-- name: pending_of
SELECT id, key, value, metadata, created_at, updated_at, version, encoded, fields, expires_at
FROM entries INDEXED BY entries_pending
WHERE space = ?
    AND user = ?
    AND settled <> version
LIMIT ?

-- name: counts
SELECT v.word, v.entries
FROM json_each(:words) AS s
CROSS JOIN entry_vocabulary AS v ON v.user = :user AND v.word = s.value

-- name: postings
SELECT w.word, w.entry, w.place
FROM json_each(:words) AS s
CROSS JOIN entry_words AS w ON w.user = :user AND w.word = s.value

-- name: newest_with
SELECT word, entry, place
FROM entry_words
WHERE user = ?
    AND word = ?
ORDER BY entry DESC
LIMIT ?

-- name: among
SELECT w.word, w.entry, w.place
FROM json_each(:words) AS s
CROSS JOIN json_each(:ids) AS i
CROSS JOIN entry_words AS w ON w.user = :user AND w.word = s.value AND w.entry = i.value

-- name: vocabulary
SELECT group_concat(word, char(10))
FROM entry_vocabulary
WHERE user = ?

-- name: vocabulary_mark
SELECT words
FROM entry_users
WHERE space = ?
    AND name = ?

-- name: words_changed
UPDATE entry_users
SET words = random()
WHERE id = ?

-- name: holding
SELECT id, key, value, metadata, created_at, updated_at, version, encoded, fields, expires_at
FROM entries
WHERE user = :user
    AND (instr(key, :text) OR instr(value, :text))
ORDER BY id DESC
LIMIT :limit

-- name: put
INSERT INTO entries (
    space, user, key, value, metadata, created_at, updated_at, encoded, fields, expires_at
)
VALUES (:space, :user, :key, :value, :metadata, :at, :at, :encoded, :fields, :expires_at)
ON CONFLICT (user, key) DO UPDATE
SET value = excluded.value,
    encoded = excluded.encoded,
    fields = excluded.fields,
    expires_at = excluded.expires_at,
    metadata = excluded.metadata,
    updated_at = excluded.updated_at,
    version = version + 1
RETURNING id, key, value, metadata, created_at, updated_at, version, encoded, fields, expires_at

-- name: restore
INSERT INTO entries (
    space, user, key, value, metadata, created_at, updated_at, encoded, fields, expires_at
)
VALUES (:space, :user, :key, :value, :metadata, :created_at, :updated_at, :encoded, :fields, :expires_at)
ON CONFLICT (user, key) DO UPDATE
SET value = excluded.value,
    encoded = excluded.encoded,
    fields = excluded.fields,
    expires_at = excluded.expires_at,
    metadata = excluded.metadata,
    created_at = excluded.created_at,
    updated_at = excluded.updated_at,
    version = version + 1
RETURNING id, key, value, metadata, created_at, updated_at, version, encoded, fields, expires_at

-- name: page
SELECT e.id, u.name, e.key, e.value, e.metadata, e.created_at, e.updated_at, e.version, e.encoded, e.fields, e.expires_at
FROM entries AS e
CROSS JOIN entry_users AS u ON u.id = e.user
WHERE +e.space = ?
    AND e.id > ?
ORDER BY e.id
LIMIT ?

-- name: indexed_as
SELECT version, settled, user, words, chunk, slot
FROM entries
WHERE id = ?
    AND space = ?

-- name: mark_indexed
UPDATE entries
SET settled = version,
    words = ?,
    chunk = ?,
    slot = ?
WHERE id = ?

-- name: drop_word
DELETE FROM entry_words
WHERE user = ?
    AND word = ?
    AND entry = ?

-- name: lose_word
UPDATE entry_vocabulary
SET entries = entries - 1
WHERE user = ?
    AND word = ?

-- name: drop_lost
DELETE FROM entry_vocabulary
WHERE user = ?
    AND word = ?
    AND entries < 1

-- name: add_word
INSERT INTO entry_words (user, word, entry, place)
VALUES (?, ?, ?, ?)

-- name: know_word
INSERT INTO entry_vocabulary (user, word, entries)
VALUES (?, ?, 1)
ON CONFLICT (user, word) DO UPDATE
SET entries = entries + 1

-- name: delete
DELETE FROM entries
WHERE id = ?

-- name: has_entries
SELECT 1
FROM entries
WHERE user = ?
LIMIT 1

-- name: drop_user
DELETE FROM entry_users
WHERE id = ?

-- name: use_model
UPDATE entry_users
SET model = ?
WHERE id = ?

-- name: drop_vectors
DELETE FROM entry_vectors
WHERE entry IN (SELECT e.id FROM entries AS e WHERE e.user = ?)

-- name: drop_signs
DELETE FROM entry_signs
WHERE user = ?

-- name: index_again
UPDATE entries
SET settled = 0,
    chunk = NULL,
    slot = NULL
WHERE user = ?

-- name: chunks
SELECT ids, bits
FROM entry_signs
WHERE user = ?
ORDER BY id

-- name: codes
SELECT v.entry, v.codes
FROM json_each(?) AS s
CROSS JOIN entry_vectors AS v ON v.entry = s.value

-- name: set_codes
INSERT INTO entry_vectors (entry, codes)
VALUES (?, ?)

-- name: drop_codes
DELETE FROM entry_vectors
WHERE entry = ?

-- name: last_chunk
SELECT id, ids, bits
FROM entry_signs
WHERE user = ?
ORDER BY id DESC
LIMIT 1

-- name: chunk
SELECT ids, bits
FROM entry_signs
WHERE id = ?

-- name: add_chunk
INSERT INTO entry_signs (user, ids, bits)
VALUES (?, ?, ?)
RETURNING id

-- name: set_chunk
UPDATE entry_signs
SET ids = ?,
    bits = ?
WHERE id = ?

-- name: drop_chunk
DELETE FROM entry_signs
WHERE id = ?
