"""The folder that an agent's imports and exports stay in."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from mnemos.errors import InvalidInput, NotFound, PermissionDenied

# A person at a command line works where they are and may name any file.
ANYWHERE: Final = Path("/")


class Files:
    """Names of files as an agent writes them: relative to one folder, and never outside of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def place(self, name: str | os.PathLike[str]) -> Path:
        """Where a file is or would be; outside of the folder, also by a link, raises PermissionDenied."""
        try:
            given = Path(name).expanduser()
            root = self.folder.resolve()
            base = Path.cwd() if self.folder == ANYWHERE else root
            path = (base / given).resolve()
            path.exists()
        except (ValueError, TypeError, RuntimeError, OSError) as exc:
            raise InvalidInput(f"path is {str(name)[:200]!r}, which is no name for a file: {exc}") from exc
        if not path.is_relative_to(root) or path == root:
            raise PermissionDenied(
                f"{str(name)[:200]!r} is outside of {self.folder}, where imports and exports stay; use a "
                "name "
                "inside of it, or set MNEMOS_FILES to another folder"
            )
        return path

    def readable(self, name: str | os.PathLike[str]) -> Path:
        """An existing file."""
        path = self.place(name)
        if path.is_dir():
            raise InvalidInput(f"{path} is a folder; name a file in it")
        if not path.exists():
            raise NotFound(f"there is no file {path}")
        _check_plain(path, "pass what it gives as text, or save it to a file first")
        return path

    def make_room(self, path: Path) -> None:
        """See to it that a file can be written there: its folder is made."""
        if path.is_dir():
            raise InvalidInput(f"{path} is a folder; name a file in it")
        if path.exists():
            _check_plain(path, "choose another name")
        try:
            path.parent.mkdir(parents=True, mode=0o700, exist_ok=True)
        except OSError as exc:
            raise PermissionDenied(f"{path.parent} cannot be created: {exc.strerror}") from exc


def _check_plain(path: Path, advice: str) -> None:
    """A pipe or a device raises InvalidInput: reading one may never end, and an export would replace it."""
    if not path.is_file():
        raise InvalidInput(f"{path} is a pipe or a device and no plain file; {advice}")
