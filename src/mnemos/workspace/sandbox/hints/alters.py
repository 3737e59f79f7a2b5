"""ALTER, DROP, RENAME and CREATE INDEX as other databases write them. Names stay as they are."""

from __future__ import annotations

from collections.abc import Iterable

from mnemos.workspace.sandbox.hints.known import Schema, bare
from mnemos.workspace.sandbox.hints.reading import Change, Edit, Text

_REBUILD = (
    "to change the table itself: CREATE TABLE new (...); INSERT INTO new SELECT ... FROM old; "
    "DROP TABLE old; ALTER TABLE new RENAME TO old"
)
_STARTS = frozenset({"ADD", "DROP", "RENAME", "ALTER", "MODIFY", "CHANGE"})


def alterations(text: Text, schema: Schema) -> Iterable[Change]:
    if not text.has(0, "ALTER", "TABLE"):
        return
    place = 2
    if text.has(2, "IF", "EXISTS"):
        place = 4
        yield Change("SQLite's ALTER TABLE has no IF EXISTS", (Edit(2, 4, ""),))
    after = text.operand_after(place)
    if after is None:
        return
    table = text.source(place, after)
    listed = after + 1 + (text.word(after + 1) == "COLUMN")
    is_list = text.word(after) in ("ADD", "DROP") and text.find(after, len(text), ",") is not None
    if is_list or (text.word(after) == "ADD" and text.word(listed) == "("):
        yield from _several(text, table, after)
    else:
        yield from _single(text, schema, table, after)


def _several(text: Text, table: str, after: int) -> Iterable[Change]:
    """``ADD a TEXT, ADD b TEXT``, ``ADD a TEXT, b TEXT``, ``ADD (a TEXT, b TEXT)``: a statement for each."""
    opened = after + 1 + (text.word(after + 1) == "COLUMN")
    first_word = text.word(after)
    parts = text.arguments(opened) if text.word(opened) == "(" else text.parts(after, len(text))
    made = []
    for first, last in parts:
        if text.word(first) in _STARTS:
            made.append(f"ALTER TABLE {table} {text.source(first, last)}")
        else:
            made.append(f"ALTER TABLE {table} {first_word} COLUMN {text.source(first, last)}")
    why = "SQLite's ALTER TABLE changes one column at a time"
    yield Change(why, (Edit(0, len(text), "; ".join(made)),))


def _single(text: Text, schema: Schema, table: str, after: int) -> Iterable[Change]:
    action, place = text.word(after), after + 1
    place += text.word(place) == "COLUMN"
    if action == "ADD" and text.has(place, "IF", "NOT", "EXISTS"):
        yield _if_exists(text, schema, table, (place, place + 3))
    elif action == "DROP" and text.has(place, "IF", "EXISTS"):
        yield _if_exists(text, schema, table, (place, place + 2))
    elif action == "ADD" and text.word(-2 + len(text)) == "AFTER":
        why = "a new column comes last in SQLite"
        yield Change(why, (Edit(len(text) - 2, len(text), ""),))
    elif action == "ADD" and text.words[-1] == "FIRST":
        yield Change("a new column comes last in SQLite", (Edit(len(text) - 1, len(text), ""),))
    elif action == "ADD":
        yield from _addition(text, table, after)
    elif action == "RENAME" and len(text) == place + 2 and text.word(place) != "TO":
        why = "it is RENAME COLUMN old TO new"
        yield Change(why, (Edit(after + 1, place + 1, f"COLUMN {text.tokens[place].text} TO"),))
    elif action == "CHANGE" and place + 1 < len(text):
        old, new = text.tokens[place].text, text.tokens[place + 1].text
        made = f"ALTER TABLE {table} RENAME COLUMN {old} TO {new}"
        why = "SQLite renames a column with RENAME COLUMN; it cannot change its type"
        yield Change(why, (Edit(0, len(text), made),))
    elif action == "MODIFY" or (action == "ALTER" and not text.has(place + 1, "SET", "NOT", "NULL")):
        yield _retyped(text, table, place)
    elif action == "RENAME" and text.word(after + 1) in ("INDEX", "KEY"):
        yield Change("SQLite cannot rename an index: DROP INDEX, then CREATE INDEX")
    elif action == "AUTO_INCREMENT":
        yield Change("SQLite numbers rows from the largest id there is; there is nothing to set")
    elif text.has(after, "DROP", "PRIMARY", "KEY") or text.has(after, "DROP", "FOREIGN", "KEY"):
        yield Change(f"SQLite cannot drop a key; {_REBUILD}")
    elif text.has(after, "DROP", "INDEX") and after + 2 < len(text):
        made = f"DROP INDEX {text.tokens[after + 2].text}"
        yield Change("an index is dropped by its name alone", (Edit(0, len(text), made),))


def _if_exists(text: Text, schema: Schema, table: str, span: tuple[int, int]) -> Change:
    first, last = span
    adds, name = last - first == 3, bare(text.word(last)).lower()
    columns = [column.lower() for column in schema.columns.get(bare(table).lower(), ())]
    why = f"SQLite has no IF {'NOT ' if adds else ''}EXISTS for columns"
    if columns and (name in columns) is adds:
        return Change(f"{why}, and there is nothing to do: {table} has {'' if adds else 'no '}column {name}")
    return Change(why, (Edit(first, last, ""),))


def _addition(text: Text, table: str, after: int) -> Iterable[Change]:
    """``ADD CONSTRAINT u UNIQUE (a)``, ``ADD PRIMARY KEY (a)``, ``ADD INDEX ix (a)``."""
    place, name = after + 1, ""
    if text.word(place) == "CONSTRAINT":
        place, name = place + 2, text.tokens[place + 1].text if place + 1 < len(text) else ""
    kind = text.word(place)
    opened = text.find(place, len(text), "(")
    if kind in ("UNIQUE", "PRIMARY", "INDEX", "KEY") and opened is not None:
        listed = text.source(opened, text.closes.get(opened, len(text) - 1) + 1)
        before = text.word(opened - 1)
        if not name and before not in ("UNIQUE", "KEY", "INDEX"):
            name = text.tokens[opened - 1].text
        name = name or "_".join([bare(table), *_plain(text, opened)])
        unique = "UNIQUE " if kind in ("UNIQUE", "PRIMARY") else ""
        why = "SQLite adds no key to a table that is there; an index does the same"
        yield Change(why, (Edit(0, len(text), f"CREATE {unique}INDEX {name} ON {table} {listed}"),))
    elif kind == "FOREIGN":
        yield Change(f"SQLite adds no foreign key to a table that is there; {_REBUILD}")


def _plain(text: Text, opened: int) -> list[str]:
    return [bare(text.tokens[first].text) for first, _ in text.arguments(opened)]


def _retyped(text: Text, table: str, place: int) -> Change:
    column = text.tokens[place].text if place < len(text) else ""
    why = f"SQLite cannot change the definition of a column; {_REBUILD}"
    kind = place + 1
    for words in (("SET", "DATA", "TYPE"), ("TYPE",)):
        kind += len(words) * text.has(kind, *words)
    if not column or text.word(kind) in ("", "SET", "DROP", "DEFAULT"):
        return Change(why)
    type_ = text.source(kind, len(text)).split("NOT NULL")[0].split("USING")[0].strip()
    made = f"UPDATE {table} SET {column} = CAST({column} AS {type_})"
    why = (
        "SQLite cannot change the type of a column, and any column takes any value: convert what is there; "
        f"{_REBUILD}"
    )
    return Change(why, (Edit(0, len(text), made),))


def drops(text: Text, _schema: Schema) -> Iterable[Change]:
    """``DROP TABLE t CASCADE``, ``DROP TABLE a, b``, ``DROP INDEX ix ON t``."""
    if text.word(0) != "DROP":
        return
    if text.words[-1] in ("CASCADE", "RESTRICT", "PURGE"):
        yield Change(f"SQLite's DROP has no {text.words[-1]}", (Edit(len(text) - 1, len(text), ""),))
    if text.find(0, len(text), ",") is not None and text.word(1) in ("TABLE", "VIEW", "INDEX"):
        first = 2 + 2 * text.has(2, "IF", "EXISTS")
        head = text.source(0, first)
        made = "; ".join(f"{head} {text.source(*part)}" for part in text.parts(first, len(text)))
        yield Change("SQLite drops one thing at a time", (Edit(0, len(text), made),))
    on = text.find(0, len(text), "ON")
    if text.word(1) in ("INDEX", "TRIGGER") and on is not None and text.operand_after(on + 1) == len(text):
        yield Change("an index is dropped by its name alone", (Edit(on, len(text), ""),))
    if text.word(1) == "MATERIALIZED":
        yield Change("SQLite has no materialized views", (Edit(1, 2, ""),))


def indexes(text: Text, _schema: Schema) -> Iterable[Change]:
    """``CREATE INDEX CONCURRENTLY``, ``USING btree``, ``INCLUDE (b)``, without a name, with kinds."""
    if text.word(0) != "CREATE" or "INDEX" not in text.words[:5]:
        return
    place = text.words.index("INDEX")
    for index in range(1, len(text)):
        if index in (place + 1, place - 1) and text.words[index] in (
            "CONCURRENTLY",
            "CLUSTERED",
            "NONCLUSTERED",
        ):
            yield Change(f"SQLite has no {text.words[index]}", (Edit(index, index + 1, ""),))
        elif text.words[index] in ("FULLTEXT", "SPATIAL") and index == place - 1:
            yield Change("SQLite searches text with CREATE VIRTUAL TABLE f USING fts5(column)")
    using, include = text.find(place, len(text), "USING"), text.find(place, len(text), "INCLUDE")
    if using is not None:
        yield Change("SQLite has one kind of index", (Edit(using, using + 2, ""),))
    if include is not None and text.word(include - 1) == ")":
        inside = ", ".join(text.source(*part) for part in text.arguments(include + 1))
        why = "SQLite has no INCLUDE; add the columns to the index"
        yield Change(why, (Edit(include - 1, text.closes.get(include + 1, include) + 1, f", {inside})"),))
    opened = text.find(place, len(text), "(")
    if text.word(place + 1) == "ON" and opened is not None:
        name = "_".join([text.tokens[place + 2].text, *_plain(text, opened)])
        yield Change("an index needs a name in SQLite", (Edit(place + 1, place + 1, f"{name} "),))


def renames(text: Text, _schema: Schema) -> Iterable[Change]:
    if text.has(0, "RENAME", "TABLE") and text.word(3) == "TO" and len(text) == 5:
        made = f"ALTER TABLE {text.tokens[2].text} RENAME TO {text.tokens[4].text}"
        yield Change("SQLite renames with ALTER TABLE", (Edit(0, len(text), made),))


RULES = (
    (frozenset({"ALTER"}), alterations),
    (frozenset({"DROP"}), drops),
    (frozenset({"INDEX"}), indexes),
    (frozenset({"RENAME"}), renames),
)
