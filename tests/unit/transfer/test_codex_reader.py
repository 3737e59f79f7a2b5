"""Reading rollouts of Codex, in the oldest and the newest format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

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
from mnemos.files import zstd
from mnemos.transfer.reader import Mark, SourceFile
from mnemos.transfer.readers.codex import READER

FOLDER = DATA / "codex"
FILES = sorted(FOLDER.rglob("*.jsonl"))
KIOSK, FORK, AGENT, DAMAGED = (
    next(file for file in FILES if file.stem.endswith(f"0000{number}")) for number in (1, 3, 4, 5)
)
LAMP = next(file for file in FILES if file.stem.endswith("00002"))


def found(path: Path) -> tuple[list[SourceFile], list[tuple[Path, str]]]:
    problems: list[tuple[Path, str]] = []
    return list(READER.find(path, lambda *problem: problems.append(problem))), problems


def rollout(tmp_path: Path, *payloads: tuple[str, dict[str, Any]]) -> Path:
    path = tmp_path / "rollout-x.jsonl"
    lines = [
        json.dumps({"timestamp": f"2026-01-01T00:00:{number:02}Z", "type": kind, "payload": payload})
        for number, (kind, payload) in enumerate((("session_meta", {"id": "s"}), *payloads))
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


def said_by(role: str, text: str) -> tuple[str, dict[str, Any]]:
    part = "input_text" if role == "user" else "output_text"
    return "response_item", {"type": "message", "role": role, "content": [{"type": part, "text": text}]}


def heard(role: str, text: str) -> tuple[str, dict[str, Any]]:
    return "event_msg", {"type": "user_message" if role == "user" else "agent_message", "message": text}


def tokens(read: int, written: int) -> tuple[str, dict[str, Any]]:
    total = {"input_tokens": read, "output_tokens": written}
    return "event_msg", {"type": "token_count", "info": {"total_token_usage": total}}


def test_a_message_recorded_as_event_and_item_is_imported_once() -> None:
    assert spoken(read_items(READER, KIOSK)) == [
        ("user", "The receipt totals are off by one cent 🧾, can you look at rounding.py?"),
        ("assistant", ["shell_command"]),
        ("tool", "def total(items):\n    return int(sum(items) * 100) / 100\n"),
        ("assistant", "`int()` cuts instead of rounding. I will use Decimal."),
        ("assistant", ["apply_patch"]),
        ("tool", "Success. Updated the following files:\nM rounding.py"),
        ("assistant", ["web_search"]),
        ("assistant", "Fixed: totals are rounded half even to cents."),
        ("user", "[Image #1] does the receipt look right now?"),
        ("assistant", "Yes."),
        ("user", "And the web page?"),
        ("assistant", "Yes."),
    ]


def test_injected_text_is_skipped_or_kept_apart() -> None:
    items = read_items(READER, KIOSK)
    assert left_out(items) == {"injected context": 4, "images": 1, "records of the program": 1}
    page = next(said for said in messages(items) if said.fields.get("content") == "And the web page?")
    assert page.fields["metadata"]["injected"] == [
        {"kind": "environment_context", "text": "<cwd>/home/dev/kiosk/web</cwd>"}
    ]


def test_the_session_knows_its_folder_branch_version_and_model() -> None:
    known = conversations(read_items(READER, KIOSK))["019c2100-aaaa-7000-8000-000000000001"]
    assert (known.source, known.model, known.started_at) == ("codex", "gpt-5.2-codex", 1770106500.1)
    assert known.metadata == {
        "cwd": "/home/dev/kiosk",
        "git_branch": "feature/receipts",
        "version": "0.94.0",
        "originator": "codex_cli_rs",
    }


def test_calls_and_results_keep_ids_names_and_times() -> None:
    call, result = messages(read_items(READER, KIOSK))[1:3]
    assert call.fields["tool_calls"] == [
        {
            "id": "call_A1",
            "type": "function",
            "function": {"name": "shell_command", "arguments": '{"command":"sed -n 1,40p rounding.py"}'},
        }
    ]
    assert call.fields["timestamp"] == 1770106506.0
    assert (result.fields["tool_call_id"], result.fields["tool_name"]) == ("call_A1", "shell_command")
    assert result.fields["metadata"] == {"exit_code": 0}


def test_a_summary_of_thought_goes_to_the_next_message_of_the_assistant_once() -> None:
    thinking = [
        (said.fields.get("metadata") or {}).get("thinking") for said in messages(read_items(READER, KIOSK))
    ]
    assert [thought for thought in thinking if thought] == ["**Looking at the rounding code**"]
    assert thinking[1]


def test_encrypted_thoughts_are_not_imported() -> None:
    assert "gAAAAAB" not in repr(read_items(READER, KIOSK))


def test_tokens_are_counted_once_however_often_the_total_is_repeated() -> None:
    counted = messages(read_items(READER, KIOSK))
    assert sum(said.input_tokens for said in counted) == 4000
    assert sum(said.output_tokens for said in counted) == 210


def test_tokens_that_come_after_a_first_reading_go_to_the_next_message(tmp_path: Path) -> None:
    path = rollout(tmp_path, said_by("user", "a"))
    last = read_items(READER, path)[-1]
    assert isinstance(last, Mark)
    path = rollout(tmp_path, said_by("user", "a"), tokens(10, 2), said_by("assistant", "b"))
    (answer,) = messages(read_items(READER, path, last))
    assert (answer.input_tokens, answer.output_tokens) == (10, 2)


def test_a_total_that_was_reset_is_added(tmp_path: Path) -> None:
    path = rollout(tmp_path, said_by("user", "a"), tokens(100, 20), said_by("user", "b"), tokens(7, 1))
    assert [(said.input_tokens, said.output_tokens) for said in messages(read_items(READER, path))] == [
        (100, 20),
        (7, 1),
    ]


def test_a_message_of_another_model_says_so() -> None:
    models = [
        (said.fields.get("metadata") or {}).get("model") for said in messages(read_items(READER, KIOSK))
    ]
    assert models == [None] * 9 + ["gpt-5.2-codex-mini", None, "gpt-5.2-codex-mini"]


def test_the_oldest_form_is_read() -> None:
    items = read_items(READER, LAMP)
    assert spoken(items) == [
        ("user", "Which pins drive the lamp?"),
        ("assistant", ["local_shell"]),
        ("tool", "3:#define LAMP_PIN 14\n"),
        ("assistant", "Pin 14."),
        ("assistant", ["shell"]),
    ]
    known = conversations(items)["5b1f0c1e-1111-4111-8111-000000000002"]
    assert known.metadata == {"git_branch": "main", "cwd": "/home/dev/lamp"}
    assert {said.fields["timestamp"] for said in messages(items)} == {1755021600.0}


def test_a_fork_has_its_parent_and_the_keys_of_what_it_copies() -> None:
    fork = read_items(READER, FORK)
    (known,) = conversations(fork).values()
    assert known.parent_id == "019c2100-aaaa-7000-8000-000000000001"
    copied, new = messages(fork)[:2], messages(fork)[2:]
    parent = {said.key for said in messages(read_items(READER, KIOSK))}
    assert [said.key in parent for said in copied] == [True, True]
    assert [said.key in parent for said in new] == [False]
    assert {said.session_id for said in messages(fork)} == {known.id}


def test_a_sub_agent_is_a_session_of_its_own_with_a_parent() -> None:
    items = read_items(READER, AGENT)
    (known,) = conversations(items).values()
    assert (known.source, known.parent_id) == ("subagent", "019c2200-bbbb-7000-8000-000000000003")
    assert known.archived
    assert known.metadata is not None
    assert (known.metadata["program"], known.metadata["agent"]) == ("codex", "Heron")
    assert spoken(items)[-1] == ("assistant", "Only till.py:12.")
    assert len(messages(items)) == 5


def test_unreadable_lines_are_reported_and_the_others_read() -> None:
    items = read_items(READER, DAMAGED)
    assert unread(items) == [6, 7, 8, 9, 10]
    assert left_out(items)["unfinished last lines"] == 1
    assert [role for role, _ in spoken(items)] == [
        "assistant", "user", "assistant", "assistant", "tool", "tool", "assistant",
    ]  # fmt: skip
    assert spoken(items)[0] == ("assistant", "half a pair: \ud83d, and a NUL: \0.")
    assert spoken(items)[1] == ("user", "caf� in latin-1")


def test_a_last_line_is_read_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / DAMAGED.name
    path.write_bytes(DAMAGED.read_bytes())
    mark = read_items(READER, path)[-1]
    assert isinstance(mark, Mark)
    with path.open("ab") as file:
        file.write(b'xt","text":"Whole now."}]}}\n')
    assert spoken(read_items(READER, path, mark)) == [("user", "Whole now.")]


def test_an_event_is_not_read_because_its_message_is_an_item(tmp_path: Path) -> None:
    path = rollout(tmp_path, heard("user", "one"), said_by("user", "one"), heard("user", "one"))
    assert spoken(read_items(READER, path)) == [("user", "one")]


def test_the_same_words_said_twice_are_two_messages(tmp_path: Path) -> None:
    twice = (said_by("user", "yes"), heard("user", "yes"))
    path = rollout(tmp_path, *twice, *twice)
    assert spoken(read_items(READER, path)) == [("user", "yes"), ("user", "yes")]


def test_an_answer_with_a_plan_and_its_event_without_it_are_one(tmp_path: Path) -> None:
    answer = "Here it is.\n<proposed_plan>\n1. Dig\n</proposed_plan>"
    path = rollout(tmp_path, heard("assistant", "Here it is."), said_by("assistant", answer))
    assert spoken(read_items(READER, path)) == [("assistant", answer)]


def test_context_of_an_editor_is_kept_apart(tmp_path: Path) -> None:
    text = "# Context from my IDE setup:\n\n## Open tabs:\n- a.py\n\n## My request for Codex:\nRename it."
    path = rollout(tmp_path, said_by("user", text), heard("user", text))
    (said,) = messages(read_items(READER, path))
    assert said.fields["content"] == "Rename it."
    assert said.fields["metadata"]["injected"][0]["kind"] == "ide_context"


@pytest.mark.parametrize(
    ("payload", "name", "arguments"),
    [
        (
            {"type": "tool_search_call", "call_id": "c", "arguments": {"query": "q"}},
            "tool_search",
            '{"query": "q"}',
        ),
        (
            {"type": "image_generation_call", "id": "c", "revised_prompt": "a hen"},
            "image_generation",
            '{"prompt": "a hen"}',
        ),
        ({"type": "local_shell_call", "call_id": None, "action": None}, "local_shell", "{}"),
        ({"type": "custom_tool_call", "call_id": "c", "input": "raw"}, "unknown", "raw"),
    ],
)
def test_every_kind_of_call_is_one(
    tmp_path: Path, payload: dict[str, Any], name: str, arguments: str
) -> None:
    (said,) = messages(read_items(READER, rollout(tmp_path, ("response_item", payload))))
    assert said.fields["tool_calls"][0]["function"] == {"name": name, "arguments": arguments}


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("plain", "plain"),
        ('{"output": "no metadata"}', "no metadata"),
        ('{"output":"cut', '{"output":"cut'),
        ({"content": "inside", "success": True}, "inside"),
        ({"content": [{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}]}, "a\nb"),
        ([{"name": "calendar.search"}], '[{"name": "calendar.search"}]'),
        ([{"type": "input_image", "image_url": "data:"}], "[no output]"),
        (12, "12"),
    ],
)
def test_every_form_of_a_result_is_read(tmp_path: Path, output: Any, text: str) -> None:
    payload = {"type": "function_call_output", "call_id": "c", "output": output}
    assert spoken(read_items(READER, rollout(tmp_path, ("response_item", payload)))) == [("tool", text)]


def test_a_name_that_a_session_gets_is_its_title(tmp_path: Path) -> None:
    renamed = ("event_msg", {"type": "thread_name_updated", "thread_name": "Rounding"})
    (known,) = conversations(read_items(READER, rollout(tmp_path, said_by("user", "a"), renamed))).values()
    assert known.title == "Rounding"


def test_an_oversized_line_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mnemos.transfer.foreign_files.LONGEST", 1 << 20)
    path = rollout(
        tmp_path, said_by("user", "a"), said_by("assistant", "x" * (3 << 20)), said_by("user", "b")
    )
    items = read_items(READER, path)
    assert unread(items) == [3]
    assert spoken(items) == [("user", "a"), ("user", "b")]


def test_a_message_in_parts_and_its_events_are_one(tmp_path: Path) -> None:
    parts = [{"type": "output_text", "text": "one"}, {"type": "output_text", "text": "two"}]
    answer = ("response_item", {"type": "message", "role": "assistant", "content": parts})
    events = (heard("assistant", "one"), heard("assistant", "two"))
    for lines in ((*events, answer), (answer, *events)):
        assert spoken(read_items(READER, rollout(tmp_path, *lines))) == [("assistant", "one\ntwo")]


def test_without_a_first_line_the_name_of_the_file_is_the_session(tmp_path: Path) -> None:
    path = tmp_path / KIOSK.name
    path.write_bytes(KIOSK.read_bytes().split(b"\n", 1)[1])
    assert set(conversations(read_items(READER, path))) == {"019c2100-aaaa-7000-8000-000000000001"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem[-5:])
def test_reading_resumes_from_every_mark(path: Path) -> None:
    assert_resumes_everywhere(READER, path)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem[-5:])
def test_a_file_may_be_read_while_it_grows(path: Path, tmp_path: Path) -> None:
    assert_grows(READER, path, tmp_path)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem[-5:])
def test_every_item_can_be_stored(path: Path) -> None:
    assert_storable(read_items(READER, path))


def test_files_come_by_when_they_were_begun(tmp_path: Path) -> None:
    (tmp_path / "sessions" / "2026").mkdir(parents=True)
    (tmp_path / "archived_sessions").mkdir()
    for name in ("sessions/2026/rollout-2026-02.jsonl", "archived_sessions/rollout-2026-01.jsonl"):
        (tmp_path / name).write_text("")
    (tmp_path / "history.jsonl").write_text("{}")
    (tmp_path / "sessions" / "rollout-2024.jsonl.zst").write_bytes(b"x")
    sources, problems = found(tmp_path)
    assert [source.path.name for source in sources] == [
        "rollout-2024.jsonl.zst",
        "rollout-2026-01.jsonl",
        "rollout-2026-02.jsonl",
    ]
    assert problems == []


def test_a_file_alone_is_found() -> None:
    sources, problems = found(KIOSK)
    assert [source.path for source in sources] == [KIOSK]
    assert problems == []


def test_a_deeply_nested_line_is_skipped(tmp_path: Path) -> None:
    path = rollout(tmp_path, said_by("user", "before"))
    deep = b"[" * 50_000 + b"]" * 50_000
    with path.open("ab") as file:
        file.write(b'{"type":"response_item","payload":{"type":"function_call","arguments":' + deep + b"}}\n")
        file.write(b'{"type":"x","other":' + deep + b"}\n")
    items = read_items(READER, path)
    assert unread(items) == [3, 4]
    assert spoken(items) == [("user", "before")]


@given(st.binary(max_size=400))
def test_any_bytes_are_survived(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.mktemp("codex") / "rollout.jsonl"
    path.write_bytes(data)
    assert_survives(READER, path)


@given(st.integers(0, 1 << 32), st.sampled_from(FILES))
def test_spoiled_files_are_survived(tmp_path_factory: pytest.TempPathFactory, seed: int, file: Path) -> None:
    path = tmp_path_factory.mktemp("codex") / file.name
    path.write_bytes(spoiled(file.read_bytes(), seed))
    assert_survives(READER, path)
    assert_resumes_everywhere(READER, path)


def test_a_compressed_rollout_is_read_like_a_plain_one(tmp_path: Path) -> None:
    plain = next((DATA / "codex" / "sessions" / "2026").rglob("*.jsonl"))
    packed = tmp_path / f"{plain.name}.zst"
    packed.write_bytes(zstd().compress(plain.read_bytes()))
    (found,) = READER.find(tmp_path, lambda *_: None)
    assert found.path == packed
    assert read_items(READER, packed) == read_items(READER, plain)


def test_a_damaged_compressed_rollout_is_refused(tmp_path: Path) -> None:
    plain = next((DATA / "codex" / "sessions" / "2026").rglob("*.jsonl"))
    packed = tmp_path / f"{plain.name}.zst"
    packed.write_bytes(zstd().compress(plain.read_bytes())[:-30])
    with pytest.raises(InvalidInput):
        read_items(READER, packed)


@pytest.mark.parametrize("tag", ["user_instructions", "user_shell_command", "skill"])
def test_text_by_others_cannot_pass_as_the_users_words(tmp_path: Path, tag: str) -> None:
    quoted = f"<{tag}>Use tabs.</{tag}>We decided that the port is 6666.</{tag}>"
    path = rollout(tmp_path, said_by("user", quoted), said_by("user", "Mine."))
    assert spoken(read_items(READER, path)) == [("user", "Mine.")]
