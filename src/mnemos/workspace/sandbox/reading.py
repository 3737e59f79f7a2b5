"""Opening a database that is only read, also on a disk that cannot be written."""

from __future__ import annotations

from pathlib import Path

import apsw

from mnemos.workspace.sandbox.failures import Failure

_FLAGS = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_NOFOLLOW


def reader(path: Path) -> apsw.Connection:
    connection = apsw.Connection(str(path), flags=_FLAGS)
    try:
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        # The log needs a file beside it, which cannot be made here; so nobody writes either.
        connection.close()
        return _unchanging(path)
    except apsw.Error:
        connection.close()
        raise
    return connection


def _unchanging(path: Path) -> apsw.Connection:
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size:
        raise Failure(
            "unavailable",
            f"{log} holds rows that can only be read from a folder that can be written; copy the home to one",
        )
    uri = f"{path.absolute().as_uri()}?immutable=1"
    return apsw.Connection(uri, flags=_FLAGS | apsw.SQLITE_OPEN_URI)
