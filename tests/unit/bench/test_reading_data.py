"""Files of conversations are read as they are meant, or it is said what is wrong with them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from mnemos.errors import InvalidInput, NotFound
from mnemos.faces.cli.bench import dataset as reading
from mnemos.faces.cli.bench.corpus import Data, Format
from mnemos.faces.cli.bench.dataset import read

Write = Callable[..., Path]


def questions(data: Data) -> dict[str, Any]:
    return {question.text: question for corpus in data.corpora for question in corpus.questions}


def at(*parts: int) -> float:
    return datetime(*parts, tzinfo=UTC).timestamp()  # type: ignore[arg-type, misc]


# --- LoCoMo ------------------------------------------------------------------------------------


def test_a_conversation_of_two_people_is_read_with_its_names_times_and_pictures(
    write: Write, locomo: list[Any]
) -> None:
    data = read(write(locomo))
    first, second = data.corpora[0].sessions
    assert data.format is Format.LOCOMO
    assert (first.id, second.id) == ("D1", "D2")
    assert first.started_at == at(2024, 3, 3, 0, 5)
    assert second.started_at == at(2024, 3, 9, 13, 30)
    assert [turn.speaker for turn in first.turns] == ["Ada", "Bo"]
    assert {turn.role for turn in first.turns} == {"user"}
    assert first.turns[1].text == "Oh no. (a cracked blue vase)"
    assert first.turns[0].at < first.turns[1].at < first.turns[0].at + 60


def test_questions_are_asked_when_the_last_word_has_been_said(write: Write, locomo: list[Any]) -> None:
    data = read(write(locomo))
    last = data.corpora[0].sessions[-1].turns[-1].at
    assert {question.asked_at for question in questions(data).values()} == {last}


def test_odd_spellings_of_evidence_are_repaired_and_counted(write: Write, locomo: list[Any]) -> None:
    data = read(write(locomo))
    asked = questions(data)
    assert asked["What does the repair cost?"].turns == ("D2:1", "D2:2", "D1:1")
    assert asked["What does the repair cost?"].sessions == ("D2", "D2", "D1")
    assert asked["When was it repaired?"].turns == ("D2:2",)
    assert data.left_out["misspelt evidence, repaired"] == 2
    # D7:1 does not exist, and a lone D names nothing.
    assert data.left_out["evidence that names no turn"] == 2


def test_questions_without_an_answer_or_evidence_are_left_out_and_counted(
    write: Write, locomo: list[Any]
) -> None:
    data = read(write(locomo))
    assert len(questions(data)) == 3
    assert data.left_out["adversarial questions"] == 1
    assert data.left_out["questions without evidence"] == 1


def test_categories_are_in_the_order_of_the_paper_without_those_that_are_empty(
    write: Write, locomo: list[Any]
) -> None:
    assert read(write(locomo)).categories == ("multi-hop", "temporal", "single-hop")


@pytest.mark.parametrize("when", ["noon", "1:30 pm on 31 February, 2024", "1:30 pm on 3 Brumaire, 2024"])
def test_a_session_without_a_readable_time_is_refused(write: Write, locomo: list[Any], when: str) -> None:
    locomo[0]["conversation"]["session_2_date_time"] = when
    with pytest.raises(InvalidInput, match=when):
        read(write(locomo))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda item: item["conversation"]["session_1"][1].pop("text"), "session_1.*text"),
        (lambda item: item["conversation"].pop("session_2_date_time"), "session_2_date_time"),
        (lambda item: item["qa"][2].pop("question"), r"question.*qa"),
        (lambda item: item["qa"][1].update(category=9), r"qa\[1\].category"),
        (lambda item: item.pop("qa"), "qa"),
        (lambda item: item.update(conversation={"speaker_a": "Ada"}), "session_N"),
    ],
    ids=["text", "time", "question", "category", "qa", "sessions"],
)
def test_what_is_missing_is_named_with_file_item_and_field(
    write: Write, locomo: list[Any], change: Callable[[Any], Any], named: str
) -> None:
    change(locomo[0])
    with pytest.raises(InvalidInput, match=rf"data\.json: item 1 .*{named}"):
        read(write(locomo))


# --- LongMemEval -------------------------------------------------------------------------------


def test_a_question_is_read_with_its_own_sessions(write: Write, longmemeval: list[Any]) -> None:
    data = read(write(longmemeval))
    corpus = data.corpora[0]
    (question,) = corpus.questions
    assert data.format is Format.LONGMEMEVAL
    assert [session.id for session in corpus.sessions] == ["other-1", "answer-1", "answer-2"]
    assert [turn.role for turn in corpus.sessions[0].turns] == ["user", "assistant"]
    assert question.sessions == ("answer-1", "answer-2")
    assert question.turns == ("answer-1:1", "answer-2:1")
    assert question.asked_at == at(2024, 5, 9, 18, 30)
    assert corpus.sessions[1].started_at == at(2024, 5, 2, 10, 0)


def test_a_question_whose_evidence_names_no_turn_is_kept_for_its_sessions(
    write: Write, longmemeval: list[Any]
) -> None:
    data = read(write(longmemeval))
    question = questions(data)["Which bread do I bake?"]
    assert (question.turns, question.sessions) == ((), ("answer-3",))
    assert data.left_out["questions with evidence for sessions only"] == 1


def test_of_a_question_without_an_answer_only_the_sessions_stay(write: Write, longmemeval: list[Any]) -> None:
    data = read(write(longmemeval))
    assert data.left_out["questions without an answer"] == 1
    assert data.corpora[2].questions == ()
    assert [session.id for session in data.corpora[2].sessions] == ["other-2"]


def test_as_many_dates_as_sessions_are_wanted(write: Write, longmemeval: list[Any]) -> None:
    longmemeval[1]["haystack_dates"].append("2024/05/02 (Thu) 11:00")
    with pytest.raises(InvalidInput, match=r"item 2 .*haystack_dates"):
        read(write(longmemeval))


def test_a_date_that_is_none_is_named(write: Write, longmemeval: list[Any]) -> None:
    longmemeval[0]["haystack_dates"][1] = "last spring"
    with pytest.raises(InvalidInput, match=r"haystack_dates\[1\] is 'last spring'"):
        read(write(longmemeval))


# --- own lines ---------------------------------------------------------------------------------


def test_lines_of_ones_own_are_read(write: Write, lines: list[Any]) -> None:
    data = read(write(lines, "own.jsonl"))
    roof, door = data.corpora[0].sessions
    assert (data.format, data.name) == (Format.LINES, "own")
    assert [turn.id for turn in roof.turns] == ["roof:1", "roof:2"]
    assert roof.turns[1].at == 1717200900.0
    assert (door.turns[0].id, door.turns[0].speaker) == ("m9", "Cleo")
    asked = questions(data)
    assert asked["Of what is the door?"].asked_at == at(2024, 7, 1)
    assert asked["Where does the roof leak?"].asked_at == max(turn.at for turn in (*roof.turns, *door.turns))
    assert asked["What about the roof?"].turns == ()
    assert asked["What about the roof?"].sessions == ("roof",)
    assert data.left_out == {"evidence that names no turn": 1, "questions without evidence": 1}
    assert data.categories == ("where", "question")


def test_an_exported_session_fits_into_a_line_as_it_is(write: Write, lines: list[Any]) -> None:
    extra = {"source": "cli", "user_id": None, "message_count": 2, "archived": False}
    lines[0]["sessions"][0].update(extra)
    lines[0]["sessions"][0]["messages"][0].update({"id": 41, "token_count": None, "tool_calls": None})
    lines[0]["questions"][0]["evidence"] = [41]
    data = read(write(lines))
    assert questions(data)["Where does the roof leak?"].turns == ("41",)


# --- any file ----------------------------------------------------------------------------------


def test_a_file_is_read_piece_by_piece_with_the_same_outcome(
    write: Write, longmemeval: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(longmemeval)
    whole = read(path)
    monkeypatch.setattr(reading, "_PIECE", 7)
    assert read(path) == whole


def test_a_file_that_is_not_there_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="absent"):
        read(tmp_path / "absent.json")


@pytest.mark.parametrize("content", [b'[{"qa": [', b"all about kilns", b"\xff\xfe[]", b"", b"[]", b"[3]"])
def test_a_file_of_something_else_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "odd.json"
    path.write_bytes(content)
    with pytest.raises(InvalidInput, match=r"odd\.json"):
        read(path)


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot be read"):
        read(tmp_path)


def test_a_format_that_is_given_is_not_guessed(write: Write, locomo: list[Any]) -> None:
    with pytest.raises(InvalidInput, match="longmemeval"):
        read(write(locomo), Format.LONGMEMEVAL)


def test_a_session_that_occurs_twice_in_one_conversation_is_refused(write: Write, lines: list[Any]) -> None:
    lines[0]["sessions"].append(lines[0]["sessions"][0])
    with pytest.raises(InvalidInput, match="'roof' twice"):
        read(write(lines))


@pytest.mark.parametrize(("asked", "kept"), [(None, 3), (2, 2), (1, 1), (99, 3)])
def test_fewer_questions_can_be_asked_of_all_the_sessions(
    write: Write, locomo: list[Any], asked: int | None, kept: int
) -> None:
    data = read(write(locomo)).limit(asked)
    assert len(questions(data)) == kept
    assert len(data.corpora[0].sessions) == 2
