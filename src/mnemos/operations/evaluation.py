"""The operation that compares backends for entries."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from msgspec import Meta

from mnemos.errors import InvalidInput
from mnemos.operations.arguments import path_of
from mnemos.operations.base import Info, LongOperation, Result, Traits, fill
from mnemos.progress import Progress, part_of
from mnemos.text.stored_text import join_items

if TYPE_CHECKING:
    from mnemos.memory import Memory


class Evaluate(LongOperation, frozen=True, kw_only=True):
    """Compare the backends that can store entries: null, local, Honcho if it is set up, and installed
    plug-ins. Stores, changes, queries and deletes a few hundred test entries; your own entries are not
    touched."""

    traits: ClassVar[Traits] = Traits(
        title="Compare backends", idempotent=True, begins=True, local=True, example="--html report.html"
    )

    html: Annotated[str, Meta(description="Also write the report as an HTML page to this file")] | None = None
    quick: Annotated[bool, Meta(description="Run only the scored test, without the workload")] = False

    def work(self, memory: Memory, progress: Progress) -> Evaluated:
        path = None if self.html is None else _check_path(self.html)
        report = memory.evaluate(
            progress=part_of(progress, 0, 1, "Measuring backends"), workload=not self.quick
        )
        if path is not None:
            _write(path, report)
        return fill(Evaluated, report | {"html": None if path is None else str(path)})


class EvaluationInfo(Info, frozen=True, kw_only=True):
    """Score of a backend in up to 100 points."""

    backend_name: str
    is_cloud: bool
    available: bool
    store_latency_ms: float
    retrieve_latency_ms: float
    query_latency_ms: float
    store_success: bool
    retrieve_success: bool
    query_returns_results: bool
    query_result_count: int
    data_location: str
    requires_api_key: bool
    score: int
    recommendation: str
    notes: list[str]
    points: dict[str, int]


class LatencyInfo(Info, frozen=True, kw_only=True):
    """Milliseconds per call."""

    calls: int
    p50: float
    p95: float


class WorkloadInfo(Info, frozen=True, kw_only=True):
    """Results of a workload; the values of ``recall_*`` are shares found, by depth."""

    entries: int
    users: int
    latencies: dict[str, LatencyInfo]
    recall_words: dict[str, float]
    recall_paraphrased: dict[str, float]
    exact: bool
    isolated: bool
    persistent: bool
    cleared: bool
    problems: list[str]

    def render(self) -> str:
        """Render the workload on one line."""
        times = ", ".join(
            f"{call} {render_ms(self.latencies[call].p50)}/{render_ms(self.latencies[call].p95)}"
            for call in ("store", "retrieve", "query")
            if call in self.latencies
        )
        checks = {"exact": self.exact, "isolated": self.isolated, "persistent": self.persistent}
        promises = ", ".join(name if is_kept else f"NOT {name}" for name, is_kept in checks.items())
        found = ""
        if self.recall_words:
            own, other = self.recall_words["5"], self.recall_paraphrased["5"]
            found = f"; found in the first 5: {own:.0%} in the same words, {other:.0%} in other words"
        problems = f"; {'; '.join(self.problems)}" if self.problems else ""
        return f"{self.entries} entries, ms p50/p95: {times}{found}; {promises}{problems}"


class EvaluationReport(Info, frozen=True, kw_only=True):
    timestamp: float
    backends_evaluated: int
    evaluations: list[EvaluationInfo]
    recommendation: str
    workloads: dict[str, WorkloadInfo]
    skipped: dict[str, str]


class Evaluated(EvaluationReport, Result, frozen=True, kw_only=True):
    html: str | None = None

    def as_text(self) -> str:
        lines = [
            f"{one.score:3} {one.recommendation:<15} {one.backend_name}"
            + (f" ({'; '.join(one.notes)})" if one.notes else "")
            for one in self.evaluations
        ]
        lines += [f"{name}: {one.render()}" for name, one in self.workloads.items()]
        lines += [f"not evaluated: {name}: {why}" for name, why in self.skipped.items()]
        lines += [self.recommendation]
        return join_items([*lines, f"Wrote {self.html}"] if self.html else lines)


def render_ms(value: float) -> str:
    return f"{value:.0f}" if value >= 10 else f"{value:.2f}"


def _check_path(name: str) -> Path:
    path = path_of(name, "html")
    if path.is_dir() or not path.parent.is_dir():
        raise InvalidInput(f"html must name a file in an existing folder, not {name!r}.")
    return path


def _write(path: Path, report: dict[str, Any]) -> None:
    # Imported here, because it is only needed with --html.
    from mnemos.entries.evaluation_page import render_page

    try:
        path.write_text(render_page(report), encoding="utf-8")
    except OSError as exc:
        raise InvalidInput(f"html is {str(path)!r}: {exc.strerror}. Name another file.") from exc
