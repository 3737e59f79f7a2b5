"""What an archive is: its manifest, and what bringing one in or comparing with one answers."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

KIND: Final = "mnemos archive"
FORMAT: Final = 1
MANIFEST: Final = "manifest.json"
# Told of each part; the rest is counted.
TOLD: Final = 50

_PIECE: Final = r"[A-Za-z0-9][A-Za-z0-9._-]*"
_NAME: Final = re.compile(rf"{_PIECE}(?:/{_PIECE}){{0,3}}")
_LONGEST_NAME: Final = 250


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
class Brought:
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
class Compared:
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
