"""The cost of a turn in process: tick, write, search and status, at every size.

Stores are filled once. Each round works on fresh copies of all of them, size after size and engine
after engine, so that no store grows and every ratio compares runs of the same round. ``growth`` is
the median at the largest size over that at the smallest.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.facts import made
from benchmarks.facts.made import SEED
from benchmarks.facts.worker import VERBS
from benchmarks.measure import median, percentile, summary
from benchmarks.peers import Child
from benchmarks.report import Options, Table, ratio

PRESSED = 300
# One round of one store: by verb or kind of query, nanoseconds per call.
Round = dict[str, dict[str, list[int]]]
Say = Callable[[str], None]


def stores(team: Sequence[Child], sizes: Sequence[int], folder: Path, say: Say) -> dict[str, Any]:
    """Fill a store for every engine and size; what that took, by engine and size."""
    built: dict[str, Any] = {child.name: {} for child in team}
    for size in sizes:
        for child in team:
            say(f"{size:,} facts: filling {child.name}")
            store = place(folder, child.name, size)
            store.mkdir()
            filled = child.ask("fill", folder=str(store), size=size, seed=SEED)
            built[child.name][str(size)] = {
                "seconds": filled["wall"] / 1e9,
                "cpu_seconds": filled["cpu"] / 1e9,
                "bytes_per_fact": filled["file_bytes"] / size,
            }
    return built


def place(folder: Path, name: str, size: int) -> Path:
    return folder / f"{name}-{size}"


def measure(team: Sequence[Child], folder: Path, options: Options, say: Say) -> dict[str, Any]:
    turns, queries = (20, 20) if options.quick else (100, 100)
    rounds: dict[tuple[str, int], list[Round]] = {}
    answered: dict[tuple[str, int], dict[str, float]] = {}
    for number in range(options.repeat):
        say(f"round {number + 1} of {options.repeat}, in process")
        shift = number % len(team)
        for size in options.sizes:
            for child in (*team[shift:], *team[:shift]):
                with Copy(folder, child.name, size) as store:
                    taken, share = _one_round(child, store, size, number, turns, queries)
                rounds.setdefault((child.name, size), []).append(taken)
                answered[child.name, size] = share
    return {
        "sizes": {
            str(size): {
                child.name: _figures(rounds, answered, child.name, size, team) for child in team
            }
            for size in options.sizes
        },
        "growth": {child.name: _growth(rounds, child.name, options.sizes) for child in team},
        "pressed": _pressed(team, folder, options, say),
    }  # fmt: skip


class Copy:
    """A copy of a filled store that lasts for a round."""

    def __init__(self, folder: Path, name: str, size: int) -> None:
        self._from = place(folder, name, size)
        self._to = folder / f"{name}-{size}-now"

    def __enter__(self) -> Path:
        shutil.copytree(self._from, self._to)
        return self._to

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._to)


def _one_round(
    child: Child, store: Path, size: int, number: int, turns: int, queries: int
) -> tuple[Round, dict[str, float]]:
    reply = child.ask("work", folder=str(store), size=size, seed=SEED, round_number=number, turns=turns)
    taken: Round = {verb: {clock: reply[clock][verb] for clock in ("wall", "cpu")} for verb in VERBS}
    answered = {}
    for kind in made.KINDS:
        found = child.ask("search", kind=kind, size=size, seed=SEED, count=queries)
        taken[f"search: {kind}"] = {clock: found[clock] for clock in ("wall", "cpu")}
        answered[f"search: {kind}"] = found["answered"]
    child.ask("close")
    return taken, answered


def _pressed(team: Sequence[Child], folder: Path, options: Options, say: Say) -> dict[str, Any]:
    """Once for every size: many writes and no tick, which is where pressure acts."""
    figures: dict[str, Any] = {}
    for size in options.sizes:
        figures[str(size)] = {}
        for child in team:
            say(f"{size:,} facts: {child.name} under pressure")
            with Copy(folder, child.name, size) as store:
                child.ask("work", folder=str(store), size=size, seed=SEED, round_number=0, turns=1)
                pressed = child.ask("press", seed=SEED, count=PRESSED)
                child.ask("close")
            wall = [took / 1e6 for took in pressed["wall"]]
            figures[str(size)][child.name] = {
                "p50": percentile(wall, 0.50),
                "p99": percentile(wall, 0.99),
                "longest": max(wall),
                "lost": pressed["before"] + pressed["written"] - pressed["after"],
                "findable": pressed["after"],
            }
    return figures


def _figures(
    rounds: dict[tuple[str, int], list[Round]],
    answered: dict[tuple[str, int], dict[str, float]],
    name: str,
    size: int,
    team: Sequence[Child],
) -> dict[str, Any]:
    ours = rounds[name, size]
    figures: dict[str, Any] = {}
    for verb in ours[0]:
        wall = [took / 1e6 for one in ours for took in one[verb]["wall"]]
        cpu = [took / 1e6 for one in ours for took in one[verb]["cpu"]]
        figures[verb] = {
            "samples": len(wall),
            "wall_p50": percentile(wall, 0.50),
            "wall_p99": percentile(wall, 0.99),
            "longest": max(wall),
            "cpu_p50": percentile(cpu, 0.50),
            "cpu_p99": percentile(cpu, 0.99),
            "cpu_mean": sum(cpu) / len(cpu),
            "times_faster_than": {
                other.name: summary(
                    [
                        median(theirs[verb]["wall"]) / median(one[verb]["wall"])
                        for one, theirs in zip(ours, rounds[other.name, size], strict=True)
                    ]
                )
                for other in team
                if other.name != name
            },
        }
        if verb in answered[name, size]:
            figures[verb]["answered"] = answered[name, size][verb]
    return figures


def _growth(
    rounds: dict[tuple[str, int], list[Round]], name: str, sizes: Sequence[int]
) -> dict[str, dict[str, dict[str, float]]]:
    """By verb, how many times dearer at the largest size than at the smallest: median and mean CPU."""
    if len(sizes) < 2:
        return {}
    pairs = list(zip(rounds[name, min(sizes)], rounds[name, max(sizes)], strict=True))
    return {
        verb: {
            "median": summary([median(big[verb]["wall"]) / median(few[verb]["wall"]) for few, big in pairs]),
            "mean_cpu": summary([sum(big[verb]["cpu"]) / sum(few[verb]["cpu"]) for few, big in pairs]),
        }
        for verb in pairs[0][0]
    }


def tables(figures: dict[str, Any]) -> list[Table]:
    made_tables = [_size_table(int(size), found) for size, found in figures["sizes"].items()]
    if any(figures["growth"].values()):
        made_tables.append(_growth_table(figures))
    made_tables.append(_pressure_table(figures["pressed"]))
    return made_tables


def _size_table(size: int, found: dict[str, Any]) -> Table:
    rows = []
    for verb in next(iter(found.values())):
        for name, verbs in found.items():
            taken = verbs[verb]
            faster = list(taken["times_faster_than"].values())
            rows.append(
                [
                    verb,
                    name,
                    str(taken["samples"]),
                    f"{taken['wall_p50']:.3f}",
                    f"{taken['wall_p99']:.3f}",
                    f"{taken['cpu_p50']:.3f}",
                    f"{taken['cpu_p99']:.3f}",
                    f"{taken['cpu_mean']:.3f}",
                    f"{taken['answered']:.0%}" if "answered" in taken else "",
                    ratio(faster[0]) if name == "mnemos" and faster else "",
                ]
            )
    headings = (
        "call", "store", "samples", "p50 ms", "p99 ms", "CPU p50", "CPU p99", "CPU mean", "answered",
        "x hermes-memory",
    )  # fmt: skip
    return Table(f"In process, {size:,} facts", headings, rows)


def _growth_table(figures: dict[str, Any]) -> Table:
    sizes = [int(size) for size in figures["sizes"]]
    names = list(figures["growth"])
    verbs = next(iter(figures["growth"].values()))
    rows = [
        [
            verb,
            *(
                ratio(figures["growth"][name][verb][figure])
                for name in names
                for figure in ("median", "mean_cpu")
            ),
        ]
        for verb in verbs
    ]
    headings = ("call", *(f"{name}, {figure}" for name in names for figure in ("p50", "mean CPU")))
    return Table(f"Cost at {max(sizes):,} facts over cost at {min(sizes):,}", headings, rows)


def _pressure_table(pressed: dict[str, Any]) -> Table:
    rows = [
        [
            name,
            f"{int(size):,}",
            f"{taken['p50']:.3f}",
            f"{taken['p99']:.3f}",
            f"{taken['longest']:.1f}",
            f"{taken['findable']:,}",
            f"{taken['lost']:,}",
        ]
        for size, found in pressed.items()
        for name, taken in found.items()
    ]
    headings = ("store", "facts", "write p50 ms", "p99 ms", "longest ms", "findable after", "out of reach")
    return Table(f"{PRESSED} writes without a tick", headings, rows)
