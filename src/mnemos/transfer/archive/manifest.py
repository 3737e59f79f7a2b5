"""The manifest of an archive, and the reports about one."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar

import msgspec

KIND: Final = "mnemos archive"
FORMAT: Final = 1
MAX_NUMBERED: Final = 1_000
"""Names that are tried when one is taken."""
MANIFEST: Final = "manifest.json"
# The number of reasons listed for each part. The rest is counted.
MAX_REASONS: Final = 50
_PIECE: Final = r"[A-Za-z0-9][A-Za-z0-9._-]*"
_NAME: Final = re.compile(rf"{_PIECE}(?:/{_PIECE}){{0,3}}")
_MAX_PATH: Final = 250
Moment = Annotated[float, msgspec.Meta(gt=-1e12, lt=1e12)]
MessagePlace = tuple[str, int]
"""A session and a message's number in it, from 1. Unlike ids, places are the same in every home."""
T = TypeVar("T")
Progress = Callable[[float], None]


class File(msgspec.Struct, frozen=True):
    """A file of an archive. ``rows`` counts lines or notes, and is 1 for a database."""

    file: str
    part: str
    rows: int
    bytes: int
    sha256: str


class Manifest(msgspec.Struct, frozen=True):
    """The first file of an archive: the names, sizes and checksums of all others."""

    kind: str
    format: int
    mnemos: str
    space: str
    made_at: str
    counts: dict[str, int]
    files: list[File]
    left_out: list[str] = []

    def size(self) -> int:
        return sum(file.bytes for file in self.files)


def is_valid_path(name: str) -> bool:
    """True for a plain relative path that is the same on every system."""
    return len(name) <= _MAX_PATH and _NAME.fullmatch(name) is not None and ".." not in name


@dataclass(frozen=True, slots=True)
class Exported:
    """The result of an export. ``left_out`` says what could not be read, and why."""

    path: Path
    bytes: int
    counts: dict[str, int]
    left_out: tuple[str, ...]


@dataclass(slots=True)
class PartReport:
    """The result of importing one part of an archive."""

    part: str
    imported: int = 0
    updated: int = 0
    """Existing items that were replaced by newer ones."""
    there: int = 0
    """Existing items that were kept."""
    not_taken: int = 0
    marked: int = 0
    """Items refused because they look like prompt injections; a person can allow them."""
    reasons: list[str] = field(default_factory=list)
    """The first few reasons why items were refused or changed."""

    def refuse(self, reason: str, *, is_marked: bool = False) -> None:
        self.not_taken += 1
        self.marked += is_marked
        self.explain(reason)

    def explain(self, what: str) -> None:
        if len(self.reasons) < MAX_REASONS:
            self.reasons.append(what)


@dataclass(slots=True)
class PartComparison:
    """The share of one part of an archive that is in this space."""

    part: str
    same: int = 0
    missing: int = 0
    different: int = 0
    examples: list[str] = field(default_factory=list)

    def add(self, what: str, is_same: bool | None) -> None:  # noqa: FBT001
        """Count an item of the archive. ``is_same`` is None if it is missing here."""
        if is_same:
            self.same += 1
            return
        if is_same is None:
            self.missing += 1
        else:
            self.different += 1
        if len(self.examples) < MAX_REASONS:
            self.examples.append(f"{what} {'is not here' if is_same is None else 'differs from the archive'}")


def track(progress: Progress, first: float, last: float, whole: int) -> Callable[[int], None]:
    """Return a function that reports the progress of one stage, as shares of the whole."""
    done = 0

    def advance(more: int) -> None:
        nonlocal done
        done += more
        progress(first + (last - first) * min(1.0, done / max(1, whole)))

    return advance


@dataclass(slots=True)
class MessagePlaces:
    """The places of messages that facts point at, out of maybe millions."""

    ids: set[int] = field(default_factory=set)
    """Messages whose places an export needs."""
    of_ids: dict[int, MessagePlace] = field(default_factory=dict)
    numbers: dict[str, set[int]] = field(default_factory=dict)
    """Message numbers that an import has to resolve, by session."""
    to_ids: dict[MessagePlace, int] = field(default_factory=dict)

    def note_export(self, message_id: int, session_id: str, number: int) -> None:
        """Note where a message was written."""
        if message_id in self.ids:
            self.of_ids[message_id] = session_id, number

    def request(self, session_id: str, number: int) -> None:
        self.numbers.setdefault(session_id, set()).add(number)

    def note_import(self, session_id: str, number: int, message_id: int) -> None:
        """Note the id that a message has here."""
        if number in self.numbers.get(session_id, ()):
            self.to_ids[session_id, number] = message_id


def number_names(name: str, longest: int) -> Iterator[str]:
    """Yield a name, then numbered variants in case it is taken."""
    yield name
    for number in range(2, MAX_NUMBERED):
        ending = f"-{number}"
        yield f"{name[: longest - len(ending)]}{ending}"


def exhaust(items: Iterator[Any]) -> None:
    """Read all items, for the checks that reading makes."""
    deque(items, maxlen=0)


def split_batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield lists of up to ``size`` items, in order."""
    coming = iter(items)
    while batch := list(islice(coming, size)):
        yield batch
