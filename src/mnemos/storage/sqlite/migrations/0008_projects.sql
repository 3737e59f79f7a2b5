-- The project that a session was about, and the branch it was on.
ALTER TABLE sessions ADD COLUMN project TEXT;
ALTER TABLE sessions ADD COLUMN branch TEXT;
-- A session may get its user and its project when it has messages already. Those below these ids are in the
-- index without them: a search looks at the session instead.
ALTER TABLE sessions ADD COLUMN user_from INTEGER;
ALTER TABLE sessions ADD COLUMN project_from INTEGER;

CREATE INDEX sessions_by_user ON sessions (space, user_id) WHERE user_id IS NOT NULL;
CREATE INDEX sessions_by_project ON sessions (space, project) WHERE project IS NOT NULL;

-- Whose a passage is; NULL: everybody's.
ALTER TABLE passages ADD COLUMN user_id TEXT;
CREATE INDEX passages_by_user ON passages (space, user_id) WHERE user_id IS NOT NULL;

-- Until now, importers kept both in the metadata.
UPDATE sessions
SET project = known.project,
    branch = known.branch
FROM (
    SELECT
        d.session,
        find_project(d.metadata ->> '$.cwd') AS project,
        iif(json_type(d.metadata, '$.git_branch') = 'text', d.metadata ->> '$.git_branch', NULL) AS branch
    FROM session_details AS d
    WHERE json_valid(d.metadata)
        AND json_type(d.metadata, '$.cwd') = 'text'
) AS known
WHERE sessions.key = known.session;

-- The index has none of this yet, and making it again takes minutes.
UPDATE sessions
SET user_from = iif(user_id IS NULL, NULL, following.id),
    project_from = iif(project IS NULL, NULL, following.id)
FROM (
    SELECT
        p.id AS space,
        max(
            p.next_message,
            coalesce(
                (
                    SELECT max(m.id) + 1
                    FROM messages AS m
                    WHERE m.id BETWEEN p.id << 32 AND (p.id << 32) + (1 << 31) - 1
                ),
                0
            )
        ) AS id
    FROM spaces AS p
) AS following
WHERE following.space = sessions.space;

DROP VIEW session_rows;
CREATE VIEW session_rows AS
SELECT
    s.id, s.source, s.user_id, s.model, d.model_config, d.system_prompt, p.id AS parent_session_id,
    s.started_at, s.ended_at, s.end_reason, s.message_count, s.tool_call_count, s.input_tokens,
    s.output_tokens, s.title, d.metadata, s.archived, s.project, s.branch, s.key, s.space, s.parent
FROM sessions AS s
LEFT JOIN session_details AS d ON d.session = s.key
LEFT JOIN sessions AS p ON p.key = s.parent
WHERE NOT s.doomed;

-- With the user and the project that a message is indexed under.
DROP VIEW message_rows;
CREATE VIEW message_rows AS
SELECT
    m.id, s.id AS session_id, m.role, m.content, m.encoded, m.tool_name, m.tool_calls,
    m.tool_call_id, m.token_count, m.timestamp, m.metadata, m.forgotten_at, m.origin, m.session, s.source,
    s.doomed, iif(m.id < s.user_from, NULL, s.user_id) AS user_id,
    iif(m.id < s.project_from, NULL, s.project) AS project
FROM messages AS m
JOIN sessions AS s ON s.key = m.session;
