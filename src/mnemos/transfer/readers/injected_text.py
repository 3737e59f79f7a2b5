"""What a program put into a message beside what was said: blocks between tags."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, Final

from mnemos.text.fences import strip_fences

# Of each block; whoever wants the rest of a long one finds it where it came from.
_KEPT: Final = 4_000
_CUT: Final = "… [cut]"
# The name of a tag, and of its first attribute.
_OPENING: Final = re.compile(r"<([\w-]{1,40})(?=[\s>])(?:\s+([\w-]{1,40})=)?")
# With what its attributes say, such as what a message is about.
_LONGEST_TAG: Final = 2_000


@dataclass(frozen=True, slots=True)
class Parted:
    """A message apart: what was said, and what was put in, each with the name of its tag."""

    said: str
    injected: tuple[tuple[str, str], ...]


def parted(text: str, tags: Collection[str], foreign: Collection[Collection[str]] = ()) -> Parted:
    """A text without the blocks ``<tag>…</tag>`` in it, and those; a tag that is not closed is text.

    A tag may have attributes. One that is named with an attribute, ``channel source``, must begin with it.
    ``foreign``: groups of tags around what anybody may have written, such as the output of a command. It may
    hold a closing tag to pass what follows for something that was said, so that a block of such a tag
    reaches to the last closing tag of its group. What Mnemos itself recalled is in neither.
    """
    if "<" not in text:
        return Parted(text, ())
    text = strip_fences(text)
    kept: list[str] = []
    blocks: list[tuple[str, str]] = []
    at = 0
    for tag, start, inner, close, end in _blocks(text, tags, foreign):
        kept.append(text[at:start])
        blocks.append((tag, _without_marks(text[inner:close], _group_of(tag, foreign))))
        at = end
    if not blocks:
        return Parted(text, ())
    return Parted("".join([*kept, text[at:]]).strip(), tuple(blocks))


def about(injected: Collection[tuple[str, str]]) -> list[dict[str, Any]] | None:
    """What was put in, for the metadata of its message."""
    return [
        {"kind": tag, "text": text if len(text) <= _KEPT else text[:_KEPT] + _CUT} for tag, text in injected
    ] or None


def _group_of(tag: str, foreign: Collection[Collection[str]]) -> Collection[str]:
    return next((group for group in foreign if tag in group), ())


def _without_marks(text: str, group: Collection[str]) -> str:
    """The inside of a block without the tags of its group in it."""
    for tag in group:
        text = text.replace(f"</{tag}>", "\0").replace(f"<{tag}>", "\0")
    return "\n".join(part.strip() for part in text.split("\0") if part.strip()) if group else text.strip()


def _blocks(
    text: str, tags: Collection[str], foreign: Collection[Collection[str]]
) -> Iterator[tuple[str, int, int, int, int]]:
    """Each block: its tag, where it begins, where its inside begins and ends, where it ends."""
    at = 0
    unclosed: set[str] = set()
    while opening := _OPENING.search(text, at):
        name, start = opening[1], opening.start()
        at = opening.end()
        if not (name in tags or f"{name} {opening[2]}" in tags) or name in unclosed:
            continue
        end = text.find(">", at, at + _LONGEST_TAG)
        if end < 0:
            continue
        closing = f"</{name}>"
        close = text.find(closing, end)
        for tag in _group_of(name, foreign):
            last = text.rfind(f"</{tag}>", end)
            if last > close:
                closing, close = f"</{tag}>", last
        if close < 0:
            # Looked for once: many openings and no closing must not take for ever.
            unclosed.add(name)
            continue
        at = close + len(closing)
        yield name, start, end + 1, close, at
