"""Memories in the interface of mem0, with several writers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from mnemos.integrations.mem0 import Memory

_CHILD = """
import sys
from mnemos.integrations.mem0 import Memory
with Memory(sys.argv[1]) as memory:
    for number in range(20):
        memory.update(sys.argv[2], f"{sys.argv[3]}{number}", {f"{sys.argv[3]}{number}": number})
"""


def test_two_processes_that_update_a_memory_lose_no_change(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        [added] = memory.add("one", user_id="ada", infer=False)["results"]
        children = [
            subprocess.Popen([sys.executable, "-c", _CHILD, str(tmp_path), added["id"], name])
            for name in "xy"
        ]
        assert [child.wait() for child in children] == [0, 0]
        texts = [change["new_memory"] for change in memory.history(added["id"])]
        updates = {f"{name}{number}" for name in "xy" for number in range(20)}
        assert set(texts) == {"one"} | updates
        found = memory.get(added["id"]) or {}
        assert (set(found["metadata"]), found["memory"]) == (updates, texts[-1])
