"""Messages come back exactly as they were appended."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemos import SessionDB
from mnemos.errors import InvalidInput, NotFound, TooLarge
from mnemos.sessions.records import new_message
from mnemos.testing import FixedClock

CALLS = [
    {"id": "c1", "type": "function", "function": {"name": "run", "arguments": '{"cmd": "ls"}'}},
    {"id": "c2", "type": "function", "function": {"name": "run", "arguments": "{}"}},
    {"id": "c3", "type": "function", "function": {"name": "look", "arguments": "not json"}},
]


def test_a_message_comes_back_with_every_field(db: SessionDB, clock: FixedClock) -> None:
    db.create_session("s", "cli")
    message_id = db.append_message(
        "s", "assistant", "hello", "tool", CALLS, "c0", 17, timestamp=12.5, metadata={"finish": "stop"}
    )
    assert db.get_messages("s") == [
        {
            "id": message_id,
            "session_id": "s",
            "role": "assistant",
            "content": "hello",
            "tool_name": "tool",
            "tool_calls": CALLS,
            "tool_call_id": "c0",
            "token_count": 17,
            "timestamp": 12.5,
            "metadata": {"finish": "stop"},
        }
    ]


def test_a_message_is_stamped_with_the_time(db: SessionDB, clock: FixedClock) -> None:
    db.create_session("s", "cli")
    db.append_message("s", "user", "one")
    clock.advance(5)
    db.append_messages("s", [{"role": "user", "content": "two"}, {"role": "user", "timestamp": 1.0}])
    assert [m["timestamp"] for m in db.get_messages("s")] == [clock() - 5, clock(), 1.0]


@pytest.mark.parametrize(
    "content",
    [
        "",
        None,
        "nul \0 inside",
        "\0",
        "lone \ud800 surrogate \udfff",
        "both \0\ud800",
        '["looks", "like", "json"]',
        "null",
        [],
        ["a plain part"],
        [
            {"type": "text", "text": "seen"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}},
        ],
        [{"type": "text", "text": "nul \0 and \ud800"}],
        [{"nested": [{"deep": {"numbers": [1, -2, 3.5, 1e300, 0.1, 12345678901234567890123]}}]}],
        [None, True, False],
        [{"": {"key": 'with "quotes" and \\ and \n'}}],
    ],
    ids=ascii,
)
def test_any_content_comes_back_exactly(db: SessionDB, content: Any) -> None:
    db.create_session("s", "cli")
    db.append_message("s", "user", content)
    (message,) = db.get_messages("s")
    assert message["content"] == content
    assert type(message["content"]) is type(content)


TEXT = st.text(st.characters(exclude_categories=[]), max_size=20)
VALUE = st.recursive(
    TEXT | st.none() | st.integers(-(1 << 80), 1 << 80),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)


@given(
    content=TEXT | st.none() | st.lists(VALUE, max_size=3), calls=st.none() | st.lists(VALUE), metadata=VALUE
)
def test_no_nul_and_no_lone_surrogate_reaches_an_engine(content: Any, calls: Any, metadata: Any) -> None:
    fields = {"role": "user", "content": content, "tool_calls": calls, "metadata": metadata}
    new = new_message(fields, now=0.0, redact=lambda text: text, max_bytes=1 << 20)
    for text in (new.role, new.content, new.tool_calls, new.metadata):
        assert text is None or "\0" not in text
        assert text is None or text.encode().decode() == text
    assert new.calls == len(calls or ())


def test_counters_count_messages_and_calls(db: SessionDB) -> None:
    db.create_session("s", "cli")
    db.append_message("s", "assistant", None, tool_calls=CALLS)
    db.append_message("s", "tool", "result", tool_call_id="c1")
    db.append_messages(
        "s", [{"role": "tool", "tool_call_id": "c2"}, {"role": "assistant", "tool_calls": CALLS[:1]}]
    )
    session = db.get_session("s")
    assert session is not None
    assert (session["message_count"], session["tool_call_count"]) == (4, 4)


def test_a_turn_is_stored_all_or_not_at_all(db: SessionDB) -> None:
    db.create_session("s", "cli")
    with pytest.raises(InvalidInput):
        db.append_messages("s", [{"role": "user", "content": "good"}, {"role": "", "content": "bad"}])
    assert db.get_messages("s") == []
    assert db.message_count() == 0


def test_a_turn_answers_its_ids_in_order(db: SessionDB) -> None:
    db.create_session("s", "cli")
    ids = db.append_messages("s", [{"role": "user", "content": str(n)} for n in range(10)])
    assert ids == [message["id"] for message in db.get_messages("s")]
    assert db.append_messages("s", []) == []


def test_appending_to_an_unknown_session_is_not_found(db: SessionDB) -> None:
    with pytest.raises(NotFound) as caught:
        db.append_message("nobody", "user", "hello")
    assert caught.value.code == "not_found"
    with pytest.raises(NotFound):
        db.append_messages("nobody", [{"role": "user", "content": "hello"}])
    assert db.session_count() == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"role": ""},
        {"role": None},
        {"role": 5},
        {"role": "x" * 100},
        {"role": "us\0er"},
        {"role": "\ud800"},
        {"content": 5},
        {"content": b"bytes"},
        {"content": [...]},
        {"content": [{"data": b"bytes"}]},
        {"content": [datetime(2026, 1, 1, tzinfo=UTC)]},
        {"content": [{1, 2}]},
        {"content": [float("nan")]},
        {"tool_calls": ...},
        {"metadata": {"x": float("inf")}},
        {"tool_call_id": 5},
        {"token_count": -1},
        {"token_count": 1.5},
        {"timestamp": "now"},
        {"timestamp": float("inf")},
        {"timestamp": 1_767_225_600_000},
    ],
    ids=ascii,
)
def test_what_cannot_be_kept_as_it_is_is_refused(db: SessionDB, wrong: dict[str, Any]) -> None:
    db.create_session("s", "cli")
    with pytest.raises(InvalidInput):
        db.append_messages("s", [{"role": "user", "content": "x"} | wrong])
    assert db.message_count() == 0


@pytest.mark.parametrize(
    ("role", "known"),
    [
        ("assitant", "assistant"),
        ("User", "user"),
        ("sytem", "system"),
        ("tools", "tool"),
        ("human", "user"),
        ("AI", "assistant"),
        ("model", "assistant"),
        ("bot", "assistant"),
    ],
)
def test_an_unknown_role_is_refused_with_the_nearest_known_one(db: SessionDB, role: str, known: str) -> None:
    db.create_session("s", "cli")
    for append in (
        lambda: db.append_message("s", role, "x"),
        lambda: db.append_messages("s", [{"role": "user", "content": "y"}, {"role": role, "content": "x"}]),
    ):
        with pytest.raises(InvalidInput) as caught:
            append()
        assert repr(role) in str(caught.value)
        assert f"Did you mean {known!r}?" in str(caught.value)
    assert db.message_count() == 0


def test_a_record_of_another_program_keeps_its_role(db: SessionDB) -> None:
    db.import_sessions([{"id": "s", "messages": [{"role": "narrator", "content": "Once upon a time"}]}])
    assert [message["role"] for message in db.get_messages("s")] == ["narrator"]


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("two\nlines", "two lines"),
        ("lone \ud800 surrogate", "lone   surrogate"),
        ("nul\0", "nul "),
        ("right\u202eleft", "right left"),
        ("x" * 600, "x" * 512),
        ("家族 👨‍👩‍👧", "家族 👨‍👩‍👧"),
        ("\n\t", None),
        ("", None),
    ],
    ids=ascii,
)
def test_names_of_tools_are_cleaned_and_not_refused(db: SessionDB, given: str, stored: str | None) -> None:
    db.create_session("s", "cli")
    db.append_message("s", "tool", "result", tool_name=given, tool_call_id=given)
    db.append_messages("s", [{"role": "tool", "content": "x", "tool_name": given, "tool_call_id": given}])
    for message in db.get_messages("s"):
        assert (message["tool_name"], message["tool_call_id"]) == (stored, stored)


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ({"temperature": 21, "sky": "bewölkt"}, '{"temperature":21,"sky":"bewölkt"}'),
        ({"type": "error", "reason": "bewölkt"}, '{"type":"error","reason":"bewölkt"}'),
        ({"type": ["no part"], "reason": "bewölkt"}, '{"type":["no part"],"reason":"bewölkt"}'),
        ({"type": "text", "text": "bewölkt"}, [{"type": "text", "text": "bewölkt"}]),
        ({}, "{}"),
    ],
    ids=ascii,
)
def test_an_object_as_content_is_stored_as_json_or_as_its_part(
    db: SessionDB, given: dict[str, Any], stored: Any
) -> None:
    db.create_session("s", "cli")
    one = db.append_message("s", "tool", given)
    (two,) = db.append_messages("s", [{"role": "tool", "content": given}])
    assert [message["content"] for message in db.get_messages("s")] == [stored, stored]
    found = {hit["id"] for hit in db.search_messages("bewölkt")}
    assert found == ({one, two} if given else set())


@pytest.mark.parametrize("wrong", ["text", 5, None, ["role", "user"]])
def test_a_message_that_is_not_a_mapping_is_invalid_input(db: SessionDB, wrong: Any) -> None:
    db.create_session("s", "cli")
    with pytest.raises(InvalidInput):
        db.append_messages("s", [wrong])


def test_content_nested_beyond_reason_is_invalid_input(db: SessionDB) -> None:
    db.create_session("s", "cli")
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(InvalidInput):
        db.append_message("s", "user", deep)
    # Taken apart by hand: the interpreter would go as deep as it was nested.
    while deep:
        deep = deep.pop()


def test_a_message_may_not_be_larger_than_the_setting(open_db: Any) -> None:
    db = open_db(max_message_bytes=1000)
    db.create_session("s", "cli")
    db.append_message("s", "user", "x" * 1000)
    for large in ("x" * 1001, "é" * 501, [{"text": "x" * 1000}]):
        with pytest.raises(TooLarge) as caught:
            db.append_message("s", "user", large)
        assert caught.value.code == "too_large"
    with pytest.raises(TooLarge):
        db.append_message("s", "user", "x" * 600, metadata={"y": "y" * 600})
    assert db.message_count() == 1


def test_messages_of_an_unknown_session_are_not_found(db: SessionDB) -> None:
    with pytest.raises(NotFound):
        db.get_messages("nobody")
    with pytest.raises(NotFound):
        db.get_messages_as_conversation("nobody")


def test_messages_around_one_are_of_its_session(db: SessionDB) -> None:
    db.create_session("a", "cli")
    db.create_session("b", "cli")
    ids = [db.append_message("ab"[n % 2], "user", str(n)) for n in range(20)]
    around = db.get_messages_around(ids[8], before=2, after=1)
    assert [message["content"] for message in around] == ["4", "6", "8", "10"]
    assert [message["content"] for message in db.get_messages_around(ids[8])] == [
        str(n) for n in range(0, 20, 2)
    ]
    assert [message["content"] for message in db.get_messages_around(ids[0], before=3, after=0)] == ["0"]


@pytest.mark.parametrize("unknown", [0, -1, 999_999, 1 << 70])
def test_an_unknown_message_is_not_found(db: SessionDB, unknown: int) -> None:
    with pytest.raises(NotFound):
        db.get_messages_around(unknown)
    with pytest.raises(NotFound):
        db.forget_message(unknown)


@pytest.mark.parametrize("wrong", [{"before": -1}, {"after": "x"}, {"before": 1.5}])
def test_wrong_surroundings_are_invalid_input(db: SessionDB, wrong: dict[str, Any]) -> None:
    db.create_session("s", "cli")
    one = db.append_message("s", "user", "hello")
    with pytest.raises(InvalidInput):
        db.get_messages_around(one, **wrong)
