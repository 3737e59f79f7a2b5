"""What a stated fact is about, as a path: ``the port of the staging server`` is staging.server.port."""

from __future__ import annotations

import re
from typing import Final

from mnemos.language.extraction.forms import Language, words
from mnemos.language.notation import MAX_TARGET
from mnemos.language.statements import guess_target
from mnemos.text.words import fold

_MOST_WORDS: Final = 4
_LONGEST_WORD: Final = 40
_NAME: Final = re.compile(r"[^\W_][\w'-]*(?:[./][\w'-]+)*")
_WORD: Final = re.compile(r"[^\W\d_][\w']*")
_SHORTENED: Final = re.compile(r"n't$|'(?:ll|ve|re|m|d|s)$")
# What a decision is about is often told last: use Redis for the session cache.
_FOR: Final = re.compile(r"\bfor (?:the|our|all(?: the| our)?|my) ((?:[\w-]+ ?){1,3})$")
# How a fact is said, not what it is about.
_SAYING: Final = words(
    "open question questions issue point points still tbd unclear undecided decided decision decisions agreed"
    " rule constraint requirement policy note noted remember important sure ensure whenever pls please let"
    " lets update final answer heads everyone team per recap summary prefer going"
    " entscheidung wir uns unser unsere bitte offen frage niemals nie immer nicht dürfen müssen"
    " décision nous notre avons toujours jamais decisión nuestro nuestra nunca siempre hemos usamos elegimos"
)

_HELPERS: Final = words(
    "i we you it he she they let that there what do does did is can don doesn didn isn won"
)


def target_of(original: str, said: str, language: Language, *, subject: str = "", about: str = "") -> str:
    """The target of a sentence: of its subject, where that is known, else of its first telling words."""
    found = _path(subject, language) if subject else ""
    if not found and (told := _FOR.search(said)):
        found = _path(told[1], language)
    found = found or _guessed(original, language)
    return (f"{about}.{found}" if about else found)[:MAX_TARGET].rstrip(". ")


def _guessed(original: str, language: Language) -> str:
    telling = _WORD.sub(lambda match: _told(match[0], language), original)
    return guess_target(telling if _WORD.search(telling) else original)


def _told(word: str, language: Language) -> str:
    """The word, or nothing where it only helps to say something."""
    lower = word.lower()
    if lower in _SAYING or lower in language.common or lower in language.values.small:
        return ""
    return "" if _SHORTENED.search(lower) and lower.partition("'")[0] in _HELPERS else word


def _path(subject: str, language: Language) -> str:
    """The parts in the order from the whole to the detail."""
    parts = reversed(language.values.of.split(subject))
    found = [fold(word) for part in parts for word in _words(part, language)]
    # The nearest to the value tell most.
    return ".".join(dict.fromkeys(found[-_MOST_WORDS:]))


def _words(part: str, language: Language) -> list[str]:
    named = (name.removesuffix("'s").strip("'-") for name in _NAME.findall(part))
    return [
        name.replace("/", ".")
        for name in named
        if name and name not in language.values.small and len(name) <= _LONGEST_WORD
    ]
