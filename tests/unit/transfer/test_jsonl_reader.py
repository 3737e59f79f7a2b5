"""OpenAI-format JSON lines, and our own exports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from items import (
    DATA,
    assert_grows,
    assert_resumes_everywhere,
    assert_storable,
    assert_survives,
    conversations,
    left_out,
    messages,
    read_items,
    spoiled,
    spoken,
    unread,
)

from mnemos.errors import InvalidInput
from mnemos.transfer.readers.openai_jsonl import READER

FILES = sorted((DATA / "jsonl").glob("*.jsonl"))
TUNING, SINGLE, OURS, ODD = (
    DATA / "jsonl" / f"{name}.jsonl" for name in ("tuning", "one-message-a-line", "ours", "odd")
)


def test_each_line_of_conversations_is_a_session() -> None:
    items = read_items(READER, TUNING)
    assert [known.model for known in conversations(items).values()] == [None, "gpt-4.1", None, "gpt-4.1-mini"]
    first = next(iter(conversations(items).values()))
    assert first.system_prompt == "You answer in one sentence."
    assert spoken(items)[:2] == [("user", "Where do swifts sleep?"), ("assistant", "Often in the air.")]
    assert spoken(items)[6:10] == [
        ("user", "Old style"),
        ("assistant", ["now"]),
        ("tool", "12:00"),
        ("assistant", "Noon."),
    ]


def test_bytes_of_images_become_a_note_and_links_stay() -> None:
    items = read_items(READER, TUNING)
    picture = messages(items)[2].fields
    assert picture["content"][1:] == [
        {"type": "image_url", "image_url": {"url": "[image/png, 33 bytes]"}},
        {"type": "image_url", "image_url": {"url": "https://pictures.example/swift.png"}},
    ]
    assert picture["metadata"] == {"name": "Robin"}
    assert left_out(items) == {"images and files": 1}


def test_a_result_gets_the_name_of_the_tool_that_was_called() -> None:
    result = messages(read_items(READER, TUNING))[4].fields
    assert (result["tool_name"], result["tool_call_id"]) == ("describe", "call_x")


def test_a_short_id_counts_only_within_its_file(tmp_path: Path) -> None:
    ids = list(conversations(read_items(READER, TUNING)))
    assert ids[1] == "tuning:chat-7"
    long = tmp_path / "x.jsonl"
    long.write_text('{"id": "conversation-0001-abcdef", "messages": [{"role": "user", "content": "a"}]}')
    assert list(conversations(read_items(READER, long))) == ["conversation-0001-abcdef"]


def test_a_file_of_messages_is_one_session() -> None:
    items = read_items(READER, SINGLE)
    (known,) = conversations(items).values()
    assert known.system_prompt == "You keep a ship's log."
    assert spoken(items) == [
        ("user", "Wind?"),
        ("assistant", "West, 4."),
        ("user", "Wind?"),
        ("assistant", ["gauge"]),
        ("tool", "[no output]"),
        ("assistant", "Still west, 4."),
    ]
    # One without a time has that of the one before it; milliseconds are seconds.
    assert [said.fields["timestamp"] for said in messages(items)] == [
        1767592800.0, 1767592802.0, 1767592802.0, 1767593000.0, 1767593000.0, 1767593002.0,
    ]  # fmt: skip
    assert messages(items)[4].fields["tool_name"] == "gauge"


def test_our_own_export_comes_back_in_every_field() -> None:
    items = read_items(READER, OURS)
    parent, child = conversations(items).values()
    written = [json.loads(line) for line in OURS.read_text().splitlines()]
    assert (parent.id, parent.source, parent.title, parent.system_prompt, parent.archived) == (
        "s-parent", "cli", "The first half", "Be exact.", True,
    )  # fmt: skip
    assert (parent.started_at, parent.ended_at) == (1767225600.25, 1767225700.0)
    assert parent.metadata is not None
    assert parent.metadata["place"] == "desk"
    assert (child.parent_id, child.user_id) == ("s-parent", "u1")
    kept = [message for message in written[0]["messages"] if not message.get("forgotten")]
    for said, message in zip(messages(items), kept, strict=False):
        filled = {key: value for key, value in message.items() if value is not None}
        assert said.fields == {key: filled[key] for key in filled if key not in ("id", "session_id")}
        assert said.key == f"s-parent/{message['id']}"
    assert sum(said.input_tokens for said in messages(items)) == 120
    assert sum(said.output_tokens for said in messages(items)) == 30
    assert left_out(items) == {"forgotten messages": 1}


def test_broken_lines_are_reported_and_the_others_read() -> None:
    items = read_items(READER, ODD)
    assert unread(items) == [1, 5, 6, 7, 8]
    assert left_out(items) == {"records of the program": 4, "unfinished last lines": 1}
    assert spoken(items) == [
        ("user", [{"type": "text", "text": "one part"}]),
        ("user", "12.5"),
        ("user", "lone \ud83d"),
        ("user", "first"),
        ("user", "first"),
        ("assistant", "second"),
    ]
    assert len({said.key for said in messages(items)}) == 5


def test_reading_again_gives_the_same(tmp_path: Path) -> None:
    elsewhere = tmp_path / SINGLE.name
    elsewhere.write_bytes(SINGLE.read_bytes())
    assert messages(read_items(READER, elsewhere)) == messages(read_items(READER, SINGLE))


def test_two_files_that_begin_the_same_are_two_sessions(tmp_path: Path) -> None:
    other = tmp_path / "another.jsonl"
    other.write_bytes(SINGLE.read_bytes())
    assert conversations(read_items(READER, other)).keys() != conversations(read_items(READER, SINGLE)).keys()


def test_a_file_without_any_conversation_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"a": 1}\n{"b": 2}\n')
    with pytest.raises(InvalidInput):
        read_items(READER, path)


def test_deep_nesting_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    deep = "[" * 300 + "]" * 300
    path.write_text(f'{{"messages": [{{"role": "user", "content": [{{"type": "x", "y": {deep}}}]}}]}}\n')
    assert_storable(read_items(READER, path))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_reading_resumes_from_every_mark(path: Path) -> None:
    assert_resumes_everywhere(READER, path)


@pytest.mark.parametrize("path", [SINGLE, TUNING, OURS], ids=lambda path: path.stem)
def test_a_file_may_be_read_while_it_grows(path: Path, tmp_path: Path) -> None:
    assert_grows(READER, path, tmp_path)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_item_can_be_stored(path: Path) -> None:
    assert_storable(read_items(READER, path))


@given(st.binary(max_size=400))
def test_any_bytes_are_survived(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.mktemp("jsonl") / "x.jsonl"
    path.write_bytes(data)
    assert_survives(READER, path)


@given(st.integers(0, 1 << 32), st.sampled_from(FILES))
def test_spoiled_files_are_survived(tmp_path_factory: pytest.TempPathFactory, seed: int, file: Path) -> None:
    path = tmp_path_factory.mktemp("jsonl") / file.name
    path.write_bytes(spoiled(file.read_bytes(), seed))
    assert_survives(READER, path)
