"""Words that mean much the same: a table made from the static model, read without it.

A question about *gifts* is answered by a line about a *present*. The table is looked into line by line, so
that a question costs no more than its own words.
"""

from __future__ import annotations

import logging
from functools import lru_cache
from pathlib import Path

log = logging.getLogger("mnemos.recall")

SHIPPED = Path(__file__).with_name("assets") / "related.txt"

# From this cosine on words are related at all; what they count grows from there to 1.
_UNRELATED = 40


@lru_cache(maxsize=4_096)
def related(word: str) -> dict[str, float]:
    """The stems of related words and how far they may stand for it, above 0 and below 1."""
    if not word.isascii():
        return {}
    try:
        pairs = [entry.split(":") for entry in _entry(_table(SHIPPED), word).split()]
        return {stem: (int(cosine) - _UNRELATED) / (100 - _UNRELATED) for stem, cosine in pairs}
    except ValueError as exc:
        log.warning("the table of related words is damaged (%s); install mnemos again", exc)
        return {}


def _entry(table: bytes, word: str) -> str:
    """What the table says of a word, found by halving: its lines are sorted. Nothing: an empty text."""
    wanted = f"{word}\t".encode()
    low, high = 0, len(table)
    while low < high:
        start = table.rfind(b"\n", low, (low + high) // 2) + 1 or low
        end = table.find(b"\n", start) + 1 or len(table)
        line = table[start:end]
        if line.startswith(wanted):
            return line[len(wanted) :].decode("ascii")
        if line < wanted:
            low = end
        else:
            high = start
    return ""


@lru_cache(maxsize=2)
def _table(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as exc:
        log.warning("recall does without related words: %s", exc)
        return b""
