"""A replica is read, not written, and takes the place of a primary that is gone."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

import mnemos
from mnemos.errors import ReadOnly
from postgres_server import Server


@pytest.fixture
def pair() -> Iterator[tuple[Server, Server]]:
    primary = Server("wal_level=replica")
    primary.psql("ALTER ROLE tester REPLICATION")
    with mnemos.open(primary.url) as memory:
        memory.sessions.create_session("s", "cli")
        memory.sessions.append_message("s", "user", "The parrot lives on port 8042.")
    replica = primary.copy()
    yield primary, replica
    replica.remove()
    primary.remove()


def wait_for(primary: Server, replica: Server) -> None:
    """Wait until the replica has everything that the primary has."""
    with psycopg.connect(primary.admin_url, autocommit=True) as one:
        row = one.execute("SELECT pg_current_wal_flush_lsn()::text").fetchone()
    assert row is not None
    with psycopg.connect(replica.admin_url, autocommit=True) as other:
        while other.execute("SELECT pg_last_wal_replay_lsn() < %s::pg_lsn", row).fetchone() == (True,):
            pass


def test_a_replica_is_read_until_it_is_promoted(pair: tuple[Server, Server]) -> None:
    primary, replica = pair
    wait_for(primary, replica)
    with pytest.raises(ReadOnly, match="target_session_attrs=read-write"):
        mnemos.open(replica.url).search("parrot")
    with mnemos.open(replica.url, read_only=True) as reader:
        assert [hit["session_id"] for hit in reader.search("parrot")] == ["s"]
        assert "8042" in reader.recall("which port?").text
        # The last commit may be long ago: the replica is not behind for that.
        assert [check for check in reader.doctor() if not check.ok] == []
        assert any("a replica, 0.0 seconds behind" in check.detail for check in reader.doctor())
    both = f"postgresql://tester@/postgres?host={primary.folder},{replica.folder}&target_session_attrs=read-write"
    with mnemos.open(both) as memory:
        memory.sessions.append_message("s", "user", "before")
        wait_for(primary, replica)
        primary.stop()
        replica.promote()
        memory.sessions.append_message("s", "user", "after")
        assert memory.sessions.message_count() == 3
