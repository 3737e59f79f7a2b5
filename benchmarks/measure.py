"""Clocks and the few statistics that every benchmark reports.

Only the standard library: this module also runs inside a peer's environment, so that all sides are
timed by the same calls.
"""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Run:
    """The times of a series of calls, in nanoseconds."""

    started: int
    ended: int
    latencies: list[int]
    thread_cpu: int
    process_cpu: int


def time_calls(call: Callable[..., object], arguments: Iterable[tuple[Any, ...]]) -> Run:
    """Call once per argument tuple; wall time of each call, CPU time of the series.

    CPU time is read around the whole series because reading the thread clock is a system call
    that costs about as much as a tenth of the fastest append.
    """
    latencies: list[int] = []
    note = latencies.append
    clock = time.perf_counter_ns
    gc.collect()
    started = time.monotonic_ns()
    process_before, thread_before = time.process_time_ns(), time.thread_time_ns()
    for values in arguments:
        before = clock()
        call(*values)
        note(clock() - before)
    thread_after, process_after = time.thread_time_ns(), time.process_time_ns()
    return Run(
        started=started,
        ended=time.monotonic_ns(),
        latencies=latencies,
        thread_cpu=thread_after - thread_before,
        process_cpu=process_after - process_before,
    )


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least ``share`` of the values do not exceed (nearest rank)."""
    if not values:
        raise ValueError("percentile of no values: the series was empty")
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def median(values: Sequence[float]) -> float:
    if not values:
        raise ValueError("median of no values: the series was empty")
    ordered = sorted(values)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2


def summary(values: Sequence[float]) -> dict[str, float]:
    """Median and spread of one figure over the repeats of a run."""
    return {"median": median(values), "low": min(values), "high": max(values)}


def growth_exponent(small: tuple[int, float], large: tuple[int, float]) -> float:
    """The ``e`` of ``time ~ size ** e`` between two (size, time) points; 1.0 is linear."""
    return math.log(large[1] / small[1]) / math.log(large[0] / small[0])
