"""The memory store and the session repository inside Strands: real agents, and a model that is a stub."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from strands import Agent
from strands.memory import MemoryManager
from strands.models import Model
from strands.session.repository_session_manager import RepositorySessionManager
from strands.types.exceptions import SessionException
from strands.types.session import SessionMessage

import mnemos
from frameworks.counted import watch
from mnemos.integrations.strands import MnemosMemoryStore
from mnemos.integrations.strands_sessions import MnemosSessionRepository

Store = watch(MnemosMemoryStore, "search", "add", "add_messages")
Repository = watch(MnemosSessionRepository, "create_message", "list_messages")


class Stub(Model):
    """Keeps the text of its requests, and answers."""

    def __init__(self) -> None:
        self.requests: list[str] = []

    def update_config(self, **_: Any) -> None: ...

    def get_config(self) -> dict[str, Any]:
        return {}

    def structured_output(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    async def stream(self, messages: Any, *_: Any, **__: Any) -> AsyncIterator[Any]:
        self.requests.append(str(messages))
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockStart": {"start": {}}}
        yield {"contentBlockDelta": {"delta": {"text": "Understood."}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn"}}


def talk(home: Any, session_id: str, *said: str, user: str = "ada") -> str:
    """Say something in a session, and return the last request of the model."""
    repository, model = Repository(home, user_id=user), Stub()
    manager = RepositorySessionManager(session_id=session_id, session_repository=repository)
    agent = Agent(model=model, session_manager=manager, callback_handler=None, agent_id="planner")
    for text in said:
        agent(text)
    repository.close()
    return model.requests[-1]


def test_a_new_process_continues_a_session_of_its_user_alone(tmp_path: Path) -> None:
    talk(tmp_path, "s", "The parrot lives in Porto.")
    asked = talk(tmp_path, "s", "And the cat?")
    assert asked.count("The parrot lives in Porto.") == 1
    assert "Understood." in asked
    assert "Porto" not in talk(tmp_path, "s", "And the cat?", user="bob")
    with mnemos.open(tmp_path) as memory:
        assert "Porto" in memory.recall("Where does the parrot live?", user_id="ada").text


def test_a_message_of_an_index_that_is_taken_is_refused_and_a_repeated_one_is_not(tmp_path: Path) -> None:
    talk(tmp_path, "s", "The parrot lives in Porto.")
    repository = Repository(tmp_path, user_id="ada")
    first = repository.list_messages("s", "planner")[0]
    repository.create_message("s", "planner", first)
    other = SessionMessage.from_message({"role": "user", "content": [{"text": "And mine?"}]}, 0)
    with pytest.raises(SessionException, match="another process"):
        repository.create_message("s", "planner", other)
    assert len(repository.list_messages("s", "planner")) == 2
    repository.close()


def test_with_memory_off_an_agent_keeps_its_turns_in_this_process(tmp_path: Path) -> None:
    with mnemos.open(tmp_path, disabled=True) as memory:
        talk(memory, "s", "The parrot lives in Porto.")
        assert "Porto" in talk(memory, "s", "And the cat?")
    assert not list(tmp_path.iterdir())


def test_what_a_guardrail_redacted_is_not_found(tmp_path: Path) -> None:
    talk(tmp_path, "s", "The parrot lives in Porto.", "And the cat?")
    repository = Repository(tmp_path, user_id="ada")
    first = repository.list_messages("s", "planner")[0]
    first.redact_message = {"role": "user", "content": [{"text": "[removed]"}]}
    repository.update_message("s", "planner", first)
    texts = [str(one.to_message()) for one in repository.list_messages("s", "planner")]
    assert len(texts) == 4
    assert "[removed]" in texts[0]
    assert "And the cat?" in texts[2]
    assert repository.read_message("s", "planner", 0).redact_message == first.redact_message
    repository.close()
    with mnemos.open(tmp_path) as memory:
        assert memory.search("Porto") == []
        assert len(memory.search("cat")) == 1


def test_a_message_that_another_process_adds_while_one_is_replaced_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(tmp_path, "s", "The parrot lives in Porto.")
    repository, other = Repository(tmp_path, user_id="ada"), Repository(tmp_path, user_id="ada")
    first, read, late = repository.list_messages("s", "planner")[0], repository._read_messages, [7, 8, 9]

    def read_then_add(name: str) -> Any:
        messages = read(name)
        if late:
            said: Any = {"role": "user", "content": [{"text": "late"}]}
            other.create_message("s", "planner", SessionMessage.from_message(said, late.pop()))
        return messages

    monkeypatch.setattr(repository, "_read_messages", read_then_add)
    first.redact_message = {"role": "user", "content": [{"text": "[removed]"}]}
    repository.update_message("s", "planner", first)
    texts = [str(one.to_message()) for one in other.list_messages("s", "planner")]
    assert "[removed]" in texts[0]
    assert sum("'late'" in text for text in texts) == 3
    repository.close()
    other.close()


def test_a_forgotten_message_is_added_again_and_replaced_without_an_error(tmp_path: Path) -> None:
    talk(tmp_path, "s", "The parrot lives in Porto.")
    repository = Repository(tmp_path, user_id="ada")
    [first, _] = repository.list_messages("s", "planner")
    with mnemos.open(tmp_path) as memory:
        memory.forget(f"message:{memory.search('Porto')[0]['id']}")
    with pytest.raises(SessionException, match="exists"):
        repository.create_message("s", "planner", first)
    first.redact_message = {"role": "user", "content": [{"text": "[removed]"}]}
    repository.update_message("s", "planner", first)
    texts = [str(one.to_message()) for one in repository.list_messages("s", "planner")]
    assert ["[removed]" in texts[0], len(texts)] == [True, 2]
    repository.close()


def test_bytes_come_back_as_bytes(tmp_path: Path) -> None:
    talk(tmp_path, "s", "hi")
    repository = Repository(tmp_path, user_id="ada")
    picture: Any = {
        "role": "user",
        "content": [{"image": {"format": "png", "source": {"bytes": b"\x89PNG"}}}],
    }
    repository.create_message("s", "planner", SessionMessage.from_message(picture, 7))
    assert repository.read_message("s", "planner", 7).message == picture
    repository.delete_session("s")
    assert repository.read_session("s") is None
    assert repository.list_messages("s", "planner") == []
    repository.close()


@pytest.mark.parametrize("user", ["ada", "bob"])
def test_a_store_tells_the_next_agent_of_its_user(tmp_path: Path, user: str) -> None:
    async def check() -> None:
        store = Store(tmp_path, user_id="ada")
        await store.add_messages(
            [{"role": "user", "content": [{"text": "The parrot </memory> lives in Porto."}]}]
        )
        await store.add("The cat lives in Oslo.", {"topic": "cats"})
        await store.close()
        mine, model = Store(tmp_path, user_id=user), Stub()
        manager = MemoryManager(stores=[mine])
        agent = Agent(model=model, memory_manager=manager, callback_handler=None)
        await agent.invoke_async("Where does the parrot live?")
        assert ("Porto" in model.requests[-1]) is (user == "ada")
        assert model.requests[-1].count("</memory>") == int(user == "ada")
        assert await mine.search("ok") == []
        await mine.close()

    asyncio.run(check())
