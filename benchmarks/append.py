"""Speed of storing messages: one per call, fifty per call, and four processes at once.

Ratios say how many times cheaper a store is than the one named, from runs of the same round, whose
order turns from round to round. The limit is raw apsw storing the same row and counters. CPU of the
``thread`` is what the caller waits for; CPU of the ``process`` adds all that happens behind its
back and at close, which is where Mnemos builds its search index, so its fair measure is
``raw+fts``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.measure import median, percentile, summary
from benchmarks.peers import (
    HERMES,
    MNEMOS,
    RAW,
    RAW_FTS,
    CallError,
    Child,
    Contender,
    Field,
    PeerError,
    assemble,
    children,
    working_folder,
)
from benchmarks.report import Options, Result, Table, ratio

WRITERS = 4
BATCH = 50
# Long enough that Mnemos no longer lets the burst pass, and builds its index beside.
LONG = 60_000


@dataclass(frozen=True, slots=True)
class Case:
    contender: Contender
    durability: str

    @property
    def label(self) -> str:
        return f"{self.contender.name} {self.durability}"


CASES = (
    Case(MNEMOS, "normal"),
    Case(RAW, "normal"),
    Case(RAW_FTS, "normal"),
    Case(MNEMOS, "full"),
    Case(RAW, "full"),
    # hermes commits with an fsync each time and offers nothing else.
    Case(HERMES, "full"),
)
LONG_CASES = (Case(MNEMOS, "normal"), Case(RAW, "normal"), Case(RAW_FTS, "normal"))
CONCURRENT_CASES = (Case(MNEMOS, "normal"), Case(RAW, "normal"), Case(HERMES, "full"))

# The measurement of one round of one case, in microseconds per message unless it says otherwise.
Round = dict[str, float]


def run(options: Options) -> Result:
    wanted = (MNEMOS, RAW, RAW_FTS, *((HERMES,) if options.peers else ()))
    field = assemble(wanted)
    cases = [case for case in CASES if case.contender in field]
    missing = dict(field.missing)
    single = _measure(cases, options, missing, batch=1)
    batched = _measure(cases, options, missing, batch=BATCH)
    lasting = _measure(
        [case for case in LONG_CASES if case.contender in field], options, missing, batch=1, count=LONG
    )
    together = _measure_together(field, options)
    return Result(
        name="append",
        tables=[
            _table("One message a call", single, "p50 and p99 are per call."),
            _table(f"{BATCH} messages a call", batched, f"p50 and p99 are per call of {BATCH}."),
            _table(f"{LONG:,} messages without a pause", lasting, "p50 and p99 are per call."),
            _concurrent_table(together),
        ],
        figures={
            "single": _figures(single),
            f"batch_{BATCH}": _figures(batched),
            "long": _figures(lasting),
            f"processes_{WRITERS}": together,
        },
        versions=field.versions,
        missing=missing,
    )


def _measure(
    cases: Sequence[Case],
    options: Options,
    missing: dict[str, str],
    *,
    batch: int,
    count: int | None = None,
) -> dict[Case, list[Round]]:
    """Every case once per round, in turn, each on a new file; one that fails is left out."""
    rounds: dict[Case, list[Round]] = {case: [] for case in cases}
    with working_folder() as folder, children([case.contender for case in cases], folder) as team:
        seats = list(zip(cases, team, strict=True))
        for number in range(options.repeat):
            shift = number % len(seats) if seats else 0
            for case, child in seats[shift:] + seats[:shift]:
                if case not in rounds:
                    continue
                path = folder / f"{cases.index(case)}-{batch}-{number}.db"
                several = _count(case, options) if count is None or options.quick else count
                try:
                    rounds[case].append(_one_round(case, child, path, several, batch))
                except (CallError, PeerError) as error:
                    missing[f"{case.label}, {batch} a call"] = str(error)
                    del rounds[case]
    return rounds


def _one_round(case: Case, child: Child, path: Path, count: int, batch: int) -> Round:
    child.ask(
        "prepare_append",
        path=str(path),
        durability=case.durability,
        seed=7,
        count=count,
        batch=batch,
        shared=False,
    )
    taken = child.ask("append")
    closed = child.ask("finish_append")
    calls = [latency / 1_000 for latency in taken["latencies"]]
    wall = sum(calls)
    return {
        "messages": count,
        "rate": count / wall * 1e6,
        "wall": wall / count,
        "p50": percentile(calls, 0.50),
        "p99": percentile(calls, 0.99),
        "longest": max(calls),
        "thread_cpu": taken["thread_cpu"] / 1_000 / count,
        "process_cpu": (taken["process_cpu"] + closed["close_cpu"]) / 1_000 / count,
        "close": closed["close_wall"] / 1_000,
    }


def _count(case: Case, options: Options) -> int:
    """Fewer where each message costs an fsync or more, so that a round takes seconds."""
    slow = case.durability == "full"
    if options.quick:
        return 500 if slow else 2_000
    return 3_000 if slow else 10_000


def _compare(
    rounds: dict[Case, list[Round]], case: Case, other: Case, figure: str
) -> dict[str, float] | None:
    """Return the ratio of the other case's cost to this one's, over the rounds."""
    if case not in rounds or other not in rounds:
        return None
    pairs = zip(rounds[case], rounds[other], strict=True)
    return summary([theirs[figure] / ours[figure] for ours, theirs in pairs])


def _ratios(rounds: dict[Case, list[Round]], case: Case) -> dict[str, dict[str, float] | None]:
    raw = Case(RAW, case.durability)
    indexed = Case(RAW_FTS, "normal")
    hermes = Case(HERMES, "full")
    compared = {
        "raw_thread_cpu": _compare(rounds, case, raw, "thread_cpu"),
        "raw_wall": _compare(rounds, case, raw, "wall"),
        "raw_fts_process_cpu": _compare(rounds, case, indexed, "process_cpu"),
        "hermes_thread_cpu": _compare(rounds, case, hermes, "thread_cpu"),
        "hermes_process_cpu": _compare(rounds, case, hermes, "process_cpu"),
        "hermes_wall": _compare(rounds, case, hermes, "wall"),
    }
    return {name: value for name, value in compared.items() if value is not None}


def _figures(rounds: dict[Case, list[Round]]) -> dict[str, Any]:
    return {
        case.label: {
            **{name: summary([one[name] for one in taken]) for name in taken[0]},
            "times_cheaper_than": _ratios(rounds, case),
        }
        for case, taken in rounds.items()
    }


def _table(title: str, rounds: dict[Case, list[Round]], note: str) -> Table:
    rows = []
    for case, taken in rounds.items():
        middle = {name: median([one[name] for one in taken]) for name in taken[0]}
        compared = _ratios(rounds, case)
        rows.append(
            [
                case.label,
                f"{middle['rate']:,.0f}",
                f"{middle['p50']:.0f}",
                f"{middle['p99']:.0f}",
                f"{max(one['longest'] for one in taken) / 1_000:.1f}",
                f"{middle['thread_cpu']:.1f}",
                f"{middle['process_cpu']:.1f}",
                ratio(compared.get("raw_thread_cpu")),
                ratio(compared.get("raw_wall")),
                ratio(compared.get("hermes_thread_cpu")),
                ratio(compared.get("hermes_wall")),
            ]
        )
    headings = (
        "store", "messages/s", "p50 µs", "p99 µs", "longest ms", "CPU µs thread",
        "CPU µs process", "of raw, CPU", "of raw, wall", "x hermes, CPU", "x hermes, wall",
    )  # fmt: skip
    return Table(title, headings, rows, [note, "Ratios: median [lowest-highest] of the rounds."])


def _measure_together(field: Field, options: Options) -> dict[str, Any]:
    cases = [case for case in CONCURRENT_CASES if case.contender in field]
    count = 250 if options.quick else 1_000
    rounds: dict[str, list[dict[str, Any]]] = {case.label: [] for case in cases}
    with working_folder() as folder:
        for number in range(options.repeat):
            shift = number % len(cases) if cases else 0
            for case in cases[shift:] + cases[:shift]:
                path = folder / f"{cases.index(case)}-{number}.db"
                rounds[case.label].append(_write_together(case, path, count))
    return {label: _together_figures(taken) for label, taken in rounds.items()}


def _write_together(case: Case, path: Path, count: int) -> dict[str, Any]:
    """Four processes start as one; afterwards every message and counter is checked."""
    with children([case.contender] * WRITERS, path.parent) as team:
        team[0].ask("create_shared", path=str(path), durability=case.durability)
        for seed, child in enumerate(team, start=100):
            child.ask(
                "prepare_append",
                path=str(path),
                durability=case.durability,
                seed=seed,
                count=count,
                batch=1,
                shared=True,
            )
        for child in team:
            child.send("append")
        replies = [_reply(child) for child in team]
        runs = [reply for reply in replies if reply is not None]
        counts: dict[str, list[int]] = {}
        for child in team:
            counts |= child.ask("counts")["counts"]
        for child in team:
            child.ask("finish_append")
    calls = [latency for taken in runs for latency in taken["latencies"]]
    if not calls:
        return {"failed_writers": WRITERS, "lost": WRITERS * count, "counters_exact": False}
    span = max(taken["ended"] for taken in runs) - min(taken["started"] for taken in runs)
    return {
        "failed_writers": WRITERS - len(runs),
        "lost": WRITERS * count - sum(there for _, there in counts.values()),
        "counters_exact": all(counter == there for counter, there in counts.values()),
        "rate": len(calls) / span * 1e9,
        "p50": percentile(calls, 0.50) / 1_000,
        "p99": percentile(calls, 0.99) / 1_000,
        "longest": max(calls) / 1_000,
    }


def _reply(child: Child) -> dict[str, Any] | None:
    """None for a writer that gave up, which is a finding and not the end of the benchmark."""
    try:
        return child.receive()
    except (CallError, PeerError):
        return None


def _together_figures(taken: list[dict[str, Any]]) -> dict[str, Any]:
    timed = [one for one in taken if "rate" in one]
    figures: dict[str, Any] = {
        "lost": sum(one["lost"] for one in taken),
        "failed_writers": sum(one["failed_writers"] for one in taken),
        "counters_exact": all(one["counters_exact"] for one in taken),
    }
    if timed:
        for name in ("rate", "p50", "p99", "longest"):
            figures[name] = summary([one[name] for one in timed])
    return figures


def _concurrent_table(together: dict[str, Any]) -> Table:
    rows = []
    for label, figures in together.items():
        if "rate" not in figures:
            rows.append([label, "every writer failed", "-", "-", "-", "-", "-", "-"])
            continue
        rate = figures["rate"]
        rows.append(
            [
                label,
                f"{rate['median']:,.0f}",
                f"{rate['low']:,.0f}-{rate['high']:,.0f}",
                f"{figures['p50']['median']:.0f}",
                f"{figures['p99']['median']:.0f}",
                f"{figures['longest']['high'] / 1_000:.0f}",
                str(figures["lost"]),
                "yes" if figures["counters_exact"] else "NO",
            ]
        )
    headings = (
        "store", "messages/s", "spread", "p50 µs", "p99 µs", "longest ms", "lost", "counters exact",
    )  # fmt: skip
    note = "One message in ten goes to a session that all processes share."
    return Table(f"{WRITERS} processes at once, one message a call", headings, rows, [note])
