"""Whether a sentence states a fact, and which: the rules of its language, and what takes them back."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from mnemos.facts.extraction_english import ENGLISH
from mnemos.facts.extraction_forms import Language, Rule
from mnemos.facts.extraction_french import FRENCH
from mnemos.facts.extraction_german import GERMAN
from mnemos.facts.extraction_spanish import SPANISH
from mnemos.facts.extraction_targets import target_of
from mnemos.facts.extraction_text import masked
from mnemos.facts.extraction_values import value
from mnemos.facts.notation import Mark

_LANGUAGES: Final = (ENGLISH, GERMAN, FRENCH, SPANISH)
_WORD: Final = re.compile(r"[^\W\d_]+")
# What a sentence begins with and is understood without.
_LEAD: Final = re.compile(
    r"(?:(?:ok(?:ay)?|alright|all right|so|and|also|but|yes|yeah|yep|yup|well|btw|by the way|hey|hi|hello|fyi|oh|ah"
    r"|right|sure|great|perfect|cool|nice|anyway|finally|another thing|one more thing|one thing|just|then|hm+|um+|noted"
    r"|understood|got it|thanks|thank you|sorry|wait|actually|oh and|good point|fair enough|exactly|correct|done"
    r"|also gut|und|aber|außerdem|übrigens|ja|genau|gut|bueno|vale|sí|si|y|además|por cierto|alors|bon|donc|et|oui"
    r"|au fait|d'accord)(?:[,:.!…–-]+\s*|\s+)|no[,.!] )+(?=\S)"
)
_TAKES_BACK: Final = re.compile(
    r"(?:(?:oh|ah|hm+|no|nope|wait|actually|sorry|well|ok|ach|nein|non|en fait|no espera),?\s)*"
    r"(?:scratch that|strike that|never ?mind(?: that)?|nvm|forget (?:it|that|this|what i (?:just )?said)"
    r"|disregard (?:that|this)|ignore (?:that|this|my last \w+)|(?:just )?kidding|jk|on second thoughts?|actually,? no|wait,? no|no,? wait"
    r"|i take that back|that was wrong|that's wrong|vergiss (?:es|das)|doch nicht|quatsch|laisse tomber|oublie (?:ça|cela)|olvídalo|olvida eso|mejor no)\b"
)
_FEWEST_WORDS: Final = 2


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
    if len(_WORD.findall(said)) < _FEWEST_WORDS:
        return None
    language = _language(said)
    original = text[lead : lead + len(said)]
    if language.open.search(said):
        return Verdict(Mark.UNKNOWN, target_of(original, said, language), lead)
    if "?" in ended_by or _is_unfit(language, said, by_user=by_user):
        return None
    return _by_rules(language, original, said, lead, by_user=by_user) or _by_value(
        language, original, said, lead, by_user=by_user
    )


def takes_back(text: str) -> bool:
    """Whether a sentence withdraws what was just said."""
    return len(text) < 80 and _TAKES_BACK.match(masked(text)) is not None


def _is_unfit(language: Language, said: str, *, by_user: bool) -> bool:
    if language.asks.match(said) or language.doubts.search(said):
        return True
    return not by_user and language.helps.search(said) is not None


def _by_rules(language: Language, original: str, said: str, lead: int, *, by_user: bool) -> Verdict | None:
    for rule in language.rules:
        if rule.spoken_by_user and not by_user:
            continue
        match = rule.form.search(said)
        if match is not None and not _is_undone(language, rule, said, match):
            return Verdict(rule.mark, target_of(original, said, language, about=rule.about), lead)
    return None


def _is_undone(language: Language, rule: Rule, said: str, match: re.Match[str]) -> bool:
    if rule.unless is not None and rule.unless.search(said):
        return True
    if not rule.commands and language.orders.match(said):
        return True
    if language.unreal.search(said, 0, match.end()):
        return True
    if rule.mark is Mark.CONSTRAINT:
        return False
    return language.conditions.search(said, 0, match.end()) is not None


def _by_value(language: Language, original: str, said: str, lead: int, *, by_user: bool) -> Verdict | None:
    if language.orders.match(said):
        return None
    found = value(language.values, original, said)
    if found is None or language.unreal.search(said, 0, found.at) or language.conditions.search(said, 0, found.at):
        return None
    target = target_of(original, said, language, subject=found.subject)
    return Verdict(Mark.VALUE, target, lead)


def _language(said: str) -> Language:
    """The one that knows most of the words; English when in doubt."""
    there = _WORD.findall(said)
    return max(_LANGUAGES, key=lambda language: sum(word in language.common for word in there))
