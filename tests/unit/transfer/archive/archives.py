"""A memory with something in every part, and its whole state."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import mnemos
from mnemos.testing import FixedClock

STATES = ("live", "superseded", "retired")


def fill(memory: mnemos.Memory) -> mnemos.Memory:
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at": "srv"}'}}
    sessions = memory.sessions
    # The child's id comes before the parent's.
    sessions.create_session("root", "cli", title="Größe", metadata={"a": [1, None]}, model="m-1")
    sessions.create_session("child", "cron", parent_session_id="root", user_id="sam")
    sessions.append_message("root", "assistant", None, tool_calls=[call])
    sessions.append_message("root", "tool", "found \ud800 it\0", tool_name="look", tool_call_id="c1")
    ids = sessions.append_messages("child", [{"role": "user", "content": f"word {n}"} for n in range(9)])
    sessions.append_message("child", "user", [{"type": "text", "text": "part"}], token_count=7)
    sessions.forget_message(ids[4])
    sessions.end_session("child", "done")
    sessions.archive("child")
    sessions.update_token_counts("child", 10, 20)
    _move_on(memory)
    facts = memory.facts
    facts.write(
        "V[srv.prod]: one\nC[db.id]: UUID mndtry", scope="Auth", session_id="child", message_id=ids[6]
    )
    for content in ("two", "three", "four", "five", "six"):
        _move_on(memory)
        facts.write(f"V[srv.prod]: {content}", scope="Auth", session_id="child")
    facts.write("D[db.id]: serial, once\n?[vat]: net or gross?", scope="shop", session_id="other")
    _move_on(memory)
    facts.write("D[vat]: gross", scope="shop", session_id="other")
    facts.write("✓[Auth]: deployed")
    facts.write("V[cache]: redis", valid_from=1_700_000_000.0)
    _move_on(memory)
    facts.write("~[cache]: gone")
    memory.entries.store("sam", "city", "Lisbon", {"since": 2020})
    memory.entries.store("default", "editor", "vim")
    _move_on(memory)
    memory.entries.store("sam", "city", "Porto", {"since": 2024})
    memory.notebook.add("Tests run with make")
    memory.notebook.add("§ is a sign\nover two lines")
    memory.notebook.add("Likes tea", target="user")
    memory.workspace.query("CREATE TABLE prices (item, eur); INSERT INTO prices VALUES ('chair', 40)")
    memory.workspace.query("CREATE TABLE sold (item)")
    memory.workspace.query("DROP TABLE sold; DELETE FROM prices")
    memory.workspace.query("CREATE TABLE t (x)", database="research")
    memory.templates.create_template("root", "looking", tags=["srv"])
    return memory


def state_of(memory: mnemos.Memory) -> dict[str, Any]:
    """Everything that an archive carries, as it is handed out; ids of messages are places."""
    sessions = list(memory.sessions.export_all())
    places = {
        message["id"]: (session["id"], number)
        for session in sessions
        for number, message in enumerate(session["messages"], start=1)
    }
    for session in sessions:
        for message in session["messages"]:
            del message["id"]
    facts = [
        {
            **{name: getattr(fact, name) for name in fact.__slots__},
            "message_id": places.get(fact.message_id or 0),
        }
        for fact in memory.facts.list(states=STATES)
    ]
    return {
        "sessions": sessions,
        "facts": facts,
        "scopes": [
            (s.label, s.opened_at, s.touched_at, s.closed_at, s.hot, s.live) for s in memory.facts.scopes()
        ],
        "conflicts": [(c.older.id, c.newer.id) for c in memory.facts.conflicts()],
        "entries": {
            user: [
                (e.key, e.value, e.created_at, e.updated_at, e.metadata)
                for key in memory.entries.list_keys(user)
                if (e := memory.entries.retrieve(user, key))
            ]
            for user in memory.entries.users()
        },
        "notes": [memory.notebook.entries(book) for book in ("memory", "user")],
        "templates": [t.to_dict() for t in memory.templates.list_templates()],
        "tables": {
            info.name: memory.workspace.query("SELECT sql FROM sqlite_schema", database=info.name).rows
            for info in sorted(memory.workspace.databases(), key=lambda info: info.name)
        },
    }


def manifest_of(folder: Path) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((folder / "manifest.json").read_text())
    return read


def _move_on(memory: mnemos.Memory) -> None:
    assert isinstance(memory.clock, FixedClock)
    memory.clock.advance(60)
