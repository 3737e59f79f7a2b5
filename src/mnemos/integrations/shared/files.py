"""Files that a model writes below ``/memories``: entries of the memory.

A file is an entry of the namespace ``(user, "memory-tool")``: its key is the path, its value the text. A
folder is an entry, too, so that it can be empty. Failures raise ``FileProblem`` with the text for the model.
Several processes may work on the same files. A change only replaces what it was made from, and otherwise is
repeated. A new file is a change of the folders above it. Up to 50 files are renamed or deleted in one
transaction. More take several, with the folder last, so that repeating the command finishes what a crash
interrupted.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import wraps
from typing import Final

from mnemos.entries.backend import MemoryEntry, NewEntry
from mnemos.entries.entry_namespaces import USUAL_USER
from mnemos.entries.entry_store import MAX_FOUND
from mnemos.errors import Conflict
from mnemos.memory import Memory

ROOT: Final = "/memories"
LABEL: Final = "memory-tool"
_FOLDER: Final = {"folder": True}
_MOST_LINES: Final = 999_999
# Moving a file takes about half a millisecond, and transactions should take at most 50.
_AT_ONCE: Final = 50
_TRIES: Final = 100
Expected = Mapping[str, MemoryEntry | None]
"""Entries that were read, by path; None for no entry."""


class FileProblem(Exception):
    """The reason why a command failed, worded for the model."""


def _repeat_on_conflict(command: Callable[..., str]) -> Callable[..., str]:
    """Return a command that is repeated if another writer was faster."""

    @wraps(command)
    def run(*args: object) -> str:
        for _ in range(_TRIES):
            with suppress(Conflict):
                return command(*args)
        raise FileProblem("Other programs are changing these files all the time. Try again later.")

    return run


class MemoryFiles:
    """The files of one user."""

    def __init__(self, memory: Memory, user_id: str = USUAL_USER) -> None:
        self._memory = memory
        self._namespace = (user_id, LABEL)

    def view(self, path: str, view_range: Sequence[int] | None = None) -> str:
        name = _check_path(path)
        if name == ROOT or ((entry := self._get(name)) and entry.value == _FOLDER):
            return self._list(path, name)
        lines = str(self._open(path).value).split("\n")
        if len(lines) > _MOST_LINES:
            raise FileProblem(f"File {path} exceeds maximum line limit of 999,999 lines.")
        first = 0
        if view_range and len(view_range) == 2:
            first = max(1, view_range[0]) - 1
            lines = lines[first : None if view_range[1] == -1 else view_range[1]]
        return f"Here's the content of {path} with line numbers:\n" + _number(lines, first)

    @_repeat_on_conflict
    def create(self, path: str, text: str) -> str:
        name = _check_path(path)
        if name == ROOT or self._get(name):
            raise FileProblem(f"File {path} already exists")
        folders = self._find_folders(path, posixpath.dirname(name))
        self._write([NewEntry(name, text), *_make_folders(folders)], expected={name: None, **folders})
        return f"File created successfully at: {path}"

    @_repeat_on_conflict
    def str_replace(self, path: str, old: str, new: str) -> str:
        file = self._open(path)
        text = str(file.value)
        places = [place for place in range(len(text) + 1) if text.startswith(old, place)]
        if text.count(old) == 0:
            raise FileProblem(
                f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}."
            )
        if text.count(old) > 1:
            lines = ", ".join(str(text[:place].count("\n") + 1) for place in places)
            raise FileProblem(
                f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {lines}. "
                "Please ensure it is unique"
            )
        changed = text.replace(old, new)
        self._write([NewEntry(file.key, changed)], expected={file.key: file})
        first = max(0, text[: places[0]].count("\n") - 2)
        shown = changed.split("\n")[first : text[: places[0]].count("\n") + 3]
        head = "The memory file has been edited. Here is the snippet showing the change (with line numbers):"
        return f"{head}\n{_number(shown, first)}"

    @_repeat_on_conflict
    def insert(self, path: str, line: int, text: str) -> str:
        file = self._open(path)
        lines = str(file.value).split("\n")
        if lines[-1] == "":
            lines.pop()
        if not 0 <= line <= len(lines):
            raise FileProblem(
                f"Invalid `insert_line` parameter: {line}. It should be within the range [0, {len(lines)}]."
            )
        lines.insert(line, text.rstrip("\n"))
        changed = "\n".join(lines)
        whole = changed if changed.endswith("\n") else changed + "\n"
        self._write([NewEntry(file.key, whole)], expected={file.key: file})
        return f"The file {path} has been edited."

    @_repeat_on_conflict
    def delete(self, path: str) -> str:
        name = _check_path(path)
        if name == ROOT:
            raise FileProblem("Cannot delete the /memories directory itself")
        entry = self._get(name)
        if not entry:
            raise FileProblem(f"The path {path} does not exist")
        self._delete([*self._list_below(name), name], {name: entry})
        return f"Successfully deleted {path}"

    @_repeat_on_conflict
    def rename(self, old_path: str, new_path: str) -> str:
        old, new = _check_path(old_path), _check_path(new_path)
        if old == ROOT:
            raise FileProblem("Cannot rename the /memories directory itself")
        if new == ROOT or self._get(new):
            raise FileProblem(f"The destination {new_path} already exists")
        if new.startswith(f"{old}/"):
            raise FileProblem(f"Cannot move {old_path} into itself: {new_path}")
        entry, parent = self._get(old), posixpath.dirname(new)
        try:
            folders = self._find_folders(new_path, parent)
            missing = [one for one, known in folders.items() if known is None]
            self._write(_make_folders(missing), expected=folders)
        except FileProblem:
            if entry:
                raise
        if not entry:
            raise FileProblem(f"The path {old_path} does not exist")
        self._move([*self._list_below(old), old], {old: entry}, self._find_folders(new_path, parent), new)
        return f"Successfully renamed {old_path} to {new_path}"

    def clear(self) -> str:
        self._delete(self._memory.entries.list_keys(self._namespace), {})
        return "All memory cleared"

    def _list(self, path: str, name: str) -> str:
        lines = [f"4K\t{path}"]
        for entry in sorted(self._read_below(name), key=lambda one: one.key.split("/")):
            labels = entry.key[len(name) + 1 :].split("/")
            if len(labels) <= 2 and not any(label.startswith(".") for label in labels):
                is_folder = entry.value == _FOLDER
                size = "4K" if is_folder else _render_size(len(str(entry.value).encode()))
                lines.append(f"{size}\t{path}/{'/'.join(labels)}{'/' if is_folder else ''}")
        head = f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items:"
        return "\n".join([head, *lines])

    def _open(self, path: str) -> MemoryEntry:
        name = _check_path(path)
        entry = self._get(name)
        if name == ROOT or (entry and entry.value == _FOLDER):
            raise FileProblem(f"The path {path} is not a file.")
        if entry is None:
            raise FileProblem(f"The path {path} does not exist. Please provide a valid path.")
        return entry

    def _get(self, name: str) -> MemoryEntry | None:
        return self._memory.entries.retrieve(self._namespace, name)

    def _find_folders(self, path: str, folder: str) -> dict[str, MemoryEntry | None]:
        """Return a folder and its parents, with None for missing ones."""
        found = {}
        while folder != ROOT:
            found[folder] = entry = self._get(folder)
            if entry and entry.value != _FOLDER:
                raise FileProblem(f"{path} is below a file: {folder}")
            folder = posixpath.dirname(folder)
        return found

    def _list_below(self, name: str) -> list[str]:
        return [key for key in self._memory.entries.list_keys(self._namespace) if key.startswith(f"{name}/")]

    def _read_below(self, name: str) -> list[MemoryEntry]:
        found: list[MemoryEntry] = []
        while page := self._memory.entries.find(self._namespace, limit=MAX_FOUND, offset=len(found)):
            found += page
        return [one for one in found if one.key.startswith(f"{name}/")]

    def _write(self, put: Sequence[NewEntry], *, expected: Expected, delete: Sequence[str] = ()) -> None:
        revisions = {name: entry.revision if entry else None for name, entry in expected.items()}
        self._memory.entries.write(self._namespace, put, delete=delete, if_revisions=revisions)

    def _delete(self, names: Sequence[str], expected: Expected) -> None:
        for start in range(0, len(names), _AT_ONCE):
            self._write((), expected=expected, delete=names[start : start + _AT_ONCE])

    def _move(self, names: Sequence[str], above: Expected, folders: Expected, new: str) -> None:
        [old] = above
        for start in range(0, len(names), _AT_ONCE):
            moved = {name: self._get(name) for name in names[start : start + _AT_ONCE]}
            put = [
                NewEntry(new + name[len(old) :], entry.value, fields=[] if entry.value == _FOLDER else None)
                for name, entry in moved.items()
                if entry
            ]
            expected = {**{one.key: None for one in put}, **moved, **above}
            if old in moved:
                expected |= folders
                put += _make_folders(folders)
            self._write(put, expected=expected, delete=[*moved])


def _make_folders(names: Iterable[str]) -> list[NewEntry]:
    return [NewEntry(name, _FOLDER, fields=[]) for name in names]


def _check_path(path: str) -> str:
    """Return a path below the root, with dots resolved."""
    if not path.startswith(ROOT):
        raise FileProblem(f"Path must start with /memories, got: {path}")
    inside = path[len(ROOT) :].lstrip("/")
    name = posixpath.normpath(posixpath.join(ROOT, inside)) if inside else ROOT
    if name != ROOT and not name.startswith(f"{ROOT}/"):
        raise FileProblem(f"Path {path} would escape /memories directory")
    return name


def _number(lines: Sequence[str], first: int) -> str:
    return "\n".join(f"{number:>6}\t{line}" for number, line in enumerate(lines, first + 1))


def _render_size(size: int) -> str:
    power = min((size.bit_length() - 1) // 10, 3) if size else 0
    shown = size / 1024**power
    return f"{int(shown) if shown == int(shown) else format(shown, '.1f')}{'BKMG'[power]}"
