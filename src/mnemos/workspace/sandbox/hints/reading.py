"""A failed statement as a row of tokens, and changes to it that leave everything else as it was written."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from mnemos.workspace.sandbox.hints.known import Schema
from mnemos.workspace.sandbox.lexer import Kind, Token, statements, tokens

# Beyond it a hint has no room for the statement, and nothing is tried with it.
LONGEST = 4_000
DEEPEST = 100
# What one hint takes from one rule at a time, and how often the rules are asked: a statement of nothing but
# `SELECT TOP 1` would keep them busy for seconds.
_MOST_CHANGES = 20
_PASSES = 8
# A statement may become two or three.
_MOST_STATEMENTS = 20

_VALUES = frozenset({Kind.WORD, Kind.NAME, Kind.STRING, Kind.NUMBER, Kind.BLOB, Kind.PARAMETER})
# Words that stand before or after an operand and are none.
_NO_OPERANDS = frozenset(
    """ALL AND AS ASC BETWEEN BY CASE COLLATE CREATE CROSS DELETE DESC DISTINCT ELSE END EXCEPT FOR FROM FULL
    GROUP HAVING IN INNER INSERT INTERSECT INTERVAL INTO IS JOIN LEFT LIKE LIMIT NATURAL NOT OFFSET ON OR
    ORDER OUTER OVER PARTITION RETURNING RIGHT SELECT SET TABLE THEN UNION UPDATE USING VALUES WHEN WHERE
    WITH""".split()
)


class Text:
    """The tokens of one statement without its comments; positions are indexes of tokens."""

    __slots__ = ("closes", "depths", "opens", "sql", "tokens", "words")

    def __init__(self, sql: str) -> None:
        self.sql = sql
        self.tokens: list[Token] = [token for token in tokens(sql) if token.kind is not Kind.COMMENT]
        self.words = [token.text.upper() if token.kind is Kind.WORD else token.text for token in self.tokens]
        """Words in capitals, everything else as it is written: a string never equals a keyword."""
        self.closes: dict[int, int] = {}
        """For each parenthesis that opens, the one that closes it."""
        self.opens: dict[int, int] = {}
        self.depths: list[int] = []
        self._pair()

    def _pair(self) -> None:
        stack: list[int] = []
        for index, word in enumerate(self.words):
            if word == ")" and stack:
                opened = stack.pop()
                self.closes[opened], self.opens[index] = index, opened
            self.depths.append(len(stack))
            if word == "(":
                stack.append(index)

    def __len__(self) -> int:
        return len(self.tokens)

    def word(self, index: int) -> str:
        return self.words[index] if 0 <= index < len(self.words) else ""

    def kind(self, index: int) -> Kind | None:
        return self.tokens[index].kind if 0 <= index < len(self.tokens) else None

    def has(self, index: int, *words: str) -> bool:
        """Whether these words stand one after the other from there."""
        return index >= 0 and self.words[index : index + len(words)] == list(words)

    def source(self, first: int, last: int) -> str:
        """The text from one token up to, and without, another, as far as there are any."""
        last = min(last, len(self.tokens))
        if first >= last:
            return ""
        return self.sql[self.tokens[first].start : self.tokens[last - 1].end]

    def places(self, *words: str) -> Iterator[int]:
        """Where these words stand, from left to right."""
        for index, word in enumerate(self.words):
            if word == words[0] and self.has(index, *words):
                yield index

    def at(self, character: int) -> int:
        """The token at a character of the text, or the one before it; -1 before the first."""
        return bisect_right(self.tokens, character, key=lambda token: token.start) - 1

    def end_of_select(self, index: int) -> int:
        """The token after the SELECT that this token belongs to: what closes its parentheses, or the end."""
        depth = self.depths[index]
        for later in range(index, len(self)):
            if self.depths[later] < depth:
                return later
        return len(self)

    def find(self, first: int, last: int, *words: str) -> int | None:
        """The first of these words between two tokens that is in no parentheses of its own there."""
        depth = self.depths[first] if first < len(self) else 0
        for index in range(first, min(last, len(self))):
            if self.words[index] in words and self.depths[index] == depth:
                return index
        return None

    def arguments(self, opened: int) -> list[tuple[int, int]]:
        """What lies between the commas of a pair of parentheses, as ranges of tokens; none for ``()``."""
        closed = self.closes.get(opened)
        if closed is None or closed == opened + 1:
            return []
        return self.parts(opened + 1, closed)

    def parts(self, first: int, last: int) -> list[tuple[int, int]]:
        """What lies between the commas of a stretch, those in parentheses apart."""
        found, begun, index = [], first, first
        while index < last:
            if self.words[index] == "(":
                index = self.closes.get(index, last)
            elif self.words[index] == ",":
                found.append((begun, index))
                begun = index + 1
            index += 1
        found.append((begun, last))
        return found

    def operand_before(self, index: int) -> int | None:
        """Where the operand begins that ends before a token: ``a.b``, ``f(x)``, ``(x)``, a literal."""
        last = index - 1
        if self.word(last) == ")":
            first = self.opens.get(last)
            if first is None:
                return None
            if self.kind(first - 1) is Kind.WORD and self.word(first - 1) not in _NO_OPERANDS:
                first -= 1
        elif (
            self.kind(last) in _VALUES and self.word(last) not in _NO_OPERANDS and self.word(last - 1) != ":"
        ):
            first = last
        else:
            return None
        while self.word(first - 1) == "." and self.kind(first - 2) in (Kind.WORD, Kind.NAME):
            first -= 2
        return first

    def operand_after(self, index: int) -> int | None:
        """The token after the operand that begins at a token."""
        if self.word(index) in ("-", "+"):
            index += 1
        if self.word(index) == "(":
            closed = self.closes.get(index)
            return None if closed is None else closed + 1
        if self.kind(index) not in _VALUES or self.word(index) in _NO_OPERANDS:
            return None
        while self.word(index + 1) == "." and self.kind(index + 2) in (Kind.WORD, Kind.NAME):
            index += 2
        if self.word(index + 1) == "(" and self.kind(index) is Kind.WORD:
            closed = self.closes.get(index + 1)
            return None if closed is None else closed + 1
        return index + 1


def reads(text: Text) -> bool:
    """Whether the statement is a SELECT: a hint for those may name what was probably meant."""
    writing = {"INSERT", "UPDATE", "DELETE", "REPLACE", "CREATE", "ALTER", "DROP", "INTO"}
    first = text.word(0)
    return first in ("SELECT", "VALUES") or (first in ("WITH", "EXPLAIN") and writing.isdisjoint(text.words))


@dataclass(frozen=True, slots=True)
class Edit:
    """New text for the tokens from ``first`` up to ``last``; before ``first`` if there are none."""

    first: int
    last: int
    text: str


@dataclass(frozen=True, slots=True)
class Change:
    """Edits that make sense together only, and why they are needed."""

    why: str
    edits: tuple[Edit, ...] = ()
    """None: there is something to say and nothing to offer."""
    is_all: bool = False
    """There is no such statement in SQLite: nothing else need be tried."""


Rule = Callable[[Text, Schema], Iterable[Change]]
"""Finds what another dialect would understand and SQLite does not."""


@dataclass(frozen=True, slots=True)
class Rewritten:
    sql: str
    reasons: tuple[str, ...]
    is_all: bool = False
    is_stuck: bool = False
    """Something was recognised that nothing here can be done about."""


def recognised(sql: str, rules: Sequence[tuple[frozenset[str], Rule]], schema: Schema) -> tuple[str, ...]:
    """What the rules have to say of a piece of a statement."""
    return tuple(dict.fromkeys(change.why for change in _changes(Text(sql), rules, schema)))


def rewrite(sql: str, rules: Sequence[tuple[frozenset[str], Rule]], schema: Schema) -> Rewritten:
    """Apply the rules until none finds anything more; a rule is asked only where one of its words occurs."""
    reasons: dict[str, None] = {}
    is_all = is_stuck = False
    for _ in range(_PASSES):
        made: list[str] = []
        found = statements(sql)
        if len(found) > _MOST_STATEMENTS:
            break
        some = False
        for statement in found:
            text = Text(statement.text)
            changes = list(_changes(text, rules, schema))
            some |= any(change.edits for change in changes)
            reasons.update(dict.fromkeys(change.why for change in changes))
            is_all |= any(change.is_all for change in changes)
            is_stuck |= any(not change.edits for change in changes)
            made.append(_apply(text, changes))
        changed = "; ".join(made)
        if not some or changed == sql:
            break
        sql = changed
    return Rewritten(sql, tuple(reasons), is_all, is_stuck)


def _changes(text: Text, rules: Iterable[tuple[frozenset[str], Rule]], schema: Schema) -> Iterator[Change]:
    if max(text.depths, default=0) > DEEPEST:
        return
    present = set(text.words)
    for words, rule in rules:
        if not words.isdisjoint(present):
            yield from islice(rule(text, schema), _MOST_CHANGES)


def _apply(text: Text, changes: Iterable[Change]) -> str:
    """Those changes that do not meet in one token; the others have their turn in the next pass."""
    taken: set[int] = set()
    edits: list[Edit] = []
    for change in changes:
        touched = {index for edit in change.edits for index in range(edit.first, edit.last)}
        if taken.isdisjoint(touched):
            taken |= touched
            edits += change.edits
    pieces, position = [], 0
    for edit in sorted(edits, key=lambda edit: (edit.first, edit.last)):
        start, end = _span(text, edit)
        pieces += [text.sql[position:start], edit.text]
        position = end
    return "".join([*pieces, text.sql[position:]])


def _span(text: Text, edit: Edit) -> tuple[int, int]:
    """The characters that an edit replaces; what is taken out goes with the blanks before it."""
    if edit.first >= len(text):
        end = text.tokens[-1].end if text.tokens else 0
        return end, end
    start = text.tokens[edit.first].start
    if edit.first >= edit.last:
        return start, start
    end = text.tokens[min(edit.last, len(text)) - 1].end
    if not edit.text and text.sql[end : end + 1].strip() in ("", ",", ")", ";"):
        start = len(text.sql[:start].rstrip())
    return start, end
