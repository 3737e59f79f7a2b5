"""The reference, made from the operations."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from mnemos.operations import registry
from mnemos.operations.index import ENTRIES, Entry, part_of

SCRIPT = Path(__file__).parents[3] / "scripts" / "make_reference.py"
REFERENCE = runpy.run_path(str(SCRIPT))


@cache
def pages() -> dict[str, str]:
    made: dict[str, str] = REFERENCE["pages"]()
    return made


def section_of(entry: Entry) -> str:
    page = pages()[f"operations/{part_of(entry)}.md"]
    return page.partition(f"\n## {entry.command}\n")[2].partition("\n## ")[0]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_a_section_tells_all_of_an_operation(entry: Entry) -> None:
    operation = registry.load(entry)
    section = section_of(entry)
    assert registry.description(operation) in section
    for field in operation.__struct_fields__:
        assert f"| `{field}` |" in section
    assert f"mnemos {entry.command}" in section
    assert ("asks before" in section) == operation.traits.destructive
    assert ("read-only" in section) == operation.traits.read_only


def test_every_row_of_a_table_has_as_many_cells_as_its_head() -> None:
    for page in pages().values():
        for table in re.findall(r"(?:^\|.*\n)+", page, re.MULTILINE):
            assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1, table


def test_the_index_links_the_section_of_every_operation() -> None:
    linked = set(re.findall(r"\(operations/(\w+)\.md#([\w-]+)\)", pages()[REFERENCE["INDEX"]]))
    assert linked == {(part_of(entry), entry.command.replace(" ", "-")) for entry in ENTRIES}


def test_no_page_is_empty() -> None:
    for name, page in pages().items():
        assert "\n## " in page, name


def test_the_pages_are_written_into_the_folder_that_is_named(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, str(SCRIPT), str(tmp_path / "docs")],
        check=True,
        capture_output=True,
    )
    written = {
        path.relative_to(tmp_path / "docs").as_posix(): path.read_text(encoding="utf-8")
        for path in tmp_path.rglob("*.md")
    }
    assert written == pages()
