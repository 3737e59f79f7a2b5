"""The command line, generated from the operations."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from copy import copy
from pathlib import Path

import click

from mnemos import __version__
from mnemos.errors import DiskFull, InvalidInput, MnemosError, NotFound, Refused, Unavailable
from mnemos.faces.cli import config, postgres, tokens, watch
from mnemos.faces.cli.bench.command import recall as measure_recall
from mnemos.faces.cli.commands import Chosen, common_options, operation_command
from mnemos.faces.cli.help_screens import (
    ADVICE,
    ALIASES,
    SCREENS,
    SYNONYMS,
    HelpedCommand,
    write_example,
    write_options,
    write_screen,
)
from mnemos.faces.cli.mcp import mcp, serve, ui
from mnemos.faces.cli.output import complain, in_json, write_everything
from mnemos.faces.cli.sql import sql
from mnemos.inputs import find_nearest
from mnemos.integrations.hooks import events, hook_process
from mnemos.operations.index import ENTRIES, Entry

# Commands that some groups run without a subcommand. Other groups show their help.
_ALONE = {
    "config": "show",
    "connect": "found",
    "import": "found",
    "watch": "run",
}

_COMPLETION = "_MNEMOS_COMPLETE"
# A word with one of these characters is a file.
_PATH_SIGNS = frozenset("./\\~")
_PACKED = (".tar", ".tar.gz", ".tar.zst")

# The first match counts. Any other error exits with 1.
_EXIT_CODES: tuple[tuple[type[MnemosError], int], ...] = (
    (InvalidInput, 2),
    (NotFound, 3),
    (Refused, 4),
    (Unavailable, 5),
)


class LazyGroup(click.Group):
    """A group of commands from the index. Modules are imported when a command runs."""

    def __init__(self, prefix: str = "", **settings: object) -> None:
        super().__init__(**settings)  # type: ignore[arg-type]
        self._prefix = prefix
        self.screen = SCREENS[prefix.strip()]
        self.example = self.screen.example

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """List all commands in the order of the help screen, hidden ones last."""
        start = len(self._prefix)
        others = {*self.commands, *(name[start:].split()[0] for name in self._index())}
        return list(dict.fromkeys([*(name for name, _ in self.screen.commands()), *sorted(others)]))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        command = self._find(ctx, cmd_name)
        if command is not None:
            line = dict(self.screen.commands()).get(cmd_name)
            command.hidden = line is None
            command.short_help = line or command.short_help
        return command

    def _find(self, ctx: click.Context, name: str) -> click.Command | None:
        if name in self.commands:
            return super().get_command(ctx, name)
        entry = self._index().get(self._prefix + name)
        if entry is not None:
            return operation_command(entry)
        if self._prefix == "admin ":
            return cli.get_command(ctx, name) if name in self.list_commands(ctx) else None
        return _make_group(name) if not self._prefix and name in SCREENS else None

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_screen(self.screen, formatter)
        write_options(self, ctx, formatter)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        write_example(self.example, formatter)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        alone = _ALONE.get(self.name or "") if self._prefix else None
        if (
            alone is not None
            and args
            and args[0].startswith("--")
            and not {*args} & {*self.list_commands(ctx)}
        ):
            own = {name for parameter in self.params for name in parameter.opts} | {"--help"}
            if any(word.startswith("--") and word.partition("=")[0] not in own for word in args):
                # It is an option of the command that the group runs alone.
                args = [alone, *args]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as exc:
            if self._prefix == "import " and (words := _find_import(args[0])):
                return super().resolve_command(ctx, [*words, *args])
            near = self._find_near(ctx, args[0])
            if self._prefix == "watch " and not near:
                # Programs to watch, for `mnemos watch run`.
                return super().resolve_command(ctx, [_ALONE["watch"], *args])
            if self._prefix == "export " and (not near or _PATH_SIGNS & {*args[0]}):
                return super().resolve_command(ctx, ["all", *args])
            raise click.UsageError(self._explain_unknown(exc.message, args[0], near), ctx) from None

    def _explain_unknown(self, message: str, word: str, near: str) -> str:
        if not self._prefix and word in ADVICE:
            return f"{message} {ADVICE[word]}"
        if near:
            return f"{message} Did you mean {near!r}?"
        names = ", ".join(name for name, _ in self.screen.commands() if name not in ("found", "agent"))
        # Imported here, because they are only needed if the word is not a command.
        from mnemos.operations.imports import PROGRAMS
        from mnemos.transfer.agent_places import KINDS

        if self._prefix == "connect " and word in (*KINDS, *PROGRAMS):
            records = "`mnemos watch` records" if word in KINDS else f"`mnemos import {word} FOLDER` imports"
            also = "If it uses MCP servers, add `mnemos mcp` to them."
            return f"There is nothing to set up in {word}: {records} its conversations. {also}"
        if self._prefix == "connect ":
            return (
                f"Unknown client {word!r}. Use {names}. To connect another MCP client, configure it to run "
                "`mnemos mcp`."
            )
        if self._prefix == "import ":
            return f"{word!r} is neither a file nor a format. Formats: {names}, {', '.join(PROGRAMS)}."
        return message

    def _find_near(self, ctx: click.Context, word: str) -> str:
        """Return the command that an unknown word may mean: similar, or in a group."""
        if (meant := SYNONYMS.get(self._prefix + word)) is not None:
            return meant
        near = find_nearest(word, self.list_commands(ctx))
        listed = (f"{group} {name}" for group, one in SCREENS.items() for name, _ in one.commands() if group)
        below = [] if self._prefix else [path for path in listed if path.endswith(f" {word}")]
        return near or next(iter(below), "")

    def _index(self) -> dict[str, Entry]:
        """Return the operations in this group by the words that people type."""
        named = {entry.command: entry for entry in ENTRIES}
        named |= {former: named[now] for former, now in ALIASES.items()}
        return {words: entry for words, entry in named.items() if words.startswith(self._prefix)}


def _make_group(name: str) -> LazyGroup:
    return LazyGroup(
        prefix=f"{name} ",
        name=name,
        help=SCREENS[name].about,
        params=common_options(),
        invoke_without_command=name in _ALONE,
        callback=_run_alone if name in _ALONE else None,
    )


@click.pass_context
def _run_alone(ctx: click.Context) -> object:
    """Run the command of a group that is called without a subcommand."""
    if ctx.invoked_subcommand is not None or not isinstance(ctx.command, click.Group):
        return None
    name = _ALONE[str(ctx.command.name)]
    command = ctx.command.get_command(ctx, name)
    if command is None:
        return None
    with command.make_context(name, [], parent=ctx) as alone:
        return command.invoke(alone)


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    params=common_options(),
    help=SCREENS[""].about,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, "-V", "--version", message="mnemos %(version)s")
@click.pass_context
def cli(ctx: click.Context, /, **_: object) -> None:
    if ctx.invoked_subcommand is None:
        from mnemos.faces.cli.greeting import greet

        greet(ctx.obj)


@cli.command("help", cls=HelpedCommand, example="help sessions list")
@click.argument("command", nargs=-1)
def show_help(command: tuple[str, ...]) -> None:
    """Show the help of a command."""
    cli.main([*command, "--help"], prog_name="mnemos", standalone_mode=False)


@cli.command(cls=HelpedCommand, example="version")
def version() -> None:
    """Show the version."""
    click.echo(f"mnemos {__version__}")


@cli.command(cls=HelpedCommand, example="demo --keep demo-home")
@click.option("--keep", type=click.Path(path_type=Path), help="Keep the demo home in this new folder.")
def demo(keep: Path | None) -> None:
    """Fill a temporary home with a small history and search it."""
    from mnemos.faces.cli.demo import show

    show(keep)


@cli.command(cls=HelpedCommand, example="completion bash")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print a shell completion script."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    if kind is not None:
        click.echo(kind(cli, {}, "mnemos", _COMPLETION).source())


@click.command(
    cls=HelpedCommand,
    example="hook session-start < event.json",
    params=[option for option in common_options() if option.name in ("home", "space")],
)
@click.argument("event", type=click.Choice(events.NAMES))
@click.option(
    "--agent", type=click.Choice(events.AGENTS), default=events.CLAUDE_CODE, help="The program that runs it."
)
@click.pass_obj
def hook(chosen: Chosen, event: str, agent: str) -> None:
    """Record and recall for an agent program, which runs this command itself.

    Reads the event as JSON from standard input. On failure, exits with 0, prints nothing and writes to
    logs/hooks.log in the home.
    """
    call = hook_process.Call(event, agent, chosen.home, chosen.space)
    hook_process.run(call, sys.stdin.fileno(), sys.stdout)


for name, commands in {
    "config": config.COMMANDS,
    "postgres": postgres.COMMANDS,
    "tokens": tokens.COMMANDS,
    "watch": watch.COMMANDS,
    "bench": (measure_recall,),
}.items():
    group = _make_group(name)
    for command in commands:
        group.add_command(command)
    cli.add_command(group)
cli.add_command(hook)
cli.add_command(mcp)
cli.add_command(postgres.migrate)
cli.add_command(serve)
cli.add_command(sql)
cli.add_command(ui)
cli.add_command(copy(ui), "web")


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code. Errors go to standard error."""
    wants_json = "--json" in (sys.argv if arguments is None else arguments)
    try:
        write_everything(in_utf8=wants_json)
        outcome = cli.main(arguments, prog_name="mnemos", standalone_mode=False)
    except click.exceptions.Abort:
        click.echo("Stopped. Work done so far is kept.", err=True)
        return 130
    except click.exceptions.NoArgsIsHelpError as exc:
        click.echo(exc.format_message())
        return 0
    except click.NoSuchOption as exc:
        near = find_nearest(exc.option_name, exc.possibilities or ())
        # In queries, a dash excludes a word.
        hint = "" if exc.option_name.startswith("--") else " Words that begin with a dash go after `--`."
        message = f"No such option {exc.option_name!r}.{hint}"
        option = click.NoSuchOption(exc.option_name, message, [near] if near else None, exc.ctx)
        return _report_usage(option, as_json=wants_json)
    except click.ClickException as exc:
        return _report_usage(exc, as_json=wants_json)
    except MnemosError as exc:
        return _report(exc, as_json=wants_json)
    except OSError as exc:
        if exc.errno != errno.ENOSPC:
            raise
        # Otherwise Python tries to write the rest again when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        full = DiskFull("The disk is full where the output goes. Free some space and repeat the command.")
        return _report(full, as_json=wants_json)
    except SystemExit:
        if _COMPLETION in os.environ:
            raise
        # click exits this way if the reader of our output closes it, as `head` does.
        return 0
    return outcome if isinstance(outcome, int) else 0


def exit_code(exc: MnemosError) -> int:
    return next((code for kind, code in _EXIT_CODES if isinstance(exc, kind)), 1)


def _report(exc: MnemosError, *, as_json: bool) -> int:
    if as_json:
        _report_json(exc.code, str(exc))
    else:
        complain(exc)
    return exit_code(exc)


def _report_usage(exc: click.ClickException, *, as_json: bool) -> int:
    if as_json:
        _report_json("usage", exc.format_message())
    else:
        context = getattr(exc, "ctx", None)
        if context is not None:
            click.echo(f"{context.get_usage()}\nTry `{context.command_path} --help` for help.\n", err=True)
        click.echo(f"mnemos: {exc.format_message()}", err=True)
    return 2


def _report_json(code: str, message: str) -> None:
    click.echo(in_json({"error": {"code": code, "message": message}}), err=True)


def _find_import(word: str) -> list[str]:
    """Return the subcommand for the program or file that a person named."""
    # Imported here, because it is only needed if the word is not a command.
    from mnemos.operations.imports import PROGRAMS

    if word in PROGRAMS:
        return ["agent"]
    kind = detect_import_command(word)
    return ["agent", kind] if kind in PROGRAMS else [kind] if kind else []


def detect_import_command(text: str) -> str | None:
    """Return the command that imports a file or folder; None if it does not exist."""
    path = Path(text)
    try:
        path = path.expanduser()
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        if path.name != text or path.suffix:
            raise click.UsageError(f"There is no file or folder {text}.") from None
        return None
    except OSError as exc:
        raise click.UsageError(f"{text:.200} cannot be read: {exc.strerror}") from None
    except (RuntimeError, ValueError):
        return None
    if not os.access(path, os.R_OK):
        raise click.UsageError(f"{text} cannot be read: permission denied")
    # Imported here, because it loads readers of many formats.
    from mnemos.transfer.import_formats import detect_kind

    kind = detect_kind(path.absolute())
    if kind is None and text.endswith(_PACKED):
        # It may be damaged; the archive reader can say how.
        return "archive"
    if kind is None:
        raise click.UsageError(f"Can't tell what {text} is. Name the format: `mnemos import chatgpt {text}`")
    return kind
