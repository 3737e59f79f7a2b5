"""Speed of search, by kind of query and size of the store.

All stores hold the same corpus and answer the same queries, twenty results each, in turn. ``raw``
is FTS5 as it comes, ``ORDER BY bm25`` and the row: no snippet, no surroundings, no word forms.
``answered`` is the share of queries with a result; ``right`` the share that have one, if the corpus
does, and whose results all have the words. Wall and CPU are milliseconds per query; ``x`` says how
many times faster than the other store Mnemos was at the median, from the same round.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from benchmarks import queries
from benchmarks.corpus import Corpus, Message
from benchmarks.measure import growth_exponent, median, percentile, summary
from benchmarks.peers import (
    HERMES,
    MNEMOS,
    RAW,
    CallError,
    Child,
    Contender,
    PeerError,
    assemble,
    children,
    working_folder,
)
from benchmarks.report import Options, Result, Table, ratio

SEED = 1
# Its loading takes minutes per hundred thousand messages, and longer the more there are.
HERMES_LIMIT = 100_000
BUDGET_SECONDS = 20.0
# The product's promise for the size of its file.
TEXT_FACTOR = 1.6
BYTES_PER_MESSAGE = 300


@dataclass(slots=True)
class Taken:
    """The times of one store for one kind of query, a list of nanoseconds per round."""

    wall: list[list[int]] = field(default_factory=list)
    cpu: list[list[int]] = field(default_factory=list)
    answered: float = 0.0
    right: float = 0.0
    partial: float = 0.0

    def figures(self) -> dict[str, Any]:
        wall = [value / 1e6 for one in self.wall for value in one]
        cpu = [value / 1e6 for one in self.cpu for value in one]
        return {
            "samples": len(wall),
            "wall_p50": percentile(wall, 0.50),
            "wall_p99": percentile(wall, 0.99),
            "cpu_p50": percentile(cpu, 0.50),
            "cpu_p99": percentile(cpu, 0.99),
            "answered": self.answered,
            "right": self.right,
            "partial": self.partial,
        }


# Subjects of the questions to recall.
RECALLED = ("rare word", "mid word", "three words", "four common")

# One store's figures: how it was built, and by kind of query how it answered.
Stores = dict[str, dict[str, Any]]


def run(options: Options) -> Result:
    wanted = (MNEMOS, RAW, *((HERMES,) if options.peers else ()))
    team = assemble(wanted)
    missing = dict(team.missing)
    sizes: dict[int, Stores] = {}
    tables = []
    for size in options.sizes:
        able = [one for one in team.contenders if one is not HERMES or size <= HERMES_LIMIT]
        if HERMES in team and HERMES not in able:
            missing[f"hermes at {size:,}"] = (
                f"hermes: not loaded above {HERMES_LIMIT:,} messages, its loading is too slow"
            )
        sizes[size] = _measure(size, able, options, missing)
        tables += [
            _build_table(size, sizes[size]),
            _query_table(size, sizes[size]),
            _recall_table(size, sizes[size]),
        ]
    growth = _growth(sizes)
    if growth:
        tables.append(_growth_table(sizes, growth))
    return Result(
        name="search",
        tables=tables,
        figures={"sizes": {str(size): found for size, found in sizes.items()}, "growth": growth},
        versions=team.versions,
        missing=missing,
    )


def _measure(size: int, contenders: list[Contender], options: Options, missing: dict[str, str]) -> Stores:
    corpus = Corpus(size, SEED)
    _say(f"{size:,} messages: reading the corpus")
    drawn = queries.draw(queries.read(corpus), 20 if options.quick else 100, SEED)
    checker = Checker(corpus)
    stores: Stores = {}
    with working_folder() as folder, children(contenders, folder) as team:
        for child in list(team):
            _say(f"{size:,} messages: loading {child.name}")
            try:
                stores[child.name] = {"build": _build(child, folder, size)}
            except (CallError, PeerError) as error:
                missing[f"{child.name} at {size:,}"] = str(error)
                team.remove(child)
        for kind, asked in drawn.items():
            _say(f"{size:,} messages: {kind}")
            taken = _ask_in_turn(team, kind, asked, options.repeat, checker)
            for name, one in taken.items():
                stores[name].setdefault("queries", {})[kind] = one.figures()
                times = _times_faster(taken, name)
                stores[name]["queries"][kind]["times_faster_than"] = times
        for child in team:
            if child.name == "mnemos":
                _say(f"{size:,} messages: making vectors and recalling")
                stores[child.name] |= _recall(child, drawn, folder, options)
        for child in team:
            stores[child.name]["build"]["peak_memory"] = child.ask("close")["peak_memory"]
    return stores


def _build(child: Child, folder: Path, size: int) -> dict[str, Any]:
    path = folder / child.name / "store.db"
    path.parent.mkdir()
    built = child.ask("load", path=str(path), size=size, seed=SEED)
    promised = TEXT_FACTOR * built["text_bytes"] + BYTES_PER_MESSAGE * size
    return {
        "seconds": built["build_wall"] / 1e9,
        "cpu_seconds": built["build_cpu"] / 1e9,
        "messages_per_second": size / built["build_wall"] * 1e9,
        "file_bytes": built["file_bytes"],
        "text_bytes": built["text_bytes"],
        "bytes_per_message": built["file_bytes"] / size,
        "times_text": built["file_bytes"] / built["text_bytes"],
        "of_promised_size": built["file_bytes"] / promised,
    }


def _recall(child: Child, drawn: dict[str, list[str]], folder: Path, options: Options) -> dict[str, Any]:
    """Questions over the whole store, by words alone and with vectors, which are made before."""
    path = folder / child.name / "store.db"
    before = path.stat().st_size
    made = child.ask("embed")
    figures: dict[str, Any] = {
        "vectors": {
            "passages_per_cpu_second": made["count"] / made["cpu"] * 1e9,
            "bytes_a_passage": (path.stat().st_size - before) / made["count"],
        },
        "recall": {},
    }
    for kind in RECALLED:
        questions = [f"What was it about {query}?" for query in drawn[kind]]
        for way, words_only in (("by words", True), ("with vectors", False)):
            taken = Taken()
            for _ in range(options.repeat):
                reply = child.ask(
                    "recall", queries=questions, words_only=words_only, budget=BUDGET_SECONDS / options.repeat
                )
                taken.wall.append(reply["wall"])
                taken.cpu.append(reply["cpu"])
                taken.answered = sum(map(bool, reply["hits"])) / len(reply["hits"])
            figures["recall"][f"{kind}, {way}"] = taken.figures()
    return figures


class Checker:
    """Looks results up in the corpus; sessions are generated again, so some are remembered."""

    def __init__(self, corpus: Corpus) -> None:
        self._message = lru_cache(maxsize=4_096)(corpus.message)

    def is_right(self, kind: str, query: str, hits: list[list[Any]]) -> bool:
        if kind == queries.NO_HIT:
            return not hits
        return bool(hits) and all(
            place >= 0 and queries.is_right(query, self._read(place), partial=partial)
            for place, partial in hits
        )

    def _read(self, place: int) -> Message:
        return self._message(place)


def _ask_in_turn(
    team: list[Child], kind: str, asked: list[str], repeat: int, checker: Checker
) -> dict[str, Taken]:
    taken = {child.name: Taken() for child in team}
    for number in range(repeat):
        shift = number % len(team)
        for child in team[shift:] + team[:shift]:
            one = taken[child.name]
            reply = child.ask("search", queries=asked, budget=BUDGET_SECONDS / repeat)
            one.wall.append(reply["wall"])
            one.cpu.append(reply["cpu"])
            if number == 0:
                # Where the budget ran out, the last queries have no answers.
                pairs = list(zip(asked, reply["hits"], strict=False))
                _judge(one, kind, pairs, checker)
    return taken


def _judge(one: Taken, kind: str, pairs: list[tuple[str, list[Any]]], checker: Checker) -> None:
    one.answered = sum(bool(hits) for _, hits in pairs) / len(pairs)
    one.right = sum(checker.is_right(kind, query, hits) for query, hits in pairs) / len(pairs)
    one.partial = sum(any(partial for _, partial in hits) for _, hits in pairs) / len(pairs)


def _times_faster(taken: dict[str, Taken], name: str) -> dict[str, dict[str, dict[str, float]]]:
    """Against each other store: its median over ours, round by round, on the same queries."""
    return {
        other: {
            "wall": _pairwise(theirs.wall, taken[name].wall),
            "cpu": _pairwise(theirs.cpu, taken[name].cpu),
        }
        for other, theirs in taken.items()
        if other != name
    }


def _pairwise(theirs: list[list[int]], ours: list[list[int]]) -> dict[str, float]:
    ratios = []
    for slow, fast in zip(theirs, ours, strict=True):
        both = min(len(slow), len(fast))
        ratios.append(median(slow[:both]) / max(1.0, median(fast[:both])))
    return summary(ratios)


def _growth(sizes: dict[int, Stores]) -> dict[str, dict[str, float]]:
    """By store and kind of query, the exponent of the median from the smallest to the largest."""
    if len(sizes) < 2:
        return {}
    exponents: dict[str, dict[str, float]] = {}
    for name in next(iter(sizes.values())):
        held = [size for size, stores in sizes.items() if name in stores]
        small, large = min(held), max(held)
        if small == large:
            continue
        before = sizes[small][name]["queries"] | _asked(sizes[small][name])
        after = sizes[large][name]["queries"] | _asked(sizes[large][name])
        exponents[name] = {
            kind: growth_exponent((small, before[kind]["wall_p50"]), (large, after[kind]["wall_p50"]))
            for kind in before
        }
    return exponents


def _asked(store: dict[str, Any]) -> dict[str, Any]:
    return {f"recall: {kind}": taken for kind, taken in store.get("recall", {}).items()}


def _build_table(size: int, stores: Stores) -> Table:
    rows = []
    for name, store in stores.items():
        built = store["build"]
        memory = built["peak_memory"]
        rows.append(
            [
                name,
                f"{built['seconds']:.1f}",
                f"{built['cpu_seconds']:.1f}",
                f"{built['messages_per_second']:,.0f}",
                f"{built['file_bytes'] / 1e6:,.1f}",
                f"{built['bytes_per_message']:,.0f}",
                f"{built['times_text']:.2f}",
                f"{built['of_promised_size']:.2f}",
                f"{memory / 1e6:.0f}" if memory else "-",
            ]
        )
    headings = (
        "store", "build s", "CPU s", "messages/s", "file MB", "bytes a message", "x text",
        "of promised size", "peak memory MB",
    )  # fmt: skip
    promise = f"Promised size: {TEXT_FACTOR} x text + {BYTES_PER_MESSAGE} bytes a message."
    return Table(f"Building, {size:,} messages", headings, rows, [promise])


def _query_table(size: int, stores: Stores) -> Table:
    rows = []
    kinds = next(iter(stores.values()))["queries"] if stores else {}
    for kind in kinds:
        for name, store in stores.items():
            taken = store["queries"][kind]
            faster = taken["times_faster_than"]
            rows.append(
                [
                    kind,
                    name,
                    str(taken["samples"]),
                    f"{taken['wall_p50']:.2f}",
                    f"{taken['wall_p99']:.2f}",
                    f"{taken['cpu_p50']:.2f}",
                    f"{taken['cpu_p99']:.2f}",
                    f"{taken['answered']:.0%}",
                    f"{taken['right']:.0%}",
                    *(
                        ratio(faster[other]["wall"]) if name == "mnemos" and other in faster else ""
                        for other in ("raw", "hermes")
                    ),
                ]
            )
    headings = (
        "query", "store", "samples", "p50 ms", "p99 ms", "CPU p50", "CPU p99", "answered", "right",
        "x raw", "x hermes",
    )  # fmt: skip
    return Table(f"Searching, {size:,} messages", headings, rows)


def _recall_table(size: int, stores: Stores) -> Table:
    store = stores.get("mnemos", {})
    rows = [
        [
            kind,
            str(taken["samples"]),
            f"{taken['wall_p50']:.2f}",
            f"{taken['wall_p99']:.2f}",
            f"{taken['cpu_p50']:.2f}",
            f"{taken['cpu_p99']:.2f}",
            f"{taken['answered']:.0%}",
        ]
        for kind, taken in store.get("recall", {}).items()
    ]
    made = store.get("vectors", {"passages_per_cpu_second": 0.0, "bytes_a_passage": 0.0})
    note = (
        f"Vectors: {made['passages_per_cpu_second']:,.0f} passages a CPU second with reading and storing, "
        f"{made['bytes_a_passage']:.0f} bytes each in the file."
    )
    headings = ("question about", "samples", "p50 ms", "p99 ms", "CPU p50", "CPU p99", "answered")
    return Table(f"Recalling with mnemos, {size:,} messages", headings, rows, [note])


def _growth_table(sizes: dict[int, Stores], growth: dict[str, dict[str, float]]) -> Table:
    names = list(growth)
    kinds = dict.fromkeys(kind for one in growth.values() for kind in one)
    rows = [
        [kind, *(f"{growth[name][kind]:.2f}" if kind in growth[name] else "-" for name in names)]
        for kind in kinds
    ]
    title = f"Growth from {min(sizes):,} messages to the largest size loaded: p50 ~ size ^ exponent"
    return Table(title, ("query", *names), rows)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
