"""A session for the OpenAI Agents SDK: ``Runner.run(agent, "hi", session=…)``.

Items are stored as they are, so a run sees what it stored; searches and recall find the text in them. A
compacted history is rewritten: the items before are retired and still found. ``clear_session`` deletes the
session, which can be undone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import takewhile
from typing import TYPE_CHECKING, Any, cast

from mnemos.errors import Conflict, InvalidInput, NotFound
from mnemos.integrations.providers.conversation import extract_text
from mnemos.integrations.shared.history import History, copy_of, item_of, message_of, read_text
from mnemos.integrations.shared.memory_source import Opened, Source, framework, open_source
from mnemos.integrations.shared.recall import recall_block
from mnemos.integrations.shared.tools import MemoryTool, list_tools

with framework("openai-agents"):
    from agents import FunctionTool
    from agents.memory.session import SessionABC
    from agents.memory.session_settings import SessionSettings, coerce_session_settings, resolve_session_limit
    from agents.run_config import CallModelData, CallModelInputFilter, ModelInputData

if TYPE_CHECKING:
    from agents.items import TResponseInputItem
    from agents.memory.session import _CompactionSnapshot

SOURCE = "openai-agents"


class MnemosSession(Opened, SessionABC):
    """A conversation's history, in a memory shared with other agents and processes."""

    def __init__(
        self,
        session_id: str,
        memory: Source = None,
        *,
        user_id: str | None = None,
        private: bool = False,
        session_settings: SessionSettings | dict[str, Any] | None = None,
        **flags: Any,
    ) -> None:
        """``memory``: an open one, or the home or URL to open with settings as ``flags``.

        ``private``: keep this conversation in this process only. Recall still reads the memory.
        """
        self.session_id = session_id
        self.user_id = user_id
        self.session_settings = coerce_session_settings(session_settings or SessionSettings())
        self._memory, self._owned = open_source(memory, **flags)
        self._history = History(self._memory, session_id, SOURCE, user_id=user_id, private=private)
        # Names of called tools, so that recall skips results of the memory's own tools.
        self._called: dict[str, str] = {}

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        most = resolve_session_limit(limit, self.session_settings)
        messages = await self._history.read(None if most is None or most < 0 else most)
        items = [_read_item(message) for message in messages]
        if any(message.get("forgotten") for message in messages):
            # Models refuse an output without its call, and reasoning without the item after it.
            calls = {item.get("call_id") for item in items if not _is_output(item)}
            followed_by = [message.get("forgotten") for message in messages[1:]] + [None]
            return [
                item
                for item, is_lost in zip(items, followed_by, strict=True)
                if not (_is_output(item) and item.get("call_id") not in calls)
                and not (item.get("type") == "reasoning" and is_lost)
            ]
        return items

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        await self._history.append([self._make_message(cast(dict[str, Any], item)) for item in items])

    async def pop_item(self) -> TResponseInputItem | None:
        return await self._history.pop(_read_item)

    async def clear_session(self) -> None:
        await self._history.clear()

    async def _pop_item_with_validation(
        self, validate: Callable[[TResponseInputItem], None] | None = None
    ) -> TResponseInputItem | None:
        """Remove the newest item unless ``validate`` raises. Called by the SDK."""
        while validate is not None:
            session = await self._history.get_session()
            newest = await self._history.read(1)
            if session is None or not newest:
                break
            validate(_read_item(newest[0]))
            with suppress(Conflict):
                popped = await self._history.pop(_read_item, if_revision=session["revision"])
                return cast("TResponseInputItem", popped)
        return await self.pop_item()

    async def _get_compaction_snapshot(
        self, limit: int, *, prune_prefix: Callable[[TResponseInputItem], bool] | None = None
    ) -> _CompactionSnapshot | None:
        """Return the last items and how to replace them if nobody else writes.

        Called by the SDK. The first items of the session are erased with them if ``prune_prefix`` says so:
        encrypted ones that have expired.
        """
        # Imported here, because only this method needs this private class of the SDK.
        from agents.memory.session import _CompactionSnapshot

        session = await self._history.get_session()
        if session is None:
            return None
        messages = await self._history.read(limit + 1)
        complete, messages = len(messages) <= limit, messages[-limit:]

        async def replace_suffix(start: int, output: list[TResponseInputItem]) -> bool:
            if start >= len(messages):
                return False
            new = [self._make_message(cast(dict[str, Any], item)) for item in output]
            first, pruned = messages[start]["id"], list[Any]()
            if prune_prefix is not None:
                prefix = [one for one in await self._history.read() if one["id"] < first]
                pruned = list(takewhile(lambda one: prune_prefix(_read_item(one)), prefix))
                if pruned:
                    first, new = pruned[0]["id"], [*map(copy_of, prefix[len(pruned) :]), *new]
            try:
                await self._history.rewrite(new, from_id=first, if_revision=session["revision"])
            except (Conflict, NotFound):
                return False
            for one in pruned:
                await self._history.memory.sessions.forget_message(one["id"])
            return True

        return _CompactionSnapshot(list(map(_read_item, messages)), complete, replace_suffix)

    def _make_message(self, item: dict[str, Any]) -> dict[str, Any]:
        if not isinstance(item, dict):
            raise InvalidInput(f"An item of a session must be a dict, not {type(item).__name__}.")
        kind, call_id = str(item.get("type")), item.get("call_id")
        if kind.endswith("_call") and isinstance(item.get("name"), str) and isinstance(call_id, str):
            self._called[call_id] = item["name"]
        if not _is_output(item):
            return message_of(item)
        name = self._called.get(str(call_id))
        return message_of(item, role="tool", tool_call_id=call_id, tool_name=name)


def recall_filter(session: MnemosSession) -> CallModelInputFilter:
    """Return a ``call_model_input_filter`` that adds what other sessions said.

    The block goes into the instructions of the call and is not stored.
    """

    async def add(data: CallModelData[Any]) -> ModelInputData:
        said = (item for item in reversed(data.model_data.input) if isinstance(item, dict))
        asked = next((extract_text(item.get("content")) for item in said if item.get("role") == "user"), "")
        block = await recall_block(
            session._memory,
            asked,
            user_id=session.user_id,
            exclude_session_ids=[session._history.session_id],
        )
        instructions = "\n\n".join(filter(None, (data.model_data.instructions, block)))
        return ModelInputData(input=data.model_data.input, instructions=instructions or None)

    return add


def memory_tools(session: MnemosSession, tools: str = "default") -> list[FunctionTool]:
    """Return the memory's tools for ``Agent(tools=…)``, for the session's user."""
    return [_wrap(tool) for tool in list_tools(session._memory, tools, session.user_id)]


def _wrap(tool: MemoryTool) -> FunctionTool:
    async def call(_: Any, arguments: str) -> str:
        return await tool.call(json.loads(arguments or "{}"))

    return FunctionTool(tool.name, tool.description, tool.parameters, call, strict_json_schema=False)


def _read_item(message: Mapping[str, Any]) -> Any:
    return item_of(message, _read_output if message["role"] == "tool" else read_text)


def _read_output(message: Mapping[str, Any]) -> Any:
    output = {"type": "function_call_output", "output": message["content"]}
    return output | {"call_id": message["tool_call_id"]}


def _is_output(item: Any) -> bool:
    return str(item.get("type")).endswith("_call_output")
