-- name: embedding
SELECT id, messages, passages, erasures, dim
FROM embeddings
WHERE space = ?
    AND model = ?
    AND NOT doomed

-- name: embeddings
SELECT id, model, dim, messages, passages
FROM embeddings
WHERE space = ?
    AND NOT doomed
ORDER BY id DESC

-- Also those that are being removed.
-- name: every_embedding
SELECT id, dim
FROM embeddings
WHERE space = ?

-- name: others
SELECT 1
FROM embeddings
WHERE space = ?
    AND (doomed OR model <> ?)
LIMIT 1

-- name: doom_others
UPDATE embeddings
SET doomed = 1
WHERE space = ?
    AND model <> ?

-- name: doomed
SELECT id
FROM embeddings
WHERE space = ?
    AND doomed
LIMIT 1

-- name: begin
INSERT INTO embeddings (space, model, dim, messages, passages)
VALUES (?, ?, ?, ?, ?)
RETURNING id

-- name: mark_messages
UPDATE embeddings
SET messages = ?
WHERE id = ?

-- name: mark_passages
UPDATE embeddings
SET passages = ?
WHERE id = ?

-- name: drop_embedding
DELETE FROM embeddings
WHERE id = ?

-- name: drop_some
DELETE FROM vectors
WHERE id IN (SELECT v.id FROM vectors AS v WHERE v.embedding = ? LIMIT ?)

-- name: tail
SELECT id, labels, bits, codes
FROM vectors
WHERE embedding = ?
    AND series = ?
ORDER BY last DESC
LIMIT 1

-- name: add
INSERT INTO vectors (embedding, series, first, last, labels, bits, codes)
VALUES (?, ?, ?, ?, ?, ?, ?)

-- name: replace
UPDATE vectors
SET last = ?,
    labels = ?,
    bits = ?,
    codes = ?
WHERE id = ?

-- name: chunks_from
SELECT id, last, labels, bits
FROM vectors
WHERE embedding = ?
    AND series = ?
    AND last >= ?
ORDER BY last

-- name: holding
SELECT id, first, last, labels
FROM vectors
WHERE embedding = ?
    AND series = ?
    AND last >= ?
ORDER BY last
LIMIT ?

-- name: count_erasure
UPDATE embeddings
SET erasures = erasures + 1
WHERE id = ?

-- The message that an id belongs to: a long one has several.
-- name: details
SELECT s.value, m.session, m.timestamp, m.role
FROM json_each(?) AS s
JOIN messages AS m ON m.id = (SELECT max(o.id) FROM messages AS o WHERE o.id <= s.value)

-- name: passage_details
SELECT id, at, kind, "group"
FROM passages
WHERE id IN (SELECT value FROM json_each(?))

-- name: pending_passages
SELECT id, iif(also IS NULL, text, text || char(10) || also)
FROM passages
WHERE id BETWEEN ? AND ?
ORDER BY id
LIMIT ?

-- name: last_passage
SELECT next_passage - 1
FROM spaces
WHERE id = ?

-- name: removals
SELECT removals
FROM spaces
WHERE id = ?

-- name: owners
SELECT m.id, m.timestamp, m.role, NULL
FROM json_each(?) AS s
CROSS JOIN messages AS m ON m.id = (SELECT max(o.id) FROM messages AS o WHERE o.id <= s.value)
ORDER BY s.key

-- name: kept_passages
SELECT p.id, p.at, p.kind, p."group"
FROM json_each(?) AS s
CROSS JOIN passages AS p ON p.id = s.value
ORDER BY s.key

-- name: last_key
SELECT max(last)
FROM vectors
WHERE embedding = ?
    AND series = ?

-- name: next_message
SELECT min(id)
FROM messages
WHERE id > ?

-- name: codes
SELECT codes
FROM vectors
WHERE id = ?

-- name: lengths
SELECT v.embedding, e.dim, v.first, v.last, v.labels, length(v.bits), length(v.codes)
FROM vectors AS v
JOIN embeddings AS e ON e.id = v.embedding

-- name: drop_vectors
DELETE FROM vectors
WHERE embedding = ?
