from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import mnemos
from mnemos.sessions.sessions import Sessions

CALL = {
    "id": "c1",
    "type": "function",
    "function": {"name": "read_file", "arguments": '{"path": "/srv/app.py"}'},
}


@pytest.fixture
def memory(home: Path) -> Iterator[mnemos.Memory]:
    with mnemos.open(home) as opened:
        yield opened


@pytest.fixture
def sessions(memory: mnemos.Memory) -> Sessions:
    """A session ``s`` with a few messages."""
    memory.sessions.create_session("s", "cli", title="The first")
    memory.sessions.append_messages(
        "s",
        [
            {"role": "user", "content": "what's in gateway/run.py? C++ or NEAR(a b) said {col:x} ^start"},
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
            {
                "role": "tool",
                "content": "东京都 50% done $5 🎉",
                "tool_name": "read_file",
                "tool_call_id": "c1",
            },
            {"role": "assistant", "content": [{"type": "text", "text": "a \0 NUL and a \ud800 surrogate"}]},
        ],
    )
    return memory.sessions
