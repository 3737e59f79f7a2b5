"""Child processes that a test can talk to, and kill."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROLES = Path(__file__).parent / "roles.py"

# Far beyond what any role needs: a child that hangs is killed, and its test fails.
DEADLINE_SECONDS = 240.0


class Child:
    """A process that plays a role of ``roles.py`` and reports with one line of JSON at a time."""

    def __init__(self, role: str, **asked: Any) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed in ``end``
        # stderr is a file and not a pipe: a chatty child must not block.
        self._process = subprocess.Popen(
            [sys.executable, "-W", "error", str(ROLES), role, json.dumps(asked)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=_environment(),
        )
        self._watch = threading.Timer(DEADLINE_SECONDS, self._process.kill)
        self._watch.daemon = True
        self._watch.start()

    def line(self) -> Any:
        """The next report; a child that ended instead fails the test with what it said."""
        for report in self.reports():
            return report
        raise AssertionError(f"the child ended early:\n{self._said()}")

    def reports(self) -> Iterator[Any]:
        """The reports until the child ends; a line that a kill cut off is none."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if not line.endswith(b"\n"):
                return
            yield json.loads(line)

    def go(self) -> None:
        """Let a child go on that waits for a word."""
        assert self._process.stdin is not None
        self._process.stdin.write(b"go\n")
        self._process.stdin.flush()

    def kill(self) -> list[Any]:
        """SIGKILL, as from the out-of-memory killer; what was reported before and not read yet."""
        self._process.kill()
        left = list(self.reports())
        assert self.wait() == -signal.SIGKILL, self._said()
        return left

    def finish(self) -> list[Any]:
        """Let the child come to its end; the reports not read yet. A failure fails the test."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        left = list(self.reports())
        assert self.wait() == 0, self._said()
        return left

    def wait(self) -> int:
        code = self._process.wait(timeout=DEADLINE_SECONDS)
        self._watch.cancel()
        return code

    def end(self) -> None:
        """Leave nothing behind, whatever the test did."""
        self._process.kill()
        self.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None and not stream.closed:
                try:
                    stream.close()
                except BrokenPipeError:
                    pass
        self._errors.close()

    def _said(self) -> str:
        self._errors.seek(0)
        return self._errors.read().decode(errors="replace")


Spawn = Callable[..., Child]
"""``spawn(role, **arguments)``: a child that is gone when the test is over."""


def _environment() -> dict[str, str]:
    """Ours without the settings of whoever runs the tests."""
    return {name: value for name, value in os.environ.items() if not name.startswith("MNEMOS_")}
