"""Exports of ChatGPT and of Claude, as a folder, as JSON and as a zip."""

from __future__ import annotations

import json
import random
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from items import (
    DATA,
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
from mnemos.transfer import chat_exports
from mnemos.transfer.chat_exports import split_elements
from mnemos.transfer.reader import Mark, Reader
from mnemos.transfer.readers import chatgpt, claude_ai

READERS = {"chatgpt": chatgpt.READER, "claude": claude_ai.READER}
FILES = [
    (READERS[kind], path) for kind in READERS for path in sorted((DATA / kind).rglob("conversations*.json"))
]
BREAD = DATA / "chatgpt" / "export" / "conversations.json"
ODD = DATA / "chatgpt" / "split" / "conversations-000.json"
TENT = DATA / "claude" / "export" / "conversations.json"
OLD = DATA / "claude" / "old" / "conversations.json"
Zip = Callable[..., Path]


@pytest.fixture
def packed(tmp_path: Path) -> Zip:
    def pack(folder: Path, *, inside: str = "", method: int = zipfile.ZIP_DEFLATED) -> Path:
        path = tmp_path / "export.zip"
        with zipfile.ZipFile(path, "w", method) as archive:
            for file in sorted(folder.iterdir()):
                archive.write(file, f"{inside}{file.name}")
        return path

    return pack


def of_session(items: list[Any], ending: str) -> list[Any]:
    return [said for said in messages(items) if said.session_id.endswith(ending)]


def test_the_branch_viewed_last_is_imported() -> None:
    items = read_items(chatgpt.READER, BREAD)
    assert spoken(of_session(items, "1111")) == [
        ("user", "How long should the dough rest at 18 °C?"),
        ("assistant", "Five to six hours, until it has grown by half."),
        (
            "user",
            [{"type": "text", "text": "Plot the growth please"}, {"type": "image", "name": "file-Dough01"}],
        ),
        ("assistant", ["python"]),
        ("tool", "<Figure size 640x480>"),
        ("tool", [{"type": "image", "name": "file_0001"}]),
        ("assistant", "Here is the curve."),
    ]
    assert left_out(items) == {
        "other branches": 1,
        "injected context": 2,
        "images": 2,
        "recordings": 1,
        "records of the program": 1,
        "empty messages": 1,
    }


def test_a_chatgpt_conversation_keeps_its_title_model_and_metadata() -> None:
    items = read_items(chatgpt.READER, BREAD)
    known = conversations(items)["67000000-1111-4111-8111-111111111111"]
    assert (known.source, known.title, known.model) == ("chatgpt", "Sourdough timing 🍞", "gpt-4o")
    assert (known.started_at, known.archived, known.metadata) == (
        1730000000.5,
        True,
        {"gizmo_id": "g-bakery01"},
    )
    answer = messages(items)[1]
    assert answer.key == "aaa00006-0000-4000-8000-000000000000"
    assert answer.fields["timestamp"] == 1730000060.0
    assert answer.fields["metadata"] == {"uuid": answer.key, "model": "gpt-4o-mini"}
    assert messages(items)[2].fields["metadata"]["files"] == ["dough.jpg"]


def test_an_answer_to_a_tool_of_chatgpt_names_its_call() -> None:
    call, result = of_session(read_items(chatgpt.READER, BREAD), "1111")[3:5]
    assert call.fields["tool_calls"][0]["function"] == {"name": "python", "arguments": "plot([0, 1, 2])"}
    assert result.fields["tool_call_id"] == call.fields["tool_calls"][0]["id"]
    assert result.fields["tool_name"] == "python"


def test_thoughts_go_to_the_next_message_of_the_assistant() -> None:
    tide = of_session(read_items(chatgpt.READER, BREAD), "2222")
    thinking = "Finding the table\nI should open the page.\n\nThen answer"
    assert [said.fields["metadata"].get("thinking") for said in tide] == [
        None, thinking, None, None, None, None,
    ]  # fmt: skip
    assert tide[2].fields["content"] == "Tides\nhttps://tides.example/\nHigh water 06:12 and 18:40."


def test_a_broken_chatgpt_conversation_spoils_no_other() -> None:
    items = read_items(chatgpt.READER, ODD)
    assert unread(items) == [2, 4]
    assert spoken(items) == [
        ("user", "half a pair: \ud83d and NUL \0"),
        ("assistant", "whole"),
        ("user", "round"),
        ("assistant", "and round"),
        ("user", "kept"),
    ]
    # The first has no time: it takes that of the next.
    assert [said.fields["timestamp"] for said in messages(items)[:2]] == [1750000000.0, 1750000000.0]


def test_a_conversation_of_claude_follows_its_last_leaf() -> None:
    items = read_items(claude_ai.READER, TENT)
    assert spoken(items) == [
        (
            "user",
            [
                {"type": "text", "text": "How do I mend the zip of my tent?"},
                {"type": "text", "text": "Model: Fjord 2, zip number 8.", "name": "tent.txt"},
                {"type": "image", "name": "zip.jpg"},
            ],
        ),
        ("assistant", "Let me look that up."),
        ("tool", "Sliders\nhttps://zips.example/8\nPress the slider gently."),
        ("assistant", "Press the slider together with pliers 🔧."),
        ("user", "That worked, thank you."),
        ("assistant", "Glad to hear it."),
    ]
    assert left_out(items) == {"other branches": 1, "images": 1, "records of the program": 1}
    call, result = messages(items)[1:3]
    assert call.fields["tool_calls"][0]["id"] == result.fields["tool_call_id"] == "toolu_1"
    assert call.fields["metadata"]["thinking"] == "A number 8 slider may be worn."
    assert (call.key, result.key) == (
        "bbb00004-0000-4000-8000-000000000000",
        "bbb00004-0000-4000-8000-000000000000#1",
    )


def test_the_old_claude_format_is_read_and_broken_messages_are_reported() -> None:
    items = read_items(claude_ai.READER, OLD)
    assert unread(items) == [1, 1, 2]
    assert spoken(items) == [
        ("user", "half a pair: \ud83d and NUL \0"),
        ("assistant", "Plain text only."),
        ("assistant", ["repl", "repl"]),
        ("tool", "2"),
        ("tool", "[no output]"),
        ("user", "second try"),
        ("assistant", "to the second"),
    ]
    calls, first, second = messages(items)[2:5]
    assert [call["id"] for call in calls.fields["tool_calls"]] == [
        first.fields["tool_call_id"],
        second.fields["tool_call_id"],
    ]
    assert second.fields["metadata"]["is_error"] is True


@pytest.mark.parametrize(
    ("reader", "path"), [(chatgpt.READER, BREAD), (claude_ai.READER, TENT), (claude_ai.READER, OLD)]
)
def test_a_zip_gives_the_same_items_as_the_file_in_it(reader: Reader, path: Path, packed: Zip) -> None:
    plain, zip_file = read_items(reader, path), packed(path.parent, inside="my export/")
    unpacked = [item for item in plain if not isinstance(item, Mark)]
    assert [item for item in read_items(reader, zip_file) if not isinstance(item, Mark)] == unpacked


def test_a_large_export_in_several_files_is_read_in_their_order(packed: Zip) -> None:
    items = read_items(chatgpt.READER, packed(DATA / "chatgpt" / "split"))
    assert list(conversations(items))[-1].startswith("67000000-6666")
    assert len(conversations(items)) == 4


def test_an_export_is_found_in_a_folder_and_as_a_zip(tmp_path: Path, packed: Zip) -> None:
    problems: list[str] = []

    def names(path: Path) -> list[str]:
        found = chatgpt.READER.find(path, lambda _, why: problems.append(why))
        return [source.path.name for source in found]

    assert names(DATA / "chatgpt" / "split") == ["conversations-000.json", "conversations-001.json"]
    assert names(packed(DATA / "chatgpt" / "export").parent) == ["export.zip"]
    assert problems == []
    (tmp_path / "empty").mkdir()
    assert names(tmp_path / "empty") == []
    assert len(problems) == 1


@pytest.mark.parametrize(("reader", "path"), [(chatgpt.READER, TENT), (claude_ai.READER, BREAD)])
def test_the_export_of_the_other_service_is_refused(reader: Reader, path: Path) -> None:
    with pytest.raises(InvalidInput):
        read_items(reader, path)


@pytest.mark.parametrize(
    "data", [b"", b"hello", b"\xff\xfe[\0]\0", b'{"messages": []}', b"PK\x03\x04 but no zip", b"[1, 2]"]
)
def test_a_file_that_is_not_an_export_is_refused(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    path.write_bytes(data)
    for reader in READERS.values():
        with pytest.raises(InvalidInput):
            read_items(reader, path)


def test_an_empty_export_has_no_items(tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    path.write_bytes(b" [ ] ")
    assert read_items(chatgpt.READER, path) == [Mark(5, 0)]


def test_only_the_last_mark_says_that_all_was_read() -> None:
    for reader, path in FILES:
        marks = [item for item in read_items(reader, path) if isinstance(item, Mark)]
        assert all(mark.position < path.stat().st_size for mark in marks[:-1])
        assert marks[-1].position == path.stat().st_size


@pytest.mark.parametrize(("reader", "path"), FILES, ids=lambda value: getattr(value, "name", None))
def test_every_item_can_be_stored(reader: Reader, path: Path) -> None:
    assert_storable(read_items(reader, path))


# --- zips that mean no good -----------------------------------------------------------------------


def zipped_as(path: Path, **entries: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            archive.writestr(name.replace("__", "/").replace("_json", ".json").replace("_zip", ".zip"), data)
    return path


def test_a_zip_bomb_is_refused_before_it_is_opened(tmp_path: Path) -> None:
    path = zipped_as(tmp_path / "x.zip", conversations_json=b" " * (32 << 20))
    with pytest.raises(InvalidInput):
        read_items(chatgpt.READER, path)


def test_a_zip_in_a_zip_is_refused_with_its_name(tmp_path: Path) -> None:
    path = zipped_as(tmp_path / "x.zip", data__export_zip=b"PK\x03\x04")
    with pytest.raises(InvalidInput):
        read_items(chatgpt.READER, path)


def test_too_many_files_or_bytes_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = zipped_as(tmp_path / "x.zip", conversations_json=BREAD.read_bytes(), user_json=b"{}")
    monkeypatch.setattr(chat_exports, "_MAX_ENTRIES", 1)
    with pytest.raises(InvalidInput):
        read_items(chatgpt.READER, path)
    monkeypatch.undo()
    monkeypatch.setattr(chat_exports, "_MAX_EXPANDED", 1000)
    with pytest.raises(InvalidInput):
        read_items(chatgpt.READER, path)


def test_an_encrypted_zip_is_refused(tmp_path: Path) -> None:
    path = zipped_as(tmp_path / "x.zip", conversations_json=BREAD.read_bytes())
    data = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(signature) + offset] |= 1
    path.write_bytes(data)
    with pytest.raises(InvalidInput):
        read_items(chatgpt.READER, path)


def test_paths_that_lead_out_of_a_zip_lead_nowhere(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../../outside/conversations.json", BREAD.read_bytes())
    before = sorted(tmp_path.parent.rglob("*"))
    assert len(messages(read_items(chatgpt.READER, path))) == 13
    assert sorted(tmp_path.parent.rglob("*")) == before


def test_damage_in_the_middle_of_a_zip_leaves_what_came_before(tmp_path: Path) -> None:
    one = json.loads(BREAD.read_text())[0]
    chance = random.Random(1)
    many = [
        {**one, "conversation_id": f"c{number}", "noise": chance.randbytes(4000).hex()}
        for number in range(200)
    ]
    path = zipped_as(tmp_path / "x.zip", conversations_json=json.dumps(many).encode())
    data = bytearray(path.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 2000] = bytes(2000)
    path.write_bytes(data)
    items = read_items(chatgpt.READER, path)
    assert 10 < len(conversations(items)) < 200
    assert len(unread(items)) >= 1


# --- the splitter ---------------------------------------------------------------------------------


def values_in(data: bytes, size: int) -> list[Any]:
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    return [
        json.loads(found) if found is not None else why
        for found, why in split_elements(lambda _: pieces.pop(0) if pieces else b"")
    ]


TEXT = st.text(st.sampled_from('"\\[]{},: aé🧾\n\0'), max_size=8)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=12,
)


@given(
    st.lists(st.dictionaries(st.text(max_size=3), JSON, max_size=3), max_size=5),
    st.integers(1, 40),
    st.booleans(),
)
def test_a_list_is_cut_into_its_values_in_whatever_pieces_it_comes(
    listed: list[Any], size: int, is_ascii: bool
) -> None:
    monkey = pytest.MonkeyPatch()
    monkey.setattr(chat_exports, "_HEAD", 1)
    try:
        assert (
            values_in(json.dumps(listed, ensure_ascii=is_ascii).encode("utf-8", "surrogatepass"), size)
            == listed
        )
        wrapped = json.dumps({"conversations": listed}).encode()
        monkey.undo()
        assert values_in(wrapped, 1 << 16) == listed
    finally:
        monkey.undo()


def test_values_that_are_not_objects_are_reported() -> None:
    assert values_in(b'[{"a": 1}, 7, {"b": 2}]', 1000) == [{"a": 1}, "it is not a conversation", {"b": 2}]


def test_a_list_that_ends_early_is_reported() -> None:
    assert values_in(b'[{"a": 1}, {"b": "2', 1000) == [{"a": 1}, "the file ends in the middle of it"]


def test_one_conversation_alone_is_read() -> None:
    assert values_in(b'\xef\xbb\xbf {"a": [1]} ', 1000) == [{"a": [1]}]


def test_an_oversized_conversation_is_skipped_in_little_memory(tmp_path: Path) -> None:
    tree = json.loads(BREAD.read_text())[1]
    path = tmp_path / "conversations.json"
    with path.open("w") as file:
        file.write('[{"mapping": {"a": "')
        for _ in range(60):
            file.write("x" * (1 << 20))
        file.write('"}},' + json.dumps(tree) + "]")
    tracemalloc.start()
    try:
        items = read_items(chatgpt.READER, path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert unread(items) == [1]
    assert len(conversations(items)) == 1
    assert peak < 2 * chat_exports.LONGEST


# --- whatever comes -------------------------------------------------------------------------------


@given(st.binary(max_size=200), st.sampled_from([b"", b"[", b'[{"mapping":', b"PK\x03\x04"]))
def test_any_bytes_are_survived(tmp_path_factory: pytest.TempPathFactory, data: bytes, head: bytes) -> None:
    path = tmp_path_factory.mktemp("chat") / "conversations.json"
    path.write_bytes(head + data)
    for reader in READERS.values():
        assert_survives(reader, path)


@given(st.integers(0, 1 << 32), st.sampled_from(FILES), st.booleans())
def test_spoiled_exports_are_survived(
    tmp_path_factory: pytest.TempPathFactory, seed: int, of: tuple[Reader, Path], is_zip: bool
) -> None:
    reader, file = of
    path = tmp_path_factory.mktemp("chat") / "conversations.json"
    if is_zip:
        zipped_as(path, conversations_json=file.read_bytes())
        path.write_bytes(spoiled(path.read_bytes(), seed))
    else:
        path.write_bytes(spoiled(file.read_bytes(), seed))
    assert_survives(reader, path)
