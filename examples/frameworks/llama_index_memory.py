"""A chat continues from its store, and the memory of another chat knows what was said.

    pip install 'mnemos[llama-index]'
    python examples/frameworks/llama_index_memory.py

Offline: no model is needed.
"""

from __future__ import annotations

import asyncio
import tempfile

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import Memory

from mnemos.integrations.llama_index import MnemosMemoryBlock
from mnemos.integrations.llama_index_store import MnemosChatStore


async def main(home: str) -> None:
    store, block = MnemosChatStore(home), MnemosMemoryBlock(home, record=False)
    # This is the line that changes: a chat store.
    first = Memory.from_defaults(session_id="chat-1", chat_store=store)
    await first.aput(ChatMessage(role="user", content="We deploy on Tuesdays at 9, never on Fridays."))
    again = Memory.from_defaults(session_id="chat-1", chat_store=MnemosChatStore(home))
    print(f"{len(await again.aget())} message to continue from")
    other = Memory.from_defaults(session_id="chat-2", chat_store=store, memory_blocks=[block])
    await other.aput(ChatMessage(role="user", content="Which day is the deploy?"))
    print((await other.aget())[0].content)
    await block.close()
    await store.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        asyncio.run(main(place))
