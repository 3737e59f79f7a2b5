"""MEMORY_SPEC.md says what the code does: marks, short forms, limits, tools, and lines that can be read."""

from __future__ import annotations

import re

import pytest

from mnemos.facts.hot_set import LEGEND, Budget
from mnemos.facts.keywords import ABBREVIATIONS, SIGNS
from mnemos.facts.scopes import MAX_LABEL
from mnemos.language.notation import MAX_LINES, MAX_TARGET, MEANING, parse
from mnemos.operations import registry
from mnemos.operations.index import Entry

from .pages import ROOT, blocks, text_of

PAGE = ROOT / "MEMORY_SPEC.md"
TEXT = text_of(PAGE)
FACTS = registry.choose_entries("facts")


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_every_mark_is_explained() -> None:
    for mark, meaning in MEANING.items():
        assert f"\n| {mark} | {meaning} | " in TEXT


def test_every_short_form_is_listed_with_its_long_form() -> None:
    section = TEXT.partition("\n## Short forms\n")[2].partition("\n## ")[0]
    assert dict(re.findall(r"`(\w+)` \| (\w+)", section)) == ABBREVIATIONS
    for sign in SIGNS:
        assert f"`{sign}`" in section


def test_the_legend_is_the_one_that_is_printed() -> None:
    assert LEGEND in [block.text.strip() for block in blocks(PAGE)]


def test_the_lines_shown_first_can_be_read() -> None:
    first = blocks(PAGE)[0].text
    assert {statement.mark for statement in parse(first)} == set(MEANING)


def test_every_line_of_the_examples_can_be_read() -> None:
    section = TEXT.partition("\n## Examples\n")[2].partition("\n## ")[0]
    lines = re.findall(r"\| `(.+)` \|$", section, re.MULTILINE)
    assert len(lines) >= 5
    for line in lines:
        assert [str(statement) for statement in parse(line)] == [line]


@pytest.mark.parametrize("limit", [MAX_TARGET, MAX_LABEL, MAX_LINES, Budget().facts, 400])
def test_every_limit_is_named(limit: int) -> None:
    assert re.search(rf"\b{limit}\b", TEXT)


@pytest.mark.parametrize("entry", FACTS, ids=lambda entry: entry.name)
def test_every_tool_is_listed_with_its_arguments_and_what_it_answers(entry: Entry) -> None:
    (row,) = [line for line in TEXT.splitlines() if line.startswith(f"| `{entry.name}` |")]
    operation = registry.load(entry)
    _, arguments, answers = cells(row)
    taken = set(operation.__struct_fields__) - {"session_id"} - registry.person_fields(operation)
    assert set(re.findall(r"`(\w+)`", arguments)) == taken
    given = set(registry.result_of(operation).__struct_fields__)
    assert given <= set(re.findall(r"`(\w+)`", answers))
