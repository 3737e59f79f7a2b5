"""Trivial messages, and the tools and answers of providers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mnemos.integrations.providers import provider_tools
from mnemos.integrations.small_talk import is_trivial

# --- messages that ask nothing ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "message",
    ["ok", "OK!", "thanks", "Thank you so much!", "yes, go ahead", "👍", "…", "", "  ", "danke",
     "merci beaucoup", "sounds good", "Hi there", "lgtm", "d'accord", "d’accord", "no",
     "¡gracias!", "continue", "that's it"],
)  # fmt: skip
def test_consent_thanks_and_greetings_are_trivial(message: str) -> None:
    assert is_trivial(message)


@pytest.mark.parametrize(
    "message",
    ["ok, which port?", "5433", "port", "no floats", "thanks, and the database?", "PR #12", "東京", "why?",
     "x" * 61, "yes yes yes yes yes yes"],
)  # fmt: skip
def test_messages_with_content_are_not_trivial(message: str) -> None:
    assert not is_trivial(message)


# --- tools ------------------------------------------------------------------------------------------

TOOL = {"name": "find", "description": "Find.", "parameters": {"type": "object", "properties": {}}}


def test_bare_and_wrapped_schemas_are_parsed() -> None:
    wrapped = {"type": "function", "function": {**TOOL, "name": "other"}}
    known, wrong = provider_tools.parse_schemas([TOOL, wrapped])
    assert list(known) == ["find", "other"]
    assert known["other"]["description"] == "Find."
    assert wrong == []


@pytest.mark.parametrize(
    "odd",
    [
        None,
        "find",
        {},
        {"name": ""},
        {"name": 5},
        {"name": "two words"},
        {"name": "x" * 65},
        {"type": "function", "function": None},
        {**TOOL, "parameters": "none"},
        {**TOOL, "parameters": {"default": object()}},
        {**TOOL, "description": "x" * 50_000},
        TOOL,
    ],
    ids=lambda odd: str(odd)[:30],
)
def test_an_invalid_schema_is_left_out_and_reported(odd: Any) -> None:
    known, wrong = provider_tools.parse_schemas([TOOL, odd])
    assert list(known) == ["find"]
    assert len(wrong) == 1


@pytest.mark.parametrize("odd", [None, "find", {"find": TOOL}, 5])
def test_schemas_that_are_not_a_list_are_reported(odd: Any) -> None:
    known, wrong = provider_tools.parse_schemas(odd)
    assert (known, len(wrong)) == ({}, 1)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ('{"success": true, "n": 1}', {"success": True, "n": 1}),
        ('{"result": "as other hosts do"}', {"result": "as other hosts do"}),
        ({"success": True}, {"success": True}),
        ("plain words", {"success": True, "text": "plain words"}),
        ("[1, 2]", {"success": True, "text": "[1, 2]"}),
        ("{broken", {"success": True, "text": "{broken"}),
        ("", {"success": True, "text": ""}),
    ],
)
def test_an_answer_becomes_json(answer: Any, expected: Any) -> None:
    assert json.loads(provider_tools.render_answer(answer)) == expected


@pytest.mark.parametrize("answer", [None, 5, b"bytes", ["list"], {"not": {1, 2}}])
def test_an_answer_of_another_type_is_a_type_error(answer: Any) -> None:
    with pytest.raises(TypeError):
        provider_tools.render_answer(answer)


def test_an_answer_of_megabytes_is_truncated_and_says_so() -> None:
    said = json.loads(provider_tools.render_answer("x" * 10_000_000))
    assert len(said["text"]) == 200_000
    assert "10,000,000" in said["note"]


def test_a_lone_surrogate_does_not_break_an_answer() -> None:
    answer = provider_tools.success("half \ud83d")
    answer.encode()
    assert json.loads(answer)["text"] == "half \ud83d"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (provider_tools.success("x"), True),
        (provider_tools.failure("x"), False),
        ("", False),
        ("[]", False),
        ('{"success": 1}', False),
    ],
)
def test_only_an_answer_with_success_true_has_succeeded(answer: str, expected: bool) -> None:
    assert provider_tools.has_succeeded(answer) is expected
