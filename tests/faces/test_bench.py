"""``mnemos bench recall`` measures in throw-away homes and says what it found."""

from __future__ import annotations

import json
import xml.etree.ElementTree as Tree
from pathlib import Path
from typing import Any

import pytest

from .conftest import Mnemos
from .terminal import at_a_terminal

CONVERSATION: dict[str, Any] = {
    "id": "garden",
    "sessions": [
        {
            "id": "spring",
            "started_at": "2024-04-02",
            "messages": [
                {"role": "user", "content": "The quince tree has been planted by the northern wall."},
                {"role": "assistant", "content": "Water it twice a week until summer."},
            ],
        },
        {
            "id": "autumn",
            "started_at": "2024-10-11",
            "messages": [{"role": "user", "content": "Nine jars of jelly are on the cellar shelf."}],
        },
    ],
    "questions": [
        {"question": "Where is the quince tree?", "evidence": ["spring:1"], "category": "where"},
        {"question": "How many jars of jelly are there?", "evidence": ["autumn:1"], "category": "count"},
    ],
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "garden.jsonl"
    path.write_text(json.dumps(CONVERSATION), encoding="utf-8")
    return path


def test_results_are_shown_in_a_table(data: Path, home: Path, mnemos: Mnemos) -> None:
    answer = mnemos("bench", "recall", "--data", str(data))
    assert (answer.code, answer.err) == (0, "")
    first = answer.out.splitlines()
    assert first[0].startswith("garden, conversations")
    assert [line.split()[0] for line in first[1:5]] == ["category", "all", "where", "count"]
    assert "100.0 ±0.0" in first[2]
    assert not home.exists()


@pytest.mark.parametrize("place", ["before", "after"])
def test_the_figures_are_printed_as_json(data: Path, mnemos: Mnemos, place: str) -> None:
    words = ("bench", "recall", "--data", str(data))
    found = mnemos(*(("--json", *words) if place == "before" else (*words, "--json"))).json
    assert (found["data"], found["format"]) == ("garden", "lines")
    (arrangement,) = found["arrangements"]
    assert arrangement["categories"]["all"]["metrics"]["turn recall@10"]["value"] == 1.0
    assert arrangement["messages"] == 3


def test_figures_and_chart_are_written_where_they_are_wanted(
    data: Path, tmp_path: Path, mnemos: Mnemos
) -> None:
    answer = mnemos("bench", "recall", "--data", str(data), "--out", str(tmp_path / "new" / "out"))
    assert answer.code == 0
    figures = json.loads((tmp_path / "new" / "out" / "recall-garden.json").read_text())
    assert figures["data"] == "garden"
    Tree.fromstring((tmp_path / "new" / "out" / "recall-garden.svg").read_text())
    assert answer.out.count("written: ") == 2


def test_json_stays_json_when_figures_are_written_too(data: Path, tmp_path: Path, mnemos: Mnemos) -> None:
    answer = mnemos("bench", "recall", "--data", str(data), "--json", "--out", str(tmp_path))
    assert answer.json["data"] == "garden"
    assert answer.err.count("written: ") == 2


def test_fewer_questions_can_be_asked(data: Path, mnemos: Mnemos) -> None:
    found = mnemos("bench", "recall", "--data", str(data), "--limit-questions", "1", "--json").json
    assert found["arrangements"][0]["categories"]["all"]["questions"] == 1


def test_a_file_that_is_not_there_is_not_found(tmp_path: Path, mnemos: Mnemos) -> None:
    answer = mnemos("bench", "recall", "--data", str(tmp_path / "absent.json"))
    assert (answer.code, answer.out) == (3, "")


def test_a_file_of_something_else_is_a_mistake_of_the_caller(data: Path, mnemos: Mnemos) -> None:
    data.write_text("not a conversation")
    assert mnemos("bench", "recall", "--data", str(data)).code == 2
    data.write_text('{"sessions": [], "questions": []}')
    answer = mnemos("bench", "recall", "--data", str(data), "--json")
    assert (answer.code, answer.error["code"]) == (2, "invalid_input")


@pytest.mark.parametrize(
    "options",
    [("--format", "prose"), ("--pool", "0"), ("--pool", "many"), ("--limit-questions", "0"), ("--out",)],
    ids=" ".join,
)
def test_a_wrong_option_is_a_usage_error(data: Path, mnemos: Mnemos, options: tuple[str, ...]) -> None:
    answer = mnemos("bench", "recall", "--data", str(data), *options)
    assert (answer.code, answer.out) == (2, "")


def test_a_folder_that_cannot_be_written_is_named(data: Path, tmp_path: Path, mnemos: Mnemos) -> None:
    occupied = tmp_path / "occupied"
    occupied.write_text("a file")
    answer = mnemos("bench", "recall", "--data", str(data), "--out", str(occupied))
    assert answer.code == 4
    assert str(occupied) in answer.err


def test_at_a_terminal_the_table_is_drawn(data: Path, home: Path) -> None:
    seen = at_a_terminal("bench", "recall", "--data", str(data), home=home)
    assert seen.code == 0
    assert "\x1b[1m" in seen.screen
    assert "100.0 ±0.0" in seen.screen


def test_data_without_a_single_question_says_so(data: Path, mnemos: Mnemos) -> None:
    data.write_text(json.dumps(CONVERSATION | {"questions": []}))
    answer = mnemos("bench", "recall", "--data", str(data))
    assert (answer.code, answer.out) == (2, "")
    assert "no question" in answer.err
