"""Files that a model writes into a folder ``/memories``: entries of the memory, with the tool's own answers.

A file is an entry of the namespace ``(user, "memory-tool")``: its key is the path, its value the text. A
folder is an entry, too, so that it can be empty. Failures raise ``FileProblem`` with the text for the model.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from typing import Final

from mnemos.errors import MnemosError
from mnemos.memory import Memory
from mnemos.storage.entries import USUAL_USER

ROOT: Final = "/memories"
LABEL: Final = "memory-tool"
_FOLDER: Final = {"folder": True}
_MOST_LINES: Final = 999_999
_EVERYTHING: Final = 10_000


class FileProblem(MnemosError):
    """A command that was not done, in the words for the model."""

    code = "file_problem"


class MemoryFiles:
    """The files of one user."""

    def __init__(self, memory: Memory, user_id: str = USUAL_USER) -> None:
        self._entries = memory.entries
        self._namespace = (user_id, LABEL)

    def view(self, path: str, view_range: Sequence[int] | None = None) -> str:
        name = _check_path(path)
        if name == ROOT or self._is_folder(name):
            return self._list(path, name)
        lines = self._read(path, name).split("\n")
        if len(lines) > _MOST_LINES:
            raise FileProblem(f"File {path} exceeds maximum line limit of 999,999 lines.")
        first = 0
        if view_range and len(view_range) == 2:
            first = max(1, view_range[0]) - 1
            lines = lines[first : None if view_range[1] == -1 else view_range[1]]
        return f"Here's the content of {path} with line numbers:\n" + _number(lines, first)

    def create(self, path: str, text: str) -> str:
        name = _check_path(path)
        if name == ROOT or self._exists(name):
            raise FileProblem(f"File {path} already exists")
        self._make_folders(path, posixpath.dirname(name))
        self._write(name, text)
        return f"File created successfully at: {path}"

    def str_replace(self, path: str, old: str, new: str) -> str:
        name, text = self._open(path)
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
        self._write(name, changed)
        first = max(0, text[: places[0]].count("\n") - 2)
        shown = changed.split("\n")[first : text[: places[0]].count("\n") + 3]
        head = "The memory file has been edited. Here is the snippet showing the change (with line numbers):"
        return f"{head}\n{_number(shown, first)}"

    def insert(self, path: str, line: int, text: str) -> str:
        name, content = self._open(path)
        lines = content.split("\n")
        if lines[-1] == "":
            lines.pop()
        if not 0 <= line <= len(lines):
            raise FileProblem(
                f"Invalid `insert_line` parameter: {line}. It should be within the range [0, {len(lines)}]."
            )
        lines.insert(line, text.rstrip("\n"))
        changed = "\n".join(lines)
        self._write(name, changed if changed.endswith("\n") else changed + "\n")
        return f"The file {path} has been edited."

    def delete(self, path: str) -> str:
        name = _check_path(path)
        if name == ROOT:
            raise FileProblem("Cannot delete the /memories directory itself")
        if not self._exists(name):
            raise FileProblem(f"The path {path} does not exist")
        for key in [key for key in self._names() if key == name or key.startswith(f"{name}/")]:
            self._entries.delete(self._namespace, key)
        return f"Successfully deleted {path}"

    def rename(self, old_path: str, new_path: str) -> str:
        old, new = _check_path(old_path), _check_path(new_path)
        if old == ROOT:
            raise FileProblem("Cannot rename the /memories directory itself")
        if new == ROOT or self._exists(new):
            raise FileProblem(f"The destination {new_path} already exists")
        if new.startswith(f"{old}/"):
            raise FileProblem(f"Cannot move {old_path} into itself: {new_path}")
        exists = self._exists(old)
        try:
            self._make_folders(new_path, posixpath.dirname(new))
        except FileProblem:
            if exists:
                raise
        if not exists:
            raise FileProblem(f"The path {old_path} does not exist")
        for key, value in self._below(old).items():
            self._entries.put(self._namespace, new + key[len(old) :], value)
            self._entries.delete(self._namespace, key)
        return f"Successfully renamed {old_path} to {new_path}"

    def clear(self) -> str:
        for key in self._names():
            self._entries.delete(self._namespace, key)
        return "All memory cleared"

    def _list(self, path: str, name: str) -> str:
        lines = [f"4K\t{path}"]
        for key, value in sorted(self._below(name).items(), key=lambda one: one[0].split("/")):
            labels = key[len(name) + 1 :].split("/")
            if key != name and len(labels) <= 2 and not any(label.startswith(".") for label in labels):
                is_folder = value == _FOLDER
                size = "4K" if is_folder else _render_size(len(str(value).encode()))
                lines.append(f"{size}\t{path}/{'/'.join(labels)}{'/' if is_folder else ''}")
        head = f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items:"
        return "\n".join([head, *lines])

    def _open(self, path: str) -> tuple[str, str]:
        name = _check_path(path)
        if name == ROOT or self._is_folder(name):
            raise FileProblem(f"The path {path} is not a file.")
        return name, self._read(path, name)

    def _read(self, path: str, name: str) -> str:
        entry = self._entries.retrieve(self._namespace, name)
        if entry is None:
            raise FileProblem(f"The path {path} does not exist. Please provide a valid path.")
        return str(entry.value)

    def _write(self, name: str, text: str) -> None:
        self._entries.put(self._namespace, name, text)

    def _make_folders(self, path: str, folder: str) -> None:
        missing = []
        while folder != ROOT:
            if not self._exists(folder):
                missing.append(folder)
            elif not self._is_folder(folder):
                raise FileProblem(f"{path} is below a file: {folder}")
            folder = posixpath.dirname(folder)
        for one in missing:
            self._entries.put(self._namespace, one, _FOLDER, fields=[])

    def _exists(self, name: str) -> bool:
        return self._entries.retrieve(self._namespace, name) is not None

    def _is_folder(self, name: str) -> bool:
        entry = self._entries.retrieve(self._namespace, name)
        return entry is not None and entry.value == _FOLDER

    def _names(self) -> list[str]:
        return self._entries.list_keys(self._namespace)

    def _below(self, name: str) -> dict[str, object]:
        """Return a file or a folder with everything below it."""
        entries = self._entries.find(self._namespace, limit=_EVERYTHING)
        return {one.key: one.value for one in entries if one.key == name or one.key.startswith(f"{name}/")}


def _check_path(path: str) -> str:
    """Return a path below the root, without dots."""
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
