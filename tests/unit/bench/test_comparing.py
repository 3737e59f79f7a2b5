"""Other ways get the same data, and what the engine tells of its features is what it ranks by."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from benchmarks.recall import command, compare, engine, learn
from benchmarks.recall.baselines import Missing, full_text, okapi
from benchmarks.recall.features import ranked, taken

from mnemos.faces.cli.bench.corpus import Data
from mnemos.faces.cli.bench.dataset import read
from mnemos.faces.cli.bench.measurement import open_home

Write = Callable[..., Path]


@pytest.fixture
def data(write: Write, locomo: list[Any]) -> Data:
    return read(write(locomo))


def first_of(data: Data, load: Any, text: str) -> str:
    with load(data.corpora[0]) as asked:
        found: list[str] = asked.ask(text, 2, 0.0)
        return found[0]


def test_full_text_finds_word_forms_only_with_stems(data: Data) -> None:
    assert first_of(data, full_text("porter unicode61"), "repairing") == "D2:1"
    with full_text("unicode61")(data.corpora[0]) as asked:
        assert asked.ask("repairing", 2, 0.0) == []


@pytest.mark.parametrize("text", ['"', "NEAR(q z)", "x* AND OR NOT", "¿?", ""])
def test_no_question_is_a_syntax_error(data: Data, text: str) -> None:
    with full_text("unicode61")(data.corpora[0]) as asked:
        assert asked.ask(text, 5, 0.0) == []


def test_words_and_vectors_alone_find_what_is_asked_for(data: Data) -> None:
    assert first_of(data, okapi(), "mason kiln") == "D2:1"
    assert first_of(data, engine.dense(), "How much money was it?") == "D2:2"


def test_a_way_that_is_not_installed_is_left_out_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rank_bm25", None)
    with pytest.raises(Missing, match="pip install"):
        okapi()
    able, missing = compare.ways()
    assert "rank_bm25" not in able
    assert list(missing) == ["rank_bm25"]


def test_every_way_is_measured_on_every_arrangement(data: Data, tmp_path: Path) -> None:
    able, missing = compare.ways()
    result, compared = compare.run([data], (), able, missing)
    (one,) = compared
    assert list(one.ways) == [
        "FTS5",
        "FTS5 porter",
        "rank_bm25",
        "dense",
        "mnemos lexical",
        "mnemos",
        "mnemos deep",
    ]
    assert one.ways["mnemos lexical"].modes == ("lexical",)
    assert one.ways["mnemos"].modes == ("lexical+static",)
    assert len({way.messages for way in one.ways.values()}) == 1
    assert set(result.figures["data"]["conversations"]) == set(one.ways)
    (drawn,) = compare.draw(compared, tmp_path / "drawn", "figures")
    assert drawn.name == "figures-data-conversations.svg"


@pytest.mark.parametrize("lexical", [False, True], ids=["hybrid", "lexical"])
def test_candidates_ranked_by_the_shipped_weights_come_as_the_engine_ranks_them(
    data: Data, *, lexical: bool
) -> None:
    flags = engine.flags(lexical=lexical)
    dump = taken([data], engine.explain, **flags)
    weights = dump.vector(engine.weights(lexical=lexical))
    with open_home(data.corpora[0], **flags) as home:
        for one in dump.seen:
            order = (-(one.features @ weights)).argsort(kind="stable")
            ranked = [one.turns[place] for place in order[:10]]
            asked = home.ask(one.question.text, 10, one.question.asked_at)
            # This line only asks: the engine puts it below its reply after weighing.
            kept = [turn for turn in asked if turn != "D2:1"]
            # It leaves out what scores far below the best.
            assert [turn for turn in ranked if turn != "D2:1"][: len(kept)] == kept


def test_every_weight_belongs_to_a_feature_that_there_is(data: Data) -> None:
    dump = taken([data], engine.explain, **engine.flags(lexical=False))
    assert set(engine.weights(lexical=False)) <= set(dump.names)
    assert set(engine.weights(lexical=True)) <= set(dump.names)
    assert ranked(dump, engine.weights(lexical=False))["data, conversations"]["turn any@10"].value == 1.0


@pytest.mark.parametrize("ablation", [False, True], ids=["fit", "ablation"])
def test_weights_are_learnt_from_a_file(
    write: Write, locomo: list[Any], capsys: pytest.CaptureFixture[str], *, ablation: bool
) -> None:
    data = read(write([*locomo, {**locomo[0], "sample_id": "talk-2"}]))
    tables = learn.run(
        [data],
        pools=(),
        lexical=False,
        folds=2,
        balance=0.5,
        free_signs=False,
        penalty=1.0,
        ablation=ablation,
    )
    text = "\n".join(line for table in tables for line in table.lines())
    assert "data, conversations: turn recall@10" in text
    assert ('"words":' in capsys.readouterr().out) is not ablation


def test_weights_are_not_learnt_from_a_single_conversation(
    write: Write, locomo: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main(["--data", str(write(locomo)), "--fit"])
    assert ended.value.code == 2
    assert "two conversations" in capsys.readouterr().err


# --- the command line --------------------------------------------------------------------------


def test_without_data_it_is_said_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main([])
    assert ended.value.code == 2
    assert "MNEMOS_BENCH_DATA" in capsys.readouterr().err


def test_a_file_that_cannot_be_read_is_a_usage_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        command.main(["--data", str(tmp_path / "absent.json")])
    assert "absent.json" in capsys.readouterr().err


def test_data_is_taken_from_folders_and_from_the_environment(
    write: Write, locomo: list[Any], lines: list[Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    first, second = write(locomo), write(lines, "own.jsonl")
    (tmp_path / "README.md").write_text("not data")
    assert command._files([tmp_path]) == [first, second]
    monkeypatch.setenv("MNEMOS_BENCH_DATA", str(second))
    assert command._files([]) == [second]
    assert command._files([first]) == [first]


def test_a_run_is_written_where_it_is_wanted(
    write: Write, lines: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command.main(["--data", str(write(lines, "own.jsonl")), "--json", str(tmp_path / "kept.json")])
    assert (tmp_path / "kept.json").exists()
    assert (tmp_path / "kept-own-conversations.svg").exists()
    assert str(tmp_path) not in (tmp_path / "kept.json").read_text()
    assert "own, conversations" in capsys.readouterr().out
