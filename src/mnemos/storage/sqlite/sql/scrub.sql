-- The keys of the full-text index with the leaf that each leads to. Bytes: a key need not be valid UTF-8.
-- name: keys
SELECT i.segid, i.term, d.block
FROM messages_fts_idx AS i
LEFT JOIN messages_fts_data AS d ON d.id = (i.segid << 37) + (i.pgno >> 1)
WHERE length(i.term) > 1

-- name: key
SELECT i.segid, i.term, d.block
FROM messages_fts_idx AS i
LEFT JOIN messages_fts_data AS d ON d.id = (i.segid << 37) + (i.pgno >> 1)
WHERE i.segid = ?
    AND i.term = ?

-- name: replace_key
UPDATE OR IGNORE messages_fts_idx
SET term = ?
WHERE segid = ?
    AND term = ?

-- name: remove_key
DELETE FROM messages_fts_idx
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
