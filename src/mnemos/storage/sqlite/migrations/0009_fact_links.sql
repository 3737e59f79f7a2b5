-- The author of a fact: user, agent, import or tool. NULL where that was not recorded.
ALTER TABLE facts ADD COLUMN stated_by TEXT;
-- The user a fact belongs to; NULL for facts that all users of a space share.
ALTER TABLE facts ADD COLUMN user_id TEXT;

-- One live fact for each key and user, whatever the race.
DROP INDEX facts_live;
CREATE UNIQUE INDEX facts_live ON facts (space, key, mark, coalesce(scope, 0), coalesce(user_id, ''))
WHERE state = 'live';

DROP VIEW fact_rows;
CREATE VIEW fact_rows AS
SELECT
    f.id, f.mark, f.target, f.key, f.content, f.scope, s.label, f.state, f.hot, f.recorded_at, f.ended_at,
    f.superseded_by, f.valid_from, f.valid_to, f.used_at, f.uses, f.session_id, f.message_id, f.actor,
    f.stated_by, f.user_id, f.space
FROM facts AS f
LEFT JOIN scopes AS s ON s.id = f.scope;

-- Why two live facts are linked: they contradict each other, or the newer one may replace the older one.
ALTER TABLE fact_conflicts ADD COLUMN reason TEXT NOT NULL DEFAULT 'contradicts';
