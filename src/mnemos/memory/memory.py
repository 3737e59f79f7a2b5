"""A memory: one question over everything, tools for agent loops, and what people may want to take back."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from mnemos.errors import (
    InvalidInput,
    NotFound,
    Refused,
    Unavailable,
)
from mnemos.facts import undo as undo_facts
from mnemos.inputs import names, optional_moment, span, whole
from mnemos.memory.home import IN_MEMORY, path_of
from mnemos.memory.parts import TEMPLATES, Parts, folder_of
from mnemos.notebook import undo as undo_notes
from mnemos.notebook.model import Book
from mnemos.progress import no_progress
from mnemos.sessions import undo
from mnemos.sessions.recording import Clock
from mnemos.sessions.service import Sessions
from mnemos.settings import Settings
from mnemos.storage import hermes_memory
from mnemos.storage.base import AuditRow, Filters, Writes

if TYPE_CHECKING:
    from mnemos.entries.entry_store import Entries
    from mnemos.facts.importing import Report
    from mnemos.memory.optimize import Relieved
    from mnemos.recall.model import Recall
    from mnemos.transfer.archive.importing import Comparison
    from mnemos.transfer.archive.importing import Report as ArchiveReport
    from mnemos.transfer.archive.model import Exported

MOST_HITS = 200
_A_PAGE = 200
# What a question may spend on entries that are not indexed.
_SETTLE_SECONDS = 0.2


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


class Memory(Parts):
    """One home in one space. A context manager; ``close`` twice does no harm."""

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
        user_id: str | None = None,
    ) -> Recall:
        """One question over everything: the passages that answer it best, and the same packed as text.

        ``budget``: the tokens of the text; None: as many as the hits take. ``now``: what "last week" in
        the question is seen from. ``words_only``: without vectors, and without loading what they need.
        ``user_id``: whose entries are looked at; those of other users never are.
        """
        if not isinstance(query, str):
            raise InvalidInput(f"query is a {type(query).__name__}; use a text")
        # People edit notes and templates by hand.
        self.notebook.sync()
        self.entries.settle(_SETTLE_SECONDS)
        self._feed_templates()
        if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MOST_HITS:
            raise InvalidInput(f"limit is {limit!r}; use 1 to {MOST_HITS}")
        start, end = span(since, until)
        filters = Filters(
            sources=names("source", source),
            session_ids=names("session_ids", session_ids),
            exclude_session_ids=names("exclude_session_ids", exclude_session_ids) or (),
            since=start,
            until=end,
        )
        return self.recaller.recall(
            query,
            filters,
            limit=limit,
            budget=None if budget is None else whole("budget", budget),
            kinds=self._kinds(_known_kinds(names("kinds", kinds)), user_id),
            now=optional_moment("now", now),
            lexical=words_only,
        )

    # --- for agent loops --------------------------------------------------------------------

    @staticmethod
    def tools(format: str = "openai", tools: str = "default") -> list[dict[str, Any]]:
        """The operations as tools for a model: ``openai``, ``anthropic`` or ``mcp`` format.

        ``tools`` names a set: ``default`` (few), ``sessions``, ``upkeep``, ``all``.
        """
        # The one import that points up: whoever calls no operation does not load them.
        from mnemos.operations import registry

        return registry.tools(format, tools)

    def call(self, name: str, args: dict[str, Any] | None = None) -> dict[str, Any]:
        """Run an operation by name; its result with a readable ``text``. Failures raise MnemosError."""
        from mnemos.operations import registry

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

        ``message:ID``, ``session:ID``, ``fact:ID``, ``note:ID``, ``entry:ID`` or ``template:NAME``. Answers
        ``pending`` while another reader keeps the log from being emptied, and ``copies``: files that may
        still hold it.
        """
        self._check_enabled()
        kind, _, name = ref.partition(":") if isinstance(ref, str) else ("", "", "")
        lifted = self._lifted_from(kind, name)
        if kind == "message" and name.isascii() and name.isdecimal():
            self.sessions.forget_message(int(name))
        elif kind == "session" and name:
            self.sessions.forget_session(name)
        elif kind == "fact" and name:
            self.facts.forget(name)
        elif kind == "note" and name:
            self.notebook.forget(name)
        elif kind == "entry" and name:
            self.entries.forget(name)
        elif kind == "template" and name:
            if not self.templates.delete_template(name):
                raise NotFound(f"there is no template {name!r}; see `mnemos templates list`")
        else:
            raise InvalidInput(
                f"{ref!r} names nothing; use message:ID, session:ID, fact:ID, note:ID, entry:ID or "
                "template:NAME"
            )
        done = self.scrubbed(ref)
        return done | {"copies": [*done["copies"], *lifted]}

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
        from mnemos.memory.optimize import relieve

        books = [Book(name) for name in self.settings.notebook_files]
        return relieve(self.notebook, self.facts, books, threshold=threshold, dry_run=dry_run)

    def evaluate(
        self, *, progress: Callable[[float], None] | None = None, workload: bool = True
    ) -> dict[str, Any]:
        """Compare the backends that could be used here; the report. Nothing that it stores stays."""
        from mnemos.entries.evaluation import compare_backends

        return compare_backends(self.settings, self._throw_away, progress, workload=workload)

    def import_hermes_memory(
        self,
        path: str | os.PathLike[str] | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> Report:
        """Bring in the facts of a hermes-memory database, which is only read; by default its usual one."""
        where = path_of(path if path is not None else self.settings.hermes_memory_db)
        return self.facts.bring_in(hermes_memory(where), progress)

    # --- as a whole -------------------------------------------------------------------------

    def export(
        self, path: str | os.PathLike[str], progress: Callable[[float], None] | None = None
    ) -> Exported:
        """Write everything of this space to an archive: ``.tar.zst``, ``.tar.gz``, ``.tar`` or a folder.

        While it may be in use. It is there whole or not at all; an existing file is not overwritten.
        """
        from mnemos.transfer.archive import writing

        done = writing.write(self, path_of(path), progress or no_progress)
        if not self.storage.read_only:
            # A copy like any other: whoever forgets something later is told of it.
            self.storage.write(lambda tx: tx.audit.note_backup(str(done.path), self.clock()))
        return done

    def import_archive(
        self, path: str | os.PathLike[str], progress: Callable[[float], None] | None = None
    ) -> ArchiveReport:
        """Bring in what an archive holds and this space does not. All is verified before any is stored.

        What is there already stays as it is, unless the archive's is newer. A second time, it adds nothing;
        interrupted, it is done again. It cannot be undone.
        """
        from mnemos.transfer.archive import importing

        self._check_enabled()
        return importing.bring_in(self, path_of(path), progress or no_progress)

    def compare_archive(
        self, path: str | os.PathLike[str], progress: Callable[[float], None] | None = None
    ) -> Comparison:
        """Whether an archive is whole, and whether this space holds all that is in it; nothing is changed."""
        from mnemos.transfer.archive import importing

        return importing.compare(self, path_of(path), progress or no_progress)

    # --- inside -----------------------------------------------------------------------------

    def _lifted_from(self, kind: str, name: str) -> list[str]:
        """Templates that may hold what is about to be forgotten."""
        try:
            if kind == "message" and name.isascii() and name.isdecimal():
                name = self.sessions.get_messages_around(int(name), 0, 0)[0]["session_id"]
            elif kind != "session":
                return []
            return self.templates.lifted_from([name, *self.sessions.get_lineage(name)])
        except NotFound:
            return []
        except Unavailable:
            # A folder that cannot be read keeps nobody from forgetting.
            return [str(folder_of(self.settings) / TEMPLATES)]

    def _kinds(self, kinds: list[str] | None, user_id: str | None) -> list[str] | None:
        """The kinds of passages to look at: of entries, those of one user."""
        from mnemos.entries.backend import check_user
        from mnemos.recall.model import KINDS
        from mnemos.storage.entries import KIND as ENTRY
        from mnemos.storage.entries import USUAL_USER, kind_of

        user = USUAL_USER if user_id is None else check_user(user_id)
        if kinds is None:
            if not self.storage.read(lambda tx: tx.entries.has_others(user)):
                return None
            kinds = list(KINDS)
        return [kind_of(user) if kind == ENTRY else kind for kind in kinds]

    def _throw_away(self, folder: Path) -> Entries:
        """The local backend in a database of its own, for trials."""
        from mnemos.entries.entry_store import Entries

        memory = Memory(replace(self.settings, home=folder, disabled=False), clock=self.clock)
        made = Entries(memory.storage, memory.settings, self.clock, memory._meaning, memory.close)
        memory.__dict__["entries"] = made
        return made

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
