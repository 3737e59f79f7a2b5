"""Helpers that look at the items of readers."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mnemos.errors import InvalidInput
from mnemos.transfer.reader import (
    BEGINNING,
    Conversation,
    ImportedMessage,
    Item,
    Mark,
    Reader,
    Skipped,
    SourceFile,
    Unreadable,
)

DATA = Path(__file__).parents[2] / "data" / "imports"


def source_at(path: Path) -> SourceFile:
    found = path.stat()
    return SourceFile(path, found.st_size, found.st_mtime_ns)


def read_items(reader: Reader, path: Path, mark: Mark = BEGINNING) -> list[Item]:
    """Everything, from a mark that went through the ledger, which keeps JSON."""
    mark = replace(mark, state=json.loads(json.dumps(mark.state)))
    return list(reader.read(source_at(path), mark))


def messages(items: Iterable[Item]) -> list[ImportedMessage]:
    return [item for item in items if isinstance(item, ImportedMessage)]


def spoken(items: Iterable[Item]) -> list[tuple[str, Any]]:
    """Each message as its role and its content, or the names of the tools that it calls."""
    return [
        (
            said.fields["role"],
            said.fields.get("content")
            or [call["function"]["name"] for call in said.fields.get("tool_calls", [])],
        )
        for said in messages(items)
    ]


def left_out(items: Iterable[Item]) -> dict[str, int]:
    found: dict[str, int] = {}
    for item in items:
        if isinstance(item, Skipped):
            found[item.what] = found.get(item.what, 0) + item.count
    return found


def unread(items: Iterable[Item]) -> list[int]:
    return [item.line for item in items if isinstance(item, Unreadable)]


def conversations(items: Iterable[Item]) -> dict[str, Conversation]:
    """Return the last record of each."""
    return {item.id: item for item in items if isinstance(item, Conversation)}


def assert_resumes_everywhere(reader: Reader, path: Path) -> None:
    """Reading in two parts, up to a mark and from it, gives the same as reading at once."""
    whole = read_items(reader, path)
    marks = [number for number, item in enumerate(whole) if isinstance(item, Mark)]
    assert marks, "no mark was told"
    for number in marks:
        mark = whole[number]
        assert isinstance(mark, Mark)
        rest = read_items(reader, path, mark)
        assert messages(whole[:number]) + messages(rest) == messages(whole), mark
        assert {said.session_id for said in messages(rest)} <= conversations(rest).keys()


def assert_grows(reader: Reader, path: Path, tmp_path: Path) -> None:
    """A file that is read after each line that is added gives each message once, under the same key."""
    data = [line + b"\n" for line in path.read_bytes().split(b"\n")]
    growing = tmp_path / path.name
    growing.write_bytes(b"")
    mark, keys = BEGINNING, []
    for line in data:
        with growing.open("ab") as file:
            file.write(line)
        items = read_items(reader, growing, mark)
        keys += [said.key for said in messages(items)]
        assert isinstance(items[-1], Mark)
        mark = items[-1]
    assert len(keys) == len(set(keys))
    assert set(keys) == {said.key for said in messages(read_items(reader, growing))}


def assert_storable(items: Iterable[Item]) -> None:
    """Items that were read can be stored: known fields, valid times, valid names."""
    from mnemos.inputs import name, optional_name
    from mnemos.sessions.records import MESSAGE_FIELDS, new_message

    for item in items:
        if isinstance(item, ImportedMessage):
            assert item.fields.keys() <= MESSAGE_FIELDS
            assert isinstance(item.fields["timestamp"], float)
            name("session", item.session_id)
            new_message(item.fields, now=0.0, redact=lambda text: text, max_bytes=1 << 26, any_role=True)
        elif isinstance(item, Conversation):
            name("id", item.id)
            for value in (item.model, item.title, item.parent_id):
                optional_name("of the session", value)
        elif isinstance(item, Mark):
            json.dumps(item.state).encode()
        elif isinstance(item, Unreadable):
            assert len(item.why) < 400


def spoiled(data: bytes, seed: int) -> bytes:
    """A file with bytes changed, cut out, doubled or exchanged, so that much of it is still what it was."""
    chance = random.Random(seed)
    changed = bytearray(data)
    for _ in range(chance.randint(1, 12)):
        at = chance.randrange(len(changed) or 1)
        length = chance.choice((1, 1, 2, 9, 60))
        kind = chance.randrange(5)
        if kind == 0:
            changed[at : at + length] = chance.randbytes(length)
        elif kind == 1:
            del changed[at : at + length]
        elif kind == 2:
            changed[at:at] = changed[at : at + length]
        elif kind == 3:
            changed[at:at] = chance.choice((b"null", b"[", b"{}", b'"', b"\n", b"\\ud800", b"-1e400", b"\0"))
        else:
            # A value of another type, where there is a value.
            colon = changed.find(b":", at)
            end = changed.find(b",", colon)
            if 0 < colon < end:
                values = (b"null", b"7", b"[]", b'{"a":[1]}', b'"x"', b"true", b'[null,3,"t",{}]')
                changed[colon + 1 : end] = chance.choice(values)
    return bytes(changed)


def assert_survives(reader: Reader, path: Path) -> None:
    """Reading ends in what a reader may raise, or in items that can all be stored."""
    try:
        items = read_items(reader, path)
    except (InvalidInput, OSError):
        return
    if not items:
        pytest.fail("nothing was told, not even a mark")
    assert isinstance(items[-1], Mark)
    assert_storable(items)
