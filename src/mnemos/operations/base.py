"""Operations and their results: the contract that every face is generated from.

An operation is a class. Its fields are the input, its docstring is the description that a model reads,
``run`` does the work, and the result is a struct that renders itself as text. Faces only translate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, ClassVar, TypeVar

import msgspec

from mnemos.errors import Refused
from mnemos.progress import Progress, no_progress
from mnemos.structs import convert
from mnemos.text.stored_text import indent_lines

if TYPE_CHECKING:
    from mnemos.memory import Memory

_GO_ON = "go_on"


@dataclass(frozen=True, slots=True)
class Traits:
    """An operation's properties that faces need, besides its input."""

    title: str
    help: str = ""
    """Help for a person, if it differs from the docstring, which is written for a model."""
    read_only: bool = False
    destructive: bool = False
    """Deletes something: a command asks first, unless ``--yes`` is given."""
    verb: str = "deletes"
    """The verb before ``at_stake`` in the question of a destructive command."""
    reverts: bool = False
    """Restores an earlier state, and so may delete what was added since."""
    asks: bool = False
    """May ask for confirmation, see ``questions``; ``--yes`` confirms."""
    needs_yes: bool = False
    """Changes nothing in a pipe unless ``--yes`` is given."""
    idempotent: bool = False
    local: bool = False
    """Touches files on the caller's machine; not offered over a network."""
    positional: tuple[str, ...] = ()
    """Fields that a command takes as arguments, in this order."""
    words: bool = False
    """The last argument takes all remaining words, so that a question needs no quotes."""
    stdin: str = ""
    """The field that a command fills from standard input if it is ``-`` or omitted."""
    stdout: str = ""
    """The field that makes a command write to standard output if it is ``-``."""
    edited: str = ""
    """The field that opens an editor at a terminal if it is omitted; see ``draft``."""
    watches: bool = False
    """A command can repeat it with ``--watch`` and prints results that have news."""
    begins: bool = False
    """May create a memory; other commands fail if none exists."""
    few: int = 0
    """Results that a command prints unless ``limit`` is given; see ``Result.shorten``. 0 for all."""
    example: str = ""
    """Example arguments, shown in help and the reference; a test runs them."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question that a command asks at a terminal before it runs."""

    key: str
    text: str
    is_secret: bool = False
    """Not echoed while it is typed."""
    default: str = ""
    choices: tuple[str, ...] = ()
    """``yes`` and ``no`` can be shortened to a letter."""
    details: str = ""
    """A diff, shown if the answer is d, before the question is asked again."""


def confirmation(text: str, *, details: str = "") -> Question:
    """Make a yes-or-no question about a change described by ``text``."""
    return Question(_GO_ON, text, default="no", choices=("yes", "no"), details=details)


def check_confirmed(answers: Mapping[str, str]) -> None:
    """Raise Refused if the user declined a ``confirmation``."""
    if answers.get(_GO_ON) == "no":
        raise Refused("Cancelled. Nothing was changed.")


def agree(operation: Operation, memory: Memory) -> Operation:
    """Return an operation with each of its yes-or-no questions answered with yes."""
    asked = [one.key for one in operation.questions(memory) if "yes" in one.choices]
    return operation.with_answers(dict.fromkeys(asked, "yes")) if asked else operation


class Info(msgspec.Struct, frozen=True, kw_only=True):
    """A typed part of a result."""


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """The typed answer of an operation."""

    def as_text(self) -> str:
        """Render the answer for a model."""
        raise NotImplementedError

    def for_person(self) -> str:
        """Render the answer for a person at a command line."""
        return self.as_text()

    def shorten(self, most: int) -> Result:  # noqa: ARG002
        """Return the answer with its first ``most`` parts, and the number of the others."""
        return self

    @property
    def has_news(self) -> bool:
        """True if a repeated operation found something to do and so should print it."""
        return True

    @property
    def is_ok(self) -> bool:
        """False if the answer reports a problem; a command then exits with 1."""
        return True


class Operation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An input that can be run."""

    traits: ClassVar[Traits]

    def run(self, memory: Memory) -> Result:
        raise NotImplementedError

    def writes(self) -> bool:
        """True if this input changes the memory. Not run if memory is disabled."""
        return not self.traits.read_only

    def destroys(self) -> bool:
        """True if this input may delete others' data, which needs the scope ``admin``."""
        return self.traits.destructive or self.traits.reverts

    def at_stake(self, memory: Memory) -> str:  # noqa: ARG002
        """Describe what a destructive operation would delete; empty for nothing.

        Raises NotFound if there is nothing of that name, before anyone is asked.
        """
        return ""

    def questions(self, memory: Memory) -> Sequence[Question]:  # noqa: ARG002
        """Return questions to ask before running it."""
        return ()

    def offer(self, memory: Memory) -> tuple[str, tuple[str, ...]] | None:  # noqa: ARG002
        """Return a question to ask a person afterwards, and the command that a yes runs."""
        return None

    def with_answers(self, answers: Mapping[str, str]) -> Operation:  # noqa: ARG002
        """Return the same input with the answers to its questions filled in."""
        return self

    def draft(self, memory: Memory) -> str:
        """Return the text to edit, for operations with ``Traits.edited``."""
        raise NotImplementedError

    def merge_draft(self, text: str, draft: str, now: str) -> str:  # noqa: ARG002
        """Merge an edited draft with others' changes. ``now`` is the draft after those."""
        return text

    def write_lines(self, memory: Memory, stream: IO[str]) -> None:
        """Write the file's content to a stream, for operations with ``Traits.stdout``."""
        raise NotImplementedError


class LongOperation(Operation, frozen=True, kw_only=True):
    """An operation that reports progress. ``work`` does it; ``run`` reports nothing."""

    def run(self, memory: Memory) -> Result:
        return self.work(memory, no_progress)

    def work(self, memory: Memory, progress: Progress) -> Result:
        raise NotImplementedError


def carry_out(operation: Operation, memory: Memory, progress: Progress) -> Result:
    """Run an operation, reporting progress if it is a long one."""
    return operation.work(memory, progress) if isinstance(operation, LongOperation) else operation.run(memory)


class Done(Result, frozen=True, kw_only=True):
    """A change with nothing more to report."""

    done: str

    def as_text(self) -> str:
        return indent_lines(self.done)


_Struct = TypeVar("_Struct", bound=msgspec.Struct)


def fill(kind: type[_Struct], source: object) -> _Struct:
    """Fill a struct from a mapping or an object's attributes, ignoring extra ones."""
    return convert(source, kind, from_attributes=True)


def builtins(result: Result) -> dict[str, Any]:
    """Return a result as plain data with its ``text``."""
    plain: dict[str, Any] = msgspec.to_builtins(result)
    return plain | {"text": result.as_text()}
