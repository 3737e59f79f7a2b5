"""Made by scripts/make_async_stub.py from the signatures of Memory and its parts. Don't edit."""

import builtins
import os
from collections.abc import AsyncGenerator, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from io import BufferedReader
from pathlib import Path
from typing import IO, Any, Literal, Self

from mnemos.entries.backend import MemoryEntry, NewEntry
from mnemos.entries.entry_namespaces import Namespace
from mnemos.facts.fact import Conflict, Fact, FactList, Scope, Status, Ticked, Withdrawn, Written
from mnemos.facts.fact_reader import State, Tier
from mnemos.facts.hermes_facts import Report
from mnemos.inputs import Moment
from mnemos.language.notation import Statement
from mnemos.memory.call_lanes import Lanes
from mnemos.memory.erasure import Forgotten
from mnemos.memory.memory import Memory, ToolFormat
from mnemos.memory.optimize import Relieved
from mnemos.notebook.notes import Book, Use, Version
from mnemos.progress import Progress as MemoryProgress
from mnemos.recall.answer import Kind, Recall
from mnemos.sessions.chat_format import Conversation, Format
from mnemos.sessions.lookups import Clock
from mnemos.sessions.session_types import (
    ExportedSession,
    ImportedSessions,
    Message,
    MessageHit,
    MessagePage,
    MetadataChange,
    Outline,
    Role,
    Session,
    Sort,
)
from mnemos.setting_values import Stater
from mnemos.settings import Settings
from mnemos.storage.audit import AuditRow
from mnemos.storage.base import Check
from mnemos.storage.imports import HermesFact
from mnemos.storage.passages import Coverage, Passage
from mnemos.templates import session_survey
from mnemos.templates.template import SessionTemplate, TaskName, TaskType, ToolCallExample
from mnemos.templates.template_store import Problem
from mnemos.transfer.archive.archive_import import ArchiveReport, Comparison
from mnemos.transfer.archive.manifest import Exported as MemoryExported
from mnemos.transfer.imports import Progress
from mnemos.transfer.reader import ImportReport, Reader, Stop
from mnemos.workspace.answers import Answer, Card, DatabaseInfo, Exported, Imported, Snapshot, TableNames
from mnemos.workspace.functions.function import Function
from mnemos.workspace.usage import Use as WorkspaceUse

METHODS: dict[str, dict[str, str]]
ITERATORS: set[str]

class AsyncSessions:
    async def append_message(
        self,
        session_id: str,
        role: Role,
        content: Any = ...,
        tool_name: str | None = ...,
        tool_calls: Any = ...,
        tool_call_id: str | None = ...,
        token_count: int | None = ...,
        *,
        timestamp: float | None = ...,
        metadata: Any = ...,
        origin: str | None = ...,
        key: str | None = ...,
        if_revision: int | None = ...,
    ) -> int: ...
    async def append_messages(
        self,
        session_id: str,
        messages: Sequence[Any],
        *,
        metadata: MetadataChange | None = ...,
        if_revision: int | None = ...,
    ) -> list[int]: ...
    async def archive(self, session_id: str, *, if_revision: int | None = ...) -> None: ...
    async def children(self, session_id: str) -> list[Session]: ...
    async def conversation(self, session_id: str, *, format: Format = ...) -> Conversation: ...
    async def create_session(
        self,
        session_id: str,
        source: str | None = ...,
        model: str | None = ...,
        model_config: Any = ...,
        system_prompt: str | None = ...,
        user_id: str | None = ...,
        parent_session_id: str | None = ...,
        *,
        title: str | None = ...,
        started_at: float | None = ...,
        metadata: Any = ...,
        private: bool = ...,
        project: str | None = ...,
        branch: str | None = ...,
    ) -> str: ...
    async def delete_session(self, session_id: str, *, if_revision: int | None = ...) -> bool: ...
    async def end_session(
        self, session_id: str, end_reason: str, *, if_revision: int | None = ...
    ) -> None: ...
    async def ensure_session(
        self,
        session_id: str,
        source: str | None = ...,
        model: str | None = ...,
        model_config: Any = ...,
        system_prompt: str | None = ...,
        user_id: str | None = ...,
        parent_session_id: str | None = ...,
        *,
        title: str | None = ...,
        started_at: float | None = ...,
        metadata: Any = ...,
        private: bool = ...,
        project: str | None = ...,
        branch: str | None = ...,
    ) -> str: ...
    def export_all(
        self,
        source: str | None = ...,
        project: str | None = ...,
        *,
        since: Moment | None = ...,
        until: Moment | None = ...,
    ) -> AsyncGenerator[ExportedSession]: ...
    async def export_jsonl(
        self, stream: IO[str], source: str | None = ..., project: str | None = ...
    ) -> int: ...
    async def export_session(self, session_id: str) -> ExportedSession: ...
    async def find_title(self, session_id: str) -> str | None: ...
    async def forget_message(self, message_id: int) -> None: ...
    async def forget_session(self, session_id: str) -> None: ...
    async def get_lineage(self, session_id: str) -> list[str]: ...
    async def get_messages(
        self, session_id: str, *, last: int | None = ..., since: Moment | None = ...
    ) -> list[Message]: ...
    async def get_messages_around(
        self, message_id: int, before: int = ..., after: int = ...
    ) -> list[Message]: ...
    async def get_messages_as_conversation(self, session_id: str, format: Format = ...) -> Conversation: ...
    async def get_outline(self, session_id: str) -> Outline: ...
    async def get_page(
        self,
        session_id: str,
        *,
        at: int | None = ...,
        around: int | None = ...,
        after: int | None = ...,
        before: int | None = ...,
        limit: int = ...,
    ) -> MessagePage: ...
    async def get_session(self, session_id: str) -> Session | None: ...
    async def get_tip(self, session_id: str) -> str: ...
    async def import_jsonl(
        self, stream: Iterable[str] | BufferedReader, *, progress: Callable[[float], None] | None = ...
    ) -> ImportedSessions: ...
    async def import_sessions(
        self, sessions: Iterable[Mapping[str, Any]], *, progress: Callable[[float], None] | None = ...
    ) -> ImportedSessions: ...
    async def message_count(self, session_id: str | None = ...) -> int: ...
    async def optimize(self, seconds: float | None = ..., *, deep: bool = ...) -> None: ...
    async def pop_message(self, session_id: str, *, if_revision: int | None = ...) -> Message | None: ...
    async def prune_sessions(
        self,
        older_than_days: float = ...,
        source: str | None = ...,
        *,
        dry_run: bool = ...,
        by: Literal["last_message", "start"] = ...,
    ) -> int: ...
    async def reopen_session(self, session_id: str, *, if_revision: int | None = ...) -> None: ...
    async def resolve_projects(self, project: str) -> list[str]: ...
    async def resolve_session(self, id_prefix_or_title: str, *, user_id: str | None = ...) -> str: ...
    async def rewrite(
        self,
        session_id: str,
        messages: Sequence[Any],
        *,
        from_id: int | None = ...,
        metadata: MetadataChange | None = ...,
        if_revision: int | None = ...,
    ) -> list[int]: ...
    async def search_messages(
        self,
        query: str,
        source_filter: str | Sequence[str] | None = ...,
        role_filter: str | Sequence[str] | None = ...,
        limit: int = ...,
        offset: int = ...,
        *,
        session_ids: Sequence[str] | None = ...,
        exclude_session_ids: Sequence[str] | None = ...,
        since: Moment | None = ...,
        until: Moment | None = ...,
        sort: Sort = ...,
        project: str | None = ...,
        user_id: str | None = ...,
    ) -> list[MessageHit]: ...
    async def search_sessions(
        self,
        source: str | None = ...,
        limit: int = ...,
        offset: int = ...,
        *,
        archived: bool | None = ...,
        project: str | None = ...,
        user_id: str | None = ...,
        since: Moment | None = ...,
        until: Moment | None = ...,
        parent: str | None = ...,
        metadata: Mapping[str, Any] | None = ...,
        sort: Literal["started", "updated"] = ...,
        query: str | None = ...,
    ) -> list[Session]: ...
    async def session_count(
        self,
        source: str | None = ...,
        *,
        archived: bool | None = ...,
        project: str | None = ...,
        user_id: str | None = ...,
        since: Moment | None = ...,
        until: Moment | None = ...,
        parent: str | None = ...,
        metadata: Mapping[str, Any] | None = ...,
        query: str | None = ...,
    ) -> int: ...
    async def session_search(
        self,
        query: str | None = ...,
        session_id: str | None = ...,
        around_message_id: int | None = ...,
        window: int = ...,
        limit: int = ...,
        role_filter: str | Sequence[str] | None = ...,
        sort: Sort = ...,
        since: Moment | None = ...,
        until: Moment | None = ...,
        exclude_session_ids: Sequence[str] | None = ...,
        source: str | None = ...,
        *,
        current_session_id: str | None = ...,
        summarize: bool = ...,
        budget: int = ...,
        project: str | None = ...,
        all_projects: bool = ...,
        user_id: str | None = ...,
    ) -> dict[str, Any]: ...
    async def set_title(
        self, session_id: str, title: str | None, *, if_revision: int | None = ...
    ) -> None: ...
    async def shorten_ids(self, session_ids: Iterable[str]) -> dict[str, str]: ...
    async def stats(self) -> dict[str, Any]: ...
    async def unarchive(self, session_id: str, *, if_revision: int | None = ...) -> None: ...
    async def update_metadata(
        self, session_id: str, metadata: MetadataChange, *, if_revision: int | None = ...
    ) -> None: ...
    async def update_system_prompt(
        self, session_id: str, system_prompt: str | None, *, if_revision: int | None = ...
    ) -> None: ...
    async def update_token_counts(
        self,
        session_id: str,
        input_tokens: int = ...,
        output_tokens: int = ...,
        *,
        if_revision: int | None = ...,
    ) -> None: ...
    async def write_jsonl(self, sessions: Iterable[Mapping[str, Any]], stream: IO[str]) -> int: ...

class AsyncFacts:
    async def conflicts(self, limit: int = ..., *, user_id: str | None = ...) -> Sequence[Conflict]: ...
    async def count(self) -> int: ...
    async def flush(self) -> None: ...
    async def forget(
        self,
        fact_id: str | None = ...,
        *,
        target: str | None = ...,
        scope: str | None = ...,
        user_id: str | None = ...,
    ) -> int: ...
    async def forget_taken(
        self, session_id: str, message_ids: Collection[int], text: str | None = ...
    ) -> tuple[builtins.list[str], builtins.list[str]]: ...
    async def get(self, fact_id: str) -> Fact: ...
    async def history(
        self,
        target: str,
        *,
        scope: str | None = ...,
        as_of: Moment | None = ...,
        limit: int | None = ...,
        user_id: str | None = ...,
    ) -> FactList: ...
    async def import_hermes(
        self, facts: Sequence[HermesFact], progress: Callable[[float], None] | None = ...
    ) -> Report: ...
    def iterate(
        self,
        *,
        scope: str | None = ...,
        tier: Tier = ...,
        states: Sequence[State] = ...,
        types: Sequence[str] | None = ...,
        as_of: Moment | None = ...,
        user_id: str | None = ...,
    ) -> AsyncGenerator[Fact]: ...
    async def list(
        self,
        *,
        scope: str | None = ...,
        tier: Tier = ...,
        states: Sequence[State] = ...,
        types: Sequence[str] | None = ...,
        as_of: Moment | None = ...,
        user_id: str | None = ...,
    ) -> FactList: ...
    async def live(self, target: str, type: str) -> FactList: ...
    async def purge(
        self, *, scope: str | None = ..., older_than_days: float | None = ..., dry_run: bool = ...
    ) -> int: ...
    async def reflect(
        self,
        topic: str,
        *,
        scope: str | None = ...,
        limit: int = ...,
        session_id: str | None = ...,
        user_id: str | None = ...,
    ) -> FactList: ...
    async def remember(
        self,
        text: str,
        *,
        about: str | None = ...,
        target: str | None = ...,
        replaces: str | Sequence[str] | None = ...,
        scope: str | None = ...,
        session_id: str | None = ...,
        message_id: int | None = ...,
        user_id: str | None = ...,
        stated_by: Stater | None = ...,
        allow: bool = ...,
    ) -> Written: ...
    async def repair_index(self) -> int: ...
    async def says(self, content: str) -> bool: ...
    async def scopes(self, *, limit: int = ..., offset: int = ...) -> Sequence[Scope]: ...
    async def search(
        self,
        query: str,
        *,
        scope: str | None = ...,
        limit: int = ...,
        session_id: str | None = ...,
        user_id: str | None = ...,
    ) -> FactList: ...
    async def state(
        self,
        stated: Sequence[Statement],
        *,
        scope: str | None = ...,
        session_id: str | None = ...,
        message_id: int | None = ...,
        valid_from: Moment | None = ...,
        replaces: str | Sequence[str] | None = ...,
        user_id: str | None = ...,
        stated_by: Stater | None = ...,
        guessed: bool = ...,
        undated: bool = ...,
        unscoped: bool = ...,
        allow: bool = ...,
        original: str = ...,
    ) -> Written: ...
    async def status(
        self, *, session_id: str | None = ..., notes: Sequence[str] = ..., user_id: str | None = ...
    ) -> Status: ...
    async def tick(
        self, turn: int, message: str = ..., *, session_id: str | None = ..., user_id: str | None = ...
    ) -> Ticked: ...
    async def withdraw(self, ids: str | Sequence[str], *, user_id: str | None = ...) -> Withdrawn: ...
    async def write(
        self,
        content: str,
        *,
        scope: str | None = ...,
        session_id: str | None = ...,
        message_id: int | None = ...,
        valid_from: Moment | None = ...,
        user_id: str | None = ...,
        stated_by: Stater | None = ...,
        allow: bool = ...,
    ) -> Written: ...

class AsyncNotebook:
    async def add(self, content: str, *, target: str = ..., allow: bool = ...) -> Use: ...
    async def begin_turn(self) -> None: ...
    async def block(self) -> str: ...
    async def change(
        self, operations: Sequence[dict[str, Any]], *, target: str = ..., allow: bool = ...
    ) -> Use: ...
    async def copies(self) -> list[str]: ...
    async def entries(self, target: str = ...) -> list[str]: ...
    async def exchange(self, target: str, entries: Sequence[str], shorter: Sequence[str]) -> Use: ...
    async def forget(self, ref: str) -> None: ...
    async def limit(self, target: str) -> int: ...
    async def log_manual_edits(self) -> None: ...
    async def passages(self, book: Book) -> list[Passage]: ...
    async def refresh(self, session_id: str = ...) -> None: ...
    async def remove(self, old_text: str, *, target: str = ...) -> Use: ...
    async def removed(self, target: str = ...) -> dict[str, float]: ...
    async def render(self, entries: Sequence[str]) -> list[str]: ...
    async def replace(self, old_text: str, content: str, *, target: str = ..., allow: bool = ...) -> Use: ...
    async def shrink(self, target: str, entry: str, shorter: str | None) -> Use: ...
    async def signature(self, book: Book) -> object: ...
    async def snapshot(self, session_id: str = ...) -> str: ...
    async def sync(self) -> None: ...
    async def undo(self, entry: AuditRow) -> str: ...
    async def use(self, target: str = ...) -> Use: ...
    async def versions(self, target: str = ..., limit: int = ...) -> list[Version]: ...
    async def write(self, target: str, text: str, *, allow: bool = ..., base: str | None = ...) -> Use: ...

class AsyncTemplates:
    async def classify_task_type(self, tool_calls: Iterable[Any]) -> TaskType: ...
    async def create_template(
        self,
        session_id: str,
        name: str | None = ...,
        task_type: TaskName | None = ...,
        max_examples: int = ...,
        description: str = ...,
        tags: Sequence[str] | None = ...,
        *,
        allow: bool = ...,
    ) -> SessionTemplate | None: ...
    async def delete_template(self, name: str) -> bool: ...
    async def experiment(
        self,
        template: str | None = ...,
        *,
        task_type: TaskName | None = ...,
        source: str | None = ...,
        sessions: int = ...,
    ) -> session_survey.Experiment: ...
    async def extract_from_session(
        self, session_id: str, max_examples: int = ...
    ) -> list[ToolCallExample]: ...
    async def find_by_sessions(self, session_ids: Sequence[str]) -> list[str]: ...
    async def get_template(
        self, task_type: TaskName, tags: Sequence[str] | None = ...
    ) -> SessionTemplate | None: ...
    async def get_template_stats(self) -> dict[str, Any]: ...
    async def inject_into_messages(
        self,
        template: SessionTemplate,
        messages: Sequence[Mapping[str, Any]],
        *,
        budget: int | None = ...,
        format: Format = ...,
    ) -> list[Any]: ...
    async def list_templates(
        self, task_type: TaskName | None = ..., tags: Sequence[str] | None = ...
    ) -> list[SessionTemplate]: ...
    async def problems(self) -> list[Problem]: ...
    async def read_all(self) -> list[SessionTemplate]: ...
    async def save(self, template: SessionTemplate, *, allow: bool = ..., at: float | None = ...) -> None: ...
    async def show(self, name: str) -> SessionTemplate: ...
    async def signature(self) -> object: ...
    async def suggest(
        self, limit: int = ..., *, task_type: TaskName | None = ..., sessions: int = ...
    ) -> session_survey.Suggestions: ...

class AsyncEmbedding:
    async def catch_up(
        self, seconds: float | None = ..., progress: Callable[[float], None] | None = ...
    ) -> None: ...
    async def coverage(self) -> Coverage: ...
    async def peek(self) -> Coverage | None: ...

class AsyncWorkspace:
    async def adopt(self, path: Path, database: str, snapshots: Mapping[str, Path]) -> None: ...
    async def check(self, database: str) -> list[str]: ...
    async def compact(self, database: str = ..., *, timeout: float | None = ...) -> tuple[int, int]: ...
    async def copy(self, database: str, to: str) -> None: ...
    async def databases(self) -> list[DatabaseInfo]: ...
    async def delete(self, database: str, *, confirm: str) -> None: ...
    async def examine(self, path: Path) -> list[str]: ...
    async def export(
        self,
        query: str,
        path: str | os.PathLike[str],
        format: str | None = ...,
        *,
        params: Sequence[Any] | Mapping[str, Any] | None = ...,
        database: str = ...,
        overwrite: bool = ...,
        timeout: float | None = ...,
        user_id: str | None = ...,
    ) -> Exported: ...
    async def exports(self) -> list[Path]: ...
    async def functions(self) -> Sequence[Function]: ...
    async def has(self, database: str = ...) -> bool: ...
    async def import_file(
        self,
        path: str | os.PathLike[str] | None = ...,
        table: str = ...,
        *,
        text: str | None = ...,
        format: str | None = ...,
        mode: str = ...,
        key: str | Sequence[str] | None = ...,
        header: bool | None = ...,
        database: str = ...,
        timeout: float | None = ...,
        progress: Callable[[float], None] | None = ...,
    ) -> Imported: ...
    async def query(
        self,
        query: str,
        params: Sequence[Any] | Mapping[str, Any] | None = ...,
        *,
        rows: Sequence[Any] | None = ...,
        database: str = ...,
        max_rows: int = ...,
        offset: int = ...,
        timeout: float | None = ...,
        read_only: bool = ...,
        max_bytes: int | None = ...,
        max_cell: int | None = ...,
        user_id: str | None = ...,
    ) -> Answer: ...
    async def rename(self, database: str, to: str) -> None: ...
    async def restore(
        self, database: str = ..., snapshot: str | None = ..., *, timeout: float | None = ...
    ) -> str: ...
    async def save(self, database: str, path: Path, *, snapshot: str | None = ...) -> None: ...
    async def schema(
        self,
        database: str = ...,
        *,
        table: str | None = ...,
        tokens: int | None = ...,
        timeout: float | None = ...,
    ) -> Card: ...
    async def snapshots(self, database: str = ...) -> list[Snapshot]: ...
    async def tables(self, database: str = ...) -> list[TableNames]: ...
    async def usage(self) -> list[WorkspaceUse]: ...

class AsyncEntries:
    async def count(self) -> int: ...
    async def delete(self, user_id: Namespace, key: str) -> bool: ...
    async def find(
        self,
        prefix: Namespace = ...,
        *,
        query: str | None = ...,
        filter: Mapping[str, Any] | None = ...,
        limit: int = ...,
        offset: int = ...,
    ) -> list[MemoryEntry]: ...
    async def forget(self, ref: str) -> None: ...
    async def is_available(self) -> bool: ...
    async def list_keys(self, user_id: Namespace) -> list[str]: ...
    async def namespaces(
        self,
        *,
        prefix: Namespace | None = ...,
        suffix: Namespace | None = ...,
        max_depth: int | None = ...,
        limit: int = ...,
        offset: int = ...,
    ) -> list[tuple[str, ...]]: ...
    async def put(
        self,
        namespace: Namespace,
        key: str,
        value: Any,
        *,
        metadata: Mapping[str, Any] | None = ...,
        fields: Sequence[str] | None = ...,
        expires_at: float | None = ...,
        allow: bool = ...,
    ) -> None: ...
    async def query(self, user_id: Namespace, query_text: str, limit: int = ...) -> list[MemoryEntry]: ...
    async def retrieve(self, user_id: Namespace, key: str) -> MemoryEntry | None: ...
    async def set_expiry(self, namespace: Namespace, key: str, expires_at: float | None) -> bool: ...
    async def settle(self, seconds: float | None = ..., *, user: str | None = ...) -> bool: ...
    async def step(self, user: str | None = ...) -> bool: ...
    async def store(
        self,
        user_id: Namespace,
        key: str,
        value: str,
        metadata: Mapping[str, Any] | None = ...,
        *,
        allow: bool = ...,
    ) -> bool: ...
    async def users(self, limit: int = ...) -> list[str]: ...
    async def write(
        self,
        namespace: Namespace,
        put: Sequence[NewEntry] = ...,
        *,
        delete: Sequence[str] = ...,
        if_revisions: Mapping[str, str | None] | None = ...,
        allow: bool = ...,
    ) -> None: ...

class AsyncBackend:
    async def delete(self, user_id: str, key: str) -> bool: ...
    async def is_available(self) -> bool: ...
    async def list_keys(self, user_id: str) -> list[str]: ...
    async def query(self, user_id: str, query_text: str, limit: int = ...) -> list[MemoryEntry]: ...
    async def retrieve(self, user_id: str, key: str) -> MemoryEntry | None: ...
    async def store(
        self, user_id: str, key: str, value: str, metadata: Mapping[str, Any] | None = ...
    ) -> bool: ...

class AsyncImports:
    async def import_files(
        self,
        reader: Reader,
        path: Path,
        *,
        since: Moment | None = ...,
        dry_run: bool = ...,
        progress: Progress | None = ...,
        stop: Stop | None = ...,
        indexes: bool = ...,
        undoable: bool = ...,
    ) -> ImportReport: ...

class AsyncMemory:
    sync: Memory
    settings: Settings
    database: Path
    sessions: AsyncSessions
    facts: AsyncFacts
    notebook: AsyncNotebook
    templates: AsyncTemplates
    embedding: AsyncEmbedding
    workspace: AsyncWorkspace
    entries: AsyncEntries
    backend: AsyncBackend
    imports: AsyncImports
    def __init__(self, memory: Memory, lanes: Lanes | None = ...) -> None: ...
    async def __aenter__(self) -> Self: ...
    async def __aexit__(self, *_: object) -> None: ...
    async def backup(self, target: str | os.PathLike[str], progress: MemoryProgress | None = ...) -> Path: ...
    async def backups(self) -> list[str]: ...
    async def call(
        self, name: str, args: dict[str, Any] | None = ..., *, user_id: str | None = ...
    ) -> dict[str, Any]: ...
    async def close(self) -> None: ...
    async def compare_archive(
        self, path: str | os.PathLike[str], progress: MemoryProgress | None = ...
    ) -> Comparison: ...
    def doctor(self, *, repair: bool = ...) -> AsyncGenerator[Check]: ...
    async def evaluate(
        self, *, progress: MemoryProgress | None = ..., workload: bool = ...
    ) -> dict[str, Any]: ...
    async def export(
        self, path: str | os.PathLike[str], progress: MemoryProgress | None = ...
    ) -> MemoryExported: ...
    async def forget(self, ref: str | Sequence[str], *, user_id: str | None = ...) -> Forgotten: ...
    async def import_archive(
        self, path: str | os.PathLike[str], progress: MemoryProgress | None = ..., *, allow: bool = ...
    ) -> ArchiveReport: ...
    async def import_hermes_memory(
        self, path: str | os.PathLike[str] | None = ..., progress: MemoryProgress | None = ...
    ) -> Report: ...
    async def log(
        self, limit: int = ..., *, before: int | None = ..., since: Moment | None = ...
    ) -> list[AuditRow]: ...
    async def optimize_notebook(self, *, threshold: float = ..., dry_run: bool = ...) -> Relieved: ...
    async def recall(
        self,
        query: str,
        *,
        limit: int = ...,
        budget: int | None = ...,
        kinds: Sequence[Kind] | None = ...,
        since: Moment | None = ...,
        until: Moment | None = ...,
        source: str | Sequence[str] | None = ...,
        session_ids: Sequence[str] | None = ...,
        exclude_session_ids: Sequence[str] | None = ...,
        now: Moment | None = ...,
        words_only: bool = ...,
        depth: Literal["normal", "deep"] | None = ...,
        user_id: str | None = ...,
        project: str | None = ...,
        all_projects: bool = ...,
        as_of: Moment | None = ...,
        matches_only: bool = ...,
        explain: bool = ...,
        probe: str | None = ...,
    ) -> Recall: ...
    async def remember(
        self,
        text: str,
        *,
        about: str | None = ...,
        replaces: str | Sequence[str] | None = ...,
        scope: str | None = ...,
        session_id: str | None = ...,
        user_id: str | None = ...,
        allow: bool = ...,
    ) -> Written: ...
    async def restore(self, backup: str | os.PathLike[str]) -> Path | None: ...
    async def search(
        self,
        query: str,
        *,
        limit: int = ...,
        source: str | Sequence[str] | None = ...,
        role: str | Sequence[str] | None = ...,
        since: Moment | None = ...,
        until: Moment | None = ...,
        sort: Sort = ...,
        project: str | None = ...,
        user_id: str | None = ...,
    ) -> list[MessageHit]: ...
    async def tables_block(self) -> str: ...
    async def tools(self, format: ToolFormat = ..., tools: str = ...) -> list[dict[str, Any]]: ...
    async def undo(self, entry_id: int | None = ...) -> str: ...
    async def undo_notes(self) -> str: ...

def aopen(
    home_or_url: str | os.PathLike[str] | None = ...,
    *,
    space: str | None = ...,
    read_only: bool = ...,
    clock: Clock = ...,
    token: str | None = ...,
    **flags: Any,
) -> AbstractAsyncContextManager[AsyncMemory]: ...
