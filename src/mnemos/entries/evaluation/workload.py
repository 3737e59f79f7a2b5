"""A real workload: several people, a few hundred entries, changes, and questions in other words."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, TypeVar

from mnemos.entries.contract import DIALECTIC, MemoryBackend
from mnemos.entries.evaluation.people import PEOPLE, filler, topics
from mnemos.errors import MnemosError

T = TypeVar("T")
Progress = Callable[[float], None]

_FILLERS = 20
_DEPTHS = (1, 3, 5, 10)
# Entries that a person changes his mind about.
_CHANGED = 10


@dataclass(frozen=True, slots=True)
class Latency:
    """Milliseconds."""

    calls: int
    p50: float
    p95: float


@dataclass(slots=True)
class WorkloadResult:
    entries: int = 0
    users: int = 0
    latencies: dict[str, Latency] = field(default_factory=dict)
    recall_words: dict[str, float] = field(default_factory=dict)
    """The share of questions in the entry's own words whose entry is among the first k, by k."""
    recall_paraphrased: dict[str, float] = field(default_factory=dict)
    """The same of questions in other words."""
    exact: bool = False
    """Every value came back as it was stored, changes included."""
    isolated: bool = False
    """Nobody was shown, or could delete, anything of somebody else."""
    persistent: bool = False
    """Everything was there after the backend was closed and made again."""
    cleared: bool = False
    problems: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


class Workload:
    """Runs once. ``users`` are names that nobody has; all they have is deleted in the end."""

    def __init__(self, make: Callable[[], MemoryBackend], users: Sequence[str], progress: Progress) -> None:
        self._make = make
        self._users = users
        self._progress = progress
        self._times: dict[str, list[float]] = {}
        self._result = WorkloadResult(users=len(users))

    def run(self) -> WorkloadResult:
        """What happened. Errors of the backend are told in ``problems``; interruptions clear up and go on."""
        backend = self._make()
        try:
            kept = self._filled(backend)
            self._ask(backend)
            self._result.isolated = self._is_isolated(backend, kept)
            backend.close()
            backend = self._make()
            self._result.persistent = self._has_all(backend, kept)
        except MnemosError as exc:
            self._result.problems.append(str(exc))
        finally:
            self._result.cleared = self._clear(backend)
            backend.close()
        self._result.latencies = {name: _latency(times) for name, times in self._times.items()}
        return self._result

    def _filled(self, backend: MemoryBackend) -> dict[tuple[str, str], str]:
        kept: dict[tuple[str, str], str] = {}
        for person, user in enumerate(self._users):
            entries = [(topic.key, topic.values[person]) for topic in topics()]
            entries += [filler(person, number) for number in range(_FILLERS)]
            for key, value in entries:
                self._timed("store", lambda key=key, value=value: backend.store(user, key, value))  # type: ignore[misc]  # noqa: B023
                kept[user, key] = value
            self._progress(0.5 * (person + 1) / len(self._users))
        self._result.entries = len(kept)
        for person, user in enumerate(self._users):
            for topic in topics()[:_CHANGED]:
                value = f"{topic.values[person]} (since this year)"
                self._timed("update", lambda key=topic.key, value=value: backend.store(user, key, value))  # type: ignore[misc]  # noqa: B023
                kept[user, topic.key] = value
        self._result.exact = self._has_all(backend, kept)
        return kept

    def _ask(self, backend: MemoryBackend) -> None:
        words: list[int | None] = []
        others: list[int | None] = []
        for person, user in enumerate(self._users):
            for topic in topics():
                own = f"{topic.key.replace('_', ' ')} {topic.values[person]}"
                words.append(self._rank(backend, user, own, topic.key))
                others.append(self._rank(backend, user, topic.question, topic.key))
            self._progress(0.5 + 0.4 * (person + 1) / len(self._users))
        self._result.recall_words = _recall(words)
        self._result.recall_paraphrased = _recall(others)

    def _rank(self, backend: MemoryBackend, user: str, question: str, key: str) -> int | None:
        found = self._timed("query", lambda: backend.query(user, question, max(_DEPTHS)))
        keys = [entry.key for entry in found if entry.match != DIALECTIC]
        return keys.index(key) if key in keys else None

    def _is_isolated(self, backend: MemoryBackend, kept: dict[tuple[str, str], str]) -> bool:
        """Each user sees his own keys and values and no others, also asking for those of another."""
        for person, user in enumerate(self._users):
            other = (person + 1) % len(self._users)
            theirs = topics()[-1].values[other]
            keys = self._timed("list", lambda: backend.list_keys(user))  # noqa: B023
            if sorted(keys) != sorted(key for owner, key in kept if owner == user):
                return False
            found = backend.query(user, theirs, 20)
            if any(one.user_id != user for one in found):
                return False
            if any(one.match != DIALECTIC and kept.get((user, one.key)) != one.value for one in found):
                return False
        stranger = f"{self._users[0]}-nobody"
        key = topics()[0].key
        return backend.retrieve(stranger, key) is None and not backend.delete(stranger, key)

    def _has_all(self, backend: MemoryBackend, kept: dict[tuple[str, str], str]) -> bool:
        for (user, key), value in kept.items():
            entry = self._timed("retrieve", lambda user=user, key=key: backend.retrieve(user, key))  # type: ignore[misc]
            if entry is None or entry.value != value:
                return False
        return True

    def _clear(self, backend: MemoryBackend) -> bool:
        try:
            for user in self._users:
                for key in backend.list_keys(user):
                    self._timed("delete", lambda key=key: backend.delete(user, key))  # type: ignore[misc]  # noqa: B023
            self._progress(1.0)
            return not any(backend.list_keys(user) for user in self._users)
        except MnemosError as exc:
            self._result.problems.append(f"not everything could be cleared away: {exc}")
            return False

    def _timed(self, name: str, call: Callable[[], T]) -> T:
        begun = time.perf_counter()
        answer = call()
        self._times.setdefault(name, []).append(1000 * (time.perf_counter() - begun))
        return answer


def people(run: str) -> list[str]:
    """Names for a run that nobody else has."""
    return [f"mnemos-evaluation-{run}-{name}" for name in PEOPLE]


def _recall(ranks: Sequence[int | None]) -> dict[str, float]:
    return {
        str(depth): round(sum(rank is not None and rank < depth for rank in ranks) / len(ranks), 3)
        for depth in _DEPTHS
    }


def _latency(times: list[float]) -> Latency:
    ordered = sorted(times)
    return Latency(
        len(ordered), round(ordered[len(ordered) // 2], 3), round(ordered[int(0.95 * (len(ordered) - 1))], 3)
    )
