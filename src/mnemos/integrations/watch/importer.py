"""The process that imports for the watch. It reads the programs' names as lines."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import suppress

from mnemos.errors import MnemosError, NotFound
from mnemos.integrations.hooks import hook_log
from mnemos.memory import Memory
from mnemos.settings import Settings
from mnemos.transfer import agent_places, import_formats


def import_named(settings: Settings, lines: Iterable[str]) -> int:
    """Import each named program until the lines end. Returns 1 if one has to be retried."""
    left: set[str] = set()
    with Memory(settings) as memory:
        for line in lines:
            kind = line.strip()
            if kind in agent_places.KINDS:
                left = {one for one in left | {kind} if not import_program(memory, one)}
        left = {one for one in left if not import_program(memory, one)}
    return 1 if left else 0


def import_program(memory: Memory, kind: str) -> bool:
    """Import what is new of a program. Returns False if it has to be retried."""
    there = [path for path in agent_places.find_default_places(kind, memory.settings) if path.exists()]
    if not there or memory.settings.disabled:
        return True
    try:
        report = memory.imports.import_files(import_formats.load_at(kind, there), there[0], undoable=False)
    except NotFound:
        # The folder has no conversations. It is read again when it changes.
        return True
    except MnemosError as exc:
        hook_log.note(memory.settings.home, f"watch {kind}", exc)
        return False
    if report.problems:
        # `mnemos import` names the file and the reason.
        hook_log.note(memory.settings.home, f"watch {kind}", f"{len(report.problems)} could not be read")
    return True


def main() -> None:
    home, space = sys.argv[1:3]
    with suppress(KeyboardInterrupt):
        sys.exit(import_named(Settings.load(home, space=space), sys.stdin))


if __name__ == "__main__":
    main()
