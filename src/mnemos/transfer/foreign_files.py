"""Other programs' files: finding, opening, decoding. Wrong values become None."""

from __future__ import annotations

import codecs
import json
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from stat import S_ISREG
from typing import Any, BinaryIO, Final, TypeVar
from urllib.parse import unquote

import msgspec

from mnemos.errors import InvalidInput
from mnemos.files import open_regular, zstd
from mnemos.inputs import MAX_NAME
from mnemos.structs import analyse, convert
from mnemos.transfer.reader import Find, Item, Mark, OnProblem, Skipped, SourceFile, Unreadable

T = TypeVar("T")
_decoders: dict[type[Any], msgspec.json.Decoder[Any]] = {}

COMPRESSED: Final = ".zst"
LONGEST: Final = 24 << 20
"""Bytes of a line or conversation, which may hold images. A longer one is skipped in pieces.

Decoded it takes up to four times as much memory, and an import should need less than 200 MB.
"""
_PIECE: Final = 1 << 20
# Larger times are in milliseconds.
_MILLISECONDS: Final = 1e11
_FARTHEST: Final = 1e14
_EXPECTED: Final = re.compile(r"Expected `(\w+)`, got `(\w+)`(?: - at `\$\.?(.*)`)?")
_TYPES: Final = {"str": "string", "int": "number", "float": "number", "bool": "boolean"}


def path_exists(path: Path) -> bool:
    """True if a file or folder exists. InvalidInput if that can't be found out."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as exc:
        raise InvalidInput(f"{path} can't be read: {exc.strerror}. Choose another file or folder.") from exc
    return True


def is_file(path: Path) -> bool:
    """True for a regular file; False also if access is denied, unlike `Path`."""
    return os.path.isfile(path)  # noqa: PTH113


def is_folder(path: Path) -> bool:
    """True for a folder; False also if access is denied."""
    return os.path.isdir(path)  # noqa: PTH112


def stat_source(path: Path, on_problem: OnProblem) -> SourceFile | None:
    """Return a file's current state; None with a problem if it is unreadable."""
    try:
        found = path.stat()
    except OSError as exc:
        on_problem(path, f"it can't be read: {exc.strerror}")
        return None
    if not S_ISREG(found.st_mode):
        on_problem(path, "it is not a file")
        return None
    return SourceFile(path, found.st_size, found.st_mtime_ns)


def stat_sources(paths: Iterable[Path], on_problem: OnProblem) -> Iterator[SourceFile]:
    """Yield the files that can be read."""
    return (source for path in paths if (source := stat_source(path, on_problem)))


def files_with(
    *suffixes: str,
    folders: Sequence[str] = (),
    wanted: Callable[[Path], bool] | None = None,
    key: Callable[[Path], Any] | None = None,
) -> Find:
    """Find a file itself, or the ``wanted`` files below a folder, sorted by a key.

    ``folders``: patterns of the only folders to search, unless none match.
    """

    def find(path: Path, on_problem: OnProblem) -> Iterator[SourceFile]:
        if is_file(path):
            return stat_sources([path], on_problem)
        inner = [one for pattern in folders for one in sorted(path.glob(pattern)) if is_folder(one)]
        below = chain.from_iterable(find_files(one, suffixes, on_problem) for one in inner or [path])
        files: Iterator[Path] = filter(wanted, below)
        if key is not None:
            # Paths are kept as text, which takes a third of the memory.
            files = map(Path, sorted(map(str, files), key=lambda name: key(Path(name))))
        return stat_sources(files, on_problem)

    return find


def find_files(path: Path, suffixes: str | tuple[str, ...], on_problem: OnProblem) -> Iterator[Path]:
    """Yield files with these suffixes below a folder by name, then its subfolders'.

    Links to folders are not followed, because they may form a cycle.
    """
    try:
        with os.scandir(path) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError as exc:
        on_problem(path, f"it can't be read: {exc.strerror}")
        return
    for entry in entries:
        # A dangling or circular link is reported when it is opened.
        if entry.name.endswith(suffixes) and not is_folder(Path(entry.path)):
            yield Path(entry.path)
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield from find_files(Path(entry.path), suffixes, on_problem)


@contextmanager
def open_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file, decompressing zstd (old Codex rollouts). InvalidInput if damaged."""
    if path.suffix != COMPRESSED:
        with open_regular(path) as file:
            yield file
        return
    packing = zstd()
    try:
        with open_regular(path) as file, packing.ZstdFile(file) as unpacked:
            yield unpacked
    except (packing.ZstdError, EOFError) as exc:
        raise InvalidInput(f"it can't be decompressed: {exc}") from exc


@dataclass(frozen=True, slots=True)
class Line:
    """A line without its end. ``data`` is None if it is longer than ``LONGEST``."""

    data: bytes | None
    number: int
    end: int
    is_whole: bool
    """False for a last line without an end, which may not be complete yet."""


def read_lines(file: BinaryIO, position: int, number: int) -> Iterator[Line]:
    """Yield non-blank lines from a position on, counting from ``number``."""
    file.seek(position)
    start = position
    while data := file.readline(LONGEST + 1):
        number += 1
        is_whole, length = data.endswith(b"\n"), len(data)
        if length > LONGEST:
            # Skip the rest in pieces, without keeping any.
            data = b""
            while not is_whole and (piece := file.readline(_PIECE)):
                is_whole = piece.endswith(b"\n")
                length += len(piece)
        end = start + length
        if length > LONGEST:
            yield Line(None, number, end, is_whole)
        else:
            data = data.strip()
            if start == 0:
                data = data.removeprefix(codecs.BOM_UTF8).strip()
            if data:
                yield Line(data, number, end, is_whole)
            # Free the line before the next one is read.
            data = b""
        start = end


def read_whole(path: Path) -> bytes:
    """Return the bytes of a one-conversation file. ValueError if it is too long."""
    with open_file(path) as file:
        data = file.read(LONGEST + 1)
    if len(data) > LONGEST:
        raise ValueError(f"it is longer than {LONGEST >> 20} MB")
    return data.removeprefix(codecs.BOM_UTF8)


def read_beside(path: Path) -> Mapping[str, Any]:
    """Return the JSON object in a file next to a conversation; empty without one."""
    try:
        return decode_object(read_whole(path)) if is_file(path) else {}
    except (ValueError, OSError):
        return {}


def find_database(name: str) -> Find:
    """Find a SQLite database, given itself or its folder, with the size of its log."""

    def find(path: Path, on_problem: OnProblem) -> Iterator[SourceFile]:
        file = path / name if is_folder(path) else path
        source = stat_source(file, on_problem)
        if source is None:
            return
        try:
            # While the program runs, the newest rows are in the log.
            log = file.with_name(f"{file.name}-wal").stat()
        except OSError:
            yield source
        else:
            changed = max(source.changed_ns, log.st_mtime_ns)
            yield SourceFile(file, source.size + log.st_size, changed)

    return find


class Translator(ABC):
    """Turns one file's lines into items."""

    @abstractmethod
    def translate(self, data: bytes, number: int) -> Iterator[Item]:
        """Yield the items of a line. ValueError if it is not a line of the program."""

    @abstractmethod
    def state(self) -> Any:
        """Return the state to resume with at this point."""

    def advance(self, position: int, number: int) -> Iterator[Item]:
        """Yield items that are complete after a line, and a mark if reading can resume there."""
        yield Mark(position, number, self.state())

    def finish(self) -> Iterator[Item]:
        """Yield the items that were held back."""
        return iter(())


def translate_lines(source: SourceFile, mark: Mark, translator: Translator, problem: str) -> Iterator[Item]:
    """Yield a file's items from a mark on. Unknown lines are a ``problem``."""
    position, number = mark.position, mark.line
    with open_file(source.path) as file:
        for line in read_lines(file, position, number):
            if line.data is None:
                yield Unreadable(line.number, f"it is longer than {LONGEST >> 20} MB")
            else:
                try:
                    yield from translator.translate(line.data, line.number)
                except ValueError as exc:
                    if not line.is_whole and not _is_json(line.data):
                        yield Skipped("unfinished last lines")
                        break
                    yield Unreadable(line.number, f"{problem}: {_explain(exc, line.data)}")
            position, number = line.end, line.number
            # Free the line before the next one is read.
            del line
            yield from translator.advance(position, number)
    yield from translator.finish()
    yield Mark(position, number, translator.state())


def _explain(exc: ValueError, data: bytes) -> str:
    """Translate a decoder's complaint into words."""
    found = _EXPECTED.fullmatch(str(exc))
    if found is None:
        return str(exc) if _is_json(data) else "it is not valid JSON"
    expected, got = (_TYPES.get(kind, kind) for kind in found.group(1, 2))
    return f"{found[3] or 'it'} must be of type {expected}, not {got}"


def _is_json(data: bytes) -> bool:
    try:
        decode_json(data)
    except ValueError:
        return False
    return True


def decode_json(data: bytes | str) -> Any:
    """Decode JSON, tolerating what strict decoders refuse. Raises ValueError."""
    try:
        return msgspec.json.decode(data)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        # msgspec refuses what other programs write: lone surrogates, NaN, control characters, invalid UTF-8.
        text = data if isinstance(data, str) else data.decode("utf-8", "replace")
        try:
            return json.loads(text, strict=False)
        except RecursionError:
            raise ValueError("it is nested too deeply") from None


def decode_object(data: bytes | str) -> Mapping[str, Any]:
    """Decode a JSON object; anything else raises ValueError."""
    found = decode_json(data)
    if not isinstance(found, dict):
        raise ValueError(  # noqa: TRY004 - the text is wrong, not a type
            f"it is a {type(found).__name__}, not an object"
        )
    return found


def decode_struct(data: bytes, kind: type[T]) -> T:
    """Decode JSON as a struct. ValueError if it is not JSON or has wrong types."""
    decoder = _decoders.get(kind)
    if decoder is None:
        decoder = _decoders[kind] = msgspec.json.Decoder(analyse(kind))
    try:
        found: T = decoder.decode(data)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except msgspec.ValidationError:
        raise
    except (msgspec.DecodeError, UnicodeDecodeError):
        return convert(decode_json(data), kind)
    return found


def get_object(record: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return the object in a field; empty if it is not one."""
    found = record.get(name)
    return found if isinstance(found, dict) else {}


def get_objects(record: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """Return the objects of the list in a field."""
    found = record.get(name)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def get_text(record: Mapping[str, Any], name: str) -> str:
    """Return the text in a field; empty if it is not text."""
    found = record.get(name)
    return found if isinstance(found, str) else ""


def remember(known: dict[str, str], key: str, value: str, most: int) -> None:
    """Store what later lines may refer to, forgetting the oldest beyond ``most``."""
    known[key] = value
    while len(known) > most:
        del known[next(iter(known))]


def clean_name(value: Any) -> str | None:
    """Return a name, id or title on one line, cut if it is too long."""
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        return None
    text = str(value)
    if not text.isprintable() or text != text.strip():
        text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return text[:MAX_NAME] or None


def parse_folder(value: Any) -> str | None:
    """Return a folder from its path or an editor's URL; None if it is elsewhere."""
    scheme, is_address, path = (clean_name(value) or "").partition("://")
    return (unquote(path) if scheme == "file" else None) if is_address else scheme or None


def parse_time(value: Any) -> float | None:
    """Convert seconds, milliseconds or ISO 8601 to Unix seconds."""
    if isinstance(value, str):
        try:
            found = datetime.fromisoformat(value)
        except ValueError:
            return None
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < _FARTHEST:
        return None
    return float(value) / 1000 if abs(value) > _MILLISECONDS else float(value)


def parse_count(value: Any) -> int:
    """Return a count; 0 for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 53 else 0


def make_call(call_id: Any, name: Any, arguments: Any) -> dict[str, Any]:
    """Make a tool call in OpenAI's format. Arguments other than text become JSON."""
    if not isinstance(arguments, str):
        try:
            arguments = json.dumps({} if arguments is None else arguments, ensure_ascii=False)
        except RecursionError:
            arguments = "{}"
    return {
        "id": clean_name(call_id) or "",
        "type": "function",
        "function": {"name": clean_name(name) or "unknown", "arguments": arguments},
    }


def drop_empty(**fields: Any) -> dict[str, Any]:
    """Return the fields that have a value."""
    return {name: value for name, value in fields.items() if value is not None and value != ""}
