"""Recall as a whole: which line must come first."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from conversations import BOTH, CONVERSATIONS, Tell, ana, first, texts, told
from scenes import DAY, NOW

from mnemos import Memory
from mnemos.storage.base import Filters
from mnemos.testing import FixedClock

pytestmark = pytest.mark.usefixtures("utc")


# --- what must come first ---------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("which port does the staging cache listen on?", "port 5433"),
        ("port 5433", "port 5433"),
        ("port 5432", "port 5432"),
        ("ERR_CONN_4410", "ERR_CONN_4410"),
        ("err_conn_4410 test_drain_idle", "ERR_CONN_4410"),
        ("closeIdle", "HttpPool.closeIdle()"),
        ("HttpPool", "HttpPool.closeIdle()"),
        ("gateway/pool.py", "src/gateway/pool.py"),
        ("v2.10.3", "v2.10.3"),
        ("who was dropping a connection after deploying?", "drops connections"),
        ("migration of postgres", "migrated Postgres"),
        ("where do backups go?", "Rotterdam"),
        ("how many retries does the client make?", "seven"),
        ("what did Ben adopt?", "tabby"),
        ("what did Ana adopt?", "greyhound"),
        ("where does Ben's sister work?", "Porto"),
        ("when is Ana's knee surgery?", "14 April"),
        ("what is the greyhound called?", "Pepper"),
        ("wo liegt der Schlussel der Werkstatt?", "Fußmatte"),
        ("STRASSE GESPERRT", "Straße"),
        ("où est le mot de passe du routeur ?", "derrière l'écran"),
        ("reunion des parents reportee", "réunion"),
        ("数据库迁移到哪里了？", "数据库"),
        ("端口", "7001"),
        ("生日是什么时候", "六月三日"),
        ("猫の名前は何ですか", "ミケ"),
        ("冷蔵庫", "冷蔵庫"),
        ("東京", "東京タワー"),
    ],
)
def test_the_line_that_answers_comes_first(
    everything: Memory, question: str, answer: str, words_only: bool
) -> None:
    assert answer in first(everything, question, words_only=words_only)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("when did we move the database?", "migrated Postgres last Tuesday"),
        ("which pet does Ben own?", "tabby"),
        ("who is on call?", "Priya"),
        ("how do I get motion sickness", "sick on a bus"),
        ("where does the teacher live?", "Braga"),
    ],
)
def test_an_answer_in_other_words_is_found(everything: Memory, question: str, answer: str) -> None:
    assert answer in "\n".join(texts(everything.recall(question, limit=3)))


def test_the_question_of_the_demo_is_answered_first_with_its_date(everything: Memory) -> None:
    (hit,) = everything.recall("when did we move the database?", limit=1).hits
    assert hit.text == "we migrated Postgres last Tuesday"
    assert hit.at == CONVERSATIONS["ops"][0]
    assert hit.why


@BOTH
def test_a_search_for_an_identifier_finds_its_line(memory: Memory, tell: Tell, words_only: bool) -> None:
    tell(
        "s",
        "The gateway is slow, can you look at src/gateway/pool.py?",
        ("assistant", "The pool of the gateway never closes idle sockets."),
        "Which py version do we use?",
    )
    for query in ("gateway/pool.py", "src/gateway/pool.py", "pool.py"):
        assert "src/gateway/pool.py" in first(memory, query, words_only=words_only)


@BOTH
@pytest.mark.parametrize(
    "query", ["E4410", "what is E4410?", "ticket PAY-1183", "build 20260310", "10.0.3.7"]
)
def test_a_number_or_a_code_is_found_in_a_long_line_among_short_ones_with_others(
    memory: Memory, tell: Tell, query: str, words_only: bool
) -> None:
    log = "The worker wrote its report to the usual folder and went on with the next table. " * 12
    tell("s", "E4411 again", "E4412 is fixed", f"{log}E4410, build 20260310, ticket PAY-1183, host 10.0.3.7.")
    tell("t", "ticket PAY-1184", "build 20260311", "10.0.3.8 answers", "E4409 came up", "ticket PAY-1182")
    assert "E4410" in first(memory, query, words_only=words_only)


@BOTH
def test_the_answer_to_a_question_that_has_the_words_is_found(
    memory: Memory, tell: Tell, words_only: bool
) -> None:
    """The answer has none of them."""
    tell("s", "What colour is the boat house?", ("assistant", "Vermilion, since April."), "Oh dear.")
    tell("t", "the house is tall", "a boat went by")
    found = memory.recall("which colour does the boat house have?", words_only=words_only, limit=2)
    assert "Vermilion, since April." in texts(found)


@BOTH
@pytest.mark.parametrize(
    ("question", "role"),
    [
        ("which day trips did you suggest from Lisbon?", "assistant"),
        ("remind me of the trips you recommended from Lisbon", "assistant"),
        ("what did you say about idle sockets?", "assistant"),
        ("what did I say about trains and the bus?", "user"),
        ("what did I tell you about port 5433?", "user"),
    ],
)
def test_who_is_quoted_is_preferred(everything: Memory, question: str, role: str, words_only: bool) -> None:
    (hit,) = everything.recall(question, limit=1, words_only=words_only).hits
    assert hit.speaker == role


@BOTH
def test_of_two_who_speak_of_the_same_the_one_who_is_quoted_is_preferred(
    memory: Memory, tell: Tell, words_only: bool
) -> None:
    tell(
        "s",
        ("assistant", "You could try the Lakeside trail for hiking; it is short and pretty."),
        "I would rather go hiking on the Ridge trail, it is longer",
        "hiking boots need cleaning",
    )
    assert "Lakeside" in first(memory, "which hiking trail did you suggest?", words_only=words_only)
    assert "Ridge" in first(memory, "which hiking trail did I say I like?", words_only=words_only)


@BOTH
@pytest.mark.parametrize(
    "question",
    ["What did Ben buy for the lake?", "red kayak from Marlow's", "who should come along?", "kayak"],
)
def test_a_friend_stored_as_the_assistant_loses_nothing(question: str, words_only: bool) -> None:
    long = "We talked for a while about the garden, the neighbours and the long winter. " * 12
    answers = []
    for role in ("user", "assistant"):
        turns = [
            ("Ana", "user", "How was your week?"),
            ("Ben", role, f"{long}Then I bought the red kayak at Marlow's for the lake."),
            ("Ana", "user", "A kayak! I never tried one."),
            ("Ben", role, "You should come along."),
            ("Ana", "user", "Maybe a kayak is too wobbly for me."),
        ]
        with Memory.at(":memory:", clock=FixedClock(NOW)) as memory:
            told(
                memory,
                "s",
                *({"role": r, "content": text, "metadata": {"speaker": name}} for name, r, text in turns),
            )
            answers.append(memory.recall(question, words_only=words_only).hits)
    assert answers[0] == answers[1]
    assert answers[0]


@BOTH
@pytest.mark.parametrize("style", ["metadata", "name in metadata", "prefix"])
def test_the_named_speaker_answers_however_the_name_was_stored(
    memory: Memory, tell: Tell, style: str, words_only: bool
) -> None:
    def turn(name: str, text: str) -> Any:
        return {
            "metadata": {"role": "user", "content": text, "metadata": {"speaker": name}},
            "name in metadata": {"role": "assistant", "content": text, "metadata": {"name": name}},
            "prefix": f"{name}: {text}",
        }[style]

    tell(
        "s",
        turn("Inès", "My sister works at the airport in Lyon."),
        turn("Dmitri", "My sister works at the airport in Porto."),
        turn("Inès", "She likes it."),
        turn("Dmitri", "Mine hates it."),
    )
    assert "Porto" in first(memory, "Where does Dmitri's sister work?", words_only=words_only)
    assert "Lyon" in first(memory, "Where does Ines's sister work?", words_only=words_only)


def test_a_question_full_of_common_words_finds_what_its_one_rare_word_says(
    memory: Memory, tell: Tell
) -> None:
    tell("noise", *(f"so what did you do with it then, and how was it for you? {n}" for n in range(300)))
    tell("it", "the ferret is in the shed", at=NOW - 300 * DAY)
    for words_only in (False, True):
        found = first(memory, "so where did you put it then, and how is the ferret?", words_only=words_only)
        assert found == "the ferret is in the shed"


@BOTH
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("what did the 2 dogs eat?", "the dogs ate my shoes"),
        ("which of the 3 doors squeaks?", "the left door squeaks"),
    ],
)
def test_a_small_number_is_not_what_a_question_is_about(
    memory: Memory, tell: Tell, question: str, answer: str, words_only: bool
) -> None:
    tell("a", answer)
    tell("b", "2 cakes and 3 pies were left", at=NOW - DAY)
    assert first(memory, question, words_only=words_only) == answer


# --- what kind of answer is wanted ------------------------------------------------------------


@BOTH
@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        ("when is the plumber coming?", "the plumber comes on 3 May", "the plumber comes with tools"),
        ("how many chairs did we order?", "we ordered 48 chairs", "we ordered some chairs"),
        (
            "who repaired the boiler?",
            "the boiler was repaired by Otis",
            "the boiler was repaired by a friend",
        ),
        (
            "where did we park the van?",
            "we did park the van at Harbour Street",
            "we did park the van at last",
        ),
    ],
)
def test_of_equal_lines_the_one_that_has_what_is_asked_for_comes_first(
    memory: Memory, tell: Tell, question: str, answer: str, other: str, words_only: bool
) -> None:
    tell("a", answer, at=NOW - 20 * DAY)
    tell("b", other, at=NOW - 10 * DAY)
    assert first(memory, question, words_only=words_only) == answer


# --- time -------------------------------------------------------------------------------------


def at(month: int, day: int, hour: int = 9) -> float:
    return datetime(2026, month, day, hour, tzinfo=UTC).timestamp()


@pytest.fixture
def diary(tell: Tell) -> None:
    """One line a day, in which nothing names the day."""
    tell("d0", "we painted the fence", at=at(1, 8))
    tell("d1", "we planted the beans", at=at(2, 11))
    tell("d2", "we fixed the printer", at=at(3, 6))
    tell("d3", "we washed the curtains", at=at(3, 17))
    tell("d4", "we mended the bicycle", at=at(3, 19))


@BOTH
@pytest.mark.usefixtures("diary")
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("what did we do last Tuesday?", "we washed the curtains"),
        ("what did we do yesterday?", "we mended the bicycle"),
        ("what happened on 17 March?", "we washed the curtains"),
        ("what did we do in February?", "we planted the beans"),
        ("what did we do two weeks ago?", "we fixed the printer"),
        ("what happened before February?", "we painted the fence"),
        ("was haben wir gestern gemacht?", "we mended the bicycle"),
    ],
)
def test_a_question_whose_only_link_is_a_date_is_answered(
    memory: Memory, question: str, answer: str, words_only: bool
) -> None:
    assert first(memory, question, words_only=words_only) == answer


@BOTH
@pytest.mark.usefixtures("diary")
def test_now_is_what_the_caller_says(memory: Memory, words_only: bool) -> None:
    asked = "what did we do yesterday?"
    for day, answer in ((at(3, 18), "we washed the curtains"), (at(2, 12), "we planted the beans")):
        assert first(memory, asked, now=day, words_only=words_only) == answer


@BOTH
def test_a_date_is_found_among_much_else(memory: Memory, tell: Tell, words_only: bool) -> None:
    for week in range(1, 11):
        tell(
            f"w{week}",
            *(f"line {n} of the talk about boats" for n in range(20)),
            at=at(1, 1) + week * 7 * DAY,
        )
    tell("it", "the lamp fell down", "it is broken", at=at(2, 3))
    found = memory.recall("what happened on 3 February?", words_only=words_only, limit=5)
    assert "the lamp fell down" in texts(found)


@BOTH
def test_the_time_chooses_among_lines_with_the_same_words(
    memory: Memory, tell: Tell, words_only: bool
) -> None:
    for month in (1, 2, 3):
        tell(f"m{month}", f"dinner with friends, course {month}", at=at(month, 5))
    assert "course 2" in first(memory, "dinner with friends in February", words_only=words_only)


@BOTH
@pytest.mark.parametrize("question", ["what did we buy on 17 March?", "what did we buy on 2026-03-17?"])
def test_the_day_asked_about_is_not_a_number_to_look_for(
    memory: Memory, tell: Tell, question: str, words_only: bool
) -> None:
    tell("a", "we bought 17 chairs for 2026", at=at(1, 5))
    tell("b", "we bought a lamp", at=at(3, 17))
    assert first(memory, question, words_only=words_only) == "we bought a lamp"


@BOTH
def test_the_newest_of_equals_comes_first(memory: Memory, tell: Tell, words_only: bool) -> None:
    for number, days in enumerate((50, 5, 20)):
        tell(f"s{number}", "the door code is in the drawer", at=NOW - days * DAY)
    days = [round((NOW - hit.at) / DAY) for hit in memory.recall("door code", words_only=words_only).hits]
    assert days == [5, 20, 50]


@BOTH
def test_an_old_exact_answer_is_not_buried_under_new_chatter(
    memory: Memory, tell: Tell, words_only: bool
) -> None:
    tell("old", "the vault combination is 17-4-33", at=NOW - 900 * DAY)
    for number in range(40):
        tell(f"new{number}", f"the vault was open at noon, visit {number}", at=NOW - number * DAY)
    assert "17-4-33" in first(memory, "vault combination", words_only=words_only)


@BOTH
@pytest.mark.parametrize(
    "question",
    [
        "what is my current favourite editor?",
        "what is the latest on my favourite editor?",
        "my most recent favourite editor",
    ],
)
def test_where_the_newest_is_wanted_the_newest_statement_on_it_comes_first(
    memory: Memory, tell: Tell, question: str, words_only: bool
) -> None:
    for name, days in (("Vim", 300), ("Helix", 10), ("Emacs", 100)):
        tell(name, f"my favourite editor is {name}", at=NOW - days * DAY)
    tell("noise", "lunch was good", "the train was late", at=NOW - DAY)
    assert first(memory, question, words_only=words_only) == "my favourite editor is Helix"


# --- many conversations in one home -----------------------------------------------------------


@BOTH
def test_what_a_named_person_said_is_not_crowded_out_by_others(
    memory: Memory, tell: Tell, words_only: bool
) -> None:
    (_, answer, _) = tell("friends", ana("hello"), ana("I bought a red kayak at the market"), ana("bye"))
    for number in range(120):
        tell(f"work{number}", f"the kayak shop of customer {number} bought kayaks", ("assistant", "Noted."))
    found = memory.recall("which kayak did Ana buy?", words_only=words_only)
    assert found.hits[0].ref == answer


@BOTH
def test_what_others_said_is_still_found_if_the_question_names_somebody(
    memory: Memory, tell: Tell, words_only: bool
) -> None:
    tell("friends", ana("hello"), ana("I bought a red kayak at the market"), ana("bye"))
    (answer, _) = tell("work", "The invoice that Ana sent is number 4711", ("assistant", "Noted."))
    found = memory.recall("what is the number of the invoice that Ana sent?", words_only=words_only)
    assert found.hits[0].ref == answer


# --- what is looked at --------------------------------------------------------------------------


def tell_of_kites(tell: Tell, *, every: int, text: str) -> set[int]:
    """Mention a kite in some conversations, each among eleven lines about nothing; ids of the mentions."""
    found = set()
    for number in range(every):
        lines = [f"line {place} of talk {number}" for place in range(12)]
        lines[5] = f"{text} kite {number}"
        found.add(tell(f"talk-{number}", *lines)[5])
    return found


@pytest.mark.parametrize(("words_only", "conversations"), [(True, 40), (False, 30)])
def test_short_lines_in_many_conversations_are_all_found(
    memory: Memory, tell: Tell, words_only: bool, conversations: int
) -> None:
    mentions = tell_of_kites(tell, every=conversations, text="a")
    found = memory.recall("kite", limit=200, words_only=words_only)
    assert mentions <= {hit.ref for hit in found}


def test_long_lines_do_not_take_the_place_of_short_ones(memory: Memory, tell: Tell) -> None:
    long = tell_of_kites(tell, every=20, text="kite " * 8_000)
    short = set(tell("short", *[f"a kite over the hill {number}" for number in range(10)]))
    found = {hit.ref for hit in memory.recall("kite", limit=200, words_only=True)}
    assert short <= found
    assert len(found & long) <= 15


# --- an assistant's few words -------------------------------------------------------------------


def test_an_assistants_noted_comes_after_everything_that_was_said_about_it(
    memory: Memory, tell: Tell
) -> None:
    races = ["I ran a race by the harbour", "my knees hurt, the race was long", "a race in the mud today"]
    said = [tell(f"race-{n}", ("user", text), ("assistant", "Noted!"))[0] for n, text in enumerate(races)]
    assert {hit.ref for hit in memory.recall("list all the races I ran", limit=3)} == set(said)


def test_an_assistants_few_words_count_where_they_answer_or_are_asked_for(memory: Memory, tell: Tell) -> None:
    question = ("user", "which port has the staging redis?")
    answer = tell("redis", question, ("assistant", "6380, no password"))[1]
    tell("cache", ("user", "staging is slow since redis was moved"), ("assistant", "I see."))
    for asked in ("which port does the staging redis have?", "what did you say about the port of redis?"):
        assert memory.recall(asked).hits[0].ref == answer


# --- people with a name in common -------------------------------------------------------------


@pytest.fixture
def two_toms(tell: Tell) -> None:
    """Twelve conversations of each; in one each adopts a pet, and so does the user."""
    for number in range(12):
        for name, pet in (("Tom Becker", "beagle"), ("Tom Wright", "tabby")):
            news = f"I adopted a {pet} from the shelter" if number == 3 else f"meeting {number} was long"
            turns = [(name, "how was the week?"), ("Kim", "fine, and yours?"), (name, news)]
            tell(
                f"{name} {number}",
                *({"role": "user", "content": text, "metadata": {"speaker": who}} for who, text in turns),
            )
    tell("own", "I adopted a hamster, my first pet", ("assistant", "Congratulations!"))


@BOTH
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which pet did Tom Becker adopt?", "beagle"),
        ("Which pet did Tom Wright adopt?", "tabby"),
        ("which pet did I adopt?", "hamster"),
    ],
)
@pytest.mark.usefixtures("two_toms")
def test_of_people_with_a_name_in_common_the_one_who_is_meant_comes_first(
    memory: Memory, question: str, answer: str, words_only: bool
) -> None:
    assert answer in first(memory, question, words_only=words_only)


@BOTH
@pytest.mark.usefixtures("two_toms")
def test_a_first_name_alone_finds_everyone_who_has_it(memory: Memory, words_only: bool) -> None:
    best = " ".join(texts(memory.recall("Which pet did Tom adopt?", words_only=words_only))[:2])
    assert "beagle" in best
    assert "tabby" in best


# --- agents that use tools --------------------------------------------------------------------


def call(command: str) -> dict[str, Any]:
    made = {"name": "exec_command", "arguments": f'{{"cmd": "{command}"}}'}
    calls = [{"id": command, "type": "function", "function": made}]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def result(text: str) -> dict[str, Any]:
    return {"role": "tool", "content": text, "tool_name": "exec_command"}


@BOTH
@pytest.mark.parametrize(
    "query", ["Which queue should send the order mails?", "what did we choose to send order mails?"]
)
def test_an_agents_decision_comes_before_the_tools_it_used(
    memory: Memory, tell: Tell, query: str, words_only: bool
) -> None:
    decision = "Use RabbitMQ. It survives restarts, and the shop already runs it."
    tools = (call("echo shop-redis"), result("ok"))
    tell("s", "Which queue should send the order mails?", *tools, ("assistant", decision), "Good.")
    tell("t", *["The fence needs paint.", ("assistant", "Which colour?"), "Green, from the shop."] * 4)
    found = memory.recall(query, words_only=words_only)
    assert texts(found)[0] == decision
    assert decision in found.text
    assert "Which queue should send the order mails?" in found.text


def test_a_command_is_found_by_its_words(memory: Memory, tell: Tell) -> None:
    tell(
        "s", "restart it please", call("systemctl restart shop-redis"), result("done"), ("assistant", "Done.")
    )
    assert "systemctl" in first(memory, "systemctl restart shop-redis")
    assert "systemctl" in first(memory, "which command restarts the redis of the shop?")


# --- what is left out -------------------------------------------------------------------------


@BOTH
def test_what_scores_far_below_the_best_is_left_out(memory: Memory, tell: Tell, words_only: bool) -> None:
    tell("s", "Der Zahnarzttermin ist am 14. April um neun", "Danach gehen wir einkaufen")
    for number in range(10):
        tell(f"t{number}", f"Platform {number} is closed", "Bring a sandwich and the blue kite")
    found = texts(memory.recall("Wann ist der Zahnarzttermin?", words_only=words_only))
    assert "14. April" in found[0]
    assert len(found) <= 2


def test_an_answer_that_shares_no_word_with_the_question_is_found(memory: Memory, tell: Tell) -> None:
    turns = (
        ("Leo", "Fantastic, I've put on three kilos"),
        ("Ana", "Oh, then marry him"),
        ("Leo", "I practise at lunchtime now"),
        ("Ana", "Poor neighbours"),
        ("Leo", "Nineteen hundred, and there goes Lisbon"),
    )
    tell("s", *({"role": "user", "content": text, "metadata": {"speaker": who}} for who, text in turns))
    assert turns[-1][1] in texts(memory.recall("How much did the repair set Leo back?"))


def test_a_fact_with_a_word_of_the_question_is_kept_beside_better_messages(
    memory: Memory, tell: Tell
) -> None:
    tell("s", *(f"we bought lamp {number} for the hall, a green lamp" for number in range(20)))
    memory.remember("The lamp is from Lund")
    kinds = [hit.kind for hit in memory.recall("which green lamp did we buy for the hall?", limit=50).hits]
    assert "fact" in kinds


# --- names, and what is stored about people ---------------------------------------------------


@pytest.fixture
def chats(tell: Tell) -> None:
    """A year of two people, one with the name of a month."""
    for number in range(12):
        turns = [
            ("June", f"the drawbridge {number} is working, it has a plate with a number"),
            ("Vera", "I'm so pleased, how's your boy?"),
            ("June", "he washes plates for a number of people"),
        ]
        tell(
            f"chat {number}",
            *({"role": "user", "content": text, "metadata": {"speaker": who}} for who, text in turns),
        )


@BOTH
@pytest.mark.usefixtures("chats")
def test_a_fact_about_the_person_named_comes_before_their_other_lines(
    memory: Memory, words_only: bool
) -> None:
    memory.remember("Vera's number plate is KM-47-PL")
    assert "KM-47-PL" in first(memory, "what is Vera's number plate?", words_only=words_only)


@BOTH
@pytest.mark.usefixtures("chats")
def test_a_fact_of_the_user_comes_before_lines_with_the_word(
    memory: Memory, tell: Tell, words_only: bool
) -> None:
    memory.remember("I live in Leeds")
    tell("flat", "The landlord keeps the deposit. I lived there for six years, in Scotland")
    assert "Leeds" in first(memory, "where do I live?", words_only=words_only)


@BOTH
@pytest.mark.usefixtures("chats")
def test_a_month_that_is_asked_about_is_not_a_person(memory: Memory, tell: Tell, words_only: bool) -> None:
    tell("work", "I worked on the parser in June")
    assert "parser" in first(memory, "what did I work on in June?", words_only=words_only)


def test_a_question_of_a_time_alone_is_not_blamed_on_the_model(memory: Memory, tell: Tell) -> None:
    tell("s", "the kayak leaks")
    assert not any("model" in note for note in memory.recall("what did we do last week?").notes)


def test_a_conversation_that_is_named_may_answer_in_other_words(memory: Memory, tell: Tell) -> None:
    for number in range(40):
        tell(f"t{number}", *(f"platform {number}, train {car} is late again" for car in range(10)))
    tell("visa", "They want his birth certificate, translated by a sworn translator", "Poor man", "In May")
    question = "What was holding up the immigration papers?"
    assert not memory.recall(question).hits
    assert any("certificate" in text for text in texts(memory.recall(question, session_ids=["visa"])))


def test_the_current_project_may_answer_in_other_words(memory: Memory, tell: Tell) -> None:
    for number in range(40):
        tell(f"t{number}", *(f"platform {number}, train {car} is late again" for car in range(10)))
    memory.sessions.create_session("visa", "cli", project="/src/visa")
    papers = "They want his birth certificate, translated by a sworn translator"
    memory.sessions.append_message("visa", "user", papers, timestamp=NOW - DAY)
    question = "What was holding up the immigration papers?"
    ask = memory.recaller.recall
    assert not ask(question, Filters(), limit=9, budget=None, now=NOW).hits
    assert papers in texts(ask(question, Filters(), limit=9, budget=None, now=NOW, project="/src/visa"))
