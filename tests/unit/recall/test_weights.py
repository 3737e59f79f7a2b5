"""Weights: what they may and may not do."""

from __future__ import annotations

import pytest
from scenes import NOW, Said, assistant, fact, judged, scene, strip, user

from mnemos.recall.features import HYBRID, LEXICAL, Candidate, sum_up

WEIGHTS = {"with vectors": HYBRID, "by words alone": LEXICAL}


def candidate() -> Candidate:
    """One that has something of everything."""
    talk = strip(1, user("Which kayak?"), assistant("Ana took the red one last Tuesday, at 9"))
    made = scene(
        "when did you take the current kayak?", talk, cosines={1: 0.3, 2: 0.5}, passages=[fact(9, "kayak")]
    )
    return judged(made)[2]


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
def test_every_weight_has_its_feature(weights: dict[str, float]) -> None:
    assert set(weights) <= set(candidate().features)


def test_without_vectors_nothing_of_meaning_counts() -> None:
    assert [name for name in LEXICAL if name.startswith("meaning")] == []
    assert set(LEXICAL) < set(HYBRID)


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
def test_a_score_is_the_weighted_sum(weights: dict[str, float]) -> None:
    one = candidate()
    one.features.update(dict.fromkeys(weights, 0.0))
    assert sum_up(one, weights) == 0
    for name, weight in weights.items():
        one.features[name] = 0.5
        assert sum_up(one, weights) == pytest.approx(0.5 * weight)
        one.features[name] = 0.0


def test_words_count_more_than_anything_a_line_has_without_them() -> None:
    """A number or a name in a line about something else must not outdo the line that has the words."""
    for weights in WEIGHTS.values():
        words = weights["words"] + weights["session"]
        assert all(words > weights[name] for name in ("time", "number", "name"))


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
def test_being_new_does_not_outdo_having_the_words(weights: dict[str, float]) -> None:
    old = strip(1, user("my editor is Helix"), session="old", at=NOW - 9_000_000)
    new = strip(2, user("the train was late"), session="new", at=NOW - 60)
    found = judged(scene("what is my current editor?", old, new))
    assert sum_up(found[1], weights) > sum_up(found[2], weights)


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
def test_a_person_named_outdoes_one_who_uses_the_same_words(weights: dict[str, float]) -> None:
    talk = strip(1, Said("I adopted a dog", name="Ana"), Said("I adopted a cat", name="Ben"))
    found = judged(scene("what did Ben adopt?", talk, cosines={1: 0.4, 2: 0.4}))
    assert sum_up(found[2], weights) > sum_up(found[1], weights)
