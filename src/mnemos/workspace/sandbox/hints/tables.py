"""CREATE TABLE and CREATE VIEW as other databases write them. Names stay as they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from mnemos.workspace.sandbox.hints.known import Schema
from mnemos.workspace.sandbox.hints.reading import Change, Edit, Text
from mnemos.workspace.sandbox.lexer import Kind

NUMBERED = "a column that numbers its rows is `id INTEGER PRIMARY KEY` in SQLite"
SERIALS = frozenset({"SERIAL", "BIGSERIAL", "SMALLSERIAL", "SERIAL4", "SERIAL8"})
_CONSTRAINTS = frozenset(
    {"PRIMARY", "UNIQUE", "FOREIGN", "CHECK", "CONSTRAINT", "KEY", "INDEX", "FULLTEXT", "SPATIAL"}
)


@dataclass(frozen=True, slots=True)
class Creation:
    """Where the parts of a CREATE TABLE are."""

    name: int
    opened: int
    closed: int


def creation(text: Text) -> Creation | None:
    if text.word(0) != "CREATE" or "TABLE" not in text.words[1:6]:
        return None
    name = text.words.index("TABLE") + 1
    name += 3 * text.has(name, "IF", "NOT", "EXISTS")
    opened = next(
        (index for index in range(name, min(name + 5, len(text))) if text.words[index] == "("), None
    )
    closed = text.closes.get(opened) if opened is not None else None
    return Creation(name, opened, closed) if opened is not None and closed is not None else None


def numbered(text: Text, _schema: Schema) -> Iterable[Change]:
    """AUTO_INCREMENT, IDENTITY, SERIAL: the column becomes INTEGER PRIMARY KEY, the key elsewhere goes."""
    made = creation(text)
    if made is None:
        return
    definitions = text.arguments(made.opened)
    for first, last in definitions:
        if not _numbers_itself(text, first, last):
            continue
        first_of, column = first, text.tokens[first].text
        keys = [(one, two) for one, two in definitions if _is_key(text, one, two)]
        edits = [Edit(first, last, f"{column} INTEGER PRIMARY KEY")]
        for one, two in keys:
            opened = text.words.index("(", one, two)
            if [text.word(first) for first, _ in text.arguments(opened)] != [text.word(first_of)]:
                # The key is of other columns: this one cannot number the rows as well.
                edits = [Edit(first, last, f"{column} INTEGER")]
            else:
                edits.append(_without(definitions, (one, two)))
        yield Change(NUMBERED, tuple(edits))


def _numbers_itself(text: Text, first: int, last: int) -> bool:
    words = text.words[first + 1 : last]
    if text.word(first) in _CONSTRAINTS:
        return False
    auto = "AUTO_INCREMENT" in words or "IDENTITY" in words or not SERIALS.isdisjoint(words[:1])
    # SQLite's own word, where SQLite does not take it.
    return auto or ("AUTOINCREMENT" in words and words[:3] != ["INTEGER", "PRIMARY", "KEY"])


def _is_key(text: Text, first: int, last: int) -> bool:
    start = first + 2 * (text.word(first) == "CONSTRAINT")
    return text.has(start, "PRIMARY", "KEY") and "(" in text.words[start:last]


def _without(definitions: list[tuple[int, int]], one: tuple[int, int]) -> Edit:
    """Take a definition away with the comma before it, or after it if it is the first."""
    place = definitions.index(one)
    return Edit(one[0] - 1, one[1], "") if place else Edit(one[0], one[1] + 1, "")


def options(text: Text, _schema: Schema) -> Iterable[Change]:
    """``ENGINE=InnoDB DEFAULT CHARSET=utf8mb4`` and the like after the last parenthesis."""
    made = creation(text)
    if made is None:
        return
    first = made.closed + 1
    if first < len(text) and text.word(first) not in ("WITHOUT", "STRICT", "AS", "SELECT"):
        last = text.find(first, len(text), "AS", "SELECT") or len(text)
        why = f"SQLite's tables have no options such as {text.source(first, min(first + 3, last))[:40]}"
        yield Change(why, (Edit(first, last, ""),))


def columns(text: Text, _schema: Schema) -> Iterable[Change]:
    """What may stand in the definition of a column elsewhere."""
    made = creation(text)
    if made is None:
        return
    for first, last in text.arguments(made.opened):
        if text.word(first) in _CONSTRAINTS:
            continue
        for index in range(first + 1, last):
            if text.depths[index] == text.depths[first]:
                yield from _column(text, first, index)


def _column(text: Text, first: int, index: int) -> Iterator[Change]:
    word = text.words[index]
    if word in ("ENUM", "SET") and text.word(index + 1) == "(":
        closed = text.closes.get(index + 1, index + 1)
        check = f"TEXT CHECK ({text.tokens[first].text} IN {text.source(index + 1, closed + 1)})"
        yield Change("SQLite has no ENUM; a CHECK does it", (Edit(index, closed + 1, check),))
    elif word == "COMMENT" and text.kind(index + 1) is Kind.STRING:
        said = text.words[index + 1][1:-1].replace("''", "'")
        new = "" if "*/" in said else f"/* {said} */"
        yield Change("SQLite keeps comments as they are in SQL: /* ... */", (Edit(index, index + 2, new),))
    elif text.has(index, "ON", "UPDATE") and text.word(index + 2) in ("CURRENT_TIMESTAMP", "NOW"):
        last = text.closes.get(index + 3, index + 2) + 1 if text.word(index + 3) == "(" else index + 3
        why = "SQLite has no ON UPDATE for a column; a trigger AFTER UPDATE can set it"
        yield Change(why, (Edit(index, last, ""),))
    elif text.has(index, "CHARACTER", "SET") or (word == "CHARSET" and text.kind(index + 1) is Kind.WORD):
        count = 3 if word == "CHARACTER" else 2
        yield Change("SQLite's text is UTF-8 always", (Edit(index, index + count, ""),))
    elif word == "COLLATE" and text.word(index + 1) not in ("NOCASE", "BINARY", "RTRIM"):
        yield Change("SQLite's collations are BINARY, NOCASE and RTRIM", (Edit(index, index + 2, ""),))
    elif text.has(index, "(", "MAX", ")"):
        yield Change("TEXT holds any length", (Edit(index - 1, index + 3, "TEXT"),))
    elif word in ("CLUSTERED", "NONCLUSTERED", "INVISIBLE", "VISIBLE", "ZEROFILL"):
        yield Change(f"SQLite has no {word}", (Edit(index, index + 1, ""),))
    elif word == "PERSISTED":
        yield Change("SQLite says STORED", (Edit(index, index + 1, "STORED"),))
    elif word == "DEFAULT" and text.word(index + 2) == "(" and text.kind(index + 1) is Kind.WORD:
        yield _default(text, index)


_MOMENTS = frozenset({"NOW", "GETDATE", "SYSDATETIME", "CURRENT_TIMESTAMP", "GETUTCDATE", "LOCALTIMESTAMP"})


def _default(text: Text, index: int) -> Change:
    closed = text.closes.get(index + 2, index + 2)
    call = text.source(index + 1, closed + 1)
    new = "CURRENT_TIMESTAMP" if text.word(index + 1) in _MOMENTS else f"({call})"
    why = "a DEFAULT that is computed stands in parentheses; the time is DEFAULT CURRENT_TIMESTAMP"
    return Change(why, (Edit(index + 1, closed + 1, new),))


def keys(text: Text, _schema: Schema) -> Iterable[Change]:
    """``KEY ix (a)`` and ``UNIQUE KEY u (a)`` among the columns."""
    made = creation(text)
    if made is None:
        return
    definitions = text.arguments(made.opened)
    table = text.tokens[made.name].text
    for first, last in definitions:
        opened = next((index for index in range(first, last) if text.words[index] == "("), None)
        if opened is None or text.word(first) not in ("KEY", "INDEX", "UNIQUE", "FULLTEXT", "SPATIAL"):
            continue
        listed = text.source(opened, text.closes.get(opened, last - 1) + 1)
        if text.word(first) == "UNIQUE":
            if opened > first + 1:
                why = "SQLite says UNIQUE (column), without KEY or a name"
                yield Change(why, (Edit(first, last, f"UNIQUE {listed}"),))
            continue
        name = (
            text.tokens[opened - 1].text if opened - 1 > first else f"{table}_{text.tokens[opened + 1].text}"
        )
        if name.upper() in ("KEY", "INDEX"):
            name = f"{table}_{text.tokens[opened + 1].text}"
        index = f"; CREATE INDEX {name} ON {table} {listed}"
        why = "SQLite makes an index by a statement of its own"
        yield Change(why, (_without(definitions, (first, last)), Edit(len(text), len(text), index)))


def likes(text: Text, _schema: Schema) -> Iterable[Change]:
    """``CREATE TABLE x LIKE y`` and ``CREATE TABLE x (LIKE y INCLUDING ALL)``."""
    if text.word(0) != "CREATE" or "TABLE" not in text.words[:4]:
        return
    index = next(text.places("LIKE"), None)
    if index is None or text.word(index - 1) in ("", "NOT"):
        return
    first = index - (text.word(index - 1) == "(")
    if text.depths[first] == 0 and text.find(0, first, "AS") is None:
        made = f"AS SELECT * FROM {text.tokens[index + 1].text} WHERE false" if index + 1 < len(text) else ""
        why = "SQLite has no CREATE TABLE ... LIKE; this copies the columns, without keys and constraints"
        yield Change(why, (Edit(first, len(text), made),) if made else ())


def replacing(text: Text, _schema: Schema) -> Iterable[Change]:
    """``CREATE OR REPLACE VIEW v``, ``CREATE OR ALTER VIEW v``, ``CREATE MATERIALIZED VIEW v``."""
    if text.word(0) != "CREATE":
        return
    if text.word(1) == "OR" and text.word(2) in ("REPLACE", "ALTER"):
        place = 3 + (text.word(3) in ("TEMP", "TEMPORARY"))
        kind, after = text.word(place), text.operand_after(place + 1)
        why = f"SQLite has no CREATE OR {text.word(2)}; drop it before"
        if kind in ("VIEW", "TABLE", "TRIGGER", "INDEX") and after is not None:
            name = text.tokens[place + 1].text
            drop = f"DROP {kind} IF EXISTS {name}; CREATE"
            yield Change(why, (Edit(0, 3, drop),))
        else:
            yield Change(why)
    elif text.word(1) == "MATERIALIZED":
        why = "SQLite has no materialized views: VIEW is computed anew, CREATE TABLE ... AS SELECT is kept"
        yield Change(why, (Edit(1, 2, ""),))
    elif text.word(1) in ("EXTERNAL", "UNLOGGED", "GLOBAL", "LOCAL") and "TABLE" in text.words[1:5]:
        yield Change(f"SQLite has no {text.word(1)} tables", (Edit(1, 2, ""),))


def temporary(text: Text, _schema: Schema) -> Iterable[Change]:
    """T-SQL's ``#temporary`` tables."""
    for index, token in enumerate(text.tokens):
        is_target = text.word(index - 1) == "INTO" and text.word(0) in ("SELECT", "WITH")
        if token.kind is Kind.PARAMETER and token.text.startswith("#") and not is_target:
            edits = [Edit(index, index + 1, token.text.lstrip("#"))]
            if text.has(0, "CREATE", "TABLE") and index == 2:
                edits.append(Edit(1, 2, "TEMP TABLE"))
            yield Change("SQLite's temporary tables are made with CREATE TEMP TABLE, without #", tuple(edits))


RULES = (
    (SERIALS | {"AUTO_INCREMENT", "AUTOINCREMENT", "IDENTITY"}, numbered),
    (frozenset({"TABLE"}), options),
    (frozenset({"TABLE"}), columns),
    (frozenset({"TABLE"}), keys),
    (frozenset({"LIKE"}), likes),
    (frozenset({"REPLACE", "ALTER", "MATERIALIZED", "EXTERNAL", "UNLOGGED", "GLOBAL", "LOCAL"}), replacing),
    (frozenset({"CREATE", "SELECT", "INSERT", "DROP"}), temporary),
)
