"""One call of every operation, on a home with the demo's history: arguments as ``Memory.call`` takes them."""

from __future__ import annotations

import json
from typing import Any

from mnemos.operations import registry
from mnemos.operations.index import BY_NAME

LINE = (
    '{"id": "brought", "source": "mail", "title": "Brought in", "started_at": 1767000000.0, '
    '"messages": [{"role": "user", "content": "hello there", "timestamp": 1767000001.0}]}'
)

FACTS = "V[srv.prod]: api.example.com:3006\n- c [db.id] : UUID mndtry"

# {root} is the folder that holds the home.
CALLS: dict[str, dict[str, Any]] = {
    "recall": {"query": "when did we move the database?", "limit": 2, "exclude": ["slot-bug"]},
    "recalls": {"limit": 5},
    "sync_with": {"other": "{root}"},
    "sync_answer": {"request": '{"ask": "fetch", "addresses": ["notes/user"]}'},
    "session_search": {"query": "when did we migrate the database", "limit": 2, "window": 1},
    "sessions_search": {"query": "monday OR december", "limit": 5, "exclude": ["empty", "search-page"]},
    "sessions_read": {"session": "slot-bug", "window": 2},
    "sessions_list": {"query": "database", "limit": 3, "offset": 1},
    "sessions_show": {"session": "slot-bug", "tail": 3},
    "sessions_messages": {"session": "slot-bug", "around": 9, "limit": 3},
    "sessions_outline": {"session": "slot-bug"},
    "sessions_lineage": {"session": "slot-bug"},
    "sessions_create": {"session_id": "new", "title": "A new one", "source": "cli"},
    "entries_find": {"query": "editor", "namespace": ["sam"]},
    "entries_expire": {"key": "pref_editor", "namespace": ["sam"], "expires_at": 1893456000},
    "entries_put": {"key": "theme", "namespace": ["ada", "notes"], "value": {"name": "dark"}},
    "entries_namespaces": {"limit": 5},
    "sessions_pop": {"session": "slot-bug"},
    "sessions_rewrite": {"session": "empty", "messages": [{"role": "user", "content": "A summary"}]},
    "sessions_append": {"session_id": "empty", "role": "user", "content": "Book the morning train"},
    "sessions_end": {"session": "empty", "reason": "done"},
    "sessions_reopen": {"session": "slot-bug"},
    "sessions_title": {"session": "slot-bug", "title": "Another name"},
    "sessions_update": {"session": "slot-bug", "metadata": {"mood": "good"}, "input_tokens": 12},
    "sessions_archive": {"session": "Product search"},
    "sessions_unarchive": {"session": "empty"},
    "sessions_delete": {"session": "slot"},
    "sessions_prune": {"older_than_days": 0.0, "source": "cron"},
    "sessions_export": {"path": "{root}/some.jsonl", "session": ["slot-bug", "search-page"]},
    "sessions_import": {"text": LINE},
    "remember": {"text": "The staging database listens on port 5433", "target": "db.staging"},
    "memory_status": {"session_id": "chat"},
    "memory_write": {"content": FACTS, "scope": "shop", "valid_from": "2026-01-01", "session_id": "chat"},
    "memory_search": {"query": "which port does production use?", "limit": 2},
    "memory_tick": {"turn": 2, "message": "the shop is merged and deployed", "session_id": "chat"},
    "memory_reflect": {"topic": "production server", "limit": 5},
    "memory_history": {"target": "srv.prod", "as_of": "2026-06-01", "limit": 5},
    "memory_export": {"scope": "shop", "status": "everything", "format": "markdown"},
    "memory_purge": {"scope": "shop", "older_than_days": 0.0},
    "memory_forget": {"target": "srv.prod", "scope": "shop"},
    "facts_list": {"scope": "shop", "type": ["V", "?"], "limit": 1, "offset": 1},
    "facts_scopes": {"limit": 5},
    "facts_conflicts": {"limit": 5},
    "show": {"id": "slot-bug"},
    "explain": {"ref": "f1"},
    "providers_list": {},
    "providers_status": {},
    "providers_setup": {"name": "builtin"},
    "memory": {
        "operations": [
            {"action": "replace", "old_text": "make test", "content": "Tests run with make check"},
            {"action": "add", "content": "Deploys go through the gateway"},
        ]
    },
    "memory_optimize": {"threshold_pct": 2.0},
    "notebook_show": {},
    "notebook_add": {"content": "Prefers short answers", "target": "user"},
    "notebook_edit": {"target": "memory", "text": "One note\n§\nAnother note"},
    "notebook_versions": {"target": "memory", "limit": 3},
    "notebook_undo": {},
    "templates_list": {"type": "file", "tags": ["bakery", "cake"]},
    "templates_show": {"name": "read-slots"},
    "templates_create": {"session": "slot-bug", "name": "read-again", "max_examples": 3},
    "templates_delete": {"name": "read-slots"},
    "templates_stats": {},
    "templates_suggest": {"limit": 3},
    "templates_experiment": {"type": "file"},
    "connect_found": {},
    "connect_claude_code": {"config": "{root}/claude"},
    "connect_claude_desktop": {"config": "{root}/desktop.json"},
    "connect_cursor": {"config": "{root}/cursor.json"},
    "connect_vscode": {"config": "{root}/vscode.json"},
    "connect_codex": {"config": "{root}/codex/config.toml"},
    "connect_gemini": {"config": "{root}/gemini.json"},
    "connect_qwen": {"config": "{root}/qwen.json"},
    "connect_opencode": {"config": "{root}/opencode.json"},
    "connect_hermes": {"hermes_home": "{root}/home"},
    "import_found": {"kinds": ["claude-code"]},
    "import_claude_code": {"path": "{root}/imports/claude-code", "since": "2020-01-01"},
    "import_codex": {"path": "{root}/imports/codex"},
    "import_agent": {"program": "gemini", "path": "{root}/imports/gemini"},
    "import_chatgpt": {"path": "{root}/imports/chatgpt/export"},
    "import_claude": {"path": "{root}/imports/claude/export"},
    "import_hermes": {"path": "{root}/state.db"},
    "import_jsonl": {"path": "{root}/imports/jsonl/tuning.jsonl"},
    "import_hermes_memory": {"path": "{root}/hermes-memory.db"},
    "export": {"path": "{root}/all"},
    "import_archive": {"path": "{root}/copy.tar.zst"},
    "verify": {"path": "{root}/copy.tar.zst"},
    "sqlite_query": {
        "query": "SELECT item, eur FROM prices WHERE eur > :most ORDER BY 2 DESC",
        "params": {"most": 30},
        "max_rows": 3,
    },
    "sqlite_schema": {"table": "prices"},
    "sqlite_export": {"path": "{root}/home/files/default/some.csv", "query": "SELECT * FROM prices LIMIT 2"},
    "sqlite_import": {"table": "colours", "text": "item,colour\nchair,red", "mode": "upsert", "key": "item"},
    "sqlite_databases": {},
    "sqlite_rename": {"database": "experiment", "to": "trial"},
    "sqlite_copy": {"database": "experiment", "to": "another"},
    "sqlite_delete": {"database": "experiment", "confirm": "experiment"},
    "sqlite_compact": {"database": "default"},
    "sqlite_snapshots": {"database": "default"},
    "sqlite_restore": {"database": "default"},
    "memory_backend": {"action": "delete", "user_id": "sam", "key": "pref_editor"},
    "entries_list": {"user": "sam", "values": True, "limit": 5},
    "entries_users": {},
    "entries_get": {"key": "city"},
    "entries_set": {"key": "theme", "value": "dark", "metadata": {"since": 2020}},
    "entries_query": {"query": "where does he live", "limit": 3},
    "entries_delete": {"key": "city"},
    "entries_info": {},
    "evaluate": {"quick": True},
    "spaces_list": {},
    "overview": {"since": "2020-01-01"},
    "stats": {},
    "optimize": {"seconds": 1.5},
    "doctor": {"repair": True},
    "backup": {"path": "{root}/another.db"},
    "restore": {"path": "{root}/copy.db"},
    "changes": {"limit": 5},
    "log": {"limit": 10},
    "undo": {"entry": 1},
    "forget": {"ref": "message:3"},
}

# They read a file that only the folder of the filled home has.
BESIDE_THE_HOME = (
    *("restore", "import_hermes_memory", "import_archive", "verify", "import_claude_code", "import_codex"),
    *("import_chatgpt", "import_claude", "import_hermes", "import_jsonl", "import_agent"),
)


def arguments(name: str, root: str) -> dict[str, Any]:
    """The call's arguments in a certain folder."""
    return {
        key: value.replace("{root}", root) if isinstance(value, str) else value
        for key, value in CALLS[name].items()
    }


def command_line(name: str, given: dict[str, Any]) -> list[str]:
    """The same call as somebody would type it."""
    traits = registry.find(name).traits
    words = BY_NAME[name].command.split()
    for key, value in given.items():
        if key in traits.positional:
            continue
        option = f"--{key.replace('_', '-')}"
        if value is True:
            words.append(option)
        else:
            for one in value if isinstance(value, list) else [value]:
                words += [option, json.dumps(one) if isinstance(one, dict) else str(one)]
    # `connect found` alone only lists; with --yes it would change the settings of programs on this machine.
    if traits.destructive or (traits.needs_yes and registry.read(name, given).writes()):
        words.append("--yes")
    typed = [str(given[key]) for key in traits.positional if key in given]
    return [*words, "--json", "--", *typed]
