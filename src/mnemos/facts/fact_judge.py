"""The live facts that a new statement replaces, or may replace."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from mnemos.facts.fact import KIND, is_same_content, number_of
from mnemos.language.notation import Mark, Statement
from mnemos.language.updates import Verdict, analyse, are_comparable, judge
from mnemos.language.updates.claim import sign_attributes
from mnemos.storage.base import Filters, Reads, Writes
from mnemos.storage.facts import FactRow
from mnemos.text.query import Clause, Term
from mnemos.text.words import runs, stem

# A statement is compared with this number of facts with similar words.
_COMPARED: Final = 6
_ON_TARGET: Final = 20
_MOST_WORDS: Final = 5
_MOST_SIGNS: Final = 1
# If one statement replaced more facts, it would probably be a mistake.
_MOST_REPLACED: Final = 3
_MOST_DOUBTS: Final = 3
# The probability from which further facts are marked, besides the likeliest one. Among hundreds of facts,
# several share a word with any statement, and marking them all would make the mark meaningless.
_FURTHER_FROM: Final = 0.3
_JUDGED: Final = frozenset({Mark.CONSTRAINT, Mark.DECISION, Mark.VALUE})


@dataclass(frozen=True, slots=True)
class Rivals:
    """The facts that a statement is compared with."""

    same: FactRow | None = None
    """The fact with exactly this statement."""
    replaced: tuple[FactRow, ...] = ()
    doubtful: tuple[FactRow, ...] = ()
    """Facts that the statement may replace, the likeliest first."""


def find_rivals(tx: Writes, statement: Statement, scope_id: int | None, user_id: str | None) -> Rivals:
    """Compare a statement with the most similar live facts."""
    if statement.mark not in _JUDGED:
        return Rivals()
    candidates = [row for row in find_candidates(tx, statement, user_id) if row.mark in _JUDGED]
    own = [row for row in candidates if (row.scope_id, row.user_id) == (scope_id, user_id)]
    same = next((row for row in own if is_same_content(row.content, statement.content)), None)
    if same is not None:
        return Rivals(same)
    claim = analyse(statement.content)
    found = [
        (row, judge(row.content, claim)) for row in candidates if are_comparable(analyse(row.content), claim)
    ]
    found.sort(key=lambda one: -one[1].chance)
    # A fact of another scope or of everybody is never replaced silently.
    replaced = [row for row, one in found if one.verdict is Verdict.REPLACES and row in own][:_MOST_REPLACED]
    doubts = [one for one in found if one[1].verdict is not Verdict.DIFFERENT and one[0] not in replaced]
    likely = doubts[:1] + [one for one in doubts[1:_MOST_DOUBTS] if one[1].chance >= _FURTHER_FROM]
    return Rivals(None, tuple(replaced), tuple(row for row, _ in likely))


def judge_pair(older: FactRow, newer: FactRow) -> Verdict:
    """Judge if a fact replaces an older one, regardless of which was stored first."""
    claim = analyse(newer.content)
    if not {older.mark, newer.mark} <= _JUDGED or not are_comparable(analyse(older.content), claim):
        return Verdict.DIFFERENT
    found = judge(older.content, claim).verdict
    is_own = (older.scope_id, older.user_id) == (newer.scope_id, newer.user_id)
    # A fact of another scope or of everybody is never replaced silently.
    return found if is_own or found is not Verdict.REPLACES else Verdict.MAY_REPLACE


def find_candidates(tx: Writes, statement: Statement, user_id: str | None) -> Iterator[FactRow]:
    """Yield the live facts most similar to a statement, as they may be about the same subject."""
    # A shared statement is only compared with shared facts: no user has an empty name.
    user = user_id or ""
    rows = {row.id: row for row in tx.facts.live_on(statement.key, _ON_TARGET, user)}
    rows |= {row.id: row for row in find_similar(tx, statement.content, _COMPARED, user)}
    yield from rows.values()


def find_similar(tx: Reads, text: str, limit: int, user: str | None = None) -> list[FactRow]:
    """Find the live facts that share the most words or the attribute with a text.

    ``user``: only facts of this user and shared ones.
    """
    clauses = _make_clauses(text)
    if not clauses:
        return []
    counts = tx.passages.weigh(clauses, messages=False)
    seeds = tx.passages.best(clauses, counts, Filters(user=user), kinds=(KIND,), limit=limit)
    passages = tx.passages.get([seed.id for seed in seeds])
    rows = tx.facts.get([number_of(passage.ref) for passage in passages if passage.live])
    return [row for row in rows.values() if row.state == "live"]


def _make_clauses(text: str) -> list[Clause]:
    """Make clauses for the most telling words. Verbs are left out, and the attribute has its own sign."""
    claim = analyse(text)
    telling = sorted(claim.tokens, key=lambda token: token.is_verb or token.is_unit)
    forms = dict.fromkeys(form for token in telling for run in runs(token.form) for form in run.forms)
    signs = sign_attributes(text).split()[:_MOST_SIGNS]
    return [Clause((Term((word,)),)) for word in [*map(stem, list(forms)[:_MOST_WORDS]), *signs]]
