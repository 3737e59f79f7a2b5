"""Undo of fact writes.

An audit entry names facts by id and contains no text. Their text is only in the history.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence

from mnemos.errors import Refused
from mnemos.facts.fact import KIND, Outcome, Stored, number_of, ref_of
from mnemos.facts.fact_writer import may_be_hot, put_passage, record_conflicts
from mnemos.facts.hot_set import quote
from mnemos.facts.scopes import open_scope
from mnemos.language.notation import Mark
from mnemos.storage.audit import AuditRow
from mnemos.storage.base import Storage, Writes
from mnemos.storage.facts import FactRow, NewFact

WRITE = "facts.write"
WITHDRAW = "facts.withdraw"
PURGE = "facts.purge"
IMPORT = "facts.import"
FORGET = "forget"


def describe_changes(stored: Sequence[Stored], closed: Iterable[int]) -> str | None:
    """Describe a write by ids: new facts with those they ended, and the closed scopes.

    Returns None if nothing changed.
    """
    changes = {one.id: list(one.replaced) for one in stored if one.outcome is not Outcome.UNCHANGED}
    return json.dumps({"facts": changes, "closed": list(closed)}) if changes else None


def can_be_undone(entry: AuditRow) -> bool:
    return entry.operation in (WRITE, WITHDRAW) and entry.undone_by is None and entry.after is not None


def undo_write(
    storage: Storage, entry: AuditRow, now: float, mark: Callable[[Writes, AuditRow], None]
) -> str:
    """Retire the facts that a write stored and restate those it ended; return a sentence for people.

    ``mark`` records, in the same transaction, that the entry was undone.
    """
    done = json.loads(entry.after or "{}")
    changes: dict[str, list[str]] = done["facts"]

    def work(tx: Writes) -> str:
        now_logged = tx.audit.get(entry.id)
        if now_logged is None or not can_be_undone(now_logged):
            raise Refused(f"entry {entry.id} was undone or erased by another process in the meantime")
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
    for scope in tx.facts.scopes(closed).values():
        open_scope(tx, scope.label, now)
    again: list[FactRow] = []
    lost: list[str] = []
    for ref, ended in changes.items():
        for one in ended:
            if one in changes:
                continue
            row = _restate(tx, number_of(one), now)
            if row is None:
                lost.append(one)
                continue
            again.append(row)
            if ref in going:
                # The restated fact follows in the history what replaced it.
                tx.facts.supersede({going[ref].id: row.id})
    removed = [fact for fact in going.values() if fact.mark != Mark.OBSOLETE]
    return _describe(removed, [ref for ref in changes if ref not in going], again, lost)


def _describe(
    removed: Sequence[FactRow], gone: Sequence[str], again: Sequence[FactRow], lost: Sequence[str]
) -> str:
    taken = [f"{ref_of(fact.id)} {quote(fact)}" for fact in removed]
    restored = [f"{quote(fact)} as {ref_of(fact.id)}" for fact in again]
    parts = (
        (taken, "Removed {}."),
        (gone, "{} no longer held already."),
        (restored, "Restored {}."),
        (lost, "{}, which it replaced, was permanently deleted."),
    )
    return " ".join(text.format(", ".join(some)) for some, text in parts if some)


def _find_current(tx: Writes, number: int, new: Sequence[int]) -> FactRow | None:
    """Return the current row of a fact: its own, or the copy that a later undo made.

    None if the fact, or its replacement, was deleted. A fact replaced or withdrawn since raises Refused.
    """
    fact = tx.facts.get([number]).get(number)
    # A fact replaced within the same call is undone with it. A retiring statement was never live.
    if fact is None or fact.state == "live" or fact.mark == Mark.OBSOLETE or fact.superseded_by in new:
        return fact
    later = tx.facts.successors(number, 1)
    if not later:
        return None
    last = later[-1]
    if last.state == "live" and _is_copy(last, fact):
        return last
    if last.state == "live":
        raise Refused(f"{ref_of(number)} has been replaced by {ref_of(last.id)}. Undo that change first.")
    if last.mark == Mark.OBSOLETE:
        raise Refused(f"{ref_of(number)} has been withdrawn. Undo that change first.")
    return None


def _is_copy(one: FactRow, other: FactRow) -> bool:
    return (one.mark, one.key, one.content) == (other.mark, other.key, other.content)


def _restate(tx: Writes, number: int, now: float) -> FactRow | None:
    """State an ended fact again as a new row, so that the history isn't rewritten.

    Returns None if it was deleted.
    """
    row = tx.facts.get([number]).get(number)
    if row is None:
        return None
    there = tx.facts.live_in(row.key, row.scope_id, row.user_id)
    other = next((fact for fact in there if fact.mark == row.mark), None)
    if other is not None:
        raise Refused(
            f"{row.mark}[{row.target}] has been stated again as {ref_of(other.id)}. Undo that first."
        )
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
        hot=may_be_hot(row.stated_by),
        stated_by=row.stated_by,
        user_id=row.user_id,
    )
    again = tx.facts.add(fact)
    scope = None if row.scope_id is None else tx.facts.scopes([row.scope_id]).get(row.scope_id)
    put_passage(tx, again, fact, scope)
    record_conflicts(tx, again, row.key)
    return tx.facts.get([again])[again]
