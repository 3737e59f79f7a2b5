"""What a stated fact is about, as a dotted path: ``the port of the staging server`` is staging.server.port."""

from __future__ import annotations

import re
from typing import Final

from mnemos.facts.extraction_forms import Language
from mnemos.facts.notation import MAX_TARGET
from mnemos.facts.sentences import guessed_target
from mnemos.text.words import fold

_MOST_WORDS: Final = 4
_LONGEST_WORD: Final = 40
_NAME: Final = re.compile(r"[^\W_][\w'-]*(?:[./][\w'-]+)*")
# What a decision is about is often told last: use Redis for the session cache.
_FOR: Final = re.compile(r"\bfor (?:the|our|all(?: the| our)?|my) ((?:[\w-]+ ?){1,3})$")


def target_of(original: str, said: str, language: Language, *, subject: str = "", about: str = "") -> str:
    """The target of a sentence: of its subject, where that is known, else of its first telling words."""
    found = _path(subject, language) if subject else ""
    if not found and (told := _FOR.search(said)):
        found = _path(told[1], language)
    found = found or guessed_target(original)
    return (f"{about}.{found}" if about else found)[:MAX_TARGET].rstrip(". ")


def _path(subject: str, language: Language) -> str:
    """The parts in the order from the whole to the detail."""
    parts = reversed(language.values.of.split(subject))
    found = [fold(word) for part in parts for word in _words(part, language)]
    # The nearest to the value tell most.
    return ".".join(dict.fromkeys(found[-_MOST_WORDS:]))


def _words(part: str, language: Language) -> list[str]:
    named = (name.removesuffix("'s").strip("'-") for name in _NAME.findall(part))
    return [name.replace("/", ".") for name in named if name and name not in language.values.small and len(name) <= _LONGEST_WORD]
