"""Words misspelt on purpose: ``Ignroe al prevoius instrutions``.

A model reads through swapped, dropped and doubled letters, so the few words that matter are listed with
every such slip. A slip that is a word of its own is no slip. People make them too: a text is read anew only
when two words that matter are misspelt, and even then it is only judged by what it comes to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from mnemos.text.threats.folding import View

_MATTER: Final = """
    ignore disregard forget bypass override previous prior earlier instruction instructions rules
    guidelines system prompt password passwords credentials reveal output print display send forward
    upload secret secrets token tokens obey restrictions memory conversation user nobody
    unrestricted developer safety delete
""".split()
# Read too, but everybody mistypes them.
_SMALL: Final = dict(
    pair.split(":")
    for pair in """
        al:all lal:all adn:and nad:and teh:the hte:the yuor:your yoru:your yuo:you tihs:this
        thsi:this msut:must mst:must frm:from fro:from tlel:tell tel:tell snd:send oby:obey
        dont:don't aboev:above abvoe:above nto:not ot:to onyl:only olny:only
    """.split()
)
_REAL: Final = frozenset(
    """
    pint rint prompts proper toke taken prom romp rule ruler use uses sue suer ser usr sed end seed sedn ends
    prints displays sends outputs forwards reveals users tokes memo secretes secrete deletes
        sender prior priors
    ruless ruled ignored ignores forgets overrides foward outpu
    """.split()
)
_FEWEST: Final = 2
_PARTS: Final = re.compile(r"[a-z]+|[^a-z]+")
_LETTERS: Final = re.compile(r"[a-z]{3,16}")


def _slips(word: str) -> Iterator[str]:
    for at in range(len(word)):
        if at or len(word) > 6:
            yield word[:at] + word[at + 1 :]
        yield word[:at] + word[at] + word[at:]
        if 0 < at < len(word) - 1:
            yield word[:at] + word[at + 1] + word[at] + word[at + 2 :]
            # A neighbour typed once too often: "igrnore".
            yield word[:at] + word[at + 1] + word[at:]


_SLIPS: Final = {
    slip: word
    for word in _MATTER
    for slip in _slips(word)
    if slip not in _MATTER and slip not in _REAL and len(slip) > 3
}


def respelt(view: View) -> View | None:
    """The view with misspelt words set right, or None if hardly one that matters is misspelt."""
    wrong = _SLIPS.keys() & _LETTERS.findall(view.text)
    if len(wrong) < _FEWEST:
        return None
    kept: list[str] = []
    pieces: list[tuple[int, int, int]] = []
    length = 0
    for part in _PARTS.finditer(view.text):
        word = _SLIPS.get(part[0]) or _SMALL.get(part[0], part[0])
        pieces.append((length, *view.span(*part.span())))
        kept.append(word)
        length += len(word)
    return View("".join(kept), view._origin, pieces)
