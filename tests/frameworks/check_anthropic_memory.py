"""The memory tool beside the SDK's own file tool: the same random commands, the same answers."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from anthropic.lib.tools import ToolError
from anthropic.lib.tools._beta_builtin_memory_tool import BetaLocalFilesystemMemoryTool

import mnemos
from frameworks.counted import watch
from mnemos.integrations.anthropic_memory import AsyncMnemosMemoryTool, MnemosMemoryTool

Counted = watch(MnemosMemoryTool, "view", "create", "str_replace", "insert", "delete", "rename")
COMMANDS = 10_000
_KINDS = ("view",) * 12 + ("create",) * 5 + ("str_replace", "insert", "insert", "insert", "delete", "rename")
_NAMES = ("a", "b.txt", "c", ".h", "dé", "日本.md")
_TEXTS = ("", "one", "one\ntwo\nthree", "x\n" * 8, "one one", "two\r\nthree\n", "🎉\n\n", "y" * 2_000)


def paths(choose: random.Random) -> str:
    depth = choose.choice((1, 2, 2, 3, 3))
    path = "/memories/" + "/".join(choose.choice(_NAMES) for _ in range(depth))
    return choose.choice(
        (path,) * 18 + (path + "/", "/memories", "/memories/", "/etc/passwd", "/memories/../x")
    )


def command(choose: random.Random, known: list[str]) -> dict[str, Any]:
    def path() -> str:
        return choose.choice(known) if known and choose.random() < 0.95 else paths(choose)

    kind = choose.choice(_KINDS)
    made: dict[str, Any] = {"command": kind, "path": path()}
    if kind == "view" and choose.random() < 0.5:
        made["view_range"] = [choose.randint(0, 4), choose.choice((-1, 2, 9))]
    elif kind == "create":
        made |= {"path": paths(choose), "file_text": choose.choice(_TEXTS)}
    elif kind == "str_replace":
        made |= {
            "old_str": choose.choice(("two", "three", "🎉", "one", "zzz")),
            "new_str": choose.choice(_TEXTS[:3]),
        }
    elif kind == "insert":
        made |= {
            "insert_line": choose.choice((0, 0, 0, 1, 2, 4, -1)),
            "insert_text": choose.choice(_TEXTS[1:4]),
        }
    elif kind == "rename":
        return {"command": kind, "old_path": path(), "new_path": paths(choose)}
    return made


def answer(tool: Any, fields: dict[str, Any]) -> tuple[bool, str]:
    try:
        return True, str(tool.call(fields))
    except ToolError as exc:
        return False, str(exc)


def test_random_commands_are_answered_like_the_sdk_s_own_tool(tmp_path: Path) -> None:
    choose = random.Random(7)
    theirs = BetaLocalFilesystemMemoryTool(str(tmp_path / "files"))
    counts = {True: 0, False: 0}
    with mnemos.open(tmp_path / "home") as memory:
        ours = Counted(memory)
        known: list[str] = []
        for number in range(COMMANDS):
            fields = command(choose, known[-12:])
            got = answer(ours, fields)
            if not got[0] and (" is below a file: " in got[1] or " into itself: " in got[1]):
                # The file tool fails with an error of the file system, half done.
                continue
            try:
                assert got == answer(theirs, fields), (number, fields)
            except OSError:
                assert not got[0], (number, fields)
            counts[got[0]] += 1
            if got[0] and fields["command"] == "create":
                known.append(fields["path"])
            elif not got[0] and fields.get("path") in known:
                known.remove(fields["path"])
    assert counts[True] > COMMANDS // 2, counts


def test_recall_finds_a_file_and_another_user_does_not(tmp_path: Path) -> None:
    with mnemos.open(tmp_path) as memory:
        Counted(memory).call(
            {"command": "create", "path": "/memories/a.md", "file_text": "The parrot lives in the garden."}
        )
        memory.entries.settle()
        assert "garden" in memory.recall("Where does the parrot live?").text
        other = Counted(memory, user_id="bob")
        with pytest.raises(ToolError):
            other.call({"command": "view", "path": "/memories/a.md"})


def test_the_async_tool_answers_the_same(tmp_path: Path) -> None:
    import asyncio

    async def check() -> None:
        tool = AsyncMnemosMemoryTool(tmp_path)
        fields = {"command": "create", "path": "/memories/a.md", "file_text": "hello"}
        assert await tool.call(fields) == "File created successfully at: /memories/a.md"
        assert "hello" in str(await tool.call({"command": "view", "path": "/memories/a.md"}))
        await tool.close()

    asyncio.run(check())


def test_a_folder_cannot_move_into_itself_and_a_file_has_nothing_below(tmp_path: Path) -> None:
    with mnemos.open(tmp_path) as memory:
        tool = Counted(memory)
        tool.call({"command": "create", "path": "/memories/a/b.md", "file_text": "x"})
        for refused in (
            {"command": "rename", "old_path": "/memories/a", "new_path": "/memories/a/c"},
            {"command": "create", "path": "/memories/a/b.md/c", "file_text": "x"},
        ):
            with pytest.raises(ToolError):
                tool.call(refused)
        assert "b.md" in str(tool.call({"command": "view", "path": "/memories"}))
