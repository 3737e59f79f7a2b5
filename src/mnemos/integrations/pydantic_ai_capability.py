"""A capability for Pydantic AI: ``Agent(model, capabilities=[MnemosMemory()])``.

Each run gets what other conversations said about its prompt, may use the tools of the memory, and is
recorded. ``MnemosConversationStore`` records conversations by itself: pass ``record=False`` together with it.
"""

from __future__ import annotations

from typing import Any

from mnemos.errors import MnemosError
from mnemos.integrations.pydantic_ai import SOURCE as CONVERSATIONS
from mnemos.integrations.pydantic_ai import read_prompt
from mnemos.integrations.shared.history import History, message_of
from mnemos.integrations.shared.memory_source import Opened, Source, framework, open_source
from mnemos.integrations.shared.recall import recall_block, warn_once
from mnemos.integrations.shared.tools import MemoryTool, list_tools, make_file_tool

with framework("pydantic-ai"):
    from pydantic_ai import RunContext, Tool
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelRequest
    from pydantic_ai.run import AgentRunResult
    from pydantic_ai.toolsets import FunctionToolset

SOURCE = "pydantic-ai-runs"


class MnemosMemory(Opened, AbstractCapability[Any]):
    """Recall, tools and a record of every run. Its failures don't stop the agent."""

    def __init__(
        self,
        memory: Source = None,
        *,
        user_id: str | None = None,
        tools: str | None = "default",
        record: bool = True,
        **flags: Any,
    ) -> None:
        """``memory``: an open one, or the home or URL; ``tools``: a set of tools or None."""
        super().__init__()
        self._memory, self._owned = open_source(memory, **flags)
        self._user_id, self._tools, self._record = user_id, tools, record

    def get_instructions(self) -> Any:
        return self._recall

    def get_toolset(self) -> FunctionToolset[Any] | None:
        if self._tools is None:
            return None
        return FunctionToolset([_wrap(tool) for tool in list_tools(self._memory, self._tools, self._user_id)])

    async def after_run(self, ctx: RunContext[Any], *, result: AgentRunResult[Any]) -> AgentRunResult[Any]:
        if self._record:
            said = result.new_messages()
            items = ModelMessagesTypeAdapter.dump_python(said, mode="json")
            roles = ["user" if isinstance(one, ModelRequest) else "assistant" for one in said]
            messages = [
                message_of(item, role=role, key=f"{ctx.run_id}/{number}")
                for number, (item, role) in enumerate(zip(items, roles, strict=True))
            ]
            try:
                await self._history(ctx).append(messages)
            except MnemosError as exc:
                warn_once(f"Runs are not recorded: {exc}")
        return result

    def _history(self, ctx: RunContext[Any]) -> History:
        return History(self._memory, ctx.conversation_id or "", SOURCE, user_id=self._user_id)

    async def _recall(self, ctx: RunContext[Any]) -> str:
        seen = [self._history(ctx).session_id, f"{CONVERSATIONS}/{ctx.conversation_id}"]
        return await recall_block(
            self._memory, read_prompt(ctx), user_id=self._user_id, exclude_session_ids=seen
        )


def memory_file_tool(memory: Source = None, *, user_id: str | None = None) -> Tool[Any]:
    """Return the function tool ``memory`` that Anthropic's native ``MemoryTool`` needs."""
    return _wrap(make_file_tool(open_source(memory)[0], user_id))


def _wrap(tool: MemoryTool) -> Tool[Any]:
    async def call(**given: Any) -> str:
        return await tool.call(given)

    return Tool.from_schema(call, tool.name, tool.description, tool.parameters)
