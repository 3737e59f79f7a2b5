"""The function that opens a memory."""

from __future__ import annotations

import os
import time
from typing import Any

from mnemos.memory.memory import Memory
from mnemos.sessions.lookups import Clock


def open(
    home_or_url: str | os.PathLike[str] | None = None,
    *,
    space: str | None = None,
    read_only: bool = False,
    clock: Clock = time.time,
    **flags: Any,
) -> Memory:
    """Open the memory of a home (default: ``$MNEMOS_HOME`` or ``~/.mnemos``) in one space.

    ``:memory:`` keeps everything in this process. Further keyword arguments are settings, such as
    ``durability="full"`` or ``actor="me"``. The home is created when it is missing.
    """
    memory = Memory.at(home_or_url, space=space, read_only=read_only, clock=clock, **flags)
    memory.storage  # noqa: B018 - a home that cannot be opened should say so here
    return memory
