"""The site: its navigation and llms.txt come from the index. `make docs` builds it."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType
from typing import ClassVar

import pytest

from .pages import DOCS, ROOT, text_of


def load_script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"scripts_{name}", ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


SITE = load_script("site")


def test_llms_txt_is_up_to_date() -> None:
    assert text_of(DOCS / "llms.txt") == SITE.render_llms(), "run: python scripts/site.py"


def test_the_charts_are_drawn_from_the_newest_results() -> None:
    plots = load_script("plot_benchmarks")
    kept = {path.name: text_of(path) for path in plots.CHARTS.glob("*.svg")}
    assert kept == plots.charts(), "run: python scripts/plot_benchmarks.py"


def test_every_page_is_in_the_navigation_once() -> None:
    listed = [
        (DOCS / path).resolve()
        for section in SITE.read_index()
        for one in (section, *section.sections)
        for _, path, _ in one.pages
    ]
    assert len(listed) == len(set(listed))
    assert {page.resolve() for page in DOCS.rglob("*.md")} - set(listed) == {DOCS / "README.md"}


def test_navigation_is_by_need() -> None:
    assert [section.title for section in SITE.read_index()] == [
        "Get started",
        "Use it in…",
        "Guides",
        "Reference",
        "How it works",
        "Decisions",
    ]


@pytest.mark.parametrize(
    ("page", "link", "on_the_site"),
    [
        ("tutorial.md", "[a](../MEMORY_SPEC.md)", "[a](MEMORY_SPEC.md)"),
        ("how-to/facts.md", "[a](../../MEMORY_SPEC.md#types)", "[a](../MEMORY_SPEC.md#types)"),
        ("how-to/facts.md", "[a](../tutorial.md)", "[a](../tutorial.md)"),
        ("SECURITY.md", "[a](docs/tutorial.md)", "[a](tutorial.md)"),
    ],
)
def test_a_link_out_of_the_folder_leads_to_the_page_on_the_site(
    page: str, link: str, on_the_site: str
) -> None:
    class File:
        src_uri = page

    class Page:
        file = File
        meta: ClassVar[dict[str, object]] = {}

    assert SITE.on_page_markdown(link, Page) == on_the_site
