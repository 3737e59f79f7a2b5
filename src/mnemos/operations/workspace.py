"""Operations on the workspace: private SQL databases of an agent."""

from __future__ import annotations

import math
import shutil
from base64 import b64decode, b64encode
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from typing import IO, TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import replace

from mnemos.errors import InvalidInput, SqlError
from mnemos.operations.arguments import User, leave_unlisted
from mnemos.operations.base import Info, LongOperation, Operation, Result, Traits, fill
from mnemos.operations.texts import plural, render_size
from mnemos.progress import Progress, part_of
from mnemos.text.stored_text import indent_lines, join_items
from mnemos.workspace import limits, table
from mnemos.workspace.answers import StatementResult
from mnemos.workspace.sandbox import lexer

if TYPE_CHECKING:
    from mnemos.memory import Memory
    from mnemos.workspace.answers import Answer, Exported

Database = Annotated[str, Meta(description="Created when first used")]
Name = Annotated[str, Meta(description="Name of a database")]
Params = Annotated[list[Any] | dict[str, Any] | None, Meta(description="Values of ? or :name")]


class QueryDatabase(Operation, frozen=True, kw_only=True):
    """Run SQLite SQL on your private, persistent database: keep the rows you collect, join, aggregate. One or
    several statements, all or nothing. Bind values with params; insert many with one INSERT and rows. Your
    history: tables mnemos_sessions, mnemos_messages, mnemos_facts."""

    traits: ClassVar[Traits] = Traits(
        title="Query a database",
        help="Run SQLite SQL on a database of the workspace, one or several statements, all or nothing. "
        "Sessions, messages and facts are in the tables mnemos_sessions, mnemos_messages and mnemos_facts. "
        "`mnemos sql` opens a prompt.",
        begins=True,
        positional=("query",),
        example="\"SELECT date('now')\"",
    )

    query: Annotated[str, Meta(description="SQL")]
    params: Params = None
    rows: Annotated[list[Any] | None, Meta(description="Lists or objects, for one statement")] = None
    database: Database = "default"
    max_rows: Annotated[int, Meta(ge=1, le=1000, description="Maximum number of rows to show")] = limits.ROWS
    offset: Annotated[int, Meta(ge=0, description="Number of rows to skip")] = 0
    timeout: Annotated[float | None, Meta(description="Seconds")] = None
    read_only: Annotated[bool, leave_unlisted("Refuse every change")] = False
    plan: Annotated[bool, leave_unlisted("Also show the query plan; for one statement")] = False
    whole: Annotated[bool, leave_unlisted("Return long texts and blobs in full")] = False
    user_id: User = None

    def writes(self) -> bool:
        return not self.read_only

    def destroys(self) -> bool:
        # Quoted names and texts are left out. ON DELETE is part of a foreign key.
        words = [token.text.upper() for token in lexer.tokens(self.query) if token.kind is lexer.Kind.WORD]
        return any(
            word == "DROP" or (word == "DELETE" and before != "ON") for before, word in pairwise(["", *words])
        )

    def run(self, memory: Memory) -> QueryAnswer:
        plan: list[str] | UnsetType = UNSET
        if self.plan:
            # Ignored, because the query fails below, with an error that quotes it.
            with suppress(SqlError):
                plan = self._explain(memory)
        answer = memory.workspace.query(
            self.query,
            self.params,
            rows=self.rows,
            database=self.database,
            max_rows=self.max_rows,
            offset=self.offset,
            timeout=self.timeout,
            max_bytes=None if self.whole else limits.BYTES,
            max_cell=None if self.whole else limits.CELL,
            read_only=self.read_only,
            user_id=self.user_id,
        )
        fitting = answer if self.whole else table.fit(answer, limits.BYTES)
        return replace(QueryAnswer.of(fitting), plan=plan)

    def _explain(self, memory: Memory) -> list[str]:
        """Return the query's steps, each indented below the step it belongs to."""
        answer = memory.workspace.query(
            f"EXPLAIN QUERY PLAN {self.query}",
            # Any values will do, because nothing is run.
            self.rows[0] if self.rows else self.params,
            database=self.database,
            timeout=self.timeout,
            read_only=True,
            user_id=self.user_id,
        )
        if len(answer.results) != 1:
            raise InvalidInput("plan only works with one statement. Run them one by one.")
        depths: dict[Any, int] = {0: -1}
        steps = []
        for step, parent, _, detail in answer.rows:
            depths[step] = depths.get(parent, -1) + 1
            steps.append(f"{'  ' * depths[step]}{detail}")
        return steps


class BytesCell(Info, frozen=True, kw_only=True):
    """A cell's value that is neither text nor a number."""

    base64: str


Cell = str | int | float | BytesCell | None


class StatementRows(Info, frozen=True, kw_only=True):
    """The result of one statement."""

    statement: str
    columns: list[str]
    rows: list[list[Cell]]
    row_count: int
    changes: int
    truncated: bool


class QueryAnswer(Result, frozen=True, kw_only=True):
    columns: list[str]
    rows: list[list[Cell]]
    row_count: int
    truncated: bool
    next_offset: int | None
    changes: int
    results: list[StatementRows]
    warnings: list[str]
    size_bytes: int
    elapsed_ms: float
    plan: list[str] | UnsetType = UNSET
    """SQLite's steps to run it, if they were asked for."""

    @classmethod
    def of(cls, answer: Answer) -> QueryAnswer:
        return cls(
            columns=answer.columns,
            rows=_plain(answer.rows),
            row_count=answer.row_count,
            truncated=answer.truncated,
            next_offset=answer.next_offset,
            changes=answer.changes,
            results=[
                StatementRows(
                    statement=result.statement,
                    columns=result.columns,
                    rows=_plain(result.rows),
                    row_count=result.row_count,
                    changes=result.changes,
                    truncated=result.truncated,
                )
                for result in answer.results
            ],
            warnings=answer.warnings,
            size_bytes=answer.size_bytes,
            elapsed_ms=answer.elapsed_ms,
        )

    def as_text(self) -> str:
        return self._text(limits.BYTES)

    def for_person(self) -> str:
        return self._text(None)

    def _text(self, most_bytes: int | None) -> str:
        text = table.render(
            self.statements(), next_offset=self.next_offset, warnings=self.warnings, most_bytes=most_bytes
        )
        return "\n".join((text, *self.render_plan()))

    def render_plan(self) -> Iterator[str]:
        """Yield the steps of the query, if they were asked for."""
        if self.plan:
            yield "Plan:"
            yield from map(indent_lines, self.plan)

    def statements(self) -> list[StatementResult]:
        """Return the results as the workspace gave them."""
        return [
            StatementResult(
                statement=one.statement,
                columns=one.columns,
                rows=[list(map(_value, row)) for row in one.rows],
                changes=one.changes,
                truncated=one.truncated,
            )
            for one in self.results
        ]


class ShowSchema(Operation, frozen=True, kw_only=True):
    """See what the database holds before you query it: tables, columns, row counts, ranges, samples."""

    traits: ClassVar[Traits] = Traits(
        title="Show a database's schema",
        help="Show the tables of a database with columns, row counts, ranges and samples.",
        read_only=True,
        begins=True,
        positional=("table",),
    )

    table: Annotated[str | None, Meta(description="Only this table, in detail")] = None
    database: Database = "default"
    functions: Annotated[bool, Meta(description="List the SQL functions beyond SQLite's own")] = False

    def run(self, memory: Memory) -> SchemaShown:
        if self.functions:
            functions = [[one.signature, one.doc] for one in memory.workspace.functions()]
            return SchemaShown(database=self.database, card="", tables=[], functions=functions)
        card = memory.workspace.schema(self.database, table=self.table)
        return SchemaShown(
            database=self.database,
            card=card.text,
            tables=[fill(TableInfo, one) for one in card.tables],
            functions=[],
        )


class ReferenceInfo(Info, frozen=True, kw_only=True):
    """A foreign key."""

    columns: list[str]
    table: str
    to: list[str]


class ColumnInfo(Info, frozen=True, kw_only=True):
    """A column with a summary of its values. Unknown properties are left out."""

    name: str
    type: str
    primary_key: bool
    not_null: bool
    default: str | None
    unique: bool
    generated: str | UnsetType = UNSET
    references: ReferenceInfo | UnsetType = UNSET
    stored: str | UnsetType = UNSET
    kind: str | UnsetType = UNSET
    range: list[Cell] | UnsetType = UNSET
    range_exact: bool | UnsetType = UNSET
    values: list[Cell] | UnsetType = UNSET
    values_exact: bool | UnsetType = UNSET


class TableInfo(Info, frozen=True, kw_only=True):
    """A table or view. Unknown properties are left out."""

    name: str
    kind: str
    columns: list[ColumnInfo]
    column_count: int
    rows: int | None
    rows_exact: bool
    sampled_rows: int
    sampled_all: bool
    sample_columns: list[str]
    sample: list[list[Cell]]
    comment: str | UnsetType = UNSET
    definition: str | UnsetType = UNSET
    """The SELECT of a view."""
    not_read: str | UnsetType = UNSET
    module: str | UnsetType = UNSET
    unique: list[list[str]] | UnsetType = UNSET
    """Sets of columns that identify a row, besides the primary key."""
    foreign_keys: list[ReferenceInfo] | UnsetType = UNSET
    sql: str | UnsetType = UNSET


class SchemaShown(Result, frozen=True, kw_only=True):
    database: str
    card: str
    tables: list[TableInfo]
    functions: list[list[str]]

    def as_text(self) -> str:
        if self.functions:
            return join_items(f"{signature}: {doc}" for signature, doc in self.functions)
        return self.card


class ExportRows(Operation, frozen=True, kw_only=True):
    """Write the rows of a SELECT to a file: CSV, TSV, JSON, JSON lines or Markdown, by its name."""

    traits: ClassVar[Traits] = Traits(
        title="Export rows",
        local=True,
        begins=True,
        positional=("path", "query"),
        stdout="path",
        example='prices.csv "SELECT * FROM prices"',
    )

    query: Annotated[str, Meta(description="One SELECT")]
    path: Annotated[str, Meta(description="File in the files folder")]
    format: Annotated[
        Literal["csv", "tsv", "json", "jsonl", "markdown"] | None,
        Meta(description="Default: from the file name"),
    ] = None
    params: Params = None
    database: Database = "default"
    overwrite: Annotated[bool, Meta(description="Replace an existing file")] = False
    user_id: User = None

    def writes(self) -> bool:
        # Not skipped if memory is disabled: without a file, the call has to fail.
        return False

    def run(self, memory: Memory) -> RowsExported:
        done = self._export(memory, self.path, self.format)
        memory.changes.record_export(done.path)
        return RowsExported(path=str(done.path), rows=done.rows, bytes=done.bytes)

    def _export(self, memory: Memory, path: str, format: str | None) -> Exported:
        return memory.workspace.export(
            self.query,
            path,
            format,
            params=self.params,
            database=self.database,
            overwrite=self.overwrite,
            user_id=self.user_id,
        )

    def write_lines(self, memory: Memory, stream: IO[str]) -> None:
        with memory.workspace.files.scratch_folder() as folder:
            done = self._export(memory, f"{folder}/rows", self.format or "csv")
            # newline="": keep line breaks in cells, as for a file.
            with done.path.open(encoding="utf-8", errors="replace", newline="") as written:
                shutil.copyfileobj(written, stream)


class RowsExported(Result, frozen=True, kw_only=True):
    path: str
    rows: int
    bytes: int

    def as_text(self) -> str:
        return join_items([f"Wrote {plural(self.rows, 'row')} ({render_size(self.bytes)}) to {self.path}."])


class ImportRows(LongOperation, frozen=True, kw_only=True):
    """Import the rows of a CSV, TSV, JSON or JSONL file (also .gz), or of text, into a table, all or nothing.
    Delimiter, header and types are detected; bad lines are skipped and reported with their numbers."""

    traits: ClassVar[Traits] = Traits(
        title="Import rows",
        local=True,
        begins=True,
        positional=("table", "path"),
        stdin="text",
        example="orders orders.csv",
    )

    table: Annotated[str, Meta(description="Name of the table")]
    path: Annotated[str | None, Meta(description="File in the files folder")] = None
    text: Annotated[str | None, Meta(description="Or the rows as text")] = None
    format: Annotated[
        Literal["csv", "tsv", "json", "jsonl"] | None, Meta(description="Default: detected")
    ] = None
    mode: Annotated[
        Literal["create", "append", "replace", "upsert"],
        Meta(description="upsert updates rows with the same key"),
    ] = "create"
    key: Annotated[str | None, Meta(description="Column, or a,b, that identifies a row")] = None
    database: Database = "default"

    def work(self, memory: Memory, progress: Progress) -> RowsImported:
        done = memory.workspace.import_file(
            self.path,
            self.table,
            text=self.text,
            format=self.format,
            mode=self.mode,
            key=self.key,
            database=self.database,
            progress=part_of(progress, 0, 1, "Reading rows"),
        )
        return RowsImported(
            table=done.table,
            created=done.created,
            rows=done.rows,
            columns=[ColumnType(name=name, type=kind) for name, kind in done.columns],
            bad_lines=[BadLine(line=number, reason=reason) for number, reason in done.bad],
            bad_count=done.bad_count,
            notes=done.notes,
        )


class ColumnType(Info, frozen=True, kw_only=True):
    name: str
    type: str


class BadLine(Info, frozen=True, kw_only=True):
    line: int
    reason: str


class RowsImported(Result, frozen=True, kw_only=True):
    table: str
    created: bool
    rows: int
    columns: list[ColumnType]
    bad_lines: list[BadLine]
    bad_count: int
    notes: list[str]

    def as_text(self) -> str:
        into = f"the new table {self.table}" if self.created else self.table
        columns = ", ".join(f"{one.name} {one.type}".rstrip() for one in self.columns)
        lines = [f"Imported {plural(self.rows, 'row')} into {into}: {columns}", *self.notes]
        if self.bad_count:
            lines.append(f"Skipped {plural(self.bad_count, 'bad line')}:")
            lines += [f"  line {one.line}: {one.reason}" for one in self.bad_lines]
            if self.bad_count > len(self.bad_lines):
                lines.append(f"  … and {self.bad_count - len(self.bad_lines):,} more")
        return join_items(lines)


def _plain(rows: Any) -> list[list[Cell]]:
    return [[_cell(value) for value in row] for row in rows]


def _value(cell: Cell) -> Any:
    return b64decode(cell.base64) if isinstance(cell, BytesCell) else cell


def _cell(value: Any) -> Any:
    """Convert a value to what JSON has: infinities become text."""
    if isinstance(value, bytes):
        return BytesCell(base64=b64encode(value).decode())
    if isinstance(value, float) and not math.isfinite(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value
