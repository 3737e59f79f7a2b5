"""The facts, notes, entries, templates and databases of a memory on a server."""

from __future__ import annotations

import sys
from base64 import b64decode
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from operator import itemgetter
from typing import Any

from mnemos.client.remote_part import (
    Answer,
    RemotePart,
    Via,
    as_list,
    drop_none,
    join_ids,
    make_part,
    name_exactly,
)
from mnemos.entries.backend import WORDS, MemoryBackend, MemoryEntry, check_value
from mnemos.entries.entry_store import Entries
from mnemos.errors import Refused
from mnemos.facts.fact import Conflict, Fact, FactList, Gauge, Outcome, Scope, Stored, Written
from mnemos.facts.facts import Facts
from mnemos.inputs import Moment, moment
from mnemos.notebook.notebook import Notebook
from mnemos.notebook.notes import Book, Use, Version, parse_book, parse_entries
from mnemos.structs import convert
from mnemos.templates.session_survey import Experiment, Measure, Suggestion, Suggestions
from mnemos.templates.template import SessionTemplate
from mnemos.templates.template_store import Templates
from mnemos.workspace import answers
from mnemos.workspace.workspace import Workspace

# --- facts ------------------------------------------------------------------------------------

_MOST_HISTORY = 1_000
_TIMES = ("at", "ended_at", "valid_from", "valid_to", "used_at")
_STATUSES = {
    ("all", ("live",)): "all",
    ("hot", ("live",)): "hot",
    ("active", ("live",)): "hot",
    ("cold", ("live",)): "cold",
    ("all", ("superseded",)): "superseded",
    ("all", ("retired",)): "retired",
    ("all", ("live", "superseded", "retired")): "everything",
}


def _read_time(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        # A time outside the calendar is sent in seconds.
        return float(text)


def _read_fact(found: Mapping[str, Any]) -> Fact:
    return Fact(**{**found, **{name: _read_time(found[name]) for name in _TIMES}})


def _read_facts(answer: Answer) -> FactList:
    return FactList(map(_read_fact, answer["facts"]))


def _read_conflict(found: Mapping[str, Any]) -> Conflict:
    older, newer = _read_fact(found["older"]), _read_fact(found["newer"])
    return Conflict(found["target"], older, newer, found["reason"])


def _read_scope(found: Mapping[str, Any]) -> Scope:
    opened, touched = _read_time(found["opened_at"]) or 0.0, _read_time(found["touched_at"]) or 0.0
    closed = _read_time(found["closed_at"])
    return Scope(found["label"], found["open"], opened, touched, closed, found["hot"], found["live"])


def read_written(found: Mapping[str, Any]) -> Written:
    """Convert the result of a write."""
    lists = ("replaced", "may_replace")
    stored = (one | {name: tuple(one[name]) for name in lists} for one in found["facts"])
    return Written(
        tuple(Stored(**one | {"outcome": Outcome(one["outcome"])}) for one in stored),
        Gauge(found["gauge_tokens"], found["gauge_budget"]),
        tuple(found["closed"]),
        tuple(found["reopened"]),
        tuple(map(_read_conflict, found["conflicts"])),
        tuple(map(_read_fact, found["left_hot"])),
        tuple(map(_read_fact, found["replaced"])),
    )


def _read_history(answer: Answer) -> FactList:
    if len(answer["facts"]) >= _MOST_HISTORY:
        raise Refused(f"This target has {_MOST_HISTORY:,} statements or more. Pass a smaller limit.")
    return _read_facts(answer)


REMEMBER = Via(
    "remember",
    fixed={"kind": "fact"},
    answer=lambda answer: read_written(answer["done"]),
    convert={"replaces": join_ids},
)
_FACTS = {
    "conflicts": Via("facts_conflicts", answer=lambda found: list(map(_read_conflict, found["conflicts"]))),
    "count": Via("facts_list", fixed={"limit": 1}, answer=itemgetter("total")),
    "forget": Via("memory_forget", {"fact_id": "id"}, answer=itemgetter("forgotten")),
    "get": Via("explain", {"fact_id": "ref"}, answer=lambda found: _read_fact(found["fact"])),
    "history": Via("memory_history", fixed={"limit": _MOST_HISTORY}, answer=_read_history),
    "purge": Via("memory_purge", answer=itemgetter("would_purge")),
    "reflect": Via("memory_reflect", answer=_read_facts),
    "remember": REMEMBER,
    "scopes": Via("facts_scopes", answer=lambda found: list(map(_read_scope, found["scopes"]))),
    "search": Via("memory_search", answer=_read_facts),
    "write": Via("memory_write", answer=read_written),
}
_FACT_ADVICE = {
    "status": 'Use memory.call("memory_status"), whose block also has the use of the notebook.',
    "tick": 'Use memory.call("memory_tick", …).',
    "withdraw": 'Use memory.forget("f3").',
    "live": "Use memory.facts.history or memory.facts.list.",
    "says": "Use memory.facts.search.",
    "flush": "The server does it.",
    "state": "Use memory.facts.write, which takes the notation.",
}


class RemoteFacts(RemotePart):
    """The facts of a memory on a server. Their times are exact to the millisecond."""

    def list(
        self, *, scope: str | None = None, tier: str = "all", states: Sequence[str] = ("live",),
        types: Sequence[str] | None = None, as_of: Moment | None = None, user_id: str | None = None,
    ) -> FactList:  # fmt: skip
        """Return facts in the order they were learned; see ``Facts.iterate``."""
        status = _STATUSES.get((tier, tuple(states)))
        if status is None:
            raise Refused(
                f"memory.facts.list: tier={tier!r} with states={tuple(states)!r} does not work over HTTP. "
                "Ask for one state, or for all three."
            )
        given = {
            "scope": scope, "status": status, "type": types and as_list(types), "user_id": user_id,
            "as_of": moment("as_of", as_of) if isinstance(as_of, date) else as_of, "limit": 100_000,
        }  # fmt: skip
        found = self._memory.ask("facts_list", drop_none(given))
        if found["total"] > len(found["facts"]):
            raise Refused(f"memory.facts.list: {found['total']:,} facts are too many to send. Name a scope.")
        return FactList(sorted(_read_facts(found), key=lambda fact: int(fact.id[1:])))

    def iterate(self, **chosen: Any) -> Any:
        """Yield the facts of ``list``."""
        return iter(self.list(**chosen))


# --- notebook ---------------------------------------------------------------------------------


def _read_use(found: Mapping[str, Any]) -> Use:
    return Use(Book(found["target"]), found["used"], found["limit"], found["entries"])


def _read_version(found: Mapping[str, Any]) -> Version:
    entries = tuple(parse_entries(found["text"]))
    return Version(found["version"], entries, found["at"], found["actor"], found["entry"])


_NOTES = {
    "add": Via("notebook_add", answer=_read_use),
    "change": Via("memory", answer=_read_use),
    "remove": Via("memory", fixed={"action": "remove"}, answer=_read_use),
    "replace": Via("memory", fixed={"action": "replace"}, answer=_read_use),
    "versions": Via("notebook_versions", answer=lambda found: list(map(_read_version, found["versions"]))),
    "write": Via("notebook_edit", answer=_read_use),
}
_NOTE_ADVICE = {
    "forget": 'Use memory.forget("note:ID").',
    "undo": "Use memory.undo or memory.undo_notes.",
    "render": 'memory.call("notebook_show") has the entries as prompts show them.',
    "begin_turn": 'memory.call("memory_tick", …) begins a turn.',
    "sync": "The server does it.",
}


class RemoteNotebook(RemotePart):
    """The notebook of a memory on a server."""

    def entries(self, target: str = "memory") -> list[str]:
        """Return the current entries of a file; empty if there is no file."""
        found = self._read(target)
        if found["altered"]:
            raise Refused(
                f"An entry of {target} has hidden characters or looks like a prompt injection, so it is not "
                'sent as it is stored. memory.call("notebook_show") has what may be shown.'
            )
        entries: list[str] = found["entries"]
        return entries

    def use(self, target: str = "memory") -> Use:
        found = self._read(target)
        return _read_use(found | {"entries": len(found["entries"])})

    def limit(self, target: str) -> int:
        return int(self._read(target)["limit"])

    def _read(self, target: str) -> Answer:
        book = parse_book(target)
        files: list[Answer] = self._memory.ask("notebook_show", {})["files"]
        found = next((one for one in files if one["target"] == book), None)
        if found is None:
            raise Refused(f"The file {book.filename} is disabled on the server.")
        if "unread" in found:
            raise Refused(found["unread"])
        return found


# --- entries ----------------------------------------------------------------------------------


def _read_entry(found: Mapping[str, Any], user: str) -> MemoryEntry:
    times = found["created_at"], found["updated_at"]
    return MemoryEntry(found["key"], found["value"], user, *times, found["metadata"], found.get("match", ""))


_ENTRIES = {
    "delete": Via("entries_delete", {"user_id": "user"}, answer=lambda _: True, absent=False),
    "list_keys": Via("entries_list", {"user_id": "user"}, answer=itemgetter("keys")),
    "store": Via("entries_set", {"user_id": "user"}, answer=lambda _: True),
    "retrieve": Via(
        "entries_get",
        {"user_id": "user"},
        answer=lambda found: _read_entry(found, found["user"]),
        absent=None,
    ),
    "query": Via(
        "entries_query",
        {"user_id": "user", "query_text": "query"},
        answer=lambda found: [_read_entry({"match": WORDS} | one, found["user"]) for one in found["entries"]],
    ),
    "is_available": Via("entries_info", answer=itemgetter("available")),
}


def _read_placed(found: Mapping[str, Any]) -> MemoryEntry:
    labels = tuple(found["namespace"])
    return MemoryEntry(
        found["key"],
        found["value"],
        labels[0],
        found["created_at"],
        found["updated_at"],
        found["metadata"],
        found["match"],
        labels,
        found["expires_at"],
        found["score"],
        int(found["ref"].partition(":")[2]),
    )


def _read_all_placed(found: Answer) -> list[MemoryEntry]:
    return list(map(_read_placed, found["entries"]))


def _place(user: str, *, labels: str = "namespace", **more: Any) -> dict[str, Any]:
    """Return the argument that selects an operation's namespace."""
    return {"fields": {user: labels, **more}, "convert": {user: as_list}}


_OWN_ENTRIES = {
    "delete": Via("entries_delete", **_place("user_id"), answer=lambda _: True, absent=False),
    "find": Via("entries_find", **_place("prefix"), answer=_read_all_placed),
    "list_keys": Via("entries_list", **_place("user_id"), answer=itemgetter("keys")),
    "namespaces": Via(
        "entries_namespaces",
        answer=lambda found: list(map(tuple, found["namespaces"])),
        convert={"prefix": as_list, "suffix": as_list},
    ),
    "put": Via("entries_put", **_place("namespace")),
    "query": Via(
        "entries_find",
        fixed={"exact": True},
        **_place("user_id", query_text="query"),
        answer=_read_all_placed,
    ),
    "retrieve": Via(
        "entries_find", **_place("user_id"), answer=lambda found: next(iter(_read_all_placed(found)), None)
    ),
    "set_expiry": Via("entries_expire", **_place("namespace"), answer=lambda _: True, absent=False),
    "store": Via(
        "entries_put",
        {"user_id": "namespace"},
        answer=lambda _: True,
        convert={"user_id": as_list, "value": lambda value: check_value(value, sys.maxsize)},
    ),
    "users": Via("entries_users", answer=lambda found: [one["user"] for one in found["users"]]),
}


class RemoteEntries(RemotePart):
    """The entries in the database of a memory on a server."""

    backend_name = "local (SQLite)"
    is_cloud = False

    @property
    def location(self) -> str:
        return str(self._memory.ask("overview", {})["location"])

    def is_available(self) -> bool:
        return True


class RemoteBackend(RemotePart):
    """The entries in the backend that the server chose."""

    @property
    def backend_name(self) -> str:
        return str(self._memory.ask("entries_info", {})["backend"])

    @property
    def is_cloud(self) -> bool:
        return bool(self._memory.ask("entries_info", {})["is_cloud"])

    @property
    def location(self) -> str:
        return str(self._memory.ask("entries_info", {})["location"])


# --- templates --------------------------------------------------------------------------------


def _read_suggestions(found: Answer) -> Suggestions:
    suggestions = convert(found["suggestions"], tuple[Suggestion, ...])
    return Suggestions(suggestions, found["looked_at"], found["complete"])


def _read_experiment(found: Answer) -> Experiment:
    """Convert a comparison, whose numbers are rounded."""
    counts = found["with_template"], found["without_template"], found["looked_at"], found["complete"]
    return Experiment(*counts, convert(found["measures"], tuple[Measure, ...]))


_TEMPLATES = {
    "delete_template": Via("templates_delete", answer=lambda _: True, absent=False),
    "experiment": Via("templates_experiment", {"task_type": "type"}, answer=_read_experiment),
    "suggest": Via("templates_suggest", {"task_type": "type"}, answer=_read_suggestions),
    "get_template_stats": Via(
        "templates_stats", answer=lambda found: {name: found[name] for name in found if name != "text"}
    ),
}
_TEMPLATE_ADVICE = {
    "save": "Use memory.templates.create_template.",
}


class RemoteTemplates(RemotePart):
    """The templates of a memory on a server."""

    def create_template(
        self, session_id: str, name: str | None = None, task_type: str | None = None, max_examples: int = 10,
        description: str = "", tags: Sequence[str] | None = None, *, allow: bool = False,
    ) -> SessionTemplate:  # fmt: skip
        """Create and save a template; NotFound if no call of the session succeeded."""
        given = {
            "session": name_exactly("session_id", session_id), "name": name, "type": task_type,
            "max_examples": max_examples, "description": description, "tags": tags and as_list(tags),
            "allow": allow,
        }  # fmt: skip
        return self.show(self._memory.ask("templates_create", drop_none(given))["template"]["name"])

    def list_templates(
        self, task_type: str | None = None, tags: Sequence[str] | None = None
    ) -> list[SessionTemplate]:
        """Return templates, newest first. Makes one request per template."""
        given = drop_none({"type": task_type, "tags": tags and as_list(tags)})
        return [self.show(one["name"]) for one in self._memory.ask("templates_list", given)["templates"]]

    def show(self, name: str) -> SessionTemplate:
        return SessionTemplate.from_dict(self._memory.ask("templates_show", {"name": name})["template"])


# --- workspace --------------------------------------------------------------------------------

_WORKSPACE = {
    "copy": Via("sqlite_copy"),
    "compact": Via("sqlite_compact", answer=itemgetter("before_bytes", "after_bytes")),
    "databases": Via(
        "sqlite_databases",
        answer=lambda found: convert(found["databases"], list[answers.DatabaseInfo]),
    ),
    "delete": Via("sqlite_delete"),
    "rename": Via("sqlite_rename"),
    "restore": Via("sqlite_restore", answer=itemgetter("snapshot")),
    "schema": Via("sqlite_schema", answer=lambda found: answers.Card(found["card"], found["tables"])),
    "snapshots": Via(
        "sqlite_snapshots", answer=lambda found: convert(found["snapshots"], list[answers.Snapshot])
    ),
}
_WORKSPACE_ADVICE = {
    "tables": 'Use memory.call("sqlite_schema", …).',
    "functions": 'Use memory.call("sqlite_schema", {"functions": True}).',
    "usage": 'memory.call("stats") has the usage.',
    "import_file": 'Use memory.call("sqlite_import", …) with the owner\'s token.',
    "export": 'Use memory.call("sqlite_export", …) with the owner\'s token.',
}


def _read_cell(cell: Any) -> Any:
    return b64decode(cell["base64"]) if isinstance(cell, dict) else cell


class RemoteWorkspace(RemotePart):
    """The databases of a memory on a server."""

    def query(
        self, query: str, params: Any = None, *, rows: Any = None, database: str = "default",
        max_rows: int = 100, offset: int = 0, timeout: float | None = None, read_only: bool = False,
        user_id: str | None = None,
    ) -> answers.Answer:  # fmt: skip
        """Run statements in one transaction and return up to 1,000 rows; see ``Workspace.query``."""
        given = {
            "query": query, "params": params, "rows": rows, "database": database, "max_rows": max_rows,
            "offset": offset, "timeout": timeout, "read_only": read_only, "user_id": user_id,
            "whole": True,
        }  # fmt: skip
        found = self._memory.ask("sqlite_query", drop_none(given))
        results = convert(found["results"], list[answers.StatementResult])
        for result in results:
            result.rows[:] = [[_read_cell(cell) for cell in row] for row in result.rows]
        return answers.Answer(
            results, found["changes"], found["elapsed_ms"], found["size_bytes"], offset, found["warnings"],
            wrote=found["truncated"] and found["next_offset"] is None,
        )  # fmt: skip

    def has(self, database: str = "default") -> bool:
        return any(one["name"] == database for one in self._memory.ask("sqlite_databases", {})["databases"])


FACTS = make_part("facts", Facts, RemoteFacts, _FACTS, _FACT_ADVICE)
NOTEBOOK = make_part("notebook", Notebook, RemoteNotebook, _NOTES, _NOTE_ADVICE)
BACKEND = make_part("backend", MemoryBackend, RemoteBackend, _ENTRIES, {})
ENTRIES = make_part("entries", Entries, RemoteEntries, _OWN_ENTRIES, {})
TEMPLATES = make_part("templates", Templates, RemoteTemplates, _TEMPLATES, _TEMPLATE_ADVICE)
WORKSPACE = make_part("workspace", Workspace, RemoteWorkspace, _WORKSPACE, _WORKSPACE_ADVICE)
