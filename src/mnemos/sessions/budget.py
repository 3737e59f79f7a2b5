"""Texts cut so that an answer stays within its tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mnemos.sessions import search
from mnemos.sessions.model import document_of
from mnemos.storage.base import MessageRow, SessionRow
from mnemos.text.highlight import Finder
from mnemos.text.tokens import count_tokens, cut_to_tokens

# The line break, the indent and the signs around a text.
_LINE = 4
# The date, the number of messages and the signs of a heading.
_HEADING = 24
_NAME = 40
# What stands before a short text, and its line.
_LABEL = 12
# Less than this says nothing.
_LEAST = 12
_SNIPPET_CHARACTERS = 240
# Of several messages that are equally wanted, one may take at most this part.
_PARTS = 6


class Budget:
    """The tokens of an answer that are not spent yet."""

    def __init__(self, tokens: int) -> None:
        self.left = tokens

    def part(self, tokens: int) -> Budget:
        """Some of the tokens, to be spent apart; ``give_back`` returns what is left of them."""
        self.left -= tokens
        return Budget(tokens)

    def give_back(self, part: Budget) -> None:
        self.left += part.left

    def room(self, label: str) -> int:
        """The tokens left for a text that stands behind a label."""
        return self.left - count_tokens(label) - _LINE

    def fit(self, text: str, at_most: int, *, label: str = "") -> str:
        """The text cut to at most so many tokens, and to what is left; it is paid for with its label."""
        return self.pay(cut_to_tokens(text, min(self.room(label), at_most)), label=label)

    def pay(self, text: str, *, label: str) -> str:
        """The text itself, which is paid for although nothing may be left."""
        self.left = self.room(label) - count_tokens(text)
        return text


def heading(session: SessionRow, budget: Budget) -> dict[str, Any]:
    """What an answer says of a session besides its messages; the id is never cut."""
    budget.left -= count_tokens(session.id) + _HEADING
    return {
        "session_id": session.id,
        "title": budget.fit(session.title, _NAME) if session.title else session.title,
        "source": budget.fit(session.source, _NAME),
        "started_at": session.started_at,
        "messages": session.message_count,
    }


def snippet(row: MessageRow, finder: Finder, budget: Budget, at_most: int, *, label: str) -> str:
    """The stretch of a message that shows the match, narrower where its script costs more tokens.

    There is always some: without it a hit says nothing.
    """
    at_most = max(2 * _LEAST, min(at_most, budget.room(label)))
    shown = search.snippet_of(row, finder, width=_SNIPPET_CHARACTERS)
    cost = count_tokens(shown)
    if cost > at_most:
        shown = search.snippet_of(row, finder, width=_SNIPPET_CHARACTERS * at_most // cost)
    return budget.pay(cut_to_tokens(shown, at_most), label=label)


def several(rows: Sequence[MessageRow], budget: Budget, *, keep: int | None = None) -> list[dict[str, Any]]:
    """Messages in their order, cut so that together they fit.

    Those nearest to the one to ``keep``, else to the first, come first; that one may take half.
    """
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
            "content": budget.fit(said(rows[i]), room // 2 if half else share, label=label),
        }
    return [fitted[i] for i in sorted(fitted)]


def previews(rows: Sequence[MessageRow], budget: Budget, each: int) -> list[dict[str, Any]]:
    """The beginnings of messages; none when there is too little room to say something."""
    if each < _LEAST + _LABEL:
        return []
    return [
        {
            "message_id": row.id,
            "role": row.role,
            "content": budget.fit(said(row), each - _LABEL, label="began:"),
        }
        for row in rows
    ]


def snippets(rows: Sequence[MessageRow], finder: Finder, budget: Budget, each: int) -> list[dict[str, Any]]:
    """What matches in further messages; none when there is too little room to say something."""
    if each < _LEAST + _LABEL:
        return []
    return [
        {
            "message_id": row.id,
            "role": row.role,
            "snippet": snippet(row, finder, budget, each - _LABEL, label=f"also message {row.id}:"),
        }
        for row in rows
    ]


def said(row: MessageRow) -> str:
    document = document_of(row)
    return document.said or (f"[calls {document.tool}]" if document.tool else "")
