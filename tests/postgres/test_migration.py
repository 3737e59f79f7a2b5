"""`mnemos migrate` and `mnemos postgres init`."""

from __future__ import annotations

from pathlib import Path

import pytest

import mnemos
from contract.storage.openers import create
from mnemos.errors import InvalidInput, PermissionDenied, SchemaChanged, Unavailable
from mnemos.faces.cli.app import run
from mnemos.memory import migration
from mnemos.sessions.message_text import document_of
from mnemos.settings import Settings
from mnemos.storage.postgres import schema
from mnemos.storage.postgres.engine import PostgresStorage
from postgres_server import Server

QUESTIONS = ("which port does staging use?", "where does the team live?", "what is the rule on cards?")


@pytest.fixture
def filled(home: Path) -> Path:
    for space, number in (("default", 8042), ("team/alice", 8043)):
        with mnemos.open(home, space=space) as memory:
            memory.sessions.create_session("s", "cli", title="Staging")
            memory.sessions.append_message("s", "user", f"The staging server listens on port {number}.")
            memory.facts.write("C[cards]: no card data in our database")
            memory.notebook.add("The team lives in Frankfurt.")
            memory.entries.put("default", "city", "Rome")
    return home


def _answers(settings: Settings) -> list[list[str]]:
    with mnemos.Memory(settings) as memory:
        return [[hit.text for hit in memory.recall(question, words_only=True).hits] for question in QUESTIONS]


def test_a_migrated_memory_gives_the_same_answers_there_and_back(
    filled: Path, url: str, tmp_path: Path
) -> None:
    source = Settings.load(filled, env={})
    done = list(migration.migrate(source, url))
    assert [(one.space, one.messages, one.facts) for one in done] == [("default", 1, 1), ("team/alice", 1, 1)]
    server = Settings.load(filled, env={}, database=url, space="team/alice")
    before = _answers(Settings.load(filled, env={}, space="team/alice"))
    assert _answers(server) == before
    assert before[0]
    list(migration.migrate(server, str(tmp_path / "back")))
    assert _answers(Settings.load(tmp_path / "back", env={}, space="team/alice")) == before


def test_messages_keep_their_order_across_sessions(home: Path, url: str) -> None:
    with mnemos.open(home) as memory:
        for number, name in enumerate(("c", "a", "b")):
            memory.sessions.create_session(name, "cli")
            memory.sessions.append_message(name, "user", f"parrot {number}", timestamp=1_700_000_000)
        before = [hit["session_id"] for hit in memory.search("parrot")]
    list(migration.migrate(Settings.load(home, env={}), url))
    with mnemos.Memory(Settings.load(home, env={}, database=url)) as memory:
        assert [hit["session_id"] for hit in memory.search("parrot")] == before


def test_migrating_twice_adds_nothing(filled: Path, url: str) -> None:
    source = Settings.load(filled, env={})
    for _ in range(2):
        list(migration.migrate(source, url))
    with mnemos.Memory(Settings.load(filled, env={}, database=url)) as memory:
        assert memory.sessions.message_count() == 1
        assert memory.facts.count() == 1


def test_a_target_that_cannot_be_reached_leaves_the_source(filled: Path) -> None:
    with pytest.raises(Unavailable):
        list(migration.migrate(Settings.load(filled, env={}), "postgresql://me:s3cret@127.0.0.1:1/x"))
    with pytest.raises(InvalidInput):
        list(migration.migrate(Settings.load(filled, env={}), str(filled)))


def test_a_role_that_owns_nothing_reads_and_writes(
    own_server: Server, home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    own_server.psql("CREATE ROLE agent LOGIN")
    monkeypatch.setenv("MNEMOS_DATABASE", own_server.url)
    assert run(["postgres", "init", "--home", str(home), "--role", "agent"]) == 0
    agent = own_server.url.replace("tester@", "agent@")
    with mnemos.open(agent, space="new") as memory:
        memory.sessions.create_session("s", "cli")
        message = memory.sessions.append_message("s", "user", "a parrot")
        assert memory.search("parrot")
        memory.storage.optimize(1)
        # Until version 17, only the owner of a table may clean up.
        assert memory.forget(f"message:{message}")["pending"] is (own_server.version < 17)
        assert memory.search("parrot") == []
        assert [check for check in memory.doctor() if not check.ok] == []
        memory.backup(tmp_path / "copy")
        with pytest.raises(PermissionDenied):
            memory.restore(tmp_path / "copy")
        # Nothing was replaced, so there is no former data to keep.
        assert [file.name for file in tmp_path.iterdir() if file.is_file()] == ["copy"]
    assert run(["postgres", "init", "--home", str(home), "--role", "nobody at all"]) == 3


def test_a_role_that_owns_nothing_gives_access_to_nobody(own_server: Server) -> None:
    own_server.psql("CREATE ROLE agent LOGIN; CREATE ROLE another LOGIN")
    with mnemos.open(own_server.url) as owner:
        owner.storage.grant("agent")
    with mnemos.open(own_server.url.replace("tester@", "agent@")) as memory:
        with pytest.raises(PermissionDenied, match="owner"):
            memory.storage.grant("another")
        # It may use them already.
        memory.storage.grant("agent")


def test_forgetting_is_pending_while_the_role_may_not_clean_up(own_server: Server) -> None:
    own_server.psql("CREATE ROLE agent LOGIN")
    with mnemos.open(own_server.url) as owner:
        owner.storage.grant("agent")
    if own_server.version >= 17:
        own_server.psql("REVOKE MAINTAIN ON ALL TABLES IN SCHEMA mnemos FROM agent")
    with mnemos.open(own_server.url.replace("tester@", "agent@")) as memory:
        memory.sessions.create_session("s", "cli")
        message = memory.sessions.append_message("s", "user", "a parrot")
        assert memory.forget(f"message:{message}")["pending"] is True
        with pytest.raises(PermissionDenied):
            memory.storage.optimize(deep=True)


def test_a_deep_optimization_erases_the_keys_of_forgotten_words(own_server: Server) -> None:
    with mnemos.open(own_server.url) as memory:
        memory.sessions.create_session("s", "cli")
        message = memory.sessions.append_message("s", "user", "a quokkawumple")
        memory.storage.optimize(1)
        answer = memory.forget(f"message:{message}")
        assert any("optimize --deep" in copy for copy in answer["copies"])
        own_server.psql("CHECKPOINT")
        assert own_server.holds("words_by_word", b"quokkawumple")
        memory.sessions.optimize(deep=True)
        own_server.psql("CHECKPOINT")
        assert not own_server.holds("words_by_word", b"quokkawumple")


def test_the_former_data_of_a_restore_is_named_among_the_copies(url: str, tmp_path: Path) -> None:
    with mnemos.open(url) as memory:
        memory.sessions.create_session("s", "cli")
        message = memory.sessions.append_message("s", "user", "a parrot")
        memory.backup(tmp_path / "copy")
        former = memory.restore(tmp_path / "copy")
        assert str(former) in memory.forget(f"message:{message}")["copies"]


def test_roles_may_use_the_tables_of_a_later_version(
    own_server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    own_server.psql("CREATE ROLE agent LOGIN")
    agent = own_server.url.replace("tester@", "agent@")
    with mnemos.open(own_server.url, space="old") as owner:
        owner.storage.grant("agent")
        former = PostgresStorage(agent, space="old", documents=document_of)
        later = tmp_path / "0002_later.sql"
        later.write_text("-- A comment.\nCREATE TABLE mnemos.later (space INTEGER PRIMARY KEY);\n")
        monkeypatch.setattr(schema, "_MIGRATIONS", [*schema._MIGRATIONS, later])
        monkeypatch.setattr(schema, "VERSION", 2)
        PostgresStorage(own_server.url, space="old", documents=document_of).close()
    current = PostgresStorage(agent, space="old", documents=document_of)
    assert create(current, "s")
    look = "SELECT count(*) FROM mnemos.later"
    assert current.write(lambda tx: current.transaction_of(tx).connection.execute(look).fetchall()) == [(0,)]
    current.close()
    # A process of the version before stops.
    monkeypatch.setattr(schema, "VERSION", 1)
    with pytest.raises(SchemaChanged):
        create(former, "t")
    former.close()
