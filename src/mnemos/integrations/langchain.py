"""Memory for LangChain agents: ``create_agent(…, middleware=[MnemosMiddleware()])``.

The middleware puts what other threads said about the user's message into the system message of each call,
and records each turn. A memory that fails does not stop the agent: it warns once. ``MnemosRetriever`` finds
passages of everything in the memory. Works in sync and async agents.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any
from uuid import uuid4

from mnemos.errors import MnemosError
from mnemos.integrations.shared.history import name_session
from mnemos.integrations.shared.memory_source import OpenedSync, Source, framework, open_source
from mnemos.integrations.shared.recall import recall_block, recall_block_now, warn_once
from mnemos.memory.async_memory import AsyncMemory
from mnemos.memory.call_lanes import WRITES, Lanes
from mnemos.recall.answer import RecallHit
from mnemos.text.stored_text import escape_tags

with framework("langchain"):
    from langchain.agents.middleware import AgentMiddleware, ModelRequest
    from langchain_core.documents import Document
    from langchain_core.messages import AnyMessage, HumanMessage, SystemMessage, convert_to_openai_messages
    from langchain_core.retrievers import BaseRetriever
    from langgraph.config import get_config

SOURCE = "langchain"


class MnemosMiddleware(OpenedSync, AgentMiddleware):
    """Recall in every call of the model, and a record of every turn.

    The thread and the user are ``thread_id`` and ``user_id`` in the ``configurable`` of a run.
    """

    def __init__(self, memory: Source = None, *, user_id: str | None = None, **flags: Any) -> None:
        """``memory``: an open one, or the home or URL to open; ``user_id``: a default."""
        super().__init__()
        self._memory, self._owned = open_source(memory, **flags)
        self._user_id, self._lanes = user_id, Lanes()
        # Runs without a thread share one session.
        self._thread = str(uuid4())

    def wrap_model_call(self, request: ModelRequest, handler: Callable[[ModelRequest], Any]) -> Any:
        question, about = self._question(request)
        return handler(_add(request, recall_block_now(self._sync, question, **about)))

    async def awrap_model_call(
        self, request: ModelRequest, handler: Callable[[ModelRequest], Awaitable[Any]]
    ) -> Any:
        question, about = self._question(request)
        return await handler(_add(request, await recall_block(self._memory, question, **about)))

    def after_agent(self, state: Any, runtime: Any) -> None:  # noqa: ARG002 - as LangChain has it
        session_id, user_id = self._place()
        try:
            self._sync.sessions.ensure_session(session_id, SOURCE, user_id=user_id)
            self._sync.sessions.append_messages(session_id, list(_read_turn(state["messages"])))
        except MnemosError as exc:
            warn_once(f"Turns are not recorded: {exc}")

    async def aafter_agent(self, state: Any, runtime: Any) -> None:
        await self._lanes.run(WRITES, partial(self.after_agent, state, runtime))

    def _place(self) -> tuple[str, str | None]:
        """Return the session and user of this run. Users don't share threads."""
        given = get_config().get("configurable", {})
        named, thread = given.get("user_id"), given.get("thread_id")
        user_id = self._user_id if named is None else str(named)
        return name_session(SOURCE, user_id, self._thread if thread is None else str(thread)), user_id

    def _question(self, request: ModelRequest) -> tuple[str, dict[str, Any]]:
        session_id, user_id = self._place()
        said = [message for message in request.messages if isinstance(message, HumanMessage)]
        about = {"user_id": user_id, "exclude_session_ids": [session_id]}
        return str(said[-1].text) if said else "", about


class MnemosRetriever(BaseRetriever):
    """Passages of a memory as documents, best first: messages, facts, notes, entries."""

    memory: Any = None
    """A memory that is open, or the home or URL to open; None for the default home."""
    k: int = 4
    """Maximum number of documents."""
    user_id: str | None = None
    """Only this user's passages are found."""
    options: Mapping[str, Any] | None = None
    """Further arguments of ``recall``, such as ``kinds``, ``source`` and ``since``."""
    _opened: tuple[AsyncMemory, bool] | None = None

    def close(self) -> None:
        """Close the memory, if it was opened here."""
        opened, is_own = self._open()
        if is_own:
            opened.sync.close()

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: Any,  # noqa: ARG002 - as LangChain has it
        k: int | None = None,
    ) -> list[Document]:
        found = self._open()[0].sync.recall(query, **self._ask(k))
        return [_make_document(hit) for hit in found.hits]

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: Any,  # noqa: ARG002 - as LangChain has it
        k: int | None = None,
    ) -> list[Document]:
        found = await self._open()[0].recall(query, **self._ask(k))
        return [_make_document(hit) for hit in found.hits]

    def _open(self) -> tuple[AsyncMemory, bool]:
        if self._opened is None:
            self._opened = open_source(self.memory)
        return self._opened

    def _ask(self, k: int | None) -> dict[str, Any]:
        asked = {"limit": self.k if k is None else k, "user_id": self.user_id, "matches_only": True}
        return {**asked, **(self.options or {})}


def _add(request: ModelRequest, block: str) -> ModelRequest:
    """Return the request with a block at the end of its system message."""
    if not block:
        return request
    known = request.system_message
    if known is None:
        return request.override(system_message=SystemMessage(block))
    content = [{"type": "text", "text": known.content}] if isinstance(known.content, str) else known.content
    added = [*content, {"type": "text", "text": f"\n\n{block}"}]
    return request.override(system_message=known.model_copy(update={"content": added}))


def _read_turn(messages: Sequence[AnyMessage]) -> Iterator[dict[str, Any]]:
    """Yield the user's last message and what followed, ready to append."""
    said = [place for place, message in enumerate(messages) if isinstance(message, HumanMessage)]
    for message in messages[said[-1] if said else 0 :]:
        converted = convert_to_openai_messages([message])
        for number, one in enumerate(converted):
            yield {**one, "key": f"{message.id}/{number}" if message.id else None}


def _make_document(hit: RecallHit) -> Document:
    fields = ("kind", "ref", "session_id", "speaker", "at", "score", "title", "project", "state")
    about = {field: getattr(hit, field) for field in fields}
    return Document(id=f"{hit.kind}:{hit.ref}", page_content=escape_tags(hit.text), metadata=about)
