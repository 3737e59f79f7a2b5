"""Each reason to take a line for the answer, alone."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from scenes import DAY, NOW, Said, assistant, fact, feature, judged, scene, strip, user

from mnemos.recall.features import UNBOUNDED, judge

FILLER = "and so on about nothing in particular "


def noon(month: int, day: int) -> float:
    return datetime(2026, month, day, 12, tzinfo=UTC).timestamp()


# --- words ------------------------------------------------------------------------------------


def test_more_of_the_words_are_better_than_fewer() -> None:
    words = feature(
        scene("red kayak rental", strip(1, "the red kayak"), strip(2, "the red kayak rental", session="t")),
        "words",
    )
    assert words[2] > words[1]


def test_a_rare_word_is_better_than_a_common_one() -> None:
    lines = strip(1, "a kayak there"), strip(2, "a red one there", session="t")
    words = feature(scene("red kayak", *lines, counts={"red": 400, "kayak": 2}), "words")
    assert words[1] > words[2]


def test_the_same_words_in_a_short_line_are_better_than_in_a_long_one() -> None:
    lines = strip(1, "kayak " + FILLER * 20), strip(2, "the kayak", session="t")
    words = feature(scene("kayak", *lines), "words")
    assert words[2] > words[1]


def test_a_word_said_over_and_over_does_not_outdo_two_words() -> None:
    lines = strip(1, "kayak " * 50), strip(2, "red kayak", session="t")
    words = feature(scene("red kayak", *lines), "words")
    assert words[2] > words[1]


def test_neighbours_lend_their_words_the_nearest_most() -> None:
    talk = strip(1, "we took the kayak", "it was cold", "and wet", "and dark")
    words = feature(scene("kayak", talk, proposed=[1, 2, 3]), "words")
    assert words[1] > words[2] > words[3]
    assert words[2] > 0


def test_a_long_line_speaks_for_itself() -> None:
    short = strip(1, "we took the kayak", "it was cold")
    long = strip(3, "we took the kayak", FILLER * 40, session="t")
    words = feature(scene("kayak", short, long), "words")
    assert words[2] > words[4]


def test_a_machines_long_answer_lends_nothing_to_those_around_it() -> None:
    of_person = strip(1, user("kayak " + FILLER * 15), user("it was cold"))
    of_machine = strip(3, assistant("kayak " + FILLER * 15), user("it was cold"), session="t")
    words = feature(scene("kayak", of_person, of_machine), "words")
    assert words[2] > 0
    assert words[4] == 0


def test_neighbours_across_a_machines_long_answer_still_lend() -> None:
    talk = strip(1, user("the kayak leaks"), assistant(FILLER * 15), user("all of it"))
    assert feature(scene("kayak", talk), "words")[3] > 0


def test_another_conversation_lends_nothing() -> None:
    words = feature(
        scene("kayak", strip(1, "a kayak", session="s"), strip(2, "it was cold", session="t")), "words"
    )
    assert words[2] == 0


# --- meaning ----------------------------------------------------------------------------------


def test_nearness_in_meaning_is_a_feature_of_its_own() -> None:
    made = scene("kayak", strip(1, "a boat", "a cake"), cosines={1: 0.6, 2: 0.1})
    meaning = feature(made, "meaning")
    assert meaning[1] > meaning[2]


# --- the conversation -------------------------------------------------------------------------


def test_a_conversation_about_it_speaks_for_all_its_lines() -> None:
    about = strip(1, "the kayak leaks", "the kayak is red", "it was cold", session="s")
    other = strip(4, "the kayak", "it was cold", "and dark", session="t")
    session = feature(scene("red kayak", about, other), "session")
    assert session[1] == session[2] == session[3] > session[4] == session[5]


def test_a_passage_that_is_not_a_message_needs_no_conversation() -> None:
    made = scene("kayak", strip(1, "a kayak"), passages=[fact(9, "a kayak")], cosines={1: 0.5, 9: 0.5})
    found = judged(made)
    assert found[9].features["words"] > 0
    assert found[9].features["replies"] == 0


# --- who --------------------------------------------------------------------------------------

TWO = (Said("I adopted a dog", name="Ana"), Said("I adopted a cat", name="Ben"))


def speaker(question: str, *turns: Said) -> list[float]:
    return list(feature(scene(question, strip(1, *turns)), "speaker").values())


def test_who_is_named_in_the_question_is_preferred() -> None:
    ana, ben = speaker("what did Ben adopt?", *TWO)
    assert ben > ana


@pytest.mark.parametrize(
    "question", ["who adopted a pet?", "what did Ana and Ben adopt?", "what did Clara adopt?"]
)
def test_nobody_is_preferred_where_none_or_several_are_named(question: str) -> None:
    ana, ben = speaker(question, *TWO)
    assert ana == ben


@pytest.mark.parametrize(
    ("name", "question"),
    [
        ("José", "what did José adopt?"),
        ("José", "what did Jose adopt?"),
        ("Anne-Marie", "what did Anne-Marie adopt?"),
        ("O'Neil", "what did O'Neil adopt?"),
        ("Dr. Weber", "what did Dr. Weber adopt?"),
        ("Ana Maria Silva", "what did Ana Maria adopt?"),
        ("McDonald", "what did McDonald adopt?"),
        ("Łukasz", "what did Lukasz adopt?"),
        ("Zoë", "what did ZOE adopt?"),
        ("田中", "田中は何を飼いましたか"),
    ],
)
def test_a_name_is_known_however_it_is_written(name: str, question: str) -> None:
    named, other = speaker(
        question, Said("I adopted a dog", name=name), Said("I adopted a cat", name="Xaver")
    )
    assert named > other


@pytest.mark.parametrize(
    ("name", "question"),
    [
        ("Will", "what will the weather be?"),
        ("May", "what may I eat?"),
        ("Us Ber", "who of us adopted a dog?"),
    ],
)
def test_a_common_word_is_not_a_name(name: str, question: str) -> None:
    named, other = speaker(
        question, Said("I adopted a dog", name=name), Said("I adopted a cat", name="Xaver")
    )
    assert named == other


def test_a_role_that_is_a_name_is_a_name() -> None:
    carla, dmitri = speaker("what did Dmitri adopt?", Said("a dog", "Carla"), Said("a cat", "Dmitri"))
    assert dmitri > carla


@pytest.mark.parametrize("question", ["what did the user adopt?", "what did the assistant say?"])
def test_a_role_that_is_a_role_is_not_a_name(question: str) -> None:
    one, other = speaker(question, user("a dog"), assistant("a cat"))
    assert one == other


# --- what kind of answer ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "question", "with_it", "without"),
    [
        ("time", "when was the move?", "the move was last Tuesday", "the move was hard"),
        ("time", "when was the move?", "on 3 March", "in good order"),
        ("time", "wann war der Umzug?", "das war am 3. März", "das war schwer"),
        ("number", "how many boxes were there?", "there were 40", "there were some"),
        ("number", "how many boxes were there?", "twelve of them", "lots of them"),
        ("name", "who helped with the move?", "it was Carla", "it was a friend"),
        ("name", "where did we store it?", "over at the Harbour depot", "over at the depot"),
        ("name", "what is the song called?", 'they played "Long River" twice', "they played it twice"),
    ],
)
def test_a_line_that_has_what_is_asked_for_is_preferred(
    name: str, question: str, with_it: str, without: str
) -> None:
    found = feature(scene(question, strip(1, with_it, without)), name)
    assert found[1] > found[2]


@pytest.mark.parametrize("name", ["time", "number", "name"])
def test_an_answer_to_another_question_is_not_a_reason(name: str) -> None:
    found = feature(scene("kayak rental", strip(1, "the Harbour rental opens on 3 March at 9", "so")), name)
    assert set(found.values()) == {0.0}


# --- machines ---------------------------------------------------------------------------------


def test_a_long_answer_of_a_machine_is_held_against_it() -> None:
    lines = strip(1, user("kayak " * 200), assistant("kayak " * 200), assistant("a kayak"))
    machine = feature(scene("kayak", lines), "machine")
    assert machine[2] > machine[1] == machine[3] == 0


def test_nothing_is_held_against_a_machine_that_is_asked_about() -> None:
    lines = strip(1, user("kayak " * 200), assistant("kayak " * 200))
    made = scene("which kayak did you recommend?", lines)
    assert set(feature(made, "machine").values()) == {0.0}
    asked = feature(made, "asked_machine")
    assert asked[2] > asked[1]


def test_nothing_is_held_against_a_person_stored_as_the_assistant() -> None:
    lines = strip(1, Said("kayak " * 200, "user", name="Ana"), Said("kayak " * 200, "assistant", name="Ben"))
    machine = feature(scene("kayak", lines), "machine")
    assert machine[1] == machine[2] == 0


# --- time -------------------------------------------------------------------------------------


def test_what_was_said_in_the_time_asked_about_is_preferred() -> None:
    lines = strip(
        1,
        user("it broke", at=noon(3, 16)),
        user("it broke", at=noon(3, 17)),
        user("it broke", at=noon(3, 18)),
    )
    in_span = feature(scene("what broke last Tuesday?", lines), "in_span")
    assert in_span[2] > in_span[1] == 0


def test_what_was_said_soon_after_the_time_asked_about_is_next() -> None:
    lines = strip(1, *(user("it broke", at=noon(3, day)) for day in (17, 18, 9, 28)))
    in_span = feature(scene("what broke on 17 March?", lines, now=noon(4, 9)), "in_span")
    assert in_span[1] > in_span[2] > in_span[3] == in_span[4] == 0


def test_the_end_of_a_time_is_not_in_it() -> None:
    midnight = datetime(2026, 3, 18, tzinfo=UTC).timestamp()
    lines = strip(1, user("it broke", at=midnight - 1), user("it broke", at=midnight))
    in_span = feature(scene("what broke last Tuesday?", lines), "in_span")
    assert in_span[1] > in_span[2]


@pytest.mark.usefixtures("utc")
def test_what_speaks_of_the_time_asked_about_is_preferred_whenever_it_was_said() -> None:
    lines = strip(
        1, user("it breaks on 17 March", at=noon(3, 1)), user("it breaks on 11 March", at=noon(3, 1))
    )
    of_span = feature(scene("what broke last Tuesday?", lines), "of_span")
    assert of_span[1] > of_span[2]


@pytest.mark.usefixtures("utc")
def test_a_relative_date_is_seen_from_when_it_was_said() -> None:
    lines = strip(1, user("it broke yesterday", at=noon(3, 18)), user("it broke yesterday", at=noon(3, 12)))
    of_span = feature(scene("what broke last Tuesday?", lines), "of_span")
    assert of_span[1] > of_span[2]


@pytest.mark.usefixtures("utc")
def test_a_vague_time_is_not_an_answer_to_a_sharp_question() -> None:
    lines = strip(1, user("it broke several times this year", at=noon(3, 1)), user("so", at=noon(3, 1)))
    assert set(feature(scene("what broke last Tuesday?", lines), "of_span").values()) == {0.0}


def test_no_time_asked_about_prefers_none() -> None:
    made = scene("what broke?", strip(1, user("it broke", at=NOW), user("it broke yesterday", at=0.0)))
    for name in ("in_span", "of_span"):
        assert set(feature(made, name).values()) == {0.0}


def test_how_new_a_line_is_matters_where_the_newest_is_wanted() -> None:
    lines = strip(
        1, user("a kayak", at=NOW), user("a kayak", at=NOW - DAY), user("a kayak", at=NOW - 9 * DAY)
    )
    latest = feature(scene("what is my current kayak?", lines), "latest")
    assert latest[1] > latest[2] > latest[3]
    assert set(feature(scene("what is my kayak?", lines), "latest").values()) == {0.0}


# --- replies ----------------------------------------------------------------------------------


def test_the_answer_to_a_question_that_has_the_words_is_preferred() -> None:
    talk = strip(1, user("Which kayak did you take?"), assistant("The long one."), user("Good."))
    replies = feature(scene("which kayak?", talk), "replies")
    assert replies[2] > replies[1] == replies[3] == 0


def test_who_goes_on_after_their_own_question_does_not_answer_it() -> None:
    talk = strip(1, Said("Which kayak?", name="Ana"), Said("The long one.", name="Ana"))
    assert feature(scene("which kayak?", talk), "replies")[2] == 0


def test_a_question_about_something_else_is_not_a_reason() -> None:
    talk = strip(1, user("Which canoe did you take?"), assistant("The long one."))
    assert feature(scene("which kayak?", talk), "replies")[2] == 0


def test_who_searches_for_words_wants_their_lines() -> None:
    talk = strip(1, user("Which kayak did you take?"), assistant("The long one."))
    made = scene("kayak", talk)
    assert set(feature(made, "replies").values()) == set(feature(made, "asks").values()) == {0.0}


def test_a_mere_question_is_seldom_an_answer() -> None:
    talk = strip(
        1, "Which kayak?", "The kayak is red.", "The kayak leaks at the bow since we hit a rock there. Why?"
    )
    asks = feature(scene("which kayak?", talk), "asks")
    assert asks[1] > asks[3] >= asks[2] == 0


# --- codes ------------------------------------------------------------------------------------


@pytest.mark.parametrize("question", ["E4410", "what is E4410 on host 10.0.3.7?", "10.0.3.7"])
def test_for_a_number_or_a_code_nothing_else_will_do(question: str) -> None:
    lines = strip(1, "E4410 on host 10.0.3.7", "E4411 on host 10.0.3.8", "on host")
    codes = feature(scene(question, lines), "codes")
    assert codes[1] == 1.0
    assert codes[2] < 0.5
    assert codes[3] == 0.0


def test_a_question_without_codes_asks_for_none() -> None:
    codes = feature(scene("which host?", strip(1, "E4410 on host 10.0.3.7")), "codes")
    assert codes == {1: 0.0}


# --- all together -----------------------------------------------------------------------------


def test_nothing_to_judge_is_nothing() -> None:
    assert judge(scene("kayak")) == []


def test_every_candidate_has_every_feature() -> None:
    made = scene("when did Ana take the kayak?", strip(1, *TWO, user("no")), passages=[fact(9, "kayak")])
    known = [set(candidate.features) for candidate in judge(made)]
    assert len(known) == 4
    assert all(names == known[0] for names in known)


def test_features_are_bounded_whatever_is_asked() -> None:
    talk = strip(1, user("kayak " * 500), assistant("red " * 500), user("red kayak?"), assistant("no"))
    made = scene("red kayak", talk, cosines={1: 0.9, 2: 0.1, 3: 0.9}, passages=[fact(9, "kayak " * 999)])
    for candidate in judge(made):
        assert all(0 <= value <= 1.0000001 for value in candidate.features.values()), candidate.features


def test_unbounded_reasons_are_measured_by_the_highest() -> None:
    talk = strip(1, user("a red kayak", at=NOW), user("a kayak"), user("no"))
    for found in (judge(scene("red kayak", talk, cosines={1: 0.3, 2: 0.2})), judge(scene("zebra", talk))):
        for name in UNBOUNDED:
            assert max(candidate.features[name] for candidate in found) in (0.0, 1.0)


def test_of_very_many_candidates_the_best_by_words_are_kept() -> None:
    many = [strip(number, "so it goes", session=f"s{number}") for number in range(1, 400)]
    found = judged(scene("kayak", *many, strip(1000, "the kayak", session="it")))
    assert 1000 in found
    assert len(found) < 400


def test_of_very_many_candidates_those_from_the_time_asked_about_are_kept() -> None:
    many = [strip(number, "so it goes", session=f"s{number}", at=noon(1, 5)) for number in range(1, 400)]
    made = scene("what was it last Tuesday?", *many, strip(1000, "it fell", session="it", at=noon(3, 17)))
    assert 1000 in judged(made)


def test_judging_the_same_scene_twice_gives_the_same() -> None:
    talk = strip(1, *TWO, user("a red kayak?"), assistant("the kayak"))
    made = scene("what did Ana adopt", talk, cosines={1: 0.2, 2: 0.3})
    assert [c.features for c in judge(made)] == [c.features for c in judge(made)]


# --- questions asked before ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "line", "restates"),
    [
        ("Where do I live?", "Where do I live?", 1.0),
        ("Where do I live?", "Hi! Where do I live? Thanks.", 1.0),
        ("Where do I live, and since when?", "where do I live", 1.0),
        ("Where do I live?", "Which city do I live in?", 0.5),
        ("发布会在哪里举行？", "发布会在哪里举行？", 1.0),
        ("Wo liegt der Schlüssel?", "Wo liegt der Schlüssel?", 1.0),
        ("Where do I live?", "I live in Hamburg.", 0.0),
        ("Where do I live?", "I moved to Hamburg last spring. Where do I live?", 0.0),
        ("Where do I live?", "Really?", 0.0),
        ("Where do I live?", "", 0.0),
        ("where I live", "Where do I live?", 1.0),
        ("home town", "Which home town?", 0.0),
    ],
)
def test_a_line_that_only_asks_the_question_restates_it(asked: str, line: str, restates: float) -> None:
    talk = strip(1, user(line or " "), assistant("Hamburg"))
    assert feature(scene(asked, talk), "restates").get(1, 0.0) == pytest.approx(restates)
