"""The function that opens a memory."""

from __future__ import annotations

import os
import time
from typing import Any, Protocol, cast, runtime_checkable

from mnemos.errors import InvalidInput
from mnemos.inputs import find_scheme
from mnemos.memory.memory import Memory
from mnemos.sessions.lookups import Clock


@runtime_checkable
class AnyMemory(Protocol):
    """A local or remote memory. ``isinstance`` tells it from a path."""

    def recall(self, query: str) -> Any: ...

    def call(self, name: str, args: dict[str, Any] | None = None) -> Any: ...

    def tools(self) -> Any: ...

    def close(self) -> Any: ...


def open(
    home_or_url: str | os.PathLike[str] | None = None,
    *,
    space: str | None = None,
    read_only: bool = False,
    clock: Clock = time.time,
    token: str | None = None,
    **flags: Any,
) -> Memory:
    """Open the memory of a home (default: ``$MNEMOS_HOME`` or ``~/.mnemos``) in one space.

    ``:memory:`` keeps everything in this process. ``http://…`` and ``https://…`` connect to a server with
    ``token`` (default: ``$MNEMOS_TOKEN``, or on this machine the owner's token in the home). Further keyword
    arguments are settings, such as ``durability="full"`` or ``actor="me"``. A missing home is created.
    """
    memory = find(home_or_url, space=space, read_only=read_only, clock=clock, token=token, **flags)
    touch(memory)
    return memory


def find(
    home_or_url: str | os.PathLike[str] | None = None,
    *,
    space: str | None = None,
    read_only: bool = False,
    clock: Clock = time.time,
    token: str | None = None,
    **flags: Any,
) -> Memory:
    """Return a memory that opens when it is first used."""
    if find_scheme(home_or_url) not in ("http", "https"):
        if token is not None:
            raise InvalidInput("token is only for the URL of a server. Omit it, or pass http://HOST:PORT.")
        return Memory.at(home_or_url, space=space, read_only=read_only, clock=clock, **flags)
    given = {"space": space, **flags} if clock is time.time else {"clock": clock, "space": space, **flags}
    chosen = sorted(name for name, value in given.items() if value is not None)
    if chosen:
        raise InvalidInput(
            f"{', '.join(chosen)} can't be set here: the server has its own settings, and the token "
            "determines the space."
        )
    # Imports upwards, like Memory.call: a program that opens a folder doesn't load the client.
    from mnemos.client.remote_memory import connect

    return cast(Memory, connect(str(home_or_url), token, read_only=read_only))


def touch(memory: Memory) -> None:
    """Open a memory now, so that a failure is raised here and not on first use."""
    if isinstance(memory, Memory):
        memory.storage  # noqa: B018
    else:
        memory.check()
