"""One line of the settings of a Hermes, in whatever way they are written."""

from __future__ import annotations

import pytest

from mnemos.integrations.hermes import plugin


@pytest.mark.parametrize(
    ("before", "used", "after"),
    [
        ("\ufeffmemory:\n  provider: ''\n", "", "\ufeffmemory:\n  provider: mnemos\n"),
        ("\ufeffmemory:\n  provider: other\n", "other", "\ufeffmemory:\n  provider: mnemos\n"),
        ("\ufeffa: 1\n", "", "\ufeffa: 1\n\nmemory:\n  provider: mnemos\n"),
        ("a: 1\r\nmemory:\n  provider: ''\r\n", "", "a: 1\r\nmemory:\n  provider: mnemos\r\n"),
        ("a: 1\nmemory:\r\n  b: 2", "", "a: 1\nmemory:\r\n  provider: mnemos\r\n  b: 2"),
        ("memory:", "", "memory:\n  provider: mnemos"),
    ],
)
def test_a_mark_before_the_text_and_mixed_line_breaks_stay(before: str, used: str, after: str) -> None:
    assert plugin.read_provider(before) == used
    assert plugin.set_provider(before, "mnemos") == after
    assert plugin.read_provider(after) == "mnemos"


@pytest.mark.parametrize("below", ["    name: x\n", "\n    # why\n    - x\n", "   more of it\n"])
def test_a_provider_that_goes_on_below_is_not_guessed_at(below: str) -> None:
    assert plugin.read_provider(f"memory:\n  provider:\n{below}a: 1\n") is None
