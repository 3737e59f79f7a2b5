"""The evaluation report as a self-contained HTML file without scripts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
_QUESTIONS = {"recall_words": "found by its own words", "recall_paraphrased": "found by other words"}
_PROMISES = {
    "exact": "values exact",
    "isolated": "users isolated",
    "persistent": "survives a restart",
    "cleared": "cleaned up",
}


def render_page(report: Mapping[str, Any]) -> str:
    made = datetime.fromtimestamp(report["timestamp"], UTC)
    title = "Memory backends compared"
    kinds = ", ".join(f"{name} {most}" for name, most in MAX_POINTS.items())
    head = ("backend", f"points ({kinds})", "verdict", "ms per store / retrieve / query", "data", "notes")
    workloads = report["workloads"]
    slowest = max((t["p95"] for one in workloads.values() for t in one["latencies"].values()), default=0) or 1
    results = [
        [escape(name), *row] for name, one in workloads.items() for row in _iter_results(one, 100 / slowest)
    ]
    skipped = [[escape(name), escape(why)] for name, why in report["skipped"].items()]
    sections = (
        f"<h1>{title}</h1><p>{made:%Y-%m-%d %H:%M} UTC, by mnemos evaluate</p>",
        f'<p class="lead">{escape(report["recommendation"])}</p>',
        _render_table("Scores", head, [_list_scores(one) for one in report["evaluations"]]),
        _render_table("Workload", ("backend", "measured", "result"), results),
        _render_table("Not evaluated", ("backend", "reason"), skipped),
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{_STYLE}</style></head><body>{''.join(sections)}</body></html>\n"
    )


def _list_scores(one: Mapping[str, Any]) -> list[str]:
    return [
        escape(one["backend_name"]),
        f"{_draw_bar([one['points'][name] for name in MAX_POINTS])} {one['score']}",
        escape(one["recommendation"]),
        " / ".join(f"{one[f'{call}_latency_ms']:.3g}" for call in ("store", "retrieve", "query")),
        _render_location(one),
        "<br>".join(escape(note) for note in one["notes"]),
    ]


def _iter_results(one: Mapping[str, Any], scale: float) -> Iterator[tuple[str, str]]:
    """Yield the name and the result of each measurement. ``scale``: percent of a bar per millisecond."""
    for call, times in one["latencies"].items():
        p50, p95 = times["p50"], times["p95"]
        bar = _draw_bar([scale * p50, scale * (p95 - p50)])
        yield f"{call}: ms p50 / p95", f"{bar} {p50:.3g} / {p95:.3g}"
    for name, title in _QUESTIONS.items():
        for depth, share in one[name].items():
            yield f"{title}, among the first {depth}", f"{_draw_bar([100 * share])} {share:.0%}"
    for name, title in _PROMISES.items():
        yield title, "yes" if one[name] else '<span class="bad">no</span>'
    for problem in one["problems"]:
        yield "problem", escape(problem)


def _render_location(one: Mapping[str, Any]) -> str:
    if not one["is_cloud"]:
        return "stays here"
    return f'<span class="bad">leaves this machine</span>: {escape(one["data_location"])}'


def _draw_bar(shares: Sequence[float]) -> str:
    """Draw percentages side by side as a bar."""
    left, pieces = 0.0, []
    for series, share in enumerate(shares):
        pieces.append(f'<rect class="s{series}" x="{left:.1f}" width="{share:.1f}" height="10"/>')
        left += share
    return f'<svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">{"".join(pieces)}</svg>'


def _render_table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Render a section with a table, or nothing if there are no rows. Cells are already HTML."""
    if not rows:
        return ""
    top = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<h2>{title}</h2><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
