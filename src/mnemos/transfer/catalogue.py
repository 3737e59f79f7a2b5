"""Which readers there are, and where the programs they know keep their files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Final

from mnemos.errors import InvalidInput, NotFound
from mnemos.settings import Settings, hermes_home
from mnemos.transfer.finding import is_file, is_there
from mnemos.transfer.model import Reader
from mnemos.transfer.sniffing import kind_of

# Nothing is imported before it is asked for.
_MODULES: Final = {
    "claude-code": "claude_code",
    "codex": "codex",
    "chatgpt": "chatgpt",
    "claude": "claude_ai",
    "hermes": "hermes_state",
    "jsonl": "openai_jsonl",
}
KINDS: Final = tuple(_MODULES)
_DOWNLOADS: Final = "~/Downloads"
_MOST_DOWNLOADS: Final = 50


@dataclass(frozen=True, slots=True)
class Found:
    """Files of a program on this machine."""

    kind: str
    title: str
    path: Path
    files: int
    bytes: int


def reader_of(kind: str) -> Reader:
    found: Reader = import_module(f"mnemos.transfer.readers.{_MODULES[kind]}").READER
    return found


def usual_path(kind: str, settings: Settings) -> Path:
    """Where a program keeps its files; one whose exports may lie anywhere raises InvalidInput."""
    if kind == "claude-code":
        return Path(settings.claude_dir).expanduser() / "projects"
    if kind == "codex":
        return Path(settings.codex_dir).expanduser()
    if kind == "hermes":
        return hermes_home() / "state.db"
    raise InvalidInput(f"name the file to import: `mnemos import {kind} PATH`")


def found(settings: Settings) -> Iterator[Found]:
    """What there is on this machine: at the usual places, and of exports the newest among the downloads."""
    for kind in ("claude-code", "codex", "hermes"):
        reader, path = reader_of(kind), usual_path(kind, settings)
        # What is not there is told like what cannot be looked at: not at all.
        sources = list(reader.find(path, lambda *_: None))
        if sources:
            yield Found(kind, reader.title, path, len(sources), sum(source.size for source in sources))
    yield from _downloaded(Path(_DOWNLOADS).expanduser())


def _downloaded(folder: Path) -> Iterator[Found]:
    """Of each chat service the newest export; only archives and files of that name are looked into."""
    try:
        with os.scandir(folder) as entries:
            files = [
                (entry.stat().st_mtime_ns, entry.stat().st_size, Path(entry.path))
                for entry in entries
                if entry.name.endswith((".zip", "conversations.json")) and is_file(Path(entry.path))
            ]
    except OSError:
        return
    known: set[str] = set()
    for _, size, path in sorted(files, reverse=True)[:_MOST_DOWNLOADS]:
        kind = kind_of(path)
        if kind in ("chatgpt", "claude") and kind not in known:
            known.add(kind)
            yield Found(kind, reader_of(kind).title, path, 1, size)


def path_for(kind: str, named: Path | None, settings: Settings) -> Path:
    """The path that is meant; where none was named and nothing is there, NotFound says what to do."""
    path = named or usual_path(kind, settings)
    if named is None and not is_there(path):
        title = reader_of(kind).title
        raise NotFound(
            f"there is no {path}, where {title} keeps its conversations; name another place with "
            f"`mnemos import {kind} PATH`"
        )
    return path
