"""A database as a file: snapshots, copies, compaction, checks."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import apsw

from mnemos.files import make_private, scratch_folder
from mnemos.workspace import functions
from mnemos.workspace.identifiers import SUFFIX, snapshots_of
from mnemos.workspace.limits import Quota
from mnemos.workspace.sandbox.database import Clockwork, Database, Place, open_reader
from mnemos.workspace.sandbox.failures import Failure
from mnemos.workspace.sandbox.history import find_impostor
from mnemos.workspace.usage import (
    SnapshotFile,
    choose_deleted,
    describe_full,
    find_room,
    hash_contents,
    list_snapshots,
    name_moment,
    total_bytes,
)

_A_STEP = 2_000


def keep_snapshot(database: Database, clock: Clockwork) -> Path | None:
    """Keep what is committed, without the running transaction, as a snapshot and return it.

    If the newest snapshot holds the same, that one is returned. None for an empty database. Snapshots that
    the rule does not keep are deleted.
    """
    path = database.place.path
    with closing(open_reader(path)) as committed:
        if not committed.execute("SELECT count(*) FROM sqlite_schema").get:
            return None
    folder = snapshots_of(path.parent, path.stem)
    for link in (folder, folder.parent):
        if link.is_symlink():
            raise Failure("permission_denied", f"{link} is a link. Snapshots are kept in their own folder.")
    make_private(folder)
    with scratch_folder(folder) as scratch:
        copy = scratch / f"copy{SUFFIX}"
        _copy_pages_to(path, copy)
        newest = next(iter(list_snapshots(path.parent, path.stem)), None)
        if newest is not None and _is_same(newest.path, copy):
            return newest.path
        return _put_in_place(copy, newest, database.place, clock)


def _is_same(snapshot: Path, copy: Path) -> bool:
    return _size(snapshot) == _size(copy) and hash_contents(snapshot) == hash_contents(copy)


def _put_in_place(copy: Path, newest: SnapshotFile | None, place: Place, clock: Clockwork) -> Path:
    """Make a copy the newest snapshot, regardless of the clock, and delete those that have to go."""
    moment = max(round(clock.now * 1_000_000), newest.moment + 1 if newest else 0)
    folder, name = place.path.parent, place.path.stem
    target = snapshots_of(folder, name) / f"{name_moment(moment)}{SUFFIX}"
    most = place.quota.snapshots_bytes
    deleted = choose_deleted(folder, name, SnapshotFile(target, moment, _size(copy)), most)
    if deleted is None:
        raise Failure(
            "too_large",
            f"There is no room for a snapshot of {_size(copy):,} bytes, without which nothing is dropped or "
            f"emptied. Nothing was changed. The snapshots of this space have {total_bytes(folder):,} of "
            f"{most:,} bytes: delete a database that is not needed, or raise snapshots_bytes in config.toml.",
        )
    copy.replace(target)
    for old in deleted:
        old.unlink(missing_ok=True)
    return target


def copy_file(source: Path, target: Path) -> None:
    """Copy a database that may be in use; the target is there whole or not at all."""
    with scratch_folder(target.parent) as folder:
        _copy_pages_to(source, folder / target.name)
        (folder / target.name).replace(target)


def _copy_pages_to(source: Path, target: Path) -> None:
    with closing(open_reader(source)) as from_, closing(apsw.Connection(str(target))) as to:
        # A copy that is broken off is thrown away: it needs no journal.
        to.execute("PRAGMA journal_mode = OFF")
        copy_pages(from_, to, time.sleep)
        to.execute("PRAGMA journal_mode = DELETE")


def copy_pages(source: apsw.Connection, target: apsw.Connection, wait: Callable[[float], None]) -> None:
    """Copy all pages of one connection's database over those of another."""
    with target.backup("main", source, "main") as backup:
        while not backup.done:
            try:
                backup.step(_A_STEP)
            except apsw.BusyError:
                wait(0.005)


# --- a whole database ---------------------------------------------------------------------------

_CHECKED_ROWS = 5


def compact(place: Place) -> tuple[int, int]:
    """Give unused space back; return the size before and after."""
    before = _size(place.path)
    # VACUUM needs room for a second copy: in a file next to it, not in memory.
    os.environ["SQLITE_TMPDIR"] = str(place.path.parent)
    with closing(_open_unguarded(place.path)) as connection:
        # Indexes and generated columns may call them.
        functions.register(connection)
        connection.execute("PRAGMA temp_store = FILE")
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return before, _size(place.path)


def restore(place: Place, wanted: str | None, clock: Clockwork) -> str:
    """Replace the contents by a snapshot and return its name; the contents become a snapshot themselves."""
    snapshot = _find_snapshot(place.path, wanted)
    folder, size = place.path.parent, _size(snapshot)
    if size > _size(place.path) and size > find_room(folder, place.path.stem, place.quota):
        raise Failure("too_large", f"nothing was restored: {describe_full(folder, place.quota)}")
    # Opened before the contents become a snapshot, for which the oldest has to go.
    with closing(open_reader(snapshot)) as source:
        source.execute("BEGIN; SELECT count(*) FROM sqlite_schema").get  # noqa: B018
        _keep_contents(place, clock)
        with closing(_open_unguarded(place.path)) as target:
            target.set_busy_timeout(max(int(clock.left() * 1000), 1))
            copy_pages(source, target, lambda _: _check_deadline(clock))
            target.execute("PRAGMA journal_mode = WAL")
    return snapshot.stem


def _keep_contents(place: Place, clock: Clockwork) -> None:
    """Keep the contents as a snapshot, or as a damaged file next to it."""
    try:
        with closing(Database(place, clock)) as database:
            keep_snapshot(database, clock)
    except (apsw.NotADBError, apsw.CorruptError):
        _set_aside(place.path)


def copy_database(place: Place, target: Path) -> int:
    if target.exists():
        raise Failure("already_exists", f"There is a database {target.stem!r} already. Choose another name.")
    copy_file(place.path, target)
    return _size(target)


def save(place: Place, target: Path, snapshot: str | None) -> int:
    """Write a copy of a database, or of one of its snapshots, to a file outside of the folder."""
    source = place.path if snapshot is None else _find_snapshot(place.path, snapshot)
    copy_file(source, target)
    return _size(target)


def examine(path: Path, quota: Quota, clock: Clockwork) -> list[str]:
    """Return the problems of a file that somebody else made; it is only read."""
    try:
        with closing(Database(Place(path, quota, read_only=True, is_foreign=True), clock)) as database:
            return check(database)
    except (apsw.NotADBError, apsw.CorruptError) as exc:
        return [str(exc)]


def check(database: Database) -> list[str]:
    """Return the problems that SQLite finds in a database; none when it is sound."""
    with database.own() as connection:
        found = [row[0] for row in connection.execute(f"PRAGMA quick_check({_CHECKED_ROWS})")]
    impostor = find_impostor(database)
    hides = [] if impostor is None else [f"{impostor} is named like a table of the history. Rename it there."]
    return ([] if found == ["ok"] else found) + hides


def _find_snapshot(path: Path, wanted: str | None) -> Path:
    there = [snapshot.path for snapshot in list_snapshots(path.parent, path.stem)]
    for snapshot in there:
        if wanted is None or snapshot.stem == wanted:
            return snapshot
    if not there:
        raise Failure(
            "not_found",
            f"There is no snapshot of {path.stem}. One is kept before a table is dropped or "
            "changed and before many rows are deleted.",
        )
    begun = [snapshot for snapshot in there if wanted and snapshot.stem.startswith(wanted)]
    if len(begun) == 1:
        return begun[0]
    names = ", ".join(snapshot.stem for snapshot in begun or there)
    if begun:
        raise Failure("ambiguous", f"several snapshots of {path.stem} begin with {wanted!r}: {names}")
    unknown = f"there is no snapshot {str(wanted)[:100]!r} of {path.stem}"
    raise Failure("not_found", f"{unknown}. There are {names}.")


def _set_aside(path: Path) -> None:
    """Move a file that is not a database out of the way; nothing is deleted."""
    damaged = path.with_name(f"{path.stem}.damaged")
    number = 1
    while damaged.exists():
        number += 1
        damaged = path.with_name(f"{path.stem}.damaged-{number}")
    path.rename(damaged)
    for journal in ("-wal", "-shm"):
        path.with_name(f"{path.stem}{SUFFIX}{journal}").unlink(missing_ok=True)


def _open_unguarded(path: Path) -> apsw.Connection:
    """Open a connection without a guard, for our own statements alone."""
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_NOFOLLOW
    connection = apsw.Connection(str(path), flags=flags)
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    connection.set_busy_timeout(5_000)
    return connection


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _check_deadline(clock: Clockwork) -> None:
    if clock.left() < 0:
        raise Failure("busy", "Another program has the database locked. Nothing was changed. Try again.")
