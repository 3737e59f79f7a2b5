"""Import of a session's transcript, as much as there is time for.

Some programs keep all sessions in a database. Only the changed ones are read.
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

# The rest of 100 ms, after Python's imports. The first step is always made.
SECONDS: Final = 0.05
_INDEX_SECONDS: Final = 0.02
# The number of unindexed messages that a search can read one by one.
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
            # The disk is read-only, also for the background process.
            return True
        finished = import_transcripts(home, event, stop=lambda: time.monotonic() > until)
        if event.name == SESSION_END and finished:
            end_session(storage, event, home.clock())
        unindexed = storage.catch_up(_INDEX_SECONDS) if finished else 0
    except Busy:
        return False
    if finished and not unindexed:
        # The kernel closes the database, because close() would first index everything.
        home.close()
    # Extracting facts takes too long for a hook.
    return finished and unindexed < _MANY and event.name != PRE_COMPACT


def import_transcripts(home: Home, event: Event, *, stop: Stop | None = None, indexes: bool = False) -> bool:
    """Store new messages of a session's transcripts. Returns False if stopped early."""
    imports = Imports(home.storage, home.settings, home.clock)
    reader = load_reader(event.agent)
    imported = 0
    for path in find_transcripts(home.settings, event):
        try:
            report = imports.import_files(reader, path, stop=stop, indexes=indexes, undoable=False)
        except NotFound:
            # The transcript was deleted, or the folder is empty.
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
    """Yield a session's transcript and its sub-agents' folder, or the database.

    Older versions of Claude Code put sub-agents next to the transcript, which `mnemos import` reads.
    """
    if event.agent in _DATABASES:
        yield from filter(is_file, agent_places.find_default_places(event.agent, settings))
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
    """Reopen a closed session that continues."""
    known = tx.sessions.get(session_id)
    if known is not None and known.ended_at is not None:
        tx.sessions.reopen(session_id)
