"""Providers that are older than the contract are given what they take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mnemos.integrations.providers.member import call_compatibly

EXTRAS = {"session_id": "s", "messages": [1]}


def everything(user: str, assistant: str, *, session_id: str = "", messages: Any = None) -> Any:
    return user, assistant, session_id, messages


def without_messages(user: str, assistant: str, *, session_id: str = "") -> Any:
    return user, assistant, session_id


def without_anything(user: str, assistant: str) -> Any:
    return user, assistant


def with_whatever(user: str, assistant: str, **kwargs: Any) -> Any:
    return user, assistant, kwargs


def by_position(user: str, assistant: str, session_id: str = "", messages: Any = None) -> Any:
    return user, assistant, session_id, messages


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        (everything, ("u", "a", "s", [1])),
        (without_messages, ("u", "a", "s")),
        (without_anything, ("u", "a")),
        (with_whatever, ("u", "a", EXTRAS)),
        (by_position, ("u", "a", "s", [1])),
    ],
)
def test_a_method_gets_the_extras_it_takes(method: Callable[..., Any], expected: Any) -> None:
    assert call_compatibly(method, ("u", "a"), EXTRAS) == expected


def test_a_required_extra_with_another_name_is_passed_by_position() -> None:
    def on_memory_write(action: str, target: str, content: str, meta: dict[str, Any]) -> Any:
        return action, target, content, meta

    given = call_compatibly(on_memory_write, ("add", "memory", "x"), {"metadata": {"old_text": "y"}})
    assert given == ("add", "memory", "x", {"old_text": "y"})


def test_an_optional_extra_with_another_name_is_left_out() -> None:
    def on_memory_write(action: str, target: str, content: str, note: str = "none") -> Any:
        return note

    assert call_compatibly(on_memory_write, ("add", "memory", "x"), {"metadata": {}}) == "none"


def test_a_type_error_inside_a_method_is_not_hidden() -> None:
    def broken(query: str, **kwargs: Any) -> str:
        raise TypeError("messages")

    with pytest.raises(TypeError):
        call_compatibly(broken, ("q",), {"session_id": "s"})


def test_a_method_without_a_signature_gets_everything() -> None:
    assert call_compatibly(dict, (), {"a": 1}) == {"a": 1}


def test_positional_only_parameters_are_passed_by_position() -> None:
    def prefetch(query: str, session_id: str, /) -> Any:
        return query, session_id

    assert call_compatibly(prefetch, ("q",), {"session_id": "s"}) == ("q", "s")
