"""One process talks and is killed. Another one, in a new session, has what was said in its prompt.

    pip install 'mnemos[openai-agents]'
    python examples/frameworks/openai_agents.py

Offline: the model is a script that comes with the SDK.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile

from agents import Agent, RunConfig, Runner
from agents.testing import ScriptedModel, assistant_message

from mnemos.integrations.openai_agents import MnemosSession, recall_filter


async def talk(home: str, session_id: str, message: str) -> str:
    """Run one turn and return the instructions that the model got."""
    model = ScriptedModel([[assistant_message("Understood.")]])
    agent = Agent(name="Planner", instructions="Help to plan.", model=model)
    # This is the line that changes: a session in a memory.
    session = MnemosSession(session_id, home)
    config = RunConfig(call_model_input_filter=recall_filter(session), tracing_disabled=True)
    await Runner.run(agent, message, session=session, run_config=config)
    await session.close()
    call = model.last_call
    return str(call.system_instructions) if call else ""


def main() -> None:
    if len(sys.argv) > 1:
        asyncio.run(talk(sys.argv[1], "monday", "We deploy on Tuesdays at 9, never on Fridays."))
        os.kill(os.getpid(), signal.SIGKILL)
    with tempfile.TemporaryDirectory() as home:
        first = subprocess.run([sys.executable, __file__, home], check=False)  # noqa: S603 - itself
        print(f"The first process was killed: {first.returncode == -signal.SIGKILL}")
        print(asyncio.run(talk(home, "wednesday", "When do we deploy?")))


if __name__ == "__main__":
    main()
