"""Which of many texts may hold a secret, told in one pass by RE2.

Loading RE2 takes as long as looking through two million characters without it, so ``secrets`` turns to this
when a process has read that much.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any, Final

import re2  # type: ignore[import-untyped]

from mnemos.text.secret_forms import BEGINNINGS, UNNAMED
from mnemos.text.secrets import LONG_RUN, NAMES

# What ``secrets`` and ``secret_forms`` ask for before they look closer; a text without any of it holds none.
_WORDS: Final = rf"(?i:{'|'.join(NAMES)}|bearer|basic )| -[up-]|://"
_PLACES: Final = r"\.com/|sig=|Signature="
_RUN: Final = r"[A-Za-z0-9_.\-]"
_STARTS: Final = (
    rf"(?:[^A-Za-z0-9_.\-]|\\[nrtbf]|\\u[0-9A-Fa-f]{{4}})(?:{'|'.join(sorted(BEGINNINGS))}|[{UNNAMED}]{_RUN})"
)
_SIGNS: Final = rf"{_WORDS}|{_PLACES}|{_STARTS}{_RUN}{{{len(LONG_RUN) - 2}}}"


def suspects(texts: Sequence[str]) -> Iterator[int]:
    """The numbers of the texts that may hold a secret, in order. Of texts in ASCII, all that do."""
    # A byte for each character, so that places are the same; a line before each text, so that it begins.
    plain = b"\n" + "\n".join(texts).encode("ascii", "replace")
    ends = list(accumulate((len(text) + 1 for text in texts), initial=1))[1:]
    at = 0
    while sign := _EXPRESSION.search(plain, at):
        number = bisect_right(ends, sign.end() - 1)
        yield number
        at = ends[number] - 1


def _compiled() -> Any:
    options = re2.Options()
    options.never_capture = True
    options.log_errors = False
    return re2.compile(_SIGNS, options)


_EXPRESSION: Final = _compiled()
