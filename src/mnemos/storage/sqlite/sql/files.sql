-- The five tables behind the full-text index count as one.
-- name: sizes
SELECT
    CASE WHEN name GLOB 'messages_fts_*' THEN 'messages_fts' ELSE name END,
    sum(pgsize)
FROM dbstat
WHERE aggregate = TRUE
GROUP BY 1
ORDER BY 2 DESC

-- name: spaces
SELECT p.name, count(s.key), coalesce(sum(s.message_count), 0)
FROM spaces AS p
LEFT JOIN sessions AS s ON s.space = p.id AND NOT s.doomed
GROUP BY p.id
ORDER BY p.name
