"""The process that polls for changed files, with the standard library only.

Folders and files that changed lately are checked every few seconds, all others within a minute. A program
with changed files is named to the importer, a separate process that ends when nothing changes any more.
Nothing is stored here: the ledger of imports knows what was read, so the poller can be killed at any moment.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

PAUSE: Final = 2.0
"""Seconds between two checks."""
_ROUND: Final = 60.0
# Seconds for which a changed file is checked every time.
_HOT: Final = 1_800.0
# Seconds without a change after which the importer ends.
_IDLE: Final = 30.0
# Seconds until a failed importer is restarted, doubled after each further failure.
_RETRY: Final = 30.0
_LONGEST_RETRY: Final = 600.0
_SUFFIXES: Final = (".jsonl", ".json", ".db", ".db-wal", ".md", ".zst")
_DEPTH: Final = 8

Stamp = tuple[int, int]


@dataclass(slots=True)
class Place:
    """A program's file or folder, and its state at the last check."""

    kind: str
    root: str
    only: str = ""
    """The only subfolder to search in each folder of the root."""
    folders: dict[str, int] = field(default_factory=dict)
    files: dict[str, Stamp] = field(default_factory=dict)
    hot: dict[str, float] = field(default_factory=dict)
    turn: Iterator[str] = field(default_factory=lambda: iter(()))

    def look(self, now: float, share: float) -> bool:
        """True if something changed. ``now`` is monotonic; ``share``: of older files to check."""
        changed = self._look_at_root(now)
        for folder, seen in list(self.folders.items()):
            found = _stat(folder)
            if found is None:
                del self.folders[folder]
            elif found.st_mtime_ns != seen:
                changed |= self._list(folder, self._depth(folder), now)
        watched = [path for path, at in self.hot.items() if now - at < _HOT]
        changed |= self._compare([*watched, *self._next(share)], now)
        self.hot = {path: at for path, at in self.hot.items() if now - at < _HOT and path in self.files}
        return changed

    def _look_at_root(self, now: float) -> bool:
        if self.root in self.folders:
            return False
        found = _stat(self.root)
        if found is None:
            return False
        if os.path.isdir(self.root):  # noqa: PTH112 - without pathlib, which takes memory
            return self._list(self.root, 0, now)
        # A database and its log.
        return self._compare([self.root, f"{self.root}-wal"], now)

    def _depth(self, folder: str) -> int:
        return folder[len(self.root) :].count(os.sep)

    def _list(self, folder: str, depth: int, now: float) -> bool:
        """Note a folder's files and new subfolders. Returns True if a file changed."""
        try:
            self.folders[folder] = os.stat(folder).st_mtime_ns  # noqa: PTH116
            with os.scandir(folder) as entries:
                listed = [(entry.path, entry.is_dir(follow_symlinks=False)) for entry in entries]
        except OSError:
            return False
        files = [path for path, is_dir in listed if not is_dir and path.endswith(_SUFFIXES)]
        changed = self._compare(files, now)
        for path, is_dir in listed:
            is_wanted = depth != 1 or not self.only or path.endswith(os.sep + self.only)
            if is_dir and is_wanted and depth < _DEPTH and path not in self.folders:
                changed |= self._list(path, depth + 1, now)
        return changed

    def _compare(self, paths: Sequence[str], now: float) -> bool:
        changed = False
        for path in paths:
            found = _stat(path)
            if found is None:
                self.files.pop(path, None)
                continue
            stamp = (found.st_size, found.st_mtime_ns)
            seen = self.files.get(path)
            if seen != stamp:
                self.files[path] = stamp
                if seen is not None or time.time() - found.st_mtime < _HOT:
                    self.hot[path] = now
                changed = True
        return changed

    def _next(self, share: float) -> list[str]:
        """Return the next files in turn, so that each is checked now and then."""
        number = int(len(self.files) * share) + 1
        some = [path for _, path in zip(range(number), self.turn, strict=False)]
        if len(some) < number:
            self.turn = iter(list(self.files))
        return some


def _stat(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)  # noqa: PTH116 - without pathlib
    except OSError:
        return None


class Importer:
    """The process that imports, started when needed."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self._process: subprocess.Popen[bytes] | None = None
        self._used = 0.0
        self._next_try = 0.0
        self._pause = _RETRY
        self.waiting: set[str] = set()
        self._given: set[str] = set()

    def work(self, now: float) -> None:
        """Pass waiting names to the importer; start it if needed, and end it when idle."""
        self._check(now)
        if self.waiting and now >= self._next_try:
            self._give(now)
        elif self._process is not None and not self.waiting and now - self._used >= _IDLE:
            self.close()

    def _check(self, now: float) -> None:
        if self._process is None or self._process.poll() is None:
            return
        if self._process.returncode:
            # It was killed, or the disk is full, so pass its programs again.
            self.waiting |= self._given
            self._next_try = now + self._pause
            self._pause = min(2 * self._pause, _LONGEST_RETRY)
        else:
            self._pause = _RETRY
        self._process, self._given = None, set()

    def _give(self, now: float) -> None:
        if self._process is None:
            self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE)  # noqa: S603 - ourselves
        stream = self._process.stdin
        self._given |= self.waiting
        try:
            if stream is not None:
                stream.write("".join(f"{kind}\n" for kind in sorted(self.waiting)).encode())
                stream.flush()
        except OSError:
            # It has just ended. Its programs are in `_given`.
            self._process.wait()
            self._process.returncode = self._process.returncode or 1
        self.waiting = set()
        self._used = now

    def close(self) -> None:
        """Close the input of the importer, which then finishes its work and ends."""
        if self._process is not None and self._process.stdin is not None and not self._process.stdin.closed:
            self._process.stdin.close()


def poll(places: Sequence[Place], importer: Importer, pause: float = PAUSE) -> None:
    """Poll the places until the process is stopped."""
    importer.waiting |= {place.kind for place in places if _stat(place.root) is not None}
    for place in places:
        place.look(time.monotonic(), 0.0)
    while True:
        # Monotonic, so that setting the clock back delays nothing.
        now = time.monotonic()
        importer.waiting |= {place.kind for place in places if place.look(now, pause / _ROUND)}
        importer.work(now)
        time.sleep(pause)


def main() -> None:
    """Run with one JSON argument: ``places`` (lists of arguments) and ``command``."""
    given = json.loads(sys.argv[1])
    importer = Importer(given["command"])
    try:
        poll([Place(*place) for place in given["places"]], importer, given.get("pause", PAUSE))
    except KeyboardInterrupt:
        importer.close()


if __name__ == "__main__":
    main()
