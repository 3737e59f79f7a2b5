"""Facts as they are found and looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from mnemos.errors import InvalidInput, NotFound
from mnemos.facts import pressure, scopes
from mnemos.facts.block import Budget, compose
from mnemos.facts.conflicts import same
from mnemos.facts.model import Conflict, Fact, Scope, Status, fact_of, number_of
from mnemos.facts.references import References
from mnemos.inputs import name, names, optional_moment, optional_name, whole
from mnemos.language.notation import checked_target, key_of, mark_of
from mnemos.settings import Settings
from mnemos.storage.base import Reads, Storage
from mnemos.storage.facts import FactRow, Hot, ScopeRow, Wanted

Ranking = Callable[[str, str | None, int], list[str]]
"""Refs of facts that answer a question, best first, live ones before others.

Takes the question, the key of a scope or None, and how many are wanted.
"""

MOST_FOUND = 20
# No fact takes fewer tokens than this, so no more of them fit than the budget divided by it.
_TOKENS_OF_A_FACT = 6
_CONSTRAINTS_COUNTED = 1_000
_SCOPES_SHOWN = 4
_CONFLICTS_SHOWN = 3
_CONFLICTS_LISTED = 5
_A_PAGE = 500
_LOOKED_FOR = 300
_TIERS = {"all": None, "hot": True, "active": True, "cold": False}
_STATES = ("live", "superseded", "retired")


class Reading:
    """The facts of one space, read. Every method is one transaction unless it says otherwise."""

    def __init__(
        self,
        storage: Storage,
        settings: Settings,
        clock: Callable[[], float],
        ranking: Ranking,
        session_id: str,
    ) -> None:
        """``session_id``: whose turns count where a caller names no session."""
        self._storage = storage
        self._settings = settings
        self._clock = clock
        self._ranking = ranking
        self._session_id = session_id
        self._references = References()
        self._budget = Budget(settings.hot_tokens, settings.hot_tokens + 30)

    def status(self, *, session_id: str | None = None, notes: Sequence[str] = ()) -> Status:
        """What belongs in every prompt: the hot facts as a block within its budget of tokens.

        ``notes``: what the block says of the notebook, if there is room.
        """
        optional_name("session_id", session_id)

        def work(tx: Reads) -> Status:
            hot = hot_set(tx, self._budget.facts)
            open_scopes = tuple(scope.label for scope in tx.facts.open_scopes(_SCOPES_SHOWN))
            conflicts = tuple(map(conflict_of, tx.facts.conflicts(_CONFLICTS_LISTED)))
            targets = list(dict.fromkeys(conflict.target for conflict in conflicts))
            block = compose(
                lambda room: pressure.shown(hot, room),
                self._budget,
                scopes=open_scopes,
                conflicts=targets[:_CONFLICTS_SHOWN],
                notes=notes,
            )
            return Status(block.text, block.tokens, block.gauge, conflicts, open_scopes)

        return self._storage.read(work)

    def search(
        self,
        query: str,
        *,
        scope: str | None = None,
        limit: int = 5,
        session_id: str | None = None,
    ) -> list[Fact]:
        """Live facts that answer a question, hot and cold, best first. An unknown scope raises NotFound."""
        session = self._session(session_id)
        wanted = _between("limit", limit, 1, MOST_FOUND)
        found = self._found(query, scope, wanted)
        live = [row for row in found if row.state == "live"][:wanted]
        self._references.note(session, live)
        return [fact_of(row) for row in live]

    def says(self, content: str) -> bool:
        """Whether a live fact says exactly this, whatever its target. It is no reference to it."""
        found = self._found(content[:_LOOKED_FOR], None, MOST_FOUND)
        return any(row.state == "live" and same(row.content, content) for row in found)

    def live(self, target: str, type: str) -> list[Fact]:
        """The live facts of a type on a target, in any scope, the newest first."""
        key, mark = key_of(checked_target(target)), mark_of(type)
        found = self._storage.read(lambda tx: tx.facts.live_on(key, _A_PAGE))
        return [fact_of(row) for row in found if row.mark == mark]

    def reflect(
        self,
        topic: str,
        *,
        scope: str | None = None,
        limit: int = MOST_FOUND,
        session_id: str | None = None,
    ) -> list[Fact]:
        """Everything on a topic, live before what was replaced or withdrawn, best first."""
        session = self._session(session_id)
        found = self._found(topic, scope, _between("limit", limit, 1, 100))
        self._references.note(session, [row for row in found if row.state == "live"])
        return [fact_of(row) for row in sorted(found, key=lambda row: row.state != "live")][:limit]

    def get(self, fact_id: str) -> Fact:
        """A fact by its id, in any state. Unknown raises NotFound."""
        number = number_of(fact_id)
        found = self._storage.read(lambda tx: tx.facts.get([number]))
        if not found:
            raise NotFound(f"there is no fact {fact_id!r}")
        return fact_of(found[number])

    def history(
        self,
        target: str,
        *,
        scope: str | None = None,
        as_of: float | None = None,
        limit: int | None = None,
    ) -> list[Fact]:
        """Everything ever said on a target, the oldest first; with ``limit``, the newest of it.

        ``as_of``: only what was believed at that moment. A target that nothing was said on raises NotFound.
        """
        key = key_of(checked_target(target))
        moment = optional_moment("as_of", as_of)
        most = 1 << 60 if limit is None else whole("limit", limit)

        def work(tx: Reads) -> list[FactRow]:
            at = None if scope is None else known_scope(tx, scope).id
            if not tx.facts.history(key, scope_id=at, as_of=None, limit=1, before=None):
                where = f" in {scope}" if scope is not None else ""
                raise NotFound(
                    f"nothing was ever said on {target!r}{where}; the tool memory_search finds facts by words"
                )
            return tx.facts.history(key, scope_id=at, as_of=moment, limit=most, before=None)

        return [fact_of(row) for row in reversed(self._storage.read(work))]

    def listed(
        self,
        *,
        scope: str | None = None,
        tier: str = "all",
        states: Sequence[str] = ("live",),
        types: Sequence[str] | None = None,
        as_of: float | None = None,
    ) -> Iterator[Fact]:
        """Facts in the order they were learned, read in short pages. ``tier``: hot, cold or all.

        ``as_of``: what was believed at that moment, whatever became of it.
        """
        if not isinstance(tier, str) or tier not in _TIERS:
            raise InvalidInput(f"tier is {tier!r}; use {', '.join(_TIERS)}")
        states = names("states", states) or []
        for state in states:
            if state not in _STATES:
                raise InvalidInput(f"there is no state {state!r}; use {', '.join(_STATES)}")
        moment = optional_moment("as_of", as_of)
        if moment is not None and (tier != "all" or tuple(states) != ("live",)):
            raise InvalidInput("as_of lists what was believed then; which of it was hot is not kept")
        marks = None if types is None else [mark_of(sign) for sign in names("types", types) or ()]
        at = None if scope is None else self._storage.read(lambda tx: known_scope(tx, scope).id)
        wanted = Wanted(at, _TIERS[tier], tuple(states), marks, moment)
        return self._pages(wanted)

    def count(self) -> int:
        """How many facts are live."""
        return self._storage.read(lambda tx: tx.facts.rows_in()[0])

    def scopes(self, *, limit: int = 100, offset: int = 0) -> list[Scope]:
        """Units of work: open ones first, then by when they were last touched."""
        found = self._storage.read(
            lambda tx: tx.facts.all_scopes(limit=whole("limit", limit), offset=whole("offset", offset))
        )
        return [
            Scope(
                s.label, s.closed_at is None, s.opened_at, s.touched_at, s.closed_at, counts.hot, counts.live
            )
            for counts in found
            for s in (counts.scope,)
        ]

    def conflicts(self, limit: int = 100) -> list[Conflict]:
        """Live facts that contradict each other, the newest first."""
        return [
            conflict_of(pair)
            for pair in self._storage.read(lambda tx: tx.facts.conflicts(whole("limit", limit)))
        ]

    # --- inside -----------------------------------------------------------------------------

    def _found(self, query: str, scope: str | None, limit: int) -> list[FactRow]:
        if not isinstance(query, str) or not query.strip():
            raise InvalidInput(f"query is {query!r}; ask a question or give a few words")
        group = None if scope is None else self._storage.read(lambda tx: known_scope(tx, scope).key)
        numbers = [number_of(ref) for ref in self._ranking(query, group, limit)]
        rows = self._storage.read(lambda tx: tx.facts.get(numbers))
        return [rows[number] for number in numbers if number in rows]

    def _pages(self, wanted: Wanted) -> Iterator[Fact]:
        # Whoever writes meanwhile does not make the list longer.
        last = self._storage.read(lambda tx: tx.facts.newest())
        after = 0
        while page := self._storage.read(
            lambda tx: tx.facts.listed(wanted, after=after, through=last, limit=_A_PAGE)  # noqa: B023
        ):
            yield from map(fact_of, page)
            after = page[-1].id

    def _session(self, session_id: str | None) -> str:
        return self._session_id if session_id is None else name("session_id", session_id)


def hot_set(tx: Reads, budget: int) -> Hot:
    """What may ride in a prompt of that many tokens."""
    return tx.facts.hot(constraints=budget // _TOKENS_OF_A_FACT, count=_CONSTRAINTS_COUNTED)


def known_scope(tx: Reads, label: str) -> ScopeRow:
    scope = tx.facts.scope(key_of(scopes.checked_label(label)))
    if scope is None:
        known = [one.label for one in tx.facts.open_scopes(10)]
        advice = f"open are {', '.join(known)}" if known else "none is open; `mnemos facts scopes` lists them"
        raise NotFound(f"there is no scope {label!r}; {advice}")
    return scope


def conflict_of(pair: tuple[FactRow, FactRow]) -> Conflict:
    older, newer = map(fact_of, pair)
    return Conflict(newer.target, older, newer)


def _between(label: str, value: Any, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InvalidInput(f"{label} is {value!r}; use {least} to {most}")
    return value
