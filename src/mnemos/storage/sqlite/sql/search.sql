-- How many messages of the space fulfil one clause, counted to a cap, and the oldest id counted:
-- from the newest back, so that the density of a common word can be estimated.
-- name: count_matches
SELECT count(*), min(r)
FROM (
    SELECT rowid AS r
    FROM messages_fts
    WHERE messages_fts MATCH :match
        AND rowid BETWEEN :first AND :last
    ORDER BY rowid DESC
    LIMIT :cap
)

-- name: count_tail_matches
SELECT count(*)
FROM temp.tail
WHERE tail MATCH :match

-- name: best
SELECT r, s
FROM (
    SELECT rowid AS r, score(messages_fts) AS s
    FROM messages_fts
    WHERE messages_fts MATCH :match
        AND rowid BETWEEN :first AND :last
    ORDER BY rowid DESC
    LIMIT :cap
)
ORDER BY s DESC, r DESC
LIMIT :limit

-- name: best_of_tail
SELECT rowid, score(tail) AS s
FROM temp.tail
WHERE tail MATCH :match
ORDER BY s DESC, rowid DESC
LIMIT :limit

-- name: best_between
SELECT r, s
FROM (
    SELECT f.rowid AS r, score(messages_fts) AS s
    FROM messages_fts AS f
    WHERE f.messages_fts MATCH :match
        AND f.rowid BETWEEN :first AND :last
        AND (
            SELECT m.timestamp >= :since AND m.timestamp < :until
            FROM messages AS m
            WHERE m.id = (SELECT max(o.id) FROM messages AS o WHERE o.id <= f.rowid)
        )
    ORDER BY f.rowid DESC
    LIMIT :cap
)
ORDER BY s DESC, r DESC
LIMIT :limit

-- name: best_of_tail_between
SELECT f.rowid, score(tail) AS s
FROM temp.tail AS f
WHERE f.tail MATCH :match
    AND (
        SELECT m.timestamp >= :since AND m.timestamp < :until
        FROM messages AS m
        WHERE m.id = (SELECT max(o.id) FROM messages AS o WHERE o.id <= f.rowid)
    )
ORDER BY s DESC, f.rowid DESC
LIMIT :limit

-- name: owner
SELECT max(id)
FROM messages
WHERE id <= ?

-- name: in_time
SELECT m.id, m.timestamp
FROM (
    SELECT rowid AS r
    FROM messages_fts
    WHERE messages_fts MATCH :match
        AND rowid BETWEEN :first AND :last
    ORDER BY rowid DESC
    LIMIT :cap
) AS f
JOIN messages AS m ON m.id = (SELECT max(o.id) FROM messages AS o WHERE o.id <= f.r)
WHERE m.timestamp >= :since
    AND m.timestamp < :until

-- name: in_time_of_tail
SELECT m.id, m.timestamp
FROM (
    SELECT rowid AS r
    FROM temp.tail
    WHERE tail MATCH :match
) AS f
JOIN messages AS m ON m.id = (SELECT max(o.id) FROM messages AS o WHERE o.id <= f.r)
WHERE m.timestamp >= :since
    AND m.timestamp < :until

-- name: weeks
SELECT week
FROM calendar
WHERE space = ?
    AND week BETWEEN ? AND ?
ORDER BY week

-- name: session_key
SELECT key
FROM sessions
WHERE space = ?
    AND id = ?
    AND NOT doomed

-- name: doomed
SELECT key
FROM sessions
WHERE space = ?
    AND doomed
