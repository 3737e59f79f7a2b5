"""Lookups, lists and rendering of facts: the part of ``memory.facts`` that reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from mnemos.facts.fact import (
    Conflict,
    Fact,
    FactList,
    Scope,
    Status,
    conflict_of,
    fact_of,
    is_same_content,
    scope_of,
)
from mnemos.facts.fact_reader import (
    PAGE,
    Ranking,
    References,
    State,
    Tier,
    find_rows,
    get_row,
    iterate_rows,
    parse_filter,
    read_history,
    read_status,
)
from mnemos.facts.hot_set import Budget
from mnemos.inputs import Moment, in_range, name, optional_name, whole
from mnemos.language.moments import read_moment
from mnemos.language.notation import key_of, mark_of, normalize_target
from mnemos.settings import Settings
from mnemos.storage.base import Storage

MOST_FOUND: Final = 20
_MOST_REFLECTED: Final = 100
_LOOKED_FOR: Final = 300


class FactLookups:
    """Lookups and lists of the facts of one space."""

    def __init__(
        self,
        storage: Storage,
        settings: Settings,
        clock: Callable[[], float],
        ranking: Ranking,
        session_id: str,
    ) -> None:
        """``session_id`` is the session whose turns count when a caller names none."""
        self._storage = storage
        self._settings = settings
        self._clock = clock
        self._ranking = ranking
        self._session_id = session_id
        self._references = References()
        self._budget = Budget(settings.hot_tokens, settings.hot_tokens + 30)

    def status(
        self,
        *,
        session_id: str | None = None,
        notes: Sequence[str] = (),
        user_id: str | None = None,
    ) -> Status:
        """Return the prompt block of the hot facts, within its token budget.

        ``notes`` is a line about the notebook, which is added if there is room. With a ``user_id``, this and
        every other method leave out other users' facts.
        """
        optional_name("session_id", session_id)
        user = optional_name("user_id", user_id)
        return self._storage.read(lambda tx: read_status(tx, self._budget, notes, user))

    def search(
        self,
        query: str,
        *,
        scope: str | None = None,
        limit: int = 5,
        session_id: str | None = None,
        user_id: str | None = None,
    ) -> FactList:
        """Find live facts, hot or cold, that answer a question, best first.

        ``limit`` is 1 to 20. An unknown scope raises NotFound.
        """
        session = self._session(session_id)
        wanted = in_range("limit", limit, MOST_FOUND)
        found = find_rows(self._storage, self._ranking, query, scope, wanted, user_id)
        live = [row for row in found if row.state == "live"][:wanted]
        self._references.note(session, live)
        return FactList(map(fact_of, live))

    def reflect(
        self,
        topic: str,
        *,
        scope: str | None = None,
        limit: int = MOST_FOUND,
        session_id: str | None = None,
        user_id: str | None = None,
    ) -> FactList:
        """Find all facts about a topic, best first, live ones before replaced and retired ones."""
        session = self._session(session_id)
        wanted = in_range("limit", limit, _MOST_REFLECTED)
        found = find_rows(self._storage, self._ranking, topic, scope, wanted, user_id)
        self._references.note(session, [row for row in found if row.state == "live"])
        found.sort(key=lambda row: row.state != "live")
        return FactList(map(fact_of, found[:wanted]))

    def says(self, content: str) -> bool:
        """True if a live shared fact has exactly this content. Doesn't count as a use of the fact."""
        found = find_rows(self._storage, self._ranking, content[:_LOOKED_FOR], None, MOST_FOUND)
        shared = (row for row in found if row.state == "live" and row.user_id is None)
        return any(is_same_content(row.content, content) for row in shared)

    def live(self, target: str, type: str) -> FactList:
        """Return the live facts of a type on a target, in any scope, newest first."""
        key, mark = key_of(normalize_target(target)), mark_of(type)
        found = self._storage.read(lambda tx: tx.facts.live_on(key, PAGE))
        return FactList(fact_of(row) for row in found if row.mark == mark)

    def get(self, fact_id: str) -> Fact:
        """Return a fact by its id, in any state. An unknown id raises NotFound."""
        return fact_of(self._storage.read(lambda tx: get_row(tx, fact_id)))

    def history(
        self,
        target: str,
        *,
        scope: str | None = None,
        as_of: Moment | None = None,
        limit: int | None = None,
        user_id: str | None = None,
    ) -> FactList:
        """Return all statements on a target, oldest first, or the newest ``limit`` of them.

        ``as_of`` keeps only what was believed at that moment. A target without facts raises NotFound.
        """
        asked: dict[str, Any] = {
            "scope": scope,
            "as_of": read_moment("as_of", as_of, self._clock()),
            "limit": 1 << 60 if limit is None else whole("limit", limit),
            "user": optional_name("user_id", user_id),
        }
        rows = self._storage.read(lambda tx: read_history(tx, target, **asked))
        return FactList(map(fact_of, reversed(rows)))

    def iterate(
        self,
        *,
        scope: str | None = None,
        tier: Tier = "all",
        states: Sequence[State] = ("live",),
        types: Sequence[str] | None = None,
        as_of: Moment | None = None,
        user_id: str | None = None,
    ) -> Iterator[Fact]:
        """Yield facts in the order they were learned, read in short pages.

        ``tier`` is hot, cold or all. ``as_of`` selects what was believed at that moment.
        """
        chosen: dict[str, Any] = {"scope": scope, "tier": tier, "states": states, "types": types}
        moment = read_moment("as_of", as_of, self._clock())
        wanted = parse_filter(self._storage, **chosen, as_of=moment, user_id=user_id)
        return map(fact_of, iterate_rows(self._storage, wanted))

    def list(
        self,
        *,
        scope: str | None = None,
        tier: Tier = "all",
        states: Sequence[State] = ("live",),
        types: Sequence[str] | None = None,
        as_of: Moment | None = None,
        user_id: str | None = None,
    ) -> FactList:
        """Return all facts that ``iterate`` yields."""
        chosen: dict[str, Any] = {"scope": scope, "tier": tier, "states": states, "types": types}
        return FactList(self.iterate(**chosen, as_of=as_of, user_id=user_id))

    def count(self) -> int:
        """Return the number of live facts."""
        return self._storage.read(lambda tx: tx.facts.rows_in()[0])

    def scopes(self, *, limit: int = 100, offset: int = 0) -> Sequence[Scope]:
        """Return scopes, open ones first, then by when they were last touched."""
        found = self._storage.read(
            lambda tx: tx.facts.all_scopes(limit=whole("limit", limit), offset=whole("offset", offset))
        )
        return [scope_of(counts) for counts in found]

    def conflicts(self, limit: int = 100, *, user_id: str | None = None) -> Sequence[Conflict]:
        """Return pairs of live facts that contradict each other, newest first."""
        user = optional_name("user_id", user_id)
        pairs = self._storage.read(lambda tx: tx.facts.conflicts(whole("limit", limit), user))
        return [conflict_of(pair) for pair in pairs]

    def _session(self, session_id: str | None) -> str:
        return self._session_id if session_id is None else name("session_id", session_id)
