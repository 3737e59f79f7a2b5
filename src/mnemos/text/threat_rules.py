"""All rules about what a text says, each tried only where a sign of it stands."""

from __future__ import annotations

from collections.abc import Iterator

from mnemos.text import threat_concealment, threat_exfiltration, threat_override, threat_persistence
from mnemos.text.threat_blocks import blocks, calls
from mnemos.text.threat_commands import commands
from mnemos.text.threats import ThreatKind

_BOOKS = (
    (ThreatKind.OVERRIDE, threat_override.BOOK),
    (ThreatKind.CONCEALMENT, threat_concealment.BOOK),
    (ThreatKind.EXFILTRATION, threat_exfiltration.BOOK),
    (ThreatKind.PERSISTENCE, threat_persistence.BOOK),
)


def find(text: str) -> Iterator[tuple[ThreatKind, str, int, int]]:
    for kind, book in _BOOKS:
        for reason, start, end in book.find(text):
            yield kind, reason, start, end
    for reason, start, end in blocks(text):
        yield ThreatKind.SYSTEM, reason, start, end
    for reason, start, end in calls(text):
        yield ThreatKind.TOOL_CALL, reason, start, end
    for reason, start, end in commands(text):
        yield ThreatKind.EXFILTRATION, reason, start, end
