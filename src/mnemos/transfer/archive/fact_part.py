"""Facts with their whole history, the scopes they belong to, and the conflicts that are open."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from mnemos.errors import InvalidInput
from mnemos.facts.fact import KIND, are_contradictory, ref_of
from mnemos.facts.fact_writer import COMPARED, VERSIONS_IN_RECALL, put_passage
from mnemos.facts.scopes import normalize_label
from mnemos.inputs import name, optional_name
from mnemos.language.notation import Mark, format_line, key_of, normalize_target
from mnemos.storage.base import Reads, Writes
from mnemos.storage.facts import FactRow, ScopeRow, Wanted
from mnemos.text.secrets import redact
from mnemos.transfer.archive.archive_reader import parse_row
from mnemos.transfer.archive.manifest import PartComparison, PartReport, Places, batches

if TYPE_CHECKING:
    from mnemos.memory import Memory
    from mnemos.transfer.archive.archive_reader import Archive
    from mnemos.transfer.archive.archive_writer import ArchiveFolder

LIVE: Final = "live"
NAME: Final = "facts"
SCOPES: Final = "scopes.jsonl"
FACTS: Final = "facts.jsonl"
CONFLICTS: Final = "conflicts.jsonl"
_PAGE: Final = 500
# A batch is one short write.
_BATCH: Final = 50
_ALL: Final = 1 << 53
_STATES: Final = ("live", "superseded", "retired")
_LONGEST: Final = 100_000
Id = Annotated[int, Meta(ge=1, le=_ALL)]
Moment = Annotated[float, Meta(gt=-1e12, lt=1e12)]


@dataclass(frozen=True, slots=True)
class Restored:
    """Where a fact is now. ``is_new``: it was not there. ``outlived``: as history, as a newer one holds."""

    number: int
    is_new: bool
    outlived: bool = False


def find_known(tx: Reads, fact: FactRow, taken: Container[int]) -> int | None:
    """The fact here that is this one: of its id, or else of its words and moment; none of ``taken``."""
    same = [number for number in tx.facts.identical(fact) if number not in taken]
    return fact.id if fact.id in same else min(same, default=None)


def restore(tx: Writes, fact: FactRow, taken: Container[int]) -> Restored:
    """Store a fact as it was, unless it is there.

    ``fact``: with the scope it has here, and without what replaced it: see ``relink``. Where another live
    fact has its target, mark and scope, the one that was learned later holds, and the other is its history.
    ``taken``: facts that came from the same place, which cannot be this one and whose conflicts are known.
    """
    there = find_known(tx, fact, taken)
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


class ScopeLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    label: str
    opened_at: Moment
    touched_at: Moment
    closed_at: Moment | None


class MessagePlace(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A message by its session and its number in it, from 1: ids differ from home to home."""

    session_id: str
    number: Id


class FactLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    id: Id
    type: Literal["C", "D", "V", "?", "✓", "~"]
    target: str
    content: Annotated[str, Meta(max_length=_LONGEST)]
    scope: str | None
    state: Literal["live", "superseded", "retired"]
    hot: bool
    recorded_at: Moment
    ended_at: Moment | None
    superseded_by: Id | None
    valid_from: Moment
    valid_to: Moment | None
    used_at: Moment
    uses: Annotated[int, Meta(ge=0, le=_ALL)]
    session_id: str | None
    message: MessagePlace | None
    actor: str


class ConflictLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    older: Id
    newer: Id


class FactPart:
    name = NAME

    def __init__(self, memory: Memory, places: Places) -> None:
        self._memory = memory
        self._storage = memory.storage
        self._places = places
        self._redact = redact if memory.settings.redact else str

    def pointed_at(self) -> set[int]:
        """The messages that facts came from."""
        return self._storage.read(
            lambda tx: {row.message_id for row in _facts(tx) if row.message_id is not None}
        )

    # --- out --------------------------------------------------------------------------------

    def size(self) -> int:
        return self._storage.read(lambda tx: tx.facts.rows_in()[1])

    def write(self, out: ArchiveFolder) -> None:
        # What is used while we are read shall not be counted twice, nor be forgotten.
        self._memory.facts.flush()
        # In one view: read at two moments, a fact and the one that replaced it might both be live.
        self._storage.read(lambda tx: self._write(tx, out))

    def _write(self, tx: Reads, out: ArchiveFolder) -> None:
        with out.lines(NAME, FACTS) as lines:
            for fact in _facts(tx):
                lines.write(_told(self._line(fact)))
                out.advance(1)
        out.count("facts", lines.rows)
        with out.lines(NAME, SCOPES) as lines:
            # Made in this order again, those touched at one moment are listed as they are here.
            for scope in sorted(tx.facts.newest_scopes(_ALL), key=lambda scope: scope.id):
                lines.write(_told(ScopeLine(scope.label, scope.opened_at, scope.touched_at, scope.closed_at)))
        out.count("scopes", lines.rows)
        with out.lines(NAME, CONFLICTS) as lines:
            for older, newer in reversed(tx.facts.conflicts(_ALL)):
                lines.write({"older": older.id, "newer": newer.id})

    def _line(self, fact: FactRow) -> FactLine:
        place = None if fact.message_id is None else self._places.of_ids.get(fact.message_id)
        return FactLine(
            id=fact.id,
            type=fact.mark,  # type: ignore[arg-type]
            target=fact.target,
            content=fact.content,
            scope=fact.scope,
            state=fact.state,  # type: ignore[arg-type]
            hot=fact.hot,
            recorded_at=fact.recorded_at,
            ended_at=fact.ended_at,
            superseded_by=fact.superseded_by,
            valid_from=fact.valid_from,
            valid_to=fact.valid_to,
            used_at=fact.used_at,
            uses=fact.uses,
            session_id=fact.session_id,
            message=None if place is None else MessagePlace(*place),
            actor=fact.actor,
        )

    # --- in ---------------------------------------------------------------------------------

    def check(self, source: Archive) -> dict[str, int]:
        rows = dict.fromkeys((SCOPES, FACTS, CONFLICTS), 0)
        scopes: set[str] = set()
        for place, row in source.rows(SCOPES):
            scopes.add(_sound_scope(parse_row(row, ScopeLine, place), place).key)
            rows[SCOPES] += 1
        last = 0
        for place, row in source.rows(FACTS):
            line = parse_row(row, FactLine, place)
            self._sound(line, place)
            if line.scope is not None and key_of(line.scope) not in scopes:
                raise InvalidInput(f"{place}: the scope {line.scope[:100]!r} is not in {SCOPES}")
            if line.id <= last:
                raise InvalidInput(f"{place}: the id {line.id} stands after {last}; ids ascend")
            last = line.id
            rows[FACTS] += 1
            if line.message is not None:
                self._places.wants(line.message.session_id, line.message.number)
        for place, row in source.rows(CONFLICTS):
            parse_row(row, ConflictLine, place)
            rows[CONFLICTS] += 1
        return rows

    def import_part(self, source: Archive, brought: PartReport) -> None:
        scopes = self._bring_scopes(source)
        here: dict[int, int] = {}
        taken: set[int] = set()
        for some in batches(self._read(source, scopes), _BATCH):
            done = self._storage.write(lambda tx: _restored(tx, some, taken))  # noqa: B023
            for fact, restored in zip(some, done, strict=True):
                here[fact.id] = restored.number
                taken.add(restored.number)
                _count(brought, fact, restored)
        self._link(source, here)
        self._oppose(source, here)
        self._storage.catch_up()

    def _bring_scopes(self, source: Archive) -> dict[str, ScopeRow]:
        scopes: dict[str, ScopeRow] = {}
        rows = (_sound_scope(parse_row(row, ScopeLine, place), place) for place, row in source.rows(SCOPES))
        for some in batches(rows, _BATCH):
            made = self._storage.write(lambda tx: [tx.facts.restore_scope(scope) for scope in some])  # noqa: B023
            scopes |= {scope.key: scope for scope in made}
        return scopes

    def _link(self, source: Archive, here: dict[int, int]) -> None:
        for some in batches(_links(source, here), _BATCH):
            self._storage.write(lambda tx: relink(tx, dict(some)))  # noqa: B023

    def _oppose(self, source: Archive, here: dict[int, int]) -> None:
        pairs = (parse_row(row, ConflictLine, place) for place, row in source.rows(CONFLICTS))
        found = ((here.get(pair.older), here.get(pair.newer)) for pair in pairs)
        known = ((older, newer) for older, newer in found if older is not None and newer is not None)
        for some in batches(known, _BATCH):
            self._storage.write(lambda tx: _opposed(tx, some))  # noqa: B023

    # --- beside -----------------------------------------------------------------------------

    def compare(self, source: Archive, compared: PartComparison) -> None:
        there = self._storage.read(lambda tx: tx.facts.newest_scopes(_ALL))
        scopes = {scope.key: scope for scope in there}
        here: dict[int, int] = {}
        taken: set[int] = set()
        for some in batches(self._read(source, scopes), _BATCH):
            found = self._storage.read(lambda tx: _found(tx, some, taken))  # noqa: B023
            here |= found
            taken |= set(found.values())
        for some in batches(self._read(source, scopes), _BATCH):
            numbers = [here[fact.id] for fact in some if fact.id in here]
            rows = self._storage.read(lambda tx: tx.facts.get(numbers))  # noqa: B023
            for fact in some:
                _compare(fact, rows.get(here.get(fact.id, 0)), here, compared)

    # --- inside -----------------------------------------------------------------------------

    def _read(self, source: Archive, scopes: dict[str, ScopeRow]) -> Iterator[FactRow]:
        """Facts as they would be here, ``superseded_by`` as it was there."""
        for place, row in source.rows(FACTS):
            line = parse_row(row, FactLine, place)
            scope = None if line.scope is None else scopes.get(key_of(line.scope))
            message = line.message
            yield FactRow(
                id=line.id,
                mark=line.type,
                target=line.target,
                key=key_of(line.target),
                content=self._redact(line.content),
                # Of a comparison, a scope that is not here; -1 is nobody's.
                scope_id=scope.id if scope is not None else None if line.scope is None else -1,
                scope=None if scope is None else scope.label,
                state=line.state,
                hot=line.hot,
                recorded_at=line.recorded_at,
                ended_at=line.ended_at,
                superseded_by=line.superseded_by,
                valid_from=line.valid_from,
                valid_to=line.valid_to,
                used_at=line.used_at,
                uses=line.uses,
                session_id=line.session_id,
                message_id=None
                if message is None
                else self._places.to_ids.get((message.session_id, message.number)),
                actor=line.actor,
            )

    def _sound(self, line: FactLine, place: str) -> None:
        """What no fact can be: it would break the lines that facts are printed in."""
        try:
            if normalize_target(line.target) != line.target:
                raise InvalidInput(f"the target {line.target[:100]!r} is not as targets are kept")
            if not (line.content.isprintable() or _is_visible(line.content)):
                raise InvalidInput("its content has line breaks or control characters")
            if (line.ended_at is None) != (line.state == "live") or (line.hot and line.state != "live"):
                raise InvalidInput(f"it is {line.state}, and its times say otherwise")
            optional_name("session_id", line.session_id)
            name("actor", line.actor)
        except InvalidInput as exc:
            raise type(exc)(f"{place}: {exc}") from exc


def _facts(tx: Reads) -> Iterator[FactRow]:
    """All of them by id, a page at a time: there may be many."""
    wanted, after = Wanted(states=_STATES), 0
    while page := tx.facts.listed(wanted, after=after, through=_ALL, limit=_PAGE):
        yield from page
        after = page[-1].id


def _is_visible(text: str) -> bool:
    return not any(c != "\t" and (c < " " or "\x7f" <= c < "\xa0" or "\ud800" <= c <= "\udfff") for c in text)


def _sound_scope(line: ScopeLine, place: str) -> ScopeRow:
    try:
        label = normalize_label(line.label)
    except InvalidInput as exc:
        raise type(exc)(f"{place}: {exc}") from exc
    return ScopeRow(0, label, key_of(label), line.opened_at, line.touched_at, line.closed_at)


def _restored(tx: Writes, some: list[FactRow], taken: set[int]) -> list[Restored]:
    known = set(taken)
    done = []
    for fact in some:
        done.append(restore(tx, replace(fact, superseded_by=None), known))
        known.add(done[-1].number)
    return done


def _found(tx: Reads, some: list[FactRow], taken: set[int]) -> dict[int, int]:
    known = set(taken)
    found: dict[int, int] = {}
    for fact in some:
        number = find_known(tx, fact, known)
        if number is not None:
            found[fact.id] = number
            known.add(number)
    return found


def _links(source: Archive, here: dict[int, int]) -> Iterator[tuple[int, int]]:
    """Which facts were replaced by which, by their ids here."""
    for _, row in source.rows(FACTS):
        old, new = here.get(row["id"]), here.get(row["superseded_by"])
        if old is not None and new is not None and old != new:
            yield old, new


def _opposed(tx: Writes, pairs: list[tuple[int, int]]) -> None:
    rows = tx.facts.get({number for pair in pairs for number in pair})
    live = {number for number, row in rows.items() if row.state == LIVE}
    for older, newer in pairs:
        if older != newer and {older, newer} <= live:
            tx.facts.contradict(older, newer)


def _count(brought: PartReport, fact: FactRow, restored: Restored) -> None:
    if not restored.is_new:
        brought.there += 1
        return
    brought.imported += 1
    if restored.outlived:
        said = format_line(fact.mark, fact.target, fact.content)[:100]
        brought.tell(f"f{fact.id} {said} became history: a newer fact on it holds here")
    elif restored.number != fact.id:
        brought.tell(f"f{fact.id} is f{restored.number} here: another fact has its id")


def _compare(fact: FactRow, row: FactRow | None, here: dict[int, int], compared: PartComparison) -> None:
    what = f"fact f{fact.id} {format_line(fact.mark, fact.target, fact.content)[:60]}"
    if row is None:
        compared.miss(what)
    elif _contents(row) != _contents(_moved(fact, here)):
        compared.differ(what)
    else:
        compared.same += 1


def _moved(fact: FactRow, here: dict[int, int]) -> FactRow:
    by = None if fact.superseded_by is None else here.get(fact.superseded_by)
    return replace(fact, superseded_by=by)


def _contents(fact: FactRow) -> tuple[Any, ...]:
    """What a fact says and what became of it; how often it was used is no part of it."""
    return (
        fact.mark, fact.target, fact.content, fact.scope_id, fact.state, fact.recorded_at, fact.ended_at,
        fact.superseded_by, fact.valid_from, fact.valid_to, fact.session_id, fact.message_id, fact.actor,
    )  # fmt: skip


def _told(line: msgspec.Struct) -> dict[str, Any]:
    told: dict[str, Any] = msgspec.to_builtins(line)
    return told
