"""A user says something; the next session of this user has it in its prompt, that of another user has not.

The sessions are kept, too.

    pip install 'mnemos[google-adk]'
    python examples/frameworks/google_adk_memory.py

Offline: the model is a stub that answers with what it was asked.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncGenerator
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.tools.preload_memory_tool import PreloadMemoryTool
from google.genai.types import Content, Part

import mnemos
from mnemos.integrations.google_adk import MnemosMemoryService
from mnemos.integrations.google_adk_sessions import MnemosSessionService


class Stub(BaseLlm):
    async def generate_content_async(
        self,
        llm_request: LlmRequest,
        stream: bool = False,  # noqa: ARG002, FBT001, FBT002 - as ADK has it
    ) -> AsyncGenerator[LlmResponse, None]:
        parts = [part.text or "" for content in llm_request.contents for part in content.parts or ()]
        yield LlmResponse(content=Content(role="model", parts=[Part(text="\n".join(parts))]))


async def remember(callback_context: Any) -> None:
    await callback_context.add_session_to_memory()


async def say(memory: mnemos.Memory, user: str, text: str) -> str:
    agent = LlmAgent(
        name="planner",
        model=Stub(model="stub"),
        tools=[PreloadMemoryTool()],
        after_agent_callback=remember,
    )
    sessions = MnemosSessionService(memory)
    # This is the line that changes: a memory service, and a session service.
    service = MnemosMemoryService(memory)
    runner = Runner(app_name="shop", agent=agent, session_service=sessions, memory_service=service)
    session = await sessions.create_session(app_name="shop", user_id=user)
    message = Content(role="user", parts=[Part(text=text)])
    answer = ""
    async for event in runner.run_async(user_id=user, session_id=session.id, new_message=message):
        if event.content and event.content.parts:
            answer = event.content.parts[0].text or ""
    return answer


async def main(home: str) -> None:
    with mnemos.open(home) as memory:
        await say(memory, "ada", "We deploy on Tuesdays at 9, never on Fridays.")
        for user in ("ada", "bob"):
            asked = await say(memory, user, "Which day is the deploy?")
            print(f"{user} knows: {'Tuesdays at 9' in asked}")
        kept = await MnemosSessionService(memory).list_sessions(app_name="shop", user_id="ada")
        print(f"ada has {len(kept.sessions)} sessions")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        asyncio.run(main(place))
