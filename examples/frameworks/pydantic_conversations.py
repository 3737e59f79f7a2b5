"""A conversation is loaded, continued, saved and forked; a late writer in another process is refused.

    pip install 'mnemos[pydantic-ai]'
    python examples/frameworks/pydantic_conversations.py

Offline: the model is a function, and the search needs no key.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.conversation import Conversation
from pydantic_ai.conversation_store import ConversationConflict
from pydantic_ai.messages import ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from mnemos.integrations.pydantic_ai import MnemosConversationStore, recall_instructions


async def answer(_: list[Any], info: AgentInfo) -> ModelResponse:
    return ModelResponse(parts=[TextPart(info.instructions or "On Tuesdays at 9, never on Fridays.")])


async def ask(store: MnemosConversationStore, name: str, prompt: str) -> Any:
    conversation = await store.load(name) or Conversation(conversation_id=name)
    return await Agent(FunctionModel(answer)).run(prompt, conversation=conversation)


def prompts(conversation: Any) -> list[str]:
    return [str(message.parts[0].content) for message in conversation.messages[::2]]


async def main(home: str) -> None:
    # This is the line that changes: a store in a memory.
    store = MnemosConversationStore(home)
    await store.save(await ask(store, "plan", "When do we deploy?"))
    await store.fork("plan", new_conversation_id="what-if")
    await store.save(await ask(store, "what-if", "And on Fridays?"))

    late = await ask(store, "plan", "Too late?")
    subprocess.run([sys.executable, __file__, home], check=True)  # noqa: S603 - itself
    try:
        await store.save(late)
    except ConversationConflict:
        print("The late writer was refused: True")
    print(f"The plan: {prompts(await store.load('plan'))}")
    print(f"Its fork: {prompts(await store.load('what-if'))}")

    agent = Agent(FunctionModel(answer), instructions=recall_instructions(store))
    print((await agent.run("Which day is the deploy?")).output)
    await store.close()


async def write(home: str) -> None:
    store = MnemosConversationStore(home)
    await store.save(await ask(store, "plan", "And the database?"))
    await store.close()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        asyncio.run(write(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as place:
            asyncio.run(main(place))
