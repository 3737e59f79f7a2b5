-- One row for each write, by which a client that lost the answer to COMMIT learns the outcome. Only inserted:
-- a row rewritten with each write would make appends slower while somebody keeps an old snapshot.
CREATE TABLE mnemos.commits (
    space INTEGER NOT NULL,
    at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
    token BIGINT NOT NULL
);

CREATE INDEX commits_by_time ON mnemos.commits (space, at);

ALTER TABLE mnemos.commits ENABLE ROW LEVEL SECURITY;
ALTER TABLE mnemos.commits FORCE ROW LEVEL SECURITY;
CREATE POLICY of_space ON mnemos.commits USING (space = current_setting('mnemos.space')::int);
