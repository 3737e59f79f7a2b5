-- name: open_words
CREATE VIRTUAL TABLE temp.words USING fts5vocab ('main', 'messages_fts', 'instance')

-- name: close_words
DROP TABLE temp.words

-- name: keys
SELECT segid, term
FROM messages_fts_idx
WHERE length(term) > 1

-- Bytes in, bytes out: a key need not be valid UTF-8.
-- name: next_word
SELECT CAST(term AS BLOB)
FROM temp.words
WHERE term >= CAST(? AS TEXT)
LIMIT 1

-- name: replace_key
UPDATE OR IGNORE messages_fts_idx
SET term = ?
WHERE segid = ?
    AND term = ?

-- name: tree_pages
SELECT pageno
FROM dbstat
WHERE pagetype IN ('leaf', 'internal')

-- name: touch
INSERT INTO properties (name, value)
VALUES ('scrubs', '1')
ON CONFLICT (name) DO UPDATE
SET value = value + 1
