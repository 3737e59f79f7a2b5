"""Deep recall: a small model reads the best passages with the question, and nothing breaks without it."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest
from conversations import Tell

import mnemos
from mnemos import Memory
from mnemos.errors import InvalidInput
from mnemos.operations.recall import Recalled
from mnemos.recall import reranker
from mnemos.recall.reranker import LINE, render, words_of
from mnemos.storage.base import Filters

pytest.importorskip("mnemos_deep", reason="needs the weights: pip install ./reranker")

PETS = (
    "We might get a parrot one day, pets are fun",
    "The pet shop on the corner has closed",
    "I talked to the vet about food for old dogs",
    "Pets are not allowed in that hotel, it said on the door",
    "Biscuit chewed my slippers again, and now our kitten copies him",
)


@pytest.fixture
def without_weights(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(sys.modules, "mnemos_deep", None)
    reranker.load.cache_clear()
    yield
    reranker.load.cache_clear()


WORK = (
    "Ana asked where I work",
    "Ana said work is tiring these days",
    "Work starts at nine for most people",
    "Where does the time go, Ana?",
    "Ana: I've been with the bakery on Mill Road since May",
)


def test_an_answer_in_other_words_comes_before_lines_that_only_share_words(
    memory: Memory, tell: Tell
) -> None:
    answer = tell("s", *WORK)[-1]
    places = {
        depth: [hit.ref for hit in memory.recall("Where does Ana work?", depth=depth).hits].index(answer)
        for depth in ("normal", "deep")
    }
    assert places["deep"] < places["normal"]


def test_the_mode_and_the_reasons_say_what_was_used(memory: Memory, tell: Tell) -> None:
    tell("s", *PETS)
    answer = memory.recall("Which pets do I have?", depth="deep")
    assert answer.mode == "lexical+static+deep"
    assert any("reads like an answer" in hit.why for hit in answer.hits)
    assert memory.recall("Which pets do I have?").mode == "lexical+static"


def test_depth_changes_the_order_and_not_the_certainty(memory: Memory, tell: Tell) -> None:
    tell("s", *PETS)
    for question in ("Which pets do I have?", "Who won the chess tournament in 1987?", "vet"):
        plain, deep = (memory.recall(question, depth=depth) for depth in ("normal", "deep"))
        assert deep.certainty == plain.certainty
        assert {hit.ref for hit in deep.hits} == {hit.ref for hit in plain.hits}


def test_passages_that_were_not_read_follow_in_their_order(memory: Memory, tell: Tell) -> None:
    tell("s", *(f"The train number {number} left the station late" for number in range(60)))
    plain, deep = (
        [hit.ref for hit in memory.recall("train left late", depth=depth, limit=50, budget=None).hits]
        for depth in ("normal", "deep")
    )
    assert len(deep) == len(plain) == 50
    assert sorted(deep[:30]) == sorted(plain[:30])
    assert deep[30:] == plain[30:]


@pytest.mark.usefixtures("without_weights")
def test_without_weights_recall_answers_as_usual_and_says_so(memory: Memory, tell: Tell) -> None:
    tell("s", *PETS)
    plain, deep = (memory.recall("Which pets do I have?", depth=depth) for depth in ("normal", "deep"))
    assert [hit.ref for hit in deep.hits] == [hit.ref for hit in plain.hits]
    assert deep.mode == plain.mode
    assert any("mnemos[deep]" in note for note in deep.notes)


def test_the_setting_makes_every_question_deep(home: str) -> None:
    with mnemos.open(home, depth="deep") as memory:
        memory.sessions.create_session("s", "cli")
        memory.sessions.append_message("s", "user", PETS[-1])
        assert memory.recall("Who chewed the slippers?").mode.endswith("+deep")
        assert not memory.recall("Who chewed the slippers?", depth="normal").mode.endswith("+deep")


def test_an_unknown_depth_is_refused(memory: Memory) -> None:
    with pytest.raises(InvalidInput):
        memory.recall("anything", depth="deeper")


@pytest.mark.parametrize("question", ["", "?", "猫は何匹いますか", "🐈" * 50, "cat \ud83d", "word " * 5_000])
def test_odd_questions_and_lines_are_read(memory: Memory, tell: Tell, question: str) -> None:
    tell("s", "猫が二匹います", "🐈🐈🐈 cat", "cat\x00cat", "cat " * 3_000, "word")
    assert memory.recall(question, depth="deep").notes is not None


def test_a_long_line_is_cut_to_the_sentence_with_the_words_of_the_question(
    memory: Memory, tell: Tell
) -> None:
    text = "We talked about the weather. " * 40 + "The kettle is blue. " + "Then we went home. " * 40
    tell("s", text, "Nice")
    question = "which colour is the kettle?"
    found = memory.recaller.rank(question, Filters()).candidates
    (rendered,) = [render(one, words_of(question)) for one in found if one.line.text == text]
    assert rendered.startswith("user: The kettle is blue.")
    assert rendered.endswith("> user: Nice")
    assert len(rendered) < LINE + 40


def test_of_many_long_lines_the_first_are_rated_and_the_rest_follow(memory: Memory, tell: Tell) -> None:
    rated = reranker.load().rate("which train?", ["The train left late. " * 40] * 20)
    assert 10 < len(rated) < 20
    tell(
        "s", *(f"The train number {number} left late. {'And then it rained. ' * 30}" for number in range(20))
    )
    answer = memory.recall("which train left late?", depth="deep", limit=20, budget=None)
    assert len(answer.hits) == 20


def test_the_last_line_says_that_the_best_were_read_closely() -> None:
    lines = [
        Recalled(query="q", mode=mode, coverage=1.0, hits=[], packed="", left_out=0, notes=[]).footer()
        for mode in ("lexical+static", "lexical+static+deep", "lexical+deep")
    ]
    assert ["read closely" in line for line in lines] == [False, True, True]
    assert "semantic" not in lines[-1]
