"""Results on a terminal: every kind is drawn, and stored text stays text."""

from __future__ import annotations

import io
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text

from mnemos.faces.cli import drawing, output
from mnemos.faces.cli.drawing import draw, highlight_matches
from mnemos.memory import Memory
from mnemos.operations import registry
from mnemos.operations.base import Done, Result, fill
from mnemos.operations.connect import Connected
from mnemos.operations.databases import DatabaseList, SnapshotList
from mnemos.operations.evaluation import Evaluated
from mnemos.operations.fact_lists import FactList, ScopeList
from mnemos.operations.facts import FactsFound, History
from mnemos.operations.lookup import Shown
from mnemos.operations.recall import Recalled
from mnemos.operations.search import ConversationsFound, MessagesFound
from mnemos.operations.sessions import Lineage, SessionList, SessionShown
from mnemos.operations.templates import TemplateList
from mnemos.operations.upkeep import Examined, Log, Stats
from mnemos.operations.workspace import QueryAnswer
from mnemos.progress import part_of
from mnemos.testing import FixedClock

from .calls import BESIDE_THE_HOME, CALLS, arguments

MARKUP = [
    "[bold]x[/bold]",
    "[/]",
    "[link=http://example.org]here[/link]",
    "[red",
    "<script>alert(1)</script>",
    ":bug: and :warning:",
    "a backslash\\",
    "\\[escaped]",
    "list[int] and dict[str, Any]",
    "{'a': 1} 100% $HOME `rm`",
    "予約 \U0001f980 é",
]
CONTROL = ["\x1b[2J", "\x1b]0;title\x07", "\x1b[31mred", "\x9b31m", "a\rb", "a\x08b"]
DIRECTIONS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"

# Rich's own codes: colours and styles, nothing that moves or clears.
_STYLE = re.compile(r"\x1b\[[0-9;]*m")


def drawn(result: Result, width: int = 300) -> str:
    """Return the output on a terminal, styles included."""
    console = Console(
        force_terminal=True, file=io.StringIO(), width=width, highlight=False, color_system="truecolor"
    )
    draw(result, console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def plain(result: Result, width: int = 300) -> str:
    return _STYLE.sub("", drawn(result, width))


def session_of(text: str | None) -> dict[str, Any]:
    return {
        "id": text or "s", "session_id": text or "s", "title": text, "source": text or "cli", "model": None,
        "started_at": 0.0, "ended_at": 1.0, "end_reason": text, "message_count": 1, "messages": 1,
        "parent_session_id": None, "archived": False, "root_session_id": "s", "user_id": None,
        "model_config": None, "system_prompt": None, "tool_call_count": 0, "input_tokens": 0,
        "output_tokens": 0, "metadata": None, "project": text, "branch": text, "short_id": text or "s",
        "elsewhere": True,
    }  # fmt: skip


def message_of(content: Any, **changes: Any) -> dict[str, Any]:
    return {
        "id": 1, "message_id": 1, "session_id": "s", "role": "user", "content": content, "timestamp": 0.0,
        "tool_name": None, "tool_calls": None, "tool_call_id": None, "token_count": None, "metadata": None,
    } | changes  # fmt: skip


def everywhere(text: str) -> list[Result]:
    """Every result that is drawn in its own way, with the text wherever stored text can be."""
    session = session_of(text)
    said = message_of(text)
    calls = [{"function": {"name": "read_file", "arguments": "{}"}}]
    conversation = session | {
        "hits": 2,
        "best": {"message_id": 1, "role": "user", "at": 0.0, "snippet": text, "around": [said]},
        "opening": [said],
        "closing": [said],
        "others": [{"message_id": 2, "role": "user", "snippet": text}],
        "summary": text,
    }
    hit = {
        "id": 1, "session_id": text, "role": text, "snippet": text, "timestamp": 0.0, "tool_name": None,
        "source": text, "model": None, "session_started": 0.0, "context": [], "root_session_id": text,
        "score": 1.0, "partial": True, "title": text, "project": text, "short_id": text, "elsewhere": True,
    }  # fmt: skip
    passage = {
        "kind": text, "ref": 1, "session_id": text, "speaker": text, "text": text, "place": (0, len(text)),
        "at": 0.0, "score": 1.0, "why": [text], "title": text, "project": text, "short_id": text,
        "elsewhere": True, "state": "superseded", "until": 0.0, "replaced_by": text,
    }  # fmt: skip
    recalled = {"query": text, "mode": "lexical", "coverage": 0.0, "left_out": 1, "notes": [text]}
    fact = {
        "id": "f1", "type": "V", "target": text, "content": text, "scope": text, "tier": "hot",
        "state": "live", "at": "2026-01-01T00:00:00.000Z", "ended_at": None, "superseded_by": None,
        "valid_from": "2026-01-01T00:00:00.000Z", "valid_to": None, "session_id": None, "message_id": None,
        "actor": text, "used_at": "2026-01-01T00:00:00.000Z", "uses": 0,
    }  # fmt: skip
    ended = fact | {"state": "superseded", "ended_at": "2026-01-02T00:00:00.000Z", "superseded_by": "f2"}
    scope = {
        "label": text, "open": False, "hot": 0, "live": 1, "opened_at": "2026-01-01T00:00:00.000Z",
        "touched_at": "2026-01-01T00:00:00.000Z", "closed_at": "2026-01-02T00:00:00.000Z",
    }  # fmt: skip
    tried = {
        "backend_name": text, "score": 85, "recommendation": "RECOMMENDED", "is_cloud": True, "notes": [text],
        "store_latency_ms": 0.1, "retrieve_latency_ms": 12.0, "query_latency_ms": 1.0, "available": True,
        "store_success": True, "retrieve_success": True, "query_returns_results": True,
        "query_result_count": 1, "data_location": text, "requires_api_key": False, "points": {},
    }  # fmt: skip
    worked = {
        "entries": 300, "users": 1, "latencies": {"store": {"calls": 1, "p50": 0.1, "p95": 20.0}},
        "recall_words": {"5": 1.0}, "recall_paraphrased": {"5": 0.5}, "exact": True, "isolated": True,
        "persistent": True, "cleared": True, "problems": [],
    }  # fmt: skip
    entry = {
        "id": 1, "at": 0.0, "actor": text, "operation": "x", "ref": text, "before": None, "after": None,
        "undone_by": 2,
    }  # fmt: skip
    connected = {
        "client": "cursor", "name": "Cursor", "home": text, "space": "default", "connected": True,
        "done": False, "undo": False, "as_diff": True, "summary": [], "backups": [], "remarks": [text],
        "changes": [{"file": text, "diff": f"+ {text}\n- {text}"}], "afterwards": "", "undo_command": "",
    }  # fmt: skip
    database = {"name": text, "size_bytes": 1, "limit_bytes": 2, "used_at": 0.0, "snapshots": 1}
    snapshot = {"name": text, "size_bytes": 1, "made_at": 0.0, "short_name": text}
    template = {
        "name": text, "task_type": text, "description": text, "tags": [text], "created_at": 0.0,
        "usage_count": 1, "source_session_id": text, "examples": 1, "tools": [text],
    }  # fmt: skip
    rows = {
        "statement": text, "columns": [text], "rows": [[text], [None], [1]], "row_count": 3, "changes": 0,
        "truncated": True,
    }  # fmt: skip
    found: list[tuple[type[Result], dict[str, Any]]] = [
        (SessionList, {"sessions": [session], "total": 1}),
        (SessionShown, {"session": session, "messages": [said, message_of(None, tool_calls=calls)]}),
        (Shown, {"kind": "session", "session": {"session": session, "messages": [said]}}),
        (MessagesFound, {"query": text, "partial": True, "hits": [hit]}),
        (MessagesFound, {"query": text, "partial": False, "hits": []}),
        (
            ConversationsFound,
            {"mode": "discovery", "partial": True, "conversations": [conversation], "more": 1},
        ),
        (
            ConversationsFound,
            {"mode": "scroll", "session": session, "messages": [said], "left_out": 1, "closing": [said]},
        ),
        (ConversationsFound, {"mode": "browse", "sessions": [session | {"opening": text}]}),
        (Recalled, recalled | {"hits": [passage], "packed": text}),
        (Recalled, recalled | {"hits": [], "packed": "", "notes": []}),
        (Log, {"entries": [entry]}),
        (Connected, connected),
        (Lineage, {"sessions": [text], "shown": [session]}),
        (DatabaseList, {"databases": [database]}),
        (SnapshotList, {"snapshots": [snapshot]}),
        (TemplateList, {"templates": [template], "unread": [text]}),
        (
            Stats,
            {
                "location": text, "sessions": 1, "messages": 1, "facts": 1, "file_bytes": 10, "log_bytes": 0,
                "by_source": [{"source": text, "sessions": 1, "messages": 1}], "free_bytes": 0,
                "tables": {"messages": 10}, "pending": 0,
            },
        ),
        (FactList, {"total": 3, "as_of": None, "facts": [fact, ended]}),
        (FactsFound, {"facts": [fact]}),
        (History, {"target": text, "as_of": None, "facts": [ended, fact]}),
        (ScopeList, {"scopes": [scope, scope | {"open": True, "closed_at": None}]}),
        (Examined, {"healthy": False, "checks": [{"name": "integrity", "ok": False, "detail": text}]}),
        (
            QueryAnswer,
            {
                "columns": [text], "rows": [[text]], "row_count": 1, "truncated": True, "next_offset": 1,
                "changes": 0, "size_bytes": 1, "elapsed_ms": 1.0, "warnings": [text], "results": [rows],
            },
        ),
        (
            Evaluated,
            {
                "timestamp": 0.0, "backends_evaluated": 1, "evaluations": [tried], "recommendation": text,
                "workloads": {text: worked, "none": worked | {"exact": False, "latencies": {}}},
                "skipped": {text: text}, "html": text,
            },
        ),
        (Done, {"done": text}),
    ]  # fmt: skip
    return [fill(kind, values) for kind, values in found]


def kind(result: Result) -> str:
    return f"{type(result).__name__} {getattr(result, 'mode', '')}".strip()


def test_every_kind_that_has_a_drawing_is_tried_here() -> None:
    assert {type(result) for result in everywhere("x")} >= set(drawing._DRAWINGS)


@pytest.mark.parametrize("text", MARKUP)
def test_text_that_looks_like_markup_is_shown_as_it_is(text: str) -> None:
    for result in everywhere(text):
        shown = plain(result)
        is_empty = isinstance(result, MessagesFound | Recalled) and not result.hits
        expected = repr(text) if is_empty else text
        assert expected in shown, kind(result)
        # Nothing was added to it, such as a second backslash.
        assert expected + "\\" not in shown, kind(result)


@pytest.mark.parametrize("text", [*CONTROL, *DIRECTIONS], ids=ascii)
def test_control_characters_of_stored_text_never_reach_the_terminal(text: str) -> None:
    for result in everywhere(f"before {text} after"):
        shown = plain(result)
        assert not re.search(rf"[\x00-\x08\x0b-\x1f\x7f-\x9f{DIRECTIONS}]", shown), kind(result)
        assert "before" in shown, kind(result)
        assert "after" in shown, kind(result)


def test_a_narrow_terminal_and_long_text_are_drawn() -> None:
    for result in everywhere("word " * 400):
        for width in (1, 20, 80):
            assert drawn(result, width), kind(result)


def test_nothing_is_drawn_as_nothing() -> None:
    empty: list[tuple[Result, str]] = [
        (SessionList(sessions=[], total=0), "No sessions"),
        (Log(entries=[]), "No changes"),
        (ConversationsFound(mode="discovery"), "Nothing found"),
        (ConversationsFound(mode="browse"), "No conversations"),
        (MessagesFound(query="x", partial=False, hits=[]), "Nothing found"),
        (
            Recalled(query="x", mode="lexical", coverage=0.0, hits=[], packed="", left_out=0, notes=[]),
            "Nothing in memory",
        ),
        (FactList(total=0, as_of=None, facts=[]), "No facts"),
        (FactsFound(facts=[]), "No facts"),
        (History(target="x", as_of="2026-01-01", facts=[]), "Nothing was known"),
        (ScopeList(scopes=[]), "No scopes"),
    ]
    for result, said in empty:
        assert said in plain(result)


def test_the_result_of_every_operation_is_drawn(filled: Path, tmp_path: Path) -> None:
    for name in sorted(CALLS):
        root = tmp_path / name
        shutil.copytree(filled / "home", root / "home")
        given_here = arguments(name, str(filled if name in BESIDE_THE_HOME else root))
        with Memory.at(root / "home") as memory:
            result = registry.read(name, given_here).run(memory)
        assert plain(result).strip(), name
        shutil.rmtree(root)


def test_the_heading_of_a_conversation_is_bold_and_one_in_a_message_is_not() -> None:
    said = message_of("first\n## A heading\nlast")
    found = {"mode": "scroll", "session": session_of("The title"), "messages": [said]}
    shown = drawn(fill(ConversationsFound, found))
    assert "## A heading" in shown
    assert _STYLE.search(shown.partition("The title")[0])


@pytest.mark.parametrize(
    ("snippet", "shown", "bold"),
    [
        ("we >>>deployed<<< it", "we deployed it", ["deployed"]),
        (">>>a<<< b >>>c<<<", "a b c", ["a", "c"]),
        ("no match", "no match", []),
        ("in the shell >>> import x", "in the shell >>> import x", []),
        (">>> print(1) shows >>>one<<<", ">>> print(1) shows one", ["one"]),
        ("a <<< b", "a <<< b", []),
        ("", "", []),
    ],
)
def test_matches_are_bold_and_signs_that_mark_none_stay(snippet: str, shown: str, bold: list[str]) -> None:
    text = highlight_matches(snippet)
    assert text.plain == shown
    assert [text.plain[span.start : span.end] for span in text.spans] == bold


@given(st.text(alphabet="ab ><", max_size=30))
def test_drawing_a_snippet_loses_no_letters(snippet: str) -> None:
    shown = highlight_matches(snippet)
    assert isinstance(shown, Text)
    letters = [char for char in snippet if char in "ab"]
    assert [char for char in shown.plain if char in "ab"] == letters


def test_a_session_is_shown_with_its_calls_and_parts() -> None:
    parts: list[Any] = [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": "x"}}]
    call = {
        "id": "c",
        "type": "function",
        "function": {"name": "read_file", "arguments": '{"path": "[a].py"}'},
    }
    asking = message_of(None, role="assistant", tool_calls=[call])
    shown = plain(fill(SessionShown, {"session": session_of(None), "messages": [message_of(parts), asking]}))
    for word in ("look", "read_file", "[a].py"):
        assert word in shown


@pytest.mark.parametrize(
    ("seconds", "visible", "appears"), [(0.5, True, False), (1.5, True, True), (1.5, False, False)]
)
def test_a_progress_bar_appears_after_a_second_where_somebody_looks(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    seconds: float,
    visible: bool,
    appears: bool,
) -> None:
    now = FixedClock(0.0)
    monkeypatch.setattr(output.time, "monotonic", now)
    monkeypatch.setenv("FORCE_COLOR", "1")
    with output.Bar("Import sessions", visible=visible) as whole:
        bar = part_of(whole, 0, 0.7, "Reading conversations")
        bar(0.1)
        now.advance(seconds)
        bar(0.5)
        bar(1.0)
    said = capsys.readouterr()
    assert said.out == ""
    assert ("Reading conversations" in said.err) == appears


def test_a_diff_is_coloured() -> None:
    shown = drawing.color_diff("--- a.json\n+ new\n- old\n  same")
    styles = {str(span.style): shown.plain[span.start : span.end] for span in shown.spans}
    assert styles == {"bold": "--- a.json", "green": "+ new", "red": "- old"}
