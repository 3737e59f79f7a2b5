"""``sessions_read`` shows a part of a conversation, within a budget."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mnemos import Memory
from mnemos.errors import NotFound
from mnemos.operations import registry
from mnemos.text.tokens import count_tokens


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory.at(":memory:", embedder="none") as opened:
        for name, user in (("of-ada", "ada"), ("of-bob", "bob")):
            opened.sessions.create_session(name, "cli", user_id=user)
            said = [{"role": "user", "content": f"{user} says {number}"} for number in range(40)]
            opened.sessions.append_messages(name, said)
        yield opened


def test_the_messages_around_a_hit_are_shown(memory: Memory) -> None:
    hit = memory.recall("ada says 20").hits[0]
    text = memory.call("sessions_read", {"around": hit.ref, "window": 2, "session": ""})["text"]
    assert [number for number in range(40) if f"ada says {number}\n" in f"{text}\n"] == [18, 19, 20, 21, 22]


def test_a_long_conversation_is_shown_by_its_ends(memory: Memory) -> None:
    memory.sessions.append_messages("of-ada", [{"role": "user", "content": "word " * 5_000}] * 20)
    text = memory.call("sessions_read", {"session": "of-ada"})["text"]
    assert "ada says 0" in text
    assert count_tokens(text) < 6_000


def test_recent_conversations_are_listed(memory: Memory) -> None:
    found = memory.call("sessions_read", {"limit": 1})
    assert [session["session_id"] for session in found["sessions"]] == ["of-bob"]


def test_nothing_of_another_user_is_read(memory: Memory) -> None:
    (first,) = memory.sessions.get_messages("of-ada")[:1]
    for asked in ({"around": first["id"]}, {"session": "of-ada"}):
        read = registry.read("sessions_read", {**asked, "user_id": "bob"}, by_person=True)
        with pytest.raises(NotFound):
            read.run(memory)
    listed = registry.read("sessions_read", {"user_id": "bob"}, by_person=True).run(memory)
    assert "ada" not in listed.as_text()


@pytest.mark.parametrize("arguments", [{"around": 9_999}, {"session": "nobody"}])
def test_what_is_not_there_is_not_found(memory: Memory, arguments: dict[str, object]) -> None:
    with pytest.raises(NotFound):
        memory.call("sessions_read", arguments)
