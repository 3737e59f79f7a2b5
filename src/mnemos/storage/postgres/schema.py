"""The tables: made, migrated and checked, and spaces entered for the first time."""

from __future__ import annotations

import random
import re
from typing import Any, LiteralString

import psycopg
from psycopg import sql

from mnemos.errors import NotADatabase, NotFound, SchemaChanged, SchemaTooNew
from mnemos.storage.postgres.connection import Connection, PostgresTransaction, Target
from mnemos.storage.postgres.statements import FOLDER, load, make_statement
from mnemos.storage.space import NOWHERE, space_of
from mnemos.text.words import RULE_VERSION

_MIGRATIONS = sorted((FOLDER / "migrations").glob("[0-9]*.sql"))
VERSION = len(_MIGRATIONS)
_GRANTS: tuple[LiteralString, ...] = (
    "GRANT USAGE ON SCHEMA {schema} TO {role}",
    "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {role}",
)
_COMMENT = re.compile(r"^\s*--.*$", re.MULTILINE)


def migrate(connection: Connection, target: Target) -> None:
    """Make or migrate the tables, in one transaction; a newer schema is refused."""
    queries: Any = load("schema", target.schema)
    if version_of(connection, target) == VERSION:
        return
    with connection.transaction():
        tx = PostgresTransaction(connection, NOWHERE)
        tx.value(queries.lock, (target.schema,))
        # Another process may have done it meanwhile.
        version = version_of(connection, target)
        if version == VERSION:
            return
        if not version:
            connection.execute(f'CREATE SCHEMA IF NOT EXISTS "{target.schema}"'.encode())
        connection.execute(f'SET LOCAL search_path = "{target.schema}"'.encode())
        for number in range(version, VERSION):
            text = _COMMENT.sub("", _MIGRATIONS[number].read_text(encoding="utf-8"))
            connection.execute(make_statement(text, target.schema).encoded)
        tx.change(queries.set_property, ("schema", str(VERSION)))
        _set_versions(tx, queries)


def _set_versions(tx: PostgresTransaction, queries: Any) -> None:
    """Let the next write of every space notice the migration; waits for those that are writing."""
    for (number,) in tx.rows(queries.every_space):
        tx.value(queries.set_space, (str(number),))
        tx.change(queries.set_version, (VERSION, number))


def grant(connection: Connection, target: Target, role: str) -> None:
    """Let a role use the tables; an unknown one raises NotFound."""
    name, schema = sql.Identifier(role), sql.Identifier(target.schema)
    try:
        with connection.transaction():
            for text in _GRANTS:
                connection.execute(sql.SQL(text).format(role=name, schema=schema))
    except psycopg.errors.UndefinedObject as exc:
        raise NotFound(f"The server has no role {role!r}. Create it first: CREATE ROLE … LOGIN.") from exc


def version_of(connection: Connection, target: Target) -> int:
    """Return the version of the tables; 0 if there are none. Raises SchemaTooNew."""
    queries: Any = load("schema", target.schema)
    tx = PostgresTransaction(connection, NOWHERE)
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
    version = int(value)
    if version > VERSION:
        raise SchemaTooNew(
            f"{target.location} was written by a newer Mnemos (schema {version}; this one knows {VERSION}). "
            "Install the newer version."
        )
    return version


def check_readable(connection: Connection, target: Target) -> None:
    """Raise NotFound or SchemaChanged if the tables cannot be read."""
    version = version_of(connection, target)
    if not version:
        raise NotFound(f"There is no memory at {target.location} to read.")
    if version < VERSION:
        raise SchemaChanged(
            f"{target.location} has the older schema {version}. Open it once for writing, which migrates it."
        )


def find_space(connection: Connection, target: Target, name: str) -> int | None:
    """Return the number of a space; None if nothing was ever written in it."""
    queries: Any = load("schema", target.schema)
    number: int | None = PostgresTransaction(connection, NOWHERE).value(queries.get_space, (name,))
    return number


def epoch_of(connection: Connection, target: Target, number: int) -> int:
    queries: Any = load("schema", target.schema)
    with connection.transaction():
        tx = PostgresTransaction(connection, space_of(number))
        tx.value(queries.set_space, (str(number),))
        return int(tx.value(queries.epoch))


def enter_space(connection: Connection, target: Target, name: str) -> int:
    """Return the number of a space, which is made if it does not exist."""
    found = find_space(connection, target, name)
    if found is not None:
        return found
    queries: Any = load("schema", target.schema)
    with connection.transaction():
        tx = PostgresTransaction(connection, NOWHERE)
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
