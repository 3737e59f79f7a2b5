"""The provider that Hermes uses: one line of its ``config.yaml``, read and changed; the rest stays.

A YAML library would be a dependency for everybody just for that line. Unusual notations are not guessed.
"""

from __future__ import annotations

import re
from typing import Final

FILE: Final = "config.yaml"
_BOM: Final = "\ufeff"
_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_MEMORY: Final = re.compile(r"memory[ \t]*:[ \t]*(?:#.*)?$")
_OTHER_MEMORY: Final = re.compile(r"""(?:memory|"memory"|'memory')[ \t]*:""")
_PROVIDER: Final = re.compile(r"([ \t]+)provider[ \t]*:(?:[ \t]+(.*?))?[ \t]*$")
_NOTHING: Final = ("", "''", '""', "null", "~")
_PLAIN: Final = re.compile(r"[A-Za-z0-9_.-]+")


def read_provider(text: str) -> str | None:
    """Return the provider, empty for none; None if the notation is not understood."""
    lines = [_bare(line) for line in _lines(text)]
    table = _table(lines)
    if table is None:
        return None if any(_OTHER_MEMORY.match(line) for line in lines) or _is_flow(lines) else ""
    at = _provider_line(lines, table)
    if at is None:
        return ""
    return None if _continues(lines, at) else _parse_value(lines[at])


def set_provider(text: str, name: str) -> str:
    """Return a text that ``read_provider`` understands with another provider. Line breaks stay."""
    mark, lines = text[: text.startswith(_BOM)], _lines(text)
    bare = [_bare(line) for line in lines]
    end = lines[0][len(bare[0]) :] or "\n" if lines else "\n"
    table = _table(bare)
    value = name or "''"
    if table is None:
        ended = "" if not lines or lines[-1] != bare[-1] else end
        apart = end if lines and bare[-1].strip() else ""
        return f"{text}{ended}{apart}memory:{end}  provider: {value}{end}"
    at = _provider_line(bare, table)
    if at is None:
        closing = lines[table][len(bare[table]) :]
        lines[table] = bare[table] + (closing or end)
        lines.insert(table + 1, f"{_indent(bare, table)}provider: {value}{closing}")
    else:
        found = _PROVIDER.match(_strip_comment(bare[at]))
        indent = found[1] if found else "  "
        rest = lines[at][len(_strip_comment(bare[at])) :]
        lines[at] = f"{indent}provider: {value}{rest}"
    return mark + "".join(lines)


def _lines(text: str) -> list[str]:
    """Split into lines with their line breaks, which may differ, without a byte order mark."""
    return _LINE.findall(text.removeprefix(_BOM))


def _bare(line: str) -> str:
    return line.rstrip("\r\n")


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
            found = _PROVIDER.match(_strip_comment(line))
            if found and found[1] == indent:
                return number
    return None


def _indent(lines: list[str], table: int) -> str:
    """Return the indentation of the first entry below; two spaces if there is none."""
    for line in lines[table + 1 :]:
        if line.strip() and not line.lstrip().startswith("#"):
            own = line[: len(line) - len(line.lstrip())]
            return own or "  "
    return "  "


def _continues(lines: list[str], at: int) -> bool:
    """True if a value continues on the next lines."""
    own = len(lines[at]) - len(lines[at].lstrip())
    following = (line for line in lines[at + 1 :] if line.strip() and not line.lstrip().startswith("#"))
    line = next(following, "")
    return len(line) - len(line.lstrip()) > own


def _parse_value(line: str) -> str | None:
    found = _PROVIDER.match(_strip_comment(line))
    value = (found[2] or "") if found else ""
    if value in _NOTHING:
        return ""
    bare = value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"" else value
    return bare if _PLAIN.fullmatch(bare) else None


def _strip_comment(line: str) -> str:
    return line.partition(" #")[0].rstrip()


def _is_flow(lines: list[str]) -> bool:
    """True if the whole file is one object in braces."""
    first = next((line for line in lines if line.strip() and not line.lstrip().startswith("#")), "")
    return first.lstrip().startswith(("{", "[", "- ", "%", "&", "!"))
