"""Scopes, the units of work that facts belong to, and the turns that close them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from msgspec.structs import replace

from mnemos.errors import InvalidInput, NotFound
from mnemos.facts.fact_inputs import list_scanned
from mnemos.inputs import name, suggest
from mnemos.language.closing import Closing
from mnemos.language.notation import check_visible, key_of
from mnemos.language.threats.guard import is_allowed
from mnemos.storage.base import Reads, Writes
from mnemos.storage.facts import Attendance, Hot, ScopeRow
from mnemos.text.words import STOP_WORDS, is_unspaced

# A scope closes when this many turns of a session pass without a reference to it,
IDLE_TURNS: Final = 6
# unless another session referred to it within this time;
SHARED_SECONDS: Final = 3600.0
# or when this many consecutive turns wrote to one other scope only.
SHIFT_TURNS: Final = 3

# Stands for "no scope" among the scopes written to.
NO_SCOPE: Final = 0

MAX_LABEL: Final = 100
# The number of facts that become hot again with their scope, before the budget is applied.
_CONSTRAINTS_WARMED: Final = 200
_OTHERS_WARMED: Final = 20
# Labels of this many of the newest scopes are looked for in a message, however long they are.
_NEWEST_SCOPES: Final = 50
_READ: Final = 4_000
_READ_FOR_LABELS: Final = 20_000
_MOST_NAMES: Final = 1_000
_LONGEST_NAME: Final = 3
_TOKEN: Final = re.compile(r"\w+(?:[./:_@#+-]+\w+)*")
_JOINTS: Final = (" ", "-")
_BETWEEN: Final = re.compile(r"[\s_./-]+")


def normalize_label(label: str) -> str:
    """Normalize the label of a scope for storage. An invalid label raises InvalidInput."""
    check_visible("scope", name("scope", label))
    kept = " ".join(label.split()).strip("\u200c\u200d")
    if len(kept) > MAX_LABEL:
        raise InvalidInput(f"The scope has {len(kept)} characters. Use a label of up to {MAX_LABEL}.")
    return kept


def find_scope(tx: Reads, label: str) -> ScopeRow:
    """Return the scope with a label. An unknown label raises NotFound."""
    scope = tx.facts.scope(key_of(normalize_label(label)))
    if scope is None:
        known = [one.label for one in tx.facts.open_scopes(10)]
        advice = (
            f"Open scopes: {', '.join(known)}" if known else "None is open. `mnemos facts scopes` lists them"
        )
        raise NotFound(f"There is no scope {label!r}.{suggest(label, known)} {advice}.")
    return scope


def open_scope(tx: Writes, label: str, now: float) -> tuple[ScopeRow, bool]:
    """Open or create the scope with a label; return it and True if it was closed before.

    The facts of a reopened scope become hot again, constraints first.
    """
    scope, was_closed = tx.facts.open_scope(label, key_of(label), now)
    if was_closed:
        tx.facts.warm(scope.id, constraints=_CONSTRAINTS_WARMED, others=_OTHERS_WARMED)
        _cool_marked(tx, scope.id)
    return scope, was_closed


def _cool_marked(tx: Writes, scope_id: int) -> None:
    """Keep imported facts that look like prompt injections cold."""
    hot = tx.facts.hot(constraints=_CONSTRAINTS_WARMED, count=_CONSTRAINTS_WARMED)
    here = [fact for fact in (*hot.constraints, *hot.others) if fact.scope_id == scope_id]
    marked = [
        fact.id
        for fact in here
        if not all(is_allowed(tx, text) for text in list_scanned(fact.target, fact.content))
    ]
    if marked:
        tx.facts.cool(marked)


def find_idle(tx: Reads, hot: Hot, session: str, turn: int, now: float) -> frozenset[int]:
    """Return open scopes of hot facts that this session left or that nobody touched recently."""
    since = now - SHARED_SECONDS
    left = {scope.id for scope in tx.facts.idle(session, turn=turn - SHIFT_TURNS, since=since)}
    there = tx.facts.scopes({fact.scope_id for fact in hot.others if fact.scope_id is not None})
    return frozenset(left | {scope.id for scope in there.values() if scope.touched_at < since})


# --- attendance: the scopes that a session wrote to in its turns ------------------------------


def enter_turn(attendance: Attendance, turn: int) -> Attendance:
    """Return the session's attendance in a new turn. A lower number restarts the count."""
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
    """True if the session has settled on one scope, so that its others close."""
    return attendance.streak >= SHIFT_TURNS


def note_write(attendance: Attendance, scope_id: int | None) -> Attendance:
    """Return the session's attendance after a write to a scope, or to none."""
    return replace(
        attendance,
        scope_id=attendance.scope_id if scope_id is None else scope_id,
        wrote=attendance.wrote | {scope_id or NO_SCOPE},
    )


@dataclass(slots=True)
class Turn:
    """One tick: a session enters a turn, and scopes that are done, idle or abandoned close."""

    tx: Writes
    session_id: str
    now: float
    attendance: Attendance
    number: int
    message: str
    closings: Sequence[Closing]
    """The work that the message declares done, found before the transaction because it takes a while."""
    closed: dict[int, ScopeRow] = field(default_factory=dict)
    reopened: dict[int, ScopeRow] = field(default_factory=dict)

    def run(self) -> None:
        if self.number < self.attendance.turn:
            self.tx.facts.restart(self.session_id, self.number)
        self.attendance = enter_turn(self.attendance, self.number)
        self.tx.facts.attend(self.session_id, self.attendance, self.now)
        done = self._find_done()
        self._close(scope for scope in done.values() if scope.closed_at is None)
        named = [scope for scope in self._find_named() if scope.id not in done]
        self._touch(named)
        self._close(self._find_untouched(self.number - IDLE_TURNS))
        if has_shifted(self.attendance):
            kept = {self.attendance.streak_scope, *(scope.id for scope in named)}
            self._close(scope for scope in self._find_untouched(self.number) if scope.id not in kept)

    def _find_named(self) -> list[ScopeRow]:
        """Find scopes that the message refers to by label, or open ones by a target."""
        found = [*self._find_labels(self.message), *self._find_holders(self.message)]
        return list({scope.id: scope for scope in found}.values())

    def _find_done(self) -> dict[int, ScopeRow]:
        """Find scopes that the message declares done, closed or not."""
        found: dict[int, ScopeRow] = {}
        for statement in self.closings:
            ended = self._find_labels(statement.sentence) or self._find_home(statement.sentence)
            found |= {scope.id: scope for scope in ended}
        return found

    def _find_labels(self, text: str) -> list[ScopeRow]:
        """Find scopes whose label is in a text: any of the newest, and older ones with short labels."""
        if not text.strip():
            return []
        newest = self.tx.facts.newest_scopes(_NEWEST_SCOPES)
        labels = LabelFinder(text[:_READ_FOR_LABELS])
        found = {scope.id: scope for scope in newest if labels.has(scope.key)}
        found |= {scope.id: scope for scope in self.tx.facts.scopes_named(list_names(text))}
        return list(found.values())

    def _find_holders(self, text: str) -> list[ScopeRow]:
        """Find open scopes with a fact on a target that a text names."""
        names = list_names(text)
        return self.tx.facts.scopes_of_targets(names) if names else []

    def _find_home(self, text: str) -> list[ScopeRow]:
        """Find the scope of a text without a label: the session's own, unless another fits."""
        holders = self._find_holders(text)
        current = self.attendance.scope_id
        if not holders or any(scope.id == current for scope in holders):
            return [] if current is None else list(self.tx.facts.scopes([current]).values())
        return [max(holders, key=lambda scope: scope.touched_at)]

    def _find_untouched(self, turn: int) -> list[ScopeRow]:
        """Find scopes that this session last used by that turn, and no other session lately."""
        return self.tx.facts.idle(self.session_id, turn=turn, since=self.now - SHARED_SECONDS)

    def _touch(self, named: Iterable[ScopeRow]) -> None:
        touched: list[int] = []
        for scope in named:
            if scope.closed_at is not None:
                self.reopened[scope.id] = open_scope(self.tx, scope.label, self.now)[0]
            touched.append(scope.id)
        self.tx.facts.touch(self.session_id, touched, self.number, self.now)

    def _close(self, going: Iterable[ScopeRow]) -> None:
        for scope in going:
            if scope.id not in self.closed and scope.id not in self.reopened:
                self.tx.facts.close_scope(scope.id, self.now)
                self.closed[scope.id] = scope


# --- names in messages ------------------------------------------------------------------------


def list_names(text: str) -> list[str]:
    """Return the words and short phrases of a text, as keys, that could be a label or a target."""
    tokens = [key_of(token) for token in _TOKEN.findall(text[:_READ])]
    found = {token: None for token in tokens if len(token) > 1 and token not in STOP_WORDS}
    for size in range(2, _LONGEST_NAME + 1):
        for start in range(len(tokens) - size + 1):
            words = tokens[start : start + size]
            if words[0] not in STOP_WORDS and words[-1] not in STOP_WORDS:
                for joint in _JOINTS:
                    found[joint.join(words)] = None
    return list(found)[:_MOST_NAMES]


class LabelFinder:
    """Looks for labels in one message, with blanks and dashes treated as equal."""

    def __init__(self, text: str) -> None:
        self._text = _space(key_of(text))

    def has(self, key: str) -> bool:
        """True if the message contains the label as whole words."""
        label = _space(key)
        if not label or label in STOP_WORDS:
            return False
        start = self._text.find(label)
        while start >= 0:
            end = start + len(label)
            if not _is_inside_word(self._text, start) and not _is_inside_word(self._text, end):
                return True
            start = self._text.find(label, start + 1)
        return False


def _space(key: str) -> str:
    return _BETWEEN.sub(" ", key).strip()


def _is_inside_word(text: str, place: int) -> bool:
    """True if a word continues across this place. Always False in scripts without blanks."""
    if not 0 < place < len(text):
        return False
    before, after = text[place - 1], text[place]
    return before.isalnum() and after.isalnum() and not (is_unspaced(before) or is_unspaced(after))
