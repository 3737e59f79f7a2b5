"""Copies of a database as it was before something was taken away."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import apsw

from mnemos.files import is_running, make_private
from mnemos.workspace import limits
from mnemos.workspace.identifiers import SUFFIX, snapshots_of
from mnemos.workspace.sandbox.database import Database
from mnemos.workspace.sandbox.failures import Failure
from mnemos.workspace.sandbox.reading import reader

_UNFINISHED = ".unfinished"
_A_STEP = 2_000


def keep(database: Database) -> Path | None:
    """Copy what is committed; the transaction at work is not in it. Nothing there: nothing is kept."""
    path = database.place.path
    with closing(reader(path)) as committed:
        if not committed.execute("SELECT count(*) FROM sqlite_schema").get:
            return None
    folder = snapshots_of(path.parent, path.stem)
    for link in (folder, folder.parent):
        if link.is_symlink():
            raise Failure(
                "permission_denied", f"{link} is a link; snapshots are kept in a folder of their own"
            )
    make_private(folder)
    moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    target = folder / f"{moment}{SUFFIX}"
    copy(path, target)
    for old in listed(path)[limits.SNAPSHOTS.value :]:
        old.unlink(missing_ok=True)
    return target


def _tidy(unfinished: Path) -> None:
    """Remove what a worker left that was killed in the middle of a copy."""
    process = unfinished.name.partition(_UNFINISHED)[0].rpartition(".")[2]
    if process.isdecimal() and not is_running(int(process)):
        unfinished.unlink(missing_ok=True)


def listed(path: Path) -> list[Path]:
    """The snapshots of a database, newest first."""
    folder = snapshots_of(path.parent, path.stem)
    if folder.is_symlink() or folder.parent.is_symlink():
        return []
    return sorted(folder.glob(f"*{SUFFIX}"), reverse=True)


def copy(source: Path, target: Path) -> None:
    """Copy a database that may be in use; the target is there whole or not at all."""
    for left in target.parent.glob(f"*{_UNFINISHED}*"):
        _tidy(left)
    unfinished = target.with_name(f"{target.name}.{os.getpid()}{_UNFINISHED}")
    try:
        with closing(reader(source)) as from_, closing(apsw.Connection(str(unfinished))) as to:
            # A copy that is broken off is thrown away: it needs no journal.
            to.execute("PRAGMA journal_mode = OFF")
            transfer(from_, to, time.sleep)
            to.execute("PRAGMA journal_mode = DELETE")
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


def transfer(source: apsw.Connection, target: apsw.Connection, wait: Callable[[float], None]) -> None:
    """Copy all pages of one connection's database over those of another."""
    with target.backup("main", source, "main") as backup:
        while not backup.done:
            try:
                backup.step(_A_STEP)
            except apsw.BusyError:
                wait(0.005)
