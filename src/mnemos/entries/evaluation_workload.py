"""The workload of an evaluation: five people, 300 entries, updates, and paraphrased questions.

Each line of ``evaluation_workload.tsv`` is a topic: a key, a question about it that avoids the words of key
and values, and a value for each person.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import TypeVar

from mnemos.entries.backend import DIALECTIC, MemoryBackend
from mnemos.errors import MnemosError
from mnemos.progress import Progress

T = TypeVar("T")

PEOPLE = ("alex", "björk-7", "chen wei", "dara@example.com", "эмма")

# Further diary entries, so that a query has to tell entries from each other.
_VERBS = ("visited", "bought", "read", "met", "cooked", "repaired", "planted", "watched")
_THINGS = (
    *("a lamp", "old maps", "the neighbour", "tomato soup"),
    *("a bridge", "red boots", "a short play", "two chairs"),
)
_DIARY_ENTRIES = 20
_DEPTHS = (1, 3, 5, 10)
_UPDATED_TOPICS = 10


@dataclass(frozen=True, slots=True)
class Topic:
    key: str
    question: str
    """A question about the value that doesn't use its words."""
    values: tuple[str, ...]
    """One value for each person."""


@dataclass(frozen=True, slots=True)
class Latency:
    """Milliseconds per call."""

    calls: int
    p50: float
    p95: float


@dataclass(slots=True)
class WorkloadResult:
    entries: int = 0
    users: int = 0
    latencies: dict[str, Latency] = field(default_factory=dict)
    recall_words: dict[str, float] = field(default_factory=dict)
    """By k, the share of questions in the entry's own words whose entry is among the first k."""
    recall_paraphrased: dict[str, float] = field(default_factory=dict)
    """The same for paraphrased questions."""
    exact: bool = False
    """True if every value was read back unchanged, updates included."""
    isolated: bool = False
    """True if nobody could see or delete another user's entries."""
    persistent: bool = False
    """True if all entries were still there after the backend was closed and reopened."""
    cleared: bool = False
    problems: list[str] = field(default_factory=list)


class Workload:
    """A run of the workload. ``users`` must be unused names, as all their entries are deleted."""

    def __init__(self, make: Callable[[], MemoryBackend], users: Sequence[str], progress: Progress) -> None:
        self._make = make
        self._users = users
        self._progress = progress
        self._times: dict[str, list[float]] = {}
        self._kept: dict[tuple[str, str], str] = {}
        self._result = WorkloadResult(users=len(users))

    def run(self) -> WorkloadResult:
        """Run the workload and clean up. Collects the backend's errors in ``problems``."""
        result = self._result
        try:
            backend = self._make()
        except MnemosError as exc:
            result.problems.append(str(exc))
            return result
        try:
            self._fill(backend)
            result.exact = self._has_all(backend)
            self._ask(backend)
            result.isolated = self._is_isolated(backend)
            backend.close()
            backend = self._make()
            result.persistent = self._has_all(backend)
        except MnemosError as exc:
            result.problems.append(str(exc))
        finally:
            result.cleared = self._clear(backend)
            backend.close()
        result.latencies = {name: _summarize(times) for name, times in self._times.items()}
        return result

    def _fill(self, backend: MemoryBackend) -> None:
        for person, user in enumerate(self._users):
            for topic in load_topics():
                self._store("store", backend, user, topic.key, topic.values[person])
            for number in range(_DIARY_ENTRIES):
                self._store("store", backend, user, *_make_diary_entry(person, number))
            self._progress(0.5 * (person + 1) / len(self._users))
        self._result.entries = len(self._kept)
        for person, user in enumerate(self._users):
            for topic in load_topics()[:_UPDATED_TOPICS]:
                value = f"{topic.values[person]} (since this year)"
                self._store("update", backend, user, topic.key, value)

    def _store(self, name: str, backend: MemoryBackend, user: str, key: str, value: str) -> None:
        self._time(name, partial(backend.store, user, key, value))
        self._kept[user, key] = value

    def _ask(self, backend: MemoryBackend) -> None:
        own: list[int | None] = []
        other: list[int | None] = []
        for person, user in enumerate(self._users):
            for topic in load_topics():
                words = f"{topic.key.replace('_', ' ')} {topic.values[person]}"
                own.append(self._rank(backend, user, words, topic.key))
                other.append(self._rank(backend, user, topic.question, topic.key))
            self._progress(0.5 + 0.4 * (person + 1) / len(self._users))
        self._result.recall_words = _count_recall(own)
        self._result.recall_paraphrased = _count_recall(other)

    def _rank(self, backend: MemoryBackend, user: str, question: str, key: str) -> int | None:
        found = self._time("query", partial(backend.query, user, question, max(_DEPTHS)))
        keys = [entry.key for entry in found if entry.match != DIALECTIC]
        return keys.index(key) if key in keys else None

    def _is_isolated(self, backend: MemoryBackend) -> bool:
        """True if users only ever see their own entries, even when asking about another's."""
        for person, user in enumerate(self._users):
            keys = self._time("list", partial(backend.list_keys, user))
            if sorted(keys) != sorted(key for owner, key in self._kept if owner == user):
                return False
            other = (person + 1) % len(self._users)
            for entry in backend.query(user, load_topics()[-1].values[other], 20):
                if entry.user_id != user:
                    return False
                if entry.match != DIALECTIC and self._kept.get((user, entry.key)) != entry.value:
                    return False
        stranger = f"{self._users[0]}-nobody"
        key = load_topics()[0].key
        return backend.retrieve(stranger, key) is None and not backend.delete(stranger, key)

    def _has_all(self, backend: MemoryBackend) -> bool:
        for (user, key), value in self._kept.items():
            entry = self._time("retrieve", partial(backend.retrieve, user, key))
            if entry is None or entry.value != value:
                return False
        return True

    def _clear(self, backend: MemoryBackend) -> bool:
        try:
            for user in self._users:
                for key in backend.list_keys(user):
                    self._time("delete", partial(backend.delete, user, key))
            self._progress(1.0)
            return not any(backend.list_keys(user) for user in self._users)
        except MnemosError as exc:
            self._result.problems.append(f"not everything could be deleted: {exc}")
            return False

    def _time(self, name: str, call: Callable[[], T]) -> T:
        begun = time.perf_counter()
        answer = call()
        self._times.setdefault(name, []).append(1000 * (time.perf_counter() - begun))
        return answer


def name_users(run: str) -> list[str]:
    """Return unique user names for a run."""
    return [f"{run}-{name}" for name in PEOPLE]


@cache
def load_topics() -> tuple[Topic, ...]:
    lines = Path(__file__).with_suffix(".tsv").read_text(encoding="utf-8").splitlines()
    return tuple(
        Topic(key, question, tuple(values)) for key, question, *values in (line.split("\t") for line in lines)
    )


def _make_diary_entry(person: int, number: int) -> tuple[str, str]:
    verb, thing = _VERBS[(number + person) % len(_VERBS)], _THINGS[(3 * number + person) % len(_THINGS)]
    return f"diary_{number:03}", f"{verb} {thing} on day {number * 7 + person}"


def _count_recall(ranks: Sequence[int | None]) -> dict[str, float]:
    return {
        str(depth): round(sum(rank is not None and rank < depth for rank in ranks) / len(ranks), 3)
        for depth in _DEPTHS
    }


def _summarize(times: list[float]) -> Latency:
    ordered = sorted(times)
    return Latency(
        len(ordered), round(ordered[len(ordered) // 2], 3), round(ordered[int(0.95 * (len(ordered) - 1))], 3)
    )
