"""Import of the transcript of a session: as much as there is time for.

Some programs keep all sessions in a database, of which only the changed ones are read.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mnemos.errors import Busy, NotFound
from mnemos.integrations.hooks.events import PRE_COMPACT, SESSION_END, Event
from mnemos.memory.home import Home
from mnemos.storage.base import Storage, Writes
from mnemos.transfer import agent_places
from mnemos.transfer.foreign_files import is_file, is_folder
from mnemos.transfer.imports import Imports
from mnemos.transfer.reader import load_reader

if TYPE_CHECKING:
    from mnemos.settings import Settings
    from mnemos.transfer.reader import Stop

# The rest of 100 ms after Python's imports. The first step is always made.
SECONDS: Final = 0.05
_INDEX_SECONDS: Final = 0.02
# Unindexed messages that a search can read one by one.
_MANY: Final = 1_000
_ENDED: Final = "ended"
_DATABASES: Final = ("opencode", "cursor")


def record(settings: Settings, event: Event) -> bool:
    """Store new messages. Returns False if something is left for the background."""
    if not event.session_id or not any(find_transcripts(settings, event)):
        return True
    until = time.monotonic() + SECONDS
    home = Home(settings)
    try:
        storage = home.storage
        if storage.read_only:
            # The disk is read-only, for the background process too.
            return True
        finished = import_transcripts(home, event, stop=lambda: time.monotonic() > until)
        if event.name == SESSION_END and finished:
            end_session(storage, event, home.clock())
        unindexed = storage.catch_up(_INDEX_SECONDS) if finished else 0
    except Busy:
        return False
    if finished and not unindexed:
        # Otherwise the kernel closes it: close() would index everything first.
        home.close()
    # Extracting facts takes too long for a hook.
    return finished and unindexed < _MANY and event.name != PRE_COMPACT


def import_transcripts(home: Home, event: Event, *, stop: Stop | None = None, indexes: bool = False) -> bool:
    """Store new messages of a session's transcripts. Returns False if stopped before the end."""
    imports = Imports(home.storage, home.settings, home.clock)
    reader = load_reader(event.agent)
    imported = 0
    for path in find_transcripts(home.settings, event):
        try:
            report = imports.import_files(reader, path, stop=stop, indexes=indexes, undoable=False)
        except NotFound:
            # Deleted since, or an empty folder.
            continue
        imported += report.messages
        if not report.finished:
            return False
    if imported and event.name != SESSION_END:
        home.storage.write(lambda tx: _reopen(tx, event.session_id))
    return True


def end_session(storage: Storage, event: Event, now: float) -> None:
    """Close the session, if anything was said in it."""
    reason = event.reason if event.reason.isprintable() and event.reason.strip() else _ENDED
    storage.write(lambda tx: tx.sessions.end(event.session_id, reason, now))


def find_transcripts(settings: Settings, event: Event) -> Iterator[Path]:
    """Yield the transcript of a session and the folder of its sub-agents; of a program with a database, that.

    Older versions of Claude Code put sub-agents next to the transcript: `mnemos import` reads those.
    """
    if event.agent in _DATABASES:
        yield from filter(is_file, agent_places.default_places(event.agent, settings))
        return
    main = event.transcript
    if main is None or not is_file(main):
        return
    yield main
    # Claude Code names the file after the session, Gemini CLI only the folder.
    name = Path(event.session_id).name
    names = (main.stem, name if name != ".." else "")
    yield from filter(is_folder, (main.with_name(one) for one in dict.fromkeys(filter(None, names))))


def _reopen(tx: Writes, session_id: str) -> None:
    """Open a session again that was closed and continues."""
    known = tx.sessions.get(session_id)
    if known is not None and known.ended_at is not None:
        tx.sessions.reopen(session_id)
