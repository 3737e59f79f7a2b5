"""Make the reference pages from the operations: ``python scripts/make_reference.py [FOLDER]``."""

from __future__ import annotations

import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any

from mnemos.operations import registry
from mnemos.operations.arguments import MOST
from mnemos.operations.index import ENTRIES, TITLES, Entry, part_of

INDEX = "operations.md"

_HEAD = """# Operations

Every operation of Mnemos, as a command, as a tool and for `memory.call(name, arguments)`.
These pages are generated from the operations by `make docs`; a test fails when they are out of date.
"""


def pages() -> dict[str, str]:
    """Return every page as Markdown, by its path below the folder of the reference."""
    by_part = {part: [entry for entry in ENTRIES if part_of(entry) == part] for part in TITLES}
    index = [_HEAD]
    for part, entries in by_part.items():
        index += [f"## {TITLES[part]}", "", "| command | tool | |", "| --- | --- | --- |"]
        index += [_row(part, entry) for entry in entries]
        index.append("")
    return {
        INDEX: "\n".join(index),
        **{f"operations/{part}.md": _page(TITLES[part], entries) for part, entries in by_part.items()},
    }


def _page(title: str, entries: list[Entry]) -> str:
    return "\n".join([f"# {title}", "", *(_section(entry) for entry in entries)])


def _row(part: str, entry: Entry) -> str:
    anchor = entry.command.replace(" ", "-")
    first, _, _ = " ".join(registry.description(registry.load(entry)).split()).partition(". ")
    return f"| [`{entry.command}`](operations/{part}.md#{anchor}) | `{entry.name}` | {first.rstrip('.')} |"


def _section(entry: Entry) -> str:
    operation = registry.load(entry)
    traits = operation.traits
    schema = registry.command_schema(operation)
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
        f"mnemos {entry.command} {traits.example}".rstrip(),
        "```",
        "",
    ]
    return "\n".join(lines)


def _fields(schema: dict[str, Any], positional: tuple[str, ...], person: Collection[str]) -> list[str]:
    fields = schema.get("properties", {})
    if not fields:
        return []
    required = set(schema.get("required", ()))
    lines = ["| field | type | default | description |", "| --- | --- | --- | --- |"]
    for name, field in fields.items():
        default = (
            "required"
            if name in required
            else f"`{field['default']!r}`"
            if field.get("default") is not None
            else ""
        )
        typed = "Argument. " if name in positional else "Command line only. " if name in person else ""
        lines.append(f"| `{name}` | {_type(field)} | {default} | {typed}{_description(field)} |")
    return [*lines, ""]


def _type(field: dict[str, Any]) -> str:
    if "enum" in field:
        return " \\| ".join(f"`{value}`" for value in field["enum"])
    if "anyOf" in field:
        return " or ".join(_type(one) for one in field["anyOf"] if one.get("type") != "null")
    kind = str(field.get("type", "any"))
    if kind == "array":
        of = _type(field.get("items", {}))
        return f"list of {of}s" if of in ("string", "object", "integer") else f"list of {of}"
    low, high = field.get("minimum"), field.get("maximum")
    if low is None or high is None:
        return kind
    return f"{kind} from {low}" if high == MOST else f"{kind} {low} to {high}"


def _description(field: dict[str, Any]) -> str:
    # An optional field with a limit has its description in the kind that is not null.
    return next((one["description"] for one in (field, *field.get("anyOf", ())) if "description" in one), "")


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/reference")
    for name, text in pages().items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
