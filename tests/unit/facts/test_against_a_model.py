"""Random operations on facts agree with a dictionary as a model."""

from __future__ import annotations

import random
from itertools import combinations
from typing import Any

import pytest

from mnemos import Memory
from mnemos.errors import NotFound
from mnemos.facts.fact import Fact
from mnemos.facts.facts import Facts
from mnemos.testing import FixedClock

Key = tuple[str, str, str | None]

SCOPES = ("auth", "billing", "search page")
TARGETS = ("db", "srv.prod", "Srv.Test", "日本")
STATES = ("live", "superseded", "retired")
ANSWERS = ("D", "V")


class Model:
    """The rules again, as plainly as they can be written."""

    def __init__(self) -> None:
        self.live: dict[Key, str] = {}
        self.rows = 0
        self.ended: dict[str | None, int] = {}
        self.open: dict[str, bool] = {}
        self.on: dict[str, int] = {}

    def state(self, mark: str, target: str, content: str, scope: str | None) -> str:
        if scope is not None:
            self.open[scope] = True
        own = (mark, target.casefold(), scope)
        if mark == "~":
            gone = [key for key in self.live if key[1:] == own[1:]]
            self._end(gone, scope)
            self._ended(scope)
            self._row(target)
            return "retired"
        if self.live.get(own) == content:
            outcome = "unchanged"
        else:
            outcome = "superseded" if own in self.live else "stored"
            self._end([own] if own in self.live else [], scope)
            question = ("?", *own[1:])
            self._end([question] if mark in ANSWERS and question in self.live else [], scope)
            self.live[own] = content
            self._row(target)
        if mark == "✓" and scope is not None:
            self.open[scope] = False
        return outcome

    def forget(self, target: str) -> int:
        own = target.casefold()
        self.live = {key: content for key, content in self.live.items() if key[1] != own}
        return self.on.pop(own, 0)

    def contradictions(self) -> set[frozenset[tuple[Key, str]]]:
        pairs = set()
        for one, other in combinations(self.live.items(), 2):
            (mark, target, scope), (mark2, target2, scope2) = one[0], other[0]
            if target != target2 or one[1] == other[1]:
                continue
            law = {mark, mark2} == {"C", "D"}
            if law or (mark == mark2 and mark in "CDV" and scope != scope2):
                pairs.add(frozenset({one, other}))
        return pairs

    def _end(self, keys: list[Key], scope: str | None) -> None:
        for key in keys:
            del self.live[key]
            self._ended(scope)

    def _ended(self, scope: str | None) -> None:
        self.ended[scope] = self.ended.get(scope, 0) + 1

    def _row(self, target: str) -> None:
        self.on[target.casefold()] = self.on.get(target.casefold(), 0) + 1


def key_of(fact: Fact) -> Key:
    return fact.type, fact.target.casefold(), fact.scope


def live(facts: Facts) -> dict[Key, str]:
    found = list(facts.list())
    assert len({key_of(fact) for fact in found}) == len(found)
    return {key_of(fact): fact.content for fact in found}


def check(facts: Facts, model: Model) -> None:
    assert live(facts) == model.live
    assert facts.count() == len(model.live)
    assert {scope.label: scope.is_open for scope in facts.scopes()} == model.open
    for fact in facts.list(tier="hot"):
        assert fact.scope is None or model.open[fact.scope]
    found = {
        frozenset({(key_of(one.older), one.older.content), (key_of(one.newer), one.newer.content)})
        for one in facts.conflicts(1_000)
    }
    assert found == model.contradictions()
    assert facts.status().tokens <= 180


@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(2, 20))]
)
def test_whatever_happens_facts_are_as_a_plain_model_of_them(
    memory: Memory, clock: FixedClock, seed: int
) -> None:
    chance, facts, model = random.Random(seed), memory.facts, Model()
    for number in range(250):
        clock.advance(chance.choice((0, 1, 90_000)))
        what = chance.random()
        if what < 0.75:
            write(facts, model, chance, number)
        elif what < 0.83:
            before = live(facts)
            if write(facts, model, chance, number) != "unchanged":
                take_back(memory, model, before)
        elif what < 0.88:
            target = chance.choice(TARGETS).upper()
            count = model.forget(target)
            if count:
                assert facts.forget(target=target) == count
            else:
                with pytest.raises(NotFound):
                    facts.forget(target=target)
            resync(facts, model)
        elif what < 0.92 and model.open:
            scope = chance.choice(list(model.open))
            wanted = model.ended.pop(scope, 0)
            assert facts.purge(scope=scope, dry_run=True) == wanted
            assert facts.purge(scope=scope) == wanted
            resync(facts, model)
        elif model.live:
            (mark, target, scope), content = chance.choice(list(model.live.items()))
            hits = facts.search(f"{target} {content}", scope=scope, limit=20)
            assert (mark, target, scope) in map(key_of, hits)
            assert all(model.live.get(key_of(hit)) == hit.content for hit in hits)
        check(facts, model)


def write(facts: Facts, model: Model, chance: random.Random, number: int) -> str:
    mark = chance.choices("CDV?✓~", (3, 5, 6, 3, 1, 2))[0]
    target, scope = chance.choice(TARGETS), chance.choice((*SCOPES, None))
    if chance.random() < 0.3:
        target = target.swapcase()
    content = f"word{chance.choice((number, number % 7, 1))}"
    # A session of its own for what has no scope: none is ever current there.
    options: dict[str, Any] = {"scope": scope, "session_id": "free" if scope is None else "busy"}
    known = [key for key in model.live if key[1:] == (target.casefold(), scope)]
    if mark == "✓" and scope is None:
        mark = "V"
    if mark == "~" and (not known or scope is None):
        # A fact that holds nowhere cannot be retired; without a scope, the target may be found in another.
        mark = "V"
    (stored,) = facts.write(f"{mark}[{target}]: {content}", **options).facts
    outcome = model.state(mark, target, content, scope)
    assert (stored.outcome, stored.scope) == (outcome, scope)
    return outcome


def take_back(memory: Memory, model: Model, before: dict[Key, str]) -> None:
    memory.undo()
    assert live(memory.facts) == before
    model.live = before
    resync(memory.facts, model)


def resync(facts: Facts, model: Model) -> None:
    """Further changes of an undo, a purge or forgetting are counted, not predicted."""
    rows = list(facts.list(states=STATES))
    model.open = {scope.label: scope.is_open for scope in facts.scopes()}
    model.on = {}
    model.ended = {}
    for fact in rows:
        own = fact.target.casefold()
        model.on[own] = model.on.get(own, 0) + 1
        if fact.state != "live":
            model.ended[fact.scope] = model.ended.get(fact.scope, 0) + 1
