-- The index has the messages of a space in reverse, the last id first: the newest are wanted first, and FTS5
-- scans its lists upwards in two thirds of the time it takes downwards.

-- The number of messages of the space that match a clause, up to a cap, and the oldest id counted. Counting
-- starts at the newest, so that the density of a common word can be estimated.
-- name: count_matches
SELECT count(*), min(r)
FROM (
    SELECT :first + :last - rowid AS r
    FROM messages_fts
    WHERE messages_fts MATCH :match
        AND rowid BETWEEN :first AND :last
    ORDER BY rowid
    LIMIT :cap
)

-- name: count_tail_matches
SELECT count(*)
FROM temp.tail
WHERE tail MATCH :match

-- A row belongs to the message with the highest id not above its own: a long message has several.
-- name: best
SELECT (SELECT max(m.id) FROM messages AS m WHERE m.id <= r), s
FROM (
    SELECT r, s
    FROM (
        SELECT :first + :last - rowid AS r, score(messages_fts) AS s
        FROM messages_fts
        WHERE messages_fts MATCH :match
            AND rowid BETWEEN :first AND :last
        ORDER BY rowid
        LIMIT :cap
    )
    ORDER BY s DESC, r DESC
    LIMIT :limit
)

-- name: best_of_all
SELECT (SELECT max(m.id) FROM messages AS m WHERE m.id <= r), s
FROM (
    SELECT r, s
    FROM (
        SELECT :first + :last - rowid AS r, score_all(messages_fts) AS s
        FROM messages_fts
        WHERE messages_fts MATCH :match
            AND rowid BETWEEN :first AND :last
        ORDER BY rowid
        LIMIT :cap
    )
    ORDER BY s DESC, r DESC
    LIMIT :limit
)

-- name: best_of_all_in_tail
SELECT (SELECT max(m.id) FROM messages AS m WHERE m.id <= r), s
FROM (
    SELECT rowid AS r, score_all(tail) AS s
    FROM temp.tail
    WHERE tail MATCH :match
    ORDER BY s DESC, r DESC
    LIMIT :limit
)

-- name: best_of_tail
SELECT (SELECT max(m.id) FROM messages AS m WHERE m.id <= r), s
FROM (
    SELECT rowid AS r, score(tail) AS s
    FROM temp.tail
    WHERE tail MATCH :match
    ORDER BY s DESC, r DESC
    LIMIT :limit
)

-- name: best_between
SELECT message, s
FROM (
    SELECT
        :first + :last - f.rowid AS r,
        score(messages_fts) AS s,
        (SELECT max(o.id) FROM messages AS o WHERE o.id <= :first + :last - f.rowid) AS message
    FROM messages_fts AS f
    WHERE f.messages_fts MATCH :match
        AND f.rowid BETWEEN :first AND :last
        AND (
            SELECT m.timestamp >= :since AND m.timestamp < :until
            FROM messages AS m
            WHERE m.id = (SELECT max(o.id) FROM messages AS o WHERE o.id <= :first + :last - f.rowid)
        )
    ORDER BY f.rowid
    LIMIT :cap
)
ORDER BY s DESC, r DESC
LIMIT :limit

-- name: best_of_tail_between
SELECT (SELECT max(m.id) FROM messages AS m WHERE m.id <= r), s
FROM (
    SELECT f.rowid AS r, score(tail) AS s
    FROM temp.tail AS f
    WHERE f.tail MATCH :match
        AND (
            SELECT m.timestamp >= :since AND m.timestamp < :until
            FROM messages AS m
            WHERE m.id = (SELECT max(o.id) FROM messages AS o WHERE o.id <= f.rowid)
        )
    ORDER BY s DESC, r DESC
    LIMIT :limit
)

-- name: in_time
SELECT m.id, m.timestamp, f.s
FROM (
    SELECT :first + :last - rowid AS r, score(messages_fts) AS s
    FROM messages_fts
    WHERE messages_fts MATCH :match
        AND rowid BETWEEN :first AND :last
) AS f
JOIN messages AS m ON m.id = (SELECT max(o.id) FROM messages AS o WHERE o.id <= f.r)
WHERE m.timestamp >= :since
    AND m.timestamp < :until

-- name: in_time_of_tail
SELECT m.id, m.timestamp, f.s
FROM (
    SELECT rowid AS r, score(tail) AS s
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

-- name: sessions_from
SELECT key
FROM sessions
WHERE space = ?
    AND source IN (SELECT value FROM json_each(?))

-- name: sessions_about
SELECT key
FROM sessions
WHERE space = ?
    AND project IN (SELECT value FROM json_each(?))

-- name: sessions_late_about
SELECT key
FROM sessions
WHERE space = ?
    AND project IN (SELECT value FROM json_each(?))
    AND project_from IS NOT NULL

-- name: sessions_of_others
SELECT key
FROM sessions
WHERE space = ?
    AND user_id <> ?

-- name: sessions_late_of_others
SELECT key
FROM sessions
WHERE space = ?
    AND user_id <> ?
    AND user_from IS NOT NULL

-- name: passages_of_others
SELECT id
FROM passages
WHERE space = ?
    AND user_id <> ?

-- Rows of the index that have the words, the best of the newest; a row of a long message stands for it.
-- Those of messages are in reverse, as in search.sql; those of other passages are not.
-- name: seeds
SELECT r, s
FROM (
    SELECT :first + :last - rowid AS r, seed(messages_fts) AS s
    FROM messages_fts
    WHERE messages_fts MATCH :match
        AND rowid BETWEEN :first AND :last
    ORDER BY rowid
    LIMIT :cap
)
ORDER BY s DESC, r DESC
LIMIT :limit

-- name: seeds_of_others
SELECT r, s
FROM (
    SELECT rowid AS r, seed(messages_fts) AS s
    FROM messages_fts
    WHERE messages_fts MATCH :match
        AND rowid BETWEEN :first AND :last
    ORDER BY rowid DESC
    LIMIT :cap
)
ORDER BY s DESC, r DESC
LIMIT :limit

-- name: seeds_of_tail
SELECT rowid AS r, seed(tail) AS s
FROM temp.tail
WHERE tail MATCH :match
ORDER BY s DESC, r DESC
LIMIT :limit

-- name: seeds_between
SELECT r, s
FROM (
    SELECT :first + :last - f.rowid AS r, seed(messages_fts) AS s
    FROM messages_fts AS f
    WHERE f.messages_fts MATCH :match
        AND f.rowid BETWEEN :first AND :last
        AND (
            SELECT m.timestamp >= :since AND m.timestamp < :until
            FROM messages AS m
            WHERE m.id = (SELECT max(o.id) FROM messages AS o WHERE o.id <= :first + :last - f.rowid)
        )
    ORDER BY f.rowid
    LIMIT :cap
)
ORDER BY s DESC, r DESC
LIMIT :limit

-- name: seeds_of_tail_between
SELECT f.rowid AS r, seed(tail) AS s
FROM temp.tail AS f
WHERE f.tail MATCH :match
    AND (
        SELECT m.timestamp >= :since AND m.timestamp < :until
        FROM messages AS m
        WHERE m.id = (SELECT max(o.id) FROM messages AS o WHERE o.id <= f.rowid)
    )
ORDER BY s DESC, r DESC
LIMIT :limit

-- name: seeds_of_passages
SELECT r, s
FROM (
    SELECT f.rowid AS r, seed(messages_fts) AS s
    FROM messages_fts AS f
    WHERE f.messages_fts MATCH :match
        AND f.rowid BETWEEN :first AND :last
        AND (SELECT p.at >= :since AND p.at < :until FROM passages AS p WHERE p.id = f.rowid)
    ORDER BY f.rowid DESC
    LIMIT :cap
)
ORDER BY s DESC, r DESC
LIMIT :limit

-- name: count_others
SELECT count(*), min(rowid)
FROM (
    SELECT rowid
    FROM messages_fts
    WHERE messages_fts MATCH :match
        AND rowid BETWEEN :first AND :last
    ORDER BY rowid DESC
    LIMIT :cap
)

-- The sessions of the newest messages that match.
-- name: sessions_matching
SELECT DISTINCT s.id
FROM (
    SELECT :first + :last - rowid AS r
    FROM messages_fts
    WHERE messages_fts MATCH :match
        AND rowid BETWEEN :first AND :last
    ORDER BY rowid
    LIMIT :cap
) AS f
CROSS JOIN messages AS m ON m.id = (SELECT max(o.id) FROM messages AS o WHERE o.id <= f.r)
CROSS JOIN sessions AS s ON s.key = m.session
WHERE NOT s.doomed

-- name: sessions_matching_in_tail
SELECT DISTINCT s.id
FROM temp.tail AS f
CROSS JOIN messages AS m ON m.id = (SELECT max(o.id) FROM messages AS o WHERE o.id <= f.rowid)
CROSS JOIN sessions AS s ON s.key = m.session
WHERE f.tail MATCH :match
    AND NOT s.doomed

-- name: owners
SELECT (SELECT max(m.id) FROM messages AS m WHERE m.id <= s.value)
FROM json_each(?) AS s
