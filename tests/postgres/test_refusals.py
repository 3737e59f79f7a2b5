"""Servers that refuse a connection, and databases that cannot be used: each reason has its code."""

from __future__ import annotations

import random
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from contract.storage.openers import NOW, append, contents, create
from mnemos.errors import (
    Busy,
    DiskFull,
    EngineTooOld,
    InvalidInput,
    MnemosError,
    NotADatabase,
    PermissionDenied,
    ReadOnly,
    SchemaChanged,
    Unavailable,
)
from mnemos.sessions.message_text import document_of
from mnemos.storage.postgres import schema as tables
from mnemos.storage.postgres.connection import parse_url, translate_error
from mnemos.storage.postgres.engine import PostgresStorage
from postgres_server import Server, drop_schema, new_schema, server_url, url_of

pytestmark = pytest.mark.area("faults")


def open_storage(url: str, *, read_only: bool = False) -> PostgresStorage:
    return PostgresStorage(url, space="default", documents=document_of, read_only=read_only, busy_seconds=0.5)


@pytest.fixture(scope="module")
def strict() -> Iterator[tuple[Server, int]]:
    """A server with passwords on a port of its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = Server(f"port={port}", "listen_addresses=127.0.0.1", port=port)
    server.psql(
        "CREATE ROLE asked LOGIN PASSWORD 'right'; CREATE ROLE limited LOGIN CONNECTION LIMIT 0; "
        "CREATE ROLE nologin"
    )
    server.psql("CREATE DATABASE closed")
    server.psql("REVOKE CONNECT ON DATABASE closed FROM PUBLIC")
    rules = server.data / "pg_hba.conf"
    rules.write_text(
        f"host all asked 127.0.0.1/32 scram-sha-256\nhost all banned all reject\n{rules.read_text()}"
    )
    server.psql("SELECT pg_reload_conf()")
    yield server, port
    server.remove()


REFUSALS = {
    "wrong password": ("asked:s3cret@{host}/postgres", PermissionDenied, "password"),
    "no password": ("asked@{host}/postgres", PermissionDenied, "PGPASSWORD"),
    "unknown role": ("stranger:s3cret@{host}/postgres", PermissionDenied, "CREATE ROLE stranger"),
    "role that may not log in": ("nologin@{host}/postgres", PermissionDenied, "ALTER ROLE nologin"),
    "host that is not let in": ("banned:s3cret@{host}/postgres", PermissionDenied, "administrator"),
    "unknown database": ("tester:s3cret@{host}/nowhere", Unavailable, "CREATE DATABASE nowhere"),
    "closed database": ("tester@{host}/closed", PermissionDenied, "GRANT CONNECT ON DATABASE closed"),
    "TLS that the server lacks": ("tester@{host}/postgres?sslmode=require", Unavailable, "sslmode"),
    "too many connections": ("limited@{host}/postgres", Busy, "max_connections"),
    "nobody listens": ("tester:s3cret@127.0.0.1:1/postgres", Unavailable, "running"),
    "host that does not exist": ("tester:s3cret@no.invalid/postgres", Unavailable, "Check the host"),
    "wrong sslmode": ("tester:s3cret@{host}/postgres?sslmode=perhaps", InvalidInput, "sslmode"),
    "wrong time-out": ("tester:s3cret@{host}/postgres?connect_timeout=x", InvalidInput, "connect_timeout"),
    "unknown option": ("tester:s3cret@{host}/postgres?colour=blue", InvalidInput, "'colour'"),
    "no host": ("/postgres", InvalidInput, "no host"),
    "option without a value": ("tester:s3cret@{host}/postgres?sslmode", InvalidInput, "URL"),
    "connections that are a word": ("tester:s3cret@{host}/postgres?connections=all", InvalidInput, "'all'"),
    "port that is a word": ("tester:s3cret@127.0.0.1:port/postgres", InvalidInput, "URL"),
    "port that is too large": ("tester:s3cret@127.0.0.1:99999/postgres", InvalidInput, "65535"),
}


@pytest.mark.parametrize("what", REFUSALS)
def test_a_refused_connection_is_explained(strict: tuple[Server, int], what: str) -> None:
    url, kind, advice = REFUSALS[what]
    with pytest.raises(MnemosError) as caught:
        open_storage("postgresql://" + url.format(host=f"127.0.0.1:{strict[1]}"))
    assert (type(caught.value), advice in str(caught.value)) == (kind, True), caught.value
    assert "s3cret" not in str(caught.value)


def test_the_end_of_a_password_is_not_taken_for_an_option_and_shown() -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_url("postgresql://me@localhost/database?password=s3&cret=1")
    assert "cret" not in str(caught.value)


@pytest.mark.parametrize(
    "password", ["s3/cret", "s3@cret", "s3#cret", "s3?cret", "s3@/cret", "s3/@cret", "/s3cret"]
)
def test_a_password_that_is_not_escaped_is_not_shown(password: str) -> None:
    with pytest.raises(InvalidInput, match="%2F") as caught:
        parse_url(f"postgresql://me:{password}@localhost:1/database")
    assert "cret" not in str(caught.value)


@pytest.mark.parametrize("password", ["s3%2Fcret", "s3%40cret", "s3%23cret", "s3%3Fcret", "s3:cret", ""])
def test_an_escaped_password_is_not_shown(password: str) -> None:
    target = parse_url(f"postgresql://me:{password}@localhost:1/database?options=-c%20a%40b")
    assert target.location == "postgresql://me@localhost:1/database"


STATES = {
    "55P03": Busy, "57014": Busy, "53300": Busy, "40001": Busy, "53100": DiskFull, "53400": DiskFull,
    "25006": ReadOnly, "0A000": ReadOnly, "28P01": PermissionDenied, "42501": PermissionDenied,
    "3D000": Unavailable, "42P01": NotADatabase, "42P07": NotADatabase, "3F000": NotADatabase,
    "25P03": Unavailable, "57P01": Unavailable, "08006": Unavailable, "22003": InvalidInput,
}  # fmt: skip


def test_every_state_of_the_server_has_its_code() -> None:
    target = parse_url("postgresql://me:s3cret@host/db")
    for state, kind in STATES.items():
        exc = psycopg.errors.lookup(state)("no")
        found = translate_error(exc, target)
        assert (state, type(found)) == (state, kind)
        assert "s3cret" not in str(found)


def test_a_missing_right_names_the_grant(own_server: Server) -> None:
    own_server.psql("CREATE ROLE stranger LOGIN")
    url = own_server.url.replace("tester@", "stranger@")
    with pytest.raises(PermissionDenied, match="GRANT CREATE ON DATABASE postgres TO stranger"):
        open_storage(url)
    open_storage(own_server.url).close()
    with pytest.raises(PermissionDenied, match="mnemos postgres init --role stranger"):
        open_storage(url)


@pytest.fixture
def schema() -> Iterator[str]:
    name = new_schema()
    yield name
    drop_schema(name)


def test_a_schema_that_is_half_made_is_refused(schema: str) -> None:
    with psycopg.connect(server_url()) as connection:
        connection.execute(f"CREATE SCHEMA {schema}")
        connection.execute(f"CREATE TABLE {schema}.sessions (id int)")
    with pytest.raises(NotADatabase, match="DROP SCHEMA"):
        open_storage(url_of(schema))


def test_a_version_that_is_not_a_number_is_refused(schema: str) -> None:
    open_storage(url_of(schema)).close()
    with psycopg.connect(server_url()) as connection:
        connection.execute(f"UPDATE {schema}.properties SET value = 'abc' WHERE name = 'schema'")
    with pytest.raises(NotADatabase, match="abc"):
        open_storage(url_of(schema))


def test_an_older_schema_is_not_read_before_it_is_migrated(
    schema: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_storage(url_of(schema)).close()
    monkeypatch.setattr(tables, "VERSION", 2)
    with pytest.raises(SchemaChanged):
        open_storage(url_of(schema), read_only=True)


def test_a_cancelled_statement_is_busy_and_stores_nothing(schema: str) -> None:
    storage = open_storage(url_of(schema))
    create(storage, "s")

    def work(tx: object) -> None:
        connection = storage.transaction_of(tx).connection  # type: ignore[arg-type]
        tx.sessions.reopen("s")  # type: ignore[attr-defined]
        connection.execute("SET LOCAL statement_timeout = 1")
        connection.execute("SELECT pg_sleep(10)")

    with pytest.raises(Busy):
        storage.write(work)
    append(storage, "s", "after")
    storage.close()


def test_temporary_files_beyond_the_limit_are_disk_full(own_server: Server) -> None:
    storage = open_storage(own_server.url)
    create(storage, "s")
    own_server.psql("ALTER ROLE tester SET temp_file_limit = 100")
    storage.close()
    storage = open_storage(own_server.url)

    def work(tx: object) -> None:
        append_in(tx)
        connection = storage.transaction_of(tx).connection  # type: ignore[arg-type]
        connection.execute("SET LOCAL work_mem = 64")
        connection.execute(
            "SELECT count(*) FROM (SELECT n FROM generate_series(1, 200000) AS n ORDER BY -n) AS s"
        )

    def append_in(tx: object) -> None:
        tx.sessions.reopen("s")  # type: ignore[attr-defined]

    with pytest.raises(DiskFull):
        storage.write(work)
    storage.close()


@pytest.fixture
def small_disk(own_server: Server) -> Iterator[Path]:
    """The folder of the server's tables, on a disk of eight megabytes; its log has room elsewhere."""
    folder = own_server.folder / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a small disk can only be mounted by root")
    tables = folder / "tables"
    tables.mkdir()
    shutil.chown(tables, "nobody", "nogroup")
    own_server.psql(f"CREATE TABLESPACE small LOCATION '{tables}'")
    own_server.psql(
        "GRANT CREATE ON TABLESPACE small TO tester; ALTER ROLE tester SET default_tablespace = small"
    )
    yield folder
    own_server.stop()
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_full_disk_of_the_server_keeps_what_was_stored_and_goes_on_when_there_is_room(
    own_server: Server, small_disk: Path
) -> None:
    storage = open_storage(own_server.url)
    create(storage, "s")
    chance = random.Random(24)
    stored = 0

    def fill() -> None:
        nonlocal stored
        while True:
            append(storage, "s", *(chance.randbytes(20_000).hex() for _ in range(3)))
            stored += 3

    with pytest.raises(DiskFull):
        fill()
    assert len(contents(storage)) == stored > 0
    subprocess.run(["mount", "-o", "remount,size=64m", str(small_disk)], check=True)
    append(storage, "s", "room again")
    assert contents(storage)[stored:] == ["room again"]
    assert [check for check in storage.examine(repair=False) if not check.ok] == []
    storage.close()


def test_a_program_that_stops_inside_a_transaction_loses_it(schema: str) -> None:
    storage = open_storage(url_of(schema))
    create(storage, "s")

    def work(tx: object) -> None:
        connection = storage.transaction_of(tx).connection  # type: ignore[arg-type]
        connection.execute("SET LOCAL idle_in_transaction_session_timeout = '10ms'")
        # The server ends the connection as soon as it is idle; nothing else reads from it.
        import select

        select.select([connection.fileno()], [], [], 20)
        connection.execute("SELECT 1")

    with pytest.raises(Unavailable):
        storage.write(work)
    append(storage, "s", "after")
    storage.close()


def test_a_server_that_is_too_old_is_refused(schema: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(psycopg.ConnectionInfo, "server_version", 140_012)
    with pytest.raises(EngineTooOld, match="15 or newer"):
        open_storage(url_of(schema))


def test_strings_that_do_not_conform_are_refused(schema: str) -> None:
    with pytest.raises(NotADatabase, match="standard_conforming_strings = on"):
        open_storage(url_of(schema) + "&options=-c%20standard_conforming_strings%3Doff")


def test_times_are_those_of_the_client(schema: str) -> None:
    storage = open_storage(url_of(schema))
    create(storage, "s")
    (number,) = append(storage, "s", "long ago")
    row = storage.read(lambda tx: tx.sessions.message(number))
    assert row is not None
    assert row.timestamp == NOW
    storage.close()
