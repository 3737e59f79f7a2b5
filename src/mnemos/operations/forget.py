"""The operation that forgets: withdraws what words mean, or erases what a reference names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta, field

from mnemos.errors import InvalidInput
from mnemos.memory.erasure import REFERENCE, read_texts
from mnemos.operations.arguments import MOST, User, leave_unlisted, resolve_or_keep
from mnemos.operations.base import Info, Operation, Result, Traits, fill
from mnemos.operations.sessions import describe_loss
from mnemos.operations.texts import cut, list_some, message_text, render_first, render_time
from mnemos.text.stored_text import join_items, one_line, reveal

if TYPE_CHECKING:
    from mnemos.memory import Memory

_SHOWN = 20
_QUOTED = 80
COMPACT = "compact the database"
COMPACT_COMMAND = "run `mnemos workspace compact {}`"
_UNSEARCHED = "Not searched, because the file is too large or unreadable, or the text too short to look for:"
_PENDING = (
    "Traces remain in the database files for now, because another program is reading them, or because "
    "your role on the server isn't allowed to clean up."
)


class Forget(Operation, frozen=True, kw_only=True):
    """Forget something that is wrong, outdated or unwanted, when the user asks for it. Words ("where I live")
    or an id (f12) withdraw the fact or note they refer to; this can be undone. If it is unclear which one is
    meant, nothing is withdrawn and the answer lists candidates: call again with an id. To correct a fact, use
    remember with `replaces` instead. A full reference (message:42, fact:f12) erases permanently: only if the
    user wants all traces gone."""

    traits: ClassVar[Traits] = Traits(
        title="Forget",
        help='Withdraw a fact or note, or erase something permanently. Words ("where I live") or an id '
        "(f12) withdraw the fact or note they refer to; `mnemos undo` restores it. A full reference "
        "such as message:ID, session:ID, fact:ID, note:ID, entry:ID or template:NAME erases "
        "permanently.",
        destructive=True,
        positional=("ref",),
        words=True,
        example="where I live",
    )

    ref: Annotated[
        str | None,
        Meta(
            description="Words, or ids such as f12; to erase: message:ID, session:ID, fact:ID, note:ID, "
            "entry:ID or template:NAME"
        ),
    ] = None
    refs: Annotated[list[str] | None, leave_unlisted("Several references to erase, or ids to withdraw")] = (
        None
    )
    user_id: User = None

    def run(self, memory: Memory) -> Forgotten:
        refs = [self._resolve(memory, ref) for ref in self._list_refs()]
        return fill(Forgotten, memory.forget(refs, user_id=self.user_id))

    def at_stake(self, memory: Memory) -> str:
        # Other items are withdrawn, and undo restores them.
        erased = [ref for ref in self._list_refs() if REFERENCE.match(ref)]
        losses = [self._describe_loss(memory, self._resolve(memory, ref)) for ref in erased]
        return f"{list_some(losses)} permanently" if losses else ""

    def _list_refs(self) -> list[str]:
        if (self.ref is None) == (not self.refs):
            raise InvalidInput('Pass what to forget, such as "where I live", f12 or message:42.')
        return [self.ref] if self.ref is not None else list(dict.fromkeys(self.refs or ()))

    def _describe_loss(self, memory: Memory, ref: str) -> str:
        kind, _, name = ref.partition(":")
        if kind == "message" and name.isascii() and name.isdecimal() and int(name) <= MOST:
            (message,) = memory.sessions.get_messages_around(int(name), 0, 0)
            text = cut(one_line(message_text(message["content"])), _QUOTED)
            return f'{ref} ({message["role"]}, {render_time(message["timestamp"])}: "{text}")'
        if kind == "session" and memory.sessions.get_session(name):
            return describe_loss(memory, name)
        texts = read_texts(memory, kind, name)
        return f'{ref} ("{cut(one_line(texts[0]), _QUOTED)}")' if texts else ref

    def _resolve(self, memory: Memory, ref: str) -> str:
        """Return the reference with the whole id of a session, if that still exists."""
        kind, _, name = ref.partition(":")
        return f"session:{resolve_or_keep(memory, name, self.user_id)}" if kind == "session" and name else ref


class WithdrawnItem(Info, frozen=True, kw_only=True):
    """A fact or note, quoted."""

    id: str
    kind: str
    text: str
    at: float | None
    message_id: int | None


class Erased(Result, frozen=True, kw_only=True):
    """Files and tables that may still contain something that was erased."""

    pending: bool = False
    """True while another program, or a missing right on a server, prevents erasing traces."""
    copies: list[str] = field(default_factory=list)
    """Files that may contain it."""
    tables: list[str] = field(default_factory=list)
    """Tables of the workspace that contain it, such as default.notes."""
    unsearched: list[str] = field(default_factory=list)
    """Files that were not searched: too large, not readable, or the text is too short to look for."""
    dates: dict[str, float] = field(default_factory=dict)
    """When each of these files was last written."""

    def render_traces(self, compact: str) -> list[str]:
        """Say where it may still be found. ``compact``: how to compact a database."""
        lines = [_PENDING] if self.pending else []
        if self.copies:
            lines += ["These files may still contain it. Delete those that you don't need:"]
            lines += render_first([self._render_file(path) for path in self.copies], _SHOWN)
        if self.tables:
            lines.append(f"These tables contain it: {reveal(list_some(self.tables))}.")
            compact = compact.format(self.tables[0].partition(".")[0])
            lines.append(f"Delete the rows there, {compact}, and delete earlier snapshots.")
        if self.unsearched:
            lines += [_UNSEARCHED]
            lines += render_first([self._render_file(path) for path in self.unsearched], _SHOWN)
        return lines

    def _render_file(self, path: str) -> str:
        date = f" ({render_time(self.dates[path])})" if path in self.dates else ""
        return f"{reveal(path)}{date}"


class Forgotten(Erased, frozen=True, kw_only=True):
    ref: str
    forgotten: bool
    """False if it is not clear what is meant; see ``candidates``."""
    permanent: bool = True
    """True if it was erased and can't be undone."""
    erased: list[str] = field(default_factory=list)
    """References to the facts that were erased with it, because nothing else stated them."""
    kept: list[str] = field(default_factory=list)
    """References to facts that stay and may repeat it, and the title of its session if it does."""
    withdrawn: list[WithdrawnItem] = field(default_factory=list)
    candidates: list[WithdrawnItem] = field(default_factory=list)
    entry: int | None = None
    """The log entry that undoes a withdrawal."""

    @property
    def is_ok(self) -> bool:
        return self.forgotten

    def as_text(self) -> str:
        undo = "To undo, remember it again; undo {} restores it as it was."
        return self._render("forget", undo, COMPACT)

    def for_person(self) -> str:
        refs = " ".join(f"{one.kind}:{one.id}" for one in self.withdrawn[:1])
        undo = f"To undo: mnemos undo {{}}\nTo erase it permanently: mnemos forget {refs}"
        return self._render("mnemos forget", undo, COMPACT_COMMAND)

    def _render(self, command: str, undo: str, compact: str) -> str:
        if self.permanent:
            with_it = f", and {list_some(self.erased)}, which came only from it" if self.erased else ""
            lines = [f"Erased {self.ref}{with_it}."]
            if self.kept:
                lines.append(f"These were kept and may repeat it: {list_some(self.kept)}.")
                lines += [f"To erase one: {command} {one}" for one in self.kept if REFERENCE.match(one)][:1]
            return join_items([*lines, *self.render_traces(compact)])
        if not self.withdrawn:
            lines = [f"  {one.id}  {one.text}{_date(one)}" for one in self.candidates]
            if any(REFERENCE.match(one.id) for one in self.candidates):
                head = "Nothing was withdrawn. It was removed earlier and is only in the log. To erase"
                return join_items([f"{head} it there permanently, forget it by its reference:", *lines])
            return join_items(["Nothing was withdrawn. Which one is meant? Forget it by its id:", *lines])
        lines = [f"Withdrew {one.kind} {one.id}: {one.text}{_date(one)}." for one in self.withdrawn]
        kept = [f"message:{one.message_id}" for one in self.withdrawn if one.message_id is not None]
        lines += [f"The conversation still contains it in {', '.join(kept)}."] if kept else []
        return join_items([*lines, *undo.format(self.entry).split("\n")])


def _date(item: WithdrawnItem) -> str:
    return "" if item.at is None else f" ({render_time(item.at)[:10]})"
