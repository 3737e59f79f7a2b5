"""Two threads of one graph share a store: a filter, a question, and an item that expires.

    pip install 'mnemos[langgraph]'
    python examples/frameworks/langgraph_memory.py

Offline: the nodes are functions, and the search needs no key.
"""

from __future__ import annotations

import tempfile
import time
from typing import Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.store.base import BaseStore

from mnemos.integrations.langgraph import MnemosStore

NOTES = ("ada", "notes")


class State(TypedDict, total=False):
    said: str
    asked: str
    found: list[str]


def remember(state: State, *, store: BaseStore) -> State:
    if said := state.get("said"):
        store.put(NOTES, said[:20], {"text": said, "words": len(said.split())})
    return {}


def answer(state: State, *, store: BaseStore) -> State:
    asked = state.get("asked")
    found = store.search(NOTES, query=asked, limit=1) if asked else []
    return {"found": [item.value["text"] for item in found]}


def main() -> None:
    graph: Any = StateGraph(State)
    graph.add_node(remember)
    graph.add_node(answer)
    graph.add_edge(START, "remember")
    graph.add_edge("remember", "answer")
    graph.add_edge("answer", END)
    with tempfile.TemporaryDirectory() as home:
        # This is the line that changes: a store in a memory.
        store = MnemosStore(home)
        agent = graph.compile(store=store)
        agent.invoke({"said": "We deploy on Tuesdays at 9, never on Fridays."})
        agent.invoke({"said": "The cat is fed."})
        print(agent.invoke({"asked": "when is the deploy?"})["found"])

        long = store.search(NOTES, filter={"words": {"$gt": 5}})
        print([item.value["text"] for item in long])
        store.put(NOTES, "soon gone", {"text": "For a moment."}, ttl=0.001)
        time.sleep(0.2)
        print(len(store.search(NOTES)), store.list_namespaces())
        store.close()


if __name__ == "__main__":
    main()
