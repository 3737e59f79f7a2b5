"""Migrate a file to the schema of this version, or refuse it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw

from mnemos import errors
from mnemos.projects import find_project
from mnemos.storage.sqlite.connection import APPLICATION_ID, MEMORY, rows, use_log
from mnemos.text.words import RULE_VERSION

_FILES = sorted((Path(__file__).parent / "migrations").glob("*.sql"))
VERSION = len(_FILES)
_VERSION_BITS = 0xFF


def mark_of(connection: apsw.Connection) -> int:
    """Return the mark, which changes with the file's schema or when a restore changes its contents.

    Its low bits are the schema version. The high ones are SQLite's own count of changes of the schema, which
    a copy of another database over the file raises in the same transaction.
    """
    (changes,), (version,) = rows(connection, "PRAGMA schema_version; PRAGMA user_version")
    mark: int = changes << 32 | version
    return mark


def move_on(connection: apsw.Connection, former_mark: int) -> None:
    """Give the file the next mark, so that it differs from before, or from the former file."""
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
    try:
        connection.execute(f"PRAGMA schema_version = {(former_mark >> 32) + 1}")
    finally:
        connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)


def version_in(mark: int) -> int:
    return mark & _VERSION_BITS


def version_of(connection: apsw.Connection) -> int:
    """Return the schema version of the file, 0 if it is empty. A file that isn't ours raises."""
    if connection.in_transaction:
        return _version_of(connection)
    # One view: another process may be creating the file at this moment.
    connection.execute("BEGIN")
    try:
        return _version_of(connection)
    finally:
        connection.execute("COMMIT")


def _version_of(connection: apsw.Connection) -> int:
    application = connection.pragma("application_id")
    version = version_in(mark_of(connection))
    if application == APPLICATION_ID:
        return version
    tables = connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()[0][0]
    if application or version or tables:
        raise errors.NotADatabase(
            f"{connection.filename or MEMORY} is a SQLite database of another program. "
            "Point MNEMOS_HOME to another folder."
        )
    return 0


def check_known(connection: apsw.Connection) -> int:
    """Return the schema version of a file. A newer version's file is refused."""
    version = version_of(connection)
    if version > VERSION:
        raise errors.SchemaTooNew(
            f"{connection.filename} was written by a newer Mnemos (schema {version}, this one knows "
            f"{VERSION}). Upgrade it: pip install --upgrade mnemos"
        )
    return version


def check_readable(connection: apsw.Connection) -> None:
    """Refuse a file that this version cannot read as it is."""
    version = check_known(connection)
    if version == 0:
        raise errors.NotFound(f"{connection.filename} is empty: nothing has been stored yet")
    if version < VERSION:
        raise errors.SchemaChanged(
            f"{connection.filename} has the older schema {version}. Open it once for writing to migrate it."
        )


def migrate(connection: apsw.Connection) -> None:
    """Migrate the file to this version's schema: one exclusive transaction, after a backup."""
    if check_known(connection) == VERSION:
        use_log(connection)
        return
    use_log(connection)
    connection.execute("BEGIN EXCLUSIVE")
    try:
        # Another process may have migrated it first.
        version = version_of(connection)
        if 0 < version < VERSION:
            _keep_copy(connection, version)
        connection.create_scalar_function("find_project", _find_project, 1)
        for file in _FILES[version:]:
            connection.execute(file.read_text(encoding="utf-8"))
        if version == 0:
            connection.execute(
                "INSERT INTO properties (name, value) VALUES ('words', ?)", (str(RULE_VERSION),)
            )
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _find_project(*folder: Any) -> str | None:
    return find_project(folder[0])


def _keep_copy(connection: apsw.Connection, version: int) -> None:
    """Copy the file next to itself through a second connection: the first is in its transaction."""
    source = Path(connection.filename)
    target = source.with_name(f"{source.stem}.before-schema-{version}{source.suffix}")
    target.unlink(missing_ok=True)
    reader = apsw.Connection(str(source), flags=apsw.SQLITE_OPEN_READONLY)
    copy = apsw.Connection(str(target))
    target.chmod(0o600)
    try:
        with copy.backup("main", reader, "main") as backup:
            while not backup.done:
                backup.step(1024)
    finally:
        copy.close()
        reader.close()
