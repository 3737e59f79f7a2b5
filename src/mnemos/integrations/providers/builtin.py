"""Mnemos as a provider: sessions, notebook, facts and recall, without a model.

Callers never wait for long: the system prompt block is built once per session, recall may take 50 ms, and
writes go to the background worker.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import cache, partial
from typing import Any, ClassVar, Final

from mnemos.errors import MnemosError, Unavailable
from mnemos.integrations.providers import prompt, provider_tools, stated_facts
from mnemos.integrations.providers.background_worker import Worker
from mnemos.integrations.providers.contract import MemoryProvider
from mnemos.integrations.providers.conversation import (
    COMPRESSED,
    Conversation,
    build_turn,
    extract_question,
    extract_text,
    list_messages,
)
from mnemos.integrations.providers.prefetch import Recalls
from mnemos.integrations.shared.recall import recall_unasked
from mnemos.integrations.small_talk import cut_question
from mnemos.memory import Memory
from mnemos.memory.recall_log import asked_in
from mnemos.recall.answer import KINDS
from mnemos.sessions.session_upkeep import DERIVED
from mnemos.text.fences import strip_fences
from mnemos.text.tokens import count_tokens

log = logging.getLogger("mnemos.integrations.providers")

NAME: Final = "builtin"
TOOLS: Final = "recall,sessions_read,remember,forget,memory,memory_search,memory_write"
# Offered if the system prompt shows the tables.
_TABLE_TOOLS: Final = "sqlite_query,sqlite_schema"
PRIMARY: Final = "primary"

_SETTLE_SECONDS: Final = 2.0
_CLOSE_SECONDS: Final = 5.0
# A character may take four bytes.
_BYTES_PER_CHARACTER: Final = 4
_LONGEST_TICK: Final = 20_000

Report = Callable[[str, Exception], None]
"""Called with the method and the error after a failure in the background."""


class BuiltinMemoryProvider(MemoryProvider):
    """The memory of a home. ``initialize`` opens it unless an open one is passed."""

    default_tools: ClassVar[str] = TOOLS

    def __init__(
        self,
        memory: Memory | None = None,
        *,
        worker: Worker | None = None,
        tools: str | None = None,
        prefetch_tokens: int | None = None,
        report: Report | None = None,
    ) -> None:
        """``memory``: one that the host closes. ``tools``: sets or operations, with commas.

        By default the tools include those of the workspace, unless ``prompt_parts`` leaves out the tables.
        ``prefetch_tokens`` overrides the setting of that name.
        """
        self.prefetch_tokens = prefetch_tokens
        self._given = memory
        self._memory: Memory | None = None
        self._worker = worker or Worker()
        self._tools = tools
        self._report = report or _log_failure
        self._lock = threading.Lock()
        self._recalls = Recalls(self._look)
        self._reset("", PRIMARY)

    def _reset(self, session_id: str, context: str) -> None:
        self._session_id = session_id
        self._context = context
        self._user_id: str | None = None
        self._conversation: Conversation | None = None
        self._block: prompt.Block | None = None
        self._compressed: set[str] = set()
        self._began: float | None = None
        self._recalls.forget()

    # --- lifecycle --------------------------------------------------------------------------

    @property
    def name(self) -> str:
        return NAME

    @property
    def memory(self) -> Memory:
        """Return the open memory. Raises Unavailable unless it is initialized."""
        if self._memory is None:
            raise Unavailable("The memory is not open: initialize() was not called, or failed.")
        return self._memory

    def is_available(self) -> bool:
        return True

    def initialize(self, session_id: str, **kwargs: Any) -> None:
        self._worker.flush(_CLOSE_SECONDS, owner=NAME)
        self._close()
        self._reset(session_id, str(kwargs.get("agent_context") or PRIMARY))
        memory = self._given or Memory.at(
            kwargs.get("home") or kwargs.get("hermes_home"),
            space=kwargs.get("space"),
            actor=kwargs.get("agent_identity") or None,
            source=kwargs.get("platform") or None,
            here=_text_or_none(kwargs.get("cwd")),
        )
        memory.storage  # noqa: B018 - a home that cannot be opened should say so here
        self._memory = memory
        self._user_id = _text_or_none(kwargs.get("user_id"))
        self._conversation = Conversation(
            memory, source=kwargs.get("platform") or None, user_id=self._user_id
        )
        parent = kwargs.get("parent_session_id")
        if parent:
            self._conversation.link(session_id, parent)
        self._worker.open()

    def shutdown(self) -> None:
        self._worker.flush(_CLOSE_SECONDS, owner=NAME)
        self._close()

    def _close(self) -> None:
        memory, self._memory = self._memory, None
        if memory is not None and memory is not self._given:
            memory.close()

    # --- the prompt -------------------------------------------------------------------------

    def system_prompt_block(self) -> str:
        """Return notes, facts and tables: the same bytes until compressed or left."""
        with self._lock:
            if self._block is None or self._block.session_id != self._session_id:
                self._block = self._compose()
            return self._block.text

    def _compose(self) -> prompt.Block:
        return prompt.compose(self.memory, self._session_id, self._user_id)

    def prefetch(self, query: str, *, session_id: str = "") -> str:
        """Recall for a message, with the facts that changed since the prompt was built."""
        question = cut_question(extract_question(query))
        return self._recalls.take(session_id or self._session_id, question) if question else ""

    def queue_prefetch(self, query: str, *, session_id: str = "") -> None:
        question = cut_question(extract_question(query))
        if question and self._memory is not None:
            self._recalls.start(session_id or self._session_id, question)

    def _look(self, session_id: str, query: str, words_only: bool) -> str:  # noqa: FBT001 - called by Recalls alone
        memory, block = self.memory, self._block
        budget = self.prefetch_tokens or memory.settings.prefetch_tokens
        changed, known = "", set[str]()
        if block is not None and block.session_id == session_id:
            most = min(prompt.CHANGES_TOKENS, budget // 3)
            changed, known = prompt.find_changes(memory, block, most)
        # Unless it was compressed in place, the model's context contains this session.
        seen = [session_id] if session_id and session_id not in self._compressed else []
        with asked_in(session_id):
            recalled = recall_unasked(
                memory,
                query,
                [kind for kind in KINDS if kind not in known],
                budget=budget - count_tokens(f"{changed}\n") if changed else budget,
                exclude_session_ids=seen,
                words_only=words_only,
                user_id=self._user_id,
            )
        text = "\n".join(filter(None, (changed, recalled)))
        # A tokenizer may count more tokens for the whole than for its parts.
        return text if count_tokens(text) <= budget else recalled

    # --- turns ------------------------------------------------------------------------------

    def on_turn_start(self, turn_number: int, message: str, **kwargs: Any) -> None:
        """Start recall, and count the turn for facts."""
        session_id = str(kwargs.get("session_id") or self._session_id)
        memory = self.memory
        memory.notebook.begin_turn()
        self._began = memory.clock()
        text = strip_fences(message) if isinstance(message, str) else ""
        question = cut_question(extract_question(text))
        if question:
            self._recalls.start(session_id, question, anew=True)
        if self._writes:
            self._later(
                "on_turn_start",
                partial(
                    memory.facts.tick,
                    turn_number,
                    text[:_LONGEST_TICK],
                    session_id=session_id or None,
                    user_id=self._user_id,
                ),
            )

    def sync_turn(
        self,
        user_content: str,
        assistant_content: str,
        *,
        session_id: str = "",
        messages: list[dict[str, Any]] | None = None,
    ) -> None:
        """Store a turn in its session, in the background."""
        where = session_id or self._session_id
        conversation = self._conversation
        if not self._writes or conversation is None or not where:
            return
        memory = self.memory
        now = memory.clock()
        turn = build_turn(
            user_content,
            assistant_content,
            messages,
            began=min(self._began or now, now),
            now=now,
            longest=memory.settings.max_message_bytes // _BYTES_PER_CHARACTER,
        )
        if turn:
            self._later("sync_turn", partial(conversation.store_turn, where, turn))

    def on_pre_compress(self, messages: list[dict[str, Any]]) -> str:
        """Save what the messages state as facts, and return it for the summary."""
        found = stated_facts.find_statements(self.memory, messages)
        session_id = self._session_id
        self._compressed.add(session_id)
        saved = [one.statement for one in found]
        if self._writes and found:
            # Facts are linked to their messages, so wait until these are stored.
            self._worker.flush(_SETTLE_SECONDS, owner=NAME)
            saved = stated_facts.save(self.memory, session_id, found, self._user_id)
        self._refresh()
        return stated_facts.render_lines(saved)

    # --- sessions ---------------------------------------------------------------------------

    def on_session_switch(
        self,
        new_session_id: str,
        *,
        parent_session_id: str = "",
        reset: bool = False,
        **kwargs: Any,
    ) -> None:
        """Continue in another session. A compressed one ends and becomes its parent."""
        former, self._session_id = self._session_id, new_session_id
        is_compressed = kwargs.get("reason") == "compression" or former in self._compressed
        self._refresh()
        if new_session_id == former or self._conversation is None:
            return
        if parent_session_id and not reset:
            self._conversation.link(new_session_id, parent_session_id)
        if is_compressed and not reset and former and self._writes:
            self._later("on_session_switch", partial(self._conversation.end, former, COMPRESSED))
        self._compressed.discard(former)

    def on_session_end(self, messages: list[dict[str, Any]]) -> None:
        """Close the session, with candidates for facts and templates in its metadata."""
        conversation = self._conversation
        if self._writes and conversation is not None and self._session_id:
            finished = list_messages(messages)
            work = partial(_finish, self.memory, conversation, self._session_id, finished)
            self._later("on_session_end", work)
        self._refresh()

    def on_delegation(self, task: str, result: str, *, child_session_id: str = "", **kwargs: Any) -> None:  # noqa: ARG002
        """Store the task of another agent as a child session."""
        texts = extract_text(task), extract_text(result)
        if self._writes and self._conversation is not None and self._session_id and any(texts):
            store = partial(self._conversation.store_child, self._session_id, child_session_id, *texts)
            self._later("on_delegation", partial(store, self.memory.clock()))

    def _refresh(self) -> None:
        with self._lock:
            self._block = None
        if self._memory is not None:
            self._memory.notebook.refresh(self._session_id)
        self._recalls.forget()

    # --- tools ------------------------------------------------------------------------------

    def get_tool_schemas(self) -> list[dict[str, Any]]:
        # Copied, because hosts may change the schemas and providers share them.
        return list(deepcopy(self._schemas).values())

    def handle_tool_call(self, tool_name: str, args: dict[str, Any], **kwargs: Any) -> str:
        """Run an operation. Tools may write in every context."""
        if tool_name not in self._schemas:
            return super().handle_tool_call(tool_name, args, **kwargs)
        session_id = str(kwargs.get("session_id") or self._session_id)
        try:
            result = self.memory.call(
                tool_name, self._add_session(tool_name, args, session_id), user_id=self._user_id
            )
        except MnemosError as exc:
            return provider_tools.failure(str(exc), exc.code)
        if result.get("disabled"):
            return provider_tools.failure(result["text"], "disabled")
        return provider_tools.success(result["text"])

    def _add_session(self, tool_name: str, args: Mapping[str, Any], session_id: str) -> dict[str, Any]:
        """Add the conversation's session to the arguments unless the model named one."""
        given = {name: value for name, value in args.items() if value is not None}
        fields = self._schemas[tool_name]["parameters"]["properties"]
        if "current_session_id" in fields:
            return {"current_session_id": session_id, **given} if session_id else given
        if "exclude" in fields and "session" not in given and self._is_in_context(session_id):
            return {"exclude": [session_id], **given}
        if "session_id" in fields and session_id and tool_name not in _schemas_of("sessions"):
            return {"session_id": session_id, **given}
        return given

    @property
    def _schemas(self) -> dict[str, dict[str, Any]]:
        return _schemas_of(self._tools or self._choose_tools())

    def _choose_tools(self) -> str:
        memory = self._memory or self._given
        shows_tables = memory is None or "tables" in memory.settings.prompt_parts.split(",")
        return f"{self.default_tools},{_TABLE_TOOLS}" if shows_tables else self.default_tools

    def _is_in_context(self, session_id: str) -> bool:
        """True if the model's context contains all of a stored session."""
        seen = bool(session_id) and session_id not in self._compressed
        return seen and self.memory.sessions.get_session(session_id) is not None

    # --- inside -----------------------------------------------------------------------------

    @property
    def _writes(self) -> bool:
        """True if turns are recorded automatically."""
        return self._context == PRIMARY and self._memory is not None and not self._memory.settings.disabled

    def _later(self, hook: str, work: Callable[[], object]) -> None:
        def run_and_report() -> None:
            try:
                work()
            except (MnemosError, OSError) as exc:
                self._report(hook, exc)

        self._worker.submit(NAME, run_and_report)


def _finish(memory: Memory, conversation: Conversation, session_id: str, messages: list[Any]) -> None:
    if not conversation.exists(session_id):
        return
    candidates = stated_facts.find_candidates(memory, session_id, messages)
    conversation.end(session_id)
    if candidates:
        memory.sessions.update_metadata(session_id, {DERIVED: {"candidates": candidates}})


@cache
def _schemas_of(tools: str) -> dict[str, dict[str, Any]]:
    """Return the schemas of a set of tools by name."""
    schemas = [tool["function"] for tool in Memory.tools("openai", tools)]
    return {schema["name"]: schema for schema in schemas}


def _text_or_none(value: Any) -> str | None:
    return str(value) if value not in (None, "") else None


def _log_failure(hook: str, exc: Exception) -> None:
    log.warning("%s: %s", hook, exc)
