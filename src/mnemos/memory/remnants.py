"""Files that may still contain forgotten text: known copies, and files of ours that are searched."""

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

# The pieces that are looked for: bytes of the shortest, characters of the longest, and their number.
_SHORTEST: Final = 6
_LONGEST: Final = 40
_MOST_PIECES: Final = 300
# Bytes that are searched in one call: about a second.
_MOST_BYTES: Final = 256_000_000
_MOST_FILES: Final = 20_000
_BLOCK: Final = 4_000_000
_SERVER: Final = (
    "the log, the replicas and the backups of the database server; freed space in its tables until it is "
    "reused; keys of its text index until `mnemos optimize --deep`"
)
_SEARCH_MEMORY: Final = 64_000_000
_QUERY_SECONDS: Final = 5.0
# Formats escape or double these characters; the text between them is the same in all formats.
_BREAKS: Final = re.compile(r"[\x00-\x1f\x7f\"'\\<>|&`\ud800-\udfff]+")


@dataclass(slots=True)
class Remnants:
    copies: list[str] = field(default_factory=list)
    """Files that may contain forgotten text."""
    tables: list[str] = field(default_factory=list)
    """Tables of the workspace that hold it, such as ``default.notes``."""
    unsearched: list[str] = field(default_factory=list)
    """Files that were not searched: too large, not readable, or the text is too short to look for."""

    def describe(self) -> dict[str, Any]:
        """Return the files as parts of an answer, with when each was last written.

        A name that is not UTF-8 can't be part of an answer as it is.
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
    """Find the files that may still contain forgotten text.

    Backups and archives are named without a search: they may be packed. Files of this space and plain exports
    are named if they hold a piece of the texts. A database of the workspace that holds it in deleted rows
    alone is compacted, which erases it.
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
    """Choose short pieces of texts to look for: one of each if there are many, of very many a sample."""
    cut = [pieces for pieces in map(_cut, texts) if pieces]
    first = list(dict.fromkeys(pieces[0] for pieces in cut))
    further = dict.fromkeys(piece for pieces in cut for piece in pieces)
    return list(dict.fromkeys([*first[:: len(first) // _MOST_PIECES + 1], *further]))[:_MOST_PIECES]


def _cut(text: str) -> list[str]:
    """Return the beginnings and the ends of the longest stretches that look the same in every format."""
    stretches = sorted(map(str.strip, _BREAKS.split(text)), key=len, reverse=True)[:2]
    ends = [end.strip() for one in stretches for end in (one[:_LONGEST], one[-_LONGEST:])]
    return [end for end in ends if len(end.encode()) >= _SHORTEST]


class _Search:
    """A search for any of some pieces, within a limit of bytes, regardless of the case of their letters."""

    def __init__(self, pieces: Sequence[str], found: Remnants) -> None:
        # Few processes search files.
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
        """True if a plain file has one of the pieces. One that can't be searched is noted."""
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
    """Yield the recorded exports, and the files in the folders of this space."""
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
    """Return the status of a file; all zeros if there is none."""
    try:
        return path.lstat()
    except OSError:
        return os.stat_result((0,) * 10)


def _is_dealt_with(memory: Memory, path: Path, search: _Search) -> bool:
    """True for a database of the workspace that was compacted, or whose tables with the pieces are named."""
    databases = identifiers.folder_of(memory.folder, "databases", memory.settings.space)
    name = path.name.removesuffix("-wal").removesuffix(identifiers.SUFFIX)
    if path.parent != databases or path.name == name:
        return False
    try:
        tables = [f"{name}.{table}" for table in _find_tables(memory, name, search.pieces)]
        if tables:
            search.found.tables = list(dict.fromkeys([*search.found.tables, *tables]))
            return True
        # Only deleted rows have it.
        memory.workspace.compact(name)
    except MnemosError:
        # Locked, damaged, slow or not of the workspace: the file is named as it is.
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
