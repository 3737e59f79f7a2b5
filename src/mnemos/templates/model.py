"""What a template is, and the same as the data of a file that people may edit."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Self

from mnemos.errors import InvalidInput
from mnemos.inputs import moment, name, optional_name, whole

LONGEST_DESCRIPTION = 2_000
MOST_TAGS = 50
MOST_EXAMPLES = 100


class TaskType(StrEnum):
    CODE = "code"
    FILE = "file"
    RESEARCH = "research"
    MIXED = "mixed"


@dataclass(frozen=True, slots=True)
class ToolCallExample:
    """A tool call with what it answered. ``turn_number`` counts the user's messages before it."""

    tool_name: str
    arguments: dict[str, Any]
    result: str
    success: bool
    turn_number: int = 0

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """What ``to_dict`` gave, also after somebody edited it; what makes no sense raises InvalidInput."""
        data = _object("an example", data)
        arguments = data.get("arguments", {})
        if not isinstance(arguments, dict):
            raise InvalidInput(f"arguments is {_short(arguments)}; use an object, such as {{}}")
        return cls(
            name("tool_name", data.get("tool_name")),
            arguments,
            _result(data.get("result", "")),
            _truth("success", data.get("success", True)),
            whole("turn_number", data.get("turn_number", 0)),
        )


# Not frozen: who holds a template and injects it sees its count grow.
@dataclass(slots=True)
class SessionTemplate:
    """Examples to begin a session with. ``created_at`` 0 means that it was not saved yet."""

    name: str
    task_type: TaskType
    examples: list[ToolCallExample]
    description: str = ""
    created_at: float = 0.0
    usage_count: int = 0
    source_session_id: str | None = None
    tags: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """In the order in which people read it: what it is for before what is in it."""
        return {
            "name": self.name,
            "task_type": str(self.task_type),
            "description": self.description,
            "tags": list(self.tags),
            "created_at": self.created_at,
            "usage_count": self.usage_count,
            "source_session_id": self.source_session_id,
            "examples": [example.to_dict() for example in self.examples],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """What ``to_dict`` gave, also after somebody edited it; what makes no sense raises InvalidInput."""
        data = _object("a template", data)
        return cls(
            name("name", data.get("name")),
            task_type_of(data.get("task_type", TaskType.MIXED)),
            _examples(data.get("examples", [])),
            description_of(data.get("description", "")),
            moment("created_at", data.get("created_at", 0.0)),
            whole("usage_count", data.get("usage_count", 0)),
            optional_name("source_session_id", data.get("source_session_id")),
            tags_of(data.get("tags", [])),
        )

    @property
    def tools(self) -> list[str]:
        """The tools of its examples, each once, in the order of their first use."""
        return list(dict.fromkeys(example.tool_name for example in self.examples))

    def has_some_of(self, tags: Sequence[str]) -> bool:
        """Whether it has one of these tags, case ignored; true without any."""
        own = {tag.casefold() for tag in self.tags}
        return not tags or any(tag.casefold() in own for tag in tags)


def task_type_of(value: Any) -> TaskType:
    """A task type by its name, case ignored."""
    try:
        return TaskType(value.strip().lower() if isinstance(value, str) else value)
    except ValueError:
        raise InvalidInput(f"task_type is {_short(value)}; use {', '.join(TaskType)}") from None


def tags_of(value: Any) -> list[str]:
    """Tags given as a list or as a text, with commas between them; each once, in their order."""
    several = [value] if isinstance(value, str) else value
    if not isinstance(several, (list, tuple)) or not all(isinstance(tag, str) for tag in several):
        raise InvalidInput(f"tags is {_short(value)}; use a list of texts")
    apart = [tag.strip() for text in several for tag in text.split(",")]
    wanted = list(dict.fromkeys(name("a tag", tag) for tag in apart if tag))
    if len(wanted) > MOST_TAGS:
        raise InvalidInput(f"there are {len(wanted)} tags; use at most {MOST_TAGS}")
    return wanted


def description_of(value: Any) -> str:
    if not isinstance(value, str):
        raise InvalidInput(f"description is {_short(value)}; use a text")
    if len(value) > LONGEST_DESCRIPTION:
        raise InvalidInput(f"description has {len(value):,} characters; use at most {LONGEST_DESCRIPTION:,}")
    return sound(value).replace("\0", "")


def sound(text: str) -> str:
    """The same text; where it holds half a character, which has no UTF-8, a question mark stands for it."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _examples(value: Any) -> list[ToolCallExample]:
    if not isinstance(value, list):
        raise InvalidInput(f"examples is {_short(value)}; use a list of objects")
    examples: list[ToolCallExample] = []
    for number, one in enumerate(value, start=1):
        try:
            examples.append(ToolCallExample.from_dict(one))
        except InvalidInput as exc:
            raise InvalidInput(f"example {number}: {exc}") from exc
    return examples


def _object(what: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{what} is {_short(value)}; use an object with named fields")
    return value


def _result(value: Any) -> str:
    """A text; what somebody wrote as data is the same as text."""
    if isinstance(value, str):
        return value
    if isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=False)
    raise InvalidInput(f"result is {_short(value)}; use a text")


def _truth(label: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise InvalidInput(f"{label} is {_short(value)}; use true or false")
    return value


def _short(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 80 else f"{shown[:79]}…"
