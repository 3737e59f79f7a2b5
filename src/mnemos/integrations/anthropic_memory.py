"""The memory tool of Anthropic's API in a memory: ``tools=[MnemosMemoryTool()]``.

Claude reads and writes files below ``/memories``. They are entries here: recall finds them, ``mnemos entries
find`` lists them, and ``mnemos forget`` erases them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mnemos.errors import MnemosError
from mnemos.integrations.shared.files import FileProblem, MemoryFiles
from mnemos.integrations.shared.memory_source import OpenedSync, Source, framework, open_source
from mnemos.memory.call_lanes import WRITES, Lanes
from mnemos.storage.entries import USUAL_USER

with framework("anthropic"):
    from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError


class MnemosMemoryTool(OpenedSync, BetaAbstractMemoryTool):
    """The tool ``memory_20250818`` for the synchronous client."""

    def __init__(self, memory: Source = None, *, user_id: str = USUAL_USER, **flags: Any) -> None:
        """``memory``: one that is open, or the home to open; ``user_id``: whose files these are."""
        super().__init__()
        self._memory, self._owned = open_source(memory, **flags)
        self._files = MemoryFiles(self._sync, user_id)

    def view(self, command: Any) -> str:
        return _answer(lambda: self._files.view(command.path, command.view_range))

    def create(self, command: Any) -> str:
        return _answer(lambda: self._files.create(command.path, command.file_text))

    def str_replace(self, command: Any) -> str:
        return _answer(lambda: self._files.str_replace(command.path, command.old_str, command.new_str))

    def insert(self, command: Any) -> str:
        return _answer(lambda: self._files.insert(command.path, command.insert_line, command.insert_text))

    def delete(self, command: Any) -> str:
        return _answer(lambda: self._files.delete(command.path))

    def rename(self, command: Any) -> str:
        return _answer(lambda: self._files.rename(command.old_path, command.new_path))

    def clear_all_memory(self) -> str:
        return _answer(self._files.clear)


class AsyncMnemosMemoryTool(BetaAsyncAbstractMemoryTool):
    """The same for the async client: commands run one after the other, in a thread."""

    def __init__(self, memory: Source = None, *, user_id: str = USUAL_USER, **flags: Any) -> None:
        super().__init__()
        self._tool = MnemosMemoryTool(memory, user_id=user_id, **flags)
        self._lanes = Lanes()

    async def view(self, command: Any) -> str:
        return await self._lanes.run(WRITES, lambda: self._tool.view(command))

    async def create(self, command: Any) -> str:
        return await self._lanes.run(WRITES, lambda: self._tool.create(command))

    async def str_replace(self, command: Any) -> str:
        return await self._lanes.run(WRITES, lambda: self._tool.str_replace(command))

    async def insert(self, command: Any) -> str:
        return await self._lanes.run(WRITES, lambda: self._tool.insert(command))

    async def delete(self, command: Any) -> str:
        return await self._lanes.run(WRITES, lambda: self._tool.delete(command))

    async def rename(self, command: Any) -> str:
        return await self._lanes.run(WRITES, lambda: self._tool.rename(command))

    async def clear_all_memory(self) -> str:
        return await self._lanes.run(WRITES, self._tool.clear_all_memory)

    async def close(self) -> None:
        """Close the memory, if it was opened here."""
        await self._lanes.run(WRITES, self._tool.close)


def _answer(work: Callable[[], str]) -> str:
    """Return the answer; what went wrong is an error of the tool, which the model reads."""
    try:
        return work()
    except (FileProblem, MnemosError) as exc:
        raise ToolError(str(exc)) from exc
