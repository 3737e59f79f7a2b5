"""Injection of a template: a new list, paired, within its budget, and accepted by both APIs."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest
from chat_rules import anthropic_complaints, as_anthropic, openai_complaints
from hypothesis import given
from hypothesis import strategies as st

from mnemos import Memory
from mnemos.errors import InvalidInput
from mnemos.templates import SessionTemplate, TaskType, ToolCallExample
from mnemos.templates.template_injection import inject
from mnemos.templates.template_store import Templates
from mnemos.text.tokens import count_tokens

CONVERSATION: list[dict[str, Any]] = [
    {"role": "system", "content": "You are an agent."},
    {"role": "developer", "content": "Be brief."},
    {"role": "user", "content": "Fix the tests."},
]


def example(command: str = "pytest -q", result: str = "3 passed in 0.1s", **more: Any) -> ToolCallExample:
    return ToolCallExample("terminal", {"command": command}, result, **({"success": True} | more))


def template(*examples: ToolCallExample, **more: Any) -> SessionTemplate:
    kept = list(examples) or [example(), example("git status", "clean")]
    return SessionTemplate("fix-tests", TaskType.CODE, kept, **more)


def complaints(messages: list[dict[str, Any]]) -> list[str]:
    system, turned = as_anthropic(messages)
    assert "Session template loaded: " in system
    return openai_complaints(messages) + anthropic_complaints(turned)


def test_the_callers_list_and_messages_stay_as_they_were(templates: Templates) -> None:
    given_messages = deepcopy(CONVERSATION)
    result = templates.inject_into_messages(template(), given_messages)
    assert given_messages == CONVERSATION
    assert result is not given_messages
    assert result[:2] == CONVERSATION[:2]
    assert result[-1] == CONVERSATION[-1]


def test_examples_follow_the_system_messages_with_an_introduction(templates: Templates) -> None:
    late = [*CONVERSATION, {"role": "system", "content": "later"}]
    result = templates.inject_into_messages(template(description="Run,\nthen  fix."), late)
    assert [message["role"] for message in result[:3]] == ["system", "developer", "system"]
    first, second, third = result[2]["content"].splitlines()
    assert first == "Session template loaded: fix-tests (code)"
    assert second == "Run, then fix."
    assert third.startswith("2 examples ")
    assert result[-2:] == late[-2:]


@pytest.mark.parametrize("count", [0, 1, 3], ids=["none", "only system", "all"])
def test_both_apis_accept_any_beginning_of_a_conversation(templates: Templates, count: int) -> None:
    rest = CONVERSATION[:count] if count != 3 else CONVERSATION
    assert complaints(templates.inject_into_messages(template(), rest)) == []


def test_a_conversation_that_goes_on_with_calls_of_its_own_keeps_their_pairs(templates: Templates) -> None:
    own = {"id": "tmpl00000", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    began = [
        *CONVERSATION,
        {"role": "assistant", "content": None, "tool_calls": [own]},
        {"role": "tool", "tool_call_id": "tmpl00000", "content": "a.py"},
        {"role": "assistant", "content": "There is a.py."},
    ]
    result = templates.inject_into_messages(template(), began)
    assert complaints(result) == []
    ids = [call["id"] for message in result for call in message.get("tool_calls") or ()]
    assert len(set(ids)) == len(ids) == 3
    assert ids[-1] == "tmpl00000"


def test_two_templates_in_one_conversation_have_ids_of_their_own(templates: Templates) -> None:
    once = templates.inject_into_messages(template(), CONVERSATION)
    twice = templates.inject_into_messages(template(), once)
    assert complaints(twice) == []


def test_arguments_and_results_are_those_of_the_examples(templates: Templates) -> None:
    given_example = example("echo 'ä' | wc -c", "3", turn_number=4)
    messages = templates.inject_into_messages(template(given_example), CONVERSATION)
    (made,) = [m for m in messages if m.get("tool_calls")]
    (told,) = [m for m in messages if m["role"] == "tool"]
    assert json.loads(made["tool_calls"][0]["function"]["arguments"]) == {"command": "echo 'ä' | wc -c"}
    assert told["content"] == "3"


def test_examples_that_do_not_fit_are_dropped_from_the_end(templates: Templates) -> None:
    many = template(*(example(f"run {number}", "line " * 50) for number in range(20)))
    for budget in (0, 50, 120, 200, 500, 1_000, 5_000):
        result = templates.inject_into_messages(many, CONVERSATION, budget=budget)
        added = result[2 : len(result) - 1]
        assert sum(_cost(message) for message in added) <= budget
        commands = [m["tool_calls"][0]["function"]["arguments"] for m in added if m.get("tool_calls")]
        assert commands == [json.dumps({"command": f"run {number}"}) for number in range(len(commands))]
        assert complaints(result) == [] if commands else result == CONVERSATION
    assert len(commands) == 20


def _cost(message: dict[str, Any]) -> int:
    said = [message["content"] or "", message.get("tool_call_id", "")]
    for call in message.get("tool_calls") or ():
        said += [call["id"], call["function"]["name"], call["function"]["arguments"]]
    return sum(map(count_tokens, said))


def test_the_setting_is_the_budget_when_none_is_given() -> None:
    with Memory.at(":memory:", template_tokens=150) as memory:
        many = template(*(example(f"run {number}") for number in range(50)))
        added = memory.templates.inject_into_messages(many, CONVERSATION)
        assert 0 < len(added) - len(CONVERSATION) < 20


def test_a_template_without_a_useful_example_adds_nothing_and_is_not_used(templates: Templates) -> None:
    for useless in (
        example(success=False),
        ToolCallExample("no such/name", {}, "x", success=True),
        ToolCallExample("a" * 65, {}, "x", success=True),
        ToolCallExample("terminal", {"at": float("nan")}, "x", success=True),
        ToolCallExample("terminal", {"half": "\ud800"}, "x", success=True),
        ToolCallExample("terminal", {"object": object()}, "x", success=True),
    ):
        one = template(useless)
        assert templates.inject_into_messages(one, CONVERSATION) == CONVERSATION
        assert one.usage_count == 0


def test_a_result_without_output_says_so(templates: Templates) -> None:
    result = templates.inject_into_messages(template(example("mkdir a", "")), CONVERSATION)
    assert [m["content"] for m in result if m["role"] == "tool"] == ["(no output)"]


def test_injected_messages_do_not_share_the_templates_arguments(templates: Templates) -> None:
    one = template()
    for form in ("openai", "anthropic"):
        for message in templates.inject_into_messages(one, [], format=form):
            for block in message["content"] if isinstance(message["content"], list) else ():
                block.get("input", {}).clear()
    assert one.examples[0].arguments == {"command": "pytest -q"}


def test_anthropic_format_has_the_introduction_in_the_user_message(templates: Templates) -> None:
    began = [{"role": "user", "content": "Fix the tests."}]
    result = templates.inject_into_messages(template(), began, format="anthropic")
    assert anthropic_complaints(result) == []
    assert result[0]["content"].startswith("Session template loaded: fix-tests (code)\n")
    assert result[-1] == began[0]


@pytest.mark.parametrize(
    "wrong",
    [
        {"messages": "hello"},
        {"messages": ["hello"]},
        {"messages": None},
        {"messages": [], "format": "gemini"},
        {"messages": [], "budget": -1},
        {"messages": [], "budget": 1.5},
    ],
    ids=str,
)
def test_anything_but_a_conversation_is_refused(templates: Templates, wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        templates.inject_into_messages(template(), wrong.pop("messages"), **wrong)
    with pytest.raises(InvalidInput):
        templates.inject_into_messages(None, [])  # type: ignore[arg-type]


# --- everything that could come ---------------------------------------------------------------

words = st.text(max_size=30)
ids = st.sampled_from(["tmpl00000", "tmpl00001", "call_1", "toolu_01", "x"])
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
examples = st.builds(
    ToolCallExample,
    st.sampled_from(["terminal", "read_file", "mcp__a__b-c", "two words", "", "ü"]),
    st.dictionaries(words, json_values, max_size=3),
    words,
    st.booleans(),
    st.integers(0, 50),
)


@st.composite
def conversations(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Conversations that both APIs take, some of them with calls that have ids like ours."""
    messages: list[dict[str, Any]] = []
    for _ in range(draw(st.integers(0, 2))):
        messages.append({"role": draw(st.sampled_from(["system", "developer"])), "content": "s"})
    free = draw(st.permutations(["tmpl00000", "tmpl00001", "tmpl00003", "call_1"]))
    for _ in range(draw(st.integers(0, 3))):
        messages.append({"role": "user", "content": "u"})
        if free and draw(st.booleans()):
            made = [free.pop() for _ in range(draw(st.integers(1, min(2, len(free)))))]
            function = {"name": "terminal", "arguments": "{}"}
            several = [{"id": one, "type": "function", "function": function} for one in made]
            messages.append({"role": "assistant", "content": None, "tool_calls": several})
            messages += [{"role": "tool", "tool_call_id": one, "content": "t"} for one in reversed(made)]
        messages.append({"role": "assistant", "content": "a"})
    return messages


@given(
    st.lists(examples, max_size=6),
    conversations(),
    st.integers(0, 600),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
)
def test_both_apis_accept_every_injection(
    made: list[ToolCallExample], messages: list[dict[str, Any]], budget: int, description: str
) -> None:
    one = SessionTemplate("some-name", TaskType.MIXED, made, description=description)
    before = deepcopy(messages)
    result = inject(one, messages, budget=budget)
    assert messages == before
    if result is None:
        return
    assert complaints(result) == []
    fitting = [
        each for each in made if each.success and each.tool_name in ("terminal", "read_file", "mcp__a__b-c")
    ]
    own = [m for m in result if m.get("tool_calls") and m not in messages]
    assert len(own) <= len(fitting)
    assert [m for m in result if m in messages] == messages


@given(st.lists(examples, max_size=6), st.integers(0, 600))
def test_anthropic_accepts_every_injection_in_its_format(made: list[ToolCallExample], budget: int) -> None:
    one = SessionTemplate("some-name", TaskType.MIXED, made)
    began = [
        {"role": "user", "content": "u"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "tmpl00000", "name": "a", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "tmpl00000", "content": "t"}]},
    ]
    result = inject(one, began, budget=budget, format="anthropic")
    assert result is None or anthropic_complaints(result) == []


def test_the_rules_notice_what_breaks_them() -> None:
    """A validator that accepts everything would prove nothing."""
    made = {"role": "assistant", "content": None, "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "ls", "arguments": "{}"}}]}  # fmt: skip
    told = {"role": "tool", "tool_call_id": "a", "content": "x"}
    asked = {"role": "user", "content": "u"}
    assert openai_complaints([asked, made, told]) == []
    for wrong in (
        [asked, made],
        [asked, told],
        [asked, made, asked, told],
        [asked, made, told, made, told],
        [asked, made, told, told],
        [{"role": "robot", "content": "x"}],
        [{"role": "user", "content": None}],
    ):
        assert openai_complaints(wrong), wrong
    for wrong in ([made, told], [asked, made], [asked, made, asked, told]):
        assert anthropic_complaints(as_anthropic(wrong)[1]), wrong
