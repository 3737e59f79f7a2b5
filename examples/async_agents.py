"""Three agents in one event loop that share a memory, offline.

    python examples/async_agents.py

Each agent keeps its own conversation while the others work. Afterwards a fourth one recalls what they found
out. The home is a temporary folder.
"""

from __future__ import annotations

import asyncio
import tempfile

import mnemos

FINDINGS = {
    "oven": ["How hot is the oven for rye bread?", "Rye bread bakes at 240 degrees, then at 180."],
    "till": ["Which till did we order?", "We ordered the till with the paper roll of 80 mm."],
    "van": ["When is the van inspected?", "The van is inspected every March."],
}


async def work(memory: mnemos.AsyncMemory, name: str) -> None:
    """Hold one conversation. Each message has its place because writes keep their order."""
    await memory.sessions.create_session(name, "example")
    question, finding = FINDINGS[name]
    await memory.sessions.append_message(name, "user", question)
    await memory.sessions.append_message(name, "assistant", finding)


async def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        async with mnemos.aopen(home) as memory:
            await asyncio.gather(*(work(memory, name) for name in FINDINGS))
            answers = await asyncio.gather(*(memory.recall(question) for question, _ in FINDINGS.values()))
            for (question, finding), answer in zip(FINDINGS.values(), answers, strict=True):
                found = any(finding == hit.text for hit in answer)
                print(f"{question} {finding if found else 'I do not know.'}")
            exported = [session["id"] async for session in memory.sessions.export_all()]
            print("kept:", ", ".join(sorted(exported)))


if __name__ == "__main__":
    asyncio.run(main())
