"""Feeds of recall: files that people edit by hand, and entries that are not indexed yet.

Changes made through a memory are fed when they are written. A question only compares and never writes.
Outdated files are fed by the background thread or when the memory is closed.
"""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING

from mnemos.errors import MnemosError
from mnemos.memory.recall_log import RecallLog
from mnemos.notebook.notebook import KIND as NOTE
from mnemos.notebook.notes import Book

if TYPE_CHECKING:
    from mnemos.memory.memory import Memory
    from mnemos.recall.answer import Recall
    from mnemos.recall.edits import Source
    from mnemos.storage.passages import Passage

# Seconds that closing may spend on vectors, if a question lacked some.
_EMBED_SECONDS = 0.2

log = logging.getLogger("mnemos.memory")


class Feeds:
    """A memory's sources of recall besides its database."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self.asked = RecallLog(memory)
        """The log of questions."""

    def sources(self) -> list[Source]:
        """The files that recall compares with the passages fed from them."""
        from mnemos.recall.edits import Source

        notebook = self._memory.notebook
        books = [
            Source(NOTE, f"{book}:", partial(notebook.signature, book), partial(notebook.passages, book))
            for book in Book
        ]
        return [*books, Source("template", "", self._template_signature, self._template_passages)]

    def feed(self) -> None:
        """Feed the files that the last question found to be outdated."""
        memory = self._memory
        self.asked.store()
        if not self._is_behind:
            return
        memory.recaller.is_behind = False
        memory.notebook.sync()
        self.feed_templates()
        memory.entries.step()

    def feed_templates(self) -> None:
        if self._may_write and self._has_templates:
            from mnemos.templates.template_passages import index_templates

            index_templates(self._memory.storage, self._memory.templates.read_all)

    def finish(self) -> None:
        """Continue the background work briefly before the storage is closed."""
        self.asked.store()
        if not (self._is_behind and self._may_write):
            return
        try:
            self.feed()
            self._memory.embedding.catch_up_if_fast(_EMBED_SECONDS)
        except MnemosError as exc:
            log.info("recall was not fed; the next process does it: %s", exc)

    def note(self, found: Recall) -> None:
        """Let the background thread log a question and feed the files it found to be outdated."""
        if self._may_write and (self.asked.note(found) or self._is_behind):
            self._memory.storage.wake()

    @property
    def was_asked(self) -> bool:
        """True if a question was answered."""
        return "recaller" in self._memory.__dict__

    @property
    def _is_behind(self) -> bool:
        return self.was_asked and self._memory.recaller.is_behind

    @property
    def _may_write(self) -> bool:
        return not self._memory.settings.disabled and not self._memory.storage.read_only

    @property
    def _has_templates(self) -> bool:
        # Most homes have no templates, and then their code is not loaded.
        return (
            "templates" in self._memory.__dict__
            or self._memory.is_in_memory
            or self._memory.home.is_server
            or self._memory.templates_folder.is_dir()
        )

    def _template_signature(self) -> object:
        return self._memory.templates.signature() if self._has_templates else {}

    def _template_passages(self) -> list[Passage]:
        if not self._has_templates:
            return []
        from mnemos.templates.template_passages import make_passages

        return make_passages(self._memory.templates.read_all())
