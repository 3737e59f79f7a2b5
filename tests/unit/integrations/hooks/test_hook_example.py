"""The example runs, and shows what it says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[4] / "examples" / "claude_code_session.py"


def test_the_example_shows_added_context_with_its_tokens() -> None:
    done = subprocess.run([sys.executable, str(EXAMPLE)], capture_output=True, text=True, check=True)
    first, second = done.stdout.split("Second session")
    assert "recalled-memory" not in first
    assert "We decided to use NATS JetStream for the parcel queue." in second
    assert "while a stock count is open" in second
    assert "fix the typo: nothing" in second
