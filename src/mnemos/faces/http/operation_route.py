"""The route of an operation: reads its input and answers in the client's format."""

from __future__ import annotations

from functools import partial
from typing import Final

from mnemos.errors import InvalidInput, MnemosError
from mnemos.faces.http import limits
from mnemos.faces.http.delivery import begin
from mnemos.faces.http.file_transfers import (
    DOWNLOADS,
    LINES,
    UPLOADED,
    UPLOADS,
    Uploads,
    fill_file,
    fill_lines,
    has_lines,
    send_file,
    send_lines,
)
from mnemos.faces.http.http_request import Request
from mnemos.faces.http.operation_calls import Call, OperationCalls, read_arguments, read_json
from mnemos.faces.http.replies import EVENTS, JSON, Rejection, Reply, refuse
from mnemos.faces.http.request_log import RequestLog
from mnemos.faces.http.streams import stream_call
from mnemos.operations import registry
from mnemos.operations.index import BY_NAME

_ANYTHING: Final = frozenset({JSON, "*/*", "application/*"})
_FILES: Final = frozenset(media for endings in DOWNLOADS.values() for media in endings)


class OperationRoute:
    def __init__(self, calls: OperationCalls, request_log: RequestLog) -> None:
        self._calls = calls
        self._log = request_log
        self._uploads = Uploads(calls.spaces)

    async def answer(self, request: Request, name: str) -> Reply:
        """Run an operation. Arguments are in the body or, with an upload, in the address."""
        if name not in BY_NAME:
            registry.find(name[:80])
        request.entry.operation = name
        request.check_method("POST")
        is_upload = name in UPLOADS and request.media in UPLOADED
        if not is_upload and request.media != JSON:
            raise Rejection(415, _describe_media(name))
        others = request.read_query()
        if is_upload:
            return await self._import(request, name, others)
        if others:
            raise InvalidInput(
                f"The query string has {next(iter(others))[:80]!r}. It takes {', '.join(request.switches)}, "
                "each =true or =false; arguments are in the body."
            )
        most = limits.APPEND_BYTES if name in limits.LARGE_BODIES else limits.BODY_BYTES
        body = await request.read_body(most)
        form = _choose_form(request, name)
        if form in LINES:
            read = partial(fill_lines, name, read_arguments(body), LINES[form])
            return await send_lines(self._calls, Call(name, request.grant, read, carries_file=True), form)
        if form in _FILES:
            read = partial(fill_file, name, read_arguments(body))
            # A backup holds every space, so only the owner of the home may have one.
            call = Call(name, request.grant, read, carries_file=name != "backup")
            return await send_file(self._calls, call, form)
        if name in DOWNLOADS and "path" not in read_arguments(body):
            raise InvalidInput(
                f"To get the file as the answer, send the header 'Accept: {next(iter(DOWNLOADS[name]))}'. "
                "To write it on the server's machine, name its path."
            )
        switches = request.switches
        read = partial(read_json, name, body, by_person=switches["person"])
        call = Call(name, request.grant, read, switches["text"], switches["preview"], log=switches["log"])
        return await self._run(call, request, form)

    async def _import(self, request: Request, name: str, arguments: dict[str, str]) -> Reply:
        read = partial(fill_file, name, arguments)
        call = Call(name, request.grant, read, request.switches["text"], carries_file=True)
        call = await self._uploads.receive(request, call)
        try:
            return await self._run(call, request, _choose_form(request, name))
        except MnemosError:
            # It may not have started.
            call.kept.close()
            raise

    async def _run(self, call: Call, request: Request, form: str) -> Reply:
        if form != EVENTS:
            return Reply(
                200, await self._calls.run(call.name, call.owner, partial(self._calls.perform, call))
            )

        def describe_error(exc: Exception) -> bytes:
            body = refuse(exc, request.entry, self._log).body
            assert isinstance(body, bytes)  # noqa: S101 - errors are not streamed
            return body

        return Reply(200, await begin(stream_call(self._calls, call, describe_error)), media=EVENTS)


def _choose_form(request: Request, name: str) -> str:
    """Return the first media type the client accepts that the operation can send."""
    accepted = request.accepted
    for media in accepted:
        if media in _ANYTHING:
            return JSON
        if media == EVENTS or media in DOWNLOADS.get(name, ()) or (media in LINES and has_lines(name)):
            return media
    if any(media in LINES or media in _FILES for media in accepted):
        forms = [JSON, EVENTS, *DOWNLOADS.get(name, ()), *(LINES if has_lines(name) else ())]
        raise Rejection(406, f"{name} can't answer in that form. Accept {', '.join(forms)}.")
    return JSON


def _describe_media(name: str) -> str:
    files = f", or a file as {', '.join(UPLOADED)}" if name in UPLOADS else ""
    return f"Send JSON with the header 'Content-Type: application/json'{files}."
