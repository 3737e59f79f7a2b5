"""Taking secrets out of structured values without breaking their structure."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

Redact = Callable[[str], str]


def redacted(value: Any, redact: Redact) -> Any:
    """The same structure with every secret in its texts replaced.

    A text that is JSON itself, as the arguments of a tool call are, stays JSON. A value says less about
    itself than with its key, so ``{"password": …}`` is judged as an assignment.
    """
    if isinstance(value, str):
        return _text(value, redact)
    if isinstance(value, (list, tuple)):
        return [redacted(item, redact) for item in value]
    if isinstance(value, dict):
        return {_text(key, redact): _assigned(key, item, redact) for key, item in value.items()}
    return value


def _text(text: str, redact: Redact) -> str:
    clean = redact(text)
    if clean is text or not text.lstrip().startswith(("{", "[")):
        return clean
    try:
        inner = json.loads(text)
    except (ValueError, RecursionError):
        return clean
    return json.dumps(redacted(inner, redact), ensure_ascii=False)


def _assigned(key: str, item: Any, redact: Redact) -> Any:
    if not isinstance(item, str):
        return redacted(item, redact)
    alone = _text(item, redact)
    if alone != item:
        return alone
    together = redact(f"{key}={item}")
    return together.removeprefix(f"{key}=") if together != f"{key}={item}" else item
