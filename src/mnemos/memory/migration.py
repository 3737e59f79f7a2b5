"""Moving a memory between a home and a PostgreSQL server, space by space.

Each space is exported to an archive, imported and compared. The source is only read. Repeating an interrupted
migration stores the missing items.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from mnemos.errors import InvalidInput, Refused
from mnemos.inputs import SERVERS, find_scheme, hide_password
from mnemos.memory.memory import Memory
from mnemos.progress import no_progress
from mnemos.settings import Settings
from mnemos.transfer.archive.archive_writer import write_archive


class Migrated(Struct, frozen=True):
    """A migrated space: every item of the source was found in the target."""

    space: str
    sessions: int
    messages: int
    facts: int


def migrate(source: Settings, target: str) -> Iterator[Migrated]:
    """Copy every space to a URL or a folder, and verify each one.

    Raises Refused if an item in the target differs from the source, which stays untouched.
    """
    to_server = find_scheme(target) in SERVERS
    home: Any = source.home if to_server else target
    database = target if to_server else ""
    there = Settings.load(home, database=database)
    if (there.database, there.home) == (source.database, source.home):
        raise InvalidInput("The memory is already there. Choose another target.")
    with Memory(source, read_only=True) as memory:
        if not memory.home.exists:
            raise InvalidInput(f"There is no memory in {memory.home.location}.")
        spaces = [name for name, _, _ in memory.storage.spaces()]
    for name in spaces:
        yield _migrate_space(name, source, home, database)


def _migrate_space(name: str, source: Settings, home: Any, database: str) -> Migrated:
    with (
        Memory(Settings.load(source.home, database=source.database, space=name), read_only=True) as here,
        Memory(Settings.load(home, database=database, space=name)) as there,
        tempfile.TemporaryDirectory(prefix="mnemos-migrate-") as folder,
    ):
        archive = Path(folder) / "space.tar"
        write_archive(here, archive, no_progress)
        # A person has already allowed notes that look like orders.
        there.import_archive(archive, allow=True)
        comparison = there.compare_archive(archive)
        counts = [
            (
                memory.sessions.session_count(archived=None),
                memory.sessions.message_count(),
                memory.facts.count(),
            )
            for memory in (here, there)
        ]
        if not comparison.holds_all or any(now < before for before, now in zip(*counts, strict=True)):
            parts = ", ".join(
                f"{part.part}: {part.missing} missing, {part.different} different"
                for part in comparison.parts
                if part.missing or part.different
            )
            raise Refused(
                f"Space {name} is not the same in {hide_password(database) or home} ({parts}). The source is "
                "unchanged."
            )
        return Migrated(name, *counts[0])


def set_up_server(settings: Settings, role: str | None) -> str:
    """Create the tables on a server and let a role use them; return a description."""
    with Memory(settings) as memory:
        storage = memory.storage
        if role is not None:
            grant: Any = getattr(storage, "grant", None)
            if grant is None:
                raise InvalidInput("Only a PostgreSQL server has roles.")
            grant(role)
        granted = "" if role is None else f" {role} may use them."
        return f"The tables are in {storage.location}.{granted}"


def distribute(settings: Settings) -> str:
    """Distribute a server's tables over Citus workers; return a description."""
    with Memory(settings) as memory:
        storage: Any = memory.storage
        storage.distribute()
        return f"The tables in {storage.location} are distributed by space."
