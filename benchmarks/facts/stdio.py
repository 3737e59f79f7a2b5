"""The cost of a turn over a pipe, alongside an MCP server that does nothing.

Rounds are as in process: fresh copies of the filled stores, server after server. ``above`` is what
a server adds to the floor, the median of the bare server of the same round. Twenty facts are also
written at once: as twenty calls under way together, and as the lines of one call where a server
takes several lines.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.facts import made, pipe, speed
from benchmarks.facts.made import SEED, Turn
from benchmarks.facts.pipe import TOGETHER, Server
from benchmarks.facts.worker import VERBS, WARM_UP
from benchmarks.measure import median, percentile, summary
from benchmarks.peers import CACHE, HERMES_MEMORY, PeerError
from benchmarks.report import Options, Table, ratio

BARE = "bare SDK"
MNEMOS = "mnemos"
PEER = "hermes-memory"
SERVERS = {
    BARE: Server(BARE, (sys.executable, "-m", "benchmarks.facts.bare_server"), many_lines=True),
    MNEMOS: Server(
        MNEMOS,
        (str(Path(sys.executable).parent / "mnemos"), "mcp", "--tools", "facts"),
        variable="MNEMOS_HOME",
        many_lines=True,
    ),
    PEER: Server(
        PEER,
        (str(CACHE / HERMES_MEMORY.folder / "bin" / "hermes-memory"),),
        variable="HERMES_MEMORY_DB",
        file="memory.db",
    ),
}
BULK = {"together": f"{TOGETHER} writes at once", "lines": f"{TOGETHER} lines a write"}

# One round of one server: by verb or way of writing in bulk, nanoseconds per call.
Round = dict[str, list[int]]


def measure(
    names: Sequence[str], folder: Path, options: Options, missing: dict[str, str], say: speed.Say
) -> dict[str, Any]:
    """By size and server, the figures of those that run; who does not is named in ``missing``."""
    turns = 20 if options.quick else 100
    able = [BARE, *names]
    rounds: dict[int, dict[str, list[Round]]] = {size: {} for size in options.sizes}
    for number in range(options.repeat):
        say(f"round {number + 1} of {options.repeat}, over a pipe")
        shift = number % len(able)
        for size in options.sizes:
            planned = made.turns(size, SEED, number, WARM_UP + turns)
            for name in (*able[shift:], *able[:shift]):
                try:
                    taken = _drive(SERVERS[name], folder, size, planned)
                except PeerError as error:
                    missing[f"{name} over stdio"] = str(error)
                    able = [one for one in able if one != name]
                    continue
                rounds[size].setdefault(name, []).append(taken)
    return {str(size): _figures(taken, able) for size, taken in rounds.items()}


def _drive(server: Server, folder: Path, size: int, planned: Sequence[Turn]) -> Round:
    if server.name == BARE:
        return pipe.drive(server, folder, planned)
    with speed.Copy(folder, server.name, size) as store:
        return pipe.drive(server, store, planned)


def _figures(rounds: dict[str, list[Round]], able: Sequence[str]) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    for name in able:
        figures[name] = {"ready": summary([one["ready"][0] / 1e6 for one in rounds[name]]), "calls": {}}
        for verb in (*VERBS, *BULK):
            if rounds[name][0][verb]:
                figures[name]["calls"][verb] = _verb_figures(rounds, able, name, verb)
    return figures


def _verb_figures(
    rounds: dict[str, list[Round]], able: Sequence[str], name: str, verb: str
) -> dict[str, Any]:
    ours = [one[verb] for one in rounds[name]]
    wall = [took / 1e6 for one in ours for took in one]
    facts_per_call = TOGETHER if verb in BULK else 1
    figures: dict[str, Any] = {
        "samples": len(wall),
        "wall_p50": percentile(wall, 0.50),
        "wall_p99": percentile(wall, 0.99),
        "per_second": summary([facts_per_call * len(one) / sum(one) * 1e9 for one in ours]),
    }
    if BARE in able and rounds[BARE][0][verb]:
        floor = [median(one[verb]) for one in rounds[BARE]]
        figures["above_floor"] = summary(
            [(median(one) - low) / 1e6 for one, low in zip(ours, floor, strict=True)]
        )
    if PEER in able and name != PEER:
        # The peer writes several facts at once in one way only; that is what ours compare with.
        theirs = [one["together" if verb in BULK else verb] for one in rounds[PEER]]
        rates = zip(ours, theirs, strict=True)
        figures["times_the_rate"] = summary(
            [sum(slow) / len(slow) / (sum(fast) / len(fast)) for fast, slow in rates]
        )
        figures["times_faster"] = summary(
            [median(slow) / median(fast) for fast, slow in zip(ours, theirs, strict=True)]
        )
    return figures


def table(size: int, figures: dict[str, Any]) -> Table:
    rows = []
    for verb in (*VERBS, *BULK):
        for name, found in figures.items():
            if verb not in found["calls"]:
                continue
            taken = found["calls"][verb]
            rows.append(
                [
                    BULK.get(verb, verb),
                    name,
                    str(taken["samples"]),
                    f"{taken['wall_p50']:.2f}",
                    f"{taken['wall_p99']:.2f}",
                    f"{taken['above_floor']['median']:+.2f}" if "above_floor" in taken else "-",
                    f"{taken['per_second']['median']:,.0f}",
                    ratio(taken.get("times_faster")) if name == MNEMOS else "",
                    ratio(taken.get("times_the_rate")) if name == MNEMOS else "",
                ]
            )
    headings = (
        "call", "server", "samples", "p50 ms", "p99 ms", "above floor", "a second",
        "x hermes-memory, p50", "x its rate",
    )  # fmt: skip
    ready = ", ".join(f"{name} {found['ready']['median']:.0f} ms" for name, found in figures.items())
    return Table(f"Over stdio, {size:,} facts", headings, rows, [f"Start to first answer: {ready}."])
