"""Sessions leaving and entering whole."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from msgspec import Meta

from mnemos.errors import AlreadyExists, InvalidInput, NotFound, PermissionDenied
from mnemos.operations.base import Operation, Progress, Result, Traits

if TYPE_CHECKING:
    from mnemos.memory import Memory


class ExportSessions(Operation, frozen=True, kw_only=True):
    """Write sessions with their messages to a file, one JSON object a line; everything, or some."""

    traits: ClassVar[Traits] = Traits(
        title="Export sessions", read_only=True, local=True, positional=("path",), example=("all.jsonl",)
    )

    path: Annotated[str, Meta(description="The file to write; it must not exist")]
    session: Annotated[list[str] | None, Meta(description="Only these sessions")] = None
    source: Annotated[str | None, Meta(description="Only from this source")] = None

    def run(self, memory: Memory, progress: Progress) -> Exported:  # noqa: ARG002
        path = Path(self.path).expanduser().absolute()
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            raise AlreadyExists(f"{path} exists already; choose another name") from None
        except OSError as exc:
            raise PermissionDenied(f"{path} cannot be written: {exc.strerror}") from exc
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as stream:
            count = self._write(memory, stream)
        return Exported(path=str(path), sessions=count)

    def _write(self, memory: Memory, stream: Any) -> int:
        if self.session is None:
            return memory.sessions.export_jsonl(stream, self.source)
        ids = [memory.sessions.resolve_session(text) for text in self.session]
        return memory.sessions.write_jsonl(map(memory.sessions.export_session, ids), stream)


class Exported(Result, frozen=True, kw_only=True):
    path: str
    sessions: int

    def as_text(self) -> str:
        return f"{self.sessions} sessions written to {self.path}"


class ImportSessions(Operation, frozen=True, kw_only=True):
    """Store sessions that an export wrote. All are checked before any is stored; those already there are
    skipped. Can be undone."""

    traits: ClassVar[Traits] = Traits(
        title="Import sessions",
        idempotent=True,
        local=True,
        positional=("path",),
        stdin="text",
        example=("all.jsonl",),
    )

    path: Annotated[str | None, Meta(description="A JSONL file; - reads standard input")] = None
    text: Annotated[str | None, Meta(description="The lines themselves")] = None

    def run(self, memory: Memory, progress: Progress) -> Imported:
        if self.text is not None:
            lines = self.text.splitlines()
            return Imported(**memory.sessions.import_jsonl(lines, progress=progress))
        if self.path is None:
            raise InvalidInput("give a path, or the lines as text")
        path = Path(self.path).expanduser()
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
        there = f", {len(self.skipped)} were there already" if self.skipped else ""
        return f"{len(self.imported)} sessions with {self.messages} messages imported{there}."
