"""An operation as a command: its fields are arguments and options."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec
from msgspec import inspect

from mnemos.errors import Disabled, InvalidInput, NotFound, Refused, StorageError, TooLarge
from mnemos.faces.cli.help_screens import HelpedCommand
from mnemos.faces.cli.output import complain, is_terminal, plain, show, watch
from mnemos.operations import registry
from mnemos.operations.arguments import IGNORED, METAVAR
from mnemos.operations.base import Operation, Question, agree
from mnemos.operations.index import Entry

if TYPE_CHECKING:
    from mnemos.memory import Memory


@dataclass(frozen=True, slots=True)
class Chosen:
    """Options of every command."""

    home: str | None = None
    space: str | None = None
    json: bool = False

    def memory(
        self, *, files: str | None = None, is_local: bool = True, stated_by: str | None = None
    ) -> Memory:
        """Open the memory. ``is_local``: its user works in this process's folder."""
        # Imported here, because it loads every part, which help and usage errors don't need.
        from mnemos.memory import Memory

        here = _find_folder() if is_local else None
        return Memory.at(self.home, space=self.space, files=files, here=here, stated_by=stated_by)


def _find_folder() -> str | None:
    try:
        return str(Path.cwd())
    except OSError:
        # The folder has been deleted.
        return None


def _switch_off_color(ctx: click.Context, param: click.Parameter, value: bool) -> None:  # noqa: ARG001, FBT001
    if value:
        # rich, pagers and editors read this variable.
        os.environ["NO_COLOR"] = "1"


def _switch_off_pager(ctx: click.Context, param: click.Parameter, value: bool) -> None:  # noqa: ARG001, FBT001
    if value:
        os.environ["MNEMOS_PAGER"] = "cat"


def common_options() -> list[click.Parameter]:
    """Return the options of every command. They may be anywhere on the command line."""

    def remember(ctx: click.Context, param: click.Parameter, value: Any) -> None:
        chosen = ctx.obj if isinstance(ctx.obj, Chosen) else Chosen()
        if param.name and value:
            chosen = replace(chosen, **{param.name: value})
        ctx.obj = chosen

    return [
        click.Option(["--home"], expose_value=False, callback=remember, metavar="FOLDER",
                     help="Home folder; default: $MNEMOS_HOME or ~/.mnemos."),
        click.Option(["--space"], expose_value=False, callback=remember, metavar="NAME",
                     help="Space of the memory; default: $MNEMOS_SPACE or default."),
        click.Option(["--json"], is_flag=True, expose_value=False, callback=remember,
                     help="Print the result as JSON."),
        click.Option(["--no-color"], is_flag=True, expose_value=False, callback=_switch_off_color,
                     help="Print without colours; NO_COLOR=1 does the same."),
        click.Option(["--no-pager"], is_flag=True, expose_value=False, callback=_switch_off_pager,
                     help="Print long output at once; MNEMOS_PAGER=cat does the same."),
    ]  # fmt: skip


def operation_command(entry: Entry) -> click.Command:
    """Build an operation's command: positional fields are arguments, others options."""
    operation = registry.load(entry)
    text = registry.help_text(operation)
    taken = parameters_of(operation)
    return HelpedCommand(
        entry.command.split()[-1],
        callback=_callback(entry, operation),
        params=[*taken.parameters, *common_options()],
        arguments=taken.described,
        example=f"{entry.command} {operation.traits.example}".strip(),
        help=text,
    )


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
        if operation.traits.words and (last := operation.traits.positional[-1]) in arguments:
            arguments[last] = " ".join(arguments[last])
        few = 0 if chosen.json or "limit" in arguments else operation.traits.few
        if operation.traits.stdin:
            _read_stdin(operation, arguments)
        request = registry.read(entry.name, arguments, by_person=True)
        # A person may name any file; an agent's files stay in one folder.
        with chosen.memory(files="/", stated_by="user") as memory:
            if not operation.traits.begins:
                _check_home(memory)

            def carry_out(request: Operation) -> int:
                if operation.traits.destructive and not yes and not memory.settings.disabled:
                    _confirm(request, memory)
                if watched:
                    return watch(memory, request, as_json=chosen.json)
                outcome = show(memory, request, as_json=chosen.json, most=few)
                if request.writes() or memory.feeds.was_asked:
                    from mnemos.memory.backlog import hand_over

                    hand_over(memory)
                return outcome

            if operation.traits.asks and yes:
                return carry_out(agree(request, memory))
            is_asked = is_terminal(sys.stdin) and not chosen.json
            if not is_asked or (operation.traits.needs_yes and not is_terminal(sys.stdout)):
                _check_agreed(request, memory)
                return carry_out(request)
            answered = _ask_questions(request, memory)
            outcome = _edit_and_run(answered, memory, carry_out)
            offered = None if outcome else answered.offer(memory)
        if offered is not None and click.confirm(plain(offered[0]), err=True):
            root = click.get_current_context().find_root().command
            return int(root.main([*offered[1]], prog_name="mnemos", standalone_mode=False) or 0)
        return outcome

    return invoke


def _check_home(memory: Memory) -> None:
    """Refuse to create a home for a command that only reads."""
    if not memory.home.exists:
        memory.home.check_remains()
        raise NotFound(
            f"There is no memory in {memory.settings.home} yet. Run `mnemos import` to import "
            "conversations, or `mnemos demo` to try it."
        )


def _confirm(request: Operation, memory: Memory) -> None:
    try:
        at_stake = request.at_stake(memory)
    except StorageError:
        at_stake = "the damaged database"
    if not at_stake:
        return
    if not is_terminal(sys.stdin):
        raise Refused(f"This {request.traits.verb} {at_stake}. Add --yes to confirm.")
    if not click.confirm(plain(f"This {request.traits.verb} {at_stake}. Continue?"), err=True):
        raise Refused("Cancelled. Nothing was changed.")


def _check_agreed(request: Operation, memory: Memory) -> None:
    """Refuse a change that needs confirmation if nobody can be asked."""
    if not (request.traits.needs_yes and request.writes()):
        return
    texts = [question.text.removesuffix("\nContinue?") for question in request.questions(memory)]
    if texts:
        diff = ", or --diff to see it" if hasattr(request, "diff") else ""
        raise Refused("\n".join([*texts, f"Nothing was changed. Add --yes to confirm{diff}."]))


def _ask_questions(request: Operation, memory: Memory) -> Operation:
    """Ask a request's questions at the terminal and return it with the answers."""
    questions = request.questions(memory)
    answers = {question.key: _ask(question) for question in questions}
    return request.with_answers(answers) if questions else request


def _ask(question: Question) -> str:
    if "yes" in question.choices:
        return _ask_yes_or_no(question)
    answer = click.prompt(
        plain(question.text),
        default=question.default,
        hide_input=question.is_secret,
        show_default=bool(question.default) and not question.is_secret,
        type=click.Choice(question.choices) if question.choices else str,
        err=True,
    )
    return str(answer)


def _ask_yes_or_no(question: Question) -> str:
    keys = ("Y/n" if question.default == "yes" else "y/N") + ("/d for the diff" if question.details else "")
    text = question.text
    while True:
        said = click.prompt(f"{plain(text)} [{keys}]", default="", show_default=False, err=True)
        word = said.strip().lower() or question.default
        for choice in question.choices:
            if choice.startswith(word):
                return choice
        if question.details and "diff".startswith(word):
            # rich is slow to import, and only needed for a diff.
            from rich.console import Console

            from mnemos.faces.cli.drawing import color_diff

            Console(stderr=True, highlight=False).print(color_diff(question.details), soft_wrap=True)
        text = question.text.rpartition("\n")[2]


def _edit_and_run(request: Operation, memory: Memory, carry_out: Callable[[Operation], int]) -> int:
    """Run a request, opening an editor if it takes a text and none was given.

    A rejected text can be edited again, so that it is not lost.
    """
    field = request.traits.edited
    if not field or getattr(request, field) is not None:
        return carry_out(request)
    draft = request.draft(memory)
    text = _open_editor(draft)
    while True:
        # An editor may be open for minutes, while others write.
        merged = request.merge_draft(text, draft, request.draft(memory))
        try:
            return carry_out(msgspec.structs.replace(request, **{field: merged}))
        except (InvalidInput, TooLarge, Refused) as exc:
            complain(exc)
            if not click.confirm("Edit it again?", default=True, err=True):
                may_allow = exc.advice and not isinstance(exc, Disabled)
                if may_allow and click.confirm("Store it anyway?", default=False, err=True):
                    request = msgspec.structs.replace(request, allow=True)
                    continue
                raise Refused("Cancelled. Nothing was changed.") from exc
        text = _open_editor(text)


def _open_editor(draft: str) -> str:
    try:
        text = click.edit(draft, extension=".md")
    except (UnicodeDecodeError, OSError) as exc:
        raise InvalidInput(f"The edited text cannot be read: {exc}. Nothing was changed.") from exc
    if text is None:
        raise Refused("Nothing was changed, because the text was not edited.")
    return text


def _read_stdin(operation: type[Operation], arguments: dict[str, Any]) -> None:
    """Fill a field from standard input if it is - or, in a pipe, omitted."""
    field = operation.traits.stdin
    *others, last = operation.traits.positional
    # If an argument before it is missing, another form of the command is meant.
    is_meant = last not in arguments and field not in arguments and all(one in arguments for one in others)
    left_out = is_meant and not is_terminal(sys.stdin)
    if arguments.get(last) == "-" or left_out:
        arguments.pop(last, None)
        arguments[field] = read_stdin()


def read_stdin() -> str:
    """Read standard input without the line break at its end."""
    if sys.stdin is None:
        return ""
    try:
        text = sys.stdin.buffer.read().decode()
    except UnicodeDecodeError as exc:
        raise InvalidInput(f"Standard input is not UTF-8 text: {exc}") from exc
    # `echo` adds the line break at the end, which is not part of the text.
    return text.removesuffix("\n").removesuffix("\r")


@dataclass(frozen=True, slots=True)
class Parameters:
    """The parameters of a command. ``described`` are its arguments with their help."""

    parameters: list[click.Parameter]
    described: list[tuple[str, str]]


def parameters_of(operation: type[Operation]) -> Parameters:
    info = inspect.type_info(operation)
    if not isinstance(info, inspect.StructType):
        raise TypeError(f"{operation} is not a struct")
    fields = {field.name: field for field in info.fields}
    positional = [fields[name] for name in operation.traits.positional]
    piped = operation.traits.stdin
    last = operation.traits.positional[-1:] if operation.traits.words else ()
    parameters: list[click.Parameter] = [
        _argument(field, required=field.required and field.name != piped, many=field.name in last)
        for field in positional
    ]
    few = operation.traits.few
    parameters += [
        _option(field, f"{few}, or {field.default} with --json" if few and field.name == "limit" else "")
        for field in info.fields
        if field not in positional
    ]
    if operation.traits.watches:
        parameters.append(
            click.Option(["--watch"], is_flag=True, help="Keep watching for changes until Ctrl-C")
        )
    if operation.traits.destructive or operation.traits.asks:
        parameters.append(click.Option(["--yes"], is_flag=True, help="Don't ask for confirmation"))
    return Parameters(
        parameters, [(field.name.upper(), _argument_help(field, operation)) for field in positional]
    )


def _argument(field: inspect.Field, *, required: bool, many: bool) -> click.Argument:
    nargs = -1 if many else 1
    return click.Argument([field.name], required=required, type=_shape(field.type).type, nargs=nargs)


def _argument_help(field: inspect.Field, operation: type[Operation]) -> str:
    traits = operation.traits
    notes = [_shape(field.type).help]
    if traits.stdin and field.name == traits.positional[-1]:
        notes.append("- or nothing reads standard input")
    if field.name == traits.edited:
        notes.append("at a terminal, nothing opens an editor")
    if field.name == traits.stdout:
        notes.append("- writes to standard output")
    return "; ".join(filter(None, notes))


def _option(field: inspect.Field, shown: str = "") -> click.Option:
    """Return a field's option. ``shown`` is the default in the help if it differs."""
    shape = _shape(field.type)
    name = f"--{field.name.replace('_', '-')}"
    if shape.is_flag:
        return click.Option([name], is_flag=True, default=None, help=shape.help)
    default = None if field.default in (msgspec.NODEFAULT, None) else field.default
    return click.Option(
        [name],
        type=shape.type,
        metavar=shape.metavar,
        multiple=shape.many,
        required=field.required,
        hidden=shape.help == IGNORED,
        help=shape.help + (f" [default: {shown or default}]" if shown or default is not None else ""),
    )


class Json(click.ParamType[Any]):
    """Any value, typed as JSON."""

    name = "json"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return msgspec.json.decode(value)
        except msgspec.DecodeError as exc:
            self.fail(f"{value[:80]!r} is not JSON: {exc}", param, ctx)


@dataclass(frozen=True, slots=True)
class _Shape:
    type: click.ParamType[Any] | None
    help: str = ""
    metavar: str | None = None
    many: bool = False
    is_flag: bool = False


def _shape(kind: inspect.Type) -> _Shape:
    """Return the click type of a field."""
    if isinstance(kind, inspect.Metadata):
        described = (kind.extra_json_schema or {}).get("description", "")
        metavar = (kind.extra or {}).get(METAVAR)
        return replace(_shape(kind.type), help=described, metavar=metavar)
    if isinstance(kind, inspect.UnionType):
        several = [t for t in kind.types if not isinstance(t, inspect.NoneType)]
        if any(isinstance(t, inspect.ListType | inspect.DictType) for t in several[1:]):
            return _Shape(Json())
        return _shape(several[0]) if len(several) == 1 else _Shape(click.STRING)
    if isinstance(kind, inspect.BoolType):
        return _Shape(click.BOOL, is_flag=True)
    if isinstance(kind, inspect.IntType):
        return _Shape(click.INT)
    if isinstance(kind, inspect.FloatType):
        return _Shape(click.FLOAT)
    if isinstance(kind, inspect.LiteralType):
        return _Shape(click.Choice([str(value) for value in kind.values]))
    if isinstance(kind, inspect.DictType):
        return _Shape(Json())
    if isinstance(kind, inspect.ListType) and isinstance(kind.item_type, inspect.AnyType):
        return _Shape(Json())
    if isinstance(kind, inspect.ListType):
        return replace(_shape(kind.item_type), many=True)
    return _Shape(click.STRING)
