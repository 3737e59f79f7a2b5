"""The chat store and the memory block inside LlamaIndex, beside the chat store that LlamaIndex has."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.base.llms.types import (
    ChatMessage,
    ImageBlock,
    MessageRole,
    TextBlock,
    ToolCallBlock,
)
from llama_index.core.memory import Memory
from llama_index.core.storage.chat_store.base_db import MessageStatus
from llama_index.core.storage.chat_store.sql import SQLAlchemyChatStore

import mnemos
from frameworks.counted import watch
from mnemos.integrations.llama_index import MnemosMemoryBlock
from mnemos.integrations.llama_index_store import MnemosChatStore

Counted = watch(MnemosChatStore, "get_messages", "add_messages", "archive_oldest_messages")
ACTIVE, ARCHIVED = MessageStatus.ACTIVE, MessageStatus.ARCHIVED


def say(text: str) -> ChatMessage:
    return ChatMessage(role="user", content=text)


def choose(chance: random.Random, number: int) -> tuple[str, tuple[Any, ...]]:
    """Choose a call of a chat store."""
    new = [say(f"{number}.{one}") for one in range(chance.randint(1, 3))]
    count = chance.randint(0, 3)
    return chance.choice(
        [
            ("add_message", ("k", new[0])),
            ("add_messages", ("k", new)),
            ("add_messages", ("k/%2F", new)),
            ("archive_oldest_messages", ("k", count)),
            ("archive_oldest_messages", ("k", count)),
            ("delete_oldest_messages", ("k", count)),
            ("set_messages", ("k", new)),
            ("delete_messages", ("k", ACTIVE)),
            ("delete_messages", ("k", ARCHIVED)),
            ("delete_messages", ("k",)),
        ]
    )


@pytest.mark.parametrize("seed", range(10))
def test_the_same_calls_get_the_answers_of_the_store_of_llama_index(tmp_path: Path, seed: int) -> None:
    async def check() -> None:
        chance = random.Random(seed)
        ours = Counted(tmp_path)
        theirs = SQLAlchemyChatStore(table_name="t", async_database_uri="sqlite+aiosqlite:///:memory:")
        for number in range(40):
            name, arguments = choose(chance, number)
            answers = [await getattr(store, name)(*arguments) for store in (ours, theirs)]
            assert answers[0] == answers[1], (name, arguments)
            for status in (ACTIVE, ARCHIVED):
                lists = [await store.get_messages("k", status) for store in (ours, theirs)]
                assert lists[0] == lists[1], (name, arguments)
                assert await ours.count_messages("k", status) == len(lists[1])
            parts = [await store.get_messages("k", limit=2, offset=1) for store in (ours, theirs)]
            assert parts[0] == parts[1]
            assert sorted(await ours.get_keys()) == sorted(await theirs.get_keys())
        await ours.close()

    asyncio.run(check())


def test_messages_come_back_exactly(tmp_path: Path) -> None:
    messages = [
        ChatMessage(role="user", blocks=[TextBlock(text="hi"), ImageBlock(image=b"aGk=")]),
        ChatMessage(role=MessageRole.TOOL, content="42", additional_kwargs={"tool_call_id": "c"}),
    ]

    async def check() -> None:
        store = Counted(tmp_path)
        await store.set_messages("k", messages)
        assert await store.get_messages("k") == messages
        (found,) = await store.get_messages("k", limit=1)
        with mnemos.open(tmp_path) as memory:
            ids = [one["id"] for one in memory.sessions.get_messages("llama-index//k")]
        assert await store.delete_message("k", ids[0]) == found
        assert await store.delete_message("k", ids[0]) is None
        assert await store.get_messages("k") == messages[1:]
        await store.close()

    asyncio.run(check())


def test_what_left_the_short_term_memory_is_still_found(tmp_path: Path) -> None:
    async def check() -> None:
        store = Counted(tmp_path, user_id="ada")
        memory = Memory.from_defaults(session_id="s", chat_store=store, token_limit=200)
        await memory.aput(say("The parrot lives in Porto."))
        await memory.aput_messages([say(f"Filler {number} " + "words " * 20) for number in range(12)])
        assert "Porto" not in str(await memory.aget_all(status=ACTIVE))
        assert "Porto" in str(await memory.aget_all(status=ARCHIVED))
        for user in ("ada", "bob"):
            block = MnemosMemoryBlock(tmp_path, user_id=user, record=False)
            other = Memory.from_defaults(session_id="t", memory_blocks=[block], token_limit=4_000)
            await other.aput(say("Where does the parrot live?"))
            assert ("Porto" in str(await other.aget())) is (user == "ada")
            await block.close()
        await store.close()

    asyncio.run(check())


def test_a_block_records_what_it_is_handed(tmp_path: Path) -> None:
    async def check() -> None:
        block = MnemosMemoryBlock(tmp_path)
        await block.aput([say("The parrot lives in Porto.")], from_short_term_memory=True, session_id="s")
        assert "Porto" in await block.aget([say("Where does the parrot live?")])
        assert await block.aget([say("Where does the parrot live?")], session_id="s") == ""
        assert await block.aget([say("ok")]) == ""
        await block.close()

    asyncio.run(check())


@pytest.mark.parametrize("forgotten", [1, 2, 3])
def test_no_call_is_left_without_its_result_nor_a_result_without_its_call(
    tmp_path: Path, forgotten: int
) -> None:
    def result(call_id: str) -> ChatMessage:
        return ChatMessage(role="tool", content="seen", additional_kwargs={"tool_call_id": call_id})

    async def check() -> None:
        calls = [ToolCallBlock(tool_call_id=name, tool_name="look", tool_kwargs={}) for name in "ab"]
        kwargs = {"tool_calls": [{"id": "c", "type": "function"}]}
        older = ChatMessage(role="assistant", content="", additional_kwargs=kwargs)
        calling = ChatMessage(role="assistant", blocks=calls)
        said = [say("hi"), calling, result("a"), result("b"), older, result("c"), say("bye")]
        store = Counted(tmp_path)
        await store.add_messages("k", said)
        with mnemos.open(tmp_path) as memory:
            [stored] = memory.sessions.search_sessions()
            memory.forget(f"message:{memory.sessions.get_messages(stored['id'])[forgotten]['id']}")
        left = await store.get_messages("k")
        gone = [ChatMessage(role="assistant", content="[forgotten]")] if forgotten == 1 else []
        assert left == [say("hi"), *gone, older, result("c"), say("bye")]
        await store.close()

    asyncio.run(check())
