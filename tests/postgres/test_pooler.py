"""Poolers in transaction mode: each transaction may run on another connection of the server."""

from __future__ import annotations

import threading

import psycopg
import pytest

import mnemos
from mnemos.storage.postgres import connection as connections
from mnemos.storage.postgres.connection import connect, parse_url
from postgres_server import POOLER, Pooler, Server, server_url


@pytest.mark.skipif(POOLER is None, reason="install pgbouncer, or name it in MNEMOS_TEST_PGBOUNCER")
def test_agents_share_one_connection_of_the_server(own_server: Server) -> None:
    pooler = Pooler(own_server)

    def work(number: int) -> None:
        with mnemos.open(pooler.url, space=f"agent{number}") as memory:
            memory.sessions.ensure_session("s", "cli")
            for count in range(12):
                memory.sessions.append_message("s", "user", f"parrot {count} of agent {number}")
                assert memory.search("parrot")
            assert memory.recall("which parrot?").hits
            stored[number] = memory.sessions.message_count()

    stored: dict[int, int] = {}
    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    pooler.stop()
    assert stored == {0: 12, 1: 12, 2: 12}


def test_statements_are_prepared_only_where_they_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    target = parse_url(server_url())
    with connect(target) as direct:
        assert direct.prepare_threshold is not None
    # A pooler answers with a process number that it made up.
    monkeypatch.setattr(psycopg.ConnectionInfo, "backend_pid", 1)
    with connections.connect(target) as pooled:
        assert pooled.prepare_threshold is None
