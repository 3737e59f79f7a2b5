"""Values in the files of other programs, read with patience: what makes no sense is None."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from mnemos.inputs import MAX_NAME

# Past this, a number of seconds is one of milliseconds.
_MILLISECONDS: Final = 1e11
_FARTHEST: Final = 1e14


def decoded(data: bytes | str) -> Any:
    """What a JSON text says; one that is none raises ValueError."""
    try:
        return msgspec.json.decode(data)
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        # It refuses what others write: lone surrogates, NaN, control characters, bytes that are no UTF-8.
        text = data if isinstance(data, str) else data.decode("utf-8", "replace")
        try:
            return json.loads(text, strict=False)
        except RecursionError:
            raise ValueError("it is nested too deep") from None


def record(data: bytes | str) -> Mapping[str, Any]:
    """A JSON object; anything else raises ValueError."""
    found = decoded(data)
    if not isinstance(found, dict):
        raise ValueError(  # noqa: TRY004 - of the text, as for any other that is no JSON
            f"it holds a {type(found).__name__}, no object"
        )
    return found


def short(value: Any) -> str | None:
    """A name, an id or a title: one line of text, cut where it is too long."""
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        return None
    text = str(value)
    if not text.isprintable() or text != text.strip():
        text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return text[:MAX_NAME] or None


def moment(value: Any) -> float | None:
    """A time in Unix seconds, written as such, in milliseconds, or in the way of ISO 8601."""
    if isinstance(value, str):
        try:
            found = datetime.fromisoformat(value)
        except ValueError:
            return None
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < _FARTHEST:
        return None
    return float(value) / 1000 if abs(value) > _MILLISECONDS else float(value)


def count(value: Any) -> int:
    """A number of something, 0 for what is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 53 else 0


def call(call_id: Any, name: Any, arguments: Any) -> dict[str, Any]:
    """A tool call in OpenAI's shape. Arguments that are no text are written as JSON."""
    if not isinstance(arguments, str):
        try:
            arguments = json.dumps({} if arguments is None else arguments, ensure_ascii=False)
        except RecursionError:
            arguments = "{}"
    return {
        "id": short(call_id) or "",
        "type": "function",
        "function": {"name": short(name) or "unknown", "arguments": arguments},
    }


def filled(**fields: Any) -> dict[str, Any]:
    """The fields that have a value."""
    return {name: value for name, value in fields.items() if value is not None and value != ""}
