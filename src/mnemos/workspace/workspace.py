"""The workspace of a space: SQL databases, reached only through a sandboxed worker."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mnemos import inputs
from mnemos.errors import InvalidInput, MnemosError, NotFound, ReadOnly, Refused, TooLarge
from mnemos.text.stored_text import reveal
from mnemos.workspace import arguments, exchange, limits
from mnemos.workspace.answers import (
    Answer,
    Card,
    DatabaseInfo,
    Exported,
    FailureReply,
    Imported,
    Snapshot,
    TableNames,
)
from mnemos.workspace.exchange import Files
from mnemos.workspace.folder import Folder
from mnemos.workspace.identifiers import DEFAULT, shorten
from mnemos.workspace.limits import Quota
from mnemos.workspace.usage import Use, measure, measure_exports, name_largest, note_export
from mnemos.workspace.worker import Begin, Pages, SandboxFailure, T, Worker

if TYPE_CHECKING:
    from mnemos.workspace.functions.function import Function

_HINT_SECONDS = 3.0
_QUOTA = Quota()
_SHOWN = 200
SchemaChanged = Callable[[str], None]
"""Called with the name of a database whose tables may have changed."""


class Workspace:
    """SQL databases for an agent. Every statement runs in a sandboxed process.

    Nothing is created or started before the first call that needs it.
    """

    def __init__(
        self,
        folder: Path,
        *,
        files: Path | None = None,
        quota: Quota = _QUOTA,
        seconds: float = limits.SECONDS,
        read_only: bool = False,
        check_enabled: Callable[[str], None] = lambda _: None,
        history: tuple[Path, str] | Pages | None = None,
        schema_changed: SchemaChanged | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._folder = Folder(folder, quota)
        self.files = Files(files or folder / "files")
        self._quota = quota
        self._seconds = seconds
        self._read_only = read_only
        self._check_enabled = check_enabled
        self._history = history
        self._schema_changed = schema_changed
        self._clock = clock
        self._starting = threading.Lock()
        self._made: Worker | None = None

    def query(
        self,
        query: str,
        params: Sequence[Any] | Mapping[str, Any] | None = None,
        *,
        rows: Sequence[Any] | None = None,
        database: str = DEFAULT,
        max_rows: int = limits.ROWS,
        offset: int = 0,
        timeout: float | None = None,
        read_only: bool = False,
        max_bytes: int | None = None,
        max_cell: int | None = None,
        user_id: str | None = None,
    ) -> Answer:
        """Run one or more statements in one transaction, all or nothing.

        ``params`` are bound by position or by name. With ``rows``, the one statement runs with each of them.
        Up to ``max_rows`` rows are returned, after ``offset`` rows of the last statement. With ``max_cell``,
        long texts are cut and blobs described. With ``user_id``, the tables of the history have nothing of
        other users.

        A failed statement raises SqlError with its number and a hint, a forbidden one Refused, and a slow one
        TimedOut.
        """
        answer = self._ask(
            "query",
            Answer,
            timeout,
            database=self._prepare(database, read_only=read_only),
            sql=arguments.check_text("query", query),
            params=arguments.check_parameters(params),
            rows=arguments.check_rows(rows),
            max_rows=inputs.whole("max_rows", max_rows),
            max_bytes=arguments.clamp("max_bytes", max_bytes, limits.ANSWER.value),
            max_cell=None if max_cell is None else inputs.whole("max_cell", max_cell),
            offset=inputs.whole("offset", offset),
            read_only=read_only or self._read_only,
            user=inputs.optional_name("user_id", user_id),
        )
        if answer.schema_changed:
            self._tables_changed(database)
        return answer

    def schema(
        self,
        database: str = DEFAULT,
        *,
        table: str | None = None,
        tokens: int | None = None,
        timeout: float | None = None,
    ) -> Card:
        """Return the schema card: tables with columns, counts, ranges and samples, last used first.

        ``table`` asks for one table in detail, and ``tokens`` limits the text. Figures from a sample are
        marked as such.
        """
        if not self._folder.has(database):
            if table is not None:
                raise NotFound(f"There is no table {table!r}: the database {database!r} is empty.")
            return Card(f"The database {database} has no tables yet. Create one with CREATE TABLE.", [])
        return self._ask(
            "card",
            Card,
            timeout,
            database=database,
            table=None if table is None else arguments.check_text("table", table),
            tokens=None if tokens is None else inputs.whole("tokens", tokens),
        )

    def functions(self) -> Sequence[Function]:
        """Return the SQL functions that the workspace adds to SQLite's own."""
        # Their modules: only needed to list them.
        from mnemos.workspace.functions import FUNCTIONS

        return FUNCTIONS

    def export(
        self,
        query: str,
        path: str | os.PathLike[str],
        format: str | None = None,
        *,
        params: Sequence[Any] | Mapping[str, Any] | None = None,
        database: str = DEFAULT,
        overwrite: bool = False,
        timeout: float | None = None,
        user_id: str | None = None,
    ) -> Exported:
        """Write the rows of one SELECT to a file in the folder for files, all or nothing.

        ``format`` is csv, tsv, json, jsonl or markdown; by default it follows from the file name.
        """
        self._check_enabled("No file was written")
        target = self.files.resolve(path)
        room = self._find_export_room(target)
        chosen = exchange.export_format(target.name, format)
        seconds = arguments.check_timeout(timeout, limits.FILE_SECONDS)
        self.files.prepare(target)
        with exchange.replace_file(target, overwrite=overwrite) as file:
            rows, size = self._ask(
                "export",
                tuple[int, int],
                seconds,
                database=self._prepare(database),
                sql=arguments.check_text("query", query),
                params=arguments.check_parameters(params),
                format=chosen,
                file=file,
                most_bytes=room,
                user=inputs.optional_name("user_id", user_id),
            )
        if room is not None:
            note_export(self._folder.path, target)
        return Exported(target, rows, size)

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
        database: str = DEFAULT,
        timeout: float | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> Imported:
        """Import the rows of a file, or of ``text``, into a table, all or nothing.

        Mode ``create`` makes the table, ``append`` adds to it, ``replace`` makes it again, and ``upsert``
        updates the rows whose ``key`` exists. Types are those that fit all rows. Bad lines are left out and
        reported.
        """
        self._check_enabled("Nothing was changed")
        if (path is None) == (text is None):
            raise InvalidInput("Pass either a path or a text.")
        source = None if path is None else self.files.find(path)
        with (
            exchange.open_text(arguments.check_text("text", text))
            if source is None
            else exchange.open_file(source) as file
        ):
            answer = self._ask(
                "import",
                Imported,
                arguments.check_timeout(timeout, limits.FILE_SECONDS),
                database=self._prepare(database),
                table=arguments.check_table(table),
                mode=arguments.check_choice("mode", mode, exchange.MODES),
                key=arguments.check_key(key, mode),
                format=None
                if format is None
                else arguments.check_choice("format", format, exchange.IMPORT_FORMATS),
                header=header,
                name="text" if source is None else source.name,
                file=file,
                progress=progress,
            )
        if answer.schema_changed:
            self._tables_changed(database)
        return answer

    def usage(self) -> list[Use]:
        """Return how much of everything that is limited in total is used."""
        return measure(self._folder.path, self._quota)

    def exports(self) -> list[Path]:
        """Return the files that agents exported and that are still there."""
        return [Path(path) for path in measure_exports(self._folder.path)]

    def databases(self) -> list[DatabaseInfo]:
        """Return every database of the space, the last used first."""
        return self._folder.databases()

    def has(self, database: str = DEFAULT) -> bool:
        return self._folder.has(database)

    def rename(self, database: str, to: str) -> None:
        """Rename a database with its snapshots. No other program may have it open."""
        self._check_writable()
        self._folder.find(database)
        self._folder.check_free(to)
        # Closing the last connection writes the journal into the file.
        self.close()
        self._folder.rename(database, to)
        self._tables_changed(database)
        self._tables_changed(to)

    def copy(self, database: str, to: str) -> None:
        """Copy a database as it is now, while it may be in use."""
        self._check_writable()
        self._folder.check_new(to, self._folder.find(database).stat().st_size)
        self._ask("copy", int, None, database=database, to=to)
        self._tables_changed(to)

    def delete(self, database: str, *, confirm: str) -> None:
        """Permanently delete a database and its snapshots. ``confirm`` must be its name."""
        self._check_writable()
        self._folder.find(database)
        if confirm != database:
            raise Refused(f"confirm must be the name of the database, {database!r}, not {confirm!r}.")
        self.close()
        self._folder.delete(database)
        self._tables_changed(database)

    def compact(self, database: str = DEFAULT, *, timeout: float | None = None) -> tuple[int, int]:
        """Give unused space back and return the bytes before and after."""
        self._check_writable()
        self._folder.find(database)
        return self._ask("compact", tuple[int, int], timeout, database=database)

    def snapshots(self, database: str = DEFAULT) -> list[Snapshot]:
        """Return the snapshots, newest first. One is kept before a table is dropped, altered or emptied.

        The newest five stay, and the first of each of the last hours, days and weeks in which there is one.
        """
        return self._folder.snapshots(database)

    def restore(
        self, database: str = DEFAULT, snapshot: str | None = None, *, timeout: float | None = None
    ) -> str:
        """Restore a snapshot, by default the newest. The former contents become a snapshot, too."""
        self._check_writable()
        if snapshot is not None and not isinstance(snapshot, str):
            raise InvalidInput(f"snapshot must be a string, not {snapshot!r:.100}")
        restored = self._ask("restore", str, timeout, database=self._prepare(database), snapshot=snapshot)
        self._tables_changed(database)
        return restored

    def check(self, database: str) -> list[str]:
        """Return the problems SQLite finds in a database; empty if it is sound."""
        self._folder.find(database)
        return self._ask("check", list[str], None, database=database)

    def save(self, database: str, path: Path, *, snapshot: str | None = None) -> None:
        """Copy a database or one of its snapshots to a new file, while it may be in use."""
        self._check_enabled("No file was written")
        self._folder.find(database)
        self._ask(
            "save",
            int,
            limits.FILE_SECONDS,
            database=database,
            to=str(path.resolve()),
            snapshot=snapshot,
        )

    def examine(self, path: Path) -> list[str]:
        """Return the problems of a file that is to become a database. The sandbox only reads it."""
        size = path.stat().st_size
        if size > self._quota.database_bytes:
            return [f"it has {size:,} bytes; a database may have {self._quota.database_bytes:,}"]
        self._folder.make()
        return self._ask(
            "examine", list[str], limits.FILE_SECONDS, database=DEFAULT, path=str(path.resolve())
        )

    def adopt(self, path: Path, database: str, snapshots: Mapping[str, Path]) -> None:
        """Copy a file that ``examine`` found sound into the workspace, under a free name.

        ``snapshots`` are files by name. A crash leaves the database with all of them, or no database.
        """
        self._check_writable()
        self._folder.adopt(path, database, snapshots)
        self._tables_changed(database)

    def tables(self, database: str = DEFAULT) -> list[TableNames]:
        """Return tables and views with their columns and comments, newest first."""
        if not self._folder.has(database):
            return []
        return self._ask("describe", list[TableNames], None, database=database)

    def close(self) -> None:
        """End the worker. A later call starts another."""
        if self._made is not None:
            self._made.close()

    @property
    def _worker(self) -> Worker:
        with self._starting:
            if self._made is None:
                self._made = Worker(
                    Begin(
                        self._folder.path.resolve(),
                        self._quota,
                        read_only=self._read_only,
                        history=self._history,
                    ),
                    self._clock,
                )
            return self._made

    def _ask(self, do: str, shape: type[T], timeout: float | None, *, database: str, **further: Any) -> T:
        seconds = arguments.check_timeout(timeout, self._seconds)
        try:
            return self._worker.ask(do, shape, seconds=seconds, database=database, **further)
        except SandboxFailure as exc:
            raise exc.to_error(self._locate(exc.reply, database)) from None

    def _locate(self, failure: FailureReply, database: str) -> str:
        """Return what to add to an error: which statement failed, and a hint."""
        if failure.statement is None:
            return ""
        where = f"\nIn statement {failure.statement}: {shorten(failure.sql, _SHOWN)}"
        if not failure.said:
            return where
        try:
            said = self._worker.ask(
                "hint",
                str,
                seconds=_HINT_SECONDS,
                database=database,
                sql=failure.sql,
                said=failure.said,
                offset=failure.offset,
            )
        except (SandboxFailure, MnemosError):
            # A hint that is late or fails must not hide the error.
            return where
        hint = "\n".join(map(reveal, said.split("\n")))
        return f"{where}\nHint: {hint}" if hint else where

    def _find_export_room(self, target: Path) -> int | None:
        """Return how large an export may become. None for a person at a command line, who has no limit."""
        if self.files.folder == exchange.ANYWHERE:
            return None
        sizes = measure_exports(self._folder.path)
        # It takes the place of this one.
        sizes.pop(str(target), None)
        room = self._quota.exports_bytes - sum(sizes.values())
        if room <= 0:
            raise TooLarge(
                f"The exports of this space use {sum(sizes.values()):,} of {self._quota.exports_bytes:,} "
                f"bytes ({name_largest(sizes)}). Delete those that are not needed, or raise "
                "exports_bytes in config.toml."
            )
        return room

    def _prepare(self, database: str, *, read_only: bool = False) -> str:
        """Return the name of a usable database, whose folder exists."""
        if not self._folder.has(database):
            if self._read_only or read_only:
                raise NotFound(f"There is no database {database!r}.")
            self._folder.check_new(database)
            self._folder.make()
        return database

    def _check_writable(self) -> None:
        self._check_enabled("Nothing was changed")
        if self._read_only:
            raise ReadOnly("The workspace is read-only. Nothing was changed.")

    def _tables_changed(self, database: str) -> None:
        if self._schema_changed is not None:
            self._schema_changed(database)
