"""Background processes that outlive the process that starts them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess


def start(module: str, folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """Start one of our modules in the background. Raises OSError."""
    # Imported here, because most processes start nothing.
    import subprocess

    return subprocess.Popen(  # noqa: S603 - our own interpreter, a folder and names that we chose
        # -P: don't import a folder called mnemos from the working directory.
        [sys.executable, "-P", "-m", module, str(folder), *arguments],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        close_fds=True,
    )
