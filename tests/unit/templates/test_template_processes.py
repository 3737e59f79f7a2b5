"""Several processes use one folder: no use is lost, and a name is made once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from recorded import record, step, user

from mnemos import Memory
from mnemos.errors import Busy
from mnemos.templates import SessionTemplate, TaskType, ToolCallExample
from mnemos.templates.template_files import TemplateFolder

fcntl = pytest.importorskip("fcntl")

USES = """
import sys
from mnemos import SessionTemplates
kept = SessionTemplates(sys.argv[1])
(template,) = kept.list_templates()
for _ in range(25):
    kept.inject_into_messages(template, [])
"""

CREATES = """
import sys
from mnemos.errors import AlreadyExists
from mnemos import SessionTemplates
with SessionTemplates() as kept:
    made = []
    for number in range(10):
        try:
            kept.create_template("s", f"name-{number}", description=sys.argv[1])
            made.append(number)
        except AlreadyExists:
            pass
    for _ in range(5):
        kept.create_template("s")
    print(*made)
"""


def run(code: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, text=True)


def test_uses_counted_by_several_processes_add_up(home: Path) -> None:
    folder = home / "session-templates"
    with Memory.at(home, embedder="none") as memory:
        example = ToolCallExample("terminal", {}, "ok", success=True)
        memory.templates.save(SessionTemplate("x", TaskType.CODE, [example]))
        processes = [run(USES, str(folder)) for _ in range(3)]
        template = memory.templates.show("x")
        for _ in range(25):
            memory.templates.inject_into_messages(template, [])
        # No reader ever sees half a file.
        while any(process.poll() is None for process in processes):
            assert [one.name for one in memory.templates.list_templates()] == ["x"]
            assert memory.templates.problems() == []
        assert [process.communicate()[0] for process in processes] == ["", "", ""]
        assert memory.templates.show("x").usage_count == 100
    assert [path.name for path in folder.iterdir() if path.name != ".lock"] == ["x.json"]


def test_a_name_is_made_by_one_process_only(home: Path) -> None:
    with Memory.at(home, embedder="none") as memory:
        record(memory.sessions, "s", [user("go"), *step("a", "terminal", command="x")])
        processes = {who: run(CREATES, who) for who in ("one", "two", "three")}
        made = {who: process.communicate()[0].split() for who, process in processes.items()}
        assert sorted(number for numbers in made.values() for number in numbers) == sorted(
            map(str, range(10))
        )
        for who, numbers in made.items():
            for number in numbers:
                assert memory.templates.show(f"name-{number}").description == who
        # Names that nobody chose never collide.
        assert memory.templates.get_template_stats()["total"] == 25


def test_a_locked_folder_is_an_error(tmp_path: Path) -> None:
    folder = TemplateFolder(tmp_path, busy_seconds=0.01)
    folder.change("x", lambda _: "{}", 1.0)
    with (tmp_path / ".lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(Busy):
            folder.change("x", lambda _: "other", 1.0)
        assert folder.read("x") == "{}"
