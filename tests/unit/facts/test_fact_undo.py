"""Undoing a write retires its facts and restores those it ended."""

from __future__ import annotations

import pytest

from mnemos import Memory
from mnemos.errors import NotFound, Refused
from mnemos.facts import fact_undo
from mnemos.facts.facts import Facts
from mnemos.testing import FixedClock


def live(facts: Facts) -> list[str]:
    return sorted(str(fact) for fact in facts.list())


def test_a_first_statement_is_withdrawn(facts: Facts, memory: Memory) -> None:
    own = facts.write("V[a]: 1\nD[b]: 2").facts[0].id
    memory.undo()
    assert live(facts) == []
    assert facts.get(own).state == "retired"
    assert facts.search("1 2 a b") == []
    assert "V[a]" not in facts.status().text


def test_undo_restores_the_replaced_fact(facts: Facts, memory: Memory, clock: FixedClock) -> None:
    facts.write("V[port]: 3005")
    believed = clock()
    clock.advance(10)
    facts.write("V[port]: 4000")
    between = clock()
    clock.advance(10)
    memory.undo()
    assert live(facts) == ["V[port]: 3005"]
    assert [str(fact) for fact in facts.search("which port", limit=1)] == ["V[port]: 3005"]
    assert "V[port]: 3005" in facts.status().text
    # The log is never rewritten.
    assert [str(fact) for fact in facts.history("port", as_of=believed)] == ["V[port]: 3005"]
    assert [str(fact) for fact in facts.history("port", as_of=between)] == ["V[port]: 4000"]
    assert [str(fact) for fact in facts.history("port", as_of=clock())] == ["V[port]: 3005"]


def test_undo_restores_a_fact_to_its_user(facts: Facts, memory: Memory) -> None:
    facts.write("V[home]: Berlin", user_id="alice", stated_by="user")
    facts.write("V[home]: Rome", user_id="bob")
    facts.write("V[home]: Hamburg", user_id="alice")
    memory.undo()
    there = {str(fact): fact.user_id for fact in facts.list()}
    assert there == {"V[home]: Berlin": "alice", "V[home]: Rome": "bob"}


def test_two_undos_undo_two_writes(facts: Facts, memory: Memory) -> None:
    facts.write("V[a]: 1")
    facts.write("V[a]: 2")
    facts.write("V[a]: 3")
    memory.undo()
    assert live(facts) == ["V[a]: 2"]
    memory.undo()
    assert live(facts) == ["V[a]: 1"]
    memory.undo()
    assert live(facts) == []
    with pytest.raises(NotFound):
        memory.undo()


def test_an_answered_question_is_open_again(facts: Facts, memory: Memory) -> None:
    facts.write("?[cache]: which")
    facts.write("D[cache]: redis")
    memory.undo()
    assert live(facts) == ["?[cache]: which"]


def test_a_retirement_can_be_undone(facts: Facts, memory: Memory) -> None:
    facts.write("V[a]: 1\nD[a]: 2", scope="one")
    facts.write("~[a]: gone")
    memory.undo()
    assert live(facts) == ["D[a]: 2", "V[a]: 1"]
    assert {fact.tier for fact in facts.list()} == {"hot"}


def test_closing_a_scope_can_be_undone(facts: Facts, memory: Memory) -> None:
    facts.write("C[law]: x\nD[a]: b", scope="auth")
    facts.write("✓[auth]: done")
    memory.undo()
    (scope,) = facts.scopes()
    assert (scope.is_open, scope.hot) == (True, 2)
    assert live(facts) == ["C[law]: x", "D[a]: b"]


def test_a_call_that_replaced_its_own_fact_is_undone_as_a_whole(facts: Facts, memory: Memory) -> None:
    facts.write("V[a]: 0")
    facts.write("V[a]: 1\nV[a]: 2\nV[b]: 3")
    memory.undo()
    assert live(facts) == ["V[a]: 0"]


def test_a_conflict_is_open_again(facts: Facts, memory: Memory) -> None:
    facts.write("C[x]: law")
    facts.write("D[x]: against it")
    facts.write("D[x]: law")
    assert facts.conflicts() == []
    memory.undo()
    (conflict,) = facts.conflicts()
    assert {str(conflict.older), str(conflict.newer)} == {"C[x]: law", "D[x]: against it"}


def test_a_write_that_was_replaced_since_is_not_undone(facts: Facts, memory: Memory) -> None:
    facts.write("V[a]: 1")
    facts.write("V[a]: 2")
    entry = memory.log()[0].id
    facts.write("V[a]: 3")
    with pytest.raises(Refused):
        memory.undo(entry)
    facts.write("~[a]: gone")
    with pytest.raises(Refused):
        memory.undo(entry)
    assert live(facts) == []


def test_what_was_purged_does_not_come_back(facts: Facts, memory: Memory) -> None:
    facts.write("V[a]: 1")
    facts.write("V[a]: 2")
    facts.purge(scope=None, older_than_days=0)
    memory.undo()
    assert live(facts) in ([], ["V[a]: 1"])
    assert len(facts.conflicts()) == 0


def test_a_forgotten_write_cannot_be_undone(facts: Facts, memory: Memory) -> None:
    own = facts.write("V[a]: secret").facts[0].id
    facts.forget(own)
    with pytest.raises((NotFound, Refused)):
        memory.undo()
    assert live(facts) == []


def test_a_partly_forgotten_write_is_undone_for_the_rest(facts: Facts, memory: Memory) -> None:
    facts.write("V[z]: 0")
    _, forgotten = facts.write("V[a]: 1\nV[b]: 2").facts
    facts.forget(forgotten.id)
    memory.undo(memory.log()[1].id)
    assert live(facts) == ["V[z]: 0"]


@pytest.mark.parametrize("later", ["V[a]: 2", "~[a]: gone"])
def test_a_forgotten_statement_does_not_block_the_undo_of_earlier_ones(
    facts: Facts, memory: Memory, later: str
) -> None:
    facts.write("V[z]: 0")
    facts.write("V[a]: 1")
    first, second = (entry.id for entry in reversed(memory.log()))
    facts.forget(facts.write(later).facts[0].id)
    memory.undo(second)
    memory.undo(first)
    assert live(facts) == []
    with pytest.raises(Refused):
        memory.undo()


def test_purged_history_does_not_block_the_undo_of_earlier_writes(facts: Facts, memory: Memory) -> None:
    facts.write("V[z]: 0")
    facts.write("V[a]: 1")
    facts.write("~[a]: gone")
    facts.purge(older_than_days=0)
    for _ in range(3):
        memory.undo()
    assert live(facts) == []


def test_undo_quotes_what_it_removed_and_what_came_back(facts: Facts, memory: Memory) -> None:
    facts.remember("I live in Berlin")
    facts.remember("I moved to Hamburg last week")
    assert memory.undo() == 'Removed f2 "I moved to Hamburg last week". Restored "I live in Berlin" as f3.'
    facts.write("V[b]: 1")
    facts.write("V[b]: 2")
    facts.forget(facts.history("b")[0].id)
    newest = memory.log()[1].id
    assert memory.undo(newest) == 'Removed f5 "b: 2". f4, which it replaced, was permanently deleted.'
    facts.write("V[c]: 1\nV[c]: 2")
    assert "Restored" not in memory.undo()


def test_undo_restores_a_fact_that_was_replaced_across_targets_and_types(
    facts: Facts, memory: Memory
) -> None:
    old = facts.remember("Nightly builds run at two", about="builds.nightly").facts[0].id
    new = facts.write("D[ci.schedule]: weekly").facts[0].id
    facts.write("V[z]: 0")
    last = facts.remember("We build on every push now", about="ci.push", replaces=[old, new])
    assert live(facts) == ["V[ci.push]: We build on every push now", "V[z]: 0"]
    memory.undo()
    assert live(facts) == [
        "D[ci.schedule]: weekly",
        "V[builds.nightly]: Nightly builds run at two",
        "V[z]: 0",
    ]
    again = facts.get(facts.get(last.facts[0].id).superseded_by or "")
    assert again.state == "live"


def test_a_write_replaced_on_another_target_since_is_refused_by_name(facts: Facts, memory: Memory) -> None:
    old = facts.remember("Nightly builds run at two", about="builds.nightly").facts[0].id
    entry = memory.log()[0].id
    new = facts.remember("We build on every push now", about="ci.push", replaces=old).facts[0].id
    with pytest.raises(Refused, match=new):
        memory.undo(entry)
    memory.undo()
    memory.undo(entry)
    assert live(facts) == []


def test_undos_in_order_follow_copies_through_later_replacements(facts: Facts, memory: Memory) -> None:
    facts.remember("I live in Berlin")
    entry = memory.log()[0].id
    facts.remember("I moved to Hamburg last week")
    memory.undo()
    # Berlin is back as a copy, and the copy is replaced.
    facts.remember("I moved to Munich yesterday")
    with pytest.raises(Refused):
        memory.undo(entry)
    memory.undo()
    assert [fact.content for fact in facts.list()] == ["I live in Berlin"]
    memory.undo(entry)
    assert live(facts) == []


def test_a_restored_fact_keeps_its_user_and_who_stated_it(facts: Facts, memory: Memory) -> None:
    facts.remember("I live in Berlin", user_id="ada", stated_by="user")
    facts.remember("I moved to Hamburg last week", user_id="ada")
    facts.remember("I live in Berlin")
    memory.undo(memory.log()[1].id)
    mine = [fact for fact in facts.list() if fact.user_id == "ada"]
    assert [(fact.content, fact.stated_by) for fact in mine] == [("I live in Berlin", "user")]


def test_doubts_go_with_the_undone_fact(facts: Facts, memory: Memory) -> None:
    facts.remember("I drink coffee in the morning")
    facts.remember("I drink tea in the morning")
    assert [conflict.reason for conflict in facts.conflicts()] == ["may replace"]
    memory.undo()
    assert facts.conflicts() == []
    assert [fact.content for fact in facts.list()] == ["I drink coffee in the morning"]


def test_an_entry_that_another_process_undid_is_not_undone_again(facts: Facts, memory: Memory) -> None:
    facts.write("V[a]: 1")
    (seen,) = memory.log()
    memory.undo(seen.id)
    with pytest.raises(Refused):
        fact_undo.undo_write(memory.storage, seen, 0.0, lambda _, __: None)


def test_a_confirming_rewrite_is_nothing_to_undo(facts: Facts, memory: Memory) -> None:
    facts.write("V[a]: 1")
    facts.write("V[a]: 1")
    memory.undo()
    assert live(facts) == []


def test_an_undo_is_noted(facts: Facts, memory: Memory) -> None:
    facts.write("V[a]: 1")
    (entry,) = memory.log()
    memory.undo(entry.id)
    newest = memory.log()[0]
    assert newest.operation == "undo facts.write"
    with pytest.raises(Refused):
        memory.undo(entry.id)
