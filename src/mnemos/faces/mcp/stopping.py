"""Being told to stop."""

from __future__ import annotations

import signal
from collections.abc import Callable

import anyio


async def stop_when_told(stop: Callable[[], object]) -> None:
    """Call ``stop`` at the first SIGINT or SIGTERM; a second one does what it always does."""
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            stop()
            return
