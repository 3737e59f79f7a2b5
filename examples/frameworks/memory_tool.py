"""Claude's memory tool writes a file; the command line lists it and erases it.

    pip install 'mnemos[anthropic]'
    python examples/frameworks/memory_tool.py

Offline: the commands that Claude would send are sent here.
"""

from __future__ import annotations

import tempfile

import mnemos
from mnemos.integrations.anthropic_memory import MnemosMemoryTool


def main() -> None:
    with tempfile.TemporaryDirectory() as home, mnemos.open(home) as memory:
        # This is the line that changes: tools=[MnemosMemoryTool()].
        tool = MnemosMemoryTool(memory)
        text = "Deploys are on Tuesdays at 9.\nNever on Fridays.\n"
        print(tool.call({"command": "create", "path": "/memories/deploy.md", "file_text": text}))
        print(tool.call({"command": "view", "path": "/memories/deploy.md"}))

        found = memory.call("entries_find", {"namespace": ["default", "memory-tool"]})
        print(found["text"])
        memory.forget(found["entries"][0]["ref"])
        print(memory.call("entries_find", {"namespace": ["default", "memory-tool"]})["text"])


if __name__ == "__main__":
    main()
