"""Remembering what somebody says in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from msgspec import Meta

from mnemos.errors import InvalidInput, Refused
from mnemos.operations.base import Operation, Result, Traits
from mnemos.operations.facts import FactsWritten, Scope, SessionId
from mnemos.operations.factwords import described, fact_dict

if TYPE_CHECKING:
    from mnemos.memory import Memory


class Remember(Operation, frozen=True, kw_only=True):
    """Remember something for good, told in plain words: a decision, a rule, an address, a preference, an open
    question. Say one thing a call, so that it is understood alone. What is remembered is found by recall and,
    while it matters, stands in memory_status."""

    traits: ClassVar[Traits] = Traits(
        title="Remember",
        begins=True,
        positional=("text",),
        stdin="text",
        example=("The staging database listens on port 5433", "--scope", "infra"),
    )

    text: Annotated[str, Meta(description="A sentence or two; - or nothing: standard input")]
    kind: Annotated[
        Literal["auto", "fact", "note", "entry"],
        Meta(
            description="fact: found when needed; note: stands in every prompt; entry: about the user, under "
            "target as its key. auto is a fact"
        ),
    ] = "auto"
    target: Annotated[
        str | None, Meta(description="What it is about, e.g. db.staging; of a note: memory or user")
    ] = None
    scope: Scope = None
    session_id: SessionId = None

    def run(self, memory: Memory) -> Remembered:
        if self.kind == "note":
            use = memory.notebook.add(self.text, target=self.target or "memory")
            return Remembered(kind="note", where=use.book.filename, stored=[], warning=use.warning)
        if self.kind == "entry":
            return _as_entry(memory, self.target, self.text)
        written = memory.facts.remember(
            self.text, target=self.target, scope=self.scope, session_id=self.session_id
        )
        done = FactsWritten.of(written)
        stored = [fact_dict(memory.facts.get(one.id)) for one in written.facts]
        return Remembered(kind="fact", where="facts", stored=stored, done=done)


def _as_entry(memory: Memory, key: str | None, text: str) -> Remembered:
    from mnemos.entries.backend import NullBackend
    from mnemos.storage.entries import USUAL_USER

    if key is None:
        raise InvalidInput("an entry needs a target: the key to keep it under, such as pref_editor")
    if isinstance(memory.backend, NullBackend):
        raise Refused(
            f"nothing was kept: the backend is disabled ({memory.backend.reason}); MNEMOS_BACKEND=local "
            "keeps entries on this machine"
        )
    memory.backend.store(USUAL_USER, key, text)
    return Remembered(kind="entry", where=memory.backend.backend_name, stored=[])


class Remembered(Result, frozen=True, kw_only=True):
    kind: str
    where: str
    """The part that keeps it."""
    stored: list[dict[str, Any]]
    done: FactsWritten | None = None
    warning: str = ""

    def as_text(self) -> str:
        if self.done is None:
            article = "an" if self.kind == "entry" else "a"
            return f"Remembered as {article} {self.kind} in {self.where}. {self.warning}".rstrip()
        lines = [
            f"Remembered as a {self.kind}: {described(fact)}"
            + (f", in place of {', '.join(one['replaced'])}" if one["replaced"] else "")
            for fact, one in zip(self.stored, self.done.facts, strict=True)
        ]
        return "\n".join([*lines, *self.done.remarks()])
