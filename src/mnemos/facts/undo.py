"""What the audit log says of facts, and how to take it back.

An entry names facts by their ids and holds no text: what they say stands in their history alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from mnemos.errors import NotFound, Refused
from mnemos.facts.model import KIND, Outcome, Stored, number_of, ref_of
from mnemos.facts.notation import Mark, Statement
from mnemos.facts.writing import Source, put_passage, warm
from mnemos.storage.base import AuditRow, Storage, Writes

WRITE = "facts.write"
PURGE = "facts.purge"
FORGET = "forget"


def written_down(stored: Sequence[Stored], closed: Iterable[int]) -> str | None:
    """What a write did, as ids: of each new fact those that ended by it, and the scopes that closed."""
    changes = {one.id: list(one.replaced) for one in stored if one.outcome is not Outcome.UNCHANGED}
    return json.dumps({"facts": changes, "closed": list(closed)}) if changes else None


def can_be_undone(entry: AuditRow) -> bool:
    return entry.operation == WRITE and entry.undone_by is None and entry.after is not None


def take_back(storage: Storage, entry: AuditRow, now: float) -> str:
    """Withdraw what a write stored and revive what it ended; what was done, for people."""
    done = json.loads(entry.after or "{}")
    changes: dict[str, list[str]] = done["facts"]
    storage.write(lambda tx: _take_back(tx, changes, done["closed"], now))
    back = sum(len(ended) for ended in changes.values())
    return f"{', '.join(changes)} withdrawn" + (f", {back} earlier facts are live again" if back else "")


def _take_back(tx: Writes, changes: dict[str, list[str]], closed: Sequence[int], now: float) -> None:
    new = [number_of(ref) for ref in changes]
    known = tx.facts.get(new)
    for number in new:
        if number not in known:
            raise NotFound(f"the fact {ref_of(number)} is gone; it cannot be taken back")
        if known[number].state == "superseded":
            raise Refused(f"{ref_of(number)} was replaced since; undo what replaced it first")
    tx.facts.end(new, "retired", now)
    for number in new:
        tx.passages.outdate(KIND, ref_of(number))
    for scope in tx.facts.scopes(closed).values():
        warm(tx, scope.label, now)
    for ended in reversed(list(changes.values())):
        for ref in ended:
            _revive(tx, number_of(ref), now)


def _revive(tx: Writes, number: int, now: float) -> None:
    row = tx.facts.get([number]).get(number)
    if row is None:
        return
    if any(fact.mark == row.mark for fact in tx.facts.live_in(row.key, row.scope_id)):
        raise Refused(f"{row.mark}[{row.target}] was stated anew since; withdraw that first")
    tx.facts.revive(number)
    scope = None if row.scope_id is None else tx.facts.scopes([row.scope_id]).get(row.scope_id)
    source = Source("", row.actor, row.recorded_at, row.session_id)
    put_passage(tx, number, Statement(Mark(row.mark), row.target, row.content), scope, source)
    if scope is None or scope.closed_at is None:
        tx.facts.heat(number)
    tx.facts.refer({number: 0}, now)
