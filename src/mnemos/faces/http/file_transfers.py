"""Files in bodies: downloads of exports and backups, and uploads to import.

Paths of these operations are paths on the client's machine, so none is read from a request.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

import msgspec

from mnemos import files
from mnemos.cancellation import Cancellation
from mnemos.errors import Busy, InvalidInput
from mnemos.faces.http import limits
from mnemos.faces.http.delivery import begin, follow
from mnemos.faces.http.http_request import Request
from mnemos.faces.http.operation_calls import Call, OperationCalls
from mnemos.faces.http.replies import Reply
from mnemos.faces.http.workers import Spaces
from mnemos.operations import registry
from mnemos.operations.base import Operation, carry_out
from mnemos.operations.index import BY_NAME

LINES: Final[Mapping[str, str]] = {
    "application/x-ndjson": "jsonl",
    "text/csv": "csv",
    "text/tab-separated-values": "tsv",
    "text/markdown": "markdown",
}
"""The formats of operations that write lines, by media type."""

DOWNLOADS: Final[Mapping[str, Mapping[str, str]]] = {
    "export": {"application/zstd": ".tar.zst", "application/gzip": ".tar.gz", "application/x-tar": ".tar"},
    "backup": {"application/vnd.sqlite3": ".db"},
}
"""Endings of the files that operations write, by media type."""

UPLOADS: Final = frozenset(
    {
        *("import_chatgpt", "import_claude", "import_jsonl", "import_archive", "verify"),
        *("sessions_import", "sqlite_import"),
    }
)
"""Operations that read one file."""
UPLOADED: Final[Mapping[str, str]] = {
    "application/octet-stream": "",
    "application/zip": ".zip",
    "application/zstd": ".tar.zst",
    "application/gzip": ".gz",
    "application/x-tar": ".tar",
    "application/x-ndjson": ".jsonl",
    "text/csv": ".csv",
    "text/tab-separated-values": ".tsv",
}
"""Endings of uploaded files, by media type. JSON is not among them, because it holds arguments."""

_WRITE_BYTES: Final = 1024 * 1024


def has_lines(name: str) -> bool:
    """True for an operation that can write lines instead of a file."""
    return bool(registry.load(BY_NAME[name]).traits.stdout)


def fill_lines(name: str, arguments: dict[str, Any], format: str) -> Operation:
    """Fill an operation that writes lines in a format."""
    field = registry.find(name).traits.stdout
    _check_no_path(arguments, field)
    if arguments.setdefault("format", format) != format:
        raise InvalidInput(f"format is {arguments['format']!r}, but the header 'Accept' asks for {format}.")
    return registry.read(name, arguments | {field: "-"})


def fill_file(name: str, arguments: Mapping[str, Any], path: str = "-") -> Operation:
    """Fill an operation whose file is in a body, stored at ``path`` until it has run."""
    _check_no_path(arguments)
    return registry.read(name, {**arguments, "path": path})


def _check_no_path(arguments: Mapping[str, Any], field: str = "path") -> None:
    if arguments.get(field, "-") != "-":
        raise InvalidInput(f"Leave {field} out: the file is in the body.")


async def send_lines(calls: OperationCalls, call: Call, media: str) -> Reply:
    """Answer with the lines of an operation, as they are written."""
    # Written to an unnamed file, so that a slow client doesn't block the thread that writes.
    file = cast(BinaryIO, tempfile.TemporaryFile(dir=calls.spaces.home))  # noqa: SIM115

    def write(_: Cancellation) -> None:
        operation = call.read_allowed()
        with (
            calls.use(call.grant) as memory,
            open(os.dup(file.fileno()), "w", encoding="utf-8", errors="replace", newline="") as stream,  # noqa: PTH123
        ):
            operation.write_lines(memory, stream)

    try:
        writing, _ = calls.start(call.name, call.owner, write)
    except Busy:
        file.close()
        raise
    return Reply(200, await begin(follow(file, writing)), media=f"{media}; charset=utf-8")


async def send_file(calls: OperationCalls, call: Call, media: str) -> Reply:
    """Send the file that an operation writes, once it is complete and verified."""
    ending = DOWNLOADS[call.name][media]

    def write(cancellation: Cancellation) -> BinaryIO:
        operation = call.read_allowed()
        with (
            calls.use(call.grant) as memory,
            memory.workspace.files.scratch_folder() as folder,
        ):
            path = folder / f"file{ending}"
            carry_out(_at(operation, path), memory, cancellation.check)
            # The open file can still be sent after its name is deleted.
            return path.open("rb")

    file = await calls.run(call.name, call.owner, write)
    sent: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    sent.set_result(None)
    name = f"mnemos-{datetime.now(UTC):%Y%m%d-%H%M%S}{ending}"
    headers = {
        "content-disposition": f'attachment; filename="{name}"',
        "content-length": str(os.fstat(file.fileno()).st_size),
    }
    return Reply(200, follow(file, sent), headers, media)


class Uploads:
    """Files being received."""

    def __init__(self, spaces: Spaces) -> None:
        self._spaces = spaces
        self._open = 0

    async def receive(self, request: Request, call: Call) -> Call:
        """Store the body in a file, and return the call that reads and deletes it."""
        operation = call.read_allowed()
        if self._open >= limits.UPLOADS:
            raise Busy("The server is receiving too many files. Try again.")
        self._open += 1
        kept = ExitStack()
        try:
            path = await asyncio.to_thread(self._choose_path, kept, call, UPLOADED[request.media])
            await _store(request, path)
        except BaseException:
            await asyncio.to_thread(kept.close)
            raise
        finally:
            self._open -= 1
        return replace(call, read=lambda: _at(operation, path), kept=kept, file=str(path))

    def _choose_path(self, kept: ExitStack, call: Call, ending: str) -> Path:
        memory = kept.enter_context(self._spaces.use(call.grant.space, by_person=call.grant.is_person))
        return kept.enter_context(memory.workspace.files.scratch_folder()) / f"upload{ending}"


async def _store(request: Request, path: Path) -> None:
    """Write a body to a file while it arrives."""
    try:
        with path.open("xb", buffering=_WRITE_BYTES) as file:
            async for piece in request.pieces(limits.UPLOAD_BYTES):
                await asyncio.to_thread(file.write, piece)
    except OSError as exc:
        raise files.write_error(exc, path) from exc


def _at(operation: Operation, path: Path) -> Operation:
    return msgspec.structs.replace(operation, path=str(path))
