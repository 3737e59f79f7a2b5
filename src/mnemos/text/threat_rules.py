"""All rules about what a text says, each tried only where a sign of it stands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mnemos.text import (
    threat_authority,
    threat_concealment,
    threat_exfiltration,
    threat_override,
    threat_persistence,
    threat_tongues,
)
from mnemos.text.threat_blocks import blocks
from mnemos.text.threat_calls import calls
from mnemos.text.threat_commands import commands
from mnemos.text.threat_frames import frames
from mnemos.text.threat_markup import markup
from mnemos.text.threat_phrases import Phrases
from mnemos.text.threat_scripts import scripts
from mnemos.text.threat_sentences import sentences
from mnemos.text.threat_words import Words

BOOKS: Final = (
    threat_override.BOOK,
    threat_authority.BOOK,
    threat_concealment.BOOK,
    threat_exfiltration.BOOK,
    threat_persistence.BOOK,
)
_PHRASES: Final = Phrases(BOOKS)
_ABROAD: Final = Phrases(threat_tongues.BOOKS)


def find(text: str) -> Iterator[tuple[str, str, int, int]]:
    """(kind, reason, start, end) of what ``text``, folded, says to a model."""
    words = Words(text)
    yield from _PHRASES.find(words)
    yield from sentences(words)
    for reason, start, end in threat_override.run_together(text):
        yield "override", reason, start, end
    for reason, start, end in blocks(text):
        yield "system block", reason, start, end
    for reason, start, end in frames(text):
        yield "system block", reason, start, end
    for reason, start, end in calls(text):
        yield "tool call", reason, start, end
    yield from commands(text)
    yield from markup(text)


def abroad(text: str) -> Iterator[tuple[str, str, int, int]]:
    """The same for languages that nothing was learnt from, so that no weight speaks for or against them."""
    yield from _ABROAD.find(Words(text))
    yield from scripts(text)
