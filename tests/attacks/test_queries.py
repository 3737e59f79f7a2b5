"""Any text is a query: it finds something or nothing, and never an error or another's memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import mnemos
from mnemos.text.query import parse

from .checks import index_all

SYNTAX = [
    "NEAR(a b)", 'NEAR("a" "b", 2)', "said:x", "tags : x", "{said tool}: x", "- said : x",
    "^start", "^", "*", "a*", '"', '""', '"""', '"a', 'a"', '"a" *', "-", "--", "-a", "- a",
    "+", "a + b", "(", ")", "()", "(a", "a)", "{", "}", "[", "]", ":", ";", ",", ".", "/", "\\",
    "'", "''", "' OR 1=1 --", "%", "_", "?", "?1", ":match", "@x", "$x", "#", "AND", "OR",
    "NOT", "NEAR", "a AND", "OR b", "NOT NOT a", "a OR OR b", "a NOT", "NOT a OR NOT b", "\0",
    "a\0b", "\ud800", "a\udfffb", "\u202e", "\ufeff", "\u0301", "e\u0301", "ﬁ", "ß", "İ", "ı",
    "①", "㍍", "🎉", "👩‍👩‍👧", "京", "ไทย", "한국", "़", "C++", "C#", "c+++", "#485", "50%",
    "user@host", "__init__", "a_b", "aB", "ABc", "x" * 70,
]  # fmt: skip

TEXT = st.text(max_size=60)
PIECES = st.lists(st.one_of(st.sampled_from(SYNTAX), TEXT), max_size=8)
QUERIES = st.builds(lambda pieces, glue: glue.join(pieces), PIECES, st.sampled_from(["", " ", '"', "\n"]))


@pytest.fixture(scope="module")
def populated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[mnemos.Memory]:
    """A home of which half is indexed and half is pending; and a neighbour in the same file."""
    home = tmp_path_factory.mktemp("queries") / "home"
    with mnemos.open(home, space="neighbour") as other:
        fill(other, "theirs")
        index_all(other)
    with mnemos.open(home) as memory:
        fill(memory, "indexed")
        index_all(memory)
        fill(memory, "pending")
        yield memory


def fill(memory: mnemos.Memory, session: str) -> None:
    memory.sessions.create_session(session, "cli")
    turns = [{"role": "user", "content": f"{piece} and {session}"} for piece in SYNTAX]
    memory.sessions.append_messages(session, turns)


@settings(max_examples=100, suppress_health_check=list(HealthCheck))
@given(query=QUERIES, sort=st.sampled_from(["relevance", "newest", "oldest"]))
@example(query='NEAR("a" "b")', sort="relevance")
@example(query="\0", sort="relevance")
@example(query="\ud800", sort="newest")
def test_no_text_is_an_error(populated: mnemos.Memory, query: str, sort: str) -> None:
    hits = populated.sessions.search_messages(query, sort=sort, limit=10)
    assert {hit["session_id"] for hit in hits} <= {"indexed", "pending"}


@pytest.mark.nightly
@settings(max_examples=20_000, suppress_health_check=list(HealthCheck))
@given(query=QUERIES, sort=st.sampled_from(["relevance", "newest", "oldest"]))
def test_no_text_is_an_error_however_long_one_tries(populated: mnemos.Memory, query: str, sort: str) -> None:
    populated.sessions.search_messages(query, sort=sort, limit=10)


@pytest.mark.parametrize("piece", SYNTAX)
def test_every_sign_is_a_query_by_itself(populated: mnemos.Memory, piece: str) -> None:
    for query in (piece, f"indexed {piece}", f"{piece} pending", f'"{piece}"', f"({piece})", piece * 30):
        populated.sessions.search_messages(query)


@settings(max_examples=50, suppress_health_check=list(HealthCheck))
@given(name=st.one_of(TEXT, st.sampled_from(SYNTAX)))
def test_names_in_filters_are_names_and_not_syntax(populated: mnemos.Memory, name: str) -> None:
    for wanted in (
        {"source_filter": name},
        {"role_filter": [name, "user"]},
        {"session_ids": [name]},
        {"exclude_session_ids": [name]},
    ):
        hits = populated.sessions.search_messages("and", **wanted)
        assert {hit["session_id"] for hit in hits} <= {"indexed", "pending"}


@settings(suppress_health_check=list(HealthCheck))
@given(
    source=st.text(min_size=1, max_size=20).filter(lambda text: text.strip() and text.isprintable()),
    role=st.text(min_size=1, max_size=20).filter(lambda text: text.strip() and text.isprintable()),
)
def test_a_message_is_found_under_its_own_source_and_role_and_no_other(
    populated: mnemos.Memory, source: str, role: str
) -> None:
    session = f"of {source} and {role}"
    message = {"role": role, "content": "under its name"}
    populated.sessions.import_sessions([{"id": session, "source": source, "messages": [message]}])
    (id,) = [one["id"] for one in populated.sessions.get_messages(session)]
    found = populated.sessions.search_messages("under", source_filter=source, role_filter=role, limit=1000)
    assert id in {hit["id"] for hit in found}
    assert {(hit["source"], hit["role"]) for hit in found} == {(source, role)}


LONG = {
    "words": "word " * 200_000,
    "different words": " ".join(f"w{number}" for number in range(100_000)),
    "quotes": '"' * 1_000_000,
    "parentheses": "(" * 1_000_000,
    "one phrase": '"' + "b " * 400_000 + '"',
    "unspaced": "京" * 300_000,
    "exclusions": "x " + "-bb " * 250_000,
    "different exclusions": "x " + " ".join(f"-b{number}" for number in range(100_000)),
    "alternatives": "a OR " * 200_000 + "a",
    "different alternatives": " OR ".join(f"b{number}" for number in range(100_000)),
    "a path": "b/" * 400_000,
    "an identifier": "aB" * 400_000,
    "one word": "a" * 1_000_000,
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_a_query_stays_small_however_long_its_text_is(populated: mnemos.Memory, text: str) -> None:
    """An engine takes the square of what it is asked in time."""
    query = parse(text)
    terms = [*query.terms(), *query.excluded]
    assert sum(len(term.forms) + len(term.beside) for term in terms) <= 4_096
    populated.sessions.search_messages(text)
    populated.sessions.search_messages(f"indexed {text}")


@pytest.mark.parametrize(
    "wrong",
    [
        {"query": None},
        {"query": 5},
        {"query": b"words"},
        {"query": ["words"]},
        {"limit": 0},
        {"limit": -1},
        {"limit": True},
        {"limit": "5"},
        {"limit": 10**30},
        {"offset": -1},
        {"offset": 1.5},
        {"offset": 10**30},
        {"sort": "best"},
        {"sort": None},
        {"sort": ["newest"]},
        {"since": "someday"},
        {"since": float("nan")},
        {"until": float("inf")},
        {"until": []},
        {"source_filter": 5},
        {"source_filter": [None]},
        {"role_filter": {"a": 1}.values()},
        {"session_ids": 5},
        {"session_ids": [5]},
        {"exclude_session_ids": [["s"]]},
    ],
)
def test_an_argument_of_the_wrong_kind_is_refused(populated: mnemos.Memory, wrong: dict[str, Any]) -> None:
    with pytest.raises(mnemos.MnemosError) as failure:
        populated.sessions.search_messages(**{"query": "and"} | wrong)
    assert failure.value.code in {"invalid_input", "too_large"}
    assert populated.sessions.search_messages("and")


def test_many_filters_are_answered(populated: mnemos.Memory) -> None:
    names = [f"name{number}" for number in range(5_000)]
    assert populated.sessions.search_messages("and", exclude_session_ids=names)
    assert populated.sessions.search_messages("and", session_ids=[*names, "indexed"])
    assert populated.sessions.search_messages("and", source_filter=[*names, "cli"])
    assert populated.sessions.search_messages("and", role_filter=[*names, "user"])


def test_another_space_cannot_be_asked_for(populated: mnemos.Memory, tmp_path: Path) -> None:
    sessions = populated.sessions
    assert sessions.search_messages("theirs") == [] or all(
        hit["session_id"] != "theirs" for hit in sessions.search_messages("theirs")
    )
    assert sessions.get_session("theirs") is None
    assert sessions.message_count("theirs") == 0
    theirs = (1 << 32) + 1
    for id in range(theirs, theirs + 5):
        with pytest.raises(mnemos.MnemosError):
            sessions.get_messages_around(id)
        with pytest.raises(mnemos.MnemosError):
            populated.forget(f"message:{id}")
