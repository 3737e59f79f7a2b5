"""Templates among the passages of recall: what each is for, and the tools it shows."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final

from mnemos.errors import MnemosError
from mnemos.storage.base import Reads, Storage, Writes
from mnemos.templates.model import SessionTemplate
from mnemos.text.threats import threats

KIND: Final = "template"
"""What templates are called among the passages of recall."""
_LONGEST_LIST: Final = 400

log = logging.getLogger("mnemos.templates")


def feed(storage: Storage, read: Callable[[], Iterable[SessionTemplate]]) -> None:
    """Let recall know what templates there are now. Nothing is written when it knows already."""
    wanted: dict[str, SessionTemplate] = {}

    def news(tx: Reads) -> dict[str, str]:
        known = {passage.ref: passage.text for passage in tx.passages.of_kind(KIND)}
        texts = {name: text_of(template) for name, template in wanted.items()}
        fresh = {name: text for name, text in texts.items() if _may_be_shown(text)}
        changed = {name: text for name, text in fresh.items() if known.get(name) != text}
        return changed | dict.fromkeys(known.keys() - fresh.keys(), "")

    def work(tx: Writes) -> None:
        for name, text in news(tx).items():
            if text:
                tx.passages.put(KIND, name, text=text, at=wanted[name].created_at)
            else:
                tx.passages.remove(KIND, name)

    try:
        wanted |= {template.name: template for template in read()}
        if storage.read(news):
            storage.write(work, within=0.5)
    except MnemosError as exc:
        # No question should fail because of it.
        log.warning("recall may not know the newest of the templates: %s", exc)


def text_of(template: SessionTemplate) -> str:
    """What a template is found by, and what recall shows of it."""
    tags = f" Tags: {_listed(template.tags)}." if template.tags else ""
    described = " ".join(template.description.split())
    said = f"Session template {template.name} ({template.task_type})" + (
        f": {described}" if described else ""
    )
    ended = said if said.endswith((".", "!", "?")) else f"{said}."
    return f"{ended} Tools: {_listed(template.tools)}.{tags}"


@lru_cache(maxsize=1_024)
def _may_be_shown(text: str) -> bool:
    """A file that somebody wrote may hold orders to the model."""
    return not threats(text)


def _listed(words: Iterable[str]) -> str:
    text = ", ".join(words)
    return text if len(text) <= _LONGEST_LIST else f"{text[:_LONGEST_LIST]}…"
