"""The log of recalls: written beside the question, within reach of forget, and off on request."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import mnemos
from mnemos import Memory
from mnemos.memory.recall_log import KEPT, asked_in
from mnemos.storage.recalls import RecallRow
from mnemos.testing import FixedClock

Open = Callable[..., Memory]


@pytest.fixture
def reopen(home: Path, clock: FixedClock) -> Iterator[Open]:
    opened: list[Memory] = []

    def open_it(**options: Any) -> Memory:
        opened.append(mnemos.open(home, clock=clock, actor="tester", **({"embedder": "none"} | options)))
        return opened[-1]

    yield open_it
    for one in opened:
        one.close()


@pytest.fixture
def memory(reopen: Open) -> Memory:
    memory = reopen()
    memory.sessions.create_session("s", "cli")
    memory.sessions.append_message("s", "user", "The boat needs red paint.")
    return memory


def asked(memory: Memory) -> list[str]:
    memory.feeds.asked.store()
    return [one["query"] for one in memory.call("recalls")["recalls"]]


def test_a_question_is_logged_with_what_it_found(memory: Memory, clock: FixedClock) -> None:
    with asked_in("talk"):
        found = memory.recall("Which paint does the boat need?")
    assert memory.call("recalls")["recalls"] == []
    memory.feeds.asked.store()
    (one,) = memory.call("recalls")["recalls"]
    assert (one["query"], one["actor"], one["session_id"]) == (found.query, "tester", "talk")
    assert one["at"] == clock()
    assert one["hits"] == ["message:1"]
    assert one["tokens"] > 0
    assert one["milliseconds"] > 0


def test_closing_stores_what_was_asked(memory: Memory, reopen: Open) -> None:
    memory.recall("Which paint?")
    memory.close()
    assert asked(reopen()) == ["Which paint?"]


def test_pages_go_back_to_the_first_question(memory: Memory) -> None:
    for number in range(5):
        memory.recall(f"question {number}")
    assert asked(memory) == [f"question {number}" for number in (4, 3, 2, 1, 0)]
    page = memory.call("recalls", {"limit": 2})["recalls"]
    more = memory.call("recalls", {"limit": 2, "before": page[-1]["id"]})["recalls"]
    assert [one["query"] for one in more] == ["question 2", "question 1"]


def test_only_the_newest_are_kept(memory: Memory) -> None:
    rows = [RecallRow(0.0, "x", None, str(number), "[]", "none", 0, 0.0) for number in range(KEPT + 20)]
    memory.storage.write(lambda tx: tx.recalls.add(rows, keep=KEPT))
    kept = memory.feeds.asked.list(5_000)
    assert [row.query for row in kept[:1] + kept[-1:]] == [str(KEPT + 19), "20"]


@pytest.mark.parametrize("options", [{"recall_log": False}, {"disabled": True}, {"read_only": True}])
def test_nothing_is_logged_where_that_is_off(memory: Memory, reopen: Open, options: dict[str, Any]) -> None:
    memory.close()
    other = reopen(**options)
    other.recall("Which paint?")
    other.close()
    assert asked(reopen()) == []


def test_a_program_with_a_private_session_is_not_logged(memory: Memory) -> None:
    memory.sessions.create_session("diary", "cli", private=True)
    memory.recall("What did I write into my diary?")
    assert asked(memory) == []


def test_a_private_question_is_not_logged(memory: Memory) -> None:
    with asked_in("s", private=True):
        memory.recall("Which paint?")
    assert asked(memory) == []


def test_secrets_in_questions_are_redacted(memory: Memory) -> None:
    memory.recall("who uses ghp_abcdefghijklmnopqrstuvwxyz0123456789?")
    (query,) = asked(memory)
    assert "ghp_abc" not in query


def test_any_text_is_logged_unless_it_is_blank(memory: Memory) -> None:
    for query in ("a\0b", "half \ud83d of an emoji", "", " ", "x" * 10_000, "日本 🚀"):
        memory.recall(query)
    assert [len(query) for query in asked(memory)] == [4, 2_000, 18, 2]


def test_forgetting_erases_questions_that_found_or_repeat_it(memory: Memory, home: Path) -> None:
    memory.sessions.append_message("s", "user", "What is the code of the safe, zebra-77?")
    for query in ("which paint for the boat", "what is the code of the SAFE, zebra-77?", "unrelated weather"):
        memory.recall(query)
    assert len(asked(memory)) == 3
    memory.forget("message:2")
    left = asked(memory)
    assert "unrelated weather" in left
    assert not [query for query in left if "zebra" in query]
    stored = b"".join(path.read_bytes() for path in home.glob("mnemos.db*"))
    assert b"zebra-77" not in stored


def test_forgetting_a_session_erases_the_questions_asked_in_it(memory: Memory) -> None:
    with asked_in("s"):
        memory.recall("something else entirely")
    memory.recall("weather")
    assert len(asked(memory)) == 2
    memory.forget("session:s")
    assert asked(memory) == ["weather"]


def test_a_question_that_waits_while_another_process_forgets_is_dropped(memory: Memory, reopen: Open) -> None:
    other = reopen()
    other.recall("The boat needs red paint.")
    memory.forget("message:1")
    assert asked(other) == []
    other.recall("weather")
    assert asked(other) == ["weather"]


def test_spaces_do_not_see_each_others_questions(memory: Memory, reopen: Open) -> None:
    memory.recall("Which paint?")
    memory.feeds.asked.store()
    other = reopen(space="other")
    other.sessions.create_session("s", "cli")
    other.recall("mine")
    assert asked(other) == ["mine"]
    assert asked(memory) == ["Which paint?"]
