"""Lines of JSON in files of an archive: written with their count and checksum, read as if by an enemy."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Final, TypeVar

import msgspec

from mnemos.errors import InvalidInput
from mnemos.sessions.records import dump_json

LONGEST: Final = 160 * 1024 * 1024

T = TypeVar("T")


class Writer:
    """Writes rows, one JSON object a line."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._hash = hashlib.sha256()
        self.rows = 0
        self.bytes = 0

    def write(self, row: Mapping[str, Any]) -> None:
        data = dump_json(row).encode() + b"\n"
        self._stream.write(data)
        self._hash.update(data)
        self.rows += 1
        self.bytes += len(data)

    def sha256(self) -> str:
        return self._hash.hexdigest()


def read(path: Path, name: str, advance: Callable[[int], None]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Rows, each with its place for people; a line that is none raises InvalidInput."""
    with path.open("rb") as stream:
        number = 0
        while line := stream.readline(LONGEST):
            number += 1
            place = f"{name}, line {number}"
            if not line.endswith(b"\n"):
                cut = "is longer than any line of ours" if len(line) == LONGEST else "is cut off"
                raise InvalidInput(f"{place} {cut}")
            yield place, _object(line, place)
            advance(len(line))


def shaped(row: Mapping[str, Any], kind: type[T], place: str) -> T:
    """A row as a struct; one of another shape raises InvalidInput."""
    try:
        return msgspec.convert(row, kind)
    except (msgspec.ValidationError, UnicodeEncodeError) as exc:
        raise InvalidInput(f"{place} is not as it should be: {exc}") from exc


def _object(line: bytes, place: str) -> dict[str, Any]:
    try:
        # Not msgspec: it refuses the lone surrogates that a message may hold.
        row = json.loads(line.decode("utf-8"), parse_constant=_no_constant)
    except UnicodeDecodeError as exc:
        raise InvalidInput(f"{place} is not UTF-8 text ({exc.reason} at byte {exc.start})") from exc
    except (ValueError, RecursionError) as exc:
        raise InvalidInput(f"{place} is not JSON: {exc}") from exc
    if not isinstance(row, dict):
        raise InvalidInput(f"{place} is no object with named fields")
    return row


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
