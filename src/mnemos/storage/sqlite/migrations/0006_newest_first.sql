-- The rows of messages in the full-text index are in reverse from here on, as sql/index.sql tells. An index
-- that was made before is emptied; whoever opens the file next makes it again, since no rule of words made it.
INSERT INTO messages_fts (messages_fts) VALUES ('delete-all');
UPDATE spaces
SET indexed = id << 32,
    removals = removals + 1;
UPDATE properties
SET value = ''
WHERE name = 'words';
