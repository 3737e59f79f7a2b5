"""The memory: one home in one space, and its parts."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from mnemos.entries.backend import check_user
from mnemos.errors import InvalidInput, MnemosError
from mnemos.facts.fact import KIND
from mnemos.facts.fact_inputs import make_own_session
from mnemos.facts.facts import Facts
from mnemos.inputs import SERVERS, Moment, check_place, find_scheme, in_range, moment, names, whole
from mnemos.language.moments import read_moment
from mnemos.memory.changes import Changes
from mnemos.memory.fact_choice import choose_facts
from mnemos.memory.feeds import Feeds
from mnemos.memory.home import IN_MEMORY, TEMPLATES, Home, Resource, folder_of, part, path_of
from mnemos.notebook.note_files import Shelf
from mnemos.notebook.notebook import Notebook
from mnemos.progress import Progress, no_progress
from mnemos.recall.answer import HITS, MOST_HITS, TOKENS
from mnemos.sessions.lookups import Clock
from mnemos.sessions.message_search import make_filters
from mnemos.sessions.sessions import Sessions
from mnemos.setting_values import check_depth
from mnemos.settings import Settings
from mnemos.storage import hermes_memory
from mnemos.storage.audit import AuditRow
from mnemos.storage.base import Check, Filters, Results, Storage
from mnemos.storage.entries import USUAL_USER

if TYPE_CHECKING:
    from mnemos.entries.backend import MemoryBackend
    from mnemos.entries.entry_store import Entries, Meaning
    from mnemos.facts.fact import Written
    from mnemos.facts.hermes_facts import Report
    from mnemos.memory.erasure import Forgotten
    from mnemos.memory.optimize import Relieved
    from mnemos.recall.answer import Kind, Recall
    from mnemos.recall.embedders import Embedder
    from mnemos.recall.embedding import Embedding
    from mnemos.recall.recaller import Recaller
    from mnemos.sessions.session_types import MessageHit, Sort
    from mnemos.templates.template_store import Templates
    from mnemos.transfer.archive.archive_import import ArchiveReport, Comparison
    from mnemos.transfer.archive.manifest import Exported
    from mnemos.transfer.imports import Imports
    from mnemos.workspace.workspace import Workspace

ToolFormat = Literal["openai", "anthropic", "mcp"]
SHOWN = (
    *("recall", "remember", "search", "forget", "tools", "call", "log", "undo", "close", "settings"),
    *("sessions", "facts", "notebook", "entries", "templates", "workspace", "imports", "database"),
    *("backup", "backups", "restore", "export", "import_archive", "compare_archive", "doctor"),
)
# The maximum number of seconds that closing spends on indexing entries.
_CLOSE_SECONDS = 2.0


class Memory(Resource):
    """A memory: one home, one space. A context manager. Its parts are created on first use."""

    def __init__(
        self,
        settings: Settings,
        *,
        read_only: bool = False,
        clock: Clock = time.time,
        database: Path | None = None,
        in_memory: bool = False,
        background: bool = True,
    ) -> None:
        """``database`` is a file outside the home. ``background``: make vectors while idle."""
        self.settings = settings
        self.clock = clock
        self._making = threading.RLock()
        self._background = background
        self.called_tools: set[str] = set()
        self.home = Home(
            settings,
            read_only=read_only,
            clock=clock,
            database=database,
            in_memory=in_memory,
            on_open=self._start_background,
        )

    @classmethod
    def at(
        cls,
        home_or_url: str | os.PathLike[str] | None = None,
        *,
        space: str | None = None,
        read_only: bool = False,
        clock: Clock = time.time,
        **flags: Any,
    ) -> Self:
        """Open a memory like ``open``, but don't touch the disk until a part is used."""
        where = None if home_or_url is None else check_place(home_or_url)
        if find_scheme(where) in SERVERS:
            where, flags = None, flags | {"database": where}
        settings = Settings.load(None if where == IN_MEMORY else where, space=space, **flags)
        return cls(settings, read_only=read_only, clock=clock, in_memory=where == IN_MEMORY)

    def __dir__(self) -> list[str]:
        return sorted(SHOWN)

    def __repr__(self) -> str:
        return f"<mnemos.Memory {self.home.location} space={self.settings.space!r}>"

    @property
    def storage(self) -> Storage:
        return self.home.storage

    @property
    def database(self) -> Path:
        return self.home.database

    @property
    def is_in_memory(self) -> bool:
        return self.home.in_memory

    @property
    def folder(self) -> Path:
        """A folder for temporary files of this memory."""
        return self.home.folder

    @property
    def templates_folder(self) -> Path:
        return folder_of(self.settings) / TEMPLATES

    # --- parts --------------------------------------------------------------------------

    @part
    def sessions(self) -> Sessions:
        return Sessions(self.storage, self.settings, self.clock, self._rank_messages, self.called_tools)

    @part
    def facts(self) -> Facts:
        # If the host names no session, this object counts as one.
        return choose_facts(self.settings)(
            self.storage, self.settings, self.clock, self._rank_facts, make_own_session()
        )

    @part
    def notebook(self) -> Notebook:
        return Notebook(self.shelf, self.storage, self.settings, self.clock)

    @part
    def shelf(self) -> Shelf:
        """The files of the notebook."""
        return self.home.make_shelf()

    @part
    def entries(self) -> Entries:
        """The entries in this database, even if the settings select another backend."""
        from mnemos.entries.entry_store import Entries

        return Entries(self.storage, self.settings, self.clock, self._meaning)

    @part
    def backend(self) -> MemoryBackend:
        """The backend for entries about users that the settings select."""
        from mnemos.entries.backend_choice import make_backend

        return make_backend(self.settings, lambda: self.entries)

    @part
    def templates(self) -> Templates:
        """Templates: tool calls that worked, stored in files."""
        # A program that only stores messages should not wait for this import.
        from mnemos.memory.session_templates import make_templates

        return make_templates(self)

    @part
    def workspace(self) -> Workspace:
        """The agent's SQL databases, in a sandbox that starts with the first call."""
        # A program that only uses memory should not wait for this import.
        from mnemos.workspace.bridge import open_workspace

        return open_workspace(
            self.settings,
            self.folder,
            history=self.home.find_history(),
            read_only=self.home.read_only,
            schema_changed=self._tables_changed,
            clock=self.clock,
        )

    @part
    def imports(self) -> Imports:
        """Imports of other programs' conversations."""
        from mnemos.transfer.imports import Imports

        return Imports(self.storage, self.settings, self.clock)

    @part
    def embedding(self) -> Embedding:
        """The vectors of this home, made in the background or by ``embedding.catch_up()``."""
        from mnemos.recall.embedding import Embedding

        wanted, may_write = self.settings.embedder, not self.settings.disabled
        return Embedding(self.storage, wanted, self._embedder, may_write=may_write)

    @part
    def recaller(self) -> Recaller:
        from mnemos.recall.recaller import Recaller  # imports numpy and more, which only questions need

        return Recaller(self.storage, self.embedding, self.clock, self.feeds.sources())

    @part
    def feeds(self) -> Feeds:
        """The sources of recall besides the database."""
        return Feeds(self)

    @part
    def changes(self) -> Changes:
        """The log of changes, with undo and forget."""
        return Changes(self)

    def tables_block(self) -> str:
        """Render the tables of the workspace for a system prompt; empty if there are none."""
        from mnemos.workspace.bridge import render_prompt_block

        return render_prompt_block(self.workspace, self.settings.prompt_schema_tokens)

    def recall(
        self,
        query: str,
        *,
        limit: int = HITS,
        budget: int | None = TOKENS,
        kinds: Sequence[Kind] | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        source: str | Sequence[str] | None = None,
        session_ids: Sequence[str] | None = None,
        exclude_session_ids: Sequence[str] | None = None,
        now: Moment | None = None,
        words_only: bool = False,
        depth: Literal["normal", "deep"] | None = None,
        user_id: str | None = None,
        project: str | None = None,
        all_projects: bool = False,
        as_of: Moment | None = None,
        matches_only: bool = False,
        explain: bool = False,
        probe: str | None = None,
    ) -> Recall:
        """Answer a question from the whole memory: the best passages, and a text for a prompt.

        ``budget`` limits the tokens of the text; None means no limit. ``now`` is the time that phrases like
        "last week" refer to. ``words_only`` doesn't use vectors. ``depth="deep"`` reads the best passages
        closely. ``user_id`` excludes other users' data. ``project`` restricts conversations to a project, by
        path or last folder; by default the current one is preferred, unless ``all_projects`` is set.
        ``as_of`` answers from what was known at that time. ``matches_only`` leaves out messages that are only
        next to a match. ``explain`` adds how the answer was found, and ``probe`` explains a given passage,
        found or not.
        """
        if not isinstance(query, str):
            raise InvalidInput(f"query must be a string, not {type(query).__name__}")
        is_preferred = not (project or all_projects) and self.settings.prefer_project
        at = self.clock() if now is None else moment("now", now)
        latest = read_moment("as_of", as_of, at)
        about = None if project is None else self.sessions.resolve_projects(project)
        chosen = (source, None, session_ids, exclude_session_ids, since, until, at)
        filters = make_filters(*chosen, latest=latest, projects=about, user_id=user_id)
        found = self.recaller.recall(
            query,
            filters,
            limit=in_range("limit", limit, MOST_HITS),
            budget=None if budget is None else whole("budget", budget),
            kinds=names("kinds", kinds),
            user=USUAL_USER if user_id is None else check_user(user_id),
            now=at,
            lexical=words_only,
            deep=(check_depth("depth", depth) if depth else self.settings.depth) == "deep",
            project=(is_preferred and self.settings.project) or None,
            as_of=latest,
            matches_only=matches_only,
            explain=explain,
            probe=probe,
        )
        self.feeds.note(found)
        return found

    def search(
        self,
        query: str,
        *,
        limit: int = 20,
        source: str | Sequence[str] | None = None,
        role: str | Sequence[str] | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        sort: Sort = "relevance",
        project: str | None = None,
        user_id: str | None = None,
    ) -> list[MessageHit]:
        """Find messages by their words, not their meaning; see ``sessions.search_messages``."""
        chosen: dict[str, Any] = {"since": since, "until": until, "project": project, "user_id": user_id}
        return self.sessions.search_messages(query, source, role, limit, sort=sort, **chosen)

    def remember(
        self,
        text: str,
        *,
        about: str | None = None,
        replaces: str | Sequence[str] | None = None,
        scope: str | None = None,
        session_id: str | None = None,
        user_id: str | None = None,
        allow: bool = False,
    ) -> Written:
        """Remember plain sentences as facts; see ``facts.remember``. ``notebook.add`` adds a note."""
        given: dict[str, Any] = {"about": about, "scope": scope, "session_id": session_id, "user_id": user_id}
        return self.facts.remember(text, replaces=replaces, allow=allow, **given)

    # --- for agent loops --------------------------------------------------------------------

    @staticmethod
    def tools(format: ToolFormat = "openai", tools: str = "default") -> list[dict[str, Any]]:
        """Describe the operations of a set (``default``, ``sessions``, ``all``, …) as tools for a model."""
        # Imports upwards, so it is loaded only when an operation is called.
        from mnemos.operations import registry

        return registry.tools(format, tools)

    def call(
        self, name: str, args: dict[str, Any] | None = None, *, user_id: str | None = None
    ) -> dict[str, Any]:
        """Run an operation by name and return its result, with a readable ``text``."""
        from mnemos.operations import registry

        return registry.call(self, name, args, user_id=user_id)

    # --- changes ----------------------------------------------------------------------------

    def log(
        self, limit: int = 50, *, before: int | None = None, since: Moment | None = None
    ) -> list[AuditRow]:
        """List changes, newest first."""
        return self.changes.log(limit, before=before, since=since)

    def undo(self, entry_id: int | None = None) -> str:
        """Undo a logged change, by default the newest; see ``Changes.undo``."""
        return self.changes.undo(entry_id)

    def undo_notes(self) -> str:
        """Undo the newest change of the notebook that can be undone."""
        return self.changes.undo_notes()

    def forget(self, ref: str | Sequence[str], *, user_id: str | None = None) -> Forgotten:
        """Withdraw a fact or note by words or id, or permanently erase an item by its reference.

        Withdrawing by words ("where I live") or id (``f12``) can be undone. If it is unclear which item is
        meant, nothing changes and ``candidates`` lists the possible ones. Items named by references
        (``message:ID``, ``session:ID``, ``fact:ID``, ``note:ID``, ``entry:ID``, ``template:NAME``, or a list)
        are erased from the rows, the index and the log. Another user's items are never erased.
        """
        return self.changes.forget(ref, user_id)

    def optimize_notebook(self, *, threshold: float = 55, dry_run: bool = False) -> Relieved:
        """Make room in the notebook: turn notes that state facts into facts, and shorten verbose ones."""
        from mnemos.memory.optimize import relieve

        return relieve(self.notebook, self.facts, self.settings, threshold=threshold, dry_run=dry_run)

    def evaluate(self, *, progress: Progress | None = None, workload: bool = True) -> dict[str, Any]:
        """Compare the available backends and return the report. Test data is deleted."""
        from mnemos.memory.backends import evaluate

        return evaluate(self.settings, self.clock, progress, workload=workload)

    def import_hermes_memory(
        self, path: str | os.PathLike[str] | None = None, progress: Progress | None = None
    ) -> Report:
        """Import the facts of a hermes-memory database, by default the usual one. It is only read."""
        where = path_of(path if path is not None else self.settings.hermes_memory_db)
        return self.facts.import_hermes(hermes_memory(where), progress)

    # --- the whole memory -------------------------------------------------------------------------

    def backup(self, target: str | os.PathLike[str], progress: Progress | None = None) -> Path:
        """Write a verified copy of the database while it is in use; return its path."""
        return self.home.backup(target, progress)

    def backups(self) -> list[str]:
        """List the recorded backups whose files still exist."""
        return self.home.backups()

    def restore(self, backup: str | os.PathLike[str]) -> Path | None:
        """Replace all data with a backup; return the file with the previous data."""
        return self.home.restore(backup)

    def export(self, path: str | os.PathLike[str], progress: Progress | None = None) -> Exported:
        """Export this space to an archive: ``.tar.zst``, ``.tar.gz``, ``.tar`` or a folder.

        The memory can be in use. The archive is written completely or not at all, and never overwrites a
        file.
        """
        from mnemos.transfer.archive.archive_writer import write_archive

        done = write_archive(self, path_of(path), progress or no_progress)
        if not self.storage.read_only:
            # Recorded, so that a later ``forget`` lists it as a copy.
            self.storage.write(lambda tx: tx.audit.note_backup(str(done.path), self.clock()))
        return done

    def import_archive(
        self, path: str | os.PathLike[str], progress: Progress | None = None, *, allow: bool = False
    ) -> ArchiveReport:
        """Import the items of an archive that this space lacks, after verifying all of them.

        Existing items are kept, unless the archive has newer ones. An import can be repeated, but not undone.
        ``allow`` also imports notes that look like prompt injections.
        """
        from mnemos.transfer.archive import archive_import

        return archive_import.import_archive(self, path_of(path), progress or no_progress, allow=allow)

    def compare_archive(self, path: str | os.PathLike[str], progress: Progress | None = None) -> Comparison:
        """Check that an archive is intact and that this space has all its items. Changes nothing."""
        from mnemos.transfer.archive import archive_import

        return archive_import.compare_archive(self, path_of(path), progress or no_progress)

    def doctor(self, *, repair: bool = False) -> Iterator[Check]:
        """Check the data; with ``repair``, fix what can be fixed and keep what can't."""
        from mnemos.memory.health import examine

        return examine(self, self._reset, repair=repair)

    def close(self) -> None:
        if "workspace" in self.__dict__:
            self.workspace.close()
        if self.home.is_open and not self.storage.is_gone:
            self._settle()
        self.home.close()

    # --- internals -----------------------------------------------------------------------------

    def _start_background(self, storage: Storage) -> None:
        if self._background and not self.settings.disabled:
            storage.when_idle(self._work_in_background)

    def _work_in_background(self) -> bool:
        self.feeds.feed()
        if "entries" in self.__dict__ and self.entries.step():
            return True
        return self.embedding.is_wanted and self.embedding.in_background()

    def _settle(self) -> None:
        """Finish pending work before the storage is closed."""
        if "facts" in self.__dict__:
            self.facts.flush()
        if "entries" in self.__dict__:
            try:
                self.entries.settle(_CLOSE_SECONDS)
            except MnemosError:
                # It is already closed or damaged. The next process reads entries without an index.
                pass
        self.feeds.finish()

    def _reset(self) -> None:
        """Close everything, so that each part is made again on its next use."""
        self.close()
        for name in [name for name in self.__dict__ if isinstance(getattr(type(self), name, None), part)]:
            del self.__dict__[name]

    def _tables_changed(self, database: str) -> None:
        """Let recall find the current tables."""
        from mnemos.workspace.bridge import index_tables

        index_tables(self.storage, database, self.workspace.tables(database), self.clock())

    def _meaning(self) -> Meaning | None:
        from mnemos.memory.backends import load_meaning

        return load_meaning() if self.embedding.is_wanted else None

    def _rank_messages(self, query: str, project: str | None, filters: Filters) -> Results:
        """Rank messages that answer a question, for session_search."""
        return self.recaller.messages(query, filters, project=project)

    def _rank_facts(self, query: str, scope: str | None, limit: int, user: str | None) -> list[str]:
        """Rank facts that answer a question, for memory_search; return their references."""
        return self.recaller.refs(query, KIND, Filters(group=scope, user=user), limit)

    def _embedder(self, spec: str) -> Embedder:
        from mnemos.recall.embedders import embedder

        at = self.settings.embedding
        return embedder(spec, base_url=at.base_url, api_key=at.api_key, timeout=at.timeout)
