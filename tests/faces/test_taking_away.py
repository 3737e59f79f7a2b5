"""Commands that take something away ask first, and refuse when nobody can be asked."""

from __future__ import annotations

import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from mnemos.memory import Memory
from mnemos.operations import registry

from .calls import CALLS, arguments, command_line
from .conftest import Mnemos
from .terminal import at_a_terminal

DESTRUCTIVE = sorted(name for name in CALLS if registry.find(name).traits.destructive)
AT_STAKE = {
    "sessions_delete": ("slot-bug", "Pick-up slots off by an hour", "5 messages"),
    "sessions_pop": ("the newest message of Pick-up slots off by an hour", "permanently"),
    "sessions_prune": ("1 ended session", "permanently"),
    "restore": ("This replaces everything", "26 messages", "keeps a copy"),
    "forget": ("message:3", '"', "permanently"),
    "memory_purge": ("the history of 1 fact",),
    "sqlite_delete": ("experiment", "1 table", "snapshots"),
    "memory_forget": ("2 statements on srv.prod", "permanently"),
    "memory_backend": ("the entry 'pref_editor' of sam",),
    "entries_delete": ("the entry 'city' of default",),
    "templates_delete": ("template read-slots", "1 example", "permanently"),
}


@pytest.fixture
def root(filled: Path, tmp_path: Path) -> Path:
    shutil.copytree(filled, tmp_path / "root")
    return tmp_path / "root"


def held(root: Path) -> list[dict[str, Any]]:
    """All sessions with their messages, facts, databases, templates, entries; not the ids of messages.

    The time of the last change is left out, too: an undo is one.
    """
    with Memory.at(root / "home") as memory:
        sessions = list(memory.sessions.export_all())
        databases = [asdict(info) for info in memory.workspace.databases()]
        facts = [asdict(fact) for fact in memory.facts.list(states=("live", "superseded", "retired"))]
        templates = [{"id": one.name, **one.to_dict()} for one in memory.templates.list_templates()]
        entries = [{"id": key} for user in memory.entries.users() for key in memory.entries.list_keys(user)]
    for session in sessions:
        session["updated_at"] = None
        session["messages"] = [{**message, "id": None} for message in session["messages"]]
    return [*sessions, *facts, *databases, *templates, *entries]


def test_every_operation_that_takes_something_away_is_tried_here() -> None:
    assert set(AT_STAKE) == set(DESTRUCTIVE)


@pytest.mark.parametrize("name", DESTRUCTIVE)
def test_without_a_terminal_it_refuses_and_names_what_is_at_stake(
    root: Path, mnemos: Mnemos, name: str
) -> None:
    before = held(root)
    words = [word for word in command_line(name, arguments(name, str(root))) if word != "--yes"]
    answer = mnemos("--home", str(root / "home"), *words, stdin="y\n")
    assert (answer.code, answer.out) == (4, "")
    assert answer.error["code"] == "refused"
    assert "--yes" in answer.error["message"]
    for words_at_stake in AT_STAKE[name]:
        assert words_at_stake in answer.error["message"]
    assert held(root) == before


@pytest.mark.parametrize("name", DESTRUCTIVE)
def test_with_yes_it_acts(root: Path, mnemos: Mnemos, name: str) -> None:
    with Memory.at(root / "home") as memory:
        memory.sessions.append_message("slot-bug", "user", "after the backup")
    before = held(root)
    answer = mnemos("--home", str(root / "home"), *command_line(name, arguments(name, str(root))))
    assert (answer.code, answer.err) == (0, "")
    assert held(root) != before


@pytest.mark.parametrize("answer", ["n\n", "\n"], ids=["no", "enter"])
def test_at_a_terminal_it_asks_and_no_is_the_default(root: Path, answer: str) -> None:
    before = held(root)
    seen = at_a_terminal("sessions", "delete", "slot-bug", home=root / "home", typed=answer)
    assert seen.code != 0
    assert "Pick-up slots off by an hour" in seen.screen
    assert held(root) == before


def test_at_a_terminal_yes_is_enough(root: Path) -> None:
    seen = at_a_terminal("sessions", "delete", "slot-bug", home=root / "home", typed="y\n")
    assert seen.code == 0
    assert "slot-bug" not in {session.get("id") for session in held(root)}


@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
def test_a_dry_run_never_asks_and_changes_nothing(root: Path, mnemos: Mnemos, form: tuple[str, ...]) -> None:
    before = held(root)
    words = ("sessions", "prune", "--older-than-days", "0", "--dry-run")
    answer = mnemos("--home", str(root / "home"), *words, *form)
    assert (answer.code, answer.err) == (0, "")
    assert answer.json == {"sessions": 6, "dry_run": True} if form else "6 sessions" in answer.out
    assert held(root) == before


def test_when_nothing_would_go_nobody_is_asked(root: Path, mnemos: Mnemos) -> None:
    words = ("sessions", "prune", "--older-than-days", "90000", "--json")
    answer = mnemos("--home", str(root / "home"), *words)
    assert (answer.code, answer.json["sessions"]) == (0, 0)


def test_what_is_not_there_is_not_found_before_anybody_is_asked(root: Path, mnemos: Mnemos) -> None:
    for words in (
        ("sessions", "delete", "nobody"),
        ("forget", "message:999999"),
        ("facts", "forget", "f999999"),
        ("facts", "purge", "--scope", "nobody"),
        ("restore", "no-such-file"),
        ("workspace", "delete", "nobody", "--confirm", "nobody"),
    ):
        answer = mnemos("--home", str(root / "home"), *words, "--json")
        assert (answer.code, answer.error["code"]) == (3, "not_found"), words


def test_a_deleted_session_comes_back_with_undo(root: Path, mnemos: Mnemos) -> None:
    before = held(root)
    home = ("--home", str(root / "home"))
    assert mnemos(*home, "sessions", "delete", "slot-bug", "--yes").code == 0
    assert mnemos(*home, "sessions", "show", "slot-bug").code == 3
    assert mnemos(*home, "undo").code == 0
    assert held(root) == before


def test_undoing_an_import_asks_first(root: Path, mnemos: Mnemos) -> None:
    home = ("--home", str(root / "home"))
    with Memory.at(root / "home") as memory:
        memory.sessions.import_sessions([{"id": "a", "messages": [{"role": "user", "content": "x"}]}])
    before = held(root)
    answer = mnemos(*home, "undo", "--json", stdin="y\n")
    assert (answer.code, answer.error["code"]) == (4, "refused")
    assert "deletes 1 imported session" in answer.error["message"]
    assert "--diff" not in answer.error["message"]
    seen = at_a_terminal("undo", home=root / "home", typed="n\n")
    assert seen.code == 4
    assert held(root) == before
    assert mnemos(*home, "undo", "--yes").out == "Deleted 1 imported session.\n"


def test_forgetting_names_the_copies_that_still_hold_it(root: Path, mnemos: Mnemos) -> None:
    home = ("--home", str(root / "home"))
    copy = root / "mine.db"
    assert mnemos(*home, "backup", str(copy)).code == 0
    answer = mnemos(*home, "forget", "message:3", "--yes")
    assert str(copy) in answer.out


def test_restoring_says_where_the_former_data_is(root: Path, mnemos: Mnemos) -> None:
    home = ("--home", str(root / "home"))
    assert mnemos(*home, "sessions", "create", "later").code == 0
    answer = mnemos(*home, "restore", str(root / "copy.db"), "--yes", "--json")
    assert "later" not in {session.get("id") for session in held(root)}
    with Memory.at(root / "look", read_only=False) as memory:
        memory.restore(answer.json["former_data"])
        assert memory.sessions.get_session("later")


def test_forgetting_in_words_needs_no_confirmation_because_it_can_be_undone(
    root: Path, mnemos: Mnemos
) -> None:
    home = ("--home", str(root / "home"))
    assert mnemos(*home, "remember", "I collect stamps").code == 0
    before = held(root)
    answer = mnemos(*home, "forget", "my stamps")
    assert (answer.code, answer.err) == (0, "")
    assert "I collect stamps" in answer.out
    assert "mnemos undo" in answer.out
    assert held(root) != before
    assert mnemos(*home, "undo").code == 0
    assert "I collect stamps" in mnemos(*home, "facts", "list").out


def test_an_unclear_request_to_forget_fails_and_lists_what_could_be_meant(root: Path, mnemos: Mnemos) -> None:
    home = ("--home", str(root / "home"))
    for text in ("I collect stamps from Malta", "I collect stamps from Iceland"):
        assert mnemos(*home, "remember", text).code == 0
    before = held(root)
    answer = mnemos(*home, "forget", "my stamps", "--json")
    assert answer.code == 1
    assert [one["text"] for one in answer.json["candidates"]] == [
        '"I collect stamps from Malta"',
        '"I collect stamps from Iceland"',
    ]
    assert held(root) == before
