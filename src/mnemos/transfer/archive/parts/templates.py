"""Templates: tool calls that worked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from mnemos.errors import InvalidInput, MnemosError
from mnemos.templates.template import SessionTemplate
from mnemos.templates.tool_calls import clean_example
from mnemos.transfer.archive.model import Brought, Compared

if TYPE_CHECKING:
    from mnemos.memory import Memory
    from mnemos.transfer.archive.reading import Source
    from mnemos.transfer.archive.writing import Out

NAME: Final = "templates"
FILE: Final = "templates.jsonl"
_MOST_NUMBERED: Final = 1_000


class TemplatePart:
    name = NAME

    def __init__(self, memory: Memory) -> None:
        self._templates = memory.templates

    def size(self) -> int:
        return 1

    def write(self, out: Out) -> None:
        with out.lines(NAME, FILE) as lines:
            for template in sorted(self._templates.read_all(), key=lambda template: template.name):
                lines.write(template.to_dict())
        out.left_out += [
            f"template {problem.name}: {problem.reason}" for problem in self._templates.problems()
        ]
        out.count("templates", lines.rows)
        out.advance(1)

    def check(self, source: Source) -> dict[str, int]:
        return {FILE: sum(1 for _ in _read(source))}

    def bring_in(self, source: Source, brought: Brought) -> None:
        for template in _read(source):
            self._bring(template, brought)

    def _bring(self, template: SessionTemplate, brought: Brought) -> None:
        there = {one.name.casefold(): one for one in self._templates.read_all()}
        for name in _names(template.name):
            known = there.get(name.casefold())
            if known is not None and _contents(known) == _contents(template):
                brought.there += 1
                return
            if known is None:
                self._save(template, name, brought)
                return
        brought.refuse(f"template {template.name}: there are too many of that name")

    def _save(self, template: SessionTemplate, name: str, brought: Brought) -> None:
        try:
            self._templates.save(replace(template, name=name))
        except MnemosError as exc:
            brought.refuse(f"template {template.name}: {exc}")
            return
        brought.imported += 1
        if name != template.name:
            brought.tell(f"template {template.name} is {name} here: another one has its name")

    def compare(self, source: Source, compared: Compared) -> None:
        there = [_contents(template) for template in self._templates.read_all()]
        names = {template.name.casefold() for template in self._templates.read_all()}
        for template in _read(source):
            if _contents(template) in there:
                compared.same += 1
            elif template.name.casefold() in names:
                compared.differ(f"template {template.name}")
            else:
                compared.miss(f"template {template.name}")


def _read(source: Source) -> Iterator[SessionTemplate]:
    for place, row in source.rows(FILE):
        try:
            template = SessionTemplate.from_dict(row)
            template.examples = [clean_example(example) for example in template.examples]
        except InvalidInput as exc:
            raise type(exc)(f"{place}: {exc}") from exc
        yield template


def _names(name: str) -> Iterator[str]:
    yield name
    for number in range(2, _MOST_NUMBERED):
        yield f"{name}-{number}"


def _contents(template: SessionTemplate) -> dict[str, Any]:
    """What a template says; its name and how often it was used are no part of it."""
    return {**template.to_dict(), "name": "", "usage_count": 0}
