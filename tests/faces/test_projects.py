"""Projects at the command line: the folder it runs in is the current one."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Mnemos


@pytest.fixture
def folders(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch, mnemos: Mnemos) -> Path:
    """A folder with two repositories; one session was recorded in each."""
    for name in ("web", "api"):
        folder = tmp_path / name / "src"
        folder.mkdir(parents=True)
        (tmp_path / name / ".git").mkdir()
        monkeypatch.chdir(folder)
        assert mnemos("sessions", "create", f"in-{name}", "--branch", "main").code == 0
        assert mnemos("sessions", "append", f"in-{name}", "user", "How do we run the tests?").code == 0
        assert mnemos("sessions", "append", f"in-{name}", "assistant", f"As {name} does.").code == 0
    return tmp_path


def test_a_session_belongs_to_the_repository_it_was_created_in(folders: Path, mnemos: Mnemos) -> None:
    session = mnemos("sessions", "show", "in-web", "--json").json["session"]
    assert (session["project"], session["branch"]) == (str(folders / "web"), "main")


def test_lists_name_the_project_of_another_folder(folders: Path, mnemos: Mnemos) -> None:
    text = mnemos("sessions", "list").out
    assert "How do we run the tests? [web]" in text
    assert "[api]" not in text
    listed = mnemos("sessions", "list", "--project", "web", "--json").json["sessions"]
    assert [(one["id"], one["elsewhere"]) for one in listed] == [("in-web", True)]


def test_the_folder_decides_what_comes_first(
    folders: Path, mnemos: Mnemos, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("web", "api"):
        monkeypatch.chdir(folders / name)
        hits = mnemos("recall", "how do we run the tests", "--json").json["hits"]
        assert hits[0]["project"] == str(folders / name)
    best = mnemos("recall", "how do we run the tests", "--all-projects", "--json").json["hits"]
    assert best[0]["score"] - best[1]["score"] < 0.5


def test_an_export_takes_one_project(folders: Path, mnemos: Mnemos) -> None:
    assert mnemos("sessions", "export", "web.jsonl", "--project", "web").code == 0
    assert Path("web.jsonl").read_text(encoding="utf-8").count("\n") == 1


def test_an_unknown_project_is_not_found(folders: Path, mnemos: Mnemos) -> None:
    assert mnemos("sessions", "list", "--project", "unknown").code == 3


def test_a_folder_that_was_deleted_is_not_a_project(
    folders: Path, mnemos: Mnemos, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = folders / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert mnemos("sessions", "create", "nowhere").code == 0
    assert mnemos("sessions", "show", "nowhere", "--json").json["session"]["project"] is None
