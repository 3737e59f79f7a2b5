"""The schema: creating, migrating and checking tables, and creating spaces."""

from __future__ import annotations

import random
import re
from typing import Any, LiteralString

import psycopg
from psycopg import sql

from mnemos.errors import NotADatabase, NotFound, PermissionDenied, ReadOnly, SchemaChanged, SchemaTooNew
from mnemos.storage.postgres.connection import Connection, PostgresTransaction, Target
from mnemos.storage.postgres.statements import FOLDER, load, make_statement
from mnemos.storage.space import space_of
from mnemos.text.words import RULE_VERSION

_MIGRATIONS = sorted((FOLDER / "migrations").glob("[0-9]*.sql"))
VERSION = len(_MIGRATIONS)
_GRANTS: tuple[LiteralString, ...] = (
    "GRANT USAGE ON SCHEMA {schema} TO {role}",
    "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {role}",
)
# Lets a role clean up after `forget` and rebuild indexes.
_MAINTAIN: LiteralString = "GRANT MAINTAIN ON ALL TABLES IN SCHEMA {schema} TO {role}"
_FIRST_WITH_MAINTAIN = 170_000
REFERENCES = ("properties", "spaces")
TABLES = (
    "space_states", "sessions", "session_details", "messages", "passages", "embeddings", "vectors", "scopes",
    "facts", "fact_conflicts", "fact_sessions", "scope_touches", "entry_users", "entries", "entry_words",
    "entry_vocabulary", "entry_signs", "entry_vectors", "imported_files", "imported", "audit", "recalls",
    "backups", "files", "tombstones",
)  # fmt: skip
"""The tables with rows of spaces that a backup has, in an order in which rows can be put back."""
DERIVED = ("words", "long_words", "commits")
DISTRIBUTED = (*TABLES, *DERIVED)
_COMMENT = re.compile(r"^\s*--.*$", re.MULTILINE)


def migrate(connection: Connection, target: Target) -> None:
    """Create or migrate the tables in one transaction. A newer schema is refused."""
    if version_of(connection, target) == VERSION:
        return
    tx, queries = _use(connection, target)
    with connection.transaction():
        tx.value(queries.lock, (target.schema,))
        # Another process may have done it in the meantime.
        version = version_of(connection, target)
        if version == VERSION:
            return
        if not version:
            connection.execute(f'CREATE SCHEMA IF NOT EXISTS "{target.schema}"'.encode())
        connection.execute(f'SET LOCAL search_path = "{target.schema}"'.encode())
        for number in range(version, VERSION):
            text = _COMMENT.sub("", _MIGRATIONS[number].read_text(encoding="utf-8"))
            connection.execute(make_statement(text, target.schema).encoded)
        for (role,) in tx.rows(queries.grantees, (target.schema,)):
            # New tables belong to the roles that use the old ones.
            _grant(connection, target, role)
        tx.change(queries.set_property, ("schema", str(VERSION)))
        _set_versions(tx, queries)


def _set_versions(tx: PostgresTransaction, queries: Any) -> None:
    """Make the next write in every space notice the migration. Waits for current writers."""
    for (number,) in tx.rows(queries.every_space):
        tx.value(queries.set_space, (str(number),))
        tx.change(queries.set_version, (VERSION, number))


def grant(connection: Connection, target: Target, role: str) -> None:
    """Let a role use the tables. Raises NotFound for an unknown one, PermissionDenied."""
    tx, queries = _use(connection, target)
    try:
        with connection.transaction():
            _grant(connection, target, role)
            # If the caller may not grant anything, the server only warns.
            if not tx.value(queries.may_write, {"role": role, "table": f'"{target.schema}".sessions'}):
                raise PermissionDenied(
                    f"Only the owner of the tables in {target.location} can let {role} use them."
                )
    except psycopg.errors.UndefinedObject as exc:
        name = sql.Identifier(role).as_string()
        raise NotFound(
            f"The server has no role {role!r}. Create it first: CREATE ROLE {name} LOGIN."
        ) from exc


def _grant(connection: Connection, target: Target, role: str) -> None:
    name, schema = sql.Identifier(role), sql.Identifier(target.schema)
    has_maintain = connection.info.server_version >= _FIRST_WITH_MAINTAIN
    for text in (*_GRANTS, _MAINTAIN) if has_maintain else _GRANTS:
        connection.execute(sql.SQL(text).format(role=name, schema=schema))


def version_of(connection: Connection, target: Target) -> int:
    """Return the version of the tables, 0 if there are none. Raises SchemaTooNew."""
    tx, queries = _use(connection, target)
    if not tx.value(queries.is_there, (f'"{target.schema}".properties',)):
        return 0
    try:
        value = tx.value(queries.version)
    except psycopg.errors.UndefinedColumn as exc:
        raise NotADatabase(
            f"The schema {target.schema} of {target.location} belongs to another program."
        ) from exc
    if value is None:
        raise NotADatabase(f"The schema {target.schema} of {target.location} belongs to another program.")
    if not value.isdigit():
        raise NotADatabase(f"{target.location} has the schema version {value[:20]!r}. Restore a backup.")
    version = int(value)
    if version > VERSION:
        raise SchemaTooNew(
            f"{target.location} was written by a newer Mnemos (schema {version}; this one knows {VERSION}). "
            "Install the newer version."
        )
    return version


def has_citus(connection: Connection, target: Target, *, read_only: bool) -> bool:
    """True if the server has Citus. Raises ReadOnly for a replica, unless it is only read."""
    tx, queries = _use(connection, target)
    ((is_replica, found),) = tx.rows(queries.server)
    if is_replica and not read_only:
        raise ReadOnly(
            f"{target.location} is a replica. Open it with read_only=True, or name all hosts and add "
            "target_session_attrs=read-write to the URL."
        )
    return bool(found)


def distribute(connection: Connection, target: Target) -> None:
    """Distribute the tables over Citus workers: small ones as copies, the others by space."""
    tx, queries = _use(connection, target)
    for table in REFERENCES:
        tx.value(queries.refer, (f'"{target.schema}".{table}',))
    first, *others = DISTRIBUTED
    tx.value(queries.distribute, (f'"{target.schema}".{first}', "none"))
    for table in others:
        tx.value(queries.distribute, (f'"{target.schema}".{table}', f'"{target.schema}".{first}'))


def check_readable(connection: Connection, target: Target) -> None:
    """Raise NotFound or SchemaChanged if the tables cannot be read."""
    version = version_of(connection, target)
    if not version:
        raise NotFound(f"There is no memory at {target.location} to read.")
    if version < VERSION:
        raise SchemaChanged(
            f"{target.location} has the older schema {version}. Open it once for writing to migrate it."
        )


def find_space(connection: Connection, target: Target, name: str) -> int | None:
    """Return the number of a space, or None if nothing was ever written in it."""
    tx, queries = _use(connection, target)
    number: int | None = tx.value(queries.get_space, (name,))
    return number


def epoch_of(connection: Connection, target: Target, number: int) -> int:
    tx, queries = _use(connection, target)
    with connection.transaction():
        tx.value(queries.set_space, (str(number),))
        return int(tx.value(queries.epoch, (number,)))


def enter_space(connection: Connection, target: Target, name: str) -> int:
    """Return the number of a space, creating it if needed."""
    found = find_space(connection, target, name)
    if found is not None:
        return found
    tx, queries = _use(connection, target)
    with connection.transaction():
        tx.value(queries.lock, (target.schema,))
        number: int | None = tx.value(queries.get_space, (name,))
        if number is None:
            number = int(tx.value(queries.add_space, (name,)))
            add_state(tx, queries, number)
    return number


def add_state(tx: PostgresTransaction, queries: Any, number: int) -> None:
    space = space_of(number)
    tx.value(queries.set_space, (str(number),))
    epoch = random.getrandbits(62)
    tx.change(queries.add_state, (number, VERSION, epoch, RULE_VERSION, space.first, space.first_passage))


def _use(connection: Connection, target: Target) -> tuple[PostgresTransaction, Any]:
    return PostgresTransaction(connection), load("schema", target.schema)
