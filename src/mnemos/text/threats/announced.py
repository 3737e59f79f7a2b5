"""Orders to decode something and do what comes out, whatever it is.

What is encoded may be harmless, or not decodable here: who tells a model to obey it does not want it read.
Orders to decode and look pass, and so do those where nothing encoded stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from mnemos.text.threats.context import is_addressed, is_mentioned, is_negated
from mnemos.text.threats.encoded import has_code

_CODE: Final = (
    r"(?:base-?(?:64|32|85)|hex(?:adecimal)?|binary|ascii codes?|char(?:acter)? codes|encoded"
    r"|decod(?:e|ed|ing)|url-?decode|decipher(?:ed)?|decrypt(?:ed)?|unscrambled?|entschlussel\w{0,4}|entschlussle"
    r"|dekodier\w{0,3}|dechiffrez?|decodez?|descifra\w{0,3}|decodifica\w{0,3})"
)
# Nobody needs to see these to know that something is in disguise.
_PLAIN_CODE: Final = r"(?:morse|rot-?13|caesar|backwards|ruckwarts|a l'envers|al reves)"
_IT: Final = (
    r"(?:\s(?:it|them|that|this|what\w{0,4}|silently|exactly|the (?:result|decoded|output|hidden|encoded|text"
    r"|message|line|sentence|(?:instructions?|steps|orders|commands)(?: inside)?"
    r"(?! (?:in|on|of|from|at)\b)))\b"
    r"|\s?(?:[.,:;!]|$))"
)
_DO: Final = (
    rf"(?P<do>(?:follow|obey|comply|perform|execute|carry(?: it| them| this)? out|act (?:up)?on){_IT}"
    r"|act accordingly|do (?:it|as|what(?:ever)?)\b"
    r"|run (?:it\b(?! (?:through|past|by|with|in|on|again))|the (?:result|output|following|decoded))"
    r"|treat (?:it|them|the (?:decoded|result|output))\b[^.\n]{0,120}\bas (?:an? |your |my )?(?:new )?"
    r"(?:order|instruction|command|rule|task)s?"
    r"|befolge (?:es|sie|das|den|die)\b|fuhre? (?:es|sie|das|den|die)\b[^.\n]{0,30}\baus\b"
    r"|tu\w? (?:es|was|das)\b|suis-?(?: |les|le|ce)|fais (?:ce|cela|le)\b|executez?[ -](?:ce|cela|les?)\b"
    r"|obeis\b|haz (?:lo|esto|eso)\b|sigue(?:lo| lo| las)\b|ejecuta(?:lo| lo)\b|cumple(?:lo| lo)\b)"
)
_ANNOUNCED: Final = re.compile(
    rf"\b(?:(?P<plain>{_PLAIN_CODE})|{_CODE})\b[^\n]{{0,160}}?\b{_DO}"
    rf"|\b{_DO.replace('?P<do>', '?P<first>')}[^\n]{{0,80}}?\b(?:(?P<named>{_PLAIN_CODE})|{_CODE})\b"
    r"|\btreat the (?:decoded|deciphered|decrypted)\b[^\n]{0,160}\bas (?:an? |your |my )?(?:new )?(?:order"
    r"|instruction|command|rule|task)s?\b"
    rf"|\b(?:your|the) (?P<orders>orders?|instructions?|tasks?|commands?|mission|directives?)\b[^.\n]{{0,30}}"
    rf"\b(?:is|are|comes?)\b[^.\n]{{0,20}}\b(?:in|as|encoded)\b[^.\n]{{0,12}}\b(?:{_PLAIN_CODE}|{_CODE})\b"
)
# One of these is in each of the above.
_HINTS: Final = (
    *("cod", "cif", "ciph", "crypt", "schl", "base", "hex", "bina", "asc", "scram", "rot", "morse", "caes"),
    *("chiff", "backw", "ruckw", "l'env", "reves", "dekod"),
)
_SEEN: Final = re.compile(rf"\b(?:{_PLAIN_CODE}|{_CODE})\b")


def announced(text: str, given: str) -> Iterator[tuple[int, int]]:
    """Where ``text``, which is ``given`` folded, tells the model to do what a code in it says."""
    if not any(map(text.__contains__, _HINTS)) or not _SEEN.search(text):
        return
    for found in _ANNOUNCED.finditer(text):
        verb = found["do"] or found["first"]
        at = found.start("do") if found["do"] else found.start("first")
        if verb and (not is_addressed(text, at) or is_negated(text, found.start()) or is_negated(text, at)):
            continue
        if not (found["plain"] or found["named"] or has_code(given)):
            continue
        if not is_mentioned(text, *found.span()):
            yield found.span()
