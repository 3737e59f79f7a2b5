"""Files of other programs: how they are found, opened, and read line by line and value by value."""

from __future__ import annotations

import codecs
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from stat import S_ISREG
from typing import Any, BinaryIO, Final

import msgspec

from mnemos.errors import InvalidInput
from mnemos.files import zstd
from mnemos.inputs import MAX_NAME
from mnemos.transfer.reader import Source

Tell = Callable[[Path, str], None]
PACKED: Final = ".zst"
LONGEST_LINE: Final = 64 << 20
"""Bytes of a line. A longer one is passed over, in pieces, so that memory stays small."""
_PIECE: Final = 1 << 20
# Past this, a number of seconds is one of milliseconds.
_MILLISECONDS: Final = 1e11
_FARTHEST: Final = 1e14


def is_there(path: Path) -> bool:
    """Whether there is such a file or folder; what cannot be looked at raises InvalidInput."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as exc:
        raise InvalidInput(f"{path} cannot be read: {exc.strerror}; name another file or folder") from exc
    return True


def is_file(path: Path) -> bool:
    """Whether it is a plain file; False also for what cannot be looked at, where `Path` would raise."""
    return os.path.isfile(path)  # noqa: PTH113


def is_folder(path: Path) -> bool:
    """Whether it is a folder, likewise."""
    return os.path.isdir(path)  # noqa: PTH112


def source_of(path: Path, tell: Tell) -> Source | None:
    """A file as it is now; None, and told, when it cannot be looked at or is no plain file."""
    try:
        found = path.stat()
    except OSError as exc:
        tell(path, f"it cannot be read: {exc.strerror}")
        return None
    if not S_ISREG(found.st_mode):
        tell(path, "it is no file")
        return None
    return Source(path, found.st_size, found.st_mtime_ns)


def files_below(path: Path, suffix: str, tell: Tell) -> Iterator[Path]:
    """The files with that suffix below a folder, by name, those of a folder before those below it.

    Links to folders are not followed: they may lead round in a circle.
    """
    try:
        with os.scandir(path) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError as exc:
        tell(path, f"it cannot be read: {exc.strerror}")
        return
    for entry in entries:
        # A link that leads in a circle, or to where nobody may look, is told when it is looked at.
        if entry.name.endswith(suffix) and not is_folder(Path(entry.path)):
            yield Path(entry.path)
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield from files_below(Path(entry.path), suffix, tell)


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """A file to read from, unpacked on the way; one that is packed and damaged raises InvalidInput."""
    if path.suffix != PACKED:
        with path.open("rb") as file:
            yield file
        return
    packing = zstd()
    try:
        with packing.ZstdFile(path) as unpacked:
            yield unpacked
    except (packing.ZstdError, EOFError) as exc:
        raise InvalidInput(f"it cannot be unpacked: {exc}") from exc


@dataclass(frozen=True, slots=True)
class Line:
    """A line without its end. ``data`` None: it is longer than any that is read."""

    data: bytes | None
    number: int
    start: int
    end: int
    is_whole: bool
    """Whether it has an end: the last line of a file may still be being written."""


def lines(file: BinaryIO, position: int, number: int) -> Iterator[Line]:
    """The lines from a position on that have something in them; ``number`` lines stand before it."""
    file.seek(position)
    start = position
    while piece := file.readline(_PIECE):
        number += 1
        pieces, length = [piece], len(piece)
        while not piece.endswith(b"\n") and (piece := file.readline(_PIECE)):
            length += len(piece)
            if length <= LONGEST_LINE:
                pieces.append(piece)
            else:
                pieces.clear()
        data = b"".join(pieces)
        is_whole = piece.endswith(b"\n")
        end = start + length
        if length > LONGEST_LINE:
            yield Line(None, number, start, end, is_whole)
        else:
            data = data.strip()
            if start == 0:
                data = data.removeprefix(codecs.BOM_UTF8).strip()
            if data:
                yield Line(data, number, start, end, is_whole)
        start = end


def decoded(data: bytes | str) -> Any:
    """What a JSON text says; one that is none raises ValueError."""
    try:
        return msgspec.json.decode(data)
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        # It refuses what others write: lone surrogates, NaN, control characters, bytes that are no UTF-8.
        text = data if isinstance(data, str) else data.decode("utf-8", "replace")
        try:
            return json.loads(text, strict=False)
        except RecursionError:
            raise ValueError("it is nested too deep") from None


def record(data: bytes | str) -> Mapping[str, Any]:
    """A JSON object; anything else raises ValueError."""
    found = decoded(data)
    if not isinstance(found, dict):
        raise ValueError(  # noqa: TRY004 - of the text, as for any other that is no JSON
            f"it holds a {type(found).__name__}, no object"
        )
    return found


def short(value: Any) -> str | None:
    """A name, an id or a title: one line of text, cut where it is too long."""
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        return None
    text = str(value)
    if not text.isprintable() or text != text.strip():
        text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return text[:MAX_NAME] or None


def moment(value: Any) -> float | None:
    """A time in Unix seconds, written as such, in milliseconds, or in the way of ISO 8601."""
    if isinstance(value, str):
        try:
            found = datetime.fromisoformat(value)
        except ValueError:
            return None
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < _FARTHEST:
        return None
    return float(value) / 1000 if abs(value) > _MILLISECONDS else float(value)


def count(value: Any) -> int:
    """A number of something, 0 for what is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 53 else 0


def call(call_id: Any, name: Any, arguments: Any) -> dict[str, Any]:
    """A tool call in OpenAI's shape. Arguments that are no text are written as JSON."""
    if not isinstance(arguments, str):
        try:
            arguments = json.dumps({} if arguments is None else arguments, ensure_ascii=False)
        except RecursionError:
            arguments = "{}"
    return {
        "id": short(call_id) or "",
        "type": "function",
        "function": {"name": short(name) or "unknown", "arguments": arguments},
    }


def filled(**fields: Any) -> dict[str, Any]:
    """The fields that have a value."""
    return {name: value for name, value in fields.items() if value is not None and value != ""}
