"""Made by scripts/make_client_stub.py from the operations. Don't edit."""

from collections.abc import AsyncGenerator
from typing import Any, Literal, Self

from mnemos.operations import archive as of_archive
from mnemos.operations import base as of_base
from mnemos.operations import connect as of_connect
from mnemos.operations import databases as of_databases
from mnemos.operations import entries as of_entries
from mnemos.operations import evaluation as of_evaluation
from mnemos.operations import explanation as of_explanation
from mnemos.operations import fact_lists as of_fact_lists
from mnemos.operations import facts as of_facts
from mnemos.operations import forget as of_forget
from mnemos.operations import found_clients as of_found_clients
from mnemos.operations import imports as of_imports
from mnemos.operations import lookup as of_lookup
from mnemos.operations import memory_sync as of_memory_sync
from mnemos.operations import namespaces as of_namespaces
from mnemos.operations import notebook as of_notebook
from mnemos.operations import overview as of_overview
from mnemos.operations import providers as of_providers
from mnemos.operations import recall as of_recall
from mnemos.operations import recalls as of_recalls
from mnemos.operations import search as of_search
from mnemos.operations import session_files as of_session_files
from mnemos.operations import session_pages as of_session_pages
from mnemos.operations import session_records as of_session_records
from mnemos.operations import sessions as of_sessions
from mnemos.operations import templates as of_templates
from mnemos.operations import upkeep as of_upkeep
from mnemos.operations import workspace as of_workspace
from mnemos.operations.changes import ChangeInfo

WIDTHS: dict[str, int]

class AsyncClient:
    sync: Any
    def __init__(self, url: str, token: str | None = ..., *, read_only: bool = ...) -> None: ...
    async def __aenter__(self) -> Self: ...
    async def __aexit__(self, *_: object) -> None: ...
    async def call(
        self, name: str, args: dict[str, Any] | None = ..., *, user_id: str | None = ...
    ) -> dict[str, Any]: ...
    def changes(self, since: str | None = ...) -> AsyncGenerator[ChangeInfo]: ...
    async def close(self) -> None: ...
    async def recall(
        self,
        *,
        query: str,
        limit: int = ...,
        budget: int = ...,
        kinds: list[str] | None = ...,
        since: str | float | None = ...,
        until: str | float | None = ...,
        source: str | None = ...,
        session: list[str] | None = ...,
        exclude: list[str] | None = ...,
        as_of: str | float | None = ...,
        words_only: bool = ...,
        deep: bool = ...,
        project: str | None = ...,
        all_projects: bool = ...,
        matches_only: bool = ...,
        explain: bool = ...,
        probe: str | None = ...,
        user_id: str | None = ...,
    ) -> of_recall.Recalled: ...
    async def recalls(
        self, *, limit: int = ..., before: int | None = ..., since: str | float | None = ...
    ) -> of_recalls.RecallList: ...
    async def session_search(
        self,
        *,
        query: str | None = ...,
        session_id: str | None = ...,
        around_message_id: int | None = ...,
        window: int = ...,
        limit: int = ...,
        role_filter: str | None = ...,
        sort: Literal["relevance", "newest", "oldest"] = ...,
        since: str | float | None = ...,
        until: str | float | None = ...,
        exclude_session_ids: list[str] | None = ...,
        source: str | None = ...,
        current_session_id: str | None = ...,
        summarize: bool = ...,
        project: str | None = ...,
        all_projects: bool = ...,
        user_id: str | None = ...,
    ) -> of_search.ConversationsFound: ...
    async def sessions_search(
        self,
        *,
        query: str,
        kind: Literal["message", "fact", "note", "entry", "template", "table"] = ...,
        source: str | None = ...,
        role: str | None = ...,
        session: list[str] | None = ...,
        exclude: list[str] | None = ...,
        since: str | float | None = ...,
        until: str | float | None = ...,
        sort: Literal["relevance", "newest", "oldest"] = ...,
        limit: int = ...,
        offset: int = ...,
        project: str | None = ...,
        user_id: str | None = ...,
    ) -> of_search.MessagesFound: ...
    async def sessions_read(
        self,
        *,
        session: str | None = ...,
        around: int | None = ...,
        window: int = ...,
        limit: int = ...,
        user_id: str | None = ...,
    ) -> of_search.ConversationsFound: ...
    async def sessions_list(
        self,
        *,
        query: str | None = ...,
        source: str | None = ...,
        archived: bool | None = ...,
        limit: int = ...,
        offset: int = ...,
        project: str | None = ...,
        since: str | float | None = ...,
        until: str | float | None = ...,
        details: bool = ...,
        user_id: str | None = ...,
        parent: str | None = ...,
        metadata: dict[str, Any] | None = ...,
        sort: Literal["started", "updated"] = ...,
    ) -> of_sessions.SessionList: ...
    async def sessions_show(
        self, *, session: str, tail: int | None = ..., since: str | float | None = ...
    ) -> of_sessions.SessionShown: ...
    async def sessions_messages(
        self,
        *,
        session: str,
        at: int | None = ...,
        around: int | None = ...,
        after: int | None = ...,
        before: int | None = ...,
        limit: int = ...,
        user_id: str | None = ...,
    ) -> of_session_pages.MessagesRead: ...
    async def sessions_outline(
        self, *, session: str, user_id: str | None = ...
    ) -> of_session_pages.SessionOutline: ...
    async def sessions_lineage(self, *, session: str) -> of_sessions.Lineage: ...
    async def sessions_create(
        self,
        *,
        session_id: str,
        source: str | None = ...,
        model: str | None = ...,
        system_prompt: str | None = ...,
        user_id: str | None = ...,
        parent_session_id: str | None = ...,
        title: str | None = ...,
        project: str | None = ...,
        branch: str | None = ...,
        model_config: dict[str, Any] | None = ...,
        metadata: dict[str, Any] | None = ...,
        started_at: float | None = ...,
        ensure: bool = ...,
    ) -> of_session_records.Created: ...
    async def sessions_append(
        self,
        *,
        session_id: str,
        role: str | None = ...,
        content: str | None = ...,
        tool_name: str | None = ...,
        tool_call_id: str | None = ...,
        messages: list[dict[str, Any]] | None = ...,
        key: str | None = ...,
        metadata: dict[str, Any] | None = ...,
        if_revision: int | None = ...,
    ) -> of_session_records.Appended: ...
    async def sessions_pop(
        self, *, session: str, if_revision: int | None = ...
    ) -> of_session_records.Popped: ...
    async def sessions_rewrite(
        self,
        *,
        session: str,
        messages: list[dict[str, Any]] | None = ...,
        from_id: int | None = ...,
        metadata: dict[str, Any] | None = ...,
        if_revision: int | None = ...,
    ) -> of_session_records.Rewritten: ...
    async def sessions_end(
        self, *, session: str, if_revision: int | None = ..., reason: str = ...
    ) -> of_base.Done: ...
    async def sessions_reopen(self, *, session: str, if_revision: int | None = ...) -> of_base.Done: ...
    async def sessions_title(
        self, *, session: str, if_revision: int | None = ..., title: str
    ) -> of_base.Done: ...
    async def sessions_update(
        self,
        *,
        session: str,
        if_revision: int | None = ...,
        metadata: dict[str, Any] | None = ...,
        system_prompt: str | None = ...,
        input_tokens: int = ...,
        output_tokens: int = ...,
    ) -> of_base.Done: ...
    async def sessions_archive(self, *, session: str, if_revision: int | None = ...) -> of_base.Done: ...
    async def sessions_unarchive(self, *, session: str, if_revision: int | None = ...) -> of_base.Done: ...
    async def sessions_delete(
        self, *, session: str | None = ..., sessions: list[str] | None = ..., if_revision: int | None = ...
    ) -> of_base.Done: ...
    async def sessions_prune(
        self,
        *,
        older_than_days: float | None = ...,
        before: str | float | None = ...,
        by: Literal["last_message", "start"] = ...,
        source: str | None = ...,
        dry_run: bool = ...,
    ) -> of_sessions.Pruned: ...
    async def sessions_export(
        self,
        *,
        path: str,
        session: list[str] | None = ...,
        source: str | None = ...,
        project: str | None = ...,
        since: str | float | None = ...,
        until: str | float | None = ...,
        format: Literal["jsonl", "markdown"] | None = ...,
    ) -> of_session_files.SessionsExported: ...
    async def sessions_import(
        self, *, path: str | None = ..., text: str | None = ...
    ) -> of_session_files.SessionsImported: ...
    async def remember(
        self,
        *,
        text: str,
        kind: Literal["auto", "fact", "note", "entry"] = ...,
        about: str | None = ...,
        replaces: str | None = ...,
        target: str | None = ...,
        scope: str | None = ...,
        session_id: str | None = ...,
        allow: bool = ...,
        user_id: str | None = ...,
    ) -> of_recall.Remembered: ...
    async def memory_status(
        self, *, rules: bool = ..., session_id: str | None = ..., user_id: str | None = ...
    ) -> of_facts.MemoryStatus: ...
    async def memory_write(
        self,
        *,
        content: str,
        scope: str | None = ...,
        valid_from: str | float | None = ...,
        session_id: str | None = ...,
        allow: bool = ...,
        user_id: str | None = ...,
    ) -> of_facts.FactsWritten: ...
    async def memory_search(
        self,
        *,
        query: str,
        scope: str | None = ...,
        limit: int = ...,
        session_id: str | None = ...,
        user_id: str | None = ...,
    ) -> of_facts.FactsFound: ...
    async def memory_tick(
        self, *, turn: int, message: str = ..., session_id: str | None = ..., user_id: str | None = ...
    ) -> of_facts.TurnBegun: ...
    async def memory_reflect(
        self,
        *,
        topic: str,
        scope: str | None = ...,
        limit: int = ...,
        session_id: str | None = ...,
        user_id: str | None = ...,
    ) -> of_facts.Reflection: ...
    async def memory_history(
        self,
        *,
        target: str,
        as_of: str | float | None = ...,
        scope: str | None = ...,
        limit: int = ...,
        session_id: str | None = ...,
        user_id: str | None = ...,
    ) -> of_facts.History: ...
    async def memory_export(
        self,
        *,
        scope: str | None = ...,
        status: Literal["all", "hot", "active", "cold", "superseded", "retired", "everything"] = ...,
        format: Literal["notation", "json", "markdown"] = ...,
        session_id: str | None = ...,
        user_id: str | None = ...,
    ) -> of_fact_lists.FactsExported: ...
    async def memory_purge(
        self,
        *,
        scope: str | None = ...,
        older_than_days: float | None = ...,
        dry_run: bool = ...,
        session_id: str | None = ...,
    ) -> of_fact_lists.Purged: ...
    async def memory_forget(
        self,
        *,
        id: str | None = ...,
        target: str | None = ...,
        scope: str | None = ...,
        session_id: str | None = ...,
        user_id: str | None = ...,
    ) -> of_fact_lists.FactsForgotten: ...
    async def memory_optimize(
        self, *, threshold_pct: float = ..., dry_run: bool = ..., session_id: str | None = ...
    ) -> of_notebook.NotesOptimized: ...
    async def facts_list(
        self,
        *,
        scope: str | None = ...,
        status: Literal["all", "hot", "active", "cold", "superseded", "retired", "everything"] = ...,
        type: list[str] | None = ...,
        as_of: str | float | None = ...,
        since: str | float | None = ...,
        until: str | float | None = ...,
        said_in: str | None = ...,
        query: str | None = ...,
        limit: int = ...,
        offset: int = ...,
        session_id: str | None = ...,
        user_id: str | None = ...,
    ) -> of_fact_lists.FactList: ...
    async def facts_scopes(self, *, limit: int = ..., offset: int = ...) -> of_fact_lists.ScopeList: ...
    async def facts_conflicts(
        self, *, limit: int = ..., user_id: str | None = ...
    ) -> of_fact_lists.ConflictList: ...
    async def show(self, *, id: str, around: int = ..., user_id: str | None = ...) -> of_lookup.Shown: ...
    async def explain(self, *, ref: str, user_id: str | None = ...) -> of_explanation.Explained: ...
    async def memory(
        self,
        *,
        action: Literal["add", "replace", "remove"] | None = ...,
        content: str | None = ...,
        target: Literal["memory", "user"] = ...,
        old_text: str | None = ...,
        operations: list[dict[str, Any]] | None = ...,
        allow: bool = ...,
    ) -> of_notebook.NotesEdited: ...
    async def notebook_show(self) -> of_notebook.NotesShown: ...
    async def notebook_add(
        self, *, content: str, target: Literal["memory", "user"] = ..., allow: bool = ...
    ) -> of_notebook.NotesEdited: ...
    async def notebook_edit(
        self,
        *,
        target: Literal["memory", "user"],
        text: str | None = ...,
        base: str | None = ...,
        allow: bool = ...,
    ) -> of_notebook.NotesEdited: ...
    async def notebook_versions(
        self, *, target: Literal["memory", "user"] = ..., limit: int = ...
    ) -> of_notebook.NoteVersions: ...
    async def notebook_undo(self) -> of_base.Done: ...
    async def sqlite_query(
        self,
        *,
        query: str,
        params: list[Any] | dict[str, Any] | None = ...,
        rows: list[Any] | None = ...,
        database: str = ...,
        max_rows: int = ...,
        offset: int = ...,
        timeout: float | None = ...,
        read_only: bool = ...,
        plan: bool = ...,
        whole: bool = ...,
        user_id: str | None = ...,
    ) -> of_workspace.QueryAnswer: ...
    async def sqlite_schema(
        self, *, table: str | None = ..., database: str = ..., functions: bool = ...
    ) -> of_workspace.SchemaShown: ...
    async def sqlite_export(
        self,
        *,
        query: str,
        path: str,
        format: Literal["csv", "tsv", "json", "jsonl", "markdown"] | None = ...,
        params: list[Any] | dict[str, Any] | None = ...,
        database: str = ...,
        overwrite: bool = ...,
        user_id: str | None = ...,
    ) -> of_workspace.RowsExported: ...
    async def sqlite_import(
        self,
        *,
        table: str,
        path: str | None = ...,
        text: str | None = ...,
        format: Literal["csv", "tsv", "json", "jsonl"] | None = ...,
        mode: Literal["create", "append", "replace", "upsert"] = ...,
        key: str | None = ...,
        database: str = ...,
    ) -> of_workspace.RowsImported: ...
    async def sqlite_databases(self) -> of_databases.DatabaseList: ...
    async def sqlite_rename(self, *, database: str, to: str) -> of_base.Done: ...
    async def sqlite_copy(self, *, database: str, to: str) -> of_base.Done: ...
    async def sqlite_delete(self, *, database: str, confirm: str) -> of_base.Done: ...
    async def sqlite_compact(self, *, database: str = ...) -> of_databases.Compacted: ...
    async def sqlite_snapshots(self, *, database: str = ...) -> of_databases.SnapshotList: ...
    async def sqlite_restore(
        self, *, database: str = ..., snapshot: str | None = ...
    ) -> of_databases.DatabaseRestored: ...
    async def providers_list(self) -> of_providers.ProvidersListed: ...
    async def providers_status(self) -> of_providers.ProviderShown: ...
    async def providers_setup(self, *, name: str, values: str = ...) -> of_providers.ProviderSetUp: ...
    async def templates_list(
        self, *, type: Literal["code", "file", "research", "mixed"] | None = ..., tags: list[str] | None = ...
    ) -> of_templates.TemplateList: ...
    async def templates_show(self, *, name: str) -> of_templates.TemplateShown: ...
    async def templates_create(
        self,
        *,
        session: str,
        name: str | None = ...,
        type: Literal["code", "file", "research", "mixed"] | None = ...,
        max_examples: int = ...,
        description: str = ...,
        tags: list[str] | None = ...,
        allow: bool = ...,
    ) -> of_templates.TemplateCreated: ...
    async def templates_delete(self, *, name: str) -> of_base.Done: ...
    async def templates_stats(self) -> of_templates.TemplateStats: ...
    async def templates_suggest(
        self,
        *,
        type: Literal["code", "file", "research", "mixed"] | None = ...,
        limit: int = ...,
        sessions: int = ...,
    ) -> of_templates.TemplatesSuggested: ...
    async def templates_experiment(
        self,
        *,
        template: str | None = ...,
        type: Literal["code", "file", "research", "mixed"] | None = ...,
        source: str | None = ...,
        sessions: int = ...,
    ) -> of_templates.TemplatesCompared: ...
    async def connect_found(
        self,
        *,
        client: list[
            Literal["claude-desktop", "cursor", "vscode"]
            | Literal["claude-code", "codex", "gemini", "qwen", "opencode", "hermes"]
        ]
        | None = ...,
        undo: bool = ...,
    ) -> of_found_clients.ClientsFound: ...
    async def connect_claude_code(
        self,
        *,
        undo: bool = ...,
        print: bool = ...,
        diff: bool = ...,
        no_hooks: bool = ...,
        config: str | None = ...,
        plugin: str | None = ...,
    ) -> of_connect.Connected: ...
    async def connect_claude_desktop(
        self, *, undo: bool = ..., print: bool = ..., diff: bool = ..., config: str | None = ...
    ) -> of_connect.Connected: ...
    async def connect_cursor(
        self,
        *,
        undo: bool = ...,
        print: bool = ...,
        diff: bool = ...,
        no_hooks: bool = ...,
        config: str | None = ...,
    ) -> of_connect.Connected: ...
    async def connect_vscode(
        self, *, undo: bool = ..., print: bool = ..., diff: bool = ..., config: str | None = ...
    ) -> of_connect.Connected: ...
    async def connect_codex(
        self,
        *,
        undo: bool = ...,
        print: bool = ...,
        diff: bool = ...,
        no_hooks: bool = ...,
        config: str | None = ...,
    ) -> of_connect.Connected: ...
    async def connect_gemini(
        self,
        *,
        undo: bool = ...,
        print: bool = ...,
        diff: bool = ...,
        no_hooks: bool = ...,
        config: str | None = ...,
    ) -> of_connect.Connected: ...
    async def connect_qwen(
        self,
        *,
        undo: bool = ...,
        print: bool = ...,
        diff: bool = ...,
        no_hooks: bool = ...,
        config: str | None = ...,
    ) -> of_connect.Connected: ...
    async def connect_opencode(
        self,
        *,
        undo: bool = ...,
        print: bool = ...,
        diff: bool = ...,
        no_hooks: bool = ...,
        config: str | None = ...,
    ) -> of_connect.Connected: ...
    async def connect_hermes(
        self, *, undo: bool = ..., print: bool = ..., diff: bool = ..., hermes_home: str | None = ...
    ) -> of_connect.Connected: ...
    async def import_found(
        self,
        *,
        kinds: list[
            Literal["claude-code", "codex", "hermes", "chatgpt", "claude"]
            | Literal[
                "gemini",
                "qwen",
                "opencode",
                "cursor",
                "cline",
                "roo",
                "continue",
                "copilot",
                "goose",
                "zed",
                "aider",
            ]
        ]
        | None = ...,
        all: bool = ...,
        dry_run: bool = ...,
    ) -> of_imports.SourcesFound: ...
    async def import_claude_code(
        self, *, path: str | None = ..., since: str | float | None = ..., dry_run: bool = ...
    ) -> of_imports.Imported: ...
    async def import_codex(
        self, *, path: str | None = ..., since: str | float | None = ..., dry_run: bool = ...
    ) -> of_imports.Imported: ...
    async def import_chatgpt(
        self, *, path: str | None = ..., since: str | float | None = ..., dry_run: bool = ...
    ) -> of_imports.Imported: ...
    async def import_claude(
        self, *, path: str | None = ..., since: str | float | None = ..., dry_run: bool = ...
    ) -> of_imports.Imported: ...
    async def import_hermes(
        self, *, path: str | None = ..., since: str | float | None = ..., dry_run: bool = ...
    ) -> of_imports.Imported: ...
    async def import_agent(
        self,
        *,
        path: str | None = ...,
        since: str | float | None = ...,
        dry_run: bool = ...,
        program: Literal[
            "gemini",
            "qwen",
            "opencode",
            "cursor",
            "cline",
            "roo",
            "continue",
            "copilot",
            "goose",
            "zed",
            "aider",
        ],
    ) -> of_imports.Imported: ...
    async def import_jsonl(
        self, *, path: str | None = ..., since: str | float | None = ..., dry_run: bool = ...
    ) -> of_imports.Imported: ...
    async def import_hermes_memory(self, *, path: str | None = ...) -> of_imports.FactsImported: ...
    async def export(self, *, path: str) -> of_archive.Archived: ...
    async def import_archive(self, *, path: str, allow: bool = ...) -> of_archive.ArchiveImported: ...
    async def verify(self, *, path: str) -> of_archive.ArchiveCompared: ...
    async def sync_with(
        self, *, other: str | None = ..., dry_run: bool = ..., serve: bool = ...
    ) -> of_memory_sync.Synced: ...
    async def sync_answer(self, *, request: str) -> of_memory_sync.SyncAnswer: ...
    async def memory_backend(
        self,
        *,
        action: Literal["store", "retrieve", "query", "list", "delete", "info", "evaluate"],
        user_id: str = ...,
        key: str | None = ...,
        value: str | None = ...,
        query_text: str | None = ...,
        metadata: dict[str, Any] | None = ...,
        allow: bool = ...,
    ) -> of_entries.BackendAnswer: ...
    async def entries_list(
        self,
        *,
        user: str = ...,
        values: bool = ...,
        limit: int | None = ...,
        offset: int = ...,
        namespace: list[str] | None = ...,
    ) -> of_entries.KeyList: ...
    async def entries_users(self, *, limit: int = ...) -> of_entries.EntryUsers: ...
    async def entries_get(self, *, key: str, user: str = ...) -> of_entries.EntryShown: ...
    async def entries_set(
        self,
        *,
        key: str,
        value: str,
        user: str = ...,
        metadata: dict[str, Any] | None = ...,
        allow: bool = ...,
    ) -> of_base.Done: ...
    async def entries_query(
        self, *, query: str, user: str = ..., limit: int = ...
    ) -> of_entries.EntriesFound: ...
    async def entries_delete(
        self, *, key: str, user: str = ..., namespace: list[str] | None = ...
    ) -> of_base.Done: ...
    async def entries_find(
        self,
        *,
        query: str = ...,
        namespace: list[str] | None = ...,
        filter: dict[str, Any] | None = ...,
        limit: int = ...,
        offset: int = ...,
        key: str | None = ...,
        exact: bool = ...,
    ) -> of_namespaces.FoundEntries: ...
    async def entries_put(
        self,
        *,
        key: str,
        namespace: list[str],
        value: dict[str, Any] | list[Any] | str | int | float | bool | None,
        fields: list[str] | None = ...,
        expires_at: float | None = ...,
        metadata: dict[str, Any] | None = ...,
        allow: bool = ...,
    ) -> of_base.Done: ...
    async def entries_expire(
        self, *, key: str, namespace: list[str], expires_at: float | None = ...
    ) -> of_base.Done: ...
    async def entries_namespaces(
        self,
        *,
        prefix: list[str] | None = ...,
        suffix: list[str] | None = ...,
        max_depth: int | None = ...,
        limit: int = ...,
        offset: int = ...,
    ) -> of_namespaces.NamespaceList: ...
    async def entries_info(self) -> of_entries.BackendShown: ...
    async def evaluate(self, *, html: str | None = ..., quick: bool = ...) -> of_evaluation.Evaluated: ...
    async def overview(self, *, since: str | float | None = ...) -> of_overview.Overview: ...
    async def spaces_list(self) -> of_overview.SpaceList: ...
    async def stats(self) -> of_upkeep.Stats: ...
    async def optimize(self, *, seconds: float | None = ..., deep: bool = ...) -> of_base.Done: ...
    async def doctor(self, *, repair: bool = ...) -> of_upkeep.Examined: ...
    async def backup(self, *, path: str) -> of_archive.BackedUp: ...
    async def restore(self, *, path: str) -> of_archive.Restored: ...
    async def log(
        self,
        *,
        entry: int | None = ...,
        limit: int = ...,
        before: int | None = ...,
        since: str | float | None = ...,
        full: bool = ...,
    ) -> of_upkeep.Log: ...
    async def undo(self, *, entry: int | None = ...) -> of_base.Done: ...
    async def forget(
        self, *, ref: str | None = ..., refs: list[str] | None = ..., user_id: str | None = ...
    ) -> of_forget.Forgotten: ...
