"""Programs that are run as they are, each with a home of its own and nothing but loopback to talk to."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_SECONDS = 300


class Program:
    """An environment of its own for the programs that are run; ``folder`` is its home."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.folder = folder
        self.home = folder / "mnemos"
        self.project = folder / "project"
        self.project.mkdir()
        self._environment = {
            "PATH": f"{os.environ['MNEMOS_HOST_PROGRAMS']}:{os.environ['PATH']}",
            "HOME": str(folder),
            "MNEMOS_HOME": str(self.home),
            "HTTPS_PROXY": "http://127.0.0.1:9",
            "NO_PROXY": "127.0.0.1",
            **environment,
        }

    def run(self, *command: str) -> str:
        """Return the output of a command; one that fails fails the test."""
        done = subprocess.run(
            command,
            cwd=self.project,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def mnemos(self, *arguments: str) -> str:
        return self.run(sys.executable, "-m", "mnemos", *arguments)
