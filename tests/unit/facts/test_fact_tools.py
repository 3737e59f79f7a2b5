"""The tools of MEMORY_SPEC: the arguments that prompts use, and structured answers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mnemos import Memory
from mnemos.errors import InvalidInput, MnemosError, NotFound
from mnemos.language.notation import parse
from mnemos.operations.fact_lists import ExportFacts
from mnemos.testing import FixedClock
from mnemos.text.tokens import count_tokens

FOUND = {"id", "type", "target", "content", "scope", "tier", "at"}


@pytest.fixture
def told(memory: Memory) -> Memory:
    memory.call("memory_write", {"content": "V[srv.prod]: api.example.com:3005", "scope": "infra"})
    memory.call("memory_write", {"content": "V[srv.prod]: api.example.com:4000", "scope": "infra"})
    memory.call("memory_write", {"content": "C[db.id]: UUID mndtry\nD[auth]: JWT", "scope": "backend"})
    return memory


def test_a_write_answers_what_became_of_each_line(memory: Memory) -> None:
    content = "V[a]: 1\nV[a]: 1\nV[a]: 2\n~[a]: gone"
    answer = memory.call("memory_write", {"content": content, "scope": "one"})
    assert [fact["outcome"] for fact in answer["facts"]] == ["stored", "unchanged", "superseded", "retired"]
    assert all(fact["target"] == "a" for fact in answer["facts"])
    assert isinstance(answer["gauge"], int)
    assert (answer["closed"], answer["conflicts"]) == ([], [])
    for fact in answer["facts"]:
        assert fact["id"] in answer["text"]
    assert memory.call("memory_write", {"content": "✓[one]: done"})["closed"] == ["one"]


def test_a_write_names_what_left_hot(memory: Memory) -> None:
    left: list[str] = []
    for n in range(30):
        answer = memory.call("memory_write", {"content": f"V[t{n}]: a value of some length, number {n}"})
        left += [fact["id"] for fact in answer["left_hot"]]
        assert all(fact["id"] in answer["text"] for fact in answer["left_hot"])
    assert left


def test_searching_reflecting_and_exporting_answer_with_facts(told: Memory) -> None:
    for tool, asked in (
        ("memory_search", {"query": "which port does production use?"}),
        ("memory_reflect", {"topic": "srv.prod"}),
        ("memory_export", {}),
    ):
        answer = told.call(tool, asked)
        assert answer["facts"], tool
        for fact in answer["facts"]:
            assert fact.keys() >= FOUND, tool
            assert fact["at"].endswith("Z")
            assert fact["id"] in answer["text"] or tool == "memory_export"
        assert "srv.prod" in answer["text"]


def test_a_tick_answers_with_the_turn_the_gauge_and_what_closed(told: Memory) -> None:
    answer = told.call("memory_tick", {"turn": 3, "message": "backend is merged"})
    assert (answer["turn"], answer["closed"]) == (3, ["backend"])
    assert isinstance(answer["gauge"], int)
    assert "backend" in answer["text"]
    assert told.call("memory_tick", {"turn": 4, "message": "back to backend"})["reopened"] == ["backend"]


def test_the_status_is_the_block_as_text(told: Memory) -> None:
    answer = told.call("memory_status")
    assert "V[srv.prod]: api.example.com:4000" in answer["text"]
    assert answer["text"] == told.facts.status().text
    assert answer["tokens"] <= 180
    assert 0 < answer["gauge"] <= 100
    assert (answer["conflicts"], answer["rules"]) == ([], "")


def test_the_status_has_the_rules_and_the_legend_when_asked_for(told: Memory) -> None:
    answer = told.call("memory_status", {"rules": True})
    assert answer["text"].endswith(answer["block"])
    assert answer["block"] == told.facts.status().text
    for tool in ("memory_write", "memory_search", "memory_tick"):
        assert tool in answer["rules"]
    assert answer["rules"] in answer["text"]
    assert answer["text"].count(answer["legend"]) == 1
    assert count_tokens(answer["rules"]) <= 120


@pytest.mark.parametrize(
    ("tool", "asked"),
    [
        ("memory_write", {"content": "V[a]: b"}),
        ("memory_search", {"query": "x"}),
        ("memory_tick", {"turn": 1}),
        ("memory_status", {}),
        ("memory_reflect", {"topic": "x"}),
        ("memory_export", {}),
        ("memory_purge", {"older_than_days": 30}),
        ("memory_history", {"target": "auth"}),
        ("memory_forget", {"target": "auth"}),
    ],
)
def test_every_tool_takes_a_session(told: Memory, tool: str, asked: dict[str, Any]) -> None:
    answer = told.call(tool, asked | {"session_id": "mine"})
    assert isinstance(answer["text"], str)
    json.dumps(answer)


@pytest.mark.parametrize(
    ("tool", "asked"),
    [
        ("memory_write", {}),
        ("memory_write", {"content": 5}),
        ("memory_write", {"content": "a sentence"}),
        ("memory_write", {"content": "V[a]: b", "scope": 5}),
        ("memory_write", {"content": "V[a]: b", "session_id": ["x"]}),
        ("memory_write", {"content": "V[a]: b", "valid_from": "the other day, you know"}),
        ("memory_search", {"query": "x", "limit": -1}),
        ("memory_search", {"query": "x", "limit": 0}),
        ("memory_search", {"query": "x", "limit": 21}),
        ("memory_search", {"query": "x", "limit": "many"}),
        ("memory_search", {"query": ""}),
        ("memory_search", {"query": None}),
        ("memory_tick", {"turn": -1}),
        ("memory_tick", {"turn": "soon"}),
        ("memory_tick", {"turn": 1.5}),
        ("memory_tick", {}),
        ("memory_tick", {"turn": 1, "message": 5}),
        ("memory_export", {"status": "warm"}),
        ("memory_export", {"format": "yaml"}),
        ("memory_purge", {"older_than_days": -1}),
        ("memory_purge", {"older_than_days": "all"}),
        ("memory_purge", {}),
        ("memory_history", {"target": ""}),
        ("memory_history", {"target": "auth", "as_of": "sometime"}),
        ("memory_history", {"target": "auth", "limit": 0}),
        ("memory_forget", {}),
        ("facts_list", {"type": ["X"]}),
    ],
)
def test_arguments_of_the_wrong_kind_are_honest_errors(
    told: Memory, tool: str, asked: dict[str, Any]
) -> None:
    before = [fact.id for fact in told.facts.list(states=("live", "superseded", "retired"))]
    with pytest.raises(InvalidInput):
        told.call(tool, asked)
    assert [fact.id for fact in told.facts.list(states=("live", "superseded", "retired"))] == before


def test_an_export_can_be_written_again(told: Memory, clock: FixedClock) -> None:
    told.call("memory_write", {"content": "V[odd.one]: a: [b] `c` **d** \u2028 -> ! <x>"})
    text = told.call("memory_export")["text"]
    live = [" ".join(str(fact).split()) for fact in told.facts.list()]
    assert [str(one) for one in parse(text)] == live
    exact = ExportFacts().run(told).for_person()
    assert [str(one) for one in parse(exact)] == [str(fact) for fact in told.facts.list()]
    with Memory.at(":memory:", clock=clock, embedder="none") as other:
        other.call("memory_write", {"content": text})
        assert [str(fact) for fact in other.facts.list()] == live


def test_an_export_is_narrowed_to_a_scope_and_a_status(told: Memory) -> None:
    def targets(**asked: Any) -> list[str]:
        return [fact["target"] for fact in told.call("memory_export", asked)["facts"]]

    assert targets(scope="backend") == ["db.id", "auth"]
    assert targets(status="superseded") == ["srv.prod"]
    assert len(targets(status="everything")) == 4
    assert targets(status="cold") == []
    told.call("memory_write", {"content": "✓[backend]: done"})
    assert targets(status="cold") == ["db.id", "auth", "backend"]
    assert targets(status="hot") == targets(status="active") == ["srv.prod"]
    with pytest.raises(NotFound):
        targets(scope="unknown")


def test_an_export_as_json_and_as_markdown(told: Memory) -> None:
    told.call("memory_write", {"content": "V[x]: # heading\u2028## second | *bold* <b>", "scope": "a|b"})
    data = json.loads(told.call("memory_export", {"format": "json"})["text"])
    assert {fact["target"] for fact in data} == {"srv.prod", "db.id", "auth", "x"}
    page = told.call("memory_export", {"format": "markdown"})["text"]
    lines = page.splitlines()
    assert [line for line in lines if line.startswith("#")] == [
        "# Facts",
        *sorted(line for line in lines if line.startswith("## ")),
    ]
    assert sum(line.startswith("## ") for line in lines) == 3
    assert not any(line.lstrip().startswith(("# heading", "## second")) for line in lines)


def test_lists_scopes_and_conflicts_for_people(told: Memory, clock: FixedClock) -> None:
    before = clock()
    clock.advance(86_400)
    told.call("memory_write", {"content": "D[db.id]: serial", "scope": "backend"})
    listed = told.call("facts_list", {"status": "everything"})
    assert (listed["total"], len(listed["facts"])) == (5, 5)
    assert told.call("facts_list", {"limit": 1})["total"] == 4
    assert [fact["target"] for fact in told.call("facts_list", {"type": ["C"]})["facts"]] == ["db.id"]
    assert len(told.call("facts_list", {"as_of": before})["facts"]) == 3
    told.sessions.create_session("talk", source="cli")
    told.facts.write("V[said]: here", scope="backend", session_id="talk")
    assert [fact["target"] for fact in told.call("facts_list", {"said_in": "talk"})["facts"]] == ["said"]
    scopes = told.call("facts_scopes")["scopes"]
    assert [(scope["label"], scope["open"], scope["live"]) for scope in scopes] == [
        ("backend", True, 4),
        ("infra", True, 1),
    ]
    assert len(told.call("facts_conflicts")["conflicts"]) == 1


def test_a_failure_says_what_to_do(told: Memory) -> None:
    with pytest.raises(MnemosError) as failure:
        told.call("memory_search", {"query": "x", "scope": "infar"})
    assert failure.value.code == "not_found"
    assert "infar" in str(failure.value)
    assert "infra" in str(failure.value)
    with pytest.raises(MnemosError) as failure:
        told.call("memory_write", {"content": "D[a]: " + "x" * 500})
    assert failure.value.code == "too_large"
    assert "500" in str(failure.value)
