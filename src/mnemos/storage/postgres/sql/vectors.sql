-- name: embedding
SELECT id, messages, passages, erasures, dim
FROM mnemos.embeddings
WHERE space = ?
    AND model = ?
    AND NOT doomed

-- name: embeddings
SELECT id, model, dim, messages, passages
FROM mnemos.embeddings
WHERE space = ?
    AND NOT doomed
ORDER BY id DESC

-- Also those that are being removed.
-- name: every_embedding
SELECT id, dim
FROM mnemos.embeddings
WHERE space = ?

-- name: others
SELECT 1
FROM mnemos.embeddings
WHERE space = ?
    AND (doomed OR model <> ?)
LIMIT 1

-- name: doom_others
UPDATE mnemos.embeddings
SET doomed = TRUE
WHERE space = ?
    AND model <> ?

-- name: doomed
SELECT id
FROM mnemos.embeddings
WHERE space = ?
    AND doomed
LIMIT 1

-- name: begin
WITH n AS (
    UPDATE mnemos.space_states
    SET next_number = next_number + 1
    WHERE space = :space
    RETURNING next_number - 1 AS number
)
INSERT INTO mnemos.embeddings (id, space, model, dim, messages, passages)
VALUES ((SELECT number FROM n), ?, ?, ?, ?, ?)
RETURNING id

-- name: mark_messages
UPDATE mnemos.embeddings
SET messages = ?
WHERE space = :space
    AND id = ?

-- name: mark_passages
UPDATE mnemos.embeddings
SET passages = ?
WHERE space = :space
    AND id = ?

-- name: drop_embedding
DELETE FROM mnemos.embeddings
WHERE space = :space
    AND id = ?

-- name: drop_some
DELETE FROM mnemos.vectors
WHERE space = :space
    AND id IN (SELECT v.id FROM mnemos.vectors AS v WHERE v.space = :space AND v.embedding = ? LIMIT ?)

-- name: tail
SELECT id, labels, bits, codes
FROM mnemos.vectors
WHERE space = :space
    AND embedding = ?
    AND series = ?
ORDER BY last DESC
LIMIT 1

-- name: add
INSERT INTO mnemos.vectors (id, space, embedding, series, first, last, labels, bits, codes)
VALUES (
    (SELECT coalesce(max(v.id), 0) + 1 FROM mnemos.vectors AS v WHERE v.space = :space),
    :space, ?, ?, ?, ?, ?, ?, ?
)

-- name: replace
UPDATE mnemos.vectors
SET last = ?,
    labels = ?,
    bits = ?,
    codes = ?
WHERE space = :space
    AND id = ?

-- name: chunks_from
SELECT id, last, labels, bits
FROM mnemos.vectors
WHERE space = :space
    AND embedding = ?
    AND series = ?
    AND last >= ?
ORDER BY last

-- name: holding
SELECT id, first, last, labels
FROM mnemos.vectors
WHERE space = :space
    AND embedding = ?
    AND series = ?
    AND last >= ?
ORDER BY last
LIMIT ?

-- name: count_erasure
UPDATE mnemos.embeddings
SET erasures = erasures + 1
WHERE space = :space
    AND id = ?

-- name: overwrite_labels
UPDATE mnemos.vectors
SET labels = overlay(labels PLACING ?::bytea FROM ?::int)
WHERE space = :space
    AND id = ?

-- name: overwrite_bits
UPDATE mnemos.vectors
SET bits = overlay(bits PLACING ?::bytea FROM ?::int)
WHERE space = :space
    AND id = ?

-- name: overwrite_codes
UPDATE mnemos.vectors
SET codes = overlay(codes PLACING ?::bytea FROM ?::int)
WHERE space = :space
    AND id = ?

-- The message that an id belongs to: a long one has several.
-- name: details
SELECT s.value::bigint, m.session, m.timestamp, m.role
FROM json_array_elements_text(?::json) AS s (value)
CROSS JOIN LATERAL (
    SELECT o.session, o.timestamp, o.role
    FROM mnemos.messages AS o
    WHERE o.space = :space
        AND o.id <= s.value::bigint
    ORDER BY o.id DESC
    LIMIT 1
) AS m

-- name: passage_details
SELECT id, at, kind, "group"
FROM mnemos.passages
WHERE space = :space
    AND id IN (SELECT json_array_elements_text(?::json)::bigint)

-- name: pending_passages
SELECT id, CASE WHEN also IS NULL THEN text ELSE text || chr(10) || also END
FROM mnemos.passages
WHERE space = :space
    AND id BETWEEN ? AND ?
ORDER BY id
LIMIT ?

-- name: last_passage
SELECT next_passage - 1
FROM mnemos.space_states
WHERE space = ?

-- name: removals
SELECT removals
FROM mnemos.space_states
WHERE space = ?

-- name: owners
SELECT m.id, m.timestamp, m.role, NULL::text
FROM json_array_elements_text(?::json) WITH ORDINALITY AS s (value, place)
CROSS JOIN LATERAL (
    SELECT o.id, o.timestamp, o.role
    FROM mnemos.messages AS o
    WHERE o.space = :space
        AND o.id <= s.value::bigint
    ORDER BY o.id DESC
    LIMIT 1
) AS m
ORDER BY s.place

-- name: kept_passages
SELECT p.id, p.at, p.kind, p."group"
FROM json_array_elements_text(?::json) WITH ORDINALITY AS s (value, place)
JOIN mnemos.passages AS p ON p.space = :space AND p.id = s.value::bigint
ORDER BY s.place

-- name: last_key
SELECT max(last)
FROM mnemos.vectors
WHERE space = :space
    AND embedding = ?
    AND series = ?

-- name: next_message
SELECT min(id)
FROM mnemos.messages
WHERE space = :space
    AND id > ?

-- Places are pairs of a chunk and the first byte there.
-- name: slices
SELECT substring(v.codes FROM (s.value ->> 1)::int FOR :dim::int)
FROM json_array_elements(:places::json) WITH ORDINALITY AS s (value, place)
JOIN mnemos.vectors AS v ON v.space = :space AND v.id = (s.value ->> 0)::bigint
ORDER BY s.place

-- name: lengths
SELECT v.embedding, e.dim, v.first, v.last, v.labels, length(v.bits), length(v.codes)
FROM mnemos.vectors AS v
JOIN mnemos.embeddings AS e ON e.space = :space AND e.id = v.embedding
WHERE v.space = :space

-- name: drop_vectors
DELETE FROM mnemos.vectors
WHERE space = :space
    AND embedding = ?
