"""What the audit log says of facts, and how to take it back.

An entry names facts by their ids and holds no text: what they say stands in their history alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Sequence

from mnemos.errors import Refused
from mnemos.facts.model import KIND, Outcome, Stored, number_of, ref_of
from mnemos.facts.writing import ANSWERS, put_passage, set_against, warm
from mnemos.language.notation import Mark
from mnemos.storage.base import AuditRow, Storage, Writes
from mnemos.storage.facts import FactRow, NewFact

WRITE = "facts.write"
PURGE = "facts.purge"
IMPORT = "facts.import"
FORGET = "forget"


def written_down(stored: Sequence[Stored], closed: Iterable[int]) -> str | None:
    """What a write did, as ids: of each new fact those that ended by it, and the scopes that closed."""
    changes = {one.id: list(one.replaced) for one in stored if one.outcome is not Outcome.UNCHANGED}
    return json.dumps({"facts": changes, "closed": list(closed)}) if changes else None


def can_be_undone(entry: AuditRow) -> bool:
    return entry.operation == WRITE and entry.undone_by is None and entry.after is not None


def take_back(storage: Storage, entry: AuditRow, now: float, mark: Callable[[Writes, AuditRow], None]) -> str:
    """Withdraw what a write stored and state again what it ended; what was done, for people.

    ``mark`` notes in the same transaction that the entry is undone.
    """
    done = json.loads(entry.after or "{}")
    changes: dict[str, list[str]] = done["facts"]

    def work(tx: Writes) -> str:
        now_logged = tx.audit.get(entry.id)
        if now_logged is None or not can_be_undone(now_logged):
            raise Refused(f"entry {entry.id} was undone or erased by somebody else meanwhile")
        told = _take_back(tx, changes, done["closed"], now)
        mark(tx, entry)
        return told

    return storage.write(work)


def _take_back(tx: Writes, changes: dict[str, list[str]], closed: Sequence[int], now: float) -> str:
    new = [number_of(ref) for ref in changes]
    standing = {ref: _standing(tx, number_of(ref), new) for ref in changes}
    going = {ref: fact for ref, fact in standing.items() if fact is not None}
    tx.facts.end([fact.id for fact in going.values()], "retired", now)
    for fact in going.values():
        tx.passages.outdate(KIND, ref_of(fact.id))
    ended_before = [ref for ended in changes.values() for ref in ended if ref not in changes]
    for scope in tx.facts.scopes(closed).values():
        warm(tx, scope.label, now)
    again = [ref for ref in ended_before if _restate(tx, number_of(ref), now)]
    gone = [ref for ref in changes if ref not in going]
    return _told(going, gone, again, [ref for ref in ended_before if ref not in again])


def _told(
    withdrawn: Collection[str], gone: Collection[str], again: Collection[str], lost: Collection[str]
) -> str:
    parts = (
        (withdrawn, "{} withdrawn"),
        (gone, "{} did not hold any more"),
        (again, "what it replaced holds again"),
        (lost, "{}, which it replaced, is gone for good"),
    )
    return ", ".join(told.format(", ".join(refs)) for refs, told in parts if refs)


def _standing(tx: Writes, number: int, new: Sequence[int]) -> FactRow | None:
    """What stands for a fact that a write stored: itself, or what an undo stated again after it.

    None where nothing does and nobody could change that: it is gone, or what replaced it is.
    """
    fact = tx.facts.get([number]).get(number)
    # What replaced itself within the same call goes with it, and what retires others never stands.
    if fact is None or fact.state == "live" or fact.mark == Mark.OBSOLETE or fact.superseded_by in new:
        return fact
    for other in tx.facts.live_in(fact.key, fact.scope_id):
        if (other.mark, other.content) == (fact.mark, fact.content):
            return other
    if any(_ends(later, fact) for later in _said_since(tx, fact)):
        raise Refused(f"{ref_of(number)} was replaced or retired since; undo that first")
    return None


def _said_since(tx: Writes, fact: FactRow) -> list[FactRow]:
    said = tx.facts.history(fact.key, scope_id=fact.scope_id, as_of=None, limit=1 << 30, before=None)
    return [row for row in said if row.scope_id == fact.scope_id and row.id > fact.id]


def _ends(later: FactRow, fact: FactRow) -> bool:
    answers = fact.mark == Mark.UNKNOWN and later.mark in ANSWERS
    return later.mark == Mark.OBSOLETE or (later.state == "live" and (later.mark == fact.mark or answers))


def _restate(tx: Writes, number: int, now: float) -> bool:
    """State again what was ended: a new row, because the history of the old one is what happened.

    False when it is gone.
    """
    row = tx.facts.get([number]).get(number)
    if row is None:
        return False
    if any(fact.mark == row.mark for fact in tx.facts.live_in(row.key, row.scope_id)):
        raise Refused(f"{row.mark}[{row.target}] was stated anew since; withdraw that first")
    fact = NewFact(
        mark=row.mark,
        target=row.target,
        key=row.key,
        content=row.content,
        scope_id=row.scope_id,
        recorded_at=now,
        valid_from=row.valid_from,
        session_id=row.session_id,
        message_id=row.message_id,
        actor=row.actor,
    )
    again = tx.facts.add(fact)
    scope = None if row.scope_id is None else tx.facts.scopes([row.scope_id]).get(row.scope_id)
    put_passage(tx, again, fact, scope)
    set_against(tx, again, row.key)
    return True
