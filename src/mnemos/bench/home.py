"""A throw-away home that holds one corpus and is asked through ``Memory.recall``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mnemos.bench.model import Corpus, Session, Turn
from mnemos.errors import Unavailable
from mnemos.memory import Memory


class Home:
    """Answers with turns; ``mode`` is what the last answer was made with."""

    def __init__(self, memory: Memory, turn_of: dict[int, str]) -> None:
        self.memory = memory
        self.turn_of = turn_of
        self.mode = ""

    def ask(self, text: str, limit: int, now: float) -> list[str]:
        found = self.memory.recall(text, limit=limit, now=now)
        self.mode = found.mode
        return [self.turn_of[hit.ref] for hit in found.hits if isinstance(hit.ref, int)]

    @property
    def file_bytes(self) -> int:
        stats = self.memory.sessions.stats()
        return int(stats["file_bytes"] - stats["free_bytes"])


@contextmanager
def in_a_home(corpus: Corpus, **flags: Any) -> Iterator[Home]:
    """A home with the corpus in it, wholly indexed; it is gone afterwards. ``flags`` are settings."""
    with (
        TemporaryDirectory(prefix="mnemos-bench-") as folder,
        Memory.at(Path(folder) / "home", disabled=False, **flags) as memory,
    ):
        turn_of: dict[int, str] = {}
        for session in corpus.sessions:
            memory.sessions.create_session(session.id, "bench", started_at=session.started_at)
            ids = memory.sessions.append_messages(session.id, messages_of(session))
            turn_of.update(zip(ids, (turn.id for turn in session.turns), strict=True))
        _index(memory)
        yield Home(memory, turn_of)


def _index(memory: Memory) -> None:
    """Words and vectors of everything: what is measured is recall, not how far an index came."""
    memory.storage.catch_up()
    if memory.embedding.is_wanted:
        try:
            memory.embedding.catch_up()
        except Unavailable:
            # Recall then does without vectors, and its mode says so.
            pass


def messages_of(session: Session) -> list[dict[str, Any]]:
    return [
        {
            "role": turn.role,
            "content": turn.text,
            "timestamp": turn.at,
            "metadata": _metadata(turn),
        }
        for turn in session.turns
    ]


def _metadata(turn: Turn) -> dict[str, str]:
    return {"turn": turn.id} if turn.speaker is None else {"turn": turn.id, "speaker": turn.speaker}
