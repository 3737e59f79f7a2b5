"""Detection of formats by content."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import zipfile
from pathlib import Path

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st
from items import DATA, spoiled
from test_hermes_reader import hermes_database

from mnemos.transfer import import_formats
from mnemos.transfer.agent_places import KINDS
from mnemos.transfer.import_formats import detect_kind
from mnemos.transfer.reader import load_reader

CODEX = DATA / "codex"
FILES = sorted(path for path in DATA.rglob("*") if path.is_file())


def renamed(path: Path, tmp_path: Path) -> Path:
    """The same under a name that tells nothing."""
    return Path(shutil.copy(path, tmp_path / "something"))


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("chatgpt/export/conversations.json", "chatgpt"),
        ("chatgpt/split/conversations-001.json", "chatgpt"),
        ("claude/export/conversations.json", "claude"),
        ("claude/old/conversations.json", "claude"),
        ("jsonl/tuning.jsonl", "jsonl"),
        ("jsonl/one-message-a-line.jsonl", "jsonl"),
        ("jsonl/ours.jsonl", "jsonl"),
        ("jsonl/odd.jsonl", "jsonl"),
        ("chatgpt/export/user.json", None),
        ("claude/export/projects.json", None),
    ],
)
def test_a_file_is_known_by_its_contents(name: str, kind: str | None, tmp_path: Path) -> None:
    assert detect_kind(DATA / name) == kind
    assert detect_kind(renamed(DATA / name, tmp_path)) == kind


@pytest.mark.parametrize("path", sorted(CODEX.rglob("*.jsonl")), ids=lambda path: path.stem[-5:])
def test_every_rollout_is_known(path: Path, tmp_path: Path) -> None:
    assert detect_kind(renamed(path, tmp_path)) == "codex"


@pytest.mark.parametrize(
    ("name", "kind"),
    [("chatgpt/export", "chatgpt"), ("claude/old", "claude"), ("codex", "codex"), ("jsonl", "jsonl")],
)
def test_a_folder_is_what_is_in_it(name: str, kind: str) -> None:
    assert detect_kind(DATA / name) == kind


def test_transcripts_of_claude_code_are_known(tmp_path: Path) -> None:
    path = tmp_path / "projects" / "-home-dev" / "x.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text(
        '{"type":"file-history-snapshot","messageId":"m"}\n'
        '{"type":"user","sessionId":"s","uuid":"u","message":{"role":"user","content":"hi"}}\n'
    )
    assert detect_kind(path) == "claude-code"
    assert detect_kind(tmp_path) == "claude-code"
    assert detect_kind(tmp_path / "projects") == "claude-code"


def test_a_zip_is_what_is_in_it(tmp_path: Path) -> None:
    path = tmp_path / "download"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(DATA / "claude" / "export" / "users.json", "users.json")
        archive.write(DATA / "claude" / "export" / "conversations.json", "conversations.json")
    assert detect_kind(path) == "claude"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", "a")
    assert detect_kind(path) is None


def test_a_long_first_line_is_known_by_its_keys(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text(
        json.dumps({"title": 'the "mapping": of it', "id": "a", "messages": [{"x": "y" * 100_000}]})
    )
    assert detect_kind(path) == "jsonl"
    meta = {"timestamp": "2026-01-01T00:00:00Z", "type": "session_meta", "payload": {"id": "x" * 100_000}}
    path.write_text(json.dumps(meta))
    assert detect_kind(path) == "codex"


def test_a_conversation_over_several_lines_is_known(tmp_path: Path) -> None:
    path = tmp_path / "x"
    one = json.loads((DATA / "chatgpt" / "export" / "conversations.json").read_text())[0]
    path.write_text(json.dumps(one, indent=2))
    assert detect_kind(path) == "chatgpt"
    path.write_text(json.dumps({"conversations": [{"uuid": "u", "chat_messages": []}]}, indent=2))
    assert detect_kind(path) == "claude"


def test_databases_are_known_by_their_tables(tmp_path: Path) -> None:
    database = hermes_database(tmp_path / "hermes" / "state.db")
    assert detect_kind(renamed(database.path, tmp_path)) == "hermes"
    assert detect_kind(database.path.parent) == "hermes"
    database.close()
    memory = apsw.Connection(str(tmp_path / "facts.db"))
    memory.execute("CREATE TABLE scopes (id TEXT, label TEXT, status TEXT)")
    memory.execute("CREATE TABLE facts (id TEXT, type TEXT, scope_id TEXT, superseded_by TEXT)")
    memory.close()
    assert detect_kind(tmp_path / "facts.db") == "hermes-memory"
    other = apsw.Connection(str(tmp_path / "other.db"))
    other.execute("CREATE TABLE t (a)")
    other.close()
    assert detect_kind(tmp_path / "other.db") is None


def test_a_home_of_ours_is_not_taken_for_that_of_hermes(tmp_path: Path) -> None:
    import mnemos

    with mnemos.SessionDB(tmp_path / "ours.db") as sessions:
        sessions.create_session("s", "cli")
        sessions.append_message("s", "user", "hello")
    assert detect_kind(tmp_path / "ours.db") is None


def test_archives_are_known_in_every_form(tmp_path: Path) -> None:
    from mnemos.transfer.archive.archive_reader import Form
    from mnemos.transfer.archive.archive_writer import pack

    folder = tmp_path / "archive"
    folder.mkdir()
    (folder / "manifest.json").write_text('{\n  "kind": "mnemos archive",\n  "format": 1\n}\n')
    (folder / "sessions.jsonl").write_text('{"id": "s", "messages": []}\n')
    assert detect_kind(folder) == "archive"
    for form in (Form.TAR, Form.GZIP, Form.ZSTD):
        path = tmp_path / f"packed-{form}"
        pack(folder, ["manifest.json", "sessions.jsonl"], path, form, at=0.0, advance=lambda _: None)
        assert detect_kind(path) == "archive"
    pack(folder, ["sessions.jsonl"], tmp_path / "other.tar", Form.TAR, at=0.0, advance=lambda _: None)
    assert detect_kind(tmp_path / "other.tar") is None


def test_other_files_have_no_kind(tmp_path: Path) -> None:
    for name, data in {
        "empty": b"",
        "text": b"Hello there",
        "list": b"[1, 2]",
        "object": b'{"a": 1}',
        "gzip": gzip.compress(b"x" * 5000),
        "zstd": b"\x28\xb5\x2f\xfd but no",
        "zip": b"PK\x03\x04 but no",
        "sqlite": b"SQLite format 3\0" + b"x" * 100,
        "half": b'{"type": "session_meta", "payl',
    }.items():
        (tmp_path / name).write_bytes(data)
        assert detect_kind(tmp_path / name) is None, name
    (tmp_path / "folder").mkdir()
    assert detect_kind(tmp_path / "folder") is None
    assert detect_kind(tmp_path / "missing") is None


def test_an_unreadable_file_does_not_hide_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(DATA / "claude-code", tmp_path / "projects")
    (tmp_path / "projects" / "0.jsonl").write_text("{}")
    read = import_formats._detect_file

    def may_not_read(path: Path) -> str | None:
        if path.name == "0.jsonl":
            raise PermissionError(13, "Permission denied")
        return read(path)

    # By a mode it would be read all the same when root runs the tests.
    monkeypatch.setattr(import_formats, "_detect_file", may_not_read)
    assert detect_kind(tmp_path) == "claude-code"


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert detect_kind(tmp_path / "pipe") is None
    assert detect_kind(tmp_path) is None


def test_only_the_beginning_of_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "huge"
    with path.open("wb") as file:
        file.write(b'{"role": "user", "content": "')
        file.truncate(1 << 36)
    assert detect_kind(path) == "jsonl"


@given(
    st.binary(max_size=700),
    st.sampled_from([b"", b"PK\x03\x04", b"\x28\xb5\x2f\xfd", b"\x1f\x8b", b"{", b"["]),
)
def test_any_bytes_are_survived(tmp_path_factory: pytest.TempPathFactory, data: bytes, head: bytes) -> None:
    path = tmp_path_factory.mktemp("sniff") / "x"
    path.write_bytes(head + data)
    detect_kind(path)


@given(st.integers(0, 1 << 32), st.sampled_from(FILES))
def test_spoiled_files_are_survived(tmp_path_factory: pytest.TempPathFactory, seed: int, file: Path) -> None:
    path = tmp_path_factory.mktemp("sniff") / "x"
    path.write_bytes(spoiled(file.read_bytes() or b"x", seed))
    detect_kind(path)


def test_every_kind_has_a_reader() -> None:
    for kind in (*KINDS, "chatgpt", "claude", "jsonl", "aider"):
        assert load_reader(kind).kind == kind
