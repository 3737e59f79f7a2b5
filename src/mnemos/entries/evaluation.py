"""Evaluation of backends: the trial that scores one, and the report that compares all of them.

An evaluation always deletes the entries it stored. A killed process can't clean up, so the made-up users are
named after the temporary folder, and the next evaluation of the same server deletes their entries.
"""

from __future__ import annotations

import logging
import os
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path
from statistics import fmean
from types import FrameType
from typing import Any, TypeVar

from mnemos.entries import backend_choice
from mnemos.entries.backend import MemoryBackend, NullBackend
from mnemos.entries.evaluation_workload import Workload, WorkloadResult, name_users
from mnemos.entries.plug_in import guard
from mnemos.errors import MnemosError
from mnemos.files import is_running
from mnemos.progress import Progress, no_progress
from mnemos.settings import Settings

T = TypeVar("T")
log = logging.getLogger("mnemos.entries")

MAX_POINTS = {"availability": 20, "functionality": 40, "latency": 20, "privacy": 20}
DISABLED = "DISABLED"
UNAVAILABLE = "NOT AVAILABLE"
_STORE, _RETRIEVE, _QUERY = 15, 15, 10
_CLOUD = 5
# Points for a mean latency below this number of milliseconds.
_LATENCIES = ((10.0, 20), (50.0, 15), (200.0, 10), (float("inf"), 5))
_VERDICTS = ((80, "RECOMMENDED"), (60, "ACCEPTABLE"), (40, "MARGINAL"), (0, "NOT RECOMMENDED"))

_CALLS = 5
_VALUE = "A lantern beside the harbour, number {}: 100% ü 試験"
_QUESTION = "lantern harbour"

_PREFIX = "mnemos-evaluation-"


@dataclass(slots=True)
class BackendEvaluation:
    """The result of a trial, up to 100 points."""

    backend_name: str
    is_cloud: bool
    available: bool = False
    store_latency_ms: float = 0.0
    retrieve_latency_ms: float = 0.0
    query_latency_ms: float = 0.0
    store_success: bool = False
    """True if stored entries could be read back. Accepting them is not enough."""
    retrieve_success: bool = False
    query_returns_results: bool = False
    query_result_count: int = 0
    data_location: str = ""
    requires_api_key: bool = False
    score: int = 0
    recommendation: str = "NOT RECOMMENDED"
    notes: list[str] = field(default_factory=list)


def mean_latency(evaluation: BackendEvaluation) -> float:
    """Return the mean of storing, retrieving and querying in milliseconds."""
    return (evaluation.store_latency_ms + evaluation.retrieve_latency_ms + evaluation.query_latency_ms) / 3


def count_points(evaluation: BackendEvaluation) -> dict[str, int]:
    """Return the points by category. An unavailable backend earns none.

    A backend that keeps nothing earns none for latency and privacy. A trial that didn't finish earns none for
    latency.
    """
    if not evaluation.available:
        return dict.fromkeys(MAX_POINTS, 0)
    finished = evaluation.store_success and evaluation.query_latency_ms > 0
    privacy = _CLOUD if evaluation.is_cloud else MAX_POINTS["privacy"]
    return {
        "availability": MAX_POINTS["availability"],
        "functionality": evaluation.store_success * _STORE
        + evaluation.retrieve_success * _RETRIEVE
        + evaluation.query_returns_results * _QUERY,
        "latency": rate_latency(mean_latency(evaluation)) if finished else 0,
        "privacy": privacy if evaluation.store_success else 0,
    }


def rate_latency(milliseconds: float) -> int:
    return next(worth for below, worth in _LATENCIES if milliseconds < below)


def rate_score(score: int) -> str:
    return next(verdict for least, verdict in _VERDICTS if score >= least)


def evaluate_backend(backend: MemoryBackend, test_user: str = "eval_user") -> BackendEvaluation:
    """Try a backend and score it. All test entries are deleted, even after an interruption.

    The keys are made up for the trial, so existing entries of ``test_user`` are not touched.
    """
    guarded = guard(backend)
    try:
        evaluation = BackendEvaluation(
            backend_name=guarded.backend_name,
            is_cloud=guarded.is_cloud,
            available=guarded.is_available(),
            data_location=guarded.location,
            requires_api_key=guarded.needs_api_key,
        )
        problem = getattr(guarded, "problem", "") or "the backend gives no reason"
    except MnemosError as exc:
        return _report_unavailable(type(backend).__name__, exc)
    if evaluation.available:
        _try_backend(guarded, test_user, evaluation)
    else:
        evaluation.notes.append(f"Not available: {problem}")
    evaluation.score = sum(count_points(evaluation).values())
    evaluation.recommendation = rate_score(evaluation.score) if evaluation.available else UNAVAILABLE
    if evaluation.is_cloud:
        evaluation.notes.append("Data leaves this machine.")
    if isinstance(backend, NullBackend):
        evaluation.recommendation = DISABLED
        evaluation.notes.append("Keeps nothing: there is no memory of users.")
    return evaluation


def _report_unavailable(name: str, exc: MnemosError) -> BackendEvaluation:
    # The location of its data is unknown, so the worst is assumed.
    return BackendEvaluation(name, is_cloud=True, recommendation=UNAVAILABLE, notes=[f"Not available: {exc}"])


def _try_backend(backend: MemoryBackend, user: str, evaluation: BackendEvaluation) -> None:
    run = os.urandom(4).hex()
    keys = [f"evaluation_{run}_{number}" for number in range(_CALLS)]
    values = [_VALUE.format(number) for number in range(_CALLS)]

    def store(number: int) -> bool:
        return backend.store(user, keys[number], values[number], {"number": number})

    try:
        # The first calls connect and load, so they are not timed.
        backend.retrieve(user, keys[0])
        backend.query(user, _QUESTION)
        accepted, evaluation.store_latency_ms = _time_calls(store)
        found, evaluation.retrieve_latency_ms = _time_calls(lambda n: backend.retrieve(user, keys[n]))
        kept = [entry for entry in found if entry is not None]
        evaluation.store_success = all(accepted) and len(kept) == _CALLS
        if all(accepted) and not kept:
            evaluation.notes.append("Accepts entries and keeps none.")
        evaluation.retrieve_success = [(entry.value, entry.metadata) for entry in kept] == [
            (value, {"number": number}) for number, value in enumerate(values)
        ]
        answers, evaluation.query_latency_ms = _time_calls(lambda _: backend.query(user, _QUESTION))
        evaluation.query_result_count = len(answers[-1])
        evaluation.query_returns_results = any(entry.key in keys for entry in answers[-1])
    except MnemosError as exc:
        evaluation.notes.append(f"Failed: {exc}")
        # A backend that accepted no entry can't be used, even if it says it is available.
        evaluation.available = evaluation.store_latency_ms > 0
    finally:
        _delete_keys(backend, user, keys, evaluation)


def _time_calls(call: Callable[[int], T]) -> tuple[list[T], float]:
    """Make a few calls; return their results and their mean time in milliseconds."""
    answers, times = [], []
    for number in range(_CALLS):
        begun = time.perf_counter()
        answers.append(call(number))
        times.append(1000 * (time.perf_counter() - begun))
    return answers, fmean(times)


def _delete_keys(backend: MemoryBackend, user: str, keys: list[str], evaluation: BackendEvaluation) -> None:
    for key in keys:
        try:
            backend.delete(user, key)
        except MnemosError as exc:
            evaluation.notes.append(f"{key} of {user} could not be deleted: {exc}")
            return


# --- all backends -----------------------------------------------------------------------------


def compare_backends(
    settings: Settings,
    make_local: Callable[[Path], MemoryBackend],
    progress: Progress | None = None,
    *,
    workload: bool = True,
) -> dict[str, Any]:
    """Evaluate null, local (in a temporary database), Honcho if configured, and every installed plug-in.

    Also deletes entries that a killed evaluation left behind.
    """
    progress = progress or no_progress
    server = settings.honcho.base_url
    delete_leftovers(server, lambda: backend_choice.make_honcho(settings))
    with temporary_folder(server) as folder:
        candidates, skipped = _list_candidates(settings, lambda: make_local(folder / "home"))
        users = name_users(folder.name)
        evaluations: list[BackendEvaluation] = []
        workloads: dict[str, WorkloadResult] = {}
        for number, (name, make) in enumerate(candidates.items()):

            def advance(done: float, number: int = number) -> None:
                progress((number + done) / len(candidates))

            evaluation = _evaluate_candidate(name, make, users[0])
            evaluations.append(evaluation)
            if workload and evaluation.store_success:
                workloads[evaluation.backend_name] = Workload(make, users, advance).run()
            advance(1.0)
    return make_report(evaluations, workloads, skipped)


def make_report(
    evaluations: Sequence[BackendEvaluation],
    workloads: dict[str, WorkloadResult] | None = None,
    skipped: dict[str, str] | None = None,
) -> dict[str, Any]:
    """Make a report of the evaluations, best first, with a recommendation."""
    ranked = sorted(
        evaluations, key=lambda one: (one.recommendation == DISABLED, -one.score, mean_latency(one))
    )
    return {
        "timestamp": time.time(),
        "backends_evaluated": len(ranked),
        "evaluations": [asdict(one) | {"points": count_points(one)} for one in ranked],
        "recommendation": recommend(ranked),
        "workloads": {name: asdict(one) for name, one in (workloads or {}).items()},
        "skipped": skipped or {},
    }


def recommend(ranked: Sequence[BackendEvaluation]) -> str:
    """Compare the best local and cloud backends, and warn if data leaves the machine."""
    useful = [one for one in ranked if one.recommendation != DISABLED and one.store_success]
    local = next((one for one in useful if not one.is_cloud), None)
    cloud = next((one for one in useful if one.is_cloud), None)
    if cloud is None:
        if local is None:
            return "No backend keeps anything here. MNEMOS_BACKEND=local needs nothing else."
        return f"Use {local.backend_name} ({local.score} points): everything stays on this machine."
    if local is None:
        return (
            f"Use {cloud.backend_name} ({cloud.score} points) only if data may leave this machine: "
            f"it goes to {cloud.data_location}."
        )
    times = f"{mean_latency(local):.1f} ms against {mean_latency(cloud):.1f} ms per call"
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


def _list_candidates(
    settings: Settings, make_local: Callable[[], MemoryBackend]
) -> tuple[dict[str, Callable[[], MemoryBackend]], dict[str, str]]:
    """Return functions that make each backend, by name, and the reasons why others are skipped."""
    candidates: dict[str, Callable[[], MemoryBackend]] = {
        backend_choice.NULL: NullBackend,
        backend_choice.LOCAL: make_local,
    }
    skipped: dict[str, str] = {}
    problem: str = getattr(backend_choice.make_honcho(settings), "problem", "")
    is_wanted = bool(settings.honcho.api_key) or settings.backend == backend_choice.HONCHO
    if is_wanted or not problem:
        candidates[backend_choice.HONCHO] = lambda: backend_choice.make_honcho(settings)
    else:
        skipped[backend_choice.HONCHO] = problem
    chosen = [settings.backend] if settings.backend else []
    for name in (*backend_choice.list_plug_ins(), *chosen):
        if name not in backend_choice.BUILT_IN:
            candidates[name] = partial(backend_choice.load_plug_in, name)
    return candidates, skipped


def _evaluate_candidate(name: str, make: Callable[[], MemoryBackend], user: str) -> BackendEvaluation:
    try:
        backend = make()
    except MnemosError as exc:
        return _report_unavailable(name, exc)
    with closing(backend):
        return evaluate_backend(backend, user)


# --- cleaning up ------------------------------------------------------------------------------


@contextmanager
def temporary_folder(server: str) -> Iterator[Path]:
    """Make a folder that is removed at the end, even after a signal that can be caught."""
    folder = Path(tempfile.mkdtemp(prefix=f"{_name_folders(server)}{os.getpid()}-"))
    try:
        with _signals_as_interrupts():
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def delete_leftovers(server: str, make: Callable[[], MemoryBackend]) -> int:
    """Delete folders of killed evaluations and their entries on this server; count the entries."""
    deleted = 0
    for folder in Path(tempfile.gettempdir()).glob(f"{_name_folders(server)}*"):
        process = folder.name.removeprefix(_name_folders(server)).partition("-")[0]
        if not process.isdecimal() or is_running(int(process)) or not _is_ours(folder):
            continue
        try:
            with closing(make()) as backend:
                users = name_users(folder.name)
                deleted += sum(backend.delete(user, key) for user in users for key in backend.list_keys(user))
        except MnemosError as exc:
            log.warning("entries of a killed evaluation are still at %s: %s", server, exc)
            continue
        shutil.rmtree(folder, ignore_errors=True)
    return deleted


def _is_ours(folder: Path) -> bool:
    try:
        return folder.lstat().st_uid == os.getuid()
    except OSError:
        # Another evaluation has just deleted it.
        return False


def _name_folders(server: str) -> str:
    """Return the prefix of the names of a server's evaluation folders."""
    return f"{_PREFIX}{sha256(server.encode()).hexdigest()[:8]}-"


@contextmanager
def _signals_as_interrupts() -> Iterator[None]:
    """Turn signals that request an end into exceptions, so that ``finally`` cleans up."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        raise KeyboardInterrupt

    former = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
