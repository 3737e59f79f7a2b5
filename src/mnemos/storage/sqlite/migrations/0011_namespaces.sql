-- 1 if the value is JSON and not a text.
ALTER TABLE entries ADD COLUMN encoded INTEGER NOT NULL DEFAULT 0;
-- Paths in the value that are searched, as a JSON list. NULL: all of it.
ALTER TABLE entries ADD COLUMN fields TEXT;
ALTER TABLE entries ADD COLUMN expires_at REAL;
CREATE INDEX entries_expiring ON entries (space, expires_at) WHERE expires_at IS NOT NULL;
