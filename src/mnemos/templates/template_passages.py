"""Passages of recall that make templates findable by purpose and tools."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final

from mnemos.errors import MnemosError
from mnemos.language.threats import scan
from mnemos.storage.base import Reads, Storage, Writes
from mnemos.storage.passages import Passage
from mnemos.templates.template import SessionTemplate

KIND: Final = "template"
"""The kind of these passages."""
_MAX_LIST: Final = 400

log = logging.getLogger("mnemos.templates")


def index_templates(storage: Storage, read: Callable[[], Iterable[SessionTemplate]]) -> None:
    """Bring the passages up to date with the templates. Writes only when something changed."""
    wanted: dict[str, Passage] = {}

    def find_changes(tx: Reads) -> list[str]:
        known = {passage.ref: passage.text for passage in tx.passages.of_kind(KIND)}
        changed = [name for name, passage in wanted.items() if known.get(name) != passage.text]
        return changed + list(known.keys() - wanted.keys())

    def work(tx: Writes) -> None:
        for name in find_changes(tx):
            if passage := wanted.get(name):
                tx.passages.put(KIND, name, text=passage.text, at=passage.at)
            else:
                tx.passages.remove(KIND, name)

    try:
        wanted |= {passage.ref: passage for passage in make_passages(read())}
        if storage.read(find_changes):
            storage.write(work, within=0.5)
    except MnemosError as exc:
        # A search must not fail because of templates.
        log.warning("recall may not find the newest templates: %s", exc)


def make_passages(templates: Iterable[SessionTemplate]) -> list[Passage]:
    """Return the passages that the templates should have now."""
    rendered = ((template, render_passage(template)) for template in templates)
    return [
        Passage(0, KIND, template.name, None, None, template.created_at, live=True, text=text)
        for template, text in rendered
        if _is_safe(text)
    ]


def render_passage(template: SessionTemplate) -> str:
    """Return the text by which recall finds and shows a template."""
    tags = f" Tags: {_join(template.tags)}." if template.tags else ""
    description = " ".join(template.description.split())
    text = f"Session template {template.name} ({template.task_type})" + (description and f": {description}")
    sentence = text if text.endswith((".", "!", "?")) else f"{text}."
    return f"{sentence} Tools: {_join(template.tools)}.{tags}"


@lru_cache(maxsize=1_024)
def _is_safe(text: str) -> bool:
    """True if a hand-written file has no orders to the model."""
    return not scan(text)


def _join(words: Iterable[str]) -> str:
    text = ", ".join(words)
    return text if len(text) <= _MAX_LIST else f"{text[:_MAX_LIST]}…"
