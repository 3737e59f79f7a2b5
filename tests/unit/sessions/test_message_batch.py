"""Messages of a turn are checked together with the same result as one by one."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemos.errors import MnemosError
from mnemos.sessions.message_log import new_messages
from mnemos.sessions.records import new_message
from mnemos.text.secrets import redact

MOST = 100_000
NOW = 1_767_225_600.0

words = st.sampled_from(
    ["hello", "", "token=x1y2z3a4b5c6", "nul \0", "lone \ud800", "日本語", "line\nbreak", '{"a": 1}', "é"]
)
scalars = st.one_of(words, st.none(), st.booleans(), st.integers(), st.floats())
arguments = st.one_of(words, st.dictionaries(words, words, max_size=2), scalars)
calls = st.one_of(
    st.lists(
        st.fixed_dictionaries(
            {"id": words, "type": st.just("function")},
            optional={"function": st.one_of(st.dictionaries(words, words, max_size=2), arguments)},
        ),
        max_size=2,
    ),
    scalars,
)
messages = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "tool", "system", "narrator", "", 7, None])},
    optional={
        "content": st.one_of(words, st.none(), st.lists(words, max_size=2), st.integers()),
        "tool_name": st.one_of(words, st.none()),
        "tool_calls": calls,
        "tool_call_id": st.one_of(words, st.none()),
        "token_count": st.one_of(st.none(), st.integers(-2, 2), st.just(1 << 53), st.booleans()),
        "timestamp": st.one_of(st.none(), st.floats(), st.integers(), st.booleans()),
        "metadata": st.one_of(st.none(), st.dictionaries(words, scalars, max_size=2)),
    },
)
usual = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "tool"]), "content": words},
    optional={
        "tool_calls": st.lists(st.dictionaries(words, st.one_of(words, st.dictionaries(words, words)))),
        "timestamp": st.floats(0, 1e9),
        "metadata": st.just({"name": "Sam"}),
    },
)


def _together(turn: list[Any]) -> Any:
    try:
        return new_messages(turn, clock=lambda: NOW, redact=redact, max_bytes=MOST)
    except MnemosError as error:
        return type(error), str(error)


def _alone(turn: list[Any]) -> Any:
    try:
        return [new_message(message, now=NOW, redact=redact, max_bytes=MOST) for message in turn]
    except MnemosError as error:
        return type(error), str(error)


@given(st.lists(st.one_of(messages, usual), max_size=4))
def test_a_turn_is_stored_or_refused_as_its_messages_would_be_one_by_one(turn: list[Any]) -> None:
    assert repr(_together(turn)) == repr(_alone(turn))


@given(st.lists(usual, min_size=1, max_size=4))
def test_an_ordinary_turn_is_stored_as_its_messages_would_be_one_by_one(turn: list[Any]) -> None:
    assert _together(turn) == _alone(turn)


class Word(str):
    """A text of a class of its own, as templates and markup libraries make them."""

    __slots__ = ()


@pytest.mark.parametrize(
    "calls",
    [[{"id": Word("a"), "function": {"name": Word("f"), "arguments": "{}"}}], ({"id": "a"}, {"id": "b"})],
    ids=["texts of a class of their own", "a tuple"],
)
def test_tool_calls_are_stored_and_counted_whatever_their_texts_and_lists_are_made_of(calls: Any) -> None:
    (stored,) = _alone([{"role": "assistant", "tool_calls": calls}])
    assert msgspec.json.decode(stored.tool_calls) == list(calls)
    assert stored.calls == len(calls)
    assert _together([{"role": "assistant", "tool_calls": calls}]) == [stored]


def test_a_message_over_the_limit_is_refused_in_a_turn_too() -> None:
    turn = [{"role": "user", "content": "x" * 10}, {"role": "user", "content": "x" * (MOST + 1)}]
    assert _together(turn) == _alone(turn)
    # Many small messages are not one that is too large.
    assert len(_together([{"role": "user", "content": "x" * (MOST // 3)}] * 9)) == 9


@pytest.mark.parametrize("value", [float("nan"), float("inf"), True, 1e12])
def test_no_moment_is_a_time_in_a_turn_either(value: float) -> None:
    turn = [{"role": "user", "content": "a", "timestamp": value}]
    assert _together(turn) == _alone(turn)
    assert "timestamp" in _together(turn)[1]
