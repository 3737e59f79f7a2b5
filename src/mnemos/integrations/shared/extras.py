"""The import of a framework, with an error that says how to install it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from mnemos.errors import how_to_install


@contextmanager
def framework(extra: str) -> Iterator[None]:
    """Add to an ImportError how to install the framework, or a newer release of it."""
    try:
        yield
    except ImportError as exc:
        what = f"{exc}. This adapter needs the framework in a release that has it. {how_to_install(extra)}"
        raise type(exc)(what, name=exc.name, path=exc.path) from exc
