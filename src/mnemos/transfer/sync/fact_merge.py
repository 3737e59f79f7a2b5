"""Facts of another machine, merged into this one's.

A statement is the same everywhere and never changes, so both sides get all of them. If two live facts have
one target, the later one holds; if two machines stated facts about one subject, the update judge decides. How
a fact ended is one decision: of two, the earlier counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec.structs import replace

from mnemos.errors import InvalidInput
from mnemos.facts.fact import KIND, ref_of
from mnemos.facts.fact_judge import find_candidates, judge_pair
from mnemos.facts.fact_writer import removal_key, remove_facts
from mnemos.facts.scopes import normalize_label
from mnemos.language.notation import Mark, Statement, key_of
from mnemos.language.updates import Verdict
from mnemos.storage.base import Reads, Writes
from mnemos.storage.facts import MAY_REPLACE, FactRow, ScopeRow
from mnemos.storage.tombstones import Tombstone, make_key
from mnemos.structs import convert
from mnemos.text.secrets import redact, redact_id
from mnemos.transfer.archive import fact_part
from mnemos.transfer.archive.manifest import Moment, split_batches
from mnemos.transfer.sync.state import OWN, Record, fact_key, read_facts
from mnemos.transfer.sync.tally import Tally

if TYPE_CHECKING:
    from mnemos.memory import Memory

_BATCH: Final = 25
KnownThere = Callable[[str], bool]
"""True if the other machine has the fact with this key."""


class Said(msgspec.Struct, frozen=True):
    """The message that a fact was taken from."""

    session_id: str
    role: str
    at: Moment


@dataclass(frozen=True, slots=True)
class IncomingFact:
    fact: FactRow
    by: str | None
    said: Said | None
    marked: list[str]


def merge_scopes(memory: Memory, records: Sequence[Record], tally: Tally) -> None:
    """Merge units of work. The last opening or closing counts."""
    lines = [convert(record, fact_part.ScopeLine) for record in records]
    for line in lines:
        label = normalize_label(line.label)
        memory.storage.write(lambda tx: _merge_scope(tx, label, line, tally))  # noqa: B023


def _merge_scope(tx: Writes, label: str, line: fact_part.ScopeLine, tally: Tally) -> None:
    there = ScopeRow(0, label, key_of(label), line.opened_at, line.touched_at, line.closed_at)
    here = tx.facts.scope(there.key)
    if here is None:
        tx.facts.restore_scope(there)
        tally.add("scopes")
        return
    last = max(
        here, there, key=lambda scope: (max(scope.opened_at, scope.closed_at or 0), scope.closed_at or 0)
    )
    touched = max(here.touched_at, there.touched_at)
    merged = replace(here, opened_at=last.opened_at, closed_at=last.closed_at, touched_at=touched)
    if merged != here:
        tx.facts.renew_scope(merged)


def bury_facts(memory: Memory, stones: Sequence[Tombstone], tally: Tally) -> None:
    """Apply another machine's removals of facts."""
    wanted = {stone.key: stone for stone in stones}
    found = memory.storage.read(
        lambda tx: [(fact.id, wanted[key]) for fact in read_facts(tx) if (key := removal_key(fact)) in wanted]
    )

    def work(tx: Writes, some: Sequence[tuple[int, Tombstone]]) -> None:
        for number, stone in some:
            remove_facts(tx, [number], stone.at, forgotten=stone.forgotten)
            if stone.forgotten:
                tx.audit.scrub(f"{KIND}:{ref_of(number)}")
            tally.remove("facts", forgotten=stone.forgotten)

    for some in split_batches(found, _BATCH):
        memory.storage.write(lambda tx: work(tx, some))  # noqa: B023
    for rest in split_batches(stones, 500):
        memory.storage.write(lambda tx: tx.tombstones.put(rest))  # noqa: B023


def merge_facts(
    memory: Memory, records: Sequence[Record], tally: Tally, known_there: KnownThere | None = None
) -> None:
    """Merge facts. With ``known_there``, those that meet for the first time are judged."""
    gone = {stone.key for stone in memory.storage.read(lambda tx: tx.tombstones.of_kind(KIND))}
    incoming = [_parse(memory, record, tally) for record in records]
    wanted = [one for one in incoming if one is not None and removal_key(one.fact) not in gone]
    wanted.sort(key=lambda one: (one.fact.recorded_at, one.fact.content))
    here = memory.storage.read(lambda tx: {fact_key(fact): fact.id for fact in read_facts(tx)})
    for some in split_batches([one for one in wanted if fact_key(one.fact) not in here], _BATCH):
        here |= memory.storage.write(lambda tx: _add(tx, some, tally, known_there))  # noqa: B023
    for some in split_batches([one for one in wanted if one.fact.state != fact_part.LIVE], _BATCH):
        memory.storage.write(lambda tx: _end(tx, some, here, tally))  # noqa: B023


def fact_key_of(record: Record) -> str | None:
    """Return the key of another machine's fact; None if it is not a fact."""
    names = ("type", "target", "content", "scope", "user_id", "recorded_at", "actor")
    kind, target, content, scope, user, at, actor = (record.get(name) for name in names)
    if not isinstance(target, str) or not isinstance(scope, str | None):
        return None
    label = None if scope is None else key_of(scope)
    return make_key(kind, key_of(target), content, label, user, at, actor)


def _parse(memory: Memory, record: Record, tally: Tally) -> IncomingFact | None:
    fields = dict(record)
    own, by = fields.pop(OWN, {}), fields.pop("by", None)
    if not isinstance(own, dict) or not (by is None or (isinstance(by, str) and len(by) == 32)):
        raise InvalidInput("a fact has other fields than facts have")
    said = own.get("message")
    uses = {name: own.get(name) for name in ("hot", "uses", "used_at")}
    line = fact_part.parse_fact({"id": 1, "superseded_by": None, "message": None, **fields, **uses})
    clean = redact if memory.settings.redact else str
    scope = None if line.scope is None else normalize_label(line.scope)
    if clean(line.target) != line.target or clean(scope or "") != (scope or ""):
        tally.explain("a fact was not taken: its target or scope holds a secret")
        return None
    if len(line.content) > memory.settings.max_fact_characters:
        size = f"{len(line.content):,} characters, more than {memory.settings.max_fact_characters:,}"
        tally.explain(f"the fact on {line.target[:60]} was not taken: it has {size} (max_fact_characters)")
        return None
    fact = fact_part.make_row(
        line,
        clean,
        # No fact has this id, which makes the engine choose one.
        id=fact_part.ALL,
        scope=scope,
        scope_id=None,
        message_id=None,
        session_id=line.session_id and redact_id(line.session_id, clean),
        user_id=line.user_id and redact_id(line.user_id, clean),
    )
    place = None if said is None else convert(said, Said)
    return IncomingFact(fact, by, place, fact_part.prepare(fact))


def _add(
    tx: Writes, some: Sequence[IncomingFact], tally: Tally, known_there: KnownThere | None
) -> dict[str, int]:
    added: dict[str, int] = {}
    for one in some:
        key = fact_key(one.fact)
        if key in added:
            continue
        fact = replace(one.fact, scope_id=_find_scope(tx, one.fact), message_id=_find_message(tx, one.said))
        added[key] = fact_part.restore(tx, fact, (), one.marked).number
        tally.add("facts")
        if fact.state == fact_part.LIVE and known_there is not None:
            _judge(tx, added[key], known_there)
    return added


def _find_scope(tx: Writes, fact: FactRow) -> int | None:
    if fact.scope is None:
        return None
    times = fact.recorded_at, fact.recorded_at, None
    return tx.facts.restore_scope(ScopeRow(0, fact.scope, key_of(fact.scope), *times)).id


def _find_message(tx: Reads, said: Said | None) -> int | None:
    if said is None:
        return None
    near = tx.sessions.messages(said.session_id, after=0, limit=10, since=said.at)
    return next((row.id for row in near if (row.role, row.timestamp) == (said.role, said.at)), None)


def _judge(tx: Writes, number: int, known_there: KnownThere) -> None:
    """Compare a new fact with those that the other machine did not know."""
    new = tx.facts.get([number])[number]
    if new.state != fact_part.LIVE:
        return
    statement = Statement(Mark(new.mark), new.target, new.content)
    is_doubted = False
    for other in list(find_candidates(tx, statement, new.user_id)):
        if other.id == number or known_there(fact_key(other)):
            continue
        older, newer = sorted((new, other), key=lambda fact: (fact.recorded_at, fact.content))
        verdict = judge_pair(older, newer)
        if verdict is Verdict.REPLACES:
            tx.facts.end([older.id], "superseded", newer.recorded_at)
            tx.passages.outdate(KIND, ref_of(older.id))
            fact_part.relink(tx, {older.id: newer.id})
            if older.id == number:
                return
        elif verdict is Verdict.MAY_REPLACE and not is_doubted:
            tx.facts.contradict(older.id, newer.id, MAY_REPLACE)
            is_doubted = True


def _end(tx: Writes, some: Sequence[IncomingFact], here: dict[str, int], tally: Tally) -> None:
    """End facts as on the other machine, unless they ended earlier here."""
    numbers = {here[key]: one for one in some if (key := fact_key(one.fact)) in here}
    rows = tx.facts.get(numbers)
    keys = {
        row.id: fact_key(row)
        for row in tx.facts.get({row.superseded_by or 0 for row in rows.values()}).values()
    }
    for number, row in rows.items():
        one = numbers[number]
        mine = _rank_end(row, keys.get(row.superseded_by or 0))
        if row.state != fact_part.LIVE and mine <= _rank_end(one.fact, one.by if one.by in here else None):
            continue
        by = here.get(one.by or "")
        ended = one.fact
        tx.facts.settle(
            replace(
                row, state=ended.state, ended_at=ended.ended_at, valid_to=ended.valid_to, superseded_by=by
            )
        )
        if ended.state == "retired":
            tx.passages.remove(KIND, ref_of(number))
        else:
            tx.passages.outdate(KIND, ref_of(number))
        if by is not None:
            fact_part.relink(tx, {number: by})
        tally.change("facts")


def _rank_end(fact: FactRow, by: str | None) -> tuple[Any, ...]:
    valid_to = fact.valid_from if fact.valid_to is None else fact.valid_to
    return (fact.ended_at, fact.state, by is None, by or "", valid_to)
