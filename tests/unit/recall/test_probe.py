"""The account of an answer: scores as sums, counts and times of the stages, and the fate of a passage."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from conversations import BOTH, Tell, told
from scenes import DAY, NOW

from mnemos import Memory
from mnemos.errors import InvalidInput
from mnemos.recall.answer import Explanation, Recall
from mnemos.recall.features import DEEP, HYBRID
from mnemos.recall.probe import Stage
from mnemos.recall.reasons import REASONS

QUERY = "Which paint does the boat need?"
ASKED = (
    "when did we move the database?",
    "On which port does the staging cache listen?",
    "Who is on call this week?",
    "what did you suggest for day trips from Lisbon?",
    "Did Ana get any pets?",
    "How many retries does the client make?",
    "what did we do last week?",
    "where do the backups go now?",
    "drain_idle",
    "quantum chromodynamics lattice",
)

Case = Callable[[Memory], tuple[str, dict[str, Any]]]
CASES: dict[str, tuple[Stage, Case]] = {}


def case(stage: Stage) -> Callable[[Case], Case]:
    """Add a way to make a passage, which returns its reference and further arguments of recall."""

    def add(make: Case) -> Case:
        CASES[make.__name__] = stage, make
        return make

    return add


def explained(recalled: Recall) -> Explanation:
    assert recalled.explanation is not None
    return recalled.explanation


def say(memory: Memory, *turns: Any, **more: Any) -> str:
    return f"message:{told(memory, more.pop('session_id', 's'), *turns, **more)[0]}"


@case(Stage.UNKNOWN)
def never_written(memory: Memory) -> tuple[str, dict[str, Any]]:
    return "message:4711", {}


@case(Stage.UNKNOWN)
def in_a_deleted_session(memory: Memory) -> tuple[str, dict[str, Any]]:
    ref = say(memory, "The boat needs red paint.")
    memory.sessions.delete_session("s")
    return ref, {}


@case(Stage.UNKNOWN)
def a_fact_that_never_was(memory: Memory) -> tuple[str, dict[str, Any]]:
    return "f77", {}


@case(Stage.FORGOTTEN)
def forgotten(memory: Memory) -> tuple[str, dict[str, Any]]:
    ref = say(memory, "The boat needs red paint.")
    memory.forget(ref)
    return ref, {}


@case(Stage.OTHER_USER)
def a_message_of_another_user(memory: Memory) -> tuple[str, dict[str, Any]]:
    memory.sessions.create_session("s", "cli", user_id="ana")
    number = memory.sessions.append_message("s", "user", "The boat needs red paint.")
    return f"message:{number}", {"user_id": "ben"}


@case(Stage.OTHER_USER)
def a_fact_of_another_user(memory: Memory) -> tuple[str, dict[str, Any]]:
    (fact,) = memory.remember("The boat needs red paint", user_id="ana").facts
    return fact.id, {"user_id": "ben"}


@case(Stage.OTHER_USER)
def an_entry_of_another_user(memory: Memory) -> tuple[str, dict[str, Any]]:
    memory.entries.store("ana", "boat_paint", "red")
    (hit,) = memory.recall(QUERY, kinds=["entry"], user_id="ana").hits
    return f"entry:{hit.ref}", {"user_id": "ben"}


@case(Stage.ECHO)
def an_echo(memory: Memory) -> tuple[str, dict[str, Any]]:
    echo = {"role": "tool", "content": "The boat needs red paint.", "tool_name": "mcp__mnemos__recall"}
    return say(memory, echo | {"origin": "memory"}), {}


@case(Stage.NO_TEXT)
def without_a_text(memory: Memory) -> tuple[str, dict[str, Any]]:
    return say(memory, ("assistant", "")), {}


@case(Stage.FILTERED)
def of_another_source(memory: Memory) -> tuple[str, dict[str, Any]]:
    return say(memory, "The boat needs red paint.", source="cli"), {"source": "telegram"}


@case(Stage.FILTERED)
def of_another_session(memory: Memory) -> tuple[str, dict[str, Any]]:
    say(memory, "The boat has sails.", session_id="t")
    return say(memory, "The boat needs red paint."), {"session_ids": ["t"]}


@case(Stage.FILTERED)
def of_an_excluded_session(memory: Memory) -> tuple[str, dict[str, Any]]:
    return say(memory, "The boat needs red paint."), {"exclude_session_ids": ["s"]}


@case(Stage.FILTERED)
def older_than_asked_for(memory: Memory) -> tuple[str, dict[str, Any]]:
    return say(memory, "The boat needs red paint."), {"since": NOW - DAY}


@case(Stage.FILTERED)
def of_another_kind(memory: Memory) -> tuple[str, dict[str, Any]]:
    return say(memory, "The boat needs red paint."), {"kinds": ["fact"]}


@case(Stage.FILTERED)
def a_note_where_a_source_is_asked_for(memory: Memory) -> tuple[str, dict[str, Any]]:
    memory.notebook.add("The boat needs red paint.")
    (hit,) = memory.recall(QUERY, kinds=["note"]).hits
    return f"note:{hit.ref}", {"source": "cli"}


@case(Stage.NOT_PROPOSED)
def without_any_of_the_words(memory: Memory) -> tuple[str, dict[str, Any]]:
    say(memory, "The boat needs red paint.", session_id="t")
    return say(memory, "The trains run late."), {"words_only": True}


@case(Stage.NOT_PROPOSED)
def with_fewer_words_than_many_others(memory: Memory) -> tuple[str, dict[str, Any]]:
    ref = say(memory, "A boat.")
    for number in range(60):
        say(memory, f"The boat needs paint of colour {number}.", session_id=f"t{number}")
    return ref, {"words_only": True}


@case(Stage.TOO_MANY)
def proposed_but_too_long_to_be_read(memory: Memory) -> tuple[str, dict[str, Any]]:
    ref = say(memory, "A boat and its paint, described at length. " + "Nothing of interest here. " * 30_000)
    for number in range(20):
        say(memory, f"The boat needs paint, coat {number}.", session_id=f"t{number}")
    return ref, {"words_only": True}


@case(Stage.NOT_JUDGED)
def read_but_far_from_the_words(memory: Memory) -> tuple[str, dict[str, Any]]:
    turns = [
        text for number in range(40) for text in (f"The boat needs paint, coat {number}.", "Fine.", "Sure.")
    ]
    last = told(memory, "s", "A word on trains, which run late again.", "And on tickets.", *turns)
    return f"message:{last[0]}", {"words_only": True}


@case(Stage.UNRELATED)
def near_by_chance_alone(memory: Memory) -> tuple[str, dict[str, Any]]:
    say(memory, "The boat needs red paint.", session_id="t")
    return say(memory, "Quarterly revenue rose by four percent."), {}


@case(Stage.REPLACED)
def replaced(memory: Memory) -> tuple[str, dict[str, Any]]:
    (old,) = memory.remember("The boat needs red paint", about="boat.paint").facts
    memory.remember("The boat needs blue paint", about="boat.paint")
    return old.id, {}


@case(Stage.NO_ANSWER)
def ranked_where_nothing_answers(memory: Memory) -> tuple[str, dict[str, Any]]:
    for number in range(200):
        say(memory, f"Coat {number} of the fence is dry.", session_id=f"t{number}")
    text = "The trains run late on Mondays, says the paint seller at the ticket office of the station."
    return say(memory, text), {"query": "hadron lattice quantum chromodynamics gauge flavour paint"}


@case(Stage.BELOW_LIMIT)
def below_the_limit(memory: Memory) -> tuple[str, dict[str, Any]]:
    say(memory, "The boat needs red paint.", session_id="t")
    return say(memory, "A boat is expensive."), {"limit": 1}


@case(Stage.DOUBLED)
def saying_the_same_as_another(memory: Memory) -> tuple[str, dict[str, Any]]:
    say(memory, "The boat needs red paint.")
    say(memory, "the boat needs RED paint", session_id="t")
    return f"message:{memory.recall(QUERY).hits[1].ref}", {}


@case(Stage.NOT_PACKED)
def without_room_in_the_budget(memory: Memory) -> tuple[str, dict[str, Any]]:
    return say(memory, "The boat needs red paint."), {"budget": 5}


@case(Stage.CUT)
def with_room_for_a_part(memory: Memory) -> tuple[str, dict[str, Any]]:
    return say(memory, "The boat needs red paint. " + "It dries slowly in this weather. " * 30), {
        "budget": 120
    }


@case(Stage.PACKED)
def packed(memory: Memory) -> tuple[str, dict[str, Any]]:
    return say(memory, "The boat needs red paint."), {}


@case(Stage.PACKED)
def a_note_that_was_just_written(memory: Memory) -> tuple[str, dict[str, Any]]:
    memory.notebook.add("The boat needs red paint.")
    (hit,) = memory.recall(QUERY, kinds=["note"]).hits
    return str(hit.ref), {}


_RANKED = (Stage.UNRELATED, Stage.BELOW_LIMIT, Stage.NO_ANSWER)


@pytest.mark.parametrize("name", CASES)
def test_a_probe_names_the_stage_that_a_passage_reached(memory: Memory, name: str) -> None:
    stage, make = CASES[name]
    ref, arguments = make(memory)
    recalled = memory.recall(arguments.pop("query", QUERY), probe=ref, **arguments)
    probed = explained(recalled).probed
    assert probed is not None
    assert (probed.stage, probed.sentence) == (stage, probed.sentence)
    is_shown = any(probed.ref == f"{hit.kind}:{hit.ref}" for hit in recalled.hits)
    assert is_shown == (stage in (Stage.DOUBLED, Stage.NOT_PACKED, Stage.CUT, Stage.PACKED))
    assert (probed.rank is None) == (not is_shown and stage not in _RANKED)


def test_every_stage_has_a_case() -> None:
    assert {stage for stage, _ in CASES.values()} == set(Stage)


@pytest.mark.parametrize("ref", ["", "message:", "message:x", "what I said", "table", "fact"])
def test_a_reference_that_names_nothing_is_refused(memory: Memory, ref: str) -> None:
    told(memory, "s", "The boat needs red paint.")
    with pytest.raises(InvalidInput):
        memory.recall(QUERY, explain=True, probe=ref or " ")


@BOTH
@pytest.mark.parametrize("query", ASKED)
def test_the_parts_of_a_hit_add_up_to_its_score(everything: Memory, query: str, words_only: bool) -> None:
    recalled = everything.recall(query, explain=True, words_only=words_only)
    about = explained(recalled)
    assert len(about.hits) == len(recalled.hits)
    for hit, account in zip(recalled.hits, about.hits, strict=True):
        assert sum(part.points for part in account.parts) == pytest.approx(hit.score, abs=1e-4)
        assert all(part.points == pytest.approx(part.value * part.weight, abs=1e-5) for part in account.parts)
        assert all(part.points and part.sentence.endswith(".") for part in account.parts)


def test_scores_of_replaced_and_repeated_lines_add_up_too(memory: Memory, tell: Tell) -> None:
    memory.remember("I live in Berlin", about="user.home")
    memory.remember("I moved to Hamburg", about="user.home")
    tell("s", "In what town is my home where I live?", ("assistant", "You live in Hamburg."))
    recalled = memory.recall("where did I live before?", explain=True)
    names = set()
    for hit, account in zip(recalled.hits, explained(recalled).hits, strict=True):
        assert sum(part.points for part in account.parts) == pytest.approx(hit.score, abs=1e-4)
        names |= {part.name for part in account.parts}
    assert "asks" in names


def test_every_feature_with_a_weight_has_a_reason() -> None:
    assert set(HYBRID) <= set(REASONS)
    assert set(REASONS) - set(HYBRID) == {DEEP, "below_reply", "lent", "ended"}


def test_the_counts_of_the_stages_fall_from_stage_to_stage(everything: Memory) -> None:
    recalled = everything.recall(ASKED[1], explain=True, limit=5)
    counts = explained(recalled).counts
    assert counts.by_words
    assert counts.by_vectors
    assert counts.read >= counts.judged >= counts.ranked >= counts.shown == len(recalled.hits) == 5
    assert counts.packed + counts.doubled + recalled.left_out == counts.shown


def test_an_account_has_the_time_of_each_stage(everything: Memory) -> None:
    spent = explained(everything.recall(ASKED[0], explain=True)).milliseconds
    assert [*spent] == ["understand", "weigh", "propose", "judge", "order", "check", "show", "pack"]


def test_an_account_says_what_was_understood(everything: Memory) -> None:
    understood = explained(
        everything.recall("When did Ana visit the clinic last week?", explain=True)
    ).understood
    assert "clinic" in understood.words
    assert sum(understood.shares) == pytest.approx(1, abs=0.01)
    assert understood.asks_for == ("a time",)
    assert understood.speakers == ("ana",)
    assert understood.since is not None
    assert understood.until is not None
    assert understood.until < NOW


@BOTH
@pytest.mark.parametrize("query", ASKED)
def test_an_explained_answer_is_the_same_answer(everything: Memory, query: str, words_only: bool) -> None:
    plain = everything.recall(query, words_only=words_only)
    assert plain.explanation is None
    about = everything.recall(query, words_only=words_only, explain=True, probe="message:1")
    assert (about.hits, about.text, about.left_out) == (plain.hits, plain.text, plain.left_out)
