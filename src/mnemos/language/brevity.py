"""Shorter wording of English notes: phrases, fillers and articles go, meaning stays.

``brevity.tsv`` has a wordy phrase and its short form per line; ``^`` marks one that must begin a sentence.
Code, quotations, addresses, paths, names and numbers are never touched. A sentence in another
language is not changed, and neither is one that would lose or gain a negation.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from mnemos.language.sentences import find_sentences

# Never rewritten: code, quotations, addresses, paths, options, and words with a sign or a digit inside.
_LEFT_ALONE: Final = re.compile(
    r"(?:```|~~~).*?(?:```|~~~|\Z)|^(?: {4}|\t|>)[^\n]*|^\$ [^\n]*"
    r"|(?:^|(?<=\s))--?[A-Za-z][^\n]*|[^\n]*\s=\s[^\n]*"
    r"|(`+).*?\1|\"[^\"]*\"|[“”„][^“”]*[“”]|«[^»]*»|‹[^›]*›|‘[^’]*’|「[^」]*」|『[^』]*』"
    r"|(?<!\w)'(?:[^']|''|(?<=\w)'(?=\w))*'(?!\w)"
    r"|\S*(?:://|[-/\\@#_$=<>{}\[\]()|&*%^]|\w[.:]\w|\d)\S*|(?<!\S)\.\w\S*",
    re.DOTALL | re.MULTILINE,
)
# A longer text is not a note, and would take too long.
_LONGEST: Final = 2_500
# Each part that stays is hidden behind one of these characters.
_FIRST, _LAST = 0xE000, 0xF8FF
_HIDDEN: Final = re.compile(f"[{chr(_FIRST)}-{chr(_LAST)}]")
_NEXT: Final = rf"(?=[^\W\d_]|{_HIDDEN.pattern})"

_ENGLISH: Final = re.compile(
    r"\b(?:the|and|of|to|is|are|was|were|in|on|it|for|at|by|from|with|that|this|have|has|be|not|should|must|"
    r"will|can|which|when|if|we|you|they|their|an?|as|or|does|do)\b",
    re.IGNORECASE,
)
_FOREIGN: Final = re.compile(
    r"\b(?:der|die|das|den|dem|des|ein|eine|einen|einem|und|oder|ist|sind|nicht|kein|keine|mit|für|von|zu|auf|"
    r"wir|ich|sie|er|es|wird|werden|im|am|le|la|les|un|une|du|et|est|sont|ne|pas|avec|pour|dans|sur|que|qui|"
    r"nous|vous|il|elle|el|los|las|una|unos|y|o|en|con|por|para|del|al|se|su|no hay|está|son|lo|di|che|è)\b",
    re.IGNORECASE,
)
NEGATION: Final = re.compile(
    r"\b(?:not?|never|nvr|none|nor|neither|without|cannot|unless|except|only|hardly|rarely)\b|n['’]t\b",
    re.IGNORECASE,
)
_NEGATIVE: Final = re.compile(rf"{NEGATION.pattern}|\b(?:nobody|nothing|no one)\b", re.IGNORECASE)
_MODAL: Final = frozenset({"must", "should", "can", "could"})
_CLAUSE: Final = re.compile(r"[,;:.]")
_AFTER_NEGATION: Final = re.compile(r"(?:\b(?:not?|never|nvr|nor)|n['’]t)\s+(?:\w+\s+)?$", re.IGNORECASE)

_FILLER: Final = re.compile(
    r"\b(?:basically|essentially|actually|really|very|quite|simply|obviously|absolutely|literally|please) "
    r"(?=[^\W\d_])",
    re.IGNORECASE,
)
_AT_ALL: Final = re.compile(r"(?<=\w) at all(?=[.,;!]|\s*$)")
# An article says nothing, except in "a few", "once a day", "option a is" and "The Hague".
_NO_ARTICLE: Final = (
    r"(?!(?:few|little|lot|bit|while|couple|dozen|hundred|thousand|million|second|minute|hour|day|night|week|"
    r"month|quarter|year|time|is|are|was|were|has|have|will|can|must|should|and|or|but|not|to|in|of|for|with|"
    r"on|at|by|from|as|if|when|then|than|that|which)\b)"
)
_ARTICLE: Final = re.compile(rf"(?<![\w'’])(?:the|an?) {_NO_ARTICLE}{_NEXT}")
_OPENING_ARTICLE: Final = re.compile(rf"^(\W*)(?:The|An?) {_NO_ARTICLE}(?=[a-z])")
_RATE: Final = re.compile(r"\b(?:once|twice|times|many|such|what|half) $", re.IGNORECASE)

# A comma after one of these is not needed.
_LINKING: Final = frozenset({"so", "also", "but", "e.g.", "i.e.", "still", "then"})
_BEGINS: Final = re.compile(r"(?:^|[.!?:]\s+|\n\s*(?:[-*]\s+)?)$")


def shorten(text: str, words: Mapping[str, str]) -> str:
    """Return the text in fewer characters, or as it is. Shortening the result again changes nothing.

    ``words`` has long words with their short forms, which are used in every language but those recognised as
    German, French or Spanish.
    """
    if len(text) > _LONGEST or _HIDDEN.search(text):
        return text
    # Shorter lines may be other sentences, so once may not be enough.
    while len(shorter := _shorten_once(text, words)) < len(text):
        text = shorter
    return text


def _shorten_once(text: str, words: Mapping[str, str]) -> str:
    kept: list[str] = []

    def hide(found: re.Match[str]) -> str:
        if len(kept) > _LAST - _FIRST:
            return found.group()
        kept.append(found.group())
        return chr(_FIRST + len(kept) - 1)

    hidden = _LEFT_ALONE.sub(hide, text)
    parts: list[str] = []
    end = 0
    for sentence in find_sentences(hidden):
        parts += (
            hidden[end : sentence.start],
            _shorten(hidden[sentence.start : sentence.end], words),
        )
        end = sentence.end
    short = "".join([*parts, hidden[end:]])
    return _HIDDEN.sub(lambda found: kept[ord(found.group()) - _FIRST], short)


def _shorten(sentence: str, words: Mapping[str, str]) -> str:
    english, foreign = len(_ENGLISH.findall(sentence)), len(_FOREIGN.findall(sentence))
    if foreign > 1 and foreign * 2 >= english:
        return sentence
    short = sentence
    if english > 1 and foreign * 3 < english:
        short = sentence.lstrip()
        lead = sentence[: len(sentence) - len(short)]
        while (simpler := _simplify(short)) != short:
            short = simpler
        short = lead + short
        if len(NEGATION.findall(short)) != len(NEGATION.findall(sentence)):
            short = sentence
    return _abbreviate(short, words)


def _simplify(text: str) -> str:
    while (shorter := _phrases().sub(_replace_phrase, text)) != text:
        text = shorter
    text = _FILLER.sub(_drop_filler, text)
    if NEGATION.search(text):
        text = _AT_ALL.sub("", text)
    text = _OPENING_ARTICLE.sub(r"\1", text)
    return _ARTICLE.sub(_drop_article, text)


@cache
def _table() -> dict[str, str]:
    lines = Path(__file__).with_suffix(".tsv").read_text(encoding="utf-8").splitlines()
    return dict(line.split("\t") for line in lines)


@cache
def _phrases() -> re.Pattern[str]:
    """Match a phrase of the table, the longest first, with the comma after it."""
    ordered = sorted(_table(), key=len, reverse=True)
    inside = "|".join(re.escape(phrase) for phrase in ordered if not phrase.startswith("^"))
    opening = "|".join(re.escape(phrase[1:]) for phrase in ordered if phrase.startswith("^"))
    return re.compile(
        rf"^(?P<opening>{opening}),? |(?P<lead> ?)(?<![\w'’])(?P<phrase>{inside})(?P<end>, | |(?=[^\w'’]|$))",
        re.IGNORECASE,
    )


@cache
def _word_pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(sorted(words, key=len, reverse=True))})\b", re.IGNORECASE)


def _replace_phrase(found: re.Match[str]) -> str:
    if found["opening"]:
        return ""
    short, end = _table()[found["phrase"].lower()], found["end"]
    before = found.string[: found.start()]
    # "not have to" is not "not must".
    clause = _CLAUSE.split(before)[-1] if short.partition(" ")[0] in _MODAL else ""
    if _AFTER_NEGATION.search(before) or _NEGATIVE.search(clause):
        return found.group()
    if not short:
        if not before or end != ", ":
            return found["lead"] if end else ""
        return " " if before.endswith(",") else end
    return found["lead"] + short + (" " if end == ", " and short in _LINKING else end)


def _drop_article(found: re.Match[str]) -> str:
    is_rate = found.group() != "the " and _RATE.search(found.string[: found.start()])
    return found.group() if is_rate else ""


def _drop_filler(found: re.Match[str]) -> str:
    return found.group() if _AFTER_NEGATION.search(found.string[: found.start()]) else ""


def _abbreviate(text: str, words: Mapping[str, str]) -> str:
    def replace(found: re.Match[str]) -> str:
        word = found.group()
        is_plain = word.islower() or (word.istitle() and _BEGINS.search(text[: found.start()]))
        return words[word.lower()] if is_plain else word

    return _word_pattern(tuple(words)).sub(replace, text)
