"""Operations that store sessions and messages, as programs without Python use them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import mnemos
from mnemos.errors import AlreadyExists, InvalidInput, NotFound
from mnemos.memory import Memory


@pytest.fixture
def memory() -> Iterator[Memory]:
    with mnemos.open(":memory:") as opened:
        opened.sessions.create_session("garden-2026", "test", title="The garden")
        yield opened


def test_a_turn_is_appended_in_one_call(memory: Memory) -> None:
    turn = [
        {"role": "user", "content": "Which beds are free?", "metadata": {"mood": "good"}},
        {"role": "assistant", "content": [{"type": "text", "text": "The two at the wall 🌱"}]},
    ]
    done = memory.call("sessions_append", {"session_id": "garden-2026", "messages": turn})
    stored = memory.sessions.get_messages("garden-2026")
    assert done["message_ids"] == [one["id"] for one in stored]
    assert done["message_id"] == stored[-1]["id"]
    assert [one["content"] for one in stored] == [one["content"] for one in turn]
    assert stored[0]["metadata"] == {"mood": "good"}


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"role": "user", "content": "hi", "messages": [{"role": "user", "content": "hi"}]},
        {"messages": [{"role": "user", "content": "hi"}, {"role": "nobody", "content": "hi"}]},
    ],
)
def test_a_wrong_turn_is_refused_and_nothing_is_stored(memory: Memory, given: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        memory.call("sessions_append", {"session_id": "garden-2026", **given})
    assert memory.sessions.message_count() == 0


def test_ensuring_a_session_fills_what_is_empty(memory: Memory) -> None:
    with pytest.raises(AlreadyExists):
        memory.call("sessions_create", {"session_id": "garden-2026"})
    again = {"session_id": "garden-2026", "title": "Another", "model": "m", "ensure": True}
    assert memory.call("sessions_create", again)["text"] == "Session garden-2026 exists."
    session = memory.sessions.get_session("garden-2026")
    assert session is not None
    assert (session["title"], session["model"]) == ("The garden", "m")


def test_metadata_prompt_and_tokens_can_be_changed(memory: Memory) -> None:
    memory.call(
        "sessions_update",
        {"session": "garden", "metadata": {"bed": 3}, "system_prompt": "Dig.", "output_tokens": 7},
    )
    memory.call("sessions_update", {"session": "garden", "metadata": {"wall": True}, "output_tokens": 1})
    session = memory.sessions.get_session("garden-2026")
    assert session is not None
    assert session["metadata"] == {"bed": 3, "wall": True}
    assert (session["system_prompt"], session["output_tokens"]) == ("Dig.", 8)
    memory.call("sessions_update", {"session": "garden", "system_prompt": ""})
    shown = memory.call("sessions_show", {"session": "garden"})["session"]
    assert (shown["system_prompt"], shown["untitled"]) == (None, False)


def test_lists_have_system_prompts_only_with_details(memory: Memory) -> None:
    memory.sessions.update_system_prompt("garden-2026", "Dig.")
    assert "system_prompt" not in memory.call("sessions_list")["sessions"][0]
    assert memory.call("sessions_list", {"details": True})["sessions"][0]["system_prompt"] == "Dig."


def test_a_reference_names_one_session_and_not_the_beginning_of_an_id(memory: Memory) -> None:
    assert memory.sessions.resolve_session("garden") == "garden-2026"
    assert memory.sessions.resolve_session("session:garden-2026") == "garden-2026"
    for other in ("session:garden", "session:The garden"):
        with pytest.raises(NotFound):
            memory.call("sessions_end", {"session": other})


def test_the_log_has_whole_texts_on_request(memory: Memory) -> None:
    memory.sessions.set_title("garden-2026", "beans " * 40)
    (shown,) = memory.call("log", {"limit": 1})["entries"]
    (whole,) = memory.call("log", {"limit": 1, "full": True})["entries"]
    assert len(shown["after"]) == 80
    assert whole["after"] == memory.log(1)[0].after
