"""Readers of agent programs. The files were written by the programs, with a model on loopback."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import apsw
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

import mnemos
from mnemos.errors import Busy, InvalidInput
from mnemos.files import zstd
from mnemos.storage.sqlite import readonly
from mnemos.transfer.import_formats import detect_kind
from mnemos.transfer.reader import Mark, load_reader

GEMINI, GEMINI_RESUMED = sorted((DATA / "gemini" / "shop" / "chats").iterdir())
QWEN = next((DATA / "qwen").rglob("*.jsonl"))
AIDER = DATA / "aider" / ".aider.chat.history.md"
CLINE = next((DATA / "cline").rglob("*.messages.json"))
CONTINUE = next((DATA / "continue").glob("*-*.json"))
LINES = {"gemini": GEMINI, "qwen": QWEN, "aider": AIDER}
FILES = {**LINES, "cline": CLINE, "continue": CONTINUE}
DATABASES = {"opencode": "opencode.db", "goose": "sessions.db", "zed": "threads.db"}

QUESTION, AGAIN = "Which queue should send the order mails?", "为什么是 Redis? 🧾 <b>"
DECISION = "Decision: the order mails go through Redis streams."
LISTING = "list_directory"
TURN = [("assistant", "Let me look."), ("assistant", [LISTING]), ("tool", ...), ("assistant", DECISION)]
SAID: dict[str, list[tuple[str, Any]]] = {
    "gemini": [("user", QUESTION), *TURN],
    "qwen": [("user", QUESTION), *TURN, ("user", AGAIN), *TURN],
    "aider": [
        ("user", QUESTION),
        ("assistant", DECISION),
        ("user", "And the # second\nquestion"),
        ("assistant", DECISION),
    ],
    "cline": [
        ("user", "Which queue 为什么 should send the order mails?"),
        *(TURN[0], ("assistant", ["read_files"]), *TURN[2:]),
    ],
    "continue": [("user", QUESTION), TURN[0], ("assistant", ["List"]), *TURN[2:]],
}


def database(kind: str, folder: Path) -> Path:
    """The database of a program, from the statements that its own one was dumped as."""
    path = folder / DATABASES[kind]
    connection = apsw.Connection(str(path))
    connection.execute((DATA / kind / f"{path.stem}.sql").read_text())
    if kind == "zed":
        thread = (DATA / kind / "thread.json").read_bytes()
        connection.execute("UPDATE threads SET data = ? WHERE data_type = 'zstd'", (zstd().compress(thread),))
    connection.close()
    return path


def change(path: Path, *statements: str) -> None:
    connection = apsw.Connection(str(path))
    for statement in statements:
        connection.execute(statement)
    connection.close()


def add_session(path: Path, session_id: str, *, ahead: int, parent: str | None = None) -> None:
    """Add a session to OpenCode, that many milliseconds newer than the newest."""
    connection = apsw.Connection(str(path))
    cursor = connection.execute("SELECT * FROM session ORDER BY time_updated DESC LIMIT 1")
    names = [column[0] for column in cursor.description]
    row = dict(zip(names, next(cursor), strict=True))
    row |= {"id": session_id, "parent_id": parent, "title": "Child session - x"}
    row["time_updated"] += ahead
    connection.execute(f"INSERT INTO session VALUES ({', '.join('?' * len(row))})", tuple(row.values()))
    connection.close()


def shape(said: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Leave out the results of tools."""
    return [(role, ... if role == "tool" else content) for role, content in said]


@pytest.mark.parametrize("kind", FILES)
def test_what_was_said_is_read_in_order(kind: str) -> None:
    items = read_items(load_reader(kind), FILES[kind])
    once = {said.key: said for said in reversed(messages(items))}
    assert shape(spoken(reversed(once.values())))[: len(SAID[kind])] == SAID[kind]
    assert unread(items) == []
    assert_storable(items)
    session = next(iter(conversations(items).values()))
    assert session.source == kind
    assert (session.metadata or {})["cwd"] == (str(AIDER.parent) if kind == "aider" else "/home/ada/shop")
    assert session.model is not None
    assert sum(said.output_tokens for said in once.values()) >= (0 if kind == "aider" else 40)


@pytest.mark.parametrize("kind", LINES)
def test_a_chat_is_read_from_any_mark_and_while_it_grows(kind: str, tmp_path: Path) -> None:
    reader = load_reader(kind)
    assert_resumes_everywhere(reader, LINES[kind])
    if kind != "gemini":
        # Gemini CLI writes a message again when more of it is known.
        assert_grows(reader, LINES[kind], tmp_path)


@pytest.mark.parametrize("kind", FILES)
@given(seed=st.integers(0, 10_000))
def test_a_damaged_chat_is_survived(kind: str, seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("spoiled") / FILES[kind].name
    path.write_bytes(spoiled(FILES[kind].read_bytes(), seed))
    assert_survives(load_reader(kind), path)


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("gemini", '{"sessionId": "s", "projectHash": "h"}\n{"id": "1", "type": "robot", "content": "hi"}\n'),
        ("gemini", '{"version": 9, "turns": []}\n'),
        ("qwen", '{"uuid": "u", "sessionId": "s", "type": "robot"}\n'),
        ("qwen", '{"version": 9, "turns": []}\n'),
    ],
)
def test_a_record_of_an_unknown_version_is_noted(kind: str, line: str, tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_text(line)
    items = read_items(load_reader(kind), path)
    assert len(unread(items)) == 1
    assert messages(items) == []


def test_a_resumed_chat_of_gemini_is_imported_once() -> None:
    with mnemos.open(":memory:") as memory:
        reader = load_reader("gemini")
        report = memory.imports.import_files(reader, DATA / "gemini")
        assert (report.sessions, report.messages, report.problems) == (1, 10, [])
        (session,) = memory.sessions.search_sessions()
        assert session["message_count"] == 10
        assert session["input_tokens"] == 400
        assert memory.imports.import_files(reader, DATA / "gemini").messages == 0


def test_a_chat_of_an_older_gemini_is_read_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "chats" / "session-old.json"
    path.parent.mkdir()
    message = '{"id": "%s", "timestamp": "2026-01-01T00:00:0%sZ", "type": "%s", "content": "%s"}'
    first, second = message % ("1", 1, "user", "hello"), message % ("2", 2, "gemini", "good day")
    begun = '{"sessionId": "s", "projectHash": "h", "startTime": "2026-01-01T00:00:00Z", "messages": ['
    reader = load_reader("gemini")
    with mnemos.open(":memory:") as memory:
        for listed in (first, f"{first}, {second}"):
            path.write_text(f"{begun}{listed}]}}")
            memory.imports.import_files(reader, tmp_path)
        assert [one["content"] for one in memory.sessions.get_messages("s")] == ["hello", "good day"]


def test_a_branch_of_qwen_continues_the_chat_that_it_was_copied_from(tmp_path: Path) -> None:
    lines = QWEN.read_text().splitlines()
    origin = QWEN.stem
    copied = [
        line.replace(f'"sessionId":"{origin}"', '"sessionId":"branch"', 1).replace(
            '"cwd"', f'"forkedFrom":{{"sessionId":"{origin}","messageUuid":"x"}},"cwd"', 1
        )
        for line in lines
    ]
    more = '{"uuid":"new","sessionId":"branch","timestamp":"2026-12-01T00:00:00Z","type":"user",'
    folder = tmp_path / "chats"
    folder.mkdir()
    (folder / QWEN.name).write_text("\n".join(lines) + "\n")
    (folder / "z.jsonl").write_text(
        "\n".join([*copied, f'{more}"message":{{"parts":[{{"text":"No"}}]}}}}']) + "\n"
    )
    with mnemos.open(":memory:") as memory:
        memory.imports.import_files(load_reader("qwen"), tmp_path)
        assert [one["content"] for one in memory.sessions.get_messages("branch")] == ["No"]
        assert memory.sessions.get_lineage("branch") == [origin, "branch"]


# --- databases ----------------------------------------------------------------------------------------


def test_opencode_is_read_and_again_only_what_changed(tmp_path: Path) -> None:
    path, reader = database("opencode", tmp_path), load_reader("opencode")
    items = read_items(reader, path)
    assert shape(spoken(items))[1:5] == [TURN[0], ("assistant", ["glob"]), *TURN[2:]]
    assert_storable(items)
    mark = items[-1]
    assert isinstance(mark, Mark)
    add_session(path, "ses_new", parent=next(iter(conversations(items))), ahead=9)
    session = conversations(read_items(reader, path, mark))["ses_new"]
    assert (session.source, session.title) == ("subagent", None)
    assert session.parent_id in conversations(items)


def test_an_answer_that_opencode_is_still_writing_waits(tmp_path: Path) -> None:
    path, reader = database("opencode", tmp_path), load_reader("opencode")
    last = "(SELECT max(id) FROM message)"
    change(path, f"UPDATE message SET data = json_remove(data, '$.time.completed') WHERE id = {last}")
    with mnemos.open(":memory:") as memory:
        report = memory.imports.import_files(reader, path)
        assert (report.messages, report.left_out) == (9, {"unfinished answers": 1})
        change(
            path,
            "UPDATE message SET time_updated = time_updated + 5, "
            f"data = json_set(data, '$.time.completed', 1) WHERE id = {last}",
        )
        assert memory.imports.import_files(reader, path).messages == 1
        (session,) = memory.sessions.search_sessions()
        assert memory.sessions.get_messages(session["id"])[-1]["content"] == DECISION


def test_a_database_put_in_the_place_of_another_is_read_as_a_whole(tmp_path: Path) -> None:
    path, reader = database("opencode", tmp_path), load_reader("opencode")
    mark = read_items(reader, path)[-1]
    assert isinstance(mark, Mark)
    add_session(path, "older", ahead=-9)
    assert "older" in conversations(read_items(reader, path, mark))


@pytest.mark.parametrize("kind", DATABASES)
def test_a_database_with_another_schema_is_refused(kind: str, tmp_path: Path) -> None:
    path = tmp_path / DATABASES[kind]
    change(path, "CREATE TABLE session (id TEXT)")
    with pytest.raises(InvalidInput, match="schema"):
        read_items(load_reader(kind), path)


def test_a_database_that_stays_locked_is_left_for_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readonly, "_WAIT_SECONDS", 0.01)
    path = database("goose", tmp_path)
    writer = apsw.Connection(str(path))
    writer.execute("BEGIN EXCLUSIVE")
    with mnemos.open(":memory:") as memory:
        with pytest.raises(Busy):
            memory.imports.import_files(load_reader("goose"), path)
        writer.close()
        assert memory.imports.import_files(load_reader("goose"), path).messages == 5


def test_a_damaged_database_is_reported_and_read_once_it_is_whole(tmp_path: Path) -> None:
    path = database("zed", tmp_path)
    data = path.read_bytes()
    with mnemos.open(":memory:") as memory:
        path.write_bytes(data[: len(data) // 2])
        (problem,) = memory.imports.import_files(load_reader("zed"), path).problems
        assert "doctor" not in problem.why
        path.write_bytes(data)
        assert memory.imports.import_files(load_reader("zed"), path).messages == 9


@pytest.mark.parametrize("kind", DATABASES)
def test_a_database_that_is_being_written_is_read(kind: str, tmp_path: Path) -> None:
    path = database(kind, tmp_path)
    writer = apsw.Connection(str(path))
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("BEGIN IMMEDIATE")
    assert messages(read_items(load_reader(kind), path))
    writer.close()


@pytest.mark.parametrize(("kind", "path"), [*FILES.items(), *((kind, DATA / kind) for kind in FILES)])
def test_the_program_is_detected(kind: str, path: Path) -> None:
    assert detect_kind(path) == kind


def test_a_database_is_detected_by_its_name(tmp_path: Path) -> None:
    for kind in DATABASES:
        assert detect_kind(database(kind, tmp_path)) == kind


def test_records_of_the_program_are_counted() -> None:
    assert left_out(read_items(load_reader("qwen"), QWEN)) == {"records of the program": 8}


@pytest.mark.parametrize("kind", ["goose", "zed"])
def test_a_database_known_from_its_source_is_read(kind: str, tmp_path: Path) -> None:
    items = read_items(load_reader(kind), database(kind, tmp_path))
    assert shape(spoken(items))[:5] == [("user", QUESTION), *TURN]
    assert unread(items) == []
    assert_storable(items)
    session = next(iter(conversations(items).values()))
    assert (session.title, session.model) == ("Order mails", "loopback")
    assert session.metadata == {"cwd": "/home/ada/shop"}


def test_threads_of_older_versions_of_zed_are_read_and_unknown_ones_noted(tmp_path: Path) -> None:
    path = database("zed", tmp_path)
    change(path, "UPDATE threads SET data = replace(data, '0.2.0', '0.9.0') WHERE id = 'older'")
    items = read_items(load_reader("zed"), path)
    assert "older" not in conversations(items)
    assert len(unread(items)) == 1
    again = tmp_path / "again"
    again.mkdir()
    older = [
        said
        for said in messages(read_items(load_reader("zed"), database("zed", again)))
        if said.session_id == "older"
    ]
    assert [said.fields["role"] for said in older] == ["user", "assistant", "assistant", "tool"]


def test_a_task_of_the_extension_of_cline_is_read(tmp_path: Path) -> None:
    path = tmp_path / "1736000000000" / "api_conversation_history.json"
    path.parent.mkdir()
    path.write_text((DATA / "cline" / "task.json").read_text())
    items = read_items(load_reader("cline"), path)
    assert spoken(items) == [
        ("user", "Make the logo bigger"),
        ("assistant", "I read the file.\n<read_file><path>logo.svg</path></read_file>"),
        ("tool", "<svg/>"),
        ("assistant", "Done."),
    ]
    (session,) = conversations(items).values()
    assert session.metadata == {"cwd": "/home/ada/shop"}
    assert detect_kind(path) == "cline"


def test_an_answer_of_continue_that_is_being_written_waits(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    answer = '{"message": {"role": "assistant", "content": "It is"}}'
    path.write_text(f'{{"sessionId": "s", "history": [{answer}]}}')
    items = read_items(load_reader("continue"), path)
    assert (messages(items), left_out(items)) == ([], {"unfinished answers": 1})


@pytest.mark.parametrize("kind", ["cline", "continue"])
def test_a_file_of_an_unknown_version_is_refused(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "s.messages.json"
    path.write_text('{"version": 9, "turns": []}')
    with pytest.raises(InvalidInput, match="unknown"):
        read_items(load_reader(kind), path)


@pytest.mark.parametrize("kind", [*FILES, *DATABASES])
def test_importing_a_program_twice_adds_nothing(kind: str, tmp_path: Path) -> None:
    path = database(kind, tmp_path) if kind in DATABASES else FILES[kind]
    copy = tmp_path / "copy"
    copy.mkdir()
    with mnemos.open(":memory:") as memory:
        first = memory.imports.import_files(load_reader(kind), path)
        assert first.messages > 3
        moved = copy / path.name
        moved.write_bytes(path.read_bytes())
        again = memory.imports.import_files(load_reader(kind), moved)
        assert again.messages == 0 or kind == "aider"
        assert memory.imports.import_files(load_reader(kind), path).unchanged == 1


REQUEST = {
    "requestId": "r1",
    "timestamp": 1794897910000,
    "message": {"text": QUESTION, "parts": []},
    "modelId": "copilot/loopback",
    "response": [],
    "modelState": {"value": 0},
}
ANSWER: list[dict[str, Any]] = [
    {"kind": "thinking", "value": "Look"},
    {
        "kind": "toolInvocationSerialized",
        "toolCallId": "c1",
        "toolId": LISTING,
        "invocationMessage": {"value": "Reading"},
        "resultDetails": {"input": "{}", "output": [{"type": "embed", "isText": True, "value": "a.txt"}]},
    },
    {"value": "Decision: the order mails go through "},
    {"kind": "inlineReference", "inlineReference": {"path": "/redis.py"}, "name": "Redis streams"},
    {"value": "."},
]


def test_a_chat_of_vs_code_is_read_from_its_log_and_an_unfinished_answer_waits(tmp_path: Path) -> None:
    folder = tmp_path / "workspaceStorage" / "w1"
    path = folder / "chatSessions" / "s1.jsonl"
    path.parent.mkdir(parents=True)
    (folder / "workspace.json").write_text(json.dumps({"folder": "file:///home/ada/shop"}))
    session = {"version": 3, "sessionId": "s1", "creationDate": 1794897900000, "requests": []}
    log: list[dict[str, Any]] = [
        {"kind": 0, "v": session},
        {"kind": 2, "k": ["requests"], "v": [REQUEST]},
        {"kind": 1, "k": ["customTitle"], "v": "Order mails"},
        {"kind": 2, "k": ["requests", 0, "response"], "v": ANSWER[:2]},
    ]
    rest: list[dict[str, Any]] = [
        {"kind": 2, "k": ["requests", 0, "response"], "v": ANSWER[2:], "i": 2},
        {"kind": 1, "k": ["requests", 0, "modelState"], "v": {"value": 1}},
        {"kind": 3, "k": ["responderUsername"]},
    ]
    path.write_text("".join(json.dumps(entry) + "\n" for entry in log) + '{"kind": 2, "k"')
    reader = load_reader("copilot")
    with mnemos.open(":memory:") as memory:
        report = memory.imports.import_files(reader, tmp_path / "workspaceStorage")
        assert (report.messages, report.left_out, report.problems) == (1, {"unfinished answers": 1}, [])
        path.write_text("".join(json.dumps(entry) + "\n" for entry in [*log, *rest]))
        assert memory.imports.import_files(reader, tmp_path / "workspaceStorage").messages == 3
        (known,) = memory.sessions.search_sessions()
        assert (known["title"], known["project"]) == ("Order mails", "/home/ada/shop")
        assert memory.sessions.get_messages("s1")[-1]["content"] == DECISION
    assert detect_kind(path) == "copilot"


def test_a_chat_of_an_older_vs_code_is_read_and_an_unknown_version_refused(tmp_path: Path) -> None:
    path = tmp_path / "s1.json"
    request = {
        **REQUEST,
        "message": QUESTION,
        "response": [{"value": DECISION}],
        "result": {},
        "isCanceled": True,
    }
    del request["modelState"]
    path.write_text(json.dumps({"sessionId": "s1", "requests": [request]}))
    items = read_items(load_reader("copilot"), path)
    assert spoken(items) == [("user", QUESTION), ("assistant", DECISION)]
    assert_storable(items)
    assert detect_kind(path) == "copilot"
    for text in (json.dumps({"version": 9, "sessionId": "s1", "requests": []}), "[]", '{"version": 3}', "{"):
        path.write_text(text)
        with pytest.raises(InvalidInput):
            read_items(load_reader("copilot"), path)


@given(seed=st.integers(0, 10_000))
def test_a_damaged_chat_of_vs_code_is_survived(seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("spoiled") / "s1.jsonl"
    session = {"version": 3, "sessionId": "s1", "requests": [{**REQUEST, "response": ANSWER}]}
    entries = [{"kind": 0, "v": session}, {"kind": 2, "k": ["requests", 0, "response"], "v": ANSWER, "i": 1}]
    path.write_bytes(spoiled("\n".join(map(json.dumps, entries)).encode(), seed))
    assert_survives(load_reader("copilot"), path)


@pytest.mark.parametrize("kind", ["opencode", "goose", "copilot"])
def test_a_part_of_an_unknown_type_is_noted_once_and_the_rest_is_read(kind: str, tmp_path: Path) -> None:
    if kind == "copilot":
        path = tmp_path / "s1.json"
        parts = [*ANSWER, *2 * [{"kind": ["hologram"]}]]
        request = REQUEST | {"response": parts, "modelState": {"value": 1}}
        path.write_text(json.dumps({"version": 3, "sessionId": "s1", "requests": [request]}))
    else:
        path = database(kind, tmp_path)
        change(
            path,
            "UPDATE part SET data = replace(data, '\"step-start\"', '\"hologram\"')"
            if kind == "opencode"
            else "UPDATE messages SET content_json = "
            "json_insert(content_json, '$[#]', json('{\"type\": \"x\"}')) WHERE role = 'assistant'",
        )
    items = read_items(load_reader(kind), path)
    sessions = len({said.session_id for said in messages(items)})
    assert unread(items) == sessions * [0]
    assert ("assistant", DECISION) in spoken(messages(items))
