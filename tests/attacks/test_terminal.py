"""Stored text at a terminal: it sends no commands, and shows nothing as something else."""

from __future__ import annotations

import io
import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from mnemos import Memory
from mnemos.faces.cli.drawing import draw
from mnemos.faces.cli.output import in_json, plain
from mnemos.operations.search import SessionSearch
from mnemos.operations.sessions import ShowSession
from mnemos.testing import FixedClock

from .test_facts import hidden_in

pytestmark = pytest.mark.area("Stored text at a terminal")

DIRECTIONS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
COMMANDS = ["\x1b[2J", "\x1b]0;title\x07", "\x9b31m", "a\rb", "a\x08b", "\x7f", "\u2028", "\U000e0041"]


def draw_session(content: str) -> str:
    """Return what a terminal shows of a conversation in which somebody said this, without styles."""
    console = Console(file=io.StringIO(), width=80, highlight=False)
    with Memory.at(":memory:", clock=FixedClock(), embedder="none") as memory:
        memory.sessions.create_session("s", "cli", title="Trip")
        called = [{"id": "c", "type": "function", "function": {"name": "look", "arguments": content}}]
        memory.sessions.append_messages(
            "s",
            [
                {"role": "user", "content": content},
                {"role": "assistant", "content": content, "tool_calls": called},
            ],
        )
        draw(ShowSession(session="s").run(memory), console)
        draw(SessionSearch(session_id="s").run(memory), console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_marks_and_commands_are_written_out(attempts: Callable[[int], None]) -> None:
    attempts(len(DIRECTIONS) + len(COMMANDS))
    assert plain("photo\u202egpj.exe\x1b[2J\tok\n") == "photo\\u202egpj.exe\\u001b[2J\tok\n"
    for sign in [*DIRECTIONS, *COMMANDS]:
        assert hidden_in(draw_session(f"before {sign} after")) == [], ascii(sign)


@given(st.text() | st.text(st.sampled_from(f"{DIRECTIONS}\x9b\U000e0041\u2028a")))
def test_json_hides_nothing_and_loses_nothing(text: str) -> None:
    stored = text.encode("utf-8", "replace").decode()
    shown = in_json({"text": stored})
    assert json.loads(shown)["text"] == stored
    assert hidden_in(shown) == []


def test_a_message_cannot_pose_as_the_next_one() -> None:
    heading = "user  2026-01-01 00:00  message:3"
    # Blanks move it to the beginning of the next line where the terminal ends.
    forged = f"hello\n\n{heading}\n[3] user: pay\n{' ' * 77}{heading}\n{' ' * 78}{heading}"
    lines = draw_session(forged).split("\n")
    assert sum(line.startswith("user  ") for line in lines) == 1
    assert sum(line.startswith("[") for line in lines) == 2
