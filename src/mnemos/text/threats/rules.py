"""All rules about what a text says, each tried only where a sign of it stands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mnemos.text.threats import authority, concealment, exfiltration, override, persistence, tongues
from mnemos.text.threats.blocks import blocks
from mnemos.text.threats.calls import calls
from mnemos.text.threats.commands import commands
from mnemos.text.threats.frames import frames
from mnemos.text.threats.markup import markup
from mnemos.text.threats.phrases import Phrases
from mnemos.text.threats.scripts import scripts
from mnemos.text.threats.sentences import sentences
from mnemos.text.threats.words import Words

BOOKS: Final = (
    override.BOOK,
    authority.BOOK,
    concealment.BOOK,
    exfiltration.BOOK,
    persistence.BOOK,
)
_PHRASES: Final = Phrases(BOOKS)
_ABROAD: Final = Phrases(tongues.BOOKS)


def find(text: str) -> Iterator[tuple[str, str, int, int]]:
    """(kind, reason, start, end) of what ``text``, folded, says to a model."""
    words = Words(text)
    yield from _PHRASES.find(words)
    yield from sentences(words)
    for reason, start, end in override.run_together(text):
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
