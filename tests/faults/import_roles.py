"""Child processes that import files, run as a script like ``roles.py``."""

from __future__ import annotations

from pathlib import Path

from disk import Disk
from roles import report

import mnemos
from mnemos.transfer import import_writer
from mnemos.transfer.readers import claude_code


def import_transcripts(home: str, folder: str, at: int) -> None:
    """Import a folder in very short steps and die at the n-th change of a file; 0: count the changes."""
    import_writer._MESSAGES = 20  # type: ignore[misc]
    claude_code._STEP = 1  # type: ignore[misc]
    disk = Disk()
    with mnemos.open(home, embedder="none") as memory:
        disk.kill_at(at)
        done = memory.imports.import_files(claude_code.READER, Path(folder))
    report({"operations": disk.operations, "messages": done.messages, "known": done.known})
