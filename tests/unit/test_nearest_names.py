"""A wrong name is answered with the nearest one that exists."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import mnemos
from mnemos import Memory
from mnemos.errors import InvalidInput, MnemosError, NotAllowed, NotFound, Unavailable
from mnemos.inputs import find_nearest, suggest
from mnemos.integrations.providers import discovery
from mnemos.recall.embedders import embedder
from mnemos.templates import SessionTemplate, TaskType, ToolCallExample

MISTAKES: dict[str, tuple[Callable[[Memory], Any], str]] = {
    "operation": (lambda m: m.call("recal"), "recall"),
    "argument": (lambda m: m.call("recall", {"qery": "x"}), "query"),
    "choice": (lambda m: m.call("remember", {"text": "x", "kind": "notes"}), "note"),
    "tool": (lambda m: m.tools(tools="sesions"), "sessions"),
    "tool format": (lambda m: m.tools("antropic"), "anthropic"),
    "kind": (lambda m: m.recall("x", kinds=["facts"]), "fact"),
    "setting": (lambda _: mnemos.open(":memory:", durabilty="full"), "durability"),
    "embedder": (lambda _: embedder("statik"), "static"),
    "backend": (lambda _: mnemos.open(":memory:", backend="lokal").backend, "local"),
    "tier": (lambda m: list(m.facts.iterate(tier="host")), "hot"),
    "state": (lambda m: list(m.facts.iterate(states=["lives"])), "live"),
    "scope": (lambda m: m.facts.search("x", scope="wbshop"), "webshop"),
    "stated_by": (lambda m: m.facts.write("V[a]: 1", stated_by="agents"), "agent"),
    "role": (lambda m: m.sessions.append_message("s", "asistant", "x"), "assistant"),
    "field": (lambda m: m.sessions.append_messages("s", [{"role": "user", "contnt": "x"}]), "content"),
    "sort": (lambda m: m.sessions.search_messages("x", sort="newst"), "newest"),
    "chat format": (lambda m: m.sessions.conversation("s", format="opnai"), "openai"),
    "template": (lambda m: m.templates.show("fix-test"), "fix-tests"),
    "template to forget": (lambda m: m.forget("template:fix-test"), "fix-tests"),
    "task type": (lambda m: m.templates.list_templates("reserch"), "research"),
    "file format": (lambda m: m.workspace.export("SELECT 1", "x.csv", "cvs"), "csv"),
    "notebook": (lambda m: m.notebook.add("x", target="usr"), "user"),
    "provider": (lambda _: discovery.load("shelff", Path("/nowhere")), ""),
}


@pytest.fixture
def memory() -> Memory:
    memory = mnemos.open(":memory:")
    memory.sessions.create_session("s", "test")
    memory.facts.write("V[a]: 1", scope="webshop")
    call = ToolCallExample(tool_name="run", arguments={}, result="ok", success=True, turn_number=1)
    memory.templates.save(SessionTemplate(name="fix-tests", task_type=TaskType.CODE, examples=[call]))
    return memory


@pytest.mark.parametrize("mistake", MISTAKES)
def test_the_error_names_the_nearest(mistake: str, memory: Memory) -> None:
    make, nearest = MISTAKES[mistake]
    with pytest.raises(MnemosError) as raised:
        make(memory)
    assert isinstance(raised.value, InvalidInput | NotFound)
    assert (f"Did you mean {nearest!r}?" in str(raised.value)) is bool(nearest)


@pytest.mark.parametrize(
    ("value", "nearest"),
    [("Recal", "recall"), (" NOTE ", "note"), ("zzz", None), ("", None), (7, None), ("r" * 10**6, None)],
)
def test_only_a_similar_name_is_suggested(value: object, nearest: str | None) -> None:
    assert find_nearest(value, ["recall", "note"]) == nearest
    assert bool(suggest(value, ["recall", "note"])) is (nearest is not None)


# --- URLs ----------------------------------------------------------------------------------------

URLS = {
    "http://127.0.0.1:8765": NotAllowed,
    "HTTPS://memory.example.com/x": NotAllowed,
    "postgresql://bob:s3cret@127.0.0.1:1/x": Unavailable,
    "postgres://127.0.0.1:1/x": Unavailable,
    "sqlite:///home/sam/memory.db": InvalidInput,
    "file:///home/sam": InvalidInput,
    "s3://bucket": InvalidInput,
}


@pytest.mark.parametrize("url", URLS)
@pytest.mark.parametrize("make", [str, Path])
def test_a_url_is_refused_and_makes_no_folder(
    url: str, make: type[str | Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    # A path turns // into /.
    with pytest.raises(URLS[url] if make is str else InvalidInput) as raised:
        mnemos.open(make(url))
    assert "s3cret" not in str(raised.value)
    monkeypatch.setenv("MNEMOS_HOME", url)
    with pytest.raises((InvalidInput, NotAllowed)):
        mnemos.open()
    monkeypatch.delenv("MNEMOS_HOME")
    with pytest.raises(InvalidInput):
        mnemos.SessionDB(make(url)).create_session("s")
    with mnemos.open(":memory:") as memory, pytest.raises(InvalidInput):
        memory.backup(make(url))
    # A database has a home, too: for settings and connections of this machine.
    assert [path.name for path in tmp_path.iterdir()] == ["home"] * (URLS[url] is Unavailable)


@pytest.mark.parametrize("name", ["c:home", "http", "a:b", "C:"])
def test_a_name_with_a_colon_is_a_folder(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    mnemos.open(name).close()
    assert (tmp_path / name / "mnemos.db").exists()
