-- Passages that recall finds besides messages: facts, notes and whatever else a part lets it know. Their ids are the
-- upper half of their space's range, so that they live in the same full-text index as messages and one
-- search reaches both.
CREATE TABLE passages (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    ref TEXT NOT NULL,
    -- Not a reference: what was learned in a conversation outlives it.
    session_id TEXT,
    speaker TEXT,
    at REAL NOT NULL,
    -- 0: replaced by a newer one of its kind; found after every live one.
    live INTEGER NOT NULL DEFAULT 1,
    text TEXT NOT NULL,
    space INTEGER GENERATED ALWAYS AS (id >> 32) VIRTUAL
) STRICT;

CREATE UNIQUE INDEX passages_by_ref ON passages (space, kind, ref);

-- No id of a passage is given again: below this one all are taken.
ALTER TABLE spaces ADD COLUMN next_passage INTEGER NOT NULL DEFAULT 0;

-- A model that makes vectors for a space, and how far it came.
CREATE TABLE embeddings (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    space INTEGER NOT NULL REFERENCES spaces (id),
    model TEXT NOT NULL,
    dim INTEGER NOT NULL,
    -- Messages and passages up to these ids have vectors.
    messages INTEGER NOT NULL,
    passages INTEGER NOT NULL,
    -- Counts erasures: whoever keeps vectors in memory reads them again.
    erasures INTEGER NOT NULL DEFAULT 0,
    -- Its vectors are being removed; no reader sees it.
    doomed INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE UNIQUE INDEX embeddings_by_model ON embeddings (space, model) WHERE NOT doomed;

-- Vectors in chunks, in the order of their keys, which are a passage's id and the piece of it: 128 to an id.
CREATE TABLE vectors (
    id INTEGER PRIMARY KEY,
    embedding INTEGER NOT NULL REFERENCES embeddings (id) ON DELETE CASCADE,
    -- 0: messages, 1: passages. Keys ascend within each.
    series INTEGER NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    -- 17 bytes each: key, session, seconds, role.
    labels BLOB NOT NULL,
    -- The sign of each dimension.
    bits BLOB NOT NULL,
    -- One signed byte a dimension. Last, so that reading the others does not touch it.
    codes BLOB NOT NULL
) STRICT;

CREATE INDEX vectors_by_key ON vectors (embedding, series, last);
