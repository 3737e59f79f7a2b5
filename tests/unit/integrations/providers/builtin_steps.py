"""Steps that tests of the built-in provider share."""

from __future__ import annotations

import json
from concurrent.futures import wait
from typing import Any

from mnemos import Memory
from mnemos.integrations.providers import BuiltinMemoryProvider
from mnemos.integrations.providers.prefetch import Recalls

LONG = 30.0


def said(memory: Memory, session_id: str) -> list[tuple[str, Any]]:
    return [(message["role"], message["content"]) for message in memory.sessions.get_messages(session_id)]


def settle(provider: BuiltinMemoryProvider) -> None:
    assert provider._worker.flush(LONG)


def looked_up(recalls: Recalls, session_id: str, query: str) -> None:
    """Look, and wait until all is found."""
    search = recalls.start(session_id, query)
    assert search is not None
    assert wait([search.future], LONG).done


def recalled(provider: BuiltinMemoryProvider, query: str) -> str:
    """Recall, and wait for it."""
    looked_up(provider._recalls, provider._session_id, query)
    return provider.prefetch(query)


def answer(provider: BuiltinMemoryProvider, name: str, **args: Any) -> Any:
    return json.loads(provider.handle_tool_call(name, args))
