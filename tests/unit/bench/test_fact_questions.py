"""The facts and questions of the facts benchmark are what its figures say they are."""

from __future__ import annotations

from collections import Counter
from itertools import islice

from benchmarks.facts import data, made
from benchmarks.facts.data import Question


def asked() -> list[Question]:
    stated = data.statements()
    return [*data.questions(stated), *data.questions(stated, data.KEPT_BACK)]


def test_every_question_is_answered_by_a_statement_that_holds() -> None:
    stated = data.statements()
    holding = set(data.holding(stated).values())

    for question in asked():
        assert question.answers
        assert holding.issuperset(question.answers)


def test_there_are_questions_enough_and_in_four_languages() -> None:
    languages = Counter(one.language for one in data.questions(data.statements()))

    assert languages.total() >= 80
    assert set(languages) == set(data.LANGUAGES)


def test_no_question_is_asked_twice() -> None:
    times = Counter(one.text for one in asked())

    assert times.most_common(1)[0][1] == 1


def test_a_question_keeps_its_telling_words() -> None:
    assert data.without_small_words("Which port does production use?") == "port production"
    assert data.without_small_words("Is it?") == "Is it"


def test_made_facts_depend_on_the_seed_and_nothing_else() -> None:
    first, second, third = made.scopes(60, seed=3)

    assert [first, second] == list(islice(made.scopes(5_000, seed=3), 2))
    assert third == made.scope(2, seed=3, count=10)
    assert made.scope(0, seed=3) != made.scope(0, seed=4)


def test_a_turn_writes_to_scopes_the_store_does_not_hold_or_says_something_anew() -> None:
    stored = {fact.line for scope in made.scopes(250, seed=1) for fact in scope.facts}

    turns = made.turns(250, seed=1, round_number=0, count=40)

    assert not stored.intersection(line for turn in turns for line, _ in turn.writes)


def test_what_is_written_does_not_depend_on_the_size_of_the_store() -> None:
    small, large = (made.turns(size, seed=1, round_number=2, count=40) for size in (500, 50_000))

    assert [turn.writes for turn in small] == [turn.writes for turn in large]
