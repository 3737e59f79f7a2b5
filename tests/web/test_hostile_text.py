"""Text that wants to be code stays text, with the policy of the page and without it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from .conftest import PYTHON, ROOT, SECONDS, Open, Server
from .test_tasks import ask

COUNT = 70
# Orders to a model and names that are none are refused; most of the rest must be on the pages.
LANDED = {
    "memory_write": 60,
    "notebook_add": 50,
    "entries_set": 60,
    "templates_create": 30,
    "sqlite_query": 65,
}
# Elements that the page never draws, and attributes that would run or load something.
FOREIGN = """() => {
  const tags = new Set(['script', 'iframe', 'object', 'embed', 'img', 'image', 'video', 'audio', 'link',
    'style', 'meta', 'base', 'math', 'template', 'marquee', 'portal', 'use', 'animate', 'x']);
  const loads = new Set(['href', 'src', 'action', 'formaction', 'xlink:href', 'srcdoc', 'data']);
  const found = [];
  for (const one of document.querySelectorAll('#app *')) {
    if (tags.has(one.localName)) found.push(one.localName);
    for (const { name, value } of one.attributes) {
      if (name.startsWith('on')) found.push(name);
      if (loads.has(name) && !value.startsWith('#/') && value !== '#main') found.push(name + '=' + value);
    }
  }
  return found;
}"""
UNFOLD = """() => {
  const press = list => { for (const one of document.querySelectorAll(list)) one.click(); };
  press('#main summary, #main [aria-expanded=false]');
  press('#main .stored button.plain, #main .message > button.plain');
}"""
ROWS = """() => [...document.querySelectorAll('#main a[data-row]')]
  .map(one => one.getAttribute('href').slice(2))"""
PAGES = """overview sessions sessions?q=script facts facts?status=everything notebook workspace people
  templates live log log?entry=1 connections health everything"""
ADDRESSES = [
    *PAGES.split(),
    "recall?q=which script and onerror and slots",
    *(f"sessions/bad-{number:02d}" for number in range(COUNT)),
    *(f"facts/bad.{number}" for number in range(0, COUNT, 12)),
]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("hostile") / "home"
    command = [PYTHON, ROOT / "tests/web/hostile_home.py", folder]
    done = subprocess.run(command, check=True, timeout=SECONDS * 3, stdout=subprocess.PIPE)
    landed = json.loads(done.stdout)
    print(landed)
    assert {name: landed.get(name, 0) >= least for name, least in LANDED.items()} == dict.fromkeys(
        LANDED, True
    )
    opened = Server(folder)
    yield opened
    opened.close()


@pytest.mark.parametrize("csp", [True, False], ids=["policy", "no policy"])
def test_hostile_text_stays_text(hostile: Server, open_page: Open, csp: bool) -> None:
    seen = open_page(hostile, csp=csp)
    addresses = list(ADDRESSES)
    for page in ("people", "workspace", "templates"):
        seen.visit(page)
        seen.page.wait_for_selector("#main a[data-row]")
        addresses += seen.page.evaluate(ROWS)[::3]
    for address in addresses:
        seen.visit(address)
        # Everything that shows more and changes nothing.
        seen.page.evaluate(UNFOLD)
        assert seen.page.evaluate(FOREIGN) == [], address
        assert seen.page.evaluate("[window.__ran, document.title.includes('Mnemos')]") == [None, True], (
            address
        )
    for keys in (["Control+k"], ["?"]):
        seen.keys(*keys)
        seen.page.wait_for_selector("dialog[open]")
        if keys == ["Control+k"]:
            seen.page.keyboard.type("script onerror")
            seen.page.wait_for_selector("text=/message/")
        assert seen.page.evaluate(FOREIGN) == []
        seen.keys("Escape")
    assert seen.dialogs == []
    assert seen.hosts == {hostile.url.split("/")[2]}
    assert seen.errors == []


@pytest.mark.parametrize("csp", [True, False], ids=["policy", "no policy"])
def test_hostile_text_of_errors_actors_and_reports_stays_text(
    hostile: Server, open_page: Open, csp: bool
) -> None:
    seen = open_page(hostile, csp=csp)
    names = seen.page.evaluate(
        "async () => (await (await import('/page/core.js')).call('sessions_list', {limit: 100}))"
        ".sessions.map(one => one.source).filter(Boolean)"
    )
    assert len(names) >= COUNT - 2
    for name in names:
        # The error quotes the name, for there is no such conversation.
        seen.visit(f"sessions/{quote(name, safe='')}?q=x")
        expect(seen.page.get_by_role("alert").first).to_contain_text("no session")
        assert seen.page.evaluate(FOREIGN) == [], name
    for address, shown in (("log", "<portal src="), ("overview", "<img src=x"), ("live", "")):
        seen.visit(address)
        expect(seen.page.locator("#main")).to_contain_text(shown)
        assert seen.page.evaluate(FOREIGN) == [], address
    for file in Path(f"{hostile.home}-person/.claude/projects/shop").iterdir():
        # Files that did not change are not read again.
        file.write_text(file.read_text() + "not JSON\n")
    seen.visit("connections")
    seen.page.locator("li", has_text="Claude Code").get_by_role("button", name="import").click()
    expect(seen.page.locator("#main")).to_contain_text("Could not be read")
    expect(seen.page.locator("#main")).to_contain_text("<script>window.__ran=1")
    assert seen.page.evaluate(FOREIGN) == []
    assert seen.page.evaluate("window.__ran") is None
    assert seen.dialogs == []
    assert [one for one in seen.errors if "404" not in one] == []


def test_invisible_characters_have_marks(hostile: Server, open_page: Open) -> None:
    seen = open_page(hostile)
    seen.visit("sessions/bad-61")
    expect(seen.page.locator(".message .mark").first).to_be_visible()
    marks = set(seen.page.locator(".message .mark").all_inner_texts())
    assert {"U+202E", "U+200B", "U+2060", "U+FEFF"} <= marks


def test_speakers_and_diffs_show_text_as_it_is(hostile: Server, open_page: Open) -> None:
    seen = open_page(hostile)
    seen.visit("recall?q=script+onerror+alert&kind=message")
    speakers = seen.page.locator(".hit header").all_inner_texts()
    assert any("<" in one and "onerror" in one for one in speakers), speakers
    assert seen.page.evaluate(FOREIGN) == []
    ask(hostile, "sessions_title", {"session": "bad-00", "title": "left\u200bright <img src=x>"})
    entry = ask(hostile, "log", {"limit": 1})["entries"][0]["id"]
    seen.visit(f"log?entry={entry}")
    expect(seen.page.locator(".diff .mark")).to_have_text("U+200B")
    expect(seen.page.locator(".diff")).to_contain_text("<img src=x>")
    assert seen.page.evaluate(FOREIGN) == []
    assert seen.errors == []
