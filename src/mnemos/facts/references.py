"""Which facts were found, kept until the next write: a read writes nothing."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable

from mnemos.storage.base import Writes
from mnemos.storage.facts import Attendance, FactRow

# A process that only searches forgets the oldest beyond this.
_MOST = 1_000


class References:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._uses: Counter[int] = Counter()
        self._scopes: dict[str, set[int]] = {}

    def __bool__(self) -> bool:
        return bool(self._uses)

    def note(self, session_id: str, facts: Iterable[FactRow]) -> None:
        """These facts were found by this session."""
        with self._lock:
            for fact in facts:
                if len(self._uses) < _MOST:
                    self._uses[fact.id] += 1
                if fact.scope_id is not None:
                    self._scopes.setdefault(session_id, set()).add(fact.scope_id)

    def store(self, tx: Writes, now: float) -> None:
        """Write down what was noted, in a transaction of somebody else's."""
        with self._lock:
            uses, touched = self._uses, self._scopes
            self._uses, self._scopes = Counter(), {}
        if uses:
            tx.facts.refer(uses, now)
        for session_id, ids in touched.items():
            attendance = tx.facts.attendance(session_id)
            if attendance is None:
                attendance = Attendance()
                tx.facts.attend(session_id, attendance, now)
            still_open = [scope.id for scope in tx.facts.scopes(ids).values() if scope.closed_at is None]
            tx.facts.touch(session_id, still_open, attendance.turn, now)
