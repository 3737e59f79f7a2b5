"""The interface of mem0: the same calls to mem0 itself, with stubs for its models, and to ours."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock, patch

import pytest

import mnemos
from mnemos.integrations.mem0 import AsyncMemory, Memory

FILTERS = {"user_id": "ada"}


class Embedder:
    """Vectors made of the words of a text, so that texts with a word in common are similar."""

    config = MagicMock(embedding_dims=64)

    def embed(self, text: str, *_: Any) -> list[float]:
        vector = [0.01] * 64
        for word in text.lower().split():
            vector[hashlib.md5(word.encode()).digest()[0] % 64] += 1.0
        return vector

    def embed_batch(self, texts: list[str], *_: Any) -> list[list[float]]:
        return [self.embed(text) for text in texts]


@pytest.fixture(params=["mem0", "mnemos"])
def memory(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("MEM0_TELEMETRY", "False")
    monkeypatch.setenv("MEM0_DIR", str(tmp_path / "mem0"))
    monkeypatch.setenv("MNEMOS_HOME", str(tmp_path / "home"))
    if request.param == "mnemos":
        with Memory() as ours:
            yield ours
        return
    import mem0.memory.main as upstream

    stubs = (
        patch.object(upstream.EmbedderFactory, "create", return_value=Embedder()),
        patch.object(upstream.LlmFactory, "create", return_value=MagicMock()),
    )
    with stubs[0], stubs[1]:
        yield upstream.Memory.from_config(
            {
                "vector_store": {
                    "provider": "qdrant",
                    "config": {"path": str(tmp_path / "q"), "embedding_model_dims": 64, "on_disk": True},
                },
                "history_db_path": str(tmp_path / "history.db"),
            }
        )


def add(memory: Any, text: str, **about: Any) -> str:
    done = memory.add(text, infer=False, **({"user_id": "ada"} | about))
    return str(done["results"][0]["id"])


def test_an_addition_says_what_was_added(memory: Any) -> None:
    messages = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Parrots live in Porto", "name": "ada"},
        {"role": "assistant", "content": "Noted."},
    ]
    done = memory.add(messages, user_id="ada", infer=False)["results"]
    assert [(one["memory"], one["event"], one["actor_id"], one["role"]) for one in done] == [
        ("Parrots live in Porto", "ADD", "ada", "user"),
        ("Noted.", "ADD", None, "assistant"),
    ]


def test_a_memory_has_the_same_fields(memory: Any) -> None:
    memory_id = add(memory, "Parrots live in Porto", agent_id="bird", metadata={"topic": "birds"})
    found = memory.get(memory_id)
    kept = {name: found[name] for name in ("id", "memory", "hash", "user_id", "agent_id", "role", "metadata")}
    assert kept == {
        "id": memory_id,
        "memory": "Parrots live in Porto",
        "hash": hashlib.md5(b"Parrots live in Porto").hexdigest(),
        "user_id": "ada",
        "agent_id": "bird",
        "role": "user",
        "metadata": {"topic": "birds"},
    }
    assert memory.get("00000000-0000-0000-0000-000000000000") is None


def test_a_search_finds_memories_of_the_ids_alone(memory: Any) -> None:
    add(memory, "Parrots live in Porto")
    add(memory, "Parrots live in Oslo", user_id="bob")
    found = memory.search("Where do parrots live", filters=FILTERS)["results"]
    assert [one["memory"] for one in found] == ["Parrots live in Porto"]
    assert found[0]["score"] >= 0.1


def test_ids_belong_into_filters(memory: Any) -> None:
    for call in (lambda: memory.search("x", user_id="ada"), lambda: memory.get_all(user_id="ada")):
        with pytest.raises(ValueError):
            call()
    for call in (lambda: memory.search("x"), lambda: memory.get_all(), lambda: memory.delete_all()):
        with pytest.raises(ValueError):
            call()


def test_memories_are_listed_by_ids_and_metadata(memory: Any) -> None:
    for number in range(3):
        add(memory, f"Turn {number}", run_id="r", metadata={"topic": f"t{number}"})
    every = memory.get_all(filters={"run_id": "r"})["results"]
    assert sorted(one["memory"] for one in every) == ["Turn 0", "Turn 1", "Turn 2"]
    one = memory.get_all(filters={"run_id": "r", "topic": "t1"})["results"]
    assert [found["memory"] for found in one] == ["Turn 1"]
    assert len(memory.get_all(filters={"run_id": "r"}, top_k=2)["results"]) == 2


def test_an_update_keeps_the_id_and_a_history(memory: Any) -> None:
    memory_id = add(memory, "Parrots live in Porto")
    assert memory.update(memory_id, "Parrots live in Oslo") == {"message": "Memory updated successfully!"}
    assert memory.get(memory_id)["memory"] == "Parrots live in Oslo"
    assert memory.delete(memory_id) == {"message": "Memory deleted successfully!"}
    assert memory.get(memory_id) is None
    changes = memory.history(memory_id)
    assert [(one["event"], one["old_memory"], one["new_memory"]) for one in changes] == [
        ("ADD", None, "Parrots live in Porto"),
        ("UPDATE", "Parrots live in Porto", "Parrots live in Oslo"),
        ("DELETE", "Parrots live in Oslo", None),
    ]
    with pytest.raises(ValueError, match="not found"):
        memory.delete(memory_id)


def test_an_expired_memory_is_not_found(memory: Any) -> None:
    add(memory, "Parrots live in Porto", expiration_date="2020-01-01")
    assert memory.get_all(filters=FILTERS)["results"] == []
    assert len(memory.get_all(filters=FILTERS, show_expired=True)["results"]) == 1


def test_all_memories_of_an_id_are_deleted(memory: Any) -> None:
    add(memory, "Turn 1")
    add(memory, "Turn 2", user_id="bob")
    assert memory.delete_all(user_id="ada") == {"message": "Memories deleted successfully!"}
    assert memory.get_all(filters=FILTERS)["results"] == []
    assert len(memory.get_all(filters={"user_id": "bob"})["results"]) == 1
    memory.reset()
    assert memory.get_all(filters={"user_id": "bob"})["results"] == []


def test_statements_are_inferred_without_a_model_and_updated(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        memory.add([{"role": "user", "content": "I live in Berlin"}], user_id="ada")
        done = memory.add("I moved to Hamburg last week", user_id="ada")["results"]
        assert [(one["event"], one["previous_memory"]) for one in done] == [("UPDATE", "I live in Berlin")]
        for said in ("Where do I live?", "thanks!"):
            assert memory.add(said, user_id="ada") == {"results": []}
        assert [one["memory"] for one in memory.get_all(filters=FILTERS)["results"]] == [
            "I moved to Hamburg last week"
        ]


def test_what_only_mem0_can_do_is_refused(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        for wanted in ({"rerank": True}, {"explain": True}, {"reference_date": "2026-01-01"}):
            with pytest.raises(ValueError, match="Mnemos does without"):
                memory.search("x", filters=FILTERS, **wanted)
        with pytest.raises(ValueError, match="'icontains' is not supported"):
            memory.get_all(filters={"user_id": "ada", "topic": {"icontains": "b"}})


def test_recall_finds_a_memory(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        add(memory, "The parrot lives in Porto")
    with mnemos.open(tmp_path) as opened:
        opened.entries.settle()
        assert "Porto" in opened.recall("Where does the parrot live?", user_id="ada").text


def test_async_calls_do_the_same(tmp_path: Path) -> None:
    async def check() -> None:
        async with AsyncMemory(tmp_path) as memory:
            await asyncio.gather(*(memory.add(f"Turn {n}", user_id="ada", infer=False) for n in range(20)))
            found = await memory.get_all(filters=FILTERS, top_k=50)
            assert len(found["results"]) == 20

    asyncio.run(check())
