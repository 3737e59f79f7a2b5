"""A judged line as it is shown: the right piece of it, its place, and true reasons."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from scenes import DAY, NOW, Said, assistant, fact, judged, scene, strip, user

from mnemos.recall.answer import RecallHit
from mnemos.recall.candidates import NEIGHBOUR_CHARACTERS, Gathered
from mnemos.recall.hits import fits, make_excerpt
from mnemos.recall.lines import Scene
from mnemos.recall.pack import Excerpt, Turn
from mnemos.storage.base import Filters, MessageRow
from mnemos.storage.passages import MAX_PIECES, PART_CHARACTERS, Near
from mnemos.text.pieces import pieces
from mnemos.text.words import fold

PARAGRAPH = "The nightly job copies the tables, checks the sums and writes a report for the team.\n\n"


def not_needed(message_id: int) -> MessageRow | None:
    raise AssertionError(f"message {message_id} was judged as a whole")


def shown(
    made: Scene, id: int, *, near: Near | None = None, score: float = 1.0, filters: Filters | None = None
) -> Excerpt:
    gathered = Gathered(frozenset(), (), (), {} if near is None else {near.id: near})
    return make_excerpt(not_needed, made, judged(made)[id], gathered, score, filters or Filters())


def hit(made: Scene, id: int, **more: Any) -> RecallHit:
    return shown(made, id, **more).hit


# --- what is shown ----------------------------------------------------------------------------


def test_a_hit_names_its_message() -> None:
    made = scene("kayak", strip(7, Said("a kayak", name="Ana", at=NOW - DAY), session="s1"))
    found = hit(made, 7, score=1.234567)
    assert (found.kind, found.ref, found.session_id, found.speaker) == ("message", 7, "s1", "Ana")
    assert (found.text, found.place, found.at, found.score) == ("a kayak", (0, 7), NOW - DAY, 1.2346)


def test_a_passage_that_is_not_a_message_is_named_by_its_part() -> None:
    found = shown(scene("kayak", passages=[fact(9, "kayak: red")]), 9)
    assert (found.hit.kind, found.hit.ref, found.hit.session_id, found.hit.speaker) == (
        "fact",
        "f9",
        None,
        "",
    )
    assert (found.hit.text, found.hit.place) == ("kayak: red", (0, 10))
    assert (found.hit.title, found.before, found.after) == (None, None, None)


def test_neighbours_are_shown_with_who_said_them() -> None:
    talk = strip(1, Said("Which one?", name="Ana"), user("the kayak"), assistant("Good."))
    found = shown(scene("kayak", talk), 2)
    assert (found.before, found.after) == (Turn(1, "Ana", "Which one?"), Turn(3, "assistant", "Good."))


def test_a_neighbour_that_was_read_in_part_is_shown_whole() -> None:
    whole = "The kayak is red. " * 40 + "It was 400 euros."
    talk = strip(1, user(whole[:NEIGHBOUR_CHARACTERS]), "a boat")
    made = scene("kayak", talk)
    row = strip(1, user(whole)).messages[0]
    found = make_excerpt(
        lambda _: row, made, judged(made)[1], Gathered(frozenset(), (), (), {}), 1.0, Filters()
    )
    assert (found.hit.text, found.hit.place) == (whole, (0, len(whole)))


def test_at_the_ends_of_a_conversation_there_is_no_neighbour() -> None:
    made = scene("kayak", strip(1, "a kayak", "no kayak"))
    assert shown(made, 1).before is None
    assert shown(made, 2).after is None


def test_neighbours_that_say_nothing_or_were_forgotten_are_not_shown() -> None:
    talk = strip(1, Said("a secret", forgotten=True), "the kayak", Said(None))
    found = shown(scene("kayak", talk), 2)
    assert (found.before, found.after) == (None, None)


def test_neighbours_that_the_filters_leave_out_are_not_shown() -> None:
    talk = strip(1, user("Which?", at=NOW - DAY), user("the kayak", at=NOW), assistant("Good.", at=NOW + DAY))
    made = scene("kayak", talk)
    for filters, before, after in (
        (Filters(since=NOW), None, "Good."),
        (Filters(until=NOW + DAY), "Which?", None),
        (Filters(roles=["user"]), "Which?", None),
        (Filters(), "Which?", "Good."),
    ):
        found = shown(made, 2, filters=filters)
        assert (found.before and found.before.text, found.after and found.after.text) == (before, after)


@pytest.mark.parametrize(
    ("filters", "does"),
    [
        (Filters(), True),
        (Filters(since=NOW), True),
        (Filters(since=NOW + 0.001), False),
        (Filters(until=NOW), False),
        (Filters(until=NOW + 0.001), True),
        (Filters(roles=["user", "tool"]), True),
        (Filters(roles=["assistant"]), False),
        (Filters(roles=[]), False),
    ],
)
def test_a_line_keeps_to_the_filters_to_the_moment(filters: Filters, does: bool) -> None:
    made = scene("kayak", strip(1, user("a kayak", at=NOW)))
    assert fits(made.stretches[0].lines[0], filters) is does


# --- long messages ----------------------------------------------------------------------------


def test_of_a_long_message_the_piece_with_most_of_the_words_is_shown() -> None:
    long = PARAGRAPH * 20 + "  The red kayak leaks.  \n\n" + PARAGRAPH * 20 + "A kayak.\n\n" + PARAGRAPH * 20
    found = hit(scene("red kayak leaks", strip(1, "so", long)), 2)
    assert "The red kayak leaks." in found.text
    assert long[slice(*found.place)] == found.text
    assert len(found.text) <= 1_500


def test_where_words_do_not_decide_the_nearest_piece_is_shown() -> None:
    long = "".join(f"Part {number} of it. " + "So it goes on. " * 80 for number in range(8))
    places = pieces(long)
    made = scene("kayak", strip(1, long), cosines={1: 0.5})
    for number, (start, end) in enumerate(places):
        found = hit(made, 1, near=Near(1, number, 0.5))
        assert found.text == long[start:end].strip()


def test_the_words_decide_against_the_nearest_piece() -> None:
    long = "A red kayak. " + "So it goes on. " * 300
    found = hit(scene("red kayak", strip(1, long)), 1, near=Near(1, 2, 0.6))
    assert found.text.startswith("A red kayak.")


def test_the_nearest_piece_of_a_very_long_message_is_found_in_its_part() -> None:
    """Pieces are numbered anew in each part of the index."""
    long = "So it goes on and on. " * (2 * PART_CHARACTERS // 22 + 2_000)
    found = hit(scene("kayak", strip(1, long)), 1, near=Near(1, 2 * MAX_PIECES + 3, 0.5))
    assert 2 * PART_CHARACTERS < found.place[0] < 2 * PART_CHARACTERS + 5_000
    assert long[slice(*found.place)] == found.text


@pytest.mark.parametrize("piece", [0, 5, MAX_PIECES - 1, MAX_PIECES + 7, 99 * MAX_PIECES])
def test_a_piece_that_is_not_there_any_more_does_not_fail(piece: int) -> None:
    long = "So it goes on. " * 200
    found = hit(scene("kayak", strip(1, long)), 1, near=Near(1, piece, 0.5))
    assert found.text
    assert long[slice(*found.place)] == found.text


def test_a_message_that_is_gone_meanwhile_is_shown_as_far_as_it_was_read() -> None:
    long = "So it goes on. " * 200
    made = scene("kayak", strip(1, long))
    gathered = Gathered(frozenset(), (), (), {})
    found = make_excerpt(not_needed, made, judged(made)[1], gathered, 1.0, Filters()).hit
    assert long[slice(*found.place)] == found.text


@pytest.mark.parametrize("length", [1_199, 1_200, 1_201, 1_499, 1_500, 1_501, 3_000])
def test_a_place_is_exact_at_every_length(length: int) -> None:
    long = (" kayak" + " \n so it goes" * 400)[:length]
    found = hit(scene("kayak", strip(1, long)), 1)
    assert long[slice(*found.place)] == found.text
    assert "kayak" in found.text


# --- reasons ----------------------------------------------------------------------------------


def why(made: Scene, id: int, **more: Any) -> str:
    return "; ".join(hit(made, id, **more).why)


def test_the_words_are_reported_first_as_the_text_has_them() -> None:
    made = scene("leaking kayaks", strip(1, "My KAYAK leaked"))
    assert hit(made, 1).why[0] == "contains 'leaked', 'kayak'"


def test_words_of_another_piece_are_not_reported() -> None:
    long = "The red kayak leaks. " + "So it goes on. " * 300 + "A gazebo."
    found = hit(scene("red kayak gazebo", strip(1, long)), 1)
    assert "'kayak'" in found.why[0]
    assert "gazebo" not in found.why[0]
    assert all(word in fold(found.text) for word in ("red", "kayak"))


def test_a_line_next_to_the_words_says_so() -> None:
    made = scene("kayak", strip(1, "the kayak leaks", "it was cold"))
    assert "next to" in why(made, 2)


def test_a_line_alone_is_next_to_nothing() -> None:
    """A related word speaks for it."""
    made = scene("buying gifts", strip(1, "a lovely present was purchased"))
    assert judged(made)[1].features["words"] > 0
    assert "next to lines" not in why(made, 1)


def test_nearness_in_meaning_is_reported_where_it_is_near() -> None:
    made = scene("kayak", strip(1, "a boat", "a cake"), cosines={1: 0.61, 2: 0.05})
    assert "close in meaning (0.61)" in why(made, 1)
    assert "meaning" not in why(made, 2)


def test_the_named_speaker_is_a_reason() -> None:
    made = scene("what did Ben adopt?", strip(1, Said("a dog", name="Ana"), Said("a cat", name="Ben")))
    assert "said by Ben" in why(made, 2)
    assert "said by" not in why(made, 1)


def test_the_kind_of_answer_is_reported() -> None:
    made = scene(
        "when and where did how many come?", strip(1, "40 came to the Harbour on 3 March", "they came")
    )
    assert {"names a time", "has a number"} <= set(hit(made, 1).why)
    assert not {"names a time", "has a number"} & set(hit(made, 2).why)


def test_a_number_in_another_piece_is_not_reported() -> None:
    long = "The red kayak leaks. " + "So it goes on. " * 200 + "There are 40."
    made = scene("how many red kayaks leak?", strip(1, long))
    found = hit(made, 1)
    assert "40" not in found.text
    assert "has a number" not in found.why


def test_the_time_asked_about_is_reported_of_lines_from_then_only() -> None:
    def noon(day: int) -> float:
        return datetime(2026, 3, day, 12, tzinfo=UTC).timestamp()

    lines = strip(
        1, user("it broke", at=noon(17)), user("it broke", at=noon(18)), user("it broke", at=noon(2))
    )
    made = scene("what broke last Tuesday?", lines)
    assert "from the time asked about" in why(made, 1)
    assert "from the time asked about" not in why(made, 2)
    assert "from the time asked about" not in why(made, 3)


def test_an_answer_to_a_question_is_reported() -> None:
    made = scene("which kayak was it?", strip(1, user("Which kayak?"), assistant("The long one.")))
    assert "answers a question about it" in why(made, 2)


def test_there_is_always_a_reason_and_never_many() -> None:
    talk = strip(1, *(user(f"kayak {number} on 3 March at Harbour?", at=NOW) for number in range(6)), "so")
    made = scene("when did how many kayaks come to whom?", talk, cosines=dict.fromkeys(range(1, 8), 0.5))
    for id in judged(made):
        assert 1 <= len(hit(made, id).why) <= 4
