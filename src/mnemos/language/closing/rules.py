"""Which sentences of a message close, by the rules of the language that each is written in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from mnemos.language.closing.clauses import is_trouble, stated
from mnemos.language.closing.english import ENGLISH
from mnemos.language.closing.french import FRENCH
from mnemos.language.closing.german import GERMAN
from mnemos.language.closing.language import Language, Token
from mnemos.language.closing.sentences import Sentence, own_words, sentences, tokens
from mnemos.language.closing.spanish import SPANISH
from mnemos.language.closing.words import has_sign

LANGUAGES: Final = (ENGLISH, GERMAN, FRENCH, SPANISH)


def closings(lowered: str) -> Iterator[tuple[Sentence, tuple[int, int]]]:
    """Each sentence that closes, with the place of the words that say so."""
    shown = own_words(lowered)
    found = [sentence for sentence in sentences(shown) if not sentence.is_empty()]
    for number, sentence in enumerate(found):
        if not has_sign(shown[sentence.start : sentence.stop]):
            continue
        read = tokens(shown, sentence)
        for language in _languages(read):
            place = stated(language, read, sentence.end)
            if place is not None and not _is_taken_back(language, shown, found[number + 1 : number + 2]):
                yield sentence, place
                break


def _is_taken_back(language: Language, shown: str, after: Sequence[Sentence]) -> bool:
    """Whether the next sentence says but, or tells of a failure."""
    return any(is_trouble(language, tokens(shown, sentence)) for sentence in after)


def _languages(read: Sequence[Token]) -> list[Language]:
    """Those that know most of the words; English alone when it is among them."""
    known = [language.knows(read) for language in LANGUAGES]
    most = max(known)
    if known[0] == most > 0:
        return [ENGLISH]
    return [language for language, count in zip(LANGUAGES, known, strict=True) if count == most]
