"""Import of hermes-memory facts."""

from __future__ import annotations

from dataclasses import replace

from mnemos.facts.facts import Facts
from mnemos.storage.imports import HermesFact

TOKEN = "ghp_" + "a1B2c3D4e5" * 4
PLAIN = HermesFact("f1", "V", "port", "5433", None, "active", None, 10.0, 10.0, None)


def test_a_secret_in_a_name_is_refused_and_not_shown(facts: Facts) -> None:
    report = facts.import_hermes(
        [PLAIN, replace(PLAIN, id="f2", target=TOKEN), replace(PLAIN, id="f3", scope=TOKEN)]
    )
    assert report.live == 1
    assert report.refused == [f"{number}: its target or scope holds a secret" for number in ("f2", "f3")]


def test_a_secret_in_what_a_fact_says_is_taken_out(facts: Facts) -> None:
    facts.import_hermes([replace(PLAIN, content=f"pushes with {TOKEN}")])
    (found,) = facts.history("port")
    assert TOKEN not in found.content
    assert "redacted" in found.content
