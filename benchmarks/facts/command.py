"""Facts against hermes-memory 0.3.0: found by plain questions, in process, and over a pipe.

hermes-memory runs in an environment of its own with ``mcp<2`` next to it: with the SDK that its own
requirement gets it does not start. Its store is filled as its closing of scopes leaves facts, and
each turn has a tick, as its documentation asks, so that its 85% rule has nothing to archive while
it is timed; what that rule does is measured apart.
"""

from __future__ import annotations

import sys
from typing import Any

from benchmarks.facts import quality, speed, stdio
from benchmarks.peers import HERMES_MEMORY, Contender, assemble, children, working_folder
from benchmarks.report import Options, Result, Table

MNEMOS = Contender(stdio.MNEMOS, "benchmarks.facts.product")
PEER = Contender(stdio.PEER, "benchmarks.facts.hermes_memory_peer", environment=HERMES_MEMORY)


def run(options: Options) -> Result:
    field = assemble((MNEMOS, *((PEER,) if options.peers else ())))
    missing = dict(field.missing)
    tables: list[Table] = []
    figures: dict[str, Any] = {}
    with working_folder() as folder, children(field.contenders, folder) as team:
        if team:
            _say("telling facts and asking for them")
            figures["quality"] = quality.measure(team, folder)
            figures["filled"] = speed.stores(team, options.sizes, folder, _say)
            figures["in_process"] = speed.measure(team, folder, options, _say)
            tables = [quality.table(figures["quality"]), *speed.tables(figures["in_process"])]
        names = [child.name for child in team]
        figures["stdio"] = stdio.measure(names, folder, options, missing, _say)
        tables += [stdio.table(int(size), found) for size, found in figures["stdio"].items()]
    return Result("facts", tables, figures, field.versions, missing)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
