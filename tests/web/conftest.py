"""A real browser on a real server. Run with ``make test-web``: it has an environment of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv" / "bin" / "python"
CHROMIUM = os.environ.get("MNEMOS_CHROMIUM", "/usr/bin/chromium")
AXE = ROOT / ".venv-web" / "axe" / "node_modules" / "axe-core" / "axe.min.js"
SECONDS = 60
# Machines that test are busy.
expect.set_options(timeout=SECONDS * 1000)
LINK = re.compile(rb"http://[^\s]+#t=[\w-]+")
PAGES = (
    "overview", "recall", "sessions", "facts", "notebook", "workspace", "people",
    "templates", "live", "log", "connections", "health", "everything",
)  # fmt: skip


def run_program(*arguments: str, **environment: str) -> str:
    """Run the command mnemos and return what it prints."""
    done = subprocess.run(
        [PYTHON, "-m", "mnemos", *arguments],
        env=_environment(environment),
        capture_output=True,
        timeout=SECONDS,
        check=True,
    )
    return done.stdout.decode()


def _environment(more: dict[str, str]) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("MNEMOS_")}
    return kept | {"DISPLAY": "", "WAYLAND_DISPLAY": "", "NO_COLOR": "1"} | more


class Server:
    """A process of `mnemos ui`."""

    def __init__(self, home: Path, *arguments: str) -> None:
        self.home = home
        self._arguments = arguments
        self._start(0)

    def _start(self, port: int) -> None:
        # Programs to connect are looked for below HOME: the tests' own.
        person = self.home.parent / f"{self.home.name}-person"
        person.mkdir(exist_ok=True)
        where = ("--home", str(self.home), "--port", str(port))
        with (self.home.parent / "server.log").open("ab") as log:
            self.process = subprocess.Popen(
                [PYTHON, "-m", "mnemos", "ui", "--no-open", *where, *self._arguments],
                env=_environment({"HOME": str(person), "PYTHONUNBUFFERED": "1"}),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
            )
        assert self.process.stdout is not None
        found = next((match for line in self.process.stdout if (match := LINK.search(line))), None)
        assert found is not None, (self.home.parent / "server.log").read_text()
        self._first: str | None = found[0].decode()
        self.url = self._first.partition("#")[0]

    def link(self) -> str:
        """Return a link that was not used yet."""
        first, self._first = self._first, None
        if first is not None:
            return first
        found = LINK.search(run_program("ui", "--no-open", "--home", str(self.home)).encode())
        assert found is not None
        return found[0].decode()

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(timeout=SECONDS) == 0

    def start_again(self) -> None:
        self._start(int(self.url.rsplit(":", 1)[1].strip("/")))

    def close(self) -> None:
        if self.process.poll() is None:
            self.stop()
        assert self.process.stdout is not None
        self.process.stdout.close()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    # --no-sandbox: tests run as root in containers.
    options: dict[str, Any] = {"executable_path": CHROMIUM, "args": ["--no-sandbox"]}
    with sync_playwright() as playwright, playwright.chromium.launch(**options) as opened:
        yield opened


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sample") / "home"
    subprocess.run([PYTHON, ROOT / "tests/web/sample_home.py", folder], check=True, timeout=SECONDS)
    return folder


@pytest.fixture(scope="session")
def server(sample: Path) -> Iterator[Server]:
    """A server of the sample home, for tests that change nothing."""
    opened = Server(sample)
    yield opened
    opened.close()


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[Server]:
    """A server of a sample home of its own."""
    folder = tmp_path / "home"
    subprocess.run([PYTHON, ROOT / "tests/web/sample_home.py", folder], check=True, timeout=SECONDS)
    opened = Server(folder)
    yield opened
    opened.close()


# The page draws after the event, and fetches when it has drawn.
SET_ADDRESS = """address => new Promise(done => {
  const drawn = () => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 0)));
  if (location.hash === address) return drawn();
  addEventListener("hashchange", drawn, { once: true });
  location.hash = address;
})"""


class Seen:
    """A tab, and what went wrong in it."""

    def __init__(self, context: BrowserContext) -> None:
        self.page: Page = context.new_page()
        self.page.set_default_timeout(SECONDS * 1000)
        self.errors: list[str] = []
        self.hosts: set[str] = set()
        self.dialogs: list[str] = []
        self.page.on(
            "console", lambda one: self.errors.append(one.text) if one.type in ("error", "warning") else None
        )
        self.page.on("pageerror", lambda one: self.errors.append(str(one)))
        self.page.on(
            "request", lambda one: self.hosts.add(one.url.split("/")[2] if "//" in one.url else one.url[:80])
        )
        self.page.on("dialog", self._dismiss)

    def _dismiss(self, dialog: Any) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def visit(self, address: str) -> None:
        """Go to an address of the page and wait until everything is drawn."""
        self.page.evaluate(SET_ADDRESS, f"#/{address}")
        self.settle()

    def settle(self) -> None:
        self.page.wait_for_load_state("networkidle")
        self.page.wait_for_selector("#main [aria-busy=true]", state="detached")

    def keys(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)


Open = Callable[..., Seen]


@contextmanager
def opening(browser: Browser) -> Iterator[Open]:
    contexts: list[BrowserContext] = []

    def open_page(
        server: Server, *, dark: bool = False, width: int = 1280, height: int = 900, csp: bool = True
    ) -> Seen:
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            reduced_motion="reduce",
            locale="en-GB",
            bypass_csp=not csp,
        )
        contexts.append(context)
        seen = Seen(context)
        seen.page.goto(server.link())
        seen.page.wait_for_selector("nav.side", state="attached")
        seen.settle()
        return seen

    yield open_page
    for context in contexts:
        context.close()


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Open]:
    with opening(browser) as opened:
        yield opened
