"""Arguments of operations: shared types, clean-up, and errors in plain words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta

from mnemos.errors import InvalidInput, NotFound
from mnemos.inputs import check_path, suggest
from mnemos.operations.texts import cut
from mnemos.text.stored_text import repair_surrogates

if TYPE_CHECKING:
    from mnemos.memory import Memory

MOST = 2**53
"""Largest whole number that JSON carries unchanged everywhere."""

Session = Annotated[str, Meta(description="Id of the session, the beginning of it, or its title")]
Source = Annotated[str | None, Meta(description="Only from this source, e.g. cli")]
Project = Annotated[str | None, Meta(description="Only this project: its path or last folder")]


def moment(description: str) -> Meta:
    """Annotate a date or time, in local time unless it names a zone."""
    return Meta(description=description, extra={METAVAR: "DATE"})


METAVAR = "metavar"
"""Key of the word that stands for a value in a command's help."""

_Moment = str | float | None
Since = Annotated[_Moment, moment("From this date or time on: 2026-10-01, yesterday, 3 days ago")]
Until = Annotated[_Moment, moment("Before this date or time")]
AsOf = Annotated[_Moment, moment("As it was at this date or time")]
Offset = Annotated[int, Meta(ge=0, le=MOST, description="Number of results to skip")]


def up_to(most: int, description: str = "Maximum number of results") -> Meta:
    """Annotate the number of results that an operation returns."""
    return Meta(ge=1, le=most, description=description)


def is_elsewhere(memory: Memory, project: str | None) -> bool:
    """True for another project than the current one, which need not be named."""
    return project is not None and project != memory.settings.project


_PERSON_ONLY = "person_only"


def person_only(description: str) -> Meta:
    """Annotate a field that only people may set, at the command line."""
    return Meta(description=description, extra={_PERSON_ONLY: True})


IGNORED = "Ignored"
"""Description of a field that does nothing and is hidden in a command's help."""

_UNLISTED = "unlisted"


def leave_unlisted(description: str) -> Meta:
    """Annotate a field that tools accept but do not list, to keep prompts short."""
    return Meta(description=description, extra={_UNLISTED: True})


def is_unlisted(extra: Mapping[str, Any] | None) -> bool:
    return bool(extra and extra.get(_UNLISTED))


# Tools that are in every prompt list few arguments.
OnlyProject = Annotated[str | None, person_only("Only this project: its path or last folder")]
AllProjects = Annotated[bool, person_only("Don't prefer the current project")]
# The program that calls for a model names the user: see ``Memory.call``.
User = Annotated[str | None, person_only("Only this user's data, and data without a user")]
Revision = Annotated[int | None, Meta(description="Fail if the session has changed since this revision")]
Allow = Annotated[bool, person_only("Store it even if it looks like a prompt injection")]


def is_person_only(extra: Mapping[str, Any] | None) -> bool:
    return bool(extra and extra.get(_PERSON_ONLY))


_KINDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "a string",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
_EXPECTED = re.compile(r"Expected (.+?)(?:, got .*)?", re.DOTALL)
_QUOTED = re.compile(r"`([^`]*)`")
_FIELD = re.compile(r"Object (missing required|contains unknown) field `(.*)`", re.DOTALL)
_AT = re.compile(r" - at `\$\.(\w+)")
_SHOWN = 80


def replace_surrogates(value: Any) -> Any:
    """Replace lone surrogates, which UTF-8 cannot encode, in all texts of a value.

    Dates become ISO text.
    """
    if isinstance(value, str):
        return repair_surrogates(value)
    if isinstance(value, Mapping):
        return {replace_surrogates(key): replace_surrogates(below) for key, below in value.items()}
    if isinstance(value, list | tuple):
        return [replace_surrogates(below) for below in value]
    if isinstance(value, date):
        return value.isoformat()
    return value


def path_of(text: str, field: str = "path") -> Path:
    """Return a file's absolute path, with ``~`` expanded; InvalidInput if impossible."""
    if not text.strip() or "\0" in text:
        raise InvalidInput(f"{field} must name a file or folder, not {text!r}.")
    check_path(text)
    try:
        return Path(text).expanduser().absolute()
    except RuntimeError as exc:
        raise InvalidInput(f"{field} is {text!r}: {exc}. Use the full path.") from exc


def resolve_sessions(memory: Memory, sessions: list[str], user_id: str | None = None) -> list[str]:
    """Return the ids of sessions. NotFound if unknown, or another user's."""
    return [memory.sessions.resolve_session(text, user_id=user_id) for text in sessions]


def resolve_exclusions(memory: Memory, sessions: list[str] | None, user_id: str | None = None) -> list[str]:
    """Return ids to exclude. Unknown ones are kept: the session may not exist yet."""
    return [resolve_or_keep(memory, text, user_id) for text in sessions or ()]


def explain(message: str, arguments: Mapping[str, Any], fields: Mapping[str, Any]) -> str:
    """Translate a decoder's complaint into words, with the value it is about.

    ``fields``: the JSON schema of every argument there is.
    """
    field = _FIELD.fullmatch(message)
    if field is not None and field[1] == "missing required":
        return f"the argument {field[2]!r} is missing"
    if field is not None:
        unknown = cut(field[2], _SHOWN)
        return (
            f"there is no argument {unknown!r}.{suggest(unknown, fields)} Use {', '.join(fields) or 'none'}"
        )
    at = _AT.search(message)
    complaint = _QUOTED.sub(_in_words, message.partition(" - at ")[0])
    complaint = cut(complaint, 3 * _SHOWN)
    if at is None:
        return complaint
    value = cut(repr(arguments.get(at[1])), _SHOWN)
    choices = _choices(fields.get(at[1], {}))
    if choices and complaint.startswith("Invalid enum value"):
        meant = suggest(arguments.get(at[1]), choices)
        return f"{at[1]} must be one of {', '.join(choices)}, not {value}.{meant}".removesuffix(".")
    if expected := _EXPECTED.fullmatch(complaint):
        return f"{at[1]} must be {expected[1]}, not {value}"
    return f"{at[1]} is {value}: {complaint[:1].lower()}{complaint[1:]}"


def resolve_or_keep(memory: Memory, session: str, user_id: str | None = None) -> str:
    """Return the id of a session; an unknown one is returned unchanged."""
    try:
        return memory.sessions.resolve_session(session, user_id=user_id)
    except NotFound:
        return session.removeprefix("session:")


def _choices(field: Mapping[str, Any]) -> list[str]:
    """Return the values that a field with a fixed set accepts."""
    kinds = [field, *field.get("anyOf", ())]
    return [str(choice) for kind in kinds for choice in kind.get("enum", ()) if choice is not None]


def _in_words(quoted: re.Match[str]) -> str:
    kinds = quoted[1].split(" | ")
    if all(kind in _KINDS for kind in kinds):
        return " or ".join(_KINDS[kind] for kind in kinds)
    return quoted[1]
