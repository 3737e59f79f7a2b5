"""Facts inside the caller's transaction."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from mnemos.storage.facts import (
    CONTRADICTS,
    Attendance,
    FactLink,
    FactRow,
    Hot,
    NewFact,
    ScopeCounts,
    ScopeRow,
    Wanted,
)
from mnemos.storage.transaction import Store, write_ids

_SESSION_SECONDS = 30 * 86400.0
# A message that names more targets than this isn't about any of them.
_SCOPES_OF_TARGETS = 20
# A restore doesn't keep higher ids, because too few would be left for new facts.
_MOST_KEPT = 1 << 40


class StoredFactReads(Store):
    def get(self, ids: Collection[int]) -> dict[int, FactRow]:
        return {fact.id: fact for fact in self._facts(self._sql.of_ids, ids=write_ids(ids))}

    def live_on(self, key: str, limit: int, user: str | None = None) -> list[FactRow]:
        return self._facts(self._sql.live_on, key=key, limit=limit, user=user)

    def live_in(self, key: str, scope_id: int | None, user_id: str | None = None) -> list[FactRow]:
        return self._facts(self._sql.live_in, key=key, scope=scope_id or 0, user=user_id or "")

    def history(
        self,
        key: str,
        *,
        scope_id: int | None,
        as_of: float | None,
        limit: int,
        before: int | None,
        user: str | None = None,
    ) -> list[FactRow]:
        asked = {"key": key, "scope": scope_id, "as_of": as_of, "limit": limit, "before": before}
        return self._facts(self._sql.history, **asked, user=user)

    def newest(self) -> int:
        return self._tx.value(self._sql.newest, (self._space.id,)) or 0

    def select(self, wanted: Wanted, *, after: int, through: int, limit: int) -> list[FactRow]:
        marks = None if wanted.marks is None else json.dumps(list(wanted.marks))
        asked = {"scope": wanted.scope_id, "marks": marks, "after": after, "through": through, "limit": limit}
        asked["user"] = wanted.user
        if wanted.hot and wanted.as_of is None:
            return self._facts(self._sql.select_hot, **asked)
        states = json.dumps(list(wanted.states))
        return self._facts(self._sql.select, **asked, states=states, hot=wanted.hot, as_of=wanted.as_of)

    def list_ended(self, scope_id: int | None, before: float | None, limit: int) -> list[int]:
        asked = {"space": self._space.id, "scope": scope_id, "before": before, "limit": limit}
        return [fact for (fact,) in self._tx.rows(self._sql.ended, asked)]

    def count_ended(self, scope_id: int | None, before: float | None) -> int:
        return self._number(
            self._sql.count_ended, {"space": self._space.id, "scope": scope_id, "before": before}
        )

    def earlier(self, fact: FactRow, limit: int) -> list[int]:
        asked = {"id": fact.id, "mark": fact.mark, "limit": limit}
        return [earlier for (earlier,) in self._tx.rows(self._sql.earlier, asked)]

    def of_message(self, message_id: int, limit: int) -> list[FactRow]:
        return self._facts(self._sql.of_message, message=message_id, limit=limit)

    def of_source(self, session_id: str, message_ids: Collection[int]) -> list[FactRow]:
        return self._facts(self._sql.of_source, session=session_id, messages=write_ids(message_ids))

    def successors(self, fact_id: int, limit: int) -> list[FactRow]:
        return self._facts(self._sql.successors, id=fact_id, limit=limit)[::-1]

    def predecessors(self, fact_id: int, limit: int) -> list[FactRow]:
        return self._facts(self._sql.predecessors, id=fact_id, limit=limit)[::-1]

    def hot(self, *, constraints: int, count: int, user: str | None = None) -> Hot:
        found = self._facts(self._sql.hot_constraints, limit=constraints, user=user)
        further = 0
        if len(found) == constraints:
            asked = {"space": self._space.id, "limit": constraints + count, "user": user}
            further = self._number(self._sql.count_hot_constraints, asked) - constraints
        return Hot(tuple(found), further, tuple(self._facts(self._sql.hot_others, user=user)))

    def conflicts(self, limit: int, user: str | None = None) -> list[FactLink]:
        asked = {"space": self._space.id, "limit": limit, "user": user}
        found = self._tx.rows(self._sql.conflicts, asked)
        facts = self.get({fact for older, newer, _ in found for fact in (older, newer)})
        return [FactLink(facts[older], facts[newer], reason) for older, newer, reason in found]

    def doubts(self, ids: Collection[int]) -> list[tuple[int, int]]:
        return self._tx.rows(self._sql.doubts, (write_ids(ids), self._space.id))

    def heads(self, ids: Collection[int]) -> dict[int, int]:
        return dict(self._tx.rows(self._sql.heads, (write_ids(ids), self._space.id)))

    def scope(self, key: str) -> ScopeRow | None:
        found = self._scopes(self._sql.scope, (self._space.id, key))
        return found[0] if found else None

    def scopes(self, ids: Collection[int]) -> dict[int, ScopeRow]:
        return {
            scope.id: scope
            for scope in self._scopes(self._sql.scopes_of_ids, (write_ids(ids), self._space.id))
        }

    def open_scopes(self, limit: int) -> list[ScopeRow]:
        return self._scopes(self._sql.open_scopes, (self._space.id, limit))

    def newest_scopes(self, limit: int) -> list[ScopeRow]:
        return self._scopes(self._sql.newest_scopes, (self._space.id, limit))

    def all_scopes(self, *, limit: int, offset: int) -> list[ScopeCounts]:
        found = self._tx.rows(self._sql.all_scopes, (self._space.id, limit, offset))
        return [ScopeCounts(ScopeRow(*row[:6]), row[6], row[7]) for row in found]

    def scopes_named(self, keys: Sequence[str]) -> list[ScopeRow]:
        return self._scopes(self._sql.scopes_named, {"space": self._space.id, "keys": json.dumps(keys)})

    def scopes_of_targets(self, keys: Sequence[str]) -> list[ScopeRow]:
        asked = {"space": self._space.id, "keys": json.dumps(keys), "limit": _SCOPES_OF_TARGETS}
        return self._scopes(self._sql.scopes_of_targets, asked)

    def attendance(self, session_id: str) -> Attendance | None:
        found = self._tx.rows(self._sql.attendance, (self._space.id, session_id))
        if not found:
            return None
        turn, scope, wrote, streak, streak_scope = found[0]
        return Attendance(turn, scope, frozenset(json.loads(wrote)), streak, streak_scope)

    def idle(self, session_id: str, *, turn: int, since: float) -> list[ScopeRow]:
        asked = {"space": self._space.id, "session": session_id, "turn": turn, "since": since}
        return self._scopes(self._sql.idle, asked)

    def rows_in(self) -> tuple[int, int]:
        space = (self._space.id,)
        return self._number(self._sql.count_live, space), self._number(self._sql.count_all, space)

    def identical(self, fact: FactRow | NewFact) -> list[int]:
        asked = {
            "space": self._space.id, "key": fact.key, "mark": fact.mark, "content": fact.content,
            "scope": fact.scope_id or 0, "at": fact.recorded_at, "actor": fact.actor,
            "user": fact.user_id,
        }  # fmt: skip
        return [same for (same,) in self._tx.rows(self._sql.identical, asked)]

    def _facts(self, sql: str, **asked: Any) -> list[FactRow]:
        return [_fact(row) for row in self._tx.rows(sql, {"space": self._space.id, **asked})]

    def _scopes(self, sql: str, asked: Any) -> list[ScopeRow]:
        return [ScopeRow(*row) for row in self._tx.rows(sql, asked)]

    def _number(self, sql: str, asked: Any) -> int:
        return int(self._tx.value(sql, asked))


class StoredFactWrites(StoredFactReads):
    def add(self, fact: NewFact, *, ending: Sequence[int] = (), state: str = "superseded") -> int:
        # The old facts end first, because there must never be two, and the new id is only known later.
        self._end(ending, state, fact.recorded_at, fact.valid_from)
        row = {
            "space": self._space.id, "mark": fact.mark, "target": fact.target, "key": fact.key,
            "content": fact.content, "scope": fact.scope_id, "state": fact.state, "ended_at": fact.ended_at,
            "hot": fact.hot, "at": fact.recorded_at, "valid_from": fact.valid_from,
            "session": fact.session_id, "message": fact.message_id, "actor": fact.actor,
            "stated_by": fact.stated_by, "user": fact.user_id,
        }  # fmt: skip
        added = self._number(self._sql.add, row)
        if ending:
            self._tx.change(self._sql.link, (added, write_ids(ending), self._space.id))
        return added

    def end(self, ids: Sequence[int], state: str, at: float) -> None:
        self._end(ids, state, at, at)

    def _end(self, ids: Sequence[int], state: str, at: float, valid_to: float) -> None:
        if ids:
            asked = {
                "ids": write_ids(ids), "space": self._space.id, "state": state, "at": at,
                "valid_to": valid_to,
            }  # fmt: skip
            self._tx.change(self._sql.end, asked)
            self._tx.change(self._sql.end_conflicts, (write_ids(ids), self._space.id))

    def refer(self, uses: Mapping[int, int], at: float) -> None:
        self._tx.change_many(
            self._sql.refer,
            ({"id": fact, "uses": count, "at": at, "space": self._space.id} for fact, count in uses.items()),
        )

    def heat(self, fact_id: int) -> None:
        self._tx.change(self._sql.heat, (fact_id, self._space.id))

    def cool(self, ids: Sequence[int]) -> None:
        self._tx.change(self._sql.cool, (write_ids(ids), self._space.id))

    def warm(self, scope_id: int, *, constraints: int, others: int) -> int:
        warmed = self._tx.change(self._sql.warm_constraints, (scope_id, self._space.id, constraints))
        return warmed + self._tx.change(self._sql.warm_others, (scope_id, self._space.id, others))

    def contradict(self, older: int, newer: int, reason: str = CONTRADICTS) -> None:
        self._tx.change(self._sql.contradict, (self._space.id, older, newer, reason))

    def confirm(self, fact_id: int) -> None:
        self._tx.change(self._sql.confirm, (fact_id, self._space.id))

    def erase(self, ids: Sequence[int]) -> None:
        for fact in sorted(ids):
            self._tx.change(self._sql.relink, {"id": fact, "space": self._space.id})
            self._tx.change(self._sql.erase, (fact, self._space.id))

    def open_scope(self, label: str, key: str, at: float) -> tuple[ScopeRow, bool]:
        known = self.scope(key)
        if known is not None and known.closed_at is None:
            return known, False
        if known is not None:
            self._tx.change(self._sql.reopen_scope, (at, known.id))
        else:
            self._tx.change(self._sql.add_scope, (self._space.id, label, key, at, at))
        opened = self.scope(key)
        assert opened is not None  # noqa: S101
        return opened, known is not None

    def close_scope(self, scope_id: int, at: float) -> None:
        scope = (scope_id, self._space.id)
        self._tx.change(self._sql.close_scope, (at, *scope))
        self._tx.change(self._sql.leave_scope, scope)
        self._tx.change(self._sql.cool_scope, scope)

    def attend(self, session_id: str, attendance: Attendance, at: float) -> None:
        row = {
            "space": self._space.id, "session": session_id, "turn": attendance.turn,
            "scope": attendance.scope_id, "wrote": write_ids(sorted(attendance.wrote)),
            "streak": attendance.streak, "streak_scope": attendance.streak_scope, "at": at,
        }  # fmt: skip
        if not self._tx.change(self._sql.attend_again, row):
            self._tx.change(self._sql.forget_sessions, (self._space.id, at - _SESSION_SECONDS))
            self._tx.change(self._sql.attend, row)

    def touch(self, session_id: str, scope_ids: Collection[int], turn: int, at: float) -> None:
        for scope in scope_ids:
            self._tx.change(self._sql.touch, (scope, turn, at, self._space.id, session_id))
            self._tx.change(self._sql.touch_scope, (at, scope, self._space.id))

    def restart(self, session_id: str, turn: int) -> None:
        session = self._tx.value(self._sql.session_key, (self._space.id, session_id))
        if session is not None:
            self._tx.change(self._sql.restart, (turn, session))

    def restore(self, fact: FactRow) -> int:
        row = {
            "id": fact.id, "most": _MOST_KEPT, "space": self._space.id, "mark": fact.mark,
            "target": fact.target, "key": fact.key, "content": fact.content, "scope": fact.scope_id,
            "state": fact.state, "hot": fact.hot, "at": fact.recorded_at, "ended_at": fact.ended_at,
            "by": fact.superseded_by, "valid_from": fact.valid_from, "valid_to": fact.valid_to,
            "used_at": fact.used_at, "uses": fact.uses, "session": fact.session_id,
            "message": fact.message_id, "actor": fact.actor, "stated_by": fact.stated_by,
            "user": fact.user_id,
        }  # fmt: skip
        return self._number(self._sql.restore, row)

    def supersede(self, links: Mapping[int, int]) -> None:
        self._tx.change_many(
            self._sql.supersede,
            ({"id": old, "by": new, "space": self._space.id} for old, new in links.items()),
        )

    def settle(self, fact: FactRow) -> None:
        row = {
            "id": fact.id, "space": self._space.id, "state": fact.state, "ended_at": fact.ended_at,
            "valid_to": fact.valid_to, "by": fact.superseded_by,
        }  # fmt: skip
        self._tx.change(self._sql.settle, row)
        self._tx.change(self._sql.end_conflicts, (write_ids([fact.id]), self._space.id))

    def move_sources(self, moved: Mapping[int, int]) -> None:
        for old, new in moved.items():
            self._tx.change(self._sql.move_source, {"old": old, "new": new, "space": self._space.id})

    def renew_scope(self, scope: ScopeRow) -> None:
        times = (scope.opened_at, scope.touched_at)
        self._tx.change(self._sql.renew_scope, (*times, scope.closed_at, scope.id, self._space.id))
        if scope.closed_at is not None:
            self.close_scope(scope.id, scope.closed_at)

    def restore_scope(self, scope: ScopeRow) -> ScopeRow:
        asked = (
            self._space.id, scope.label, scope.key, scope.opened_at, scope.touched_at, scope.closed_at,
        )  # fmt: skip
        self._tx.change(self._sql.restore_scope, asked)
        there = self.scope(scope.key)
        assert there is not None  # noqa: S101
        return there


def _fact(row: tuple[Any, ...]) -> FactRow:
    # The last column is the space, which callers don't need.
    columns = list(row[:-1])
    columns[8] = row[8] == 1
    return FactRow(*columns)
