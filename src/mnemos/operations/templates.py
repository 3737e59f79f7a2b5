"""Operations on templates: tool calls that worked, for new sessions to begin with."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import Meta

from mnemos.errors import NotFound
from mnemos.operations.base import Done, Operation, Result, Traits
from mnemos.operations.moments import shown
from mnemos.operations.wording import Session, counted, cut

if TYPE_CHECKING:
    from mnemos.memory import Memory
    from mnemos.templates.session_survey import Measure
    from mnemos.templates.template import SessionTemplate

Type = Annotated[
    Literal["code", "file", "research", "mixed"] | None, Meta(description="Only work of this kind")
]
Tags = Annotated[list[str] | None, Meta(description="With at least one of these tags")]
Name = Annotated[str, Meta(description="The name of a template")]

_SHOWN_RESULT = 300


class ListTemplates(Operation, frozen=True, kw_only=True):
    """List templates, newest first."""

    traits: ClassVar[Traits] = Traits(title="List templates", read_only=True, example=("--type", "code"))

    type: Type = None
    tags: Tags = None

    def run(self, memory: Memory) -> TemplateList:
        found = memory.templates.list_templates(self.type, self.tags)
        return TemplateList(
            templates=[_listed(template) for template in found],
            unread=[problem.reason for problem in memory.templates.problems()],
        )


class TemplateList(Result, frozen=True, kw_only=True):
    templates: list[dict[str, Any]]
    unread: list[str]

    def as_text(self) -> str:
        lines = [
            f"{shown(t['created_at'])}  {t['name']}  {t['task_type']}  {counted(t['examples'], 'example')}"
            f"  used {t['usage_count']}×  {', '.join(t['tags'])}".rstrip()
            for t in self.templates
        ]
        return "\n".join([*(lines or ["No templates."]), *self.unread])


class ShowTemplate(Operation, frozen=True, kw_only=True):
    """Show a template: what it is for, and the tool calls in it."""

    traits: ClassVar[Traits] = Traits(
        title="Show a template", read_only=True, positional=("name",), example=("fix-failing-tests",)
    )

    name: Name

    def run(self, memory: Memory) -> TemplateShown:
        return TemplateShown(template=memory.templates.show(self.name).to_dict())


class TemplateShown(Result, frozen=True, kw_only=True):
    template: dict[str, Any]

    def as_text(self) -> str:
        t = self.template
        source = f", from session {t['source_session_id']}" if t["source_session_id"] else ""
        lines = [
            f"{t['name']} ({t['task_type']})",
            f"{shown(t['created_at'])}, used {t['usage_count']}×{source}",
            *filter(None, [t["description"], ", ".join(t["tags"])]),
        ]
        for number, example in enumerate(t["examples"], start=1):
            arguments = msgspec.json.encode(example["arguments"]).decode()
            lines += ["", f"{number}. {example['tool_name']} {cut(arguments, _SHOWN_RESULT)}"]
            lines += [f"   {line}" for line in cut(example["result"], _SHOWN_RESULT).splitlines()]
        return "\n".join(lines)


class CreateTemplate(Operation, frozen=True, kw_only=True):
    """Lift a template from a session. It holds the tool calls that succeeded, without secrets; the whole
    conversation is read, also what was compressed."""

    traits: ClassVar[Traits] = Traits(
        title="Lift a template from a session",
        positional=("session",),
        example=("SESSION", "--name", "fix-failing-tests", "--tags", "python"),
    )

    session: Session
    name: Annotated[
        str | None, Meta(description="A name for it, not in use; default: type, session and time")
    ] = None
    type: Annotated[
        Literal["code", "file", "research", "mixed"] | None,
        Meta(description="The kind of work; default: by the tools that were called"),
    ] = None
    max_examples: Annotated[int, Meta(ge=1, le=100, description="At most so many tool calls")] = 10
    description: Annotated[str, Meta(description="What it is good for")] = ""
    tags: Annotated[list[str] | None, Meta(description="Words to choose it by")] = None

    def run(self, memory: Memory) -> TemplateCreated:
        session_id = memory.sessions.resolve_session(self.session)
        template = memory.templates.create_template(
            session_id, self.name, self.type, self.max_examples, self.description, self.tags
        )
        if template is None:
            raise NotFound(
                f"session {session_id} has no tool call that succeeded, so there is nothing to lift; "
                "`mnemos templates suggest` names sessions that have"
            )
        return TemplateCreated(template=_listed(template))


class TemplateCreated(Result, frozen=True, kw_only=True):
    template: dict[str, Any]

    def as_text(self) -> str:
        t = self.template
        return (
            f"Template {t['name']} ({t['task_type']}) with {counted(t['examples'], 'example')}: "
            f"{', '.join(t['tools'])}."
        )


class DeleteTemplate(Operation, frozen=True, kw_only=True):
    """Delete a template, also one whose file cannot be read. Cannot be undone."""

    traits: ClassVar[Traits] = Traits(
        title="Delete a template",
        destructive=True,
        positional=("name",),
        example=("fix-failing-tests", "--yes"),
    )

    name: Name

    def run(self, memory: Memory) -> Done:
        if not memory.templates.delete_template(self.name):
            raise NotFound(f"there is no template {self.name!r}; see `mnemos templates list`")
        return Done(done=f"{self.name} is deleted.")

    def at_stake(self, memory: Memory) -> str:
        if any(problem.name == self.name for problem in memory.templates.problems()):
            return f"template {self.name}, which cannot be read"
        template = memory.templates.show(self.name)
        return f"template {template.name} with {counted(len(template.examples), 'example')}, for good"


class ShowTemplateStats(Operation, frozen=True, kw_only=True):
    """Count templates, their examples and their uses."""

    traits: ClassVar[Traits] = Traits(title="Count templates", read_only=True)

    def run(self, memory: Memory) -> TemplateStats:
        return TemplateStats(**memory.templates.get_template_stats())


class TemplateStats(Result, frozen=True, kw_only=True):
    total: int
    by_type: dict[str, int]
    total_examples: int
    total_usage: int

    def as_text(self) -> str:
        kinds = ", ".join(f"{count} {kind}" for kind, count in self.by_type.items() if count)
        return (
            f"{counted(self.total, 'template')}{f' ({kinds})' if kinds else ''}, "
            f"{counted(self.total_examples, 'example')}, used {counted(self.total_usage, 'time')}."
        )


class SuggestTemplates(Operation, frozen=True, kw_only=True):
    """Name sessions that are worth lifting, best first. They are ranked by the share of tool calls that
    succeeded, by loops of running, seeing and fixing, and by how they ended."""

    traits: ClassVar[Traits] = Traits(
        title="Suggest sessions for templates", read_only=True, example=("--limit", "5")
    )

    type: Type = None
    limit: Annotated[int, Meta(ge=1, le=100, description="At most so many")] = 10
    sessions: Annotated[int, Meta(ge=1, le=10_000, description="Look at so many of the newest sessions")] = (
        200
    )

    def run(self, memory: Memory) -> TemplatesSuggested:
        found = memory.templates.suggest(self.limit, task_type=self.type, sessions=self.sessions)
        return TemplatesSuggested(
            suggestions=[
                asdict(one) | {"task_type": str(one.task_type), "why": list(one.why)}
                for one in found.suggestions
            ],
            looked_at=found.looked_at,
            complete=found.is_complete,
        )


class TemplatesSuggested(Result, frozen=True, kw_only=True):
    suggestions: list[dict[str, Any]]
    looked_at: int
    complete: bool

    def as_text(self) -> str:
        lines: list[str] = []
        for s in self.suggestions:
            lines.append(
                f"{s['score']:.2f}  {s['session_id']}  {s['task_type']}  {s['title'] or ''}".rstrip()
            )
            lines.append(f"      {'; '.join(s['why'])}")
        there = "" if self.complete else ", the newest; --sessions looks at more"
        return "\n".join(
            [
                *(
                    lines
                    or ["No session to suggest: none that has no template yet has a call that succeeded."]
                ),
                f"({counted(self.looked_at, 'session')} looked at{there})",
            ]
        )


class CompareTemplates(Operation, frozen=True, kw_only=True):
    """Compare recorded sessions with and without a template. Compared are the error rate in the first 30
    turns, turns and calls to first success, total errors and tool diversity, each with a 95% interval and
    sample sizes; it says so when there is not enough data."""

    traits: ClassVar[Traits] = Traits(title="Do templates help?", read_only=True, example=("--type", "code"))

    template: Annotated[str | None, Meta(description="Only sessions that began with this one")] = None
    type: Annotated[
        Literal["code", "file", "research", "mixed"] | None,
        Meta(description="Only sessions of this kind of work, on both sides"),
    ] = None
    source: Annotated[str | None, Meta(description="Only from this source, on both sides")] = None
    sessions: Annotated[int, Meta(ge=1, le=100_000, description="Look at so many of the newest sessions")] = (
        1_000
    )

    def run(self, memory: Memory) -> TemplatesCompared:
        found = memory.templates.experiment(
            self.template, task_type=self.type, source=self.source, sessions=self.sessions
        )
        return TemplatesCompared(
            with_template=found.with_template,
            without_template=found.without_template,
            looked_at=found.looked_at,
            complete=found.is_complete,
            enough=found.is_enough,
            measures=[_measured(measure) for measure in found.measures],
        )


class TemplatesCompared(Result, frozen=True, kw_only=True):
    with_template: int
    without_template: int
    looked_at: int
    complete: bool
    enough: bool
    measures: list[dict[str, Any]]

    def as_text(self) -> str:
        there = "" if self.complete else ", the newest; --sessions looks at more"
        lines = [
            f"{counted(self.with_template, 'conversation')} with a template, "
            f"{self.without_template:,} without ({counted(self.looked_at, 'session')} looked at{there})"
        ]
        if not self.enough:
            from mnemos.templates.session_survey import MIN_CONVERSATIONS

            lines.append(f"Not enough data: it takes {MIN_CONVERSATIONS} conversations on either side.")
        for m in self.measures:
            lines.append(f"{m['name']}: {_mean(m['with_mean'])} with, {_mean(m['without_mean'])} without")
            if m["difference"] is not None:
                lines[-1] += f"; difference {m['difference']:+.2f} ({m['low']:+.2f} to {m['high']:+.2f})"
            lines[-1] += f"; n = {m['with_count']:,} and {m['without_count']:,}: {m['verdict']}"
        if self.enough:
            lines.append("Observed, not tried: who chose when to use a template chose the work, too.")
        return "\n".join(lines)


def _listed(template: SessionTemplate) -> dict[str, Any]:
    return template.to_dict() | {"examples": len(template.examples), "tools": template.tools}


def _measured(measure: Measure) -> dict[str, Any]:
    rounded = ("with_mean", "without_mean", "difference", "low", "high")
    return {
        key: round(value, 4) if key in rounded and value is not None else value
        for key, value in asdict(measure).items()
    }


def _mean(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
