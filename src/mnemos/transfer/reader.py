"""What a reader tells the writer, and what an import tells whoever asked for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

MOST_PROBLEMS: Final = 50
"""How many are told one by one; the others are counted."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """A session of another program, told before its messages; told again when more is known of it.

    ``started_at`` None: when its first message was said. Nothing is stored before its first message is.
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


@dataclass(frozen=True, slots=True)
class Said:
    """A message. ``fields`` are the arguments of ``append_message``, with its ``timestamp``.

    ``key``: what the program calls it, the same whenever and from wherever it is read: a message is stored
    once for each key. ``also``: further names that must not come again, where several lines are one message.
    ``input_tokens`` and ``output_tokens`` are added to those of its session.
    """

    session_id: str
    key: str
    fields: dict[str, Any]
    also: tuple[str, ...] = ()
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Unread:
    """A line, or another place in the file, that is not understood; what follows is read all the same."""

    line: int
    why: str


@dataclass(frozen=True, slots=True)
class Left:
    """Something that is understood and left out, by what it is, in the plural: "images"."""

    what: str
    count: int = 1


@dataclass(frozen=True, slots=True)
class Mark:
    """All that stands before this place was told: reading may go on from here another time.

    ``state``: what the reader has to know then, as something that JSON can hold.
    """

    position: int
    line: int
    state: Any = None


Item = Conversation | Said | Unread | Left | Mark


@dataclass(frozen=True, slots=True)
class Source:
    """A file to be read, as it was when it was found."""

    path: Path
    size: int
    changed_ns: int


@dataclass(frozen=True, slots=True)
class Reader:
    """How the files of one program are found and read.

    ``find``: the files below a path, which may be a file itself, those of parents before those of children;
    what cannot be looked at is told by calling the second argument with the path and why.
    ``read``: the items of a file from a mark on; a position beyond its beginning is only asked for when
    ``resumes``, and only one that a ``Mark`` of the same file named. It raises InvalidInput for a file that
    is no such file at all, and OSError as the system does.
    """

    kind: str
    title: str
    """What the program is called: "Claude Code"."""
    find: Callable[[Path, Callable[[Path, str], None]], Iterator[Source]]
    read: Callable[[Source, Mark], Iterator[Item]]
    resumes: bool = True


BEGINNING: Final = Mark(0, 0)


@dataclass(slots=True)
class Report:
    """What an import did, or with ``dry_run`` would do."""

    kind: str
    path: str
    dry_run: bool = False
    files: int = 0
    """Files that were read."""
    unchanged: int = 0
    """Files of which nothing is new."""
    sessions: int = 0
    """Sessions that are new."""
    continued: int = 0
    """Sessions that were known and got more messages."""
    messages: int = 0
    known: int = 0
    """Messages that were stored before."""
    left_out: dict[str, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    more_problems: int = 0
    """Beyond those that are told one by one."""
    finished: bool = True
    """False when the time that was given was over before the files were."""

    def leave(self, what: str, count: int = 1) -> None:
        self.left_out[what] = self.left_out.get(what, 0) + count

    def miss(self, path: str, line: int, why: str) -> None:
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(Problem(path, line, why))
        else:
            self.more_problems += 1


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that was not understood. ``line`` 0: the file as a whole."""

    path: str
    line: int
    why: str


class Stop(Protocol):
    """Whether an import should end after the step it is at."""

    def __call__(self) -> bool: ...
