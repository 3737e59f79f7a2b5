"""Import formats: detection by content, their readers, and default paths."""

from __future__ import annotations

import codecs
import os
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile, ZipFile

from mnemos.errors import InvalidInput, NotFound
from mnemos.files import open_regular
from mnemos.settings import Settings
from mnemos.transfer import agent_places
from mnemos.transfer.archive.archive_reader import CutOff, open_tar, read_members
from mnemos.transfer.archive.manifest import KIND, MANIFEST
from mnemos.transfer.chat_exports import choose_entries
from mnemos.transfer.foreign_files import decode_json, is_file, is_folder, path_exists
from mnemos.transfer.reader import Reader, load_reader

_HEAD: Final = 1 << 16
# Lines to examine: the first lines of a transcript may tell nothing.
_LINES: Final = 20
# Limits for a folder: files to open, entries to list, depth.
_FILES: Final = 20
_ENTRIES: Final = 2_000
_MAX_DEPTH: Final = 5
_SQLITE: Final = b"SQLite format 3\0"
_APPLICATION: Final = slice(68, 72)
_ZIP: Final = b"PK"
_GZIP: Final = b"\x1f\x8b"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_ENVELOPES: Final = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
_ITEMS: Final = frozenset({"reasoning", "function_call", "function_call_output", "local_shell_call"})
# Keys that tell the format of a file if its first record is too long to examine. A quote within text
# has a backslash before it.
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
# Files that are recognised by their names.
_NAMED: Final = {
    "opencode.db": "opencode",
    "sessions.db": "goose",
    "threads.db": "zed",
    "state.vscdb": "cursor",
}
_AIDER: Final = ".aider.chat.history.md"
_TASK: Final = "api_conversation_history.json"
# Files and folders inside a program's folder.
_PLACES: Final = (("state.db", "hermes"), ("projects", "claude-code"), ("sessions", "codex"))
_ODD: Final = (OSError, ValueError, InvalidInput, BadZipFile, RuntimeError, EOFError, zlib.error)
_DOWNLOADS: Final = "~/Downloads"
_MAX_DOWNLOADS: Final = 50


def detect_kind(path: Path) -> str | None:
    """Return a reader's kind, "archive" or "hermes-memory"; None for anything else.

    Only the beginning of files is read. Nothing is raised, whatever the file or folder is.
    """
    try:
        return _detect_folder(path) if is_folder(path) else _detect_file(path)
    except _ODD:
        return None


def _detect_folder(path: Path) -> str | None:
    if _is_manifest(path / MANIFEST):
        return "archive"
    for name, kind in _PLACES:
        place = path / name
        if is_file(place) and detect_kind(place) == kind:
            return kind
        if is_folder(place) and any(detect_kind(file) == kind for file in _files_below(place, ".jsonl")):
            return kind
    for ending in (".json", ".jsonl", ".zip", ".db", _AIDER):
        for file in _files_below(path, ending):
            kind_here = detect_kind(file)
            if kind_here:
                return kind_here
    return None


def _detect_file(path: Path) -> str | None:
    if not is_file(path):
        # Reading a pipe or a device may never end, and consumes its data.
        return None
    with open_regular(path) as file:
        head = file.read(_HEAD)
    if head.startswith(_SQLITE):
        return _NAMED.get(path.name) or _detect_database(head)
    if head.startswith(_ZIP):
        return _detect_zip(path)
    if head.startswith((_GZIP, _ZSTD)) or head[257:262] == b"ustar":
        return "archive" if _is_archive(path) else None
    if path.name == _AIDER:
        return "aider"
    if path.name == _TASK:
        return "roo" if "roo-cline" in str(path.parent) else "cline"
    return _detect_text(head)


def _detect_text(head: bytes) -> str | None:
    """Detect JSON: an export, or lines."""
    text = head.removeprefix(codecs.BOM_UTF8).lstrip()
    if text.startswith(b"["):
        found = _KEYS.search(text)
        kind = _BY_KEY[found.group(1)] if found else None
        return kind if kind in ("chatgpt", "claude") else None
    if not text.startswith(b"{"):
        return None
    lines = islice((line for line in text.split(b"\n") if line.strip()), _LINES)
    # Also try the whole text, which may be one object on several lines.
    for record in (*lines, text):
        try:
            kind = _detect_record(decode_json(record))
        except ValueError:
            continue
        if kind:
            return kind
    # The first record is too long to examine.
    found = _KEYS.search(text)
    return _BY_KEY[found.group(1)] if found else None


def _detect_record(found: Any) -> str | None:
    if not isinstance(found, dict):
        return None
    kind, message = found.get("type"), found.get("message")
    if isinstance(found.get("projectHash"), str):
        return "gemini"
    if "systemPayload" in found or (isinstance(message, dict) and "parts" in message):
        return "qwen"
    if isinstance(found.get("requests"), list) or (kind is None and isinstance(found.get("v"), dict)):
        session = found.get("v", found)
        return "copilot" if isinstance(session.get("requests"), list) and "sessionId" in session else None
    if isinstance(found.get("sessionId"), str) and isinstance(found.get("history"), list):
        return "continue"
    if isinstance(found.get("sessionId"), str) and isinstance(found.get("messages"), list):
        return "cline"
    if isinstance(found.get("mapping"), dict):
        return "chatgpt"
    if isinstance(found.get("chat_messages"), list):
        return "claude"
    if isinstance(found.get("conversations"), list):
        return next(map(_detect_record, found["conversations"]), None)
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
    """Detect a database by the schema at its beginning."""
    if any(head[_APPLICATION]):
        # It has an application id, like our own databases, which have tables of the same names.
        return None
    if b"parent_session_id" in head and b"tool_call_id" in head and b"sessions" in head:
        return "hermes"
    if b"superseded_by" in head and b"scope_id" in head and b"facts" in head:
        return "hermes-memory"
    return None


def _detect_zip(path: Path) -> str | None:
    with ZipFile(path) as archive, archive.open(choose_entries(path, archive)[0]) as stream:
        return _detect_text(stream.read(_HEAD))


def _is_archive(path: Path) -> bool:
    """True if it is a tar that begins with our manifest."""
    try:
        with open_tar(path) as stream:
            first = next(read_members(stream), None)
            return first is not None and first.name == MANIFEST and _has_kind(next(first.chunks(), b""))
    except CutOff:
        return False


def _is_manifest(path: Path) -> bool:
    if not is_file(path):
        return False
    with open_regular(path) as file:
        return _has_kind(file.read(_HEAD))


def _has_kind(manifest: bytes) -> bool:
    return f'"kind":"{KIND}"'.encode() in manifest.replace(b'": "', b'":"')


def _files_below(path: Path, ending: str) -> Iterator[Path]:
    """Yield some files with a suffix, a folder's own before its subfolders'."""
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
    if depth < _MAX_DEPTH:
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


def find_installed(settings: Settings) -> Iterator[InstalledFiles]:
    """Yield what can be imported here: default places and the newest downloads."""
    for kind in agent_places.KINDS:
        places = [path for path in agent_places.find_default_places(kind, settings) if path.exists()]
        if not places:
            continue
        reader = load_at(kind, places)
        # Ignore unreadable files here.
        sizes = [source.size for source in reader.find(places[0], lambda *_: None)]
        if sizes:
            yield InstalledFiles(kind, reader.title, places[0], len(sizes), sum(sizes))
    yield from _find_downloads(Path(_DOWNLOADS).expanduser())


def load_at(kind: str, places: Sequence[Path]) -> Reader:
    """Return a reader of several places, which ignores the path it is given."""
    reader = load_reader(kind)
    if len(places) == 1:
        return reader
    return replace(
        reader, find=lambda _, on_problem: chain.from_iterable(reader.find(one, on_problem) for one in places)
    )


def _find_downloads(folder: Path) -> Iterator[InstalledFiles]:
    """Yield each service's newest export. Only opens zips and conversations.json."""
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
    for _, size, path in sorted(files, reverse=True)[:_MAX_DOWNLOADS]:
        kind = detect_kind(path)
        if kind in ("chatgpt", "claude") and kind not in known:
            known.add(kind)
            yield InstalledFiles(kind, load_reader(kind).title, path, 1, size)


def choose_source(kind: str, named: Path | None, settings: Settings) -> tuple[Reader, Path]:
    """Return a reader and the path to read: given, or the program's own.

    InvalidInput if its files may be anywhere, NotFound if they are not in their place.
    """
    if named is not None:
        return load_reader(kind), named
    places = agent_places.find_default_places(kind, settings)
    if not places:
        raise InvalidInput(f"Pass the file to import: `mnemos import {kind} PATH`.")
    there = [path for path in places if path_exists(path)]
    if not there:
        title = load_reader(kind).title
        raise NotFound(
            f"{places[0]}, where {title} keeps its conversations, does not exist. Pass another path: "
            f"`mnemos import {kind} PATH`."
        )
    return load_at(kind, there), there[0]
