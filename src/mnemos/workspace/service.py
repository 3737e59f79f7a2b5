"""The workspace of a space: its databases, and the worker through which everything goes."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from mnemos import inputs
from mnemos.errors import InvalidInput, MnemosError, NotFound, ReadOnly, Refused
from mnemos.workspace import asked, limits, names, transfer
from mnemos.workspace.files import Files
from mnemos.workspace.folder import Folder
from mnemos.workspace.model import Answer, Card, DatabaseInfo, Exported, Imported, Snapshot, StatementResult
from mnemos.workspace.showing import short, visible
from mnemos.workspace.told import (
    CardTold,
    CheckTold,
    CopyTold,
    ExportTold,
    FailureTold,
    HintTold,
    ImportTold,
    QueryTold,
    RestoreTold,
    SizesTold,
    TablesTold,
)
from mnemos.workspace.worker import Begin, SandboxFailure, T, Worker

if TYPE_CHECKING:
    from mnemos.workspace.functions.base import Function

_HINT_SECONDS = 3.0
_SHOWN = 200
SchemaChanged = Callable[[str], None]
"""Called with the name of a database whose tables may be others now."""


class Workspace:
    """SQL databases of the agent's own. Every statement runs in a sandboxed process.

    Nothing is created or started before the first call that needs it.
    """

    def __init__(
        self,
        folder: Path,
        *,
        files: Path | None = None,
        most_bytes: int = limits.DATABASE_BYTES,
        seconds: float = limits.SECONDS,
        read_only: bool = False,
        history: tuple[Path, str] | None = None,
        schema_changed: SchemaChanged | None = None,
    ) -> None:
        self._folder = Folder(folder, most_bytes)
        self.files = Files(files or folder / "files")
        self._most_bytes = most_bytes
        self._seconds = seconds
        self._read_only = read_only
        self._history = history
        self._schema_changed = schema_changed
        self._starting = threading.Lock()
        self._made: Worker | None = None

    def query(
        self,
        query: str,
        params: Sequence[Any] | Mapping[str, Any] | None = None,
        *,
        rows: Sequence[Any] | None = None,
        database: str = names.DEFAULT,
        max_rows: int = limits.ROWS,
        offset: int = 0,
        timeout: float | None = None,
        read_only: bool = False,
        max_bytes: int | None = None,
        max_cell: int | None = None,
    ) -> Answer:
        """Run one or several statements in one transaction: all of them or nothing.

        ``params`` are bound by position or by name. ``rows``: the one statement is run with each of them.
        At most ``max_rows`` rows come back, after ``offset`` of the last statement's; with ``max_cell``, long
        texts are cut and blobs described. A statement that fails raises SqlError, which says which one and
        what may help; one that is not allowed, Refused; one that takes too long, TimedOut.
        """
        answer = self._ask(
            "query",
            QueryTold,
            timeout,
            database=self._ready(database),
            sql=asked.text("query", query),
            params=asked.parameters(params),
            rows=asked.rows(rows),
            max_rows=inputs.whole("max_rows", max_rows),
            max_bytes=asked.at_most("max_bytes", max_bytes, limits.ANSWER.value),
            max_cell=None if max_cell is None else inputs.whole("max_cell", max_cell),
            offset=inputs.whole("offset", offset),
            read_only=read_only or self._read_only,
        )
        if answer.schema_changed:
            self._tables_changed(database)
        return _answer(answer, offset)

    def schema(
        self,
        database: str = names.DEFAULT,
        *,
        table: str | None = None,
        tokens: int | None = None,
        timeout: float | None = None,
    ) -> Card:
        """The schema card: tables, the last used first, with columns, counts, ranges and samples.

        ``table``: of this one, in detail. ``tokens``: what the text may take. A figure from a sample says so.
        """
        if not self._folder.has(database):
            if table is not None:
                raise NotFound(f"there is no table {table!r}: the database {database!r} is empty")
            return Card(f"The database {database} has no tables yet. CREATE TABLE makes one.", [])
        answer = self._ask(
            "card",
            CardTold,
            timeout,
            database=database,
            table=None if table is None else asked.text("table", table),
            tokens=None if tokens is None else inputs.whole("tokens", tokens),
        )
        return Card(answer.text, answer.tables, answer.more)

    def functions(self) -> Sequence[Function]:
        """The SQL functions there are beyond SQLite's own."""
        # Their modules: only for who wants to read of them.
        from mnemos.workspace.functions.catalog import FUNCTIONS

        return FUNCTIONS

    # --- files -------------------------------------------------------------------------------

    def export(
        self,
        query: str,
        path: str | os.PathLike[str],
        format: str | None = None,
        *,
        params: Sequence[Any] | Mapping[str, Any] | None = None,
        database: str = names.DEFAULT,
        overwrite: bool = False,
        timeout: float | None = None,
    ) -> Exported:
        """Write what one SELECT gives to a file inside the folder for files, all of it or nothing.

        CSV, TSV, JSON, JSON lines or Markdown, by the name of the file when ``format`` does not say.
        """
        target = self.files.place(path)
        form = transfer.format_of(target.name, format)
        seconds = asked.seconds(timeout, limits.FILE_SECONDS)
        self.files.make_room(target)
        with transfer.replaced(target, overwrite=overwrite) as file:
            answer = self._ask(
                "export",
                ExportTold,
                seconds,
                database=self._ready(database),
                sql=asked.text("query", query),
                params=asked.parameters(params),
                format=form,
                file=file,
            )
        return Exported(target, answer.rows, answer.bytes)

    def import_file(
        self,
        path: str | os.PathLike[str] | None = None,
        table: str = "",
        *,
        text: str | None = None,
        format: str | None = None,
        mode: str = "create",
        key: str | Sequence[str] | None = None,
        header: bool | None = None,
        database: str = names.DEFAULT,
        timeout: float | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> Imported:
        """Bring the rows of a file, or of ``text``, into a table: all of them or nothing.

        ``create`` makes the table, ``append`` adds to it, ``replace`` makes it anew, ``upsert`` updates the
        rows whose ``key`` is there. Types are those that all rows agree on. Lines that are no rows are left
        out and told.
        """
        if (path is None) == (text is None):
            raise InvalidInput("pass a path or a text, one of them")
        source = None if path is None else self.files.readable(path)
        with transfer.held(asked.text("text", text)) if source is None else transfer.opened(source) as file:
            answer = self._ask(
                "import",
                ImportTold,
                asked.seconds(timeout, limits.FILE_SECONDS),
                database=self._ready(database),
                table=asked.table(table),
                mode=asked.one_of("mode", mode, transfer.MODES),
                key=asked.key(key, mode),
                format=None if format is None else asked.one_of("format", format, transfer.READ),
                header=header,
                name="text" if source is None else source.name,
                file=file,
                progress=progress,
            )
        if answer.schema_changed:
            self._tables_changed(database)
        return Imported(
            table=table,
            created=answer.created,
            rows=answer.rows,
            bad=answer.bad,
            bad_count=answer.bad_count,
            columns=answer.columns,
            notes=answer.notes,
        )

    # --- databases ---------------------------------------------------------------------------

    def databases(self) -> list[DatabaseInfo]:
        """Every database of the space, the last used first."""
        return self._folder.databases()

    def has(self, database: str = names.DEFAULT) -> bool:
        return self._folder.has(database)

    def rename(self, database: str, to: str) -> None:
        """Give a database another name; its snapshots go with it. No other program may have it open."""
        self._check_writable()
        self._folder.existing(database)
        self._folder.check_free(to)
        # The worker closes what it holds, and with the last connection the journal goes into the file.
        self.close()
        self._folder.rename(database, to)
        self._tables_changed(database)
        self._tables_changed(to)

    def copy(self, database: str, to: str) -> None:
        """Copy a database as it is now, while it may be in use."""
        self._check_writable()
        self._folder.existing(database)
        self._folder.check_free(to)
        self._ask("copy", CopyTold, None, database=database, to=to)
        self._tables_changed(to)

    def delete(self, database: str, *, confirm: str) -> None:
        """Delete a database for good, its snapshots too. ``confirm`` must be its name."""
        self._check_writable()
        self._folder.existing(database)
        if confirm != database:
            raise Refused(f"confirm is {confirm!r}; to delete the database, pass its name, {database!r}")
        self.close()
        self._folder.delete(database)
        self._tables_changed(database)

    def compact(self, database: str = names.DEFAULT, *, timeout: float | None = None) -> tuple[int, int]:
        """Give unused space back; the bytes before and after."""
        self._check_writable()
        self._folder.existing(database)
        answer = self._ask("compact", SizesTold, timeout, database=database)
        return answer.before, answer.after

    def snapshots(self, database: str = names.DEFAULT) -> list[Snapshot]:
        """What can be restored, newest first: one is kept before something is dropped, altered or emptied."""
        return self._folder.snapshots(database)

    def restore(
        self, database: str = names.DEFAULT, snapshot: str | None = None, *, timeout: float | None = None
    ) -> str:
        """Put a snapshot, by default the newest, in the place of the contents, which become one, too."""
        self._check_writable()
        answer = self._ask("restore", RestoreTold, timeout, database=self._ready(database), snapshot=snapshot)
        self._tables_changed(database)
        return answer.restored

    def check(self, database: str) -> list[str]:
        """What SQLite finds wrong with a database; nothing when it is sound."""
        self._folder.existing(database)
        return self._ask("check", CheckTold, None, database=database).problems

    # --- whole databases leaving and entering -------------------------------------------------

    def save(self, database: str, path: Path, *, snapshot: str | None = None) -> None:
        """Write a copy of a database, or of one of its snapshots, to a new file, while it may be in use."""
        self._folder.existing(database)
        self._ask(
            "save",
            CopyTold,
            limits.FILE_SECONDS,
            database=database,
            to=str(path.resolve()),
            snapshot=snapshot,
        )

    def examine(self, path: Path) -> list[str]:
        """What is wrong with a file that is to become a database; looked at in the sandbox, and only read."""
        size = path.stat().st_size
        if size > self._most_bytes:
            return [f"it has {size:,} bytes, and a database here at most {self._most_bytes:,}"]
        self._folder.make()
        told = self._ask(
            "examine", CheckTold, limits.FILE_SECONDS, database=names.DEFAULT, path=str(path.resolve())
        )
        return told.problems

    def adopt(self, path: Path, database: str, snapshots: Mapping[str, Path]) -> None:
        """Make a copy of a file, which ``examine`` found sound, a database of a name that is free.

        ``snapshots``: by their names. A crash leaves the database with all of them, or no database.
        """
        self._check_writable()
        self._folder.adopt(path, database, snapshots)
        self._tables_changed(database)

    def tables(self, database: str = names.DEFAULT) -> list[dict[str, Any]]:
        """Tables and views, newest first, with their columns and comments; none where nothing is yet."""
        if not self._folder.has(database):
            return []
        told = self._ask("describe", TablesTold, None, database=database)
        return [msgspec.structs.asdict(table) for table in told.tables]

    def close(self) -> None:
        """End the worker; a later call starts another."""
        if self._made is not None:
            self._made.close()

    # --- inside ------------------------------------------------------------------------------

    @property
    def _worker(self) -> Worker:
        with self._starting:
            if self._made is None:
                self._made = Worker(
                    Begin(
                        self._folder.path.resolve(),
                        self._most_bytes,
                        read_only=self._read_only,
                        history=self._history,
                    )
                )
            return self._made

    def _ask(self, do: str, told: type[T], timeout: float | None, *, database: str, **further: Any) -> T:
        seconds = asked.seconds(timeout, self._seconds)
        try:
            return self._worker.ask(do, told, seconds=seconds, database=database, **further)
        except SandboxFailure as exc:
            raise exc.error(self._where(exc.told, database)) from None

    def _where(self, told: FailureTold, database: str) -> str:
        """What is added to the message of a failed statement: which one it was, and what may help."""
        if told.statement is None:
            return ""
        where = f"\nIn statement {told.statement}: {short(told.sql, _SHOWN)}"
        if not told.said:
            return where
        try:
            answer = self._worker.ask(
                "hint",
                HintTold,
                seconds=_HINT_SECONDS,
                database=database,
                sql=told.sql,
                said=told.said,
                offset=told.offset,
            )
        except (SandboxFailure, MnemosError):
            # A hint that cannot be had in time is no reason to hide the error.
            return where
        hint = "\n".join(map(visible, (answer.hint or "").split("\n")))
        return f"{where}\nHint: {hint}" if hint else where

    def _ready(self, database: str) -> str:
        """The name of a database that may be used, in a folder that is there."""
        if not self._folder.has(database):
            if self._read_only:
                raise NotFound(f"there is no database {database!r}")
            self._folder.check_free(database)
            self._folder.make()
        return database

    def _check_writable(self) -> None:
        if self._read_only:
            raise ReadOnly("the workspace was opened for reading only; nothing was changed")

    def _tables_changed(self, database: str) -> None:
        if self._schema_changed is not None:
            self._schema_changed(database)


def _answer(found: QueryTold, offset: int) -> Answer:
    return Answer(
        results=[
            StatementResult(
                statement=one.statement,
                columns=one.columns,
                rows=list(one.rows),
                changes=one.changes,
                truncated=one.more,
            )
            for one in found.results
        ],
        changes=found.changes,
        elapsed_ms=found.elapsed_ms,
        size_bytes=found.size_bytes,
        offset=offset,
        warnings=found.warnings,
        wrote=found.wrote,
        schema_changed=found.schema_changed,
    )
