"""A made-up history of conversations: any size, the same for the same seed, streamed.

Words are generated and follow Zipf's law with a steeper tail, so that a corpus of any size up to a
million messages has words of every frequency, down to those that occur once. Sessions keep to a
few topic words, as conversations do. Two messages in a hundred are Chinese. Only the standard
library, because peers load the corpus inside their own environment.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import Any

_SMALL_WORDS = """
the to and of a in is it that for you on we with this be not are as at have but or can if from was
will do what there all so when how which an by they them now then just no yes out about up one had
has into only where why here who some more need should would could
"""
FUNCTION_WORDS = tuple(_SMALL_WORDS.split())
# In every message of the corpus, like the name of the project everybody talks about.
EVERYWHERE = "tavora"
VOCABULARY_SIZE = 120_000
# Up to this rank frequency falls with the rank; beyond, faster, as in real text.
TAIL_FROM = 5_000
TAIL_EXPONENT = 1.7

SESSION_LENGTH = 40
PAIR_LENGTH = 2 * SESSION_LENGTH
FIRST_DAY = 1_700_000_000.0
TWO_YEARS = 2 * 365 * 86_400.0
CHINESE_SHARE = 0.02
LONGEST = 800
SHORTEST = 20
TOOLS = ("terminal", "read_file", "search_files", "web_fetch", "edit_file")
SOURCES = ("cli", "cli", "cli", "telegram", "discord", "cron")

Message = dict[str, Any]
_LATIN_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Session:
    id: str
    source: str
    started_at: float
    messages: list[Message]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    words: list[str]
    cumulative: list[float]


@dataclass(frozen=True, slots=True)
class Corpus:
    """``size`` messages; message ``i`` is the same whether streamed or fetched alone."""

    size: int
    seed: int = 1

    def sessions(self) -> Iterator[Session]:
        left = self.size
        number = 0
        while left > 0:
            session = self.session(number)
            yield session if len(session.messages) <= left else _cut(session, left)
            left -= len(session.messages)
            number += 1

    def message(self, index: int) -> Message:
        pair, offset = divmod(index, PAIR_LENGTH)
        first = self._length(2 * pair)
        if offset < first:
            return self.session(2 * pair).messages[offset]
        return self.session(2 * pair + 1).messages[offset - first]

    def session(self, number: int) -> Session:
        rng = random.Random(self.seed * 1_000_003 + number)
        gap = TWO_YEARS * SESSION_LENGTH / max(self.size, SESSION_LENGTH)
        started_at = round(FIRST_DAY + number * gap, 3)
        writer = _Writer(rng, _vocabulary(), self._length(number))
        return Session(
            id=f"s{self.seed}-{number:07d}",
            source=rng.choice(SOURCES),
            started_at=started_at,
            messages=writer.messages(started_at),
        )

    def _length(self, number: int) -> int:
        # Two neighbours always add up to twice the average, so a message is found by its index
        # without walking through the sessions before it.
        shift = (number // 2 * 7 + self.seed) % 41 - 20
        return SESSION_LENGTH + (shift if number % 2 == 0 else -shift)


def text_bytes(message: Message) -> int:
    """The bytes of text a store has to keep for a message: content, tool name and calls."""
    size = len(message["content"].encode())
    if "tool_name" in message:
        size += len(message["tool_name"])
    if "tool_calls" in message:
        size += len(json.dumps(message["tool_calls"], separators=(",", ":")))
    return size


def words_of(text: str) -> list[str]:
    return _LATIN_WORD.findall(text.lower())


class _Writer:
    """Writes the messages of one session from one random source."""

    def __init__(self, rng: random.Random, vocabulary: Vocabulary, length: int) -> None:
        self._rng = rng
        self._length = length
        words = vocabulary.words
        # Evenly over the logarithm of the rank: a topic is as often a common word as a rare one.
        self._topic = [
            words[int(len(FUNCTION_WORDS) * (len(words) / len(FUNCTION_WORDS)) ** rng.random())]
            for _ in range(8)
        ]
        self._vocabulary = vocabulary
        self._drawn: list[str] = []

    def messages(self, started_at: float) -> list[Message]:
        at = started_at
        written = []
        for position in range(self._length):
            at += 2 + 118 * self._rng.random() ** 3
            message = self._message(position)
            message["timestamp"] = round(at, 3)
            written.append(message)
        return written

    def _message(self, position: int) -> Message:
        step = position % 4
        if step == 0:
            return {"role": "user", "content": self._text(SHORTEST, 480)}
        if step == 1:
            return {
                "role": "assistant",
                "content": self._text(SHORTEST, 240),
                "tool_calls": [self._tool_call(position)],
            }
        if step == 2:
            output = f"{self._path()}:{self._rng.randrange(1, 900)}\n{self._text(40, 740)}"
            return {
                "role": "tool",
                "content": output[:LONGEST],
                "tool_name": TOOLS[position // 4 % len(TOOLS)],
                "tool_call_id": f"call_{position - 1}",
            }
        return {"role": "assistant", "content": self._text(80, LONGEST)}

    def _text(self, shortest: int, longest: int) -> str:
        rng = self._rng
        size = int(shortest + (longest - shortest) * rng.random() ** 1.3)
        if rng.random() < CHINESE_SHARE:
            return _chinese(rng, size // 3)
        count = max(5, size * 10 // 66)
        words = self._draw(count)
        words[1] = EVERYWHERE
        words[3::9] = rng.choices(self._topic, k=len(words[3::9]))
        if rng.random() < 0.25:
            words[2] = self._identifier()
        return _sentences(rng, words)[:LONGEST]

    def _draw(self, count: int) -> list[str]:
        # Drawn by the thousand: a draw per message costs twice the time.
        if len(self._drawn) < count:
            weights = self._vocabulary.cumulative
            self._drawn += self._rng.choices(self._vocabulary.words, cum_weights=weights, k=1_000)
        words = self._drawn[-count:]
        del self._drawn[-count:]
        return words

    def _tool_call(self, position: int) -> dict[str, Any]:
        arguments = json.dumps({"path": self._path(), "query": self._rng.choice(self._topic)})
        name = TOOLS[position // 4 % len(TOOLS)]
        return {
            "id": f"call_{position}",
            "type": "function",
            "function": {"name": name, "arguments": arguments},
        }

    def _path(self) -> str:
        first, second, third = self._rng.choices(self._topic, k=3)
        return f"src/{first}/{second}_{third}.py"

    def _identifier(self) -> str:
        first, second = self._rng.choices(self._topic, k=2)
        kind = self._rng.randrange(5)
        if kind == 0:
            return f"{first}_{second}"
        if kind == 1:
            return f"{first}{second.capitalize()}"
        if kind == 2:
            return f"{first}.{second}()"
        if kind == 3:
            return f"#{self._rng.randrange(1, 20_000)}"
        return self._path()


def _cut(session: Session, length: int) -> Session:
    return Session(session.id, session.source, session.started_at, session.messages[:length])


def _sentences(rng: random.Random, words: list[str]) -> str:
    parts = []
    start = 0
    while start < len(words):
        end = start + 6 + int(rng.random() * 10)
        sentence = " ".join(words[start:end])
        parts.append(sentence[0].upper() + sentence[1:])
        start = end
    return ". ".join(parts) + "."


def _chinese(rng: random.Random, length: int) -> str:
    words, cumulative = _chinese_words()
    drawn = rng.choices(words, cum_weights=cumulative, k=max(6, length // 2))
    drawn[5::6] = ["，" if rng.random() < 0.6 else "。" for _ in drawn[5::6]]
    return f"{''.join(drawn)} {EVERYWHERE}"


@cache
def _chinese_words() -> tuple[list[str], list[float]]:
    rng = random.Random(20_902)
    characters = [chr(0x4E00 + rng.randrange(5_000)) for _ in range(1_800)]
    words = ["".join(rng.choices(characters, k=rng.choice((1, 2, 2, 2, 3)))) for _ in range(6_000)]
    return words, list(accumulate(1 / (rank + 3) for rank in range(len(words))))


@cache
def _vocabulary() -> Vocabulary:
    rng = random.Random(14)
    known = {*FUNCTION_WORDS, EVERYWHERE}
    ranked: list[tuple[float, str]] = []
    while len(ranked) < VOCABULARY_SIZE:
        rank = len(ranked)
        stem = _stem(rng, rank)
        for form in (stem, *(stem + ending for ending in _ENDINGS if rng.random() < 0.2)):
            if form not in known:
                known.add(form)
                # Most forms of a word are rarer than the word.
                ranked.append((rank * (1 if form == stem else 1.2 + 6 * rng.random()), form))
    ranked.sort()
    words = [*FUNCTION_WORDS, *(word for _, word in ranked)][:VOCABULARY_SIZE]
    return Vocabulary(words, list(accumulate(_weight(rank + 1) for rank in range(len(words)))))


def _weight(rank: int) -> float:
    if rank <= TAIL_FROM:
        return 1 / (rank + 2)
    return float((TAIL_FROM / rank) ** TAIL_EXPONENT / TAIL_FROM)


_ONSETS = "b br c ch cl cr d dr f fl g gr h j k l m n p pl pr qu r s sc sh sl st str t th tr v w z"
_VOWELS = "a a e e i i o o u ai ea ee ie oa ou"
_CODAS = "b ck d ft g l ll m mp n nd ng nt p r rd rn rt s sk ss st t th x"
_ENDINGS = ("s", "ed", "ing", "er", "ly", "ment", "able")


def _stem(rng: random.Random, rank: int) -> str:
    onsets, vowels, codas = _ONSETS.split(), _VOWELS.split(), _CODAS.split()
    syllables = 1 if rank < 400 else 2 if rank < 20_000 else 3
    open_part = "".join(rng.choice(onsets) + rng.choice(vowels) for _ in range(syllables))
    return open_part + rng.choice(codas)
