-- name: embedding
SELECT id, messages, passages, erasures, dim
FROM embeddings
WHERE space = ?
    AND model = ?

-- name: embeddings
SELECT id, model, dim, messages, passages
FROM embeddings
WHERE space = ?
ORDER BY id DESC

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

-- name: delete_chunk
DELETE FROM vectors
WHERE id = ?

-- name: count_erasure
UPDATE embeddings
SET erasures = erasures + 1
WHERE id = ?

-- name: details
SELECT m.id, m.session, m.timestamp, m.role
FROM messages AS m
WHERE m.id IN (SELECT value FROM json_each(?))

-- name: passage_details
SELECT id, at, kind
FROM passages
WHERE id IN (SELECT value FROM json_each(?))

-- name: pending_passages
SELECT id, text
FROM passages
WHERE id BETWEEN ? AND ?
ORDER BY id
LIMIT ?

-- name: last_passage
SELECT next_passage - 1
FROM spaces
WHERE id = ?

-- name: owners
SELECT (SELECT max(m.id) FROM messages AS m WHERE m.id <= s.value)
FROM json_each(?) AS s
