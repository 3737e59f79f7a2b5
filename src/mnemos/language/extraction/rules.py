"""Whether a sentence states a fact, and which: the rules of its language, and what takes them back."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

from mnemos.language.extraction.english import ENGLISH
from mnemos.language.extraction.forms import Language, Rule
from mnemos.language.extraction.french import FRENCH
from mnemos.language.extraction.german import GERMAN
from mnemos.language.extraction.spanish import SPANISH
from mnemos.language.extraction.targets import target_of
from mnemos.language.extraction.text import masked
from mnemos.language.extraction.values import value
from mnemos.language.notation import Mark

_LANGUAGES: Final = (ENGLISH, GERMAN, FRENCH, SPANISH)
_SPOKEN: Final = {
    word: tuple(number for number, language in enumerate(_LANGUAGES) if word in language.common)
    for word in frozenset().union(*(language.common for language in _LANGUAGES))
}
_WORD: Final = re.compile(r"[^\W\d_]+")
# What a sentence begins with and is understood without.
_LEAD: Final = re.compile(
    r"(?:(?:ok(?:ay)?|alright|all right|so|and|also|but|yes|yeah|yep|yup|well|btw|by the way|hey|hi|hello"
    r"|fyi|oh|ah|right|sure|great|perfect|cool|nice|anyway|finally|another thing|one more thing|one thing"
    r"|heads[ -]up|just|then|hm+|um+|noted|understood|got it|thanks|thank you|sorry|wait|actually|oh and"
    r"|good point|fair enough|exactly|correct|done|also gut|und|aber|außerdem|übrigens|ja|genau|gut|zur"
    r" erinnerung|bueno|vale|sí|y|además|por cierto|alors|bon|donc|et|oui|au fait"
    r"|d'accord)(?:[,:.!…–-]+\s*|\s+)|no[,.!] )+(?=\S)"
)
# An assistant that repeats what it was told.
_CONFIRMS: Final = re.compile(r"\b(?:noted|understood|got it|confirmed|as agreed|to confirm)\b")
_TAKES_BACK: Final = re.compile(
    r"(?:(?:oh|ah|haha|lol|hm+|no|nope|wait|actually|sorry|well|ok|ach|nein|non|en fait"
    r"|espera),?\s)*(?:scratch that|strike that|never ?mind(?: that)?|nvm|forget (?:it|that|this|what i"
    r" (?:just )?said)|disregard (?:that|this)|ignore (?:that|this|my last \w+)|(?:just )?kidding|jk|on"
    r" second thoughts?|actually,? no|wait,? no|no,? wait|i take that back|that was wrong|that's wrong"
    r"|vergiss (?:es|das)|doch nicht|quatsch|laisse tomber|oublie (?:ça|cela)|olvídalo|olvida eso|mejor"
    r" no)\b"
)
_FEWEST_WORDS: Final = 2
_LONGEST_RETRACTION: Final = 80


@dataclass(frozen=True, slots=True)
class Verdict:
    """A fact is stated; ``lead`` is how many characters of the sentence say nothing."""

    mark: Mark
    target: str
    lead: int


def judged(text: str, *, ended_by: str, by_user: bool) -> Verdict | None:
    """What a sentence states, if it states a fact."""
    whole = masked(text)
    before = _LEAD.match(whole)
    lead = before.end() if before else 0
    said = whole[lead:].rstrip(" .!…;")
    there = _WORD.findall(said)
    if len(there) < _FEWEST_WORDS:
        return None
    language = _language(there)
    original = text[lead : lead + len(said)]
    known = frozenset(there)
    if not known.isdisjoint(language.open_cues) and language.open.search(said):
        return Verdict(Mark.UNKNOWN, target_of(original, said, language), lead)
    if "?" in ended_by:
        return None
    user = by_user or _CONFIRMS.search(whole, 0, lead) is not None
    found = _by_rules(language, original, said, known, by_user=user) or _by_value(
        language, original, said, by_user=user
    )
    if found is None or _is_unfit(language, said, by_user=by_user):
        return None
    return Verdict(*found, lead)


def takes_back(text: str) -> bool:
    """Whether a sentence withdraws what was just said."""
    return len(text) < _LONGEST_RETRACTION and _TAKES_BACK.match(masked(text)) is not None


def _is_unfit(language: Language, said: str, *, by_user: bool) -> bool:
    if language.asks.match(said) or language.doubts.search(said):
        return True
    return not by_user and language.helps.search(said) is not None


def _by_rules(
    language: Language, original: str, said: str, known: AbstractSet[str], *, by_user: bool
) -> tuple[Mark, str] | None:
    for rule in language.rules:
        if known.isdisjoint(rule.cues) or not (by_user or rule.by_assistant):
            continue
        match = rule.form.search(said)
        if match is not None and not _is_undone(language, rule, said, match):
            return rule.mark, target_of(original, said, language, about=rule.about)
    return None


def _is_undone(language: Language, rule: Rule, said: str, match: re.Match[str]) -> bool:
    if rule.unless.search(said) or (not rule.commands and language.orders.match(said)):
        return True
    if language.unreal.search(said, 0, match.end()):
        return True
    return rule.mark is not Mark.CONSTRAINT and language.conditions.search(said, 0, match.end()) is not None


def _by_value(language: Language, original: str, said: str, *, by_user: bool) -> tuple[Mark, str] | None:
    found = value(language.values, original, said, by_user=by_user)
    if found is None or language.orders.match(said):
        return None
    if language.unreal.search(said, 0, found.at) or language.conditions.search(said, 0, found.at):
        return None
    return Mark.VALUE, target_of(original, said, language, subject=found.subject)


def _language(there: list[str]) -> Language:
    """The one that knows most of the words; English when in doubt."""
    known = Counter(number for word in there for number in _SPOKEN.get(word, ()))
    return _LANGUAGES[max(known, key=lambda number: (known[number], -number), default=0)]
