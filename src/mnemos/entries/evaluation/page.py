"""The report as one HTML file: no script, nothing loaded from anywhere, readable in light and dark."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from typing import Any

from mnemos.entries.evaluation import charts

_STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #5b6470; --line: #d8dde3; --paper: #ffffff;
  --card: #f6f8fa; --a: #2563eb; --b: #d97706; --c: #059669; --d: #7c3aed; --bad: #c2255c; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ee; --soft: #9aa4b1; --line: #343b45;
  --paper: #14171b; --card: #1d2127; --a: #60a5fa; --b: #fbbf24; --c: #34d399; --d: #a78bfa;
  --bad: #f783ac; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 0 auto;
  max-width: 60rem; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.7rem; margin: 0 0 .25rem; } h2 { font-size: 1.15rem; margin: 2.25rem 0 .5rem; }
p.lead { background: var(--card); border-left: 4px solid var(--a); padding: .75rem 1rem; }
.soft, caption, figcaption { color: var(--soft); font-size: .9rem; }
table { border-collapse: collapse; width: 100%; } caption { text-align: left; padding-bottom: .4rem; }
th, td { text-align: left; padding: .4rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
.wide { overflow-x: auto; } figure { margin: 1rem 0; } svg { width: 100%; height: auto; display: block; }
svg text { fill: var(--ink); font: 13px system-ui, sans-serif; } svg text.soft { fill: var(--soft);
  font-size: 12px; }
svg line { stroke: var(--line); } .s0 { fill: var(--a); } .s1 { fill: var(--b); } .s2 { fill: var(--c); }
.s3 { fill: var(--d); } .bad { color: var(--bad); font-weight: 600; } .key { display: inline-block;
  width: .8em; height: .8em; margin: 0 .35em 0 1em; border-radius: 2px; }
.key.s0 { background: var(--a); } .key.s1 { background: var(--b); } .key.s2 { background: var(--c); }
.key.s3 { background: var(--d); }
"""
_POINTS = ("availability", "functionality", "latency", "privacy")
_MOST = {"availability": 20, "functionality": 40, "latency": 20, "privacy": 20}
_CALLS = ("store", "update", "retrieve", "query", "list", "delete")


def page(report: Mapping[str, Any]) -> str:
    """A whole page."""
    made = datetime.fromtimestamp(report["timestamp"], UTC)
    body = "".join(
        (
            "<h1>Backends of memory, compared</h1>",
            f'<p class="soft">Made {made:%Y-%m-%d %H:%M} UTC by mnemos evaluate</p>',
            f'<p class="lead">{escape(report["recommendation"])}</p>',
            _scores(report["evaluations"]),
            _verdicts(report["evaluations"]),
            _workloads(report["workloads"]),
            _skipped(report["skipped"]),
        )
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Backends of memory, compared</title><style>{_STYLE}</style></head>"
        f"<body>{body}</body></html>\n"
    )


def _scores(evaluations: Sequence[Mapping[str, Any]]) -> str:
    bars = [
        charts.Bar(one["backend_name"], [float(one["points"][name]) for name in _POINTS], f"{one['score']}")
        for one in evaluations
    ]
    chart = charts.stacked(bars, most=100.0, told="Points of each backend by what they are for")
    keys = "".join(
        f'<span class="key s{n}"></span>{name} (of {_MOST[name]})' for n, name in enumerate(_POINTS)
    )
    return f"<h2>Points, of 100</h2><figure>{chart}<figcaption>{keys}</figcaption></figure>"


def _verdicts(evaluations: Iterable[Mapping[str, Any]]) -> str:
    rows = [
        [
            escape(one["backend_name"]),
            str(one["score"]),
            escape(one["recommendation"]),
            _milliseconds(one["store_latency_ms"]),
            _milliseconds(one["retrieve_latency_ms"]),
            _milliseconds(one["query_latency_ms"]),
            _leaves(one),
            "<br>".join(escape(note) for note in one["notes"]),
        ]
        for one in evaluations
    ]
    head = ("backend", "points", "verdict", "store, ms", "retrieve, ms", "query, ms", "data", "notes")
    return "<h2>Verdicts</h2>" + _table("Means of five calls each", head, rows, numbers={1, 3, 4, 5})


def _workloads(workloads: Mapping[str, Mapping[str, Any]]) -> str:
    if not workloads:
        return ""
    names = list(workloads)
    first = workloads[names[0]]
    about = (
        f"{first['entries']} entries of {first['users']} people, some of them changed, then asked for in "
        "their own words and in others."
    )
    return "".join(
        (
            f'<h2>A real workload</h2><p class="soft">{escape(about)}</p>',
            _latencies(workloads),
            _recall(workloads),
            _promises(workloads),
        )
    )


def _latencies(workloads: Mapping[str, Mapping[str, Any]]) -> str:
    parts = []
    for name, one in workloads.items():
        bars = [
            charts.Pair(call, one["latencies"][call]["p50"], one["latencies"][call]["p95"])
            for call in _CALLS
            if call in one["latencies"]
        ]
        chart = charts.on_a_log_scale(bars, told=f"Latency of {name}")
        caption = (
            f'{escape(name)}: milliseconds a call, on a logarithmic scale<span class="key s0"></span>p50'
            '<span class="key s1"></span>p95'
        )
        parts.append(f"<figure>{chart}<figcaption>{caption}</figcaption></figure>")
    return "<h2>How long calls take</h2>" + "".join(parts)


def _recall(workloads: Mapping[str, Mapping[str, Any]]) -> str:
    bars = [
        charts.Bar(f"{name}, {asked}", [100 * one[kept]["5"]], f"{100 * one[kept]['5']:.0f}%")
        for name, one in workloads.items()
        for asked, kept in (("own words", "recall_words"), ("other words", "recall_paraphrased"))
    ]
    chart = charts.stacked(bars, most=100.0, told="Recall at 5")
    rows = [
        [escape(name), asked, *(f"{100 * one[kept][k]:.0f}%" for k in ("1", "3", "5", "10"))]
        for name, one in workloads.items()
        for asked, kept in (("its own words", "recall_words"), ("other words", "recall_paraphrased"))
    ]
    table = _table(
        "Questions whose entry is among the first k", ("backend", "asked in", "1", "3", "5", "10"), rows,
        numbers={2, 3, 4, 5},
    )  # fmt: skip
    drawn = f"<figure>{chart}<figcaption>among the first five</figcaption></figure>"
    return f"<h2>What questions find</h2>{drawn}{table}"


def _promises(workloads: Mapping[str, Mapping[str, Any]]) -> str:
    rows = [
        [
            escape(name),
            *(_yes(one[kept]) for kept in ("exact", "isolated", "persistent", "cleared")),
            "<br>".join(escape(problem) for problem in one["problems"]),
        ]
        for name, one in workloads.items()
    ]
    head = ("backend", "values unchanged", "users apart", "kept over a restart", "cleared away", "problems")
    return "<h2>Promises</h2>" + _table("As found in the workload", head, rows)


def _skipped(skipped: Mapping[str, str]) -> str:
    if not skipped:
        return ""
    lines = "".join(f"<li>{escape(name)}: {escape(why)}</li>" for name, why in skipped.items())
    return f"<h2>Not evaluated</h2><ul>{lines}</ul>"


def _table(
    caption: str, head: Sequence[str], rows: Iterable[Sequence[str]], numbers: Iterable[int] = ()
) -> str:
    classes = [' class="number"' if n in set(numbers) else "" for n in range(len(head))]
    top = "".join(
        f'<th scope="col"{kind}>{escape(name)}</th>' for name, kind in zip(head, classes, strict=True)
    )
    lines = "".join(
        "<tr>" + "".join(f"<td{kind}>{cell}</td>" for cell, kind in zip(row, classes, strict=True)) + "</tr>"
        for row in rows
    )
    return (
        f'<div class="wide"><table><caption>{escape(caption)}</caption><thead><tr>{top}</tr></thead>'
        f"<tbody>{lines}</tbody></table></div>"
    )


def _leaves(one: Mapping[str, Any]) -> str:
    if not one["is_cloud"]:
        return "stays here"
    return f'<span class="bad">leaves this machine</span>: {escape(one["data_location"])}'


def _milliseconds(value: float) -> str:
    return f"{value:.2f}" if value < 100 else f"{value:.0f}"


def _yes(is_so: bool) -> str:  # noqa: FBT001
    return "yes" if is_so else '<span class="bad">no</span>'
