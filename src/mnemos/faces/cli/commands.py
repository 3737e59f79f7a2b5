"""One operation as one command."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TextIO

import click
import msgspec

from mnemos.errors import InvalidInput, NotFound, Refused, StorageError, TooLarge
from mnemos.faces.cli.output import complain, show
from mnemos.faces.cli.parameters import parameters_of
from mnemos.faces.cli.plain import plain
from mnemos.faces.cli.watching import watch
from mnemos.memory import Memory
from mnemos.operations import registry
from mnemos.operations.base import Operation
from mnemos.operations.index import Entry


@dataclass(frozen=True, slots=True)
class Chosen:
    """The options that every command takes."""

    home: str | None = None
    space: str | None = None
    json: bool = False

    def memory(self, *, files: str | None = None) -> Memory:
        return Memory.at(self.home, space=self.space, files=files)


def common_options() -> list[click.Parameter]:
    """The options that every command takes, at any place: before, between or after its words."""

    def remember(ctx: click.Context, param: click.Parameter, value: Any) -> None:
        chosen = ctx.obj if isinstance(ctx.obj, Chosen) else Chosen()
        if param.name and value:
            chosen = replace(chosen, **{param.name: value})
        ctx.obj = chosen

    return [
        click.Option(["--home"], expose_value=False, callback=remember, metavar="FOLDER",
                     help="The home; default $MNEMOS_HOME or ~/.mnemos."),
        click.Option(["--space"], expose_value=False, callback=remember, metavar="NAME",
                     help="Whose memory; default $MNEMOS_SPACE or default."),
        click.Option(["--json"], is_flag=True, expose_value=False, callback=remember,
                     help="Answer in JSON."),
    ]  # fmt: skip


class OperationCommand(click.Command):
    """A command whose help describes its arguments too."""

    def __init__(self, *args: Any, arguments: list[tuple[str, str]], **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._arguments = arguments

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if self._arguments:
            with formatter.section("Arguments"):
                formatter.write_dl(self._arguments)
        super().format_options(ctx, formatter)


def operation_command(entry: Entry) -> click.Command:
    """The command of an operation: positional fields are arguments, the others options."""
    operation = registry.load(entry)
    text = registry.help_text(operation)
    taken = parameters_of(operation)
    return OperationCommand(
        entry.command.split()[-1],
        callback=_callback(entry, operation),
        params=[*taken.parameters, *common_options()],
        arguments=taken.described,
        help=text,
        short_help=" ".join(text.split()).split(". ")[0].rstrip("."),
    )


def is_terminal(stream: TextIO | None) -> bool:
    """False also for a stream that was closed before we began."""
    return stream is not None and stream.isatty()


def _callback(entry: Entry, operation: type[Operation]) -> Callable[..., int]:
    @click.pass_obj
    def invoke(chosen: Chosen, /, **given: Any) -> int:
        yes = given.pop("yes", False)
        watched = given.pop("watch", False)
        arguments = {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in given.items()
            if value is not None and value != ()
        }
        if operation.traits.stdin:
            _read_stdin(operation, arguments)
        request = registry.read(entry.name, arguments, by_person=True)
        # A person names files as everywhere at a command line; an agent's stay in one folder.
        with chosen.memory(files="/") as memory:
            if not operation.traits.begins:
                _check_home(memory)

            def carry_out(request: Operation) -> int:
                if operation.traits.destructive and not yes and not memory.settings.disabled:
                    _ask(request, memory)
                if watched:
                    return watch(memory, entry.name, request, as_json=chosen.json)
                return show(memory, entry.name, request, as_json=chosen.json)

            if not is_terminal(sys.stdin) or chosen.json:
                return carry_out(request)
            return _edited(_answered(request, memory), memory, carry_out)

    return invoke


def _check_home(memory: Memory) -> None:
    """Looking at a home that is not there should not make one."""
    if not memory.database.exists():
        raise NotFound(
            f"there is no memory in {memory.settings.home} yet; `mnemos demo` shows what it can do, "
            "`mnemos import` brings conversations in"
        )


def _ask(request: Operation, memory: Memory) -> None:
    try:
        at_stake = request.at_stake(memory)
    except StorageError:
        at_stake = "the damaged database"
    if not at_stake:
        return
    if not is_terminal(sys.stdin):
        raise Refused(f"this deletes {at_stake}; add --yes to do it")
    if not click.confirm(plain(f"This deletes {at_stake}. Continue?"), err=True):
        raise Refused("cancelled; nothing was changed")


def _answered(request: Operation, memory: Memory) -> Operation:
    """The request with what the person at the terminal answers to its questions."""
    questions = request.questions(memory)
    if not questions:
        return request
    answers = {
        question.key: str(
            click.prompt(
                plain(question.text),
                default=question.default,
                hide_input=question.is_secret,
                show_default=bool(question.default) and not question.is_secret,
                type=click.Choice(question.choices) if question.choices else str,
                err=True,
            )
        )
        for question in questions
    }
    return request.with_answers(answers)


def _edited(request: Operation, memory: Memory, carry_out: Callable[[Operation], int]) -> int:
    """Carry the request out with the text that the person at the terminal edits, where none was given.

    What is refused may be edited again: it would be lost otherwise.
    """
    field = request.traits.edited
    if not field or getattr(request, field) is not None:
        return carry_out(request)
    draft = request.draft(memory)
    text = _left_by_editor(draft)
    while True:
        # An editor is open for minutes, and others write meanwhile.
        merged = request.merge_draft(text, draft, request.draft(memory))
        try:
            return carry_out(msgspec.structs.replace(request, **{field: merged}))
        except (InvalidInput, TooLarge, Refused) as exc:
            complain(exc)
            if not click.confirm("Edit it again?", default=True, err=True):
                raise Refused("cancelled; nothing was changed") from exc
        text = _left_by_editor(text)


def _left_by_editor(draft: str) -> str:
    try:
        text = click.edit(draft, extension=".md")
    except (UnicodeDecodeError, OSError) as exc:
        raise InvalidInput(f"what the editor left cannot be read: {exc}; nothing was changed") from exc
    if text is None:
        raise Refused("the text was left as it was; nothing was changed")
    return text


def _read_stdin(operation: type[Operation], arguments: dict[str, Any]) -> None:
    """Fill the field that may come from standard input, when it is - or left out of a pipe."""
    field = operation.traits.stdin
    last = operation.traits.positional[-1]
    left_out = last not in arguments and field not in arguments and not is_terminal(sys.stdin)
    if arguments.get(last) == "-" or left_out:
        arguments.pop(last, None)
        arguments[field] = stdin_text()


def stdin_text() -> str:
    """What is piped in, without the line break at its end."""
    if sys.stdin is None:
        return ""
    try:
        text = sys.stdin.buffer.read().decode()
    except UnicodeDecodeError as exc:
        raise InvalidInput(f"standard input is not UTF-8 text: {exc}") from exc
    # The line break at the end belongs to echo, not to what was said.
    return text.removesuffix("\n").removesuffix("\r")
