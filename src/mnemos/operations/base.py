"""What an operation is.

An operation is a class: its fields are the input, its docstring is what every face says about it, ``run``
does it, and the result is a struct that can say itself as text. Faces translate and decide nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, ClassVar

import msgspec

from mnemos.errors import Refused
from mnemos.progress import Progress, no_progress

if TYPE_CHECKING:
    from mnemos.memory import Memory

_GO_ON = "go_on"


@dataclass(frozen=True, slots=True)
class Traits:
    """What a face must know of an operation besides its input."""

    title: str
    read_only: bool = False
    destructive: bool = False
    """Takes something away: a command asks before, unless told not to."""
    idempotent: bool = False
    local: bool = False
    """Touches files of the caller's machine; not offered over a network."""
    positional: tuple[str, ...] = ()
    """Fields that a command takes as arguments, in this order."""
    stdin: str = ""
    """The field that a command fills from standard input when it is ``-`` or left out."""
    stdout: str = ""
    """The field that, when it is ``-``, makes a command write the operation's lines to standard output."""
    edited: str = ""
    """The field that a command lets a person edit at a terminal when it is left out; see ``draft``."""
    watches: bool = False
    """A command can do it again and again, as there is more to do: ``--watch``. Asked of ``found_more``."""
    begins: bool = False
    """May begin a memory where there is none; others say that there is none."""
    example: tuple[str, ...] = ()
    """Words typed after the command, for the reference."""


@dataclass(frozen=True, slots=True)
class Question:
    """What a command asks a person at a terminal before it runs."""

    key: str
    text: str
    is_secret: bool = False
    """Not shown while it is typed."""
    default: str = ""
    choices: tuple[str, ...] = ()


def whether_to_go_on(text: str) -> Question:
    """Ask for a yes to what the text says would be done."""
    return Question(_GO_ON, text, default="yes", choices=("yes", "no"))


def check_answer(answers: Mapping[str, str]) -> None:
    """Raise Refused when the answer to ``whether_to_go_on`` was no."""
    if answers.get(_GO_ON) == "no":
        raise Refused("the answer was no; nothing was changed")


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What an operation answers."""

    def as_text(self) -> str:
        """The answer for a person or a model to read."""
        raise NotImplementedError

    def readable(self) -> str:
        """The answer for a person at a command line, where that differs from what a model is given."""
        return self.as_text()

    def found_more(self) -> bool:
        """Whether there was something to do, of operations that are watched: shown then, and only then."""
        return True

    def succeeded(self) -> bool:
        """Whether what was found is as it should be; a command ends with 1 when it is not."""
        return True


class Operation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An input that can be run."""

    traits: ClassVar[Traits]

    def run(self, memory: Memory) -> Result:
        raise NotImplementedError

    def writes(self) -> bool:
        """Whether this input changes something: not done when memory is disabled."""
        return not self.traits.read_only

    def at_stake(self, memory: Memory) -> str:  # noqa: ARG002
        """What a destructive operation would take away, asked before it is run; empty for nothing.

        What is not there raises NotFound, before anybody is asked.
        """
        return ""

    def questions(self, memory: Memory) -> Sequence[Question]:  # noqa: ARG002
        """What a person should be asked, because the input leaves it open; mostly nothing."""
        return ()

    def answered(self, answers: Mapping[str, str]) -> Operation:  # noqa: ARG002
        """The same input with the answers to its questions."""
        return self

    def draft(self, memory: Memory) -> str:
        """What a person edits, of operations that have ``edited``."""
        raise NotImplementedError

    def merged(self, text: str, draft: str, now: str) -> str:  # noqa: ARG002
        """What a person made of a draft, with what others changed meanwhile: the draft would be ``now``."""
        return text

    def write_lines(self, memory: Memory, stream: IO[str]) -> None:
        """Write what would go into a file to a stream: of operations that have ``stdout``."""
        raise NotImplementedError


class LongOperation(Operation, frozen=True, kw_only=True):
    """An operation that reports its progress: ``work`` does it, ``run`` does it unwatched."""

    def run(self, memory: Memory) -> Result:
        return self.work(memory, no_progress)

    def work(self, memory: Memory, progress: Progress) -> Result:
        raise NotImplementedError


def carry_out(operation: Operation, memory: Memory, progress: Progress) -> Result:
    """Run an operation, which reports its progress if it is a long one."""
    return operation.work(memory, progress) if isinstance(operation, LongOperation) else operation.run(memory)


class Done(Result, frozen=True, kw_only=True):
    """A change that has nothing to show but that it happened."""

    done: str

    def as_text(self) -> str:
        return self.done


def builtins(result: Result) -> dict[str, Any]:
    """A result as plain data, with its ``text``."""
    plain: dict[str, Any] = msgspec.to_builtins(result)
    return plain | {"text": result.as_text()}
