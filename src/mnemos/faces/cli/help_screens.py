"""Help screens: the commands of each group in sections, with one line each.

The lines are written here, because importing every operation takes longer than a help screen may. Commands in
no section work but are not listed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import click


@dataclass(frozen=True, slots=True)
class Screen:
    """The help of a group of commands."""

    about: str
    sections: Mapping[str, Mapping[str, str]]
    example: str
    note: str = ""

    def commands(self) -> Iterator[tuple[str, str]]:
        """Yield each listed command with its line."""
        for section in self.sections.values():
            yield from section.items()


SCREENS = {
    "": Screen(
        "Memory for LLM agents: keeps every conversation and finds it again.",
        {
            "Ask": {
                "recall": "Ask a question in plain words",
                "search": "Find messages, facts or notes by the words they contain",
                "show": "Show a session, message, fact, note, entry or template",
                "sessions": "List, rename, archive and delete conversations",
            },
            "Keep": {
                "remember": "Remember a decision, a rule, an address or a preference",
                "facts": "List facts, their history and their conflicts",
                "notebook": "Edit the notes that go into every prompt",
                "sql": "Query the agent's own tables with SQL",
            },
            "Import and export": {
                "import": "Import conversations from Claude Code, Codex, ChatGPT and others",
                "connect": "Let Claude Code, Cursor, Codex and others use this memory",
                "watch": "Record agent programs as they write, in the background",
                "sync": "Sync with a folder, another machine or a server, both ways",
                "export": "Export everything, or only sessions, facts or rows",
                "backup": "Write a verified copy of the database to a file",
                "restore": "Replace the database with a backup",
            },
            "Look after it": {
                "overview": "Show the memory at a glance, and what is in every prompt",
                "doctor": "Check that everything is in order, and repair it",
                "log": "Show what was changed, by whom and when",
                "undo": "Undo a change",
                "forget": "Withdraw a fact or note, or erase something permanently",
                "config": "Show and change settings",
            },
            "More": {
                "demo": "Try it with a small history in a temporary home",
                "ui": "Look at the memory in a browser",
                "serve": "Serve the memory over HTTP on this machine",
                "admin": "Less common commands: entries, templates, tokens, spaces, stats…",
                "help": "Show the help of a command",
            },
        },
        "recall when did we move the database",
        "`mnemos help COMMAND` or `mnemos COMMAND -h` shows the options of a command.",
    ),
    "sessions": Screen(
        "Conversations: list, show, rename, archive and delete them.",
        {
            "Commands": {
                "list": "List sessions, newest first",
                "show": "Show a session and its messages",
                "read": "Show the messages around one, or the beginning and the end",
                "messages": "Show some messages of a long session, by position or id",
                "outline": "Show the number and size of its messages by role",
                "lineage": "Show all sessions of one conversation",
                "title": "Set or remove the title of a session",
                "archive": "Hide a session from lists; searches still find it",
                "unarchive": "Show an archived session in lists again",
                "delete": "Delete a session and its messages; can be undone",
                "prune": "Delete ended sessions older than a number of days",
            },
            "For programs that record conversations": {
                "create": "Create a session",
                "append": "Append a message to a session, or several at once",
                "pop": "Delete the newest message of a session",
                "rewrite": "Replace messages; searches still find the old ones",
                "update": "Set metadata, the system prompt or token counts of a session",
                "end": "Mark a session as ended",
                "reopen": "Reopen a session that has ended",
                "import": "Import sessions that were exported as JSON lines",
            },
        },
        "sessions list --limit 5",
        "To search in them: `mnemos search WORDS`. To export them: `mnemos export sessions`.",
    ),
    "facts": Screen(
        "Facts: constraints, decisions, values and open questions, with their history.",
        {
            "Commands": {
                "list": "List facts, hot ones first",
                "status": "Show the facts that go into every prompt, and conflicts",
                "history": "Show every statement about a target and what replaced it",
                "reflect": "Show everything known about a topic, including replaced facts",
                "scopes": "List the units of work that facts belong to",
                "conflicts": "List facts that contradict each other",
                "write": "Store facts in MEMORY_SPEC notation",
                "purge": "Permanently delete facts that were replaced or withdrawn",
            },
        },
        "facts list --scope infra",
        "To add one: `mnemos remember TEXT`. To find some: `mnemos search --kind fact WORDS`. "
        "To withdraw one: `mnemos forget WORDS`. To export them: `mnemos export facts`.",
    ),
    "notebook": Screen(
        "The notebook: MEMORY.md and USER.md, two small files that go into every prompt.",
        {
            "Commands": {
                "show": "Show the notes and how full the files are",
                "add": "Add a note",
                "edit": "Edit all notes of a file",
                "versions": "Show earlier states of a file",
                "optimize": "Make room: move notes into facts, shorten the rest",
            },
        },
        'notebook add "Tests run with make test"',
        "To remove a note: `mnemos forget WORDS`. To undo a change: `mnemos undo`.",
    ),
    "entries": Screen(
        "Entries: what is known about users, as keys and values.",
        {
            "Commands": {
                "list": "List the keys of a user, most recently updated first",
                "users": "List the users that have entries",
                "get": "Show the value of a key",
                "set": "Set the value of a key",
                "delete": "Permanently delete a key and its value",
                "info": "Show which backend stores entries, and where",
            },
            "For programs that store JSON in namespaces": {
                "find": "Find entries in a namespace and those below it",
                "put": "Set an entry of a namespace to a JSON value",
                "expire": "Change when an entry of a namespace expires",
                "namespaces": "List the namespaces that have entries",
            },
        },
        'entries set pref_editor "vim with dark colours"',
        "To find some: `mnemos search --kind entry WORDS`.",
    ),
    "templates": Screen(
        "Templates: tool calls that worked, as examples for new sessions.",
        {
            "Commands": {
                "list": "List templates, newest first",
                "show": "Show a template and its tool calls",
                "suggest": "Suggest sessions to create templates from",
                "create": "Create a template from a session",
                "delete": "Permanently delete a template",
                "stats": "Count templates, their examples and their uses",
                "experiment": "Compare sessions with and without a template",
            },
        },
        "templates suggest --limit 5",
    ),
    "workspace": Screen(
        "The workspace: SQL databases that belong to the agent.",
        {
            "Commands": {
                "list": "List databases with their sizes, last used first",
                "schema": "Show tables with columns, row counts, ranges and samples",
                "import": "Import rows from a CSV, TSV, JSON or JSONL file",
                "copy": "Copy a database",
                "rename": "Rename a database",
                "delete": "Permanently delete a database and its snapshots",
                "compact": "Shrink the file of a database after rows were deleted",
                "snapshots": "List the snapshots of a database",
                "restore": "Restore a snapshot of a database",
            },
        },
        "workspace list",
        "To run SQL: `mnemos sql`. To export rows: `mnemos export rows`.",
    ),
    "import": Screen(
        "Import conversations and facts of other programs. The format of a file or folder is detected: "
        "`mnemos import export.zip`. Without arguments, it lists what is found on this machine.",
        {
            "Commands": {
                "found": "Find conversations on this machine and choose from them",
                "claude-code": "Import Claude Code transcripts",
                "codex": "Import Codex rollouts",
                "agent": "Import Gemini CLI, Qwen Code, OpenCode and others",
                "chatgpt": "Import a ChatGPT export: zip or conversations.json",
                "claude": "Import a Claude.ai export: zip or conversations.json",
                "hermes": "Import the conversations of Hermes Agent from its state.db",
                "jsonl": "Import JSON lines in OpenAI's format",
                "hermes-memory": "Import the facts of a hermes-memory database",
                "archive": "Import what `mnemos export` wrote",
            },
        },
        "import conversations.jsonl",
    ),
    "export": Screen(
        "Export to a file. With only a file name, exports everything: `mnemos export memory.tar.zst`.",
        {
            "Commands": {
                "all": "Everything in the space, as an archive",
                "sessions": "Sessions with their messages, as JSON lines or Markdown",
                "facts": "Facts, as notation, Markdown or JSON",
                "rows": "Rows of a SELECT: CSV, TSV, JSON, JSONL or Markdown",
            },
        },
        "export memory.tar.zst",
    ),
    "connect": Screen(
        "Connect another program to this memory. Without a program, it lists those found on this machine and "
        "offers to connect them; --undo offers to disconnect them.",
        {
            "Commands": {
                "found": "Find programs on this machine and choose from them",
                "claude-code": "Connect Claude Code: MCP server and hooks",
                "claude-desktop": "Connect Claude Desktop: MCP server",
                "cursor": "Connect Cursor: MCP server and hooks",
                "vscode": "Connect VS Code: MCP server",
                "codex": "Connect Codex: MCP server and hooks",
                "gemini": "Connect Gemini CLI: MCP server and hooks",
                "qwen": "Connect Qwen Code: MCP server and hooks",
                "opencode": "Connect OpenCode: MCP server and plug-in",
                "hermes": "Connect Hermes Agent: memory provider",
            },
        },
        "connect claude-code --print",
    ),
    "config": Screen(
        "Show and change settings. Without a command, it shows all of them.",
        {
            "Commands": {
                "show": "Show every setting and where its value comes from",
                "get": "Print the value of a setting",
                "set": "Write a setting into config.toml",
                "unset": "Delete a setting from config.toml",
            },
        },
        "config set audit_days 90",
        "Options override environment variables, which override config.toml in the home.",
    ),
    "watch": Screen(
        "Record what agent programs write, by importing their files as they grow. Without a command, runs "
        "until Ctrl-C.",
        {
            "Commands": {
                "run": "Watch until Ctrl-C, all programs or only those named",
                "status": "Show whether it is running, and what is recorded",
                "install": "Start it now and at every login (systemd or launchd)",
                "uninstall": "Stop it and no longer start it at login",
            },
        },
        "watch status",
    ),
    "tokens": Screen(
        "Tokens for programs that use the memory over HTTP, each for one space.",
        {
            "Commands": {
                "create": "Create a token and print it, once",
                "list": "List the tokens of all spaces",
                "revoke": "Revoke a token",
            },
        },
        "tokens create editor --scope write --days 90",
        "The owner's token is in the file `token` in the home. `mnemos serve` starts the server.",
    ),
    "postgres": Screen(
        "The tables of a memory on a PostgreSQL server.",
        {
            "Commands": {
                "init": "Create or migrate the tables, and let a role use them",
                "distribute": "Spread the tables over the workers of Citus",
            }
        },
        "postgres init --role agent",
        "Set the server with MNEMOS_DATABASE or the setting `database`.",
    ),
    "providers": Screen(
        "Memory providers besides the built-in one.",
        {
            "Commands": {
                "list": "List the providers that are installed",
                "status": "Show whether the selected provider works",
                "setup": "Set up a provider and use it from now on",
            },
        },
        "providers list",
    ),
    "bench": Screen(
        "Measure how well and how fast recall finds things.",
        {"Commands": {"recall": "Measure how much of the evidence recall finds"}},
        "bench recall --data questions.jsonl",
    ),
    "admin": Screen(
        "Less common commands, and commands that other programs run. They also work without `admin`.",
        {
            "More kinds of memory": {
                "entries": "Edit keys and values about users",
                "templates": "Keep tool calls that worked as examples",
                "workspace": "Manage the databases that `mnemos sql` queries",
            },
            "Commands": {
                "stats": "Show how much is stored and what uses the disk space",
                "recalls": "Show which questions were asked, by whom and when",
                "spaces": "List the spaces of this home",
                "tokens": "Create, list and revoke tokens of the HTTP server",
                "optimize": "Optimize the index and compute missing vectors",
                "verify": "Compare an archive with this memory",
                "explain": "Show who stated something, when, and what replaced it",
                "changes": "List what was stored and changed since a cursor",
                "providers": "Set up a memory provider besides the built-in one",
                "migrate": "Copy the memory to a PostgreSQL server, or back to a folder",
                "postgres": "Create the tables of a memory on a PostgreSQL server",
                "evaluate": "Compare the backends that can store entries",
                "bench": "Measure how well and how fast recall finds things",
                "completion": "Print a shell completion script",
                "version": "Show the version",
            },
            "Run by other programs": {
                "mcp": "Serve the memory to an MCP client over a pipe",
                "hook": "Record and recall for Claude Code, Codex and others",
            },
        },
        "admin optimize",
    ),
}

ALIASES = {
    "sessions search": "search",
    "sessions export": "export sessions",
    "facts export": "export facts",
    "workspace export": "export rows",
}
"""Former names of commands, which still work."""

SYNONYMS = {
    "add": "remember",
    "ask": "recall",
    "check": "doctor",
    "delete": "forget",
    "edit": "notebook edit",
    "find": "search",
    "grep": "search",
    "history": "log",
    "info": "overview",
    "install": "connect",
    "list": "sessions list",
    "ls": "sessions list",
    "query": "search",
    "remove": "forget",
    "revert": "undo",
    "rm": "forget",
    "save": "remember",
    "server": "serve",
    "settings": "config",
    "status": "overview",
    "sessions rename": "title",
}
"""Words that people try first, and the command they mean."""

ADVICE = {
    "init": "A memory is created when something is stored: try `mnemos import` or `mnemos remember TEXT`.",
    "update": "To correct a fact, use `mnemos remember TEXT`. To upgrade Mnemos, install it again.",
    "uninstall": "Run `mnemos watch uninstall` and `mnemos connect CLIENT --undo` for each client, then "
    "uninstall the package. The memory stays in its home.",
}
ADVICE["setup"], ADVICE["upgrade"] = ADVICE["init"], ADVICE["update"]

FORMER = {
    **ALIASES,
    "facts search": "search --kind fact",
    "entries query": "search --kind entry",
    "workspace query": "sql",
    "notebook undo": "undo",
}
"""Commands that are not listed, and what people should type instead."""


class HelpedCommand(click.Command):
    """A command whose help ends with an example and may describe its arguments."""

    def __init__(
        self, *args: Any, example: str = "", arguments: list[tuple[str, str]] | None = None, **settings: Any
    ) -> None:
        super().__init__(*args, **settings)
        self.example = example
        self._arguments = arguments or []

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if self._arguments:
            with formatter.section("Arguments"):
                formatter.write_dl(self._arguments)
        write_options(self, ctx, formatter)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        write_example(self.example, formatter)


def write_options(command: click.Command, ctx: click.Context, formatter: click.HelpFormatter) -> None:
    """Write the options of a command, and the global ones below them."""
    params = [one for one in command.get_params(ctx) if isinstance(one, click.Option)]
    # Global options have callbacks and pass no value to the command itself.
    own = [one for one in params if ctx.parent is None or one.expose_value]
    common = [one for one in params if one not in own]
    for title, some in (("Options", own), ("Global options", common)):
        # Click's own help texts end with a period, ours don't.
        found = filter(None, (one.get_help_record(ctx) for one in some))
        if records := [(name, text.removesuffix(".")) for name, text in found]:
            with formatter.section(title):
                formatter.write_dl(records)


def write_screen(screen: Screen, formatter: click.HelpFormatter) -> None:
    """Write the commands of a group, one per line."""
    width = max(len(name) for name, _ in screen.commands())
    for title, section in screen.sections.items():
        with formatter.section(title):
            for name, line in section.items():
                formatter.write(f"  {name:{width}}  {line}\n")
    if screen.note:
        formatter.write_paragraph()
        formatter.write_text(screen.note)


def write_example(example: str, formatter: click.HelpFormatter) -> None:
    """Write an example on one line that can be copied."""
    if example:
        with formatter.section("Example"):
            formatter.write(f"  mnemos {example}\n")
