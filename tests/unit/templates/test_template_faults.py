"""Full disks and unusable folders: typed errors, and nothing changes."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from recorded import record, step, user

from mnemos import Memory
from mnemos.errors import DiskFull, MnemosError, PermissionDenied, Unavailable
from mnemos.sessions.sessions import Sessions
from mnemos.templates import SessionTemplate
from mnemos.templates.template_files import TemplateFolder
from mnemos.templates.template_store import Templates


def failing(code: int) -> Callable[..., Any]:
    def fail(*_: Any, **__: Any) -> Any:
        raise OSError(code, os.strerror(code))

    return fail


@pytest.fixture
def lifted(templates: Templates, sessions: Sessions) -> SessionTemplate:
    record(sessions, "good", [user("go"), *step("a", "terminal", "ok", command="x")])
    template = templates.create_template("good", "first", description="of quokkas")
    assert template is not None
    return template


@pytest.mark.parametrize(
    ("code", "error"),
    [(errno.ENOSPC, DiskFull), (errno.EROFS, PermissionDenied), (errno.EIO, Unavailable)],
)
def test_a_failed_write_changes_nothing(
    lifted: SessionTemplate,
    templates: Templates,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    code: int,
    error: type[MnemosError],
) -> None:
    before = (folder / "first.json").read_bytes()
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", failing(code))
        with pytest.raises(error):
            templates.create_template("good", "second")
        lifted.description = "changed"
        with pytest.raises(error):
            templates.save(lifted)
        assert len(templates.inject_into_messages(lifted, [])) > 0
    assert (folder / "first.json").read_bytes() == before
    assert sorted(path.name for path in folder.iterdir()) == [".lock", "first.json"]


def test_a_folder_that_cannot_be_made_or_changed_is_an_error(
    lifted: SessionTemplate, templates: Templates, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(Path, "mkdir", failing(errno.EACCES))
        with pytest.raises(PermissionDenied):
            templates.create_template("good", "second")
    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", failing(errno.EACCES))
        with pytest.raises(PermissionDenied):
            templates.delete_template("first")
    assert templates.list_templates() == [lifted]


@pytest.mark.parametrize(
    ("code", "error"), [(errno.EACCES, PermissionDenied), (errno.EIO, Unavailable), (errno.ENOENT, None)]
)
def test_a_file_that_cannot_be_read_is_a_problem_and_one_that_just_went_is_none(
    lifted: SessionTemplate,
    templates: Templates,
    monkeypatch: pytest.MonkeyPatch,
    code: int,
    error: type[MnemosError] | None,
) -> None:
    monkeypatch.setattr(Path, "read_bytes", failing(code))
    assert templates.list_templates() == []
    assert [problem.name for problem in templates.problems()] == (["first"] if error else [])
    if error:
        with pytest.raises(error):
            templates.show("first")


def test_recall_and_forget_work_when_the_folder_cannot_be_read(
    lifted: SessionTemplate,
    templates: Templates,
    memory: Memory,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "scandir", failing(errno.EACCES))
    with pytest.raises(Unavailable):
        templates.list_templates()
    (problem,) = templates.problems()
    assert str(folder) in problem.reason
    assert memory.recall("quokkas", kinds=["template"]).hits
    monkeypatch.undo()
    monkeypatch.setattr("mnemos.templates.template_files.os.scandir", failing(errno.EACCES))
    assert str(folder) in memory.forget("session:good")["copies"]


def test_a_file_that_its_owner_made_read_only_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = TemplateFolder(tmp_path, busy_seconds=1)
    folder.change("x", lambda _: "one", 1.0)
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(PermissionDenied):
        folder.change("x", lambda _: "two", 1.0)
    assert folder.read("x") == "one"


def test_leftovers_of_a_killed_process_are_ignored(
    lifted: SessionTemplate, templates: Templates, folder: Path
) -> None:
    left = folder / f".first.json.{os.getppid()}.new"
    left.write_text("half", encoding="utf-8")
    templates.inject_into_messages(lifted, [])
    assert templates.show("first").usage_count == 1
    assert not left.exists()
