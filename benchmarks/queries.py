"""Queries drawn from a corpus by how many messages have the words, and whether results are right.

Words that have to meet (two words, a question, a phrase) are taken from one message, so that every
query but those of ``no hit`` has an answer. Words of the language that carry no meaning are left
out: a store may pass over them, and then the comparison would not be of the same work.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import Stemmer

from benchmarks.corpus import EVERYWHERE, FUNCTION_WORDS, Corpus, Message, words_of

# Messages to take queries from: about this many, and as many Chinese ones as this many contain.
SAMPLED = 4_000
SAMPLED_FOR_CHINESE = 100_000

NO_HIT = "no hit"

# How many messages have the word, and for the others the share of messages that do.
RARE = (1, 3)
MID = (0.001, 0.005)
COMMON = (0.02, 0.30)
WIDE = (0.0005, 0.30)

_UNTELLING = {*FUNCTION_WORDS, EVERYWHERE}
_stem = Stemmer.Stemmer("english").stemWord
_CHINESE = re.compile("[\u4e00-\u9fff]{4,}")
_PLAIN_WORDS = re.compile(r"(?<![\w./#:])[a-z]{3,} [a-z]{3,} [a-z]{3,}(?![\w./()])")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The number of messages with each word, and a spread of messages to take queries from."""

    size: int
    frequency: Counter[str]
    sample: list[str]
    chinese: list[str]


def read(corpus: Corpus) -> Lexicon:
    """Go through the corpus once."""
    lexicon = Lexicon(corpus.size, Counter(), [], [])
    every = max(1, corpus.size // SAMPLED)
    every_chinese = max(1, corpus.size // SAMPLED_FOR_CHINESE)
    index = 0
    for session in corpus.sessions():
        for message in session.messages:
            text = message["content"]
            lexicon.frequency.update(set(words_of(text)))
            if not text.isascii():
                if index % every_chinese == 0:
                    lexicon.chinese.append(text)
            elif index % every == 0:
                lexicon.sample.append(text)
            index += 1
    return lexicon


def draw(lexicon: Lexicon, count: int, seed: int) -> dict[str, list[str]]:
    """For each kind of query up to ``count`` different ones, the same for the same seed."""
    source = _Draw(lexicon, random.Random(seed))
    makers: dict[str, Callable[[], str]] = {
        "rare word": source.word_from(RARE[0], RARE[1]),
        "mid word": source.word_from(*source.counts(MID)),
        "common word": source.word_from(*source.counts(COMMON)),
        "two words": lambda: source.together(2, WIDE),
        "three words": lambda: source.together(3, WIDE),
        "four common": lambda: source.together(4, COMMON),
        "phrase": source.phrase,
        "CJK part": source.chinese_part,
        "prefix": source.prefix_from(*source.counts(MID)),
        NO_HIT: source.nowhere,
    }
    drawn = {kind: _different(make, count) for kind, make in makers.items()}
    # There is only one such word; asked again and again it is at least measured often enough.
    return {**drawn, "word in all": [EVERYWHERE] * min(count, 20)}


def is_right(query: str, message: Message, *, partial: bool) -> bool:
    """True if the message has the words of the query, or forms of them.

    A result that the store itself marks as partial must have one of them.
    """
    text = _text_of(message)
    words = _words_and_parts(text)
    if query.startswith('"'):
        phrase = query.strip('"')
        return f" {phrase} " in f" {' '.join(words)} "
    if not query.isascii():
        return query in text
    if query.endswith("*"):
        return any(word.startswith(query[:-1]) for word in words)
    stems = {_stem(word) for word in words}
    found = [_stem(word) in stems for word in query.split()]
    return any(found) if partial else all(found)


class _Draw:
    def __init__(self, lexicon: Lexicon, rng: random.Random) -> None:
        self._lexicon = lexicon
        self._rng = rng

    def counts(self, shares: tuple[float, float]) -> tuple[float, float]:
        return shares[0] * self._lexicon.size, shares[1] * self._lexicon.size

    def word_from(self, least: float, most: float) -> Callable[[], str]:
        words = self._words(least, most)
        return lambda: self._rng.choice(words)

    def prefix_from(self, least: float, most: float) -> Callable[[], str]:
        words = [word for word in self._words(least, most) if len(word) > 5]
        return lambda: f"{self._rng.choice(words)[: self._rng.choice((4, 5))]}*"

    def together(self, count: int, shares: tuple[float, float]) -> str:
        """Words that one message has together, each as frequent as asked."""
        least, most = self.counts(shares)
        while True:
            words = sorted(
                word
                for word in set(words_of(self._rng.choice(self._lexicon.sample)))
                if self._is_between(word, least, most)
            )
            if len(words) >= count:
                return " ".join(self._rng.sample(words, count))

    def phrase(self) -> str:
        while True:
            found = _PLAIN_WORDS.findall(self._rng.choice(self._lexicon.sample))
            if found:
                return f'"{self._rng.choice(found)}"'

    def chinese_part(self) -> str:
        while True:
            runs = _CHINESE.findall(self._rng.choice(self._lexicon.chinese))
            if runs:
                run = self._rng.choice(runs)
                length = self._rng.choice((2, 2, 3, 4))
                start = self._rng.randrange(len(run) - length + 1)
                return str(run[start : start + length])

    def nowhere(self) -> str:
        while True:
            word = "".join(self._rng.choices("bcdfghjklmnpqrtvwxz", k=9))
            if word not in self._lexicon.frequency:
                return word

    def _words(self, least: float, most: float) -> list[str]:
        return sorted(word for word in self._lexicon.frequency if self._is_between(word, least, most))

    def _is_between(self, word: str, least: float, most: float) -> bool:
        telling = len(word) > 2 and word.isascii() and word.isalpha() and word not in _UNTELLING
        return telling and least <= self._lexicon.frequency[word] <= most


def _different(make: Callable[[], str], count: int) -> list[str]:
    """Up to ``count`` different queries; fewer where the corpus does not have as many."""
    made: dict[str, None] = {}
    for _ in range(20 * count):
        made[make()] = None
        if len(made) == count:
            break
    return list(made)


def _text_of(message: Message) -> str:
    calls = message.get("tool_calls")
    said = (message["content"], message.get("tool_name", ""), json.dumps(calls) if calls else "")
    return " ".join(said)


def _words_and_parts(text: str) -> list[str]:
    whole = words_of(text)
    parts = words_of(_CAMEL.sub(" ", text))
    return whole if whole == parts else parts + whole
