"""Servers that crash, connections that break, locks that are held: nothing is lost, nothing stored twice."""

from __future__ import annotations

import itertools
import os
import random
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from contract.storage.openers import NOW, append, contents, create, message, session_row
from mnemos.errors import (
    Busy,
    NotADatabase,
    PermissionDenied,
    ReadOnly,
    SchemaChanged,
    SchemaTooNew,
    Unavailable,
)
from mnemos.sessions.message_text import document_of
from mnemos.storage.base import Writes
from mnemos.storage.postgres.engine import PostgresStorage
from postgres_server import Server, drop_schema, new_schema, server_url, url_of

pytestmark = pytest.mark.area("faults")


@pytest.fixture
def schema() -> Iterator[str]:
    name = new_schema()
    yield name
    drop_schema(name)


@pytest.fixture
def opens(schema: str) -> Iterator[Callable[..., PostgresStorage]]:
    opened: list[PostgresStorage] = []

    def open_it(url: str | None = None, **options: object) -> PostgresStorage:
        given = {"space": "default", "documents": document_of} | options
        opened.append(PostgresStorage(url or url_of(schema), **given))
        return opened[-1]

    yield open_it
    for storage in opened:
        storage.close()


class Proxy:
    """Between a client and the server: drops a commit or its answer, once."""

    def __init__(self, target: str, folder: Path) -> None:
        self._target = target
        self.folder = folder
        self.lose: str | None = None
        self.lost = 0
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / ".s.PGSQL.5432"))
        self._listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, socket.socket(socket.AF_UNIX) as server:
            server.connect(self._target)
            while True:
                ready, _, _ = select.select([client, server], [], [])
                for one in ready:
                    data = one.recv(65536)
                    if not data:
                        return
                    # The last statement of a message: READ COMMITTED is said by each BEGIN.
                    if one is client and self.lose and data.endswith(b"COMMIT\0"):
                        kind, self.lose = self.lose, None
                        self.lost += 1
                        if kind != "request":
                            server.sendall(data)
                            server.recv(65536)
                        if kind == "answer for good":
                            (self.folder / ".s.PGSQL.5432").unlink()
                        return
                    (server if one is client else client).sendall(data)


@pytest.fixture
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    import tempfile

    url = server_url()
    folder = url.partition("host=")[2]
    if not folder:
        pytest.skip("the proxy needs a server with a Unix socket")
    with tempfile.TemporaryDirectory(prefix="mpx", dir="/tmp") as own:
        proxy = Proxy(f"{folder}/.s.PGSQL.5432", Path(own))
        yield proxy
        proxy.close()


def through(proxy: Proxy, schema: str) -> str:
    return f"postgresql://tester@/postgres?host={proxy.folder}&schema={schema}"


@pytest.mark.parametrize("lost", ["answer", "request"])
def test_a_commit_whose_answer_is_lost_is_stored_once(
    opens: Callable[..., PostgresStorage], proxy: Proxy, schema: str, lost: str
) -> None:
    storage = opens(through(proxy, schema))
    create(storage, "s")
    for number in range(4):
        proxy.lose = lost
        append(storage, "s", f"message {number}")
        assert proxy.lost == number + 1
    # A write that is not an append leaves its token in another way.
    proxy.lose = lost
    assert create(storage, "t")
    assert proxy.lost == 5
    assert contents(storage) == [f"message {number}" for number in range(4)]


def test_a_commit_whose_outcome_stays_unknown_may_have_been_stored(
    opens: Callable[..., PostgresStorage], proxy: Proxy, schema: str
) -> None:
    storage = opens(through(proxy, schema), busy_seconds=0.5)
    create(storage, "s")
    proxy.lose = "answer for good"
    with pytest.raises(Unavailable, match="may have been stored"):
        append(storage, "s", "stored")
    assert contents(opens()) == ["stored"]


def test_prepared_statements_that_are_gone_are_prepared_again(opens: Callable[..., PostgresStorage]) -> None:
    storage = opens()
    create(storage, "s")
    for number in range(10):
        append(storage, "s", f"message {number}")
    for connection in storage._pool._idle:
        # Said inside another statement, so that the driver does not notice.
        connection.execute("DO $$ BEGIN EXECUTE 'DEALLOCATE ALL'; END $$")
    append(storage, "s", "after")
    assert contents(storage)[-1] == "after"


def test_a_process_whose_connections_are_all_in_use_is_busy(
    opens: Callable[..., PostgresStorage], schema: str
) -> None:
    url = url_of(schema) + "&connections=1"
    storage, other = opens(url), opens(url, busy_seconds=0.2)
    create(storage, "s")

    def read_beside(_: object) -> None:
        failures: list[Exception] = []

        def work() -> None:
            try:
                contents(other)
            except Busy as exc:
                failures.append(exc)

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert ["connections=16" in str(one) for one in failures] == [True]

    storage.read(read_beside)
    assert contents(other) == []


def test_a_connection_that_the_server_ended_is_replaced(
    opens: Callable[..., PostgresStorage], schema: str
) -> None:
    storage = opens()
    create(storage, "s")
    for number in range(3):
        with psycopg.connect(server_url(), autocommit=True) as other:
            other.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
                "AND usename = current_user AND application_name = 'mnemos'"
            )
        append(storage, "s", f"message {number}")
        assert len(contents(storage)) == number + 1


def test_a_crash_that_gives_transaction_numbers_again_loses_no_write(own_server: Server) -> None:
    storage, other = (
        PostgresStorage(own_server.url + "&schema=crash", space=space, documents=document_of)
        for space in ("one", "two")
    )
    create(storage, "s")
    create(other, "s")
    crashes = iter([True])

    def work(tx: Writes) -> None:
        tx.sessions.append("s", [message("kept")], NOW)
        if next(crashes, False):
            own_server.stop()
            own_server.start()
            # Nothing of the lost transaction was flushed, so one of these has its number.
            for number in range(3):
                append(other, "s", f"other {number}")

    storage.write(work)
    assert contents(storage) == ["kept"]
    storage.close()
    other.close()


@pytest.mark.parametrize("kills", [4, pytest.param(200, marks=pytest.mark.nightly)])
def test_a_server_that_crashes_loses_nothing_that_was_acknowledged(kills: int) -> None:
    server = Server("fsync=on", "full_page_writes=on")
    chance = random.Random(24)
    writers = [
        PostgresStorage(server.url + "&schema=crash", space=f"w{number}", documents=document_of)
        for number in range(3)
    ]
    acknowledged: list[list[str]] = [[] for _ in writers]
    unknown: list[list[str]] = [[] for _ in writers]
    stop = threading.Event()

    for storage in writers:
        create(storage, "s")

    def write(number: int) -> None:
        for count in itertools.count():
            if stop.is_set():
                return
            text = f"message {count}"
            try:
                append(writers[number], "s", text)
                acknowledged[number].append(text)
            except Unavailable:
                unknown[number].append(text)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(len(writers))]
    for thread in threads:
        thread.start()
    for _ in range(kills):
        seen = sum(map(len, acknowledged))
        while sum(map(len, acknowledged)) < seen + chance.randint(1, 60):
            time.sleep(0.001)
        server.stop()
        server.start()
    stop.set()
    for thread in threads:
        thread.join()
    for number, storage in enumerate(writers):
        stored = contents(storage)
        assert [text for text in acknowledged[number] if stored.count(text) != 1] == []
        assert sorted(set(stored) - {*acknowledged[number], *unknown[number]}) == []
        assert len(stored) == len(set(stored))
        storage.close()
    server.remove()


def test_a_writer_waits_no_longer_than_its_limit(opens: Callable[..., PostgresStorage]) -> None:
    storage, other = opens(), opens()
    create(storage, "s")

    def work(tx: Writes) -> None:
        with pytest.raises(Busy):
            other.write(lambda inner: inner.sessions.reopen("s"), within=0.2)

    storage.write(work)
    append(other, "s", "later")
    assert contents(storage) == ["later"]


def test_spaces_are_written_side_by_side(opens: Callable[..., PostgresStorage]) -> None:
    storage, other = opens(), opens(space="elsewhere")
    create(storage, "s")
    storage.write(lambda _: create(other, "s"))
    assert contents(other) == []


HOLD = """
import sys
from mnemos.sessions.message_text import document_of
from mnemos.storage.base import NewMessage
from mnemos.storage.postgres.engine import PostgresStorage
storage = PostgresStorage(sys.argv[1], space="default", documents=document_of)
def work(tx):
    half = NewMessage("user", 1.0, *[None] * 3, False, None, None, "half", None, None, 0)
    tx.sessions.append("s", [half], 1.0)
    print("held", flush=True)
    sys.stdin.read()
storage.write(work)
"""


def test_the_lock_of_a_killed_process_is_free_at_once(
    opens: Callable[..., PostgresStorage], schema: str
) -> None:
    storage = opens()
    create(storage, "s")
    child = subprocess.Popen(
        [sys.executable, "-c", HOLD, url_of(schema)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert child.stdout is not None
    assert child.stdout.readline() == b"held\n"
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    assert child.stdin is not None
    child.stdin.close()
    storage.write(lambda tx: tx.sessions.append("s", [message("after")], NOW), within=20)
    assert contents(storage) == ["after"]


def test_a_process_that_is_stopped_gives_its_space_back(
    opens: Callable[..., PostgresStorage], schema: str
) -> None:
    storage = opens()
    create(storage, "s")
    code = f"import mnemos.storage.postgres.engine as engine; engine._IDLE_SECONDS = 1\n{HOLD}"
    # Its own wait is over when it goes on, as after a minute.
    code = code.replace("document_of)", "document_of, busy_seconds=0.5)")
    child = subprocess.Popen(
        [sys.executable, "-c", code, url_of(schema)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert child.stdout is not None
    assert child.stdout.readline() == b"held\n"
    child.send_signal(signal.SIGSTOP)
    storage.write(lambda tx: tx.sessions.append("s", [message("after")], NOW), within=20)
    child.send_signal(signal.SIGCONT)
    _, said = child.communicate()
    assert b"Unavailable" in said
    assert b"Nothing was stored" in said
    assert contents(storage) == ["after"]


def test_a_write_gives_its_space_back_after_a_minute(opens: Callable[..., PostgresStorage]) -> None:
    storage = opens()

    def ask(_: Writes) -> str:
        return str(
            storage.current_transaction()
            .connection.execute("SHOW idle_in_transaction_session_timeout")
            .fetchall()[0][0]
        )

    assert storage.write(ask) == "1min"


def test_an_old_snapshot_does_not_slow_down_the_lock_of_a_space(
    opens: Callable[..., PostgresStorage], schema: str
) -> None:
    """A row that each append rewrote would be read in all its versions, as long as somebody may see them."""
    storage = opens()
    create(storage, "s")

    def look(connection: psycopg.Connection) -> object:
        return connection.execute(f"SELECT ctid::text FROM {schema}.space_states").fetchall()

    with psycopg.connect(server_url()) as other:
        other.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        other.execute("SELECT set_config('mnemos.space', '0', true)")
        before = look(other)
        for number in range(20):
            append(storage, "s", f"message {number}")
        other.rollback()
        other.execute("SELECT set_config('mnemos.space', '0', true)")
        assert look(other) == before != []


def test_a_forked_child_has_connections_of_its_own(opens: Callable[..., PostgresStorage]) -> None:
    storage = opens()
    create(storage, "s")
    append(storage, "s", "parent")
    child = os.fork()
    if child == 0:
        try:
            append(storage, "s", "child")
            os._exit(0)
        except BaseException:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    append(storage, "s", "parent again")
    assert contents(storage) == ["parent", "child", "parent again"]


def test_a_reader_does_not_write(opens: Callable[..., PostgresStorage], schema: str) -> None:
    create(opens(), "s")
    url = url_of(schema) + "&options=-c%20default_transaction_read_only%3Don"
    # Writes say READ WRITE themselves: a role's own default does not stop them.
    assert create(opens(url), "t")
    reader = opens(read_only=True)
    with pytest.raises(ReadOnly):
        create(reader, "u")


def test_a_role_without_rights_is_refused(own_server: Server) -> None:
    own_server.psql("CREATE ROLE stranger LOGIN")
    url = own_server.url.replace("tester@", "stranger@") + "&schema=closed"
    with pytest.raises(PermissionDenied):
        PostgresStorage(url, space="default", documents=document_of)
    PostgresStorage(own_server.url + "&schema=closed", space="default", documents=document_of).close()
    with pytest.raises((PermissionDenied, NotADatabase)):
        PostgresStorage(url, space="default", documents=document_of)


def test_a_newer_schema_is_refused_and_a_changed_one_stops_writers(
    opens: Callable[..., PostgresStorage], schema: str
) -> None:
    storage = opens()
    create(storage, "s")
    with psycopg.connect(server_url()) as connection:
        connection.execute("SELECT set_config('mnemos.space', '0', true)")
        connection.execute(f"UPDATE {schema}.space_states SET schema = 99")
        connection.execute(f"UPDATE {schema}.properties SET value = '99' WHERE name = 'schema'")
    with pytest.raises(SchemaChanged):
        append(storage, "s", "no")
    with pytest.raises(SchemaTooNew):
        opens()


def test_a_schema_of_another_program_is_refused(schema: str) -> None:
    with psycopg.connect(server_url()) as connection:
        connection.execute(f"CREATE SCHEMA {schema}")
        connection.execute(f"CREATE TABLE {schema}.properties (id int)")
    with pytest.raises(NotADatabase):
        PostgresStorage(url_of(schema), space="default", documents=document_of)


def test_tables_that_are_gone_are_named(opens: Callable[..., PostgresStorage], schema: str) -> None:
    storage = opens()
    drop_schema(schema)
    with pytest.raises(NotADatabase):
        storage.write(lambda tx: tx.sessions.create(session_row("s")))


def test_a_database_that_is_not_utf8_is_refused(own_server: Server) -> None:
    own_server.psql("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    with pytest.raises(NotADatabase, match="UTF8"):
        PostgresStorage(own_server.url.replace("/postgres", "/latin"), space="default", documents=document_of)
