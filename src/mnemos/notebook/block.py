"""The notebook as it stands in a prompt: a heading for each file with its use, then its entries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from unicodedata import category

from mnemos.notebook.model import Book, Use
from mnemos.text.threats import Threat, threats
from mnemos.text.tokens import count_tokens

# What the blocks of both files may take together.
TOKENS: Final = 1_100

_TITLES: Final = {Book.MEMORY: "MEMORY (your own notes)", Book.USER: "USER (who you work for)"}
_RULE: Final = "═" * 24
_BETWEEN: Final = "\n§\n"
_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_JOINERS: Final = frozenset("\u200c\u200d")


@dataclass(frozen=True, slots=True)
class Page:
    """A file as it is shown."""

    use: Use
    entries: tuple[str, ...]


def blocks(pages: Sequence[Page], tokens: int = TOKENS) -> str:
    """The pages that have entries, within a budget; empty when none has.

    The newest entries first find room; others are counted. One that tries to give orders is named as blocked.
    """
    texts: list[str] = []
    left = tokens
    filled = [page for page in pages if page.entries]
    for number, page in enumerate(filled):
        # What one page does not need, the next may take.
        share = left if number == len(filled) - 1 else left - tokens // 3
        text = _block(page, share)
        texts.append(text)
        left -= count_tokens(text + "\n\n")
    return "\n\n".join(texts)


@lru_cache(maxsize=256)
def shown(entry: str) -> str:
    """An entry as it may stand in a prompt: no order, nothing hidden, no rule that looks like ours."""
    found = orders_in(entry)
    return f"[blocked: {found[0].reason}; look into the file]" if found else _plain(entry)


def orders_in(entry: str) -> list[Threat]:
    """What an entry tries to make a model do: as it is written, and as it would be shown."""
    plain = _plain(entry)
    return threats(entry) or (threats(plain) if plain != entry else [])


def _plain(entry: str) -> str:
    plain = entry.replace("═", "=")
    if plain.isascii() and plain.replace("\n", "").replace("\t", "").isprintable():
        return plain
    return "".join(c for c in plain if c in "\n\t" or c in _JOINERS or category(c) not in _HIDDEN)


def _block(page: Page, tokens: int) -> str:
    use = page.use
    head = f"{_RULE}\n{_TITLES[use.book]} [{use.percent}%: {use.used:,}/{use.limit:,} characters]\n{_RULE}"
    room = tokens - count_tokens(f"{head}\n{_left_out(len(page.entries))}")
    kept: list[str] = []
    for entry in reversed(page.entries):
        # A token is at least a few characters, so most of what cannot fit need not be read.
        if len(entry) > 16 * max(room, 0):
            break
        text = shown(entry)
        cost = count_tokens(text + _BETWEEN)
        if cost > room:
            break
        room -= cost
        kept.append(text)
    left_out = len(page.entries) - len(kept)
    lines = [_left_out(left_out)] if left_out else []
    return f"{head}\n{_BETWEEN.join([*lines, *reversed(kept)])}"


def _left_out(count: int) -> str:
    return f"({count:,} older entries found no room; recall finds them)"
