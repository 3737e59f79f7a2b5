"""Results drawn for a terminal; others are printed as their text."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from mnemos.faces.cli.output import plain
from mnemos.faces.cli.tables import Cell, print_heading, print_table
from mnemos.operations.base import Result
from mnemos.operations.connect import Connected
from mnemos.operations.databases import DatabaseList, SnapshotList
from mnemos.operations.evaluation import Evaluated, WorkloadInfo, render_ms
from mnemos.operations.fact_lists import FactList, ScopeList
from mnemos.operations.facts import FactInfo, FactsFound, History
from mnemos.operations.lookup import Shown
from mnemos.operations.recall import Recalled, render_heading, render_passage, render_score
from mnemos.operations.search import PARTIAL, ConversationsFound, Kind, Line, MessagesFound
from mnemos.operations.sessions import Lineage, MessageInfo, SessionInfo, SessionList, SessionShown
from mnemos.operations.templates import TemplateList
from mnemos.operations.texts import (
    message_text,
    plural,
    render_calls,
    render_size,
    render_title,
    render_when,
)
from mnemos.operations.upkeep import Examined, Log, Stats
from mnemos.operations.workspace import QueryAnswer
from mnemos.projects import name_project
from mnemos.text.highlight import CLOSE, OPEN
from mnemos.text.stored_text import one_line
from mnemos.workspace.answers import StatementResult
from mnemos.workspace.table import describe_outcome, render_cell

_WIDE = 100
_SUBAGENT = "subagent"
# Messages are indented, so that none of their lines looks like the next heading.
_INDENT = (0, 0, 0, 2)
_ROLES = {"user": "green", "assistant": "cyan", "tool": "magenta", "system": "yellow"}


def render(result: Result) -> str:
    """Return what ``draw`` would print on this terminal, colours included."""
    console = Console(highlight=False)
    with console.capture() as drawn:
        draw(result, console)
    return drawn.get()


def draw(result: Result, console: Console) -> None:
    drawing: Callable[[Any, Console], None] | None = _DRAWINGS.get(type(result))
    if drawing is None:
        console.print(literal(result.for_person()))
    else:
        drawing(result, console)


def highlight_matches(snippet: str) -> Text:
    """Render the matches of a snippet in bold, without their marks."""
    first, *pieces = " ".join(plain(snippet).split()).split(OPEN)
    text = Text(first)
    for piece in pieces:
        inside, found, after = piece.partition(CLOSE)
        if found:
            text.append(inside, style="bold yellow")
            text.append(after)
        else:
            # This is a Python prompt in a message, not one of our marks.
            text.append(OPEN + piece)
    return text


def literal(text: str, style: str = "") -> Text:
    """Render stored text literally: no markup, no emoji codes, no control sequences."""
    return Text(plain(text), style=style)


def color_diff(text: str) -> Text:
    """Colour the lines that a diff adds and removes; names of files are bold."""
    lines = (literal(line, _find_style(line)) for line in text.split("\n"))
    return Text("\n").join(lines)


def _find_style(line: str) -> str:
    return "bold" if line.startswith("--- ") else {"+": "green", "-": "red"}.get(line[:1], "")


def _draw_connected(result: Connected, console: Console) -> None:
    text = result.for_person()
    is_diff = result.as_diff and not result.done
    console.print(color_diff(text) if is_diff else literal(text), soft_wrap=is_diff)


def _when(moment: float | str | None, *, minute: bool = False) -> str:
    """Render a time, or one in ISO form, as seen from now."""
    if isinstance(moment, str):
        try:
            moment = datetime.fromisoformat(moment).timestamp()
        except ValueError:
            return str(moment)
    return render_when(moment, time.time(), minute=minute)


def _at(moment: float | None) -> str:
    return _when(moment, minute=True)


def _draw_sessions(sessions: Sequence[SessionInfo], console: Console) -> None:
    columns = ("title", "project", "started", "source", "messages", "session")
    rows = [
        _session_cells(one, indent, is_wide=console.width >= _WIDE)
        for one, indent in _put_below_parents(sessions)
    ]
    print_table(console, columns, rows, right=("messages",))


def _put_below_parents(sessions: Sequence[SessionInfo]) -> Iterator[tuple[SessionInfo, str]]:
    """Yield sessions with indents: each sub-agent below the session that started it."""
    shown = {one.id for one in sessions}
    agents = [one for one in sessions if one.source == _SUBAGENT and one.parent_session_id in shown]
    for one in sessions:
        if one not in agents:
            yield one, ""
            yield from ((agent, "  ") for agent in reversed(agents) if agent.parent_session_id == one.id)


def _session_cells(session: SessionInfo, indent: str, *, is_wide: bool) -> tuple[Text, ...]:
    cells = (
        indent + (one_line(session.title or "") or "Untitled"),
        one_line(name_project(session.project)) if session.project and session.elsewhere else "",
        _when(session.started_at),
        one_line(session.source) if is_wide else "",
        f"{session.message_count:,}",
        one_line(session.short_id),
    )
    return tuple(map(literal, cells))


def _sessions(result: SessionList, console: Console) -> None:
    if not result.sessions:
        console.print("No sessions.")
        return
    _draw_sessions(result.sessions, console)
    console.print(Text(f"{len(result.sessions)} of {result.total}", style="dim"))


def _session(result: SessionShown, console: Console) -> None:
    s = result.session
    ended = f", ended {_at(s.ended_at)} ({s.end_reason})" if s.ended_at else ""
    console.print(literal(render_title(s.title, s.project), "bold"))
    console.print(literal(one_line(f"{s.source}, {_at(s.started_at)}{ended}, {s.short_id or s.id}"), "dim"))
    for message in result.messages:
        _message(message, console)


def _message(message: MessageInfo, console: Console) -> None:
    role = one_line(message.role)
    console.print()
    console.print(
        Text.assemble(
            literal(role, f"bold {_ROLES.get(role, 'white')}"),
            (f"  {_at(message.timestamp)}  message:{message.id}", "dim"),
        )
    )
    if message.content is not None:
        console.print(_indent(literal(message_text(message.content))))
    for call in render_calls(message.tool_calls):
        console.print(_indent(literal(f"→ {call}", "magenta")))


def _messages(result: MessagesFound, console: Console) -> None:
    if not result.hits and not result.others:
        console.print(literal(f"Nothing found for {result.query!r}."))
        return
    if result.partial:
        console.print(Text(PARTIAL, style="yellow"))
    for hit in result.hits:
        rest = Text.assemble(
            f"{_when(hit.timestamp)}  ",
            literal(one_line(hit.role), _ROLES.get(hit.role, "white")),
            literal(f"  message:{hit.id}  {hit.short_id}", "dim"),
        )
        title = literal(render_title(hit.title, hit.project, elsewhere=hit.elsewhere), "bold")
        print_heading(console, title, rest)
        console.print(_indent(highlight_matches(hit.snippet)))
    for other in result.others:
        console.print(literal(f"{_when(other.at)}  {other.kind}:{other.ref}", "bold"))
        console.print(_indent(highlight_matches(other.snippet)))


def _conversations(result: ConversationsFound, console: Console) -> None:
    for line in result.lines(_when):
        if line.kind is Kind.TITLE:
            rest = literal(line.tail.removeprefix(", "), "dim")
            print_heading(console, literal(line.text, "bold"), rest)
        else:
            console.print(_line(line))


def _draw_recall(result: Recalled, console: Console) -> None:
    if not result.hits:
        console.print(literal(result.for_person()))
        return
    for note in result.notes:
        console.print(literal(note, "yellow"))
    for hit in result.hits:
        title, rest = render_heading(hit, _when(hit.at))
        print_heading(console, literal(title, "bold"), literal(rest, "dim" if title else "bold"))
        console.print(_indent(highlight_matches(render_passage(hit, result.query))))
        console.print(_indent(literal("; ".join(hit.why), "dim")))
        if hit.explained:
            console.print(_indent(literal(render_score(hit.score, hit.explained), "dim")))
    for line in (result.footer(), *result.explain()):
        console.print(literal(line, "dim"))


def _indent(text: Text) -> Padding:
    """Indent every line of a wrapped text, so that none starts where a label does."""
    return Padding(text, _INDENT, expand=False)


def _line(line: Line) -> Text | Table:
    said = highlight_matches(line.text) if line.kind is Kind.MATCH else literal(line.text)
    if not line.lead:
        return said
    # Two columns, so that no line of a message starts where a label does.
    columns = Table.grid()
    columns.add_row(literal(line.lead, "dim"), said)
    return columns


def _stats(result: Stats, console: Console) -> None:
    console.print(literal(result.location, "bold"))
    console.print(
        Text(
            f"{plural(result.sessions, 'session')}, {plural(result.messages, 'message')}, "
            f"{render_size(result.file_bytes)} ({render_size(result.free_bytes)} free)"
        )
    )
    rows = [(literal(s.source), f"{s.sessions:,}", f"{s.messages:,}") for s in result.by_source]
    if rows:
        print_table(console, ("source", "sessions", "messages"), rows, right=("sessions", "messages"))
    for name, count in sorted(result.tables.items(), key=lambda item: -item[1])[:6]:
        share = count / max(result.file_bytes, 1)
        console.print(Text(f"{name:24} {render_size(count):>10}  {'█' * round(share * 40)}"))
    console.print(Text(result.describe_workspace()))


def _log(result: Log, console: Console) -> None:
    if not result.entries:
        console.print("No changes yet.")
        return
    rows = [
        (
            literal(one_line(one.what)),
            _when(one.at),
            literal(one.actor),
            f"by {one.undone_by}" if one.undone_by else "",
            str(one.id),
        )
        for one in result.entries
    ]
    print_table(console, ("change", "when", "who", "undone", "entry"), rows, right=("entry",))
    if result.is_whole:
        console.print(literal("\n".join(result.as_text().splitlines()[1:])))


def _draw_checks(result: Examined, console: Console) -> None:
    for check in result.checks:
        mark = ("✓ ", "green") if check.ok else ("✗ ", "red")
        console.print(Text.assemble(mark, literal(f"{check.name}: {check.detail}")))
    if not result.healthy:
        console.print(Text.assemble(("Not healthy.", "red"), f" {result.advise()}"))


def _facts(result: FactList | FactsFound, console: Console) -> None:
    if not result.facts:
        console.print(result.as_text())
        return
    rows = [
        (_fact(fact), literal(fact.scope or ""), _draw_state(fact), _when(fact.at), fact.id)
        for fact in result.facts
    ]
    print_table(console, ("fact", "scope", "kept", "since", "id"), rows, overflow="fold")
    total = getattr(result, "total", len(result.facts))
    if total > len(result.facts):
        console.print(Text(f"{len(result.facts)} of {total:,}", style="dim"))


def _history(result: History, console: Console) -> None:
    if not result.facts:
        console.print(result.as_text())
        return
    rows = [
        (
            _fact(fact),
            literal(fact.scope or ""),
            _when(fact.at),
            Text("now", style="green") if fact.ended_at is None else _when(fact.ended_at),
            Text(fact.superseded_by or ("" if fact.state == "live" else fact.state), style="dim"),
            fact.id,
        )
        for fact in result.facts
    ]
    print_table(console, ("fact", "scope", "from", "to", "replaced by", "id"), rows, overflow="fold")


def _scopes(result: ScopeList, console: Console) -> None:
    if not result.scopes:
        console.print(result.as_text())
        return
    rows = []
    for scope in result.scopes:
        closed = "" if scope.closed_at is None else f"closed {_when(scope.closed_at)}"
        state = Text(closed or "open", style="dim" if closed else "green")
        label = literal(one_line(scope.label))
        rows.append((label, state, _when(scope.touched_at), str(scope.hot), str(scope.live)))
    print_table(console, ("scope", "state", "last used", "hot", "facts"), rows, right=("hot", "facts"))


def _databases(result: DatabaseList, console: Console) -> None:
    if not result.databases:
        console.print(result.as_text())
        return
    rows = [
        (literal(one.name), _when(one.used_at), render_size(one.size_bytes), str(one.snapshots))
        for one in result.databases
    ]
    columns = ("database", "last used", "size", "snapshots")
    print_table(console, columns, rows, right=("size", "snapshots"))


def _snapshots(result: SnapshotList, console: Console) -> None:
    if not result.snapshots:
        console.print(result.as_text())
        return
    rows = [
        (_at(one.made_at), render_size(one.size_bytes), literal(one.short_name)) for one in result.snapshots
    ]
    print_table(console, ("made", "size", "snapshot"), rows, right=("size",))


def _templates(result: TemplateList, console: Console) -> None:
    if not result.templates:
        console.print(literal(result.as_text()))
        return
    rows = [
        (
            literal(one.name),
            literal(one.task_type),
            literal(", ".join(one.tags)),
            _when(one.created_at),
            str(one.examples),
            f"{one.usage_count}×",
        )
        for one in result.templates
    ]
    columns = ("template", "type", "tags", "created", "examples", "used")
    print_table(console, columns, rows, right=("examples", "used"))
    for problem in result.unread:
        console.print(literal(problem, "yellow"))


def _draw_evaluation(result: Evaluated, console: Console) -> None:
    times = ("store", "retrieve", "query")
    rows: list[tuple[Cell, ...]] = []
    for one in result.evaluations:
        good = one.recommendation == "RECOMMENDED"
        calls = map(render_ms, (one.store_latency_ms, one.retrieve_latency_ms, one.query_latency_ms))
        where = Text("leaves this machine", style="red") if one.is_cloud else Text("stays here")
        verdict = Text(one.recommendation, style="green" if good else "yellow")
        rows.append((literal(one.backend_name), str(one.score), verdict, *calls, where))
    columns = ("backend", "points", "verdict", *times, "data")
    print_table(console, columns, rows, right=("points", *times))
    console.print(Text("times in ms", style="dim"))
    _workloads(result.workloads, console)
    for one in result.evaluations:
        for note in one.notes:
            console.print(literal(f"{one.backend_name}: {note}", "dim"))
    for name, why in result.skipped.items():
        console.print(literal(f"{name} was not evaluated: {why}", "dim"))
    console.print(literal(result.recommendation, "bold"))
    if result.html:
        console.print(literal(f"The page is {result.html}"))


def _workloads(workloads: dict[str, WorkloadInfo], console: Console) -> None:
    if not workloads:
        return
    calls = ("store", "retrieve", "query")
    rows: list[tuple[Cell, ...]] = []
    for name, one in workloads.items():
        times = [
            f"{render_ms(found.p50)}/{render_ms(found.p95)}" if found else ""
            for found in (one.latencies.get(call) for call in calls)
        ]
        shares = [f"{kept.get('5', 0):.0%}" for kept in (one.recall_words, one.recall_paraphrased)]
        checks = {
            "exact": one.exact,
            "isolated": one.isolated,
            "persistent": one.persistent,
            "cleared": one.cleared,
        }
        broken = [name for name, is_kept in checks.items() if not is_kept]
        told = Text(f"not {', '.join(broken)}", style="red") if broken else Text("all kept", style="green")
        rows.append((literal(name), *times, *shares, told))
    entries = max(one.entries for one in workloads.values())
    note = f"{entries} entries; ms p50/p95; found among the first five, asked in own and in other words"
    console.print()
    print_table(console, ("workload", *calls, "own", "other", "promises"), rows, right=("own", "other"))
    console.print(Text(note, style="dim"))
    console.print()


def _fact(fact: FactInfo) -> Text:
    live = fact.state == "live"
    text = Text().append(fact.type, style="bold" if live else "dim")
    text.append_text(literal(f"[{fact.target}]: ", "cyan" if live else "dim"))
    return text.append_text(literal(" ".join(fact.content.split()), "" if live else "dim strike"))


def _draw_state(fact: FactInfo) -> Text:
    if fact.state != "live":
        return Text(fact.state, style="dim")
    return Text(fact.tier, style="yellow" if fact.tier == "hot" else "blue")


def _draw_answer(answer: QueryAnswer, console: Console) -> None:
    """Draw the rows of each statement as a table, and its outcome in one line."""
    for result in answer.statements():
        if result.columns:
            console.print(_build_table(result))
        console.print(Text(describe_outcome(result), style="dim"))
    if answer.truncated:
        console.print(Text("There are more rows: add a WHERE or a LIMIT, or export them.", style="yellow"))
    for warning in answer.warnings:
        console.print(Text(f"Note: {plain(warning)}", style="yellow"))
    for line in answer.render_plan():
        console.print(literal(line, "dim"))


def _build_table(result: StatementResult) -> Table:
    table = Table(header_style="bold")
    for place, name in enumerate(result.columns):
        numbers = all(isinstance(row[place], int | float) for row in result.rows if row[place] is not None)
        table.add_column(Text(render_cell(name)), justify="right" if numbers else "left", overflow="fold")
    for row in result.rows:
        table.add_row(
            *(Text("NULL", style="dim") if value is None else Text(render_cell(value)) for value in row)
        )
    return table


_DRAWINGS: dict[type[Result], Callable[[Any, Console], None]] = {
    Connected: _draw_connected,
    ConversationsFound: _conversations,
    Evaluated: _draw_evaluation,
    Examined: _draw_checks,
    DatabaseList: _databases,
    Lineage: lambda result, console: _draw_sessions(result.shown, console),
    Log: _log,
    MessagesFound: _messages,
    Recalled: _draw_recall,
    SessionList: _sessions,
    SessionShown: _session,
    Shown: lambda result, console: draw(result.part, console),
    SnapshotList: _snapshots,
    Stats: _stats,
    FactList: _facts,
    FactsFound: _facts,
    History: _history,
    ScopeList: _scopes,
    TemplateList: _templates,
    QueryAnswer: _draw_answer,
}
