"""The list of all operations, from which every face is generated.

A line has the name of the tool, the command typed after ``mnemos``, and the class, which is imported when it
is needed.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    name: str
    command: str
    target: str
    sets: frozenset[str]


def _entry(name: str, command: str, target: str, *sets: str) -> Entry:
    return Entry(name, command, f"mnemos.operations.{target}", frozenset({*sets, "all"}))


ENTRIES: tuple[Entry, ...] = (
    _entry("recall", "recall", "recall:RecallEverything", "default", "recall"),
    _entry("recalls", "recalls", "recalls:ListRecalls", "inspect"),
    _entry("session_search", "sessions find", "search:SessionSearch", "sessions"),
    _entry("sessions_search", "search", "search:SearchMessages", "sessions"),
    _entry("sessions_read", "sessions read", "search:ReadConversation", "default", "sessions"),
    _entry("sessions_list", "sessions list", "sessions:ListSessions", "sessions"),
    _entry("sessions_show", "sessions show", "sessions:ShowSession", "sessions"),
    _entry("sessions_messages", "sessions messages", "session_pages:ReadPage", "sessions"),
    _entry("sessions_outline", "sessions outline", "session_pages:ShowOutline", "sessions"),
    _entry("sessions_lineage", "sessions lineage", "sessions:ShowLineage", "sessions"),
    _entry("sessions_create", "sessions create", "session_records:CreateSession", "sessions"),
    _entry("sessions_append", "sessions append", "session_records:AppendMessage", "sessions"),
    _entry("sessions_pop", "sessions pop", "session_records:PopMessage", "sessions"),
    _entry("sessions_rewrite", "sessions rewrite", "session_records:RewriteSession", "sessions"),
    _entry("sessions_end", "sessions end", "sessions:EndSession", "sessions"),
    _entry("sessions_reopen", "sessions reopen", "sessions:ReopenSession", "sessions"),
    _entry("sessions_title", "sessions title", "sessions:TitleSession", "sessions"),
    _entry("sessions_update", "sessions update", "sessions:UpdateSession", "sessions"),
    _entry("sessions_archive", "sessions archive", "sessions:ArchiveSession", "sessions"),
    _entry("sessions_unarchive", "sessions unarchive", "sessions:UnarchiveSession", "sessions"),
    _entry("sessions_delete", "sessions delete", "sessions:DeleteSession", "sessions"),
    _entry("sessions_prune", "sessions prune", "sessions:PruneSessions", "sessions"),
    _entry("sessions_export", "export sessions", "session_files:ExportSessions", "sessions"),
    _entry("sessions_import", "sessions import", "session_files:ImportSessions", "sessions"),
    _entry("remember", "remember", "recall:Remember", "default", "recall"),
    _entry("memory_status", "facts status", "facts:ShowStatus", "default", "facts"),
    _entry("memory_write", "facts write", "facts:WriteFacts", "facts"),
    _entry("memory_search", "facts search", "facts:SearchFacts", "facts"),
    _entry("memory_tick", "facts tick", "facts:Tick", "facts"),
    _entry("memory_reflect", "facts reflect", "facts:Reflect", "facts"),
    _entry("memory_history", "facts history", "facts:ShowHistory", "facts"),
    _entry("memory_export", "export facts", "fact_lists:ExportFacts", "facts"),
    _entry("memory_purge", "facts purge", "fact_lists:PurgeFacts", "facts"),
    _entry("memory_forget", "facts forget", "fact_lists:ForgetFacts", "facts"),
    _entry("memory_optimize", "notebook optimize", "notebook:OptimizeNotes", "facts", "notebook"),
    _entry("facts_list", "facts list", "fact_lists:ListFacts", "inspect"),
    _entry("facts_scopes", "facts scopes", "fact_lists:ListScopes", "inspect"),
    _entry("facts_conflicts", "facts conflicts", "fact_lists:ListConflicts", "inspect"),
    _entry("show", "show", "lookup:Show", "inspect"),
    _entry("explain", "explain", "explanation:Explain", "inspect"),
    _entry("memory", "notebook change", "notebook:EditNotes", "notebook"),
    _entry("notebook_show", "notebook show", "notebook:ShowNotes", "notebook"),
    _entry("notebook_add", "notebook add", "notebook:AddNote", "notebook"),
    _entry("notebook_edit", "notebook edit", "notebook:RewriteNotes", "notebook"),
    _entry("notebook_versions", "notebook versions", "notebook:ListVersions", "notebook"),
    _entry("notebook_undo", "notebook undo", "notebook:UndoNotes", "notebook"),
    _entry("sqlite_query", "workspace query", "workspace:QueryDatabase", "default", "workspace"),
    _entry("sqlite_schema", "workspace schema", "workspace:ShowSchema", "default", "workspace"),
    _entry("sqlite_export", "export rows", "workspace:ExportRows", "workspace"),
    _entry("sqlite_import", "workspace import", "workspace:ImportRows", "workspace"),
    _entry("sqlite_databases", "workspace list", "databases:ListDatabases", "workspace"),
    _entry("sqlite_rename", "workspace rename", "databases:RenameDatabase", "workspace"),
    _entry("sqlite_copy", "workspace copy", "databases:CopyDatabase", "workspace"),
    _entry("sqlite_delete", "workspace delete", "databases:DeleteDatabase", "workspace"),
    _entry("sqlite_compact", "workspace compact", "databases:CompactDatabase", "workspace"),
    _entry("sqlite_snapshots", "workspace snapshots", "databases:ListSnapshots", "workspace"),
    _entry("sqlite_restore", "workspace restore", "databases:RestoreDatabase", "workspace"),
    _entry("providers_list", "providers list", "providers:ListProviders", "providers"),
    _entry("providers_status", "providers status", "providers:ShowProviders", "providers"),
    _entry("providers_setup", "providers setup", "providers:SetUpProvider", "providers"),
    _entry("templates_list", "templates list", "templates:ListTemplates", "templates"),
    _entry("templates_show", "templates show", "templates:ShowTemplate", "templates"),
    _entry("templates_create", "templates create", "templates:CreateTemplate", "templates"),
    _entry("templates_delete", "templates delete", "templates:DeleteTemplate", "templates"),
    _entry("templates_stats", "templates stats", "templates:ShowTemplateStats", "templates"),
    _entry("templates_suggest", "templates suggest", "templates:SuggestTemplates", "templates"),
    _entry("templates_experiment", "templates experiment", "templates:CompareTemplates", "templates"),
    _entry("connect_found", "connect found", "found_clients:ConnectFound", "transfer"),
    _entry("connect_claude_code", "connect claude-code", "connect:ConnectClaudeCode", "transfer"),
    _entry("connect_claude_desktop", "connect claude-desktop", "connect:ConnectClaudeDesktop", "transfer"),
    _entry("connect_cursor", "connect cursor", "connect:ConnectCursor", "transfer"),
    _entry("connect_vscode", "connect vscode", "connect:ConnectVSCode", "transfer"),
    _entry("connect_codex", "connect codex", "connect:ConnectCodex", "transfer"),
    _entry("connect_gemini", "connect gemini", "connect:ConnectGemini", "transfer"),
    _entry("connect_qwen", "connect qwen", "connect:ConnectQwen", "transfer"),
    _entry("connect_opencode", "connect opencode", "connect:ConnectOpenCode", "transfer"),
    _entry("connect_hermes", "connect hermes", "connect:ConnectHermes", "transfer"),
    _entry("import_found", "import found", "imports:ImportFound", "transfer"),
    _entry("import_claude_code", "import claude-code", "imports:ImportClaudeCode", "transfer"),
    _entry("import_codex", "import codex", "imports:ImportCodex", "transfer"),
    _entry("import_chatgpt", "import chatgpt", "imports:ImportChatGPT", "transfer"),
    _entry("import_claude", "import claude", "imports:ImportClaude", "transfer"),
    _entry("import_hermes", "import hermes", "imports:ImportHermes", "transfer"),
    _entry("import_agent", "import agent", "imports:ImportAgent", "transfer"),
    _entry("import_jsonl", "import jsonl", "imports:ImportJsonl", "transfer"),
    _entry("import_hermes_memory", "import hermes-memory", "imports:ImportHermesMemory", "transfer"),
    _entry("export", "export all", "archive:ExportAll", "transfer"),
    _entry("import_archive", "import archive", "archive:ImportArchive", "transfer"),
    _entry("verify", "verify", "archive:VerifyArchive", "transfer"),
    _entry("sync_with", "sync", "memory_sync:Sync", "transfer"),
    _entry("sync_answer", "import sync", "memory_sync:AnswerSync", "transfer"),
    _entry("memory_backend", "entries do", "entries:UseBackend", "entries"),
    _entry("entries_list", "entries list", "entries:ListEntries", "entries"),
    _entry("entries_users", "entries users", "entries:ListEntryUsers", "entries"),
    _entry("entries_get", "entries get", "entries:GetEntry", "entries"),
    _entry("entries_set", "entries set", "entries:SetEntry", "entries"),
    _entry("entries_query", "entries query", "entries:QueryEntries", "entries"),
    _entry("entries_delete", "entries delete", "entries:DeleteEntry", "entries"),
    _entry("entries_find", "entries find", "namespaces:FindEntries", "entries"),
    _entry("entries_put", "entries put", "namespaces:PutEntry", "entries"),
    _entry("entries_expire", "entries expire", "namespaces:ExpireEntry", "entries"),
    _entry("entries_namespaces", "entries namespaces", "namespaces:ListNamespaces", "entries"),
    _entry("entries_info", "entries info", "entries:ShowBackend", "entries"),
    _entry("evaluate", "evaluate", "evaluation:Evaluate", "entries"),
    _entry("overview", "overview", "overview:ShowOverview", "inspect"),
    _entry("spaces_list", "spaces", "overview:ListSpaces", "inspect"),
    _entry("stats", "stats", "upkeep:ShowStats", "upkeep"),
    _entry("optimize", "optimize", "upkeep:Optimize", "upkeep"),
    _entry("doctor", "doctor", "upkeep:Examine", "upkeep"),
    _entry("backup", "backup", "archive:BackUp", "upkeep"),
    _entry("restore", "restore", "archive:Restore", "upkeep"),
    _entry("log", "log", "upkeep:ShowLog", "upkeep"),
    _entry("changes", "changes", "changes:ListChanges", "inspect"),
    _entry("undo", "undo", "upkeep:Undo", "upkeep"),
    _entry("forget", "forget", "forget:Forget", "default", "upkeep"),
)

BY_NAME = {entry.name: entry for entry in ENTRIES}
SETS = frozenset(name for entry in ENTRIES for name in entry.sets)

# Parts of the reference, and the part of each command by its first word. All other commands are upkeep.
TITLES = {
    "recall": "Ask, remember and forget",
    "sessions": "Sessions",
    "facts": "Facts",
    "notebook": "Notebook",
    "workspace": "Workspace",
    "templates": "Templates",
    "entries": "Entries",
    "transfer": "Import and export",
    "connect": "Connect clients",
    "providers": "Providers",
    "upkeep": "Upkeep",
}
_PARTS = {
    **{title: title for title in TITLES},
    **dict.fromkeys(("search", "show", "remember", "forget", "explain"), "recall"),
    **dict.fromkeys(("import", "export", "verify"), "transfer"),
    "evaluate": "entries",
}


def part_of(entry: Entry) -> str:
    return _PARTS.get(entry.command.split()[0], "upkeep")
