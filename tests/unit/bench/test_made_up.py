"""Made-up histories, and the rules of recall that are switched off to see what they are worth."""

from __future__ import annotations

from collections import Counter

import pytest
from benchmarks.recall import made, switches
from benchmarks.recall.paired import compare

from mnemos.faces.cli.bench.measurement import ALL, Taken


def test_made_up_questions_have_their_evidence_in_one_home() -> None:
    data = made.read()
    (corpus,) = data.corpora
    said = {turn.id: turn for session in corpus.sessions for turn in session.turns}
    assert Counter(question.category for question in corpus.questions) == {
        made.SEVERAL: 60,
        made.OURS: 20,
        made.ADVICE: 20,
        made.RULES: 64,
    }
    assert all(said[turn].role == "user" for question in corpus.questions for turn in question.turns)
    assert min(len(question.turns) for question in corpus.questions if question.category == made.SEVERAL) >= 4


@pytest.mark.parametrize("rule", switches.RULES)
def test_a_rule_is_off_only_while_it_is_measured(rule: str) -> None:
    targets = [(target, name) for target, name, _ in switches.RULES[rule]]
    before = [getattr(target, name) for target, name in targets]
    with switches.without(rule):
        assert all(
            getattr(target, name) is not was for (target, name), was in zip(targets, before, strict=True)
        )
    assert [getattr(target, name) for target, name in targets] == before


def test_two_runs_are_compared_question_by_question() -> None:
    (corpus,) = made.read().corpora
    asked = list(corpus.questions[:4])
    before = Taken(questions=asked, rows=[{"m": 0.0}, {"m": 1.0}, {"m": 0.0}, {}])
    after = Taken(questions=asked[::-1], rows=[{"m": 0.5}, {"m": 0.5}, {"m": 1.0}, {"m": 0.0}])
    pair = compare(before, after, ALL, "m")
    assert pair is not None
    assert (pair.questions, pair.before, pair.after) == (3, 1 / 3, 0.5)
    assert pair.low <= pair.after - pair.before <= pair.high
    assert compare(before, after, "nothing", "m") is None
