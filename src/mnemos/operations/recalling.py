"""Asking one question over everything that is remembered."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from msgspec import Meta

from mnemos.operations.base import Operation, Result, Traits
from mnemos.operations.finding import meant, resolved
from mnemos.operations.moments import When, seconds, shown
from mnemos.operations.wording import counted
from mnemos.sessions.message_search import cut
from mnemos.text.highlight import snippet
from mnemos.text.query import parse

if TYPE_CHECKING:
    from mnemos.memory import Memory

_SHOWN_CHARACTERS = 320
_ECHOED = 80


class RecallEverything(Operation, frozen=True, kw_only=True):
    """Ask the memory a question in plain words, about anything said, decided, noted or stored before: the
    passages that answer it best, dated, within a token budget. The words need not be the same. Use it when
    something from before is referred to, and before saying that you do not know."""

    traits: ClassVar[Traits] = Traits(
        title="Recall",
        read_only=True,
        positional=("query",),
        example=("when did we move the database?",),
    )

    query: Annotated[str, Meta(description="A question or a few words")]
    limit: Annotated[int, Meta(ge=1, le=200, description="At most so many passages")] = 10
    budget: Annotated[
        int, Meta(ge=0, le=100_000, description="Tokens for the packed text that goes into a prompt")
    ] = 1200
    kinds: Annotated[
        list[str] | None, Meta(description="Only these: message, fact, note, entry, template, table")
    ] = None
    since: When = None
    until: When = None
    source: Annotated[str | None, Meta(description="Where it came from, e.g. cli")] = None
    session: Annotated[list[str] | None, Meta(description="Only these conversations")] = None
    exclude: Annotated[list[str] | None, Meta(description="Not these conversations")] = None
    words_only: Annotated[bool, Meta(description="By words alone, without vectors")] = False

    def run(self, memory: Memory) -> Recalled:
        # What a model leaves empty is no wish to find nothing.
        recalled = memory.recall(
            self.query,
            limit=self.limit,
            budget=self.budget,
            kinds=self.kinds or None,
            since=seconds("since", self.since),
            until=seconds("until", self.until),
            source=self.source or None,
            session_ids=resolved(memory, self.session) if self.session else None,
            exclude_session_ids=[meant(memory, text) for text in self.exclude or ()],
            words_only=self.words_only,
        )
        return Recalled(
            query=self.query,
            mode=recalled.mode,
            coverage=round(recalled.coverage, 4),
            hits=[asdict(hit) for hit in recalled.hits],
            packed=recalled.text,
            left_out=recalled.left_out,
            notes=list(recalled.notes),
        )


class Recalled(Result, frozen=True, kw_only=True):
    query: str
    mode: str
    coverage: float
    hits: list[dict[str, Any]]
    packed: str
    left_out: int
    notes: list[str]

    def as_text(self) -> str:
        return "\n".join([*self.notes, self.packed or self._nothing()])

    def readable(self) -> str:
        lines = [*self.notes]
        if not self.hits:
            lines.append(self._nothing())
        for hit in self.hits:
            lines += [heading(hit), f"  {shown_text(hit, self.query)}", f"  ({'; '.join(hit['why'])})"]
        lines.append(self.footer())
        return "\n".join(lines)

    def footer(self) -> str:
        return f"{counted(len(self.hits), 'passage')}, {self.mode}"

    def _nothing(self) -> str:
        if self.hits:
            return "The passages found do not fit into the budget; allow more tokens."
        return f"Nothing found for {cut(self.query, _ECHOED)!r}. Try other words."


def heading(hit: dict[str, Any]) -> str:
    """When, who and where, on one line."""
    where = f"  {hit['session_id']}" if hit["session_id"] else ""
    return f"{shown(hit['at'])}  {hit['speaker'] or hit['kind']}  {hit['kind']}:{hit['ref']}{where}"


def shown_text(hit: dict[str, Any], query: str) -> str:
    """The passage or the part of it that has the words, which stand between ``>>>`` and ``<<<``."""
    return " ".join(snippet(hit["text"], parse(query).loosen(), width=_SHOWN_CHARACTERS).split())
