"""Reads of facts: ranked lookup, history, pages, and references to found facts."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, Literal, get_args

from mnemos.errors import InvalidInput, NotFound
from mnemos.facts.fact import Status, conflict_of, number_of
from mnemos.facts.hot_set import Budget, compose_block, read_hot, render_hot
from mnemos.facts.scopes import find_scope
from mnemos.inputs import names, optional_name, suggest
from mnemos.language.notation import key_of, mark_of, normalize_target
from mnemos.language.standing_text import LEFT_OUT, is_order
from mnemos.language.threats.guard import is_allowed
from mnemos.storage.base import Reads, Storage, Writes
from mnemos.storage.facts import Attendance, FactRow, Wanted

Ranking = Callable[[str, str | None, int, str | None], list[str]]
"""Return the ids of facts that answer a question, best first, live ones before others.

Takes the question, the key of a scope or None, the number of results, and the user or None.
"""

PAGE: Final = 500
_SCOPES_SHOWN: Final = 4
_CONFLICTS_SHOWN: Final = 3
_CONFLICTS_LISTED: Final = 5
Tier = Literal["all", "hot", "active", "cold"]
State = Literal["live", "superseded", "retired"]
_TIERS: Final = {"all": None, "hot": True, "active": True, "cold": False}
_STATES: Final = get_args(State)
# A process that only searches keeps this many references and drops the oldest.
_MOST_REFERENCES: Final = 1_000


def read_status(tx: Reads, budget: Budget, notes: Sequence[str], user: str | None) -> Status:
    hot = read_hot(tx, budget.facts, user)
    open_scopes = tuple(scope.label for scope in tx.facts.open_scopes(_SCOPES_SHOWN))
    conflicts = tuple(map(conflict_of, tx.facts.conflicts(_CONFLICTS_LISTED, user)))
    targets = list(dict.fromkeys(conflict.target for conflict in conflicts))
    block = compose_block(
        lambda room: render_hot(hot, room),
        budget,
        scopes=[_show_name(tx, label) for label in open_scopes],
        conflicts=[_show_name(tx, target) for target in targets[:_CONFLICTS_SHOWN]],
        notes=notes,
    )
    return Status(block.text, block.tokens, block.gauge, conflicts, open_scopes)


def _show_name(tx: Reads, name: str) -> str:
    """Return a name to show in the block, unless imported data put a prompt injection there."""
    return LEFT_OUT if is_order(name) and not is_allowed(tx, name) else name


def find_rows(
    storage: Storage,
    ranking: Ranking,
    query: str,
    scope: str | None,
    limit: int,
    user_id: str | None = None,
) -> list[FactRow]:
    """Return facts in any state that answer a question, best first, without other users' facts."""
    user = optional_name("user_id", user_id)
    if not isinstance(query, str) or not query.strip():
        raise InvalidInput(f"query is {query!r}. Ask a question or give a few words.")
    group = None if scope is None else storage.read(lambda tx: find_scope(tx, scope).key)
    numbers = [number_of(ref) for ref in ranking(query, group, limit, user)]
    rows = storage.read(lambda tx: tx.facts.get(numbers))
    return [rows[number] for number in numbers if number in rows]


def read_history(
    tx: Reads,
    target: str,
    *,
    scope: str | None,
    as_of: float | None = None,
    limit: int = 1 << 60,
    user: str | None = None,
) -> list[FactRow]:
    """Return the statements on a target, newest first. Raises NotFound if there never was one."""
    key = key_of(normalize_target(target))
    scope_id = None if scope is None else find_scope(tx, scope).id
    if not tx.facts.history(key, scope_id=scope_id, as_of=None, limit=1, before=None, user=user):
        where = f" in {scope}" if scope is not None else ""
        raise NotFound(
            f"There is no fact about {target!r}{where}. The tool memory_search finds facts by words."
        )
    return tx.facts.history(key, scope_id=scope_id, as_of=as_of, limit=limit, before=None, user=user)


def parse_filter(
    storage: Storage,
    *,
    scope: str | None,
    tier: str,
    states: Sequence[str],
    types: Sequence[str] | None,
    as_of: float | None,
    user_id: str | None = None,
) -> Wanted:
    if not isinstance(tier, str) or tier not in _TIERS:
        raise InvalidInput(f"tier must be one of {', '.join(_TIERS)}, not {tier!r}.{suggest(tier, _TIERS)}")
    states = names("states", states) or []
    for state in states:
        if state not in _STATES:
            meant = suggest(state, _STATES)
            raise InvalidInput(f"Unknown state {state!r}.{meant} Use {', '.join(_STATES)}.")
    if as_of is not None and (tier != "all" or tuple(states) != ("live",)):
        raise InvalidInput("as_of can't be combined with tier or states: past tiers are not recorded")
    marks = None if types is None else [mark_of(sign) for sign in names("types", types) or ()]
    scope_id = None if scope is None else storage.read(lambda tx: find_scope(tx, scope).id)
    return Wanted(scope_id, _TIERS[tier], tuple(states), marks, as_of, optional_name("user_id", user_id))


def iterate_rows(storage: Storage, wanted: Wanted) -> Iterator[FactRow]:
    """Yield the facts known at the first read, in the order learned, using short reads."""
    last = storage.read(lambda tx: tx.facts.newest())
    after = 0
    while page := storage.read(
        lambda tx: tx.facts.select(wanted, after=after, through=last, limit=PAGE)  # noqa: B023
    ):
        yield from page
        after = page[-1].id


def get_row(tx: Reads, fact_id: str, user: str | None = None) -> FactRow:
    """Return a fact in any state. An unknown id, or another user's, raises NotFound."""
    number = number_of(fact_id)
    found = tx.facts.get([number]).get(number)
    if found is None or (user is not None and found.user_id not in (None, user)):
        raise NotFound(f"There is no fact {fact_id!r}.")
    return found


class References:
    """References to facts that were found. They are kept until the next write, as reads don't write."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._uses: Counter[int] = Counter()
        self._scopes: dict[str, set[int]] = {}

    def __bool__(self) -> bool:
        return bool(self._uses)

    def note(self, session_id: str, facts: Iterable[FactRow]) -> None:
        """Note that a session found these facts."""
        with self._lock:
            for fact in facts:
                if len(self._uses) < _MOST_REFERENCES:
                    self._uses[fact.id] += 1
                if fact.scope_id is not None:
                    self._scopes.setdefault(session_id, set()).add(fact.scope_id)

    def store(self, tx: Writes, now: float) -> None:
        """Store the noted references in the caller's transaction."""
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
