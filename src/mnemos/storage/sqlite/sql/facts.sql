-- name: of_ids
SELECT *
FROM fact_rows AS f
WHERE f.id IN (SELECT value FROM json_each(:ids))
    AND +f.space = :space

-- name: live_on
SELECT *
FROM fact_rows AS f
WHERE f.space = :space
    AND f.key = :key
    AND f.state = 'live'
    AND (:user IS NULL OR f.user_id IS NULL OR f.user_id = :user)
ORDER BY f.id DESC
LIMIT :limit

-- name: live_in
SELECT *
FROM fact_rows
WHERE id IN (
    SELECT id
    FROM facts INDEXED BY facts_live
    WHERE space = :space
        AND key = :key
        AND mark IN ('C', 'D', 'V', '?', '✓', '~')
        AND coalesce(scope, 0) = :scope
        AND coalesce(user_id, '') = :user
        AND state = 'live'
)
ORDER BY id

-- name: history
SELECT *
FROM fact_rows AS f
WHERE f.space = :space
    AND f.key = :key
    AND (:scope IS NULL OR f.scope = :scope)
    AND (:user IS NULL OR f.user_id IS NULL OR f.user_id = :user)
    AND (:before IS NULL OR f.id < :before)
    AND (
        :as_of IS NULL
        OR (f.recorded_at <= :as_of AND (f.ended_at IS NULL OR f.ended_at > :as_of))
    )
ORDER BY f.id DESC
LIMIT :limit

-- name: select
SELECT *
FROM fact_rows AS f
WHERE f.id > :after
    AND f.id <= :through
    AND +f.space = :space
    AND (:scope IS NULL OR f.scope = :scope)
    AND (:user IS NULL OR f.user_id IS NULL OR f.user_id = :user)
    AND (:hot IS NULL OR f.hot = :hot)
    AND (:marks IS NULL OR f.mark IN (SELECT value FROM json_each(:marks)))
    AND iif(
        :as_of IS NULL,
        f.state IN (SELECT value FROM json_each(:states)),
        f.recorded_at <= :as_of AND (f.ended_at IS NULL OR f.ended_at > :as_of)
    )
ORDER BY f.id
LIMIT :limit

-- name: newest
SELECT id
FROM facts
WHERE +space = ?
ORDER BY id DESC
LIMIT 1

-- name: select_hot
SELECT *
FROM fact_rows AS f
WHERE f.space = :space
    AND f.hot
    AND f.id > :after
    AND f.id <= :through
    AND (:scope IS NULL OR f.scope = :scope)
    AND (:user IS NULL OR f.user_id IS NULL OR f.user_id = :user)
    AND (:marks IS NULL OR f.mark IN (SELECT value FROM json_each(:marks)))
ORDER BY f.id
LIMIT :limit

-- name: ended
SELECT id
FROM facts
WHERE space = :space
    AND ended_at IS NOT NULL
    AND (:before IS NULL OR ended_at < :before)
    AND (:scope IS NULL OR scope = :scope)
ORDER BY ended_at, id
LIMIT :limit

-- name: count_ended
SELECT count(*)
FROM facts
WHERE space = :space
    AND ended_at IS NOT NULL
    AND (:before IS NULL OR ended_at < :before)
    AND (:scope IS NULL OR scope = :scope)

-- name: earlier
WITH RECURSIVE chain (id, depth) AS (
    SELECT :id, 0
    UNION ALL
    SELECT f.id, c.depth + 1
    FROM chain AS c
    CROSS JOIN facts AS f ON f.superseded_by = c.id
        AND f.mark = :mark
    WHERE c.depth < :limit
)
SELECT id
FROM chain
WHERE depth > 0
ORDER BY depth

-- name: of_message
SELECT *
FROM fact_rows AS f
WHERE f.space = :space
    AND f.message_id = :message
ORDER BY f.id
LIMIT :limit

-- name: of_source
SELECT *
FROM fact_rows AS f
WHERE f.space = :space
    AND (f.session_id = :session OR f.message_id IN (SELECT value FROM json_each(:messages)))
ORDER BY f.id

-- name: successors
WITH RECURSIVE chain (id, depth) AS (
    SELECT :id, 0
    UNION ALL
    SELECT f.superseded_by, c.depth + 1
    FROM chain AS c
    JOIN facts AS f ON f.id = c.id
    WHERE f.superseded_by IS NOT NULL
        AND c.depth < 1000
)
SELECT f.*
FROM chain AS c
JOIN fact_rows AS f ON f.id = c.id
WHERE c.depth > 0
    AND +f.space = :space
ORDER BY c.depth DESC
LIMIT :limit

-- name: predecessors
WITH RECURSIVE chain (id, depth) AS (
    SELECT :id, 0
    UNION ALL
    SELECT f.id, c.depth + 1
    FROM chain AS c
    CROSS JOIN facts AS f ON f.superseded_by = c.id
    WHERE c.depth < 1000
)
SELECT f.*
FROM chain AS c
JOIN fact_rows AS f ON f.id = c.id
WHERE c.depth > 0
    AND +f.space = :space
ORDER BY c.depth, f.id DESC
LIMIT :limit

-- name: hot_constraints
SELECT *
FROM fact_rows AS f
WHERE f.space = :space
    AND (f.mark = 'C') = 1
    AND f.hot
    AND (:user IS NULL OR f.user_id IS NULL OR f.user_id = :user)
ORDER BY f.used_at DESC, f.id DESC
LIMIT :limit

-- name: count_hot_constraints
SELECT count(*)
FROM (
    SELECT 1
    FROM facts INDEXED BY facts_hot
    WHERE space = :space
        AND (mark = 'C') = 1
        AND hot
        AND (:user IS NULL OR user_id IS NULL OR user_id = :user)
    LIMIT :limit
)

-- name: hot_others
SELECT *
FROM fact_rows AS f
WHERE f.space = :space
    AND (f.mark = 'C') = 0
    AND f.hot
    AND (:user IS NULL OR f.user_id IS NULL OR f.user_id = :user)
ORDER BY f.used_at DESC, f.id DESC

-- name: conflicts
SELECT c.older, c.newer, c.reason
FROM fact_conflicts AS c
WHERE c.space = :space
    AND (
        :user IS NULL
        OR NOT EXISTS (
            SELECT 1
            FROM facts AS f
            WHERE f.id IN (c.older, c.newer)
                AND f.user_id <> :user
        )
    )
ORDER BY c.id DESC
LIMIT :limit

-- name: doubts
SELECT older, newer
FROM fact_conflicts
WHERE (older IN (SELECT value FROM json_each(?1)) OR newer IN (SELECT value FROM json_each(?1)))
    AND +space = ?2
    AND reason = 'may replace'
ORDER BY id

-- The live facts at the end of the chains that begin with these.
-- name: heads
WITH RECURSIVE chain (first, id, state, next, depth) AS (
    SELECT id, id, state, superseded_by, 0
    FROM facts
    WHERE id IN (SELECT value FROM json_each(?1))
        AND +space = ?2
    UNION ALL
    SELECT c.first, f.id, f.state, f.superseded_by, c.depth + 1
    FROM chain AS c
    JOIN facts AS f ON f.id = c.next
    WHERE c.depth < 1000
)
SELECT first, id
FROM chain
WHERE state = 'live'

-- name: scope
SELECT id, label, key, opened_at, touched_at, closed_at
FROM scopes
WHERE space = ?
    AND key = ?

-- name: scopes_of_ids
SELECT id, label, key, opened_at, touched_at, closed_at
FROM scopes
WHERE id IN (SELECT value FROM json_each(?))
    AND +space = ?

-- name: open_scopes
SELECT id, label, key, opened_at, touched_at, closed_at
FROM scopes INDEXED BY scopes_open
WHERE space = ?
    AND closed_at IS NULL
ORDER BY touched_at DESC, id DESC
LIMIT ?

-- name: newest_scopes
SELECT id, label, key, opened_at, touched_at, closed_at
FROM scopes INDEXED BY scopes_by_time
WHERE space = ?
ORDER BY touched_at DESC, id DESC
LIMIT ?

-- name: all_scopes
SELECT id, label, key, opened_at, touched_at, closed_at,
    (SELECT count(*) FROM facts AS f WHERE f.scope = scopes.id AND f.state = 'live' AND f.hot),
    (SELECT count(*) FROM facts AS f WHERE f.scope = scopes.id AND f.state = 'live')
FROM scopes
WHERE space = ?
ORDER BY closed_at IS NOT NULL, touched_at DESC, id DESC
LIMIT ?
OFFSET ?

-- name: scopes_named
SELECT s.id, s.label, s.key, s.opened_at, s.touched_at, s.closed_at
FROM json_each(:keys) AS k
CROSS JOIN scopes AS s ON s.space = :space
    AND s.key = k.value

-- name: scopes_of_targets
SELECT DISTINCT s.id, s.label, s.key, s.opened_at, s.touched_at, s.closed_at
FROM json_each(:keys) AS k
CROSS JOIN facts AS f INDEXED BY facts_live ON f.space = :space
    AND f.key = k.value
    AND f.state = 'live'
JOIN scopes AS s ON s.id = f.scope
WHERE s.closed_at IS NULL
LIMIT :limit

-- name: attendance
SELECT a.turn, iif(s.closed_at IS NULL, a.scope, NULL), a.wrote, a.streak, a.streak_scope
FROM fact_sessions AS a
LEFT JOIN scopes AS s ON s.id = a.scope
WHERE a.space = ?
    AND a.session_id = ?

-- name: idle
SELECT s.id, s.label, s.key, s.opened_at, s.touched_at, s.closed_at
FROM fact_sessions AS a
JOIN scope_touches AS t ON t.session = a.id
JOIN scopes AS s ON s.id = t.scope
WHERE a.space = :space
    AND a.session_id = :session
    AND t.turn <= :turn
    AND s.closed_at IS NULL
    AND NOT EXISTS (
        SELECT 1
        FROM scope_touches AS o
        WHERE o.scope = t.scope
            AND o.session <> a.id
            AND o.at > :since
    )
ORDER BY s.id

-- name: count_live
SELECT count(*)
FROM facts INDEXED BY facts_live
WHERE space = ?
    AND state = 'live'

-- name: count_all
SELECT count(*)
FROM facts INDEXED BY facts_by_target
WHERE space = ?

-- name: add
INSERT INTO facts (
    space, mark, target, key, content, scope, state, hot, recorded_at, ended_at, valid_from, valid_to,
    used_at, session_id, message_id, actor, stated_by, user_id
)
VALUES (
    :space, :mark, :target, :key, :content, :scope, :state,
    :hot AND :state = 'live' AND (SELECT closed_at IS NULL FROM scopes WHERE id = :scope) IS NOT 0,
    :at, :ended_at, :valid_from, :ended_at, :at, :session, :message, :actor, :stated_by, :user
)
RETURNING id

-- name: end
UPDATE facts
SET state = :state,
    hot = 0,
    ended_at = :at,
    valid_to = coalesce(valid_to, max(valid_from, :valid_to))
WHERE id IN (SELECT value FROM json_each(:ids))
    AND +space = :space
    AND +state = 'live'

-- name: link
UPDATE facts
SET superseded_by = ?
WHERE id IN (SELECT value FROM json_each(?))
    AND +space = ?

-- name: end_conflicts
DELETE FROM fact_conflicts
WHERE (older IN (SELECT value FROM json_each(?1)) OR newer IN (SELECT value FROM json_each(?1)))
    AND +space = ?2

-- name: refer
UPDATE facts
SET used_at = max(used_at, :at),
    uses = uses + :uses
WHERE id = :id
    AND space = :space
    AND state = 'live'

-- name: heat
UPDATE facts
SET hot = 1
WHERE id = ?
    AND space = ?
    AND state = 'live'

-- name: cool
UPDATE facts
SET hot = 0
WHERE id IN (SELECT value FROM json_each(?))
    AND +space = ?
    AND +hot

-- name: cool_scope
UPDATE facts INDEXED BY facts_by_scope
SET hot = 0
WHERE scope = ?
    AND state = 'live'
    AND hot
    AND space = ?

-- name: warm_constraints
UPDATE facts
SET hot = 1
WHERE id IN (
    SELECT id
    FROM facts INDEXED BY facts_by_scope
    WHERE scope = ?
        AND mark = 'C'
        AND state = 'live'
        AND space = ?
        AND coalesce(stated_by, '') NOT IN ('import', 'tool')
    ORDER BY used_at DESC
    LIMIT ?
)

-- name: warm_others
UPDATE facts
SET hot = 1
WHERE id IN (
    SELECT id
    FROM facts INDEXED BY facts_by_scope
    WHERE scope = ?
        AND mark IN ('D', 'V', '?')
        AND state = 'live'
        AND space = ?
        AND coalesce(stated_by, '') NOT IN ('import', 'tool')
    ORDER BY used_at DESC, id DESC
    LIMIT ?
)

-- name: contradict
INSERT OR IGNORE INTO fact_conflicts (space, older, newer, reason)
VALUES (?, ?, ?, ?)

-- name: confirm
DELETE FROM fact_conflicts
WHERE older = ?
    AND space = ?
    AND reason = 'may replace'

-- name: relink
UPDATE facts
SET superseded_by = (SELECT f.superseded_by FROM facts AS f WHERE f.id = :id)
WHERE superseded_by = :id
    AND space = :space

-- name: erase
DELETE FROM facts
WHERE id = ?
    AND space = ?

-- name: add_scope
INSERT INTO scopes (space, label, key, opened_at, touched_at)
VALUES (?, ?, ?, ?, ?)

-- name: reopen_scope
UPDATE scopes
SET closed_at = NULL,
    opened_at = ?1,
    touched_at = ?1
WHERE id = ?2

-- name: close_scope
UPDATE scopes
SET closed_at = ?
WHERE id = ?
    AND space = ?

-- name: leave_scope
DELETE FROM scope_touches
WHERE scope = (SELECT id FROM scopes WHERE id = ? AND space = ?)

-- name: session_key
SELECT id
FROM fact_sessions
WHERE space = ?
    AND session_id = ?

-- name: attend_again
UPDATE fact_sessions
SET turn = :turn,
    scope = :scope,
    wrote = :wrote,
    streak = :streak,
    streak_scope = :streak_scope,
    seen_at = :at
WHERE space = :space
    AND session_id = :session

-- name: attend
INSERT INTO fact_sessions (space, session_id, turn, scope, wrote, streak, streak_scope, seen_at)
VALUES (:space, :session, :turn, :scope, :wrote, :streak, :streak_scope, :at)

-- name: forget_sessions
DELETE FROM fact_sessions
WHERE id IN (
    SELECT id
    FROM fact_sessions
    WHERE space = ?
        AND seen_at < ?
    ORDER BY seen_at
    LIMIT 20
)

-- name: touch
INSERT INTO scope_touches (scope, turn, at, session)
SELECT s.id, ?2, ?3, a.id
FROM fact_sessions AS a
JOIN scopes AS s ON s.id = ?1
    AND s.space = a.space
WHERE a.space = ?4
    AND a.session_id = ?5
ON CONFLICT (session, scope) DO UPDATE
SET turn = excluded.turn,
    at = excluded.at

-- name: touch_scope
UPDATE scopes
SET touched_at = max(touched_at, ?)
WHERE id = ?
    AND space = ?

-- name: restart
UPDATE scope_touches
SET turn = ?
WHERE session = ?

-- name: identical
SELECT id
FROM facts
WHERE space = :space
    AND key = :key
    AND mark = :mark
    AND recorded_at = :at
    AND content = :content
    AND coalesce(scope, 0) = :scope
    AND actor = :actor
    AND user_id IS :user
ORDER BY id

-- name: restore
INSERT INTO facts (
    id, space, mark, target, key, content, scope, state, hot, recorded_at, ended_at, superseded_by,
    valid_from, valid_to, used_at, uses, session_id, message_id, actor, stated_by, user_id
)
VALUES (
    iif(:id > :most OR EXISTS (SELECT 1 FROM facts WHERE id = :id), NULL, :id),
    :space, :mark, :target, :key, :content, :scope, :state,
    :hot AND :state = 'live' AND (SELECT closed_at IS NULL FROM scopes WHERE id = :scope) IS NOT 0,
    :at, :ended_at, :by, :valid_from, :valid_to, :used_at, :uses, :session, :message, :actor, :stated_by, :user
)
RETURNING id

-- name: supersede
UPDATE facts
SET superseded_by = :by
WHERE id = :id
    AND space = :space
    AND state <> 'live'
    AND superseded_by IS NULL

-- name: settle
UPDATE facts
SET state = :state,
    hot = 0,
    ended_at = :ended_at,
    valid_to = :valid_to,
    superseded_by = :by
WHERE id = :id
    AND space = :space

-- name: move_source
UPDATE facts
SET message_id = :new
WHERE message_id = :old
    AND space = :space

-- name: renew_scope
UPDATE scopes
SET opened_at = ?,
    touched_at = ?,
    closed_at = ?
WHERE id = ?
    AND space = ?

-- name: restore_scope
INSERT INTO scopes (space, label, key, opened_at, touched_at, closed_at)
VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (space, key) DO NOTHING
