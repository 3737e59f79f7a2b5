"""Calls of methods that may be older than their contract: each is given what it takes.

``sync_turn`` once had no ``messages``, ``on_memory_write`` no ``metadata``, ``prefetch`` no ``session_id``.
What a signature does not name is left out, instead of trying and guessing what a TypeError meant.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def call(method: Callable[..., Any], args: Sequence[Any], extras: Mapping[str, Any]) -> Any:
    """Call with all of ``args`` and those of ``extras`` that the method takes.

    An extra that the method demands under another name, by position, is given by position.
    """
    try:
        parameters = list(inspect.signature(method).parameters.values())
    except (TypeError, ValueError):
        # Written in another language: it says nothing about what it takes.
        return method(*args, **extras)
    if any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters):
        return method(*args, **extras)
    named = {each.name for each in parameters if each.kind is not inspect.Parameter.POSITIONAL_ONLY}
    further = parameters[len(args) :]
    demanded = [each for each in further if each.kind in _POSITIONAL and each.default is each.empty]
    given = {name: value for name, value in extras.items() if name in named}
    unnamed = [value for name, value in extras.items() if name not in named]
    missing = [each for each in demanded if each.name not in given]
    return method(*args, *unnamed[: len(missing)], **given)
