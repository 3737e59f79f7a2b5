"""The weights of the ranker are fitted soundly, and reported honestly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.recall import ablation, fit, softmax
from benchmarks.recall.features import Dump, Seen, ranked
from benchmarks.recall.softmax import Lists, fitted

from mnemos.faces.cli.bench.corpus import Question
from mnemos.faces.cli.bench.metrics import Estimate

TRUE = {"good": 4.0, "bad": -3.0, "noise": 0.0}


def seen(number: int, weights: Mapping[str, float] = TRUE, candidates: int = 30) -> Seen:
    """A question whose evidence was chosen by the weights, with chance."""
    random = np.random.default_rng(number)
    features = random.random((candidates, len(weights)))
    scores = features @ np.array(list(weights.values())) + random.gumbel(size=candidates)
    turns = tuple(f"t{place}" for place in range(candidates))
    evidence = tuple(turns[place] for place in np.argsort(-scores)[: 1 + number % 2])
    sessions = tuple(f"s{place // 5}" for place in range(candidates))
    asked = Question(
        f"q{number}", "Which?", "which", 0.0, evidence, tuple({sessions[int(t[1:])] for t in evidence})
    )
    return Seen("talk", "whole", f"group-{number % 6}", asked, turns, sessions, features)


@pytest.fixture(scope="module")
def dump() -> Dump:
    return Dump(tuple(TRUE), tuple(seen(number) for number in range(150)))


@pytest.fixture(scope="module")
def lists(dump: Dump) -> Lists:
    return fit._lists(dump.seen, [1.0] * len(dump.seen))


def test_gradient_and_curvature_are_those_of_the_loss(lists: Lists) -> None:
    at, step = np.array([1.0, -0.5, 0.3]), 1e-5
    here = softmax._slope(lists, at)
    for place, along in enumerate(np.eye(3) * step):
        above, below = softmax._slope(lists, at + along), softmax._slope(lists, at - along)
        assert here.gradient[place] == pytest.approx((above.loss - below.loss) / (2 * step), abs=1e-5)
        assert here.hessian[place] == pytest.approx((above.gradient - below.gradient) / (2 * step), abs=1e-4)


def test_the_weights_that_chose_the_evidence_are_found_again(lists: Lists) -> None:
    weights = fitted(lists, penalty=0.01)
    assert weights == pytest.approx(list(TRUE.values()), abs=0.6)


def test_a_start_from_elsewhere_ends_in_the_same_place(lists: Lists) -> None:
    assert fitted(lists, 1.0, start=np.array([-9.0, 9.0, 9.0])) == pytest.approx(fitted(lists, 1.0), abs=1e-4)


def test_weights_that_are_not_the_best_are_never_handed_out(
    lists: Lists, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(softmax, "STEPS", 1)
    with pytest.raises(ArithmeticError, match="did not converge"):
        fitted(lists, 0.01)


def test_a_fold_is_ranked_by_weights_that_have_not_seen_it(dump: Dump) -> None:
    """A question whose features betray it is found by weights that saw it, and only by those."""
    few = dump.seen[:12]
    betrayed = tuple(
        replace(one, group=str(number), features=_with_mark(one, len(few), number))
        for number, one in enumerate(few)
    )
    marked = Dump((*dump.names, *(f"mark {number}" for number in range(len(few)))), betrayed)
    found = fit.fit(marked, folds=4, penalties=(1e-3,))
    seen_by_all = ranked(marked, found.weights)["talk, whole"]["turn all@3"].value
    assert seen_by_all == 1.0
    assert found.chosen.held_out["talk, whole"]["turn all@3"].value < 0.8


def _with_mark(one: Seen, count: int, number: int) -> object:
    """A feature of its own for each question, which only its evidence has."""
    marks = np.zeros((len(one.turns), count))
    marks[one.evidence, number] = 1.0
    return np.hstack([one.features, marks])


def test_a_weight_does_not_change_sides_when_it_must_not(lists: Lists) -> None:
    weights = fitted(lists, 0.01, signs=np.array([0.0, 1.0, 0.0]))
    assert weights[1] == 0.0
    assert weights[0] > 1.0


def test_a_heavier_penalty_makes_smaller_weights(lists: Lists) -> None:
    assert np.abs(fitted(lists, 100.0)).sum() < np.abs(fitted(lists, 0.1)).sum()


def test_units_of_a_feature_do_not_matter_to_the_ranking(lists: Lists) -> None:
    scale = np.array([1.0, 1000.0, 1.0])
    scaled = Lists(lists.features * scale, lists.starts, lists.pairs, lists.owner, lists.weight)
    assert fitted(scaled, 3.0) * scale == pytest.approx(fitted(lists, 3.0), abs=1e-3)


def test_a_feature_that_never_differs_gets_no_weight(lists: Lists) -> None:
    features = lists.features.copy()
    features[:, 2] = 7.0
    constant = Lists(features, lists.starts, lists.pairs, lists.owner, lists.weight)
    assert fitted(constant, 0.1)[2] == 0.0


def test_huge_features_do_not_overflow(lists: Lists) -> None:
    huge = Lists(lists.features * 1e4, lists.starts, lists.pairs, lists.owner, lists.weight)
    assert np.isfinite(fitted(huge, 1.0, start=np.array([5.0, 5.0, 5.0]))).all()


def test_no_group_is_on_both_sides_of_a_fold(dump: Dump) -> None:
    folds = fit._folds(dump.seen, 4)
    assert set(folds) == {0, 1, 2, 3}
    for group in {one.group for one in dump.seen}:
        assert len({fold for fold, one in zip(folds, dump.seen, strict=True) if one.group == group}) == 1


def test_balance_lets_a_small_data_set_speak_up() -> None:
    few = Seen("few", *(getattr(seen(1), name) for name in Seen.__slots__[1:]))
    questions = [*(seen(number) for number in range(9)), few]
    assert fit._votes(questions, 0.0) == pytest.approx([1.0] * 10)
    whole = fit._votes(questions, 1.0)
    assert sum(whole[:9]) == pytest.approx(whole[9])


def test_held_out_figures_are_near_those_of_the_true_weights(dump: Dump) -> None:
    found = fit.fit(dump, penalties=(0.3, 3.0))
    true = ranked(dump, TRUE)["talk, whole"]["turn recall@10"].value
    assert found.chosen.held_out["talk, whole"]["turn recall@10"].value == pytest.approx(true, abs=0.05)
    assert found.chosen in found.tried
    assert found.weights["good"] > 2 > -2 > found.weights["bad"]


def test_a_question_whose_evidence_was_never_a_candidate_counts_as_missed(dump: Dump) -> None:
    lost = seen(3)
    question = Question("lost", "Where?", "where", 0.0, ("elsewhere",), ("s9",))
    with_lost = Dump(dump.names, (*dump.seen, Seen("talk", "whole", "g", question, *_candidates(lost))))
    found = fit.fit(with_lost, penalties=(1.0,))
    assert found.chosen.held_out["talk, whole, where"]["turn recall@10"].value == 0.0
    assert with_lost.reached()["talk, whole"] == pytest.approx(150 / 151)


def test_a_question_without_any_candidate_counts_as_missed(dump: Dump) -> None:
    question = Question("none", "Where?", "where", 0.0, ("t",), ("s",))
    nothing = Seen("talk", "whole", "g", question, (), (), np.zeros((0, 3)))
    found = fit.fit(Dump(dump.names, (*dump.seen, nothing)), penalties=(1.0,))
    assert found.chosen.held_out["talk, whole, where"]["session any@1"].value == 0.0


def test_weights_are_written_rounded_without_those_that_vanish() -> None:
    assert fit.rounded({"a": 1.23456, "b": 0.001, "c": -0.5}) == {"a": 1.23, "c": -0.5}


def test_the_tables_of_a_fit_name_every_feature_and_figure(dump: Dump) -> None:
    found = fit.fit(dump, penalties=(1.0,))
    tables = fit.tables(dump, found, {"good": 1.0}, [("talk, whole", "turn recall@10")])
    text = "\n".join(line for table in tables for line in table.lines())
    for name in (*TRUE, "talk, whole: turn recall@10", "held out"):
        assert name in text


def test_fewer_features_can_be_looked_at(dump: Dump) -> None:
    fewer = dump.only(["noise", "good"])
    assert fewer.names == ("good", "noise")
    assert fewer.seen[0].features.shape == (30, 2)
    assert (fewer.seen[0].features[:, 1] == dump.seen[0].features[:, 2]).all()


# --- ablation ----------------------------------------------------------------------------------


def figures(value: float) -> dict[str, dict[str, Estimate]]:
    return {"talk": {"turn recall@10": Estimate(value, value, value, 1)}}


def test_each_feature_with_a_weight_is_switched_off_once() -> None:
    asked: list[dict[str, float]] = []

    def answer(weights: Mapping[str, float]) -> dict[str, dict[str, Estimate]]:
        asked.append(dict(weights))
        return figures(0.1 * len(weights))

    found = ablation.ablate({"a": 1.0, "b": -2.0, "c": 0.0}, answer)
    assert [one.feature for one in found] == [ablation.NOTHING, "a", "b"]
    assert asked == [{"a": 1.0, "b": -2.0, "c": 0.0}, {"b": -2.0, "c": 0.0}, {"a": 1.0, "c": 0.0}]


def test_the_dearest_feature_comes_first() -> None:
    def answer(weights: Mapping[str, float]) -> dict[str, dict[str, Estimate]]:
        return figures(sum(weights.values()))

    def refit(weights: Mapping[str, float]) -> dict[str, dict[str, Estimate]]:
        return figures(0.9)

    found = ablation.ablate({"small": 0.1, "large": 0.5}, answer, refit)
    table = ablation.table(found, [("talk", "turn recall@10")])
    assert list(table.rows) == [
        ["all features", "60.0", "90.0"],
        ["- large", "-50.0", "+0.0"],
        ["- small", "-10.0", "+0.0"],
    ]


def test_without_a_refit_its_column_is_empty() -> None:
    found = ablation.ablate({"a": 1.0}, lambda weights: figures(0.5))
    assert [row[2] for row in ablation.table(found, [("talk", "turn recall@10")]).rows] == ["-", "-"]


def _candidates(one: Seen) -> tuple[tuple[str, ...], tuple[str, ...], object]:
    return one.turns, one.sessions, one.features
