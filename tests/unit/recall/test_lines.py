"""Messages made ready to be judged: their text, who said it, what of the question they have."""

from __future__ import annotations

import pytest
from scenes import Said, assistant, fact, lines, scene, strip, user

from mnemos.recall.candidates import NEIGHBOURS


def candidates(*strips: object, **more: object) -> list[int]:
    made = scene("kayak", *strips, **more)  # type: ignore[arg-type]
    return [stretch.lines[position].id for stretch in made.stretches for position in stretch.candidates]


# --- which lines may answer -------------------------------------------------------------------


def test_neighbours_of_a_proposal_may_answer_and_those_farther_off_may_not() -> None:
    talk = strip(1, *(f"line {number}" for number in range(1, 12)))
    assert candidates(talk, proposed=[6]) == list(range(6 - NEIGHBOURS, 6 + NEIGHBOURS + 1))


def test_neighbourhoods_end_where_the_conversation_does() -> None:
    talk = strip(1, "a", "b", "c", "d", "e", "f")
    assert candidates(talk, proposed=[1]) == list(range(1, NEIGHBOURS + 2))
    assert candidates(talk, proposed=[6]) == list(range(6 - NEIGHBOURS, 7))


def test_a_line_near_two_proposals_is_there_once() -> None:
    talk = strip(1, "a", "b", "c", "d")
    assert candidates(talk, proposed=[2, 3]) == [1, 2, 3, 4]


def test_another_conversation_has_no_neighbours_here() -> None:
    one, other = strip(1, "a", "b", session="one"), strip(3, "c", "d", session="other")
    assert candidates(one, other, proposed=[2]) == [1, 2]


def test_what_says_nothing_cannot_answer() -> None:
    talk = strip(1, "a", Said(None), Said(""), "b")
    assert candidates(talk) == [1, 4]


def test_what_was_forgotten_says_nothing_and_cannot_answer() -> None:
    call = '[{"function": {"name": "kayak", "arguments": "{}"}}]'
    talk = strip(1, "a", Said("kayak", forgotten=True), Said(None, calls=call, forgotten=True), "b")
    made = scene("kayak", talk)
    assert [line.text for line in lines(made)] == ["a", "", "", "b"]
    assert all(line.counts == {} for line in lines(made))
    assert candidates(talk) == [1, 4]


# --- what a line has of the question ----------------------------------------------------------


def test_a_line_covers_the_share_of_the_words_it_has() -> None:
    made = scene("red kayak", strip(1, "a red kayak", "a kayak", "a canoe"))
    whole, half, none = (line.cover for line in lines(made))
    assert whole == pytest.approx(1.0)
    assert half == pytest.approx(0.5)
    assert none == 0.0


def test_a_rare_word_is_a_larger_share_than_a_common_one() -> None:
    made = scene("red kayak", strip(1, "red", "kayak"), counts={"red": 500, "kayak": 1})
    red, kayak = lines(made)
    assert kayak.cover > red.cover


def test_a_word_that_questions_are_made_of_is_a_smaller_share() -> None:
    made = scene("what kind of kayak", strip(1, "be kind", "a kayak"))
    kind, kayak = lines(made)
    assert kayak.cover > kind.cover


def test_words_that_everybody_uses_count_nothing_below_zero() -> None:
    made = scene("red kayak", strip(1, "red kayak"), counts={"red": 10_000, "kayak": 10_000}, total=100)
    (line,) = lines(made)
    assert all(weight > 0 for weight in made.weights)
    assert line.cover == pytest.approx(1.0)


def test_an_identifier_is_known_by_its_parts() -> None:
    made = scene("user name", strip(1, "call getUserName() there"))
    assert set(lines(made)[0].counts) == {0, 1}


def test_what_a_tool_was_called_with_is_text_where_nothing_was_said() -> None:
    call = '[{"function": {"name": "read_file", "arguments": "{\\"path\\": \\"/srv/kayak.py\\"}"}}]'
    made = scene("kayak", strip(1, Said(None, "assistant", calls=call), Said("so", "assistant", calls=call)))
    silent, speaking = lines(made)
    assert "kayak.py" in silent.text
    assert silent.counts
    assert speaking.text == "so"


def test_another_passage_is_a_line_of_its_own() -> None:
    made = scene("kayak", passages=[fact(9, "the kayak is red")], cosines={9: 0.5})
    (line,) = made.passages
    assert (line.id, line.text, line.cover, line.cosine) == (9, "the kayak is red", pytest.approx(1.0), 0.5)
    assert made.stretches == ()


def test_what_points_away_from_the_question_is_not_nearer_than_nothing() -> None:
    made = scene("kayak", strip(1, "a", "b"), cosines={1: -0.4})
    assert [line.cosine for line in lines(made)] == [0.0, 0.0]


# --- who speaks -------------------------------------------------------------------------------


def speakers(*turns: Said | str) -> list[str]:
    return [line.speaker for line in lines(scene("kayak", strip(1, *turns)))]


def test_who_has_no_name_is_known_by_the_role() -> None:
    assert speakers(user("hello"), assistant("hello")) == ["user", "assistant"]


def test_metadata_may_name_who_speaks() -> None:
    assert speakers(Said("hello", name="Inès"), Said("hello", "assistant", name="Ben")) == ["Inès", "Ben"]


def test_a_role_may_be_a_name() -> None:
    assert speakers(Said("hello", "Dmitri"), Said("hello", "Carla")) == ["Dmitri", "Carla"]


def test_a_name_may_come_before_a_colon() -> None:
    assert speakers("Ana: hello", "Ben Ode: hello", "Ana: bye", "Ben Ode: bye") == ["Ana", "Ben Ode"] * 2


def test_a_word_before_a_colon_once_is_not_a_name() -> None:
    assert speakers("Note: the kayak leaks", "Ana: oh", "Ana: no") == ["user", "Ana", "Ana"]


def test_a_heading_of_an_answer_is_not_a_name() -> None:
    told = [assistant(f"Result: {text}") for text in ("it leaks", "it is dry", "it floats")]
    assert speakers(*told) == ["assistant"] * 3


def test_other_metadata_makes_no_name_of_it() -> None:
    assert speakers(Said("Done: it is dry", "assistant", about={"uuid": "7"}), "so") == [
        "assistant",
        "user",
    ]


def test_a_name_in_metadata_is_one_although_it_comes_once() -> None:
    assert speakers(Said("Ana: hello", name="Ana"), "so") == ["Ana", "user"]


@pytest.mark.parametrize("role", ["assistant", "tool", "function"])
def test_answers_of_machines_are_known(role: str) -> None:
    (line,) = lines(scene("kayak", strip(1, Said("hello", role))))
    assert line.from_machine


def test_a_person_is_not_a_machine_whatever_role_their_words_were_stored_under() -> None:
    made = scene("kayak", strip(1, Said("hello", "assistant", name="Ben"), Said("hi", "user", name="Ana")))
    assert not any(line.from_machine for line in lines(made))


# --- what a line is to its neighbours ---------------------------------------------------------


def test_a_long_answer_of_a_machine_lends_its_words_to_nobody() -> None:
    made = scene("kayak", strip(1, user("kayak " * 100), assistant("kayak " * 100), assistant("a kayak")))
    (stretch,) = made.stretches
    assert [stretch.lines[position].id for position in stretch.lending] == [1, 3]


def test_a_line_asks_if_it_ends_with_a_question() -> None:
    made = scene("kayak", strip(1, "Where to?", "To the lake.", "Right? " + "So it goes. " * 40))
    assert [line.asks for line in lines(made)] == [True, False, False]
