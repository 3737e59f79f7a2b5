"""Open PostgreSQL connections, run statements on them, and translate their errors."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import psycopg
from msgspec import Struct
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.types.numeric import Int8BinaryDumper, Int8Dumper

from mnemos import errors
from mnemos.storage.postgres.statements import SCHEMA, Statement
from mnemos.storage.space import NOWHERE, Space

OLDEST_SERVER = 150_000
_CONNECT_SECONDS = 10
# More than our number of statements, so that each stays planned.
_PREPARED = 400
_LAST_PORT = 65_535
_CONNECTIONS, _MOST_CONNECTIONS = 8, 1_000
_NAME = re.compile(r"[a-z_][a-z0-9_]{0,47}")

Connection = psycopg.Connection[tuple[Any, ...]]


class Target(Struct, frozen=True):
    """A database to connect to."""

    conninfo: str
    schema: str
    location: str
    """The URL for people, without its password and options."""
    user: str = ""
    database: str = ""
    connections: int = 8
    """The maximum number of connections of a process."""


def parse_url(url: str) -> Target:
    """Parse a PostgreSQL URL. Raises InvalidInput without the URL, which may have a password."""
    _check_password(url)
    try:
        parts = urlsplit(url)
        options = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query)))
        schema = options.pop("schema", SCHEMA)
        connections = options.pop("connections", str(_CONNECTIONS))
        _check_options(options)
        conninfo = f"{parts.scheme}://{parts.netloc}{parts.path}?{urlencode(options, quote_via=quote)}"
        known = conninfo_to_dict(conninfo)
        ports = [int(port) for port in str(known.get("port") or "").split(",") if port]
    except (ValueError, psycopg.ProgrammingError):
        # The driver's message may quote the password.
        raise errors.InvalidInput(
            "The URL of the database is not valid. Write postgresql://user:password@host:5432/database, "
            "with options of libpq such as ?sslmode=require."
        ) from None
    if not connections.isdecimal() or not 1 <= int(connections) <= _MOST_CONNECTIONS:
        raise errors.InvalidInput(
            f"connections must be from 1 to {_MOST_CONNECTIONS}, not {connections[:20]!r}."
        )
    if not all(1 <= port <= _LAST_PORT for port in ports):
        raise errors.InvalidInput(f"The port of the database must be from 1 to {_LAST_PORT}.")
    if not _NAME.fullmatch(schema):
        raise errors.InvalidInput(f"{schema[:80]!r} is not a valid schema. Use up to 48 of a-z, 0-9 and _.")
    if not known.get("host") and not known.get("hostaddr") and not known.get("service"):
        raise errors.InvalidInput(
            "The URL of the database has no host. Use postgresql://user:password@host:5432/database."
        )
    if "connect_timeout" not in known:
        conninfo = make_conninfo(conninfo, connect_timeout=_CONNECT_SECONDS)
    return Target(
        conninfo,
        schema,
        _describe(known, schema),
        str(known.get("user") or ""),
        str(known.get("dbname") or ""),
        int(connections),
    )


def _check_options(options: dict[str, str]) -> None:
    known = {option.keyword.decode() for option in psycopg.pq.Conninfo.get_defaults()}
    for name in options:
        # The rest of a password that isn't escaped may look like an option.
        if name not in known and "password" not in options:
            raise errors.InvalidInput(
                f"The URL of the database has an unknown option {name[:40]!r}. Use options of libpq such as "
                "sslmode, or schema=NAME and connections=N."
            )


def _check_password(url: str) -> None:
    """Refuse a password with an unescaped sign: the rest would be read as a host and shown."""
    rest = url.partition("://")[2]
    before, _, after = rest.partition("@")
    if (
        "@" in after.partition("?")[0]
        or "@" in after.partition("/")[0]
        or (after and set(before) & set("/?#"))
    ):
        raise errors.InvalidInput(
            "The password in the URL of the database has a character that must be escaped: write "
            "%2F for /, %40 for @, %23 for # and %3F for ?."
        )


def _describe(known: dict[str, Any], schema: str) -> str:
    user = f"{known['user']}@" if known.get("user") else ""
    host = known.get("host") or known.get("hostaddr") or known.get("service")
    port = f":{known['port']}" if known.get("port") else ""
    suffix = "" if schema == SCHEMA else f"?schema={schema}"
    return f"postgresql://{user}{host}{port}/{known.get('dbname') or ''}{suffix}"


def connect(target: Target) -> Connection:
    """Connect and check that the server is one we can use. Raises our errors."""
    try:
        connection: Connection = psycopg.connect(
            target.conninfo,
            autocommit=True,
            fallback_application_name="mnemos",
            client_encoding="utf8",
        )
    except psycopg.Error as exc:
        raise _translate_refusal(exc, target) from exc
    try:
        _check_server(connection, target.location)
    except BaseException:
        connection.close()
        raise
    connection.prepared_max = _PREPARED
    if _is_pooled(connection):
        # Another client's statement may have the same name on the server's connection.
        connection.prepare_threshold = None
    # Use one plan for a statement, regardless of its values.
    connection.adapters.register_dumper(int, Int8Dumper)
    connection.adapters.register_dumper(int, Int8BinaryDumper)
    return connection


def _is_pooled(connection: Connection) -> bool:
    """True behind a pooler, which reports a process id that isn't the server's."""
    row = connection.execute("SELECT pg_backend_pid()", prepare=False).fetchone()
    return row != (connection.info.backend_pid,)


def _check_server(connection: Connection, location: str) -> None:
    info = connection.info
    if info.server_version < OLDEST_SERVER:
        raise errors.EngineTooOld(
            f"{location} is PostgreSQL {info.server_version // 10_000}. Mnemos needs PostgreSQL 15 or newer."
        )
    if info.parameter_status("server_encoding") != "UTF8":
        raise errors.NotADatabase(
            f"{location} has the encoding {info.parameter_status('server_encoding')}. Make a database with "
            "CREATE DATABASE mnemos ENCODING 'UTF8' TEMPLATE template0."
        )
    if info.parameter_status("standard_conforming_strings") != "on":
        raise errors.NotADatabase(
            f"{location} has standard_conforming_strings turned off. Turn it on: "
            "ALTER DATABASE … SET standard_conforming_strings = on."
        )


class PostgresTransaction:
    """A connection inside a transaction, as the stores see it."""

    def __init__(self, connection: Connection, space: Space = NOWHERE) -> None:
        self.connection = connection
        self.space = space
        self.token: int | None = None
        """The number to store in the table of commits, or None once it is there."""
        self._cursor = psycopg.RawCursor(connection)
        self._cursor.format = psycopg.pq.Format.BINARY

    def send(self, *statements: str) -> tuple[Any, ...] | None:
        """Send statements in one round trip; return the row of the last one, if any."""
        self._cursor.execute(";".join(statements).encode(), prepare=False, binary=False)
        while self._cursor.nextset():
            pass
        return None if self._cursor.description is None else self._cursor.fetchone()

    def rows(self, sql: str, bindings: Any = ()) -> list[tuple[Any, ...]]:
        self._run(sql, bindings)
        return self._cursor.fetchall()

    def value(self, sql: str, bindings: Any = ()) -> Any:
        self._run(sql, bindings)
        row = self._cursor.fetchone()
        return None if row is None else row[0]

    def change(self, sql: str, bindings: Any = ()) -> int:
        self._run(sql, bindings)
        return self._cursor.rowcount

    def change_many(self, sql: str, bindings: Iterable[Any]) -> None:
        assert isinstance(sql, Statement)  # noqa: S101
        several = [sql.bind(one, self.space) for one in bindings]
        if several:
            self._cursor.executemany(sql.encoded, several)

    def _run(self, sql: str, bindings: Any) -> None:
        assert isinstance(sql, Statement)  # noqa: S101
        self._cursor.execute(sql.encoded, sql.bind(bindings, self.space))


class Snapshot(PostgresTransaction):
    """A read-only transaction, which runs the same query only once."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self._known: dict[Any, list[tuple[Any, ...]]] = {}

    def rows(self, sql: str, bindings: Any = ()) -> list[tuple[Any, ...]]:
        assert isinstance(sql, Statement)  # noqa: S101
        asked = (sql, *sql.bind(bindings, self.space))
        found = self._known.get(asked)
        if found is None:
            found = super().rows(sql, bindings)
            # Queries that are repeated have short results: a number or a row.
            if len(found) <= 1:
                self._known[asked] = found
        return list(found)

    def value(self, sql: str, bindings: Any = ()) -> Any:
        found = self.rows(sql, bindings)
        return found[0][0] if found else None


def is_lost(connection: Connection) -> bool:
    """True if the connection cannot be used any more."""
    return connection.closed


def is_worth_repeating(exc: psycopg.Error) -> bool:
    """True for a deadlock, a failure to serialize, and a conflict with replication."""
    return exc.sqlstate in ("40001", "40P01")


def translate_error(exc: psycopg.Error, target: Target) -> errors.MnemosError:
    """Return our error for the driver's; the caller raises it ``from`` the original."""
    state = exc.sqlstate or ""
    reason = (exc.diag.message_primary or str(exc).strip() or type(exc).__name__).splitlines()[0]
    for beginning, make, advice in _TRANSLATIONS:
        if state.startswith(beginning):
            return make(f"{target.location}: {reason}. {_fill_in(advice, target)}")
    if isinstance(exc, psycopg.DataError):
        return errors.InvalidInput(f"PostgreSQL does not accept this text: {reason}.")
    if isinstance(exc, psycopg.OperationalError | psycopg.InterfaceError):
        return errors.Unavailable(f"{target.location} cannot be reached: {reason}. Is the server running?")
    return errors.StorageError(f"{target.location}: PostgreSQL says: {reason} ({state})")


def _translate_refusal(exc: psycopg.Error, target: Target) -> errors.MnemosError:
    """Return our error for a connection that was not made.

    The driver has no error code for it, so this looks at the message. A server with messages in another
    language is reported as unavailable, with its own message.
    """
    text = str(exc).strip()
    # With several hosts, this is the last one's error, after the driver's note that connecting failed.
    reason = text.splitlines()[0].removeprefix("connection failed: ").removeprefix("connection is bad: ")
    reason = reason.rpartition("failed: ")[2].removeprefix("FATAL:  ").removeprefix("fe_sendauth: ")
    reason = reason.removesuffix(".")
    for words, make, advice in _REFUSALS:
        if re.search(words, reason):
            return make(f"{target.location}: {reason}. {_fill_in(advice, target)}")
    return errors.Unavailable(f"{target.location} cannot be reached: {reason}. Is the server running?")


def _fill_in(advice: str, target: Target) -> str:
    database = target.database or target.user or "DATABASE"
    return advice.format(user=target.user or "ROLE", database=database, schema=target.schema)


_AGAIN = "Try again."
_NO_CONNECTION = "The server has no connection left. Close programs, raise max_connections, or use a pooler."
_REPLICA = (
    "This is a replica, or a server that only reads. Open it with read_only=True, or name all hosts and add "
    "target_session_attrs=read-write to the URL."
)
_NO_DATABASE = "Create the database first: CREATE DATABASE {database} ENCODING 'UTF8' TEMPLATE template0."
_HALF_MADE = (
    "The schema {schema} has tables of another program, or a part of ours. Choose another one with "
    "?schema=NAME, or drop it: DROP SCHEMA {schema} CASCADE."
)
_TRANSLATIONS: tuple[tuple[str, type[errors.MnemosError], str], ...] = (
    ("55P03", errors.Busy, "Another program kept this space busy for too long. Try again."),
    ("57014", errors.Busy, "The server cancelled the statement. Try again."),
    ("53300", errors.Busy, _NO_CONNECTION),
    ("40", errors.Busy, "Other programs kept changing the same rows. Try again."),
    ("53100", errors.DiskFull, "This call stored nothing. Free space on the server and repeat it."),
    ("53400", errors.DiskFull, "This call stored nothing. Raise the limit on the server and repeat it."),
    ("25006", errors.ReadOnly, _REPLICA),
    # A replica refuses READ WRITE as an unsupported feature.
    ("0A000", errors.ReadOnly, _REPLICA),
    ("28", errors.PermissionDenied, "Check the user and the password."),
    ("3D", errors.Unavailable, _NO_DATABASE),
    (
        "42501",
        errors.PermissionDenied,
        "Ask the owner of the tables to run `mnemos postgres init --role {user}`. To make the tables "
        "yourself, ask for GRANT CREATE ON DATABASE {database} TO {user}.",
    ),
    ("42P01", errors.NotADatabase, "The tables of Mnemos are not there. Run `mnemos postgres init`."),
    ("42P07", errors.NotADatabase, _HALF_MADE),
    ("42710", errors.NotADatabase, _HALF_MADE),
    ("42703", errors.NotADatabase, _HALF_MADE),
    ("3F000", errors.NotADatabase, "The schema of Mnemos is not there. Run `mnemos postgres init`."),
    (
        "25P03",
        errors.Unavailable,
        "The program stopped inside a transaction for too long. Nothing was stored.",
    ),
    ("22003", errors.InvalidInput, "A number is too large."),
    ("22", errors.InvalidInput, "PostgreSQL does not accept this value."),
    ("08", errors.Unavailable, _AGAIN),
    ("57P", errors.Unavailable, _AGAIN),
    ("53", errors.Unavailable, _AGAIN),
    ("XX001", errors.Corrupt, "Restore a backup of the server."),
)
_REFUSALS: tuple[tuple[str, type[errors.MnemosError], str], ...] = (
    ("resolve host|translate host", errors.Unavailable, "Check the host in the URL."),
    ("invalid .* value|invalid port|bad value for|invalid integer", errors.InvalidInput, "Correct the URL."),
    ("no password supplied", errors.PermissionDenied, "Set PGPASSWORD, or add a line to ~/.pgpass."),
    ("authentication failed", errors.PermissionDenied, "Check the user and the password."),
    ("pg_hba.conf", errors.PermissionDenied, "Ask the administrator to let {user} in from here."),
    (
        "permission denied for database",
        errors.PermissionDenied,
        "Ask for GRANT CONNECT ON DATABASE {database}.",
    ),
    ("^role .* does not exist", errors.PermissionDenied, "Create it first: CREATE ROLE {user} LOGIN."),
    ("not permitted to log in", errors.PermissionDenied, "Ask for ALTER ROLE {user} LOGIN."),
    ("^database .* does not exist", errors.Unavailable, _NO_DATABASE),
    ("too many c|connection slots", errors.Busy, _NO_CONNECTION),
    ("SSL|TLS|certificate", errors.Unavailable, "Check sslmode and sslrootcert in the URL."),
    ("starting up|shutting down|recovery mode|not yet accepting", errors.Unavailable, _AGAIN),
    ("read-only|hot standby", errors.ReadOnly, _REPLICA),
)
