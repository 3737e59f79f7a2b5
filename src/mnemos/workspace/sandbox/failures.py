"""Errors of SQLite in our words. A failure crosses to the host."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import apsw

from mnemos.errors import MnemosError
from mnemos.workspace import limits
from mnemos.workspace.functions.function import FunctionFailed
from mnemos.workspace.identifiers import shorten as short
from mnemos.workspace.limits import MB
from mnemos.workspace.usage import describe_full, find_room

if TYPE_CHECKING:
    from mnemos.workspace.sandbox.database import Clockwork, Database, Place


class Failure(Exception):
    """Something that the host raises to its caller: a code of the error tree and a message."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.statement: int | None = None
        """The number of the failed statement, from 1."""
        self.sql = ""
        self.said = ""
        """SQLite's own words, where a hint can be given for them."""
        self.offset: int | None = None


def explain(exc: BaseException, database: Database, clock: Clockwork) -> Failure:
    """Return the failure for an error in a call; an unknown error is raised again."""
    if isinstance(exc, Failure):
        return exc
    if isinstance(exc, FunctionFailed):
        return Failure("sql_error", short(str(exc), _LONGEST))
    if isinstance(exc, MnemosError):
        return Failure(exc.code, str(exc))
    if isinstance(exc, apsw.BindingsError):
        return Failure("invalid_input", _explain_bindings(str(exc)))
    if isinstance(exc, UnicodeDecodeError):
        return Failure(
            "sql_error",
            "A text passed to a function is not UTF-8. Pass CAST(column AS BLOB) instead: the function reads "
            "as much of it as it can.",
        )
    if isinstance(exc, KeyError):
        return Failure("invalid_input", f"No value was given for {exc}. Pass one for every :name.")
    if isinstance(exc, apsw.Error):
        return explain_file_error(exc, database.place, clock, refusal=database.guard.refusal)
    if isinstance(exc, MemoryError):
        return memory_failure()
    if isinstance(exc, OverflowError):
        return Failure("invalid_input", limits.NUMBER_TOO_LARGE)
    if isinstance(exc, TypeError | ValueError):
        return Failure("invalid_input", f"a value cannot be bound: {short(str(exc), _LONGEST)}")
    raise exc


def _explain_bindings(said: str) -> str:
    counts = _COUNTS.search(said)
    if counts:
        several = "s" * (counts[1] != "1")
        return f"The statement takes {counts[1]} value{several}, not {counts[2]}. Pass one for every ?."
    if "has no name" in said:
        return "The statement has a ?, but its values have names. Pass a list, or write :name instead of ?."
    return f"The values do not fit the statement: {said}"


def explain_file_error(exc: apsw.Error, place: Place, clock: Clockwork, *, refusal: str = "") -> Failure:
    """Return the failure for an error with a file; a full disk differs from a full database."""
    if isinstance(exc, apsw.FullError) and _disk_is_full(place):
        return Failure("disk_full", "The disk is full. Nothing of this call was kept.")
    if isinstance(exc, apsw.FullError) and _space_is_full(place):
        full = describe_full(place.path.parent, place.quota)
        return Failure("too_large", f"nothing of this call was kept, everything before is there: {full}")
    return _translate(exc, refusal=refusal, clock=clock)


def _translate(exc: apsw.Error, *, clock: Clockwork, refusal: str) -> Failure:
    """Return the failure for an error of SQLite's; ``refusal`` is the guard's reason, if any."""
    if clock.passed:
        return timeout_failure(clock.seconds)
    if refusal and isinstance(exc, apsw.AuthError | apsw.SQLError):
        return Failure("refused", f"{refusal}. Nothing was changed.")
    for kind, code, message in _KINDS:
        if isinstance(exc, kind):
            return Failure(code, message.replace("{said}", short(str(exc), _LONGEST)))
    failure = Failure("sql_error", short(str(exc), _LONGEST))
    failure.said = str(exc)
    offset = getattr(exc, "error_offset", -1)
    failure.offset = offset if offset >= 0 else None
    return failure


def timeout_failure(seconds: float) -> Failure:
    return Failure(
        "timed_out",
        f"The call took longer than its {seconds:g} s and was stopped. Nothing was changed. Ask for less: "
        "add a WHERE or a LIMIT, join on a key, or pass a longer timeout.",
    )


def _disk_is_full(place: Place) -> bool:
    """True if the disk is full: SQLite reports a database at its limit the same way."""
    room = os.statvfs(place.path.parent)
    return room.f_bavail * room.f_frsize < place.quota.database_bytes


def _space_is_full(place: Place) -> bool:
    """True if it is the total of the space that keeps a database from its own limit."""
    return find_room(place.path.parent, place.path.stem, place.quota) < place.quota.database_bytes


def too_long_failure() -> Failure:
    return Failure("too_large", _TOO_BIG)


def undecodable_failure() -> Failure:
    return Failure(
        "sql_error",
        "The database has names that are not UTF-8, made by another program. Name the columns that you "
        "want, or rename those that cannot be read there.",
    )


def memory_failure() -> Failure:
    return Failure("too_large", _NO_MEMORY)


_COUNTS = re.compile(r"uses (\d+) and there are (?:only )?(\d+)")
# SQLite repeats names in its messages, however long they are.
_LONGEST = 500
_NO_MEMORY = (
    f"The call needs more memory than the sandbox has ({limits.HEAP.value // MB} MB). Nothing was changed. "
    "Work on fewer rows or shorter values at a time. To insert many, pass rows or import a file."
)
_TOO_BIG = (
    f"A value would be larger than {limits.LENGTH.value // MB} MB, or a query longer than "
    f"{limits.SQL_LENGTH.value // MB} MB. Keep it in several rows, and pass rows or import a file."
)
_KINDS = (
    (apsw.TooBigError, "too_large", _TOO_BIG),
    (
        apsw.FullError,
        "too_large",
        "the database is full: nothing of this call was kept, everything before is there. Delete what is not "
        "needed and run `mnemos workspace compact`, or raise database_bytes in config.toml",
    ),
    (apsw.NoMemError, "too_large", _NO_MEMORY),
    (
        apsw.BusyError,
        "busy",
        "Another program has the database locked. Nothing was changed. Try again, or find out which one.",
    ),
    (apsw.LockedError, "busy", "Another statement has the table locked. Nothing was changed. Try again."),
    (apsw.ReadOnlyError, "read_only", "This call may only read. Nothing was changed."),
    (
        apsw.NotADBError,
        "not_a_database",
        "The file of this database is not a SQLite database. Nothing was changed. `mnemos workspace "
        "snapshots` lists what can be restored.",
    ),
    (
        apsw.CorruptError,
        "corrupt",
        "The file of this database is damaged ({said}). `mnemos workspace snapshots` lists what can be "
        "restored.",
    ),
    (
        apsw.CantOpenError,
        "storage_error",
        "the file of this database cannot be opened ({said}): is it a link, a folder, without "
        "permission, or on a disk that can only be read?",
    ),
    (
        apsw.IOError,
        "storage_error",
        "The file of this database cannot be read or written ({said}). Nothing was changed. Is the disk "
        "full, or the file cut short?",
    ),
)
