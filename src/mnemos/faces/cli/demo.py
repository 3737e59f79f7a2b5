"""``mnemos demo``: a small history in a temporary home, and questions about it."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from shlex import quote
from typing import Any

from rich.console import Console
from rich.text import Text

from mnemos.errors import AlreadyExists
from mnemos.faces.cli.drawing import highlight_matches, literal
from mnemos.memory import Memory
from mnemos.operations.texts import render_time
from mnemos.recall.embedding import describe_search
from mnemos.settings import Settings

_DAY = 86400.0

# Questions, and what each one shows.
_QUESTIONS = (
    (
        "when did we migrate the database",
        "a question in plain words; words that no message contains are ignored",
    ),
    ("deploy", "word forms: the message says 'Deployed'"),
    ("generateSlots", "an identifier, whole or in parts"),
    ("orders/slots.py", "a path, also in a tool call"),
    ("pao de queijo", "accents don't matter"),
    ("C++", "symbols are not syntax"),
    ("予約", "part of a phrase in a script without spaces"),
    ("monday OR december -cake", "either word, but not 'cake'"),
)

# Questions for recall.
_RECALLED = (
    (
        "when did we move the database?",
        "the answer uses other words; each hit shows its date and why it was found",
    ),
    ("why did shoppers get the wrong hour?", "the message says 'customers' and 'one hour too early'"),
)


def show(keep: Path | None) -> None:
    """Fill a home, ask a few questions, and show the hits with their reasons."""
    # Not wrapped: terminals do that, and a command that is wrapped in a pipe can't be pasted.
    console = Console(highlight=False, soft_wrap=True)
    if keep is not None:
        Settings.load().check_enabled("no home was made")
        if keep.exists():
            raise AlreadyExists(f"{keep} already exists. Choose a new folder.")
        _walk(console, keep)
        console.print(literal(f"\nThe home is kept. Try: mnemos --home {quote(str(keep))} sessions list"))
        return
    with tempfile.TemporaryDirectory(prefix="mnemos-demo-") as folder:
        _walk(console, Path(folder) / "home")
    console.print("\nThe temporary home was deleted. To keep it, use --keep FOLDER.")
    console.print("To start your own memory, run [bold]mnemos import[/bold] or, in Python,")
    console.print("  [bold]with mnemos.open() as memory: memory.sessions.create_session(…)[/bold]")


def _walk(console: Console, home: Path) -> None:
    with Memory.at(home, disabled=False, embedder="static") as memory:
        stored = memory.sessions.import_sessions(history(time.time()))
        console.print(
            f"[bold]Filled a home[/bold] with {len(stored['imported'])} conversations "
            f"({stored['messages']} messages): over three months, a person and an agent build a shop.\n"
        )
        for question, lesson in _QUESTIONS:
            _ask(console, memory, question, lesson)
        console.print(
            "[bold]One question over everything[/bold]: mnemos recall (the first loads the model)\n"
        )
        for question, lesson in _RECALLED:
            _recall(console, memory, question, lesson)
        _conversation(console, memory)


def _ask(console: Console, memory: Memory, question: str, lesson: str) -> None:
    started = time.perf_counter()
    hits = memory.sessions.search_messages(question, limit=2)
    took = (time.perf_counter() - started) * 1000
    console.print(Text.assemble(("› ", "bold blue"), (question, "bold"), (f"   {lesson}", "dim")))
    for hit in hits:
        console.print(
            Text.assemble(
                "  ", (render_time(hit["timestamp"])[:10], "green"), (f" {hit['session_id']} ", "dim"),
                highlight_matches(hit["snippet"]),
            )
        )  # fmt: skip
    most = ", most of the words" if hits and hits[0]["partial"] else ""
    console.print(Text(f"  {len(hits)} shown{most}, {took:.1f} ms\n", style="dim"))


def _recall(console: Console, memory: Memory, question: str, lesson: str) -> None:
    started = time.perf_counter()
    answer = memory.recall(question, limit=2)
    took = (time.perf_counter() - started) * 1000
    console.print(Text.assemble(("? ", "bold blue"), (question, "bold"), (f"   {lesson}", "dim")))
    for note in answer.notes:
        console.print(literal(f"  {note}", "yellow"))
    for hit in answer.hits:
        said = literal(" ".join(hit.text.split()))
        day = (render_time(hit.at)[:10], "green")
        console.print(Text.assemble("  ", day, (f" {hit.session_id} ", "dim"), said))
        console.print(literal(f"             {'; '.join(hit.why)}", "dim"))
    used = describe_search(None if answer.mode == "lexical" else answer.coverage)
    console.print(Text(f"  {used}, {took:.1f} ms\n", style="dim"))


def _conversation(console: Console, memory: Memory) -> None:
    console.print("[bold]What a model gets[/bold] from the tool session_search for 'move server':\n")
    answer = memory.call("session_search", {"query": "move server", "limit": 1, "window": 2})
    console.print(literal(answer["text"].strip()))


def history(now: float) -> Iterator[dict[str, Any]]:
    """Return the demo's sessions as an import reads them, with times relative to now."""
    path = Path(__file__).with_name("demo_history.json")
    for session in json.loads(path.read_text(encoding="utf-8")):
        start = now - session["days_ago"] * _DAY
        messages: list[dict[str, Any]] = []
        for role, content, *call in session["messages"]:
            at = start + 60.0 * len(messages)
            message: dict[str, Any] = {"role": role, "content": content, "timestamp": at}
            messages.append(message)
            if call:
                messages[-1:] = _add_call(message, call[0], f"{session['id']}-{len(messages)}")
        yield {
            "id": session["id"],
            "title": session["title"],
            "source": session["source"],
            "started_at": start,
            "ended_at": start + 3600.0,
            "end_reason": "finished",
            "messages": messages,
        }


def _add_call(message: dict[str, Any], call: dict[str, Any], call_id: str) -> list[dict[str, Any]]:
    function = {"name": call["tool"], "arguments": json.dumps(call["arguments"])}
    return [
        message | {"tool_calls": [{"id": call_id, "type": "function", "function": function}]},
        {
            "role": "tool",
            "tool_name": call["tool"],
            "tool_call_id": call_id,
            "content": call["result"],
            "timestamp": message["timestamp"] + 5.0,
        },
    ]
