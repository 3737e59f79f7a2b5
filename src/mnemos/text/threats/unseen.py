"""What the markup of a page keeps from its readers, while a model reads it like the rest.

Comments and elements that are not shown have honest uses, so what they say is judged on its own; that nobody
was meant to see it speaks against it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from mnemos.text.threats.context import is_talked_about

_NOT_SHOWN: Final = (
    r"(?:display\s?:\s?none|visibility\s?:\s?(?:hidden|collapse)|color\s?:\s?(?:white|transparent|#fff(?:fff)?\b"
    r"|rgba\([^)]{1,30},\s?0\))|font-size\s?:\s?(?:[01](?:px|pt|em|rem|%)?|0?\.\d{1,3}\w{0,3})\b"
    r"|opacity\s?:\s?0(?:\.0\d?)?(?![.\d])|(?:left|top|text-indent)\s?:\s?-\d{3,6}|(?:max-)?height\s?:\s?0(?![.\d])"
    r"|\shidden\b|aria-hidden\s?=\s?.?true)"
)
_UNSEEN: Final = re.compile(
    r"<!--(?P<comment>[^<>]{12,1500}?)-->"
    rf"|<[a-z][a-z0-9]{{0,9}}\b(?=[^<>]{{0,300}}?{_NOT_SHOWN})[^<>]{{0,400}}>(?P<element>[^<]{{12,1500}})"
    r"|<(?:template|noscript|desc|metadata)\b[^<>]{0,80}>(?P<part>[^<]{12,1500})"
    # The comments of Markdown: a link that nothing points to.
    r"|(?m:^)\s{0,3}\[(?://|comment|_|\.|hidden)[^\]\n]{0,20}\]:\s?(?:#|<>)\s?[(\"'](?P<link>[^\n]{12,1500})[)\"']"
)


def unseen(text: str) -> Iterator[tuple[str, int]]:
    """What a folded page says where people do not see it, and where that begins."""
    if "<" not in text and "]:" not in text:
        return
    for found in _UNSEEN.finditer(text):
        said = found.lastgroup or "comment"
        if not is_talked_about(text, *found.span()):
            yield found[said], found.start(said)
