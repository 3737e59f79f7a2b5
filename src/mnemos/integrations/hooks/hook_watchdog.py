"""The process that an agent program waits for, which always ends in time.

A child process does the work, because only the kernel can end one that waits for a disk, or computes in C and
holds the interpreter. Little is imported before the child begins.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import sys
import time
from collections.abc import Sequence
from typing import Final

SECONDS: Final = 8.0
"""Maximum seconds that the agent waits for a hook. ``connect`` sets 10 in the programs."""
# Recording goes on without the agent. If stopped, it would start over at the next event.
_ANSWERED: Final = frozenset({"session-start", "user-prompt"})
_RECORD_SECONDS: Final = 60.0
_CHUNK: Final = 1 << 16


def main(arguments: Sequence[str]) -> None:
    """Run a hook in a child process, print its answer if it comes in time, and exit."""
    # These processes are too short-lived for garbage collection.
    gc.disable()
    try:
        _silence()
        reading, writing = os.pipe()
        if os.fork() == 0:
            os.close(reading)
            _run(arguments, writing)
        else:
            os.close(writing)
            _pass_on(reading)
    except BaseException:  # noqa: BLE001, S110 - an interrupt too must not look like the failure of a hook
        pass
    # Skip the interpreter's shutdown: the kernel closes what is open.
    os._exit(0)


def _run(arguments: Sequence[str], answer: int) -> None:
    # The agent may wait until every process has closed its pipe.
    os.dup2(answer, sys.stdout.fileno())
    os.close(answer)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, SECONDS if _ANSWERED.intersection(arguments) else _RECORD_SECONDS)
    from mnemos.integrations.hooks import hook_process

    hook_process.main(arguments)


def _pass_on(answer: int) -> None:
    until = time.monotonic() + SECONDS
    text = bytearray()
    while (left := until - time.monotonic()) > 0 and select.select([answer], [], [], left)[0]:
        part = os.read(answer, _CHUNK)
        if not part:
            break
        text += part
    # An answer is one line. The agent would take part of one for plain text.
    if text.endswith(b"\n"):
        sys.stdout.buffer.write(text)
        sys.stdout.flush()


def _silence() -> None:
    """Discard standard error, which the agent would see."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)
