"""Remnants of forgotten text: known copies, and our own files that still contain it."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote_to_bytes

from mnemos.errors import MnemosError
from mnemos.memory.changes import FILE
from mnemos.memory.home import folder_of
from mnemos.text.stored_text import repair_surrogates
from mnemos.workspace import identifiers

if TYPE_CHECKING:
    from mnemos.memory.memory import Memory

# The pieces to search for: bytes of the shortest, characters of the longest, and how many.
_SHORTEST: Final = 6
_LONGEST: Final = 40
_MOST_PIECES: Final = 300
# The number of bytes searched in one call, which takes about a second.
_MOST_BYTES: Final = 256_000_000
_MOST_FILES: Final = 20_000
_BLOCK: Final = 4_000_000
_SERVER: Final = (
    "the log, the replicas and the backups of the database server; freed space in its tables until it is "
    "reused; keys of its text index until `mnemos optimize --deep`"
)
_SEARCH_MEMORY: Final = 64_000_000
_QUERY_SECONDS: Final = 5.0
# Formats escape or double these characters. The text between them is the same in all formats.
_BREAKS: Final = re.compile(r"[\x00-\x1f\x7f\"'\\<>|&`\ud800-\udfff]+")


@dataclass(slots=True)
class Remnants:
    copies: list[str] = field(default_factory=list)
    """Files that may contain forgotten text."""
    tables: list[str] = field(default_factory=list)
    """Tables of the workspace that contain it, such as ``default.notes``."""
    unsearched: list[str] = field(default_factory=list)
    """Files not searched: they are too large or unreadable, or the text is too short."""

    def describe(self) -> dict[str, Any]:
        """Describe the files for an answer, with the time each was last written.

        Bytes of a name that aren't UTF-8 are replaced.
        """
        paths = dict.fromkeys([*self.copies, *self.unsearched])
        dates = {path: at for path in paths if (at := _read_status(Path(path)).st_mtime)}
        return {
            "copies": list(map(repair_surrogates, dict.fromkeys(self.copies))),
            "tables": self.tables,
            "unsearched": list(map(repair_surrogates, self.unsearched)),
            "dates": {repair_surrogates(path): at for path, at in dates.items()},
        }


def find_remnants(memory: Memory, texts: Iterable[str]) -> Remnants:
    """Find files that may still contain forgotten text.

    Backups and archives are listed without a search, because they may be compressed. Files of this space and
    plain exports are listed if they contain a piece of the texts. A workspace database that only has it in
    deleted rows is compacted, which erases it.
    """
    found = Remnants([*memory.home.backups(), *memory.notebook.copies()])
    if memory.home.is_server:
        found.copies.append(_SERVER)
    texts = [text for text in texts if text.strip()]
    if not texts or memory.is_in_memory:
        return found
    listed = list(islice(_list_files(memory), _MOST_FILES))
    if len(listed) == _MOST_FILES:
        found.unsearched.append(str(listed[-1].parent))
    statuses = {path: _read_status(path) for path in listed}
    files = [path for path, status in statuses.items() if stat.S_ISREG(status.st_mode)]
    pieces = choose_pieces(texts)
    if not pieces:
        found.unsearched += map(str, files)
        return found
    search = _Search(pieces, found)
    for path in sorted(files, key=lambda path: statuses[path].st_size):
        if search.has(path) and not _is_dealt_with(memory, path, search):
            found.copies.append(str(path))
    return found


def choose_pieces(texts: Iterable[str]) -> list[str]:
    """Choose short pieces of texts to search for: one per text if there are many, or of a sample."""
    cut = [pieces for pieces in map(_cut, texts) if pieces]
    first = list(dict.fromkeys(pieces[0] for pieces in cut))
    further = dict.fromkeys(piece for pieces in cut for piece in pieces)
    return list(dict.fromkeys([*first[:: len(first) // _MOST_PIECES + 1], *further]))[:_MOST_PIECES]


def _cut(text: str) -> list[str]:
    """Return the beginnings and ends of the longest stretches that are the same in every format."""
    stretches = sorted(map(str.strip, _BREAKS.split(text)), key=len, reverse=True)[:2]
    ends = [end.strip() for one in stretches for end in (one[:_LONGEST], one[-_LONGEST:])]
    return [end for end in ends if len(end.encode()) >= _SHORTEST]


class _Search:
    """A case-insensitive search of files for any of the pieces, within a limit of bytes."""

    def __init__(self, pieces: Sequence[str], found: Remnants) -> None:
        # Imported here, because few processes search files.
        import re2  # type: ignore[import-untyped]

        self.pieces = pieces
        self.found = found
        self._left = _MOST_BYTES
        options = re2.Options()
        options.max_mem = _SEARCH_MEMORY
        spelled = dict.fromkeys(form for piece in pieces for form in (piece, json.dumps(piece)[1:-1]))
        self._overlap = max(len(form.encode()) for form in spelled)
        any_of_them = b"|".join(re2.escape(form.encode()) for form in spelled)
        self._pattern = re2.compile(b"(?i)" + any_of_them, options)

    def has(self, path: Path) -> bool:
        """True if a plain file contains one of the pieces. A file that can't be searched is noted."""
        try:
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            with os.fdopen(handle, "rb") as file:
                size = os.fstat(handle).st_size
                if size <= self._left:
                    self._left -= size
                    return self._is_in(iter(lambda: file.read(_BLOCK), b""))
        except FileNotFoundError:
            return False
        except OSError:
            pass
        self.found.unsearched.append(str(path))
        return False

    def _is_in(self, blocks: Iterator[bytes]) -> bool:
        before = b""
        for block in blocks:
            if self._pattern.search(before + block):
                return True
            before = block[-self._overlap :]
        return False


def _list_files(memory: Memory) -> Iterator[Path]:
    """Yield the recorded exports and the files in this space's folders."""
    space = memory.settings.space
    databases, files = (identifiers.folder_of(memory.folder, kind, space) for kind in ("databases", "files"))
    folders = (folder_of(memory.settings) / "memories", memory.templates_folder, databases, files)
    refs = memory.storage.read(lambda tx: tx.audit.refs(FILE))
    exported = [Path(os.fsdecode(unquote_to_bytes(ref.removeprefix(f"{FILE}://")))) for ref in refs]
    for path in exported:
        if not any(map(path.is_relative_to, folders)):
            yield path
    for folder in folders:
        for parent, _, names in os.walk(folder):
            yield from (Path(parent, name) for name in names)


def _read_status(path: Path) -> os.stat_result:
    """Return the status of a file, all zeros if there is none."""
    try:
        return path.lstat()
    except OSError:
        return os.stat_result((0,) * 10)


def _is_dealt_with(memory: Memory, path: Path, search: _Search) -> bool:
    """True for a workspace database that was compacted, or whose tables with the pieces are listed."""
    databases = identifiers.folder_of(memory.folder, "databases", memory.settings.space)
    name = path.name.removesuffix("-wal").removesuffix(identifiers.SUFFIX)
    if path.parent != databases or path.name == name:
        return False
    try:
        tables = [f"{name}.{table}" for table in _find_tables(memory, name, search.pieces)]
        if tables:
            search.found.tables = list(dict.fromkeys([*search.found.tables, *tables]))
            return True
        # Only deleted rows contain it.
        memory.workspace.compact(name)
    except MnemosError:
        # If it is locked, damaged, slow or not a workspace database, the file itself is listed.
        return False
    return not search.has(path)


def _find_tables(memory: Memory, database: str, pieces: Sequence[str]) -> Iterator[str]:
    for table in memory.workspace.tables(database):
        if table["kind"] == "table":
            name = identifiers.quote(table["name"])
            columns = " OR ".join(
                f"instr(lower(CAST(t.{identifiers.quote(column)} AS TEXT)), lower(p.value))"
                for column in table["columns"]
            )
            sql = f"SELECT 1 FROM {name} AS t, json_each(?) AS p WHERE {columns} LIMIT 1"
            answer = memory.workspace.query(
                sql, [json.dumps(pieces)], database=database, read_only=True, timeout=_QUERY_SECONDS
            )
            if answer.rows:
                yield table["name"]
