"""A table as text for a prompt, in as much detail as there is room for.

Every name, value and comment goes through ``write_name``, ``write_cell`` or ``one_line``: a line begins with
what is written here, never with what somebody stored. In a prompt, orders and secrets are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

import apsw

from mnemos.language.standing_text import LEFT_OUT, is_order
from mnemos.text.secrets import redact, redact_value
from mnemos.text.stored_text import reveal
from mnemos.workspace.sandbox.card.table_description import (
    Blob,
    Cell,
    Column,
    ColumnSummary,
    Reference,
    TableDescription,
    TableSort,
    Value,
    write_number,
)
from mnemos.workspace.sandbox.card.table_rows import pick_spread
from mnemos.workspace.sandbox.lexer import Kind, tokens, unquote

NAME = 64
CELL = 60
COMMENT = 100
# Characters of a text that are looked at for a secret.
_JUDGED = 500

_PLAIN = re.compile(r"[^\W\d]\w*")
_KEYWORDS = frozenset(word.lower() for word in apsw.keywords)
# The end of a Markdown block, or of the tag that a host wraps the card in.
_CLOSES = re.compile(r"`{3,}|~{3,}|[<＜﹤‹]\s*/")


_IS_STANDING: ContextVar[bool] = ContextVar("is_standing", default=False)


@contextmanager
def leaving_out_orders(*, when: bool) -> Iterator[None]:
    """Leave out what looks like a prompt injection: for a card that a prompt shows unasked."""
    token = _IS_STANDING.set(when)
    try:
        yield
    finally:
        _IS_STANDING.reset(token)


def _is_unwanted(text: str) -> bool:
    return _IS_STANDING.get() and is_order(text)


def _hide_secret(text: str, column: str = "") -> str:
    """Return a text without its secrets, judged together with the name of its column."""
    if not _IS_STANDING.get():
        return text
    (clean,) = redact_value({column: text[:_JUDGED]}, redact).values()
    return str(clean)


def one_line(text: str, most: int) -> str:
    """Return a text on one line, escaped where it is not printable and cut where too long."""
    # More than enough to judge, and a long one costs no more than a short one.
    head = _hide_secret(text)[: most + 1]
    if _is_unwanted(head):
        return LEFT_OUT
    shown = _CLOSES.sub(_defuse, reveal(head))
    return shown if len(shown) <= most else shown[: most - 1] + "…"


def write_name(identifier: str) -> str:
    """Return an identifier as SQL takes it: in quotes where it needs them."""
    if len(identifier) <= NAME and _PLAIN.fullmatch(identifier) and identifier.lower() not in _KEYWORDS:
        return LEFT_OUT if _is_unwanted(identifier) else _hide_secret(identifier)
    return '"' + one_line(identifier[:_JUDGED].replace('"', '""'), NAME) + '"'


def write_cell(value: Cell, most: int = CELL, column: str = "") -> str:
    """Return a value as SQL writes it."""
    if value is None:
        return "NULL"
    if isinstance(value, Blob):
        return f"<blob, {value.size} bytes>"
    if isinstance(value, str):
        return "'" + one_line(_hide_secret(value, column)[: most + 1].replace("'", "''"), most) + "'"
    return write_number(value)


def _defuse(match: re.Match[str]) -> str:
    found = match[0]
    return f"{found[0]}\\/" if found[-1] == "/" else "\\".join(found)


# --- one table ----------------------------------------------------------------------------------

_MOST_CELLS = 30
# Characters of several names or cells that are read one after the other.
_JOINED = 1_000
_TYPE = 30
_DEFINITION = 300
_SPEAKING = (Kind.WORD, Kind.NAME, Kind.STRING, Kind.ILLEGAL)
_VALUE = 30
_MOST_SQL = 6_000
_MOST_SQL_LINES = 300
_SQL_LINE = 200
EMPTY = "There are no tables yet. Make one: CREATE TABLE prices (item TEXT PRIMARY KEY, eur REAL, seen TEXT)"


@dataclass(frozen=True, slots=True)
class Detail:
    """The amount of detail about a table."""

    samples: int = 3
    has_contents: bool = True
    """Kinds, ranges, values and comments."""
    has_rules: bool = True
    """Defaults and keys."""
    has_types: bool = True
    columns: int = 60
    is_long: bool = False
    """One line per column, and the statement that made the table."""


# From the most to the least: rows go first, then what was seen in them, then rules, types, columns.
LEVELS = (
    Detail(),
    Detail(samples=1),
    Detail(samples=0),
    Detail(samples=0, has_contents=False),
    Detail(samples=0, has_contents=False, has_rules=False, columns=40),
    Detail(samples=0, has_contents=False, has_rules=False, has_types=False, columns=30),
    Detail(samples=0, has_contents=False, has_rules=False, has_types=False, columns=8),
    Detail(samples=0, has_contents=False, has_rules=False, has_types=False, columns=3),
)
LONG_LEVELS = (
    Detail(samples=10, columns=2_000, is_long=True),
    *(replace(level, columns=2_000) for level in LEVELS[:6]),
    *(replace(LEVELS[-1], columns=columns) for columns in (500, 100)),
    *LEVELS[5:],
)


def render_table(table: TableDescription, detail: Detail) -> str:
    """Return the lines about one table, all but the first indented."""
    return "\n".join(_Block(table, detail).lines())


class _Block:
    def __init__(self, table: TableDescription, detail: Detail) -> None:
        self._listed = table.listed
        self._structure = table.structure
        self._contents = table.contents
        self._detail = detail
        # A mark on every figure that is not of all rows.
        self._sampled = "" if table.contents.is_whole else "~"

    def lines(self) -> Iterator[str]:
        detail = self._detail
        shown = self._structure.columns[: detail.columns]
        columns = [self._column(column) for column in shown]
        if _is_unwanted(" ".join(column.name for column in shown)[:_JOINED]):
            columns = [LEFT_OUT]
        if self._structure.definition and detail.has_contents:
            columns = [_write_definition(self._structure.definition)]
        if left_out := len(self._structure.columns) - len(shown):
            columns.append(f"+{left_out:,} more{' columns' * detail.has_types}")
        if detail.is_long:
            yield f"{self._head()}{':' * bool(columns)}"
            yield from (f"  {column}" for column in columns)
        else:
            yield f"{self._head()}{': ' * bool(columns)}{', '.join(columns)}"
        if detail.has_contents and self._structure.comment:
            yield f"  about: {one_line(self._structure.comment, COMMENT * (4 if detail.is_long else 1))}"
        if detail.has_rules and (rules := list(self._rules())):
            yield f"  {'; '.join(rules)}"
        if detail.has_contents and self._contents.unread and self._contents.unread != self._structure.unread:
            yield f"  rows not read: {one_line(self._contents.unread, COMMENT)}"
        yield from self._samples()
        if detail.is_long:
            yield from self._statement()

    def _head(self) -> str:
        what = {TableSort.TABLE: "", TableSort.VIEW: "view "}.get(self._listed.sort)
        if what is None:
            what = f"{one_line(self._listed.module, 20)} table "
        count = self._contents.count
        said = [] if count is None else [f"{count:,} row{'s' * (count != 1)}"]
        if self._detail.has_contents and self._contents.sampled and not self._contents.is_whole:
            said.append(f"{self._contents.sampled:,} sampled")
        if self._structure.unread:
            said.append(f"not read: {one_line(self._structure.unread, COMMENT)}")
        more = f" ({', '.join(said)})" if said else ""
        return f"{what}{write_name(self._listed.name)}{more}"

    def _column(self, column: Column) -> str:
        detail = self._detail
        said = [write_name(column.name)]
        seen = self._contents.seen.get(column.name, _NOTHING)
        if detail.has_types:
            said += self._type(column, seen)
        if detail.has_rules:
            said += self._rules_of(column)
        if detail.has_contents:
            said += self._render_summary(column, seen)
        return " ".join(said)

    def _type(self, column: Column, seen: ColumnSummary) -> Iterator[str]:
        if column.type:
            yield one_line(column.type, _TYPE)
        elif seen.storage and self._detail.has_contents:
            yield f"{self._sampled}{seen.storage}"
        if column.key:
            yield "PK"

    def _rules_of(self, column: Column) -> Iterator[str]:
        if column.generated:
            yield "generated"
        if column.not_null and not column.key:
            yield "NOT NULL"
        if column.default is not None:
            yield f"default {one_line(_hide_secret(column.default, column.name), _VALUE)}"
        if self._structure.is_unique(column):
            yield "UNIQUE"
        for reference in self._structure.references:
            if reference.columns == (column.name,):
                yield f"-> {_target(reference)}"

    def _render_summary(self, column: Column, seen: ColumnSummary) -> Iterator[str]:
        if seen.storage == "mixed":
            yield f"{self._sampled}mixed"
        if seen.kind and seen.kind != column.type.lower():
            yield seen.kind
        if seen.values:
            yield self._sampled + "|".join(write_cell(value, _VALUE, column.name) for value in seen.values)
        if seen.range is not None:
            low, high = map(_end, seen.range)
            yield self._sampled + (low if low == high else f"{low}..{high}")

    def _rules(self) -> Iterator[str]:
        """Yield the rules about several columns, or about the table."""
        structure = self._structure
        for reference in structure.references:
            if len(reference.columns) > 1:
                yield f"FK ({_names(reference.columns)}) -> {_target(reference)}"
        for columns in structure.unique:
            if len(columns) > 1:
                yield f"unique({_names(columns)})"

    def _samples(self) -> Iterator[str]:
        contents = self._contents
        rows = pick_spread(contents.rows, self._detail.samples)
        if not rows:
            return
        of = contents.columns[:_MOST_CELLS]
        names = ""
        if list(of) != [column.name for column in self._structure.columns[: len(of)]]:
            names = f"({_names(of)}) "
        more = ", …" if len(self._structure.columns) > len(of) and not names else ""
        shown = [f"({_render_row(row, of)}{more})" for row in rows]
        if self._detail.is_long:
            yield f"  e.g. {names}".rstrip()
            yield from (f"    {row}" for row in shown)
        else:
            yield f"  e.g. {names}{' | '.join(shown)}"

    def _statement(self) -> Iterator[str]:
        sql = self._listed.sql[:_MOST_SQL]
        lines = sql.split("\n")
        for line in lines[:_MOST_SQL_LINES]:
            if line.strip():
                yield f"  | {one_line(line.rstrip(), _SQL_LINE)}"
        if len(lines) > _MOST_SQL_LINES or len(self._listed.sql) > _MOST_SQL or self._listed.is_cut:
            yield "  | …"


_NOTHING = ColumnSummary()


def _write_definition(select: str) -> str:
    """Return the SELECT of a view, unless a name or a text in it looks like a prompt injection."""
    said = (unquote(token.text) for token in tokens(select[:_DEFINITION]) if token.kind in _SPEAKING)
    return LEFT_OUT if any(map(_is_unwanted, said)) else one_line(select, _DEFINITION)


def _render_row(row: Sequence[Cell], columns: Sequence[str]) -> str:
    """Render cells, unless they look like a prompt injection one after the other."""
    cells = list(zip(row, columns, strict=False))
    said = " ".join(cell[:CELL] for cell, _ in cells if isinstance(cell, str))[:_JOINED]
    return LEFT_OUT if _is_unwanted(said) else ", ".join(write_cell(cell, CELL, name) for cell, name in cells)


def _target(reference: Reference) -> str:
    table = write_name(reference.table)
    if not reference.to:
        return table
    if len(reference.to) == 1:
        return f"{table}.{write_name(reference.to[0])}"
    return f"{table}({_names(reference.to)})"


def _names(columns: Sequence[str]) -> str:
    shown = ", ".join(write_name(name) for name in columns[:_MOST_CELLS])
    return shown if len(columns) <= _MOST_CELLS else f"{shown}, …"


def _end(value: Value) -> str:
    if isinstance(value, str):
        return one_line(value, _VALUE)
    return "NULL" if value is None else write_number(value)
