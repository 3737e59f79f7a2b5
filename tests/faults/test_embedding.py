"""Vectors made by processes that are killed, that race each other, or that remember what others erase."""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import Any

import apsw
import pytest

import mnemos
from mnemos.storage.passages import PIECE_BITS
from mnemos.storage.stores.vectors import ERASED, LABEL

from . import processes
from .processes import Spawn
from .soundness import assert_sound, index_all

LINES = 500
QUESTION = "where does the resplendent quetzal live"


@pytest.fixture(autouse=True)
def roles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "ROLES", Path(__file__).with_name("embedding_roles.py"))


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose messages are indexed and have no vectors yet; some of them are long or say nothing."""
    home = tmp_path_factory.mktemp("template") / "home"
    with mnemos.open(home, embedder="none") as memory:
        memory.sessions.create_session("s", "cli")
        lines: list[dict[str, Any]] = [
            {"role": "user", "content": f"line{n} was said on day {n % 31}" + " and more" * (n % 50)}
            for n in range(LINES)
        ]
        lines[100] = {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "look"}}]}
        lines[200]["content"] = "line200 " + "a long story " * 9_000 + "the resplendent quetzal"
        ids = memory.sessions.append_messages("s", lines)
        memory.sessions.forget_message(ids[300])
        index_all(memory)
    return home


@pytest.fixture
def unembedded(template: Path, home: Path) -> Path:
    shutil.copytree(template, home)
    return home


def embedded(home: Path) -> tuple[list[int], list[int], int]:
    """The keys of the vectors that are there, those of erased ones, and up to which message all are."""
    connection = apsw.Connection(str(home / "mnemos.db"), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        kept: list[int] = []
        gone: list[int] = []
        for labels, bits, codes, dim in connection.execute(
            "SELECT labels, bits, codes, dim FROM vectors JOIN embeddings AS e ON e.id = embedding "
            "ORDER BY embedding, series, last"
        ):
            assert len(bits) // (dim // 8) == len(codes) // dim == len(labels) // LABEL.size
            for key, _, _, role in LABEL.iter_unpack(labels):
                (gone if role == ERASED else kept).append(key)
        through = connection.execute("SELECT messages FROM embeddings").get
        return kept, gone, through or 0
    finally:
        connection.close()


def assert_truthful(home: Path) -> None:
    """No vector twice, none beyond what is said to be done, and none missing up to there."""
    kept, gone, through = embedded(home)
    keys = [*kept, *gone]
    assert len(keys) == len(set(keys))
    assert kept == sorted(kept)
    assert all(key >> PIECE_BITS <= through for key in keys)
    with mnemos.open(home, read_only=True, embedder="none") as memory:
        said = {
            message["id"]
            for session in memory.sessions.search_sessions()
            for message in memory.sessions.get_messages(session["id"])
            if message["content"] and message["content"] != "[forgotten]"
        }
    with_vectors = {key >> PIECE_BITS for key in kept}
    assert {one for one in said if one <= through} <= with_vectors
    # The others are the later parts of the long message.
    assert with_vectors - said <= {one + 1 for one in said}


def assert_complete(home: Path) -> None:
    with mnemos.open(home) as memory:
        memory.embedding.catch_up()
        coverage = memory.embedding.coverage()
        assert coverage.done == coverage.total
        answer = memory.recall(QUESTION)
        assert answer.mode == "lexical+static"
        assert "resplendent quetzal" in answer.hits[0].text
    assert_truthful(home)
    assert_sound(home)


def test_everything_is_found_by_words_after_a_kill_while_embedding(
    unembedded: Path, spawn: Spawn, nightly: bool
) -> None:
    chance = random.Random(20_260_202)
    shares: list[float] = []
    for _ in range(40 if nightly else 3):
        child = spawn("embed_steps", home=str(unembedded))
        child.line()
        child.go()
        for _ in range(chance.randint(1, 5)):
            if child.line() == "done":
                break
        child.kill()
        with mnemos.open(unembedded, read_only=True) as memory:
            for n in (0, 99, 250, LINES - 1):
                assert len(memory.sessions.search_messages(f"line{n}")) == 1
            answer = memory.recall(QUESTION, words_only=True)
            assert "resplendent quetzal" in answer.hits[0].text
            shares.append(memory.embedding.coverage().share)
            assert shares[-1] <= memory.recall(QUESTION).coverage <= 1
        assert_truthful(unembedded)
    assert shares == sorted(shares)
    assert shares[0] < 1.0
    assert_complete(unembedded)


def test_embedding_goes_on_after_a_kill_at_any_write(
    template: Path, tmp_path: Path, spawn: Spawn, nightly: bool
) -> None:
    counted = tmp_path / "counted"
    shutil.copytree(template, counted)
    (operations,) = spawn("crash_while_embedding", home=str(counted), at=0).finish()
    points = random.Random(operations).sample(range(1, operations), 100 if nightly else 4)
    children = []
    for at in points:
        home = tmp_path / f"at{at}"
        shutil.copytree(template, home)
        children.append((home, spawn("crash_while_embedding", home=str(home), at=at)))
        if len(children) % 2 == 0:
            for _, child in children[-2:]:
                assert child.wait() == -9
    for home, child in children:
        child.wait()
        assert_truthful(home)
        assert_complete(home)


def test_processes_that_embed_at_once_lose_and_repeat_nothing(unembedded: Path, spawn: Spawn) -> None:
    children = [spawn("embed_steps", home=str(unembedded)) for _ in range(3)]
    assert [child.line() for child in children] == ["ready"] * 3
    for child in children:
        child.go()
    for child in children:
        *steps, last = child.finish()
        assert last == "done"
        assert steps == sorted(steps)
    assert_truthful(unembedded)
    assert_complete(unembedded)


def test_processes_that_append_forget_and_embed_at_once_keep_what_they_should(
    unembedded: Path, spawn: Spawn
) -> None:
    names = ["writer0", "writer1"]
    writers = [spawn("embed_while_appending", home=str(unembedded), name=name) for name in names]
    reports = [[writer.line() for _ in range(25)] + writer.finish() for writer in writers]
    assert_truthful(unembedded)
    assert_complete(unembedded)
    kept, _, _ = embedded(unembedded)
    there = {key >> PIECE_BITS for key in kept}
    for report in reports:
        assert {one for one, _ in report} <= there
        assert not {gone for _, gone in report} & there


@pytest.mark.parametrize("read_only", [False, True])
def test_a_process_that_remembers_vectors_lets_go_of_what_another_erases(
    home: Path, spawn: Spawn, read_only: bool
) -> None:
    with mnemos.open(home) as memory:
        for session in ("s", "other"):
            memory.sessions.create_session(session, "cli")
        # Hardly any has a word of the question: vectors find them.
        texts = ["parrots nest in tall trees", "toucans are colourful", "macaws shout in the jungle"]
        ids = [memory.sessions.append_message("s", "user", text) for text in texts]
        last = memory.sessions.append_message("other", "user", "tropical flamingos wade")
        memory.embedding.catch_up()
        child = spawn(
            "recall_on_the_word",
            home=str(home),
            question="tropical birds of the rainforest",
            read_only=read_only,
        )
        first = child.line()
        assert first["mode"] == "lexical+static"
        assert set(first["ids"]) == {*ids, last}
        memory.forget(f"message:{ids[0]}")
        child.go()
        assert set(child.line()["ids"]) == {*ids[1:], last}
        memory.sessions.delete_session("other")
        child.go()
        assert set(child.line()["ids"]) == set(ids[1:])
        memory.backup(home / "backup.db")
        (new,) = memory.sessions.append_messages("s", [{"role": "user", "content": "hummingbirds hover"}])
        memory.embedding.catch_up()
        child.go()
        assert set(child.line()["ids"]) == {*ids[1:], new}
        memory.restore(home / "backup.db")
        memory.sessions.append_messages("s", [{"role": "user", "content": "owls hunt by night"}])
        memory.embedding.catch_up()
        child.go()
        after = child.line()
        assert (after["mode"], set(after["ids"])) == ("lexical+static", {*ids[1:], new})
        child.finish()


def test_a_recall_on_a_full_disk_answers_as_always(home: Path, spawn: Spawn) -> None:
    (answer,) = spawn("recall_without_room", home=str(home)).finish()
    assert answer == {"mode": "lexical+static", "found": True, "notes": []}
    assert_sound(home)
