"""The evaluation report as one HTML file without scripts or anything loaded from elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from typing import Any

from mnemos.entries.evaluation import MAX_POINTS

_STYLE = """
:root { color-scheme: light dark; --line: #8886; --a: #2563eb; --b: #d97706; --c: #059669; --d: #7c3aed; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; padding: 2rem 1.25rem; }
p.lead { border-left: 4px solid var(--a); padding-left: 1rem; }
table { border-collapse: collapse; width: 100%; } caption { text-align: left; opacity: .7; }
th, td { text-align: left; padding: .4rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
svg { width: 12rem; height: .9rem; vertical-align: middle; background: var(--line); }
.s0 { fill: var(--a); } .s1 { fill: var(--b); } .s2 { fill: var(--c); } .s3 { fill: var(--d); }
.bad { color: #d6336c; font-weight: 600; }
"""
_CALLS = ("store", "update", "retrieve", "query", "list", "delete")
_PROMISES = ("exact", "isolated", "persistent", "cleared")
_DEPTHS = ("1", "3", "5", "10")


def render_page(report: Mapping[str, Any]) -> str:
    made = datetime.fromtimestamp(report["timestamp"], UTC)
    evaluations, workloads = report["evaluations"], report["workloads"]
    title = "Memory backends compared"
    sections = [
        f"<h1>{title}</h1><p>{made:%Y-%m-%d %H:%M} UTC, by mnemos evaluate</p>",
        f'<p class="lead">{escape(report["recommendation"])}</p>',
        _render_scores(evaluations),
        _render_latencies(workloads) + _render_recall(workloads) + _render_promises(workloads),
    ]
    if report["skipped"]:
        rows = [[escape(name), escape(why)] for name, why in report["skipped"].items()]
        sections.append(_render_table("Not evaluated", ("backend", "reason"), rows))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{_STYLE}</style></head><body>{''.join(sections)}</body></html>\n"
    )


def _render_scores(evaluations: Iterable[Mapping[str, Any]]) -> str:
    rows = [
        [
            escape(one["backend_name"]),
            f"{_draw_bar([one['points'][name] for name in MAX_POINTS])} {one['score']}",
            escape(one["recommendation"]),
            " / ".join(f"{one[f'{call}_latency_ms']:.3g}" for call in ("store", "retrieve", "query")),
            _render_location(one),
            "<br>".join(escape(note) for note in one["notes"]),
        ]
        for one in evaluations
    ]
    kinds = ", ".join(f"{name} {most}" for name, most in MAX_POINTS.items())
    head = ("backend", f"points ({kinds})", "verdict", "ms per store / retrieve / query", "data", "notes")
    return _render_table("Scores", head, rows)


def _render_latencies(workloads: Mapping[str, Mapping[str, Any]]) -> str:
    timed = [(name, call, one["latencies"]) for name, one in workloads.items() for call in _CALLS]
    found = [(name, call, times[call]) for name, call, times in timed if call in times]
    slowest = max((times["p95"] for _, _, times in found), default=1.0)
    rows = [
        [
            escape(name),
            call,
            f"{_draw_bar([100 * times['p50'] / slowest, 100 * (times['p95'] - times['p50']) / slowest])} "
            f"{times['p50']:.3g} / {times['p95']:.3g}",
        ]
        for name, call, times in found
    ]
    return _render_table("Workload: milliseconds per call", ("backend", "call", "p50 / p95"), rows)


def _render_recall(workloads: Mapping[str, Mapping[str, Any]]) -> str:
    kinds = (("its own words", "recall_words"), ("other words", "recall_paraphrased"))
    rows = [
        [
            escape(name),
            words,
            *(f"{_draw_bar([100 * one[kind][k]])} {100 * one[kind][k]:.0f}%" for k in _DEPTHS),
        ]
        for name, one in workloads.items()
        for words, kind in kinds
        if one[kind]
    ]
    head = ("backend", "question in", *(f"among the first {k}" for k in _DEPTHS))
    return _render_table("Workload: entries found", head, rows)


def _render_promises(workloads: Mapping[str, Mapping[str, Any]]) -> str:
    rows = [
        [
            escape(name),
            *("yes" if one[kept] else '<span class="bad">no</span>' for kept in _PROMISES),
            "<br>".join(escape(problem) for problem in one["problems"]),
        ]
        for name, one in workloads.items()
    ]
    head = ("backend", "values exact", "users isolated", "survives a restart", "cleaned up", "problems")
    return _render_table("Workload: guarantees", head, rows)


def _render_location(one: Mapping[str, Any]) -> str:
    if not one["is_cloud"]:
        return "stays here"
    return f'<span class="bad">leaves this machine</span>: {escape(one["data_location"])}'


def _draw_bar(shares: Sequence[float]) -> str:
    """Draw percentages side by side."""
    left, pieces = 0.0, []
    for series, share in enumerate(shares):
        pieces.append(f'<rect class="s{series}" x="{left:.1f}" width="{share:.1f}" height="10"/>')
        left += share
    return f'<svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">{"".join(pieces)}</svg>'


def _render_table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Render a section; cells are HTML already. No rows, no section."""
    if not rows:
        return ""
    top = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<h2>{title}</h2><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
