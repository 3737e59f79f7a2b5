"""Check a database and repair it, in place or by copying what is readable to a new file."""

from __future__ import annotations

import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from mnemos.errors import Corrupt
from mnemos.files import name_beside
from mnemos.setting_values import Durability
from mnemos.storage.base import Check, check_count, report_ok, report_problem
from mnemos.storage.imports import KEY_BITS
from mnemos.storage.passages import PART_CHARACTERS
from mnemos.storage.queries import Queries
from mnemos.storage.sqlite import schema
from mnemos.storage.sqlite.connection import (
    SqliteTransaction,
    connect,
    create_private,
    patience,
    rows,
    translate_error,
)
from mnemos.storage.sqlite.files import check_remains, find_rescued, move_all
from mnemos.storage.sqlite.word_index import begin_index_again
from mnemos.storage.stores.vectors import check_vectors

SQL = Queries(Path(__file__).parent / "sql" / "doctor.sql")
VECTORS_SQL = Queries(Path(__file__).parent / "sql" / "vectors.sql")

# File systems shared by several machines, on which locks are unreliable.
_NETWORK = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "fuse.sshfs", "afs", "ceph"})

# The columns of each table to copy, by their position in the schema; the others are rebuilt.
_TABLES = {
    "spaces": range(3),
    "sessions": range(24),
    "session_details": range(4),
    "messages": (*range(12), 13, 14, 15),
    "passages": (*range(8), 9, 10, 11),
    "audit": range(9),
    "backups": range(2),
    "scopes": range(7),
    "facts": range(21),
    "fact_conflicts": range(5),
    "entry_users": range(3),
    "entries": (*range(8), *range(12, 16)),
    "imported_files": range(10),
    "imported": range(3),
    "tombstones": range(5),
}
# Columns missing from a file that was damaged before its migration.
_LATER = frozenset(
    {
        "passages", "scopes", "facts", "fact_conflicts", "entry_users", "entries", "imported_files",
        "imported", "tombstones",
    }
)  # fmt: skip
_BATCH = 500
_SECONDS = 10.0
_FARTHEST = 1 << KEY_BITS
# The number of ids to try one by one before leaping further, which may skip readable rows.
_PATIENCE = 20_000
# Suffix of a finished copy until it replaces the damaged file.
_SAVED = ".saved"


@dataclass(frozen=True, slots=True)
class Repaired:
    done: tuple[Check, ...]
    index_cleared: bool


def look_at(connection: apsw.Connection, path: Path | None) -> list[Check]:
    """Run all checks that change nothing."""
    # The check of a full-text table trusts the connection's cache of the index. A query makes it notice
    # changes by other connections.
    connection.execute(SQL.look)
    complaints = [row[0] for row in connection.execute("PRAGMA integrity_check(5)")]
    of_index = [complaint for complaint in complaints if _is_of_index(complaint)]
    of_file = [complaint for complaint in complaints if complaint not in of_index and complaint != "ok"]
    wrong = connection.execute(SQL.wrong_counters).get
    checks = [
        report_ok("sqlite", apsw.sqlite_lib_version()),
        report_ok("schema", f"version {schema.version_of(connection)}"),
        Check("integrity", ok=not of_file, detail="; ".join(of_file) or "ok"),
        check_count("orphans", connection.execute(SQL.orphans).get, "messages without a session"),
        check_count("counters", wrong, "sessions whose message count is wrong"),
        _check_index(connection, of_index),
        *check_vectors(SqliteTransaction(connection), VECTORS_SQL),
    ]
    if path is not None:
        checks += [_check_mode(path), _check_file_system(path), *_check_rescued(path)]
    return checks


def repair(connection: apsw.Connection) -> Repaired:
    """Repair counters, index and vectors, inside the caller's transaction."""
    done: list[Check] = []
    if connection.execute(SQL.wrong_counters).get:
        connection.execute(SQL.right_counters)
        done.append(report_ok("counters", "counted again"))
    complaints = [row[0] for row in connection.execute(SQL.check_index)]
    broken = not _check_index(connection, [each for each in complaints if _is_of_index(each)]).ok
    if broken:
        begin_index_again(connection)
        done.append(report_ok("index", "built again from the messages"))
    done += check_vectors(SqliteTransaction(connection), VECTORS_SQL, repair=True)
    return Repaired(tuple(done), broken)


def _is_of_index(complaint: str) -> bool:
    """True if only the full-text index is damaged, which can be rebuilt."""
    return "fts5" in complaint.lower()


def _check_index(connection: apsw.Connection, complaints: list[str]) -> Check:
    missing = connection.execute(SQL.unindexed).get + connection.execute(SQL.unindexed_passages).get
    stale = connection.execute(SQL.stale, {"part": PART_CHARACTERS}).get
    pending = connection.execute(SQL.pending).get
    left = 0 if complaints else _count_left_words(connection)
    if missing or stale:
        complaints = [*complaints, f"{missing} passages are not in the index, {stale} entries have no text"]
    if left:
        complaints = [*complaints, f"{left} words of deleted messages are still in the index"]
    detail = "; ".join(complaints) or f"complete, {pending} messages pending"
    return Check("index", ok=not complaints, detail=detail)


def _count_left_words(connection: apsw.Connection) -> int:
    """Count words that a deletion missed because the index was damaged, and that were merged since."""
    connection.execute(SQL.open_words)
    try:
        count: int = connection.execute(SQL.left_words).get
    finally:
        connection.execute(SQL.close_words)
    return count


def _check_mode(path: Path) -> Check:
    mode = stat.S_IMODE(path.stat().st_mode)
    private = not mode & 0o077
    advice = "" if private else f"; others can read it: chmod 600 {path}"
    return Check("privacy", ok=private, detail=f"mode {mode:04o}{advice}")


def _check_file_system(path: Path) -> Check:
    kind = _kind_of_file_system(path)
    if kind in _NETWORK:
        return report_problem(
            "file system",
            f"{kind}: SQLite is not safe on network file systems; move the home to a local disk",
        )
    return report_ok("file system", kind or "local")


def _check_rescued(path: Path) -> list[Check]:
    return [
        report_problem("rescued", f"{file} was saved when the database was gone. Restore it, or delete it")
        for file in find_rescued(path)
    ]


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


@dataclass(frozen=True, slots=True)
class Salvaged:
    """The number of rows copied from each table, and the new path of the damaged file."""

    rows: dict[str, int]
    damaged: Path


def salvage(path: Path) -> Salvaged:
    """Copy every readable row to a new file, which replaces the damaged one.

    Processes with the damaged file open wait in the meantime, and continue with the new one.
    """
    check_remains(path)
    fresh = path.with_name(path.name + ".salvage")
    _remove(fresh)
    try:
        with _hold_writers(path) as former_mark:
            damaged = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
            try:
                counts = copy_rows(damaged, fresh, former_mark)
            finally:
                damaged.close()
            kept = name_beside(path, "damaged")
            fresh.rename(kept.with_name(kept.name + _SAVED))
            finish(path)
    except apsw.Error as exc:
        raise translate_error(exc, str(path)) from exc
    finally:
        _remove(fresh)
    return Salvaged(counts, kept)


@contextmanager
def _hold_writers(path: Path) -> Iterator[int]:
    """Keep others from writing to the file, and make them reopen it afterwards.

    Yields the mark of the file: 0 if it is too damaged for that, and then nobody can write to it.
    """
    holder = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOFOLLOW)
    try:
        holder.set_busy_handler(patience(_SECONDS))
        try:
            holder.execute("BEGIN IMMEDIATE")
            mark = schema.mark_of(holder)
        except (apsw.CorruptError, apsw.NotADBError):
            yield 0
            return
        yield mark
        with suppress(apsw.CorruptError):
            schema.move_on(holder, mark)
            holder.execute("COMMIT")
    finally:
        holder.close()


def copy_rows(damaged: apsw.Connection, fresh: Path, former_mark: int = 0) -> dict[str, int]:
    """Copy what can be read to a new file; return the rows of each table. Raises Corrupt if none can."""
    # Allows reading a file that is shorter than its header says.
    damaged.config(apsw.SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1)
    create_private(fresh)
    target = connect(str(fresh), read_only=False, durability=Durability.FULL, busy_seconds=_SECONDS)
    try:
        schema.migrate(target)
        counts = _copy_all(damaged, target)
        schema.move_on(target, max(former_mark, schema.mark_of(target)))
        # A single file, without a log next to it.
        target.execute("PRAGMA journal_mode = DELETE")
    finally:
        target.close()
    if not any(counts.values()):
        raise Corrupt(f"Nothing in {damaged.filename} can be read. Run `mnemos restore` with a backup.")
    return counts


def finish(path: Path) -> None:
    """Replace the damaged file by the salvaged one; also completes an interrupted replacement.

    The name under which the new file waits says where the old one goes, so every step can be repeated.
    """
    for saved in path.parent.glob(f"{path.stem}.damaged-*{path.suffix}{_SAVED}"):
        kept = saved.with_name(saved.name.removesuffix(_SAVED))
        move_all(path, kept)
        saved.rename(path)


def _copy_all(damaged: apsw.Connection, target: apsw.Connection) -> dict[str, int]:
    counts: dict[str, int] = {}
    # Rows are inserted regardless of references: a lost parent must not lose its child.
    target.execute("PRAGMA foreign_keys = OFF")
    with target:
        for table, columns in _TABLES.items():
            counts[table] = 0
            if table in _LATER and not _has_table(damaged, table):
                continue
            read, write = getattr(SQL, f"read_{table}"), getattr(SQL, f"write_{table}")
            for row in _read_rows(damaged, read):
                if table == "messages" and _is_half(row):
                    continue
                counts[table] += _try_insert(target, write, _columns(row, columns))
        target.execute(SQL.lost_spaces)
        target.execute(SQL.lost_sessions)
        target.execute(SQL.lost_parents)
        target.execute(SQL.lost_details)
        target.execute(SQL.lost_scopes)
        target.execute(SQL.lost_conflicts)
        target.execute(SQL.lost_users)
        # Rebuilt from the entries, like their words and vectors.
        target.execute(SQL.passages_of_entries)
        target.execute(SQL.next_messages)
        target.execute(SQL.next_passages)
        target.execute(SQL.counters)
        begin_index_again(target)
    return counts


def _columns(row: tuple[Any, ...], wanted: Iterable[int]) -> list[Any]:
    """Return the wanted columns of a row without its rowid; None for columns added later."""
    return [row[1 + place] if 1 + place < len(row) else None for place in wanted]


def _try_insert(target: apsw.Connection, write: str, columns: list[Any]) -> bool:
    """Insert a row; False if damage made it violate a constraint."""
    try:
        target.execute(write, columns)
    except apsw.ConstraintError:
        return False
    return True


def _has_table(connection: apsw.Connection, table: str) -> bool:
    return bool(rows(connection, SQL.has_table, (table,)))


def _is_half(row: tuple[Any, ...]) -> bool:
    """True if a text was cut off with the file: no text is stored with a NUL in it."""
    return any(isinstance(item, str) and "\0" in item for item in row)


def _read_rows(connection: apsw.Connection, sql: str) -> Iterator[tuple[Any, ...]]:
    """Yield the rows by rowid, skipping damaged pages."""
    position, size, failures = 0, _BATCH, 0
    while position < _FARTHEST:
        try:
            page = rows(connection, sql, (position, size))
        except (apsw.CorruptError, apsw.TooBigError, apsw.NoMemError, UnicodeDecodeError):
            if size == 1:
                failures += 1
                position += 1 << max(0, failures - _PATIENCE)
            size = 1
            continue
        # A page that was cut off reads as zeros, which gives endless rows with the same number.
        sound = [row for row in page if row[0] >= position]
        yield from sound
        if len(page) < size:
            return
        position, size, failures = max((row[0] for row in sound), default=position) + 1, _BATCH, 0


def _remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
