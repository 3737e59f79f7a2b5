-- Removals, so that a sync does not restore the items. They hold no text.
CREATE TABLE mnemos.tombstones (
    space INTEGER NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    at DOUBLE PRECISION NOT NULL,
    -- 1: erased permanently, so that no later change restores it.
    forgotten INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (space, kind, key)
);

ALTER TABLE mnemos.tombstones ENABLE ROW LEVEL SECURITY;
ALTER TABLE mnemos.tombstones FORCE ROW LEVEL SECURITY;
CREATE POLICY of_space ON mnemos.tombstones USING (space = current_setting('mnemos.space')::int);

-- Roles that may use the other tables may use this one.
DO $$
DECLARE
    role text;
BEGIN
    FOR role IN
        SELECT DISTINCT grantee
        FROM information_schema.role_table_grants
        WHERE table_schema = current_schema()
            AND table_name = 'audit'
            AND grantee <> current_user
    LOOP
        EXECUTE format(
            'GRANT SELECT, INSERT, UPDATE, DELETE ON %I.tombstones TO %I', current_schema(), role
        );
    END LOOP;
END
$$;
