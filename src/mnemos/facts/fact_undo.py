"""Undo of fact writes.

An audit entry names facts by id and holds no text: their text is in the history alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Sequence

from mnemos.errors import Refused
from mnemos.facts.fact import KIND, Outcome, Stored, number_of, ref_of
from mnemos.facts.fact_writer import ANSWERS, put_passage, record_conflicts
from mnemos.facts.scopes import open_scope
from mnemos.language.notation import Mark
from mnemos.storage.audit import AuditRow
from mnemos.storage.base import Storage, Writes
from mnemos.storage.facts import FactRow, NewFact

WRITE = "facts.write"
PURGE = "facts.purge"
IMPORT = "facts.import"
FORGET = "forget"


def describe_changes(stored: Sequence[Stored], closed: Iterable[int]) -> str | None:
    """Describe a write by ids: each new fact with those it ended, and the scopes that closed.

    None if nothing changed.
    """
    changes = {one.id: list(one.replaced) for one in stored if one.outcome is not Outcome.UNCHANGED}
    return json.dumps({"facts": changes, "closed": list(closed)}) if changes else None


def can_be_undone(entry: AuditRow) -> bool:
    return entry.operation == WRITE and entry.undone_by is None and entry.after is not None


def undo_write(
    storage: Storage, entry: AuditRow, now: float, mark: Callable[[Writes, AuditRow], None]
) -> str:
    """Retire what a write stored and restate what it ended. Returns a sentence for people.

    ``mark`` records in the same transaction that the entry is undone.
    """
    done = json.loads(entry.after or "{}")
    changes: dict[str, list[str]] = done["facts"]

    def work(tx: Writes) -> str:
        now_logged = tx.audit.get(entry.id)
        if now_logged is None or not can_be_undone(now_logged):
            raise Refused(f"entry {entry.id} was undone or erased by another process meanwhile")
        sentence = _undo(tx, changes, done["closed"], now)
        mark(tx, entry)
        return sentence

    return storage.write(work)


def _undo(tx: Writes, changes: dict[str, list[str]], closed: Sequence[int], now: float) -> str:
    new = [number_of(ref) for ref in changes]
    current = {ref: _find_current(tx, number_of(ref), new) for ref in changes}
    going = {ref: fact for ref, fact in current.items() if fact is not None}
    tx.facts.end([fact.id for fact in going.values()], "retired", now)
    for fact in going.values():
        tx.passages.outdate(KIND, ref_of(fact.id))
    ended_before = [ref for ended in changes.values() for ref in ended if ref not in changes]
    for scope in tx.facts.scopes(closed).values():
        open_scope(tx, scope.label, now)
    again = [ref for ref in ended_before if _restate(tx, number_of(ref), now)]
    gone = [ref for ref in changes if ref not in going]
    return _describe(going, gone, again, [ref for ref in ended_before if ref not in again])


def _describe(
    retired: Collection[str], gone: Collection[str], again: Collection[str], lost: Collection[str]
) -> str:
    parts = (
        (retired, "retired {}"),
        (gone, "found {} no longer live"),
        (again, "restored what it replaced"),
        (lost, "{}, which it replaced, was permanently deleted"),
    )
    text = ", ".join(part.format(", ".join(refs)) for refs, part in parts if refs)
    return f"{text[:1].upper()}{text[1:]}."


def _find_current(tx: Writes, number: int, new: Sequence[int]) -> FactRow | None:
    """Return the row that now represents a fact: itself, or its copy made by a later undo.

    None if it was deleted, or if what replaced it was. A fact replaced since raises Refused.
    """
    fact = tx.facts.get([number]).get(number)
    # A fact replaced within the same call goes with it; a retiring statement never was live.
    if fact is None or fact.state == "live" or fact.mark == Mark.OBSOLETE or fact.superseded_by in new:
        return fact
    for other in tx.facts.live_in(fact.key, fact.scope_id, fact.user_id):
        if (other.mark, other.content) == (fact.mark, fact.content):
            return other
    if any(_ends(later, fact) for later in _list_later(tx, fact)):
        raise Refused(f"{ref_of(number)} was replaced or retired since; undo that change first")
    return None


def _list_later(tx: Writes, fact: FactRow) -> list[FactRow]:
    rows = tx.facts.history(fact.key, scope_id=fact.scope_id, as_of=None, limit=1 << 30, before=None)
    mine = [row for row in rows if row.scope_id == fact.scope_id and row.user_id == fact.user_id]
    return [row for row in mine if row.id > fact.id]


def _ends(later: FactRow, fact: FactRow) -> bool:
    answers = fact.mark == Mark.UNKNOWN and later.mark in ANSWERS
    return later.mark == Mark.OBSOLETE or (later.state == "live" and (later.mark == fact.mark or answers))


def _restate(tx: Writes, number: int, now: float) -> bool:
    """State an ended fact again as a new row, because the history of the old one is what happened.

    False if it was deleted.
    """
    row = tx.facts.get([number]).get(number)
    if row is None:
        return False
    if any(fact.mark == row.mark for fact in tx.facts.live_in(row.key, row.scope_id, row.user_id)):
        raise Refused(f"{row.mark}[{row.target}] was stated again since; retire that first")
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
        stated_by=row.stated_by,
        user_id=row.user_id,
    )
    again = tx.facts.add(fact)
    scope = None if row.scope_id is None else tx.facts.scopes([row.scope_id]).get(row.scope_id)
    put_passage(tx, again, fact, scope)
    record_conflicts(tx, again, row.key)
    return True
