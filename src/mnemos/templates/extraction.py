"""From the calls of a session to examples that may stand in another one."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

from mnemos.sessions.redaction import redacted
from mnemos.templates.injection import can_be_injected
from mnemos.templates.kinds import ToolSets
from mnemos.templates.model import ToolCallExample, sound
from mnemos.templates.reading import Answered
from mnemos.text.secrets import redact
from mnemos.text.threats import threats
from mnemos.text.tokens import cut_to_tokens

RESULT_TOKENS: Final = 300
# A file that was written is an argument; an example needs to show how, not all of it.
ARGUMENT_TOKENS: Final = 300
MARK: Final = " […cut]"
_MOST_FIELDS: Final = 40
_DEEPEST: Final = 20


def examples_of(calls: Iterable[Answered], tools: ToolSets, most: int) -> list[ToolCallExample]:
    """The first ``most`` calls that succeeded, each once; secrets are taken out, long texts are cut.

    Left out is what a model could not be shown as a call: no name that APIs take, no object as arguments,
    or an answer that gives the model orders, which a web page may have put there.
    """
    kept: dict[tuple[str, str], ToolCallExample] = {}
    for call in calls:
        if len(kept) >= most:
            break
        arguments = arguments_of(call.arguments)
        if arguments is None or not call.succeeded(tools):
            continue
        example = clean(
            ToolCallExample(call.tool_name, arguments, call.result, success=True, turn_number=call.turn)
        )
        if can_be_injected(example) and not threats(example.result):
            kept.setdefault((example.tool_name, json.dumps(example.arguments)), example)
    return list(kept.values())


def clean(example: ToolCallExample) -> ToolCallExample:
    """The same without secrets, and with what is long cut, with a mark. Doing it again changes nothing."""
    return ToolCallExample(
        example.tool_name,
        _shortened(redacted(example.arguments, redact), 0),
        cut_to_tokens(redact(sound(example.result).replace("\0", "")), RESULT_TOKENS, mark=MARK),
        example.success,
        example.turn_number,
    )


def arguments_of(given: Any) -> dict[str, Any] | None:
    """The arguments of a call; None when they are no object."""
    if isinstance(given, str):
        if not given.strip():
            return {}
        try:
            given = json.loads(given, parse_constant=_no_constant)
        except (ValueError, RecursionError):
            return None
    if given is None:
        return {}
    return given if isinstance(given, dict) else None


def _shortened(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return cut_to_tokens(sound(value), ARGUMENT_TOKENS, mark=MARK)
    if depth >= _DEEPEST and isinstance(value, (dict, list, tuple)):
        return MARK.strip()
    if isinstance(value, dict):
        return dict(_fields(value, depth))
    if isinstance(value, (list, tuple)):
        kept = [_shortened(item, depth + 1) for item in value[:_MOST_FIELDS]]
        return kept if len(value) <= _MOST_FIELDS else [*kept, MARK.strip()]
    return value


def _fields(value: dict[str, Any], depth: int) -> Iterator[tuple[str, Any]]:
    for number, (key, item) in enumerate(value.items()):
        if number >= _MOST_FIELDS:
            return
        yield sound(str(key)), _shortened(item, depth + 1)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")
