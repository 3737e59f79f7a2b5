"""A program of a user who checks types; ``test_typed_program.py`` runs it and mypy."""

from __future__ import annotations

from typing import assert_type

import mnemos
from mnemos import Fact, Forgotten, Kind, Message, MessageHit, Recall, Role, Session


def tell(memory: mnemos.Memory, role: Role, text: str) -> int:
    return memory.sessions.append_message("chat", role, text)


def main() -> list[str]:
    kinds: list[Kind] = ["message", "fact"]
    with mnemos.open(":memory:") as memory:
        memory.sessions.create_session("chat", "cli", title="Order mails")
        tell(memory, "user", "Which queue sends the order mails?")
        tell(memory, "assistant", "We decide for Redis streams.")
        written = memory.remember("The order mails go through Redis streams")

        session = memory.sessions.get_session("chat")
        assert_type(session, Session | None)
        assert session is not None
        assert_type(session["title"], str | None)
        assert_type(memory.sessions.search_sessions(limit=1), list[Session])
        messages = memory.sessions.get_messages("chat")
        assert_type(messages, list[Message])
        assert_type(messages[0]["timestamp"], float)

        hits = memory.search("queue", sort="newest")
        assert_type(hits, list[MessageHit])
        assert_type(hits[0]["snippet"], str)
        answer = memory.recall("which queue did we choose", kinds=kinds, budget=400)
        assert_type(answer, Recall)
        assert_type([hit.text for hit in answer], list[str])
        assert_type(memory.facts.get(written.facts[0].id), Fact)

        tools = memory.tools("anthropic")
        chat = memory.sessions.conversation("chat", format="openai")
        forgotten = memory.forget(written.facts[0].id)
        assert_type(forgotten, Forgotten)
        assert_type(forgotten["withdrawn"][0]["text"], str)
        return [str(session["title"]), hits[0]["session_id"], str(len(chat)), str(len(tools) > 3)]


if __name__ == "__main__":
    print(*main())
