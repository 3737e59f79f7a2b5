-- Keys and values about users. A user is a number here, so that the rows of one user are next to each other
-- in each table and cost the same however many other users there are.
CREATE TABLE entry_users (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    space INTEGER NOT NULL REFERENCES spaces (id),
    name TEXT NOT NULL,
    -- Which model made the vectors of this user's entries.
    model TEXT,
    -- Another number whenever words may have come or gone: whoever remembers them reads them again.
    words INTEGER NOT NULL DEFAULT 0,
    UNIQUE (space, name)
) STRICT;

CREATE TABLE entries (
    -- Never given twice: what was forgotten cannot come back under its old id.
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    space INTEGER NOT NULL REFERENCES spaces (id),
    user INTEGER NOT NULL REFERENCES entry_users (id),
    key TEXT NOT NULL,
    -- JSON
    metadata TEXT,
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL,
    -- Counts changes; words, passage and vector are those of the version in ``settled``.
    version INTEGER NOT NULL DEFAULT 1,
    settled INTEGER NOT NULL DEFAULT 0,
    -- The words it is indexed by, with blanks between them.
    words TEXT,
    -- Where its vector is: the chunk, and the place in it.
    chunk INTEGER,
    slot INTEGER,
    value TEXT NOT NULL,
    UNIQUE (user, key)
) STRICT;

CREATE INDEX entries_pending ON entries (space, user) WHERE settled <> version;

-- The words of what is indexed. ``place``: 1 in the key, 2 in the value, 4 only as a stem or a whole.
CREATE TABLE entry_words (
    user INTEGER NOT NULL,
    word TEXT NOT NULL,
    entry INTEGER NOT NULL,
    place INTEGER NOT NULL,
    PRIMARY KEY (user, word, entry)
) STRICT, WITHOUT ROWID;

-- Every word that a user's entries have, and how many have it: looked through for parts of words.
CREATE TABLE entry_vocabulary (
    user INTEGER NOT NULL,
    word TEXT NOT NULL,
    entries INTEGER NOT NULL,
    PRIMARY KEY (user, word)
) STRICT, WITHOUT ROWID;

-- The signs of the vectors of a user's entries, in chunks. Ids are 8 bytes each, 0 where one was erased.
CREATE TABLE entry_signs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    user INTEGER NOT NULL,
    ids BLOB NOT NULL,
    bits BLOB NOT NULL
) STRICT;

CREATE INDEX entry_signs_by_user ON entry_signs (user);

-- The vectors themselves, one signed byte a dimension: read of the few whose signs are near.
CREATE TABLE entry_vectors (
    entry INTEGER PRIMARY KEY,
    codes BLOB NOT NULL
) STRICT;
