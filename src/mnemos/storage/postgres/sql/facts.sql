-- name: of_ids
SELECT *
FROM mnemos.fact_rows AS f
WHERE f.space = :space
    AND f.id IN (SELECT json_array_elements_text(:ids::json)::bigint)

-- name: live_on
SELECT *
FROM mnemos.fact_rows AS f
WHERE f.space = :space
    AND f.key = :key
    AND f.state = 'live'
    AND (:user::text IS NULL OR f.user_id IS NULL OR f.user_id = :user::text)
ORDER BY f.id DESC
LIMIT :limit

-- name: live_in
SELECT *
FROM mnemos.fact_rows AS f
WHERE f.space = :space
    AND f.key = :key
    AND coalesce(f.scope, 0) = :scope
    AND coalesce(f.user_id, '') = :user
    AND f.state = 'live'
ORDER BY f.id

-- name: history
SELECT *
FROM mnemos.fact_rows AS f
WHERE f.space = :space
    AND f.key = :key
    AND (:scope::bigint IS NULL OR f.scope = :scope::bigint)
    AND (:user::text IS NULL OR f.user_id IS NULL OR f.user_id = :user::text)
    AND (:before::bigint IS NULL OR f.id < :before::bigint)
    AND (
        :as_of::float8 IS NULL
        OR (f.recorded_at <= :as_of::float8 AND (f.ended_at IS NULL OR f.ended_at > :as_of::float8))
    )
ORDER BY f.id DESC
LIMIT :limit

-- name: select
SELECT *
FROM mnemos.fact_rows AS f
WHERE f.space = :space
    AND f.id > :after
    AND f.id <= :through
    AND (:scope::bigint IS NULL OR f.scope = :scope::bigint)
    AND (:user::text IS NULL OR f.user_id IS NULL OR f.user_id = :user::text)
    AND (:hot::boolean IS NULL OR f.hot = :hot::boolean)
    AND (:marks::json IS NULL OR f.mark IN (SELECT json_array_elements_text(:marks::json)))
    AND CASE
        WHEN :as_of::float8 IS NULL THEN f.state IN (SELECT json_array_elements_text(:states::json))
        ELSE f.recorded_at <= :as_of::float8 AND (f.ended_at IS NULL OR f.ended_at > :as_of::float8)
    END
ORDER BY f.id
LIMIT :limit

-- name: newest
SELECT max(id)
FROM mnemos.facts
WHERE space = ?

-- name: select_hot
SELECT *
FROM mnemos.fact_rows AS f
WHERE f.space = :space
    AND f.hot
    AND f.id > :after
    AND f.id <= :through
    AND (:scope::bigint IS NULL OR f.scope = :scope::bigint)
    AND (:user::text IS NULL OR f.user_id IS NULL OR f.user_id = :user::text)
    AND (:marks::json IS NULL OR f.mark IN (SELECT json_array_elements_text(:marks::json)))
ORDER BY f.id
LIMIT :limit

-- name: ended
SELECT id
FROM mnemos.facts
WHERE space = :space
    AND ended_at IS NOT NULL
    AND (:before::float8 IS NULL OR ended_at < :before::float8)
    AND (:scope::bigint IS NULL OR scope = :scope::bigint)
ORDER BY ended_at, id
LIMIT :limit

-- name: count_ended
SELECT count(*)
FROM mnemos.facts
WHERE space = :space
    AND ended_at IS NOT NULL
    AND (:before::float8 IS NULL OR ended_at < :before::float8)
    AND (:scope::bigint IS NULL OR scope = :scope::bigint)

-- name: earlier
WITH RECURSIVE chain (id, depth) AS (
    SELECT :id::bigint, 0
    UNION ALL
    SELECT f.id, c.depth + 1
    FROM chain AS c
    JOIN mnemos.facts AS f ON f.space = :space
        AND f.superseded_by = c.id
        AND f.mark = :mark
    WHERE c.depth < :limit
)
SELECT id
FROM chain
WHERE depth > 0
ORDER BY depth

-- name: of_message
SELECT *
FROM mnemos.fact_rows AS f
WHERE f.space = :space
    AND f.message_id = :message
ORDER BY f.id
LIMIT :limit

-- name: of_source
SELECT *
FROM mnemos.fact_rows AS f
WHERE f.space = :space
    AND (
        f.session_id = :session
        OR f.message_id IN (SELECT json_array_elements_text(:messages::json)::bigint)
    )
ORDER BY f.id

-- name: successors
WITH RECURSIVE chain (id, depth) AS (
    SELECT :id::bigint, 0
    UNION ALL
    SELECT f.superseded_by, c.depth + 1
    FROM chain AS c
    JOIN mnemos.facts AS f ON f.space = :space AND f.id = c.id
    WHERE f.superseded_by IS NOT NULL
        AND c.depth < 1000
)
SELECT f.*
FROM chain AS c
JOIN mnemos.fact_rows AS f ON f.space = :space AND f.id = c.id
WHERE c.depth > 0
ORDER BY c.depth DESC
LIMIT :limit

-- name: predecessors
WITH RECURSIVE chain (id, depth) AS (
    SELECT :id::bigint, 0
    UNION ALL
    SELECT f.id, c.depth + 1
    FROM chain AS c
    JOIN mnemos.facts AS f ON f.space = :space AND f.superseded_by = c.id
    WHERE c.depth < 1000
)
SELECT f.*
FROM chain AS c
JOIN mnemos.fact_rows AS f ON f.space = :space AND f.id = c.id
WHERE c.depth > 0
ORDER BY c.depth, f.id DESC
LIMIT :limit

-- name: hot_constraints
SELECT *
FROM mnemos.fact_rows AS f
WHERE f.space = :space
    AND (f.mark = 'C') = TRUE
    AND f.hot
    AND (:user::text IS NULL OR f.user_id IS NULL OR f.user_id = :user::text)
ORDER BY f.used_at DESC, f.id DESC
LIMIT :limit

-- name: count_hot_constraints
SELECT count(*)
FROM (
    SELECT 1
    FROM mnemos.facts
    WHERE space = :space
        AND (mark = 'C') = TRUE
        AND hot
        AND (:user::text IS NULL OR user_id IS NULL OR user_id = :user::text)
    LIMIT :limit
) AS c

-- name: hot_others
SELECT *
FROM mnemos.fact_rows AS f
WHERE f.space = :space
    AND (f.mark = 'C') = FALSE
    AND f.hot
    AND (:user::text IS NULL OR f.user_id IS NULL OR f.user_id = :user::text)
ORDER BY f.used_at DESC, f.id DESC

-- name: conflicts
SELECT c.older, c.newer, c.reason
FROM mnemos.fact_conflicts AS c
WHERE c.space = :space
    AND (
        :user::text IS NULL
        OR NOT EXISTS (
            SELECT 1
            FROM mnemos.facts AS f
            WHERE f.space = :space
                AND f.id IN (c.older, c.newer)
                AND f.user_id <> :user::text
        )
    )
ORDER BY c.id DESC
LIMIT :limit

-- name: doubts
SELECT older, newer
FROM mnemos.fact_conflicts
WHERE space = ?2
    AND (
        older IN (SELECT json_array_elements_text(?1::json)::bigint)
        OR newer IN (SELECT json_array_elements_text(?1::json)::bigint)
    )
    AND reason = 'may replace'
ORDER BY id

-- The live facts at the end of the chains that begin with these.
-- name: heads
WITH RECURSIVE chain (first, id, state, next, depth) AS (
    SELECT b.id, b.id, b.state, b.superseded_by, 0
    FROM mnemos.facts AS b
    WHERE b.space = ?2
        AND b.id IN (SELECT json_array_elements_text(?1::json)::bigint)
    UNION ALL
    SELECT c.first, f.id, f.state, f.superseded_by, c.depth + 1
    FROM chain AS c
    JOIN mnemos.facts AS f ON f.space = ?2 AND f.id = c.next
    WHERE c.depth < 1000
)
SELECT first, id
FROM chain
WHERE state = 'live'

-- name: scope
SELECT id, label, key, opened_at, touched_at, closed_at
FROM mnemos.scopes
WHERE space = ?
    AND key = ?

-- name: scopes_of_ids
SELECT id, label, key, opened_at, touched_at, closed_at
FROM mnemos.scopes
WHERE id IN (SELECT json_array_elements_text(?::json)::bigint)
    AND space = ?

-- name: open_scopes
SELECT id, label, key, opened_at, touched_at, closed_at
FROM mnemos.scopes
WHERE space = ?
    AND closed_at IS NULL
ORDER BY touched_at DESC, id DESC
LIMIT ?

-- name: newest_scopes
SELECT id, label, key, opened_at, touched_at, closed_at
FROM mnemos.scopes
WHERE space = ?
ORDER BY touched_at DESC, id DESC
LIMIT ?

-- name: all_scopes
SELECT
    s.id, s.label, s.key, s.opened_at, s.touched_at, s.closed_at,
    (
        SELECT count(*)
        FROM mnemos.facts AS f
        WHERE f.space = :space AND f.scope = s.id AND f.state = 'live' AND f.hot
    ),
    (SELECT count(*) FROM mnemos.facts AS f WHERE f.space = :space AND f.scope = s.id AND f.state = 'live')
FROM mnemos.scopes AS s
WHERE s.space = ?
ORDER BY s.closed_at IS NOT NULL, s.touched_at DESC, s.id DESC
LIMIT ?
OFFSET ?

-- name: scopes_named
SELECT s.id, s.label, s.key, s.opened_at, s.touched_at, s.closed_at
FROM mnemos.scopes AS s
WHERE s.space = :space
    AND s.key IN (SELECT json_array_elements_text(:keys::json))

-- name: scopes_of_targets
SELECT DISTINCT s.id, s.label, s.key, s.opened_at, s.touched_at, s.closed_at
FROM mnemos.facts AS f
JOIN mnemos.scopes AS s ON s.space = :space AND s.id = f.scope
WHERE f.space = :space
    AND f.key IN (SELECT json_array_elements_text(:keys::json))
    AND f.state = 'live'
    AND s.closed_at IS NULL
LIMIT :limit

-- name: attendance
SELECT a.turn, CASE WHEN s.closed_at IS NULL THEN a.scope END, a.wrote, a.streak, a.streak_scope
FROM mnemos.fact_sessions AS a
LEFT JOIN mnemos.scopes AS s ON s.space = :space AND s.id = a.scope
WHERE a.space = ?
    AND a.session_id = ?

-- name: idle
SELECT s.id, s.label, s.key, s.opened_at, s.touched_at, s.closed_at
FROM mnemos.fact_sessions AS a
JOIN mnemos.scope_touches AS t ON t.space = :space AND t.session = a.id
JOIN mnemos.scopes AS s ON s.space = :space AND s.id = t.scope
WHERE a.space = :space
    AND a.session_id = :session
    AND t.turn <= :turn
    AND s.closed_at IS NULL
    AND NOT EXISTS (
        SELECT 1
        FROM mnemos.scope_touches AS o
        WHERE o.space = :space
            AND o.scope = t.scope
            AND o.session <> a.id
            AND o.at > :since
    )
ORDER BY s.id

-- name: count_live
SELECT count(*)
FROM mnemos.facts
WHERE space = ?
    AND state = 'live'

-- name: count_all
SELECT count(*)
FROM mnemos.facts
WHERE space = ?

-- name: add
WITH n AS (
    UPDATE mnemos.space_states
    SET next_number = next_number + 1
    WHERE space = :space
    RETURNING next_number - 1 AS number
)
INSERT INTO mnemos.facts (
    id, space, mark, target, key, content, scope, state, hot, recorded_at, ended_at, valid_from, valid_to,
    used_at, session_id, message_id, actor, stated_by, user_id
)
VALUES (
    (SELECT number FROM n), :space, :mark, :target, :key, :content, :scope::bigint, :state::text,
    :hot::boolean
    AND :state::text = 'live'
    AND coalesce(
        (SELECT s.closed_at IS NULL FROM mnemos.scopes AS s WHERE s.space = :space AND s.id = :scope::bigint),
        TRUE
    ),
    :at, :ended_at, :valid_from, :ended_at, :at, :session, :message, :actor, :stated_by, :user
)
RETURNING id

-- name: end
UPDATE mnemos.facts
SET state = :state,
    hot = FALSE,
    ended_at = :at,
    valid_to = coalesce(valid_to, greatest(valid_from, :valid_to))
WHERE space = :space
    AND id IN (SELECT json_array_elements_text(:ids::json)::bigint)
    AND state = 'live'

-- name: link
UPDATE mnemos.facts
SET superseded_by = ?
WHERE id IN (SELECT json_array_elements_text(?::json)::bigint)
    AND space = ?

-- name: end_conflicts
DELETE FROM mnemos.fact_conflicts
WHERE space = ?2
    AND (
        older IN (SELECT json_array_elements_text(?1::json)::bigint)
        OR newer IN (SELECT json_array_elements_text(?1::json)::bigint)
    )

-- name: refer
UPDATE mnemos.facts
SET used_at = greatest(used_at, :at),
    uses = uses + :uses
WHERE id = :id
    AND space = :space
    AND state = 'live'

-- name: heat
UPDATE mnemos.facts
SET hot = TRUE
WHERE id = ?
    AND space = ?
    AND state = 'live'

-- name: cool
UPDATE mnemos.facts
SET hot = FALSE
WHERE id IN (SELECT json_array_elements_text(?::json)::bigint)
    AND space = ?
    AND hot

-- name: cool_scope
UPDATE mnemos.facts
SET hot = FALSE
WHERE scope = ?
    AND state = 'live'
    AND hot
    AND space = ?

-- name: warm_constraints
UPDATE mnemos.facts
SET hot = TRUE
WHERE space = :space
    AND id IN (
        SELECT f.id
        FROM mnemos.facts AS f
        WHERE f.scope = ?
            AND f.mark = 'C'
            AND f.state = 'live'
            AND f.space = ?
            AND coalesce(f.stated_by, '') NOT IN ('import', 'tool')
        ORDER BY f.used_at DESC
        LIMIT ?
    )

-- name: warm_others
UPDATE mnemos.facts
SET hot = TRUE
WHERE space = :space
    AND id IN (
        SELECT f.id
        FROM mnemos.facts AS f
        WHERE f.scope = ?
            AND f.mark IN ('D', 'V', '?')
            AND f.state = 'live'
            AND f.space = ?
            AND coalesce(f.stated_by, '') NOT IN ('import', 'tool')
        ORDER BY f.used_at DESC, f.id DESC
        LIMIT ?
    )

-- name: contradict
INSERT INTO mnemos.fact_conflicts (id, space, older, newer, reason)
VALUES (
    (SELECT coalesce(max(c.id), 0) + 1 FROM mnemos.fact_conflicts AS c WHERE c.space = :space),
    ?, ?, ?, ?
)
ON CONFLICT (space, older, newer) DO NOTHING

-- name: confirm
DELETE FROM mnemos.fact_conflicts
WHERE older = ?
    AND space = ?
    AND reason = 'may replace'

-- name: relink
UPDATE mnemos.facts
SET superseded_by = (SELECT f.superseded_by FROM mnemos.facts AS f WHERE f.space = :space AND f.id = :id)
WHERE superseded_by = :id
    AND space = :space

-- name: erase
DELETE FROM mnemos.facts
WHERE id = ?
    AND space = ?

-- name: add_scope
WITH n AS (
    UPDATE mnemos.space_states
    SET next_number = next_number + 1
    WHERE space = :space
    RETURNING next_number - 1 AS number
)
INSERT INTO mnemos.scopes (id, space, label, key, opened_at, touched_at)
VALUES ((SELECT number FROM n), ?, ?, ?, ?, ?)

-- name: reopen_scope
UPDATE mnemos.scopes
SET closed_at = NULL,
    opened_at = ?1,
    touched_at = ?1
WHERE id = ?2
    AND space = :space

-- name: close_scope
UPDATE mnemos.scopes
SET closed_at = ?
WHERE id = ?
    AND space = ?

-- name: leave_scope
DELETE FROM mnemos.scope_touches
WHERE scope = ?
    AND space = ?

-- name: session_key
SELECT id
FROM mnemos.fact_sessions
WHERE space = ?
    AND session_id = ?

-- name: attend_again
UPDATE mnemos.fact_sessions
SET turn = :turn,
    scope = :scope,
    wrote = :wrote,
    streak = :streak,
    streak_scope = :streak_scope,
    seen_at = :at
WHERE space = :space
    AND session_id = :session

-- name: attend
INSERT INTO mnemos.fact_sessions (
    id, space, session_id, turn, scope, wrote, streak, streak_scope, seen_at
)
VALUES (
    (SELECT coalesce(max(a.id), 0) + 1 FROM mnemos.fact_sessions AS a WHERE a.space = :space),
    :space, :session, :turn, :scope, :wrote, :streak, :streak_scope, :at
)

-- name: forget_sessions
DELETE FROM mnemos.fact_sessions
WHERE space = :space
    AND id IN (
        SELECT a.id
        FROM mnemos.fact_sessions AS a
        WHERE a.space = ?
            AND a.seen_at < ?
        ORDER BY a.seen_at
        LIMIT 20
    )

-- name: touch
INSERT INTO mnemos.scope_touches (scope, turn, at, session, space)
SELECT s.id, ?2::bigint, ?3::float8, a.id, :space
FROM mnemos.fact_sessions AS a
JOIN mnemos.scopes AS s ON s.space = :space AND s.id = ?1
WHERE a.space = ?4
    AND a.session_id = ?5
ON CONFLICT (space, session, scope) DO UPDATE
SET turn = excluded.turn,
    at = excluded.at

-- name: touch_scope
UPDATE mnemos.scopes
SET touched_at = greatest(touched_at, ?)
WHERE id = ?
    AND space = ?

-- name: restart
UPDATE mnemos.scope_touches
SET turn = ?
WHERE session = ?
    AND space = :space

-- name: identical
SELECT id
FROM mnemos.facts
WHERE space = :space
    AND key = :key
    AND mark = :mark
    AND recorded_at = :at
    AND content = :content
    AND coalesce(scope, 0) = :scope
    AND actor = :actor
    AND user_id IS NOT DISTINCT FROM :user
ORDER BY id

-- An id that is taken, or too high, is replaced by the next one; later ids go on above all of them.
-- name: restore
WITH n AS (
    UPDATE mnemos.space_states
    SET next_number = CASE
        WHEN :id::bigint > :most::bigint
            OR EXISTS (SELECT 1 FROM mnemos.facts AS t WHERE t.space = :space AND t.id = :id::bigint)
            THEN next_number + 1
        ELSE greatest(next_number, :id::bigint + 1)
    END
    WHERE space = :space
    RETURNING CASE
        WHEN :id::bigint > :most::bigint
            OR EXISTS (SELECT 1 FROM mnemos.facts AS t WHERE t.space = :space AND t.id = :id::bigint)
            THEN next_number - 1
        ELSE :id::bigint
    END AS number
)
INSERT INTO mnemos.facts (
    id, space, mark, target, key, content, scope, state, hot, recorded_at, ended_at, superseded_by,
    valid_from, valid_to, used_at, uses, session_id, message_id, actor, stated_by, user_id
)
VALUES (
    (SELECT number FROM n), :space, :mark, :target, :key, :content, :scope::bigint, :state::text,
    :hot::boolean
    AND :state::text = 'live'
    AND coalesce(
        (SELECT s.closed_at IS NULL FROM mnemos.scopes AS s WHERE s.space = :space AND s.id = :scope::bigint),
        TRUE
    ),
    :at, :ended_at, :by, :valid_from, :valid_to, :used_at, :uses, :session, :message, :actor, :stated_by, :user
)
RETURNING id

-- name: supersede
UPDATE mnemos.facts
SET superseded_by = :by
WHERE id = :id
    AND space = :space
    AND state <> 'live'
    AND superseded_by IS NULL

-- name: settle
UPDATE mnemos.facts
SET state = :state,
    hot = FALSE,
    ended_at = :ended_at,
    valid_to = :valid_to,
    superseded_by = :by
WHERE id = :id
    AND space = :space

-- name: move_source
UPDATE mnemos.facts
SET message_id = :new
WHERE message_id = :old
    AND space = :space

-- name: renew_scope
UPDATE mnemos.scopes
SET opened_at = ?,
    touched_at = ?,
    closed_at = ?
WHERE id = ?
    AND space = ?

-- name: restore_scope
WITH n AS (
    UPDATE mnemos.space_states
    SET next_number = next_number + 1
    WHERE space = :space
    RETURNING next_number - 1 AS number
)
INSERT INTO mnemos.scopes (id, space, label, key, opened_at, touched_at, closed_at)
VALUES ((SELECT number FROM n), ?, ?, ?, ?, ?, ?)
ON CONFLICT (space, key) DO NOTHING
