"""Recall is a read: few transactions, no write, and the same answer whoever asks."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import mnemos
from mnemos import Memory

QUESTION = "which lamp did we buy?"


@pytest.fixture
def memory(home: Path) -> Iterator[Memory]:
    with mnemos.open(home) as opened:
        opened.sessions.create_session("s", "cli")
        opened.sessions.append_messages(
            "s", [{"role": "user", "content": f"we bought lamp {n}, a green one"} for n in range(30)]
        )
        opened.facts.write("V[lamp]: the lamp is red")
        opened.notebook.add("Sam likes lamps")
        opened.entries.store("default", "lamp", "the one in the hall")
        yield opened


@pytest.fixture
def transactions(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The transactions of the memory, as they happen."""
    seen: list[str] = []

    def count(name: str) -> None:
        original = getattr(memory.storage, name)

        def counted(work: Callable[[Any], Any], **options: Any) -> Any:
            seen.append(name)
            return original(work, **options)

        monkeypatch.setattr(memory.storage, name, counted)

    count("read")
    count("write")
    # The background thread has transactions of its own.
    monkeypatch.setattr(memory.storage, "wake", lambda: None)
    return seen


def edit(home: Path) -> None:
    (home / "memories" / "MEMORY.md").write_text("Ana wants a violet lamp", encoding="utf-8")
    folder = home / "session-templates"
    folder.mkdir(exist_ok=True)
    (folder / "lamps.json").write_text(json.dumps({"description": "Order a lamp"}), encoding="utf-8")


@pytest.mark.parametrize("state", ["fresh", "embedded", "edited"])
@pytest.mark.parametrize("words_only", [True, False])
def test_a_question_takes_two_read_transactions_and_writes_nothing(
    memory: Memory, home: Path, transactions: list[str], state: str, words_only: bool
) -> None:
    if state == "embedded":
        memory.entries.settle()
        memory.embedding.catch_up()
    elif state == "edited":
        edit(home)
    transactions.clear()
    answer = memory.recall(QUESTION, words_only=words_only, limit=50)
    assert transactions == ["read", "read"]
    assert {hit.kind for hit in answer.hits} >= {"message", "fact", "note", "entry"}


def test_searches_of_sessions_and_facts_write_nothing(memory: Memory, transactions: list[str]) -> None:
    assert memory.sessions.session_search("green lamps")["conversations"]
    assert memory.facts.search("lamp")
    assert "write" not in transactions


@pytest.mark.parametrize("words_only", [True, False])
def test_a_reader_and_a_writer_give_the_same_answer(
    memory: Memory, home: Path, words_only: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Vectors stored between two answers change the last digits of their scores.
    monkeypatch.setattr(memory.storage, "wake", lambda: None)
    memory.entries.settle()
    memory.embedding.catch_up()
    edit(home)
    with mnemos.open(home, read_only=True) as reader:
        for query in (QUESTION, "violet", "order a lamp", "hall", "which light does Ana want?"):
            answer = reader.recall(query, words_only=words_only)
            assert answer.hits
            same = memory.recall(query, words_only=words_only)
            assert [(hit.kind, hit.ref) for hit in answer.hits] == [(hit.kind, hit.ref) for hit in same.hits]


def test_what_was_edited_is_the_same_before_and_after_it_is_fed(memory: Memory, home: Path) -> None:
    edit(home)

    def found() -> list[tuple[str, int | str, str]]:
        hits = memory.recall("violet lamp in the hall", limit=50).hits
        return [(hit.kind, hit.ref, hit.text) for hit in hits if hit.kind != "message"]

    before = found()
    memory.feeds.feed()
    memory.embedding.catch_up()
    assert sorted(found()) == sorted(before)
    assert ("note", "Ana wants a violet lamp") in [(kind, text) for kind, _, text in before]
    assert "Sam likes lamps" not in [text for _, _, text in before]


def test_an_entry_that_was_replaced_is_found_as_it_is_now(memory: Memory) -> None:
    memory.entries.settle()
    memory.entries.store("default", "lamp", "the one in the attic")
    texts = [hit.text for hit in memory.recall("lamp hall attic", kinds=["entry"]).hits]
    assert texts == ["lamp: the one in the attic"]


def test_closing_after_a_question_leaves_everything_fed(home: Path, memory: Memory) -> None:
    edit(home)
    with mnemos.open(home) as other:
        other.recall(QUESTION)
    with mnemos.open(home, read_only=True) as reader:
        fed = reader.storage.read(lambda tx: [*tx.passages.of_kind("note"), *tx.passages.of_kind("template")])
        assert {passage.ref.partition(":")[0] for passage in fed} == {"memory", "lamps"}
        assert reader.embedding.coverage().share == 1
