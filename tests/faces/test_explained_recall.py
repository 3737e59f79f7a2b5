"""Recall that explains itself, through Python and the command line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from mnemos.memory import Memory
from mnemos.operations import registry

from .conftest import Mnemos

QUERY = "when did we move the database?"


@pytest.fixture
def home(filled: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(filled / "home", tmp_path / "home"))


def test_the_command_gives_the_same_account_as_the_call(home: Path, mnemos: Mnemos) -> None:
    with Memory.at(home) as memory:
        asked = {"query": QUERY, "explain": True, "probe": "message:1", "words_only": True}
        called = json.loads(json.dumps(memory.call("recall", asked)))
    options = ("--explain", "--probe", "message:1", "--limit", "20", "--words-only", "--json")
    said = mnemos("recall", QUERY, *options, "--home", str(home))
    typed = said.json
    for answer in (called, typed):
        assert answer["explanation"].pop("milliseconds")["judge"] > 0
    assert typed["explanation"] == called["explanation"]
    assert [hit["explained"] for hit in typed["hits"]] == [hit["explained"] for hit in called["hits"]]
    best = called["hits"][0]
    points = [part["points"] for part in best["explained"]["parts"]]
    assert sum(points) == pytest.approx(best["score"], abs=1e-4)


def test_a_person_reads_the_sum_of_each_hit(home: Path, mnemos: Mnemos) -> None:
    shown = mnemos("recall", QUERY, "--probe", "message:99999", "--home", str(home)).out
    assert "Understood: " in shown
    assert " = +" in shown
    assert "message:99999: There is no such message here." in shown


def test_the_text_for_a_model_is_the_same_with_and_without_an_account(home: Path) -> None:
    with Memory.at(home) as memory:
        plain = memory.call("recall", {"query": QUERY})
        about = memory.call("recall", {"query": QUERY, "explain": True})
    assert about["text"] == plain["text"]
    assert "explanation" not in plain
    assert all("explained" not in hit for hit in plain["hits"])


def test_tools_do_not_list_the_arguments_of_an_account() -> None:
    offered = registry.tool_schema(registry.find("recall"))["properties"]
    assert not {"explain", "probe"} & offered.keys()
    assert {"explain", "probe"} <= registry.input_schema(registry.find("recall"))["properties"].keys()
