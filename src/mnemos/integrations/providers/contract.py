"""The contract between an agent host and a provider of memory.

The names are those of Hermes Agent, so that a provider for one host works with the other. A provider need not
derive from this class: any object with the required methods works, and a missing method has the default
below.
"""

# ruff: noqa: B027 - optional methods do nothing

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any


class MemoryProvider(ABC):
    """A memory for an agent. Four members are required; the others may be overridden."""

    @property
    @abstractmethod
    def name(self) -> str:
        """A short, constant name such as ``honcho``. ``builtin`` is taken."""

    @abstractmethod
    def is_available(self) -> bool:
        """True if installed and configured. Called first; must not use the network."""

    @abstractmethod
    def initialize(self, session_id: str, **kwargs: Any) -> None:
        """Begin to serve a session.

        Always passed: ``home`` and ``hermes_home`` (the same folder, for what is to be stored) and
        ``platform`` (``cli``, ``telegram``, ``cron`` …). Optional: ``agent_context`` (``primary``,
        ``subagent``, ``cron`` or ``flush``: only ``primary`` should be recorded automatically),
        ``agent_identity``, ``agent_workspace``, ``parent_session_id``, ``user_id``, ``cwd`` (the folder that
        the agent works in). Ignore any others.
        """

    @abstractmethod
    def get_tool_schemas(self) -> list[dict[str, Any]]:
        """Return the tools for the model, each ``{name, description, parameters}``.

        Schemas wrapped as ``{"type": "function", "function": …}`` are accepted too. Called before and after
        ``initialize``.
        """

    # --- turns ------------------------------------------------------------------------------

    def system_prompt_block(self) -> str:
        """Return a text for the system prompt; empty for none.

        It should stay the same, byte by byte, until the context is compressed or the session changes.
        Otherwise every turn loses the model's prompt cache.
        """
        return ""

    def prefetch(self, query: str, *, session_id: str = "") -> str:  # noqa: ARG002
        """Return what is known about the message to be answered next. Must be quick."""
        return ""

    def queue_prefetch(self, query: str, *, session_id: str = "") -> None:
        """Start looking in the background, because ``prefetch`` will ask soon."""

    def sync_turn(
        self,
        user_content: str,
        assistant_content: str,
        *,
        session_id: str = "",
        messages: list[dict[str, Any]] | None = None,
    ) -> None:
        """Store a complete turn without blocking.

        ``messages``: the conversation so far in OpenAI's format, with tool calls and their results.
        """

    def on_turn_start(self, turn_number: int, message: str, **kwargs: Any) -> None:
        """Called when a turn starts with this message from the user."""

    # --- tools ------------------------------------------------------------------------------

    def handle_tool_call(self, tool_name: str, args: dict[str, Any], **kwargs: Any) -> str:
        """Run a tool. Returns JSON with ``success``, and ``error`` if it failed."""
        raise NotImplementedError(f"{self.name} has no tool {tool_name!r}")

    # --- sessions ---------------------------------------------------------------------------

    def on_session_end(self, messages: list[dict[str, Any]]) -> None:
        """Called with all messages when the conversation is over."""

    def on_session_switch(
        self,
        new_session_id: str,
        *,
        parent_session_id: str = "",
        reset: bool = False,
        **kwargs: Any,
    ) -> None:
        """Called when the agent continues in another session.

        The session was resumed, branched, compressed or, with ``reset``, started anew.
        """

    def on_pre_compress(self, messages: list[dict[str, Any]]) -> str:  # noqa: ARG002
        """Return lines that the summary of messages about to be dropped must keep."""
        return ""

    def on_memory_write(
        self, action: str, target: str, content: str, metadata: dict[str, Any] | None = None
    ) -> None:
        """Called after ``add``, ``replace`` or ``remove`` in ``memory`` or ``user``.

        ``metadata`` has ``old_text`` for text that was replaced or removed.
        """

    def on_delegation(self, task: str, result: str, *, child_session_id: str = "", **kwargs: Any) -> None:
        """Called when another agent has done a task for this one."""

    def shutdown(self) -> None:
        """Called when the host ends, possibly twice."""

    # --- setup ------------------------------------------------------------------------------

    def get_config_schema(self) -> list[dict[str, Any]]:
        """Return the fields a person fills in.

        Dicts with ``key``, and optionally ``description``, ``secret``, ``required``, ``default``,
        ``choices``, ``url`` (where to get the value) and ``env_var``.
        """
        return []

    def save_config(self, values: dict[str, Any], hermes_home: str) -> None:
        """Store the values, except secrets, which are in the environment."""

    def backup_paths(self) -> list[str]:
        """Return paths outside the home to back up. Also called before ``initialize``."""
        return []
