"""The tokens of one statement, with lookups that never mistake a string or a comment for SQL."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from apsw import keywords

from mnemos.workspace.identifiers import quote
from mnemos.workspace.sandbox.lexer import Kind, Token, tokens

# A hint has no room for a longer statement, so nothing is tried with one.
LONGEST = 4_000

# Characters beyond ASCII are letters. The class is written by what it excludes: a class of a million
# characters takes milliseconds to compile, and every worker that starts would wait for it.
_BARE = re.compile(r"[^\x00-@\[-^`{-\x7f][^\x00-/:-@\[-^`{-\x7f]*")
_VALUES = frozenset({Kind.WORD, Kind.NAME, Kind.STRING, Kind.NUMBER, Kind.BLOB, Kind.PARAMETER})
_NO_OPERANDS = frozenset(
    """ALL AND AS ASC BETWEEN BY CASE COLLATE CREATE CROSS DELETE DESC DISTINCT ELSE END EXCEPT FOR FROM FULL
    GROUP HAVING IN INNER INSERT INTERSECT INTERVAL INTO IS JOIN LEFT LIKE LIMIT NATURAL NOT OFFSET ON OR
    ORDER OUTER OVER PARTITION RETURNING RIGHT SELECT SET TABLE THEN UNION UPDATE USING VALUES WHEN WHERE
    WITH""".split()
)


class Text:
    """One statement as tokens without comments; positions are indexes of tokens."""

    __slots__ = ("closes", "opens", "sql", "tokens", "words")

    def __init__(self, sql: str) -> None:
        self.sql = sql
        self.tokens = list(_tokenize(sql))
        self.words = [token.text.upper() if token.kind is Kind.WORD else token.text for token in self.tokens]
        """Words in capitals, everything else as written: a string never equals a keyword."""
        self.closes: dict[int, int] = {}
        """For each opening parenthesis, the one that closes it."""
        stack: list[int] = []
        for index, word in enumerate(self.words):
            if word == "(":
                stack.append(index)
            elif word == ")" and stack:
                self.closes[stack.pop()] = index
        self.opens = {closed: opened for opened, closed in self.closes.items()}

    def __len__(self) -> int:
        return len(self.tokens)

    def word(self, index: int) -> str:
        return self.words[index] if 0 <= index < len(self.words) else ""

    def kind(self, index: int) -> Kind | None:
        return self.tokens[index].kind if 0 <= index < len(self.tokens) else None

    def touches(self, index: int) -> bool:
        """True if nothing is written between a token and the one before it."""
        return 0 < index < len(self) and self.tokens[index - 1].end == self.tokens[index].start

    def source(self, first: int, last: int) -> str:
        """Return the text of the tokens from ``first`` up to ``last``."""
        last = min(last, len(self.tokens))
        return self.sql[self.tokens[first].start : self.tokens[last - 1].end] if first < last else ""

    def replace(self, first: int, last: int, new: str) -> str:
        """Return the statement with other text in place of some tokens, or before one."""
        if first >= len(self):
            return self.sql.rstrip() + new
        start = self.tokens[first].start
        end = self.tokens[min(last, len(self)) - 1].end if last > first else start
        head = self.sql[:start] if new else self.sql[:start].rstrip()
        return head + new + self.sql[end:]

    def operand_before(self, index: int) -> int | None:
        """Return where the operand begins that ends before a token: ``a.b``, ``f(x)``, ``(x)``, a literal."""
        first = index - 1
        if self.word(first) == ")":
            opened = self.opens.get(first)
            if opened is None:
                return None
            is_call = self.kind(opened - 1) is Kind.WORD and self.word(opened - 1) not in _NO_OPERANDS
            first = opened - is_call
        elif self.kind(first) not in _VALUES or self.word(first) in _NO_OPERANDS:
            return None
        while self.word(first - 1) == "." and self.kind(first - 2) in (Kind.WORD, Kind.NAME):
            first -= 2
        return first

    def operand_after(self, index: int) -> int | None:
        """Return the token after the operand that begins at a token."""
        index += self.word(index) in ("-", "+")
        if self.word(index) == "(":
            return self.closes[index] + 1 if index in self.closes else None
        if self.kind(index) not in _VALUES or self.word(index) in _NO_OPERANDS:
            return None
        while self.word(index + 1) == "." and self.kind(index + 2) in (Kind.WORD, Kind.NAME):
            index += 2
        if self.word(index + 1) == "(" and self.kind(index) is Kind.WORD:
            return self.closes[index + 1] + 1 if index + 1 in self.closes else None
        return index + 1

    def at_offset(self, offset: int | None) -> int:
        """Return the token at an offset in bytes of UTF-8, as SQLite counts; the last but one for None."""
        if offset is None:
            return len(self)
        character = len(self.sql.encode(errors="replace")[:offset].decode(errors="ignore"))
        return max(bisect_right(self.tokens, character, key=lambda token: token.start) - 1, 0)


def _tokenize(sql: str) -> Iterator[Token]:
    """Yield the tokens, with ``::`` as an operator where SQLite's own rules see a broken parameter."""
    start = 0
    while True:
        for token in tokens(sql[start:]):
            position = start + token.start
            if token.kind is Kind.ILLEGAL and sql.startswith("::", position):
                yield Token(Kind.OPERATOR, "::", position)
                start = position + 2
                break
            if token.kind is not Kind.COMMENT:
                yield Token(token.kind, token.text, position)
        else:
            return


def write_name(name: str) -> str:
    """Return a name as SQL takes it, in quotes only where it needs them."""
    return name if _BARE.fullmatch(name) and name.upper() not in keywords else quote(name)
