"""Checks of an open database, and the repairs that need no new file."""

from __future__ import annotations

import stat
from dataclasses import dataclass
from pathlib import Path

import apsw

from mnemos.storage.base import Check, failed, passed
from mnemos.storage.passages import PART_CHARACTERS
from mnemos.storage.queries import Queries
from mnemos.storage.sqlite import schema, vectors
from mnemos.storage.sqlite.passages import begin_index_again

SQL = Queries(Path(__file__).parent / "sql" / "doctor.sql")

# File systems on which several machines may hold the file, and locks are a matter of luck.
_NETWORK = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "fuse.sshfs", "afs", "ceph"})


@dataclass(frozen=True, slots=True)
class Mended:
    done: tuple[Check, ...]
    index_cleared: bool


def look_at(connection: apsw.Connection, path: Path | None) -> list[Check]:
    """Everything that can be checked without changing anything."""
    checks = [
        passed("sqlite", apsw.sqlite_lib_version()),
        passed("schema", f"version {schema.version_of(connection)}"),
        _integrity(connection),
        _counted(connection, "orphans", SQL.orphans, "messages without a session"),
        _counted(connection, "counters", SQL.wrong_counters, "sessions with a wrong message count"),
        *_index(connection),
        *_vectors(connection),
    ]
    if path is not None:
        checks += [_mode(path), _file_system(path)]
    return checks


def mend(connection: apsw.Connection) -> Mended:
    """Put counters and index right, inside the caller's transaction."""
    done: list[Check] = []
    if not _counted(connection, "counters", SQL.wrong_counters, "").ok:
        connection.execute(SQL.right_counters)
        done.append(passed("counters", "counted again"))
    broken = any(not check.ok for check in _index(connection))
    if broken:
        begin_index_again(connection)
        done.append(passed("index", "built again from the messages"))
    spoiled = vectors.damaged(connection)
    if spoiled:
        vectors.drop(connection, spoiled)
        done.append(passed("vectors", "the damaged ones are made again when needed"))
    return Mended(tuple(done), broken)


def _integrity(connection: apsw.Connection) -> Check:
    # The check of a full-text table trusts what the connection remembers of the index; a query makes it
    # look whether another connection changed it since.
    connection.execute(SQL.look)
    complaints = [row[0] for row in connection.execute("PRAGMA integrity_check(5)")]
    return Check("integrity", ok=complaints == ["ok"], detail="; ".join(complaints))


def _counted(connection: apsw.Connection, name: str, sql: str, what: str) -> Check:
    count = connection.execute(sql).get
    return Check(name, ok=not count, detail=f"{count} {what}" if count else "fine")


def _index(connection: apsw.Connection) -> list[Check]:
    missing = connection.execute(SQL.unindexed).get + connection.execute(SQL.unindexed_passages).get
    stale = connection.execute(SQL.stale, {"part": PART_CHARACTERS}).get
    pending = connection.execute(SQL.pending).get
    if missing or stale:
        detail = f"{missing} passages are not in the index, {stale} entries have no text"
        return [failed("index", detail)]
    return [passed("index", f"complete, {pending} messages pending")]


def _vectors(connection: apsw.Connection) -> list[Check]:
    spoiled = len(vectors.damaged(connection))
    return [failed("vectors", f"of {spoiled} models are damaged")] if spoiled else []


def _mode(path: Path) -> Check:
    mode = stat.S_IMODE(path.stat().st_mode)
    private = not mode & 0o077
    advice = "" if private else f"; others can read it: chmod 600 {path}"
    return Check("privacy", ok=private, detail=f"mode {mode:04o}{advice}")


def _file_system(path: Path) -> Check:
    kind = _kind_of_file_system(path)
    if kind in _NETWORK:
        return failed(
            "file system",
            f"{kind}: SQLite is not safe on network file systems; move the home to a local disk",
        )
    return passed("file system", kind or "local")


def _kind_of_file_system(path: Path) -> str:
    try:
        mounts = Path("/proc/mounts").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    best, kind = "", ""
    for mount in mounts:
        fields = mount.split()
        if len(fields) > 2 and len(fields[1]) >= len(best) and path.is_relative_to(fields[1]):
            best, kind = fields[1], fields[2]
    return kind
