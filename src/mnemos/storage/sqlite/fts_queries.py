"""Queries as FTS5 expressions, and the functions that rank their matches.

Every word goes into an expression as a quote string, so a user's text is never syntax. FTS5 numbers the
phrases of an expression from left to right. A plan records which clause each phrase belongs to.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any

import apsw
from msgspec import Struct

from mnemos.storage.search import Weight, count_driving
from mnemos.text.query import Clause, Query, Term

_AS_WRITTEN = "{said tool} : "

# Extra weight of a word in the form that was typed, compared with its other forms.
_AS_TYPED = 0.25

_K1 = 1.2
_B = 0.75
_SHORTEST = _K1 * (1 - _B)
_SAID, _TOOL, _BESIDE = 0, 1, 2
# Scales the sum of the clauses to below one. Any constant of a typical sum's size will do.
_HALF = 10.0


class Phrase(Struct, frozen=True):
    """A phrase of the expression: its clause, and the weight of one occurrence."""

    clause: int
    weight: float


class Plan(Struct, frozen=True):
    """An expression, its phrases in FTS5's numbering, and the weight of each clause.

    ``every``: whoever matches fulfils every clause.
    """

    match: str
    phrases: tuple[Phrase, ...]
    idf: tuple[float, ...]
    every: bool


# Matches everything, for filters without words, because every indexed message has a role.
ANYTHING = Plan('("#r" *)', (), (), every=False)


def quote(words: Iterable[str]) -> str:
    return '"' + " ".join(words).replace('"', '""') + '"'


def any_tag(tags: Iterable[str]) -> str:
    return "(" + " OR ".join(quote([tag]) for tag in tags) + ")"


def clause_match(clause: Clause) -> str:
    return _render_clause(clause, 0)[0]


def anything() -> Plan:
    return ANYTHING


def all_of(query: Query) -> Plan:
    """Match every clause and nothing excluded. All clauses weigh the same then."""
    parts = [_render_clause(clause, number) for number, clause in enumerate(query.clauses)]
    match = " AND ".join(text for text, _ in parts)
    phrases = tuple(phrase for _, found in parts for phrase in found)
    return Plan(_exclude(match, query.excluded), phrases, (1.0,) * len(parts), every=True)


def any_of(query: Query, weights: Sequence[Weight], cap: int) -> Plan:
    """Match at least one clause; ``query`` has its rarest clauses first.

    The rare clauses, as many as match up to ``cap`` messages, find the candidates; the common ones are
    only looked up there. That is what ``(rare) AND (rare OR common)`` makes FTS5 do.
    """
    parts = [_render_clause(clause, number) for number, clause in enumerate(query.clauses)]
    driving = count_driving(weights, cap)
    match = " OR ".join(text for text, _ in parts[:driving])
    phrases = [phrase for _, found in parts[:driving] for phrase in found]
    if driving < len(parts):
        everything = " OR ".join(text for text, _ in parts)
        match = f"({match}) AND ({everything})"
        # The second mention of a rare clause must not count twice.
        phrases += [Phrase(phrase.clause, 0.0) for phrase in phrases]
        phrases += [phrase for _, found in parts[driving:] for phrase in found]
    worth = tuple(weight.idf for weight in weights)
    return Plan(_exclude(match, query.excluded), tuple(phrases), worth, every=False)


def pairs_of(query: Query, weights: Sequence[Weight]) -> Plan:
    """Match at least two of the three rarest clauses, which ``query`` has first."""
    parts = [_render_clause(clause, number) for number, clause in enumerate(query.clauses)]
    texts: list[str] = []
    phrases: list[Phrase] = []
    seen: set[int] = set()
    for first, second in combinations(range(min(3, len(parts))), 2):
        texts.append(f"({parts[first][0]} AND {parts[second][0]})")
        for number in (first, second):
            # A further mention of a clause must not count again.
            mentioned = parts[number][1]
            phrases += [Phrase(p.clause, 0.0) for p in mentioned] if number in seen else mentioned
            seen.add(number)
    worth = tuple(weight.idf for weight in weights)
    return Plan(f"({' OR '.join(texts)})", tuple(phrases), worth, every=False)


def _exclude(match: str, excluded: Sequence[Term]) -> str:
    if not excluded:
        return f"({match})"
    unwanted = " OR ".join(_render_term(term, 0)[0] for term in excluded)
    return f"(({match}) NOT ({unwanted}))"


def _render_clause(clause: Clause, number: int) -> tuple[str, list[Phrase]]:
    parts = [_render_term(term, number) for term in clause.terms]
    match = " OR ".join(text for text, _ in parts)
    return f"({match})", [phrase for _, found in parts for phrase in found]


def _render_term(term: Term, number: int) -> tuple[str, list[Phrase]]:
    star = " *" if term.prefix else ""
    single = len(term.forms) == 1 and not term.exact
    texts = [f"{'' if single else _AS_WRITTEN}{quote(term.forms)}{star}"]
    texts += [quote([word]) for word in term.beside]
    # The stem finds every form of a word, including this one, so the form itself only adds to the score.
    own = _AS_TYPED if single and term.beside else 1.0
    phrases = [Phrase(number, own)] + [Phrase(number, 1.0)] * len(term.beside)
    return "(" + " OR ".join(texts) + ")", phrases


class Scorer:
    """The SQL functions ``score``, ``score_all`` and ``seed`` of one connection, for one plan at a time.

    A score's whole part is the number of clauses the row fulfils; its fraction is BM25, squeezed below one.
    """

    def __init__(self, connection: apsw.Connection) -> None:
        self._plan = Plan("", (), (), every=True)
        self._phrases: list[tuple[int, int, float]] = []
        self._clauses = 0
        # How much each word of the text lowers the score; 0 until the first row gives the average length.
        self._slope = 0.0
        connection.register_fts5_function("score", self._score)
        connection.register_fts5_function("score_all", self._score_all)
        connection.register_fts5_function("seed", self._seed)

    def use(self, plan: Plan) -> None:
        self._plan = plan
        self._phrases = [
            (number, phrase.clause, phrase.weight)
            for number, phrase in enumerate(plan.phrases)
            if phrase.weight
        ]
        self._clauses = len(plan.idf)
        self._slope = 0.0

    def _score(self, row: apsw.FTS5ExtensionApi, *_: Any) -> float:
        hits = [0.0] * len(self._plan.idf)
        offsets = row.phrase_column_offsets
        for number, clause, weight in self._phrases:
            count = len(offsets(number, _SAID)) + len(offsets(number, _TOOL)) + len(offsets(number, _BESIDE))
            if count:
                hits[clause] += count * weight
        norm = self._norm(row)
        matched = 0
        total = 0.0
        for frequency, idf in zip(hits, self._plan.idf, strict=True):
            if frequency:
                matched += 1
                total += idf * frequency * (_K1 + 1) / (frequency + norm)
        return matched + total / (total + _HALF)

    def _score_all(self, row: apsw.FTS5ExtensionApi, *_: Any) -> float:
        """Score a row that matches every clause by the number of matches and the length of its text."""
        # Called for hundreds of rows per search, so the norm is inlined.
        slope = self._slope or self._slope_of(row)
        count = row.inst_count
        return self._clauses + 0.5 * count / (count + _SHORTEST + slope * row.column_size(_SAID))

    def _seed(self, row: apsw.FTS5ExtensionApi, *_: Any) -> float:
        """Sum the weights of the row's words, each once: cheap enough for thousands of rows."""
        columns = row.phrase_columns
        idf = self._plan.idf
        total = 0.0
        for number, clause, _weight in self._phrases:
            if columns(number):
                total += idf[clause]
        return total

    def _norm(self, row: apsw.FTS5ExtensionApi) -> float:
        return _SHORTEST + (self._slope or self._slope_of(row)) * row.column_size(_SAID)

    def _slope_of(self, row: apsw.FTS5ExtensionApi) -> float:
        average = max(row.column_total_size(_SAID) / max(row.row_count, 1), 1.0)
        self._slope = _K1 * _B / average
        return self._slope
