"""The Markdown pages of the repository, and what is in them."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
REFERENCE = DOCS / "reference"

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_CODE_SPAN = re.compile(r"`[^`\n]*`")
_VARIABLE = re.compile(r"\w+=")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block; ``line`` is the number of its first line."""

    language: str
    text: str
    line: int


def pages() -> list[Path]:
    return sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def blocks(page: Path, *languages: str) -> list[Block]:
    text = text_of(page)
    found = [
        Block(match[1], match[2], text.count("\n", 0, match.start()) + 2) for match in _FENCE.finditer(text)
    ]
    return [block for block in found if not languages or block.language in languages]


def links(page: Path) -> list[str]:
    return _LINK.findall(_CODE_SPAN.sub("", _FENCE.sub("", text_of(page))))


def prose_of(page: Path) -> list[str]:
    """The lines that are not code, a table, a heading or generated, without bullets and code spans."""
    if page.is_relative_to(REFERENCE / "operations"):
        return []
    lines = _CODE_SPAN.sub("", _FENCE.sub("", text_of(page))).splitlines()
    return [
        re.sub(r"^\s*(?:[-*]|\d+\.) ", "", line) for line in lines if not line.startswith(("|", "#", "!"))
    ]


def anchors(page: Path) -> set[str]:
    """The fragments that a renderer makes of the headings."""
    headings = _HEADING.findall(_FENCE.sub("", text_of(page)))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def commands(block: Block) -> list[list[str]]:
    """The arguments of each ``mnemos`` in a shell block, also after a pipe or a variable."""
    found: list[list[str]] = []
    for line in block.text.replace("\\\n", " ").splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        words: list[str] = []
        for word in [*lexer, ";"]:
            if set(word) <= set("();<>|&"):
                found += _arguments(words)
                words = []
            else:
                words.append(word)
    return found


def _arguments(words: list[str]) -> list[list[str]]:
    while words and _VARIABLE.match(words[0]):
        words = words[1:]
    return [words[1:]] if words[:1] == ["mnemos"] else []
