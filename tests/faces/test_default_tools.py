"""Typical requests of users, carried out with the default tools alone.

Each request has the calls that a model makes for it. The number of calls is in the table of
docs/adr/0028-default-tools.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mnemos.memory import Memory
from mnemos.operations import registry
from mnemos.testing import FixedClock

DEFAULT = {entry.name for entry in registry.choose_entries("default")}
ADR = Path(__file__).parents[2] / "docs/adr/0028-default-tools.md"

Call = tuple[str, dict[str, Any]]
Step = Call | Callable[[str], Call]


def around(answer: str) -> Call:
    """Read on from the message that recall named."""
    found = re.search(r"message:(\d+)\)", answer)
    assert found is not None, answer
    return "sessions_read", {"around": int(found[1])}


def forget_first(answer: str) -> Call:
    """Forget the first candidate or fact that an answer names."""
    found = re.search(r"\b(f\d+|memory:[0-9a-f]{12})\b", answer)
    assert found is not None, answer
    return "forget", {"ref": found[1]}


def erase_message(answer: str) -> Call:
    found = re.search(r"message:(\d+)\)", answer)
    assert found is not None, answer
    return "forget", {"ref": f"message:{found[1]}"}


# The user's words, the calls, and a part of the last answer.
REQUESTS: list[tuple[str, list[Step], str]] = [
    ("Remember that I like jazz", [("remember", {"text": "I like jazz"})], "I like jazz"),
    ("We decided to use Redis", [("remember", {"text": "We decided to use Redis"})], "Redis"),
    ("I moved to Hamburg", [("remember", {"text": "I moved to Hamburg"})], "Replaced"),
    (
        "No, the staging port is 7000",
        [
            ("recall", {"query": "staging port"}),
            lambda said: (
                "remember",
                {"text": "Staging is on 7000", "replaces": re.findall(r"f\d+", said)[0]},
            ),
        ],
        "Replaced",
    ),
    ("Always answer in German", [("remember", {"text": "Answer in German", "kind": "note"})], "note"),
    ("Where do I live?", [("recall", {"query": "where do I live?"})], "Berlin"),
    ("What did we say about the oak table?", [("recall", {"query": "the oak table"})], "oak"),
    ("What did you note down?", [("recall", {"query": "notes tests run", "kinds": ["note"]})], "make check"),
    ("What do you know about me?", [("memory_status", {})], "Berlin"),
    ("What did I say in March?", [("recall", {"query": "oak", "until": "2099-01-01"})], "oak"),
    ("Forget where I live", [("forget", {"ref": "where I live"})], "Withdrew"),
    ("Forget that I play chess", [("forget", {"ref": "that I play chess"})], "Withdrew"),
    ("Forget f1", [("forget", {"ref": "f1"})], "Withdrew"),
    ("Forget the note on tests", [("forget", {"ref": "the note about make check"})], "Withdrew"),
    (
        "Forget the port",
        [("forget", {"ref": "the port"}), forget_first],
        "Withdrew",
    ),
    (
        "Change the note on tests",
        [
            ("forget", {"ref": "the note about make check"}),
            ("remember", {"text": "Tests run with make all", "kind": "note"}),
        ],
        "note",
    ),
    (
        "Restore what you just forgot",
        [
            ("forget", {"ref": "where I live"}),
            lambda said: ("remember", {"text": re.findall(r'"(.+?)"', said)[0]}),
        ],
        "I live in Berlin",
    ),
    (
        "Erase that message for good",
        [("recall", {"query": "the oak table"}), erase_message],
        "Erased",
    ),
    ("What came before that?", [("recall", {"query": "the oak table"}), around], "pine"),
    ("What did we talk about lately?", [("sessions_read", {})], "Furniture"),
    ("Show me the furniture talk", [("sessions_read", {"session": "Furniture"})], "pine"),
    ("How did that talk end?", [("sessions_read", {"session": "Furniture"})], "delivered"),
    ("What is still open?", [("memory_status", {})], "Which paint"),
    ("Note an open question", [("remember", {"text": "Which wood for the shelf?"})], "?["),
    (
        "Answer the question on paint",
        [("remember", {"text": "The paint is lime wash", "replaces": "f4"})],
        "Replaced",
    ),
    ("Keep this list of prices", [("sqlite_query", {"query": "CREATE TABLE prices (item, eur)"})], ""),
    ("Which tables are there?", [("sqlite_schema", {})], "stock"),
    ("How many lamps are in stock?", [("sqlite_query", {"query": "SELECT lamps FROM stock"})], "7"),
    (
        "How often did we talk?",
        [("sqlite_query", {"query": "SELECT count(*) FROM mnemos_sessions"})],
        "1",
    ),
    ("What did we believe about the port before?", [("recall", {"query": "port of production"})], "5432"),
    ("My editor is vim", [("remember", {"text": "I use vim", "about": "user.editor"})], "user.editor"),
]


@pytest.fixture
def memory(tmp_path: Path, clock: FixedClock) -> Iterator[Memory]:
    with Memory.at(tmp_path, clock=clock, embedder="none") as opened:
        for text in (
            "I live in Berlin",
            "The staging port is 5433",
            "I play chess",
            "Which paint for the wall?",
        ):
            opened.facts.remember(text)
        opened.facts.remember("The port of production is 5432", about="production.port")
        opened.notebook.add("Tests run with make check")
        opened.sessions.create_session("chat", "cli", title="Furniture")
        for place, said in enumerate(("Is it pine?", "No.", "We bought the oak table.", "It is delivered.")):
            opened.sessions.append_message("chat", ("user", "assistant")[place % 2], said)
        opened.workspace.query("CREATE TABLE stock AS SELECT 7 AS lamps")
        yield opened


@pytest.mark.parametrize(("said", "steps", "wanted"), REQUESTS, ids=[said for said, _, _ in REQUESTS])
def test_the_default_tools_carry_out_a_request(
    memory: Memory, said: str, steps: list[Step], wanted: str
) -> None:
    answer = ""
    for step in steps:
        name, arguments = step(answer) if callable(step) else step
        assert name in DEFAULT, said
        answer = memory.call(name, arguments)["text"]
    assert wanted in answer


def test_the_decision_lists_each_request_with_its_calls() -> None:
    rows = {
        cells[1]: cells[3]
        for line in ADR.read_text(encoding="utf-8").splitlines()
        if line.startswith("| ") and len(cells := [cell.strip() for cell in line.split("|")]) == 8
    }
    assert {said: rows.get(said) for said, _, _ in REQUESTS} == {
        said: str(len(steps)) for said, steps, _ in REQUESTS
    }
