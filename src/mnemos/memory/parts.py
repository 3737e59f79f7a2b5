"""The parts of a memory: each made when it is first used, and what they do when it opens or closes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from mnemos.errors import InvalidInput, MnemosError, Unavailable
from mnemos.facts.model import KIND
from mnemos.facts.service import Facts
from mnemos.memory.home import Home, part
from mnemos.notebook.service import Notebook
from mnemos.notebook.shelf import Folder, KeptInMemory, Shelf
from mnemos.sessions.service import Sessions
from mnemos.settings import Settings
from mnemos.storage.base import Check, Filters, Results, Storage, failed, passed

if TYPE_CHECKING:
    from mnemos.entries.backend import MemoryBackend
    from mnemos.entries.entry_store import Entries, Meaning
    from mnemos.recall.embedders.base import Embedder
    from mnemos.recall.embedding import Embedding
    from mnemos.recall.service import Recaller
    from mnemos.templates.service import Templates
    from mnemos.transfer.service import Imports
    from mnemos.workspace.workspace import Workspace

# What closing may spend on entries that are not indexed.
_CLOSE_SECONDS = 2.0
DEFAULT_SPACE = "default"
TEMPLATES = "session-templates"


class Parts(Home):
    """One home in one space, part by part."""

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
        return Folder(folder_of(self.settings) / "memories", busy_seconds=self.settings.busy_seconds)

    @part
    def entries(self) -> Entries:
        """The entries that are kept in this database, whatever backend is chosen."""
        from mnemos.entries.entry_store import Entries

        return Entries(self.storage, self.settings, self.clock, self._meaning)

    @part
    def backend(self) -> MemoryBackend:
        """What keeps what is known about users: the one that the settings choose."""
        from mnemos.entries.backend_choice import make_backend

        return make_backend(self.settings, lambda: self.entries)

    @part
    def templates(self) -> Templates:
        """Tool calls that worked, in files: of the default space in the home itself."""
        # Whoever only records should not wait for what reads and judges calls.
        from mnemos.templates import files
        from mnemos.templates.service import Templates

        folder = folder_of(self.settings) / TEMPLATES
        return Templates(
            files.KeptInMemory()
            if self._in_memory
            else files.Folder(folder, busy_seconds=self.settings.busy_seconds),
            lambda: self.sessions,
            self.settings,
            self.clock,
            read_only=self._read_only,
            changed=self._feed_templates,
        )

    @part
    def workspace(self) -> Workspace:
        """SQL databases of the agent's own, in a sandbox; nothing starts before the first call."""
        # Whoever only remembers should not wait for what the workspace needs.
        from mnemos.workspace.bridge import open_workspace

        return open_workspace(
            self.settings,
            self.folder,
            history=None if self._in_memory else self.database,
            read_only=self._read_only,
            schema_changed=self._tables_changed,
        )

    @part
    def imports(self) -> Imports:
        """What other programs keep, brought in."""
        from mnemos.transfer.service import Imports

        return Imports(self.storage, self.settings, self.clock)

    @part
    def embedding(self) -> Embedding:
        """The vectors of this home: made in the background, or by ``embedding.catch_up()``."""
        from mnemos.recall.embedding import Embedding

        may_write = not self.settings.disabled
        return Embedding(self.storage, self.settings.embedder, self._embedder, may_write=may_write)

    @part
    def recaller(self) -> Recaller:
        # Whoever only records should not wait for what recall needs.
        from mnemos.recall.service import Recaller

        return Recaller(self.storage, self.embedding, self.clock)

    @property
    def folder(self) -> Path:
        """Where what belongs to this memory may be put for a while."""
        return Path(self._temporary) if self._in_memory else self.settings.home

    @property
    def is_in_memory(self) -> bool:
        return self._in_memory

    def tables_block(self) -> str:
        """The tables of the workspace for a system prompt; empty, at no cost, where there are none."""
        from mnemos.workspace.bridge import render_prompt_block

        return render_prompt_block(self.workspace, self.settings.prompt_schema_tokens)

    def close(self) -> None:
        if "workspace" in self.__dict__:
            self.workspace.close()
        if "_temporary" in self.__dict__:
            shutil.rmtree(self._temporary, ignore_errors=True)
        super().close()

    # --- inside -----------------------------------------------------------------------------

    def _opened(self, storage: Storage) -> None:
        if not self.settings.disabled:
            storage.when_idle(self._in_background)

    def _in_background(self) -> bool:
        if "entries" in self.__dict__ and self.entries.step():
            return True
        return self.embedding.is_wanted and self.embedding.in_background()

    def _settle(self) -> None:
        if "facts" in self.__dict__:
            self.facts.flush()
        if "entries" in self.__dict__:
            try:
                self.entries.settle(_CLOSE_SECONDS)
            except MnemosError:
                # Closed before, or damaged: what is not indexed is read as it is by whoever comes next.
                pass

    def _checks(self) -> Iterator[Check]:
        from mnemos.entries.backend_choice import check_choice
        from mnemos.workspace.bridge import check_databases

        yield check_choice(self.settings)
        for problem in self.templates.problems():
            yield failed("templates", problem.reason)
        yield from self._vectors_check()
        yield from check_databases(self.workspace)

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

    def _feed_templates(self) -> None:
        from mnemos.templates.feeding import feed

        if not self.settings.disabled and not self.storage.read_only:
            feed(self.storage, self.templates.kept)

    def _tables_changed(self, database: str) -> None:
        """Tell recall of the tables there are now."""
        from mnemos.workspace.bridge import index_tables

        index_tables(self.storage, database, self.workspace.tables(database), self.clock())

    @part
    def _temporary(self) -> str:
        """A folder for the files of a memory that is kept in memory; gone when it is closed."""
        import tempfile

        return tempfile.mkdtemp(prefix="mnemos-")

    def _meaning(self) -> Meaning | None:
        from mnemos.memory.backends import load_meaning

        return load_meaning() if self.embedding.is_wanted else None

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


def folder_of(settings: Settings) -> Path:
    """Where the files of a space are: of the default space the home itself."""
    if settings.space == DEFAULT_SPACE:
        return settings.home
    # One folder a space, however deep its name: none lies inside another.
    return settings.home / "spaces" / settings.space.replace("/", "+")
