"""Results drawn for a terminal. A result without a drawing of its own is shown as its text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from mnemos.operations.base import Result
from mnemos.operations.changes import Log
from mnemos.operations.finding import ConversationsFound, MessagesFound
from mnemos.operations.moments import shown
from mnemos.operations.sessions import SessionList, SessionShown
from mnemos.operations.upkeep import Examined, Stats, size
from mnemos.text.highlight import CLOSE, OPEN

_ROLES = {"user": "green", "assistant": "cyan", "tool": "magenta", "system": "yellow"}


def draw(result: Result, console: Console | None = None) -> None:
    console = console or Console(highlight=False)
    drawing: Callable[[Any, Console], None] | None = _DRAWINGS.get(type(result))
    if drawing is None:
        console.print(Text(result.as_text()))
    else:
        drawing(result, console)


def marked(snippet: str) -> Text:
    """A snippet with its matches shown bold instead of between signs."""
    text = Text()
    for position, piece in enumerate(" ".join(snippet.split()).split(OPEN)):
        inside, found, after = piece.partition(CLOSE)
        if position and found:
            text.append(inside, style="bold yellow")
            text.append(after)
        else:
            text.append(piece)
    return text


def _sessions(result: SessionList, console: Console) -> None:
    if not result.sessions:
        console.print("No sessions.")
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name, options in (
        ("started", {"no_wrap": True}),
        ("session", {"no_wrap": True}),
        ("source", {}),
        ("messages", {"justify": "right"}),
        ("title", {"overflow": "ellipsis"}),
    ):
        table.add_column(name, **options)
    for s in result.sessions:
        table.add_row(
            shown(s["started_at"]),
            escape(s["id"]),
            escape(s["source"]),
            str(s["message_count"]),
            escape(s["title"] or ""),
        )
    console.print(table)
    console.print(f"[dim]{len(result.sessions)} of {result.total}[/dim]")


def _session(result: SessionShown, console: Console) -> None:
    s = result.session
    ended = f", ended {shown(s['ended_at'])} ({s['end_reason']})" if s["ended_at"] else ""
    console.print(Text(f"{s['title'] or s['id']}", style="bold"))
    console.print(Text(f"{s['id']}  {s['source']}  {shown(s['started_at'])}{ended}", style="dim"))
    for message in result.messages:
        _message(message, console)


def _message(message: dict[str, Any], console: Console) -> None:
    role = message["role"]
    console.print()
    console.print(
        Text.assemble(
            (role, f"bold {_ROLES.get(role, 'white')}"),
            (f"  {shown(message['timestamp'])}  message:{message['id']}", "dim"),
        )
    )
    content = message["content"]
    if content is not None:
        console.print(Text(content if isinstance(content, str) else str(content)))
    for call in message["tool_calls"] or []:
        console.print(Text(f"→ {call}", style="magenta"))


def _messages(result: MessagesFound, console: Console) -> None:
    if not result.hits:
        console.print(Text(f"Nothing found for {result.query!r}."))
        return
    if result.partial:
        console.print("[yellow]No message has all the words; these have most of them.[/yellow]")
    for hit in result.hits:
        console.print(
            Text.assemble(
                (shown(hit["timestamp"]), "bold"),
                "  ",
                (hit["role"], _ROLES.get(hit["role"], "white")),
                (f"  {hit['session_id']}  message:{hit['id']}", "dim"),
            )
        )
        console.print(marked(f"  {hit['snippet']}"))


def _conversations(result: ConversationsFound, console: Console) -> None:
    for line in result.as_text().splitlines():
        console.print(
            Text(line[3:], style="bold")
            if line.startswith("## ")
            else marked(line)
            if OPEN in line
            else Text(line)
        )


def _stats(result: Stats, console: Console) -> None:
    console.print(Text(result.location, style="bold"))
    console.print(
        f"{result.sessions:,} sessions, {result.messages:,} messages, "
        f"{size(result.file_bytes)} ({size(result.free_bytes)} free)"
    )
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("source", "sessions", "messages"):
        table.add_column(name, justify="left" if name == "source" else "right")
    for s in result.by_source:
        table.add_row(escape(s["source"]), f"{s['sessions']:,}", f"{s['messages']:,}")
    console.print(table)
    for name, count in sorted(result.tables.items(), key=lambda item: -item[1])[:6]:
        share = count / max(result.file_bytes, 1)
        console.print(Text(f"{name:24} {size(count):>10}  {'█' * round(share * 40)}"))


def _log(result: Log, console: Console) -> None:
    if not result.entries:
        console.print("No changes yet.")
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("entry", "when", "who", "what", "on", "undone"):
        table.add_column(name)
    for e in result.entries:
        undone = str(e["undone_by"]) if e["undone_by"] else ""
        table.add_row(
            str(e["id"]), shown(e["at"]), escape(e["actor"]), e["operation"], escape(e["ref"]), undone
        )
    console.print(table)


def _examined(result: Examined, console: Console) -> None:
    for check in result.checks:
        mark = "[green]✓[/green]" if check["ok"] else "[red]✗[/red]"
        console.print(f"{mark} {escape(check['name'])}: {escape(check['detail'])}")
    if not result.healthy:
        console.print("[red]Not healthy.[/red] Try: mnemos doctor --repair")


_DRAWINGS: dict[type[Result], Callable[[Any, Console], None]] = {
    ConversationsFound: _conversations,
    Examined: _examined,
    Log: _log,
    MessagesFound: _messages,
    SessionList: _sessions,
    SessionShown: _session,
    Stats: _stats,
}
