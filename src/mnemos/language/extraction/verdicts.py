"""Verdicts on sentences: the fact a sentence states, if any, and the target it is about."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

from mnemos.language.extraction.forms import Language, Rule, load_language
from mnemos.language.extraction.prose import mask
from mnemos.language.extraction.value_statements import find_value
from mnemos.language.notation import MAX_TARGET, Mark
from mnemos.language.statements import name_subject
from mnemos.text.words import fold

_LANGUAGES: Final = tuple(map(load_language, ("english", "german", "french", "spanish")))
_SPOKEN: Final = {
    word: tuple(number for number, language in enumerate(_LANGUAGES) if word in language.common)
    for word in frozenset().union(*(language.common for language in _LANGUAGES))
}
_WORD: Final = re.compile(r"[^\W\d_]+")
# The beginning of a sentence that it can do without.
_LEAD: Final = re.compile(
    r"(?:(?:ok(?:ay)?|alright|all right|so|and|also|but|yes|yeah|yep|yup|well|btw|by the way|hey|hi|hello"
    r"|fyi|oh|ah|right|sure|great|perfect|cool|nice|anyway|finally|another thing|one more thing|one thing"
    r"|heads[ -]up|just|then|hm+|um+|noted|understood|got it|thanks|thank you|sorry|wait|actually|oh and"
    r"|good point|fair enough|exactly|correct|done|also gut|und|aber|außerdem|übrigens|ja|genau|gut|zur"
    r" erinnerung|bueno|vale|sí|y|además|por cierto|alors|bon|donc|et|oui|au fait"
    r"|d'accord)(?:[,:.!…–-]+\s*|\s+)|no[,.!] )+(?=\S)"
)
# An assistant repeats what the user said.
_CONFIRMS: Final = re.compile(r"\b(?:noted|understood|got it|confirmed|as agreed|to confirm)\b")
_RETRACTION: Final = re.compile(
    r"(?:(?:oh|ah|haha|lol|hm+|no|nope|wait|actually|sorry|well|ok|ach|nein|non|en fait"
    r"|espera),?\s)*(?:scratch that|strike that|never ?mind(?: that)?|nvm|forget (?:it|that|this|what i"
    r" (?:just )?said)|disregard (?:that|this)|ignore (?:that|this|my last \w+)|(?:just )?kidding|jk|on"
    r" second thoughts?|actually,? no|wait,? no|no,? wait|i take that back|that was wrong|that's wrong"
    r"|vergiss (?:es|das)|doch nicht|quatsch|laisse tomber|oublie (?:ça|cela)|olvídalo|olvida eso|mejor"
    r" no)\b"
)
_FEWEST_WORDS: Final = 2
_LONGEST_RETRACTION: Final = 80


_MOST_WORDS: Final = 4
_LONGEST_WORD: Final = 40
_NAME: Final = re.compile(r"[^\W_][\w'-]*(?:[./][\w'-]+)*")
# The subject of a decision often comes last: use Redis for the session cache.
_FOR: Final = re.compile(r"\bfor (?:the|our|all(?: the| our)?|my) ((?:[\w-]+ ?){1,3})$")


@dataclass(frozen=True, slots=True)
class Verdict:
    """A stated fact; the first ``lead`` characters of the sentence say nothing."""

    mark: Mark
    target: str
    lead: int


def judge(text: str, *, ended_by: str, by_user: bool) -> Verdict | None:
    """Return the fact that a sentence states, if any."""
    whole = mask(text)
    before = _LEAD.match(whole)
    lead = before.end() if before else 0
    said = whole[lead:].rstrip(" .!…;")
    there = _WORD.findall(said)
    if len(there) < _FEWEST_WORDS:
        return None
    language = _detect_language(there)
    original = text[lead : lead + len(said)]
    known = frozenset(there)
    if not known.isdisjoint(language.open_cues) and language.open.search(said):
        return Verdict(Mark.UNKNOWN, make_target(original, said, language, Mark.UNKNOWN), lead)
    if "?" in ended_by:
        return None
    user = by_user or _CONFIRMS.search(whole, 0, lead) is not None
    found = _match_rules(language, original, said, known, by_user=user) or _match_value(
        language, original, said, by_user=user
    )
    if found is None or _is_unfit(language, said, by_user=by_user):
        return None
    return Verdict(*found, lead)


def is_retraction(text: str) -> bool:
    """True if a sentence withdraws what was just said."""
    return len(text) < _LONGEST_RETRACTION and _RETRACTION.match(mask(text)) is not None


def _is_unfit(language: Language, said: str, *, by_user: bool) -> bool:
    if language.asks.match(said) or language.doubts.search(said):
        return True
    return not by_user and language.helps.search(said) is not None


def _match_rules(
    language: Language, original: str, said: str, known: AbstractSet[str], *, by_user: bool
) -> tuple[Mark, str] | None:
    for rule in language.rules:
        if known.isdisjoint(rule.cues) or not (by_user or rule.by_assistant):
            continue
        match = rule.form.search(said)
        if match is not None and not _is_undone(language, rule, said, match):
            return rule.mark, make_target(original, said, language, rule.mark, about=rule.about)
    return None


def _is_undone(language: Language, rule: Rule, said: str, match: re.Match[str]) -> bool:
    if rule.unless.search(said) or (not rule.commands and language.orders.match(said)):
        return True
    if language.unreal.search(said, 0, match.end()):
        return True
    return rule.mark is not Mark.CONSTRAINT and language.conditions.search(said, 0, match.end()) is not None


def _match_value(language: Language, original: str, said: str, *, by_user: bool) -> tuple[Mark, str] | None:
    found = find_value(language.values, original, said, by_user=by_user)
    if found is None or language.orders.match(said):
        return None
    if language.unreal.search(said, 0, found.at) or language.conditions.search(said, 0, found.at):
        return None
    return Mark.VALUE, make_target(original, said, language, Mark.VALUE, subject=found.subject)


def _detect_language(there: list[str]) -> Language:
    """Return the language that knows most of the words; English when in doubt."""
    known = Counter(number for word in there for number in _SPOKEN.get(word, ()))
    return _LANGUAGES[max(known, key=lambda number: (known[number], -number), default=0)]


def make_target(
    original: str, said: str, language: Language, mark: Mark, *, subject: str = "", about: str = ""
) -> str:
    """Return the target of a sentence: its subject.

    ``the port of the staging server`` becomes ``staging.server.port``.
    """
    found = _make_path(subject, language) if subject else ""
    if not found and (named := _FOR.search(said)):
        found = _make_path(named[1], language)
    found = found or name_subject(original, mark)
    return (f"{about}.{found}" if about and not found.startswith(about) else found)[:MAX_TARGET].rstrip(". ")


def _make_path(subject: str, language: Language) -> str:
    """Return the parts from the whole to the detail."""
    parts = reversed(language.values.of.split(subject))
    found = [fold(word) for part in parts for word in _list_names(part, language)]
    # The words nearest to the value say most.
    return ".".join(dict.fromkeys(found[-_MOST_WORDS:]))


def _list_names(part: str, language: Language) -> list[str]:
    named = (name.removesuffix("'s").strip("'-") for name in _NAME.findall(part))
    return [
        name.replace("/", ".")
        for name in named
        if name and name not in language.values.small and len(name) <= _LONGEST_WORD
    ]
