"""Import of hermes-memory facts with their original times."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from mnemos.errors import InvalidInput, TooLarge
from mnemos.facts.fact import KIND, ref_of
from mnemos.facts.fact_inputs import list_scanned
from mnemos.facts.fact_writer import ANSWERS, find_words, put_passage
from mnemos.facts.scopes import MAX_LABEL, normalize_label
from mnemos.language.notation import Mark, key_of, normalize_target, strip_hidden
from mnemos.language.threats import scan
from mnemos.storage.base import Storage, Writes
from mnemos.storage.facts import FactRow, NewFact, ScopeRow
from mnemos.storage.imports import HermesFact

ACTOR = "hermes-memory"

_MARKS = {"C": Mark.CONSTRAINT, "D": Mark.DECISION, "V": Mark.VALUE, "?": Mark.UNKNOWN,
          "done": Mark.DONE, "obs": Mark.OBSOLETE}  # fmt: skip
_AT_ONCE = 50

Redact = Callable[[str], str]


@dataclass(slots=True)
class Report:
    """The result of an import. ``skipped`` facts were already known; ``refused`` lists failures."""

    live: int = 0
    skipped: int = 0
    refused: list[str] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    """Row numbers of the new facts."""

    @property
    def history(self) -> int:
        """The number of imported facts that are no longer true."""
        return len(self.numbers) - self.live


@dataclass(frozen=True, slots=True)
class _Incoming:
    fact: HermesFact
    mark: Mark
    target: str
    content: str
    label: str | None

    is_live: bool
    """True if it is live, or is replaced by another fact of the same import."""
    is_hot: bool


def import_facts(
    storage: Storage,
    facts: Sequence[HermesFact],
    redact: Redact,
    progress: Callable[[float], None],
    *,
    most: int,
) -> Report:
    """Store the facts of a hermes-memory database. Importing twice adds nothing.

    A fact with more than ``most`` characters is refused. Archived facts become live and cold. If a newer fact
    with the same key is known, the imported one becomes part of its history. Takes several short
    transactions.
    """
    report = Report()
    there = frozenset(fact.id for fact in facts)
    incoming = [one for fact in facts if (one := _parse(fact, there, redact, report, most)) is not None]
    made: dict[int, bool] = {}
    for start in range(0, len(incoming), _AT_ONCE):
        some = incoming[start : start + _AT_ONCE]
        for one in some:
            find_words(one.mark, one.target, one.content)
        storage.write(lambda tx: _store(tx, some, report, made))  # noqa: B023
        progress(min(1.0, (start + _AT_ONCE) / len(incoming)))
    ends = [scope for scope, is_open in made.items() if not is_open]
    now = max((fact.updated_at for fact in facts), default=0.0)
    storage.write(lambda tx: _close(tx, ends, now))
    stored = storage.read(lambda tx: tx.facts.get(report.numbers))
    report.live = sum(row.state == "live" for row in stored.values())
    return report


def _close(tx: Writes, scopes: Sequence[int], at: float) -> None:
    for scope in scopes:
        tx.facts.close_scope(scope, at)


def _parse(
    fact: HermesFact, there: frozenset[str], redact: Redact, report: Report, most: int
) -> _Incoming | None:
    """Clean up a fact, as hermes-memory allowed hidden characters in targets and labels."""
    if redact(fact.target) != fact.target or (fact.scope and redact(fact.scope) != fact.scope):
        report.refused.append(f"{fact.id}: its target or scope holds a secret")
        return None
    try:
        target = normalize_target(strip_hidden(fact.target))
        label = None if fact.scope is None else normalize_label(strip_hidden(fact.scope)[:MAX_LABEL])
        if fact.type not in _MARKS:
            raise InvalidInput(f"There is no type {fact.type!r}.")
        if len(fact.content) > most:
            raise TooLarge(f"it has {len(fact.content):,} characters, more than {most} (max_fact_characters)")
    except InvalidInput as exc:
        report.refused.append(f"{fact.id}: {exc}")
        return None
    mark, content = _MARKS[fact.type], redact(strip_hidden(fact.content))
    holds = fact.status != "superseded" or fact.superseded_by in there
    return _Incoming(
        fact,
        mark,
        target,
        content,
        label,
        is_live=holds and mark is not Mark.OBSOLETE,
        # A fact that looks like an injection is kept, but never enters a prompt unasked.
        is_hot=fact.status == "active" and not any(map(scan, list_scanned(target, content))),
    )


def _store(tx: Writes, some: Sequence[_Incoming], report: Report, made: dict[int, bool]) -> None:
    for one in some:
        _add(tx, one, _scope(tx, one, made), report)


def _scope(tx: Writes, one: _Incoming, made: dict[int, bool]) -> ScopeRow | None:
    if one.label is None:
        return None
    known = tx.facts.scope(key_of(one.label))
    if known is not None:
        return known
    scope, _ = tx.facts.open_scope(one.label, key_of(one.label), float(one.fact.created_at))
    made[scope.id] = one.fact.scope_status == "active"
    return scope


def _find_ended(mark: Mark, there: dict[str, FactRow]) -> list[FactRow]:
    """Return the live facts that this one ends, by the rules of a write."""
    if mark is Mark.OBSOLETE:
        return list(there.values())
    ending = [there.get(mark), there.get(Mark.UNKNOWN) if mark in ANSWERS else None]
    return [row for row in ending if row is not None]


def _add(tx: Writes, one: _Incoming, scope: ScopeRow | None, report: Report) -> None:
    at = float(one.fact.created_at)
    scope_id = None if scope is None else scope.id
    there = {row.mark: row for row in tx.facts.live_in(key_of(one.target), scope_id)}
    old = there.get(one.mark)
    is_live = one.is_live and (old is None or old.recorded_at <= at)
    state = "live" if is_live else "retired" if one.mark is Mark.OBSOLETE else "superseded"
    ending = _find_ended(one.mark, there) if is_live or one.mark is Mark.OBSOLETE else []
    fact = NewFact(
        mark=one.mark,
        target=one.target,
        key=key_of(one.target),
        content=one.content,
        scope_id=scope_id,
        recorded_at=at,
        valid_from=at,
        session_id=None,
        message_id=None,
        actor=ACTOR,
        stated_by="import",
        state=state,
        ended_at=None if is_live else max(at, float(one.fact.updated_at)),
        hot=one.is_hot,
    )
    if tx.facts.identical(fact):
        report.skipped += 1
        return
    ended_as = "retired" if one.mark is Mark.OBSOLETE else "superseded"
    ending = [row for row in ending if row.recorded_at <= at]
    number = tx.facts.add(fact, ending=[row.id for row in ending], state=ended_as)
    for row in ending:
        tx.passages.outdate(KIND, ref_of(row.id))
    if is_live:
        put_passage(tx, number, fact, scope)
    report.numbers.append(number)
