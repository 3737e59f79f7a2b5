"""A conversation continues in a new process, and another agent finds what was said in it.

    pip install 'mnemos[strands]'
    python examples/frameworks/strands_agent.py

Offline: the model is a stub.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from typing import Any

from strands import Agent
from strands.models import Model
from strands.session.repository_session_manager import RepositorySessionManager

from mnemos.integrations.strands import MnemosMemoryStore
from mnemos.integrations.strands_sessions import MnemosSessionRepository


class Stub(Model):
    def update_config(self, **_: Any) -> None: ...

    def get_config(self) -> dict[str, Any]:
        return {}

    def structured_output(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    async def stream(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockStart": {"start": {}}}
        yield {"contentBlockDelta": {"delta": {"text": "Noted."}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn"}}


def open_agent(home: str) -> tuple[Agent, MnemosSessionRepository]:
    repository = MnemosSessionRepository(home)
    # This is the line that changes: the repository of the session manager.
    manager = RepositorySessionManager(session_id="chat-1", session_repository=repository)
    return Agent(model=Stub(), session_manager=manager, callback_handler=None, agent_id="planner"), repository


def main(home: str) -> None:
    agent, repository = open_agent(home)
    agent("We deploy on Tuesdays at 9, never on Fridays.")
    repository.close()
    agent, repository = open_agent(home)
    print(f"{len(agent.messages)} messages to continue from")
    repository.close()
    store = MnemosMemoryStore(home)
    print(asyncio.run(store.search("Which day is the deploy?"))[0].content)
    asyncio.run(store.close())


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        main(place)
