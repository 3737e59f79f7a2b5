"""``memory.templates``: extract tool calls that worked from a session, and start others with them."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from mnemos.errors import (
    AlreadyExists,
    Corrupt,
    InvalidInput,
    MnemosError,
    NotFound,
    ReadOnly,
    Refused,
)
from mnemos.inputs import name as checked_name
from mnemos.inputs import whole
from mnemos.language.threats import scan
from mnemos.language.threats.guard import admit
from mnemos.sessions.chat_format import Format
from mnemos.settings import Settings
from mnemos.storage.base import Storage
from mnemos.storage.tombstones import Tombstone, make_key
from mnemos.templates import session_survey
from mnemos.templates.template import (
    MAX_EXAMPLES,
    SessionTemplate,
    TaskName,
    TaskType,
    ToolCallExample,
    ToolSets,
    check_description,
    check_name,
    classify_task_type,
    is_valid_name,
    make_name,
    parse_tags,
    parse_task_type,
)
from mnemos.templates.template_files import TemplateFiles, unknown_template
from mnemos.templates.template_injection import inject
from mnemos.templates.tool_calls import (
    Conversations,
    clean_example,
    make_examples,
    match_calls,
    read_lineage,
    refuse_constant,
)
from mnemos.text.secrets import find_secrets

# Names of the same second that are tried.
_MAX_NUMBERED: Final = 1_000

log = logging.getLogger("mnemos.templates")

KIND: Final = "template"
"""The kind of a template's passage in recall, and of its removal."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A file that is not a template, and why."""

    name: str
    place: str
    reason: str


class Templates:
    """The templates of one space, in files that people may read and edit.

    Files are read again when they change. Unreadable ones are skipped and listed by ``problems``.
    """

    def __init__(
        self,
        files: TemplateFiles,
        sessions: Callable[[], Conversations],
        settings: Settings,
        clock: Callable[[], float],
        *,
        storage: Callable[[], Storage],
        read_only: bool = False,
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        """``sessions`` is called when conversations are first needed, ``changed`` after each change.

        ``storage`` is called for the log of what people allowed.
        """
        self.files = files
        self._sessions = sessions
        self._settings = settings
        self._clock = clock
        self._storage = storage
        self._read_only = read_only
        self._changed = changed
        self._tools = ToolSets.load(settings)
        # The state and content of each file when it was last read.
        self._known: dict[str, tuple[object, SessionTemplate | Problem]] = {}

    @property
    def templates(self) -> dict[str, SessionTemplate]:
        """All templates by name, newest first. Changing them changes no file; ``save`` does."""
        return {template.name: template for template in self.list_templates()}

    def classify_task_type(self, tool_calls: Iterable[Any]) -> TaskType:
        """Return the type of more than 60% of the calls, else mixed, by the tools in the settings."""
        return classify_task_type(tool_calls, self._tools)

    def extract_from_session(self, session_id: str, max_examples: int = 10) -> list[ToolCallExample]:
        """Return the first successful calls of a conversation, redacted and with long texts cut.

        The whole lineage is read, from its first session to its last. An unknown session raises NotFound.
        """
        checked_name("session_id", session_id)
        calls = match_calls(read_lineage(self._sessions(), session_id))
        return make_examples(calls, self._tools, _check_max_examples(max_examples))

    def create_template(
        self,
        session_id: str,
        name: str | None = None,
        task_type: TaskName | None = None,
        max_examples: int = 10,
        description: str = "",
        tags: Sequence[str] | None = None,
        *,
        allow: bool = False,
    ) -> SessionTemplate | None:
        """Save a template made from a session; None, with nothing saved, if no call succeeded.

        The default name is made of type, session and time; the default description names the session. A name
        in use raises AlreadyExists, one that is not a safe file name InvalidInput, a description that looks
        like a prompt injection Refused, unless a person passes ``allow``.
        """
        self._check_writable()
        chosen = None if name is None else check_name(name)
        kind = None if task_type is None else parse_task_type(task_type)
        text, labels = check_description(description), parse_tags([] if tags is None else tags)
        self._check_safe(text, [*labels, chosen or ""], allow=allow)
        examples = self.extract_from_session(session_id, max_examples)
        if not examples:
            return None
        kind = kind or self.classify_task_type(examples)
        text = text or _describe_origin(session_id)
        now = self._clock()
        template = SessionTemplate(
            chosen or make_name(kind, session_id, now), kind, examples, text, now, 0, session_id, labels
        )
        return self._create(template, is_named=chosen is not None)

    def save(self, template: SessionTemplate, *, allow: bool = False, at: float | None = None) -> None:
        """Write a template, replacing one of the same name but never lowering its usage count.

        Secrets are redacted and long texts cut, also in the caller's template. ``at``: when it was changed,
        if that was on another machine.
        """
        self._check_writable()
        template.name = check_name(template.name)
        self._check_safe(template.description, [template.name, *template.tags], allow=allow)
        template.examples = [clean_example(example) for example in template.examples]
        template.created_at = template.created_at or self._clock()
        # A file that can't be read back would be lost.
        SessionTemplate.from_dict(template.to_dict())

        def change(before: str | None) -> str:
            if before is None:
                self._check_free(template.name)
            else:
                present = _parse_template(template.name, before, self.files)
                template.usage_count = max(template.usage_count, present.usage_count)
            return _render(template.to_dict())

        self.files.change(template.name, change, self._clock() if at is None else at)
        self._changed()

    def get_template(self, task_type: TaskName, tags: Sequence[str] | None = None) -> SessionTemplate | None:
        """Return the least used template of a type, with one of these tags; of several, the newest."""
        found = self.list_templates(task_type, tags)
        return min(found, key=lambda template: template.usage_count, default=None)

    def list_templates(
        self, task_type: TaskName | None = None, tags: Sequence[str] | None = None
    ) -> list[SessionTemplate]:
        """Return templates, newest first; with ``tags``, those that have at least one, ignoring case."""
        kind = None if task_type is None else parse_task_type(task_type)
        wanted = [] if tags is None else parse_tags(tags)
        found = [
            _copy(template)
            for template in self._read()[0]
            if (kind is None or template.task_type is kind) and template.has_any_tag(wanted)
        ]
        return sorted(found, key=lambda template: (-template.created_at, template.name))

    def show(self, name: str) -> SessionTemplate:
        """Return a template by name. Raises NotFound, or Corrupt with the reason it can't be read."""
        if not is_valid_name(name):
            raise unknown_template(str(name), self.files.names())
        return _parse_template(check_name(name), self.files.read(check_name(name)), self.files)

    def delete_template(self, name: str) -> bool:
        """Delete a template, readable or not; False if there is none of this name."""
        self._check_writable()
        if not is_valid_name(name):
            return False
        known = next((one for one in self._read()[0] if one.name == check_name(name)), None)
        if not self.files.remove(check_name(name)):
            return False
        if known is not None:
            stone = Tombstone(KIND, removal_key(known), self._clock())
            self._storage().write(lambda tx: tx.tombstones.put([stone]))
        self._changed()
        return True

    def get_template_stats(self) -> dict[str, Any]:
        """Return ``total``, ``by_type`` (every type), ``total_examples`` and ``total_usage``."""
        templates = self._read()[0]
        kinds = Counter(template.task_type for template in templates)
        return {
            "total": len(templates),
            "by_type": {str(kind): kinds[kind] for kind in TaskType},
            "total_examples": sum(len(template.examples) for template in templates),
            "total_usage": sum(template.usage_count for template in templates),
        }

    def inject_into_messages(
        self,
        template: SessionTemplate,
        messages: Sequence[Mapping[str, Any]],
        *,
        budget: int | None = None,
        format: Format = "openai",
    ) -> list[Any]:
        """Return a new list with the template's examples after the leading system messages.

        ``budget`` limits the tokens added; None is the setting ``template_tokens``. Examples that don't fit
        are dropped from the end; if none fits, nothing is added and no use is counted. The use is counted
        in the file and in ``template``. With ``format="anthropic"`` the introduction is part of the user's
        message.
        """
        room = self._settings.template_tokens if budget is None else whole("budget", budget)
        result = inject(template, messages, budget=room, format=format)
        if result is None:
            return list(messages)
        template.usage_count = self._count_use(template)
        return result

    def suggest(
        self, limit: int = 10, *, task_type: TaskName | None = None, sessions: int = 200
    ) -> session_survey.Suggestions:
        """Rank the newest ``sessions`` by how well they would serve as a template.

        The score is made of successful calls, loops of running, failing and fixing, and how a conversation
        ended. Conversations that have a template already are skipped.
        """
        kind = None if task_type is None else parse_task_type(task_type)
        sources = (template.source_session_id for template in self._read()[0])
        survey = session_survey.Survey(self._sessions(), self._tools, whole("sessions", sessions))
        return session_survey.suggest(
            survey, kind=kind, used=frozenset(filter(None, sources)), limit=whole("limit", limit)
        )

    def experiment(
        self,
        template: str | None = None,
        *,
        task_type: TaskName | None = None,
        source: str | None = None,
        sessions: int = 1_000,
    ) -> session_survey.Experiment:
        """Compare the newest recorded conversations that began with a template to those that did not.

        ``template`` limits the first side to one template; ``task_type`` and ``source`` limit both.
        """
        kind = None if task_type is None else parse_task_type(task_type)
        survey = session_survey.Survey(self._sessions(), self._tools, whole("sessions", sessions), source)
        return session_survey.compare(survey, template=template, kind=kind)

    def read_all(self) -> list[SessionTemplate]:
        """Return all templates in any order. They are shared: don't change them."""
        return self._read()[0]

    def signature(self) -> object:
        """Return a value that changes whenever a file does; no file is read."""
        return self.files.states()

    def problems(self) -> list[Problem]:
        """Return the files that are not templates, each with the reason, for ``doctor``."""
        try:
            return sorted(self._read()[1], key=lambda problem: problem.name)
        except MnemosError as exc:
            return [Problem("", "", str(exc))]

    def find_by_sessions(self, session_ids: Sequence[str]) -> list[str]:
        """Return the paths of templates that were made from one of these sessions."""
        return [
            self.files.place(template.name)
            for template in self._read()[0]
            if template.source_session_id in session_ids
        ]

    def _create(self, template: SessionTemplate, *, is_named: bool) -> SessionTemplate:
        first = template.name
        for number in range(1, _MAX_NUMBERED):
            template.name = first if number == 1 else f"{first}-{number}"

            def change(before: str | None) -> str:
                self._check_free(template.name, is_there=before is not None)
                return _render(template.to_dict())

            try:
                self.files.change(template.name, change, self._clock())
            except AlreadyExists:
                if is_named:
                    raise
            else:
                self._changed()
                return template
        raise AlreadyExists(f"There are too many templates named {first!r}. Choose a name.")

    def _check_free(self, name: str, *, is_there: bool = False) -> None:
        """Refuse a name in use, ignoring case: some file systems do."""
        folded = name.casefold()
        if is_there or any(other.casefold() == folded for other in self.files.names()):
            raise AlreadyExists(
                f"The template {name!r} already exists. Choose another name, or delete it first."
            )

    def _check_writable(self) -> None:
        self._settings.check_enabled()
        if self._read_only:
            raise ReadOnly("This memory is read-only. Nothing was changed.")

    def _check_safe(self, description: str, tags: Sequence[str], *, allow: bool) -> None:
        text = "\n".join([description, *tags])
        if find_secrets(text):
            raise Refused(
                "The template was not saved: its name, description or a tag contains a secret. Remove it."
            )
        if scan(text):
            now, actor = self._clock(), self._settings.current_actor
            admit(self._storage(), "template", [text], allow=allow, at=now, actor=actor)

    def _count_use(self, template: SessionTemplate) -> int:
        """Count one more use, also in the file if there is one, and return the new count."""
        counted = template.usage_count + 1
        if self._settings.disabled or self._read_only or not is_valid_name(template.name):
            return counted

        def change(before: str | None) -> str | None:
            nonlocal counted
            if before is None:
                # Never saved, or deleted since: a use does not restore it.
                return None
            # Change the present text, which a person may have edited.
            data = _parse_json(before)
            counted = _parse_count(before) + 1
            return _render({**data, "usage_count": counted})

        try:
            # A sync goes by the time of the last change, and a use is none.
            self.files.change(template.name, change, self.files.changed_at(template.name))
        except MnemosError as exc:
            # Starting a session must not fail because a counter can't be written.
            log.warning("a use of the template %r was not counted: %s", template.name, exc)
        return counted

    def _read(self) -> tuple[list[SessionTemplate], list[Problem]]:
        """Return templates and problems; a file is read again only when it changed."""
        known: dict[str, tuple[object, SessionTemplate | Problem]] = {}
        for name, state in self.files.states().items():
            before = self._known.get(name)
            if before is not None and before[0] == state:
                known[name] = before
                continue
            try:
                known[name] = state, self._load(name)
            except NotFound:
                continue
            except MnemosError as exc:
                known[name] = state, Problem(name, self.files.place(name), str(exc))
        self._known = known
        found = [one for _, one in known.values()]
        return (
            [one for one in found if isinstance(one, SessionTemplate)],
            [one for one in found if isinstance(one, Problem)],
        )

    def _load(self, name: str) -> SessionTemplate:
        if not is_valid_name(name) or check_name(name) != name:
            place = self.files.place(name)
            raise Refused(f"{place} has a name that no template can have. Rename the file.")
        return _parse_template(name, self.files.read(name), self.files)


def removal_key(template: SessionTemplate) -> str:
    """Return the key under which a removal is recorded."""
    return make_key(template.name, template.created_at)


def _check_max_examples(value: Any) -> int:
    most = whole("max_examples", value)
    if not 1 <= most <= MAX_EXAMPLES:
        raise InvalidInput(f"max_examples must be from 1 to {MAX_EXAMPLES}, not {value!r}.")
    return most


def _describe_origin(session_id: str) -> str:
    """Return the default description; empty if the id looks like an injection or a secret."""
    return "" if scan(session_id) or find_secrets(session_id) else f"Extracted from session {session_id}"


def _parse_template(name: str, text: str, files: TemplateFiles) -> SessionTemplate:
    """Parse a file as a template, named after the file, because people copy files."""
    try:
        return SessionTemplate.from_dict({**_parse_json(text), "name": name})
    except InvalidInput as exc:
        raise Corrupt(
            f"{files.place(name)} is not a template: {str(exc).rstrip('.')}. Correct the file, or delete "
            f"it with `mnemos templates delete {name}`."
        ) from exc


def _parse_json(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text, parse_constant=refuse_constant)
    except RecursionError:
        raise InvalidInput("it is nested too deep") from None
    except ValueError as exc:
        raise InvalidInput(f"it is not JSON ({exc})") from exc
    if not isinstance(found, dict):
        raise InvalidInput("it is not an object with named fields")
    return found


def _parse_count(text: str) -> int:
    """Return the usage count in a file; 0 if it is not a number."""
    count = _parse_json(text).get("usage_count", 0)
    return count if isinstance(count, int) and not isinstance(count, bool) and count > 0 else 0


def _render(data: Mapping[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _copy(template: SessionTemplate) -> SessionTemplate:
    return replace(template, examples=list(template.examples), tags=list(template.tags))
