"""One sync: each side gets what it lacks, until both have the same.

Nothing is remembered between two syncs, so an interrupted one is simply repeated.
"""

from __future__ import annotations

import platform
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol

import msgspec

from mnemos.errors import InvalidInput, ReadOnly, Refused
from mnemos.notebook.notes import parse_book
from mnemos.progress import Progress, part_of
from mnemos.storage.tombstones import make_key
from mnemos.structs import convert
from mnemos.transfer.archive.archive_import import lock_imports
from mnemos.transfer.sync.fact_merge import KnownThere, fact_key_of, merge_facts, merge_scopes
from mnemos.transfer.sync.record_merge import (
    merge_entries,
    merge_notes,
    merge_removed,
    merge_templates,
    read_removed,
    revive,
)
from mnemos.transfer.sync.session_merge import Gone, IncomingSession, SessionMerge, list_sessions
from mnemos.transfer.sync.state import (
    CHUNK,
    REMOVED,
    SESSION,
    Record,
    State,
    dump,
    session_address,
    split_address,
)
from mnemos.transfer.sync.tally import Tally

if TYPE_CHECKING:
    from mnemos.memory import Memory

VERSION: Final = 1
CLOCK_SECONDS: Final = 3600.0
"""Maximum seconds by which another clock may be ahead."""
_ROUNDS: Final = 4
_AT_ONCE: Final = 200
"""Maximum addresses per request."""
_REPLY_CHARACTERS: Final = 4_000_000
_PUSH_CHARACTERS: Final = 2_000_000
_MOST_ADDRESSES: Final = 2_000_000
# Sorts after every part of a session: all its messages are the same.
_NO_PART: Final = 1 << 24
_LONGEST_ADDRESS: Final = 1_100

Fetched = Mapping[str, list[Record]]
Digests = Mapping[str, str]


class Peer(Protocol):
    """The other side of a sync."""

    @property
    def name(self) -> str: ...

    def ask(self, request: Record) -> Record:
        """Return the answer to a request; see ``answer``."""
        ...


@dataclass(slots=True)
class Report:
    """The result of a sync."""

    other: str
    received: Tally = field(default_factory=Tally)
    sent: Tally = field(default_factory=Tally)
    is_same: bool = False
    """True if both sides have the same now."""
    different: dict[str, int] = field(default_factory=dict)
    """Differences that a dry run found, by kind."""


def identify(memory: Memory) -> str:
    """Return a unique name for this memory and space, different on every machine."""
    where = f"{memory.home.location} {memory.folder}"
    return make_key(platform.node(), uuid.getnode(), where, memory.settings.space)[:16]


@contextmanager
def checking(name: str) -> Iterator[None]:
    """Raise InvalidInput if the other side sent something that is not part of a sync."""
    try:
        yield
    except (msgspec.ValidationError, RecursionError, UnicodeError) as exc:
        raise InvalidInput(
            f"{name} sent what a sync does not have ({exc}). Install the same version on both machines."
        ) from exc


def check_digests(found: Any) -> dict[str, str]:
    """Check the digests that the other side sent."""
    digests = convert(found, dict[str, str])
    if len(digests) > _MOST_ADDRESSES:
        raise Refused(f"The other side lists {len(digests):,} parts. The limit is {_MOST_ADDRESSES:,}.")
    for address in digests:
        kind = address.partition("/")[0]
        is_known = kind in ("removed", "scopes", "facts", "entries", "notes", "templates")
        if len(address) > _LONGEST_ADDRESS or not (is_known or _is_session(address)):
            raise InvalidInput(f"{address[:100]!r} is not a part of a memory")
    return digests


def _is_session(address: str) -> bool:
    pieces = address.split("/", 2)
    return len(pieces) == 3 and pieces[0] == SESSION and pieces[1].isdecimal() and len(pieces[1]) < 8


# --- the side that answers --------------------------------------------------------------------


class Answering:
    """Answers another machine's ``hello``, ``digests``, ``fetch`` and ``merge``."""

    def __init__(self, memory: Memory) -> None:
        memory.settings.check_enabled()
        if memory.storage.read_only:
            raise ReadOnly(f"{memory.storage.location} is open read-only. Nothing was changed.")
        self._memory = memory
        self._state: State | None = None

    def answer(self, request: Any) -> Record:
        """Return the answer to a request. An invalid request raises InvalidInput."""
        with checking("The other side"):
            match request:
                case {"ask": "hello"}:
                    digests = _pick(self._read_state().digests, REMOVED)
                    settings = self._memory.settings
                    return {
                        "mnemos sync": VERSION, "home": identify(self._memory), "space": settings.space,
                        "at": self._memory.clock(), "removed": digests,
                    }  # fmt: skip
                case {"ask": "digests"}:
                    revive(self._memory)
                    self._state = State(self._memory)
                    return {"digests": self._state.digests}
                case {"ask": "fetch", "addresses": list(addresses)} if len(addresses) <= _AT_ONCE:
                    return {"records": self._fetch(convert(addresses, list[str]))}
                case {"ask": "merge", "items": list(items)}:
                    self._state = None
                    return merge_items(self._memory, items).as_dict()
        raise InvalidInput("Unknown sync request. Install the same version on both machines.")

    def _read_state(self) -> State:
        if self._state is None:
            self._state = State(self._memory, sessions=False)
        return self._state

    def _fetch(self, addresses: Sequence[str]) -> dict[str, list[Record]]:
        """Return as many addresses as fit in one answer, at least one."""
        check_digests(dict.fromkeys(addresses, ""))
        found: dict[str, list[Record]] = {}
        size = 0
        for address in addresses:
            found[address] = self._read_state().read(address)
            size += len(dump(found[address]))
            if size > _REPLY_CHARACTERS:
                break
        return found


def merge_items(memory: Memory, items: Sequence[Any]) -> Tally:
    """Merge what another machine sent."""
    tally = Tally()
    records: dict[str, list[Record]] = {}
    sessions: list[IncomingSession] = []
    for item in items:
        match item:
            case {"session": dict(header), "skip": int(skip), "messages": list(messages)} if skip >= 0:
                sessions.append(IncomingSession(header, skip, convert(messages, list[Record])))
            case {"address": str(address), "records": list(found)}:
                records[address] = convert(found, list[Record])
            case _:
                raise InvalidInput("it is neither a session nor a part of a memory")
    check_digests(dict.fromkeys(records, ""))
    # Two merges at once would both find the same messages missing.
    with lock_imports(memory):
        merge_removed(memory, read_removed(_join(records, REMOVED)), tally)
        _merge_sessions(SessionMerge(memory, tally), sessions)
        _merge_small(memory, records, tally, None)
        _scrub(memory, tally)
    return tally


def _merge_sessions(merge: SessionMerge, sessions: Iterable[IncomingSession]) -> None:
    some = False
    for session in sessions:
        merge.merge(session)
        some = True
    if some:
        merge.finish()


def _merge_small(memory: Memory, records: Fetched, tally: Tally, known_there: KnownThere | None) -> None:
    merge_scopes(memory, _join(records, "scopes"), tally)
    facts = _join(records, "facts")
    if facts:
        merge_facts(memory, facts, tally, known_there)
    merge_entries(memory, _join(records, "entries"), tally)
    for address, found in records.items():
        if address.startswith("notes/"):
            book = parse_book(address.partition("/")[2])
            if book in memory.settings.notebook_files:
                merge_notes(memory, book, found, tally)
    merge_templates(memory, _join(records, "templates"), tally)


def _scrub(memory: Memory, tally: Tally) -> None:
    """Erase the bytes of forgotten text."""
    if not tally.is_scrubbed:
        tally.is_scrubbed = memory.storage.scrub()


def _join(records: Fetched, kind: str) -> list[Record]:
    return [one for address, found in records.items() if address.partition("/")[0] == kind for one in found]


def _pick(digests: Digests, kind: str) -> dict[str, str]:
    return {address: found for address, found in digests.items() if address.partition("/")[0] == kind}


# --- the side that asks ------------------------------------------------------------------------


def sync(memory: Memory, peer: Peer, progress: Progress, *, dry_run: bool = False) -> Report:
    """Sync with a memory that answers. Repeat an interrupted call to complete it."""
    with checking(peer.name):
        return _sync(memory, peer, progress, dry_run=dry_run)


def _sync(memory: Memory, peer: Peer, progress: Progress, *, dry_run: bool) -> Report:
    Answering(memory)
    report = Report(peer.name)
    hello = peer.ask({"ask": "hello"})
    _check_hello(memory, peer.name, hello)
    if not dry_run:
        _exchange_removed(memory, peer, check_digests(hello.get("removed")), report)
    revive(memory)
    mine = State(memory)
    for number in range(_ROUNDS):
        part_of(progress, number / _ROUNDS, 1, "Comparing")(0.0)
        theirs = check_digests(peer.ask({"ask": "digests"}).get("digests"))
        if theirs == mine.digests:
            report.is_same = True
            break
        if dry_run:
            report.different = count_differences(mine.digests, theirs)
            break
        part_of(progress, (number + 0.3) / _ROUNDS, 1, "Receiving")(0.0)
        with lock_imports(memory):
            touched = pull(memory, mine, theirs, partial(fetch, peer), report.received)
        mine.renew_small()
        mine.renew_sessions(touched)
        part_of(progress, (number + 0.6) / _ROUNDS, 1, "Sending")(0.0)
        for items in _list_items(mine, theirs):
            _send(peer, items, report)
    progress(1.0)
    return report


def _check_hello(memory: Memory, name: str, hello: Record) -> None:
    if hello.get("mnemos sync") != VERSION:
        raise Refused(
            f"{name} uses another version of sync. Install the same version of Mnemos on both machines."
        )
    if hello.get("home") == identify(memory):
        raise Refused(f"{name} is this memory itself. There is nothing to sync.")
    check_clock(name, convert(hello.get("at"), float), memory.clock())


def check_clock(name: str, there: float, here: float) -> None:
    """Refuse a machine whose clock is far ahead: its changes would always win."""
    # Written this way round to refuse NaN, too.
    if not there - here <= CLOCK_SECONDS:
        hours = (there - here) / 3600
        raise Refused(
            f"The clock of {name} is {hours:,.1f} hours ahead of this one, so it is not clear which "
            "changes are later. Set the clocks, then sync again. Nothing was changed."
        )


def _exchange_removed(memory: Memory, peer: Peer, theirs: Digests, report: Report) -> None:
    """Exchange removals first, so that neither side sends what the other removed."""
    mine = _pick(State(memory, sessions=False).digests, REMOVED)
    differing = [address for address in {*mine, *theirs} if mine.get(address) != theirs.get(address)]
    if not differing:
        return
    found = fetch(peer, [address for address in differing if address in theirs])
    with lock_imports(memory):
        merge_removed(memory, read_removed(_join(found, REMOVED)), report.received)
        _scrub(memory, report.received)
    now = State(memory, sessions=False)
    _send(peer, [{"address": address, "records": now.read(address)} for address in differing], report)


def _send(peer: Peer, items: list[Record], report: Report) -> None:
    report.sent.include(convert(peer.ask({"ask": "merge", "items": items}), Tally))


def fetch(peer: Peer, addresses: Sequence[str]) -> dict[str, list[Record]]:
    """Request records until all have come."""
    found: dict[str, list[Record]] = {}
    left = list(addresses)
    while left:
        asked = left[:_AT_ONCE]
        reply = convert(
            peer.ask({"ask": "fetch", "addresses": asked}).get("records"), dict[str, list[Record]]
        )
        new = {address: records for address, records in reply.items() if address in asked}
        if not new:
            raise Refused(f"{peer.name} did not answer. Nothing more was changed; sync again.")
        found |= new
        left = [address for address in left if address not in found]
    return found


def pull(
    memory: Memory,
    mine: State,
    theirs: Digests,
    fetch_all: Callable[[Sequence[str]], Fetched],
    tally: Tally,
    gone_there: Mapping[str, Gone] | None = None,
) -> set[str]:
    """Merge what this side lacks. Returns the sessions that were looked at."""
    differing = [address for address, found in theirs.items() if mine.digests.get(address) != found]
    removed = [address for address in differing if address.startswith(f"{REMOVED}/")]
    stones = read_removed(_join(fetch_all(removed), REMOVED)) if removed else []
    merge_removed(memory, stones, tally)
    merge = SessionMerge(memory, tally, gone_there)
    parts: dict[str, list[int]] = defaultdict(list)
    for address in differing:
        if address.startswith(f"{SESSION}/"):
            session_id, part = split_address(address)
            parts[session_id].append(part)
    _merge_sessions(merge, _fetch_sessions(parts, theirs, fetch_all))
    small = [one for one in differing if one.partition("/")[0] not in (SESSION, REMOVED)]
    records = fetch_all(small) if small else {}
    there = {key for record in _join(records, "facts") if (key := fact_key_of(record)) is not None}

    def is_known_there(key: str) -> bool:
        address = f"facts/{key[:2]}"
        return key in there or (address in theirs and address not in records)

    _merge_small(memory, records, tally, is_known_there)
    _scrub(memory, tally)
    return {*parts, *list_sessions(stones)}


def _fetch_sessions(
    parts: Mapping[str, list[int]], theirs: Digests, fetch_all: Callable[[Sequence[str]], Fetched]
) -> Iterator[IncomingSession]:
    """Yield sessions that differ, without the first messages that don't."""
    waiting: dict[str, list[int]] = {}
    for number, (session_id, differing) in enumerate(parts.items(), start=1):
        first = min((part for part in differing if part > 0), default=None)
        wanted = [0]
        while first is not None and session_address(session_id, first) in theirs:
            wanted.append(first)
            first += 1
        waiting[session_id] = wanted
        if sum(map(len, waiting.values())) < _AT_ONCE and number < len(parts):
            continue
        found = fetch_all([session_address(one, part) for one, all_of in waiting.items() for part in all_of])
        for one, all_of in waiting.items():
            incoming = _put_together(one, all_of, found)
            if incoming is not None:
                yield incoming
        waiting = {}


def _put_together(session_id: str, parts: Sequence[int], found: Fetched) -> IncomingSession | None:
    """Assemble a session; None if it is gone. A missing part ends it until next time."""
    header = found.get(session_address(session_id, 0))
    if not header:
        return None
    if header[0].get("id") != session_id:
        raise InvalidInput(f"the session {session_id[:100]!r} has another id inside")
    skip = ((parts[1] if len(parts) > 1 else _NO_PART) - 1) * CHUNK
    messages: list[Record] = []
    for part in parts[1:]:
        some = found.get(session_address(session_id, part))
        if not some or len(some) > CHUNK:
            break
        messages += some
    return IncomingSession(header[0], skip, messages)


def _list_items(mine: State, theirs: Digests) -> Iterator[list[Record]]:
    """Yield what the other side lacks, in requests of limited size."""
    items: list[Record] = []
    size = 0
    for item in _iterate_items(mine, theirs):
        length = len(dump(item))
        if items and size + length > _PUSH_CHARACTERS:
            yield items
            items, size = [], 0
        items.append(item)
        size += length
    if items:
        yield items


def _iterate_items(mine: State, theirs: Digests) -> Iterator[Record]:
    differing = [address for address, found in mine.digests.items() if theirs.get(address) != found]
    first: dict[str, int] = {}
    for address in differing:
        if address.startswith(f"{SESSION}/"):
            session_id, part = split_address(address)
            first[session_id] = min(part or _NO_PART, first.get(session_id, _NO_PART))
    for session_id, part in first.items():
        yield from _iterate_session(mine, session_id, part)
    for address in differing:
        if not address.startswith(f"{SESSION}/"):
            yield {"address": address, "records": mine.read(address)}


def _iterate_session(mine: State, session_id: str, part: int) -> Iterator[Record]:
    """Yield a session from a part on, in pieces that can be merged one by one."""
    header = mine.read(session_address(session_id, 0))
    if not header:
        return
    messages: list[Record] = []
    skip, size = (part - 1) * CHUNK, 0
    while session_address(session_id, part) in mine.digests:
        some = mine.read(session_address(session_id, part))
        messages += some
        size += len(dump(some))
        part += 1
        if size > _PUSH_CHARACTERS:
            yield {"session": header[0], "skip": skip, "messages": messages}
            skip, size, messages = skip + len(messages), 0, []
    if messages or skip == (part - 1) * CHUNK:
        yield {"session": header[0], "skip": skip, "messages": messages}


def count_differences(mine: Digests, theirs: Digests) -> dict[str, int]:
    """Count the sessions that differ, and the parts of other kinds."""
    differing = [address for address in {*mine, *theirs} if mine.get(address) != theirs.get(address)]
    sessions = {split_address(one)[0] for one in differing if one.startswith(f"{SESSION}/")}
    kinds = sorted({one.partition("/")[0] for one in differing} - {SESSION})
    counts = {kind: sum(one.partition("/")[0] == kind for one in differing) for kind in kinds}
    return ({"sessions": len(sessions)} if sessions else {}) | counts
