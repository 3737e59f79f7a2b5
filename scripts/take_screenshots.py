"""Take the screenshots of the page that the documentation shows, from a sample home.

Run it with the environment of ``make test-web``: ``.venv-web/bin/python scripts/take_screenshots.py``.
``docs/assets/page.json`` keeps a hash of the page's files; a test of ``make test-web`` compares it.
"""

from __future__ import annotations

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


def hash_page() -> str:
    """Return a hash of everything that the screenshots show."""
    found = hashlib.sha256()
    for file in (
        "style.css",
        "app.js",
        "ui.js",
        "chart.js",
        "pages/recall.js",
        "pages/overview.js",
        "pages/facts.js",
    ):
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
            seen.visit(address)
            seen.page.wait_for_timeout(500)
            wire = seen.page.context.new_cdp_session(seen.page)
            shot = wire.send("Page.captureScreenshot", {"format": "webp", "quality": 80})
            (ASSETS / f"{name}.webp").write_bytes(base64.b64decode(shot["data"]))


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        subprocess.run([PYTHON, ROOT / "tests/web/sample_home.py", home], check=True)  # noqa: S603
        server = Server(home)
        try:
            take(server)
        finally:
            server.close()
    (ASSETS / "page.json").write_text(json.dumps({"sha256": hash_page()}) + "\n")


if __name__ == "__main__":
    main()
