"""The types that users see: a program that mypy --strict accepts, and mistakes that it finds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from .typed_program import main

PROGRAM = Path(__file__).with_name("typed_program.py")
ROOT = Path(__file__).parents[2]
MISTAKES = """
import mnemos

with mnemos.open(":memory:") as memory:
    memory.tools("opnai")
    memory.sessions.append_message("s", "asistant", "x")
    memory.recall("x", kinds=["facts"])
    memory.search("x", sort="newst")
    memory.search("x")[0]["txt"]
    memory.sessions.get_messages("s")[0]["text"]
    memory.sessions.search_sessions()[0]["name"]
    memory.forget("f1")["gone"]
"""


def test_the_program_runs() -> None:
    assert main() == ["Order mails", "chat", "2", "True"]


def test_mypy_accepts_the_program_and_finds_every_mistake(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.py"
    wrong.write_text(MISTAKES)
    done = subprocess.run(
        [*(sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={tmp_path / 'cache'}"),
         str(PROGRAM), str(wrong)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={"MYPYPATH": str(ROOT / "src"), "PATH": ""},
        check=False,
    )  # fmt: skip
    found = [line.split(":") for line in done.stdout.splitlines() if ": error:" in line]
    lines = [number for number, line in enumerate(MISTAKES.splitlines(), 1) if line.startswith("    ")]
    assert [(Path(file).name, int(line)) for file, line, *_ in found] == [("wrong.py", n) for n in lines]
