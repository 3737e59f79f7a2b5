"""The same data through every way of finding things, in one run."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from benchmarks.recall import engine
from benchmarks.recall.baselines import Missing, full_text, okapi
from benchmarks.report import RESULTS, Result, Table, today
from mnemos.faces.cli.bench import report
from mnemos.faces.cli.bench.corpus import Data, Format, arrangements
from mnemos.faces.cli.bench.measurement import ALL, Load, Measured, measure
from mnemos.faces.cli.bench.report import Bar, bars

# Further figures on all questions, alongside the headline by category.
BESIDE = {
    Format.LOCOMO: ("turn recall@5", "session recall@5", "session recall@10"),
    Format.LONGMEMEVAL: ("session any@1", "session all@10", "session ndcg@10", "turn recall@10"),
    Format.LINES: ("session any@1", "session all@5"),
}


@dataclass(frozen=True, slots=True)
class Compared:
    """One arrangement of one file, by the name of the way."""

    data: Data
    arrangement: str
    ways: Mapping[str, Measured]


def ways() -> tuple[dict[str, Load], dict[str, str]]:
    """The ways that can take part, by name, and why others cannot."""
    able: dict[str, Load] = {}
    missing: dict[str, str] = {}
    makers = {
        "FTS5": lambda: full_text("unicode61"),
        "FTS5 porter": lambda: full_text("porter unicode61"),
        "rank_bm25": okapi,
        "dense": engine.dense,
        "mnemos lexical": engine.lexical,
        "mnemos": engine.hybrid,
        "mnemos deep": engine.deep,
    }
    for name, make in makers.items():
        try:
            able[name] = make()
        except Missing as exc:
            missing[name] = f"{name}: {exc}"
    return able, missing


def engines() -> dict[str, Load]:
    """The same ways on both engines."""
    return {
        "mnemos lexical": engine.lexical(),
        "lexical, PostgreSQL": engine.on_server(lexical=True),
        "mnemos": engine.hybrid(),
        "PostgreSQL": engine.on_server(lexical=False),
    }


def run(
    files: Sequence[Data],
    pools: Sequence[str],
    able: Mapping[str, Load],
    missing: Mapping[str, str] = MappingProxyType({}),
) -> tuple[Result, list[Compared]]:
    compared = []
    for data in files:
        # Made anew for each way, because an arrangement is read once.
        for arrangement in arrangements(data, pools):
            measured = {}
            for name, load in able.items():
                print(f"{data.name}, {arrangement}: {name}", file=sys.stderr, flush=True)
                measured[name] = measure(data, arrangement, arrangements(data, pools)[arrangement], load)
            compared.append(Compared(data, arrangement, measured))
    tables = [table for one in compared for table in _tables(one)]
    return Result("recall", tables, _figures(compared), missing=dict(missing)), compared


def draw(compared: Sequence[Compared], folder: Path = RESULTS, stem: str = "") -> list[Path]:
    """A chart alongside the figures for each arrangement; where they are."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for one in compared:
        headline = report.HEADLINE[one.data.format]
        series = {
            name: [Bar.of(part, found[headline]) for part, found in way.parts.items() if headline in found]
            for name, way in one.ways.items()
        }
        title = f"{one.data.name}, {one.arrangement}: {headline}, per cent"
        path = (
            folder / f"{stem or f'recall-{today()}'}-{one.data.name}-{one.arrangement.replace(' ', '-')}.svg"
        )
        path.write_text(bars(title, series), encoding="utf-8")
        written.append(path)
    return written


def _tables(one: Compared) -> list[Table]:
    """All questions with every figure and what it costs, then the headline by category."""
    headline = report.HEADLINE[one.data.format]
    shown = (headline, *BESIDE[one.data.format])
    title = f"{one.data.name}, {one.arrangement}"
    whole = [
        [
            name,
            *(report.cell(way.parts[ALL].get(metric)) for metric in shown),
            f"{way.p50:.1f}",
            f"{way.p95:.1f}",
            "-" if way.bytes_per_message is None else f"{way.bytes_per_message:,.0f}",
        ]
        for name, way in one.ways.items()
    ]
    notes = [
        "± is half a 95% interval.",
        *filter(None, [report.left_out(one.data)]),
        *(f"{name} used {' and '.join(way.modes)}." for name, way in one.ways.items() if any(way.modes)),
    ]
    counts = next(iter(one.ways.values())).questions
    split = [
        [name, *(report.cell(way.parts[part].get(headline)) for part in one.data.categories)]
        for name, way in one.ways.items()
    ]
    parts = [f"{part} ({counts[part]})" for part in one.data.categories]
    return [
        Table(
            f"{title}, {counts[ALL]} questions",
            ["way", *shown, "p50 ms", "p95 ms", "bytes/message"],
            whole,
            notes,
        ),
        Table(f"{title}: {headline} by category (questions)", ["way", *parts], split),
    ]


def _figures(compared: Sequence[Compared]) -> dict[str, Any]:
    """Everything on all questions; by category, what tables show: the rest would only be long."""
    figures: dict[str, Any] = {}
    for one in compared:
        shown = {*report.COLUMNS[one.data.format], report.HEADLINE[one.data.format]}
        for name, way in one.ways.items():
            document = report.document(one.data, [way])
            (figure,) = document["arrangements"]
            for part, found in figure["categories"].items():
                if part != ALL:
                    found["metrics"] = {key: value for key, value in found["metrics"].items() if key in shown}
            kept = figures.setdefault(
                one.data.name, {"format": document["format"], "left_out": document["left_out"]}
            )
            kept.setdefault(one.arrangement, {})[name] = figure
    return figures
