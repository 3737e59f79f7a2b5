-- The five tables behind the full-text index count as one.
-- name: sizes
SELECT
    CASE WHEN name GLOB 'messages_fts_*' THEN 'messages_fts' ELSE name END,
    sum(pgsize)
FROM dbstat
WHERE aggregate = TRUE
GROUP BY 1
ORDER BY 2 DESC
