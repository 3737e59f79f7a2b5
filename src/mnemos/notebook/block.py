"""The notebook as it stands in a prompt: a heading for each file with its use, then its entries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from mnemos.notebook.model import Book, Use
from mnemos.text.threats import threats
from mnemos.text.tokens import count_tokens

# What the blocks of both files may take together.
TOKENS: Final = 1_100

_TITLES: Final = {Book.MEMORY: "MEMORY (your own notes)", Book.USER: "USER (who you work for)"}
_RULE: Final = "═" * 24


@dataclass(frozen=True, slots=True)
class Page:
    """A file as it is shown."""

    use: Use
    entries: tuple[str, ...]


def blocks(pages: Sequence[Page], tokens: int = TOKENS) -> str:
    """The pages that have entries, within a budget; empty when none has.

    Entries that find no room are counted. An entry that tries to give orders is named as blocked.
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


def shown(entry: str) -> str:
    """An entry as it may stand in a prompt."""
    found = threats(entry)
    return f"[blocked: {found[0].reason}; see `mnemos notebook show`]" if found else entry


def _block(page: Page, tokens: int) -> str:
    use = page.use
    head = f"{_RULE}\n{_TITLES[use.book]} [{use.percent}%: {use.used:,}/{use.limit:,} characters]\n{_RULE}"
    kept = [shown(entry) for entry in page.entries]
    left_out = 0
    while kept:
        more = f"\n§\n({left_out} older entries found no room; recall finds them)" if left_out else ""
        text = f"{head}\n" + "\n§\n".join(kept) + more
        if count_tokens(text) <= tokens:
            return text
        del kept[0]
        left_out += 1
    return f"{head}\n({left_out} entries found no room; recall finds them)"
