-- While words are made again by a new rule: the last id whose words are done.
ALTER TABLE mnemos.space_states ADD COLUMN words_through BIGINT;
