"""Child processes that sync two homes, run as a script like ``roles.py``."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

import mnemos
from mnemos.progress import no_progress
from mnemos.testing import FixedClock
from mnemos.transfer.sync.exchange import Answering, sync


class _Peer:
    name = "the other home"

    def __init__(self, memory: mnemos.Memory) -> None:
        self.ask = Answering(memory).answer


def exchange(one: str, two: str, now: float, commits: int, side: str) -> None:
    """Sync two homes, and die after a number of commits of one of them."""
    clock = FixedClock(now)
    with (
        mnemos.open(one, embedder="none", clock=clock) as here,
        mnemos.open(two, embedder="none", clock=clock) as there,
    ):
        storage: Any = (here if side == "here" else there).storage
        write = storage.write
        left = commits

        def write_and_die(work: Callable[[Any], Any], **given: Any) -> Any:
            nonlocal left
            done = write(work, **given)
            left -= 1
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)
            return done

        storage.write = write_and_die
        sync(here, _Peer(there), no_progress)


ROLES: dict[str, Callable[..., None]] = {"exchange": exchange}

if __name__ == "__main__":
    ROLES[sys.argv[1]](**json.loads(sys.argv[2]))
