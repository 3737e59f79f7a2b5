"""Child processes that a test can talk to, and kill."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from .forking import LENGTH_BYTES

ROLES = Path(__file__).with_name("roles.py")
FORKING = Path(__file__).with_name("forking.py")

# Far beyond what any role needs: a child that hangs is killed, and its test fails.
DEADLINE_SECONDS = 240.0


class Parent:
    """The process that forks all children that play the roles of one script."""

    def __init__(self, roles: Path) -> None:
        self._line, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-W", "error", str(FORKING), str(roles), str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                env=_environment(),
            )
        self._told = self._line.makefile("rb")
        self._dead: dict[int, int] = {}
        # Children are born and waited for one at a time; killed at any time.
        self._listening = threading.Lock()
        self._line.settimeout(2 * DEADLINE_SECONDS)

    def fork(self, role: str, asked: dict[str, Any], streams: list[int]) -> int:
        """The process id of a child that plays the role, with these as its streams 0, 1 and 2."""
        what = {"role": role, "asked": asked, "environment": _environment(), "folder": str(Path.cwd())}
        request = json.dumps(what).encode()
        with self._listening:
            socket.send_fds(self._line, [len(request).to_bytes(LENGTH_BYTES)], streams)
            self._line.sendall(request)
            while True:
                told = self._listen()
                if "born" in told:
                    # The number may have been another child's before.
                    self._dead.pop(told["born"], None)
                    return told["born"]

    def kill(self, child: int) -> None:
        """SIGKILL, unless we know it to be dead already."""
        if child not in self._dead:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)

    def wait(self, child: int) -> int:
        """The exit code of a child, once it has one: minus the number of a signal that ended it."""
        with self._listening:
            while child not in self._dead:
                self._listen()
            return self._dead[child]

    def end(self) -> None:
        self._told.close()
        self._line.close()
        self._process.wait(timeout=DEADLINE_SECONDS)

    def _listen(self) -> dict[str, int]:
        line = self._told.readline()
        assert line, "the process that forks the children has ended"
        told: dict[str, int] = json.loads(line)
        if "dead" in told:
            self._dead[told["dead"]] = told["code"]
        return told


_parents: dict[Path, Parent] = {}


def _parent(roles: Path) -> Parent:
    if roles not in _parents:
        _parents[roles] = Parent(roles)
    return _parents[roles]


def end_parents() -> None:
    while _parents:
        _parents.popitem()[1].end()


class Child:
    """A process that plays a role of ``roles.py`` and reports with one line of JSON at a time."""

    def __init__(self, role: str, **asked: Any) -> None:
        self._parent = _parent(ROLES)
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed in ``end``
        read, write = os.pipe(), os.pipe()
        # stderr is a file and not a pipe: a chatty child must not block.
        self._process = self._parent.fork(role, asked, [read[0], write[1], self._errors.fileno()])
        os.close(read[0])
        os.close(write[1])
        self._words = os.fdopen(read[1], "wb", buffering=0)
        self._reports = os.fdopen(write[0], "rb")
        self._watch = threading.Timer(DEADLINE_SECONDS, self._parent.kill, [self._process])
        self._watch.daemon = True
        self._watch.start()

    def line(self) -> Any:
        """The next report; a child that ended instead fails the test with what it said."""
        for report in self.reports():
            return report
        raise AssertionError(f"the child ended early:\n{self._said()}")

    def reports(self) -> Iterator[Any]:
        """The reports until the child ends; a line that a kill cut off is none."""
        for line in self._reports:
            if not line.endswith(b"\n"):
                return
            yield json.loads(line)

    def go(self) -> None:
        """Let a child go on that waits for a word."""
        self._words.write(b"go\n")

    def kill(self) -> list[Any]:
        """SIGKILL, as from the out-of-memory killer; what was reported before and not read yet."""
        self._parent.kill(self._process)
        left = list(self.reports())
        assert self.wait() == -signal.SIGKILL, self._said()
        return left

    def finish(self) -> list[Any]:
        """Let the child come to its end; the reports not read yet. A failure fails the test."""
        self._words.close()
        left = list(self.reports())
        assert self.wait() == 0, self._said()
        return left

    def finish_by_itself(self) -> list[Any]:
        """Wait for a child that ends by itself; the reports not read yet."""
        left = list(self.reports())
        assert self.wait() == 0, self._said()
        return left

    def wait(self) -> int:
        code = self._parent.wait(self._process)
        self._watch.cancel()
        return code

    def end(self) -> None:
        """Leave nothing behind, whatever the test did."""
        self._parent.kill(self._process)
        self.wait()
        for stream in (self._words, self._reports, self._errors):
            stream.close()

    def _said(self) -> str:
        self._errors.seek(0)
        return self._errors.read().decode(errors="replace")


Spawn = Callable[..., Child]
"""``spawn(role, **arguments)``: a child that is gone when the test is over."""


def _environment() -> dict[str, str]:
    """Ours without the settings of whoever runs the tests."""
    return {name: value for name, value in os.environ.items() if not name.startswith("MNEMOS_")}
