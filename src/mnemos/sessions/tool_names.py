"""Names of the memory's own tools, as hosts write them."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, Final

# Another program may have a tool of the same name, so these need more evidence: a fenced result, or a call by
# the host in this process. In Hermes, ``notebook`` is the tool ``memory``.
SHARED_NAMES: Final = frozenset({"recall", "memory", "forget", "explain", "notebook"})
OWN_NAMES: Final = frozenset(
    {
        "remember", "session_search", "sessions_search", "sessions_read", "memory_status", "memory_write",
        "memory_search", "memory_tick", "memory_reflect", "memory_history", "memory_export", "memory_purge",
        "memory_forget", "memory_optimize", "memory_backend",
    }
)  # fmt: skip
# Hosts prefix a tool's name with the server's: mcp__mnemos__recall, mnemos_recall, mnemos.recall.
_PREFIX: Final = re.compile(r"(?<![a-z0-9])mnemos[_.:/-]")
# Tools of the workspace return data that the agent collected, not memory.
_DATA: Final = "sqlite_"


def is_own_tool(name: str, called_here: Collection[str] = ()) -> bool:
    """True if it is a tool of Mnemos that returns or changes memory.

    ``called_here``: tools that the host has called in this process. They settle names that other programs use
    too.
    """
    name = name.lower()
    if name in OWN_NAMES or name in called_here:
        return _DATA not in name
    return _PREFIX.search(name) is not None and _DATA not in name


def may_be_own_tool(name: str) -> bool:
    """True if it is, or has the same name as, a tool of Mnemos that returns or changes memory."""
    return name.lower() in SHARED_NAMES or is_own_tool(name)


def call_name(call: Mapping[str, Any]) -> str:
    function = call.get("function")
    named = function.get("name") if isinstance(function, Mapping) else call.get("name")
    return named if isinstance(named, str) else ""
