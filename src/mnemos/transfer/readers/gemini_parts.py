"""Message parts in the format of Gemini's API, used by Gemini CLI and Qwen Code."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from mnemos.transfer.foreign_files import clean_name


@dataclass(slots=True)
class Parts:
    """A message's parts by kind. Calls: (id, name, arguments); results: (id, name, text)."""

    texts: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    calls: list[tuple[str | None, Any, Any]] = field(default_factory=list)
    results: list[tuple[str | None, Any, str]] = field(default_factory=list)
    images: int = 0

    @property
    def text(self) -> str:
        return "\n".join(self.texts)


def split_parts(content: Any) -> Parts:
    """Return the parts of a text, a part or a list. ValueError for anything else."""
    found = Parts()
    if content is None:
        return found
    if not isinstance(content, list | str | dict):
        raise ValueError(f"its content is of type {type(content).__name__}")  # noqa: TRY004 - of the text
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            found.texts.append(part)
        elif isinstance(part, dict):
            _add(part, found)
    return found


def _add(part: dict[str, Any], found: Parts) -> None:
    text, call, result = part.get("text"), part.get("functionCall"), part.get("functionResponse")
    if isinstance(text, str):
        (found.thoughts if part.get("thought") else found.texts).append(text)
    elif isinstance(call, dict):
        found.calls.append((clean_name(call.get("id")), call.get("name"), call.get("args")))
    elif isinstance(result, dict):
        found.results.append((clean_name(result.get("id")), result.get("name"), _render(result)))
    elif "inlineData" in part or "fileData" in part:
        found.images += 1


def _render(result: dict[str, Any]) -> str:
    response = result.get("response")
    if isinstance(response, dict):
        response = response.get("output", response.get("error", response))
    return response if isinstance(response, str) else json.dumps(response, ensure_ascii=False)
