"""What was written into which settings: ``<home>/connections`` remembers it, and what stood there before."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec

from mnemos import files
from mnemos.errors import InvalidInput
from mnemos.integrations.clients import config_files
from mnemos.integrations.clients.edits import Written

FOLDER: Final = "connections"
_LOCK: Final = ".lock"
_SECONDS: Final = 30.0


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """What was done to one file."""

    digest: str
    """Of the file as it was left."""
    backup: str | None
    """The name of the copy of what stood there before; None: there was no file."""
    folders: tuple[str, ...]
    """Those that were made for it, the innermost first."""
    written: tuple[Written, ...] = ()


class Records:
    """The records of one client in one home."""

    def __init__(self, home: Path, client: str) -> None:
        self._folder = home / FOLDER
        self._client = client
        self._file = self._folder / f"{client}.json"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Nobody else connects or disconnects with this home meanwhile."""
        with files.locked(self._folder, _LOCK, _SECONDS):
            yield

    def of(self, path: Path) -> Kept | None:
        return self._all().get(str(path))

    def original(self, kept: Kept) -> bytes | None:
        """What stood there before; None when there was no file, or the copy is gone."""
        return config_files.read(self._folder / kept.backup) if kept.backup else None

    def has_original(self, kept: Kept) -> bool:
        return kept.backup is None or (self._folder / kept.backup).is_file()

    def keep(
        self, path: Path, *, digest: str, original: bytes | None, folders: list[Path], written: list[Written]
    ) -> None:
        """Remember what is being done, before it is done; for who holds the lock."""
        backup = self._copy_name(path) if original is not None else None
        if backup and original is not None:
            config_files.replace(self._folder / backup, original)
        kept = Kept(digest=digest, backup=backup, folders=tuple(map(str, folders)), written=tuple(written))
        self._save({**self._all(), str(path): kept})

    def drop(self, path: Path) -> None:
        """Forget about a file, and the copy of it."""
        known = self._all()
        kept = known.pop(str(path), None)
        if kept is None:
            return
        if kept.backup:
            # First: a copy without a record would stay for ever, a record without a copy is dropped again.
            config_files.remove(self._folder / kept.backup, [])
        self._save(known)

    def backup_of(self, path: Path) -> Path | None:
        kept = self.of(path)
        return self._folder / kept.backup if kept and kept.backup else None

    def _copy_name(self, path: Path) -> str:
        return f"{self._client}-{digest_of(str(path).encode())[:8]}.before"

    def _all(self) -> dict[str, Kept]:
        data = config_files.read(self._file)
        if not data:
            return {}
        try:
            return msgspec.json.decode(data, type=dict[str, Kept])
        except msgspec.DecodeError as exc:
            raise InvalidInput(
                f"{self._file}, which remembers what was written for {self._client}, cannot be read: {exc}; "
                "remove it, and take the entry out by hand"
            ) from exc

    def _save(self, known: Mapping[str, Kept]) -> None:
        if known:
            config_files.replace(self._file, msgspec.json.format(msgspec.json.encode(known)) + b"\n")
        else:
            config_files.remove(self._file, [])


def digest_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
