"""When a unit of work ends: rules on turns, and what a message names."""

from __future__ import annotations

import re
from typing import Final

from msgspec.structs import replace

from mnemos.errors import InvalidInput
from mnemos.inputs import name
from mnemos.language.notation import check_visible, key_of
from mnemos.storage.facts import Attendance
from mnemos.text.stopwords import STOP_WORDS
from mnemos.text.words import is_unspaced

# A scope closes when so many turns of a session pass without a reference to it,
IDLE_TURNS: Final = 6
# unless another session referred to it within this time;
SHARED_SECONDS: Final = 3600.0
# or when so many turns after each other wrote to another scope alone.
SHIFT_TURNS: Final = 3

# What stands for "no scope" among the scopes written to.
NO_SCOPE: Final = 0

MAX_LABEL: Final = 100
_READ: Final = 4_000
_MOST_NAMES: Final = 1_000
_LONGEST_NAME: Final = 3
_TOKEN: Final = re.compile(r"\w+(?:[./:_@#+-]+\w+)*")
_JOINTS: Final = (" ", "-")
_BETWEEN: Final = re.compile(r"[\s_./-]+")


def checked_label(label: str) -> str:
    """The label of a scope as it is kept; one that is none raises InvalidInput."""
    check_visible("scope", name("scope", label))
    kept = " ".join(label.split()).strip("\u200c\u200d")
    if len(kept) > MAX_LABEL:
        raise InvalidInput(f"the scope has {len(kept)} characters; at most {MAX_LABEL}: use a short label")
    return kept


def advanced(attendance: Attendance, turn: int) -> Attendance:
    """The session as it enters a turn. A lower number restarts its count."""
    if turn == attendance.turn:
        return attendance
    if turn < attendance.turn:
        return Attendance(turn, attendance.scope_id)
    if len(attendance.wrote) != 1 or NO_SCOPE in attendance.wrote:
        return Attendance(turn, attendance.scope_id)
    (scope,) = attendance.wrote
    streak = attendance.streak + 1 if attendance.streak_scope == scope else 1
    return Attendance(turn, attendance.scope_id, frozenset(), streak, scope)


def has_shifted(attendance: Attendance) -> bool:
    """Whether the session has turned to one scope for good: its others close."""
    return attendance.streak >= SHIFT_TURNS


def wrote(attendance: Attendance, scope_id: int | None) -> Attendance:
    """The session after it wrote into a scope, or into none."""
    return replace(
        attendance,
        scope_id=attendance.scope_id if scope_id is None else scope_id,
        wrote=attendance.wrote | {scope_id or NO_SCOPE},
    )


def names_in(text: str) -> list[str]:
    """Words and short runs of words in a text that could be a label or a target, as keys."""
    tokens = [key_of(token) for token in _TOKEN.findall(text[:_READ])]
    found = {token: None for token in tokens if len(token) > 1 and token not in STOP_WORDS}
    for size in range(2, _LONGEST_NAME + 1):
        for start in range(len(tokens) - size + 1):
            words = tokens[start : start + size]
            if words[0] not in STOP_WORDS and words[-1] not in STOP_WORDS:
                for joint in _JOINTS:
                    found[joint.join(words)] = None
    return list(found)[:_MOST_NAMES]


class Heard:
    """A message in which labels are looked for."""

    def __init__(self, text: str) -> None:
        self._text = _spaced(key_of(text))

    def names(self, key: str) -> bool:
        """Whether the label stands there, as words of its own; blanks and dashes are the same."""
        label = _spaced(key)
        if not label or label in STOP_WORDS:
            return False
        start = self._text.find(label)
        while start >= 0:
            end = start + len(label)
            if not _runs_on(self._text, start) and not _runs_on(self._text, end):
                return True
            start = self._text.find(label, start + 1)
        return False


def _spaced(key: str) -> str:
    return _BETWEEN.sub(" ", key).strip()


def _runs_on(text: str, place: int) -> bool:
    """Whether a word goes on across this place; where words are written without blanks, none does."""
    if not 0 < place < len(text):
        return False
    before, after = text[place - 1], text[place]
    return before.isalnum() and after.isalnum() and not (is_unspaced(before) or is_unspaced(after))
