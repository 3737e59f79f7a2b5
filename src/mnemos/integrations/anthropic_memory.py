"""The memory tool of Anthropic's API on a memory: ``tools=[MnemosMemoryTool()]``.

Claude reads and writes files below ``/memories``, which are entries here: recall finds them, ``mnemos entries
find`` lists them, and ``mnemos forget`` erases them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from mnemos.entries.entry_namespaces import USUAL_USER
from mnemos.errors import MnemosError
from mnemos.integrations.shared.files import FileProblem, MemoryFiles
from mnemos.integrations.shared.memory_source import OpenedSync, Source, framework, open_source
from mnemos.integrations.shared.tools import ARGUMENTS
from mnemos.memory.call_lanes import WRITES, Lanes

with framework("anthropic"):
    from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError


def _answer(work: Callable[[], str]) -> str:
    """Return the answer. A failure becomes a tool error that the model reads."""
    try:
        return work()
    except (FileProblem, MnemosError) as exc:
        raise ToolError(str(exc)) from exc


def _make_command(name: str) -> Any:
    def run(self: MnemosMemoryTool, command: Any) -> str:
        given = [getattr(command, one) for one in ARGUMENTS[name]]
        return _answer(partial(getattr(self._files, name), *given))

    return run


def _make_async_command(name: str) -> Any:
    async def run(self: AsyncMnemosMemoryTool, command: Any) -> str:
        return await self._lanes.run(WRITES, partial(getattr(self._tool, name), command))

    return run


class MnemosMemoryTool(OpenedSync, BetaAbstractMemoryTool):
    """The tool ``memory_20250818`` for the synchronous client."""

    def __init__(self, memory: Source = None, *, user_id: str = USUAL_USER, **flags: Any) -> None:
        """``memory``: an open one, or the home to open; ``user_id``: the files' owner."""
        super().__init__()
        self._memory, self._owned = open_source(memory, **flags)
        self._files = MemoryFiles(self._sync, user_id)

    view, create, str_replace, insert, delete, rename = map(_make_command, ARGUMENTS)

    def clear_all_memory(self) -> str:
        return _answer(self._files.clear)


class AsyncMnemosMemoryTool(BetaAsyncAbstractMemoryTool):
    """The same for the async client. Commands run one after the other, in a thread."""

    def __init__(self, memory: Source = None, *, user_id: str = USUAL_USER, **flags: Any) -> None:
        super().__init__()
        self._tool = MnemosMemoryTool(memory, user_id=user_id, **flags)
        self._lanes = Lanes()

    view, create, str_replace, insert, delete, rename = map(_make_async_command, ARGUMENTS)

    async def clear_all_memory(self) -> str:
        return await self._lanes.run(WRITES, self._tool.clear_all_memory)

    async def close(self) -> None:
        await self._lanes.run(WRITES, self._tool.close)
