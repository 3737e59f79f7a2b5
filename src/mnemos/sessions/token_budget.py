"""Token budgets: texts cut so that an answer stays within its tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mnemos.sessions.message_search import make_snippet
from mnemos.sessions.message_text import document_of, is_echo
from mnemos.storage.base import MessageRow, SessionRow
from mnemos.text.highlight import Finder
from mnemos.text.stored_text import indent_lines
from mnemos.text.tokens import count_tokens, cut_to_tokens

# Tokens of the line break, the indent and the signs around a text.
_LINE = 4
# Tokens of a heading's date, number of messages and signs.
_HEADING = 24
_NAME = 40
_INDENT = "    "
# Tokens of the label before a short text, and its line.
_LABEL = 12
# A text of fewer tokens is useless.
_LEAST = 12
_SNIPPET_CHARACTERS = 240
# The share of the budget that each of several equally relevant messages may take.
_PARTS = 6


class Budget:
    """The unspent tokens of an answer."""

    def __init__(self, tokens: int) -> None:
        self.left = tokens

    def part(self, tokens: int) -> Budget:
        """Reserve tokens as a budget. ``give_back`` returns the unspent ones."""
        self.left -= tokens
        return Budget(tokens)

    def give_back(self, part: Budget) -> None:
        self.left += part.left

    def room(self, label: str) -> int:
        """Return the tokens left for a text after a label."""
        return self.left - count_tokens(label) - _LINE

    def fit(self, text: str, at_most: int, *, label: str = "") -> str:
        """Cut a text to a number of tokens and to those left, and pay for it and its label."""
        return self.pay(_cut(text, min(self.room(label), at_most)), label=label)

    def pay(self, text: str, *, label: str) -> str:
        """Pay for a text, even if no tokens are left, and return it."""
        self.left = self.room(label) - _count_shown(text)
        return text


def _cut(text: str, tokens: int) -> str:
    """Cut a text to that many tokens, counted as it is shown."""
    part = cut_to_tokens(text, tokens)
    while (cost := _count_shown(part)) > tokens > 0:
        part = cut_to_tokens(part, count_tokens(part) * tokens // cost)
    return part


def _count_shown(text: str) -> int:
    return count_tokens(indent_lines(text, _INDENT))


def describe_session(session: SessionRow, budget: Budget) -> dict[str, Any]:
    """Return the heading of a session in an answer. The id is never cut."""
    budget.left -= count_tokens(session.id) + count_tokens(session.project or "") + _HEADING
    return {
        "session_id": session.id,
        "title": budget.fit(session.title, _NAME) if session.title else session.title,
        "project": session.project,
        "source": budget.fit(session.source, _NAME),
        "started_at": session.started_at,
        "messages": session.message_count,
    }


def fit_snippet(row: MessageRow, finder: Finder, budget: Budget, at_most: int, *, label: str) -> str:
    """Return the part of a message around the match, shorter if its script costs more tokens.

    It is never empty, because a hit without it is useless.
    """
    at_most = max(2 * _LEAST, min(at_most, budget.room(label)))
    shown = make_snippet(row, finder, width=_SNIPPET_CHARACTERS)
    cost = _count_shown(shown)
    if cost > at_most:
        shown = make_snippet(row, finder, width=_SNIPPET_CHARACTERS * at_most // cost)
    return budget.pay(_cut(shown, at_most), label=label)


def fit_messages(
    rows: Sequence[MessageRow], budget: Budget, *, keep: int | None = None
) -> list[dict[str, Any]]:
    """Return messages in order, cut so that together they fit.

    Those nearest to ``keep``, by default the first message, get room first. ``keep`` itself may take half.
    Echoes are left out.
    """
    rows = [row for row in rows if row.id == keep or not is_echo(row)]
    middle = next((i for i, row in enumerate(rows) if row.id == keep), 0)
    share = max(40, budget.left // max(1, min(_PARTS, len(rows))))
    fitted: dict[int, dict[str, Any]] = {}
    for i in sorted(range(len(rows)), key=lambda i: abs(i - middle)):
        label = f"[{rows[i].id}] {rows[i].role}: "
        room = budget.room(label)
        if room < _LEAST:
            break
        half = keep is not None and not fitted and len(rows) > 1
        fitted[i] = {
            "message_id": rows[i].id,
            "role": rows[i].role,
            "at": rows[i].timestamp,
            "content": budget.fit(render_text(rows[i]), room // 2 if half else share, label=label),
        }
    return [fitted[i] for i in sorted(fitted)]


def fit_previews(rows: Sequence[MessageRow], budget: Budget, each: int) -> list[dict[str, Any]]:
    """Return the beginnings of messages, or nothing if there is too little room."""
    if each < _LEAST + _LABEL:
        return []
    return [
        {
            "message_id": row.id,
            "role": row.role,
            "content": budget.fit(render_text(row), each - _LABEL, label="began:"),
        }
        for row in rows
        if not is_echo(row)
    ]


def fit_snippets(
    rows: Sequence[MessageRow], finder: Finder, budget: Budget, each: int
) -> list[dict[str, Any]]:
    """Return the matches in further messages, or nothing if there is too little room."""
    if each < _LEAST + _LABEL:
        return []
    return [
        {
            "message_id": row.id,
            "role": row.role,
            "snippet": fit_snippet(row, finder, budget, each - _LABEL, label=f"also message {row.id}:"),
        }
        for row in rows
    ]


def render_text(row: MessageRow) -> str:
    """Return the text of a message, or the names of its calls."""
    document = document_of(row)
    return document.said or (f"[calls {document.tool}]" if document.tool else "")
