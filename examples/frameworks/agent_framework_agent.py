"""An agent says something; another agent, in a new session, has it in its instructions.

    pip install 'mnemos[agent-framework]'
    python examples/frameworks/agent_framework_agent.py

Offline: the chat client is a stub that answers with what it was asked.
"""

from __future__ import annotations

import asyncio
import tempfile
from typing import Any

from agent_framework import Agent, AgentSession, BaseChatClient, ChatResponse, Message

from mnemos.integrations.agent_framework import MnemosContextProvider, MnemosHistoryProvider


class Stub(BaseChatClient):
    async def _inner_get_response(self, *, options: Any, **_: Any) -> ChatResponse:
        return ChatResponse(messages=[Message("assistant", [str(options.get("instructions"))])])


async def main(home: str) -> None:
    # A busy machine may need more than the usual 50 ms to recall.
    history, recall = MnemosHistoryProvider(home), MnemosContextProvider(home, recall_seconds=10)
    # This is the line that changes: two context providers.
    agent = Agent(Stub(), context_providers=[history, recall])
    await agent.run("We deploy on Tuesdays at 9, never on Fridays.", session=AgentSession(session_id="a"))
    answer = await agent.run("Which day is the deploy?", session=AgentSession(session_id="b"))
    print(f"The next agent knows: {'Tuesdays at 9' in answer.text}")
    print(answer.text)
    await recall.close()
    await history.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        asyncio.run(main(place))
