"""Queries as PostgreSQL's text search expressions.

Every word goes into an expression as a quoted lexeme that begins with the space, so a user's text is never
syntax and never reaches the words of another space.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

from msgspec import Struct

from mnemos.storage.search import Scope, Weight, count_driving
from mnemos.storage.terms import OWNED, user_tag
from mnemos.text.query import Clause, Query, Term

BLOCKS = (("#b", 10), ("#d", 14), ("#e", 18))
"""Tags for the number of a message without its last bits: a search can begin with the newest."""
LONG = "#long"
"""The tag of a row that does not have the places of all its words."""
# PostgreSQL refuses lexemes of 2,047 bytes.
_LONGEST = 500


class Plan(Struct, frozen=True):
    """An expression, its clauses and the weight of each.

    ``match`` finds rows by the index. In ``strict`` and ``clauses``, a phrase is also fulfilled by its
    marker, which a long row gets when one of its stretches has the phrase. ``every``: whoever matches fulfils
    every clause.
    """

    match: str | None
    strict: str
    clauses: tuple[str, ...]
    idf: tuple[float, ...]
    phrases: tuple[str, ...]
    every: bool


class Renderer:
    """Writes expressions for one space."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._phrases: list[str] = []

    def lexeme(self, word: str) -> str:
        return quote(self._prefix + word[:_LONGEST])

    def any_tag(self, tags: Iterable[str]) -> str:
        return "(" + " | ".join(self.lexeme(tag) for tag in tags) + ")"

    def markers(self, count: int) -> list[str]:
        return [f"{self._prefix}#f{number}" for number in range(count)]

    def anything(self) -> Plan:
        return Plan(None, "", (), (), (), every=False)

    def clause(self, clause: Clause) -> str:
        """Return the expression that finds a clause."""
        return self._clause(clause)[0]

    def all_of(self, query: Query) -> Plan:
        parts = self._begin(query)
        match = " & ".join(loose for loose, _ in parts)
        strict = " & ".join(exact for _, exact in parts)
        return self._plan(match, strict, query, parts, [1.0] * len(parts), every=True)

    def any_of(self, query: Query, weights: Sequence[Weight], cap: int) -> Plan:
        parts = self._begin(query)
        driving = parts[: count_driving(weights, cap)]
        match = " | ".join(loose for loose, _ in driving)
        strict = " | ".join(exact for _, exact in driving)
        return self._plan(match, strict, query, parts, [weight.idf for weight in weights], every=False)

    def pairs_of(self, query: Query, weights: Sequence[Weight]) -> Plan:
        parts = self._begin(query)
        pairs = list(combinations(parts[:3], 2))
        match = " | ".join(f"({one[0]} & {other[0]})" for one, other in pairs)
        strict = " | ".join(f"({one[1]} & {other[1]})" for one, other in pairs)
        return self._plan(match, strict, query, parts, [weight.idf for weight in weights], every=False)

    def within(self, match: str, scope: Scope, *more: str) -> str:
        """Narrow an expression to the tags of a scope, and to further expressions."""
        parts = [f"({match})", *(self.any_tag(tags) for tags in scope.every), *more]
        if scope.none:
            parts.append(f"!{self.any_tag(scope.none)}")
        if scope.user is not None:
            parts.append(f"!({self.lexeme(OWNED)} & !{self.lexeme(user_tag(scope.user))})")
        return " & ".join(parts)

    def _begin(self, query: Query) -> list[tuple[str, str]]:
        self._phrases = []
        return [self._clause(clause) for clause in query.clauses]

    def _plan(
        self,
        match: str,
        strict: str,
        query: Query,
        parts: list[tuple[str, str]],
        idf: list[float],
        *,
        every: bool,
    ) -> Plan:
        match, strict = f"({match})", f"({strict})"
        if query.excluded:
            unwanted = [self._term(term) for term in query.excluded]
            # A phrase that is excluded may be in a stretch: only the markers can tell.
            match = f"({match} & !({' | '.join(exact for _, exact in unwanted)}))"
            strict = f"({strict} & !({' | '.join(exact for _, exact in unwanted)}))"
        clauses = tuple(exact for _, exact in parts)
        return Plan(match, strict, clauses, tuple(idf), tuple(self._phrases), every)

    def _clause(self, clause: Clause) -> tuple[str, str]:
        parts = [self._term(term) for term in clause.terms]
        return (
            "(" + " | ".join(loose for loose, _ in parts) + ")",
            "(" + " | ".join(exact for _, exact in parts) + ")",
        )

    def _term(self, term: Term) -> tuple[str, str]:
        beside = [self.lexeme(word) for word in term.beside]
        if len(term.forms) == 1 and not term.exact:
            star = ":*" if term.prefix else ""
            plain = "(" + " | ".join([self.lexeme(term.forms[0]) + star, *beside]) + ")"
            return plain, plain
        *before, last = [self.lexeme(form) for form in term.forms]
        phrase = " <-> ".join([*(f"{form}:A" for form in before), f"{last}:{'*A' if term.prefix else 'A'}"])
        marker = self.lexeme(f"#f{len(self._phrases)}")
        self._phrases.append(phrase)
        words = " & ".join(dict.fromkeys([*before, last + (":*" if term.prefix else "")]))
        loose = f"(({phrase}) | ({self.lexeme(LONG)} & {words}))"
        return (
            "(" + " | ".join([loose, *beside]) + ")",
            "(" + " | ".join([f"({phrase})", marker, *beside]) + ")",
        )


def quote(lexeme: str) -> str:
    return "'" + lexeme.replace("\\", "\\\\").replace("'", "''") + "'"


def make_array(texts: Iterable[str]) -> str:
    """Write an array as PostgreSQL reads it."""
    quoted = (text.replace("\\", "\\\\").replace('"', '\\"') for text in texts)
    return "{" + ",".join(f'"{text}"' for text in quoted) + "}"
