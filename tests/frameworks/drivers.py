"""One way to drive every adapter, so that ``check_faults.py`` can do the same to all of them.

A turn has a number. ``python -m frameworks.drivers NAME PLACE FIRST COUNT`` adds turns in a process of its
own, prints the number of each that was acknowledged, and kills itself.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from collections.abc import Iterable
from typing import Any

from frameworks.counted import watch
from mnemos.integrations.shared.memory_source import open_source
from mnemos.integrations.shared.recall import recall_block


def numbers(texts: Iterable[Any]) -> list[int]:
    """Return the numbers of turns in the order in which they were said."""
    return [int(found) for text in texts for found in re.findall(r"Turn (\d+)\b", str(text))]


class Driver:
    """An adapter that is opened on a home or a URL for one user."""

    tag = "</recalled-memory>"
    """The end of the memories in a prompt."""
    keeps_users_apart_in_recall = True
    keeps_turns_in_process = True
    """With memory off, a history stays in this process: an agent must not lose its own last turn."""

    def __init__(self, place: Any, user: str = "ada") -> None:
        self.place, self.user = place, user

    async def say(self, *texts: str) -> None:
        """Store turns; when this returns, they are acknowledged."""
        raise NotImplementedError

    async def read(self) -> list[int]:
        """Return the numbers of all turns, in order."""
        raise NotImplementedError

    async def ask(self, question: str) -> str:
        """Return what another conversation's prompt gets, if the framework asks Mnemos for it."""
        memory, _ = open_source(self.place)
        memory.sync.entries.settle()
        block = await recall_block(memory, question, user_id=self.user)
        await memory.close()
        return block

    async def close(self) -> None:
        raise NotImplementedError


class OpenAISession(Driver):
    def __init__(self, place: Any, user: str = "ada") -> None:
        super().__init__(place, user)
        from mnemos.integrations.openai_agents import MnemosSession

        self.kind = watch(MnemosSession, "get_items", "add_items")
        self.session = self.kind("s", place, user_id=user)

    async def say(self, *texts: str) -> None:
        await self.session.add_items([{"role": "user", "content": text} for text in texts])

    async def read(self) -> list[int]:
        return numbers(await self.session.get_items())

    async def ask(self, question: str) -> str:
        from agents import Agent
        from agents.run_config import CallModelData, ModelInputData

        from mnemos.integrations.openai_agents import recall_filter

        other = self.kind("another", self.place, user_id=self.user)
        given = ModelInputData(input=[{"role": "user", "content": question}], instructions=None)
        data: Any = CallModelData(model_data=given, agent=Agent(name="a"), context=None)
        answer: Any = await recall_filter(other)(data)  # type: ignore[misc]
        await other.close()
        return answer.instructions or ""

    async def close(self) -> None:
        await self.session.close()


class LangGraphStore(Driver):
    def __init__(self, place: Any, user: str = "ada") -> None:
        super().__init__(place, user)
        from mnemos.integrations.langgraph import MnemosStore

        self.store = watch(MnemosStore, "batch", "abatch")(place)

    async def say(self, *texts: str) -> None:
        from langgraph.store.base import PutOp

        await self.store.abatch([PutOp((self.user, "turns"), text, {"text": text}) for text in texts])

    async def read(self) -> list[int]:
        items = await self.store.asearch((self.user,), limit=10_000)
        return sorted(numbers(item.value["text"] for item in items))

    async def close(self) -> None:
        self.store.close()


class LangChainMiddleware(Driver):
    keeps_turns_in_process = False

    def __init__(self, place: Any, user: str = "ada") -> None:
        super().__init__(place, user)
        from mnemos.integrations.langchain import MnemosMiddleware

        self.middleware = watch(MnemosMiddleware, "awrap_model_call", "aafter_agent")(place)

    async def _run(self, texts: Iterable[str], thread: str) -> list[Any]:
        from langchain.agents import create_agent
        from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
        from langchain_core.messages import AIMessage, HumanMessage

        asked: list[Any] = []

        class Model(GenericFakeChatModel):
            def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
                asked.extend(messages)
                return super()._generate(messages, *args, **kwargs)

        agent = create_agent(Model(messages=iter(["ok"])), [], middleware=[self.middleware])
        first, *rest = texts
        config: Any = {"configurable": {"thread_id": thread, "user_id": self.user}}
        await agent.ainvoke({"messages": [HumanMessage(first), *map(AIMessage, rest)]}, config)
        return asked

    async def say(self, *texts: str) -> None:
        await self._run(texts, "t")

    async def read(self) -> list[int]:
        from mnemos.integrations.shared.history import History

        memory, _ = open_source(self.place)
        messages = await History(memory, "t", "langchain", user_id=self.user).read()
        await memory.close()
        return numbers(message["content"] for message in messages)

    async def ask(self, question: str) -> str:
        asked = await self._run([question], "another")
        return "\n".join(message.text for message in asked if message.type == "system")

    async def close(self) -> None:
        self.middleware.close()


class ClaudeStore(Driver):
    """A project is the boundary of the SDK; recall has no projects as users."""

    keeps_users_apart_in_recall = False

    def __init__(self, place: Any, user: str = "ada") -> None:
        super().__init__(place, user)
        from mnemos.integrations.claude_agent_sdk import MnemosSessionStore

        self.store = watch(MnemosSessionStore, "append", "load")(place)
        self.key: Any = {"project_key": user, "session_id": "s"}

    async def say(self, *texts: str) -> None:
        lines = [
            {"type": "user", "uuid": text, "message": {"role": "user", "content": text}} for text in texts
        ]
        await self.store.append(self.key, lines)

    async def read(self) -> list[int]:
        return numbers(line["message"]["content"] for line in await self.store.load(self.key) or ())

    async def close(self) -> None:
        await self.store.close()


class MemoryTool(Driver):
    path = "/memories/turns.md"
    keeps_turns_in_process = False

    def __init__(self, place: Any, user: str = "ada") -> None:
        super().__init__(place, user)
        from mnemos.integrations.anthropic_memory import AsyncMnemosMemoryTool

        self.tool = watch(AsyncMnemosMemoryTool, "create", "insert", "view")(place, user_id=user)

    async def say(self, *texts: str) -> None:
        from anthropic.lib.tools import ToolError

        try:
            await self.tool.call({"command": "create", "path": self.path, "file_text": ""})
        except ToolError:
            # It is there already.
            pass
        text = "\n".join(reversed(texts))
        await self.tool.call({"command": "insert", "path": self.path, "insert_line": 0, "insert_text": text})

    async def read(self) -> list[int]:
        from anthropic.lib.tools import ToolError

        try:
            return numbers(
                reversed(str(await self.tool.call({"command": "view", "path": self.path})).split("\n"))
            )
        except ToolError:
            return []

    async def close(self) -> None:
        await self.tool.close()


class PydanticStore(Driver):
    def __init__(self, place: Any, user: str = "ada") -> None:
        super().__init__(place, user)
        from mnemos.integrations.pydantic_ai import MnemosConversationStore

        self.store = watch(MnemosConversationStore, "read_record", "write_record")(place)

    async def say(self, *texts: str) -> None:
        from pydantic_ai.conversation import Conversation
        from pydantic_ai.conversation_store import ConversationConflict
        from pydantic_ai.messages import ModelRequest, UserPromptPart

        while True:
            known = await self.store.load(self.user, scope=self.user)
            conversation = known or Conversation(conversation_id=self.user)
            conversation.messages.extend(ModelRequest(parts=[UserPromptPart(text)]) for text in texts)
            try:
                await self.store.save(conversation, scope=self.user)
            except ConversationConflict:
                # Another writer was faster, which is for the program to solve.
                continue
            return

    async def read(self) -> list[int]:
        known = await self.store.load(self.user, scope=self.user)
        return numbers(known.messages) if known else []

    async def ask(self, question: str) -> str:
        from types import SimpleNamespace

        from mnemos.integrations.pydantic_ai import recall_instructions

        context: Any = SimpleNamespace(prompt=question, conversation_id="another")
        return await recall_instructions(self.store, scope=self.user)(context)

    async def close(self) -> None:
        await self.store.close()


class AdkMemory(Driver):
    keeps_turns_in_process = False
    tag = "</PAST_CONVERSATIONS>"

    def __init__(self, place: Any, user: str = "ada") -> None:
        super().__init__(place, user)
        from mnemos.integrations.google_adk import MnemosMemoryService

        self.service = watch(MnemosMemoryService, "add_events_to_memory", "search_memory")(place)

    async def say(self, *texts: str) -> None:
        from google.adk.events.event import Event
        from google.genai.types import Content, Part

        events = [Event(id=text, author="user", content=Content(parts=[Part(text=text)])) for text in texts]
        await self.service.add_events_to_memory(
            app_name="app", user_id=self.user, events=events, session_id="s"
        )

    async def read(self) -> list[int]:
        from mnemos.errors import NotFound

        await self.service.search_memory(app_name="app", user_id=self.user, query="Turn")
        memory, _ = open_source(self.place)
        try:
            messages = await memory.sessions.get_messages(f"google-adk/app/{self.user}/session/s")
        except NotFound:
            messages = []
        await memory.close()
        return numbers(message["content"] for message in messages)

    async def ask(self, question: str) -> str:
        found = await self.service.search_memory(app_name="app", user_id=self.user, query=question)
        return "\n".join(str(memory.content.parts[0].text) for memory in found.memories)

    async def close(self) -> None:
        await self.service.close()


class AdkSessions(Driver):
    def __init__(self, place: Any, user: str = "ada") -> None:
        super().__init__(place, user)
        from mnemos.integrations.google_adk_sessions import MnemosSessionService

        self.service = watch(MnemosSessionService, "get_session", "append_event")(place)
        self.who: dict[str, Any] = {"app_name": "app", "user_id": user, "session_id": "s"}

    async def say(self, *texts: str) -> None:
        from google.adk.errors import StaleSessionError
        from google.adk.errors.already_exists_error import AlreadyExistsError
        from google.adk.events.event import Event
        from google.adk.sessions.base_session_service import GetSessionConfig
        from google.genai.types import Content, Part

        session: Any = None
        for text in texts:
            said = Event(author="user", content=Content(parts=[Part(text=text)]))
            while True:
                if session is None:
                    try:
                        session = await self.service.create_session(**self.who)
                    except AlreadyExistsError:
                        few = GetSessionConfig(num_recent_events=0)
                        session = await self.service.get_session(**self.who, config=few)
                try:
                    await self.service.append_event(session, said)
                except StaleSessionError:
                    # Another writer was faster, which is for the program to solve.
                    session = None
                    continue
                break

    async def read(self) -> list[int]:
        session = await self.service.get_session(**self.who)
        return numbers(event.content.parts[0].text for event in session.events) if session else []

    async def ask(self, question: str) -> str:
        self.user = f"app/{self.user}"
        return await super().ask(question)

    async def close(self) -> None:
        await self.service.close()


class AgentFrameworkHistory(Driver):
    def __init__(self, place: Any, user: str = "ada") -> None:
        super().__init__(place, user)
        from mnemos.integrations.agent_framework import MnemosHistoryProvider

        kind = watch(MnemosHistoryProvider, "get_messages", "save_messages")
        self.provider = kind(place, user_id=user)

    async def say(self, *texts: str) -> None:
        from agent_framework import Message

        await self.provider.save_messages("s", [Message("user", [text]) for text in texts])

    async def read(self) -> list[int]:
        return numbers(message.text for message in await self.provider.get_messages("s"))

    async def close(self) -> None:
        await self.provider.close()


class StrandsSessions(Driver):
    def __init__(self, place: Any, user: str = "ada") -> None:
        super().__init__(place, user)
        from strands.types.exceptions import SessionException
        from strands.types.session import Session, SessionAgent, SessionType

        from mnemos.integrations.strands_sessions import MnemosSessionRepository

        kind = watch(MnemosSessionRepository, "create_message", "list_messages")
        self.repository = kind(place, user_id=user)
        try:
            self.repository.create_session(Session("s", SessionType.AGENT))
        except SessionException:
            # Another process made it.
            pass
        self.repository.create_agent("s", SessionAgent("a", {}, {}))

    async def say(self, *texts: str) -> None:
        from strands.types.session import SessionMessage

        for text in texts:
            message: Any = {"role": "user", "content": [{"text": text}]}
            known = numbers([text])
            at = known[0] if known else 0
            self.repository.create_message("s", "a", SessionMessage.from_message(message, at))

    async def read(self) -> list[int]:
        return numbers(one.message for one in self.repository.list_messages("s", "a"))

    async def close(self) -> None:
        self.repository.close()


class StrandsMemory(Driver):
    tag = "</memory>"
    keeps_turns_in_process = False

    def __init__(self, place: Any, user: str = "ada") -> None:
        super().__init__(place, user)
        from mnemos.integrations.strands import MnemosMemoryStore

        self.store = watch(MnemosMemoryStore, "search", "add_messages")(place, user_id=user)

    async def say(self, *texts: str) -> None:
        await self.store.add_messages([{"role": "user", "content": [{"text": text}]} for text in texts])

    async def read(self) -> list[int]:
        from mnemos.integrations.shared.history import History

        memory, _ = open_source(self.place)
        messages = await History(memory, "memories", "strands", user_id=self.user).read()
        await memory.close()
        return numbers(message["content"] for message in messages)

    async def ask(self, question: str) -> str:
        return "\n".join(entry.content for entry in await self.store.search(question))

    async def close(self) -> None:
        await self.store.close()


class LlamaIndexStore(Driver):
    tag = "</memory>"

    def __init__(self, place: Any, user: str = "ada") -> None:
        super().__init__(place, user)
        from mnemos.integrations.llama_index_store import MnemosChatStore

        self.store = watch(MnemosChatStore, "get_messages", "add_messages")(place, user_id=user)

    async def say(self, *texts: str) -> None:
        from llama_index.core.base.llms.types import ChatMessage

        await self.store.add_messages("k", [ChatMessage(role="user", content=text) for text in texts])

    async def read(self) -> list[int]:
        return numbers(message.content for message in await self.store.get_messages("k"))

    async def ask(self, question: str) -> str:
        from llama_index.core.base.llms.types import ChatMessage
        from llama_index.core.memory import Memory

        from mnemos.integrations.llama_index import MnemosMemoryBlock

        block = MnemosMemoryBlock(self.place, user_id=self.user, record=False)
        memory = Memory.from_defaults(session_id="another", memory_blocks=[block])
        await memory.aput(ChatMessage(role="user", content=question))
        texts = [message.content or "" for message in await memory.aget() if message.role == "system"]
        await block.close()
        return "\n".join(texts)

    async def close(self) -> None:
        await self.store.close()


class Mem0(Driver):
    keeps_turns_in_process = False

    def __init__(self, place: Any, user: str = "ada") -> None:
        super().__init__(place, user)
        from mnemos.integrations.mem0 import AsyncMemory

        self.memory = AsyncMemory(place)

    async def say(self, *texts: str) -> None:
        said = [{"role": "user", "content": text} for text in texts]
        await self.memory.add(said, user_id=self.user, infer=False)

    async def read(self) -> list[int]:
        found = await self.memory.get_all(filters={"user_id": self.user}, top_k=10_000)
        return sorted(numbers(one["memory"] for one in found["results"]))

    async def close(self) -> None:
        await self.memory.close()


DRIVERS: dict[str, tuple[type[Driver], ...]] = {
    "openai-agents": (OpenAISession,),
    "langgraph": (LangGraphStore,),
    "langchain": (LangChainMiddleware,),
    "claude-agent-sdk": (ClaudeStore,),
    "anthropic": (MemoryTool,),
    "pydantic-ai": (PydanticStore,),
    "google-adk": (AdkMemory, AdkSessions),
    "agent-framework": (AgentFrameworkHistory,),
    "strands": (StrandsSessions, StrandsMemory),
    "llama-index": (LlamaIndexStore,),
    "mem0": (Mem0,),
}


async def _add(driver: Driver, first: int, count: int) -> None:
    for number in range(first, first + count):
        await driver.say(f"Turn {number}")
        print(number, flush=True)


if __name__ == "__main__":
    name, place, first, count = sys.argv[1:]
    asyncio.run(_add(globals()[name](place), int(first), int(count)))
    os.kill(os.getpid(), signal.SIGKILL)
