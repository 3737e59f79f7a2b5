"""``mnemos demo`` and ``mnemos completion``."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import tempfile
from pathlib import Path

import pytest

from mnemos.faces.cli.demo import history
from mnemos.memory import Memory

from .conftest import NOW, Mnemos
from .model_endpoint import ModelEndpoint
from .terminal import PROGRAM


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files, empty."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_the_demo_finds_something_for_every_question_and_leaves_nothing(
    home: Path, temporary: Path, mnemos: Mnemos
) -> None:
    answer = mnemos("demo")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.count("›") == 8
    assert "  0 shown" not in answer.out
    assert "6 conversations" in answer.out
    assert "\x1b" not in answer.out
    assert not home.exists()
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("name", ["kept", "[bold]kept[/bold]", "k" * 120])
def test_the_demo_keeps_its_home_when_asked_and_says_where(
    home: Path, temporary: Path, tmp_path: Path, mnemos: Mnemos, name: str
) -> None:
    folder = tmp_path / name
    answer = mnemos("demo", "--keep", str(folder))
    assert answer.code == 0
    assert f"--home {shlex.quote(str(folder))} sessions list" in answer.out
    assert mnemos("--home", str(folder), "sessions", "list", "--json").json["total"] == 6
    assert not home.exists()


def test_the_demo_overwrites_nothing(tmp_path: Path, mnemos: Mnemos) -> None:
    (tmp_path / "there").mkdir()
    assert mnemos("demo", "--keep", str(tmp_path / "there")).code == 4
    assert list((tmp_path / "there").iterdir()) == []


def test_the_demo_shows_something_even_where_memory_is_disabled(
    temporary: Path, mnemos: Mnemos, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its home is its own: the switch is about the user's memory."""
    monkeypatch.setenv("MNEMOS_DISABLED", "1")
    answer = mnemos("demo")
    assert answer.code == 0
    assert "6 conversations" in answer.out


def test_the_history_of_the_demo_is_relative_to_now() -> None:
    sessions = list(history(NOW))
    assert {session["id"] for session in sessions} == {session["id"] for session in history(0.0)}
    for session, earlier in zip(sessions, history(NOW - 86400.0), strict=True):
        assert session["started_at"] - earlier["started_at"] == 86400.0
        assert session["ended_at"] < NOW
        times = [message["timestamp"] for message in session["messages"]]
        assert times == sorted(times)
        calls = {c["id"] for m in session["messages"] for c in m.get("tool_calls", ())}
        assert {m["tool_call_id"] for m in session["messages"] if m["role"] == "tool"} == calls


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_a_script_for_the_shell(mnemos: Mnemos, shell: str) -> None:
    answer = mnemos("completion", shell)
    assert answer.code == 0
    assert "_MNEMOS_COMPLETE" in answer.out
    assert f"{shell}_complete" in answer.out


def test_completion_knows_no_other_shell(mnemos: Mnemos) -> None:
    answer = mnemos("completion", "sh")
    assert answer.code == 2
    assert "bash" in answer.err


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("mnemos sess", {"sessions"}),
        ("mnemos sessions li", {"list", "lineage"}),
        ("mnemos sessions list --li", {"--limit"}),
        ("mnemos completion z", {"zsh"}),
        ("mnemos sessions find --sort n", {"newest"}),
    ],
)
def test_commands_and_options_are_completed(home: Path, typed: str, offered: set[str]) -> None:
    words = {"COMP_WORDS": typed, "COMP_CWORD": str(len(typed.split()) - 1)}
    done = subprocess.run(
        PROGRAM,
        env={**os.environ, "_MNEMOS_COMPLETE": "bash_complete", **words},
        capture_output=True,
        text=True,
        check=False,
    )
    assert {line.partition(",")[2] for line in done.stdout.splitlines()} == offered
    assert not home.exists()


def test_a_summary_by_the_configured_model_is_marked_as_such(
    shop: Path, mnemos: Mnemos, endpoint: ModelEndpoint
) -> None:
    (shop / "config.toml").write_text(f'[llm]\nbase_url = "{endpoint.base_url}"\nmodel = "small"\n')
    words = ("sessions", "find", "database", "--summarize", "--limit", "2")
    answer = mnemos(*words, "--json")
    assert {c["summary_by"] for c in answer.json["conversations"]} == {"model"}
    assert "A summary." in mnemos(*words).out
    with Memory.at(shop) as memory:
        same = memory.call("session_search", {"query": "database", "summarize": True, "limit": 2})
    same.pop("text")
    assert same == answer.json


def test_without_a_model_a_summary_is_an_extract_that_says_what_to_do(shop: Path, mnemos: Mnemos) -> None:
    answer = mnemos("sessions", "find", "database", "--summarize", "--json")
    for conversation in answer.json["conversations"]:
        assert conversation["summary_by"] == "extract"
        assert "config.toml" in conversation["summary_failure"]
    assert "config.toml" in mnemos("sessions", "find", "database", "--summarize").out


def test_the_key_of_the_model_comes_from_the_environment_and_is_never_shown(
    shop: Path, mnemos: Mnemos, endpoint: ModelEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_KEY", "k-123456")
    (shop / "config.toml").write_text(
        f'[llm]\nbase_url = "{endpoint.base_url}"\nmodel = "small"\napi_key_env = "SHOP_KEY"\n'
    )
    answer = mnemos("sessions", "find", "database", "--summarize", "--json")
    assert endpoint.asked[0].headers["Authorization"] == "Bearer k-123456"
    assert "k-123456" not in json.dumps(answer.json) + answer.err


def test_facts_written_at_the_command_line_are_stated_by_the_user(tmp_path: Path, mnemos: Mnemos) -> None:
    home = ("--home", str(tmp_path / "home"))
    assert mnemos(*home, "remember", "I like jazz").code == 0
    assert mnemos(*home, "facts", "write", "V[port]: 3005").code == 0
    facts = mnemos(*home, "facts", "list", "--json").json["facts"]
    assert {fact["stated_by"] for fact in facts} == {"user"}
