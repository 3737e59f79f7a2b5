"""Measure the cost of a call through ``mnemos.aopen()``, and how long the event loop is held up.

Direct calls and awaited ones take turns, so that both meet the same machine. A ticker that wakes up every
millisecond measures how late it is while one recall after the other runs, once called directly in the event
loop and once awaited; idle, it measures the machine. ``own`` is the part of a delay during which this process
used the CPU: on a busy machine the rest is the time of other programs.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from itertools import cycle
from typing import Any

import mnemos
from benchmarks.corpus import Corpus
from benchmarks.measure import median, percentile
from benchmarks.peers import working_folder
from benchmarks.report import Options, Result, Table
from mnemos.memory.async_memory import AsyncMemory

MESSAGES, QUICK_MESSAGES = 10_000, 1_000
APPENDS, QUICK_APPENDS = 400, 100
RECALLS, QUICK_RECALLS = 40, 8
TICK = 0.001
SEED = 7


def run(options: Options) -> Result:
    size = options.sizes[0] if options.sizes else QUICK_MESSAGES if options.quick else MESSAGES
    with working_folder() as folder, mnemos.open(folder / "home") as memory:
        questions = _fill(memory, size)
        figures = asyncio.run(_measure(AsyncMemory(memory), questions, options))
    return Result("async", _tables(size, figures), {"messages": size, **figures})


def _fill(memory: mnemos.Memory, size: int) -> list[str]:
    """Store a history with its vectors; return questions about it."""
    questions: list[str] = []
    for session in Corpus(size, SEED).sessions():
        memory.sessions.create_session(session.id, session.source, started_at=session.started_at)
        memory.sessions.append_messages(session.id, session.messages)
        questions += [" ".join(str(one["content"]).split()[:8]) for one in session.messages[:1]]
    memory.embedding.catch_up()
    memory.sessions.create_session("live", "bench")
    return questions


async def _measure(memory: AsyncMemory, questions: list[str], options: Options) -> dict[str, Any]:
    appends = QUICK_APPENDS if options.quick else APPENDS
    recalls = QUICK_RECALLS if options.quick else RECALLS
    asked = cycle(questions)
    texts = (f"message number {n}" for n in range(10**9))
    await memory.recall(next(asked))
    loop = {
        "idle": await _hold(lambda: asyncio.sleep(0.02), recalls * options.repeat),
        "direct": await _hold(lambda: _directly(memory, next(asked)), recalls * options.repeat),
        "awaited": await _hold(lambda: memory.recall(next(asked)), recalls * options.repeat),
    }
    return {
        "append": await _compare(
            lambda: memory.sync.sessions.append_message("live", "user", next(texts)),
            lambda: memory.sessions.append_message("live", "user", next(texts)),
            appends * options.repeat,
        ),
        "recall": await _compare(
            lambda: memory.sync.recall(next(asked)),
            lambda: memory.recall(next(asked)),
            recalls * options.repeat,
        ),
        "late": loop,
    }


async def _directly(memory: AsyncMemory, question: str) -> None:
    memory.sync.recall(question)


async def _compare(
    direct: Callable[[], object], awaited: Callable[[], Awaitable[object]], times: int
) -> dict[str, float]:
    """Return the median milliseconds of both, taken in turn, and of the difference within a turn."""
    direct_ms, awaited_ms = [], []
    for _ in range(times):
        start = time.perf_counter()
        direct()
        middle = time.perf_counter()
        await awaited()
        direct_ms.append((middle - start) * 1e3)
        awaited_ms.append((time.perf_counter() - middle) * 1e3)
    over = [late - early for early, late in zip(direct_ms, awaited_ms, strict=True)]
    both = median(direct_ms), median(awaited_ms)
    return {"direct_ms": both[0], "awaited_ms": both[1], "over_ms": median(over), "ratio": both[1] / both[0]}


async def _hold(work: Callable[[], Awaitable[object]], times: int) -> dict[str, float]:
    """Return how late the ticks of the event loop are while calls run one after the other."""
    late: list[tuple[float, float]] = []
    ticker = asyncio.ensure_future(_tick(late))
    await asyncio.sleep(0.01)
    late.clear()
    for _ in range(times):
        await work()
        # A direct call that never awaits would keep the ticker from seeing the end of the call.
        await asyncio.sleep(0)
        await asyncio.sleep(TICK * 2)
    ticker.cancel()
    delays, own = [delay for delay, _ in late], [min(both) for both in late]
    return {
        "median_ms": median(delays),
        "p99_ms": percentile(delays, 0.99),
        "longest_ms": max(delays),
        "own_p99_ms": percentile(own, 0.99),
        "own_longest_ms": max(own),
    }


async def _tick(late: list[tuple[float, float]]) -> None:
    while True:
        used, due = time.process_time(), time.perf_counter() + TICK
        await asyncio.sleep(TICK)
        late.append(((time.perf_counter() - due) * 1e3, (time.process_time() - used) * 1e3))


def _tables(size: int, figures: dict[str, Any]) -> list[Table]:
    calls = [
        [name, *(f"{one[key]:.3f}" for key in ("direct_ms", "awaited_ms", "over_ms")), f"{one['ratio']:.2f}"]
        for name, one in ((name, figures[name]) for name in ("append", "recall"))
    ]
    longest = figures["late"]["direct"]["own_longest_ms"]
    late = [
        [name, *(f"{one[key]:.2f}" for key in one), f"{one['own_longest_ms'] / longest:.2f}"]
        for name, one in figures["late"].items()
    ]
    return [
        Table(f"A call, {size:,} messages, ms", ("", "direct", "awaited", "over", "ratio"), calls),
        Table(
            "Lateness of the event loop while recall runs, ms",
            ("", "median", "p99", "longest", "own p99", "own longest", "of direct"),
            late,
        ),
    ]
