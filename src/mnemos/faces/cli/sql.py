"""``mnemos sql``: the workspace's databases at a prompt, or a single query."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mnemos.errors import InvalidInput, MnemosError, ReadOnly
from mnemos.faces.cli.commands import Chosen, common_options, read_stdin
from mnemos.faces.cli.help_screens import HelpedCommand
from mnemos.faces.cli.output import is_terminal, plain, say

if TYPE_CHECKING:
    from mnemos.memory import Memory
    from mnemos.operations.workspace import QueryAnswer

# People read more rows than a model should.
_ROWS = 1_000
_BYTES = 1_000_000
_HISTORY = "sql_history"
_HISTORY_LINES = 2_000
_MORE = "   ...> "
_HELP = """\
Type SQL, ended by a semicolon, or a command:
  .tables all tables
  .schema [TABLE]              tables with their columns, ranges and samples
  .functions                   SQL functions beyond SQLite's own
  .import FILE TABLE           CSV, TSV, JSON, JSONL, also .gz, into a new table
  .export FILE QUERY           CSV, JSON, JSONL or Markdown, by the name of the file
  .databases                   all databases of the workspace
  .use NAME switch to another database
  .quit                        or Ctrl-D"""


@click.command(
    cls=HelpedCommand,
    params=common_options(),
    arguments=[("WORDS", "A query, or the name of a database; default: a prompt for the database `default`")],
    example='sql "SELECT item, eur FROM prices LIMIT 5"',
)
@click.argument("words", nargs=-1)
@click.option("-c", "--command", "query", metavar="SQL", help="Run this statement and exit.")
@click.option("--read-only", is_flag=True, help="Refuse changes.")
@click.pass_obj
def sql(chosen: Chosen, words: tuple[str, ...], query: str | None, read_only: bool) -> None:  # noqa: FBT001
    """Query a database of the workspace. Without a query, open a prompt."""
    database = " ".join(words) or "default"
    if query is None and any(sign.isspace() for sign in database):
        # This can't be the name of a database.
        database, query = "default", database
    with chosen.memory(files="/") as memory:
        if query is None and is_terminal(sys.stdin):
            Prompt(memory, database, read_only=read_only).run()
            return
        text = query if query is not None else read_stdin()
        say(run_query(memory, text, database, read_only=read_only), as_json=chosen.json)


def run_query(memory: Memory, text: str, database: str, *, read_only: bool) -> QueryAnswer:
    """Run a query that returns as many rows as a person may want to see."""
    # Imported here, so that other commands don't wait for the workspace.
    from mnemos.operations.workspace import QueryAnswer
    from mnemos.workspace import limits

    answer = memory.workspace.query(
        text,
        database=database,
        max_rows=_ROWS,
        max_bytes=_BYTES,
        max_cell=limits.CELL,
        read_only=read_only,
    )
    return QueryAnswer.of(answer)


class Prompt:
    """Reads SQL and lines that begin with a dot, until the end of input."""

    def __init__(self, memory: Memory, database: str, *, read_only: bool) -> None:
        self._memory = memory
        self._database = database
        self._read_only = read_only
        self._words = {
            ".tables": self._tables,
            ".schema": self._schema,
            ".functions": self._functions,
            ".import": self._import,
            ".export": self._export,
            ".databases": self._databases,
            ".use": self._use,
            ".help": self._help,
        }

    def run(self) -> None:
        click.echo(f"Database {self._database}. End SQL with a semicolon. .help lists the commands.")
        settings = self._memory.settings
        with _Lines(settings.home / _HISTORY, self._completions, keeps=not settings.disabled) as lines:
            while True:
                try:
                    text = self._read(lines)
                except EOFError:
                    click.echo()
                    return
                except KeyboardInterrupt:
                    click.echo("  (input dropped; .quit or Ctrl-D ends)")
                    continue
                if text.strip() in (".quit", ".exit", ".q"):
                    return
                self._do(text)

    def _read(self, lines: _Lines) -> str:
        """Read a statement, which may take several lines, or a line that begins with a dot."""
        from mnemos.workspace.sandbox.lexer import is_complete

        text = lines.next(f"{self._database}> ")
        while text.strip() and not text.lstrip().startswith(".") and not is_complete(text):
            text += "\n" + lines.next(_MORE)
        return text

    def _do(self, text: str) -> None:
        word, _, rest = text.strip().partition(" ")
        try:
            if word in self._words:
                self._words[word](rest.strip())
            elif word.startswith("."):
                click.echo(f"There is no command {plain(word)}. .help lists all commands.", err=True)
            elif text.strip():
                say(run_query(self._memory, text, self._database, read_only=self._read_only), as_json=False)
        except MnemosError as exc:
            click.echo(plain(str(exc)), err=True)
        except KeyboardInterrupt:
            click.echo("Stopped and rolled back.", err=True)

    def _call(self, name: str, **arguments: str) -> None:
        from mnemos.operations import registry

        given = {key: value for key, value in arguments.items() if value}
        say(registry.read(name, given).run(self._memory), as_json=False)

    def _tables(self, _rest: str) -> None:
        for table in self._memory.workspace.tables(self._database):
            click.echo(plain(f"{table['name']} ({', '.join(table['columns'])})"))

    def _schema(self, table: str) -> None:
        self._call("sqlite_schema", database=self._database, table=table)

    def _functions(self, _rest: str) -> None:
        self._call("sqlite_schema", database=self._database, functions="true")

    def _import(self, rest: str) -> None:
        path, _, table = rest.rpartition(" ")
        if not path:
            raise InvalidInput(f".import takes a file and a table, not {rest!r}: .import FILE TABLE")
        if self._read_only:
            raise ReadOnly(".import changes the database, and --read-only does not allow changes")
        self._call("sqlite_import", database=self._database, path=path.strip(), table=table)

    def _export(self, rest: str) -> None:
        path, _, query = rest.partition(" ")
        if not query:
            raise InvalidInput(f".export takes a file and a query, not {rest!r}: .export FILE QUERY")
        self._call("sqlite_export", database=self._database, path=path, query=query)

    def _databases(self, _rest: str) -> None:
        self._call("sqlite_databases")

    def _use(self, name: str) -> None:
        from mnemos.workspace.identifiers import check_name

        self._database = check_name(name)

    def _help(self, _rest: str) -> None:
        click.echo(_HELP)

    def _completions(self, begun: str) -> list[str]:
        """Return the names of tables, columns and commands that begin like this."""
        if begun.startswith("."):
            return [word for word in (*self._words, ".quit") if word.startswith(begun)]
        try:
            tables = self._memory.workspace.tables(self._database)
        except MnemosError:
            return []
        names = {name for table in tables for name in (table["name"], *table["columns"])}
        return sorted(name for name in names if name.lower().startswith(begun.lower()))


class _Lines:
    """Lines typed at a terminal, with a history file if readline is available."""

    def __init__(self, history: Path, completions: Callable[[str], list[str]], *, keeps: bool) -> None:
        self._history = history
        self._keeps = keeps
        self._completions = completions
        self._found: list[str] = []

    def __enter__(self) -> _Lines:
        try:
            import readline
        except ImportError:
            return self
        try:
            readline.read_history_file(self._history)
        except OSError:
            # There is no history yet, or it can't be read.
            pass
        readline.set_history_length(_HISTORY_LINES)
        readline.set_completer_delims(" \t\n(),;=<>+-*/")
        readline.set_completer(self._complete)
        readline.parse_and_bind("tab: complete")
        return self

    def __exit__(self, *_: object) -> None:
        if not self._keeps:
            return
        try:
            import readline

            self._history.touch(mode=0o600)
            readline.write_history_file(self._history)
        except (ImportError, OSError):
            # Failing to save the history is not an error.
            return

    def next(self, prompt: str) -> str:
        return input(prompt)

    def _complete(self, begun: str, state: int) -> str | None:
        if state == 0:
            self._found = self._completions(begun)
        return self._found[state] if state < len(self._found) else None
