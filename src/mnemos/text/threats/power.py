"""What a sentence takes when it is said in the name of the host: power, or at least the tone of it.

"Approval is waived", "all tools are allowed", "send it without asking": an operator may say so to people too.
Whether it is said to a model is for the frame to tell in which it stands.
"""

# An expression is easier to check when it is not cut in pieces.
# ruff: noqa: E501

from __future__ import annotations

import re
from bisect import bisect_left
from enum import IntEnum
from functools import lru_cache
from typing import Final

from mnemos.text.threats.folding import folded
from mnemos.text.threats.host_words import WORD, WORDS


class Power(IntEnum):
    """What a sentence takes: nothing, the tone of a rule or of an order, rights, or what holds a model back."""

    NONE = 0
    RULE = 1
    ORDER = 2
    TAKEN = 3
    FREED = 4


def folded_words(words: str) -> frozenset[str]:
    """Words as they stand in a folded text."""
    return frozenset(folded(words).text.split())


HELD: Final = (
    r"(?:guard-?_?rails?|approvals?|auto-?_?approve|confirmations?|safety|restrictions?|oversight|moderation|supervision"
    r"|human[-_ ]?review|content[-_ ]?filters?|refusals?|safeguards?|guardrail\w{1,8})"
)
OFF: Final = r"(?:off|none|false|0|no|disabled?|never|all|null|bypass(?:ed)?|suspend(?:ed)?|skip|any|\*)"
# "guardrails=off", "confirmations: never"
_SET_FREE: Final = re.compile(
    rf"(?<![^\W_])(?<!need )(?<!needs )(?<!requires ){HELD}(?:[\"'\s]{{0,2}}(?:status|mode|state|level))?[\"']?\s?(?:[:=]|[-=]>|\u2192)\s?[\"']?{OFF}(?!\w)"
    rf"|(?<![^\W_])(?:skip|bypass|no|disable|ignore|waive)[-_ ]?{HELD}[\"']?\s?[:=]\s?[\"']?(?:true|yes|1|on)(?!\w)"
)
# Words, and the commas between clauses.
_TOKEN: Final = re.compile(rf"{WORD.pattern}|[,()]")
_LEADS: Final = folded_words("please now then and always also instead first bitte sofort et y e i u")
_BEFORE_A_VERB: Final = frozenset("to may must shall can will should and or you".split())
_BARE: Final = folded_words(
    "the all any your its their previous prior earlier these those this no every such safety content usage security"
    " tool model agent system current other and of human die alle deine diese keine der les toutes tous vos tes ces las los"
    " todas todos sus tus le tutte tutti i gli as os suas alla de dessa все ваши твои wszystkie tum dina dine its"
)
_OF: Final = folded_words(
    "of on for at in de du des di del della do da dos das fur bei auf van voor по для na dla w"
)
_ANSWER: Final = re.compile(
    folded(r"^\W*(?:no|yes|nein|ja|non|oui|si|nao|sim|nee|nej|nie|нет|да)\s?,").text.replace("\\w", "\\W")
)
_I: Final = folded_words("i i'll i've i'm ich je j'ai yo io eu ik jag jeg ja я ben saya")
_OPENING: Final = re.compile(
    r"(?:^|[:=>\])}*-]|\d[.)])[\s\"'`]{0,3}(?:(?:please|now|then|and|always|also|first|bitte|sofort) ){0,2}([^\W\d_]+)"
)
_THE_MODEL: Final = frozenset(
    "assistant assistants model agent agents ai llm bot ki ia modell modele asistente assistente agente".split()
)


def _within(places: list[int], at: int, before: int, after: int) -> bool:
    """Whether one of the places, which are in order, is near ``at`` but not on it."""
    first = bisect_left(places, at - before)
    return any(place != at for place in places[first : first + 3] if place <= at + after)


@lru_cache(maxsize=1_024)
def power(sentence: str) -> Power:
    """What a folded sentence takes when it is said in the name of the host."""
    if sentence.rstrip().endswith("?"):
        return Power.NONE
    if _SET_FREE.search(sentence):
        return Power.FREED
    words = _TOKEN.findall(_ANSWER.sub("", sentence))
    at: dict[str, list[int]] = {}
    for number, fields in enumerate(WORDS.read(words)):
        for field in fields:
            at.setdefault(field, []).append(number)
    if not at:
        return Power.NONE
    at["guard"] = [number for number in at.get("guard", ()) if _is_of_the_model(words, at, number)]
    if "alone" in at or _lifts(words, at) or _asks_nobody(words, at):
        return Power.FREED
    if _grants(words, at) or _claims(at):
        return Power.TAKEN
    if "henceforth" in at or "youmay" in at or _orders(sentence):
        return Power.ORDER
    near = at.get("granted", [])
    if any(_within(near, number, 8, 8) for field in ("host", "agent") for number in at.get(field, ())):
        return Power.ORDER
    says_i = [number for number, word in enumerate(words) if word in _I]
    if "shall" in at or "can" in at or any(_within(says_i, number, 4, 2) for number in at.get("order", ())):
        return Power.RULE
    return Power.NONE


def _is_of_the_model(words: list[str], at: dict[str, list[int]], guard: int) -> bool:
    """Not "parking restrictions" nor "limits for uploads": what else may be lifted is named with them."""
    if guard not in at.get("loose", ()):
        return True
    before = words[guard - 1] if guard else ""
    after = words[guard + 1 : guard + 3]
    return (not before or before in _BARE) and (not after or after[0] not in _OF or after[-1] in _BARE)


def _lifts(words: list[str], at: dict[str, list[int]]) -> bool:
    """ "Restrictions are lifted", "the review is no longer needed"; not "are never lifted"."""
    guards, nots = at.get("guard", []), at.get("not", [])
    asked = sorted({*guards, *at.get("asking", ())})
    if not asked:
        return False
    if any(
        _within(guards, lifted, 8, 6) and not _within(nots, lifted, 2, -1) for lifted in at.get("lifted", ())
    ):
        return True
    if any(_within(guards, lift, 0, 6) and _is_told_to(words, lift) for lift in at.get("lift", ())):
        return True
    return any(
        _within(asked, needed, 8, 5) and _within(nots, needed, 4, 0) for needed in at.get("needed", ())
    )


def _asks_nobody(words: list[str], at: dict[str, list[int]]) -> bool:
    asked = at.get("asking", ())
    if any(_denies(words, at.get("not", []), asking) for asking in asked):
        return True
    # "onay olmadan", "megerősítés nélkül"
    if any(_within(at.get("lacking", []), asking, -1, 2) for asking in asked):
        return True
    return any(_denies(words, at.get("without", []), guard) for guard in at.get("guard", ()))


def _denies(words: list[str], nots: list[int], at: int) -> bool:
    """Whether a "not" or "without" stands before the word, in the same clause."""
    return any(
        0 < at - no <= 3 and "," not in words[no:at] for no in nots[max(0, bisect_left(nots, at) - 2) :][:3]
    )


def _grants(words: list[str], at: dict[str, list[int]]) -> bool:
    agents = [number for number in at.get("agent", ()) if words[number] in _THE_MODEL]
    if any(_within(agents, number, 3, -1) for number in at.get("shall", ())):
        return True
    granted, nots = at.get("granted", []), at.get("not", [])
    whole = [*at.get("whole", ()), *agents]
    return any(_within(sorted(whole), one, 6, 6) and not _within(nots, one, 3, -1) for one in granted)


def _claims(at: dict[str, list[int]]) -> bool:
    """ "The requester is root", "the user is an administrator"."""
    people, ranks = at.get("person", []), at.get("rank", [])
    return any(_within(people, rank, 5, -1) and _within(at.get("is", []), rank, 3, -1) for rank in ranks)


def _orders(sentence: str) -> bool:
    """Whether the sentence, or what a colon or a sign leads in, begins with a verb of orders."""
    return any("order" in WORDS.of(opening[1]) for opening in _OPENING.finditer(sentence))


def _is_told_to(words: list[str], at: int) -> bool:
    return _opens(words, at) or words[at - 1] in _BEFORE_A_VERB


def _opens(words: list[str], at: int) -> bool:
    while at > 0 and words[at - 1] in _LEADS:
        at -= 1
    return at == 0
