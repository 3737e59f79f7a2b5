"""The marks between which recalled text stands in a prompt, and how a text is kept from writing them."""

from __future__ import annotations

import re
from typing import Final

from mnemos.text.patterns import lazily

OPEN: Final = "<recalled-memory>"
CLOSE: Final = "</recalled-memory>"
NAMES: Final = ("recalled-memory", "memory-context", "memory-facts", "workspace-tables")
"""What recall, hosts, facts and the workspace call their blocks."""

_UNSEEN: Final = "\u00ad\u200b-\u200f\u2060-\u2064\ufeff"


def _spelled(name: str) -> str:
    """A name as a model would still read it: with signs between its letters that nobody sees."""
    return rf"[{_UNSEEN}]{{0,4}}".join(re.escape(letter) for letter in name)


# "recalled" alone: whatever follows, a model takes it for the fence.
_MARK: Final = lazily(
    rf"[<＜﹤‹](?=[\s/\\{_UNSEEN}]{{0,16}}(?:{'|'.join(map(_spelled, ('recalled', *NAMES[1:])))}))",
    re.IGNORECASE,
)


def unfenced(text: str) -> str:
    """The same with every mark of a fence broken, for all to see."""
    return _MARK().sub("‹", text) if "<" in text or not text.isascii() else text
