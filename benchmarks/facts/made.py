"""Facts of any number, the same for the same seed, and the turns of an agent that works with them.

The facts of a scope share three topic words, and most of its targets are its own; one in twenty is
a plain one such as ``cache.ttl`` that other scopes have too. Other words are as common and as rare
as in the made-up corpus. Only the standard library: peers run this.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from benchmarks.corpus import EVERYWHERE, FUNCTION_WORDS, Corpus, words_of

SEED = 1
FACTS_PER_SCOPE = 25
POOL_SESSIONS = 60
TURNS_PER_SCOPE = 6
WRITES_PER_TURN = 2
SHARED_TARGETS = 0.05
RESTATED = 0.20
OLD_SCOPE = 0.05
# In a store of five hundred facts already.
OLD_SCOPES = 20
# Above every scope that a store is filled with.
NEW_SCOPES = 1_000_000

_AREAS = """
auth billing db cache search queue mail web app api cdn dns ci log metrics trace backup deploy repo
pkg msg notif perms session token upload export import report chart order cart stock price tax
invoice refund parcel label scan sensor radio battery camera map route trip hotel chapter model
training feature font color theme form btn menu srv clt
""".split()
_PARTS = """
host port ttl size limit timeout retry key name path owner version region mode level format schema
idx tbl quota window schedule cutoff policy default fallback encoding layout title budget
""".split()
_UNITS = ("s", "min", "h", "d", "MB", "GB", "req/s", "EUR", "%", "items")
_SMALL = frozenset((*FUNCTION_WORDS, EVERYWHERE))
KINDS = ("one word", "two words", "question")


@dataclass(frozen=True, slots=True)
class MadeFact:
    key: str
    content: str
    words: tuple[str, ...]

    @property
    def line(self) -> str:
        return f"{self.key}: {self.content}"


@dataclass(frozen=True, slots=True)
class MadeScope:
    label: str
    facts: tuple[MadeFact, ...]


@dataclass(frozen=True, slots=True)
class Turn:
    number: int
    message: str
    # A line and the scope it is written to.
    writes: tuple[tuple[str, str], ...]
    query: str


def scopes(size: int, seed: int) -> Iterator[MadeScope]:
    """As many scopes as hold ``size`` facts, the last one cut."""
    for number in range((size + FACTS_PER_SCOPE - 1) // FACTS_PER_SCOPE):
        yield scope(number, seed, min(FACTS_PER_SCOPE, size - number * FACTS_PER_SCOPE))


def scope(number: int, seed: int, count: int = FACTS_PER_SCOPE) -> MadeScope:
    rng = random.Random(f"{seed}-{number}")
    words, distinct = _words()
    topics = rng.sample(distinct, 3)
    facts: dict[str, MadeFact] = {}
    while len(facts) < count:
        made = _fact(rng, topics, words)
        facts.setdefault(made.key, made)
    return MadeScope(f"{topics[0]}-{topics[1]}-{number}", tuple(facts.values()))


def turns(size: int, seed: int, round_number: int, count: int) -> list[Turn]:
    """Work on scopes that are not in the store yet, and now and then on one of its first.

    The writes are the same for every size, so a difference in cost comes from the size alone.
    """
    rng = random.Random(f"turns-{seed}-{round_number}")
    asking = random.Random(f"turns-{seed}-{round_number}-{size}")
    first = NEW_SCOPES * (round_number + 1)
    written = []
    current = scope(first, seed)
    for number in range(count):
        if number % TURNS_PER_SCOPE == 0:
            current = scope(first + number, seed)
        writes = tuple(
            _write(rng, current, number % TURNS_PER_SCOPE * WRITES_PER_TURN + place, seed)
            for place in range(WRITES_PER_TURN)
        )
        message = f"Now look at {' '.join(current.facts[number % TURNS_PER_SCOPE].words[:4])} please"
        query = " ".join(asking.sample(_drawn(asking, size, seed).words, 2))
        written.append(Turn(number + 1, message, writes, query))
    return written


def queries(kind: str, size: int, seed: int, count: int) -> list[str]:
    """Each about one fact of the store, drawn evenly."""
    rng = random.Random(f"{kind}-{size}-{seed}")
    return [_query(rng, kind, _drawn(rng, size, seed)) for _ in range(count)]


def _query(rng: random.Random, kind: str, fact: MadeFact) -> str:
    if kind == "one word":
        return fact.words[-1]
    if kind == "two words":
        return " ".join(rng.sample(fact.words, 2))
    first, second, third = (*fact.words, *fact.words)[:3]
    pattern = rng.choice(
        (
            "Which {0} does the {1} use for {2}?",
            "What did we decide about {0} and {1} {2}?",
            "How long is the {0} of {1} with {2}?",
            "Are we allowed to have {0} in {1} before {2}?",
        )
    )
    return pattern.format(first, second, third)


def _drawn(rng: random.Random, size: int, seed: int) -> MadeFact:
    return rng.choice(scope(rng.randrange(max(1, size // FACTS_PER_SCOPE)), seed).facts)


def _write(rng: random.Random, current: MadeScope, place: int, seed: int) -> tuple[str, str]:
    chance = rng.random()
    if chance < OLD_SCOPE:
        old = scope(rng.randrange(OLD_SCOPES), seed)
        return _restated(rng, rng.choice(old.facts)), old.label
    if chance < OLD_SCOPE + RESTATED and place:
        return _restated(rng, current.facts[rng.randrange(place)]), current.label
    return current.facts[place].line, current.label


def _restated(rng: random.Random, fact: MadeFact) -> str:
    return f"{fact.key}: {fact.content}, now {rng.randrange(10_000)}"


def _fact(rng: random.Random, topics: Sequence[str], words: Sequence[str]) -> MadeFact:
    area, part = rng.choice(_AREAS), rng.choice(_PARTS)
    own = rng.random() >= SHARED_TARGETS
    topic = rng.choice(topics)
    target = f"{topic}.{area}.{part}" if own else f"{area}.{part}"
    kind = rng.choices("VDC?", weights=(40, 30, 18, 12))[0]
    first, second, third = rng.sample(words, 3)
    content = _content(rng, kind, first, second, third)
    return MadeFact(f"{kind}[{target}]", content, (*((topic,) if own else ()), area, part, first, second))


def _content(rng: random.Random, kind: str, first: str, second: str, third: str) -> str:
    number = rng.randrange(2, 9_000)
    if kind == "V":
        return rng.choice(
            (
                f"{first}.internal:{number}, {second} only",
                f"{number} {rng.choice(_UNITS)}, {first} {second}",
                f"{first} {number % 40}.{number % 7}.{number % 13} w/ {second}",
            )
        )
    if kind == "C":
        return rng.choice(
            (
                f"{first} mndtry, nvr {second}",
                f"alw {first} before {second}, max {number} {rng.choice(_UNITS)}",
                f"no {first} w/o {second} {third}",
            )
        )
    if kind == "D":
        return rng.choice(
            (
                f"{first} → {second}, because of {third}",
                f"{first} w/ {second}, {third} rejected",
                f"{first} pr {second} each {number} {rng.choice(_UNITS)}",
            )
        )
    return f"{first} or {second} pr {third}?"


@cache
def _words() -> tuple[list[str], list[str]]:
    """Words that say something: as often as the corpus has them, and each once."""
    text = " ".join(
        message["content"]
        for number in range(POOL_SESSIONS)
        for message in Corpus(1_000_000).session(number).messages
    )
    told = [w for w in words_of(text) if w.isascii() and w.isalpha() and len(w) > 2 and w not in _SMALL]
    return told, sorted(set(told))
