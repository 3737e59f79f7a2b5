"""Operations on the databases of the workspace as a whole: list, rename, copy, delete, compact, restore."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from msgspec import Meta

from mnemos.errors import NotFound
from mnemos.operations.base import Done, Operation, Result, Traits
from mnemos.operations.moments import shown
from mnemos.operations.upkeep import size
from mnemos.operations.wording import counted

if TYPE_CHECKING:
    from mnemos.memory import Memory

Name = Annotated[str, Meta(description="The name of a database")]


class ListDatabases(Operation, frozen=True, kw_only=True):
    """List the databases of the workspace with their sizes, the last used first."""

    traits: ClassVar[Traits] = Traits(title="List databases", read_only=True, begins=True)

    def run(self, memory: Memory) -> DatabaseList:
        return DatabaseList(
            databases=[
                {
                    "name": info.name,
                    "size_bytes": info.size_bytes,
                    "limit_bytes": info.limit_bytes,
                    "used_at": info.used_at,
                    "snapshots": info.snapshots,
                }
                for info in memory.workspace.databases()
            ]
        )


class DatabaseList(Result, frozen=True, kw_only=True):
    databases: list[dict[str, Any]]

    def as_text(self) -> str:
        if not self.databases:
            return "There is no database yet; the first sqlite_query makes one."
        return "\n".join(
            f"{one['name']}: {size(one['size_bytes'])} of {size(one['limit_bytes'])}, "
            f"last used {shown(one['used_at'])}, {counted(one['snapshots'], 'snapshot')}"
            for one in self.databases
        )


class RenameDatabase(Operation, frozen=True, kw_only=True):
    """Give a database another name; its snapshots go with it."""

    traits: ClassVar[Traits] = Traits(
        title="Rename a database", positional=("database", "to"), example=("default", "research")
    )

    database: Name
    to: Annotated[str, Meta(description="The new name: a-z, 0-9, _ and -")]

    def run(self, memory: Memory) -> Done:
        memory.workspace.rename(self.database, self.to)
        return Done(done=f"The database {self.database} is called {self.to} now.")


class CopyDatabase(Operation, frozen=True, kw_only=True):
    """Copy a database as it is now to another name."""

    traits: ClassVar[Traits] = Traits(
        title="Copy a database", positional=("database", "to"), example=("default", "experiment")
    )

    database: Name
    to: Annotated[str, Meta(description="The name of the copy")]

    def run(self, memory: Memory) -> Done:
        memory.workspace.copy(self.database, self.to)
        return Done(done=f"{self.to} is a copy of {self.database} as it is now.")


class DeleteDatabase(Operation, frozen=True, kw_only=True):
    """Delete a database and its snapshots for good. Its name must be given twice."""

    traits: ClassVar[Traits] = Traits(
        title="Delete a database",
        destructive=True,
        positional=("database",),
        example=("experiment", "--confirm", "experiment", "--yes"),
    )

    database: Name
    confirm: Annotated[str, Meta(description="The name once more")]

    def run(self, memory: Memory) -> Done:
        memory.workspace.delete(self.database, confirm=self.confirm)
        return Done(done=f"The database {self.database} is gone.")

    def at_stake(self, memory: Memory) -> str:
        if not memory.workspace.has(self.database):
            raise NotFound(
                f"there is no database {self.database!r}; `mnemos workspace list` shows those there are"
            )
        tables = memory.workspace.tables(self.database)
        return f"the database {self.database} with {counted(len(tables), 'table')} and its snapshots"


class CompactDatabase(Operation, frozen=True, kw_only=True):
    """Give back the space that deleted rows left in a database."""

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
        return f"{self.database}: {size(self.before_bytes)} before, {size(self.after_bytes)} now."


class ListSnapshots(Operation, frozen=True, kw_only=True):
    """List what a database can be restored to: it is kept before something is dropped, altered or emptied."""

    traits: ClassVar[Traits] = Traits(
        title="List snapshots", read_only=True, begins=True, positional=("database",)
    )

    database: Name = "default"

    def run(self, memory: Memory) -> SnapshotList:
        return SnapshotList(
            snapshots=[
                {"name": one.name, "size_bytes": one.size_bytes, "made_at": one.made_at}
                for one in memory.workspace.snapshots(self.database)
            ]
        )


class SnapshotList(Result, frozen=True, kw_only=True):
    snapshots: list[dict[str, Any]]

    def as_text(self) -> str:
        if not self.snapshots:
            return "There is no snapshot yet; one is kept before something is dropped, altered or emptied."
        return "\n".join(
            f"{one['name']}  {size(one['size_bytes'])}, kept {shown(one['made_at'])}"
            for one in self.snapshots
        )


class RestoreDatabase(Operation, frozen=True, kw_only=True):
    """Bring back a snapshot of a database, by default the newest. What is there becomes a snapshot, too."""

    traits: ClassVar[Traits] = Traits(
        title="Restore a database", positional=("database", "snapshot"), example=("default",)
    )

    database: Name = "default"
    snapshot: Annotated[str | None, Meta(description="Which one; default the newest")] = None

    def run(self, memory: Memory) -> Done:
        restored = memory.workspace.restore(self.database, self.snapshot)
        return Done(done=f"{self.database} is as it was at {restored}; what was there is a snapshot now.")
