"""The operation that forgets: withdraws what words mean, or erases what a reference names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta, field

from mnemos.operations.arguments import MOST, User
from mnemos.operations.base import Info, Operation, Result, Traits, fill
from mnemos.operations.texts import render_time, render_traces
from mnemos.text.stored_text import join_items

if TYPE_CHECKING:
    from mnemos.memory import Memory

_SHOWN = 20
_REFERENCE = re.compile(r"(?:message|session|fact|note|entry|template):")


class Forget(Operation, frozen=True, kw_only=True):
    """Forget something that is wrong, outdated or unwanted, when the user asks for it. Words ("where I live")
    or an id (f12) withdraw the fact or note they mean: it no longer counts, and this can be undone. If it is
    not clear what is meant, nothing is withdrawn and the answer lists candidates: call again with an id. To
    correct a fact, use remember with replaces instead. A full reference (message:42, fact:f12) erases
    permanently: only if the user wants all traces gone."""

    traits: ClassVar[Traits] = Traits(
        title="Forget",
        help='Withdraw a fact or note, or erase something permanently. Words ("where I live") or an id (f12) '
        "withdraw what they mean, and `mnemos undo` restores it. A reference with its kind erases "
        "permanently, such as message:ID, session:ID, fact:ID, note:ID, entry:ID or template:NAME.",
        destructive=True,
        positional=("ref",),
        example=("where I live",),
    )

    ref: Annotated[
        str,
        Meta(
            description="Words, or ids such as f12; to erase: message:ID, session:ID, fact:ID, note:ID, "
            "entry:ID or template:NAME"
        ),
    ]
    user_id: User = None

    def run(self, memory: Memory) -> Forgotten:
        if _REFERENCE.match(self.ref):
            return fill(Forgotten, memory.forget(self.ref, user_id=self.user_id))
        done = memory.changes.withdraw(self.ref, user_id=self.user_id)
        return Forgotten(
            ref=self.ref,
            forgotten=bool(done.items),
            permanent=False,
            withdrawn=[fill(WithdrawnItem, item) for item in done.items],
            candidates=[fill(WithdrawnItem, item) for item in done.candidates],
            entry=done.entry,
        )

    def at_stake(self, memory: Memory) -> str:
        if not _REFERENCE.match(self.ref):
            # Withdrawn, and restored by undo.
            return ""
        kind, _, name = self.ref.partition(":")
        if kind == "message" and name.isdecimal() and int(name) <= MOST:
            memory.sessions.get_messages_around(int(name), 0, 0)
        return f"{self.ref} permanently"


class WithdrawnItem(Info, frozen=True, kw_only=True):
    """A fact or note, quoted."""

    id: str
    kind: str
    text: str
    at: float | None
    message_id: int | None


class Forgotten(Result, frozen=True, kw_only=True):
    ref: str
    forgotten: bool
    """False if it is not clear what is meant; see ``candidates``."""
    permanent: bool = True
    """True if it was erased and can't be undone."""
    pending: bool = False
    copies: list[str] = field(default_factory=list)
    erased: list[str] = field(default_factory=list)
    """References to the facts that were erased with it, because nothing else stated them."""
    kept: list[str] = field(default_factory=list)
    """References to facts that stay and may repeat it."""
    withdrawn: list[WithdrawnItem] = field(default_factory=list)
    candidates: list[WithdrawnItem] = field(default_factory=list)
    entry: int | None = None
    """The log entry that undoes a withdrawal."""

    @property
    def is_ok(self) -> bool:
        return self.forgotten

    def as_text(self) -> str:
        return self._render("forget", "To undo, remember it again; undo {} restores it as it was.")

    def for_person(self) -> str:
        refs = " ".join(f"{one.kind}:{one.id}" for one in self.withdrawn[:1])
        undo = f"To undo: mnemos undo {{}}\nTo erase it permanently: mnemos forget {refs}"
        return self._render("mnemos forget", undo)

    def _render(self, command: str, undo: str) -> str:
        if self.permanent:
            with_it = f", and with it {_list(self.erased)}, taken from it alone" if self.erased else ""
            lines = [f"Erased {self.ref}{with_it}."]
            if self.kept:
                lines.append(f"These stay and may repeat it: {_list(self.kept)}.")
                lines.append(f"To erase one: {command} {self.kept[0]}")
            return join_items([*lines, *render_traces(self.copies, pending=self.pending)])
        if not self.withdrawn:
            lines = [f"  {one.id}  {one.text}{_date(one)}" for one in self.candidates]
            if any(_REFERENCE.match(one.id) for one in self.candidates):
                head = "Nothing was withdrawn: it was removed before, and only the log still has it. To erase"
                return join_items([f"{head} it there permanently, forget it by its reference:", *lines])
            return join_items(["Nothing was withdrawn. Which one is meant? Forget it by its id:", *lines])
        lines = [f"Withdrew {one.kind} {one.id}: {one.text}{_date(one)}." for one in self.withdrawn]
        kept = [f"message:{one.message_id}" for one in self.withdrawn if one.message_id is not None]
        lines += [f"The conversation still has it in {', '.join(kept)}."] if kept else []
        return join_items([*lines, *undo.format(self.entry).split("\n")])


def _list(refs: list[str]) -> str:
    more = f" and {len(refs) - _SHOWN} more" if len(refs) > _SHOWN else ""
    return f"{', '.join(refs[:_SHOWN])}{more}"


def _date(item: WithdrawnItem) -> str:
    return "" if item.at is None else f" ({render_time(item.at)[:10]})"
