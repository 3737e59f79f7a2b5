"""Opening the memory of an adapter: given by the host, or opened here and closed here."""

from __future__ import annotations

import os
from typing import Any

from mnemos.memory import Memory
from mnemos.memory.async_memory import AsyncMemory

Source = AsyncMemory | Memory | str | os.PathLike[str] | None
"""A memory that the host opened, or the home to open; None for the default home."""


def open_source(source: Source, **flags: Any) -> tuple[AsyncMemory, bool]:
    """Return an async memory, and True if the adapter must close it: who opens closes.

    Nothing is touched before the first call.
    """
    if isinstance(source, AsyncMemory):
        return source, False
    if isinstance(source, Memory):
        return AsyncMemory(source), False
    return AsyncMemory(Memory.at(source, **flags)), True
