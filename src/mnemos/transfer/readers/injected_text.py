"""Text that a program injects into messages, in blocks between tags."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, Final

from mnemos.text.fences import strip_fences

# Characters to keep of each block.
_KEPT: Final = 4_000
_CUT: Final = "… [cut]"
# The name of a tag and of its first attribute.
_OPENING: Final = re.compile(r"<([\w-]{1,40})(?=[\s>])(?:\s+([\w-]{1,40})=)?")
# A tag with its attributes.
_LONGEST_TAG: Final = 2_000


@dataclass(frozen=True, slots=True)
class SplitText:
    """A message's text, and the injected blocks with their tags."""

    text: str
    injected: tuple[tuple[str, str], ...]


def split_injected(
    text: str,
    tags: Collection[str],
    foreign: Collection[Collection[str]] = (),
    *,
    keep_recalled: bool = False,
) -> SplitText:
    """Separate the blocks ``<tag>…</tag>`` from a text. Unclosed tags are text.

    A tag may have attributes. One named with an attribute, ``channel source``, must begin with it.
    ``foreign`` are groups of tags around text by anybody, such as the output of a command. It may contain a
    closing tag to pass the rest off as the user's words, so a block of such a tag reaches to the last closing
    tag of its group. Text that Mnemos itself recalled is dropped unless ``keep_recalled``.
    """
    if "<" not in text:
        return SplitText(text, ())
    text = text if keep_recalled else strip_fences(text)
    kept: list[str] = []
    blocks: list[tuple[str, str]] = []
    at = 0
    for tag, start, inner, close, end in _find_blocks(text, tags, foreign):
        kept.append(text[at:start])
        blocks.append((tag, _strip_tags(text[inner:close], _find_group(tag, foreign))))
        at = end
    if not blocks:
        return SplitText(text, ())
    return SplitText("".join([*kept, text[at:]]).strip(), tuple(blocks))


def describe_injected(injected: Collection[tuple[str, str]]) -> list[dict[str, Any]] | None:
    """Return the blocks for the metadata of their message."""
    return [
        {"kind": tag, "text": text if len(text) <= _KEPT else text[:_KEPT] + _CUT} for tag, text in injected
    ] or None


def _find_group(tag: str, foreign: Collection[Collection[str]]) -> Collection[str]:
    return next((group for group in foreign if tag in group), ())


def _strip_tags(text: str, group: Collection[str]) -> str:
    """Return the inside of a block without its group's tags."""
    for tag in group:
        text = text.replace(f"</{tag}>", "\0").replace(f"<{tag}>", "\0")
    return "\n".join(part.strip() for part in text.split("\0") if part.strip()) if group else text.strip()


def _find_blocks(
    text: str, tags: Collection[str], foreign: Collection[Collection[str]]
) -> Iterator[tuple[str, int, int, int, int]]:
    """Yield each block: tag, start, start and end of its inside, end."""
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
        for tag in _find_group(name, foreign):
            last = text.rfind(f"</{tag}>", end)
            if last > close:
                closing, close = f"</{tag}>", last
        if close < 0:
            # Searched once, because many unclosed tags would otherwise take quadratic time.
            unclosed.add(name)
            continue
        at = close + len(closing)
        yield name, start, end + 1, close, at
