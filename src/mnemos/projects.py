"""Projects: the repository or folder that a conversation was about."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from mnemos.files import open_regular
from mnemos.inputs import MAX_NAME

_HEAD = 4_096
_CONFIG = 65_536
_ORIGIN = re.compile(r'^\[remote "origin"\][^\[]*?^\s*url\s*=\s*(\S+)', re.MULTILINE)
_SCHEME = re.compile(r"^[a-z+]+://", re.IGNORECASE)
_SEPARATORS = re.compile(r"[\\/]+")
_WORKTREE = re.compile(r"gitdir: (.+)[\\/]\.git[\\/]worktrees[\\/]")


def find_project(folder: str | os.PathLike[str] | None) -> str | None:
    """Return the root of the repository that a folder is in, or else the folder.

    A worktree belongs to its repository, and a link to a folder is that folder, so that all programs which
    work in a repository are in one project. A folder that does not exist on this machine is its own root. The
    home folder and the root of the file system are not projects, and None is returned for them.
    """
    text = "" if folder is None else os.fspath(folder)
    return _find(text) if text.strip() and len(text) <= MAX_NAME and text.isprintable() else None


def _find(text: str) -> str | None:
    home = _home()
    path = Path(text)
    if not path.is_absolute():
        # A path of another system, such as C:\work\web, or one that can't be read.
        return text if _SEPARATORS.search(text) else None
    path = Path(os.path.realpath(path))
    inside = [one for one in (path, *path.parents) if one != one.parent and str(one) != home]
    if path not in inside:
        return None
    return next((root for one in inside if (root := _repository_at(one))), str(path))


def _expand(text: str) -> Path:
    try:
        return Path(text).expanduser().absolute()
    except (RuntimeError, OSError):
        return Path(text)


def _home() -> str:
    try:
        return os.path.realpath(Path.home())
    except RuntimeError:
        return ""


def _repository_at(folder: Path) -> str | None:
    """Return the root of the repository with a folder's files; None without one."""
    git = folder / ".git"
    try:
        if git.is_file():
            with open_regular(git) as file:
                worktree = _WORKTREE.match(file.read(_HEAD).decode("utf-8", "replace"))
            # Git may write the path relative to the worktree.
            return os.path.realpath(folder / worktree[1]) if worktree else str(folder)
        return str(folder) if git.is_dir() else None
    except OSError:
        return None


def name_project(project: str) -> str:
    """Return the short name of a project: the last folder of its path."""
    return _SEPARATORS.split(project.rstrip("\\/"))[-1] or project


def match_projects(text: str, projects: Iterable[str]) -> Sequence[str]:
    """Return the projects at a path, or else those with that folder name."""
    known = list(projects)
    is_path = text.startswith((".", "~")) or _SEPARATORS.search(text)
    path = find_project(_expand(text)) if is_path else None
    exact = [project for project in known if project in (text, path)]
    return exact or [project for project in known if name_project(project).casefold() == text.casefold()]


def find_repository(project: str) -> str | None:
    """Return the address a repository is fetched from; None if it has none.

    ``git@example.com:team/web.git`` and ``https://example.com/team/web`` are both ``example.com/team/web``.
    """
    try:
        with open_regular(Path(project) / ".git" / "config") as file:
            text = file.read(_CONFIG).decode("utf-8", "replace")
    except (OSError, ValueError):
        return None
    found = _ORIGIN.search(text)
    if found is None:
        return None
    address = _SCHEME.sub("", found[1].strip()).rpartition("@")[2].replace(":", "/", 1)
    return address.removesuffix("/").removesuffix(".git").casefold() or None
