"""Questions are asked of their own sessions and of others, the same others every time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mnemos.faces.cli.bench.corpus import Corpus, Data, arrangements, fill, together
from mnemos.faces.cli.bench.dataset import read

Write = Callable[..., Path]


@pytest.fixture
def data(write: Write, longmemeval: list[Any]) -> Data:
    return read(write(longmemeval))


def names(corpus: Corpus) -> list[str]:
    return [session.id for session in corpus.sessions]


def test_a_pool_has_its_own_sessions_and_others_up_to_its_size(data: Data) -> None:
    first, second = fill(data, 4)
    assert set(names(first)) > {"other-1", "answer-1", "answer-2"}
    assert len(first.sessions) == len(second.sessions) == 4
    assert "answer-3" in names(second)


def test_a_pool_is_never_smaller_than_what_the_question_brings_nor_larger_than_the_file(data: Data) -> None:
    assert [len(corpus.sessions) for corpus in fill(data, 1)] == [3, 1]
    assert [len(corpus.sessions) for corpus in fill(data, 99)] == [5, 5]


def test_pools_are_drawn_the_same_when_other_questions_are_left_out(data: Data) -> None:
    whole = {corpus.id: names(corpus) for corpus in fill(data, 3)}
    fewer = replace(data, corpora=(replace(data.corpora[0], questions=()), *data.corpora[1:]))
    assert {corpus.id: names(corpus) for corpus in fill(fewer, 3)} == {"q2": whole["q2"]}


def test_sessions_come_by_time(data: Data) -> None:
    for corpus in (*fill(data, 5), *together(data)):
        starts = [session.started_at for session in corpus.sessions]
        assert starts == sorted(starts)


def test_all_together_every_session_occurs_once_and_every_question_is_asked(data: Data) -> None:
    doubled = replace(data, corpora=data.corpora * 2)
    (corpus,) = together(doubled)
    assert sorted(names(corpus)) == ["answer-1", "answer-2", "answer-3", "other-1", "other-2"]
    assert [question.id for question in corpus.questions] == ["q1", "q2"] * 2


def test_questions_with_pools_are_asked_of_48_sessions_and_of_all(data: Data) -> None:
    assert list(arrangements(data)) == ["48 sessions", "all sessions"]
    assert list(arrangements(data, ["2"])) == ["2 sessions"]


def test_other_data_is_used_as_it_is(write: Write, locomo: list[Any]) -> None:
    data = read(write(locomo))
    found = arrangements(data, ["48"])
    assert list(found) == ["conversations"]
    assert list(found["conversations"]) == list(data.corpora)
