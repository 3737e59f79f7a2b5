"""The example runs offline and shows what it says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[4] / "examples" / "agent_loop.py"


def test_a_decision_of_turn_5_is_known_in_turn_60(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLE)],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    assert ran.stderr == ""
    turns = re.findall(r"^ *(\d+) +(\d+) tokens recalled", ran.stdout, re.MULTILINE)
    assert [int(number) for number, _ in turns] == list(range(1, 61))
    assert all(int(tokens) <= 800 for _, tokens in turns)
    story = ran.stdout.partition("Turn 5 said:")[2]
    assert "no longer in the context" in story
    assert re.search(r"with memory: .*integer cents, never as floats", story)
    assert re.search(r"without: +I do not know", story)
    assert list(tmp_path.iterdir()) == []
