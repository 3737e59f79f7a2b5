"""The memory's tools, as frameworks register them: a name, a schema, a call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Final, NamedTuple

from mnemos.entries.entry_namespaces import USUAL_USER
from mnemos.errors import MnemosError
from mnemos.integrations.shared.files import FileProblem, MemoryFiles
from mnemos.memory.async_memory import AsyncMemory
from mnemos.memory.call_lanes import WRITES, Lanes


class MemoryTool(NamedTuple):
    """A tool. ``call`` takes a model's arguments and returns a text, even for errors."""

    name: str
    description: str
    parameters: dict[str, Any]
    """A JSON schema."""
    call: Callable[[Mapping[str, Any]], Awaitable[str]]


def list_tools(memory: AsyncMemory, tools: str = "default", user_id: str | None = None) -> list[MemoryTool]:
    """Return a set of operations (``default``, ``all``, …) as tools for one user."""
    described = [one["function"] for one in memory.sync.tools("openai", tools)]
    return [MemoryTool(call=partial(_call, memory, one["name"], user_id), **one) for one in described]


def make_file_tool(memory: AsyncMemory, user_id: str | None = None) -> MemoryTool:
    """Return Anthropic's memory tool as the tool ``memory``, on the user's files."""
    files, lanes = MemoryFiles(memory.sync, user_id or USUAL_USER), Lanes({WRITES: 1})

    async def call(given: Mapping[str, Any]) -> str:
        return await lanes.run(WRITES, partial(_run, files, given))

    return MemoryTool("memory", _ABOUT_FILES, _COMMANDS, call)


async def _call(memory: AsyncMemory, name: str, user_id: str | None, given: Mapping[str, Any]) -> str:
    try:
        answer = await memory.call(name, dict(given), user_id=user_id)
    except MnemosError as exc:
        return f"{exc.code}: {exc}"
    return str(answer["text"])


def _run(files: MemoryFiles, given: Mapping[str, Any]) -> str:
    command = given.get("command")
    if command not in ARGUMENTS:
        return f"Unknown command: {command}. Use {', '.join(ARGUMENTS)}."
    values = {name: given.get(name) for name in ARGUMENTS[command]}
    if missing := [name for name, value in values.items() if value is None and name != "view_range"]:
        return f"{command} needs {', '.join(missing)}."
    try:
        return str(getattr(files, command)(*values.values()))
    except (FileProblem, MnemosError) as exc:
        return str(exc)


_ABOUT_FILES: Final = "Read and write files below /memories, which are there in later conversations."
ARGUMENTS: Final = {
    "view": ("path", "view_range"),
    "create": ("path", "file_text"),
    "str_replace": ("path", "old_str", "new_str"),
    "insert": ("path", "insert_line", "insert_text"),
    "delete": ("path",),
    "rename": ("old_path", "new_path"),
}
"""The commands on files. Arguments are in the order of the methods of ``MemoryFiles``."""
_COMMANDS: Final = {
    "type": "object",
    "properties": {
        "command": {"type": "string", "enum": list(ARGUMENTS)},
        **{
            name: {"type": "string"}
            for name in ("path", "file_text", "old_str", "new_str", "insert_text", "old_path", "new_path")
        },
        "insert_line": {"type": "integer"},
        "view_range": {"type": "array", "items": {"type": "integer"}},
    },
    "required": ["command"],
}
