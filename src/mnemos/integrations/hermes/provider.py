"""The built-in provider, adapted to the home, tools and calls of Hermes.

Hermes has its own notebook and shows it in every prompt. Its notes are copied here, so that recall and
other agents know them. Notes that are only here go into our part of the prompt.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any, ClassVar, Final

from mnemos.errors import MnemosError, NotFound
from mnemos.integrations.hermes import host
from mnemos.integrations.hermes.hermes_import import HermesImport, Report, read_notes
from mnemos.integrations.providers import prompt
from mnemos.integrations.providers.builtin import BuiltinMemoryProvider
from mnemos.memory import Memory
from mnemos.notebook.note_block import Page, render_blocks
from mnemos.notebook.notes import Book
from mnemos.settings import Settings

log = logging.getLogger("mnemos.hermes")

NAME: Final = "mnemos"
# Hermes reserves the names of its own tools ``memory`` and ``session_search``. Recall finds all that the
# second finds, and the first has another name here.
TOOLS: Final = "recall,remember,forget,memory,memory_search,memory_write,memory_history"
NOTEBOOK: Final = "notebook"
_NOTEBOOK_DESCRIPTION: Final = (
    "Curate the notes that all agents of this memory share and see in every prompt: add, replace or remove "
    "an entry. Notes made with the tool memory are copied here automatically; use this one to correct what "
    "others noted."
)
_STOP_SECONDS: Final = 2.0


def make() -> BuiltinMemoryProvider:
    """Create a provider for the Hermes that runs this process."""
    return _build_class(host.find_contract())()


@cache
def _build_class(contract: type | None) -> type[HermesMemoryProvider]:
    if contract is None:
        return HermesMemoryProvider
    return type("MnemosMemoryProvider", (HermesMemoryProvider, contract), {})


class HermesMemoryProvider(BuiltinMemoryProvider):
    """The built-in provider inside Hermes. Nothing is opened before ``initialize``."""

    default_tools: ClassVar[str] = TOOLS

    def __init__(self) -> None:
        super().__init__()
        self._hermes = Path()
        self._first_import: HermesImport | None = None
        self._import: threading.Thread | None = None

    # --- lifecycle --------------------------------------------------------------------------

    @property
    def name(self) -> str:
        return NAME

    def is_available(self) -> bool:
        return not self.unavailable_reason()

    def unavailable_reason(self) -> str:
        """Return why it is unavailable, going by the settings; empty if it isn't."""
        try:
            host.find_place(host.find_home())
        except MnemosError as exc:
            return str(exc)
        return ""

    def initialize(self, session_id: str, **kwargs: Any) -> None:
        """Open the memory of this home and start to import what Hermes stored before."""
        self._open(session_id, kwargs)
        try:
            self._start_import(session_id)
        except MnemosError as exc:
            log.warning("the data of Hermes is not imported: %s", exc)

    def initialize_for_inspection(self, session_id: str, **kwargs: Any) -> None:
        """Open it to show the prompt and the tools. Nothing is written."""
        self._open(session_id, kwargs | {"agent_context": "inspection"})

    def flush(self, seconds: float) -> bool:
        """Wait for background work. Returns False after the timeout."""
        self._wait_for_import(seconds)
        is_over = self._import is None or not self._import.is_alive()
        return self._worker.flush(seconds) and is_over

    def shutdown(self) -> None:
        if self._first_import is not None:
            self._first_import.stop()
        self._wait_for_import(_STOP_SECONDS)
        super().shutdown()

    # --- the prompt -------------------------------------------------------------------------

    def _compose(self) -> prompt.Block:
        """Replace the notes with those that Hermes does not show itself."""
        block = super()._compose()
        notes = self.memory.notebook.snapshot(self._session_id)
        text = block.text.replace(notes, self._render_other_notes(), 1) if notes else block.text
        return replace(block, text=text.strip())

    def _render_other_notes(self) -> str:
        pages = []
        for book in map(Book, self.memory.settings.notebook_files):
            try:
                shown = set(read_notes(self._hermes, book)) if host.shows(book) else set()
                others = tuple(entry for entry in self.memory.notebook.entries(book) if entry not in shown)
            except MnemosError as exc:
                log.warning("%s is not in the prompt: %s", book.filename, exc)
                continue
            pages.append(Page(self.memory.notebook.use(book), others))
        return render_blocks(pages)

    # --- tools ------------------------------------------------------------------------------

    def get_tool_schemas(self) -> list[dict[str, Any]]:
        return [
            schema | {"name": NOTEBOOK, "description": _NOTEBOOK_DESCRIPTION}
            if schema["name"] == "memory"
            else schema
            for schema in super().get_tool_schemas()
        ]

    def handle_tool_call(self, tool_name: str, args: dict[str, Any], **kwargs: Any) -> str:
        if tool_name != NOTEBOOK:
            return super().handle_tool_call(tool_name, args, **kwargs)
        self.memory.called_tools.add(NOTEBOOK)
        return super().handle_tool_call("memory", args, **kwargs)

    # --- events -----------------------------------------------------------------------------

    def on_session_switch(
        self,
        new_session_id: str,
        *,
        parent_session_id: str = "",
        reset: bool = False,
        **kwargs: Any,
    ) -> None:
        """Continue in another session, importing it first if Hermes has it."""
        if not reset:
            self._import_first(new_session_id)
        super().on_session_switch(new_session_id, parent_session_id=parent_session_id, reset=reset, **kwargs)

    def on_memory_write(
        self, action: str, target: str, content: str, metadata: Mapping[str, Any] | None = None
    ) -> None:
        """Copy a change of Hermes' notebook. Without room here, only Hermes has it."""
        old_text = str((metadata or {}).get("old_text") or "")
        if self._memory is not None and not self._memory.settings.disabled:
            self._later("on_memory_write", partial(_mirror, self._memory, action, target, content, old_text))

    # --- setup ------------------------------------------------------------------------------

    def get_config_schema(self) -> list[dict[str, Any]]:
        found = host.find_place(host.find_home())
        return [
            {
                "key": "home",
                "description": "Folder of the memory; agents with the same folder share it",
                "default": str(found.home),
            },
            {
                "key": "space",
                "description": "Space of the memory; spaces of a home are separate",
                "default": found.space,
            },
        ]

    def save_config(self, values: Mapping[str, Any], hermes_home: str) -> None:
        Settings.load().check_enabled()
        host.save_place(Path(hermes_home), {key: values[key] for key in host.KEYS if key in values})

    def get_status_config(self, provider_config: Any) -> dict[str, Any]:  # noqa: ARG002
        """Return what ``hermes memory status`` prints."""
        hermes = host.find_home()
        found = host.find_place(hermes)
        report = HermesImport(hermes, found).report()
        return {"home": str(found.home), "space": found.space, "imported": _describe(report)}

    def backup_paths(self) -> list[str]:
        """Return the home, unless it is inside Hermes' home and so backed up anyway."""
        hermes = host.find_home()
        home = host.find_place(hermes).home
        return [] if home.resolve().is_relative_to(hermes.resolve()) else [str(home)]

    # --- import -----------------------------------------------------------------------------

    def _open(self, session_id: str, kwargs: Mapping[str, Any]) -> None:
        hermes = Path(kwargs.get("hermes_home") or host.find_home())
        found = host.find_place(hermes)
        super().initialize(session_id, **{**kwargs, "home": str(found.home), "space": found.space})
        self._hermes, self._first_import = hermes, HermesImport(hermes, found)

    def _start_import(self, session_id: str) -> None:
        first, settings = self._first_import, self.memory.settings
        if first is None or not self._writes or not first.start(self.memory.clock()):
            return
        first.import_notes(self.memory)
        self._import_first(session_id)
        work = partial(_import_all, first, settings.home, settings.space)
        self._import = threading.Thread(target=work, name="mnemos-hermes-import", daemon=True)
        self._import.start()

    def _wait_for_import(self, seconds: float) -> None:
        if self._import is not None:
            self._import.join(seconds)

    def _import_first(self, session_id: str) -> None:
        """Queue the import of a session before its next turn is stored."""
        if self._writes and self._first_import is not None:
            self._later("import", partial(self._first_import.import_session, self.memory, session_id))


def _import_all(first: HermesImport, home: Path, space: str) -> None:
    # The provider may close its own memory in the meantime.
    try:
        with Memory.at(home, space=space, actor="hermes") as memory:
            report = first.import_all(memory)
    except (MnemosError, OSError) as exc:
        log.warning("the data of Hermes was not imported; the next start tries again: %s", exc)
        return
    if report is not None:
        log.info("imported from Hermes: %s", _describe(report))


def _mirror(memory: Memory, action: str, target: str, content: str, old_text: str) -> None:
    notebook = memory.notebook
    # A failure to copy must not look like the model's failure.
    notebook.begin_turn()
    try:
        if action == "replace":
            notebook.replace(old_text, content, target=target)
        elif action == "remove":
            notebook.remove(old_text or content, target=target)
        else:
            notebook.add(content, target=target)
    except NotFound:
        # The note was never copied.
        if action == "replace":
            notebook.add(content, target=target)


def _describe(report: Report | None) -> str:
    if report is None:
        return "nothing yet"
    found = f"{report.sessions:,} sessions with {report.messages:,} messages, {report.notes} notes"
    more = f"; {len(report.refused)} failed" if report.refused else ""
    return f"{found}{more}" if report.done_at is not None else "not finished; the next start continues"
