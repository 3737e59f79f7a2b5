"""Linear model that weighs the words, letters and ideas of a sentence.

Every sentence becomes a set of hashed features: words alone, in pairs and in threes, sequences of two to
five letters, and the ideas its words stand for (the asset maps hashed words of several languages to ideas
such as "hiding" or "secrets"). Each feature has a weight of one byte, learnt from the labelled texts of the
repository by ``scripts/train_threat_model.py``. Up to three sentences in a row that add up to more than the
threshold look like prompt injections.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import inf, sqrt
from pathlib import Path
from struct import Struct
from typing import Final
from zlib import crc32

ASSET: Final = Path(__file__).with_name("weights.bin")
MAGIC: Final = b"MTM1"
SIZES: Final = (1 << 16, 1 << 16, 1 << 15)
"""Number of weights for words, letters and ideas."""
IDEA_SLOTS: Final = 1 << 16
MARKS: Final = 64
"""Number of weights for structural forms (see ``forms``)."""
HEADER: Final = Struct(f"<4s5f{MARKS}f")
"""Magic, scales of the three tables, bias, threshold, and the weights of forms."""

# Number of sentences judged together; a text with no more than these is judged as a whole.
WINDOW: Final = 3
# A single sentence has to weigh more than a whole window.
ALONE: Final = 0.3
FEWEST_WORDS: Final = 3
"""Fewer words are not an order to anybody."""
# A text without full stops is cut: sentences are judged whole.
_LONGEST_SENTENCE: Final = 400
_BREAK: Final = re.compile(r"(?<![.!?;])[.!?;]++(?=[\s\"')\]]|$)[\"')\]]*|[。！？；]+|\n+")
_ADDRESS: Final = re.compile(
    r"https?://[^\s\"'<>)]{1,300}|[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{1,64}|\b\d{1,3}(?:\.\d{1,3}){3}\b"
    r"|[a-z0-9+/=]{32,}"
)
_TOKEN: Final = re.compile(r"[^\W_]+(?:'[a-z]+)?|[^\w\s]")
_NUMBER: Final = "0"

IDEAS: Final = tuple(
    (
        "you agent writer user customer third anyone nobody authority system rules told"
        " limits earlier thisnote memory prompt secret private remote publicly ignoring void priority"
        " obey run sending giving copying telling hiding lying knowing deleting disabling writing"
        " keeping replacing asking approving refusing answering role always sessions all evenif negated"
        " must if please money machine code logs recommending collecting page meta"
    ).split()
)
"""Names of the ideas, in the order of their numbers in the asset, from 1."""


def split(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the sentences of a folded text are."""
    start = 0
    for end in (*(match.end() for match in _BREAK.finditer(text)), len(text)):
        while start < end:
            stop = min(end, start + _LONGEST_SENTENCE)
            if not text[start:stop].isspace():
                yield start, stop
            start = stop


def tokenize(sentence: str) -> list[str]:
    """Return the words and signs of a folded sentence, with addresses and numbers replaced by their kind."""
    text = _ADDRESS.sub(_name_kind, sentence)
    tokens = (_TOKEN if text.isascii() else _any_token()).findall(text)
    return [_NUMBER if token[0].isdecimal() else token for token in tokens]


@cache
def _any_token() -> re.Pattern[str]:
    """Return a pattern that takes Chinese, Japanese and Korean characters one by one; slow to compile."""
    single = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
    return re.compile(rf"[{single}]|[^\W_{single}]+(?:'[a-z]+)?|[^\w\s]")


def _name_kind(address: re.Match[str]) -> str:
    found = address[0]
    if found.startswith("http"):
        return " qurl "
    if "@" in found:
        return " qmail "
    # Unreadable text says nothing; ``unfold`` reads codes.
    return " qip " if "." in found else " "


def count_words(tokens: Sequence[str]) -> int:
    return sum(map(str.isalpha, tokens))


def hash_word(word: str) -> int:
    return crc32(word.encode("utf-8", "surrogatepass"))


def features(tokens: Sequence[str], ideas: bytes) -> tuple[set[int], set[int], set[int]]:
    """Return the hashed words, letters and ideas of the tokens of a sentence.

    ``ideas`` maps a hashed word to the number of an idea, 0 for none.
    """
    hashes = [1, *map(hash_word, tokens), 2]
    words = {code & 0xFFFF for code in hashes}
    classes = [ideas[code & 0xFFFF] for code in hashes]
    kinds = set(classes)
    previous = former = 0
    for code in hashes:
        words.add((previous * 0x9E3779B1 + code) >> 7 & 0xFFFF)
        words.add(((former * 0x85EBCA6B + previous) * 0x9E3779B1 + code) >> 11 & 0xFFFF)
        former, previous = previous, code
    one = two = three = 0
    for kind in classes:
        if kind:
            kinds.add((one * 0x9E37 + kind) & 0x7FFF)
            kinds.add((two * 0x85EB + kind * 0x3F1 + 7) & 0x7FFF)
            kinds.add((three * 0xC2B2 + kind * 0x1F3 + 11) & 0x7FFF)
            kinds.add(((two * 0x85EB + one) * 0x9E37 + kind * 0x2F7) >> 3 & 0x7FFF)
        three, two, one = two, one, kind
    kinds.discard(0)
    return words, _hash_letters(f" {' '.join(tokens)} "), kinds


def _hash_letters(text: str) -> set[int]:
    codes = [ord(letter) for letter in text]
    found: set[int] = set()
    add = found.add
    one, two, three, four = codes[0], 0, 0, 0
    for code in codes[1:]:
        add((pair := one * 0x1003F + code) * 0x9E3779B1 >> 9 & 0xFFFF)
        add((triple := two * 0x1003F + code) * 0x85EBCA6B >> 9 & 0xFFFF)
        add((quad := three * 0x1003F + code) * 0xC2B2AE35 >> 9 & 0xFFFF)
        add((four * 0x1003F + code) * 0x27D4EB2F >> 9 & 0xFFFF)
        one, two, three, four = code, pair, triple, quad
    return found


# --- weighing ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Weights:
    """The asset, read once in a process."""

    tables: tuple[array[int], ...]
    scales: tuple[float, ...]
    bias: float
    threshold: float
    marks: tuple[float, ...]
    ideas: bytes

    @classmethod
    def parse(cls, data: bytes) -> Weights:
        """Read the bytes that ``scripts/train_threat_model.py`` writes."""
        magic, *numbers = HEADER.unpack_from(data)
        if magic != MAGIC:
            raise ValueError("not a threat model")
        tables = []
        at = HEADER.size
        for size in SIZES:
            tables.append(array("b", data[at : at + size]))
            at += size
        return cls(
            tuple(tables),
            tuple(numbers[:3]),
            numbers[3],
            numbers[4],
            tuple(numbers[5:]),
            data[at : at + IDEA_SLOTS],
        )

    def weigh(self, sentence: str) -> Weight:
        """Return the sums and the numbers of features of a folded sentence."""
        tokens = tokenize(sentence)
        found = features(tokens, self.ideas)
        sums = tuple(
            scale * sum(map(table.__getitem__, codes))
            for table, scale, codes in zip(self.tables, self.scales, found, strict=True)
        )
        return Weight(sums, tuple(map(len, found)), count_words(tokens))

    def score(self, sentences: list[Weight], marks: set[int]) -> float:
        """Return how far sentences in a row, with the forms in them, are above the threshold."""
        if sum(one.words for one in sentences) < FEWEST_WORDS:
            return -inf
        total = self.bias - self.threshold + sum(self.marks[number] for number in marks)
        for table in range(len(SIZES)):
            count = sum(one.counts[table] for one in sentences)
            if count:
                total += sum(one.sums[table] for one in sentences) / sqrt(count)
        return total

    def name_ideas(self, text: str) -> list[str]:
        """Return the names of the ideas in a folded text, the most telling first."""
        numbers = {self.ideas[hash_word(token) & 0xFFFF] for token in tokenize(text)}
        named = sorted(
            (number for number in numbers if 0 < number <= len(IDEAS)), key=lambda one: -self.tables[2][one]
        )
        return [IDEAS[number - 1] for number in named]


@dataclass(frozen=True, slots=True)
class Weight:
    """The sum of a sentence's features and their number, table by table."""

    sums: tuple[float, ...]
    counts: tuple[int, ...]
    words: int


@dataclass(frozen=True, slots=True)
class Finding:
    """A stretch of a folded text that looks like a prompt injection."""

    start: int
    end: int


@cache
def load_weights() -> Weights:
    return Weights.parse(ASSET.read_bytes())


def count_known(text: str) -> int:
    """Count the words of a folded text that stand for an idea."""
    ideas = load_weights().ideas
    known = [ideas[hash_word(word) & 0xFFFF] for word in _WORD.findall(text)]
    return sum(0 < idea <= len(IDEAS) for idea in known if idea)


def find_orders(text: str, marks: list[tuple[int, int, int]]) -> Iterator[Finding]:
    """Yield what looks like a prompt injection in a folded text, in order and apart.

    ``marks`` are the forms in it: number, start and end.
    """
    weights = load_weights()
    spans = list(split(text))
    weighed = [weights.weigh(text[start:end]) for start, end in spans]
    done = 0
    for first in range(max(1, len(spans) - WINDOW + 1)):
        last = min(first + WINDOW, len(spans))
        if last <= first or spans[first][0] < done:
            continue
        for begin, stop, margin in (
            (first, last, 0.0),
            *((one, one + 1, ALONE) for one in range(first, last)),
        ):
            start, end = spans[begin][0], spans[stop - 1][1]
            near = {number for number, left, right in marks if left < end and start < right}
            if weights.score(weighed[begin:stop], near) > margin:
                yield Finding(start, end)
                done = end
                break


_WORD: Final = re.compile(r"[^\W\d_]{3,40}")
