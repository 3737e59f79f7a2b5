"""Supervision of several processes that serve one socket."""

from __future__ import annotations

import logging
import os
import signal
import sys
import time
import traceback
from collections import deque
from collections.abc import Callable
from typing import Final

from mnemos.errors import Refused, Unavailable

log = logging.getLogger("mnemos.serve")

_STOP: Final = (signal.SIGINT, signal.SIGTERM)
# If this many processes end within this time, something is wrong with all of them.
_FAILURES: Final = 5
_SECONDS: Final = 10.0


def supervise(count: int, run: Callable[[int], None]) -> None:
    """Run ``run`` in ``count`` processes until SIGINT or SIGTERM, restarting those that end.

    ``run`` gets the end of a pipe that is closed when this process ends, however it ends.
    """
    if not hasattr(os, "fork"):
        raise Refused("Several workers need a system that can fork, such as Linux. Use --workers 1.")
    watched = {*_STOP, signal.SIGCHLD}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, watched)
    ours, theirs = os.pipe()
    workers: set[int] = set()
    ended: deque[float] = deque(maxlen=_FAILURES)
    is_stopping, problem = False, ""
    try:
        while workers or not is_stopping:
            while not is_stopping and len(workers) < count:
                workers.add(_start(run, ours, theirs, before))
            number = signal.sigwait(watched)
            if number in _STOP:
                # A second signal kills what the first one did not end.
                _send(workers, signal.SIGKILL if is_stopping else signal.SIGTERM)
                is_stopping = True
            for worker in [one for one in workers if os.waitpid(one, os.WNOHANG)[0]]:
                workers.discard(worker)
                ended.append(time.monotonic())
            if not is_stopping and len(ended) == _FAILURES and ended[-1] - ended[0] < _SECONDS:
                problem = "The workers end as soon as they are started. The log says why."
                _send(workers, signal.SIGTERM)
                is_stopping = True
    finally:
        os.close(ours)
        os.close(theirs)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    if problem:
        raise Unavailable(problem)


def _send(workers: set[int], number: signal.Signals) -> None:
    for worker in workers:
        os.kill(worker, number)


def _start(run: Callable[[int], None], ours: int, theirs: int, mask: set[int | signal.Signals]) -> int:
    """Start a process. Never returns in the child."""
    worker = os.fork()
    if worker:
        return worker
    code = 1
    try:
        os.close(theirs)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        run(ours)
        code = 0
    except BaseException:  # noqa: BLE001 - the outermost loop of this process
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
