"""The composition root: settings choose an engine, the engine carries the parts."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from mnemos.errors import (
    InvalidInput,
    MnemosError,
    NotFound,
    Refused,
    Unavailable,
)
from mnemos.facts import undo as undo_facts
from mnemos.facts.model import KIND
from mnemos.facts.service import Facts
from mnemos.home import IN_MEMORY, Home, part, path_of
from mnemos.inputs import names, optional_moment, whole
from mnemos.notebook import undo as undo_notes
from mnemos.notebook.model import Book
from mnemos.notebook.service import Notebook
from mnemos.notebook.shelf import Folder, KeptInMemory, Shelf
from mnemos.operations import registry
from mnemos.sessions import undo
from mnemos.sessions.recording import Clock
from mnemos.sessions.service import Sessions
from mnemos.settings import Settings
from mnemos.storage.base import AuditRow, Check, Filters, Results, Storage, Writes, failed, passed
from mnemos.storage.sqlite.foreign import hermes_memory

if TYPE_CHECKING:
    from mnemos.facts.importing import Report
    from mnemos.recall.embedders.base import Embedder
    from mnemos.recall.embedding import Embedding
    from mnemos.recall.model import Recall
    from mnemos.recall.service import Recaller
    from mnemos.relief import Relieved
    from mnemos.workspace.service import Workspace

MOST_HITS = 200
_A_PAGE = 200
DEFAULT_SPACE = "default"


def open(
    home_or_url: str | os.PathLike[str] | None = None,
    *,
    space: str | None = None,
    read_only: bool = False,
    clock: Clock = time.time,
    **flags: Any,
) -> Memory:
    """Open the memory of a home (default: ``$MNEMOS_HOME`` or ``~/.mnemos``) in one space.

    ``:memory:`` keeps everything in this process. Further keyword arguments are settings, such as
    ``durability="full"`` or ``actor="me"``. The home is created when it is missing.
    """
    memory = Memory.at(home_or_url, space=space, read_only=read_only, clock=clock, **flags)
    memory.storage  # noqa: B018 - a home that cannot be opened should say so here
    return memory


class Memory(Home):
    """One home in one space. A context manager; ``close`` twice does no harm."""

    # --- parts ------------------------------------------------------------------------------

    @part
    def sessions(self) -> Sessions:
        return Sessions(self.storage, self.settings, self.clock, self._ranked)

    @part
    def facts(self) -> Facts:
        # Without a session of the host's, this object is one.
        session_id = f"memory-{os.urandom(8).hex()}"
        return Facts(self.storage, self.settings, self.clock, self._ranked_facts, session_id)

    @part
    def notebook(self) -> Notebook:
        return Notebook(self.shelf, self.storage, self.settings, self.clock)

    @part
    def shelf(self) -> Shelf:
        """Where the files of the notebook are: of the default space in the home itself."""
        if self._in_memory:
            return KeptInMemory()
        home = self.settings.home
        if self.settings.space != DEFAULT_SPACE:
            # One folder a space, however deep its name: none lies inside another.
            home = home / "spaces" / self.settings.space.replace("/", "+")
        return Folder(home / "memories", busy_seconds=self.settings.busy_seconds)

    @part
    def workspace(self) -> Workspace:
        """SQL databases of the agent's own, in a sandbox; nothing starts before the first call."""
        # Whoever only remembers should not wait for what the workspace needs.
        from mnemos.workspace.names import folder_of
        from mnemos.workspace.service import Workspace

        settings = self.settings
        home = Path(self._temporary) if self._in_memory else settings.home
        files = (
            Path(settings.files).expanduser() if settings.files else folder_of(home, "files", settings.space)
        )
        return Workspace(
            folder_of(home, "databases", settings.space),
            files=files,
            most_bytes=settings.database_bytes,
            seconds=settings.query_seconds,
            read_only=self._read_only or settings.disabled,
            history=None if self._in_memory else (self.database, settings.space),
            schema_changed=self._tables_changed,
        )

    def tables_block(self) -> str:
        """The tables of the workspace for a system prompt; empty, at no cost, where there are none."""
        from mnemos.workspace import prompt

        return prompt.block(self.workspace, self.settings.prompt_schema_tokens)

    @part
    def _temporary(self) -> str:
        """A folder for the files of a memory that is kept in memory; gone when it is closed."""
        import tempfile

        return tempfile.mkdtemp(prefix="mnemos-")

    @part
    def embedding(self) -> Embedding:
        """The vectors of this home: made in the background, or by ``embedding.catch_up()``."""
        from mnemos.recall.embedding import Embedding

        may_write = not self.settings.disabled
        return Embedding(self.storage, self.settings.embedder, self._embedder, may_write=may_write)

    def recall(
        self,
        query: str,
        *,
        limit: int = 10,
        budget: int | None = None,
        kinds: Sequence[str] | None = None,
        since: float | None = None,
        until: float | None = None,
        source: str | Sequence[str] | None = None,
        session_ids: Sequence[str] | None = None,
        exclude_session_ids: Sequence[str] | None = None,
        now: float | None = None,
        words_only: bool = False,
    ) -> Recall:
        """One question over everything: the passages that answer it best, and the same packed as text.

        ``budget``: the tokens of the text; None: as many as the hits take. ``now``: what "last week" in
        the question is seen from. ``words_only``: without vectors, and without loading what they need.
        """
        if not isinstance(query, str):
            raise InvalidInput(f"query is a {type(query).__name__}; use a text")
        # People edit notes by hand.
        self.notebook.sync()
        if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MOST_HITS:
            raise InvalidInput(f"limit is {limit!r}; use 1 to {MOST_HITS}")
        filters = Filters(
            sources=names("source", source),
            session_ids=names("session_ids", session_ids),
            exclude_session_ids=names("exclude_session_ids", exclude_session_ids) or (),
            since=optional_moment("since", since),
            until=optional_moment("until", until),
        )
        return self.recaller.recall(
            query,
            filters,
            limit=limit,
            budget=None if budget is None else whole("budget", budget),
            kinds=_known_kinds(names("kinds", kinds)),
            now=optional_moment("now", now),
            lexical=words_only,
        )

    @part
    def recaller(self) -> Recaller:
        # Whoever only records should not wait for what recall needs.
        from mnemos.recall.service import Recaller

        return Recaller(self.storage, self.embedding, self.clock)

    # --- for agent loops --------------------------------------------------------------------

    def tools(self, format: str = "openai", tools: str = "default") -> list[dict[str, Any]]:
        """The operations as tools for a model: ``openai``, ``anthropic`` or ``mcp`` format.

        ``tools`` names a set: ``default`` (few), ``sessions``, ``upkeep``, ``all``.
        """
        return registry.tools(format, tools)

    def call(self, name: str, args: dict[str, Any] | None = None) -> dict[str, Any]:
        """Run an operation by name; its result with a readable ``text``. Failures raise MnemosError."""
        return registry.call(self, name, args)

    # --- what people may want to take back --------------------------------------------------

    def log(self, limit: int = 50, *, before: int | None = None) -> list[AuditRow]:
        """The newest changes first."""
        return self.storage.read(lambda tx: tx.audit.newest(limit, before=before))

    def undo(self, entry_id: int | None = None) -> str:
        """Take back a change of the log, by default the newest that can be; what was done."""
        self._check_enabled()
        entry = self._undoable(entry_id)
        if undo_facts.can_be_undone(entry):
            return undo_facts.take_back(self.storage, entry, self.clock(), self._mark_undone)
        if undo_notes.can_be_undone(entry):
            return self.notebook.bring_back(entry)
        done = undo.take_back(self.storage, entry, self.clock())
        self.storage.write(lambda tx: self._mark_undone(tx, entry))
        return done

    def undo_notes(self) -> str:
        """Take back the newest change of the notebook that can be taken back."""
        self.notebook.notice()
        return self.undo(self._newest(undo_notes.can_be_undone, "change of the notebook").id)

    def forget(self, ref: str) -> dict[str, Any]:
        """Erase what a reference names, in rows, index and log; it cannot be undone.

        ``message:ID``, ``session:ID``, ``fact:ID`` or ``note:ID``. Answers ``pending`` while another reader
        keeps the log from being emptied, and ``copies``: files that may still hold the text.
        """
        self._check_enabled()
        kind, _, name = ref.partition(":") if isinstance(ref, str) else ("", "", "")
        if kind == "message" and name.isascii() and name.isdecimal():
            self.sessions.forget_message(int(name))
        elif kind == "session" and name:
            self.sessions.forget_session(name)
        elif kind == "fact" and name:
            self.facts.forget(name)
        elif kind == "note" and name:
            self.notebook.forget(name)
        else:
            raise InvalidInput(f"{ref!r} names nothing; use message:ID, session:ID, fact:ID or note:ID")
        return self.scrubbed(ref)

    def scrubbed(self, ref: str) -> dict[str, Any]:
        """Reach the bytes of what was just forgotten; the answer of ``forget``."""
        pending = not self.storage.scrub()
        return {
            "ref": ref,
            "forgotten": True,
            "pending": pending,
            "copies": [*self.backups(), *self.notebook.copies()],
        }

    def optimize_notebook(self, *, threshold: float = 55, dry_run: bool = False) -> Relieved:
        """Make room in the notebook: what is a fact becomes one, what is verbose becomes shorter."""
        from mnemos.relief import relieve

        books = [Book(name) for name in self.settings.notebook_files]
        return relieve(self.notebook, self.facts, books, threshold=threshold, dry_run=dry_run)

    def import_hermes_memory(
        self,
        path: str | os.PathLike[str] | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> Report:
        """Bring in the facts of a hermes-memory database, which is only read; by default its usual one."""
        where = path_of(path if path is not None else self.settings.hermes_memory_db)
        return self.facts.bring_in(hermes_memory(where), progress)

    # --- inside -----------------------------------------------------------------------------

    def _opened(self, storage: Storage) -> None:
        if self.settings.embedder != "none" and not self.settings.disabled:
            storage.when_idle(lambda: self.embedding.in_background())

    def _tables_changed(self, database: str) -> None:
        """Tell recall of the tables there are now."""
        from mnemos.workspace import passages

        passages.feed(self.storage, database, self.workspace.tables(database), self.clock())

    def close(self) -> None:
        if "workspace" in self.__dict__:
            self.workspace.close()
        if "_temporary" in self.__dict__:
            shutil.rmtree(self._temporary, ignore_errors=True)
        super().close()

    def _settle(self) -> None:
        if "facts" in self.__dict__:
            self.facts.flush()

    def _checks(self) -> Iterator[Check]:
        yield from self._vectors_check()
        yield from self._workspace_check()

    def _workspace_check(self) -> Iterator[Check]:
        """One line for all databases that are sound, and one for each that is not."""
        sound = 0
        for info in self.workspace.databases():
            try:
                problems = self.workspace.check(info.name)
            except MnemosError as exc:
                problems = [str(exc)]
            if problems:
                yield failed("workspace", f"the database {info.name}: {'; '.join(problems)}")
            else:
                sound += 1
        said = f"{sound} database{'s' * (sound != 1)} sound" if sound else "no database yet"
        yield passed("workspace", said)

    def _vectors_check(self) -> Iterator[Check]:
        if not self.embedding.is_wanted:
            yield passed("vectors", "none are wanted")
            return
        try:
            coverage = self.embedding.coverage()
        except (Unavailable, InvalidInput) as exc:
            yield failed("vectors", f"recall works by words alone: {exc}")
            return
        yield passed("vectors", f"{coverage.done} of {coverage.total} passages have theirs")

    def _mended(self) -> Iterator[Check]:
        yield passed("facts", f"{self.facts.mend()} are found again")

    def _ranked(self, query: str, filters: Filters) -> Results:
        """Messages that answer a question, best first: what session_search asks."""
        return self.recaller.messages(query, filters)

    def _ranked_facts(self, query: str, scope: str | None, limit: int) -> list[str]:
        """Refs of facts that answer a question: what memory_search asks."""
        return self.recaller.refs(query, KIND, Filters(group=scope), limit)

    def _embedder(self, spec: str) -> Embedder:
        from mnemos.recall.embedders.base import embedder

        at = self.settings.embedding
        return embedder(spec, base_url=at.base_url, api_key=at.api_key, timeout=at.timeout)

    def _mark_undone(self, tx: Writes, entry: AuditRow) -> None:
        by = tx.audit.record(
            at=self.clock(),
            actor=self.settings.actor,
            operation=f"undo {entry.operation}",
            ref=entry.ref,
        )
        tx.audit.mark_undone(entry.id, by)
        # A copy of what is back in its place would only outlive it.
        tx.audit.clear(entry.id)

    def _undoable(self, entry_id: int | None) -> AuditRow:
        if entry_id is not None:
            if isinstance(entry_id, bool) or not isinstance(entry_id, int):
                raise InvalidInput(f"entry_id is {entry_id!r}; use the number of an entry of the log")
            entry = self.storage.read(lambda tx: tx.audit.get(entry_id))
            if entry is None:
                raise NotFound(f"the log has no entry {entry_id}; see `mnemos log`")
            if not _can_be_undone(entry):
                raise Refused(f"entry {entry_id} ({entry.operation}) cannot be undone (again)")
            return entry
        return self._newest(_can_be_undone, "change")

    def _newest(self, wanted: Callable[[AuditRow], bool], what: str) -> AuditRow:
        """The newest entry of the log that is no undoing itself and can be undone."""
        before: int | None = None
        while page := self.log(_A_PAGE, before=before):
            for entry in page:
                if wanted(entry) and not entry.operation.startswith("undo "):
                    return entry
            before = page[-1].id
        raise NotFound(f"there is no {what} to undo")


def _can_be_undone(entry: AuditRow) -> bool:
    return any(part.can_be_undone(entry) for part in (undo, undo_facts, undo_notes))


def _known_kinds(kinds: list[str] | None) -> list[str] | None:
    from mnemos.recall.model import KINDS

    for kind in kinds or ():
        if kind not in KINDS:
            raise InvalidInput(f"there is no kind {kind!r}; known are {', '.join(KINDS)}")
    return kinds


class SessionDB(Sessions):
    """Sessions in a database file of their own: what agent hosts open.

    ``db_path`` None is the database of the default home.
    """

    def __init__(
        self,
        db_path: str | os.PathLike[str] | None = None,
        *,
        space: str = "default",
        read_only: bool = False,
        clock: Clock = time.time,
        **flags: Any,
    ) -> None:
        settings = Settings.load(space=space, **flags)
        where = None if db_path is None else os.fspath(db_path)
        path = None if where is None else path_of(where)
        if path is not None:
            settings = replace(settings, home=path.parent)
        self._memory = Memory(
            settings,
            read_only=read_only,
            clock=clock,
            database=path,
            in_memory=where == IN_MEMORY,
        )
        super().__init__(self._memory.storage, settings, clock, self._memory._ranked)

    def close(self) -> None:
        self._memory.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        exc: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
