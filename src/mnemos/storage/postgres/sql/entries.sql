-- Columns of an entry in storage/entries.py, in its order.

-- name: number_of
SELECT id
FROM mnemos.entry_users
WHERE space = ?
    AND name = ?

-- name: user_of
SELECT id, model
FROM mnemos.entry_users
WHERE space = ?
    AND name = ?

-- name: add_user
WITH n AS (
    UPDATE mnemos.space_states
    SET next_number = next_number + 1
    WHERE space = :space
    RETURNING next_number - 1 AS number
)
INSERT INTO mnemos.entry_users (id, space, name)
VALUES ((SELECT number FROM n), ?, ?)
RETURNING id

-- name: get
SELECT id, key, value, metadata, created_at, updated_at, version, encoded, fields, expires_at
FROM mnemos.entries
WHERE space = :space
    AND "user" = ?
    AND key = ?

-- name: of_ids
SELECT id, key, value, metadata, created_at, updated_at, version, encoded, fields, expires_at
FROM mnemos.entries
WHERE space = :space
    AND id IN (SELECT json_array_elements_text(:ids::json)::bigint)
    AND "user" = :user

-- name: owner
SELECT u.name, e.key
FROM mnemos.entries AS e
JOIN mnemos.entry_users AS u ON u.space = :space AND u.id = e."user"
WHERE e.id = ?
    AND e.space = ?

-- name: keys
SELECT key
FROM mnemos.entries
WHERE space = :space
    AND "user" = :user
    AND (:now::float8 IS NULL OR expires_at IS NULL OR expires_at > :now::float8)
ORDER BY updated_at DESC, id DESC

-- name: count
SELECT count(*)
FROM mnemos.entries
WHERE space = ?

-- name: users
SELECT
    u.name,
    (SELECT count(*) FROM mnemos.entries AS e WHERE e.space = :space AND e."user" = u.id)
FROM mnemos.entry_users AS u
WHERE u.space = ?
ORDER BY u.name
LIMIT ?

-- name: others
SELECT 1
FROM mnemos.entry_users
WHERE space = ?
    AND name <> ?
LIMIT 1

-- A condition is wrong if what it says is what it must not be. See storage/entries.py for what it says.
-- name: choose
SELECT
    e.id, e.name, e.key, e.value, e.metadata, e.created_at, e.updated_at, e.version, e.encoded, e.fields,
    e.expires_at
FROM (
    SELECT o.*, u.name, CASE WHEN o.encoded THEN o.value::jsonb ELSE to_jsonb(o.value) END AS doc
    FROM mnemos.entry_users AS u
    JOIN mnemos.entries AS o ON o.space = :space AND o."user" = u.id
    WHERE u.space = :space
        AND (
            :user::text IS NULL
            OR u.name = :user::text
            OR (:below::boolean AND u.name > :user::text || chr(31) AND u.name < :user::text || chr(32))
        )
        AND (:ids::json IS NULL OR o.id IN (SELECT json_array_elements_text(:ids::json)::bigint))
        AND (:now::float8 IS NULL OR o.expires_at IS NULL OR o.expires_at > :now::float8)
) AS e
WHERE (
        :conditions::jsonb IS NULL
        OR EXISTS (
            SELECT 1
            FROM jsonb_array_elements(:conditions::jsonb) AS alternative
            WHERE NOT EXISTS (
                SELECT 1
                FROM jsonb_array_elements(alternative) AS c
                CROSS JOIN LATERAL (
                    SELECT
                        jsonb_path_query_first(
                            e.doc, ('strict ' || (c ->> 'path'))::jsonpath, silent => TRUE
                        ) AS found,
                        c -> 'value' AS wanted
                ) AS f
                WHERE ((c ->> 'not') IN ('1', 'true')) = coalesce(
                    CASE
                        WHEN (c ->> 'op') <> 'eq'
                            THEN
                                CASE
                                    WHEN jsonb_typeof(f.found) <> jsonb_typeof(f.wanted) THEN FALSE
                                    WHEN jsonb_typeof(f.found) = 'number'
                                        THEN
                                            CASE c ->> 'op'
                                                WHEN 'gt' THEN f.found::numeric > f.wanted::numeric
                                                WHEN 'gte' THEN f.found::numeric >= f.wanted::numeric
                                                WHEN 'lt' THEN f.found::numeric < f.wanted::numeric
                                                WHEN 'lte' THEN f.found::numeric <= f.wanted::numeric
                                            END
                                    WHEN jsonb_typeof(f.found) = 'string'
                                        THEN
                                            CASE c ->> 'op'
                                                WHEN 'gt' THEN (f.found #>> '{}') COLLATE "C" > (f.wanted #>> '{}')
                                                WHEN 'gte' THEN (f.found #>> '{}') COLLATE "C" >= (f.wanted #>> '{}')
                                                WHEN 'lt' THEN (f.found #>> '{}') COLLATE "C" < (f.wanted #>> '{}')
                                                WHEN 'lte' THEN (f.found #>> '{}') COLLATE "C" <= (f.wanted #>> '{}')
                                            END
                                END
                        WHEN coalesce(jsonb_typeof(f.wanted), 'null') = 'null'
                            THEN coalesce(jsonb_typeof(f.found), 'null') = 'null'
                        ELSE f.found = f.wanted
                    END,
                    FALSE
                )
            )
        )
    )
ORDER BY e.updated_at DESC, e.id DESC
LIMIT :limit
OFFSET :offset

-- name: users_below
SELECT name
FROM mnemos.entry_users
WHERE space = :space
    AND (
        :user::text IS NULL
        OR name = :user::text
        OR (name > :user::text || chr(31) AND name < :user::text || chr(32))
    )
ORDER BY name

-- name: expired
SELECT e.id, u.name, e.key
FROM mnemos.entries AS e
JOIN mnemos.entry_users AS u ON u.space = :space AND u.id = e."user"
WHERE e.space = ?
    AND e.expires_at <= ?
LIMIT ?

-- name: set_expiry
UPDATE mnemos.entries
SET expires_at = ?
WHERE space = :space
    AND "user" = ?
    AND key = ?
RETURNING id

-- name: pending
SELECT
    e.id, u.name, e.key, e.value, e.metadata, e.created_at, e.updated_at, e.version, e.encoded, e.fields,
    e.expires_at
FROM mnemos.entries AS e
JOIN mnemos.entry_users AS u ON u.space = :space AND u.id = e."user"
WHERE e.space = ?
    AND e.settled <> e.version
LIMIT ?

-- name: pending_of
SELECT id, key, value, metadata, created_at, updated_at, version, encoded, fields, expires_at
FROM mnemos.entries
WHERE space = ?
    AND "user" = ?
    AND settled <> version
LIMIT ?

-- name: counts
SELECT word, entries
FROM mnemos.entry_vocabulary
WHERE space = :space
    AND "user" = :user
    AND word IN (SELECT json_array_elements_text(:words::json))

-- name: postings
SELECT word, entry, place
FROM mnemos.entry_words
WHERE space = :space
    AND "user" = :user
    AND word IN (SELECT json_array_elements_text(:words::json))

-- name: newest_with
SELECT word, entry, place
FROM mnemos.entry_words
WHERE space = :space
    AND "user" = ?
    AND word = ?
ORDER BY entry DESC
LIMIT ?

-- name: among
SELECT word, entry, place
FROM mnemos.entry_words
WHERE space = :space
    AND "user" = :user
    AND word IN (SELECT json_array_elements_text(:words::json))
    AND entry IN (SELECT json_array_elements_text(:ids::json)::bigint)

-- name: vocabulary
SELECT string_agg(word, chr(10) ORDER BY word)
FROM mnemos.entry_vocabulary
WHERE space = :space
    AND "user" = ?

-- name: vocabulary_mark
SELECT words
FROM mnemos.entry_users
WHERE space = ?
    AND name = ?

-- name: words_changed
UPDATE mnemos.entry_users
SET words = (random() * 4503599627370496)::bigint + 1
WHERE space = :space
    AND id = ?

-- name: holding
SELECT id, key, value, metadata, created_at, updated_at, version, encoded, fields, expires_at
FROM mnemos.entries
WHERE space = :space
    AND "user" = :user
    AND (strpos(key, :text::text) > 0 OR strpos(value, :text::text) > 0)
ORDER BY id DESC
LIMIT :limit

-- name: put
WITH n AS (
    UPDATE mnemos.space_states
    SET next_number = next_number + 1
    WHERE space = :space
    RETURNING next_number - 1 AS number
)
INSERT INTO mnemos.entries AS e (
    id, space, "user", key, value, metadata, created_at, updated_at, encoded, fields, expires_at
)
VALUES (
    (SELECT number FROM n), :space, :user, :key, :value, :metadata, :at, :at, :encoded, :fields,
    :expires_at
)
ON CONFLICT (space, "user", key) DO UPDATE
SET value = excluded.value,
    encoded = excluded.encoded,
    fields = excluded.fields,
    expires_at = excluded.expires_at,
    metadata = excluded.metadata,
    updated_at = excluded.updated_at,
    version = e.version + 1
RETURNING id, key, value, metadata, created_at, updated_at, version, encoded, fields, expires_at

-- name: restore
WITH n AS (
    UPDATE mnemos.space_states
    SET next_number = next_number + 1
    WHERE space = :space
    RETURNING next_number - 1 AS number
)
INSERT INTO mnemos.entries AS e (
    id, space, "user", key, value, metadata, created_at, updated_at, encoded, fields, expires_at
)
VALUES (
    (SELECT number FROM n), :space, :user, :key, :value, :metadata, :created_at, :updated_at, :encoded, :fields,
    :expires_at
)
ON CONFLICT (space, "user", key) DO UPDATE
SET value = excluded.value,
    encoded = excluded.encoded,
    fields = excluded.fields,
    expires_at = excluded.expires_at,
    metadata = excluded.metadata,
    created_at = excluded.created_at,
    updated_at = excluded.updated_at,
    version = e.version + 1
RETURNING id, key, value, metadata, created_at, updated_at, version, encoded, fields, expires_at

-- name: page
SELECT
    e.id, u.name, e.key, e.value, e.metadata, e.created_at, e.updated_at, e.version, e.encoded, e.fields,
    e.expires_at
FROM mnemos.entries AS e
JOIN mnemos.entry_users AS u ON u.space = :space AND u.id = e."user"
WHERE e.space = ?
    AND e.id > ?
ORDER BY e.id
LIMIT ?

-- name: indexed_as
SELECT version, settled, "user", words, chunk, slot
FROM mnemos.entries
WHERE id = ?
    AND space = ?

-- name: mark_indexed
UPDATE mnemos.entries
SET settled = version,
    words = ?,
    chunk = ?,
    slot = ?
WHERE space = :space
    AND id = ?

-- name: drop_word
DELETE FROM mnemos.entry_words
WHERE space = :space
    AND "user" = ?
    AND word = ?
    AND entry = ?

-- name: lose_word
UPDATE mnemos.entry_vocabulary
SET entries = entries - 1
WHERE space = :space
    AND "user" = ?
    AND word = ?

-- name: drop_lost
DELETE FROM mnemos.entry_vocabulary
WHERE space = :space
    AND "user" = ?
    AND word = ?
    AND entries < 1

-- name: add_word
INSERT INTO mnemos.entry_words (space, "user", word, entry, place)
VALUES (:space, ?, ?, ?, ?)

-- name: know_word
INSERT INTO mnemos.entry_vocabulary AS v (space, "user", word, entries)
VALUES (:space, ?, ?, 1)
ON CONFLICT (space, "user", word) DO UPDATE
SET entries = v.entries + 1

-- name: delete
DELETE FROM mnemos.entries
WHERE space = :space
    AND id = ?

-- name: has_entries
SELECT 1
FROM mnemos.entries
WHERE space = :space
    AND "user" = ?
LIMIT 1

-- name: drop_user
DELETE FROM mnemos.entry_users
WHERE space = :space
    AND id = ?

-- name: use_model
UPDATE mnemos.entry_users
SET model = ?
WHERE space = :space
    AND id = ?

-- name: drop_vectors
DELETE FROM mnemos.entry_vectors
WHERE space = :space
    AND entry IN (SELECT e.id FROM mnemos.entries AS e WHERE e.space = :space AND e."user" = ?)

-- name: drop_signs
DELETE FROM mnemos.entry_signs
WHERE space = :space
    AND "user" = ?

-- name: index_again
UPDATE mnemos.entries
SET settled = 0,
    chunk = NULL,
    slot = NULL
WHERE space = :space
    AND "user" = ?

-- name: chunks
SELECT ids, bits
FROM mnemos.entry_signs
WHERE space = :space
    AND "user" = ?
ORDER BY id

-- name: codes
SELECT entry, codes
FROM mnemos.entry_vectors
WHERE space = :space
    AND entry IN (SELECT json_array_elements_text(?::json)::bigint)

-- name: set_codes
INSERT INTO mnemos.entry_vectors (space, entry, codes)
VALUES (:space, ?, ?)

-- name: drop_codes
DELETE FROM mnemos.entry_vectors
WHERE space = :space
    AND entry = ?

-- name: last_chunk
SELECT id, ids, bits
FROM mnemos.entry_signs
WHERE space = :space
    AND "user" = ?
ORDER BY id DESC
LIMIT 1

-- name: chunk
SELECT ids, bits
FROM mnemos.entry_signs
WHERE space = :space
    AND id = ?

-- name: add_chunk
WITH n AS (
    UPDATE mnemos.space_states
    SET next_number = next_number + 1
    WHERE space = :space
    RETURNING next_number - 1 AS number
)
INSERT INTO mnemos.entry_signs (id, space, "user", ids, bits)
VALUES ((SELECT number FROM n), :space, ?, ?, ?)
RETURNING id

-- name: set_chunk
UPDATE mnemos.entry_signs
SET ids = ?,
    bits = ?
WHERE space = :space
    AND id = ?

-- name: drop_chunk
DELETE FROM mnemos.entry_signs
WHERE space = :space
    AND id = ?
