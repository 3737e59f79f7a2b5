"""What entries near in meaning are found by."""

from __future__ import annotations

from mnemos.entries.service import Meaning
from mnemos.errors import Unavailable
from mnemos.recall.embedders.base import embedder
from mnemos.recall.embedding import quantised


def shipped() -> Meaning | None:
    """The model in the package, also where recall has another: one that asks a server is too slow for this.

    None when its files are missing or damaged, which the doctor tells.
    """
    try:
        static = embedder("static")
    except Unavailable:
        return None
    return Meaning(static.name, static.embed, quantised)
