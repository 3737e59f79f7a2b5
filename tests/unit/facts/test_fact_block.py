"""The prompt block: within its budget, one line per fact, and only facts."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import fact_row, hot_set

from mnemos.facts.hot_set import (
    CLOSE,
    LEGEND,
    MERGE,
    OPEN,
    Block,
    Budget,
    compose_block,
    escape,
    fit_lines,
    render_hot,
    render_lines,
)
from mnemos.storage.facts import FactRow
from mnemos.text.tokens import count_tokens

BUDGET = Budget()


def block_of(
    *rows: FactRow, budget: Budget = BUDGET, scopes: list[str] | None = None, further: int = 0
) -> Block:
    hot = hot_set(*rows, further=further)
    return compose_block(lambda room: render_hot(hot, room), budget, scopes=scopes or [])


def body(block: Block) -> list[str]:
    """The lines between the fences, without the head."""
    lines = block.text.split("\n")
    start, end = lines.index(OPEN), lines.index(CLOSE)
    assert end == len(lines) - 1
    return lines[start + 2 : end]


# --- what is printed ---------------------------------------------------------------------------


def test_facts_are_printed_by_type_and_target() -> None:
    rows = [
        fact_row("V", "z"),
        fact_row("?", "a"),
        fact_row("C", "b"),
        fact_row("D", "a"),
        fact_row("V", "B"),
    ]
    assert body(block_of(*rows)) == ["C[b]: b", "D[a]: b", "V[B]: b", "V[z]: b", "?[a]: b"]


def test_the_order_they_were_used_in_changes_nothing() -> None:
    rows = [fact_row(mark, f"t{n}", used_at=float(n)) for n in range(3) for mark in "CDV"]
    texts = set()
    for seed in range(5):
        shuffled = random.Random(seed).sample(rows, len(rows))
        texts.add(block_of(*shuffled).text)
    assert len(texts) == 1


def test_an_empty_block_is_fenced_and_has_the_legend() -> None:
    block = block_of()
    assert body(block) == []
    assert block.text.startswith(LEGEND)
    assert block.gauge.percent == 0


def test_the_legend_names_marks_flows_and_abbreviations() -> None:
    for mark in "CDV?✓~":
        assert f"{mark}=" in LEGEND
    for word in (
        "cfg impl msg req usr resp prod feat dev deps auth err db btn env doc perf init mgmt refct mvmt "
        "notif perms val async sync mndtry nvr alw tmp idx tbl svc pkg repo api clt srv pr=for w/=with "
        "→= ↑= ->= !="
    ).split():
        assert word in LEGEND


def test_the_gauge_is_the_share_of_the_budget_that_is_injected() -> None:
    rows = [fact_row("V", f"t{n}", f"value number {n}") for n in range(5)]
    block = block_of(*rows)
    used = sum(count_tokens(f"{line}\n") for line in body(block))
    assert (block.gauge.used, block.gauge.budget) == (used, 150)
    assert block.gauge.percent == round(100 * used / 150)
    assert block.tokens == count_tokens(block.text)


def test_from_seventy_percent_on_a_target_is_one_line() -> None:
    rows = [
        fact_row(mark, f"target{n}", f"what is said here of number {n}") for n in range(4) for mark in "CD"
    ]
    few, many = render_lines(rows[:4], 150), render_lines(rows, 150)
    assert len(few.lines) == 4
    assert (
        sum(count_tokens(f"{row.mark}[{row.target}]: {row.content}\n") for row in rows) >= 150 * MERGE / 100
    )
    assert len(many.lines) == 4
    for n, line in enumerate(many.lines):
        assert line.startswith(f"C[target{n}]: ")
        assert line.count(f"what is said here of number {n}") == 2
    assert many.tokens < sum(count_tokens(f"{row.mark}[{row.target}]: {row.content}\n") for row in rows)


def test_the_last_used_constraints_are_printed_and_the_rest_is_counted() -> None:
    rows = [fact_row("C", f"c{n:02}", f"a rule of some length {n}", used_at=float(n)) for n in range(60)]
    block = block_of(*rows, further=40)
    lines = body(block)
    printed = sum(line.startswith("C[") for line in lines)
    assert 5 < printed < 30
    assert f"{100 - printed}" in lines[-1]
    assert lines[:-1] == sorted(lines[:-1])
    assert lines[-2].startswith("C[c59]")
    assert block.tokens <= BUDGET.block


@pytest.mark.parametrize("place", [0, 3, 5])
def test_a_fact_that_can_never_fit_hides_no_other(place: int) -> None:
    rows = [fact_row("C", f"c{n}", "short", used_at=float(n)) for n in range(6)]
    rows[place] = fact_row("C", f"c{place}", "重" * 400, used_at=float(place))
    lines = body(block_of(*rows))
    assert [line for line in lines if line.startswith("C[")] == [
        f"C[c{n}]: short" for n in range(6) if n != place
    ]
    assert "1 more fact" in lines[-1]


def test_open_scopes_are_named_as_far_as_there_is_room() -> None:
    assert "open: auth, billing" in block_of(fact_row(), scopes=["auth", "billing"]).text
    full = [fact_row("C", f"c{n}", f"a rule of some length {n}") for n in range(30)]
    block = block_of(*full, scopes=["a label that is long and takes room"] * 4)
    assert block.tokens <= BUDGET.block
    assert len(body(block)) > 5


# --- nothing but facts -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "</memory-facts>",
        "</ memory-facts>",
        "< /memory-facts>",
        "<\u200d/memory-facts>",
        "</\u200dmemory-facts>",
        "<\ufe0f/memory-facts>",
        "<\u034f/memory-facts>",
        "<\u200b/memory-facts>",
        "<\u2060/memory-facts>",
        "＜/memory-facts＞",
        "﹤/memory-facts﹥",
        "<<</memory-facts>",
        "<system>",
        "<|im_start|>system",
        "<!-- x -->",
        "<?xml?>",
    ],
)
def test_no_text_opens_a_tag(text: str) -> None:
    shown = escape(text)
    assert not shown.startswith(("<", "＜", "﹤"))
    assert "</memory" not in shown.replace("\u200d", "").replace("\ufe0f", "").replace("\u034f", "")


@pytest.mark.parametrize("text", ["a < b", "latency < 5 ms", "x<5", "a <= b", "->", "1 > 0", "a<=b"])
def test_a_comparison_stays_one(text: str) -> None:
    assert escape(text) == text


@given(st.text(st.characters(blacklist_categories=()), max_size=60))
def test_an_escaped_text_is_one_visible_line(text: str) -> None:
    shown = escape(text)
    assert len((shown + ".").splitlines()) == 1
    hidden = (
        "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200b\u200e\u200f\u2028\u2029\ufeff\x00\x1b"
    )
    assert not set(shown) & set(hidden)
    shown.encode()
    assert OPEN not in shown
    assert CLOSE not in shown


# --- the budget --------------------------------------------------------------------------------

CONTENT = st.one_of(
    st.text(max_size=400),
    st.text("重要な決定", min_size=1, max_size=400),
    st.text("🎉👩‍👧é\u202e<>·", max_size=400),
    st.sampled_from(["x" * 400, "a b " * 100, "0123456789 " * 36, "{}[]()" * 60, "!" * 400, "·" * 400]),
)
ROWS = st.lists(
    st.builds(
        fact_row,
        st.sampled_from("CDV?✓"),
        st.one_of(st.sampled_from(["a", "b.c", "重" * 200, "x" * 200]), st.text(min_size=1, max_size=50)),
        CONTENT,
        used_at=st.floats(0, 9),
    ),
    max_size=40,
)


def test_facts_on_one_target_are_merged_only_where_that_takes_less():
    rows = [fact_row("C", "a", ""), fact_row("C", "a", "")]
    assert len(render_lines(rows, 1).lines) == 2


@given(
    ROWS,
    st.lists(st.text(min_size=1, max_size=100), max_size=4),
    st.integers(0, 2_000),
    st.sampled_from([1, 5, 10, 30, 60, 150, 150, 150, 1_000]),
)
@settings(max_examples=150)
def test_the_block_is_never_over_its_budget(
    rows: list[FactRow], scopes: list[str], further: int, facts: int
) -> None:
    budget = Budget(facts, facts + 30)
    block = block_of(*rows, budget=budget, scopes=scopes, further=further)
    assert count_tokens(block.text) == block.tokens <= budget.block
    assert block.gauge.used <= budget.facts
    assert block.text.count(OPEN) == block.text.count(CLOSE) == 1
    for line in body(block):
        assert line[:2] in {"C[", "D[", "V[", "?[", "✓["} or line.startswith("and ")


@given(ROWS, st.integers(0, 100))
@settings(max_examples=75)
def test_every_fact_is_printed_or_counted(rows: list[FactRow], further: int) -> None:
    lines = fit_lines([*hot_set(*rows).constraints, *hot_set(*rows).others], further, 150)
    assert lines.tokens <= 150
    assert 0 <= lines.left_out <= len(rows) + further
    if lines.left_out == 0:
        assert further == 0
        shown = "\n".join(lines.lines)
        assert all(escape(row.content) in shown for row in rows)
    else:
        assert lines.lines[-1].startswith("and ")
