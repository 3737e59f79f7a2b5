"""The errors that Mnemos raises.

MnemosError
├── InvalidInput            invalid_input        an argument is invalid
│   ├── TooLarge            too_large            it exceeds a limit
│   └── SqlError            sql_error            SQLite could not run a statement
├── NotFound                not_found            no such session, message, file …
├── Refused                 refused              valid, but not carried out
│   ├── AlreadyExists       already_exists
│   ├── Ambiguous           ambiguous            several things match the name
│   ├── Conflict            conflict             another writer changed it first
│   ├── Disabled            disabled             memory is switched off
│   ├── NotAllowed          not_allowed          the caller's token does not allow it
│   ├── ReadOnly            read_only
│   └── PermissionDenied    permission_denied
├── Unavailable             unavailable          may work if tried again
│   ├── Busy                busy                 another process held the database too long
│   ├── DiskFull            disk_full
│   ├── TimedOut            timed_out            stopped at its time limit
│   ├── Cancelled           cancelled            stopped because the caller cancelled it
│   └── ModelUnavailable    model_unavailable    the configured model did not answer
└── StorageError            storage_error        the database itself
    ├── NotADatabase        not_a_database       a file that is not ours
    ├── Corrupt             corrupt
    ├── DatabaseGone        database_gone        moved, replaced or deleted while open
    ├── SchemaTooNew        schema_too_new       written by a newer Mnemos
    ├── SchemaChanged       schema_changed       upgraded by another process while open
    └── EngineTooOld        engine_too_old       a SQLite with a known corruption bug

``code`` is stable and meant for programs. The message is meant for people: it names the wrong value and
says what to do. Faces translate the tree to exit codes and HTTP statuses.
"""

from __future__ import annotations


class MnemosError(Exception):
    """The root of the tree."""

    code = "error"
    advice = ""
    """Advice for a person. Faces for models leave it out."""


class InvalidInput(MnemosError):
    code = "invalid_input"


class TooLarge(InvalidInput):
    code = "too_large"


class SqlError(InvalidInput):
    code = "sql_error"


class NotFound(MnemosError):
    code = "not_found"


class Refused(MnemosError):
    code = "refused"


class AlreadyExists(Refused):
    code = "already_exists"


class Ambiguous(Refused):
    code = "ambiguous"


class Conflict(Refused):
    code = "conflict"


class Disabled(Refused):
    code = "disabled"


class NotAllowed(Refused):
    code = "not_allowed"


class ReadOnly(Refused):
    code = "read_only"


class PermissionDenied(Refused):
    code = "permission_denied"


class Unavailable(MnemosError):
    code = "unavailable"


class Busy(Unavailable):
    code = "busy"


class DiskFull(Unavailable):
    code = "disk_full"


class TimedOut(Unavailable):
    code = "timed_out"


class Cancelled(Unavailable):
    code = "cancelled"


class ModelUnavailable(Unavailable):
    code = "model_unavailable"


class StorageError(MnemosError):
    code = "storage_error"


class NotADatabase(StorageError):
    code = "not_a_database"


class Corrupt(StorageError):
    code = "corrupt"


class DatabaseGone(StorageError):
    code = "database_gone"


class SchemaTooNew(StorageError):
    code = "schema_too_new"


class SchemaChanged(StorageError):
    code = "schema_changed"


class EngineTooOld(StorageError):
    code = "engine_too_old"


def how_to_install(extra: str) -> str:
    """Return a sentence that names the extra that installs a missing package."""
    # Its weights are a separate package, in a folder of the repository.
    weights = "./reranker " if extra == "deep" else ""
    return f"Run `pip install 'mnemos[{extra}]'`, or in a clone `pip install {weights}'.[{extra}]'`."
