"""``MemoryManager``: what an agent host holds. It drives the built-in provider and at most one other."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mnemos.deadlines import Overdue, Patience
from mnemos.errors import AlreadyExists, InvalidInput, MnemosError, Refused
from mnemos.integrations.providers import configuring, discovery, tools
from mnemos.integrations.providers.builtin import NAME as BUILT_IN
from mnemos.integrations.providers.builtin import PRIMARY, BuiltinMemoryProvider
from mnemos.integrations.providers.contract import MemoryProvider
from mnemos.integrations.providers.member import Member, State
from mnemos.integrations.providers.status import ManagerStatus
from mnemos.integrations.providers.trivial import is_trivial
from mnemos.integrations.providers.worker import DEADLINE, Worker
from mnemos.settings import Settings
from mnemos.text.fences import clean, fence, strip_fences, strip_fences_in_content
from mnemos.text.tokens import count_tokens, cut_to_tokens

if TYPE_CHECKING:
    from mnemos.memory import Memory

log = logging.getLogger("mnemos.integrations.providers")

# What an external provider may put into the system prompt, and into the prompt of a summary.
BLOCK_TOKENS: Final = 2_000
LINES_TOKENS: Final = 1_000
_DRAIN_SECONDS: Final = 5.0
_CHARACTERS_A_TOKEN: Final = 16
_MIRRORED: Final = "memory"
_MIRRORED_ACTIONS: Final = frozenset({"add", "replace", "remove"})


class MemoryManager:
    """Providers in their order, the built-in one first. No method raises because of a provider.

    Only ``add_provider`` refuses: that is the moment to notice. The home is opened by ``initialize_all``.
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
        """``memory``: one that the host has open, and closes.

        ``prefetch_seconds`` and ``prefetch_tokens``: instead of the settings. The other three: how long a
        tool, a write in the background, and the writes that are left at the end may take.
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

    # --- who takes part ---------------------------------------------------------------------

    def add_provider(self, provider: MemoryProvider) -> None:
        """Let an external provider take part. It is refused when there is one already, and when a tool of its
        has the name of another; then Refused or AlreadyExists says which."""
        discovery.checked(provider, "what was added")
        name = _name_of(provider)
        if name == BUILT_IN:
            raise AlreadyExists("the built-in provider is always there; a provider needs a name of its own")
        if len(self._members) > 1:
            raise Refused(
                f"the provider {name!r} was not added: {self._members[1].name!r} is there already, and only "
                "one can be besides the built-in; choose with `mnemos providers setup`"
            )
        member = Member(provider, name, self._worker)
        try:
            Patience(name).ask(member.read_tools, self._seconds)
        except Exception as exc:  # noqa: BLE001 - other people's code
            member.note("get_tool_schemas", exc)
        taken = self._members[0].tools.keys() & member.tools.keys()
        if taken:
            raise AlreadyExists(
                f"the provider {name!r} was not added: its tool {min(taken)!r} has the name of a built-in "
                "one; rename it"
            )
        self._members.append(member)

    @property
    def providers(self) -> list[MemoryProvider]:
        return [member.provider for member in self._members]

    def get_provider(self, name: str) -> MemoryProvider | None:
        return next((member.provider for member in self._members if member.name == name), None)

    def initialize_all(self, session_id: str, **kwargs: Any) -> None:
        """Begin a session: open the home, and begin what the settings name if nobody was added.

        ``home`` (or ``hermes_home``) names the home, by default that of the settings.
        """
        home = self._read_settings(kwargs.get("home") or kwargs.get("hermes_home"))
        self._session_id = session_id
        self._context = str(kwargs.get("agent_context") or PRIMARY)
        self._block = None
        given = {"platform": "cli", **kwargs, "home": home, "hermes_home": home}
        self._worker.open()
        self._add_chosen(Path(home))
        for member in self._members:
            member.begin(session_id, given, self._seconds)

    def shutdown_all(self) -> None:
        """Finish what is queued, within its deadline, then shut all down, the last first."""
        self._worker.flush(self._drain_seconds)
        for member in reversed(self._members):
            member.end(self._drain_seconds)
        self._worker.close(0)

    def status(self) -> ManagerStatus:
        """How everybody is doing: who takes part, what failed, what is waiting."""
        return ManagerStatus(
            self._session_id,
            tuple(member.status() for member in self._members),
            self._worker.pending,
            tuple(self._problems),
        )

    # --- the prompt -------------------------------------------------------------------------

    def build_system_prompt(self) -> str:
        """The blocks of all providers for the system prompt; empty when none has any."""
        blocks = [self._members[0].ask("system_prompt_block", str, seconds=self._seconds)]
        for member in self._members[1:]:
            if self._block is None:
                # Kept, so that a prompt does not change because an answer once did not come.
                answer = member.ask("system_prompt_block", str, seconds=self._seconds)
                self._block = None if answer is None else _cut(answer, BLOCK_TOKENS)
            blocks.append(self._block)
        return "\n\n".join(block for block in blocks if block)

    def prefetch_all(self, query: str, *, session_id: str = "") -> str:
        """What is recalled for a message, fenced as data, within the budget; empty for a trivial message."""
        asked = _asked(query)
        if not asked:
            return ""
        where = session_id or self._session_id
        self._share_out()
        text = ""
        for member in self._members:
            answer = member.ask("prefetch", str, asked, seconds=self._seconds, session_id=where)
            if not answer:
                continue
            if member.is_builtin:
                # What recall packed is fenced, and keeps to its share.
                text = answer
                continue
            room = self._tokens - count_tokens(f"{text}\n\n")
            longer = "\n\n".join(filter(None, (text, fence(answer, member.name, room))))
            # A tokenizer may count the whole higher than its parts.
            text = longer if count_tokens(longer) <= self._tokens else text
        return text

    def queue_prefetch_all(self, query: str, *, session_id: str = "") -> None:
        """Let all begin to look for what ``prefetch_all`` will ask."""
        asked = _asked(query)
        if asked:
            self._tell("queue_prefetch", asked, session_id=session_id or self._session_id)

    # --- turns ------------------------------------------------------------------------------

    def on_turn_start(self, turn_number: int, message: str, **kwargs: Any) -> None:
        said = strip_fences(message) if isinstance(message, str) else ""
        self._tell("on_turn_start", turn_number, said, **kwargs)

    def sync_all(
        self,
        user_content: str,
        assistant_content: str,
        *,
        session_id: str = "",
        messages: list[dict[str, Any]] | None = None,
    ) -> None:
        """Hand a complete turn to all, without what was recalled for it; only of a primary agent."""
        if self._context != PRIMARY:
            return
        said = strip_fences_in_content(user_content), strip_fences_in_content(assistant_content)
        if any(said):
            more = {} if messages is None else {"messages": self._without_recalled(messages)}
            self._tell("sync_turn", *said, session_id=session_id or self._session_id, **more)

    def flush_pending(self, timeout: float | None = None) -> bool:
        """Wait until what was queued is done; False when it is not in time.

        Without a timeout, a provider that does not come back is not waited for.
        """
        return self._worker.flush(timeout)

    # --- tools ------------------------------------------------------------------------------

    def get_all_tool_schemas(self) -> list[dict[str, Any]]:
        """The tools of all, each ``{name, description, parameters}``."""
        return [member.tools[name] for name, member in self._offered().items()]

    def get_all_tool_names(self) -> set[str]:
        return set(self._offered())

    def has_tool(self, name: str) -> bool:
        return name in self._offered()

    def handle_tool_call(self, tool_name: str, args: dict[str, Any], **kwargs: Any) -> str:
        """Run a tool; JSON with ``success``, and ``error`` when it failed."""
        named = isinstance(tool_name, str)
        member = next((one for one in self._members if named and tool_name in one.tools), None)
        if member is None:
            return tools.failure(f"memory has no tool {str(tool_name)[:80]!r}", "not_found")
        if member.state is not State.ACTIVE:
            return tools.failure(f"{member.name} memory is not available: {member.why_not}", "unavailable")
        if not isinstance(args, Mapping):
            return tools.failure(f"the arguments are a {type(args).__name__}; use an object", "invalid_input")
        answer = member.run_tool(tool_name, args, kwargs, self._tool_seconds)
        if member.is_builtin and tool_name == _MIRRORED and tools.has_succeeded(answer):
            self._mirror(args, kwargs)
        return answer

    # --- what happens to a session ------------------------------------------------------------

    def on_session_end(self, messages: list[dict[str, Any]]) -> None:
        if self._context == PRIMARY:
            self._tell("on_session_end", self._without_recalled(messages))

    def on_session_switch(
        self,
        new_session_id: str,
        *,
        parent_session_id: str = "",
        reset: bool = False,
        **kwargs: Any,
    ) -> None:
        """Go on in another session; the blocks of the prompt are made anew."""
        if not new_session_id:
            return
        self._session_id, self._block = new_session_id, None
        self._tell(
            "on_session_switch", new_session_id, parent_session_id=parent_session_id, reset=reset, **kwargs
        )

    def on_pre_compress(self, messages: list[dict[str, Any]]) -> str:
        """Lines that the summary of these messages must keep; the blocks of the prompt are made anew."""
        said = self._without_recalled(messages)
        answers = [
            (member, member.ask("on_pre_compress", str, said, seconds=self._seconds))
            for member in self._members
        ]
        self._block = None
        lines = [
            answer if member.is_builtin else _cut(answer, LINES_TOKENS)
            for member, answer in answers
            if answer
        ]
        return "\n\n".join(filter(None, lines))

    def on_memory_write(
        self, action: str, target: str, content: str, metadata: dict[str, Any] | None = None
    ) -> None:
        """Tell external providers of a change of the notebook; the built-in one made it."""
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
        """The home that is meant. Settings that make no sense are told; without them it may be unknown."""
        if self._given is not None:
            return str(home or self._given.settings.home)
        try:
            self._settings = Settings.load(home)
        except MnemosError as exc:
            self._note_problem(str(exc))
            return str(home or "")
        return str(self._settings.home)

    def _add_chosen(self, home: Path) -> None:
        """Add the provider that the settings name, unless the host added one."""
        name = self._settings.provider
        if not name or len(self._members) > 1:
            return
        try:
            chosen = Patience(name).ask(partial(configuring.loaded, name, home), self._seconds)
            self.add_provider(chosen.provider)
        except (MnemosError, Overdue) as exc:
            self._note_problem(str(exc))

    def _share_out(self) -> None:
        """Half of the budget for the built-in one while another is asked, too."""
        alone = not any(member.state is State.ACTIVE for member in self._members[1:])
        self._builtin.prefetch_tokens = self._tokens if alone else self._tokens // 2

    def _tell(self, hook: str, *args: Any, **extras: Any) -> None:
        for member in self._members:
            member.tell(hook, *args, **extras)

    def _offered(self) -> dict[str, Member]:
        """The tools of those who take part, or will; a name that is taken stays with who had it first."""
        offered: dict[str, Member] = {}
        for member in self._members:
            if member.state is State.OFF:
                continue
            for name in member.tools:
                if offered.setdefault(name, member) is not member:
                    self._note_problem(f"the tool {name!r} of {member.name} has the name of a built-in one")
        return offered

    def _mirror(self, args: Mapping[str, Any], extras: Mapping[str, Any]) -> None:
        operations = args.get("operations") or [args]
        for one in operations if isinstance(operations, Sequence) else ():
            if isinstance(one, Mapping) and one.get("action") in _MIRRORED_ACTIONS:
                known = {"old_text": one.get("old_text"), "session_id": self._session_id, **extras}
                metadata = {key: value for key, value in known.items() if value} | {"tool_name": _MIRRORED}
                target, content = str(args.get("target") or "memory"), str(one.get("content") or "")
                self.on_memory_write(str(one["action"]), target, content, metadata)

    def _without_recalled(self, messages: Any) -> list[dict[str, Any]]:
        """The messages as they were said; the built-in provider sees to that itself."""
        said = list(messages) if isinstance(messages, list | tuple) else []
        return said if len(self._members) == 1 else [_as_said(message) for message in said]

    def _note_builtin(self, hook: str, exc: Exception) -> None:
        self._members[0].note(hook, exc)

    def _note_problem(self, problem: str) -> None:
        if problem not in self._problems:
            self._problems.append(problem)
            log.warning("%s", problem)


def _name_of(provider: MemoryProvider) -> str:
    try:
        name = provider.name
    except Exception as exc:
        raise InvalidInput(f"a {type(provider).__name__} has no name: {exc}") from exc
    if not isinstance(name, str) or not name.strip():
        raise InvalidInput(f"a {type(provider).__name__} has the name {name!r}; use a short text")
    return name


def _asked(query: Any) -> str:
    """What a message asks, without what was recalled for it; empty when that is nothing."""
    text = strip_fences(query).strip() if isinstance(query, str) else ""
    return "" if is_trivial(text) else text


def _as_said(message: Any) -> Any:
    if not isinstance(message, Mapping):
        return message
    content = message.get("content")
    said = strip_fences_in_content(content)
    return message if said == content else {**message, "content": said}


def _cut(text: str, tokens: int) -> str:
    """What an external provider may add to a prompt. Long before it is looked at: there may be megabytes."""
    return cut_to_tokens(clean(text[: _CHARACTERS_A_TOKEN * tokens]).strip(), tokens)
