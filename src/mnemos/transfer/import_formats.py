"""Formats that can be imported: the readers, where programs keep their files, and what a file is."""

from __future__ import annotations

import codecs
import json
import os
import re
import tarfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile, ZipFile

from mnemos.errors import InvalidInput, NotFound
from mnemos.files import zstd
from mnemos.settings import Settings, hermes_home
from mnemos.transfer.chat_exports import chosen_in
from mnemos.transfer.foreign_files import decoded, is_file, is_folder, is_there
from mnemos.transfer.reader import Reader

_HEAD: Final = 1 << 16
# Lines that are looked at: a transcript may begin with some that tell nothing.
_LINES: Final = 20
# Files of a folder that are looked at, how many it may have before, and how deep.
_FILES: Final = 20
_ENTRIES: Final = 2_000
_DEEPEST: Final = 5
_SQLITE: Final = b"SQLite format 3\0"
_APPLICATION: Final = slice(68, 72)
_ZIP: Final = b"PK"
_GZIP: Final = b"\x1f\x8b"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_ARCHIVE: Final = "mnemos archive"
_MANIFEST: Final = "manifest.json"
_ENVELOPES: Final = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
_ITEMS: Final = frozenset({"reasoning", "function_call", "function_call_output", "local_shell_call"})
# By which key a conversation is known that does not end in what is looked at. A quote within a text has a
# backslash before it.
_KEYS: Final = re.compile(
    rb'(?<!\\)"(mapping|chat_messages|messages|sessionId|leafUuid|role|payload)(?<!\\)"\s*:'
)
_BY_KEY: Final = {
    b"mapping": "chatgpt",
    b"chat_messages": "claude",
    b"messages": "jsonl",
    b"role": "jsonl",
    b"sessionId": "claude-code",
    b"leafUuid": "claude-code",
    b"payload": "codex",
}
# Where programs keep their files, within the folder that is theirs.
_PLACES: Final = (("state.db", "hermes"), ("projects", "claude-code"), ("sessions", "codex"))
_ODD: Final = (OSError, ValueError, InvalidInput, BadZipFile, RuntimeError, EOFError, zlib.error)
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


def detect_kind(path: Path) -> str | None:
    """How it is imported: the kind of a reader, "archive", "hermes-memory", or None for anything else.

    Whatever the file or folder is, nothing is raised.
    """
    try:
        return _detect_folder(path) if is_folder(path) else _detect_file(path)
    except _ODD:
        return None


def _detect_folder(path: Path) -> str | None:
    if _is_manifest(path / _MANIFEST):
        return "archive"
    for name, kind in _PLACES:
        place = path / name
        if is_file(place) and detect_kind(place) == kind:
            return kind
        if is_folder(place) and any(detect_kind(file) == kind for file in _files_below(place, ".jsonl")):
            return kind
    for ending in (".json", ".jsonl", ".zip", ".db"):
        for file in _files_below(path, ending):
            kind_here = detect_kind(file)
            if kind_here:
                return kind_here
    return None


def _detect_file(path: Path) -> str | None:
    if not is_file(path):
        # A pipe or a device has no end, and reading it takes away from it.
        return None
    with path.open("rb") as file:
        head = file.read(_HEAD)
    if head.startswith(_SQLITE):
        return _detect_database(head)
    if head.startswith(_ZIP):
        return _detect_zip(path)
    if head.startswith((_GZIP, _ZSTD)):
        head = _unpacked(head)
        return "archive" if _is_tar(head) else None
    return "archive" if _is_tar(head) else _detect_text(head)


def _detect_text(head: bytes) -> str | None:
    """Of JSON: an export, or lines."""
    text = head.removeprefix(codecs.BOM_UTF8).lstrip()
    if text.startswith(b"["):
        found = _KEYS.search(text)
        kind = _BY_KEY[found.group(1)] if found else None
        return kind if kind in ("chatgpt", "claude") else None
    if not text.startswith(b"{"):
        return None
    lines = text.split(b"\n")
    for line in islice((line for line in lines if line.strip()), _LINES):
        try:
            found_here = decoded(line)
        except ValueError:
            continue
        kind = _detect_line(found_here) if isinstance(found_here, dict) else None
        if kind:
            return kind
    if len(head) < _HEAD and len(lines) > 1:
        kind = _detect_whole(text)
        if kind:
            return kind
    # A conversation, or a first line, that is longer than what is looked at.
    found = _KEYS.search(text)
    return _BY_KEY[found.group(1)] if found else None


def _detect_whole(text: bytes) -> str | None:
    try:
        found = decoded(text)
    except ValueError:
        return None
    return _detect_line(found) if isinstance(found, dict) else None


def _detect_line(found: dict[str, Any]) -> str | None:
    kind = found.get("type")
    if isinstance(found.get("mapping"), dict):
        return "chatgpt"
    if isinstance(found.get("chat_messages"), list):
        return "claude"
    if isinstance(found.get("conversations"), list):
        return next((_detect_line(one) for one in found["conversations"][:1] if isinstance(one, dict)), None)
    if "payload" in found and isinstance(kind, str) and kind in _ENVELOPES:
        return "codex"
    if found.get("record_type") == "state" or {"id", "timestamp", "instructions"} <= found.keys():
        return "codex"
    if isinstance(kind, str) and (kind in _ITEMS or (kind == "message" and "role" in found)):
        return "codex"
    if isinstance(kind, str) and found.keys() & {"sessionId", "leafUuid", "parentUuid"}:
        return "claude-code"
    body = found.get("body")
    listed = found.get("messages", body.get("messages") if isinstance(body, dict) else None)
    if isinstance(listed, list) or isinstance(found.get("role"), str):
        return "jsonl"
    return None


def _detect_database(head: bytes) -> str | None:
    """By its schema, which stands at its beginning."""
    if any(head[_APPLICATION]):
        # It says itself what it is; a home of ours does, and has tables of the same names.
        return None
    if b"parent_session_id" in head and b"tool_call_id" in head and b"sessions" in head:
        return "hermes"
    if b"superseded_by" in head and b"scope_id" in head and b"facts" in head:
        return "hermes-memory"
    return None


def _detect_zip(path: Path) -> str | None:
    with ZipFile(path) as archive, archive.open(chosen_in(path, archive)[0]) as stream:
        return _detect_text(stream.read(_HEAD))


def _unpacked(head: bytes) -> bytes:
    """The first bytes of a compressed file."""
    if head.startswith(_GZIP):
        return zlib.decompressobj(wbits=31).decompress(head, 2 * tarfile.BLOCKSIZE)
    try:
        unpacked: bytes = zstd().ZstdDecompressor().decompress(head, 2 * tarfile.BLOCKSIZE)
    except zstd().ZstdError:
        return b""
    return unpacked


def _is_tar(head: bytes) -> bool:
    """Whether it is a tar that begins with a manifest of ours."""
    if len(head) < tarfile.BLOCKSIZE or head[257:262] != b"ustar":
        return False
    try:
        first = tarfile.TarInfo.frombuf(head[: tarfile.BLOCKSIZE], "utf-8", "replace")
    except tarfile.HeaderError:
        return False
    return first.name == _MANIFEST and _ARCHIVE.encode() in head


def _is_manifest(path: Path) -> bool:
    if not is_file(path):
        return False
    with path.open("rb") as file:
        head = file.read(_HEAD)
    return f'"kind":{json.dumps(_ARCHIVE)}'.encode() in head.replace(b'": "', b'":"')


def _files_below(path: Path, ending: str) -> Iterator[Path]:
    """Some files with that ending, those of a folder before those below it."""
    return islice((file for file in islice(_walk(path, 0), _ENTRIES) if file.name.endswith(ending)), _FILES)


def _walk(path: Path, depth: int) -> Iterator[Path]:
    try:
        entries = sorted(islice(path.iterdir(), _ENTRIES))
    except OSError:
        return
    folders = []
    for entry in entries:
        if is_folder(entry) and not entry.is_symlink():
            folders.append(entry)
        else:
            yield entry
    if depth < _DEEPEST:
        for folder in folders:
            yield from _walk(folder, depth + 1)


@dataclass(frozen=True, slots=True)
class InstalledFiles:
    """Files of a program on this machine."""

    kind: str
    title: str
    path: Path
    files: int
    bytes: int


def load_reader(kind: str) -> Reader:
    reader: Reader = import_module(f"mnemos.transfer.readers.{_MODULES[kind]}").READER
    return reader


def default_path(kind: str, settings: Settings) -> Path:
    """Where a program keeps its files; one whose exports may lie anywhere raises InvalidInput."""
    if kind == "claude-code":
        return Path(settings.claude_dir).expanduser() / "projects"
    if kind == "codex":
        return Path(settings.codex_dir).expanduser()
    if kind == "hermes":
        return hermes_home() / "state.db"
    raise InvalidInput(f"name the file to import: `mnemos import {kind} PATH`")


def find_installed(settings: Settings) -> Iterator[InstalledFiles]:
    """What there is on this machine: at the usual places, and of exports the newest among the downloads."""
    for kind in ("claude-code", "codex", "hermes"):
        reader, path = load_reader(kind), default_path(kind, settings)
        # What is not there is told like what cannot be looked at: not at all.
        sources = list(reader.find(path, lambda *_: None))
        if sources:
            yield InstalledFiles(
                kind, reader.title, path, len(sources), sum(source.size for source in sources)
            )
    yield from _find_downloads(Path(_DOWNLOADS).expanduser())


def _find_downloads(folder: Path) -> Iterator[InstalledFiles]:
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
        kind = detect_kind(path)
        if kind in ("chatgpt", "claude") and kind not in known:
            known.add(kind)
            yield InstalledFiles(kind, load_reader(kind).title, path, 1, size)


def choose_path(kind: str, named: Path | None, settings: Settings) -> Path:
    """The path that is meant; where none was named and nothing is there, NotFound says what to do."""
    path = named or default_path(kind, settings)
    if named is None and not is_there(path):
        title = load_reader(kind).title
        raise NotFound(
            f"there is no {path}, where {title} keeps its conversations; name another place with "
            f"`mnemos import {kind} PATH`"
        )
    return path
