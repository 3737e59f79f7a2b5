"""``mnemos import``: what is found, what a file is, and what comes in as it grows."""

from __future__ import annotations

import json
import os
import shutil
import threading
import zipfile
from pathlib import Path
from typing import Any

import pytest

from mnemos.faces.cli.output import watch
from mnemos.memory import Memory
from mnemos.operations import registry

from .conftest import IMPORTS, Mnemos
from .test_setting_up_a_provider import in_a_conversation


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of somebody who uses Claude Code and Codex."""
    folder = tmp_path / "person"
    folder.mkdir()
    shutil.copytree(IMPORTS / "claude-code", folder / ".claude" / "projects")
    shutil.copytree(IMPORTS / "codex", folder / ".codex")
    monkeypatch.setenv("HOME", str(folder))
    return folder


def test_import_alone_lists_what_is_there_and_imports_nothing(
    mnemos: Mnemos, person: Path, home: Path
) -> None:
    answer = mnemos("import")
    assert answer.code == 0
    assert "Claude Code: 6 files, 138.2 kB, in ~/.claude/projects" in answer.out
    assert "mnemos import codex" in answer.out
    assert not (home / "mnemos.db").exists()


def test_of_exports_the_newest_among_the_downloads_is_found(
    mnemos: Mnemos, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    downloads = tmp_path / "Downloads"
    downloads.mkdir()
    for name, service, at in (
        ("old", "chatgpt", 1_000),
        ("new one", "chatgpt", 2_000),
        ("c", "claude", 1_500),
    ):
        path = downloads / f"{name}.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
            packed.write(IMPORTS / service / "export" / "conversations.json", "conversations.json")
        os.utime(path, (at, at))
    (downloads / "holiday.zip").write_bytes(b"no zip at all")
    answer = mnemos("import", "--json").json
    assert [(one["kind"], Path(one["path"]).name) for one in answer["there"]] == [
        ("chatgpt", "new one.zip"),
        ("claude", "c.zip"),
    ]
    assert f"mnemos import chatgpt '{downloads}/new one.zip'" in mnemos("import").out
    brought = mnemos("import", "found", "--all", "--json").json["brought"]
    assert [one["messages"] > 0 for one in brought] == [True, True]


def test_where_nothing_is_it_says_what_could_be_imported(
    mnemos: Mnemos, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    answer = mnemos("import")
    assert answer.code == 0
    assert "mnemos import PATH" in answer.out


def test_everything_that_is_found_comes_in_when_asked_for(mnemos: Mnemos, person: Path) -> None:
    brought = mnemos("import", "found", "--all", "--json").json["brought"]
    assert [one["kind"] for one in brought] == ["claude-code", "codex"]
    assert all(one["messages"] > 0 for one in brought)
    assert "Redis streams" in mnemos("recall", "which queue sends the order mails").out


def test_an_option_of_what_is_run_alone_may_follow_the_group(mnemos: Mnemos, person: Path) -> None:
    brought = mnemos("import", "--json", "--all").json["brought"]
    assert [one["kind"] for one in brought] == ["claude-code", "codex"]
    assert mnemos("import", "--nonsense").code == 2


def test_yes_imports_everything_found_without_a_question(
    mnemos: Mnemos, person: Path, home: Path, tmp_path: Path
) -> None:
    brought = mnemos("import", "--yes", "--json").json["brought"]
    assert [one["kind"] for one in brought] == ["claude-code", "codex"]
    assert mnemos("import", "claude-code", "--yes").code == 0
    seen = in_a_conversation("import", "--yes", home=tmp_path / "another", answers=[])
    assert (seen.code, "Import Codex" in seen.screen) == (0, False)


def test_at_a_terminal_each_program_is_asked_for(person: Path, home: Path) -> None:
    seen = in_a_conversation("import", home=home, answers=[("Claude Code", "no"), ("Codex", "yes")])
    assert seen.code == 0
    with Memory.at(home) as memory:
        assert {source for source, _, _ in memory.storage.read(lambda tx: tx.sessions.by_source())} <= {
            "codex",
            "subagent",
        }
        assert memory.sessions.message_count() > 0


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("claude-code", "claude-code"),
        ("codex", "codex"),
        ("chatgpt/export/conversations.json", "chatgpt"),
        ("claude/export", "claude"),
        ("jsonl/tuning.jsonl", "jsonl"),
    ],
)
def test_a_path_alone_is_looked_into(mnemos: Mnemos, path: str, kind: str) -> None:
    answer = mnemos("import", str(IMPORTS / path), "--json")
    assert answer.code == 0
    assert answer.json["kind"] == kind
    assert answer.json["messages"] > 0
    assert mnemos("import", str(IMPORTS / path), "--json").json["messages"] == 0


def test_a_zip_file_is_looked_into(mnemos: Mnemos, tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.write(IMPORTS / "chatgpt" / "export" / "conversations.json", "conversations.json")
    assert mnemos("import", str(path), "--json").json["kind"] == "chatgpt"


def test_a_word_that_is_neither_a_command_nor_a_file_is_a_mistake(mnemos: Mnemos) -> None:
    answer = mnemos("import", "claude-cod")
    assert answer.code == 2
    assert "claude-code" in answer.err


def test_a_path_that_is_not_there_is_said_so(mnemos: Mnemos, tmp_path: Path) -> None:
    answer = mnemos("import", str(tmp_path / "nothing.zip"))
    assert answer.code == 2
    assert "There is no file" in answer.err


def test_a_file_that_is_not_there_is_no_mistyped_command(mnemos: Mnemos) -> None:
    answer = mnemos("import", "nothing.zip")
    assert answer.code == 2
    assert "There is no file or folder nothing.zip" in answer.err


def test_a_path_that_cannot_be_looked_at_is_said_so(mnemos: Mnemos, tmp_path: Path) -> None:
    answer = mnemos("import", str(tmp_path / ("x" * 5_000)))
    assert answer.code == 2
    assert "File name too long" in answer.err


@pytest.mark.parametrize("words", [("claude-code",), ("found", "--all")])
def test_to_look_makes_no_home(mnemos: Mnemos, person: Path, home: Path, words: tuple[str, ...]) -> None:
    answer = mnemos("import", *words, "--dry-run")
    assert answer.code == 0
    assert "Would import" in answer.out
    assert not home.exists()


def test_a_broken_link_among_the_downloads_hides_no_export(
    mnemos: Mnemos, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    shutil.copytree(IMPORTS / "chatgpt" / "export", tmp_path / "Downloads")
    (tmp_path / "Downloads" / "circle.zip").symlink_to("circle.zip")
    assert [one["kind"] for one in mnemos("import", "--json").json["there"]] == ["chatgpt"]


def test_a_file_of_another_kind_is_said_so(mnemos: Mnemos, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("Just some notes.")
    answer = mnemos("import", str(path))
    assert answer.code == 2
    assert "Name the format" in answer.err


def test_a_file_of_which_nothing_is_understood_ends_with_a_failure(mnemos: Mnemos, tmp_path: Path) -> None:
    path = tmp_path / "spoilt.jsonl"
    path.write_text("no JSON\n" * 3)
    answer = mnemos("import", "claude-code", str(path))
    assert answer.code == 1
    assert "(3):" in answer.out
    assert f"{path}:2" in answer.out


def test_watched_files_are_imported_as_they_grow(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "talk.jsonl"
    path.write_text(_line("one"))
    request = registry.read("import_jsonl", {"path": str(path)})
    ended = _After(path)
    with Memory.at(home, embedder="none") as memory:
        code = watch(memory, request, as_json=True, pause=0.0, ended=ended)
        (session,) = memory.sessions.search_sessions()
        texts = [message["content"] for message in memory.sessions.get_messages(session["id"])]
    assert code == 0
    assert texts == ["one", "two", "three"]
    said = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    # The round that found nothing new said nothing.
    assert [one["messages"] for one in said] == [1, 1, 1]


class _After(threading.Event):
    """Ends the watching after some rounds; in two of them somebody writes."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._texts: list[Any] = ["two", None, "three"]

    def wait(self, timeout: float | None = None) -> bool:
        if not self._texts:
            return True
        text = self._texts.pop(0)
        if text is not None:
            with self._path.open("a") as file:
                file.write(_line(text))
        return False


def _line(text: str) -> str:
    return json.dumps({"role": "user", "content": text}) + "\n"


def test_a_watch_outlives_a_database_that_is_busy(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from mnemos.errors import Busy
    from mnemos.transfer.imports import Imports

    path = tmp_path / "talk.jsonl"
    path.write_text(_line("one"))
    request = registry.read("import_jsonl", {"path": str(path)})
    import_files = Imports.import_files
    calls: list[int] = []

    def sometimes(self: Imports, *given: Any, **options: Any) -> Any:
        calls.append(1)
        if len(calls) == 2:
            raise Busy("somebody else is writing; try again")
        return import_files(self, *given, **options)

    monkeypatch.setattr(Imports, "import_files", sometimes)
    with Memory.at(home, embedder="none") as memory:
        assert watch(memory, request, as_json=False, pause=0.0, ended=_After(path)) == 0
        assert memory.sessions.message_count() == 3
    assert "try again" in capsys.readouterr().err


def test_unreadable_files_are_reported_once_while_they_are_watched(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "talk.jsonl"
    path.write_text(_line("one"))
    (tmp_path / "circle.jsonl").symlink_to("circle.jsonl")
    request = registry.read("import_jsonl", {"path": str(tmp_path)})
    with Memory.at(home, embedder="none") as memory:
        watch(memory, request, as_json=True, pause=0.0, ended=_After(path))
    said = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [one["messages"] for one in said] == [1, 1, 1]


@pytest.mark.parametrize(("options", "disabled"), [({}, True), ({"dry_run": True}, False)])
def test_what_stores_nothing_is_not_watched(
    home: Path, tmp_path: Path, options: dict[str, bool], disabled: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "talk.jsonl"
    path.write_text(_line("one"))
    request = registry.read("import_jsonl", {"path": str(path), **options})
    with Memory.at(home, embedder="none", disabled=disabled) as memory:
        watch(memory, request, as_json=True, pause=0.0, ended=_After(path))
        assert memory.sessions.message_count() == 0
    assert len(capsys.readouterr().out.splitlines()) == 1


class _Away(_After):
    """Takes what is watched away for two rounds."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._rounds = 0

    def wait(self, timeout: float | None = None) -> bool:
        self._rounds += 1
        if self._rounds in (1, 3):
            here, there = self._path, self._path.with_suffix(".away")
            _ = here.rename(there) if self._rounds == 1 else there.rename(here)
        return super().wait(timeout) if self._rounds >= 3 else False


def test_a_watch_outlives_a_file_that_is_away(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "talk.jsonl"
    path.write_text(_line("one"))
    request = registry.read("import_jsonl", {"path": str(path)})
    with Memory.at(home, embedder="none") as memory:
        assert watch(memory, request, as_json=False, pause=0.0, ended=_Away(path)) == 0
        assert memory.sessions.message_count() == 3
    assert capsys.readouterr().err.count("talk.jsonl") == 1


def archived(home: Path, tmp_path: Path) -> Path:
    archive = tmp_path / "memory.tar"
    with Memory.at(tmp_path / "elsewhere") as memory:
        memory.sessions.create_session("s", "cli")
        memory.export(archive)
    with Memory.at(home) as memory:
        memory.sessions.create_session("own", "cli")
    return archive


@pytest.mark.parametrize(("answer", "sessions"), [("no", {"own"}), ("yes", {"own", "s"})])
def test_an_archive_comes_into_a_memory_in_use_only_after_it_said_that_it_stays(
    home: Path, tmp_path: Path, answer: str, sessions: set[str]
) -> None:
    archive = archived(home, tmp_path)
    in_a_conversation("import", str(archive), home=home, answers=[("cannot be undone", answer)])
    with Memory.at(home) as memory:
        assert {session["id"] for session in memory.sessions.search_sessions()} == sessions


def test_yes_imports_an_archive_without_a_question(home: Path, tmp_path: Path) -> None:
    archive = archived(home, tmp_path)
    assert in_a_conversation("import", str(archive), "--yes", home=home, answers=[]).code == 0
    with Memory.at(home) as memory:
        assert memory.sessions.session_count() == 2


def test_where_nobody_can_be_asked_an_archive_comes_in(home: Path, tmp_path: Path, mnemos: Mnemos) -> None:
    assert mnemos("import", str(archived(home, tmp_path)), "--home", str(home)).code == 0
    with Memory.at(home) as memory:
        assert memory.sessions.session_count() == 2
