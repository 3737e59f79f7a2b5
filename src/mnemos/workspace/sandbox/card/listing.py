"""Which tables and views there are, read from the schema alone.

``PRAGMA table_list`` is not asked: it compiles every view, which can be made to take SQLite seconds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import apsw

from mnemos.workspace.sandbox.card.model import Listed, Sort, Trigger
from mnemos.workspace.sandbox.lexer import Kind, Token, tokens

MOST_SQL = 20_000
"""Characters of a statement that are looked at."""
_MOST_TRIGGERS = 20

_ENTRIES = f"""
SELECT rowid, type, CAST(name AS BLOB), CAST(tbl_name AS BLOB), rootpage,
    CAST(substr(sql, 1, {MOST_SQL + 1}) AS BLOB)
FROM sqlite_schema
WHERE type IN ('table', 'view', 'trigger')
"""
# The tables that a virtual table keeps its contents in.
_SHADOWS = {
    "fts5": ("data", "idx", "content", "docsize", "config"),
    "rtree": ("node", "rowid", "parent"),
    "rtree_i32": ("node", "rowid", "parent"),
}
# Where a statement says what it makes; a thousand may have long comments there.
_MOST_BEGIN = 1_000
_MADE_BY_MODULES = ("CREATE TABLE '", 'CREATE TABLE "')
_MODULE_TOKENS = 12
_EVENT_TOKENS = 40
_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
_QUOTED = re.compile(r"(['\"`])(.*)\1|\[(.*)\]", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Listing:
    """Every table and view by its folded name, newest first, and the triggers of each."""

    tables: Mapping[str, Listed]
    triggers: Mapping[str, Sequence[Trigger]]
    has_statistics: bool

    def ordered(self, recent: Mapping[str, float]) -> list[Listed]:
        """Recently used first; those never used by newness."""
        used = {folded(name): at for name, at in recent.items()}
        return sorted(self.tables.values(), key=lambda one: (-used.get(folded(one.name), 0.0), -one.number))


def listed(connection: apsw.Connection) -> Listing:
    """What the schema lists, without SQLite's own tables and those behind virtual ones."""
    tables: dict[str, Listed] = {}
    triggers: dict[str, list[Trigger]] = {}
    has_statistics = False
    entries: list[Any] = connection.execute(_ENTRIES).fetchall()
    for number, type_, name_, table_, root, sql_ in entries:
        name, sql = _text(name_), _text(sql_)
        if "\0" in name:
            # Nothing in SQL can call it by that name.
            continue
        if type_ == "trigger":
            found = triggers.setdefault(folded(_text(table_)), [])
            if len(found) < _MOST_TRIGGERS:
                found.append(Trigger(name, _event(sql)))
        elif folded(name).startswith("sqlite_"):
            has_statistics |= name == "sqlite_stat1"
        else:
            is_virtual = type_ == "table" and not root
            tables[folded(name)] = Listed(
                name=name,
                sort=Sort.VIRTUAL if is_virtual else Sort(type_),
                sql=sql[:MOST_SQL],
                is_cut=len(sql) > MOST_SQL,
                number=number,
                module=_module(sql) if is_virtual else "",
            )
    for shadow in _shadows(tables.values()):
        # The module puts its names in quotes. Somebody else's table may be called so.
        if shadow in tables and tables[shadow].sql.startswith(_MADE_BY_MODULES):
            del tables[shadow]
    return Listing(tables, triggers, has_statistics)


def folded(name: str) -> str:
    """A name as SQLite compares it: only the letters of ASCII have no case."""
    return name.translate(_LOWER)


def unquoted(text: str) -> str:
    """The name that a token of SQL stands for."""
    match = _QUOTED.fullmatch(text)
    if match is None:
        return text
    if match[1] is None:
        return match[3]
    return match[2].replace(match[1] * 2, match[1])


def _text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else ""


def _shadows(tables: Iterable[Listed]) -> list[str]:
    return [
        f"{folded(table.name)}_{suffix}"
        for table in tables
        for suffix in _SHADOWS.get(folded(table.module), ())
    ]


def _words(sql: str, most: int) -> Iterable[Token]:
    begin = sql[:_MOST_BEGIN]
    return islice((token for token in tokens(begin) if token.kind is not Kind.COMMENT), most)


def _module(sql: str) -> str:
    """What comes after USING."""
    before = ""
    for token in _words(sql, _MODULE_TOKENS):
        if before == "using":
            return unquoted(token.text)
        before = folded(token.text) if token.kind is Kind.WORD else ""
    return ""


def _event(sql: str) -> str:
    """When a trigger runs, in SQLite's words."""
    said = []
    for place, token in enumerate(_words(sql, _EVENT_TOKENS)):
        word = folded(token.text)
        if token.kind is not Kind.WORD or place < 2:
            continue
        if word in ("before", "after", "instead"):
            said.append(word)
        elif word in ("insert", "delete", "update"):
            return " ".join([*said, word])
    return ""
