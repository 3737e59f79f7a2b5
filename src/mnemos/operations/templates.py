"""Operations on templates: tool calls that worked, as examples for new sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from mnemos.errors import NotFound
from mnemos.operations.arguments import Allow, Session, Source, up_to
from mnemos.operations.base import Done, Info, Operation, Result, Traits, fill
from mnemos.operations.texts import cut, plural, render_time
from mnemos.templates.session_survey import MIN_CONVERSATIONS, Measure
from mnemos.templates.template_files import unknown_template
from mnemos.text.stored_text import join_items, one_line

if TYPE_CHECKING:
    from mnemos.memory import Memory
    from mnemos.templates.template import SessionTemplate

Kind = Literal["code", "file", "research", "mixed"]
Type = Annotated[Kind | None, Meta(description="Only this kind of work")]
Name = Annotated[str, Meta(description="Name of a template")]

_SHOWN_RESULT = 300


class ExampleInfo(Info, frozen=True, kw_only=True):
    """A tool call of a template."""

    tool_name: str
    arguments: dict[str, Any]
    result: str
    success: bool
    turn_number: int


class TemplateHeading(Info, frozen=True, kw_only=True):
    name: str
    task_type: str
    description: str
    tags: list[str]
    created_at: float
    usage_count: int
    source_session_id: str | None


class TemplateInfo(TemplateHeading, frozen=True, kw_only=True):
    """A template in a list, with the number of its examples."""

    examples: int
    tools: list[str]

    @classmethod
    def of(cls, template: SessionTemplate) -> TemplateInfo:
        return fill(cls, template.to_dict() | {"examples": len(template.examples), "tools": template.tools})


class TemplateDetail(TemplateHeading, frozen=True, kw_only=True):
    examples: list[ExampleInfo]


class ListTemplates(Operation, frozen=True, kw_only=True):
    """List templates, newest first."""

    traits: ClassVar[Traits] = Traits(title="List templates", read_only=True, example="--type code")

    type: Type = None
    tags: Annotated[list[str] | None, Meta(description="Only with at least one of these tags")] = None

    def run(self, memory: Memory) -> TemplateList:
        found = memory.templates.list_templates(self.type, self.tags)
        return TemplateList(
            templates=[TemplateInfo.of(template) for template in found],
            unread=[problem.reason for problem in memory.templates.problems()],
        )


class TemplateList(Result, frozen=True, kw_only=True):
    templates: list[TemplateInfo]
    unread: list[str]

    def as_text(self) -> str:
        lines = [
            f"{render_time(one.created_at)}  {one.name}  {one.task_type}  {plural(one.examples, 'example')}"
            f"  used {one.usage_count}×  {', '.join(one.tags)}".rstrip()
            for one in self.templates
        ]
        return join_items([*(lines or ["No templates."]), *self.unread])


class ShowTemplate(Operation, frozen=True, kw_only=True):
    """Show a template: its description and its tool calls."""

    traits: ClassVar[Traits] = Traits(
        title="Show a template", read_only=True, positional=("name",), example="fix-failing-tests"
    )

    name: Name

    def run(self, memory: Memory) -> TemplateShown:
        return TemplateShown(template=fill(TemplateDetail, memory.templates.show(self.name).to_dict()))


class TemplateShown(Result, frozen=True, kw_only=True):
    template: TemplateDetail

    def as_text(self) -> str:
        one = self.template
        source = f", from session {one.source_session_id}" if one.source_session_id else ""
        lines = [
            f"{one.name} ({one.task_type})",
            f"{render_time(one.created_at)}, used {one.usage_count}×{source}",
            *(f"  {line}" for line in (one.description, ", ".join(one.tags)) if line),
        ]
        for number, example in enumerate(one.examples, start=1):
            arguments = msgspec.json.encode(example.arguments).decode()
            lines += ["", f"{number}. {example.tool_name} {cut(arguments, _SHOWN_RESULT)}"]
            lines += [f"  {cut(example.result, _SHOWN_RESULT)}"] if example.result else []
        return join_items(lines)


class CreateTemplate(Operation, frozen=True, kw_only=True):
    """Create a template from the successful tool calls of a session, without secrets. Reads the whole
    conversation, including what was compressed."""

    traits: ClassVar[Traits] = Traits(
        title="Create a template",
        positional=("session",),
        example="trip-to-lisbon --name book-a-train --tags travel",
    )

    session: Session
    name: Annotated[str | None, Meta(description="A new name; default: from type, session and time")] = None
    type: Annotated[Kind | None, Meta(description="Kind of work; default: guessed from the tools called")] = (
        None
    )
    max_examples: Annotated[int, up_to(100, "Maximum number of tool calls")] = 10
    description: Annotated[str, Meta(description="When it is useful")] = ""
    tags: Annotated[list[str] | None, Meta(description="Tags to find it by")] = None
    allow: Allow = False

    def run(self, memory: Memory) -> TemplateCreated:
        session_id = memory.sessions.resolve_session(self.session)
        template = memory.templates.create_template(
            session_id, self.name, self.type, self.max_examples, self.description, self.tags, allow=self.allow
        )
        if template is None:
            raise NotFound(
                f"session {session_id} has no successful tool call. The tool templates_suggest lists "
                "sessions that have."
            )
        return TemplateCreated(template=TemplateInfo.of(template))


class TemplateCreated(Result, frozen=True, kw_only=True):
    template: TemplateInfo

    def as_text(self) -> str:
        one = self.template
        return one_line(
            f"Created template {one.name} ({one.task_type}) with {plural(one.examples, 'example')}: "
            f"{', '.join(one.tools)}."
        )


class DeleteTemplate(Operation, frozen=True, kw_only=True):
    """Permanently delete a template, even if its file cannot be read. Cannot be undone."""

    traits: ClassVar[Traits] = Traits(
        title="Delete a template",
        destructive=True,
        positional=("name",),
        example="fix-failing-tests --yes",
    )

    name: Name

    def run(self, memory: Memory) -> Done:
        if not memory.templates.delete_template(self.name):
            raise unknown_template(self.name, [one.name for one in memory.templates.read_all()])
        return Done(done=f"Deleted {self.name}.")

    def at_stake(self, memory: Memory) -> str:
        if any(problem.name == self.name for problem in memory.templates.problems()):
            return f"template {self.name}, which cannot be read"
        template = memory.templates.show(self.name)
        return f"template {template.name} with {plural(len(template.examples), 'example')} permanently"


class ShowTemplateStats(Operation, frozen=True, kw_only=True):
    """Count templates, their examples and their uses."""

    traits: ClassVar[Traits] = Traits(title="Count templates", read_only=True)

    def run(self, memory: Memory) -> TemplateStats:
        return fill(TemplateStats, memory.templates.get_template_stats())


class TemplateStats(Result, frozen=True, kw_only=True):
    total: int
    by_type: dict[str, int]
    total_examples: int
    total_usage: int

    def as_text(self) -> str:
        kinds = ", ".join(f"{count} {kind}" for kind, count in self.by_type.items() if count)
        return one_line(
            f"{plural(self.total, 'template')}{f' ({kinds})' if kinds else ''}, "
            f"{plural(self.total_examples, 'example')}, used {plural(self.total_usage, 'time')}."
        )


class SuggestTemplates(Operation, frozen=True, kw_only=True):
    """Suggest sessions to create templates from, best first. Ranked by the share of tool calls that
    succeeded, by cycles of running and fixing, and by how the session ended."""

    traits: ClassVar[Traits] = Traits(
        title="Suggest sessions for templates", read_only=True, example="--limit 5"
    )

    type: Type = None
    limit: Annotated[int, up_to(100)] = 10
    sessions: Annotated[int, up_to(10_000, "Number of newest sessions to examine")] = 200

    def run(self, memory: Memory) -> TemplatesSuggested:
        found = memory.templates.suggest(self.limit, task_type=self.type, sessions=self.sessions)
        short = memory.sessions.shorten_ids(one.session_id for one in found.suggestions)
        return TemplatesSuggested(
            suggestions=[
                replace(fill(SuggestionInfo, one), short_id=short[one.session_id])
                for one in found.suggestions
            ],
            looked_at=found.looked_at,
            complete=found.is_complete,
        )


class SuggestionInfo(Info, frozen=True, kw_only=True):
    """A session worth a template. ``loops`` counts commands repeated until they worked."""

    session_id: str
    title: str | None
    source: str
    started_at: float
    task_type: str
    calls: int
    succeeded: int
    loops: int
    runs: int
    end_reason: str | None
    score: float
    why: list[str]
    short_id: str = ""
    """Beginning of ``session_id`` that is enough to name it."""


class TemplatesSuggested(Result, frozen=True, kw_only=True):
    suggestions: list[SuggestionInfo]
    looked_at: int
    complete: bool

    def as_text(self) -> str:
        lines: list[str] = []
        for one in self.suggestions:
            title = one_line(one.title or "") or "Untitled"
            lines.append(f"{one.score:.2f}  {title}  {one.task_type}  {one.short_id or one.session_id}")
            lines.append(f"      {'; '.join(one.why)}")
        nothing = "Nothing to suggest: no session without a template has a successful tool call."
        return join_items(
            [*(lines or [nothing]), f"({_render_looked_at(self.looked_at, complete=self.complete)})"]
        )


class CompareTemplates(Operation, frozen=True, kw_only=True):
    """Compare recorded sessions with and without a template: the error rate in the first 30 turns, turns and
    calls to first success, total errors and tool diversity. Each has a 95% interval and sample sizes; the
    result says so if there is not enough data."""

    traits: ClassVar[Traits] = Traits(title="Do templates help?", read_only=True, example="--type code")

    template: Annotated[str | None, Meta(description="Only sessions that began with this template")] = None
    type: Annotated[Kind | None, Meta(description="Only this kind of work, for both groups")] = None
    source: Source = None
    sessions: Annotated[int, up_to(100_000, "Number of newest sessions to examine")] = 1_000

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
            measures=list(found.measures),
        )


def _render_measure(one: Measure) -> str:
    text = f"{one.name}: {_mean(one.with_mean)} with, {_mean(one.without_mean)} without"
    if one.difference is not None:
        text += f"; difference {one.difference:+.2f} ({one.low:+.2f} to {one.high:+.2f})"
    return f"{text}; n = {one.with_count:,} and {one.without_count:,}: {one.verdict}"


class TemplatesCompared(Result, frozen=True, kw_only=True):
    with_template: int
    without_template: int
    looked_at: int
    complete: bool
    enough: bool
    measures: list[Measure]

    def as_text(self) -> str:
        lines = [
            f"{plural(self.with_template, 'conversation')} with a template, {self.without_template:,} "
            f"without ({_render_looked_at(self.looked_at, complete=self.complete)})"
        ]
        if not self.enough:
            lines.append(f"Not enough data: {MIN_CONVERSATIONS} conversations on either side are needed.")
        lines += list(map(_render_measure, self.measures))
        if self.enough:
            lines.append("This is an observation, not a trial: templates may have been used for other work.")
        return join_items(lines)


def _render_looked_at(sessions: int, *, complete: bool) -> str:
    rest = "" if complete else ", the newest; raise sessions to look at more"
    return f"{plural(sessions, 'session')} looked at{rest}"


def _mean(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
