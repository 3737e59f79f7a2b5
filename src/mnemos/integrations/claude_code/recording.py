"""The transcript of a session, written into memory: as much as there is time for."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mnemos.errors import Busy, NotFound
from mnemos.integrations.claude_code.events import PRE_COMPACT, SESSION_END, Event
from mnemos.memory.home import Home
from mnemos.storage.base import Storage, Writes
from mnemos.transfer.finding import is_file
from mnemos.transfer.readers import claude_code
from mnemos.transfer.service import Imports

if TYPE_CHECKING:
    from mnemos.settings import Settings
    from mnemos.transfer.model import Stop

# What is left of a tenth of a second when everything is imported; a first step is always made.
SECONDS: Final = 0.05
_INDEX_SECONDS: Final = 0.02
# Messages that a search reads one by one without much ado.
_MANY: Final = 1_000
_ENDED: Final = "ended"

# Transcripts of sub-agents beside that of their session, as older versions put them.
_AGENTS: Final = "agent-"
_MOST_AGENTS: Final = 40
_FIRST_LINE: Final = 4_096


def record(settings: Settings, event: Event) -> bool:
    """Store what is new; False when something is left to be done in the background."""
    if not event.session_id or event.transcript is None or not event.transcript.is_file():
        return True
    until = time.monotonic() + SECONDS
    home = Home(settings)
    try:
        storage = home.storage
        if storage.read_only:
            # A disk that cannot be written: nobody else could do it either.
            return True
        finished = bring(home, event, stop=lambda: time.monotonic() > until)
        if event.name == SESSION_END and finished:
            end(storage, event, home.clock())
        unindexed = storage.catch_up(_INDEX_SECONDS) if finished else 0
    except Busy:
        return False
    if finished and not unindexed:
        # Otherwise left to the kernel: closing it would index everything first.
        home.close()
    # Looking for facts takes longer than anybody should wait.
    return finished and unindexed < _MANY and event.name != PRE_COMPACT


def bring(home: Home, event: Event, *, stop: Stop | None = None, indexes: bool = False) -> bool:
    """Store what is new in the transcripts of a session; False when it was stopped before the end."""
    imports = Imports(home.storage, home.settings, home.clock)
    was_there = 0
    for path in transcripts(event):
        try:
            report = imports.bring(claude_code.READER, path, stop=stop, indexes=indexes, undoable=False)
        except NotFound:
            # Gone since, or a folder with nothing in it.
            continue
        was_there += report.messages
        if not report.finished:
            return False
    if was_there and event.name != SESSION_END:
        home.storage.write(lambda tx: _go_on(tx, event.session_id))
    return True


def end(storage: Storage, event: Event, now: float) -> None:
    """Close the session; one that nothing was said in is not there."""
    reason = event.reason if event.reason.isprintable() and event.reason.strip() else _ENDED
    storage.write(lambda tx: tx.sessions.end(event.session_id, reason, now))


def transcripts(event: Event) -> Iterator[Path]:
    """The transcript of a session, and those of its sub-agents wherever a version puts them."""
    main = event.transcript
    if main is None:
        return
    yield main
    below = main.with_suffix("")
    if below.is_dir():
        yield below
    yield from _agents_beside(main, event.session_id)


def _agents_beside(main: Path, session_id: str) -> Iterator[Path]:
    """Those whose first line names the session, of the newest."""
    try:
        with os.scandir(main.parent) as found:
            files = [
                (entry.stat().st_mtime_ns, entry.path)
                for entry in found
                if entry.name.startswith(_AGENTS)
                and entry.name.endswith(".jsonl")
                and is_file(Path(entry.path))
            ]
    except OSError:
        return
    name = f'"{session_id}"'.encode()
    for _, path in sorted(files, reverse=True)[:_MOST_AGENTS]:
        try:
            with Path(path).open("rb") as file:
                is_ours = name in file.read(_FIRST_LINE)
        except OSError:
            continue
        if is_ours:
            yield Path(path)


def _go_on(tx: Writes, session_id: str) -> None:
    """A session that was closed and is talked in again is open."""
    known = tx.sessions.get(session_id)
    if known is not None and known.ended_at is not None:
        tx.sessions.reopen(session_id)
