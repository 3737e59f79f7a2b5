"""Operations on the workspace: SQL databases of the agent's own."""

from __future__ import annotations

import math
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import Meta

from mnemos.operations.base import LongOperation, Operation, Result, Traits
from mnemos.operations.upkeep import size
from mnemos.operations.wording import counted
from mnemos.progress import Progress
from mnemos.workspace import limits, table
from mnemos.workspace.answers import StatementResult

if TYPE_CHECKING:
    from mnemos.memory import Memory
    from mnemos.workspace.answers import Answer

Database = Annotated[str, Meta(description="Made when first used")]


class QueryDatabase(Operation, frozen=True, kw_only=True):
    """Run SQLite SQL on your private, persistent database: keep the rows you collect, join, aggregate. One or
    several statements, all or nothing. Bind values with params; insert many with one INSERT and rows. Your
    history: tables mnemos_sessions, mnemos_messages, mnemos_facts."""

    traits: ClassVar[Traits] = Traits(
        title="Query a database",
        begins=True,
        positional=("query",),
        example=("SELECT date('now')",),
    )

    query: Annotated[str, Meta(description="SQL")]
    params: Annotated[list[Any] | dict[str, Any] | None, Meta(description="Values of ? or :name")] = None
    rows: Annotated[list[Any] | None, Meta(description="Lists or objects, for one statement")] = None
    database: Database = "default"
    max_rows: Annotated[int, Meta(ge=1, le=1000, description="Rows to show")] = limits.ROWS
    offset: Annotated[int, Meta(ge=0, description="Rows to skip")] = 0
    timeout: Annotated[float | None, Meta(description="Seconds")] = None

    def run(self, memory: Memory) -> QueryAnswer:
        answer = memory.workspace.query(
            self.query,
            self.params,
            rows=self.rows,
            database=self.database,
            max_rows=self.max_rows,
            offset=self.offset,
            timeout=self.timeout,
            max_bytes=limits.BYTES,
            max_cell=limits.CELL,
        )
        return QueryAnswer.of(table.fit(answer, limits.BYTES))


class QueryAnswer(Result, frozen=True, kw_only=True):
    columns: list[str]
    rows: list[list[Any]]
    row_count: int
    truncated: bool
    next_offset: int | None
    changes: int
    results: list[dict[str, Any]]
    warnings: list[str]
    size_bytes: int
    elapsed_ms: float

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
                {
                    "statement": result.statement,
                    "columns": result.columns,
                    "rows": _plain(result.rows),
                    "row_count": result.row_count,
                    "changes": result.changes,
                    "truncated": result.truncated,
                }
                for result in answer.results
            ],
            warnings=answer.warnings,
            size_bytes=answer.size_bytes,
            elapsed_ms=answer.elapsed_ms,
        )

    def as_text(self) -> str:
        return self._text(limits.BYTES)

    def readable(self) -> str:
        return self._text(None)

    def _text(self, most_bytes: int | None) -> str:
        return table.render(
            self.statements(), next_offset=self.next_offset, warnings=self.warnings, most_bytes=most_bytes
        )

    def statements(self) -> list[StatementResult]:
        """The results as the workspace gave them."""
        return [
            StatementResult(
                statement=one["statement"],
                columns=one["columns"],
                rows=one["rows"],
                changes=one["changes"],
                truncated=one["truncated"],
            )
            for one in self.results
        ]


class ShowSchema(Operation, frozen=True, kw_only=True):
    """See what the database holds before you query it: tables, columns, row counts, ranges, samples."""

    traits: ClassVar[Traits] = Traits(
        title="Show a database's schema", read_only=True, begins=True, positional=("table",)
    )

    table: Annotated[str | None, Meta(description="Only this one, in detail")] = None
    database: Database = "default"
    functions: Annotated[bool, Meta(description="List the SQL functions beyond SQLite's own")] = False

    def run(self, memory: Memory) -> SchemaShown:
        if self.functions:
            functions = [[one.signature, one.doc] for one in memory.workspace.functions()]
            return SchemaShown(database=self.database, card="", tables=[], functions=functions)
        card = memory.workspace.schema(self.database, table=self.table)
        return SchemaShown(database=self.database, card=card.text, tables=card.tables, functions=[])


class SchemaShown(Result, frozen=True, kw_only=True):
    database: str
    card: str
    tables: list[dict[str, Any]]
    functions: list[list[str]]

    def as_text(self) -> str:
        if self.functions:
            return "\n".join(f"{signature}: {doc}" for signature, doc in self.functions)
        return self.card


class ExportRows(Operation, frozen=True, kw_only=True):
    """Write what a SELECT gives to a file: CSV, TSV, JSON, JSON lines or Markdown, by its name."""

    traits: ClassVar[Traits] = Traits(
        title="Export rows",
        local=True,
        begins=True,
        positional=("path", "query"),
        stdout="path",
        example=("prices.csv", "SELECT * FROM prices"),
    )

    query: Annotated[str, Meta(description="One SELECT")]
    path: Annotated[str, Meta(description="A file in the folder for files")]
    format: Annotated[
        Literal["csv", "tsv", "json", "jsonl", "markdown"] | None, Meta(description="Default: by the name")
    ] = None
    params: Annotated[list[Any] | dict[str, Any] | None, Meta(description="Values of ? or :name")] = None
    database: Database = "default"
    overwrite: Annotated[bool, Meta(description="Replace a file that is there")] = False

    def run(self, memory: Memory) -> RowsExported:
        done = memory.workspace.export(
            self.query,
            self.path,
            self.format,
            params=self.params,
            database=self.database,
            overwrite=self.overwrite,
        )
        return RowsExported(path=str(done.path), rows=done.rows, bytes=done.bytes)

    def write_lines(self, memory: Memory, stream: IO[str]) -> None:
        with TemporaryDirectory() as folder:
            copy = msgspec.structs.replace(self, path=f"{folder}/rows", format=self.format or "csv")
            rows = Path(copy.run(memory).path)
            # Line breaks within cells stay what they are, as they do in a file.
            with rows.open(encoding="utf-8", errors="replace", newline="") as written:
                shutil.copyfileobj(written, stream)


class RowsExported(Result, frozen=True, kw_only=True):
    path: str
    rows: int
    bytes: int

    def as_text(self) -> str:
        return f"{counted(self.rows, 'row')} ({size(self.bytes)}) written to {self.path}."


class ImportRows(LongOperation, frozen=True, kw_only=True):
    """Bring the rows of a CSV, TSV, JSON or JSONL file (also .gz), or of text, into a table, all or nothing.
    Delimiter, header and types are found; bad lines are left out and reported with their numbers."""

    traits: ClassVar[Traits] = Traits(
        title="Import rows",
        local=True,
        begins=True,
        positional=("table", "path"),
        stdin="text",
        example=("prices", "prices.csv"),
    )

    table: Annotated[str, Meta(description="The table")]
    path: Annotated[str | None, Meta(description="A file in the folder for files")] = None
    text: Annotated[str | None, Meta(description="The rows themselves; of path -, standard input")] = None
    format: Annotated[
        Literal["csv", "tsv", "json", "jsonl"] | None, Meta(description="Default: found out")
    ] = None
    mode: Annotated[
        Literal["create", "append", "replace", "upsert"],
        Meta(description="upsert updates rows with the same key"),
    ] = "create"
    key: Annotated[str | None, Meta(description="The column (or a,b) that tells rows apart")] = None
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
            progress=progress,
        )
        return RowsImported(
            table=done.table,
            created=done.created,
            rows=done.rows,
            columns=[{"name": name, "type": kind} for name, kind in done.columns],
            bad_lines=[{"line": number, "reason": reason} for number, reason in done.bad],
            bad_count=done.bad_count,
            notes=done.notes,
        )


class RowsImported(Result, frozen=True, kw_only=True):
    table: str
    created: bool
    rows: int
    columns: list[dict[str, str]]
    bad_lines: list[dict[str, Any]]
    bad_count: int
    notes: list[str]

    def as_text(self) -> str:
        into = f"the new table {self.table}" if self.created else self.table
        columns = ", ".join(f"{one['name']} {one['type']}".rstrip() for one in self.columns)
        lines = [f"{counted(self.rows, 'row')} into {into}: {columns}", *self.notes]
        if self.bad_count:
            lines.append(f"{counted(self.bad_count, 'line')} left out:")
            lines += [f"  line {one['line']}: {one['reason']}" for one in self.bad_lines]
            if self.bad_count > len(self.bad_lines):
                lines.append("  and further ones")
        return "\n".join(lines)


def _plain(rows: Any) -> list[list[Any]]:
    """Rows as JSON carries them, which has no infinity."""
    return [[_number(value) if isinstance(value, float) else value for value in row] for row in rows]


def _number(value: float) -> float | str:
    return value if math.isfinite(value) else ("Infinity" if value > 0 else "-Infinity")
