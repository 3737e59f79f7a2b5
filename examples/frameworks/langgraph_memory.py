"""Two threads of an agent share a store: the second knows what the first decided. Then a filter and a TTL.

    pip install 'mnemos[langgraph,langchain]'
    python examples/frameworks/langgraph_memory.py

Offline: the model is a stub that calls its tools, and the search needs no key.
"""

from __future__ import annotations

import tempfile
import time
from typing import Annotated, Any

from langchain.agents import create_agent
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.prebuilt import InjectedStore
from langgraph.store.base import BaseStore

from mnemos.integrations.langgraph import MnemosStore

NOTES = ("ada", "notes")


@tool
def remember(text: str, store: Annotated[BaseStore, InjectedStore()]) -> str:
    """Remember a decision."""
    store.put(NOTES, text[:20], {"text": text, "words": len(text.split())})
    return "Remembered."


@tool
def look_up(question: str, store: Annotated[BaseStore, InjectedStore()]) -> str:
    """Look up what was decided."""
    found = store.search(NOTES, query=question, limit=1)
    return found[0].value["text"] if found else "Nothing is known about it."


class Stub(BaseChatModel):
    """Looks up questions, remembers everything else, and answers with what the tool says."""

    @property
    def _llm_type(self) -> str:
        return "stub"

    def bind_tools(self, tools: Any, **_: Any) -> Any:  # noqa: ARG002 - as LangChain has it
        return self

    def _generate(self, messages: list[Any], *_: Any, **__: Any) -> ChatResult:
        last = messages[-1]
        if isinstance(last, ToolMessage):
            answer = AIMessage(last.text)
        else:
            name, field = ("look_up", "question") if last.text.endswith("?") else ("remember", "text")
            answer = AIMessage("", tool_calls=[{"name": name, "args": {field: last.text}, "id": "1"}])
        return ChatResult(generations=[ChatGeneration(message=answer)])


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        # This is the line that changes: a store in a memory.
        store = MnemosStore(home)
        agent: Any = create_agent(Stub(), [remember, look_up], store=store)
        for thread, said in (
            ("1", "We deploy on Tuesdays at 9, never on Fridays."),
            ("1", "The cat is fed."),
            ("2", "When is the deploy?"),
        ):
            given = {"messages": [HumanMessage(said)]}
            answer = agent.invoke(given, {"configurable": {"thread_id": thread}})
            print(f"{said} -> {answer['messages'][-1].text}")

        long = store.search(NOTES, filter={"words": {"$gt": 5}})
        print(f"Longer than five words: {[item.value['text'] for item in long]}")
        store.put(NOTES, "soon gone", {"text": "For a moment."}, ttl=0.001)
        time.sleep(0.2)
        print(f"Left: {len(store.search(NOTES))} items in {store.list_namespaces()}")
        store.close()


if __name__ == "__main__":
    main()
