"""Every page in both colours and widths: no violation of axe, no error, no request to another host."""

from __future__ import annotations

import gzip
import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import pytest

from .conftest import AXE, PAGES, ROOT, Open, Seen, Server

WEB = ROOT / "src/mnemos/faces/http/web"
ADDRESSES = """overview recall recall?q=when+did+we+move+the+database sessions sessions?q=mails
  recall?q=mails&q2=mails&words2=1 sessions/slot-bug sessions/work-000 facts facts/srv.prod facts/srv.port
  facts?as_of=2020-01-01 facts?status=everything&q=srv facts?open=f8 people?open=3
  notebook workspace workspace/default/products
  workspace?view=snapshots people people/ana templates templates/find-a-time-bug live log log?entry=13
  connections health everything everything/recall everything/forget nowhere""".split()
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def find_violations(seen: Seen) -> list[str]:
    if not seen.page.evaluate("typeof axe === 'object'"):
        # The policy of the page does not hinder what a debugger evaluates.
        seen.page.evaluate(AXE.read_text())
    found: dict[str, Any] = seen.page.evaluate(
        "async rules => await axe.run(document, {runOnly: {type: 'tag', values: rules}})", RULES
    )
    return [
        f"{one['id']}: {node['target']} {node['failureSummary'][:200]}"
        for one in found["violations"]
        for node in one["nodes"]
    ]


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_pages_have_no_violation_of_axe_and_no_error(
    server: Server, open_page: Open, dark: bool, width: int
) -> None:
    seen = open_page(server, dark=dark, width=width)
    found = []
    for address in ADDRESSES:
        seen.visit(address)
        found += [f"{address}: {one}" for one in find_violations(seen)]
        if seen.page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            found.append(f"{address}: wider than the window")
    assert found == []
    assert seen.errors == []
    assert seen.hosts == {server.url.split("/")[2]}
    assert seen.page.context.cookies() == []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_overlays_have_no_violation_of_axe(server: Server, open_page: Open, dark: bool) -> None:
    seen = open_page(server, dark=dark)
    for keys in (["?"], ["Control+k"]):
        seen.keys(*keys)
        seen.page.wait_for_selector("dialog[open]")
        assert find_violations(seen) == []
        seen.keys("Escape")
        seen.page.wait_for_selector("dialog[open]", state="detached")


def size(*files: Path) -> int:
    return sum(len(gzip.compress(file.read_bytes(), 9, mtime=0)) for file in files)


def list_loaded(seen: Seen) -> set[Path]:
    """The modules that the page has loaded; all of them were sent compressed."""
    found = seen.page.evaluate(
        """performance.getEntriesByType('resource').filter(one => one.name.endsWith('.js'))
          .map(one => [new URL(one.name).pathname, one.encodedBodySize < one.decodedBodySize])"""
    )
    assert all(is_compressed for _, is_compressed in found)
    return {WEB / path.removeprefix("/page/") for path, _ in found}


def test_page_stays_small(server: Server, open_page: Open) -> None:
    seen = open_page(server)
    first = list_loaded(seen)
    assert WEB / "app.js" in first
    assert size(*first) <= 20 * 1024
    for page in PAGES:
        before = list_loaded(seen)
        seen.visit(page)
        assert size(*list_loaded(seen) - before) <= 10 * 1024, page
    # A module for each page: together more than one archive of all would be. The benchmark has the figure.
    assert size(*WEB.rglob("*.js")) <= 67 * 1024
    assert size(*WEB.rglob("*.css")) <= 10 * 1024
    assert sum(file.stat().st_size for file in WEB.rglob("*") if file.is_file()) <= 250_000


FORBIDDEN = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|document\.write|\beval\(|new Function"
    r"|srcdoc|createPolicy|localStorage\.setItem\((?!\"theme\")|document\.cookie|https?://(?!\$)"
)


def test_no_module_makes_html_from_text() -> None:
    for file in WEB.rglob("*.js"):
        if file.parent.name == "vendor":
            continue
        text = file.read_text()
        assert FORBIDDEN.findall(text) == [], file
        # Addresses are made by one function, which begins them with #/.
        made = set(re.findall(r"\bhref=(\$\{\w+|\"[^\"]*\")", text))
        assert made <= {"${to", "${placeOf", '"#main"'}, file
        assert not re.search(r"\b(src|action|formaction|style)=\$\{(?!\{)", text), file


def test_screenshots_of_the_documentation_show_this_page() -> None:
    spec = importlib.util.spec_from_file_location("take_screenshots", ROOT / "scripts/take_screenshots.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    kept = json.loads((ROOT / "docs/assets/page.json").read_text())
    assert kept["sha256"] == script.hash_page(), "run .venv-web/bin/python scripts/take_screenshots.py"
