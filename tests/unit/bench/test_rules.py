"""Rules over language are measured on labelled texts from the command line."""

from __future__ import annotations

import json

import pytest
from benchmarks import rules


@pytest.mark.parametrize(("name", "parts"), [("closing", "languages"), ("extraction", "parts")])
def test_rules_are_measured_on_the_labelled_texts_of_the_repository(
    name: str, parts: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rules.main(name, ["--json"])
    assert json.loads(capsys.readouterr().out)[parts]["all"]["recall"] > 0.8
    rules.main(name, ["--misses"])
    assert "precision" in capsys.readouterr().out
