"""Upkeep of facts: withdrawing reversibly, purging or erasing permanently, and indexing again."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final, Protocol

from mnemos.errors import NotFound, Refused
from mnemos.facts import fact_undo
from mnemos.facts.fact import KIND, Fact, Outcome, Stored, number_of, ref_of
from mnemos.facts.fact_writer import is_confirmed, reindex_facts, remove_facts
from mnemos.language.notation import Mark, key_of
from mnemos.storage.base import Reads, Storage, Writes
from mnemos.storage.facts import FactRow, NewFact

_AT_ONCE: Final = 50
_REASON: Final = "withdrawn"


class Log(Protocol):
    """Record an operation on a reference in the audit log and return the number of the entry."""

    def __call__(self, tx: Writes, operation: str, ref: str, after: str | None) -> int: ...


def _split_batches(numbers: Sequence[int]) -> Iterator[Sequence[int]]:
    """Yield parts that are small enough for one transaction."""
    for start in range(0, len(numbers), _AT_ONCE):
        yield numbers[start : start + _AT_ONCE]


def withdraw_facts(
    tx: Writes, numbers: Sequence[int], *, user: str | None, actor: str, now: float
) -> tuple[list[FactRow], str | None]:
    """Retire live facts by obsolete statements on their targets; also return the changes for undo."""
    rows = tx.facts.get(numbers)
    stored = []
    for number in numbers:
        row = rows.get(number)
        if row is None or (user is not None and row.user_id not in (None, user)):
            raise NotFound(f"There is no fact {ref_of(number)!r}. Nothing was changed.")
        if row.state != "live":
            raise Refused(f"{ref_of(number)} was already {row.state}. Nothing was changed.")
        fact = NewFact(
            mark=Mark.OBSOLETE,
            target=row.target,
            key=row.key,
            content=_REASON,
            scope_id=row.scope_id,
            recorded_at=now,
            valid_from=now,
            session_id=None,
            message_id=None,
            actor=actor,
            user_id=row.user_id,
            state="retired",
            ended_at=now,
        )
        by = tx.facts.add(fact, ending=[number], state="retired")
        tx.passages.remove(KIND, ref_of(number))
        stored.append(
            Stored(ref_of(by), fact.mark, row.target, Outcome.RETIRED, row.scope, (ref_of(number),))
        )
    return [rows[number] for number in numbers], fact_undo.describe_changes(stored, ())


def purge_ended(storage: Storage, scope_id: int | None, before: float | None, log: Log, now: float) -> int:
    """Delete ended facts in short transactions and return their number."""
    removed = 0
    while some := storage.read(lambda tx: tx.facts.list_ended(scope_id, before, _AT_ONCE)):
        storage.write(lambda tx: remove_facts(tx, some, now))
        removed += len(some)
    if removed:
        storage.write(lambda tx: log(tx, fact_undo.PURGE, "", f"{removed} ended facts"))
    return removed


def find_taken(
    tx: Reads, session_id: str, message_ids: Collection[int], text: str | None
) -> tuple[list[int], list[int]]:
    """Find facts that come only from these messages, and others that may repeat them.

    A fact that was stated again elsewhere has another source. The others are the session's facts that
    ``text`` contains, or all of them if it is None.
    """
    alone: list[int] = []
    further: list[int] = []
    for row in tx.facts.of_source(session_id, message_ids):
        is_taken = row.message_id in message_ids
        if is_taken and not is_confirmed(tx, row):
            alone.append(row.id)
        elif is_taken or text is None or row.content.casefold() in text.casefold():
            further.append(row.id)
    return alone, further


def erase_facts(storage: Storage, numbers: Sequence[int], log: Log, now: float) -> None:
    """Erase facts from the rows, the index and the log, in short transactions."""

    def erase(tx: Writes, some: Sequence[int]) -> None:
        remove_facts(tx, some, now, forgotten=True)
        for number in some:
            ref = f"fact:{ref_of(number)}"
            tx.audit.scrub(ref)
            log(tx, fact_undo.FORGET, ref, None)

    for some in _split_batches(numbers):
        storage.write(lambda tx: erase(tx, some))  # noqa: B023


def repair_index(storage: Storage, facts: Iterable[Fact]) -> int:
    """Index those of these live facts that recall can't find; return their number."""
    missing = [number_of(fact.id) for fact in facts if _is_lost(storage, fact)]
    for some in _split_batches(missing):
        storage.write(lambda tx: reindex_facts(tx, some))  # noqa: B023
    return len(missing)


def _is_lost(storage: Storage, fact: Fact) -> bool:
    passage = storage.read(lambda tx: tx.passages.find(KIND, fact.id))
    group = None if fact.scope is None else key_of(fact.scope)
    return passage is None or (passage.group, passage.user_id) != (group, fact.user_id)
