"""Statements about different things are never taken for updates of each other."""

from __future__ import annotations

import pytest

from mnemos import Memory


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("We chose Redis streams for the order mails", "My dentist is Dr. Weber on Mill Road"),
        ("My email is ana@example.com", "My dentist is Dr. Weber on Mill Road"),
    ],
)
def test_a_practice_and_an_address_are_not_linked(memory: Memory, older: str, newer: str) -> None:
    memory.facts.remember(older)
    memory.facts.remember(newer)
    assert not memory.facts.conflicts()


def test_a_new_dentist_still_replaces_the_former_one(memory: Memory) -> None:
    memory.facts.remember("My dentist is Dr. Kim")
    memory.facts.remember("My dentist is Dr. Weber now")
    assert [fact.content for fact in memory.facts.list()] == ["My dentist is Dr. Weber now"]
