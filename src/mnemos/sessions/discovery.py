"""``session_search``: past conversations for a model, within a token budget.

What is given says what is wanted: a query finds conversations, a message id shows what stands around it, a
session id shows its beginning and end, and nothing at all lists what is recent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mnemos.errors import NotFound
from mnemos.sessions import lineage, search, summary
from mnemos.sessions.model import document_of, text_of
from mnemos.settings import Model
from mnemos.storage.base import Filters, MessageRow, Order, Reads, Results, SessionRow, Storage
from mnemos.text.highlight import Finder
from mnemos.text.query import parse
from mnemos.text.tokens import count_tokens, cut_to_tokens

BUDGET = 2_000

# Hits looked at before they are grouped: enough that a talkative conversation leaves room for others.
_HITS = 60
_OTHERS = 3
_ENDS = 2
_PREVIEW = 160
# What a machine started on a schedule is seldom what a person asks for.
_SCHEDULED = ("cron", "schedule", "heartbeat", "job")
# Of the budget, what the best hit may take with what surrounds it.
_SHARE_OF_BEST = 0.5


@dataclass(frozen=True, slots=True)
class Discovery:
    query: str
    filters: Filters
    sort: Order
    limit: int
    window: int
    budget: int


def discover(tx: Reads, asked: Discovery) -> dict[str, Any]:
    """Conversations that match, best first, scheduled ones last."""
    query = parse(asked.query)
    finder = Finder(query)
    results = tx.sessions.search(query, asked.filters, order=asked.sort, limit=_HITS, offset=0)
    groups = _grouped(tx, results)
    if asked.sort is Order.RELEVANCE:
        groups.sort(key=lambda group: _is_scheduled(group[0][0]))
    shown = groups[: asked.limit]
    share = int(asked.budget * _SHARE_OF_BEST)
    rest = (asked.budget - share) // max(len(shown) - 1, 1)
    conversations = [
        _conversation(tx, finder, members, asked.window if first else 1, share if first else rest)
        for first, members in zip([True] + [False] * len(shown), shown, strict=False)
    ]
    return {
        "mode": "discovery",
        "query": asked.query,
        "partial": results.partial,
        "conversations": conversations,
        "more": max(0, len(groups) - len(shown)),
    }


def with_summaries(
    storage: Storage, model: Model, asked: Discovery, answer: dict[str, Any]
) -> dict[str, Any]:
    """The same conversations, each with a model's summary; without one, the extract stands alone.

    The model is asked outside any transaction.
    """
    conversations = answer["conversations"]
    if not model.is_configured:
        reason = "no model is configured: set [llm] base_url and model in config.toml"
        made = [summary.Summary(None, reason) for _ in conversations]
    else:
        texts = [
            storage.read(lambda tx: transcript(tx, c["session_id"]))  # noqa: B023
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
    session = tx.sessions.get(rows[0].session_id)
    return {
        "mode": "scroll",
        "session": _heading(session),
        "messages": _fitted(rows, budget, keep=message_id),
    }


def read(tx: Reads, session_id: str, *, budget: int) -> dict[str, Any]:
    """The beginning and the end of a session, as much as fits."""
    session = tx.sessions.get(session_id)
    if session is None:
        raise NotFound(f"there is no session {session_id!r}; leave session_id out to list recent ones")
    several = max(4, budget // 60)
    head = tx.sessions.messages(session_id, after=0, limit=several)
    tail: list[MessageRow] = []
    if len(head) == several:
        tail = tx.sessions.messages(session_id, after=head[-1].id, limit=several, last=True)
    shown = _fitted(head, budget // 2 if tail else budget)
    shown_tail = _fitted(list(reversed(tail)), budget // 2)[::-1]
    return {
        "mode": "read",
        "session": _heading(session),
        "messages": shown,
        "left_out": session.message_count - len(shown) - len(shown_tail),
        "closing": shown_tail,
    }


def browse(tx: Reads, *, source: str | None, limit: int) -> dict[str, Any]:
    """Recent sessions."""
    rows = tx.sessions.listed(source=source, archived=False, limit=limit, offset=0)
    sessions = []
    for row in rows:
        opening = tx.sessions.messages(row.id, after=0, limit=_ENDS)
        said = next((text_of(m) for m in opening if m.role == "user"), "")
        sessions.append((_heading(row) or {}) | {"opening": search.cut(said, _PREVIEW)})
    return {"mode": "browse", "sessions": sessions}


def transcript(tx: Reads, session_id: str) -> str:
    """A session as text, for a model to summarise."""
    rows = tx.sessions.messages(session_id, after=0, limit=1 << 40)
    return "\n\n".join(f"{row.role}: {_said(row)}" for row in rows)


def _grouped(tx: Reads, results: Results) -> list[list[tuple[SessionRow, MessageRow, str]]]:
    """Hits by conversation, in the order of their best."""
    groups: dict[str, list[tuple[SessionRow, MessageRow, str]]] = {}
    for found in results.hits:
        row = tx.sessions.message(found.message_id)
        session = tx.sessions.get(row.session_id) if row else None
        if row is not None and session is not None:
            root = lineage.root(tx.sessions, session.id)
            groups.setdefault(root, []).append((session, row, root))
    return list(groups.values())


def _conversation(
    tx: Reads,
    finder: Finder,
    members: Sequence[tuple[SessionRow, MessageRow, str]],
    window: int,
    budget: int,
) -> dict[str, Any]:
    session, best, root = members[0]
    around = tx.sessions.around(best.id, before=window, after=window)
    opening = tx.sessions.messages(session.id, after=0, limit=_ENDS)
    closing = tx.sessions.messages(session.id, after=0, limit=_ENDS, last=True)
    shown = {row.id for row in around}
    return {
        **(_heading(session) or {}),
        "root_session_id": root,
        "hits": len(members),
        "best": {
            "message_id": best.id,
            "role": best.role,
            "at": best.timestamp,
            "snippet": search.snippet_of(best, finder),
            "around": _fitted(around, budget, keep=best.id),
        },
        "opening": [_short(row) for row in opening if row.id not in shown],
        "closing": [_short(row) for row in closing if row.id not in shown and row not in opening],
        "others": [
            {"message_id": row.id, "role": row.role, "snippet": search.snippet_of(row, finder, width=120)}
            for _, row, _ in members[1 : 1 + _OTHERS]
        ],
    }


def _fitted(rows: Sequence[MessageRow], budget: int, keep: int | None = None) -> list[dict[str, Any]]:
    """Messages cut so that together they fit; the one to keep gets half, the nearest come first."""
    if not rows:
        return []
    middle = next((i for i, row in enumerate(rows) if row.id == keep), 0)
    order = sorted(range(len(rows)), key=lambda i: abs(i - middle))
    left = budget
    fitted: dict[int, dict[str, Any]] = {}
    for position, i in enumerate(order):
        allowed = left // 2 if position == 0 and len(rows) > 1 else min(left, max(40, budget // 6))
        text = cut_to_tokens(_said(rows[i]), allowed)
        spent = count_tokens(text) + 8
        if spent > left:
            break
        left -= spent
        fitted[i] = {
            "message_id": rows[i].id,
            "role": rows[i].role,
            "at": rows[i].timestamp,
            "content": text,
        }
    return [fitted[i] for i in sorted(fitted)]


def _short(row: MessageRow) -> dict[str, Any]:
    return {"message_id": row.id, "role": row.role, "content": search.cut(_said(row), _PREVIEW)}


def _said(row: MessageRow) -> str:
    document = document_of(row)
    return document.said or (f"[calls {document.tool}]" if document.tool else "")


def _heading(session: SessionRow | None) -> dict[str, Any] | None:
    if session is None:
        return None
    return {
        "session_id": session.id,
        "title": session.title,
        "source": session.source,
        "started_at": session.started_at,
        "messages": session.message_count,
    }


def _is_scheduled(session: SessionRow) -> bool:
    source = session.source.lower()
    return any(word in source for word in _SCHEDULED)
