"""Templates and their parts: examples, task types, tool sets, and names that are safe as file names."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache
from typing import Any, Final, Literal, Self

from mnemos.errors import InvalidInput
from mnemos.inputs import moment, name, optional_name, suggest, whole
from mnemos.settings import Settings

MAX_DESCRIPTION = 2_000
MAX_TAGS = 50
MAX_EXAMPLES = 100
MAX_NAME: Final = 80
# File systems limit bytes, and the suffix needs some.
_MAX_NAME_BYTES: Final = 200
_RESERVED: Final = frozenset(
    {"con", "prn", "aux", "nul", "conin$", "conout$"}
    | {f"{port}{number}" for port in ("com", "lpt") for number in "0123456789¹²³"}
)
_SEPARATORS: Final = frozenset(" ._-")
_NAME_RULE: Final = "Use letters, digits, and . _ - or single spaces between them, such as fix-failing-tests"
# A task type needs more than this share of the calls.
_SHARE = (6, 10)


class TaskType(StrEnum):
    CODE = "code"
    FILE = "file"
    RESEARCH = "research"
    MIXED = "mixed"


TaskName = TaskType | Literal["code", "file", "research", "mixed"]


@dataclass(frozen=True, slots=True)
class ToolCallExample:
    """A tool call and its result. ``turn_number`` is the number of user messages before it."""

    tool_name: str
    arguments: dict[str, Any]
    result: str
    success: bool
    turn_number: int = 0

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read the output of ``to_dict``, also after a person edited it; InvalidInput if it is wrong."""
        data = _check_object("an example", data)
        arguments = data.get("arguments", {})
        if not isinstance(arguments, dict):
            raise InvalidInput(f"arguments is {_short(arguments)}. Use an object, such as {{}}.")
        return cls(
            name("tool_name", data.get("tool_name")),
            arguments,
            _parse_result(data.get("result", "")),
            _check_bool("success", data.get("success", True)),
            whole("turn_number", data.get("turn_number", 0)),
        )


# Not frozen: a caller that injects a template sees its count grow.
@dataclass(slots=True)
class SessionTemplate:
    """Examples to start a session with. ``created_at`` is 0 until it is saved."""

    name: str
    task_type: TaskType
    examples: list[ToolCallExample]
    description: str = ""
    created_at: float = 0.0
    usage_count: int = 0
    source_session_id: str | None = None
    tags: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields in reading order: the purpose before the examples."""
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
        """Read the output of ``to_dict``, also after a person edited it; InvalidInput if it is wrong."""
        data = _check_object("a template", data)
        return cls(
            name("name", data.get("name")),
            parse_task_type(data.get("task_type", TaskType.MIXED)),
            _parse_examples(data.get("examples", [])),
            check_description(data.get("description", "")),
            moment("created_at", data.get("created_at", 0.0)),
            whole("usage_count", data.get("usage_count", 0)),
            optional_name("source_session_id", data.get("source_session_id")),
            parse_tags(data.get("tags", [])),
        )

    @property
    def tools(self) -> list[str]:
        """Tools of the examples, each once, in order of first use."""
        return list(dict.fromkeys(example.tool_name for example in self.examples))

    def has_any_tag(self, tags: Sequence[str]) -> bool:
        """True if it has one of these tags, ignoring case, or if no tag is given."""
        own = {tag.casefold() for tag in self.tags}
        return not tags or any(tag.casefold() in own for tag in tags)


def parse_task_type(value: Any) -> TaskType:
    """Return a task type by its name, ignoring case."""
    try:
        return TaskType(value.strip().lower() if isinstance(value, str) else value)
    except ValueError:
        meant = suggest(value, TaskType)
        raise InvalidInput(f"task_type is {_short(value)}.{meant} Use {', '.join(TaskType)}.") from None


def parse_tags(value: Any) -> list[str]:
    """Return the unique tags of a list, or of a string with commas."""
    several = [value] if isinstance(value, str) else value
    if not isinstance(several, (list, tuple)) or not all(isinstance(tag, str) for tag in several):
        raise InvalidInput(f"tags must be a list of strings, not {_short(value)}.")
    apart = [tag.strip() for text in several for tag in text.split(",")]
    wanted = list(dict.fromkeys(name("a tag", tag) for tag in apart if tag))
    if len(wanted) > MAX_TAGS:
        raise InvalidInput(f"There are {len(wanted)} tags. Use at most {MAX_TAGS}.")
    return wanted


def check_description(value: Any) -> str:
    if not isinstance(value, str):
        raise InvalidInput(f"description must be a string, not {_short(value)}.")
    if len(value) > MAX_DESCRIPTION:
        raise InvalidInput(f"description has {len(value):,} characters. Use at most {MAX_DESCRIPTION:,}.")
    return replace_surrogates(value).replace("\0", "")


def replace_surrogates(text: str) -> str:
    """Return the text with a question mark for each lone surrogate, which UTF-8 can't encode."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _parse_examples(value: Any) -> list[ToolCallExample]:
    if not isinstance(value, list):
        raise InvalidInput(f"examples must be a list of objects, not {_short(value)}.")
    examples: list[ToolCallExample] = []
    for number, one in enumerate(value, start=1):
        try:
            examples.append(ToolCallExample.from_dict(one))
        except InvalidInput as exc:
            raise InvalidInput(f"example {number}: {exc}") from exc
    return examples


def _check_object(what: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{what} must be an object with named fields, not {_short(value)}.")
    return value


def _parse_result(value: Any) -> str:
    """Return the result as text; JSON data that a person wrote becomes text."""
    if isinstance(value, str):
        return value
    if isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=False)
    raise InvalidInput(f"result must be a string, not {_short(value)}.")


def _check_bool(label: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise InvalidInput(f"{label} must be true or false, not {_short(value)}.")
    return value


def _short(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 80 else f"{shown[:79]}…"


def check_name(template_name: Any) -> str:
    """Return the name in Unicode NFC; InvalidInput if it is not a safe file name on every system."""
    if not isinstance(template_name, str) or not template_name:
        raise InvalidInput(f"{template_name!r} is not a valid template name. {_NAME_RULE}.")
    shown = repr(template_name) if len(template_name) <= MAX_NAME else f"{template_name[:MAX_NAME]!r}…"
    clean = unicodedata.normalize("NFC", template_name)
    if len(clean) > MAX_NAME or len(clean.encode("utf-8", "replace")) > _MAX_NAME_BYTES:
        raise InvalidInput(f"The template name {shown} is too long. Use at most {MAX_NAME} characters.")
    if not all(_is_allowed(char) for char in clean) or ".." in clean or "  " in clean:
        raise InvalidInput(f"{shown} is not a valid template name. {_NAME_RULE}.")
    if not _is_word(clean[0]) or not _is_word(clean[-1]):
        raise InvalidInput(f"A template name must start and end with a letter or digit, not {shown}.")
    if clean.casefold().partition(".")[0].strip() in _RESERVED:
        raise InvalidInput(f"Some systems reserve the name {shown} for a device. Choose another.")
    return clean


def is_valid_name(template_name: Any) -> bool:
    """True if a template can have this name."""
    try:
        check_name(template_name)
    except InvalidInput:
        return False
    return True


def make_name(kind: TaskType, session_id: str, at: float) -> str:
    """Make a name of type, session and time: ``code-slot-bug-20260101-120000``."""
    session = re.sub(r"[^A-Za-z0-9]+", "-", session_id)[:40].strip("-") or "session"
    try:
        when = datetime.fromtimestamp(at, UTC).strftime("%Y%m%d-%H%M%S")
    except (OverflowError, ValueError, OSError):
        when = "0"
    return f"{kind}-{session}-{when}"


def _is_allowed(char: str) -> bool:
    return char in _SEPARATORS or _is_word(char) or unicodedata.category(char) in ("Mn", "Mc")


def _is_word(char: str) -> bool:
    # Combining marks belong to the letter before them; a name may end with one.
    return char.isalnum() or unicodedata.category(char) in ("Mn", "Mc")


@dataclass(frozen=True, slots=True)
class ToolSets:
    """Tools by task type. Names are compared without case, ``_``, ``-`` and MCP server."""

    code: frozenset[str]
    file: frozenset[str]
    research: frozenset[str]

    @classmethod
    def load(cls, settings: Settings) -> Self:
        """Return the known tools, changed by those in the settings."""
        own = [
            frozenset(map(_fold, names))
            for names in (settings.code_tools, settings.file_tools, settings.research_tools)
        ]
        named = frozenset[str]().union(*own)
        known = (TOOLS.code, TOOLS.file, TOOLS.research)
        return cls(*((set_ - named) | added for set_, added in zip(known, own, strict=True)))

    def find_kind(self, tool_name: str) -> TaskType | None:
        """Return the type of one tool; None if it is unknown."""
        folded = _fold(tool_name)
        if folded in self.code:
            return TaskType.CODE
        if folded in self.file:
            return TaskType.FILE
        return TaskType.RESEARCH if folded in self.research else None


def classify_task_type(tool_calls: Iterable[Any], tools: ToolSets | None = None) -> TaskType:
    """Return the type of more than 60% of the calls; mixed when there is none, or no call.

    A call is a tool call of a message in any API's format, a ToolCallExample, or the name of a tool.
    """
    sets = tools or TOOLS
    kinds = Counter(sets.find_kind(get_tool_name(call)) for call in tool_calls)
    part, whole = _SHARE
    total = kinds.total()
    for kind, count in kinds.items():
        if kind is not None and count * whole > total * part:
            return kind
    return TaskType.MIXED


def get_tool_name(call: Any) -> str:
    """Return the tool that a call names; empty if it names none."""
    if isinstance(call, dict):
        function = call.get("function")
        inner = function if isinstance(function, dict) else call
        named = inner.get("name") or inner.get("tool_name")
        return named if isinstance(named, str) else ""
    if isinstance(call, ToolCallExample):
        return call.tool_name
    return call if isinstance(call, str) else ""


@lru_cache(maxsize=2_048)
def _fold(tool_name: str) -> str:
    """Fold ``WebSearch``, ``web_search`` and ``mcp__brave__web-search`` to the same name."""
    own = tool_name.strip().lower().rpartition("__")[2]
    return own.replace("_", "").replace("-", "").replace(".", "")


def _parse_sets(code: str, file: str, research: str) -> ToolSets:
    return ToolSets(*(frozenset(map(_fold, names.split())) for names in (code, file, research)))


TOOLS = _parse_sets(
    code="""
        execute_code code_execution run_code code_interpreter execute_command run_command run_terminal_cmd
        run_in_terminal terminal shell local_shell bash sh zsh powershell python python_repl ipython jupyter
        execute_cell notebook_execute process run_tests run_script exec exec_command sql execute_sql run_query
        bash_output kill_shell
    """,
    file="""
        read_file write_file create_file edit_file delete_file move_file rename_file copy_file append_file
        patch apply_patch apply_diff replace_in_file str_replace_editor str_replace_based_edit_tool
        search_files list_files list_directory list_dir find_files file_search grep grep_search glob
        read write edit multi_edit notebook_edit view ls tree codebase_search read_many_files
        create_directory insert_edit_into_file
    """,
    research="""
        web_search web_fetch web_extract web_crawl search_web fetch fetch_url fetch_webpage read_url browse
        browser browser_navigate browser_click browser_type browser_scroll browser_snapshot browser_vision
        browser_get_images browser_back browser_press google_search bing_search brave_search tavily_search
        arxiv_search wikipedia search http_get scrape
    """,
)
