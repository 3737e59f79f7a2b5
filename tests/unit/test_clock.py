"""The clock of the tests."""

from __future__ import annotations

from mnemos.testing import FixedClock


def test_a_fixed_clock_does_not_move_until_it_is_advanced() -> None:
    clock = FixedClock(100.0)
    assert clock() == clock() == 100.0
    assert clock.advance(2.5) == 102.5
    assert clock() == 102.5
    clock.advance(-10)
    assert clock() == 92.5


def test_a_fixed_clock_gives_a_float() -> None:
    assert isinstance(FixedClock()(), float)
