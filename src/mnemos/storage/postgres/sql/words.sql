-- name: add
INSERT INTO mnemos.words (space, id, piece, message, at, n, words)
SELECT :space, w.id, w.piece, w.message, w.at, w.n, w.words::tsvector
FROM json_to_recordset(?::json) AS w (
    id bigint, piece smallint, message bigint, at float8, n int, words text
)

-- name: add_long
INSERT INTO mnemos.long_words (space, id, stretch, words)
SELECT :space, w.id, w.stretch, w.words::tsvector
FROM json_to_recordset(?::json) AS w (id bigint, stretch int, words text)

-- name: remove
DELETE FROM mnemos.words
WHERE space = :space
    AND id BETWEEN ? AND ?

-- name: remove_long
DELETE FROM mnemos.long_words
WHERE space = :space
    AND id BETWEEN ? AND ?

-- name: rule
SELECT words_rule, words_through
FROM mnemos.space_states
WHERE space = :space

-- name: set_through
UPDATE mnemos.space_states
SET words_through = ?
WHERE space = :space

-- name: set_rule
UPDATE mnemos.space_states
SET words_rule = ?,
    words_through = NULL
WHERE space = :space

-- name: count_renewed
SELECT count(*) FILTER (WHERE id <= ?), count(*)
FROM mnemos.messages
WHERE space = :space
