"""Measure the page in Chromium: the long conversation, its files, every page with its data, the first paint.

The home has 140,000 messages, one conversation of 100,000, and 5,000 facts. Needs the environment of
``make test-web``. Times are from a change of the address to the frame in which everything is drawn:

- ``conversation``: opening one of 100,000 messages ÷ one of 100, taken in turn; jumps; scrolling;
- ``pages``: each page, until no call is under way and nothing is busy; Health also without its checks;
- ``files``: bytes as they are sent, compressed one by one;
- ``paint``: the largest contentful paint of Overview in a tab that is loaded again ÷ that of the page
  without a session.
"""

from __future__ import annotations

import gzip
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.measure import median, percentile
from benchmarks.peers import ROOT, working_folder
from benchmarks.report import Options, Result, Table

# Chromium's driver has an environment of its own, so that nothing else depends on it.
sys.path.extend(str(folder) for folder in ROOT.glob(".venv-web/lib/python*/site-packages"))

from playwright.sync_api import Page, sync_playwright
from tests.web.conftest import CHROMIUM, PAGES, PYTHON, Seen, Server, opening

LONG, QUICK_LONG = 100_000, 2_000
CROWD, QUICK_CROWD = 1_000, 20
JUMPS, QUICK_JUMPS = 40, 6
WEB = ROOT / "src/mnemos/faces/http/web"
BARS = {
    "conversation": {"ratio": 3, "opened_ms": 1500, "jump_p95_ms": 300, "offset_px": 2, "frame_p95_ms": 33},
    "files": {"first_page": 20_480, "all": 46_080, "style": 10_240},
    "pages": {"p95_ms": 500},
    "paint": {"ratio": 2},
}

# Counts calls under way, except the stream of changes, which does not end.
COUNT_CALLS = """() => {
  const plain = window.fetch;
  window.underWay = 0;
  window.fetch = async (...given) => {
    const isStream = String(given[0]).includes("/v1/events");
    window.underWay += !isStream;
    try { return await plain(...given); } finally { window.underWay -= !isStream; }
  };
}"""
OPEN = """async ([address, ready]) => {
  const began = performance.now();
  location.hash = "#/" + address;
  for (let quiet = 0; quiet < 2; ) {
    await new Promise(requestAnimationFrame);
    const isReady = ready ? document.querySelector(ready)
      : !window.underWay && !document.querySelector("#main [aria-busy=true]");
    quiet = isReady ? quiet + (ready ? 2 : 1) : 0;
    if (performance.now() - began > 20000) return 20000;
  }
  return performance.now() - began;
}"""
SCROLL = """async () => {
  const box = document.querySelector(".reader"), times = [];
  let last = await new Promise(requestAnimationFrame);
  for (let at = 0; at < 300; at++) {
    box.scrollTop += 120;
    const now = await new Promise(requestAnimationFrame);
    times.push(now - last);
    last = now;
  }
  return times;
}"""
OFFSET = """() => document.querySelector(".message.here").getBoundingClientRect().top
  - document.querySelector(".reader").getBoundingClientRect().top - 8"""
PAINT = """() => new Promise((resolve) => {
  new PerformanceObserver((list) => resolve(list.getEntries().at(-1).startTime))
    .observe({ type: "largest-contentful-paint", buffered: true });
})"""


def run(options: Options) -> Result:
    long, crowd = (QUICK_LONG, QUICK_CROWD) if options.quick else (LONG, CROWD)
    with working_folder() as folder:
        home = folder / "home"
        command = [
            PYTHON,
            ROOT / "tests/web/sample_home.py",
            home,
            "--long",
            str(long),
            "--crowd",
            str(crowd),
        ]
        subprocess.run(command, check=True)
        server = Server(home)
        try:
            figures = _measure(server, long, options)
        finally:
            server.close()
    return Result("page", _draw_tables(figures), {"messages": long + crowd * 39, "bars": BARS, **figures})


def _measure(server: Server, long: int, options: Options) -> dict[str, Any]:
    launched = {"executable_path": CHROMIUM, "args": ["--no-sandbox", "--enable-precise-memory-info"]}
    with sync_playwright() as driver, driver.chromium.launch(**launched) as browser, opening(browser) as tab:
        seen = tab(server)
        first = _list_modules(seen.page)
        seen.page.evaluate(COUNT_CALLS)
        return {
            "conversation": _read_conversation(seen, long, options),
            "pages": {
                name: _open_page(seen.page, name, options) for name in (*PAGES, "health without checks")
            },
            "files": _weigh(first),
            "paint": _paint(server, seen, options),
        }


def _open(page: Page, address: str, ready: str = "") -> float:
    found: float = page.evaluate(OPEN, [address, ready])
    return found


def _read_conversation(seen: Seen, long: int, options: Options) -> dict[str, float]:
    page, drawn = seen.page, ".message:not(.coming)"
    taken: dict[str, list[float]] = {"short": [], "long": []}
    _open(page, "sessions/work-001", drawn)
    for _ in range(options.repeat + 2):
        for name, times in taken.items():
            _open(page, "notebook", ".notes")
            times.append(_open(page, f"sessions/{name}", drawn))
    start = page.evaluate(
        "async () => (await (await import('/page/core.js'))"
        ".call('sessions_messages', {session: 'long', limit: 1})).messages[0].id"
    )
    chance, jumps, offsets = random.Random(2), [], []
    for _ in range(QUICK_JUMPS if options.quick else JUMPS):
        number = chance.randrange(100, long - 100)
        ready = f".message.here[data-number='{number}']:not(.coming)"
        jumps.append(_open(page, f"sessions/long@{start + number}", ready))
        page.wait_for_timeout(250)
        offsets.append(abs(page.evaluate(OFFSET)))
    frames = page.evaluate(SCROLL)
    page.wait_for_timeout(500)
    opened = median(taken["long"])
    return {
        "opened_ms": opened,
        "opened_short_ms": median(taken["short"]),
        "ratio": opened / median(taken["short"]),
        "jump_p50_ms": median(jumps),
        "jump_p95_ms": percentile(jumps, 0.95),
        "offset_px": max(offsets),
        "frame_p95_ms": percentile(frames, 0.95),
        "empty_rows": page.evaluate("document.querySelectorAll('.message.coming').length"),
        "elements": page.evaluate("document.querySelectorAll('*').length"),
        "heap_mb": page.evaluate("performance.memory.usedJSHeapSize / 1e6"),
    }


def _open_page(page: Page, name: str, options: Options) -> dict[str, float]:
    address = {
        "recall": "recall?q=which queue did we choose for the order mails?",
        "health without checks": "health",
    }.get(name, name)
    times = []
    for _ in range(options.repeat + 2):
        _open(page, "nowhere", "h1")
        times.append(_open(page, address, ".meter" if name == "health without checks" else ""))
    return {"p50_ms": median(times), "p95_ms": percentile(times, 0.95)}


def _list_modules(page: Page) -> set[Path]:
    found = page.evaluate("performance.getEntriesByType('resource').map(one => new URL(one.name).pathname)")
    return {WEB / path.removeprefix("/page/") for path in found if path.endswith(".js")}


def _weigh(first: set[Path]) -> dict[str, int]:
    def size(files: Any) -> int:
        return sum(len(gzip.compress(file.read_bytes(), mtime=0)) for file in files)

    return {"first_page": size(first), "all": size(WEB.rglob("*.js")), "style": size(WEB.rglob("*.css"))}


def _paint(server: Server, seen: Seen, options: Options) -> dict[str, float]:
    session = seen.page.evaluate("({ ...sessionStorage })")
    times: dict[str, list[float]] = {"shell": [], "overview": []}
    for _ in range(options.repeat):
        for name, kept in times.items():
            page = seen.page.context.new_page()
            page.goto(f"{server.url}page/icon.svg")
            if name == "overview":
                page.evaluate("session => Object.assign(sessionStorage, session)", session)
            page.goto(f"{server.url}#/overview")
            page.wait_for_selector(".figures" if name == "overview" else ".sign-in")
            page.wait_for_timeout(500)
            kept.append(page.evaluate(PAINT))
            page.close()
    shell, overview = median(times["shell"]), median(times["overview"])
    return {"shell_ms": shell, "overview_ms": overview, "ratio": overview / shell}


def _draw_tables(figures: dict[str, Any]) -> list[Table]:
    parts = []
    for name in ("conversation", "files", "paint"):
        rows = [
            [key, f"{value:,.1f}" if isinstance(value, float) else f"{value:,}", f"{BARS[name].get(key, '')}"]
            for key, value in figures[name].items()
        ]
        parts.append(Table(name, ("", "measured", "bar"), rows))
    rows = [[name, f"{one['p50_ms']:.0f}", f"{one['p95_ms']:.0f}"] for name, one in figures["pages"].items()]
    return [*parts, Table("pages, ms (bar: p95 500)", ("", "p50", "p95"), rows)]
