"""The provider that Hermes drives: the built-in one, in the place and with the manners that Hermes expects.

Hermes keeps a notebook of its own and shows it in every prompt. What is noted there is noted here, too, so
that recall and other agents know it; what is noted here and not there stands in our part of the prompt.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

from mnemos.errors import MnemosError, NotFound
from mnemos.integrations.hermes import host, place
from mnemos.integrations.hermes.importing import Belongings, Report, notes_of
from mnemos.integrations.providers import prompt
from mnemos.integrations.providers.builtin import BuiltinMemoryProvider
from mnemos.memory import Memory
from mnemos.notebook.note_block import Page, render_blocks
from mnemos.notebook.notes import Book

log = logging.getLogger("mnemos.hermes")

NAME: Final = "mnemos"
# Hermes has tools ``memory`` and ``session_search`` itself, whose names nobody else may take; recall finds
# all that the second finds, and the first is offered by another name.
TOOLS: Final = "recall,remember,memory,memory_search,memory_write,memory_history"
NOTEBOOK: Final = "notebook"
_NOTEBOOK_SAYS: Final = (
    "Curate the notes that all agents of this memory share and see in every prompt: add, replace or remove "
    "an entry. What you note with the tool memory is put here by itself; use this one to correct what others "
    "noted."
)
_STOP_SECONDS: Final = 2.0


def make() -> BuiltinMemoryProvider:
    """A provider for the Hermes that this runs in."""
    return _kind(host.contract())()


@cache
def _kind(contract: type | None) -> type[HermesMemoryProvider]:
    if contract is None:
        return HermesMemoryProvider
    return type("MnemosMemoryProvider", (HermesMemoryProvider, contract), {})


class HermesMemoryProvider(BuiltinMemoryProvider):
    """Mnemos as Hermes sees it. Nothing is opened before ``initialize``."""

    def __init__(self) -> None:
        super().__init__(tools=TOOLS)
        self._hermes = Path()
        self._belongings: Belongings | None = None
        self._import: threading.Thread | None = None

    # --- being one --------------------------------------------------------------------------

    @property
    def name(self) -> str:
        return NAME

    def is_available(self) -> bool:
        return not self.unavailable_reason()

    def unavailable_reason(self) -> str:
        """Why not, for people; empty when it is available. Only settings are looked at."""
        try:
            place.place_of(host.home())
        except MnemosError as exc:
            return str(exc)
        return ""

    def initialize(self, session_id: str, **kwargs: Any) -> None:
        """Open the memory that serves this home of Hermes, and begin to bring in what Hermes kept before."""
        self._open(session_id, kwargs)
        try:
            self._begin_import(session_id)
        except MnemosError as exc:
            log.warning("what Hermes keeps is not brought in: %s", exc)

    def initialize_for_inspection(self, session_id: str, **kwargs: Any) -> None:
        """The same for somebody who only wants to see the prompt and the tools: nothing will be written."""
        self._open(session_id, kwargs | {"agent_context": "inspection"})

    def flush(self, seconds: float) -> bool:
        """Wait until what is going on in the background is done; False when it is not after so long."""
        self._wait_for_import(seconds)
        is_over = self._import is None or not self._import.is_alive()
        return self._worker.flush(seconds) and is_over

    def shutdown(self) -> None:
        if self._belongings is not None:
            self._belongings.stop()
        self._wait_for_import(_STOP_SECONDS)
        super().shutdown()

    # --- the prompt -------------------------------------------------------------------------

    def system_prompt_block(self) -> str:
        """Hot facts, and the notes that Hermes does not show; the same until it is compressed or left."""
        with self._lock:
            if self._block is None or self._block.session_id != self._session_id:
                block = prompt.compose(self.memory, self._session_id)
                notes = self.memory.notebook.snapshot(self._session_id)
                text = block.text.replace(notes, self._other_notes(), 1) if notes else block.text
                self._block = replace(block, text=text.strip())
            return self._block.text

    def _other_notes(self) -> str:
        pages = []
        for book in map(Book, self.memory.settings.notebook_files):
            try:
                shown = set(notes_of(self._hermes, book)) if host.shows(book) else set()
                mine = tuple(entry for entry in self.memory.notebook.entries(book) if entry not in shown)
            except MnemosError as exc:
                log.warning("%s is not in the prompt: %s", book.filename, exc)
                continue
            pages.append(Page(self.memory.notebook.use(book), mine))
        return render_blocks(pages)

    # --- tools ------------------------------------------------------------------------------

    def get_tool_schemas(self) -> list[dict[str, Any]]:
        return [
            schema | {"name": NOTEBOOK, "description": _NOTEBOOK_SAYS}
            if schema["name"] == "memory"
            else schema
            for schema in super().get_tool_schemas()
        ]

    def handle_tool_call(self, tool_name: str, args: dict[str, Any], **kwargs: Any) -> str:
        return super().handle_tool_call("memory" if tool_name == NOTEBOOK else tool_name, args, **kwargs)

    # --- what Hermes tells --------------------------------------------------------------------

    def on_session_switch(
        self,
        new_session_id: str,
        *,
        parent_session_id: str = "",
        reset: bool = False,
        **kwargs: Any,
    ) -> None:
        """Go on in another session, and first bring it in if Hermes has it from before."""
        if not reset:
            self._bring_first(new_session_id)
        super().on_session_switch(new_session_id, parent_session_id=parent_session_id, reset=reset, **kwargs)

    def on_memory_write(
        self, action: str, target: str, content: str, metadata: Mapping[str, Any] | None = None
    ) -> None:
        """Note here what was noted in Hermes; where the notebook has no room for it, Hermes still has it."""
        old_text = str((metadata or {}).get("old_text") or "")
        if self._memory is not None and not self._memory.settings.disabled:
            self._later("on_memory_write", partial(_mirror, self._memory, action, target, content, old_text))

    # --- being set up -----------------------------------------------------------------------

    def get_config_schema(self) -> list[dict[str, Any]]:
        found = place.place_of(host.home())
        return [
            {
                "key": "home",
                "description": "Folder of the memory; agents that name the same one share it",
                "default": str(found.home),
            },
            {
                "key": "space",
                "description": "Whose memory it is; spaces of a home never see each other",
                "default": found.space,
            },
        ]

    def save_config(self, values: Mapping[str, Any], hermes_home: str) -> None:
        place.keep(Path(hermes_home), {key: values[key] for key in place.KEYS if key in values})

    def get_status_config(self, provider_config: Any) -> dict[str, Any]:  # noqa: ARG002
        """What ``hermes memory status`` prints."""
        hermes = host.home()
        found = place.place_of(hermes)
        report = Belongings(hermes, found).report()
        return {"home": str(found.home), "space": found.space, "imported": _in_words(report)}

    def backup_paths(self) -> list[str]:
        """The home, unless it is inside the home of Hermes, which is backed up anyway."""
        hermes = host.home()
        home = place.place_of(hermes).home
        return [] if home.resolve().is_relative_to(hermes.resolve()) else [str(home)]

    # --- inside -----------------------------------------------------------------------------

    def _open(self, session_id: str, kwargs: Mapping[str, Any]) -> None:
        hermes = Path(kwargs.get("hermes_home") or host.home())
        found = place.place_of(hermes)
        super().initialize(session_id, **{**kwargs, "home": str(found.home), "space": found.space})
        self._hermes, self._belongings = hermes, Belongings(hermes, found)

    def _begin_import(self, session_id: str) -> None:
        belongings, settings = self._belongings, self.memory.settings
        if belongings is None or not self._writes or not belongings.begin(self.memory.clock()):
            return
        belongings.bring_notes(self.memory)
        self._bring_first(session_id)
        work = partial(_bring_all, belongings, settings.home, settings.space)
        self._import = threading.Thread(target=work, name="mnemos-hermes-import", daemon=True)
        self._import.start()

    def _wait_for_import(self, seconds: float) -> None:
        if self._import is not None:
            self._import.join(seconds)

    def _bring_first(self, session_id: str) -> None:
        """A session that goes on is brought in before its next turn is stored: the worker keeps the order."""
        if self._writes and self._belongings is not None:
            self._later("import", partial(self._belongings.bring_session, self.memory, session_id))


def _bring_all(belongings: Belongings, home: Path, space: str) -> None:
    # A memory of its own: the provider's may be closed while this goes on.
    try:
        with Memory.at(home, space=space, actor="hermes") as memory:
            report = belongings.bring_all(memory)
    except (MnemosError, OSError) as exc:
        log.warning("what Hermes keeps was not brought in; the next start tries again: %s", exc)
        return
    if report is not None:
        log.info("brought in from Hermes: %s", _in_words(report))


def _mirror(memory: Memory, action: str, target: str, content: str, old_text: str) -> None:
    notebook = memory.notebook
    # A mirror is no attempt of the model's that could fail too often.
    notebook.begin_turn()
    try:
        if action == "replace":
            notebook.replace(old_text, content, target=target)
        elif action == "remove":
            notebook.remove(old_text or content, target=target)
        else:
            notebook.add(content, target=target)
    except NotFound:
        # It was never noted here.
        if action == "replace":
            notebook.add(content, target=target)


def _in_words(report: Report | None) -> str:
    if report is None:
        return "nothing yet"
    found = f"{report.sessions:,} sessions with {report.messages:,} messages, {report.notes} notes"
    more = f"; {len(report.refused)} could not be" if report.refused else ""
    return f"{found}{more}" if report.done_at is not None else "not finished; the next start goes on"
