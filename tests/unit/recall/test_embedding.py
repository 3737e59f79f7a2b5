"""Keeping vectors up with what is stored, and saying truthfully what a recall used."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest
from numpy.typing import NDArray

import mnemos
from contract.storage.openers import append, create, tell
from contract.storage.passages import put
from contract.storage.vectors import near_ids, vector_of
from mnemos.errors import InvalidInput, ModelUnavailable
from mnemos.operations.texts import floor_share
from mnemos.recall import sense
from mnemos.recall.embedders import Embedder, static
from mnemos.recall.embedding import Embedding, Stored, describe_coverage, describe_search, quantise
from mnemos.sessions.message_text import document_of
from mnemos.storage.base import Storage
from mnemos.storage.passages import Coverage
from mnemos.storage.sqlite.engine import SqliteStorage

DIM = 100


class Fake:
    """An embedder for which equal texts are near and others are not."""

    kind = "model"
    dim = DIM

    def __init__(self, name: str) -> None:
        self.name = name
        self.texts: list[str] = []
        self.is_down = False

    def embed(self, texts: list[str]) -> NDArray[np.float32]:
        if self.is_down:
            raise ModelUnavailable(f"{self.name} does not answer")
        self.texts += texts
        return np.stack([self.vector(text) for text in texts])

    def vector(self, text: str) -> NDArray[np.float32]:
        return vector_of(f"{self.name} {text}", DIM)


class Models:
    """The embedders that can be had, by their specs."""

    def __init__(self) -> None:
        self.known: dict[str, Fake] = {}

    def make(self, spec: str) -> Any:
        if spec.startswith("missing"):
            raise ModelUnavailable(f"there is no {spec}")
        if not spec.startswith("fake:"):
            raise InvalidInput(f"there is no embedder {spec!r}")
        # A name that is not the spec, with signs that specs have too.
        return self.known.setdefault(spec, Fake(f"{spec[5:]}/v1: large"))


@pytest.fixture
def models() -> Models:
    return Models()


@pytest.fixture
def storage(tmp_path: Path) -> Iterator[Storage]:
    opened = SqliteStorage(tmp_path / "x.db", space="default", documents=document_of)
    yield opened
    opened.close()


Embeds = Callable[[str], Embedding]


@pytest.fixture
def embeds(storage: Storage, models: Models) -> Embeds:
    return lambda spec: Embedding(storage, spec, models.make)


def names(storage: Storage) -> list[str]:
    return [coverage.model for coverage in storage.read(lambda tx: tx.vectors.coverage())]


def serving(storage: Storage, embedding: Embedding) -> tuple[Embedder, Coverage]:
    """The model that a question would be answered with now."""
    return embedding.serve(storage.read(Stored.read))


def near(storage: Storage, embedding: Embedding, text: str) -> list[int]:
    """Return the nearest passages by the current model."""
    embedder, coverage = serving(storage, embedding)
    return near_ids(storage, embedder.vector(text), model=coverage.model, limit=1)  # type: ignore[attr-defined]


# --- catching up ------------------------------------------------------------------------------


def test_catching_up_embeds_everything_once(storage: Storage, embeds: Embeds, models: Models) -> None:
    texts = [f"text {n} " + "x" * 600 for n in range(300)]
    ids = tell(storage, "s", *texts)
    fact = put(storage, "fact", "a", "a fact")
    embedding = embeds("fake:one")
    shares: list[float] = []
    embedding.catch_up(progress=shares.append)
    embedder = models.known["fake:one"]
    assert embedder.texts == [*texts, "a fact"]
    assert shares == sorted(shares)
    assert (shares[-1], embedding.coverage().share) == (1.0, 1.0)
    assert len(shares) > 2
    assert near(storage, embedding, texts[150]) == [ids[150]]
    assert near(storage, embedding, "a fact") == [fact]
    embedding.catch_up()
    assert embedding.step() is False
    assert len(embedder.texts) == 301


def test_catching_up_without_time_does_nothing(storage: Storage, embeds: Embeds, models: Models) -> None:
    tell(storage, "s", "parrot")
    embedding = embeds("fake:one")
    embedding.catch_up(0.0)
    assert embedding.coverage().done == 0


def test_a_step_is_bounded(storage: Storage, embeds: Embeds, models: Models) -> None:
    tell(storage, "s", *["x" * 1_000] * 500)
    embedding = embeds("fake:one")
    assert embedding.step() is True
    assert 0 < sum(map(len, models.known["fake:one"].texts)) < 100_000


@pytest.mark.parametrize("length", [1_400, 20_000, 99_999, 100_000, 150_000, 250_000])
def test_a_long_text_is_embedded_in_pieces_that_leave_nothing_out(
    storage: Storage, embeds: Embeds, models: Models, length: int
) -> None:
    words = [f"word{n}" for n in range(length // 10)]
    text = " ".join(words)
    (own,) = tell(storage, "s", text)
    embedding = embeds("fake:one")
    embedding.catch_up()
    embedded = models.known["fake:one"].texts
    assert max(map(len, embedded)) <= 1_500
    # Where a text is so long that it has several ids, a few words are in two of them.
    assert len(text) <= sum(map(len, embedded)) <= len(text) + 1_500 * (length // 100_000)
    assert {word for piece in embedded for word in piece.split()} == set(words)
    for piece in (embedded[0], embedded[-1], embedded[len(embedded) // 2]):
        assert near(storage, embedding, piece) == [own]


def test_vectors_are_stored_as_signed_bytes_and_bits() -> None:
    vectors = np.array([[0.5, -1.0, 0.25, 0.0, 0.1, 0.1, 0.1, 0.1, -0.2]], np.float32)
    codes, bits = quantise(vectors)
    assert np.frombuffer(codes, np.int8).tolist() == [64, -127, 32, 0, 13, 13, 13, 13, -25]
    assert bits == bytes((0b10101111, 0b00000000))


def test_a_text_without_meaning_is_stored_as_zeros() -> None:
    codes, bits = quantise(np.zeros((1, 16), np.float32))
    assert (codes, bits) == (bytes(16), bytes(2))


def test_a_model_that_goes_down_leaves_what_was_done(
    storage: Storage, embeds: Embeds, models: Models, caplog: pytest.LogCaptureFixture
) -> None:
    tell(storage, "s", *["x" * 1_000] * 150)
    embedding = embeds("fake:one")
    assert embedding.step() is True
    done = embedding.coverage().done
    models.known["fake:one"].is_down = True
    with pytest.raises(ModelUnavailable):
        embedding.catch_up()
    with caplog.at_level(logging.WARNING):
        assert embedding.in_background() is False
    assert "does not answer" in caplog.text
    assert embedding.coverage().done == done > 0
    models.known["fake:one"].is_down = False
    embedding.catch_up()
    assert embedding.coverage().share == 1.0


def test_a_read_only_storage_is_left_as_it_is(
    storage: Storage, embeds: Embeds, models: Models, tmp_path: Path
) -> None:
    tell(storage, "s", "parrot")
    embeds("fake:one").catch_up()
    append(storage, "s", "pigeon")
    reader = SqliteStorage(tmp_path / "x.db", space="default", documents=document_of, read_only=True)
    embedding = Embedding(reader, "fake:one", models.make)
    embedding.catch_up()
    _, coverage = serving(reader, embedding)
    assert (coverage.done, coverage.total) == (1, 2)
    reader.close()


# --- changing the model -----------------------------------------------------------------------


def test_the_former_model_serves_until_the_new_one_has_caught_up(
    storage: Storage, embeds: Embeds, models: Models
) -> None:
    texts = [f"text {n} " + "x" * 1_000 for n in range(200)]
    ids = tell(storage, "s", *texts)
    embeds("fake:one").catch_up()
    changed = embeds("fake:two")
    seen: list[str] = []
    while True:
        embedder, coverage = serving(storage, changed)
        seen.append(embedder.name)
        assert coverage.share == 1.0
        assert near(storage, changed, texts[199]) == [ids[199]]
        if not changed.step():
            break
    one, two = models.known["fake:one"].name, models.known["fake:two"].name
    assert seen == sorted(seen, key=[one, two].index)
    assert set(seen) == {one, two}
    assert len(names(storage)) == 1
    assert serving(storage, changed)[0].name == two


def test_vectors_of_a_model_that_cannot_be_had_any_more_do_not_serve(
    storage: Storage, embeds: Embeds, models: Models
) -> None:
    tell(storage, "s", *["x" * 1_000] * 150)
    former = embeds("fake:one")
    former.catch_up()
    changed = Embedding(storage, "fake:two", lambda spec: models.make(spec.replace("fake:one", "missing")))
    changed.step()
    embedder, coverage = serving(storage, changed)
    assert embedder.name == models.known["fake:two"].name
    assert 0.0 < coverage.share < 1.0


def test_a_model_of_the_same_spec_and_another_name_is_another_model(
    storage: Storage, embeds: Embeds, models: Models
) -> None:
    """As after an upgrade of the package that ships it: its vectors do not compare."""
    tell(storage, "s", "parrot")
    embeds("fake:one").catch_up()
    models.known["fake:one"].name = "one/v2"
    upgraded = embeds("fake:one")
    embedder, coverage = serving(storage, upgraded)
    assert (embedder.name, coverage.done) == ("one/v2", 0)
    upgraded.catch_up()
    assert upgraded.coverage().share == 1.0
    assert len(names(storage)) == 1


def test_going_back_to_a_former_model_in_the_middle_loses_nothing(
    storage: Storage, embeds: Embeds, models: Models
) -> None:
    texts = [f"text {n} " + "x" * 1_000 for n in range(150)]
    ids = tell(storage, "s", *texts)
    embeds("fake:one").catch_up()
    embeds("fake:two").step()
    ids += append(storage, "s", "new")
    back = embeds("fake:one")
    back.catch_up()
    assert back.coverage().share == 1.0
    assert near(storage, back, "new") == [ids[-1]]
    assert near(storage, back, texts[149]) == [ids[149]]
    assert len(models.known["fake:one"].texts) == 151
    assert len(names(storage)) == 1


# --- what a recall says it used ---------------------------------------------------------------

QUESTION = "when did we move the database?"


@pytest.fixture
def memory(home: Path) -> Iterator[mnemos.Memory]:
    with mnemos.open(home) as opened:
        talk(opened)
        yield opened


def talk(memory: mnemos.Memory) -> None:
    memory.sessions.create_session("s", "cli")
    memory.sessions.append_messages(
        "s",
        [
            {"role": "user", "content": "we migrated Postgres last Tuesday"},
            {"role": "assistant", "content": "good to know, the database is moved then"},
            {"role": "user", "content": "what is for lunch"},
        ],
    )


def test_words_and_vectors_are_said_when_both_were_used(memory: mnemos.Memory) -> None:
    answer = memory.recall(QUESTION)
    assert (answer.mode, answer.coverage, answer.notes) == ("lexical+static", 1.0, ())
    assert any("Postgres" in hit.text for hit in answer.hits)


@pytest.mark.parametrize("how", ["words only", "no embedder", "nothing embedded", "nothing known"])
def test_lexical_is_said_when_words_alone_were_used(
    memory: mnemos.Memory, home: Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if how == "words only":
        answer = memory.recall(QUESTION, words_only=True)
    elif how == "no embedder":
        with mnemos.open(home, embedder="none") as other:
            answer = other.recall(QUESTION)
    elif how == "nothing embedded":
        monkeypatch.setattr(sense, "TAIL_CHARACTERS", 0)
        answer = memory.recall(QUESTION)
    else:
        answer = memory.recall("🦜🦜")
    assert (answer.mode, answer.coverage) == ("lexical", 0.0)
    # A requested mode needs no note.
    assert len(answer.notes) == (how not in ("words only", "no embedder"))
    assert bool(answer.hits) is (how != "nothing known")


def test_part_of_the_vectors_is_said_with_how_much(
    memory: mnemos.Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.sessions.append_messages("s", [{"role": "user", "content": "x " * 2_000}] * 37)
    memory.embedding.step()
    monkeypatch.setattr(sense, "TAIL_CHARACTERS", 0)
    coverage = memory.embedding.coverage()
    assert (coverage.total, coverage.done) == (40, 18)
    answer = memory.recall(QUESTION)
    assert (answer.mode, answer.coverage) == ("lexical+static", 0.45)
    assert any("Postgres" in hit.text for hit in answer.hits)


def test_almost_all_is_not_all(memory: mnemos.Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.sessions.append_messages("s", [{"role": "user", "content": "ok"}] * 497)
    memory.embedding.catch_up()
    memory.sessions.append_message("s", "user", "one more")
    monkeypatch.setattr(sense, "TAIL_CHARACTERS", 0)
    answer = memory.recall(QUESTION)
    assert (answer.mode, answer.coverage) == ("lexical+static", 500 / 501)
    assert describe_search(answer.coverage) == (
        "keyword + semantic search (99% of messages indexed for meaning; `mnemos optimize` finishes it)"
    )
    assert memory.call("recall", {"query": QUESTION})["coverage"] == 0.998


def test_the_coverage_is_known_without_loading_the_model(
    storage: Storage, embeds: Embeds, models: Models
) -> None:
    tell(storage, "s", "parrot", "owl")
    assert embeds("fake:one").peek() == Coverage("fake:one", 0, 0, 2)
    assert embeds("missing").peek() == Coverage("missing", 0, 0, 2)
    assert models.known == {}
    done = embeds("fake:one")
    done.catch_up()
    models.known.clear()
    assert embeds("fake:one").peek() == done.coverage()
    # Another model, though its name begins the same.
    assert embeds("fake:on").peek() == Coverage("fake:on", 0, 0, 2)
    assert embeds("none").peek() is None
    assert models.known == {}


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0% of messages indexed for meaning; `mnemos optimize` finishes it"),
        (0.29, "29% of messages indexed for meaning; `mnemos optimize` finishes it"),
        (0.99999, "99% of messages indexed for meaning; `mnemos optimize` finishes it"),
        (1.0, "100% of messages indexed for meaning"),
    ],
)
def test_only_a_complete_index_is_called_complete(share: float, text: str) -> None:
    assert describe_coverage(share) == text
    assert (floor_share(share) == 1) is (share == 1)


def test_what_was_just_said_is_found_by_its_meaning_and_nothing_is_written(
    memory: mnemos.Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.embedding.catch_up()
    memory.sessions.append_message("s", "user", "a parrot sat on the fence")
    memory.facts.write("V[lamp]: the lamp is red")
    with monkeypatch.context() as locked:
        locked.setattr(memory.storage, "write", refuse)
        answer = memory.recall("which bird did we see?")
    assert (answer.mode, answer.coverage) == ("lexical+static", 1.0)
    assert "parrot" in answer.hits[0].text


def test_what_is_found_from_memory_keeps_to_the_filters(memory: mnemos.Memory) -> None:
    memory.sessions.create_session("t", "telegram")
    memory.sessions.append_message("t", "assistant", "a parrot sat on the fence", timestamp=1_000.0)
    asked = "which bird did we see?"

    def sees(**filters: Any) -> bool:
        return any("parrot" in hit.text for hit in memory.recall(asked, **filters).hits)

    assert sees()
    assert sees(source="telegram", session_ids=["t"], until=2_000.0, kinds=["message"])
    assert not any(
        sees(**filters)
        for filters in (
            {"source": "cli"},
            {"session_ids": ["s"]},
            {"exclude_session_ids": ["t"]},
            {"since": 2_000.0},
            {"kinds": ["fact"]},
        )
    )
    memory.sessions.delete_session("t")
    assert not sees()


def test_the_vectors_in_memory_are_bounded_and_begin_again(
    memory: mnemos.Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sense, "TAIL_CHARACTERS", 200)
    monkeypatch.setattr(sense, "_MOST_PIECES", 8)
    memory.sessions.append_messages("s", [{"role": "user", "content": f"line {n} " * 10} for n in range(40)])
    shares = [memory.recall(QUESTION).coverage for _ in range(8)]
    assert shares == sorted(shares)
    assert 0 < shares[0] < shares[-1] < 0.5
    memory.embedding.catch_up()
    assert memory.recall(QUESTION).coverage == 1.0
    memory.sessions.append_message("s", "user", "one more")
    assert memory.recall(QUESTION).coverage == 1.0


def test_a_model_is_said_to_be_one(home: Path, models: Models, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mnemos.Memory, "_embedder", lambda _self, spec: models.make(spec))
    with mnemos.open(home, embedder="fake:one") as memory:
        talk(memory)
        assert memory.recall(QUESTION).mode == "lexical"
        memory.embedding.catch_up()
        assert memory.recall(QUESTION).mode == "lexical+model"
    with mnemos.open(home, embedder="fake:two") as memory:
        # The former model's vectors serve.
        assert memory.recall(QUESTION).mode == "lexical+model"
        assert models.known["fake:one"].texts[-1] == QUESTION


@pytest.mark.parametrize("when", ["from the start", "later"])
def test_a_model_that_fails_in_the_background_is_named_in_the_answer(
    home: Path, models: Models, when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with mnemos.open(home, embedder="none") as memory:
        talk(memory)
        monkeypatch.setattr(memory.embedding, "_spec", "fake:one")
        monkeypatch.setattr(memory.embedding, "_make", models.make)
        if when == "later":
            memory.embedding.catch_up()
            memory.sessions.append_message("s", "user", "something that has no vector yet")
        fake = models.make("fake:one")
        fake.is_down = True
        assert memory.embedding.in_background() is False
        fake.is_down = False
        answer = memory.recall(QUESTION)
        assert (answer.mode, answer.coverage) == (("lexical", 0.0), ("lexical+model", 0.75))[when == "later"]
        assert "does not answer" in answer.notes[0]
        memory.embedding.catch_up()
        assert memory.recall(QUESTION).notes == ()


@pytest.mark.parametrize("what", ["missing", "damaged", "cut short"])
def test_without_a_sound_model_words_are_used_and_the_reason_is_reported(
    memory: mnemos.Memory, tmp_path: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "asset"
    if what != "missing":
        shutil.copytree(static.SHIPPED, folder)
        file = folder / static.VECTORS
        data = bytearray(file.read_bytes())
        if what == "damaged":
            data[1_000_000] ^= 1
        file.write_bytes(data if what == "damaged" else data[:5_000])
    monkeypatch.setattr(static, "_load_shipped", lambda: static.StaticEmbedder(folder))
    answer = memory.recall(QUESTION)
    assert (answer.mode, answer.coverage) == ("lexical", 0.0)
    assert len(answer.notes) == 1
    assert str(folder) in answer.notes[0]
    assert any("database" in hit.text for hit in answer.hits)
    assert memory.embedding.in_background() is False


def test_a_sound_model_is_used_again_when_it_is_back(
    memory: mnemos.Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(static, "_load_shipped", lambda: static.StaticEmbedder(tmp_path / "nothing"))
        assert memory.recall(QUESTION).mode == "lexical"
    assert memory.recall(QUESTION).mode == "lexical+static"


def test_a_read_only_opener_recalls_with_what_is_there(memory: mnemos.Memory, home: Path) -> None:
    with mnemos.open(home, read_only=True) as reader:
        assert reader.recall(QUESTION) == memory.recall(QUESTION)
        memory.embedding.catch_up()
        memory.sessions.append_message("s", "user", "the quetzal is a bird")
        answer = reader.recall("quetzal")
        assert (answer.mode, answer.coverage) == ("lexical+static", 1.0)
        assert "quetzal" in answer.hits[0].text
        assert answer == memory.recall("quetzal")


def refuse(*_: object, **__: object) -> None:
    raise AssertionError("a question must not take the write lock")


def test_a_question_is_answered_while_another_holds_the_write_lock(home: Path) -> None:
    with mnemos.open(home, busy_seconds=0.2) as memory:
        talk(memory)
        blocker = apsw.Connection(str(home / "mnemos.db"))
        blocker.execute("BEGIN IMMEDIATE")
        try:
            answer = memory.recall(QUESTION)
        finally:
            blocker.close()
        assert answer.mode == "lexical+static"
        assert answer.hits
        assert memory.recall(QUESTION).mode == "lexical+static"


def test_the_place_of_a_hit_in_a_very_long_message_is_where_it_is_said(memory: mnemos.Memory) -> None:
    filler = "Nothing of note was said on that day about anything at all. " * 2_000
    text = f"{filler}\n\nThe quetzal nests in cloud forests.\n\n{filler}"
    own = memory.sessions.append_message("s", "user", text)
    for question in ("quetzal nests", "where does the resplendent bird build its nest in the forest"):
        hit = next(hit for hit in memory.recall(question).hits if hit.ref == own)
        assert text[slice(*hit.place)].strip() == hit.text
        assert "quetzal nests in cloud forests" in hit.text, question


def test_what_idle_time_is_for(memory: mnemos.Memory) -> None:
    """The background thread embeds when messages have come and it is quiet again."""
    storage = memory.storage
    assert isinstance(storage, SqliteStorage)
    while storage._idle_step():
        pass
    assert memory.embedding.coverage().share == 1.0


def test_forgetting_after_a_recall_leaves_nothing_to_recall(memory: mnemos.Memory) -> None:
    first = memory.recall(QUESTION)
    own = next(hit.ref for hit in first.hits if "Postgres" in hit.text)
    memory.forget(f"message:{own}")
    for question in (QUESTION, "we migrated Postgres last Tuesday"):
        assert all(hit.ref != own for hit in memory.recall(question).hits)
        assert "Postgres" not in memory.recall(question).text


def test_spaces_recall_their_own(home: Path) -> None:
    for space in ("ours", "theirs"):
        with mnemos.open(home, space=space) as memory:
            memory.sessions.create_session("s", "cli")
            memory.sessions.append_message("s", "user", f"{space} migrated Postgres last Tuesday")
            memory.embedding.catch_up()
    with mnemos.open(home, space="ours") as memory:
        answer = memory.recall("Postgres")
        assert [hit.text for hit in answer.hits] == ["ours migrated Postgres last Tuesday"]
    with mnemos.open(home, space="nobody") as memory:
        assert memory.recall("Postgres").hits == ()


def test_creating_sessions_alone_embeds_nothing(storage: Storage, embeds: Embeds) -> None:
    create(storage, "s")
    embedding = embeds("fake:one")
    assert embedding.step() is False
    assert embedding.coverage().share == 1.0
