"""Arguments of the wrong kind, and names that look like something else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import mnemos
from mnemos.errors import InvalidInput, MnemosError
from mnemos.sessions.sessions import Sessions

from .checks import code_of

NAMES = [
    "'; DROP TABLE messages; --",
    '" OR ""="',
    "s%",
    "s_",
    "*",
    "?",
    ":id",
    "../../etc/passwd",
    "/etc/passwd",
    "a/b",
    "..",
    "-rf",
    "--help",
    "null",
    "0",
    "s\u202etxt",
    "ｓ",
    "𝖘",
    "<script>alert(1)</script>",
    "{{7*7}}",
    "%s%n",
    "s" * 512,
]

NOT_AN_ID: list[Any] = [
    None, 5, 0, -1, 1.5, True, b"s", [], ["s"], {}, {"id": "s"}, (), object(), "", " ", "\n", "a\nb", "a\0b",
    "\ud800", "x" * 513, "x" * 1_000_000,
]  # fmt: skip


def is_unchanged(sessions: Sessions) -> bool:
    return (
        sessions.message_count() == 4 and sessions.session_count() == 1 and sessions.message_count("s") == 4
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_only_a_name(sessions: Sessions, memory: mnemos.Memory, name: str) -> None:
    if code_of(lambda: sessions.create_session(name, "cli")) == "invalid_input":
        assert is_unchanged(sessions)
        return
    assert sessions.delete_session(name) is True
    sessions.create_session(
        name, name, name, user_id=name, title=name, system_prompt=name, metadata={name: name}
    )
    sessions.append_message(name, "user", name, tool_name=name, tool_call_id=name)
    session = sessions.get_session(name)
    assert session is not None
    assert [session[key] for key in ("id", "source", "model", "user_id", "title")] == [name] * 5
    assert sessions.resolve_session(name) == name
    sessions.search_messages(name)
    sessions.set_title(name, None)
    assert sessions.get_messages("s")[0]["role"] == "user"
    assert memory.forget(f"session:{name}")["forgotten"] is True
    assert is_unchanged(sessions)


def calls(sessions: Sessions) -> dict[str, Callable[[Any], Any]]:
    """Every method that takes the id of a session."""
    message = {"role": "user", "content": "x"}
    return {
        "create_session": lambda name: sessions.create_session(name, "cli"),
        "ensure_session": lambda name: sessions.ensure_session(name, "cli"),
        "end_session": lambda name: sessions.end_session(name, "done"),
        "reopen_session": sessions.reopen_session,
        "update_system_prompt": lambda name: sessions.update_system_prompt(name, "p"),
        "update_metadata": lambda name: sessions.update_metadata(name, {"a": 1}),
        "update_token_counts": lambda name: sessions.update_token_counts(name, 1, 1),
        "set_title": lambda name: sessions.set_title(name, "t"),
        "archive": sessions.archive,
        "unarchive": sessions.unarchive,
        "get_session": sessions.get_session,
        "resolve_session": sessions.resolve_session,
        "append_message": lambda name: sessions.append_message(name, "user", "x"),
        "append_messages": lambda name: sessions.append_messages(name, [message]),
        "get_messages": sessions.get_messages,
        "get_messages_as_conversation": sessions.get_messages_as_conversation,
        "get_lineage": sessions.get_lineage,
        "get_tip": sessions.get_tip,
        "export_session": sessions.export_session,
        "delete_session": sessions.delete_session,
        "forget_session": sessions.forget_session,
        "parent": lambda name: sessions.create_session("child", "cli", parent_session_id=name),
    }


REFUSED = {"invalid_input", "too_large", "not_found"}
# The answers of these methods for a missing session; the others raise.
MISSING = {("get_session", None), ("delete_session", False)}


@pytest.mark.parametrize("value", NOT_AN_ID, ids=lambda value: repr(value)[:20])
def test_an_invalid_id_is_refused_and_changes_nothing(sessions: Sessions, value: Any) -> None:
    answers: list[Any] = []
    for method, call in calls(sessions).items():
        if method == "parent" and value is None:
            continue
        code = code_of(lambda: answers.append(call(value)))  # noqa: B023
        assert code in REFUSED or (method, answers.pop()) in MISSING, method
        assert is_unchanged(sessions), method


@pytest.mark.parametrize("value", NOT_AN_ID, ids=lambda value: repr(value)[:20])
def test_counts_and_lists_of_invalid_names_are_empty_or_refused(sessions: Sessions, value: Any) -> None:
    if value is None:
        return
    counts: list[Any] = []
    for call in (
        sessions.message_count,
        sessions.session_count,
        lambda source: sessions.search_sessions(source=source),
        lambda source: list(sessions.export_all(source)),
        lambda source: sessions.prune_sessions(0, source),
    ):
        code = code_of(lambda: counts.append(call(value)))  # noqa: B023
        assert code in REFUSED or counts.pop() in (0, [])
    assert is_unchanged(sessions)


@pytest.mark.parametrize(
    "id", ["1", "x", None, 1.5, True, [], b"1", -1, 0, 2**31, 2**63, 2**64, 10**30, "\ud800"]
)
def test_an_unknown_message_is_not_found(sessions: Sessions, memory: mnemos.Memory, id: Any) -> None:
    for call in (sessions.get_messages_around, sessions.forget_message):
        assert code_of(lambda: call(id)) in {"not_found", "invalid_input"}  # noqa: B023
    assert is_unchanged(sessions)
    assert sessions.get_messages("s")[0]["content"] != "[forgotten]"


@pytest.mark.parametrize(
    "counts", [(-1, 0), (0, -1), (1.5, 0), ("1", 1), (True, 0), (2**60, 0), (None, None)]
)
def test_a_window_of_the_wrong_kind_is_refused(sessions: Sessions, counts: tuple[Any, Any]) -> None:
    with pytest.raises(InvalidInput):
        sessions.get_messages_around(sessions.get_messages("s")[0]["id"], *counts)


@pytest.mark.parametrize(
    "ref",
    ["", ":", "message", "message:", "message:x", "message:-1", "message:1 OR 1=1", "message:²", "message:١",
     f"message:{10**30}", "session:", "session:nowhere", "session:\ud800", "session:a\0b", "table:messages",
     None, 5, []],
)  # fmt: skip
def test_a_reference_to_nothing_forgets_nothing(sessions: Sessions, memory: mnemos.Memory, ref: Any) -> None:
    with pytest.raises(MnemosError) as failure:
        memory.forget(ref)
    assert failure.value.code in {"invalid_input", "not_found"}
    assert is_unchanged(sessions)


WRONG_MESSAGES: list[dict[str, Any]] = [
    {"role": None},
    {"role": ""},
    {"role": 5},
    {"role": ["user"]},
    {"role": b"user"},
    {"role": "x" * 65},
    {"role": "us\ud800er"},
    {"role": "us\0er"},
    {"role": "user\n"},
    {"content": 5},
    {"content": 1.5},
    {"content": True},
    {"content": b"bytes"},
    {"content": {"x": object()}},
    {"content": object()},
    {"content": [object()]},
    {"content": [lambda: None]},
    {"tool_calls": object()},
    {"tool_calls": [object()]},
    {"tool_calls": [{"id": object()}]},
    {"tool_calls": [{"arguments": 10**5000}]},
    {"metadata": {"x": object()}},
    {"metadata": {"x": 10**5000}},
    {"metadata": {object(): 1}},
    {"metadata": {(1, 2): 1}},
    {"tool_name": 5},
    {"tool_call_id": []},
    {"token_count": -1},
    {"token_count": "5"},
    {"token_count": 1.5},
    {"token_count": True},
    {"token_count": 2**63},
    {"timestamp": "now"},
    {"timestamp": float("nan")},
    {"timestamp": float("inf")},
    {"timestamp": 1e300},
    {"timestamp": True},
    {"timestamp": 10**400},
]


@pytest.mark.parametrize("wrong", WRONG_MESSAGES, ids=lambda wrong: "".join(wrong))
def test_a_message_of_the_wrong_kind_is_refused_and_so_is_its_turn(
    sessions: Sessions, wrong: dict[str, Any]
) -> None:
    good = {"role": "user", "content": "good"}
    with pytest.raises(InvalidInput):
        sessions.append_message("s", **good | wrong)
    with pytest.raises(InvalidInput):
        sessions.append_messages("s", [good, good | wrong, good])
    with pytest.raises(InvalidInput):
        sessions.import_sessions([{"id": "new", "messages": [good, good | wrong]}])
    assert is_unchanged(sessions)
    sessions.append_message("s", **good)


@pytest.mark.parametrize(
    "turn",
    [
        None,
        5,
        "text",
        ["text"],
        [None],
        [5],
        [[]],
        {"role": "user"},
        [{}],
        object(),
        [{"role": "user"}, None],
    ],
)
def test_a_value_that_is_not_a_turn_is_refused(sessions: Sessions, turn: Any) -> None:
    with pytest.raises(InvalidInput):
        sessions.append_messages("s", turn)
    assert is_unchanged(sessions)


def test_a_misspelt_field_does_not_become_an_empty_message(sessions: Sessions) -> None:
    with pytest.raises(InvalidInput):
        sessions.append_messages("s", [{"role": "user", "contents": "words"}])
    assert is_unchanged(sessions)


@pytest.mark.parametrize(
    "wrong",
    [
        {"source": 5}, {"source": "a\nb"}, {"source": "x" * 600}, {"model": []}, {"model": 5}, {"user_id": 5},
        {"user_id": "\ud800"}, {"title": 5}, {"title": "a\nb"}, {"title": "x" * 600}, {"title": "\ud800"},
        {"system_prompt": 5}, {"system_prompt": b"p"}, {"model_config": object()}, {"metadata": object()},
        {"metadata": {"x": 10**5000}}, {"started_at": "now"}, {"started_at": float("nan")},
        {"parent_session_id": "nowhere"}, {"parent_session_id": 5}, {"parent_session_id": "new"},
    ],
    ids=lambda wrong: "".join(wrong),
)  # fmt: skip
def test_a_session_of_the_wrong_kind_is_refused(sessions: Sessions, wrong: dict[str, Any]) -> None:
    for create in (sessions.create_session, sessions.ensure_session):
        with pytest.raises(MnemosError) as failure:
            create(**{"session_id": "new", "source": "cli"} | wrong)
        assert failure.value.code in {"invalid_input", "too_large", "not_found"}
    assert is_unchanged(sessions)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=20,
)


@settings(max_examples=50, suppress_health_check=list(HealthCheck))
@given(content=st.text(max_size=200) | st.lists(JSON, max_size=4), calls=JSON, metadata=JSON)
def test_what_is_stored_comes_back_the_same(
    sessions: Sessions, content: Any, calls: Any, metadata: Any
) -> None:
    id = sessions.append_message("s", "user", content, tool_calls=calls, metadata=metadata)
    (message,) = sessions.get_messages_around(id, 0, 0)
    assert (message["content"], message["tool_calls"], message["metadata"]) == (content, calls, metadata)
    sessions.get_messages_as_conversation("s")
    sessions.search_messages("user")


@settings(suppress_health_check=list(HealthCheck))
@given(value=JSON)
def test_an_import_of_anything_is_refused_or_whole(sessions: Sessions, value: Any) -> None:
    for given_value in (value, [value], [{"id": "x", "messages": value}], [{"id": "x", "messages": [value]}]):
        before = sessions.message_count()
        code = code_of(lambda: sessions.import_sessions(given_value))  # noqa: B023
        assert code in {None, "invalid_input", "too_large"}
        assert code is None or sessions.message_count() == before
        sessions.delete_session("x")


def test_a_call_in_any_shape_can_be_read_as_a_conversation(sessions: Sessions) -> None:
    shapes: list[Any] = ["text", 5, {}, [], [5], ["x"], [{}], {"id": "x"}]
    shapes += [[{"id": ["x"]}], [{"id": {}}], [{"id": None}]]
    for shape in shapes:
        sessions.append_messages(
            "s",
            [
                {"role": "assistant", "tool_calls": shape},
                {"role": "tool", "content": "answer", "tool_call_id": "x"},
            ],
        )
        sessions.get_messages_as_conversation("s")
