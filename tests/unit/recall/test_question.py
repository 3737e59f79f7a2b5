"""The understanding of a question before anything is looked up."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemos.recall.question import Question, understand
from mnemos.text.query import MAX_CLAUSES
from mnemos.text.words import stem

# A Friday.
NOW = datetime(2026, 3, 20, 12, tzinfo=UTC).timestamp()
DAY = 86_400.0


def asked(text: str) -> Question:
    return understand(text, NOW, UTC)


def stems(text: str) -> list[str]:
    return [word.stem for word in asked(text).words]


def weight(text: str, form: str) -> float:
    return next(word.weight for word in asked(text).words if word.form == form)


def day(year: int, month: int, number: int) -> float:
    return datetime(year, month, number, tzinfo=UTC).timestamp()


# --- words ------------------------------------------------------------------------------------


def test_words_that_only_hold_a_question_together_are_not_looked_for() -> None:
    assert stems("where is the key of the shed?") == ["key", "shed"]


def test_a_question_of_nothing_but_such_words_looks_for_them() -> None:
    assert stems("who are you?") == ["who", "are", "you"]


def test_words_are_known_by_their_stems_and_each_once() -> None:
    assert stems("migrating, migrated, Migrations") == [stem("migrated")]


def test_accents_and_case_make_no_difference() -> None:
    assert stems("RÉUNION à Besançon") == stems("reunion a besancon")


@pytest.mark.parametrize("generic", ["happened", "thing", "kind", "mentioned", "recently"])
def test_words_that_questions_are_made_of_count_less(generic: str) -> None:
    assert weight(f"which {generic} kayak", "kayak") > weight(f"which {generic} kayak", generic)


@pytest.mark.parametrize("identifier", ["getUserName", "HTTPServer", "parseURLs"])
def test_an_identifier_counts_as_a_whole_and_a_little_by_its_parts(identifier: str) -> None:
    words = {word.form: word.weight for word in asked(f"who calls {identifier}?").words}
    whole = words[identifier.lower()]
    parts = [value for form, value in words.items() if form not in (identifier.lower(), "calls")]
    assert len(parts) >= 2
    assert max(parts) < whole


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("snake_case_name", ["snake", "case", "name"]),
        ("src/billing/run.py", ["src", "bill", "run", "py"]),
        ("v2.10.3", ["v2", "10", "3"]),
        ("error E0382", ["error", "e0382"]),
        ("port 5433", ["port", "5433"]),
        ("C++ or C#", ["c++", "c#"]),
    ],
)
def test_code_and_numbers_are_words(text: str, found: list[str]) -> None:
    assert [form for form in stems(text) if form != "or"] == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("数据库", ["数据", "据库"]),
        ("猫", ["猫"]),
        ("東京タワー", ["東京", "京タ", "タワ", "ワー"]),
        ("API設計", ["api", "設計"]),
    ],
)
def test_scripts_without_blanks_are_asked_for_by_pairs(text: str, found: list[str]) -> None:
    assert stems(text) == found


def test_a_pasted_log_asks_for_a_bounded_number_of_words() -> None:
    log = "\n".join(
        f"2026-03-20T12:{n % 60:02} worker-{n} failed with E{n:05} in /srv/{n}" for n in range(2000)
    )
    assert len(log) > 100_000
    assert 0 < len(asked(log).words) <= MAX_CLAUSES


@given(st.text(st.characters(exclude_categories=[]), max_size=200))
def test_any_text_is_a_question(text: str) -> None:
    question = asked(text)
    assert len(question.words) <= MAX_CLAUSES
    assert len({word.stem for word in question.words}) == len(question.words)
    assert all(0 < word.weight <= 1 for word in question.words)


@pytest.mark.parametrize("now", [0.0, -1.0, -1e11, 1e11, 9e11])
def test_any_clock_will_do(now: float) -> None:
    assert stems("what did we say last Tuesday about kayaks") == [
        word.stem for word in understand("what did we say last Tuesday about kayaks", now, UTC).words
    ]


@pytest.mark.parametrize("text", ["", " ", "\0", "\ud800", "?!…", "\n\t"])
def test_a_text_without_a_word_asks_for_nothing(text: str) -> None:
    assert asked(text).words == ()


# --- who is meant -----------------------------------------------------------------------------


def test_names_of_speakers_are_not_words_to_look_for() -> None:
    question = asked("what did Carla adopt?").without(frozenset({"carla"}))
    assert [word.form for word in question.words] == ["adopt"]
    assert "carla" in question.mentioned


def test_a_question_of_a_name_alone_keeps_it() -> None:
    question = asked("Carla?")
    assert question.without(frozenset({"carla"})) == question


def test_every_word_is_mentioned_the_common_ones_too() -> None:
    assert {"will", "may"} <= asked("Did Will meet May?").mentioned


# --- what kind of answer ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "When did we move the database?",
        "what date is the wedding",
        "Which day was the release?",
        "how long ago did I change jobs",
        "Wann war der Umzug?",
        "Quand est la réunion ?",
    ],
)
def test_it_is_seen_that_a_time_is_wanted(text: str) -> None:
    assert asked(text).wants_time


@pytest.mark.parametrize(
    "text", ["How do I restart the worker?", "When I left, what did she say?", "the deadline"]
)
def test_it_is_not_seen_where_it_is_not(text: str) -> None:
    assert not asked(text).wants_time


@pytest.mark.parametrize(
    "text",
    [
        "how many retries do we allow",
        "How much did the kayak cost?",
        "which port does the cache use",
        "what version of the compiler",
        "Wie viele Teilnehmer kommen?",
        "combien de places reste-t-il",
    ],
)
def test_it_is_seen_that_a_number_is_wanted(text: str) -> None:
    assert asked(text).wants_number


@pytest.mark.parametrize(
    "text",
    [
        "who reviewed it?",
        "Where do they live?",
        "what restaurant did we like",
        "Wo liegt der Schlüssel?",
        "qui vient ?",
    ],
)
def test_it_is_seen_that_a_name_is_wanted(text: str) -> None:
    assert asked(text).wants_name


def test_a_plain_search_wants_nothing_in_particular() -> None:
    question = asked("retry budget of the gateway")
    wants = ("wants_time", "wants_number", "wants_name", "to_assistant", "wants_latest", "span")
    assert [name for name in wants if getattr(question, name)] == []


@pytest.mark.parametrize(
    "text",
    [
        "what did you suggest for the cache?",
        "the trail you recommended",
        "you had previously mentioned a library",
        "what was your advice on the tyres?",
        "remind me what the second option was",
        "was hast du empfohlen?",
    ],
)
def test_it_is_seen_that_the_assistant_is_quoted(text: str) -> None:
    assert asked(text).to_assistant


@pytest.mark.parametrize(
    "text",
    [
        "can you suggest a restaurant?",
        "any recommendations for a laptop?",
        "could you please give me some tips",
        "what did I say about the tyres?",
        "in our conversations, what did I bring up about bread?",
        "we talked about the garden: had I mentioned roses?",
        "in our last conversation about bread",
        "what did Carla recommend?",
    ],
)
def test_a_wish_for_advice_quotes_nobody(text: str) -> None:
    assert not asked(text).to_assistant


@pytest.mark.parametrize(
    "text",
    [
        "what is the latest release?",
        "what is my current address",
        "the most recent decision on logging",
        "do we still use Redis?",
        "was ist die aktuelle Version",
    ],
)
def test_it_is_seen_that_the_newest_is_wanted(text: str) -> None:
    assert asked(text).wants_latest


# --- when -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("what broke last Tuesday?", day(2026, 3, 17), day(2026, 3, 18)),
        ("what did I plan in February?", day(2026, 2, 1), day(2026, 3, 1)),
        ("notes from 3 March 2026", day(2026, 3, 3), day(2026, 3, 4)),
        ("what did we do yesterday", day(2026, 3, 19), day(2026, 3, 20)),
        ("was haben wir gestern beschlossen", day(2026, 3, 19), day(2026, 3, 20)),
    ],
)
def test_a_time_is_read_as_seen_from_now(text: str, start: float, end: float) -> None:
    span = asked(text).span
    assert span is not None
    assert (span.start, span.end) == (start, end)


def test_a_round_number_of_weeks_is_taken_with_some_slack() -> None:
    span = asked("what did we decide two weeks ago?").span
    assert span is not None
    assert span.start <= NOW - 14 * DAY < span.end
    assert 2 * DAY < span.end - span.start < 15 * DAY


def test_another_now_gives_another_time() -> None:
    before = understand("what broke last Tuesday?", NOW - 7 * DAY, UTC).span
    after = asked("what broke last Tuesday?").span
    assert before is not None
    assert after is not None
    assert after.start - before.start == 7 * DAY


@pytest.mark.parametrize(
    ("text", "words"), [("why won't it build?", ["build"]), ("Ada's bike", ["ada", "bike"])]
)
def test_a_contraction_is_not_looked_for(text: str, words: list[str]) -> None:
    assert [word.form for word in asked(text).words] == words


@pytest.mark.parametrize(
    ("text", "has_span"),
    [
        ("can you suggest something for next weekend?", False),
        ("any tips for tonight?", False),
        ("what did you recommend last week?", True),
        ("what is planned for next weekend?", True),
    ],
)
def test_the_time_that_advice_is_for_is_not_when_something_was_said(text: str, has_span: bool) -> None:
    assert (asked(text).span is not None) is has_span


def test_the_words_of_the_time_that_advice_is_for_count_little() -> None:
    text = "suggest a concert for next september"
    assert weight(text, "september") < weight(text, "concert")
    assert asked("suggest something for next weekend").words


def test_wishes_are_not_read_as_questions_about_a_time() -> None:
    """Sentences written without a look at the rules, the last 32 with 6 mistakes at first."""
    path = Path(__file__).parents[2] / "data" / "recall" / "wishes.tsv"
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    read = {text: asked(text) for _, text in rows}
    as_read = {
        "wish": lambda question: question.span is None,
        "time": lambda question: question.span is not None,
        "user": lambda question: not question.to_assistant,
        "you": lambda question: question.to_assistant,
    }
    assert [text for kind, text in rows if not as_read[kind](read[text])] == []


@pytest.mark.parametrize(
    "text",
    [
        "Give me a recipe for dinner tonight",
        "What should we cook tomorrow?",
        "Plan a trip for next month",
        "Book me a train for Friday",
        "What could I do this weekend?",
        "Empfiehl mir etwas für nächstes Wochenende",
    ],
)
def test_the_time_of_a_request_is_not_when_something_was_said(text: str) -> None:
    assert asked(text).span is None


def test_what_the_user_considered_is_in_the_users_words() -> None:
    assert not asked("Which libraries was I considering when we talked about parsing?").to_assistant
    assert asked("Which parser did you recommend when I asked about speed?").to_assistant
