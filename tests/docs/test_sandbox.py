"""The page on the sandbox names every limit as it is, and tests that are there."""

from __future__ import annotations

import re

from mnemos.workspace import limits
from mnemos.workspace.usage import KEPT

from .pages import DOCS, ROOT, text_of

PAGE = text_of(DOCS / "explanation" / "sandbox.md")


def test_every_limit_is_on_the_page_with_its_value_and_its_reason() -> None:
    for limit in (*limits.OF_SQLITE, *limits.OF_THE_WORKER):
        assert f"| `{limit.name.lower()}` | {limit.value:,} | {limit.reason} |" in PAGE


def test_every_test_that_the_page_names_is_there() -> None:
    attacks = ROOT / "tests" / "attacks" / "workspace"
    for name in re.findall(r"`((?:tests/)?[\w/]*(?:\.py|card))`", PAGE):
        assert (ROOT / name).exists() or (attacks / name).exists(), name


def test_the_rule_for_snapshots_is_in_the_guide() -> None:
    text = text_of(DOCS / "how-to" / "workspace.md")
    for name, (_, most, least) in zip(("snapshot", "10 minutes", "hour", "day", "week"), KEPT, strict=True):
        assert f"| {name} | {most} | {least} |" in text
