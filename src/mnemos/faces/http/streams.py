"""Calls answered by an event stream: progress, then the result or an error."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from typing import Final

from mnemos.cancellation import Cancellation
from mnemos.faces.http import limits
from mnemos.faces.http.operation_calls import Call, OperationCalls
from mnemos.faces.http.replies import encode, render_event

PULSE: Final = b":\n\n"
"""A line that is not an event."""
_PAUSE_SECONDS: Final = 0.1


class _Reporter:
    """Sends progress as events, at most ten per second, and stops cancelled work."""

    def __init__(self, send: Callable[[bytes], object], cancellation: Cancellation) -> None:
        self.label = ""
        self._send = send
        self._cancellation = cancellation
        self._sent = ("", 0.0)

    def __call__(self, share: float, /) -> None:
        self._cancellation.check()
        now = time.monotonic()
        label, at = self._sent
        if label == self.label and now - at < _PAUSE_SECONDS:
            return
        self._sent = self.label, now
        # When the server stops, the loop is closed before the threads.
        with suppress(RuntimeError):
            self._send(render_event("progress", encode({"share": round(share, 4), "label": self.label})))


async def stream_call(
    calls: OperationCalls, call: Call, describe_error: Callable[[Exception], bytes]
) -> AsyncGenerator[bytes, None]:
    """Run an operation and yield its progress, then its result or error.

    If it fails before any progress, the error is raised instead. It continues if nobody listens.
    """
    events: asyncio.Queue[bytes] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def send(event: bytes) -> None:
        loop.call_soon_threadsafe(events.put_nowait, event)

    waited, _ = calls.start(
        call.name,
        call.owner,
        lambda cancellation: calls.perform(call, cancellation, _Reporter(send, cancellation)),
    )
    waited.add_done_callback(lambda _: events.put_nowait(b""))
    has_begun = False
    while event := await _next_event(events):
        has_begun = True
        yield event
    try:
        yield render_event("result", waited.result())
    except Exception as exc:
        if not has_begun:
            raise
        yield render_event("error", describe_error(exc))


async def _next_event(events: asyncio.Queue[bytes]) -> bytes:
    try:
        return await asyncio.wait_for(events.get(), limits.PULSE_SECONDS)
    except TimeoutError:
        return PULSE
