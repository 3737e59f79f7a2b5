"""The reference, made from the operations."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from mnemos.operations import reference, registry
from mnemos.operations.index import ENTRIES, Entry


@cache
def page() -> str:
    return reference.page()


def section_of(entry: Entry) -> str:
    after = page().partition(f"## {entry.command}\n")[2]
    return after.partition("\n## ")[0]


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
    for line in reference.page().splitlines():
        if line.startswith("|"):
            assert len(re.findall(r"(?<!\\)\|", line)) == 5, line


def test_the_page_is_written_into_the_folder_that_is_named(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "mnemos.operations.reference", str(tmp_path / "docs")],
        check=True,
        capture_output=True,
    )
    assert (tmp_path / "docs" / reference.FILE).read_text(encoding="utf-8") == reference.page()
