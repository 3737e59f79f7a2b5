"""Changes as a stream of events, including changes by other processes.

While anybody listens, one poller per process asks the database for commits.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from functools import partial
from typing import Final

from mnemos.cancellation import Cancellation
from mnemos.errors import Busy, InvalidInput, MnemosError
from mnemos.faces.http import limits
from mnemos.faces.http.delivery import begin
from mnemos.faces.http.http_request import Request
from mnemos.faces.http.operation_calls import OperationCalls
from mnemos.faces.http.replies import EVENTS, Rejection, Reply, encode, render_event
from mnemos.faces.http.scopes import check_allowed
from mnemos.faces.http.streams import PULSE
from mnemos.faces.http.workers import Spaces
from mnemos.memory.access_tokens import Grant
from mnemos.memory.change_feed import Cursor
from mnemos.operations.changes import ChangesFound, ListChanges

log = logging.getLogger("mnemos.http")

_NAME: Final = "changes"
_PAGE: Final = 200
_LOOKS: Final = 60


class Events:
    """All streams of changes of one process."""

    def __init__(self, calls: OperationCalls, admit: Callable[[Request], Grant]) -> None:
        """``admit``: returns a sender's current rights; raises if none are left."""
        self._spaces = calls.spaces
        self._calls = calls
        self._admit = admit
        self._stop_polling: threading.Event | None = None
        self._news = asyncio.Event()
        self._pages: dict[tuple[str, str | None], asyncio.Future[ChangesFound]] = {}
        self._is_stopping = False
        self.streams = 0

    async def answer(self, request: Request) -> Reply:
        """Send the changes after the cursor in Last-Event-ID or ``since``, else new ones."""
        if self.streams >= limits.STREAMS:
            raise Busy("The server has too many open event streams. Try again.")
        last = request.values(b"last-event-id")
        query = request.read_query()
        asked = query.pop("since", None)
        if query:
            raise InvalidInput(f"The query string has {next(iter(query))[:80]!r}. It takes since=CURSOR.")
        since = last[0].decode("latin-1") if last else asked
        check_allowed(request.grant, _NAME, ListChanges(since=since))
        if since is not None:
            Cursor.parse(since)
        return Reply(200, await begin(self._stream(request, since)), media=EVENTS)

    def stop(self) -> None:
        self._is_stopping = True
        self._announce()

    async def _stream(self, request: Request, since: str | None) -> AsyncGenerator[bytes, None]:
        self._enter()
        has_begun = False
        try:
            news = self._news
            # Read before "ready" is sent: a cursor from before a restore is ahead of the log, so
            # it is replaced by the newest one: what comes after "ready" comes after this page.
            page = await self._read(request.grant.space, since)
            changes = page.changes if since is not None else []
            # With a cursor from the start, a client that loses the connection at once misses nothing.
            begin = since if since is not None and changes else page.cursor
            has_begun = True
            yield render_event("ready", encode({"cursor": begin}), begin)
            while not self._is_stopping:
                since = page.cursor
                if changes:
                    yield b"".join(render_event(one.kind, encode(one), one.cursor) for one in changes)
                if not page.more:
                    try:
                        await asyncio.wait_for(news.wait(), limits.PULSE_SECONDS)
                    except TimeoutError:
                        yield PULSE
                    # Taken before the changes are read, so that none in between is missed.
                    news = self._news
                    # A token may have been revoked in the meantime.
                    self._admit(request)
                page = await self._read(request.grant.space, since)
                changes = page.changes
        except (MnemosError, Rejection) as exc:
            if not has_begun:
                raise
            # When the client asks again, it gets the error with its status.
            log.debug("a stream of events ended: %s", type(exc).__name__)
        finally:
            self._leave()
        yield render_event("end", encode({"cursor": since}), since or "")

    async def _read(self, space: str, since: str | None) -> ChangesFound:
        """Read changes once for all streams at the same cursor."""
        key = space, since
        if key not in self._pages:
            self._pages[key], _ = self._calls.start(_NAME, "", partial(self._list, space, since))
        try:
            return await asyncio.shield(self._pages[key])
        except MnemosError:
            self._pages.pop(key, None)
            raise

    def _list(self, space: str, since: str | None, _: Cancellation) -> ChangesFound:
        with self._spaces.use(space) as memory:
            return ListChanges(since=since, limit=1 if since is None else _PAGE, recalls=True).run(memory)

    def _enter(self) -> None:
        self.streams += 1
        if self._stop_polling is None:
            self._stop_polling = threading.Event()
            announce = partial(asyncio.get_running_loop().call_soon_threadsafe, self._announce)
            poll = partial(_poll, self._spaces, self._stop_polling, announce)
            threading.Thread(target=poll, name="mnemos-events", daemon=True).start()

    def _leave(self) -> None:
        self.streams -= 1
        if not self.streams and self._stop_polling is not None:
            self._stop_polling.set()
            self._stop_polling = None
            self._pages.clear()

    def _announce(self) -> None:
        self._pages.clear()
        self._news.set()
        self._news = asyncio.Event()


def _poll(spaces: Spaces, stop: threading.Event, announce: Callable[[], object]) -> None:
    """Announce commits until ``stop`` is set."""
    # When the server stops, the loop is closed before this thread ends.
    with suppress(RuntimeError):
        while not stop.wait(limits.POLL_SECONDS):
            with suppress(MnemosError), spaces.watch() as look:
                seen = look()
                # From now on, every commit is seen. An earlier one may have been missed.
                announce()
                # Reopen now and then, because the file may be replaced.
                for _ in range(_LOOKS):
                    if stop.wait(limits.POLL_SECONDS):
                        return
                    if (now := look()) != seen:
                        seen = now
                        announce()
