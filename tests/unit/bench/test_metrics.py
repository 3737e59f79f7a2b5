"""The figures are those of the papers, and their intervals can be trusted to repeat."""

from __future__ import annotations

from math import log2

import pytest

from mnemos.faces.cli.bench import metrics
from mnemos.faces.cli.bench.corpus import Question
from mnemos.faces.cli.bench.metrics import all_of, any_of, estimates, ndcg, recall, scores

RANKED = ["a", "b", "c", "d", "e"]


def question(turns: tuple[str, ...], sessions: tuple[str, ...] = ("s",)) -> Question:
    return Question("q", "Why?", "why", 0.0, turns, sessions)


def test_recall_is_the_share_of_the_evidence_among_the_first() -> None:
    assert recall(RANKED, ["a", "d", "z"], 3) == pytest.approx(1 / 3)
    assert recall(RANKED, ["a", "d", "z"], 4) == pytest.approx(2 / 3)
    assert recall([], ["a"], 10) == 0.0


def test_a_session_counts_once_for_each_piece_of_evidence_in_it() -> None:
    assert recall(["s1"], ["s1", "s1", "s2"], 5) == pytest.approx(2 / 3)


def test_any_and_all_look_at_the_first_only() -> None:
    assert [any_of(RANKED, ["c", "z"], k) for k in (2, 3)] == [0.0, 1.0]
    assert [all_of(RANKED, ["c", "e"], k) for k in (3, 4, 5)] == [0.0, 0.0, 1.0]
    assert all_of(RANKED, ["c", "z"], 5) == 0.0


def test_the_gain_discounts_from_the_third_place_on() -> None:
    assert ndcg(RANKED, ["b"]) == 1.0
    assert ndcg(RANKED, ["c"]) == pytest.approx(1 / log2(3))
    assert ndcg(RANKED, ["a", "d"]) == pytest.approx((1 + 1 / log2(4)) / 2)
    assert ndcg(RANKED, ["a", "b", "c"]) == pytest.approx(1.0)
    assert ndcg(RANKED, ["z"]) == 0.0


def test_the_best_possible_gain_ends_where_the_list_does() -> None:
    many = [str(number) for number in range(30)]
    assert ndcg(many, many) == pytest.approx(1.0)


def test_every_metric_is_scored_on_turns_and_sessions() -> None:
    found = scores(question(("b", "z"), ("s2",)), RANKED, ["s1", "s2"])
    assert set(found) == set(metrics.NAMES)
    assert found["turn recall@3"] == 0.5
    assert found["turn any@1"] == 0.0
    assert found["session any@1"] == 0.0
    assert found["session all@3"] == 1.0


def test_a_question_without_evidence_for_turns_has_figures_on_sessions_only() -> None:
    found = scores(question((), ("s1",)), RANKED, ["s1"])
    assert {name.split()[0] for name in found} == {"session"}


def test_names_are_kept_in_the_order_of_their_first_appearance() -> None:
    assert metrics.list_once(["b", "a", "b", "c", "a"]) == ["b", "a", "c"]


def test_a_mean_counts_only_the_questions_that_have_the_figure() -> None:
    found = estimates([{"turn any@1": 1.0, "session any@1": 1.0}, {"session any@1": 0.0}])
    assert (found["turn any@1"].value, found["turn any@1"].questions) == (1.0, 1)
    assert (found["session any@1"].value, found["session any@1"].questions) == (0.5, 2)
    assert "turn all@5" not in found


def test_no_questions_have_no_figures() -> None:
    assert estimates([]) == {}
    assert estimates([{}]) == {}


def test_the_interval_is_where_statistics_says_and_the_same_every_time() -> None:
    rows = [{"turn any@1": float(number % 4 == 0)} for number in range(400)]
    found = estimates(rows)["turn any@1"]
    width = 1.96 * (0.25 * 0.75 / 400) ** 0.5
    assert found.value == 0.25
    assert found.low == pytest.approx(0.25 - width, abs=0.01)
    assert found.high == pytest.approx(0.25 + width, abs=0.01)
    assert estimates(rows)["turn any@1"] == found


def test_conversations_that_differ_make_the_interval_by_conversation_wider() -> None:
    rows = [{"turn any@1": float(number < 100)} for number in range(200)]
    clusters = [str(number // 20) for number in range(200)]
    found = estimates(rows, clusters)["turn any@1"]
    assert found.clustered is not None
    assert found.clustered[1] - found.clustered[0] > 2 * (found.high - found.low)


@pytest.mark.parametrize("clusters", [None, ["a", "b"] * 10, list(map(str, range(20)))])
def test_there_is_no_interval_by_conversation_without_several_questions_in_each_of_several(
    clusters: list[str] | None,
) -> None:
    found = estimates([{"turn any@1": 1.0}] * 20, clusters)["turn any@1"]
    assert found.clustered is None
