"""The histories that adapters for agent frameworks share, and the memory they are opened on."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import mnemos
from mnemos.errors import InvalidInput
from mnemos.integrations.mem0 import Memory as Mem0
from mnemos.integrations.shared.history import History, copy_of, message_of, name_session
from mnemos.integrations.shared.memory_source import framework, open_source


def said(text: str) -> dict[str, Any]:
    return message_of({"role": "user", "content": text})


def run(work: Awaitable[Any]) -> Any:
    async def wait() -> Any:
        return await work

    return asyncio.run(wait())


def test_the_same_id_of_two_users_is_two_histories(tmp_path: Path) -> None:
    async def check() -> None:
        memory, _ = open_source(tmp_path)
        ada = History(memory, "chat", "openai-agents", user_id="ada")
        bob = History(memory, "chat", "openai-agents", user_id="bob")
        await ada.append([said("mine")])
        assert await bob.read() == []
        assert await bob.pop() is None
        await bob.append([said("his")])
        assert [one["content"][0]["content"] for one in await ada.read()] == ["mine"]
        await memory.close()

    run(check())


def test_an_id_does_not_open_a_session_of_another_program(tmp_path: Path) -> None:
    with mnemos.open(tmp_path) as memory:
        memory.sessions.create_session("cli-1", "cli")
        memory.sessions.append_message("cli-1", "user", "not for agents")
        assert run(History(open_source(memory)[0], "cli-1", "openai-agents").read()) == []


def test_no_two_lists_of_ids_have_the_same_session() -> None:
    lists = [("a/b", "c"), ("a", "b/c"), ("a", "b", "c"), ("a%2Fb", "c"), ("", "c"), ("c",), ("c", "")]
    assert len({name_session("x", *ids) for ids in lists}) == len(lists)


@pytest.mark.parametrize("off", [{"disabled": True}, {}])
def test_a_conversation_that_is_not_stored_is_kept_in_this_process(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, off: dict[str, bool]
) -> None:
    async def check() -> None:
        for text in ("one", "two"):
            # A web server makes these anew for each request.
            memory, _ = open_source(tmp_path, **off)
            history = History(memory, "s", "x", private=not off)
            await history.append([said(text)])
            await memory.close()
        assert [one["content"][0]["content"] for one in await history.read()] == ["one", "two"]
        assert (await history.pop() or {})["content"] == "two"
        await history.rewrite([said("three")])
        assert [one["content"][0]["content"] for one in await history.read(1)] == ["three"]
        await history.clear()
        assert await history.read() == []

    with caplog.at_level(logging.WARNING, "mnemos.integrations"):
        run(check())
    assert [one.name for one in caplog.records].count("mnemos.integrations") == 1
    with mnemos.open(tmp_path) as memory:
        assert memory.sessions.session_count() == 0


def test_settings_of_a_memory_that_is_open_are_refused_and_not_ignored(tmp_path: Path) -> None:
    with mnemos.open(tmp_path) as memory, pytest.raises(InvalidInput, match="redact"):
        open_source(memory, redact=False)


def test_something_that_is_not_a_memory_is_refused() -> None:
    with pytest.raises(InvalidInput, match="not int"):
        open_source(5)  # type: ignore[arg-type]


def test_an_id_that_is_not_text_is_refused() -> None:
    with pytest.raises(InvalidInput, match="must be a string, not 7"):
        name_session("x", None, 7)  # type: ignore[arg-type]


def test_an_adapter_without_its_framework_says_what_to_install() -> None:
    wanted = r"a_framework_that_is_missing.*pip install 'mnemos\[strands\]'"
    with pytest.raises(ModuleNotFoundError, match=wanted), framework("strands"):
        import_module("a_framework_that_is_missing")


def test_an_adapter_opens_nothing_before_its_first_call(tmp_path: Path) -> None:
    home = tmp_path / "home"
    memory = Mem0(home)
    assert not home.exists()
    memory.add("I live in Berlin", user_id="ada")
    assert home.exists()
    memory.close()


def test_a_copy_of_a_message_keeps_its_key_and_is_not_searched(tmp_path: Path) -> None:
    with mnemos.open(tmp_path) as memory:
        memory.sessions.create_session("s")
        memory.sessions.append_messages("s", [message_of({"role": "user", "content": "parrot"}, key="k")])
        [stored] = memory.sessions.get_messages("s")
        memory.sessions.rewrite("s", [copy_of(stored)])
        assert [one["key"] for one in memory.sessions.get_messages("s")] == ["k"]
        assert [hit["id"] for hit in memory.sessions.search_messages("parrot")] == [stored["id"]]
