"""The start of ``mnemos`` alone: its answer, and the modules it does not load."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from mnemos import __version__
from mnemos.memory import Memory

from .conftest import Mnemos

HEAVY = ("numpy", "pydantic", "mcp", "httpx", "asyncio")


def next_commands(out: str) -> list[str]:
    return [line.strip() for line in out.partition("Next:\n")[2].splitlines() if line.strip()]


def loaded_by(*arguments: str) -> set[str]:
    """The modules a command line has loaded when it is done."""
    program = (
        "import sys, json, atexit\n"
        "atexit.register(lambda: sys.stderr.write(json.dumps(sorted(sys.modules))))\n"
        "from mnemos.faces.cli import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, check=True, stdin=subprocess.DEVNULL
    )
    return set(json.loads(done.stderr))


def test_an_empty_home_is_greeted_and_not_made(home: Path, mnemos: Mnemos) -> None:
    answer = mnemos()
    assert (answer.code, answer.err) == (0, "")
    assert str(home) in answer.out
    assert __version__ in answer.out
    assert "empty" in answer.out
    commands = next_commands(answer.out)
    assert len(commands) == 3
    assert all(line.startswith("mnemos ") for line in commands)
    assert not home.exists()


def test_a_filled_home_is_greeted_with_what_is_in_it(shop: Path, mnemos: Mnemos) -> None:
    answer = mnemos("--home", str(shop))
    with Memory.at(shop) as memory:
        assert f"{memory.sessions.session_count(archived=None)} sessions" in answer.out
        assert f"{memory.sessions.message_count()} messages" in answer.out
    assert len(next_commands(answer.out)) == 3


@pytest.mark.parametrize("filled_home", [False, True], ids=["empty", "filled"])
def test_what_the_greeting_suggests_can_be_typed(
    filled_home: bool, request: pytest.FixtureRequest, mnemos: Mnemos
) -> None:
    if filled_home:
        request.getfixturevalue("shop")
    for line in next_commands(mnemos().out):
        words = line.split("  ")[0].split()[1:]
        command = [word for word in words if word.islower() or word.startswith("--")]
        assert mnemos(*command, *(["--help"] if "--help" not in command else [])).code == 0


def test_the_greeting_names_the_space_that_was_asked_for(shop: Path, mnemos: Mnemos) -> None:
    answer = mnemos("--space", "another")
    assert "another" in answer.out
    assert "0 sessions" in answer.out


def test_the_greeting_answers_in_json_when_asked(home: Path, mnemos: Mnemos) -> None:
    assert mnemos("--json").json["home"] == str(home)
    assert not home.exists()


@pytest.mark.parametrize("arguments", [("--version",), ("--json", "--version")], ids=" ".join)
def test_the_version_is_reported(mnemos: Mnemos, arguments: tuple[str, ...]) -> None:
    answer = mnemos(*arguments)
    assert (answer.code, answer.out, answer.err) == (0, f"mnemos {__version__}\n", "")


def test_the_version_loads_nothing(home: Path) -> None:
    loaded = loaded_by("--version")
    for module in ("click", "apsw", "msgspec", "rich", "mnemos.memory.memory", "importlib.metadata", *HEAVY):
        assert module not in loaded


def test_a_command_loads_only_what_it_needs(shop: Path) -> None:
    loaded = loaded_by("sessions", "search", "deploy")
    # rich is for terminals; the model's client for summaries.
    for module in ("rich", "urllib.request", "mnemos.operations.session_files", *HEAVY):
        assert module not in loaded


def test_help_fits_a_terminal_and_is_plain(mnemos: Mnemos) -> None:
    out = mnemos("--help").out
    assert max(map(len, out.splitlines())) <= 80
    assert "\x1b" not in out
