"""``MemoryManager``: the built-in provider and one other, for an agent host."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mnemos.deadlines import Overdue, Patience
from mnemos.errors import AlreadyExists, InvalidInput, MnemosError, Refused
from mnemos.integrations.providers import discovery, provider_tools, setup
from mnemos.integrations.providers.background_worker import DEADLINE, Worker
from mnemos.integrations.providers.builtin import NAME as BUILT_IN
from mnemos.integrations.providers.builtin import PRIMARY, BuiltinMemoryProvider
from mnemos.integrations.providers.contract import MemoryProvider
from mnemos.integrations.providers.conversation import extract_question
from mnemos.integrations.providers.member import ManagerStatus, Member, State
from mnemos.settings import Settings
from mnemos.text.fences import fence, strip_fences, strip_fences_in_content
from mnemos.text.stored_text import indent_lines
from mnemos.text.tokens import count_tokens, cut_to_tokens

if TYPE_CHECKING:
    from mnemos.memory import Memory

log = logging.getLogger("mnemos.integrations.providers")

# Limits for an external provider's text in the system prompt and in a summary's prompt.
BLOCK_TOKENS: Final = 2_000
LINES_TOKENS: Final = 1_000
_DRAIN_SECONDS: Final = 5.0
_CHARACTERS_PER_TOKEN: Final = 16
_MIRRORED: Final = "memory"
_MIRRORED_ACTIONS: Final = frozenset({"add", "replace", "remove"})


class MemoryManager:
    """The providers, the built-in one first. Their failures never raise.

    Only ``add_provider`` refuses. The home is opened by ``initialize_all``.
    """

    def __init__(
        self,
        *,
        memory: Memory | None = None,
        prefetch_seconds: float | None = None,
        prefetch_tokens: int | None = None,
        tool_seconds: float = 60.0,
        write_seconds: float = DEADLINE,
        drain_seconds: float = _DRAIN_SECONDS,
    ) -> None:
        """``memory``: an open memory, which the host closes.

        ``prefetch_seconds`` and ``prefetch_tokens`` override the settings. The other three limit a tool
        call, a write in the background, and all writes that are left at shutdown.
        """
        self._prefetch_seconds = prefetch_seconds
        self._prefetch_tokens = prefetch_tokens
        self._tool_seconds = tool_seconds
        self._drain_seconds = drain_seconds
        self._given = memory
        self._settings = Settings(home=Path()) if memory is None else memory.settings
        self._worker = Worker(deadline=write_seconds)
        self._builtin = BuiltinMemoryProvider(memory, worker=self._worker, report=self._note_builtin)
        first = Member(self._builtin, BUILT_IN, self._worker, is_builtin=True)
        first.read_tools()
        self._members = [first]
        self._problems: list[str] = []
        self._session_id = ""
        self._context = PRIMARY
        self._block: str | None = None

    # --- providers --------------------------------------------------------------------------

    def add_provider(self, provider: MemoryProvider) -> None:
        """Add an external provider.

        Raises Refused if there is one already, and AlreadyExists if its name or a tool's name is taken.
        """
        discovery.check_provider(provider, "the object that was added")
        name = _get_name(provider)
        if name == BUILT_IN:
            raise AlreadyExists("The name builtin is taken by the built-in provider. Choose another.")
        if len(self._members) > 1:
            raise Refused(
                f"The provider {name!r} was not added: {self._members[1].name!r} is in use, and there can be "
                "only one besides the built-in one. Choose one with `mnemos providers setup`."
            )
        member = Member(provider, name, self._worker)
        try:
            Patience(name).ask(member.read_tools, self._seconds)
        except Exception as exc:  # noqa: BLE001 - other people's code
            member.note("get_tool_schemas", exc)
        taken = self._members[0].tools.keys() & member.tools.keys()
        if taken:
            raise AlreadyExists(
                f"The provider {name!r} was not added: its tool {min(taken)!r} has the name of a built-in "
                "tool. Rename it."
            )
        self._members.append(member)

    @property
    def providers(self) -> list[MemoryProvider]:
        return [member.provider for member in self._members]

    def get_provider(self, name: str) -> MemoryProvider | None:
        return next((member.provider for member in self._members if member.name == name), None)

    def initialize_all(self, session_id: str, **kwargs: Any) -> None:
        """Begin a session: open the home, and add the provider that the settings name.

        ``home`` (or ``hermes_home``) overrides the home of the settings.
        """
        home = self._read_settings(kwargs.get("home") or kwargs.get("hermes_home"))
        self._session_id = session_id
        self._context = str(kwargs.get("agent_context") or PRIMARY)
        self._block = None
        given = {"platform": "cli", **kwargs, "home": home, "hermes_home": home}
        self._worker.open()
        self._add_configured(Path(home))
        for member in self._members:
            member.begin(session_id, given, self._seconds)

    def shutdown_all(self) -> None:
        """Finish queued writes within their deadline, then shut down, last one first."""
        self._worker.flush(self._drain_seconds)
        for member in reversed(self._members):
            member.end(self._drain_seconds)
        self._worker.close(0)

    def status(self) -> ManagerStatus:
        """Return which providers are active, what failed and what is waiting."""
        return ManagerStatus(
            self._session_id,
            tuple(member.status() for member in self._members),
            self._worker.pending,
            tuple(self._problems),
        )

    # --- the prompt -------------------------------------------------------------------------

    def build_system_prompt(self) -> str:
        """Join the system prompt blocks of all providers."""
        blocks = [self._members[0].ask("system_prompt_block", str, seconds=self._seconds)]
        for member in self._members[1:]:
            if self._block is None:
                # Kept, so that the prompt doesn't change if one answer is late.
                answer = member.ask("system_prompt_block", str, seconds=self._seconds)
                self._block = None if answer is None else _limit(answer, BLOCK_TOKENS)
            blocks.append(self._block)
        return "\n\n".join(block for block in blocks if block)

    def prefetch_all(self, query: str, *, session_id: str = "") -> str:
        """Recall for a message, fenced, within the budget; empty for a trivial message."""
        question = extract_question(query)
        if not question:
            return ""
        where = session_id or self._session_id
        self._share_budget()
        text = ""
        for member in self._members:
            answer = member.ask("prefetch", str, question, seconds=self._seconds, session_id=where)
            if not answer:
                continue
            if member.is_builtin:
                # The built-in provider fences its text and keeps to its share.
                text = answer
                continue
            room = self._tokens - count_tokens(f"{text}\n\n")
            longer = "\n\n".join(filter(None, (text, fence(answer, member.name, room))))
            # A tokenizer may count more tokens for the whole than for its parts.
            text = longer if count_tokens(longer) <= self._tokens else text
        return text

    def queue_prefetch_all(self, query: str, *, session_id: str = "") -> None:
        """Start looking for what ``prefetch_all`` will ask for."""
        question = extract_question(query)
        if question:
            self._tell("queue_prefetch", question, session_id=session_id or self._session_id)

    # --- turns ------------------------------------------------------------------------------

    def on_turn_start(self, turn_number: int, message: str, **kwargs: Any) -> None:
        text = strip_fences(message) if isinstance(message, str) else ""
        self._tell("on_turn_start", turn_number, text, **kwargs)

    def sync_all(
        self,
        user_content: str,
        assistant_content: str,
        *,
        session_id: str = "",
        messages: list[dict[str, Any]] | None = None,
    ) -> None:
        """Pass a primary agent's complete turn to all providers, without recalled text."""
        if self._context != PRIMARY:
            return
        contents = strip_fences_in_content(user_content), strip_fences_in_content(assistant_content)
        if any(contents):
            more = {} if messages is None else {"messages": self._strip_recalled(messages)}
            self._tell("sync_turn", *contents, session_id=session_id or self._session_id, **more)

    def flush_pending(self, timeout: float | None = None) -> bool:
        """Wait for queued writes. Returns False after the timeout.

        Without a timeout, a provider that hangs is not waited for.
        """
        return self._worker.flush(timeout)

    # --- tools ------------------------------------------------------------------------------

    def get_all_tool_schemas(self) -> list[dict[str, Any]]:
        """Return the tools of all providers, each ``{name, description, parameters}``."""
        return [member.tools[name] for name, member in self._collect_tools().items()]

    def get_all_tool_names(self) -> set[str]:
        return set(self._collect_tools())

    def has_tool(self, name: str) -> bool:
        return name in self._collect_tools()

    def handle_tool_call(self, tool_name: str, args: dict[str, Any], **kwargs: Any) -> str:
        """Run a tool. Returns JSON with ``success``, and ``error`` if it failed."""
        is_name = isinstance(tool_name, str)
        member = next((one for one in self._members if is_name and tool_name in one.tools), None)
        if member is None:
            return provider_tools.failure(f"there is no tool {str(tool_name)[:80]!r}", "not_found")
        if member.state is not State.ACTIVE:
            return provider_tools.failure(
                f"{member.name} memory is not available: {member.why_not}", "unavailable"
            )
        if not isinstance(args, Mapping):
            return provider_tools.failure(
                f"arguments must be an object, not {type(args).__name__}", "invalid_input"
            )
        answer = member.run_tool(tool_name, args, kwargs, self._tool_seconds)
        if member.is_builtin and tool_name == _MIRRORED and provider_tools.has_succeeded(answer):
            self._mirror(args, kwargs)
        return answer

    # --- sessions ---------------------------------------------------------------------------

    def on_session_end(self, messages: list[dict[str, Any]]) -> None:
        if self._context == PRIMARY:
            self._tell("on_session_end", self._strip_recalled(messages))

    def on_session_switch(
        self,
        new_session_id: str,
        *,
        parent_session_id: str = "",
        reset: bool = False,
        **kwargs: Any,
    ) -> None:
        """Continue in another session and rebuild the prompt blocks."""
        if not new_session_id:
            return
        self._session_id, self._block = new_session_id, None
        self._tell(
            "on_session_switch", new_session_id, parent_session_id=parent_session_id, reset=reset, **kwargs
        )

    def on_pre_compress(self, messages: list[dict[str, Any]]) -> str:
        """Return lines that a summary must keep, and rebuild the prompt blocks."""
        stripped = self._strip_recalled(messages)
        lines = []
        for member in self._members:
            answer = member.ask("on_pre_compress", str, stripped, seconds=self._seconds) or ""
            lines.append(answer if member.is_builtin else _limit(answer, LINES_TOKENS))
        self._block = None
        return "\n\n".join(filter(None, lines))

    def on_memory_write(
        self, action: str, target: str, content: str, metadata: dict[str, Any] | None = None
    ) -> None:
        """Tell external providers about a change in the built-in one's notebook."""
        for member in self._members[1:]:
            member.tell("on_memory_write", action, target, content, metadata=dict(metadata or {}))

    def on_delegation(self, task: str, result: str, *, child_session_id: str = "", **kwargs: Any) -> None:
        if self._context == PRIMARY:
            self._tell("on_delegation", task, result, child_session_id=child_session_id, **kwargs)

    # --- inside -----------------------------------------------------------------------------

    @property
    def _seconds(self) -> float:
        return self._prefetch_seconds or self._settings.prefetch_seconds

    @property
    def _tokens(self) -> int:
        return self._prefetch_tokens or self._settings.prefetch_tokens

    def _read_settings(self, home: Any) -> str:
        """Load the settings and return the home. Invalid ones are a reported problem."""
        if self._given is not None:
            return str(home or self._given.settings.home)
        try:
            self._settings = Settings.load(home)
        except MnemosError as exc:
            self._note_problem(str(exc))
            return str(home or "")
        return str(self._settings.home)

    def _add_configured(self, home: Path) -> None:
        """Add the provider that the settings name, unless the host added one."""
        name = self._settings.provider
        if not name or len(self._members) > 1:
            return
        try:
            chosen = Patience(name).ask(partial(setup.load_provider, name, home), self._seconds)
            self.add_provider(chosen.provider)
        except (MnemosError, Overdue) as exc:
            self._note_problem(str(exc))

    def _share_budget(self) -> None:
        """Give the built-in provider half of the budget while another one is active."""
        alone = not any(member.state is State.ACTIVE for member in self._members[1:])
        self._builtin.prefetch_tokens = self._tokens if alone else self._tokens // 2

    def _tell(self, hook: str, *args: Any, **extras: Any) -> None:
        for member in self._members:
            member.tell(hook, *args, **extras)

    def _collect_tools(self) -> dict[str, Member]:
        """Return tools and their providers by name. The first of equal names wins."""
        offered: dict[str, Member] = {}
        for member in self._members:
            if member.state is State.OFF:
                continue
            for name in member.tools:
                if offered.setdefault(name, member) is not member:
                    self._note_problem(f"the tool {name!r} of {member.name} has the name of a built-in tool")
        return offered

    def _mirror(self, args: Mapping[str, Any], extras: Mapping[str, Any]) -> None:
        operations = args.get("operations") or [args]
        for one in operations if isinstance(operations, Sequence) else ():
            if isinstance(one, Mapping) and one.get("action") in _MIRRORED_ACTIONS:
                known = {"old_text": one.get("old_text"), "session_id": self._session_id, **extras}
                metadata = {key: value for key, value in known.items() if value} | {"tool_name": _MIRRORED}
                target, content = str(args.get("target") or "memory"), str(one.get("content") or "")
                self.on_memory_write(str(one["action"]), target, content, metadata)

    def _strip_recalled(self, messages: Any) -> list[dict[str, Any]]:
        """Strip recalled text from messages. The built-in provider does so itself."""
        known = list(messages) if isinstance(messages, list | tuple) else []
        return known if len(self._members) == 1 else [_strip_message(message) for message in known]

    def _note_builtin(self, hook: str, exc: Exception) -> None:
        self._members[0].note(hook, exc)

    def _note_problem(self, problem: str) -> None:
        if problem not in self._problems:
            self._problems.append(problem)
            log.warning("%s", problem)


def _get_name(provider: MemoryProvider) -> str:
    try:
        name = provider.name
    except Exception as exc:
        raise InvalidInput(f"A provider of type {type(provider).__name__} has no name: {exc}") from exc
    if not isinstance(name, str) or not name.strip():
        raise InvalidInput(f"The name of a {type(provider).__name__} must be a short string, not {name!r}.")
    return name


def _strip_message(message: Any) -> Any:
    if not isinstance(message, Mapping):
        return message
    content = message.get("content")
    stripped = strip_fences_in_content(content)
    return message if stripped == content else {**message, "content": stripped}


def _limit(text: str, tokens: int) -> str:
    """Cut an external provider's text, and keep it from imitating our blocks."""
    shown = indent_lines(text[: _CHARACTERS_PER_TOKEN * tokens], "")
    return cut_to_tokens(shown.replace("═", "="), tokens)
