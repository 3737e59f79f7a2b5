"""The reference page, generated from the operations: ``python -m mnemos.operations.reference FOLDER``."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any

from mnemos.operations import registry
from mnemos.operations.index import ENTRIES, Entry

FILE = "operations.md"

_HEAD = """# Operations

Every operation of Mnemos, as a command, as a tool and for `memory.call(name, arguments)`. This page is
generated from the operations by `make docs`; a test fails when it is out of date.
"""


def page() -> str:
    """Return the whole page as Markdown."""
    return "\n".join([_HEAD, *(_section(entry) for entry in ENTRIES)])


def _section(entry: Entry) -> str:
    operation = registry.load(entry)
    traits = operation.traits
    schema = registry.command_schema(operation)
    example = shlex.join(traits.example)
    kinds = [
        word
        for word, holds in (
            ("read-only", traits.read_only),
            ("asks before it deletes", traits.destructive),
            ("may ask at a terminal, `--yes` answers yes", traits.asks),
            ("on this machine only", traits.local),
        )
        if holds
    ]
    lines = [
        f"## {entry.command}",
        "",
        registry.description(operation),
        "",
        f"Command `mnemos {entry.command}`, tool `{entry.name}`"
        + (f"; {', '.join(kinds)}." if kinds else "."),
        "",
        *_fields(schema, traits.positional, registry.person_fields(operation)),
        "```sh",
        f"mnemos {entry.command} {example}".rstrip(),
        "```",
        "",
    ]
    return "\n".join(lines)


def _fields(schema: dict[str, Any], positional: tuple[str, ...], person: Collection[str]) -> list[str]:
    fields = schema.get("properties", {})
    if not fields:
        return []
    required = set(schema.get("required", ()))
    lines = ["| field | type | default | |", "| --- | --- | --- | --- |"]
    for name, field in fields.items():
        default = (
            "required"
            if name in required
            else f"`{field['default']!r}`"
            if field.get("default") is not None
            else ""
        )
        typed = "argument. " if name in positional else "command only. " if name in person else ""
        lines.append(f"| `{name}` | {_type(field)} | {default} | {typed}{_description(field)} |")
    return [*lines, ""]


def _type(field: dict[str, Any]) -> str:
    if "enum" in field:
        return " \\| ".join(f"`{value}`" for value in field["enum"])
    if "anyOf" in field:
        return " or ".join(_type(one) for one in field["anyOf"] if one.get("type") != "null")
    kind = str(field.get("type", "any"))
    if kind == "array":
        return f"list of {_type(field.get('items', {}))}"
    low, high = field.get("minimum"), field.get("maximum")
    return f"{kind} {low} to {high}" if low is not None and high is not None else kind


def _description(field: dict[str, Any]) -> str:
    return str(field.get("description", ""))


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FILE).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
