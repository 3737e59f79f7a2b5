"""The operation that compares backends."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from msgspec import Meta

from mnemos.errors import InvalidInput
from mnemos.operations.base import LongOperation, Result, Traits
from mnemos.operations.border import file_named
from mnemos.progress import Progress

if TYPE_CHECKING:
    from mnemos.memory import Memory


class Evaluate(LongOperation, frozen=True, kw_only=True):
    """Compare the backends that could keep what is known about users: null, local, and Honcho if it is set
    up. A few hundred entries of several people are stored, changed, asked for in other words and deleted
    again; what you have is not touched."""

    traits: ClassVar[Traits] = Traits(
        title="Compare backends", idempotent=True, begins=True, local=True, example=("--html", "report.html")
    )

    html: (
        Annotated[str, Meta(description="Also write the report as a page with charts to this file")] | None
    ) = None
    quick: Annotated[bool, Meta(description="Only the trial that is scored, without the workload")] = False

    def work(self, memory: Memory, progress: Progress) -> Evaluated:
        path = None if self.html is None else _writable(self.html)
        report = memory.evaluate(progress=progress, workload=not self.quick)
        if path is not None:
            _write(path, report)
        return Evaluated(**report, html=None if path is None else str(path))


class Evaluated(Result, frozen=True, kw_only=True):
    timestamp: float
    backends_evaluated: int
    evaluations: list[dict[str, Any]]
    recommendation: str
    workloads: dict[str, dict[str, Any]]
    skipped: dict[str, str]
    html: str | None = None

    def as_text(self) -> str:
        lines = [
            f"{one['score']:3} {one['recommendation']:<15} {one['backend_name']}"
            + (f" ({'; '.join(one['notes'])})" if one["notes"] else "")
            for one in self.evaluations
        ]
        lines += [f"{name}: {told(one)}" for name, one in self.workloads.items()]
        lines += [f"not evaluated: {name}: {why}" for name, why in self.skipped.items()]
        lines += [self.recommendation]
        return "\n".join([*lines, f"The page is {self.html}"] if self.html else lines)


def told(one: dict[str, Any]) -> str:
    """A workload in one line."""
    times = ", ".join(
        f"{call} {milliseconds(one['latencies'][call]['p50'])}/{milliseconds(one['latencies'][call]['p95'])}"
        for call in ("store", "retrieve", "query")
        if call in one["latencies"]
    )
    promises = [
        name if one[kept] else f"NOT {name}"
        for name, kept in (("exact", "exact"), ("isolated", "isolated"), ("persistent", "persistent"))
    ]
    found = ""
    if one["recall_words"]:
        own, other = one["recall_words"]["5"], one["recall_paraphrased"]["5"]
        found = f"; of 5 first, {own:.0%} by own words, {other:.0%} by others"
    problems = f"; {'; '.join(one['problems'])}" if one["problems"] else ""
    return f"{one['entries']} entries, ms p50/p95: {times}{found}; {', '.join(promises)}{problems}"


def milliseconds(value: float) -> str:
    return f"{value:.0f}" if value >= 10 else f"{value:.2f}"


def _writable(name: str) -> Path:
    path = file_named(name)
    if path.is_dir() or not path.parent.is_dir():
        raise InvalidInput(f"html is {name!r}; use the name of a file in a folder that is there")
    return path


def _write(path: Path, report: dict[str, Any]) -> None:
    # Only for those who want a page.
    from mnemos.entries.evaluation_page import render_page

    try:
        path.write_text(render_page(report), encoding="utf-8")
    except OSError as exc:
        raise InvalidInput(f"html is {str(path)!r}: {exc.strerror}; name another file") from exc
