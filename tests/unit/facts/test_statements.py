"""The effect of each kind of statement on the known facts."""

from __future__ import annotations

from typing import Any

import pytest

from mnemos import Memory
from mnemos.errors import Disabled, InvalidInput, NotFound, TooLarge
from mnemos.facts.fact import Fact, Stored
from mnemos.facts.facts import Facts
from mnemos.testing import FixedClock


def put(facts: Facts, content: str, **options: Any) -> Stored:
    (stored,) = facts.write(content, **options).facts
    return stored


def live(facts: Facts, **options: Any) -> list[str]:
    return [str(fact) for fact in facts.list(**options)]


def states(facts: Facts, target: str, **options: Any) -> list[tuple[str, str]]:
    return [(str(fact), fact.state) for fact in facts.history(target, **options)]


# --- what a fact carries -----------------------------------------------------------------------


def test_a_fact_carries_where_it_comes_from(facts: Facts, clock: FixedClock) -> None:
    stored = put(facts, "D[Auth.Token]: JWT", scope="Auth", session_id="s9", message_id=77)
    fact = facts.get(stored.id)
    assert fact == Fact(
        id=stored.id,
        type="D",
        target="Auth.Token",
        content="JWT",
        scope="Auth",
        tier="hot",
        state="live",
        at=clock(),
        ended_at=None,
        superseded_by=None,
        valid_from=clock(),
        valid_to=None,
        used_at=clock(),
        uses=0,
        session_id="s9",
        message_id=77,
        actor="tester",
        stated_by="agent",
    )
    assert (stored.outcome, stored.scope, stored.replaced) == ("stored", "Auth", ())


def test_ids_begin_with_a_letter_and_are_found_in_several_spellings(facts: Facts) -> None:
    own = put(facts, "V[a]: b").id
    assert own.startswith("f")
    assert facts.get(own) == facts.get(f"fact:{own}") == facts.get(own[1:])
    for unknown in ("f999", "f", "", "f-1", "f1x", "x1", "f" + "9" * 30, "f１", None, 5, b"f1"):
        with pytest.raises(NotFound):
            facts.get(unknown)  # type: ignore[arg-type]


# --- the same again ----------------------------------------------------------------------------


def test_the_same_again_is_not_a_second_fact(facts: Facts, clock: FixedClock) -> None:
    first = put(facts, "V[srv.prod]: api.example.com:3005", scope="infra")
    clock.advance(60)
    for content in (
        "V[srv.prod]: api.example.com:3005",
        "v[ SRV.Prod ]:   api.example.com:3005 ",
        "- V[srv . prod]: api.example.com:3005",
    ):
        again = put(facts, content, scope="Infra")
        assert (again.id, again.outcome, again.replaced) == (first.id, "unchanged", ())
    fact = facts.get(first.id)
    assert (fact.at, fact.used_at, fact.uses) == (clock() - 60, clock(), 3)
    assert len(facts.history("srv.prod")) == 1


def test_blanks_inside_a_content_make_no_difference(facts: Facts) -> None:
    first = put(facts, "D[a]: one  two")
    assert put(facts, "D[a]: one two").outcome == "unchanged"
    assert facts.get(first.id).content == "one  two"


def test_the_same_in_another_case_is_something_else(facts: Facts) -> None:
    put(facts, "V[key]: abcDEF")
    assert put(facts, "V[key]: ABCdef").outcome == "superseded"


@pytest.mark.parametrize("other", ["D[a]: b", "V[x]: b", "V[a]: c"])
def test_another_type_target_or_content_is_another_fact(facts: Facts, other: str) -> None:
    first = put(facts, "V[a]: b")
    assert put(facts, other).id != first.id


def test_another_scope_is_another_fact(facts: Facts) -> None:
    ids = {put(facts, "V[a]: b", scope=scope).id for scope in ("one", "two", "three")}
    assert len(ids) == 3
    assert len(live(facts)) == 3


def test_a_confirming_rewrite_warms_a_cold_fact(facts: Facts, memory: Memory) -> None:
    stored = put(facts, "V[a]: b")
    memory.storage.write(lambda tx: tx.facts.cool([int(stored.id[1:])]))
    assert facts.get(stored.id).tier == "cold"
    put(facts, "V[a]: b")
    assert facts.get(stored.id).tier == "hot"


def test_a_replaced_fact_can_be_stated_again(facts: Facts) -> None:
    first = put(facts, "V[a]: 1")
    put(facts, "V[a]: 2")
    again = put(facts, "V[a]: 1")
    assert again.outcome == "superseded"
    assert again.id != first.id
    assert live(facts) == ["V[a]: 1"]
    assert len(facts.history("a")) == 3


# --- replacing ---------------------------------------------------------------------------------


def test_a_new_statement_replaces_the_old_one(facts: Facts, clock: FixedClock) -> None:
    old = put(facts, "V[srv.prod]: one")
    clock.advance(10)
    new = put(facts, "V[SRV.prod]: two")
    assert (new.outcome, new.replaced) == ("superseded", (old.id,))
    ended = facts.get(old.id)
    assert (ended.state, ended.tier, ended.superseded_by) == ("superseded", "cold", new.id)
    assert (ended.ended_at, ended.valid_to) == (clock(), clock())
    assert live(facts) == ["V[SRV.prod]: two"]


def test_a_cold_fact_is_replaced_as_a_hot_one_is(facts: Facts) -> None:
    old = put(facts, "V[srv.prod]: one", scope="infra")
    put(facts, "✓[infra]: done")
    assert facts.get(old.id).tier == "cold"
    new = put(facts, "V[srv.prod]: two", scope="infra")
    assert new.replaced == (old.id,)
    assert live(facts, types=["V"]) == ["V[srv.prod]: two"]


def test_other_types_and_scopes_on_the_target_stay(facts: Facts) -> None:
    facts.write("C[a]: law\nD[a]: choice\nV[a]: value", scope="one")
    facts.write("V[a]: value", scope="two")
    facts.write("V[a]: other", scope="one")
    assert sorted(live(facts)) == ["C[a]: law", "D[a]: choice", "V[a]: other", "V[a]: value"]


def test_lines_of_one_call_take_effect_in_their_order(facts: Facts) -> None:
    first, second, third = facts.write("V[a]: 1\nV[a]: 2\nV[a]: 2").facts
    assert [one.outcome for one in (first, second, third)] == ["stored", "superseded", "unchanged"]
    assert (second.replaced, third.id) == ((first.id,), second.id)
    assert live(facts) == ["V[a]: 2"]


@pytest.mark.parametrize("answer", ["D[cache]: redis", "V[cache]: redis:6379"])
def test_a_question_is_answered_by_a_decision_or_a_value(facts: Facts, answer: str) -> None:
    asked = put(facts, "?[cache]: redis or memcached")
    answered = put(facts, answer)
    assert (answered.outcome, answered.replaced) == ("stored", (asked.id,))
    question = facts.get(asked.id)
    assert (question.state, question.superseded_by) == ("superseded", answered.id)
    assert live(facts) == [answer]


def test_a_question_of_another_scope_or_target_stays_open(facts: Facts) -> None:
    facts.write("?[cache]: which", scope="one")
    facts.write("?[queue]: which\nD[cache]: redis", scope="two")
    assert sorted(live(facts, types=["?"])) == ["?[cache]: which", "?[queue]: which"]


def test_a_question_after_a_decision_replaces_nothing(facts: Facts) -> None:
    facts.write("D[cache]: redis")
    assert put(facts, "?[cache]: still redis").replaced == ()
    assert sorted(live(facts)) == ["?[cache]: still redis", "D[cache]: redis"]


# --- retiring ----------------------------------------------------------------------------------


def test_obsolete_retires_what_is_live_on_the_target_in_that_scope(facts: Facts, clock: FixedClock) -> None:
    own = facts.write("C[a]: law\nD[a]: choice\nV[a]: value\n?[a]: q\nV[b]: stays", scope="one").facts
    facts.write("V[a]: other", scope="two")
    clock.advance(5)
    gone = put(facts, "~[A]: we left it", scope="one")
    assert gone.outcome == "retired"
    assert sorted(gone.replaced) == sorted([own[0].id, own[1].id, own[2].id, own[3].id])
    assert sorted(live(facts)) == ["V[a]: other", "V[b]: stays"]
    retired = facts.get(own[0].id)
    assert (retired.state, retired.tier, retired.ended_at) == ("retired", "cold", clock())
    assert retired.superseded_by == gone.id
    assert states(facts, "a", scope="one")[-1] == ("~[A]: we left it", "retired")


def test_obsolete_without_a_scope_finds_where_the_target_is(facts: Facts) -> None:
    facts.write("V[a]: in one", scope="one", session_id="x")
    facts.write("V[z]: z", scope="two", session_id="y")
    stored = put(facts, "~[a]: gone", session_id="y")
    assert stored.scope == "one"
    assert live(facts) == ["V[z]: z"]


def test_obsolete_on_what_nothing_holds_is_an_error_and_stores_nothing(facts: Facts) -> None:
    facts.write("V[a]: b")
    facts.write("~[a]: gone")
    for content in ("~[a]: gone", "~[nowhere]: x", "V[new]: x\n~[nowhere]: y"):
        with pytest.raises(NotFound):
            facts.write(content)
    assert live(facts) == []
    with pytest.raises(NotFound):
        facts.history("new")


def test_what_was_retired_can_be_stated_anew(facts: Facts) -> None:
    put(facts, "V[a]: 1")
    put(facts, "~[a]: gone")
    again = put(facts, "V[a]: 1")
    assert again.outcome == "stored"
    assert [state for _, state in states(facts, "a")] == ["retired", "retired", "live"]


# --- all or nothing ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ("V[a]: 1\nnonsense", InvalidInput),
        ("V[a]: 1\nD[b]: " + "x" * 401, TooLarge),
        ("V[a]: 1\nV[b\u2028]: 2", InvalidInput),
        ("\n".join(f"V[a{n}]: 1" for n in range(2_000)), TooLarge),
        ("", InvalidInput),
        (None, InvalidInput),
        (b"V[a]: 1", InvalidInput),
    ],
)
def test_a_call_is_stored_whole_or_not_at_all(facts: Facts, content: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        facts.write(content, scope="new")
    assert (live(facts), facts.scopes()) == ([], [])


@pytest.mark.parametrize(
    "options",
    [
        {"scope": 5},
        {"scope": " "},
        {"scope": "a\nb"},
        {"scope": "a\u2028b"},
        {"scope": "a\u202eb"},
        {"scope": "x" * 101},
        {"scope": "x" * 10_000},
        {"scope": ["a"]},
        {"session_id": ""},
        {"session_id": 5},
        {"session_id": "a\0b"},
        {"message_id": "x"},
        {"message_id": -1},
        {"message_id": True},
        {"valid_from": "someday"},
        {"valid_from": float("nan")},
        {"valid_from": 1e15},
    ],
)
def test_arguments_of_the_wrong_kind_are_refused(facts: Facts, options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        facts.write("V[a]: 1", **options)
    assert (live(facts), facts.scopes()) == ([], [])


def test_an_empty_scope_is_none(facts: Facts) -> None:
    assert put(facts, "V[a]: 1", scope="").scope is None


def test_the_longest_content_is_a_setting(clock: FixedClock) -> None:
    with Memory.at(":memory:", clock=clock, embedder="none", max_fact_characters=10) as memory:
        memory.facts.write("V[a]: 0123456789")
        with pytest.raises(TooLarge):
            memory.facts.write("V[a]: 0123456789x")


def test_a_disabled_memory_stores_no_facts(clock: FixedClock) -> None:
    with Memory.at(":memory:", clock=clock, embedder="none", disabled=True) as memory:
        for call in (
            lambda: memory.facts.write("V[a]: b"),
            lambda: memory.facts.tick(1),
            lambda: memory.facts.purge(older_than_days=0),
            lambda: memory.facts.forget("f1"),
        ):
            with pytest.raises(Disabled):
                call()
        assert live(memory.facts) == []


def test_secrets_are_redacted_where_that_is_set(clock: FixedClock) -> None:
    secret = "sk-proj-" + "a1B2c3D4" * 6
    with Memory.at(":memory:", clock=clock, embedder="none", redact=True) as memory:
        memory.facts.write(f"V[openai.key]: {secret}")
        (fact,) = memory.facts.list()
        assert secret not in fact.content
        assert secret not in memory.facts.status().text
