"""Certainty of answers."""

from __future__ import annotations

import pytest
from conversations import BOTH, Tell, ana

from mnemos import Memory
from mnemos.recall.certainty import GOOD, NONE, WEAK
from mnemos.text.tokens import count_tokens

pytestmark = pytest.mark.usefixtures("utc")


@BOTH
@pytest.mark.parametrize(
    "question",
    ["which port does the staging cache listen on?", "what did Ana adopt?", "port 5433", "ERR_CONN_4410"],
)
def test_what_was_said_in_these_words_is_a_good_answer(
    everything: Memory, question: str, words_only: bool
) -> None:
    assert everything.recall(question, words_only=words_only).certainty == GOOD


NONSENSE = pytest.mark.parametrize(
    "question",
    ["which beamline was booked at the synchrotron?", "who audits the payroll of the opera house?"],
)


@BOTH
@NONSENSE
def test_a_question_about_something_else_gets_nothing(
    memory: Memory, tell: Tell, question: str, words_only: bool
) -> None:
    tell("s", *(f"we painted room {number} of the house in green" for number in range(400)))
    found = memory.recall(question, words_only=words_only)
    assert (found.certainty, found.hits, found.text) == (NONE, (), "")


@BOTH
@NONSENSE
def test_in_a_small_memory_it_is_a_weak_answer_at_most(
    everything: Memory, question: str, words_only: bool
) -> None:
    assert everything.recall(question, words_only=words_only).certainty != GOOD


def test_an_answer_in_other_words_is_not_taken_for_none(memory: Memory, tell: Tell) -> None:
    tell(
        "s",
        ana("We had two weeks of washing in a bucket until Petra came"),
        {"role": "user", "content": "Leo: And the bill?"},
        ana("Nineteen hundred. There goes Lisbon."),
        {"role": "user", "content": "Leo: Oh no, you were so looking forward to that."},
    )
    found = memory.recall("How much did the plumber cost Ana?")
    assert found.certainty != NONE
    assert "Nineteen hundred" in found.text


def test_the_reply_to_a_question_that_has_the_words_is_a_good_answer(memory: Memory, tell: Tell) -> None:
    tell("s", "Which queue should send the order mails?", ("assistant", "RabbitMQ, it survives restarts."))
    tell("t", *["The fence needs paint.", ("assistant", "Which colour?"), "Green."] * 4)
    assert memory.recall("Which queue should send the order mails?").certainty == GOOD


def test_a_date_alone_is_enough_to_answer(everything: Memory) -> None:
    found = everything.recall("what happened on 18 March?")
    assert found.certainty != NONE
    assert found.hits


def test_what_somebody_else_said_is_a_weak_answer(memory: Memory, tell: Tell) -> None:
    tell("a", ana("my sister moved to Porto"), ana("she sings"), {"role": "user", "content": "Ben: I row"})
    tell("b", *[{"role": "user", "content": text} for text in ("Ben: I row at dawn", "Ben: I row at night")])
    assert memory.recall("where did Ana's sister move to?").certainty == GOOD
    assert memory.recall("where did Ben's sister move to?").certainty == WEAK


def test_an_empty_memory_has_no_answer(memory: Memory) -> None:
    assert memory.recall("where is the key?").certainty == NONE


def test_every_face_says_that_an_answer_is_weak(memory: Memory, tell: Tell) -> None:
    tell("s", "the kayak shop of the harbour sells paddles", "we row at dawn")
    answer = memory.call("recall", {"query": "which colour do the paddles of my nephew have?"})
    assert answer["certainty"] == WEAK
    assert "may not answer" in answer["text"]


def test_only_a_weak_text_says_so_within_its_budget(memory: Memory, tell: Tell) -> None:
    tell("s", "the kayak shop of the harbour sells paddles", "we row at dawn")
    weak = memory.recall("which colour do the paddles of my nephew have?", budget=120)
    good = memory.recall("what does the kayak shop of the harbour sell?", budget=120)
    assert (weak.certainty, good.certainty) == (WEAK, GOOD)
    assert ["may not answer" in text for text in (weak.text, good.text)] == [True, False]
    assert max(map(count_tokens, (weak.text, good.text))) <= 120


@BOTH
def test_a_chinese_question_with_few_of_its_words_in_the_answer_is_answered(
    memory: Memory, tell: Tell, words_only: bool
) -> None:
    (_, answer) = tell("s", "今天天气很好", "仓库搬到了汉堡，钥匙在经理那里")
    found = memory.recall("请问现在谁负责保管那个仓库大门的备用钥匙呢？", words_only=words_only)
    assert [hit.ref for hit in found.hits][:1] == [answer]
