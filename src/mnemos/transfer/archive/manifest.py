"""What an archive is: its manifest, and what bringing one in or comparing with one answers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Final, TypeVar

import msgspec

KIND: Final = "mnemos archive"
FORMAT: Final = 1
MANIFEST: Final = "manifest.json"
# Told of each part; the rest is counted.
TOLD: Final = 50
_PIECE: Final = r"[A-Za-z0-9][A-Za-z0-9._-]*"
_NAME: Final = re.compile(rf"{_PIECE}(?:/{_PIECE}){{0,3}}")
_LONGEST_NAME: Final = 250
Place = tuple[str, int]
"""A session, and the number of a message in it, from 1."""
T = TypeVar("T")


class File(msgspec.Struct, frozen=True):
    """A file of an archive. ``rows``: lines, notes, or 1 for what is one thing."""

    file: str
    part: str
    rows: int
    bytes: int
    sha256: str


class Manifest(msgspec.Struct, frozen=True):
    """What stands first in an archive: what is in it, so that nothing else has to be believed."""

    kind: str
    format: int
    mnemos: str
    space: str
    made_at: str
    counts: dict[str, int]
    files: list[File]
    left_out: list[str] = []

    def of(self, part: str) -> list[File]:
        return [file for file in self.files if file.part == part]

    def size(self) -> int:
        return sum(file.bytes for file in self.files)


def can_be_name(name: str) -> bool:
    """Whether a file of an archive can be called so: a plain path inside of it, the same on every system."""
    return len(name) <= _LONGEST_NAME and _NAME.fullmatch(name) is not None and ".." not in name


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written. ``left_out``: what could not be read, and why."""

    path: Path
    bytes: int
    counts: dict[str, int]
    left_out: tuple[str, ...]


@dataclass(slots=True)
class PartReport:
    """What became of one part of an archive."""

    part: str
    imported: int = 0
    updated: int = 0
    """There before, and newer in the archive."""
    there: int = 0
    """Skipped: what is here stays as it is."""
    not_taken: int = 0
    reasons: list[str] = field(default_factory=list)
    """Of what was not taken, or taken otherwise than it was: the first of them."""

    def refuse(self, reason: str) -> None:
        self.not_taken += 1
        self.tell(reason)

    def tell(self, what: str) -> None:
        if len(self.reasons) < TOLD:
            self.reasons.append(what)


@dataclass(slots=True)
class PartComparison:
    """How much of one part of an archive is here, as it is there."""

    part: str
    same: int = 0
    missing: int = 0
    different: int = 0
    examples: list[str] = field(default_factory=list)

    def miss(self, what: str) -> None:
        self.missing += 1
        self._tell(f"{what} is not here")

    def differ(self, what: str) -> None:
        self.different += 1
        self._tell(f"{what} is not as it is in the archive")

    def _tell(self, what: str) -> None:
        if len(self.examples) < TOLD:
            self.examples.append(what)


@dataclass(slots=True)
class Places:
    """The messages that facts point at, and nothing of the others: there may be millions."""

    ids: set[int] = field(default_factory=set)
    """Wanted, of an export."""
    of_ids: dict[int, Place] = field(default_factory=dict)
    numbers: dict[str, set[int]] = field(default_factory=dict)
    """Wanted, of an import: by session."""
    to_ids: dict[Place, int] = field(default_factory=dict)

    def leaves(self, message_id: int, session_id: str, number: int) -> None:
        """A message is written at this place."""
        if message_id in self.ids:
            self.of_ids[message_id] = session_id, number

    def wants(self, session_id: str, number: int) -> None:
        self.numbers.setdefault(session_id, set()).add(number)

    def arrives(self, session_id: str, number: int, message_id: int) -> None:
        """The message at this place has that id here."""
        if number in self.numbers.get(session_id, ()):
            self.to_ids[session_id, number] = message_id


def batches(things: Iterable[T], size: int) -> Iterator[list[T]]:
    """Lists of at most ``size`` of them, in order."""
    coming = iter(things)
    while batch := list(islice(coming, size)):
        yield batch
