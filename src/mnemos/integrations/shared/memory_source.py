"""The framework of an adapter, and its memory: the host's, or opened here."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import Any

from mnemos.errors import InvalidInput, Refused, how_to_install
from mnemos.memory import Memory
from mnemos.memory.async_memory import AsyncMemory
from mnemos.memory.opening import find
from mnemos.settings import Settings

log = logging.getLogger("mnemos.integrations")

Source = AsyncMemory | Memory | str | os.PathLike[str] | None
"""A memory that the host opened, or the home or URL to open; None for the default home."""


def open_source(source: Source, **flags: Any) -> tuple[AsyncMemory, bool]:
    """Return an async memory, and True if the adapter has to close it.

    Nothing is touched before the first call. ``flags`` are settings of the memory to open; an open memory
    with flags raises InvalidInput.
    """
    if source is None or isinstance(source, (str, os.PathLike)):
        return AsyncMemory(find(source, **flags)), True
    if flags:
        raise InvalidInput(
            f"{', '.join(sorted(flags))} can't be set for a memory that is already open. "
            "Pass it to mnemos.open(), or pass the home instead of the memory."
        )
    if isinstance(source, AsyncMemory):
        return source, False
    # A server's memory has the methods of Memory, but is not an instance.
    if not hasattr(source, "recall"):
        raise InvalidInput(f"memory must be an open memory, a home or a URL, not {type(source).__name__}")
    return AsyncMemory(source), False


def open_store(source: Source, *, private: bool = False, **flags: Any) -> tuple[AsyncMemory, bool]:
    """Like ``open_source``, but return this process's memory if storing is disabled."""
    memory, is_own = open_source(source, **flags)
    if private or settings_of(memory).disabled:
        return keep_in_process(memory), False
    return memory, is_own


@contextmanager
def framework(extra: str) -> Iterator[None]:
    """Add instructions to install or upgrade the framework to an ImportError."""
    try:
        yield
    except ImportError as exc:
        what = f"{exc}. This adapter needs the framework in a release that has it. {how_to_install(extra)}"
        raise type(exc)(what, name=exc.name, path=exc.path) from exc


class Opened:
    """An adapter whose memory it may have opened itself."""

    _memory: AsyncMemory
    _owned: bool

    async def close(self) -> None:
        """Close the memory, if it was opened here."""
        if self._owned:
            await self._memory.close()


class OpenedStore(Opened):
    """An adapter of conversations, which stay in this process if storing is disabled."""

    def __init__(self, memory: Source = None, *, private: bool = False, **flags: Any) -> None:
        """``memory``: an open one, or a home or URL; ``flags``: settings; ``private``: store nothing."""
        self._memory, self._owned = open_store(memory, private=private, **flags)


class OpenedSync:
    """The same for a framework that closes without ``await``."""

    _memory: AsyncMemory
    _owned: bool

    @property
    def _sync(self) -> Memory:
        return self._memory.sync

    def close(self) -> None:
        """Close the memory, if it was opened here."""
        if self._owned:
            self._sync.close()


def settings_of(memory: AsyncMemory | Memory) -> Settings:
    """Return a memory's settings; for one on a server, the local ones."""
    try:
        return memory.settings
    except Refused:
        return Settings.load(None, disabled=False)


def clock_of(memory: Memory) -> Callable[[], float]:
    """Return a memory's clock; for one on a server, the local one."""
    try:
        return memory.clock
    except Refused:
        return time.time


def keep_in_process(memory: AsyncMemory) -> AsyncMemory:
    """Return this process's own memory, for conversations that must not be stored.

    All adapters of a home share it: an agent must not lose its own last turn.
    """
    return _open_in_process(replace(settings_of(memory), disabled=False))


@cache
def _open_in_process(settings: Settings) -> AsyncMemory:
    log.warning("Memory is off for this conversation: it is kept in this process only and ends with it.")
    return AsyncMemory(Memory(settings, in_memory=True, background=False))
