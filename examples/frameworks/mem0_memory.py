"""A program written for mem0, with one import changed: no API key, no model, no vector database.

pip install mnemos
python examples/frameworks/mem0_memory.py
"""

from __future__ import annotations

import tempfile

# This is the line that changes: it was "from mem0 import Memory".
from mnemos.integrations.mem0 import Memory


def main(home: str) -> None:
    with Memory(home) as memory:
        memory.add("I live in Berlin", user_id="ada")
        memory.add("I love science fiction films", user_id="ada", metadata={"topic": "films"})
        for done in memory.add("I moved to Hamburg last week", user_id="ada")["results"]:
            print(f"{done['event']}: {done['memory']}")
        found = memory.search("Which town did I move to?", filters={"user_id": "ada"}, top_k=1)
        print([one["memory"] for one in found["results"]])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        main(place)
