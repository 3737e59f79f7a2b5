"""The prompt block of the notebook: per file, a heading with its use, then its entries.

Continuation lines of an entry are indented, so that no entry looks like a heading or like two entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from mnemos.language.threats import Threat, scan
from mnemos.notebook.notes import Book, Use
from mnemos.text.stored_text import indent_lines
from mnemos.text.tokens import count_tokens

# The token budget of both files together.
TOKENS: Final = 1_100

LEFT_OUT: Final = "older entries left out"
"""A phrase that a block contains if there is no room for all notes."""

_TITLES: Final = {Book.MEMORY: "MEMORY (your own notes)", Book.USER: "USER (who you work for)"}
_RULE: Final = "═" * 24
_BETWEEN: Final = "\n§\n"


@dataclass(frozen=True, slots=True)
class Page:
    """A file with its entries."""

    use: Use
    entries: tuple[str, ...]
    allowed: frozenset[str] = frozenset()
    """Entries that a person allowed, although they look like prompt injections."""


def render_blocks(pages: Sequence[Page], tokens: int = TOKENS) -> str:
    """Render the pages that have entries, within a token budget; "" if none has.

    The newest entries get room first, and a line counts the rest. An entry with orders to the model is shown
    as blocked.
    """
    texts: list[str] = []
    left = tokens
    filled = [page for page in pages if page.entries]
    for number, page in enumerate(filled):
        # The next page may use the tokens that this one leaves.
        share = left if number == len(filled) - 1 else left - tokens // 3
        text = _render_page(page, share)
        texts.append(text)
        left -= count_tokens(text + "\n\n")
    return "\n\n".join(texts)


@lru_cache(maxsize=256)
def render_entry(entry: str) -> str:
    """Make an entry safe for a prompt: no orders, hidden characters or rules."""
    found = find_orders(entry)
    return f"[blocked: {found[0].reason}; see the file]" if found else reveal_entry(entry)


def find_orders(entry: str) -> list[Threat]:
    """Find orders to the model in an entry, both as written and as shown."""
    plain = reveal_entry(entry)
    return scan(entry) or (scan(plain) if plain != entry else [])


def reveal_entry(entry: str) -> str:
    """Write out an entry's hidden characters and remove rules that look like ours."""
    return indent_lines(entry.replace("═", "="), "")


def _render_page(page: Page, tokens: int) -> str:
    use = page.use
    head = f"{_RULE}\n{_TITLES[use.book]} [{use.percent}%: {use.used:,}/{use.limit:,} characters]\n{_RULE}"
    room = tokens - count_tokens(f"{head}\n{_render_rest(len(page.entries))}")
    kept: list[str] = []
    for entry in reversed(page.entries):
        # A token has about 16 characters at most, so a giant entry need not be read.
        if len(entry) > 16 * max(room, 0):
            break
        text = indent_lines(reveal_entry(entry) if entry in page.allowed else render_entry(entry))
        cost = count_tokens(text + _BETWEEN)
        if cost > room:
            break
        room -= cost
        kept.append(text)
    left_out = len(page.entries) - len(kept)
    lines = [_render_rest(left_out)] if left_out else []
    return f"{head}\n{_BETWEEN.join([*lines, *reversed(kept)])}"


def _render_rest(count: int) -> str:
    return f"({count:,} {LEFT_OUT}; recall finds them)"
