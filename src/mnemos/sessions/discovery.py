"""``session_search``: past conversations for a model, within a token budget.

What is given says what is wanted: a query finds conversations, a message id shows what stands around it, a
session id shows its beginning and end, and nothing at all lists what is recent.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from mnemos.errors import NotFound
from mnemos.sessions.budget import Budget, heading, previews, said, several, snippet, snippets
from mnemos.sessions.gathering import Conversation, Search, by_words, gather
from mnemos.sessions.model import text_of
from mnemos.settings import Model
from mnemos.storage.base import Filters, MessageRow, Order, Reads, SessionRow, Storage
from mnemos.text.highlight import Finder
from mnemos.text.query import parse

BUDGET = 2_000

# What an answer says besides: that it is partial, how much is left out.
_FRAME = 40
_OTHERS = 3
_ENDS = 2
_PREVIEW = 48
# Of a conversation's tokens, what the snippet may take; of the rest, the messages around the hit.
_SHARE_OF_SNIPPET = 1 / 4
_SHARE_AROUND = 5 / 8
_PAGE = 200
# Characters of a transcript on either side of the best hit: enough to choose what a model gets from.
# Looking for matches takes about a second for a million.
_SIDE = 150_000


@dataclass(frozen=True, slots=True)
class Discovery:
    query: str
    filters: Filters
    sort: Order
    limit: int
    window: int
    budget: int
    ranking: Search | None = None
    """Finds messages by more than their words; None: by words."""


def discover(tx: Reads, asked: Discovery) -> dict[str, Any]:
    """Conversations that match, best first, scheduled ones last; the first gets half of the budget.

    ``more`` is how many further ones are known of; there may be others. An unknown session to look in
    raises NotFound.
    """
    for session_id in asked.filters.session_ids or ():
        _known(tx, session_id)
    query = parse(asked.query)
    search = asked.ranking or by_words(tx, query, asked.sort)
    gathered = gather(tx, search, asked.filters, asked.sort, asked.limit + 1)
    finder = Finder(query.loosened() if gathered.partial else query)
    wanted = gathered.conversations[: asked.limit]
    budget = Budget(asked.budget - _FRAME)
    shown: list[dict[str, Any]] = []
    for position, conversation in enumerate(wanted):
        waiting = len(wanted) - position
        part = budget.part(budget.left // (2 if position == 0 and waiting > 1 else waiting))
        described = _conversation(tx, finder, conversation, 1 if shown else asked.window, part)
        budget.give_back(part)
        if shown and budget.left < 0:
            break
        shown.append(described)
    return {
        "mode": "discovery",
        "query": asked.query,
        "partial": gathered.partial,
        "conversations": shown,
        "more": len(gathered.conversations) - len(shown),
    }


def with_summaries(
    storage: Storage, model: Model, asked: Discovery, answer: dict[str, Any]
) -> dict[str, Any]:
    """The same conversations, each with a model's summary; without one, the extract stands alone.

    The model is asked outside any transaction.
    """
    # The client of the model and its threads: only when a summary is wanted.
    from mnemos.sessions import summary

    conversations = answer["conversations"]
    if not model.is_configured:
        reason = "no model is configured: set [llm] base_url and model in config.toml"
        made = [summary.Summary(None, reason) for _ in conversations]
    else:
        texts = [
            storage.read(lambda tx: transcript(tx, c["session_id"], c["best"]["message_id"]))  # noqa: B023
            for c in conversations
        ]
        made = summary.summaries(model, asked.query, texts, parse(asked.query))
    return answer | {
        "conversations": [
            c | {"summary": s.text, "summary_by": "model"}
            if s.text
            else c | {"summary_by": "extract", "summary_failure": s.failure}
            for c, s in zip(conversations, made, strict=True)
        ]
    }


def scroll(tx: Reads, message_id: int, *, window: int, budget: int) -> dict[str, Any]:
    """What was said around a message."""
    rows = tx.sessions.around(message_id, before=window, after=window)
    if not rows:
        raise NotFound(f"there is no message {message_id}")
    tokens = Budget(budget - _FRAME)
    session = heading(_known(tx, rows[0].session_id), tokens)
    return {"mode": "scroll", "session": session, "messages": several(rows, tokens, keep=message_id)}


def read(tx: Reads, session_id: str, *, budget: int) -> dict[str, Any]:
    """The beginning and the end of a session, as much as fits: all of it when it does."""
    session = _known(tx, session_id)
    tokens = Budget(budget - _FRAME)
    described = heading(session, tokens)
    head, tail = _ends(tx, session_id, max(4, budget // 60))
    beginning = several(head, Budget(tokens.left)) if not tail else []
    closing: list[dict[str, Any]] = []
    if len(beginning) < len(head):
        if not tail:
            middle = (len(head) + 1) // 2
            head, tail = head[:middle], head[middle:]
        beginning = several(head, tokens.part(tokens.left // 2))
        closing = several(tail[::-1], tokens)[::-1]
    return {
        "mode": "read",
        "session": described,
        "messages": beginning,
        "left_out": session.message_count - len(beginning) - len(closing),
        "closing": closing,
    }


def browse(tx: Reads, filters: Filters, *, limit: int, budget: int) -> dict[str, Any]:
    """Recent sessions; ``since`` and ``until`` are about when they began."""
    tokens = Budget(budget)
    sessions: list[dict[str, Any]] = []
    for row in _recent(tx, filters):
        if len(sessions) == limit:
            break
        described = heading(row, tokens)
        if sessions and tokens.left < 0:
            break
        opening = tx.sessions.messages(row.id, after=0, limit=_ENDS)
        asked = next((text_of(message) for message in opening if message.role == "user"), "")
        sessions.append(described | {"opening": tokens.fit(asked, _PREVIEW)})
    return {"mode": "browse", "sessions": sessions}


def transcript(tx: Reads, session_id: str, around: int = 0) -> str:
    """A session as text, for a model to summarise; of a very long one, what is near a message."""
    rows = tx.sessions.messages(session_id, after=0, limit=1 << 40)
    before = _within(_SIDE, [_spoken(row) for row in reversed(rows) if row.id < around])
    after = _within(2 * _SIDE - sum(map(len, before)), [_spoken(row) for row in rows if row.id >= around])
    return "\n\n".join([*reversed(before), *after])


def _spoken(row: MessageRow) -> str:
    return f"{row.role}: {said(row)}"


def _within(characters: int, texts: list[str]) -> list[str]:
    """The first texts that together have about so many characters; at least one."""
    ends = accumulate(map(len, texts))
    return [text for text, end in zip(texts, ends, strict=True) if end - len(text) < characters]


def _known(tx: Reads, session_id: str) -> SessionRow:
    session = tx.sessions.get(session_id)
    if session is None:
        raise NotFound(f"there is no session {session_id!r}; leave session_id out to list recent ones")
    return session


def _ends(tx: Reads, session_id: str, count: int) -> tuple[list[MessageRow], list[MessageRow]]:
    """The first messages and, of those that follow, the last."""
    head = tx.sessions.messages(session_id, after=0, limit=count)
    if len(head) < count:
        return head, []
    return head, tx.sessions.messages(session_id, after=head[-1].id, limit=count, last=True)


def _recent(tx: Reads, filters: Filters) -> Iterator[SessionRow]:
    """Sessions within the filters, newest first."""
    source = filters.sources[0] if filters.sources and len(filters.sources) == 1 else None
    offset = 0
    while page := tx.sessions.listed(source=source, archived=False, limit=_PAGE, offset=offset):
        for row in page:
            if filters.since is not None and row.started_at < filters.since:
                return
            if (
                (filters.until is None or row.started_at < filters.until)
                and (filters.sources is None or row.source in filters.sources)
                and row.id not in filters.exclude_session_ids
            ):
                yield row
        offset += _PAGE


def _conversation(
    tx: Reads, finder: Finder, found: Conversation, window: int, budget: Budget
) -> dict[str, Any]:
    session, best = found.hits[0]
    at_most = int(budget.left * _SHARE_OF_SNIPPET)
    described = heading(session, budget)
    shown = snippet(best, finder, budget, at_most, label=f"{len(found.hits)} hits, best: ")
    part = budget.part(int(max(0, budget.left) * _SHARE_AROUND))
    around = several(tx.sessions.around(best.id, before=window, after=window), part, keep=best.id)
    budget.give_back(part)
    return {
        **described,
        "root_session_id": found.root,
        "hits": len(found.hits),
        "best": {
            "message_id": best.id,
            "role": best.role,
            "at": best.timestamp,
            "snippet": shown,
            "around": around,
        },
        **_besides(tx, finder, found, {best.id, *(m["message_id"] for m in around)}, budget),
    }


def _besides(
    tx: Reads, finder: Finder, found: Conversation, seen: set[int], budget: Budget
) -> dict[str, Any]:
    """How a conversation began and ended, and its other hits, shortly."""
    session_id = found.session.id
    first = tx.sessions.messages(session_id, after=0, limit=_ENDS)
    opening = [row for row in first if row.id not in seen]
    last = tx.sessions.messages(session_id, after=0, limit=_ENDS, last=True)
    closing = [row for row in last if row.id not in seen and row not in first]
    others = [row for _, row in found.hits[1 : 1 + _OTHERS]]
    each = budget.left // max(1, len(opening) + len(closing) + len(others))
    return {
        "opening": previews(opening, budget, min(each, _PREVIEW)),
        "closing": previews(closing, budget, min(each, _PREVIEW)),
        "others": snippets(others, finder, budget, min(each, _PREVIEW)),
    }
