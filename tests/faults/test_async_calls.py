"""Programs of async code that end in the middle of their calls: nothing acknowledged is lost."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

import mnemos

PROGRAM = """
import asyncio, sys
import mnemos

async def append(memory, n):
    await memory.sessions.append_message("s", "user", str(n))
    print(n, flush=True)

async def main():
    async with mnemos.aopen(sys.argv[1]) as memory:
        await memory.sessions.create_session("s", "test")
        for first in range(0, 100_000, 100):
            await asyncio.gather(*(append(memory, n) for n in range(first, first + 100)))

asyncio.run(main())
"""


@pytest.mark.parametrize("ended_by", [signal.SIGKILL, signal.SIGINT])
def test_what_was_acknowledged_is_stored_in_order(home: Path, ended_by: signal.Signals) -> None:
    command = [sys.executable, "-c", PROGRAM, str(home)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as program:
        assert program.stdout is not None
        lines = [program.stdout.readline() for _ in range(250)]
        program.send_signal(ended_by)
        lines += program.stdout.read().splitlines()
    acknowledged = [int(line) for line in lines if line]
    with mnemos.open(home) as memory:
        stored = [int(message["content"]) for message in memory.sessions.get_messages("s")]
        assert all(check.ok for check in memory.doctor())
    # Those that were cancelled before they began are missing.
    assert stored == sorted(set(stored))
    assert set(acknowledged) <= set(stored)
    assert len(acknowledged) >= 250
