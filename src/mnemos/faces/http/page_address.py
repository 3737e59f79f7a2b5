"""The address of a home's page, so that a second `mnemos ui` finds the first."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from mnemos import files
from mnemos.errors import Busy

_FILE = "serving.url"
_LOCK = ".serving.lock"


@contextmanager
def announce(home: Path, url: str) -> Iterator[None]:
    """Record the page's address, unless another running server of the home did."""
    with ExitStack() as held:
        try:
            held.enter_context(files.lock(home, _LOCK, 0))
        except Busy:
            yield
            return
        files.replace(home / _FILE, url.encode(), alone=True)
        try:
            yield
        finally:
            (home / _FILE).unlink(missing_ok=True)


def find_running(home: Path) -> str | None:
    """Return the address of a home's page; None if no server is running."""
    try:
        # A process that holds the lock is alive, because the system releases it when one ends.
        with files.lock(home, _LOCK, 0):
            return None
    except Busy:
        pass
    try:
        return (home / _FILE).read_text() or None
    except OSError:
        return None
