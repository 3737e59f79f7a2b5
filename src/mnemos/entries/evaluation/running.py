"""Evaluating every backend that could be used, and what to say of it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mnemos.entries import choosing
from mnemos.entries.contract import MemoryBackend
from mnemos.entries.evaluation import scratch
from mnemos.entries.evaluation.model import DISABLED, BackendEvaluation, mean_latency, points
from mnemos.entries.evaluation.trial import evaluate_backend
from mnemos.entries.evaluation.workload import Workload, WorkloadResult, people
from mnemos.entries.null import NullBackend
from mnemos.errors import MnemosError
from mnemos.settings import Settings

Progress = Callable[[float], None]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A backend that can be made, and made again."""

    name: str
    make: Callable[[], MemoryBackend]


def evaluated(
    settings: Settings,
    local: Callable[[Path], MemoryBackend],
    progress: Progress | None = None,
    *,
    workload: bool = True,
) -> dict[str, Any]:
    """The report on null, local (in a throw-away database) and Honcho, if it is set up, and a plug-in, if one
    is chosen. Nothing that is stored stays; what a killed evaluation left is deleted too."""
    move = progress or _nobody_watches
    with scratch.folder() as made:
        candidates, skipped = _candidates(settings, lambda: local(made / "home"))
        server = settings.honcho.base_url
        scratch.clear_former(server, lambda: choosing.honcho(settings))
        users = people(os.urandom(4).hex())
        scratch.note(made, server, users)
        evaluations: list[BackendEvaluation] = []
        workloads: dict[str, WorkloadResult] = {}
        for number, candidate in enumerate(candidates):
            share = _share(move, number, len(candidates))
            evaluation = _tried(candidate, users[0])
            evaluations.append(evaluation)
            if workload and evaluation.store_success:
                workloads[evaluation.backend_name] = Workload(candidate.make, users, share).run()
            share(1.0)
    return report(evaluations, workloads, skipped)


def report(
    evaluations: Sequence[BackendEvaluation],
    workloads: dict[str, WorkloadResult] | None = None,
    skipped: dict[str, str] | None = None,
) -> dict[str, Any]:
    """Evaluations, the best first, with what to make of them."""
    ranked = sorted(
        evaluations, key=lambda one: (one.recommendation == DISABLED, -one.score, mean_latency(one))
    )
    return {
        "timestamp": time.time(),
        "backends_evaluated": len(ranked),
        "evaluations": [asdict(one) | {"points": points(one)} for one in ranked],
        "recommendation": recommended(ranked),
        "workloads": {name: one.as_dict() for name, one in (workloads or {}).items()},
        "skipped": skipped or {},
    }


def recommended(ranked: Sequence[BackendEvaluation]) -> str:
    """What to use, and what it costs: the best local against the best cloud backend."""
    useful = [one for one in ranked if one.recommendation != DISABLED and one.store_success]
    local = next((one for one in useful if not one.is_cloud), None)
    cloud = next((one for one in useful if one.is_cloud), None)
    if local is None and cloud is None:
        return "No backend keeps anything here. MNEMOS_BACKEND=local needs nothing else."
    if cloud is None and local is not None:
        return f"Use {local.backend_name} ({local.score} points): everything stays on this machine."
    if local is None and cloud is not None:
        return (
            f"Use {cloud.backend_name} ({cloud.score} points) only if data may leave this machine: "
            f"it goes to {cloud.data_location}."
        )
    assert local is not None and cloud is not None  # noqa: S101, PT018
    return _compared(local, cloud)


def _compared(local: BackendEvaluation, cloud: BackendEvaluation) -> str:
    times = f"{mean_latency(local):.1f} ms against {mean_latency(cloud):.1f} ms a call"
    warning = f"with {cloud.backend_name} data leaves this machine, for {cloud.data_location}"
    if local.score >= cloud.score:
        return (
            f"Use {local.backend_name}: {local.score} points against {cloud.score} of {cloud.backend_name}, "
            f"{times}. Beware: {warning}."
        )
    return (
        f"{cloud.backend_name} has {cloud.score} points against {local.score} of {local.backend_name} "
        f"({times}). Beware: {warning}; {local.backend_name} keeps it here."
    )


def _candidates(
    settings: Settings, local: Callable[[], MemoryBackend]
) -> tuple[list[Candidate], dict[str, str]]:
    candidates = [Candidate(choosing.NULL, NullBackend), Candidate(choosing.LOCAL, local)]
    skipped: dict[str, str] = {}
    honcho = choosing.honcho(settings)
    problem: str = getattr(honcho, "problem", "")
    asked_for = bool(settings.honcho.api_key) or settings.backend == choosing.HONCHO
    if asked_for or not problem:
        candidates.append(Candidate(choosing.HONCHO, lambda: choosing.honcho(settings)))
    else:
        skipped[choosing.HONCHO] = problem
    if settings.backend and settings.backend not in choosing.BUILT_IN:
        candidates.append(Candidate(settings.backend, lambda: choosing.make(settings, local)))
    return candidates, skipped


def _tried(candidate: Candidate, user: str) -> BackendEvaluation:
    try:
        backend = candidate.make()
    except MnemosError as exc:
        return BackendEvaluation(candidate.name, is_cloud=True, notes=[f"Not available: {exc}"])
    try:
        return evaluate_backend(backend, user)
    finally:
        backend.close()


def _share(move: Progress, number: int, count: int) -> Progress:
    return lambda done: move((number + done) / count)


def _nobody_watches(_: float) -> None:
    """For callers who do not watch."""
