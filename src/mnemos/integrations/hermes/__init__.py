"""Mnemos as the external MemoryProvider of a Hermes Agent.

Hermes loads it by the entry point ``hermes_agent.memory_providers``, or from the folder that ``mnemos connect
hermes`` writes; both call ``register``. Nothing is imported before that, to keep Hermes fast when it lists
providers. All imports in this folder are absolute, because Hermes may load its files under other names.
"""

from __future__ import annotations

from typing import Any

__all__ = ["register"]


def register(context: Any) -> None:
    """Register a new provider with Hermes. Each call registers another one."""
    from mnemos.integrations.hermes.provider import make

    context.register_memory_provider(make())
