"""The cost of a turn that drives the memory: recall for the message, and the hooks around it.

A store of each size is filled from the made-up corpus, vectors included. Then turns of a new session are
driven through the manager as a host does, with questions of words that some message has. ``prefetch`` is wall
time, what the user waits; ``prefetched`` the same when a pause lay between the beginning of the turn and the
question; ``hooks`` is the caller's own time for everything else of a turn.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mnemos
from benchmarks.corpus import FUNCTION_WORDS, Corpus, words_of
from benchmarks.measure import median, percentile
from benchmarks.peers import working_folder
from benchmarks.report import Options, Result, Table
from mnemos.integrations.providers import MemoryManager
from mnemos.text.tokens import count_tokens

TURNS = 300
QUICK_TURNS = 30
SEED = 11
WARM_UP = 5
# Longer than any recall takes.
PAUSE = 0.1


def run(options: Options) -> Result:
    figures: dict[str, Any] = {}
    rows: list[list[str]] = []
    for size in options.sizes:
        with working_folder() as folder:
            figures[str(size)] = measured = _measure(size, folder, QUICK_TURNS if options.quick else TURNS)
        times = (f"{one['median']:.2f} ({one['p99']:.2f})" for one in measured["ms"].values())
        tokens = f"{measured['tokens']['median']:.0f} ({measured['tokens']['high']:.0f})"
        rows.append([f"{size:,}", *times, tokens, f"{measured['answered']:.0%}"])
    headings = [
        "messages",
        *(f"{name} ms" for name in ("prefetch", "prefetched", "hooks")),
        "tokens",
        "in time",
    ]
    notes = [
        "Median, p99 in brackets (of tokens, the most). In time: recalled within 50 ms when asked at once."
    ]
    return Result("providers", [Table("A turn", headings, rows, notes)], figures)


def _measure(size: int, home: Path, turns: int) -> dict[str, Any]:
    questions = _fill(home, size, 2 * turns + WARM_UP)
    manager = MemoryManager()
    manager.initialize_all("now", home=str(home), platform="cli")
    taken: dict[str, list[float]] = {"prefetch": [], "prefetched": [], "hooks": []}
    tokens: list[int] = []
    for number, question in enumerate(questions):
        hooks, recalled, text = _turn(manager, number, question, pause=PAUSE if number % 2 else 0.0)
        if number >= WARM_UP:
            taken["prefetched" if number % 2 else "prefetch"].append(recalled)
            taken["hooks"].append(hooks)
            if not number % 2:
                tokens.append(count_tokens(text) if text else 0)
    manager.shutdown_all()
    return {
        "ms": {name: {"median": median(ms), "p99": percentile(ms, 0.99)} for name, ms in taken.items()},
        "tokens": {"median": median(tokens), "high": max(tokens)},
        "answered": sum(map(bool, tokens)) / len(tokens),
    }


def _turn(manager: MemoryManager, number: int, question: str, *, pause: float) -> tuple[float, float, str]:
    """The caller's milliseconds in the hooks, those until recall answered, and what it said."""
    hooks = _ms(lambda: manager.on_turn_start(number, question))
    time.sleep(pause)
    text = ""

    def prefetch() -> None:
        nonlocal text
        text = manager.prefetch_all(question)

    recalled = _ms(prefetch)
    hooks += _ms(manager.build_system_prompt)
    hooks += _ms(lambda: manager.sync_all(question, "An answer of some words."))
    hooks += _ms(lambda: manager.queue_prefetch_all(question))
    # The next message does not come before the answer is stored and indexed: a model takes seconds to answer.
    manager.flush_pending()
    builtin = manager.get_provider("builtin")
    builtin.memory.storage.catch_up()
    builtin.memory.embedding.catch_up()
    return hooks, recalled, text


def _ms(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return (time.perf_counter() - started) * 1000


def _fill(home: Path, size: int, count: int) -> list[str]:
    """Store a corpus, with vectors; questions of three words of some of its messages."""
    picked = random.Random(SEED)
    questions: list[str] = []
    every = max(1, size // (2 * count))
    with mnemos.open(home) as memory:
        index = 0
        for session in Corpus(size).sessions():
            memory.sessions.create_session(session.id, session.source, started_at=session.started_at)
            memory.sessions.append_messages(session.id, session.messages)
            for message in session.messages:
                index += 1
                words = [word for word in words_of(message["content"]) if word not in FUNCTION_WORDS]
                if index % every == 0 and len(words) >= 3:
                    questions.append(f"What about {' '.join(picked.sample(words, 3))}?")
        memory.embedding.catch_up()
    picked.shuffle(questions)
    return questions[:count]
