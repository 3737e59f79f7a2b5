"""The overview of a memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import mnemos
from mnemos import Memory
from mnemos.integrations.providers.prompt import compose
from mnemos.testing import FixedClock
from mnemos.text.tokens import count_tokens


@pytest.fixture
def memory(home: Path, clock: FixedClock) -> Iterator[Memory]:
    with mnemos.open(home, clock=clock, embedder="none", backend="local") as opened:
        yield opened


def test_an_empty_memory_has_an_overview(memory: Memory) -> None:
    shown = memory.call("overview")
    counts = ("sessions", "messages", "facts", "notes", "entries", "templates", "databases", "conflicts")
    assert [shown[name] for name in counts] == [0] * len(counts)
    assert shown["growth"] == []
    assert shown["last_backup"] is None
    assert [part["tokens"] for part in shown["prompt"]] == [0, 0, 0]


def test_everything_stored_is_counted(memory: Memory, tmp_path: Path, clock: FixedClock) -> None:
    for name in ("one", "two"):
        memory.sessions.create_session(name, "cli")
        memory.sessions.append_message(name, "user", "hello")
    memory.sessions.archive("two")
    memory.remember("The staging database listens on port 5433")
    memory.notebook.add("Tests run with make test")
    memory.notebook.add("Likes short answers", target="user")
    memory.entries.store("sam", "city", "Lisbon")
    memory.backup(tmp_path / "copy.db")
    shown = memory.call("overview")
    counts = ("sessions", "messages", "facts", "notes", "entries")
    assert [shown[name] for name in counts] == [2, 2, 1, 2, 1]
    assert [(one["source"], one["sessions"], one["messages"]) for one in shown["growth"]] == [("cli", 2, 2)]
    assert shown["last_backup"] == clock()
    assert shown["bytes"] > 0


def test_the_parts_of_the_prompt_are_what_a_session_is_given(memory: Memory) -> None:
    memory.notebook.add("Tests run with make test")
    memory.remember("The staging database listens on port 5433")
    memory.workspace.query("CREATE TABLE prices (item TEXT, eur REAL)")
    parts = memory.call("overview")["prompt"]
    assert "\n\n".join(part["text"] for part in parts) == compose(memory, "new").text
    assert [part["name"] for part in parts] == ["notes", "facts", "tables"]
    for part in parts:
        assert 0 < part["tokens"] == count_tokens(part["text"]) <= part["limit"]


def test_growth_can_begin_at_a_time(memory: Memory) -> None:
    memory.sessions.create_session("old", "cli", started_at=memory.clock() - 40 * 86_400)
    memory.sessions.create_session("new", "mail")
    grown = memory.call("overview", {"since": "30 days ago"})["growth"]
    assert [one["source"] for one in grown] == ["mail"]
