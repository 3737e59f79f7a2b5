"""Mnemos as the external MemoryProvider of a Hermes Agent.

Hermes loads it by the entry point ``hermes_agent.memory_providers``, or from the folder that ``mnemos connect
hermes`` writes; both call ``register``. Nothing is imported before: looking for providers must be quick. All
imports in this folder are absolute, because Hermes may load its files under names of its own.
"""

from __future__ import annotations

from typing import Any

__all__ = ["register"]


def register(context: Any) -> None:
    """Hand a new provider to Hermes. Being called again hands over another one, which is no harm."""
    from mnemos.integrations.hermes.provider import make

    context.register_memory_provider(make())
