"""``memory.templates``: tool calls that worked, lifted from good sessions and put before new ones."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from mnemos.errors import (
    AlreadyExists,
    Corrupt,
    Disabled,
    InvalidInput,
    MnemosError,
    NotFound,
    ReadOnly,
    Refused,
)
from mnemos.inputs import name as checked_name
from mnemos.inputs import whole
from mnemos.settings import Settings
from mnemos.templates import experiment, suggesting
from mnemos.templates.extraction import clean, examples_of
from mnemos.templates.files import Files
from mnemos.templates.injection import injected
from mnemos.templates.kinds import ToolSets, classify_task_type
from mnemos.templates.model import (
    MOST_EXAMPLES,
    SessionTemplate,
    TaskType,
    ToolCallExample,
    description_of,
    tags_of,
    task_type_of,
)
from mnemos.templates.names import can_be_file_name, default_name, file_name
from mnemos.templates.reading import Conversations, answered_calls, whole_conversation
from mnemos.text.secrets import find_secrets
from mnemos.text.threats import threats

# How many names of the same second are tried.
_MOST_NUMBERED: Final = 1_000

log = logging.getLogger("mnemos.templates")


def _nothing() -> None:
    """For those whom a change concerns nobody else."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A file that is no template, and why."""

    name: str
    place: str
    reason: str


class Templates:
    """The templates of one space, in files that people may read and edit.

    What a file says now is what counts. A file that cannot be read is left out and told by ``problems``.
    """

    def __init__(
        self,
        files: Files,
        sessions: Callable[[], Conversations],
        settings: Settings,
        clock: Callable[[], float],
        *,
        read_only: bool = False,
        changed: Callable[[], None] = _nothing,
    ) -> None:
        """``sessions`` is called when conversations are needed, not before; ``changed`` after a change."""
        self._files = files
        self._sessions = sessions
        self._settings = settings
        self._clock = clock
        self._read_only = read_only
        self._changed = changed
        self._tools = ToolSets.of(settings)
        # What each file said when it was last read, and how it looked then.
        self._known: dict[str, tuple[object, SessionTemplate | Problem]] = {}

    # --- lifting ----------------------------------------------------------------------------

    def extract_from_session(self, session_id: str, max_examples: int = 10) -> list[ToolCallExample]:
        """The first calls of a conversation that succeeded, without secrets, long texts cut; maybe none.

        The whole lineage is read, from its first session to its last. Unknown raises NotFound.
        """
        checked_name("session_id", session_id)
        calls = answered_calls(whole_conversation(self._sessions(), session_id))
        return examples_of(calls, self._tools, _examples_wanted(max_examples))

    def create_template(
        self,
        session_id: str,
        name: str | None = None,
        task_type: TaskType | str | None = None,
        max_examples: int = 10,
        description: str = "",
        tags: Sequence[str] | None = None,
    ) -> SessionTemplate | None:
        """Lift a template from a session and save it; None, and nothing is saved, when no call succeeded.

        Without a name it gets one of type, session and time. A name in use raises AlreadyExists, one that
        is no name for a file InvalidInput.
        """
        self._check_writable()
        chosen = None if name is None else file_name(name)
        kind = None if task_type is None else task_type_of(task_type)
        said, labels = description_of(description), tags_of([] if tags is None else tags)
        _check_safe(said, labels)
        examples = self.extract_from_session(session_id, max_examples)
        if not examples:
            return None
        kind = kind or classify_task_type(examples, self._tools)
        now = self._clock()
        template = SessionTemplate(
            chosen or default_name(kind, session_id, now), kind, examples, said, now, 0, session_id, labels
        )
        return self._created(template, is_named=chosen is not None)

    def save(self, template: SessionTemplate) -> None:
        """Write a template, in the place of one of the same name; a use that was counted stays counted.

        Secrets are taken out of the examples, and long texts are cut, also in what the caller holds.
        """
        self._check_writable()
        template.name = file_name(template.name)
        _check_safe(template.description, template.tags)
        template.examples = [clean(example) for example in template.examples]
        template.created_at = template.created_at or self._clock()
        # What could not be read again would be lost.
        SessionTemplate.from_dict(template.to_dict())

        def change(before: str | None) -> str:
            if before is None:
                self._check_free(template.name)
            else:
                there = _read_as(template.name, before, self._files)
                template.usage_count = max(template.usage_count, there.usage_count)
            return _written(template.to_dict())

        self._files.change(template.name, change)
        self._changed()

    # --- choosing ---------------------------------------------------------------------------

    def get_template(
        self, task_type: TaskType | str, tags: Sequence[str] | None = None
    ) -> SessionTemplate | None:
        """The template of this type, with one of these tags, that was used least; of several, the newest."""
        found = self.list_templates(task_type, tags)
        return min(found, key=lambda template: template.usage_count, default=None)

    def list_templates(
        self, task_type: TaskType | str | None = None, tags: Sequence[str] | None = None
    ) -> list[SessionTemplate]:
        """Templates, newest first. ``tags``: those that have at least one of them, case ignored."""
        kind = None if task_type is None else task_type_of(task_type)
        wanted = [] if tags is None else tags_of(tags)
        found = [
            _copy(template)
            for template in self._read()[0]
            if (kind is None or template.task_type is kind) and template.has_some_of(wanted)
        ]
        return sorted(found, key=lambda template: (-template.created_at, template.name))

    def show(self, name: str) -> SessionTemplate:
        """The template of this name. Unknown raises NotFound, one that cannot be read says why."""
        if not can_be_file_name(name):
            raise NotFound(f"there is no template {name!r}; see `mnemos templates list`")
        return _read_as(file_name(name), self._files.read(file_name(name)), self._files)

    def delete_template(self, name: str) -> bool:
        """Take a template away, also one that cannot be read; False when there is none of this name."""
        self._check_writable()
        if not can_be_file_name(name) or not self._files.remove(file_name(name)):
            return False
        self._changed()
        return True

    def get_template_stats(self) -> dict[str, Any]:
        """``total``, ``by_type`` (every type, also those with none), ``total_examples``, ``total_usage``."""
        there = self._read()[0]
        kinds = Counter(template.task_type for template in there)
        return {
            "total": len(there),
            "by_type": {str(kind): kinds[kind] for kind in TaskType},
            "total_examples": sum(len(template.examples) for template in there),
            "total_usage": sum(template.usage_count for template in there),
        }

    # --- using ------------------------------------------------------------------------------

    def inject_into_messages(
        self,
        template: SessionTemplate,
        messages: Sequence[Mapping[str, Any]],
        *,
        budget: int | None = None,
        format: str = "openai",
    ) -> list[Any]:
        """A new list: the conversation with the template's examples after its leading system messages.

        ``budget``: what it may add, in tokens; None is the setting ``template_tokens``. Examples that do
        not fit are dropped from the end; when none fits nothing is added, and no use is counted. The count
        goes up in the file and in ``template``. ``format`` ``anthropic``: for messages in that shape, where
        the introduction is part of the user's line.
        """
        room = self._settings.template_tokens if budget is None else whole("budget", budget)
        result = injected(template, messages, budget=room, format=format)
        if result is None:
            return list(messages)
        template.usage_count = self._count_use(template)
        return result

    # --- judging sessions -------------------------------------------------------------------

    def suggest(
        self, limit: int = 10, *, task_type: TaskType | str | None = None, sessions: int = 200
    ) -> suggesting.Suggested:
        """Conversations worth lifting, best first, of the newest ``sessions`` that called tools.

        Ranked by how many of their calls succeeded, by loops of running, seeing it fail and making it
        work, and by how they ended. Those that have a template already are left out.
        """
        kind = None if task_type is None else task_type_of(task_type)
        lifted = {template.source_session_id for template in self._read()[0]} - {None}
        return suggesting.suggest(
            self._sessions(),
            self._tools,
            kind=kind,
            lifted=frozenset(filter(None, lifted)),
            limit=whole("limit", limit),
            most=whole("sessions", sessions),
        )

    def experiment(
        self,
        template: str | None = None,
        *,
        task_type: TaskType | str | None = None,
        source: str | None = None,
        sessions: int = 1_000,
    ) -> experiment.Experiment:
        """Compare recorded conversations that began with a template with those that did not.

        ``template``: only with this one. ``task_type`` and ``source``: only such conversations, on both
        sides. Of the newest ``sessions`` that called tools.
        """
        return experiment.compare(
            self._sessions(),
            self._tools,
            template=template,
            kind=None if task_type is None else task_type_of(task_type),
            source=source,
            most=whole("sessions", sessions),
        )

    # --- for the home -----------------------------------------------------------------------

    def kept(self) -> list[SessionTemplate]:
        """All templates in any order, for reading only: what recall is told of at every question."""
        return self._read()[0]

    def problems(self) -> list[Problem]:
        """The files that are no templates, each with the reason: what ``doctor`` tells."""
        try:
            return sorted(self._read()[1], key=lambda problem: problem.name)
        except MnemosError as exc:
            return [Problem("", "", str(exc))]

    def lifted_from(self, session_ids: Sequence[str]) -> list[str]:
        """Where templates are that were lifted from one of these sessions."""
        return [
            self._files.place(template.name)
            for template in self._read()[0]
            if template.source_session_id in session_ids
        ]

    # --- inside -----------------------------------------------------------------------------

    def _created(self, template: SessionTemplate, *, is_named: bool) -> SessionTemplate:
        first = template.name
        for number in range(1, _MOST_NUMBERED):
            template.name = first if number == 1 else f"{first}-{number}"

            def change(before: str | None) -> str:
                self._check_free(template.name, is_there=before is not None)
                return _written(template.to_dict())

            try:
                self._files.change(template.name, change)
            except AlreadyExists:
                if is_named:
                    raise
            else:
                self._changed()
                return template
        raise AlreadyExists(f"there are too many templates named {first!r}; give a name")

    def _check_free(self, name: str, *, is_there: bool = False) -> None:
        """Two names that differ by case only are one file where people may carry them."""
        folded = name.casefold()
        if is_there or any(other.casefold() == folded for other in self._files.names()):
            raise AlreadyExists(
                f"there is a template {name!r} already; choose another name, or delete it first"
            )

    def _check_writable(self) -> None:
        if self._settings.disabled:
            raise Disabled("memory is disabled (MNEMOS_DISABLED is set); nothing was changed")
        if self._read_only:
            raise ReadOnly("the memory is open for reading only; nothing was changed")

    def _count_use(self, template: SessionTemplate) -> int:
        """One more use, in the file if there is one; the new count."""
        counted = template.usage_count + 1
        if self._settings.disabled or self._read_only or not can_be_file_name(template.name):
            return counted

        def change(before: str | None) -> str | None:
            nonlocal counted
            if before is None:
                # Never saved, or taken away since: a use does not bring it back.
                return None
            # The text that is there, and not ours: somebody may have edited it.
            data = _loaded(before)
            counted = _count_in(before) + 1
            return _written({**data, "usage_count": counted})

        try:
            self._files.change(template.name, change)
        except MnemosError as exc:
            # Whoever begins a session should not fail because a number could not be written.
            log.warning("a use of the template %r was not counted: %s", template.name, exc)
        return counted

    def _read(self) -> tuple[list[SessionTemplate], list[Problem]]:
        """What the files say; a file is read again only when it changed."""
        known: dict[str, tuple[object, SessionTemplate | Problem]] = {}
        for name, state in self._files.states().items():
            before = self._known.get(name)
            if before is not None and before[0] == state:
                known[name] = before
                continue
            try:
                known[name] = state, self._one(name)
            except NotFound:
                continue
            except MnemosError as exc:
                known[name] = state, Problem(name, self._files.place(name), str(exc))
        self._known = known
        found = [one for _, one in known.values()]
        return (
            [one for one in found if isinstance(one, SessionTemplate)],
            [one for one in found if isinstance(one, Problem)],
        )

    def _one(self, name: str) -> SessionTemplate:
        if not can_be_file_name(name) or file_name(name) != name:
            place = self._files.place(name)
            raise Refused(f"{place} has a name that no template can have; rename the file")
        return _read_as(name, self._files.read(name), self._files)


def _examples_wanted(value: Any) -> int:
    most = whole("max_examples", value)
    if not 1 <= most <= MOST_EXAMPLES:
        raise InvalidInput(f"max_examples is {value!r}; use 1 to {MOST_EXAMPLES}")
    return most


def _check_safe(description: str, tags: Sequence[str]) -> None:
    said = "\n".join([description, *tags])
    if found := threats(said):
        raise Refused(
            f"the template was not saved: its description {found[0].reason}. It is put before conversations; "
            "write down what the template is for"
        )
    if find_secrets(said):
        raise Refused("the template was not saved: its description holds a secret; leave it out")


def _read_as(name: str, text: str, files: Files) -> SessionTemplate:
    """A file as a template. The file's name is the template's, whatever it says: people copy files."""
    try:
        return SessionTemplate.from_dict({**_loaded(text), "name": name})
    except InvalidInput as exc:
        raise Corrupt(
            f"{files.place(name)} is no template: {exc}. Correct it by hand, or take it away with "
            f"`mnemos templates delete {name}`"
        ) from exc


def _loaded(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text, parse_constant=_no_constant)
    except RecursionError:
        raise InvalidInput("it is nested too deep") from None
    except ValueError as exc:
        raise InvalidInput(f"it is not JSON ({exc})") from exc
    if not isinstance(found, dict):
        raise InvalidInput("it is not an object with named fields")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _count_in(text: str) -> int:
    """The uses that a file counts; 0 where somebody wrote something else."""
    count = _loaded(text).get("usage_count", 0)
    return count if isinstance(count, int) and not isinstance(count, bool) and count > 0 else 0


def _written(data: Mapping[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _copy(template: SessionTemplate) -> SessionTemplate:
    return replace(template, examples=list(template.examples), tags=list(template.tags))
