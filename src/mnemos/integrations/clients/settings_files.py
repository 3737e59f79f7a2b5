"""Settings files of other programs, and the records needed to undo changes.

Files are read whole and replaced in one step, keeping modes and symbolic links.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Mapping
from contextlib import AbstractContextManager
from difflib import SequenceMatcher
from itertools import takewhile
from pathlib import Path
from typing import Final

import msgspec

from mnemos import files
from mnemos.errors import InvalidInput, PermissionDenied, TooLarge
from mnemos.files import discard_unfinished, resolve_links, write_error
from mnemos.integrations.clients.additions import Addition
from mnemos.text.secrets import redact

_LARGEST: Final = 200_000_000
_LOCK: Final = ".lock"
_LOCK_SECONDS: Final = 30.0
_LONGEST_LINE: Final = 320
_CONTEXT: Final = 24


def read(path: Path) -> bytes | None:
    """Return the bytes of a file; None if it does not exist. Other problems raise."""
    try:
        known = path.stat()
        if not stat.S_ISREG(known.st_mode):
            kind = "a folder" if stat.S_ISDIR(known.st_mode) else "not a regular file"
            raise InvalidInput(f"{path} is {kind}, but a settings file is expected. Move it first.")
        if known.st_size > _LARGEST:
            raise TooLarge(f"{path} has {known.st_size:,} bytes. The limit is {_LARGEST:,}.")
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as exc:
        is_denied = exc.errno in (errno.EACCES, errno.EPERM)
        error = PermissionDenied if is_denied else InvalidInput
        raise error(f"{path} cannot be read: {exc.strerror}. Nothing was changed.") from exc


def decode(data: bytes | None, path: Path) -> str:
    """Decode a file, keeping its line breaks. None is an empty text."""
    try:
        return (data or b"").decode()
    except UnicodeDecodeError as exc:
        raise InvalidInput(
            f"{path} is not UTF-8 text (byte {exc.start}: {exc.reason}). "
            "Save it as UTF-8. Nothing was changed."
        ) from exc


def check_writable(path: Path) -> None:
    """Raise PermissionDenied if a file or its folder is read-only."""
    real = resolve_links(path)
    there = [one for one in (real, *real.parents) if one.exists()]
    # Missing folders are created in the first one that exists.
    for one in there[: 2 if there[0] == real else 1]:
        # Root may write anything, but a file that somebody made read-only is not changed.
        if not (one.stat().st_mode & 0o222 and os.access(one, os.W_OK)):
            raise PermissionDenied(f"{one} is read-only. Make it writable (chmod u+w). Nothing was changed.")


def missing_folders(path: Path) -> list[Path]:
    """Return the folders to create for a file, innermost first."""
    return [folder for folder in resolve_links(path).parents if not folder.exists()]


def replace(path: Path, data: bytes) -> None:
    """Replace a file in one step, keeping its mode and a symbolic link."""
    real = resolve_links(path)
    try:
        real.parent.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise write_error(exc, path) from exc
    files.replace(real, data, keeps_mode=True)


def remove(path: Path, folders: list[Path]) -> None:
    """Delete a file (but not a link to it), and its folders that are empty."""
    try:
        real = resolve_links(path)
        real.unlink(missing_ok=True)
        discard_unfinished(real)
    except OSError as exc:
        raise write_error(exc, path) from exc
    for folder in folders:
        try:
            folder.rmdir()
        except OSError:
            # Somebody has files of their own there.
            return


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def render_diff(before: bytes | None, after: bytes | None) -> str:
    """Render a diff with line numbers and without secrets."""
    old, new = ((data or b"").decode().removeprefix("\ufeff").splitlines() for data in (before, after))
    # Skip the equal lines at both ends first, because files may have thousands.
    head = _count_equal(old, new)
    tail = min(min(len(old), len(new)) - head, _count_equal(old[::-1], new[::-1]))
    old, new = old[head : len(old) - tail], new[head : len(new) - tail]
    lines: list[str] = []
    for kind, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        removed, added = old[i:j], new[k:m]
        if len(removed) == len(added) == 1 and len(added[0]) > _LONGEST_LINE // 2:
            # A file may be one long line, so only the part that differs is shown.
            start = max(0, _count_equal(removed[0], added[0]) - _CONTEXT)
            growth = max(0, len(added[0]) - len(removed[0]))
            removed = ["…" * bool(start) + removed[0][start : start + 2 * _CONTEXT]]
            added = ["…" * bool(start) + added[0][start : start + growth + 2 * _CONTEXT]]
        lines.append(f"@@ line {head + k + 1} @@")
        lines += [f"- {line[:_LONGEST_LINE]}" for line in removed]
        lines += [f"+ {line[:_LONGEST_LINE]}" for line in added]
    return redact("\n".join(lines))


def _count_equal(old: list[str] | str, new: list[str] | str) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))


# --- records --------------------------------------------------------------------------------------


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """The changes made to one file."""

    digest: str
    """Digest of the file as it was written."""
    backup: str | None
    """Name of the original's copy; None if there was no file."""
    folders: tuple[str, ...]
    """Folders created for the file, innermost first."""
    additions: tuple[Addition, ...] = ()


class Records:
    """The records of one client, in ``<home>/connections``."""

    def __init__(self, home: Path, client: str) -> None:
        self._folder = home / "connections"
        self._client = client
        self._file = self._folder / f"{client}.json"

    def lock(self) -> AbstractContextManager[None]:
        """Keep other processes from connecting or disconnecting in this home."""
        return files.lock(self._folder, _LOCK, _LOCK_SECONDS)

    def find(self, path: Path) -> Record | None:
        return self._load().get(str(path))

    def original(self, record: Record) -> bytes | None:
        """Return the original file; None if there was none, or its copy is gone."""
        return read(self._folder / record.backup) if record.backup else None

    def has_original(self, record: Record) -> bool:
        return record.backup is None or (self._folder / record.backup).is_file()

    def keep(
        self,
        path: Path,
        *,
        written: bytes,
        original: bytes | None,
        folders: list[Path],
        additions: tuple[Addition, ...] = (),
    ) -> None:
        """Record a change before it is made, with a copy of the original, under the lock."""
        backup = None
        if original is not None:
            backup = f"{self._client}-{digest(str(path).encode())[:8]}.before"
            replace(self._folder / backup, original)
        made = tuple(map(str, folders))
        record = Record(digest=digest(written), backup=backup, folders=made, additions=additions)
        self._save({**self._load(), str(path): record})

    def drop(self, path: Path) -> None:
        """Delete a file's record and the copy of its original."""
        known = self._load()
        record = known.pop(str(path), None)
        if record is None:
            return
        if record.backup:
            # First, because a copy without a record would stay forever.
            remove(self._folder / record.backup, [])
        self._save(known)

    def find_backup(self, path: Path) -> Path | None:
        record = self.find(path)
        return self._folder / record.backup if record and record.backup else None

    def _load(self) -> dict[str, Record]:
        data = read(self._file)
        try:
            return msgspec.json.decode(data, type=dict[str, Record]) if data else {}
        except msgspec.DecodeError as exc:
            raise InvalidInput(
                f"{self._file}, the record of changes for {self._client}, cannot be read: {exc}. "
                "Delete it, and remove the entry from the settings by hand."
            ) from exc

    def _save(self, known: Mapping[str, Record]) -> None:
        if known:
            replace(self._file, msgspec.json.format(msgspec.json.encode(known)) + b"\n")
        else:
            remove(self._file, [])
