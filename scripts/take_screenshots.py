"""Take the screenshots of the page that the documentation shows, from a sample home.

Run it with the environment of ``make test-web``: ``.venv-web/bin/python scripts/take_screenshots.py``.
``docs/assets/page.json`` keeps a hash of the page's files; a test of ``make test-web`` compares it.
With ``--all FOLDER`` it takes every page and dialog in both colours and widths instead, to be looked at.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.web.conftest import CHROMIUM, PYTHON, Server, opening  # noqa: E402

ASSETS = ROOT / "docs" / "assets"
WEB = ROOT / "src" / "mnemos" / "faces" / "http" / "web"
SHOTS = {
    "page-recall": ("recall?q=which queue did we choose for the order mails?", False),
    "page-facts": ("facts", True),
}


PAGES = """overview recall?q=which+queue+did+we+choose recall?q=mails&q2=cards sessions sessions?q=mails
  sessions/work-000?q=mails sessions/slot-bug facts facts?status=everything facts/srv.port notebook workspace
  workspace/default/products people people/ana templates templates/find-a-time-bug live log connections health
  everything everything/forget nowhere""".split()
# Name, address, and what to press: a selector, or a key after "key=".
DIALOGS = {
    "keys": ("overview", "key=?"),
    "palette": ("overview", "key=Control+k"),
    "spaces": ("overview", ".space"),
    "menu": ("overview", ".menu"),
    "forget": ("sessions/work-000", "[aria-label='forget message 1']"),
    "delete": ("sessions/work-000", "text=delete"),
    "new-fact": ("facts", "key=n"),
    "correct": ("facts/srv.prod", "text=correct"),
    "parts": ("recall?q=which+queue+did+we+choose", ".hit button[aria-expanded]"),
    "edit": ("notebook", "text=edit"),
    "versions": ("notebook", "text=versions"),
    "room": ("notebook", "text=Make room"),
    "change": ("log?entry=13", ""),
    "undo": ("log", "li:has-text('sessions.import') button:text-is('undo')"),
    "entry": ("people/ana", "text=change"),
    "remove": ("people/ana", "text=delete"),
    "connect": ("connections", "text=connect…"),
    "repair": ("health", "text=Repair"),
}


def hash_page() -> str:
    """Return a hash of everything that the screenshots show."""
    found = hashlib.sha256()
    for file in ("style.css", "app.js", "ui.js", "forms.js", "pages/recall.js", "pages/facts.js"):
        found.update((WEB / file).read_bytes())
    return found.hexdigest()


def take(server: Server) -> None:
    options = {"executable_path": CHROMIUM, "args": ["--no-sandbox"]}
    with (
        sync_playwright() as playwright,
        playwright.chromium.launch(**options) as browser,
        opening(browser) as tab,
    ):
        for name, (address, is_dark) in SHOTS.items():
            seen = tab(server, dark=is_dark, width=1280, height=800)
            # The first question of a server loads the vectors: the picture has the time of a usual one.
            seen.visit("recall?q=the+first+question")
            seen.visit(address)
            seen.page.wait_for_timeout(500)
            wire = seen.page.context.new_cdp_session(seen.page)
            shot = wire.send("Page.captureScreenshot", {"format": "webp", "quality": 80})
            (ASSETS / f"{name}.webp").write_bytes(base64.b64decode(shot["data"]))


def take_all(server: Server, folder: Path) -> None:
    """Take every page and dialog in both colours and widths."""
    folder.mkdir(parents=True, exist_ok=True)
    options = {"executable_path": CHROMIUM, "args": ["--no-sandbox"]}
    with sync_playwright() as playwright, playwright.chromium.launch(**options) as browser:
        for is_dark in (False, True):
            for width in (1280, 390):
                with opening(browser) as tab:
                    seen = tab(server, dark=is_dark, width=width, height=900)
                    ending = f"{width}-{'dark' if is_dark else 'light'}.png"
                    for number, address in enumerate(PAGES):
                        seen.visit(address)
                        seen.page.wait_for_timeout(200)
                        name = f"{number:02d}-{address.partition('?')[0].replace('/', '-')}"
                        seen.page.screenshot(path=folder / f"{name}-{ending}", full_page=True)
                    for name, (address, pressed) in DIALOGS.items():
                        seen.visit(address)
                        seen.page.reload()
                        seen.page.wait_for_selector("nav.side", state="attached")
                        seen.settle()
                        seen.page.wait_for_timeout(200)
                        if pressed.startswith("key="):
                            seen.keys(pressed.removeprefix("key="))
                        elif pressed and seen.page.locator(pressed).first.is_visible():
                            seen.page.locator(pressed).first.click()
                        seen.page.wait_for_timeout(300)
                        seen.page.screenshot(path=folder / f"dialog-{name}-{ending}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--all", type=Path, metavar="FOLDER", help="every page and dialog, for whoever reviews"
    )
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        subprocess.run([PYTHON, ROOT / "tests/web/sample_home.py", home], check=True)  # noqa: S603
        server = Server(home)
        try:
            take_all(server, given.all) if given.all else take(server)
        finally:
            server.close()
    if not given.all:
        (ASSETS / "page.json").write_text(json.dumps({"sha256": hash_page()}) + "\n")


if __name__ == "__main__":
    main()
