"""The operation that lists the questions to recall."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta
from msgspec.structs import asdict

from mnemos.language.moments import read_moment
from mnemos.operations.arguments import MOST, Since, up_to
from mnemos.operations.base import Info, Operation, Result, Traits, fill
from mnemos.operations.texts import cut, plural, render_time
from mnemos.text.stored_text import join_items, one_line

if TYPE_CHECKING:
    from mnemos.memory import Memory

_SHOWN = 100


class ListRecalls(Operation, frozen=True, kw_only=True):
    """List the questions to recall, newest first: when, by whom, and what was found."""

    traits: ClassVar[Traits] = Traits(
        title="List recalls",
        help="List the questions to recall, newest first: when, by whom, what was found and how "
        "long it took. The last 1,000 are kept. Set recall_log = false to keep none.",
        read_only=True,
        example="--limit 10",
    )

    limit: Annotated[int, up_to(1000)] = 20
    before: Annotated[int, Meta(ge=0, le=MOST, description="Only questions before this number")] | None = None
    since: Since = None

    def run(self, memory: Memory) -> RecallList:
        rows = memory.feeds.asked.list(self.limit, before=self.before)
        if (start := read_moment("since", self.since, memory.clock())) is not None:
            rows = [row for row in rows if row.at >= start]
        return RecallList(
            recalls=[fill(RecallInfo, asdict(row) | {"hits": json.loads(row.hits)}) for row in rows]
        )


class RecallInfo(Info, frozen=True, kw_only=True):
    """A question that was asked."""

    id: int
    at: float
    actor: str
    session_id: str | None
    """The conversation it was asked for, if that is known."""
    query: str
    hits: list[str]
    """References such as message:12, best first."""
    certainty: str
    tokens: int
    """Tokens of the packed text."""
    milliseconds: float


class RecallList(Result, frozen=True, kw_only=True):
    recalls: list[RecallInfo]

    def as_text(self) -> str:
        lines = [
            f"{one.id}  {render_time(one.at)}  {one.actor}  {cut(one_line(one.query), _SHOWN)!r}  "
            f"{plural(len(one.hits), 'hit')}, {one.tokens} tokens, {one.milliseconds:.0f} ms"
            for one in self.recalls
        ]
        return join_items(lines) or "No questions yet."
