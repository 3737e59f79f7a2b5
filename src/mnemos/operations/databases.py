"""Operations on whole databases of the workspace: list, rename, copy, delete, compact, restore."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta
from msgspec.structs import replace

from mnemos.errors import NotFound
from mnemos.operations.base import Done, Info, Operation, Result, Traits, fill
from mnemos.operations.texts import plural, render_size, render_time, shorten_names
from mnemos.operations.workspace import Name
from mnemos.text.stored_text import join_items
from mnemos.workspace.answers import DatabaseInfo

if TYPE_CHECKING:
    from mnemos.memory import Memory


# Snapshots are named after their time: 20261116T184601.123456Z.
_TO_THE_SECOND = 15


class ListDatabases(Operation, frozen=True, kw_only=True):
    """List the databases of the workspace with their sizes, last used first."""

    traits: ClassVar[Traits] = Traits(title="List databases", read_only=True, begins=True)

    def run(self, memory: Memory) -> DatabaseList:
        return DatabaseList(databases=memory.workspace.databases())


class DatabaseList(Result, frozen=True, kw_only=True):
    databases: list[DatabaseInfo]

    def as_text(self) -> str:
        if not self.databases:
            return "No databases yet. The first query creates one."
        return join_items(
            f"{one.name}: {render_size(one.size_bytes)} of {render_size(one.limit_bytes)}, "
            f"last used {render_time(one.used_at)}, {plural(one.snapshots, 'snapshot')}"
            for one in self.databases
        )


class RenameDatabase(Operation, frozen=True, kw_only=True):
    """Rename a database together with its snapshots."""

    traits: ClassVar[Traits] = Traits(
        title="Rename a database", positional=("database", "to"), example="default prices"
    )

    database: Name
    to: Annotated[str, Meta(description="New name: a-z, 0-9, _ and -")]

    def run(self, memory: Memory) -> Done:
        memory.workspace.rename(self.database, self.to)
        return Done(done=f"Renamed {self.database} to {self.to}.")


class CopyDatabase(Operation, frozen=True, kw_only=True):
    """Copy a database to a new name."""

    traits: ClassVar[Traits] = Traits(
        title="Copy a database", positional=("database", "to"), example="default trial"
    )

    database: Name
    to: Annotated[str, Meta(description="Name of the copy")]

    def run(self, memory: Memory) -> Done:
        memory.workspace.copy(self.database, self.to)
        return Done(done=f"Copied {self.database} to {self.to}.")


class DeleteDatabase(Operation, frozen=True, kw_only=True):
    """Permanently delete a database and its snapshots. Pass its name twice."""

    traits: ClassVar[Traits] = Traits(
        title="Delete a database",
        destructive=True,
        positional=("database",),
        example="experiment --confirm experiment --yes",
    )

    database: Name
    confirm: Annotated[str, Meta(description="The same name again")]

    def run(self, memory: Memory) -> Done:
        memory.workspace.delete(self.database, confirm=self.confirm)
        return Done(done=f"Deleted {self.database}.")

    def at_stake(self, memory: Memory) -> str:
        if not memory.workspace.has(self.database):
            raise NotFound(f"There is no database {self.database!r}. The tool sqlite_databases lists them.")
        tables = memory.workspace.tables(self.database)
        return (
            f"the database {self.database} with {plural(len(tables), 'table')} and its snapshots permanently"
        )


class CompactDatabase(Operation, frozen=True, kw_only=True):
    """Shrink the file of a database after rows were deleted."""

    traits: ClassVar[Traits] = Traits(title="Compact a database", idempotent=True, positional=("database",))

    database: Name = "default"

    def run(self, memory: Memory) -> Compacted:
        before, after = memory.workspace.compact(self.database)
        return Compacted(database=self.database, before_bytes=before, after_bytes=after)


class Compacted(Result, frozen=True, kw_only=True):
    database: str
    before_bytes: int
    after_bytes: int

    def as_text(self) -> str:
        before, after = render_size(self.before_bytes), render_size(self.after_bytes)
        return join_items([f"Compacted {self.database} from {before} to {after}."])


class ListSnapshots(Operation, frozen=True, kw_only=True):
    """List the snapshots of a database. One is made before something is dropped, altered or emptied."""

    traits: ClassVar[Traits] = Traits(
        title="List snapshots", read_only=True, begins=True, positional=("database",)
    )

    database: Name = "default"

    def run(self, memory: Memory) -> SnapshotList:
        found = memory.workspace.snapshots(self.database)
        short = shorten_names([one.name for one in found], _TO_THE_SECOND)
        return SnapshotList(
            snapshots=[replace(fill(SnapshotInfo, one), short_name=short[one.name]) for one in found]
        )


class SnapshotInfo(Info, frozen=True, kw_only=True):
    name: str
    size_bytes: int
    made_at: float
    short_name: str = ""
    """Beginning of the name that is enough to restore it."""


class SnapshotList(Result, frozen=True, kw_only=True):
    snapshots: list[SnapshotInfo]

    def as_text(self) -> str:
        if not self.snapshots:
            return "No snapshots yet. One is made before something is dropped, altered or emptied."
        return join_items(
            f"{one.name}  {render_size(one.size_bytes)}, made {render_time(one.made_at)}"
            for one in self.snapshots
        )


class RestoreDatabase(Operation, frozen=True, kw_only=True):
    """Restore a snapshot of a database, by default the newest, after taking one of the current state."""

    traits: ClassVar[Traits] = Traits(
        title="Restore a database", reverts=True, positional=("database", "snapshot"), example="default"
    )

    database: Name = "default"
    snapshot: Annotated[
        str | None, Meta(description="Name of the snapshot, or its beginning; default: the newest")
    ] = None

    def run(self, memory: Memory) -> DatabaseRestored:
        restored = memory.workspace.restore(self.database, self.snapshot)
        return DatabaseRestored(database=self.database, snapshot=restored)


class DatabaseRestored(Result, frozen=True, kw_only=True):
    database: str
    snapshot: str

    def as_text(self) -> str:
        return join_items(
            [f"Restored {self.database} to {self.snapshot}. A new snapshot has its previous state."]
        )
