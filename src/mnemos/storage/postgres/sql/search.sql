-- Rows are found by the index of words, and by no other. OFFSET separates the two: the planner would otherwise
-- walk through all messages when it sees the LIMIT. IS TRUE hides the other conditions from it: it would read
-- all of a space that it takes for small. The words of another space begin otherwise, so none can match.
-- A long row has the places of its words only up to a limit. If it has all words of a phrase (:long), the
-- phrase is looked for in its stretches, and found phrases count as words of the row.

-- The rows of each expression, in their order.
-- name: count_matches
SELECT (
    SELECT count(*)
    FROM mnemos.words AS w
    WHERE w.words @@ m.match
        AND (w.space = :space AND w.id BETWEEN :first AND :last) IS TRUE
)
FROM unnest(:matches::tsquery[]) WITH ORDINALITY AS m (match, place)
ORDER BY m.place

-- Rows that have every clause: their words are counted together.
-- name: best_of_all
SELECT
    a.message, a.id,
    :clauses::int + 0.5 * a.f / (a.f + 0.3 + 0.9 * a.n / greatest(avg(a.n) OVER (), 1))
FROM (
    SELECT
        b.id, b.message, b.n, b.is_long, b.words,
        1.645 * :clauses::int * ts_rank('{1,1,1,1}', b.words, :rank::tsquery) AS f
    FROM (
        SELECT
            f.id, f.message, f.n, f.words @@ :long::tsquery AS is_long,
            CASE
                WHEN f.words @@ :long::tsquery THEN f.words || array_to_tsvector(ARRAY(
                    SELECT p.name
                    FROM unnest(:phrases::tsquery[], :names::text[]) AS p (phrase, name)
                    WHERE EXISTS (
                        SELECT 1
                        FROM mnemos.long_words AS l
                        WHERE l.space = :space
                            AND l.id = f.id
                            AND l.words @@ p.phrase
                    )
                ))
                ELSE f.words
            END AS words
        FROM (
            SELECT w.id, w.message, w.n, w.words
            FROM mnemos.words AS w
            WHERE w.words @@ :match::tsquery
                AND (w.space = :space AND w.id BETWEEN :first AND :last AND w.at >= :since AND w.at < :until) IS TRUE
            OFFSET 0
        ) AS f
        ORDER BY f.id DESC
        LIMIT :cap
    ) AS b
    WHERE NOT b.is_long
        OR b.words @@ :strict::tsquery
    OFFSET 0
) AS a
ORDER BY 3 DESC, a.id DESC
LIMIT :limit

-- The whole part of a score is the number of clauses that the row has; the rest is BM25 with a saturated count
-- of each clause's words.
-- name: best
SELECT a.message, a.id, s.matched + s.total / (s.total + 10)
FROM (
    SELECT b.id, b.message, 0.3 + 0.9 * b.n / greatest(avg(b.n) OVER (), 1) AS norm, b.words
    FROM (
        SELECT
            f.id, f.message, f.n, f.words @@ :long::tsquery AS is_long,
            CASE
                WHEN f.words @@ :long::tsquery THEN f.words || array_to_tsvector(ARRAY(
                    SELECT p.name
                    FROM unnest(:phrases::tsquery[], :names::text[]) AS p (phrase, name)
                    WHERE EXISTS (
                        SELECT 1
                        FROM mnemos.long_words AS l
                        WHERE l.space = :space
                            AND l.id = f.id
                            AND l.words @@ p.phrase
                    )
                ))
                ELSE f.words
            END AS words
        FROM (
            SELECT w.id, w.message, w.n, w.words
            FROM mnemos.words AS w
            WHERE w.words @@ :match::tsquery
                AND (w.space = :space AND w.id BETWEEN :first AND :last AND w.at >= :since AND w.at < :until) IS TRUE
            OFFSET 0
        ) AS f
        ORDER BY f.id DESC
        LIMIT :cap
    ) AS b
    WHERE NOT b.is_long
        OR b.words @@ :strict::tsquery
) AS a
CROSS JOIN LATERAL (
    SELECT count(*) AS matched, sum(c.idf * 2.2 * r.f / (r.f + a.norm)) AS total
    FROM unnest(:every::tsquery[], :idf::float8[]) AS c (clause, idf)
    CROSS JOIN LATERAL (SELECT 1.645 * ts_rank('{1,1,1,1}', a.words, c.clause) AS f OFFSET 0) AS r
    WHERE a.words @@ c.clause
) AS s
WHERE s.matched > 0
ORDER BY 3 DESC, a.id DESC
LIMIT :limit

-- The weights of the clauses that a row has, each once.
-- name: seeds
SELECT a.message, a.id, s.total
FROM (
    SELECT b.id, b.message, b.words
    FROM (
        SELECT
            f.id, f.message, f.words @@ :long::tsquery AS is_long,
            CASE
                WHEN f.words @@ :long::tsquery THEN f.words || array_to_tsvector(ARRAY(
                    SELECT p.name
                    FROM unnest(:phrases::tsquery[], :names::text[]) AS p (phrase, name)
                    WHERE EXISTS (
                        SELECT 1
                        FROM mnemos.long_words AS l
                        WHERE l.space = :space
                            AND l.id = f.id
                            AND l.words @@ p.phrase
                    )
                ))
                ELSE f.words
            END AS words
        FROM (
            SELECT w.id, w.message, w.words
            FROM mnemos.words AS w
            WHERE w.words @@ :match::tsquery
                AND (w.space = :space AND w.id BETWEEN :first AND :last AND w.at >= :since AND w.at < :until) IS TRUE
            OFFSET 0
        ) AS f
        ORDER BY f.id DESC
        LIMIT :cap
    ) AS b
    WHERE NOT b.is_long
        OR b.words @@ :strict::tsquery
) AS a
CROSS JOIN LATERAL (
    SELECT coalesce(sum(c.idf), 0) AS total
    FROM unnest(:every::tsquery[], :idf::float8[]) AS c (clause, idf)
    WHERE a.words @@ c.clause
) AS s
ORDER BY 3 DESC, a.id DESC
LIMIT :limit

-- Few matches are sorted by time.
-- name: in_time
SELECT
    f.message, f.at,
    (SELECT count(*) FROM unnest(:every::tsquery[]) AS c (clause) WHERE f.words @@ c.clause)
FROM (
    SELECT
        b.message, b.at, b.words @@ :long::tsquery AS is_long,
        CASE
            WHEN b.words @@ :long::tsquery THEN b.words || array_to_tsvector(ARRAY(
                SELECT p.name
                FROM unnest(:phrases::tsquery[], :names::text[]) AS p (phrase, name)
                WHERE EXISTS (
                    SELECT 1
                    FROM mnemos.long_words AS l
                    WHERE l.space = :space
                        AND l.id = b.id
                        AND l.words @@ p.phrase
                )
            ))
            ELSE b.words
        END AS words
    FROM (
        SELECT w.id, w.message, w.at, w.words
        FROM mnemos.words AS w
        WHERE w.words @@ :match::tsquery
            AND (w.space = :space AND w.id BETWEEN :first AND :last AND w.at >= :since AND w.at < :until) IS TRUE
        OFFSET 0
    ) AS b
) AS f
WHERE NOT f.is_long
    OR f.words @@ :strict::tsquery
ORDER BY
    CASE WHEN :newest::boolean THEN -f.at ELSE f.at END,
    CASE WHEN :newest::boolean THEN -f.message ELSE f.message END
LIMIT :limit

-- Of many matches, the index by time is walked until enough are found.
-- name: newest_along
SELECT w.message, w.at, w.id, (SELECT count(*) FROM unnest(:every::tsquery[]) AS c (clause) WHERE w.words @@ c.clause)
FROM mnemos.words AS w
WHERE w.space = :space
    AND w.id BETWEEN :first AND :last
    AND (w.words @@ :match::tsquery) IS TRUE
    AND w.at >= :since
    AND w.at < :until
ORDER BY w.at DESC, w.message DESC
LIMIT :limit

-- name: oldest_along
SELECT w.message, w.at, w.id, (SELECT count(*) FROM unnest(:every::tsquery[]) AS c (clause) WHERE w.words @@ c.clause)
FROM mnemos.words AS w
WHERE w.space = :space
    AND w.id BETWEEN :first AND :last
    AND (w.words @@ :match::tsquery) IS TRUE
    AND w.at >= :since
    AND w.at < :until
ORDER BY w.at, w.message
LIMIT :limit

-- name: newest_between
SELECT w.message, w.id, 0.0::float8
FROM mnemos.words AS w
WHERE w.space = :space
    AND w.id BETWEEN :first AND :last
    AND (:match::tsquery IS NULL OR w.words @@ :match::tsquery)
    AND w.at >= :since
    AND w.at < :until
ORDER BY w.id DESC
LIMIT :limit

-- The sessions of the newest messages that match.
-- name: sessions_matching
SELECT DISTINCT s.id
FROM (
    SELECT DISTINCT f.message
    FROM (
        SELECT w.id, w.message
        FROM mnemos.words AS w
        WHERE w.words @@ :match::tsquery
            AND (w.space = :space AND w.id BETWEEN :first AND :last) IS TRUE
        OFFSET 0
    ) AS f
    ORDER BY f.message DESC
    LIMIT :cap
) AS n
JOIN mnemos.messages AS m ON m.space = :space AND m.id = n.message
JOIN mnemos.sessions AS s ON s.space = :space AND s.key = m.session
WHERE NOT s.doomed

-- name: times
SELECT
    (SELECT w.at FROM mnemos.words AS w WHERE w.space = :space ORDER BY w.at LIMIT 1),
    (SELECT w.at FROM mnemos.words AS w WHERE w.space = :space ORDER BY w.at DESC LIMIT 1)

-- The next message's id, and whether a deleted session still has rows.
-- name: extent
SELECT
    greatest(
        t.next_message,
        coalesce(
            (SELECT max(m.id) + 1 FROM mnemos.messages AS m WHERE m.space = :space AND m.id BETWEEN :first AND :last),
            0
        )
    ),
    EXISTS (SELECT 1 FROM mnemos.sessions AS s WHERE s.space = :space AND s.doomed)
FROM mnemos.space_states AS t
WHERE t.space = :space

-- name: session_key
SELECT key
FROM mnemos.sessions
WHERE space = ?
    AND id = ?
    AND NOT doomed

-- name: doomed
SELECT key
FROM mnemos.sessions
WHERE space = ?
    AND doomed

-- name: sessions_from
SELECT key
FROM mnemos.sessions
WHERE space = ?
    AND source IN (SELECT json_array_elements_text(?::json))

-- name: sessions_about
SELECT key
FROM mnemos.sessions
WHERE space = ?
    AND project IN (SELECT json_array_elements_text(?::json))

-- name: sessions_late_about
SELECT key
FROM mnemos.sessions
WHERE space = ?
    AND project IN (SELECT json_array_elements_text(?::json))
    AND project_from IS NOT NULL

-- name: sessions_of_others
SELECT key
FROM mnemos.sessions
WHERE space = ?
    AND user_id <> ?

-- name: sessions_late_of_others
SELECT key
FROM mnemos.sessions
WHERE space = ?
    AND user_id <> ?
    AND user_from IS NOT NULL

-- name: passages_of_others
SELECT id
FROM mnemos.passages
WHERE space = ?
    AND user_id <> ?
