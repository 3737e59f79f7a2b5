"""The log of recalls: the last questions, who asked them, and their results.

Recall doesn't write. A question is noted in memory, then stored by the background thread when it is idle, or
when the memory is closed.
"""

from __future__ import annotations

import json
import logging
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final

from mnemos.errors import MnemosError
from mnemos.settings import ACTING
from mnemos.storage.base import Reads, Writes
from mnemos.storage.recalls import RecallRow
from mnemos.text.secrets import redact
from mnemos.text.stored_text import repair_surrogates
from mnemos.text.tokens import count_tokens

if TYPE_CHECKING:
    from mnemos.memory.memory import Memory
    from mnemos.recall.answer import Recall

KEPT: Final = 1_000
# The number of questions that can wait to be stored. Older ones are dropped.
_WAITING: Final = 200
_LONGEST: Final = 2_000
# A shorter text is contained in too many questions by chance.
_TELLING: Final = 4

log = logging.getLogger("mnemos.memory")

_session: ContextVar[str | None] = ContextVar("mnemos_recall_session", default=None)
_PRIVATE: Final = "\0"


@contextmanager
def asked_in(session_id: str | None, *, private: bool = False) -> Iterator[None]:
    """Log questions asked in this context as a session's, or not at all if it is private."""
    token = _session.set(_PRIVATE if private else session_id or None)
    try:
        yield
    finally:
        _session.reset(token)


class RecallLog:
    """The questions asked of one memory."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._waiting: deque[tuple[float, str, str | None, Recall]] = deque(maxlen=_WAITING)
        self._storing = threading.Lock()

    def note(self, found: Recall) -> bool:
        """Note a question in memory; False if questions are not logged."""
        session_id = _session.get()
        if not self._memory.settings.recall_log or session_id == _PRIVATE or not found.query.strip():
            return False
        self._waiting.append((self._memory.clock(), ACTING.get(), session_id, found))
        return True

    def store(self) -> None:
        """Store the waiting questions, but drop those asked before the latest removal.

        So a text that another process forgets can't enter the log afterwards.
        """
        memory = self._memory
        with self._storing:
            waiting = list(self._waiting)
            if not waiting or memory.storage.read_only or memory.settings.disabled:
                return
            # It is unknown which session a question belongs to, so none are logged if one is private.
            rows = [] if memory.sessions.has_private else [self._make_row(*one) for one in waiting]

            def work(tx: Writes) -> None:
                now = tx.passages.version()[-1:]
                states = [found.state[-1:] for *_, found in waiting]
                fresh = [row for row, state in zip(rows, states, strict=False) if state == now]
                tx.recalls.add(fresh, keep=KEPT)

            try:
                if rows:
                    memory.storage.write(work)
            except MnemosError as exc:
                log.info("questions are not logged: %s", exc)
            for _ in waiting:
                if self._waiting:
                    self._waiting.popleft()

    def _make_row(self, at: float, actor: str, session_id: str | None, found: Recall) -> RecallRow:
        settings = self._memory.settings
        query = repair_surrogates(found.query[:_LONGEST].replace("\0", ""))
        return RecallRow(
            at,
            actor or settings.actor,
            session_id,
            redact(query) if settings.redact else query,
            json.dumps([f"{hit.kind}:{hit.ref}" for hit in found.hits]),
            found.certainty,
            count_tokens(found.text),
            round(found.milliseconds, 3),
        )

    def list(self, limit: int = 50, *, before: int | None = None) -> list[RecallRow]:
        """Return the stored questions, newest first."""
        return self._memory.storage.read(lambda tx: tx.recalls.newest(limit, before=before))

    def forget(self, refs: Sequence[str], texts: Sequence[str]) -> None:
        """Erase questions that found one of these items, belong to a session among them, or repeat a text."""
        self._waiting.clear()
        telling = [text for text in (_fold(one) for one in texts) if len(text) >= _TELLING]

        def is_about(row: RecallRow) -> bool:
            query = _fold(row.query)
            if any(query in text or text in query for text in telling):
                return True
            return not {*json.loads(row.hits), f"session:{row.session_id}"}.isdisjoint(refs)

        def work(tx: Writes) -> None:
            tx.recalls.remove([row.id for row in tx.recalls.newest(KEPT) if is_about(row)])

        def find(tx: Reads) -> bool:
            return any(map(is_about, tx.recalls.newest(KEPT)))

        if self._memory.storage.read(find):
            self._memory.storage.write(work)


def _fold(text: str) -> str:
    return " ".join(text.casefold().split())
