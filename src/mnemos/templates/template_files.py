"""Template files: one per template in a folder, replaced atomically."""

from __future__ import annotations

import os
import stat
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

from mnemos import files
from mnemos.errors import Corrupt, NotFound, PermissionDenied, Refused, TooLarge, Unavailable
from mnemos.inputs import suggest
from mnemos.storage.texts import Texts

SUFFIX: Final = ".json"
MAX_BYTES: Final = 4 * 1024 * 1024
_CLOCK_TICK_NS: Final = 2_000_000_000

Change = Callable[[str | None], str | None]
"""Maps the present text, or None, to the new one. Returning None or raising changes nothing."""


def unknown_template(name: str, known: Iterable[str]) -> NotFound:
    """Return the error for a name that no template has; it names the nearest one."""
    meant = suggest(name, known)
    return NotFound(f"There is no template {name[:80]!r}.{meant} `mnemos templates list` lists them.")


class TemplatesInMemory:
    """Templates of a memory without a home, with the methods of ``TemplateFolder``."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._times: dict[str, float] = {}
        self._lock = threading.RLock()

    def names(self) -> list[str]:
        return sorted(self._texts)

    def read(self, name: str) -> str:
        try:
            return self._texts[name]
        except KeyError:
            raise unknown_template(name, self.names()) from None

    def change(self, name: str, change: Change, at: float) -> None:
        with self._lock:
            after = change(self._texts.get(name))
            if after is not None:
                self._texts[name] = after
                self._times[name] = at

    def changed_at(self, name: str) -> float:
        return self._times.get(name, 0.0)

    def remove(self, name: str) -> bool:
        with self._lock:
            return self._texts.pop(name, None) is not None

    def states(self) -> dict[str, object]:
        return dict(self._texts)

    def place(self, name: str) -> str:
        return name


class TemplateFolder:
    """Texts by name: files in a folder, private to their owner, changed by one process at a time."""

    def __init__(self, folder: Path, *, busy_seconds: float) -> None:
        self._folder = folder
        self._busy_seconds = busy_seconds

    def names(self) -> list[str]:
        """Return all names, including unreadable files and names that no template can have."""
        return sorted(name for name, _ in self._entries())

    def read(self, name: str) -> str:
        """Return a text. Raises NotFound, and Corrupt, TooLarge or Refused if it is not a text."""
        path = self._path(name)
        try:
            found = path.stat()
            if not stat.S_ISREG(found.st_mode):
                raise Refused(f"{path} is not a file. Move it elsewhere.")
            if found.st_size > MAX_BYTES:
                raise TooLarge(f"{path} has {found.st_size:,} bytes. The limit is {MAX_BYTES:,}.")
            data = path.read_bytes()
        except FileNotFoundError:
            raise unknown_template(name, self.names()) from None
        except PermissionError as exc:
            raise PermissionDenied(f"{path} can't be read. Give its owner access to it.") from exc
        except OSError as exc:
            raise Unavailable(f"{path} can't be read: {exc.strerror}") from exc
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as exc:
            raise Corrupt(f"{path} is not UTF-8 text ({exc.reason} at byte {exc.start})") from exc

    def change(self, name: str, change: Change, at: float) -> None:
        """Replace a text, last changed at ``at``. An unreadable file is not replaced, but raises."""
        with files.lock(self._folder, ".lock", self._busy_seconds):
            try:
                before: str | None = self.read(name)
            except NotFound:
                before = None
            after = change(before)
            if after is not None and after != before:
                files.replace(self._path(name), after.encode(), alone=True)
            if after is not None:
                os.utime(self._path(name), (at, at))

    def changed_at(self, name: str) -> float:
        """Return when a text was last changed; 0 if there is none."""
        try:
            return self._path(name).stat().st_mtime
        except OSError:
            return 0.0

    def remove(self, name: str) -> bool:
        """Delete a text, readable or not; False if there is none."""
        path = self._path(name)
        if not os.path.lexists(path):
            return False
        with files.lock(self._folder, ".lock", self._busy_seconds):
            try:
                path.unlink()
            except FileNotFoundError:
                return False
            except OSError as exc:
                raise files.write_error(exc, path) from exc
        return True

    def states(self) -> dict[str, object]:
        """Return, by name, a value that changes whenever the text does."""
        # A file may be written twice within one tick of the file system's clock.
        settled = time.time_ns() - _CLOCK_TICK_NS
        return {
            name: signature if signature and signature[-1] < settled else object()
            for name, signature in self._entries()
        }

    def place(self, name: str) -> str:
        """Return where the text is, for people."""
        return str(self._path(name))

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}{SUFFIX}"

    def _entries(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        """Yield names, each with a signature that changes when the file does."""
        try:
            with os.scandir(self._folder) as entries:
                for entry in entries:
                    name = entry.name
                    if name.endswith(SUFFIX) and not name.startswith("."):
                        yield name.removesuffix(SUFFIX), _signature(entry)
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as exc:
            raise Unavailable(f"{self._folder} can't be read: {exc.strerror}") from exc


class TemplatesInDatabase:
    """Templates in a database that several machines share, with the methods of ``TemplateFolder``."""

    def __init__(self, texts: Texts, folder: str) -> None:
        self._texts = texts
        self._folder = folder

    def names(self) -> list[str]:
        return sorted(self.states())

    def read(self, name: str) -> str:
        text = self._texts.read(self.place(name))
        if text is None:
            raise unknown_template(name, self.names())
        return text.content

    def change(self, name: str, change: Change, at: float) -> None:
        self._texts.change(self.place(name), change, at)

    def changed_at(self, name: str) -> float:
        text = self._texts.read(self.place(name))
        return 0.0 if text is None else text.changed_at

    def remove(self, name: str) -> bool:
        return self._texts.remove(self.place(name))

    def states(self) -> dict[str, object]:
        versions = self._texts.versions(self._folder)
        return {name.removesuffix(SUFFIX): version for name, version in versions.items()}

    def place(self, name: str) -> str:
        return f"{self._folder}/{name}{SUFFIX}"


TemplateFiles = TemplateFolder | TemplatesInMemory | TemplatesInDatabase


def _signature(entry: os.DirEntry[str]) -> tuple[int, ...]:
    try:
        found = entry.stat()
    except OSError:
        # A dangling link, or deleted since.
        return ()
    # The time of the last change can be set, as that of a version from another machine.
    return found.st_ino, found.st_size, found.st_mtime_ns, max(found.st_mtime_ns, found.st_ctime_ns)
