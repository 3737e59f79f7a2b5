"""`mnemos migrate` and `mnemos postgres init`."""

from __future__ import annotations

from pathlib import Path

import pytest

import mnemos
from mnemos.errors import InvalidInput, PermissionDenied, Unavailable
from mnemos.faces.cli.app import run
from mnemos.memory import migration
from mnemos.settings import Settings
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
        memory.forget(f"message:{message}")
        assert memory.search("parrot") == []
        assert [check for check in memory.doctor() if not check.ok] == []
        memory.backup(tmp_path / "copy")
        with pytest.raises(PermissionDenied):
            memory.restore(tmp_path / "copy")
    assert run(["postgres", "init", "--home", str(home), "--role", "nobody at all"]) == 3
