"""Lines of bytes, each a message of the protocol."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import mcp_types as types
from mcp_types import JSONRPCError, JSONRPCMessage, jsonrpc_message_adapter
from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from mnemos.operations.arguments import replace_surrogates

LONGEST = 64 * 1024 * 1024
"""Maximum bytes of a line. The largest message that a memory accepts is far smaller."""


class Lines:
    """Splits chunks of bytes into lines."""

    def __init__(self, longest: int = LONGEST) -> None:
        self._longest = longest
        self._rest = bytearray()
        self._too_long = False

    def of(self, chunk: bytes) -> Iterator[bytes | None]:
        """Return the lines that a chunk completes, with None for one that was too long."""
        *ended, begun = chunk.split(b"\n")
        for part in ended:
            self._add(part)
            line = None if self._too_long else bytes(self._rest)
            self._rest.clear()
            self._too_long = False
            yield line
        self._add(begun)

    def last(self) -> bytes:
        """Return the text after the last line break."""
        return b"" if self._too_long else bytes(self._rest)

    def _add(self, part: bytes) -> None:
        self._too_long = self._too_long or len(self._rest) + len(part) > self._longest
        if self._too_long:
            self._rest.clear()
        else:
            self._rest += part


def read(line: bytes | None) -> tuple[JSONRPCMessage | None, JSONRPCError | None]:
    """Parse a line: a message, the answer to an invalid one, None for a blank line."""
    if line is None:
        return None, _refuse(None, types.INVALID_REQUEST, f"the message has over {LONGEST} bytes; send less")
    if not line or line.isspace():
        return None, None
    try:
        return jsonrpc_message_adapter.validate_json(line, by_name=False), None
    except ValidationError:
        return _read_again(line)


def encode_line(message: JSONRPCMessage) -> bytes:
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
    except PydanticSerializationError:
        # The name of a file may contain bytes that are not UTF-8.
        plain = replace_surrogates(message.model_dump(by_alias=True, exclude_unset=True))
        return json.dumps(plain, ensure_ascii=False).encode() + b"\n"


def _read_again(line: bytes) -> tuple[JSONRPCMessage | None, JSONRPCError | None]:
    """Parse a line leniently, so that invalid UTF-8 does not prevent an answer."""
    try:
        value = replace_surrogates(json.loads(line.decode(errors="replace")))
    except (ValueError, RecursionError) as exc:
        return None, _refuse(None, types.PARSE_ERROR, f"the line is not valid JSON: {exc}")
    try:
        return jsonrpc_message_adapter.validate_python(value, by_name=False), None
    except ValidationError:
        asked = value.get("id") if isinstance(value, dict) else None
        return None, _refuse(
            asked, types.INVALID_REQUEST, "the line is not a request, notification or response"
        )


def _refuse(asked: Any, code: int, message: str) -> JSONRPCError:
    is_id = isinstance(asked, int | str) and not isinstance(asked, bool)
    return JSONRPCError(
        jsonrpc="2.0", id=asked if is_id else None, error=types.ErrorData(code=code, message=message)
    )
