"""Checks of the arguments that callers pass to ``memory.facts``."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any, Final

from mnemos.errors import InvalidInput
from mnemos.facts.fact import number_of
from mnemos.inputs import names, suggest
from mnemos.language.notation import Statement
from mnemos.language.statements import guess_type, name_subject
from mnemos.setting_values import STATERS
from mnemos.settings import Settings
from mnemos.text.secrets import redact, redact_value, refuse_secret

_LONGEST_NAMED: Final = 2_000
_NUMBER: Final = re.compile(r"\.\d+$")
_OWN_SESSION: Final = re.compile(r"memory-[0-9a-f]{16}")


def redact_statement(statement: Statement, settings: Settings) -> Statement:
    if not settings.redact:
        return statement
    target = check_public("target of a fact", statement.target, settings)
    # Target and content are judged together, because the value of router.password is a password.
    return Statement(statement.mark, target, redact_value({target: statement.content}, redact)[target])


def check_public(label: str, name: str, settings: Settings) -> str:
    """Return a name that prompts, lists and logs show. A name with a secret raises Refused."""
    if settings.redact:
        refuse_secret(label, name, redact)
    return name


def list_texts(stated: Sequence[Statement], label: str | None, original: str) -> list[str]:
    """List the texts of statements to scan, and the original text if it says more than they do."""
    parts = [text for one in stated for text in list_scanned(one.target, one.content)]
    is_part = len(stated) == 1 and original.endswith(stated[0].content)
    return [*parts, label or "", "" if is_part else original]


def list_scanned(target: str, content: str) -> list[str]:
    """List the texts of a fact to scan. A target made from the fact's own words adds nothing.

    For example, "Do not share my address" gets the target ``share.address``, which alone would look like an
    instruction.
    """
    is_short = len(content) <= _LONGEST_NAMED
    is_ours = is_short and _NUMBER.sub("", target) == name_subject(content, guess_type(content))
    return [content] if is_ours else [target, content]


def check_stater(value: str | None) -> str | None:
    if value is not None and value not in STATERS:
        meant = suggest(value, STATERS)
        raise InvalidInput(f"stated_by must be one of {', '.join(STATERS)}, not {value!r}.{meant}")
    return value


def parse_refs(value: str | Sequence[str] | None) -> tuple[int, ...]:
    """Parse ids of facts: one, several, or several in one text."""
    listed = value.replace(",", " ").split() if isinstance(value, str) else names("replaces", value) or ()
    return tuple(dict.fromkeys(map(number_of, listed)))


def check_days(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1e6:
        raise InvalidInput(f"older_than_days must be 0 or more, not {value!r}.")
    return float(value)


def make_own_session() -> str:
    """Make a session id for a program whose calls name no session, to count turns and scopes."""
    return f"memory-{os.urandom(8).hex()}"


def is_own_session(session_id: str | None) -> bool:
    """True for an id of ``make_own_session``, which no conversation has."""
    return isinstance(session_id, str) and _OWN_SESSION.fullmatch(session_id) is not None
