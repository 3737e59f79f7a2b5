"""Nearness in meaning of a line with what is around it, and of its nearest sentence."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace
from scenes import judged, scene, strip

from mnemos.recall.candidates import Sense
from mnemos.recall.lines import Scene
from mnemos.recall.sense import Surroundings
from mnemos.storage.passages import Units

EAST, NORTH = np.array([1.0, 0.0], np.float32), np.array([0.0, 1.0], np.float32)


def surroundings(*vectors: np.ndarray) -> Surroundings:
    """Lines 1, 2, … with these vectors, seen by a question that looks east."""
    ids = np.arange(1, len(vectors) + 1, dtype=np.int64)
    return Surroundings(Units(ids, np.stack(vectors)), Sense("model", EAST))


def test_a_line_alone_is_as_near_as_it_is() -> None:
    near = surroundings(EAST, NORTH, (EAST + NORTH) / np.float32(2**0.5))
    assert near.cosines([(1, []), (2, []), (3, [])]) == pytest.approx([1.0, 0.0, 2**-0.5])


def test_neighbours_draw_a_line_towards_them_by_their_share() -> None:
    near = surroundings(EAST, NORTH)
    weak, strong = near.cosines([(2, [(0.1, 1)]), (2, [(0.4, 1)])])
    assert 0 < weak < strong < 1
    assert near.cosines([(1, [(0.4, 2)])])[0] < 1


def test_lines_without_a_vector_mean_nothing() -> None:
    near = surroundings(EAST, NORTH)
    assert near.cosines([(99, []), (99, [(0.4, 98)])]) == [0.0, 0.0]
    assert near.cosines([(99, [(0.4, 1)]), (1, [(0.4, 99)])]) == pytest.approx([1.0, 1.0])
    assert near.cosines([]) == []


def test_the_answer_to_a_line_in_the_same_direction_is_nearer_than_that_to_another() -> None:
    made = scene("kayak", strip(1, "a boat", "it was cold"), strip(3, "a cake", "it was cold", session="t"))
    vectors = {1: EAST, 2: NORTH, 3: NORTH, 4: NORTH}
    found = judged(with_vectors(made, vectors))
    around = {id: candidate.features["meaning_around"] for id, candidate in found.items()}
    assert around[1] > around[2] > around[4] == 0


def with_vectors(made: Scene, vectors: dict[int, np.ndarray]) -> Scene:
    units = Units(np.array(list(vectors), np.int64), np.stack(list(vectors.values())))
    return replace(made, surroundings=Surroundings(units, Sense("model", EAST)))
