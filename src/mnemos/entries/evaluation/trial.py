"""The trial that a backend is scored by: a few entries stored, read and asked for, and cleared away."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from statistics import fmean
from typing import TypeVar

from mnemos.entries.contract import MemoryBackend
from mnemos.entries.evaluation.model import DISABLED, BackendEvaluation, points, verdict
from mnemos.entries.null import NullBackend
from mnemos.errors import MnemosError

T = TypeVar("T")

_TIMES = 5
_VALUE = "A lantern beside the harbour, number {}: 100% ü 試験"
_QUESTION = "lantern harbour"


def evaluate_backend(backend: MemoryBackend, test_user: str = "eval_user") -> BackendEvaluation:
    """Try a backend and score it. Nothing that is stored stays, also when the trial is interrupted.

    Keys are made up for the trial: what ``test_user`` has is not touched.
    """
    evaluation = BackendEvaluation(
        backend_name=backend.backend_name,
        is_cloud=backend.is_cloud,
        available=backend.is_available(),
        data_location=backend.location,
        requires_api_key=backend.needs_api_key,
    )
    if evaluation.available:
        _try(backend, test_user, evaluation)
    else:
        evaluation.notes.append(f"Not available: {getattr(backend, 'problem', '') or 'it says so itself'}")
    evaluation.score = sum(points(evaluation).values())
    evaluation.recommendation = DISABLED if isinstance(backend, NullBackend) else verdict(evaluation.score)
    if backend.is_cloud:
        evaluation.notes.append("Data leaves this machine.")
    if isinstance(backend, NullBackend):
        evaluation.notes.append("Keeps nothing: there is no memory of users.")
    return evaluation


def _try(backend: MemoryBackend, user: str, evaluation: BackendEvaluation) -> None:
    run = os.urandom(4).hex()
    keys = [f"evaluation_{run}_{number}" for number in range(_TIMES)]
    try:
        # The first calls connect and load, which later ones do not have to wait for.
        backend.retrieve(user, keys[0])
        backend.query(user, _QUESTION)
        _store(backend, user, keys, evaluation)
        _retrieve(backend, user, keys, evaluation)
        _query(backend, user, keys, evaluation)
    except MnemosError as exc:
        evaluation.notes.append(f"Failed: {exc}")
        # What took no entry cannot be used, whatever it says of itself without the network.
        evaluation.available = evaluation.store_latency_ms > 0
    finally:
        _clear(backend, user, keys, evaluation)


def _store(backend: MemoryBackend, user: str, keys: list[str], evaluation: BackendEvaluation) -> None:
    times: list[float] = []
    accepted = [
        _timed(times, lambda key=key, n=n: backend.store(user, key, _VALUE.format(n), {"number": n}))  # type: ignore[misc]
        for n, key in enumerate(keys)
    ]
    evaluation.store_latency_ms = fmean(times)
    kept = [backend.retrieve(user, key) is not None for key in keys]
    evaluation.store_success = all(accepted) and all(kept)
    if all(accepted) and not any(kept):
        evaluation.notes.append("Accepts entries and keeps none.")


def _retrieve(backend: MemoryBackend, user: str, keys: list[str], evaluation: BackendEvaluation) -> None:
    times: list[float] = []
    found = [_timed(times, lambda key=key: backend.retrieve(user, key)) for key in keys]  # type: ignore[misc]
    evaluation.retrieve_latency_ms = fmean(times)
    evaluation.retrieve_success = all(
        entry is not None and entry.value == _VALUE.format(n) and entry.metadata == {"number": n}
        for n, entry in enumerate(found)
    )


def _query(backend: MemoryBackend, user: str, keys: list[str], evaluation: BackendEvaluation) -> None:
    times: list[float] = []
    found = [_timed(times, lambda: backend.query(user, _QUESTION)) for _ in keys]
    evaluation.query_latency_ms = fmean(times)
    evaluation.query_result_count = len(found[-1])
    evaluation.query_returns_results = any(entry.key in keys for entry in found[-1])


def _clear(backend: MemoryBackend, user: str, keys: list[str], evaluation: BackendEvaluation) -> None:
    for key in keys:
        try:
            backend.delete(user, key)
        except MnemosError as exc:
            evaluation.notes.append(f"{key} of {user} could not be cleared away: {exc}")
            return


def _timed(times: list[float], call: Callable[[], T]) -> T:
    begun = time.perf_counter()
    answer = call()
    times.append(1000 * (time.perf_counter() - begun))
    return answer
