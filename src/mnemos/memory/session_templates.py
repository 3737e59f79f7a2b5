"""Templates in their own folder, for agent hosts."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from mnemos.memory import SessionDB
from mnemos.memory.home import TEMPLATES, Resource, folder_of, path_of
from mnemos.sessions.lookups import Clock
from mnemos.sessions.sessions import Sessions
from mnemos.settings import Settings
from mnemos.templates.template_files import (
    TemplateFiles,
    TemplateFolder,
    TemplatesInDatabase,
    TemplatesInMemory,
)
from mnemos.templates.template_store import Templates

if TYPE_CHECKING:
    from mnemos.memory.memory import Memory


def make_templates(memory: Memory) -> Templates:
    """Make the templates of a memory."""
    home, settings = memory.home, memory.settings
    return Templates(
        _choose_files(memory),
        lambda: memory.sessions,
        settings,
        memory.clock,
        storage=lambda: memory.storage,
        read_only=home.read_only,
        changed=memory.feeds.feed_templates,
    )


def _choose_files(memory: Memory) -> TemplateFiles:
    if memory.is_in_memory:
        return TemplatesInMemory()
    if memory.home.is_server and memory.storage.texts is not None:
        return TemplatesInDatabase(memory.storage.texts, TEMPLATES)
    return TemplateFolder(memory.templates_folder, busy_seconds=memory.settings.busy_seconds)


class SessionTemplates(Resource, Templates):
    """The templates in a folder, and the sessions to extract them from.

    By default, both are those of the default home, whose sessions are opened when they are needed and closed
    by ``close``.
    """

    def __init__(
        self,
        template_dir: str | os.PathLike[str] | None = None,
        *,
        session_db: Sessions | None = None,
        clock: Clock = time.time,
    ) -> None:
        settings = Settings.load()
        folder = folder_of(settings) / TEMPLATES if template_dir is None else path_of(template_dir)
        self._opened: SessionDB | None = None
        self._given = session_db
        files = TemplateFolder(folder, busy_seconds=settings.busy_seconds)
        super().__init__(
            files, self._session_db, settings, clock, storage=lambda: self._session_db()._storage
        )

    def close(self) -> None:
        """Close the sessions if they were opened here. Closing twice is harmless."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def _session_db(self) -> Sessions:
        if self._given is not None:
            return self._given
        if self._opened is None:
            self._opened = SessionDB(space=self._settings.space)
        return self._opened
