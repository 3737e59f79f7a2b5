"""Child processes that export and import archives, run as a script like ``roles.py``."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

from roles import report

import mnemos

# Maximum number of lines, however much there is to do.
_STEPS = 200


def _telling() -> Callable[[float], None]:
    told = -1

    def progress(share: float) -> None:
        nonlocal told
        if int(share * _STEPS) > told:
            told = int(share * _STEPS)
            report(share)

    return progress


def import_archive(home: str, archive: str) -> None:
    """Import an archive; report how far it is."""
    with mnemos.open(home, embedder="none") as memory:
        memory.import_archive(archive, _telling())


def export(home: str, archive: str) -> None:
    """Export everything; report how far it is."""
    with mnemos.open(home, embedder="none") as memory:
        memory.export(archive, _telling())


ROLES: dict[str, Callable[..., None]] = {role.__name__: role for role in (import_archive, export)}

if __name__ == "__main__":
    ROLES[sys.argv[1]](**json.loads(sys.argv[2]))
