"""Updates of facts: what replaces what, what is kept, and what recall says about it."""

from __future__ import annotations

import pytest

from mnemos.errors import NotFound, Refused
from mnemos.facts.facts import Facts
from mnemos.memory import Memory
from mnemos.testing import FixedClock

DAY = 86400.0


def live(facts: Facts) -> list[str]:
    return [fact.content for fact in facts.list()]


def test_a_move_replaces_the_old_home_and_undo_restores_it(memory: Memory, clock: FixedClock) -> None:
    memory.facts.remember("I live in Berlin")
    clock.advance(DAY)
    written = memory.facts.remember("I moved to Hamburg last week")
    assert [fact.content for fact in written.replaced] == ["I live in Berlin"]
    assert live(memory.facts) == ["I moved to Hamburg last week"]
    assert "Hamburg" in memory.recall("where do I live?").hits[0].text
    assert "Berlin" not in memory.recall("where do I live?").text
    assert "Berlin" in memory.undo()
    assert live(memory.facts) == ["I live in Berlin"]
    assert "Berlin" in memory.recall("where do I live?").hits[0].text


def test_what_held_before_is_found_when_asked_for_and_marked(memory: Memory, clock: FixedClock) -> None:
    memory.facts.remember("The team uses Jira for tickets")
    clock.advance(DAY)
    memory.facts.remember("The team now uses Linear for tickets instead of Jira")
    hits = memory.recall("what did the team use for tickets before?").hits
    assert {hit.state for hit in hits} == {"current", "superseded"}
    old = next(hit for hit in hits if hit.state == "superseded")
    assert (old.until, old.replaced_by) == (clock(), "f2")
    assert "(until " in memory.recall("what did the team use for tickets before?").text


def test_recall_as_of_a_moment_answers_with_what_was_believed_then(memory: Memory, clock: FixedClock) -> None:
    memory.facts.remember("The API port is 8080")
    before = clock.advance(DAY)
    clock.advance(DAY)
    memory.facts.remember("The API port is 9090")
    (then,) = memory.recall("which port has the API?", as_of=before).hits
    assert ("8080" in then.text, then.state) == (True, "current")
    (now,) = memory.recall("which port has the API?").hits
    assert "9090" in now.text


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("User id 17 must never be deleted", "User id 18 must never be deleted"),
        ("Shard 1 listens on 5432", "Shard 2 listens on 5433"),
        (
            "Der Account svc-lager darf nie gesperrt werden",
            "Der Account svc-lagerplan darf nie gesperrt werden",
        ),
        ("Omar likes kayaking", "Omar likes board games"),
    ],
)
def test_look_alikes_are_both_kept(facts: Facts, one: str, other: str) -> None:
    facts.remember(one)
    facts.remember(other)
    assert live(facts) == [one, other]


def test_a_possible_update_is_linked_named_and_comes_first(memory: Memory, clock: FixedClock) -> None:
    (old,) = memory.facts.remember("Sessions are cached in Memcached").facts
    clock.advance(DAY)
    written = memory.facts.remember("We dropped Memcached")
    (new,) = written.facts
    assert (new.replaced, new.may_replace) == ((), (old.id,))
    (conflict,) = memory.facts.conflicts()
    assert (conflict.older.id, conflict.newer.id, conflict.reason) == (old.id, new.id, "may replace")
    first, second = memory.recall("Memcached").hits
    assert (first.ref, first.state) == (new.id, "current")
    assert (second.ref, second.state, second.replaced_by) == (old.id, "possibly outdated", new.id)


def test_a_question_about_a_fact_is_answered_by_it_and_not_by_an_unrelated_one_that_was_linked(
    memory: Memory, clock: FixedClock
) -> None:
    memory.facts.remember("The API key rotates every 90 days")
    memory.facts.remember("I prefer tabs over spaces")
    clock.advance(DAY)
    memory.facts.remember("Backups are kept for 30 days")
    first = memory.recall("how often does the API key change?").hits[0]
    assert "90 days" in first.text


def test_stating_the_older_fact_again_ends_the_doubt(facts: Facts) -> None:
    facts.remember("Sessions are cached in Memcached")
    facts.remember("We dropped Memcached")
    (again,) = facts.remember("Sessions are cached in Memcached").facts
    assert again.outcome == "unchanged"
    assert facts.conflicts() == []


def test_the_caller_can_say_what_is_replaced(facts: Facts) -> None:
    (old,) = facts.remember("Sessions are cached in Memcached").facts
    (new,) = facts.remember("There is no session cache", replaces=old.id).facts
    assert new.replaced == (old.id,)
    assert live(facts) == ["There is no session cache"]
    with pytest.raises(Refused):
        facts.remember("The cache is back", replaces=old.id)
    with pytest.raises(NotFound):
        facts.remember("The cache is back", replaces="f99")
    assert live(facts) == ["There is no session cache"]


def test_the_caller_can_say_what_it_is_about(facts: Facts) -> None:
    facts.remember("Berlin", about="user.home")
    (new,) = facts.remember("Hamburg", about="user.home").facts
    assert (new.target, new.outcome) == ("user.home", "superseded")
    assert live(facts) == ["Hamburg"]


def test_a_fact_of_another_scope_is_not_replaced_by_judgement(facts: Facts) -> None:
    facts.remember("The API port is 8080", scope="alpha")
    (new,) = facts.remember("The API port is 9090", scope="beta").facts
    assert new.replaced == ()
    assert len(new.may_replace) == 1
    assert len(live(facts)) == 2


def test_a_note_never_replaces_a_newer_fact(memory: Memory) -> None:
    memory.facts.remember("The API port is 9090")
    for text in (
        "The API port is 8080.",
        "We always use UUIDs as keys.",
        *(f"Filler {n} " * 20 for n in range(5)),
    ):
        memory.notebook.add(text, allow=True)
    memory.optimize_notebook(threshold=0)
    assert "The API port is 9090" in live(memory.facts)


def test_users_have_facts_of_their_own_on_one_target(facts: Facts) -> None:
    facts.remember("I live in Berlin", user_id="alice")
    (new,) = facts.remember("I moved to Hamburg last week", user_id="bob").facts
    assert (new.replaced, new.may_replace) == ((), ())
    assert [(fact.user_id, fact.target) for fact in facts.list()] == [
        ("alice", "user.home"),
        ("bob", "user.home"),
    ]


def test_a_user_among_many_moves_and_only_that_users_home_is_replaced(facts: Facts) -> None:
    for number in range(40):
        facts.remember(f"I live in town {number}", user_id=f"user{number}")
    (moved,) = facts.remember("I moved to Hamburg last week", user_id="user3").facts
    assert [fact.content for fact in facts.list(user_id="user3")] == ["I moved to Hamburg last week"]
    assert (moved.replaced, moved.may_replace) == (("f4",), ())
    assert facts.count() == 40


def test_a_shared_statement_is_compared_with_shared_facts_however_many_users_there_are(facts: Facts) -> None:
    facts.remember("The API port is 8080")
    for number in range(40):
        facts.remember(f"The API port is {9000 + number}", user_id=f"user{number}")
    (new,) = facts.remember("The API port is 9999").facts
    assert new.replaced == ("f1",)
