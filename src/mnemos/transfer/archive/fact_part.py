"""Facts in an archive, with their history, scopes and open conflicts.

Facts keep their ids, times, states and uses, so recall finds them as before.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from mnemos.errors import InvalidInput
from mnemos.facts.fact import KIND, are_contradictory, ref_of
from mnemos.facts.fact_inputs import list_scanned
from mnemos.facts.fact_writer import COMPARED, VERSIONS_IN_RECALL, find_words, put_passage
from mnemos.facts.scopes import normalize_label
from mnemos.inputs import name, optional_name
from mnemos.language.notation import Mark, format_line, key_of, normalize_target
from mnemos.language.threats import scan
from mnemos.language.threats.guard import is_allowed
from mnemos.storage.base import Reads, Writes
from mnemos.storage.facts import CONTRADICTS, MAY_REPLACE, FactRow, ScopeRow, Wanted
from mnemos.structs import convert
from mnemos.text.secrets import redact, redact_id, redact_value
from mnemos.transfer.archive.manifest import (
    MessagePlaces,
    Moment,
    PartComparison,
    PartReport,
    exhaust,
    split_batches,
)

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
ALL: Final = 1 << 53
"""More than any real number of facts."""
# A batch is one short write.
_BATCH: Final = 50
_STATES: Final = ("live", "superseded", "retired")
_INVISIBLE: Final = re.compile("[\0-\x08\x0a-\x1f\x7f-\x9f\ud800-\udfff]")
Id = Annotated[int, Meta(ge=1, le=ALL)]


@dataclass(frozen=True, slots=True)
class Restored:
    """A fact's number here. ``outlived``: a newer fact holds, so this one is history."""

    number: int
    is_new: bool
    outlived: bool = False


def find_known(tx: Reads, fact: FactRow, taken: Container[int]) -> int | None:
    """Return the same fact here, by id or text and time, unless it is in ``taken``."""
    same = [number for number in tx.facts.identical(fact) if number not in taken]
    return fact.id if fact.id in same else min(same, default=None)


def restore(tx: Writes, fact: FactRow, taken: Container[int], marked: Sequence[str]) -> Restored:
    """Store a fact unless it exists.

    ``fact`` has the scope of this home and no ``superseded_by``: see ``relink``. If another live fact has its
    target, mark and scope, the one recorded later holds, whichever came here first, and the other becomes its
    history. ``taken`` are
    facts of the same archive, which can't be this one and whose conflicts are known.
    """
    there = find_known(tx, fact, taken)
    if there is not None:
        return Restored(there, is_new=False)
    rival = _find_rival(tx, fact)
    if rival is not None and (rival.recorded_at, rival.content) > (fact.recorded_at, fact.content):
        number = _put(tx, _end_fact(fact, rival), marked)
        return Restored(number, is_new=True, outlived=True)
    if rival is not None:
        tx.facts.end([rival.id], "superseded", fact.recorded_at)
        tx.passages.outdate(KIND, ref_of(rival.id))
    number = _put(tx, fact, marked)
    if rival is not None:
        tx.facts.supersede({rival.id: number})
        _trim_recall(tx, rival.id)
    if fact.state == LIVE:
        _add_conflicts(tx, number, fact.key, taken)
    return Restored(number, is_new=True)


def relink(tx: Writes, links: Mapping[int, int]) -> None:
    """Record which facts replaced which. As after a write, recall keeps a few versions."""
    tx.facts.supersede(links)
    for old in sorted(links):
        _trim_recall(tx, old)


def _find_rival(tx: Reads, fact: FactRow) -> FactRow | None:
    if fact.state != LIVE:
        return None
    there = tx.facts.live_in(fact.key, fact.scope_id, fact.user_id)
    return next((other for other in there if other.mark == fact.mark), None)


def _end_fact(fact: FactRow, newer: FactRow) -> FactRow:
    valid_to = max(fact.valid_from, newer.valid_from) if fact.valid_to is None else fact.valid_to
    return replace(
        fact,
        state="superseded",
        hot=False,
        ended_at=newer.recorded_at,
        superseded_by=newer.id,
        valid_to=valid_to,
    )


def _put(tx: Writes, fact: FactRow, marked: Sequence[str]) -> int:
    number = tx.facts.restore(fact)
    if fact.state == LIVE and not all(is_allowed(tx, text) for text in marked):
        # A marked fact is kept, but never enters a prompt unasked.
        tx.facts.cool([number])
    if fact.mark != Mark.OBSOLETE:
        scope = None if fact.scope_id is None else tx.facts.scopes([fact.scope_id]).get(fact.scope_id)
        put_passage(tx, number, fact, scope)
        if fact.state != LIVE:
            tx.passages.outdate(KIND, ref_of(number))
    return number


def _trim_recall(tx: Writes, number: int) -> None:
    """Remove a fact's old versions from recall. The history keeps them."""
    fact = tx.facts.get([number]).get(number)
    if fact is not None:
        chain = tx.facts.earlier(fact, VERSIONS_IN_RECALL)
        if len(chain) == VERSIONS_IN_RECALL:
            tx.passages.remove(KIND, ref_of(chain[-1]))


def _add_conflicts(tx: Writes, number: int, key: str, taken: Container[int]) -> None:
    there = tx.facts.live_on(key, COMPARED)
    mine = next((fact for fact in there if fact.id == number), None)
    if mine is None:
        return
    for other in there:
        if other.id not in taken and are_contradictory(mine, other):
            tx.facts.contradict(min(other.id, number), max(other.id, number))


class ScopeLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    label: str
    opened_at: Moment
    touched_at: Moment
    closed_at: Moment | None


class MessagePlace(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A message by its session and its number there, from 1."""

    session_id: str
    number: Id


class FactLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    id: Id
    type: Literal["C", "D", "V", "?", "✓", "~"]
    target: str
    content: str
    scope: str | None
    state: Literal["live", "superseded", "retired"]
    hot: bool
    recorded_at: Moment
    ended_at: Moment | None
    superseded_by: Id | None
    valid_from: Moment
    valid_to: Moment | None
    used_at: Moment
    uses: Annotated[int, Meta(ge=0, le=ALL)]
    session_id: str | None
    message: MessagePlace | None
    actor: str
    stated_by: Literal["user", "agent", "import", "tool"] | None = None
    user_id: str | None = None


class ConflictLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    older: Id
    newer: Id
    reason: str = CONTRADICTS


class FactPart:
    name = NAME

    def __init__(self, memory: Memory, places: MessagePlaces) -> None:
        self._memory = memory
        self._storage = memory.storage
        self._places = places
        self._redact = redact if memory.settings.redact else str

    def pointed_at(self) -> set[int]:
        """Return the messages that facts were taken from."""
        return self._storage.read(
            lambda tx: {row.message_id for row in read_facts(tx) if row.message_id is not None}
        )

    def size(self) -> int:
        return self._storage.read(lambda tx: tx.facts.rows_in()[1])

    def write(self, out: ArchiveFolder) -> None:
        # Pending uses must only be counted once.
        self._memory.facts.flush()
        # One transaction, so that a fact and its replacement are never both live.
        self._storage.read(lambda tx: self._write(tx, out))

    def _write(self, tx: Reads, out: ArchiveFolder) -> None:
        with out.lines(NAME, FACTS) as lines:
            for fact in read_facts(tx):
                lines.write(msgspec.to_builtins(self._make_line(fact)))
                out.advance(1)
        out.count("facts", lines.rows)
        with out.lines(NAME, SCOPES) as lines:
            # This order keeps scopes touched at the same moment in their order here.
            for scope in sorted(tx.facts.newest_scopes(ALL), key=lambda scope: scope.id):
                line = ScopeLine(scope.label, scope.opened_at, scope.touched_at, scope.closed_at)
                lines.write(msgspec.to_builtins(line))
        out.count("scopes", lines.rows)
        with out.lines(NAME, CONFLICTS) as lines:
            for link in reversed(tx.facts.conflicts(ALL)):
                conflict = ConflictLine(link.older.id, link.newer.id, link.reason)
                lines.write(msgspec.to_builtins(conflict))

    def _make_line(self, fact: FactRow) -> FactLine:
        place = None if fact.message_id is None else self._places.of_ids.get(fact.message_id)
        fields = msgspec.structs.asdict(fact)
        del fields["key"], fields["scope_id"], fields["message_id"]
        message = None if place is None else MessagePlace(*place)
        return FactLine(type=fields.pop("mark"), message=message, **fields)

    def check(self, archive: Archive) -> None:
        scopes = {scope.key for scope in archive.read(SCOPES, _parse_scope)}
        last = 0
        for line in archive.read(FACTS, self._parse):
            if line.scope is not None and key_of(line.scope) not in scopes:
                raise InvalidInput(f"{FACTS}: the scope {line.scope[:100]!r} is not in {SCOPES}")
            if line.id <= last:
                raise InvalidInput(f"{FACTS}: the id {line.id} comes after {last}. Ids must ascend.")
            last = line.id
            if line.message is not None:
                self._places.request(line.message.session_id, line.message.number)
        exhaust(archive.read(CONFLICTS, _parse_conflict))

    def import_part(self, archive: Archive, report: PartReport) -> None:
        scopes = self._import_scopes(archive)
        here: dict[int, int] = {}
        taken: set[int] = set()
        for line in archive.read(FACTS, self._parse):
            if self._is_secret(line):
                report.refuse(f"fact f{line.id}: its target or scope holds a secret")
        for some in split_batches(self._select(archive, scopes, report), _BATCH):
            marked = [prepare(fact) for fact in some]
            done = self._storage.write(lambda tx: _restore_batch(tx, some, marked, taken))  # noqa: B023
            for fact, restored in zip(some, done, strict=True):
                here[fact.id] = restored.number
                taken.add(restored.number)
                _count(report, fact, restored)
        for links in split_batches(_find_links(archive, here), _BATCH):
            self._storage.write(lambda tx: relink(tx, dict(links)))  # noqa: B023
        conflicts = (
            ConflictLine(here[one.older], here[one.newer], one.reason)
            for one in archive.read(CONFLICTS, _parse_conflict)
            if one.older in here and one.newer in here
        )
        for some_conflicts in split_batches(conflicts, _BATCH):
            self._storage.write(lambda tx: _restore_conflicts(tx, some_conflicts))  # noqa: B023
        self._storage.catch_up()

    def _select(self, archive: Archive, scopes: dict[str, ScopeRow], report: PartReport) -> Iterator[FactRow]:
        """Yield the facts that are not too long."""
        most = self._memory.settings.max_fact_characters
        for fact in self._read(archive, scopes):
            if len(fact.content) <= most:
                yield fact
            else:
                what = f"fact f{fact.id} {format_line(fact.mark, fact.target, fact.content)[:60]}…"
                size = f"{len(fact.content):,} characters, more than {most} (max_fact_characters)"
                report.refuse(f"{what}: it has {size}")

    def _import_scopes(self, archive: Archive) -> dict[str, ScopeRow]:
        scopes: dict[str, ScopeRow] = {}
        named = (scope for scope in archive.read(SCOPES, _parse_scope) if self._is_public(scope.label))
        for some in split_batches(named, _BATCH):
            made = self._storage.write(lambda tx: [tx.facts.restore_scope(scope) for scope in some])  # noqa: B023
            scopes |= {scope.key: scope for scope in made}
        return scopes

    def compare(self, archive: Archive, compared: PartComparison) -> None:
        there = self._storage.read(lambda tx: tx.facts.newest_scopes(ALL))
        scopes = {scope.key: scope for scope in there}
        here: dict[int, int] = {}
        taken: set[int] = set()
        for some in split_batches(self._read(archive, scopes), _BATCH):
            found = self._storage.read(lambda tx: _find_batch(tx, some, taken))  # noqa: B023
            here |= found
            taken |= set(found.values())
        for some in split_batches(self._read(archive, scopes), _BATCH):
            numbers = [here[fact.id] for fact in some if fact.id in here]
            rows = self._storage.read(lambda tx: tx.facts.get(numbers))  # noqa: B023
            for fact in some:
                what = f"fact f{fact.id} {format_line(fact.mark, fact.target, fact.content)[:60]}"
                row = rows.get(here.get(fact.id, 0))
                moved = replace(fact, superseded_by=here.get(fact.superseded_by or 0))
                compared.add(what, None if row is None else _contents(row) == _contents(moved))

    def _read(self, archive: Archive, scopes: dict[str, ScopeRow]) -> Iterator[FactRow]:
        """Yield facts as stored here, but with the archive's ``superseded_by``."""
        for line in archive.read(FACTS, self._parse):
            if self._is_secret(line):
                continue
            scope = None if line.scope is None else scopes.get(key_of(line.scope))
            place = line.message
            yield make_row(
                line,
                self._redact,
                scope=None if scope is None else scope.label,
                # In a comparison, -1 is a scope that does not exist here.
                scope_id=scope.id if scope is not None else None if line.scope is None else -1,
                message_id=place and self._places.to_ids.get((place.session_id, place.number)),
            )

    def _parse(self, row: dict[str, Any]) -> FactLine:
        """Parse a fact. Like session ids, its ids lose their secrets."""
        line = parse_fact(row)
        session, user, message = line.session_id, line.user_id, line.message
        return replace(
            line,
            session_id=session and redact_id(session, self._redact),
            user_id=user and redact_id(user, self._redact),
            message=message and replace(message, session_id=redact_id(message.session_id, self._redact)),
        )

    def _is_secret(self, line: FactLine) -> bool:
        return not (self._is_public(line.target) and self._is_public(line.scope or ""))

    def _is_public(self, name: str) -> bool:
        return self._redact(name) == name


def parse_fact(row: dict[str, Any]) -> FactLine:
    """Parse a fact, refusing one that would break the lines facts are printed in."""
    line = convert(row, FactLine)
    if normalize_target(line.target) != line.target:
        raise InvalidInput(f"The target {line.target[:100]!r} is not normalized.")
    if _INVISIBLE.search(line.content):
        raise InvalidInput("its content has line breaks or control characters")
    if (line.ended_at is None) != (line.state == LIVE) or (line.hot and line.state != LIVE):
        raise InvalidInput(f"it is {line.state}, but its times say otherwise")
    optional_name("session_id", line.session_id)
    name("actor", line.actor)
    return line


def make_row(line: FactLine, clean: Callable[[str], str], **known: Any) -> FactRow:
    """Return a fact as it is stored: without secrets, and with what is ``known`` here."""
    fields = msgspec.structs.asdict(line)
    del fields["message"]
    content = redact_value({line.target: line.content}, clean)[line.target]
    fields |= {"mark": fields.pop("type"), "key": key_of(line.target), "content": content}
    return FactRow(**fields | known)


def _parse_scope(row: dict[str, Any]) -> ScopeRow:
    line = convert(row, ScopeLine)
    label = normalize_label(line.label)
    return ScopeRow(0, label, key_of(label), line.opened_at, line.touched_at, line.closed_at)


def _parse_conflict(row: dict[str, Any]) -> ConflictLine:
    line = convert(row, ConflictLine)
    if line.reason not in (CONTRADICTS, MAY_REPLACE):
        raise InvalidInput(f"{line.reason[:100]!r} is not a valid reason for a conflict")
    return line


def read_facts(tx: Reads) -> Iterator[FactRow]:
    """Yield all facts by id."""
    wanted, after = Wanted(states=_STATES), 0
    while page := tx.facts.select(wanted, after=after, through=ALL, limit=_PAGE):
        yield from page
        after = page[-1].id


def prepare(fact: FactRow) -> list[str]:
    """Do slow work before a transaction. Returns texts that only a person can allow."""
    find_words(fact.mark, fact.target, fact.content)
    return [text for text in list_scanned(fact.target, fact.content) if scan(text)]


def _restore_batch(
    tx: Writes, some: list[FactRow], marked: list[list[str]], taken: set[int]
) -> list[Restored]:
    known = set(taken)
    done = []
    for fact, texts in zip(some, marked, strict=True):
        done.append(restore(tx, replace(fact, superseded_by=None), known, texts))
        known.add(done[-1].number)
    return done


def _find_batch(tx: Reads, some: list[FactRow], taken: set[int]) -> dict[int, int]:
    known = set(taken)
    found: dict[int, int] = {}
    for fact in some:
        number = find_known(tx, fact, known)
        if number is not None:
            found[fact.id] = number
            known.add(number)
    return found


def _find_links(archive: Archive, here: dict[int, int]) -> Iterator[tuple[int, int]]:
    """Yield which facts replaced which, by their ids here."""
    for line in archive.read(FACTS, parse_fact):
        old, new = here.get(line.id), here.get(line.superseded_by or 0)
        if old is not None and new is not None and old != new:
            yield old, new


def _restore_conflicts(tx: Writes, conflicts: list[ConflictLine]) -> None:
    rows = tx.facts.get({number for one in conflicts for number in (one.older, one.newer)})
    live = {number for number, row in rows.items() if row.state == LIVE}
    for one in conflicts:
        if one.older != one.newer and {one.older, one.newer} <= live:
            tx.facts.contradict(one.older, one.newer, one.reason)


def _count(report: PartReport, fact: FactRow, restored: Restored) -> None:
    if not restored.is_new:
        report.there += 1
        return
    report.imported += 1
    if restored.outlived:
        text = format_line(fact.mark, fact.target, fact.content)[:100]
        report.explain(f"f{fact.id} {text} became history: a newer fact holds here")
    elif restored.number != fact.id:
        report.explain(f"f{fact.id} is f{restored.number} here: another fact has its id")


def _contents(fact: FactRow) -> tuple[Any, ...]:
    """Return the fields to compare: all except its uses."""
    return (
        fact.mark, fact.target, fact.content, fact.scope_id, fact.state, fact.recorded_at, fact.ended_at,
        fact.superseded_by, fact.valid_from, fact.valid_to, fact.session_id, fact.message_id, fact.actor,
    )  # fmt: skip
