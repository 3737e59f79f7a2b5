"""A transcript is recorded, its machine is lost, and another one resumes it. Recall finds it, too.

    pip install 'mnemos[claude-agent-sdk]'
    python examples/frameworks/claude_sessions.py

Offline: the lines that Claude Code would write are written here.
"""

from __future__ import annotations

import asyncio
import tempfile
from typing import Any

import mnemos
from mnemos.integrations.claude_agent_sdk import MnemosSessionStore

SESSION = "5b0f6c1e-2f3a-4a54-9f0e-0d8f6f1b7a11"
KEY: Any = {"project_key": "-work-shop", "session_id": SESSION}


def line(number: int, role: str, text: str) -> Any:
    said = text if role == "user" else [{"type": "text", "text": text}]
    return {
        "type": role,
        "uuid": f"5b0f6c1e-2f3a-4a54-9f0e-00000000000{number}",
        "parentUuid": f"5b0f6c1e-2f3a-4a54-9f0e-00000000000{number - 1}" if number > 1 else None,
        "sessionId": SESSION,
        "timestamp": f"2026-01-01T10:00:0{number}.000Z",
        "message": {"role": role, "content": said},
    }


async def record(home: str) -> None:
    # This is the line that changes: ClaudeAgentOptions(session_store=MnemosSessionStore()).
    store = MnemosSessionStore(home)
    await store.append(KEY, [line(1, "user", "When do we deploy?")])
    await store.append(KEY, [line(2, "assistant", "On Tuesdays at 9, never on Fridays.")])
    await store.close()


async def resume(home: str) -> None:
    store = MnemosSessionStore(home)
    entries = await store.load(KEY)
    print(f"{len(entries or [])} lines to resume from")
    listed = await store.list_sessions(KEY["project_key"])
    print([one["session_id"] == SESSION for one in listed])
    await store.close()


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        asyncio.run(record(home))
        asyncio.run(resume(home))
        with mnemos.open(home) as memory:
            print(memory.recall("which day is the deploy").hits[0].text)


if __name__ == "__main__":
    main()
