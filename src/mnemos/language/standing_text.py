"""Names, comments and values that a prompt shows unasked, although other people may have written them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

LEFT_OUT: Final = "[left out: looks like an instruction]"

_FEWEST_WORDS: Final = 3
# Shorter ones hold no order in a script without blanks, and no encoded one.
_FEWEST_SIGNS: Final = 6
_SHORT: Final = 40
_WORD: Final = re.compile(r"[^\W\d_]{2,}")
# Between the words of snake_case and camelCase.
_SEAM: Final = re.compile(r"_+|(?<=[a-z])(?=[A-Z])")


def leave_out_order(text: str) -> str:
    """Return a text, or a remark in its place if it looks like a prompt injection."""
    return LEFT_OUT if is_order(text) else text


@lru_cache(maxsize=4096)
def is_order(text: str) -> bool:
    """True if a text looks like a prompt injection. One or two words never do, and are not scanned."""
    words = _SEAM.sub(" ", text)
    if (
        len(text) < _SHORT
        and len(_WORD.findall(words)) < _FEWEST_WORDS
        and sum(sign >= "\u2e80" for sign in text) < _FEWEST_SIGNS
    ):
        return False
    # Loading the scanner takes longer than building most blocks.
    from mnemos.language.threats import scan

    return bool(scan(text) or (words != text and scan(words)))
