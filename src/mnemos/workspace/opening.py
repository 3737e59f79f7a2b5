"""The workspace of a home: where it is, by the settings, and whether its databases are sound."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from mnemos.errors import MnemosError
from mnemos.settings import Settings
from mnemos.storage.base import Check, failed, passed
from mnemos.workspace.names import folder_of
from mnemos.workspace.service import SchemaChanged, Workspace


def opened(
    settings: Settings,
    home: Path,
    *,
    history: Path | None,
    read_only: bool,
    schema_changed: SchemaChanged,
) -> Workspace:
    """``history``: the database of the memory, whose sessions, messages and facts the agent can read."""
    space = settings.space
    own = folder_of(home, "files", space)
    databases = folder_of(home, "databases", space)
    return Workspace(
        databases,
        files=Path(settings.files).expanduser() if settings.files else own,
        most_bytes=settings.database_bytes,
        seconds=settings.query_seconds,
        read_only=read_only or settings.disabled or _is_closed(databases),
        history=None if history is None else (history, space),
        schema_changed=schema_changed,
    )


def _is_closed(folder: Path) -> bool:
    """Whether nobody can write here: on a disk that can only be read, what is there is still found."""
    return folder.exists() and not os.access(folder, os.W_OK)


def examined(workspace: Workspace) -> Iterator[Check]:
    """One line for all databases that are sound, then one for each that is not."""
    databases = [info.name for info in workspace.databases()]
    broken = {name: problems for name in databases if (problems := _problems(workspace, name))}
    sound = len(databases) - len(broken)
    if sound or not broken:
        said = f"{sound} database{'s' * (sound != 1)} sound" if sound else "no database yet"
        yield passed("workspace", said)
    for name, problems in broken.items():
        yield failed("workspace", f"the database {name}: {'; '.join(problems)}")


def _problems(workspace: Workspace, database: str) -> list[str]:
    try:
        return workspace.check(database)
    except MnemosError as exc:
        return [str(exc)]
