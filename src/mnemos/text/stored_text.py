"""Stored text, rendered for a prompt, the answer of a tool or a terminal.

Texts in memory come from web pages, tools and other people. So that none can pose as something else, it adds
no line at the margin of what is around it, hides no character, and opens or closes no fence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from mnemos.text.patterns import compile_lazily

NAMES: Final = ("recalled-memory", "memory-context", "memory-facts", "workspace-tables")
"""Names of the fences that recall, hosts, facts and the workspace put into a prompt."""

_INDENT: Final = "  "
_WRITTEN: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
# The categories Cc, Cf, Cs, Zl and Zp without joiners, which hold letters and emoji together. Several
# variation selectors in a row carry data.
HIDDEN: Final = compile_lazily(
    "[\x00-\x1f\x7f-\x9f\u00ad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b\u200e\u200f"
    "\u2028-\u202e\u2060-\u2064\u2066-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb\U000110bd\U000110cd"
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f]"
    "|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,}"
)
_BRACKETS: Final = "<＜﹤‹"
_INVISIBLE: Final = "\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff"


def _name_pattern(name: str) -> str:
    """Match a name as a model would still read it, with invisible characters between its letters."""
    return rf"[{_INVISIBLE}]{{0,4}}".join(re.escape(letter) for letter in name)


# "recalled" alone: whatever follows, a model takes it for the fence.
_READ: Final = "|".join(map(_name_pattern, ("recalled", *NAMES[1:])))
_MARK: Final = compile_lazily(rf"[{_BRACKETS}](?=[\s/\\{_INVISIBLE}]{{0,16}}(?:{_READ}))", re.IGNORECASE)
_CLOSING: Final = compile_lazily(rf"[{_BRACKETS}](?=[\s{_INVISIBLE}]{{0,16}}[/\\／])")


def join_items(items: Iterable[str]) -> str:
    """Render one item per line; further lines of an item are indented below its first one.

    An item may begin with blanks of its own.
    """
    return "\n".join(map(_render_item, items))


def one_line(text: str) -> str:
    """Render a text on one line, with single blanks."""
    return reveal(" ".join(repair_surrogates(text).split()))


def render_speaker(name: str) -> str:
    """Render a role or a name that a colon follows: without colons, so that it says nothing itself."""
    return one_line(name.replace(":", " "))


def indent_lines(text: str, indent: str = _INDENT) -> str:
    """Render a text whose lines after the first are indented, with at most one blank line at a time."""
    whole = escape_fences(repair_surrogates(text)).strip()
    lines = [reveal(line.rstrip(), keep="\t") for line in whole.splitlines()]
    kept = [line for place, line in enumerate(lines) if line or lines[place - 1]]
    return "\n".join([*kept[:1], *(indent + line if line else "" for line in kept[1:])])


def reveal(text: str, keep: str = "") -> str:
    r"""Escape fences, and write out line breaks and hidden characters, such as ``\n`` and ``\u202e``."""
    text = escape_fences(text)
    if text.isascii() and text.isprintable():
        return text
    return HIDDEN().sub(lambda found: found[0] if found[0] in keep else _write_out(found[0]), text)


def escape_json(text: str) -> str:
    """Escape hidden characters in JSON, which stays the same data."""
    return HIDDEN().sub(lambda found: found[0] if found[0] == "\n" else _escape(found[0]), text)


def escape_fences(text: str) -> str:
    """Replace the angle bracket of every fence mark, so that the text cannot open or close a fence."""
    return _MARK().sub("‹", text) if any(bracket in text for bracket in _BRACKETS) else text


def escape_tags(text: str) -> str:
    """Render a text that others put between tags: it can close none, and adds no line at the margin."""
    return _CLOSING().sub("‹", indent_lines(text))


def repair_surrogates(text: str) -> str:
    """Join halves of surrogate pairs, and replace a half alone, which UTF-8 cannot encode."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _render_item(item: str) -> str:
    margin = item[: len(item) - len(item.lstrip(" "))]
    return margin + indent_lines(item, margin + _INDENT)


def _escape(characters: str) -> str:
    return re.sub("....", r"\\u\g<0>", characters.encode("utf-16-be").hex())


def _write_out(characters: str) -> str:
    return "".join(
        _WRITTEN.get(one) or (f"\\u{ord(one):04x}" if one < "\U00010000" else f"\\U{ord(one):08x}")
        for one in characters
    )
