"""The memory for async code: awaitable methods of Memory and its parts.

The methods are created here, and ``METHODS`` says in which lane each one runs. ``scripts/make_async_stub.py``
writes their signatures to ``async_memory.pyi``, from those of the originals.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

from mnemos.memory.call_lanes import BACKEND, LONG, READS, WORKSPACE, WRITES, Lanes
from mnemos.memory.memory import Memory
from mnemos.memory.opening import find, touch
from mnemos.settings import Settings

_ENTRIES = "is_available list_keys query retrieve"

# By part ("" is the memory itself) and lane. Calls that take several transactions have their own lane, as do
# the sandbox and a backend that may be a service, so that none of them delays an append.
METHODS: dict[str, dict[str, str]] = {
    "": {
        READS: "backups compare_archive log recall search tables_block tools",
        WRITES: "forget remember restore undo undo_notes",
        LONG: "backup doctor evaluate export import_archive import_hermes_memory optimize_notebook",
    },
    "sessions": {
        READS: "children conversation export_all export_session find_title get_lineage get_messages "
        "get_messages_around get_messages_as_conversation get_outline get_page get_session get_tip "
        "message_count resolve_projects resolve_session search_messages search_sessions session_count "
        "session_search shorten_ids stats",
        WRITES: "append_message append_messages archive create_session delete_session end_session "
        "ensure_session forget_message forget_session pop_message prune_sessions reopen_session rewrite "
        "set_title unarchive update_metadata update_system_prompt update_token_counts",
        LONG: "export_jsonl import_jsonl import_sessions optimize write_jsonl",
    },
    "facts": {
        READS: "conflicts count get history iterate list live reflect says scopes search status",
        WRITES: "flush forget forget_taken purge remember repair_index state tick withdraw write",
        LONG: "import_hermes",
    },
    "notebook": {
        READS: "block copies entries limit passages removed render signature snapshot use versions",
        WRITES: "add begin_turn change exchange forget log_manual_edits refresh remove replace shrink sync "
        "undo write",
    },
    "templates": {
        READS: "classify_task_type experiment extract_from_session find_by_sessions get_template "
        "get_template_stats list_templates problems read_all show signature suggest",
        WRITES: "create_template delete_template inject_into_messages save",
    },
    "embedding": {READS: "coverage peek", LONG: "catch_up"},
    "workspace": {
        READS: "check databases examine exports functions has schema snapshots tables usage",
        WORKSPACE: "adopt compact copy delete export import_file query rename restore save",
    },
    "entries": {
        READS: f"{_ENTRIES} count find namespaces users",
        WRITES: "delete forget put set_expiry store write",
        LONG: "settle step",
    },
    "backend": {READS: _ENTRIES, BACKEND: "delete store"},
    "imports": {LONG: "import_files"},
}
ITERATORS = {"doctor", "export_all", "iterate"}


class _Part:
    """The methods of one part, which is imported and made in the thread of the first call."""

    def __init__(self, memory: Memory, lanes: Lanes) -> None:
        self._memory = memory
        self._lanes = lanes


def _make_method(part: str, name: str, lane: str) -> Callable[..., Any]:
    find = attrgetter(f"{part}.{name}" if part else name)

    async def call(self: _Part, *args: Any, **kwargs: Any) -> Any:
        return await self._lanes.run(lane, lambda: find(self._memory)(*args, **kwargs))

    def iterate(self: _Part, *args: Any, **kwargs: Any) -> AsyncGenerator[Any, None]:
        return self._lanes.iterate(lane, lambda: find(self._memory)(*args, **kwargs))

    method = iterate if name in ITERATORS else call
    method.__name__, method.__qualname__ = name, f"Async{part.title() or 'Memory'}.{name}"
    method.__doc__ = f"Do as ``{f'memory.{part}' if part else 'Memory'}.{name}`` does, in a thread."
    return method


def _make_methods(part: str) -> dict[str, Any]:
    return {
        name: _make_method(part, name, lane)
        for lane, names in METHODS[part].items()
        for name in names.split()
    }


_PARTS = {part: type(f"Async{part.title()}", (_Part,), _make_methods(part)) for part in METHODS if part}


class AsyncMemory(type("_Methods", (_Part,), _make_methods(""))):
    """A Memory for async code, under asyncio and trio: the same parts, methods and errors.

    It isn't tied to an event loop. Closing waits for running calls, then closes the Memory.
    """

    def __init__(self, memory: Memory, lanes: Lanes | None = None) -> None:
        super().__init__(memory, lanes or Lanes())
        self.sync = memory
        self._call_lanes: dict[str, str] = {}
        for name, kind in _PARTS.items():
            setattr(self, name, kind(memory, self._lanes))

    @property
    def settings(self) -> Settings:
        return self.sync.settings

    @property
    def database(self) -> Path:
        return self.sync.database

    async def call(self, name: str, args: dict[str, Any] | None = None, *, user_id: str | None = None) -> Any:
        work = partial(self._memory.call, name, args, user_id=user_id)
        lane = self._call_lanes.get(name)
        if lane is None:
            # Importing an operation takes too long for an event loop. It may be a write, so it waits its
            # turn.
            lane, answer = await self._lanes.run(WRITES, partial(self._call_first, name, work))
            if lane == WRITES:
                return answer
        return await self._lanes.run(lane, work)

    def _call_first(self, name: str, work: Callable[[], Any]) -> tuple[str, Any]:
        """Choose the lane of an operation by its traits and sets, and run it if it belongs in this lane."""
        # Imports upwards, like Memory.call: a program that calls no operation doesn't load them.
        from mnemos.operations import registry

        operation, sets = registry.find(name), registry.BY_NAME[name].sets
        if operation.traits.read_only:
            lane = READS
        elif sets & {WORKSPACE, "entries"}:
            lane = WORKSPACE if WORKSPACE in sets else BACKEND
        else:
            lane = LONG if hasattr(operation, "work") else WRITES
        self._call_lanes[name] = lane
        return lane, work() if lane == WRITES else None

    async def close(self) -> None:
        await self._lanes.close(self._memory.close)

    async def __aenter__(self) -> AsyncMemory:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


@asynccontextmanager
async def aopen(
    home_or_url: Any = None,
    *,
    space: str | None = None,
    read_only: bool = False,
    clock: Callable[[], float] = time.time,
    token: str | None = None,
    **flags: Any,
) -> AsyncGenerator[AsyncMemory, None]:
    """Open a memory like ``open``, for ``async with``, which closes it at the end."""
    lanes = Lanes()
    given = {"space": space, "read_only": read_only, "clock": clock, "token": token, **flags}
    # Nothing is open yet, so nothing needs to be closed if this is cancelled.
    memory = await lanes.run(WRITES, partial(find, home_or_url, **given))
    async with AsyncMemory(memory, lanes) as opened:
        await lanes.run(WRITES, partial(touch, memory))
        yield opened
