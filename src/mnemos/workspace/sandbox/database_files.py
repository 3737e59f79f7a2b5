"""What is done to a database as a whole: compacted, copied, restored, checked."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw

from mnemos.workspace.functions import catalog
from mnemos.workspace.identifiers import SUFFIX
from mnemos.workspace.sandbox import snapshots
from mnemos.workspace.sandbox.database import Clockwork, Database, Place
from mnemos.workspace.sandbox.failures import Failure
from mnemos.workspace.sandbox.reading import reader

_CHECKED_ROWS = 5


def compact(place: Place) -> dict[str, Any]:
    """Give unused space back; how large the file was and is."""
    before = _size(place.path)
    # VACUUM needs room for a second copy: in a file beside, not in memory.
    os.environ["SQLITE_TMPDIR"] = str(place.path.parent)
    with closing(_plain(place.path)) as connection:
        # Indexes and generated columns may call them.
        catalog.register(connection)
        connection.execute("PRAGMA temp_store = FILE")
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return {"before": before, "after": _size(place.path)}


def restore(place: Place, wanted: str | None, clock: Clockwork) -> dict[str, Any]:
    """Put a snapshot in the place of the contents, which become a snapshot themselves."""
    snapshot = _wanted(place.path, wanted)
    # Opened before the contents become a snapshot, for which the oldest has to go.
    with closing(reader(snapshot)) as source:
        source.execute("BEGIN; SELECT count(*) FROM sqlite_schema").get  # noqa: B018
        former = _kept(place, clock)
        with closing(_plain(place.path)) as target:
            target.set_busy_timeout(max(int(clock.left() * 1000), 1))
            snapshots.transfer(source, target, lambda _: _expire(clock))
            target.execute("PRAGMA journal_mode = WAL")
    return {"restored": snapshot.stem, "former": former.stem if former else None}


def _kept(place: Place, clock: Clockwork) -> Path | None:
    """Where the contents were put: a snapshot, or a damaged file beside."""
    try:
        with closing(Database(place, clock)) as database:
            return snapshots.keep(database)
    except (apsw.NotADBError, apsw.CorruptError):
        return _set_aside(place.path)


def copy(place: Place, target: Path) -> dict[str, Any]:
    if target.exists():
        raise Failure("already_exists", f"there is a database {target.stem!r} already; choose another name")
    snapshots.copy(place.path, target)
    return {"size_bytes": _size(target)}


def save(place: Place, target: Path, snapshot: str | None) -> dict[str, Any]:
    """Write a copy of a database, or of one of its snapshots, to a file outside of the folder."""
    source = place.path if snapshot is None else _wanted(place.path, snapshot)
    snapshots.copy(source, target)
    return {"size_bytes": _size(target)}


def examine(path: Path, most_bytes: int, clock: Clockwork) -> dict[str, Any]:
    """What SQLite finds wrong with a file that somebody else made; it is only read."""
    try:
        with closing(Database(Place(path, most_bytes, read_only=True), clock)) as database:
            return check(database)
    except (apsw.NotADBError, apsw.CorruptError) as exc:
        return {"problems": [str(exc)]}


def check(database: Database) -> dict[str, Any]:
    """What SQLite finds wrong with a database; nothing when it is sound."""
    with database.own() as connection:
        found = [row[0] for row in connection.execute(f"PRAGMA quick_check({_CHECKED_ROWS})")]
    return {"problems": [] if found == ["ok"] else found}


def _wanted(path: Path, wanted: str | None) -> Path:
    there = snapshots.listed(path)
    for snapshot in there:
        if wanted is None or snapshot.stem == wanted:
            return snapshot
    if not there:
        raise Failure(
            "not_found", f"there is no snapshot of {path.stem}; one is kept before something is taken away"
        )
    names = ", ".join(snapshot.stem for snapshot in there)
    unknown = f"there is no snapshot {str(wanted)[:100]!r} of {path.stem}"
    raise Failure("not_found", f"{unknown}; there are {names}")


def _set_aside(path: Path) -> Path:
    """Move a file that is no database out of the way; nothing is thrown away."""
    damaged = path.with_name(f"{path.stem}.damaged")
    number = 1
    while damaged.exists():
        number += 1
        damaged = path.with_name(f"{path.stem}.damaged-{number}")
    path.rename(damaged)
    for journal in ("-wal", "-shm"):
        path.with_name(f"{path.stem}{SUFFIX}{journal}").unlink(missing_ok=True)
    return damaged


def _plain(path: Path) -> apsw.Connection:
    """A connection for statements of ours alone: it has no guard, since no text of the agent's runs on it."""
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_NOFOLLOW
    connection = apsw.Connection(str(path), flags=flags)
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    connection.set_busy_timeout(5_000)
    return connection


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _expire(clock: Clockwork) -> None:
    if clock.left() < 0:
        raise Failure("busy", "another program holds the database; nothing was changed. Try again")
