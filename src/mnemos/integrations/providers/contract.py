"""What a provider of memory promises to an agent host.

The names are those that Hermes Agent fixed, so that a provider written for one works with the other. A
provider need not derive from this class: who has the methods that it uses is one, and what is missing is
taken for the default below.

Methods may be called from several threads: those that answer while a turn waits, those that are told
something in the background, in order. None of them can break a turn: what is raised is counted, and who does
not answer in time is passed over until he does.
"""

# ruff: noqa: B027 - what a provider may leave out does nothing

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any


class MemoryProvider(ABC):
    """A memory behind an agent. Four things are required; the rest does nothing unless it is overridden."""

    @property
    @abstractmethod
    def name(self) -> str:
        """A short name, such as ``honcho``; always the same. ``builtin`` is taken."""

    @abstractmethod
    def is_available(self) -> bool:
        """Whether it is installed and configured. Asked before ``initialize``; must not use the network."""

    @abstractmethod
    def initialize(self, session_id: str, **kwargs: Any) -> None:
        """Begin to serve a session.

        Always given: ``home`` and ``hermes_home`` (the same folder, for what is to be stored) and
        ``platform`` (``cli``, ``telegram``, ``cron`` …). Maybe: ``agent_context`` (``primary``, ``subagent``,
        ``cron`` or ``flush``: only ``primary`` should be written down by itself), ``agent_identity``,
        ``agent_workspace``, ``parent_session_id``, ``user_id``. Others are to be passed over.
        """

    @abstractmethod
    def get_tool_schemas(self) -> list[dict[str, Any]]:
        """The tools for the model, each ``{name, description, parameters}``; none is an empty list.

        Wrapped as ``{"type": "function", "function": …}`` they are understood, too. Asked before and after
        ``initialize``.
        """

    # --- around a turn ----------------------------------------------------------------------

    def system_prompt_block(self) -> str:
        """A text for the system prompt; empty for none.

        It should stay the same, byte by byte, until the context is compressed or the session changes:
        otherwise the model's prompt cache is lost with every turn.
        """
        return ""

    def prefetch(self, query: str, *, session_id: str = "") -> str:  # noqa: ARG002
        """What is known about the message that is about to be answered; empty for nothing. Be quick."""
        return ""

    def queue_prefetch(self, query: str, *, session_id: str = "") -> None:
        """Begin to look in the background: ``prefetch`` will ask soon."""

    def sync_turn(
        self,
        user_content: str,
        assistant_content: str,
        *,
        session_id: str = "",
        messages: list[dict[str, Any]] | None = None,
    ) -> None:
        """Store a turn that is complete, without keeping anybody waiting.

        ``messages``: the conversation so far in OpenAI's format, with the calls of tools and their answers.
        """

    def on_turn_start(self, turn_number: int, message: str, **kwargs: Any) -> None:
        """A turn begins with this message of the user."""

    # --- tools ------------------------------------------------------------------------------

    def handle_tool_call(self, tool_name: str, args: dict[str, Any], **kwargs: Any) -> str:
        """Run a tool. JSON with ``success``, and with ``error`` when it failed."""
        raise NotImplementedError(f"{self.name} has no tool {tool_name!r}")

    # --- what happens to a session ------------------------------------------------------------

    def on_session_end(self, messages: list[dict[str, Any]]) -> None:
        """The conversation is over; these are its messages."""

    def on_session_switch(
        self,
        new_session_id: str,
        *,
        parent_session_id: str = "",
        reset: bool = False,
        **kwargs: Any,
    ) -> None:
        """The agent goes on in another session: resumed, branched, compressed or, with ``reset``, new."""

    def on_pre_compress(self, messages: list[dict[str, Any]]) -> str:  # noqa: ARG002
        """These messages are about to be replaced by a summary; lines that it must keep, or nothing."""
        return ""

    def on_memory_write(
        self, action: str, target: str, content: str, metadata: dict[str, Any] | None = None
    ) -> None:
        """The notebook was changed: ``add``, ``replace`` or ``remove`` in ``memory`` or ``user``.

        ``metadata`` has ``old_text`` for what was replaced or removed.
        """

    def on_delegation(self, task: str, result: str, *, child_session_id: str = "", **kwargs: Any) -> None:
        """Another agent did a task for this one, and this came of it."""

    def shutdown(self) -> None:
        """The host ends. Being told twice must do no harm."""

    # --- being set up -----------------------------------------------------------------------

    def get_config_schema(self) -> list[dict[str, Any]]:
        """What a person has to fill in: dicts with ``key``, and maybe ``description``, ``secret``,
        ``required``, ``default``, ``choices``, ``url`` (where to get it) and ``env_var``."""
        return []

    def save_config(self, values: dict[str, Any], hermes_home: str) -> None:
        """Keep what was filled in, except secrets: those are in the environment."""

    def backup_paths(self) -> list[str]:
        """Absolute paths outside the home that a backup should hold; asked without ``initialize``."""
        return []
