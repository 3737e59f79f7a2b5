"""Checks that several of these tests share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mnemos
from mnemos.integrations.hooks.events import Event
from mnemos.integrations.hooks.session_start import compose
from mnemos.integrations.providers.builtin import BuiltinMemoryProvider


def code_of(call: Callable[[], Any]) -> str | None:
    """The code of our error that a call raises; None when it raises none. Any other error passes."""
    try:
        call()
    except mnemos.MnemosError as exc:
        return exc.code
    return None


def index_all(memory: mnemos.Memory) -> None:
    """Until nothing is pending; the thread in the background may be at it too."""
    for _ in range(1_000_000):
        if memory.storage.catch_up() == 0:
            return
    raise AssertionError("the index does not catch up")


def read_prompts(memory: mnemos.Memory) -> str:
    """Everything that a provider and a hook put into the prompt of a new session."""
    provider = BuiltinMemoryProvider(memory)
    provider.initialize("s1")
    start = compose(memory, Event(name="session-start", session_id="s1"))
    return f"{provider.system_prompt_block()}\n{start}"
