"""Questions are asked of a store, and the figures say what came of it."""

from __future__ import annotations

import xml.etree.ElementTree as Tree
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from mnemos.faces.cli.bench import report
from mnemos.faces.cli.bench.corpus import Corpus, Data, arrangements
from mnemos.faces.cli.bench.dataset import read
from mnemos.faces.cli.bench.measurement import TURNS, WARM_UP, Home, Measured, measure, open_home
from mnemos.faces.cli.bench.metrics import NAMES
from mnemos.faces.cli.bench.report import Bar, bars

Write = Callable[..., Path]


class Fixed:
    """A store that answers with the same turns whatever is asked, and remembers what was."""

    mode = "fixed"

    def __init__(self, turns: list[str], file_bytes: int | None = 1_000) -> None:
        self.turns = turns
        self.file_bytes = file_bytes
        self.asked: list[tuple[str, int, float]] = []

    def ask(self, text: str, limit: int, now: float) -> list[str]:
        self.asked.append((text, limit, now))
        return self.turns[:limit]

    @contextmanager
    def load(self, corpus: Corpus) -> Iterator[Fixed]:
        yield self


@pytest.fixture
def data(write: Write, locomo: list[Any]) -> Data:
    return read(write(locomo))


def measured(data: Data, store: Fixed) -> Measured:
    return measure(data, "conversations", arrangements(data)["conversations"], store.load)


def test_turns_and_sessions_are_scored_by_category_and_all_together(data: Data) -> None:
    found = measured(data, Fixed(["D1:1", "D1:2", "D2:1"]))
    assert list(found.parts) == ["all", "multi-hop", "temporal", "single-hop"]
    assert found.questions == {"all": 3, "multi-hop": 1, "temporal": 1, "single-hop": 1}
    assert found.parts["single-hop"]["turn recall@1"].value == 1.0
    assert found.parts["multi-hop"]["turn recall@3"].value == pytest.approx(2 / 3)
    # Two of its three pieces of evidence are in the session that comes second.
    assert found.parts["multi-hop"]["session recall@1"].value == pytest.approx(1 / 3)
    assert found.parts["all"]["session all@3"].value == 1.0


def test_each_question_is_asked_at_its_time_after_a_warm_up_that_does_not_count(data: Data) -> None:
    store = Fixed(["D1:1"])
    found = measured(data, store)
    now = data.corpora[0].questions[0].asked_at
    assert store.asked[0] == (WARM_UP, TURNS, now)
    assert store.asked[1] == ("What broke?", TURNS, now)
    assert len(store.asked) == 1 + 2 * 3
    assert 0 <= found.p50 <= found.p95


def test_size_is_given_per_message_and_not_at_all_for_a_store_without_a_file(data: Data) -> None:
    assert measured(data, Fixed([])).bytes_per_message == 250
    assert measured(data, Fixed([], None)).bytes_per_message is None


def test_progress_ends_with_the_last_question(data: Data) -> None:
    shares: list[float] = []
    store = Fixed([])
    measure(data, "conversations", arrangements(data)["conversations"], store.load, shares.append)
    assert shares == [1.0]


def test_a_grid_has_a_row_per_category_and_names_what_was_used(data: Data) -> None:
    grid = report.grid(data, measured(data, Fixed(["D1:1"])))
    assert grid.title == "data, conversations: fixed"
    assert [row[0] for row in grid.rows] == ["all", "multi-hop", "temporal", "single-hop"]
    assert all(len(row) == len(grid.headings) for row in grid.rows)
    assert "100.0 ±0.0" in grid.rows[3]


def test_a_figure_that_no_question_has_is_a_dash(write: Write, longmemeval: list[Any]) -> None:
    data = read(write(longmemeval[1:2]))
    found = measure(data, "all sessions", arrangements(data)["all sessions"], Fixed(["answer-3:1"]).load)
    row = report.grid(data, found).rows[0]
    assert row[-1] == "-"
    assert "100.0 ±0.0" in row


def test_a_sentence_names_the_items_left_out(data: Data, write: Write, lines: list[Any]) -> None:
    assert "adversarial questions 1" in report.left_out(data)
    lines[0]["questions"] = lines[0]["questions"][:1]
    assert report.left_out(read(write(lines))) == ""


def test_the_document_has_every_metric_of_every_category(data: Data) -> None:
    document = report.document(data, [measured(data, Fixed(["D1:1"]))])
    (arrangement,) = document["arrangements"]
    assert document["format"] == "locomo"
    assert document["left_out"]["adversarial questions"] == 1
    for part in arrangement["categories"].values():
        assert set(part["metrics"]) == set(NAMES)
    figure = arrangement["categories"]["all"]["metrics"]["turn recall@1"]
    assert figure["low"] <= figure["value"] <= figure["high"]


def test_a_chart_is_sound_xml_with_a_bar_for_each_figure(data: Data) -> None:
    one = measured(data, Fixed(["D1:1"]))
    root = Tree.fromstring(report.chart(data, [one]))
    titles = [title.text or "" for title in root.iter("{http://www.w3.org/2000/svg}title")]
    assert len([title for title in titles if ": " in title and " to " in title]) == len(one.parts)


def test_names_with_signs_do_not_break_a_chart() -> None:
    name = '<a> & "b"'
    root = Tree.fromstring(bars(name, {name: [Bar(name, 0.5, 0.4, 0.6)]}))
    assert name in [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]


def test_a_home_holds_the_corpus_with_its_speakers_and_times(data: Data) -> None:
    corpus = data.corpora[0]
    with open_home(corpus) as home:
        messages = home.memory.sessions.get_messages("D1")
        folder = home.memory.settings.home
        assert [message["metadata"] for message in messages] == [
            {"turn": "D1:1", "speaker": "Ada"},
            {"turn": "D1:2", "speaker": "Bo"},
        ]
        assert [message["timestamp"] for message in messages] == [
            turn.at for turn in corpus.sessions[0].turns
        ]
        assert [home.turn_of[message["id"]] for message in messages] == ["D1:1", "D1:2"]
        assert home.file_bytes > 0
    assert not folder.exists()


def test_a_home_is_asked_through_recall(data: Data) -> None:
    with open_home(data.corpora[0]) as home:
        assert isinstance(home, Home)
        found = home.ask("Which vase broke in the kiln?", 2, data.corpora[0].questions[0].asked_at)
        assert found[0] == "D1:1"
        assert len(found) <= 2
        assert home.mode
