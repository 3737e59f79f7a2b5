"""Files are never held: memory does not grow with them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from .alone import FILES

# A few chunks, and a few of the longest elements; any of the files would take more when held.
MOST = 12_000_000


@pytest.mark.parametrize("name", FILES)
def test_reading_takes_the_same_memory_however_long_the_file_is(name: str) -> None:
    script = Path(__file__).with_name("alone.py")
    done = subprocess.run([sys.executable, script, name], capture_output=True, text=True, check=True)
    assert int(done.stdout) < MOST
