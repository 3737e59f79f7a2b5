"""A loop that recalls in every turn never gets its own words back: no fence, no call, no question again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conversations import BOTH
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import mnemos
from mnemos import Memory
from mnemos.sessions.message_text import document_of
from mnemos.storage.base import MessageRow
from mnemos.testing import FixedClock
from mnemos.text.fences import NAMES, OPEN

TURNS = 50
NAME = "mcp__mnemos__recall"
# A statement, a question for it, and the word that answers.
TOLD = [
    ("I live in Hamburg since last spring.", "Where do I live?", "Hamburg"),
    ("The kitchen gets sage green walls.", "Which colour do the kitchen walls get?", "sage"),
    ("The staging database listens on port 5433.", "On which port does the staging database listen?", "5433"),
    ("My sister Ines plays the cello.", "Which instrument does my sister play?", "cello"),
    ("We deploy on Thursdays, never on Fridays.", "On which day do we deploy?", "Thursday"),
    ("Der Schlüssel liegt unter der Matte.", "Wo liegt der Schlüssel?", "Matte"),
    ("发布会在上海举行。", "发布会在哪里举行？", "上海"),
    ("The parcel queue runs on NATS JetStream 🚀.", "What does the parcel queue run on?", "NATS"),
    ("My flight to Porto is booked for 12 May.", "When is my flight to Porto?", "12 May"),
    ("The invoice number of the oven is INV-2291.", "What is the invoice number of the oven?", "INV-2291"),
]
AGAIN = ("{}", "Hi! {}", "{} Thanks.", "Sorry, {}")


@pytest.fixture
def told(home: Path, clock: FixedClock) -> Memory:
    memory = mnemos.open(home, clock=clock)
    memory.sessions.create_session("told", "cli")
    for text, _, _ in TOLD:
        memory.sessions.append_message("told", "user", text)
        memory.sessions.append_message("told", "assistant", "Noted.")
        clock.advance(60)
    return memory


def check(hits: list[dict[str, Any]], text: str, answer: str) -> None:
    texts = [hit["text"] for hit in hits]
    assert text.count(OPEN) <= 1
    for one in texts:
        assert not any(name in one for name in NAMES)
        assert "recall" not in one
        assert "arguments" not in one
    answering = [place for place, one in enumerate(texts) if answer in one]
    asking = [place for place, one in enumerate(texts) if "?" in one or "？" in one]
    again = [place for place in asking if any(question in texts[place] for _, question, _ in TOLD)]
    assert answering, (answer, texts)
    own = [place for place in again if question_of(answer) in texts[place]]
    assert not own or max(answering) < min(own), texts


def question_of(answer: str) -> str:
    return next(question for _, question, word in TOLD if word == answer)


def call_of(query: str, number: int, name: str) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps({"query": query}, ensure_ascii=False)}
    return {"id": f"call-{number}", "type": "function", "function": function}


Append = Callable[[Memory, str, list[dict[str, Any]]], None]


def together(memory: Memory, session_id: str, turn: list[dict[str, Any]]) -> None:
    memory.sessions.append_messages(session_id, turn)


def one_by_one(memory: Memory, session_id: str, turn: list[dict[str, Any]]) -> None:
    for message in turn:
        memory.sessions.append_message(session_id, **message)


@pytest.mark.parametrize("append", [together, one_by_one])
@pytest.mark.parametrize("answer_form", ["text", "json"])
def test_fifty_turns_with_recall_in_each_find_no_echo(
    told: Memory, clock: FixedClock, append: Append, answer_form: str
) -> None:
    memory = told
    for number in range(TURNS):
        statement, question, word = TOLD[number % len(TOLD)]
        session_id = f"loop-{number // 7}"
        memory.sessions.ensure_session(session_id, "cli")
        said = AGAIN[number % len(AGAIN)].format(question)
        found = memory.call("recall", {"query": said})
        check(found["hits"], found["text"], word)
        turn = [
            {"role": "user", "content": said},
            {"role": "assistant", "content": None, "tool_calls": [call_of(question, number, "recall")]},
            {
                "role": "tool",
                "tool_call_id": f"call-{number}",
                "content": found["text"] if answer_form == "text" else json.dumps(found, default=str),
            },
            {"role": "assistant", "content": f"You told me: {statement}"},
        ]
        append(memory, session_id, turn)
        clock.advance(60)
    messages = [one for n in range(8) for one in memory.sessions.get_messages(f"loop-{n}")]
    assert sum(one.get("origin") == "memory" for one in messages) == 2 * TURNS
    memory.close()


@BOTH
def test_an_imported_transcript_that_used_memory_is_not_an_echo(
    told: Memory, tmp_path: Path, words_only: bool
) -> None:
    transcript = tmp_path / "claude" / "projects" / "-shop" / "0d5e1c00-0000-4000-8000-000000000001.jsonl"
    transcript.parent.mkdir(parents=True)
    lines: list[dict[str, Any]] = []

    def add(role: str, content: Any) -> None:
        lines.append(
            {
                "type": role,
                "uuid": f"u{len(lines)}",
                "parentUuid": f"u{len(lines) - 1}" if lines else None,
                "sessionId": transcript.stem,
                "timestamp": f"2026-03-02T09:{len(lines):02}:00.000Z",
                "cwd": "/shop",
                "message": {"role": role, "content": content}
                | ({"id": f"m{len(lines)}"} if role == "assistant" else {}),
            }
        )

    for number, (statement, question, _) in enumerate(TOLD):
        found = told.call("recall", {"query": question})["text"]
        use = {
            "type": "tool_use",
            "id": f"t{number}",
            "name": "mcp__mnemos__recall",
            "input": {"query": question},
        }
        add("user", question)
        add("assistant", [{"type": "text", "text": "Let me look that up."}, use])
        result = {
            "type": "tool_result",
            "tool_use_id": f"t{number}",
            "content": [{"type": "text", "text": found}],
        }
        add("user", [result])
        add("assistant", [{"type": "text", "text": f"You told me: {statement}"}])
    transcript.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    told.call("import_claude_code", {"path": str(tmp_path / "claude" / "projects")})
    assert told.sessions.message_count(transcript.stem) == 4 * len(TOLD)
    for _, question, word in TOLD:
        found = told.recall(question, limit=10, words_only=words_only)
        check([{"text": hit.text} for hit in found.hits], found.text, word)
    assert told.sessions.search_messages(NAME) == []
    assert [hit["role"] for hit in told.sessions.search_messages("look that up", limit=1)] == ["assistant"]
    told.close()


# --- fences, whatever they are in ----------------------------------------------------------------

PIECES = st.one_of(
    st.sampled_from([f"<{name}>" for name in NAMES] + [f"</{name}>" for name in NAMES]),
    st.sampled_from(["secretparrot", "macaw", " ", "\n", "<", ">", "é🦜", "\0", "鹦鹉"]),
    st.text(max_size=8),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(before=st.text(max_size=30), inside=st.lists(PIECES, max_size=6), name=st.sampled_from(NAMES))
def test_fenced_text_never_reaches_the_index(before: str, inside: list[str], name: str) -> None:
    """Everything from an opening to its first closing is left out; the rest is not."""
    own = "".join(piece for piece in inside if piece != f"</{name}>" and "<" not in piece)
    text = f"{before}<{name}>{own} secretparrot</{name}> quetzal"
    row = MessageRow(1, "s", "user", text, False, None, None, None, None, 0.0, None, False)
    said = document_of(row).said
    assert "secretparrot" not in said
    assert "quetzal" in said


@given(pieces=st.lists(PIECES, max_size=12))
def test_what_is_not_fenced_stays_in_the_index(pieces: list[str]) -> None:
    """An opening without its closing, and a closing without its opening, hide nothing."""
    for name in NAMES:
        for text in ("quetzal " + "".join(pieces), "".join(p for p in pieces if "</" not in p) + " quetzal"):
            said = document_of(MessageRow(1, "s", "user", text, False, *[None] * 4, 0.0, None, False)).said
            assert "quetzal" in said
        unclosed = f"<{name}> quetzal"
        assert document_of(
            MessageRow(1, "s", "tool", unclosed, False, *[None] * 4, 0.0, None, False)
        ).said.endswith("quetzal")


# --- questions asked in other words -----------------------------------------------------------------


@BOTH
@pytest.mark.parametrize(
    ("before", "now", "answer"),
    [
        ("Which city do I live in?", "Where do I live?", "Hamburg."),
        ("What port is the staging database on again?", "Which port does staging use?", "It is on 5433."),
        ("Hello, what's our rate limit?", "what is the rate limit?", "40 requests per second."),
        ("Which queue should we use for the order mails?", "which queue did we pick", "Redis streams."),
    ],
)
def test_a_question_asked_in_other_words_comes_after_its_answer(
    memory: Memory, before: str, now: str, answer: str, words_only: bool
) -> None:
    memory.sessions.create_session("s", "cli")
    turn = [{"role": "user", "content": before}, {"role": "assistant", "content": answer}]
    memory.sessions.append_messages("s", turn)
    assert [hit.text for hit in memory.recall(now, words_only=words_only).hits] == [answer, before]


def test_a_question_that_says_something_is_found_like_any_other_line(memory: Memory) -> None:
    memory.sessions.create_session("s", "cli")
    told = "Can you recommend video courses for the colour tools of DaVinci Resolve?"
    turn = [{"role": "user", "content": told}, {"role": "assistant", "content": "Try the manual."}]
    memory.sessions.append_messages("s", turn)
    assert memory.recall("Which video tools do I work with?").hits[0].text == told


@pytest.fixture(scope="module")
def index() -> Iterator[Memory]:
    with Memory.at(":memory:", embedder="none") as memory:
        memory.sessions.create_session("s", "cli")
        yield memory


@given(
    role=st.sampled_from(["user", "assistant", "tool", "system"]),
    around=st.tuples(st.text(max_size=20), st.text(max_size=20)),
    inside=st.text(max_size=20).filter(lambda text: "<" not in text),
    name=st.sampled_from(NAMES),
    as_parts=st.booleans(),
)
def test_no_search_finds_a_word_inside_a_fence(
    index: Memory, role: str, around: tuple[str, str], inside: str, name: str, as_parts: bool
) -> None:
    text = f"{around[0]}<{name}> {inside} secretparrot </{name}>{around[1]}"
    content: Any = [{"type": "text", "text": text}] if as_parts else text
    index.sessions.append_message("s", role, content)
    assert index.sessions.search_messages("secretparrot") == []
    assert index.recall("secretparrot", words_only=True).hits == ()
