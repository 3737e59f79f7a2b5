"""Hints for SQL that failed, and warnings about SQL that SQLite takes for something else."""

from __future__ import annotations

import re
from functools import lru_cache

# Data may follow; what is misunderstood comes before it.
_LONGEST_LOOKED_AT = 10_000
_MOST_WARNINGS = 5
# Without one of these, a statement is not looked at token by token.
_MAY_MISLEAD = re.compile(
    r"[=>]\s*NULL|'\s*\+|\+\s*'|\sAS\s+(?:DATE|TIME|STRING|SIGNED|UNSIGNED)|\b1\s*/\s*\d|\)\s*/\s*COUNT"
    r"|\d{4}\s*-\s*\d|OR\s+'|BY\s+'|FORMAT\(|\d\s*\|\||SERIAL|INCREMENT|IDENTITY|\sSTRING|\sAFTER\s"
)


@lru_cache(256)
def warnings(sql: str) -> tuple[str, ...]:
    """Return what SQLite did differently from what a statement suggests; nothing for most.

    SQL that is merely unusual is left alone: an alarm about correct SQL teaches the reader to ignore alarms.
    """
    beginning = sql[:_LONGEST_LOOKED_AT]
    if not _MAY_MISLEAD.search(beginning.upper()):
        return ()
    # Their tables: most statements are plain.
    from mnemos.workspace.sandbox.hints.equivalents import ACCEPTED, recognise

    return recognise(beginning, ACCEPTED)[:_MOST_WARNINGS]
