"""The async example runs, and type checkers see the signatures of what it calls."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "async_agents.py"

MISTAKES = """
import mnemos

async def main() -> None:
    async with mnemos.aopen(":memory:", space="a") as memory:
        reveal_type(await memory.sessions.append_message("s", "user", "x"))
        reveal_type([fact async for fact in memory.facts.iterate()])
        await memory.recall("x", limit="three")
        await memory.sessions.apend_message("s", "user", "x")
"""


def test_agents_that_share_a_memory_find_what_the_others_kept(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", str(EXAMPLE)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert ran.stderr == ""
    assert "The van is inspected every March." in ran.stdout
    assert "I do not know" not in ran.stdout
    assert ran.stdout.endswith("kept: oven, till, van\n")
    assert list(tmp_path.iterdir()) == []


def test_a_type_checker_knows_the_async_signatures(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.py"
    wrong.write_text(MISTAKES, encoding="utf-8")
    # With the options of `make types`, which are strict, and so with what it has cached.
    command = [sys.executable, "-m", "mypy", "--no-error-summary", str(EXAMPLE), str(wrong)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    found = [line.split(": ", 1)[1] for line in ran.stdout.splitlines()]
    assert found[0] == 'note: Revealed type is "int"', ran.stdout
    assert found[1].startswith('note: Revealed type is "list[mnemos.facts.fact.Fact]"')
    assert "arg-type" in found[2]
    assert "attr-defined" in found[3]
    assert len(found) == 4
