"""Facts stated in messages are found, everything else is left, and no text does harm."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.extraction import LABELLED, measure, read
from hypothesis import given
from hypothesis import strategies as st

from mnemos.language.extraction import LONGEST, extract_facts
from mnemos.language.extraction.verdicts import is_retraction
from mnemos.language.notation import Mark, Statement, parse

HELDOUT = LABELLED.with_name("heldout.tsv")


def stated(text: str, *, role: str = "user") -> list[str]:
    return [str(one.statement) for one in extract_facts(text, role=role)]


def only(text: str, *, role: str = "user") -> Statement:
    (one,) = extract_facts(text, role=role)
    return one.statement


# --- rates -------------------------------------------------------------------------------------


def test_hardly_any_labelled_statement_is_read_wrongly() -> None:
    counts = measure("labelled", read(LABELLED)).parts["all"]
    assert counts.found + counts.missed >= 150
    assert counts.passed + counts.wrong >= 150
    assert counts.precision is not None
    assert counts.precision >= 0.98
    assert counts.recall is not None
    assert counts.recall >= 0.97
    assert counts.type_accuracy is not None
    assert counts.type_accuracy >= 0.98


def test_no_text_is_in_both_files() -> None:
    assert not {one.text for one in read(LABELLED)} & {one.text for one in read(HELDOUT)}


@pytest.mark.parametrize("path", [LABELLED, HELDOUT], ids=lambda path: path.stem)
def test_a_file_says_each_thing_once(path: Path) -> None:
    texts = [(one.role, one.text) for one in read(path)]
    assert len(set(texts)) == len(texts)


# --- what is stated ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        (
            "the port of the staging server is 8080",
            "V[staging.server.port]: the port of the staging server is 8080",
        ),
        ("Our staging server's port is 8080.", "V[staging.server.port]: Our staging server's port is 8080"),
        ("prod DB is db-3.internal", "V[prod.db]: prod DB is db-3.internal"),
        ("API lives at https://api.example.com", "V[api]: API lives at https://api.example.com"),
        ("the port is 8080", "V[port]: the port is 8080"),
        ("Release date: 2026-03-01", "V[release.date]: Release date: 2026-03-01"),
        ("we decided to use Postgres 16", "D[team.tool]: we decided to use Postgres 16"),
        (
            "ok, so we decided to use Redis for the session cache!",
            "D[session.cache]: we decided to use Redis for the session cache",
        ),
        ("I prefer tabs", "D[user.format]: I prefer tabs"),
        ("Never push to main!", "C[push.main]: Never push to main!"),
        (
            "Open question: who pays the storage?",
            "?[open.question.pays.storage]: Open question: who pays the storage?",
        ),
        ("Niemals direkt auf main pushen.", "C[direkt.main.pushen]: Niemals direkt auf main pushen"),
        ("Der Port ist 8080.", "V[port]: Der Port ist 8080"),
        ("Le port du serveur est 8080.", "V[serveur.port]: Le port du serveur est 8080"),
        ("El puerto del servidor es 8081.", "V[servidor.puerto]: El puerto del servidor es 8081"),
    ],
)
def test_a_sentence_becomes_a_fact_that_is_understood_alone(text: str, fact: str) -> None:
    assert stated(text) == [fact]


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("we decided to use Postgres 16", Mark.DECISION),
        ("let's go with Tailwind", Mark.DECISION),
        ("you must never edit files under vendor/", Mark.CONSTRAINT),
        ("always run the tests before you push", Mark.CONSTRAINT),
        ("only use the standard library", Mark.CONSTRAINT),
        ("the config lives in /etc/shop/config.toml", Mark.VALUE),
        ("we still have to decide whether guests may pay", Mark.UNKNOWN),
        ("I prefer tabs", Mark.DECISION),
    ],
)
def test_the_words_tell_the_type(text: str, mark: Mark) -> None:
    assert only(text).mark is mark


def test_lines_of_notation_are_kept_as_they_are() -> None:
    text = (
        "Saved:\n- C[db.id]: UUID mandatory, never autoincrement\n* **V[srv.prod]**: a.example.com:3005\nok?"
    )
    assert stated(text, role="assistant") == [
        "C[db.id]: UUID mandatory, never autoincrement",
        "V[srv.prod]: a.example.com:3005",
    ]


def test_fenced_notation_is_notation_and_fenced_code_is_not() -> None:
    assert stated("```\nD[cache]: Redis, 10 min\n✓[auth]\n```") == ["D[cache]: Redis, 10 min", "✓[auth]:"]
    assert stated("```\nD[cache]: Redis, 10 min\nport = 8080\n```") == []


def test_a_line_that_only_looks_like_notation_is_not_a_fact() -> None:
    assert stated("v[0]: 3.2") == []
    assert stated("C[]: nothing") == []
    assert stated(f"C[a]: {'x' * (LONGEST + 1)}") == []


def test_every_sentence_of_a_message_is_read() -> None:
    text = (
        "Hi! Quick recap: we decided to use NATS. The port is 4222; never expose it to the internet.\n"
        "1. Staging is at stage-2.example.com\n"
        "2. what about prod?"
    )
    assert [one.statement.mark.value for one in extract_facts(text)] == ["D", "V", "C", "V"]


def test_a_sentence_over_full_lines_is_one() -> None:
    text = "We agreed that all the reports for the finance department are going to be\ngenerated on Mondays."
    assert only(text).content.endswith("are going to be generated on Mondays")


def test_a_repeated_fact_is_found_once() -> None:
    assert stated("The port is 8080. As I said, yes. The port is 8080.") == ["V[port]: The port is 8080"]


@pytest.mark.parametrize(
    "text",
    [
        "Let's use Redis. Actually no, scratch that.",
        "The port is 8080. Never mind, that's the old one.",
        "Wir nehmen Redis. Ach nein, doch nicht.",
    ],
)
def test_a_retracted_sentence_is_not_a_fact(text: str) -> None:
    assert stated(text) == []


def test_only_the_sentence_before_is_retracted() -> None:
    assert stated("The port is 8080. Let's use Redis. Scratch that.") == ["V[port]: The port is 8080"]


# --- what is not -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "What port does the server use?",
        "if we used MongoDB, we would not need migrations",
        "We haven't decided yet.",
        "Let's go with the second one.",
        "let me check the file",
        "I think the port is 8080.",
        "The README says you must never use root.",
        'He said "we decided to use Oracle" and left.',
        "> we decided to use Oracle",
        "2026-03-02 10:12:01 ERROR the port is 8080",
        "$ export PORT=8080",
        "Use `must never` in the text.",
        "it runs on port 3000",
        "- [ ] decide to use Postgres",
    ],
)
def test_a_sentence_that_states_nothing_is_not_a_fact(text: str) -> None:
    assert stated(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "I will always do my best.",
        "You should always validate user input.",
        "Let's use grep to find all usages.",
        "The default port of Redis is 6379.",
        "Never store passwords in plain text.",
    ],
)
def test_advice_of_an_assistant_is_not_a_fact(text: str) -> None:
    assert stated(text, role="assistant") == []


def test_what_an_assistant_repeats_is_a_fact() -> None:
    assert (
        only("Understood: no changes to the API without your approval.", role="assistant").mark
        is Mark.CONSTRAINT
    )


@pytest.mark.parametrize("role", ["tool", "system", "function", ""])
def test_only_people_and_assistants_state_facts(role: str) -> None:
    assert stated("The port is 8080.\nC[a]: b", role=role) == []


def test_recalled_memory_and_files_are_not_stated_again() -> None:
    block = "<memory-context>\nThe port is 8080.\nC[a]: b\n</memory-context>\nWe use pnpm.\n"
    assert stated(block) == ["D[team.tool]: We use pnpm"]
    assert stated("<file>The port is 8080.</file>") == []


def test_an_unclosed_tag_hides_nothing() -> None:
    assert stated("<file>\nThe port is 8080.") == ["V[port]: The port is 8080"]


# --- any text ----------------------------------------------------------------------------------

_WORDS = st.sampled_from(
    """
    we decided to use must never always only let's go with the port is 8080 of staging server lives at
    https://a.example/x I prefer tabs no don't C[a]: V[srv.x]: D[ ?[ ] [ ✓[auth] : ; . ! ? , " ' ` ``` ~~~ **
    * - > | # < </a> <a> \n \t open question tbd if would scratch that wir haben entschieden nicht immer
    le serveur est toujours el puerto es nunca ß İ \u200d \ufeff \x00 \x85 \u2028 … « » “ ” „ 1. (2) [x] = ->
    /etc/x a_b e.g. etc. 12. Mai
    """.split(" ")
)
_TEXTS = st.one_of(st.text(), st.lists(_WORDS).map(" ".join), st.lists(_WORDS).map("".join))


@given(text=_TEXTS, role=st.sampled_from(["user", "assistant"]))
def test_every_fact_is_in_its_place_and_reads_the_same_when_printed(text: str, role: str) -> None:
    last = 0
    for one in extract_facts(text, role=role):
        assert last <= one.start < one.end <= len(text)
        assert text[one.start : one.end] == one.sentence
        assert one.statement.target
        assert parse(str(one.statement)) == [one.statement]
        last = one.start


_PLAIN = [
    one.text
    for one in read(LABELLED)
    if one.role == "user" and not any(sign in one.text for sign in "`<\n") and not is_retraction(one.text)
]


@given(st.lists(st.sampled_from(_PLAIN), max_size=6))
def test_paragraphs_are_read_as_if_each_were_alone(texts: list[str]) -> None:
    alone = [fact for text in texts for fact in stated(text)]
    assert stated("\n\n".join(texts)) == list(dict.fromkeys(alone))


@pytest.mark.parametrize(
    "seed",
    [
        "must ", "[", "`", "```", "~~~\n", "<a>", "<a>\n", "</a>", '"', "'", "a, ", "- ", " ", "\t", "\n",
        "x.", "C[", "C[a]: b\n", "let's use x ", "we decided ", "the port is 8080. ", "a/b/c-", "-a-", "a.b.",
        "1.1.", "(", "**", "*a", "} ", "}\n", "=> ", "no a ", "only a ", "never always ", "\ud800", "\x00", "http://",
        "a@", "„", "if ", "that ", "ok ", "x" * 59 + "\n",
    ],
)  # fmt: skip
@pytest.mark.parametrize("role", ["user", "assistant"])
def test_a_hostile_text_ends(seed: str, role: str) -> None:
    """Were any step quadratic, these would take very long."""
    text = (seed * (60_000 // len(seed) + 1))[:60_000]
    for one in extract_facts(text, role=role):
        assert text[one.start : one.end] == one.sentence
