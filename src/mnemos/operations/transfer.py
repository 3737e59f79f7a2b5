"""Sessions leaving and entering whole."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import IO, TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from msgspec import Meta

from mnemos.errors import AlreadyExists, InvalidInput, NotFound, PermissionDenied
from mnemos.operations.base import LongOperation, Operation, Result, Traits
from mnemos.operations.border import file_named
from mnemos.operations.reading import write_markdown
from mnemos.operations.wording import counted
from mnemos.progress import Progress

if TYPE_CHECKING:
    from mnemos.memory import Memory


class ExportSessions(Operation, frozen=True, kw_only=True):
    """Write sessions with their messages to a file, one JSON object a line; everything, or some. As Markdown
    they are for reading, and cannot be imported."""

    traits: ClassVar[Traits] = Traits(
        title="Export sessions", local=True, positional=("path",), stdout="path", example=("all.jsonl",)
    )

    path: Annotated[str, Meta(description="The file to write, not there yet; - is standard output")]
    session: Annotated[list[str] | None, Meta(description="Only these sessions")] = None
    source: Annotated[str | None, Meta(description="Only from this source")] = None
    format: Annotated[
        Literal["jsonl", "markdown"] | None, Meta(description="Default: markdown for .md, else jsonl")
    ] = None

    def run(self, memory: Memory) -> Exported:
        sessions = self._chosen(memory)
        path = file_named(self.path)
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            raise AlreadyExists(f"{path} exists already; choose another name") from None
        except FileNotFoundError:
            raise NotFound(f"there is no folder {path.parent} to put the export in") from None
        except OSError as exc:
            raise PermissionDenied(f"{path} cannot be written: {exc.strerror}") from exc
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as stream:
                count = self._write(memory, sessions, stream)
        except BaseException:
            # Half an export looks like a whole one.
            path.unlink()
            raise
        return Exported(path=str(path), sessions=count)

    def write_lines(self, memory: Memory, stream: IO[str]) -> None:
        self._write(memory, self._chosen(memory), stream)

    def _write(self, memory: Memory, sessions: Iterable[Mapping[str, Any]], stream: IO[str]) -> int:
        by_name = "markdown" if self.path.lower().endswith((".md", ".markdown")) else "jsonl"
        if (self.format or by_name) == "markdown":
            return write_markdown(sessions, stream)
        return memory.sessions.write_jsonl(sessions, stream)

    def _chosen(self, memory: Memory) -> Iterable[Mapping[str, Any]]:
        if self.session is None:
            return memory.sessions.export_all(self.source)
        ids = [memory.sessions.resolve_session(text) for text in self.session]
        return map(memory.sessions.export_session, ids)


class Exported(Result, frozen=True, kw_only=True):
    path: str
    sessions: int

    def as_text(self) -> str:
        return f"{counted(self.sessions, 'session')} written to {self.path}"


class ImportSessions(LongOperation, frozen=True, kw_only=True):
    """Store sessions that an export wrote. All are checked before any is stored; those already there are
    skipped. Can be undone."""

    traits: ClassVar[Traits] = Traits(
        title="Import sessions",
        idempotent=True,
        local=True,
        begins=True,
        positional=("path",),
        stdin="text",
        example=("all.jsonl",),
    )

    path: Annotated[str | None, Meta(description="A JSONL file; - reads standard input")] = None
    text: Annotated[str | None, Meta(description="The lines themselves")] = None

    def work(self, memory: Memory, progress: Progress) -> Imported:
        if self.text is not None:
            # Not splitlines: U+2028 and its like may stand inside a JSON text.
            lines = self.text.split("\n")
            return Imported(**memory.sessions.import_jsonl(lines, progress=progress))
        if self.path is None:
            raise InvalidInput("give a path, or the lines as text")
        path = file_named(self.path)
        try:
            with path.open(encoding="utf-8") as stream:
                return Imported(**memory.sessions.import_jsonl(stream, progress=progress))
        except FileNotFoundError:
            raise NotFound(f"there is no file {path}") from None
        except UnicodeDecodeError as exc:
            raise InvalidInput(f"{path} is not UTF-8 text: {exc}") from exc
        except OSError as exc:
            raise PermissionDenied(f"{path} cannot be read: {exc.strerror}") from exc


class Imported(Result, frozen=True, kw_only=True):
    imported: list[str]
    skipped: list[str]
    messages: int

    def as_text(self) -> str:
        were = "was" if len(self.skipped) == 1 else "were"
        there = f", {len(self.skipped)} {were} there already" if self.skipped else ""
        brought = f"{counted(len(self.imported), 'session')} with {counted(self.messages, 'message')}"
        return f"{brought} imported{there}."
