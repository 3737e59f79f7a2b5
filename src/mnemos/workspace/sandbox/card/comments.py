"""What the comments inside a CREATE TABLE say, and of which column. SQLite keeps them with the statement."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from mnemos.workspace.sandbox.card.listing import folded, unquoted
from mnemos.workspace.sandbox.lexer import Kind, Token, tokens

LONGEST = 500
_MOST_TOKENS = 8_000
# What begins a rule of the table where a column could begin.
_RULES = frozenset({"constraint", "primary", "unique", "check", "foreign"})


@dataclass(frozen=True, slots=True)
class Remarks:
    table: str
    columns: dict[str, str]
    """By folded name."""


@dataclass(frozen=True, slots=True)
class _Comment:
    text: str
    depth: int
    """In how many parentheses it stands."""
    is_beside: bool
    """It stands on the line of what comes before it."""


@dataclass(frozen=True, slots=True)
class _Begin:
    column: str | None
    """None for a rule of the table."""


def remarks(sql: str, columns: Iterable[str]) -> Remarks:
    """What is said of the table and of its columns.

    A comment beside a column is about that column; one on a line of its own is about the column below, and
    before the first column only if other columns have theirs above them too. All others are about the table.
    """
    if "--" not in sql and "/*" not in sql:
        return Remarks("", {})
    table: list[str] = []
    said: dict[str, list[str]] = {}
    opening: list[str] = []
    waiting: list[str] = []
    column = first = None
    has_above = False
    for found in _read(sql, {folded(name) for name in columns}):
        if isinstance(found, _Begin):
            column = found.column
            first = first or column
            has_above |= bool(waiting) and column is not None
            (said.setdefault(column, []) if column is not None else table).extend(waiting)
            waiting.clear()
        elif found.depth == 0 or (found.is_beside and column is None):
            table.append(found.text)
        elif found.is_beside and column is not None:
            said.setdefault(column, []).append(found.text)
        else:
            (waiting if first else opening).append(found.text)
    if has_above and first is not None:
        said[first] = opening + said.get(first, [])
        opening = []
    by_column = {name: _joined(texts) for name, texts in said.items() if texts}
    return Remarks(_joined(opening + table + waiting), by_column)


def _read(sql: str, known: set[str]) -> Iterator[_Begin | _Comment]:
    """Definitions as they begin, and comments, in order."""
    depth, end = 0, 0
    begins = False
    for token in islice(tokens(sql), _MOST_TOKENS):
        if token.kind is Kind.COMMENT:
            if text := _meaning(token.text):
                yield _Comment(text, depth, is_beside="\n" not in sql[end : token.start])
            # A comment to the end of the line takes no line from what follows it.
            end = token.end
            continue
        end = token.end
        if token.kind is Kind.OPERATOR and token.text in ("(", ")", ","):
            depth += {"(": 1, ")": -1, ",": 0}[token.text]
            begins = depth == 1 and token.text != ")"
        elif begins:
            begins = False
            yield _Begin(_column(token, known))


def _column(token: Token, known: set[str]) -> str | None:
    if token.kind is Kind.WORD and folded(token.text) in _RULES:
        return None
    name = folded(unquoted(token.text))
    return name if name in known else None


def _meaning(comment: str) -> str:
    """A comment without the signs around it."""
    if comment.startswith("--"):
        inner = comment.lstrip("-")
    else:
        inner = " ".join(line.strip().lstrip("*") for line in comment[2:].removesuffix("*/").split("\n"))
    return " ".join(inner[: 2 * LONGEST].split())


def _joined(texts: Sequence[str]) -> str:
    return "; ".join(dict.fromkeys(texts))[:LONGEST]
