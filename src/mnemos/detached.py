"""Background processes that outlive the one that starts them and finish its work."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess


def start(module: str, folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """Run a module of ours with the folder and the arguments, and do not wait for it. Raises OSError."""
    # Most processes start nothing.
    import subprocess

    return subprocess.Popen(  # noqa: S603 - our own interpreter, a folder and names that we chose
        # -P: a folder called mnemos in the working directory is not ours.
        [sys.executable, "-P", "-m", module, str(folder), *arguments],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        close_fds=True,
    )
