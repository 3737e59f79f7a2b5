"""The interface of readers, and the report of an import."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Final

MAX_PROBLEMS: Final = 50
"""The number of problems to list; more are only counted."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """A program's session. Comes before its messages, and again with more details.

    Without ``started_at`` it started with its first message. Nothing is stored before that message is, except
    with ``may_be_empty``.
    """

    id: str
    source: str
    started_at: float | None = None
    model: str | None = None
    model_config: Any = None
    title: str | None = None
    parent_id: str | None = None
    user_id: str | None = None
    system_prompt: str | None = None
    metadata: Mapping[str, Any] | None = None
    ended_at: float | None = None
    end_reason: str | None = None
    archived: bool = False
    may_be_empty: bool = False


@dataclass(frozen=True, slots=True)
class ImportedMessage:
    """A message. ``fields`` are the arguments of ``append_message``.

    ``key`` is the program's name for it, the same whenever and wherever it is read: each key is stored once.
    ``also`` are the keys of further lines that are part of the same message; ``rest`` returns what is left of
    it without the first lines, which were stored while the program was still writing. ``input_tokens`` and
    ``output_tokens`` are added to those of its session.
    """

    session_id: str
    key: str
    fields: dict[str, Any]
    also: tuple[str, ...] = ()
    input_tokens: int = 0
    output_tokens: int = 0
    rest: Callable[[int], ImportedMessage | None] | None = None


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A line, or another place, that is not understood. Reading goes on after it."""

    line: int
    why: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that is understood and left out, named in the plural: "images"."""

    what: str
    count: int = 1


UNKNOWN_RECORDS: Final = Skipped("records of an unknown type")
"""Records that a later version may understand."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A position to resume reading from. Everything before it was yielded.

    ``state`` is what the reader needs to resume, as JSON data.
    """

    position: int
    line: int
    state: Any = None


Item = Conversation | ImportedMessage | Unreadable | Skipped | Mark


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to read, in the state in which it was found."""

    path: Path
    size: int
    changed_ns: int


OnProblem = Callable[[Path, str], None]
"""Called with an unreadable file and the reason."""
Find = Callable[[Path, OnProblem], Iterator[SourceFile]]


@dataclass(frozen=True, slots=True)
class Reader:
    """Finds and reads the files of one program.

    ``find`` yields the files below a path, which may be a file itself, parents before children.
    ``read`` yields the items of a file from a mark on. Only a reader that ``resumes`` gets a mark other than
    the beginning, and only one that it yielded for the same file. It raises InvalidInput for a file of
    another kind, and OSError as the system does.
    """

    kind: str
    title: str
    """The name of the program: "Claude Code"."""
    find: Find
    read: Callable[[SourceFile, Mark], Iterator[Item]]
    resumes: bool = True
    holds_many: bool = False
    """True if reading can resume although a file holds many conversations, each whole between marks."""


BEGINNING: Final = Mark(0, 0)
# Modules that are not named after the program whose files they read.
_MODULES: Final = {"claude": "claude_ai", "continue": "continue_dev", "jsonl": "openai_jsonl", "roo": "cline"}


def load_reader(kind: str) -> Reader:
    """Import the reader of a program."""
    module = import_module(f"mnemos.transfer.readers.{_MODULES.get(kind, kind.replace('-', '_'))}")
    reader: Reader = module.ROO if kind == "roo" else module.READER
    return reader


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that was not understood. Line 0 stands for the whole file."""

    path: str
    line: int
    why: str


@dataclass(slots=True)
class ImportReport:
    """The result of an import, or with ``dry_run`` its expected result."""

    kind: str
    path: str
    dry_run: bool = False
    files: int = 0
    """Files that were read."""
    unchanged: int = 0
    """Files with nothing new."""
    sessions: int = 0
    """New sessions."""
    continued: int = 0
    """Existing sessions that got more messages."""
    messages: int = 0
    known: int = 0
    """Messages that were stored before."""
    left_out: dict[str, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    more_problems: int = 0
    """Problems beyond those listed."""
    finished: bool = True
    """False if the import was stopped before the end of the files."""

    def skip(self, what: str, count: int = 1) -> None:
        self.left_out[what] = self.left_out.get(what, 0) + count

    def count_unread(self) -> int:
        """Count the problems and records that a later version may understand."""
        return len(self.problems) + self.more_problems + self.left_out.get(UNKNOWN_RECORDS.what, 0)

    def add_problem(self, path: str, line: int, why: str) -> None:
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(Problem(path, line, why))
        else:
            self.more_problems += 1


Stop = Callable[[], bool]
"""Returns True if an import should stop after its current step."""
