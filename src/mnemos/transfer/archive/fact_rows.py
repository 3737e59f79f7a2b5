"""Facts as they were elsewhere: with their ids, times, states and uses, and found by recall as before."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from mnemos.facts.fact import KIND, are_contradictory, ref_of
from mnemos.facts.fact_writer import COMPARED, VERSIONS_IN_RECALL, put_passage
from mnemos.language.notation import Mark
from mnemos.storage.base import Reads, Writes
from mnemos.storage.facts import FactRow

LIVE: Final = "live"


@dataclass(frozen=True, slots=True)
class Restored:
    """Where a fact is now. ``is_new``: it was not there. ``outlived``: as history, as a newer one holds."""

    number: int
    is_new: bool
    outlived: bool = False


def known(tx: Reads, fact: FactRow, taken: Container[int]) -> int | None:
    """The fact here that is this one: of its id, or else of its words and moment; none of ``taken``."""
    same = [number for number in tx.facts.identical(fact) if number not in taken]
    return fact.id if fact.id in same else min(same, default=None)


def restore(tx: Writes, fact: FactRow, taken: Container[int]) -> Restored:
    """Store a fact as it was, unless it is there.

    ``fact``: with the scope it has here, and without what replaced it: see ``relink``. Where another live
    fact has its target, mark and scope, the one that was learned later holds, and the other is its history.
    ``taken``: facts that came from the same place, which cannot be this one and whose conflicts are known.
    """
    there = known(tx, fact, taken)
    if there is not None:
        return Restored(there, is_new=False)
    rival = _rival(tx, fact)
    if rival is not None and rival.recorded_at >= fact.recorded_at:
        number = _put(tx, _ended_by(fact, rival))
        return Restored(number, is_new=True, outlived=True)
    if rival is not None:
        tx.facts.end([rival.id], "superseded", fact.recorded_at)
        tx.passages.outdate(KIND, ref_of(rival.id))
    number = _put(tx, fact)
    if rival is not None:
        tx.facts.supersede({rival.id: number})
        _shorten(tx, rival.id)
    if fact.state == LIVE:
        _set_against(tx, number, fact.key, taken)
    return Restored(number, is_new=True)


def relink(tx: Writes, links: Mapping[int, int]) -> None:
    """Note which facts replaced which; recall goes on finding the last few versions, as after a write."""
    tx.facts.supersede(links)
    for old in sorted(links):
        _shorten(tx, old)


# --- inside ---------------------------------------------------------------------------------


def _rival(tx: Reads, fact: FactRow) -> FactRow | None:
    if fact.state != LIVE:
        return None
    there = tx.facts.live_in(fact.key, fact.scope_id)
    return next((other for other in there if other.mark == fact.mark), None)


def _ended_by(fact: FactRow, newer: FactRow) -> FactRow:
    valid_to = max(fact.valid_from, newer.valid_from) if fact.valid_to is None else fact.valid_to
    return replace(
        fact,
        state="superseded",
        hot=False,
        ended_at=newer.recorded_at,
        superseded_by=newer.id,
        valid_to=valid_to,
    )


def _put(tx: Writes, fact: FactRow) -> int:
    number = tx.facts.restore(fact)
    if fact.mark != Mark.OBSOLETE:
        scope = None if fact.scope_id is None else tx.facts.scopes([fact.scope_id]).get(fact.scope_id)
        put_passage(tx, number, fact, scope)
        if fact.state != LIVE:
            tx.passages.outdate(KIND, ref_of(number))
    return number


def _shorten(tx: Writes, number: int) -> None:
    """Let recall forget what was replaced some versions before this fact; the history keeps all."""
    fact = tx.facts.get([number]).get(number)
    if fact is not None:
        chain = tx.facts.earlier(fact, VERSIONS_IN_RECALL)
        if len(chain) == VERSIONS_IN_RECALL:
            tx.passages.remove(KIND, ref_of(chain[-1]))


def _set_against(tx: Writes, number: int, key: str, taken: Container[int]) -> None:
    there = tx.facts.live_on(key, COMPARED)
    mine = next((fact for fact in there if fact.id == number), None)
    if mine is None:
        return
    for other in there:
        if other.id not in taken and are_contradictory(mine, other):
            tx.facts.contradict(*sorted((other.id, number)))
