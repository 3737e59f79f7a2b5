"""Which provider a Hermes uses: one line of its ``config.yaml``, found and changed without touching the rest.

A YAML library would be a dependency of everybody for that line. What is written in some unusual way is not
guessed at.
"""

from __future__ import annotations

import re
from typing import Final

FILE: Final = "config.yaml"
_MEMORY: Final = re.compile(r"memory[ \t]*:[ \t]*(?:#.*)?$")
_OTHER_MEMORY: Final = re.compile(r"""(?:memory|"memory"|'memory')[ \t]*:""")
_PROVIDER: Final = re.compile(r"([ \t]+)provider[ \t]*:(?:[ \t]+(.*?))?[ \t]*$")
_NOTHING: Final = ("", "''", '""', "null", "~")
_PLAIN: Final = re.compile(r"[A-Za-z0-9_.-]+")


def provider(text: str) -> str | None:
    """The provider that is named, empty for none; None when that cannot be told."""
    lines = text.splitlines()
    table = _table(lines)
    if table is None:
        return None if any(_OTHER_MEMORY.match(line) for line in lines) or _is_flow(lines) else ""
    at = _provider_line(lines, table)
    return "" if at is None else _named(lines[at])


def using(text: str, name: str) -> str:
    """The text with another provider; for one that ``provider`` understands. Line breaks stay as they are."""
    end = "\r\n" if "\r\n" in text else "\n"
    lines = text.removesuffix(end).split(end) if text else []
    table = _table(lines)
    value = name or "''"
    if table is None:
        head = [*lines, ""] if lines and lines[-1].strip() else lines
        return end.join([*head, "memory:", f"  provider: {value}"]) + end
    at = _provider_line(lines, table)
    if at is None:
        lines.insert(table + 1, f"{_indent(lines, table)}provider: {value}")
    else:
        found = _PROVIDER.match(_without_comment(lines[at]))
        indent = found[1] if found else "  "
        comment = lines[at][len(_without_comment(lines[at])) :]
        lines[at] = f"{indent}provider: {value}{comment}"
    return end.join(lines) + (end if text.endswith(end) else "")


def _table(lines: list[str]) -> int | None:
    found = [number for number, line in enumerate(lines) if _MEMORY.match(line)]
    return found[0] if len(found) == 1 else None


def _provider_line(lines: list[str], table: int) -> int | None:
    indent = _indent(lines, table)
    for number in range(table + 1, len(lines)):
        line = lines[number]
        if line.strip() and not line.lstrip().startswith("#"):
            if not line.startswith((" ", "\t")):
                return None
            found = _PROVIDER.match(_without_comment(line))
            if found and found[1] == indent:
                return number
    return None


def _indent(lines: list[str], table: int) -> str:
    """That of the first entry below; two blanks where there is none."""
    for line in lines[table + 1 :]:
        if line.strip() and not line.lstrip().startswith("#"):
            own = line[: len(line) - len(line.lstrip())]
            return own or "  "
    return "  "


def _named(line: str) -> str | None:
    found = _PROVIDER.match(_without_comment(line))
    value = (found[2] or "") if found else ""
    if value in _NOTHING:
        return ""
    bare = value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"" else value
    return bare if _PLAIN.fullmatch(bare) else None


def _without_comment(line: str) -> str:
    return line.partition(" #")[0].rstrip()


def _is_flow(lines: list[str]) -> bool:
    """Whether the whole file is one object in braces."""
    first = next((line for line in lines if line.strip() and not line.lstrip().startswith("#")), "")
    return first.lstrip().startswith(("{", "[", "- ", "%", "&", "!"))
