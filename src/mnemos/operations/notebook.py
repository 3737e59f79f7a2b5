"""Operations on the notebook: the few notes that go into every prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import replace

from mnemos.errors import InvalidInput, MnemosError
from mnemos.notebook.notes import Book, Use, join_entries, merge_entries, name_version, parse_entries
from mnemos.operations.arguments import IGNORED, Allow, up_to
from mnemos.operations.base import Done, Info, Operation, Result, Traits
from mnemos.operations.texts import plural, render_time
from mnemos.text.stored_text import join_items

if TYPE_CHECKING:
    from mnemos.memory import Memory
    from mnemos.notebook.notes import Use

Target = Annotated[
    Literal["memory", "user"], Meta(description="memory: your own notes; user: who the user is")
]


class EditNotes(Operation, frozen=True, kw_only=True):
    """Edit the notes that are in every prompt: add, replace or remove an entry. Keep them few: what matters
    in most sessions, such as conventions, the environment, lessons, preferences. Not for tasks or for what
    recall finds anyway. To make room and add in one call, pass operations."""

    traits: ClassVar[Traits] = Traits(
        title="Edit notes",
        help="Add, replace or remove one of the notes that go into every prompt, as the tool `memory` does.",
        begins=True,
        positional=("action", "content"),
        example='add "Tests run with make test"',
    )

    action: Annotated[
        Literal["add", "replace", "remove"] | None,
        Meta(description="The change to make; omit it with operations"),
    ] = None
    content: Annotated[str | None, Meta(description="The entry, for add and replace")] = None
    target: Target = "memory"
    old_text: Annotated[
        str | None, Meta(description="Part of the entry to replace or remove; no other entry may contain it")
    ] = None
    operations: Annotated[
        list[dict[str, Any]] | None,
        Meta(description="Several {action, content, old_text}, applied together or not at all"),
    ] = None
    allow: Allow = False

    def destroys(self) -> bool:
        return "remove" in (self.action, *(one.get("action") for one in self.operations or ()))

    def run(self, memory: Memory) -> NotesEdited:
        if self.operations and self.action is not None:
            raise InvalidInput("Pass an action or operations, not both.")
        single = {"action": self.action, "content": self.content, "old_text": self.old_text}
        before = memory.notebook.entries(self.target)
        use = memory.notebook.change(self.operations or [single], target=self.target, allow=self.allow)
        return NotesEdited.of(use, changed=before != memory.notebook.entries(self.target))


class NotesEdited(Result, frozen=True, kw_only=True):
    target: str
    entries: int
    used: int
    limit: int
    percent: int
    warning: str
    changed: bool
    version: str | UnsetType = UNSET
    """The version that the file has now, after it was rewritten."""
    merged: bool | UnsetType = UNSET
    """True if others had changed the file since the version that was edited."""

    @classmethod
    def of(cls, use: Use, *, changed: bool) -> NotesEdited:
        return cls(
            target=str(use.book),
            entries=use.entries,
            used=use.used,
            limit=use.limit,
            percent=use.percent,
            warning=use.warning,
            changed=changed,
        )

    def as_text(self) -> str:
        done = "Done." if self.changed else "Already noted; nothing was changed."
        if self.merged:
            done += " Merged with what others changed in the meantime."
        entries = plural(self.entries, "entry", "entries")
        use = f"{self.target}: {entries}, {self.percent}% ({self.used}/{self.limit})."
        return join_items([f"{done} {use} {self.warning}"])


class ShowNotes(Operation, frozen=True, kw_only=True):
    """Show the notebook and how full it is."""

    traits: ClassVar[Traits] = Traits(title="Show the notebook", read_only=True)

    def run(self, memory: Memory) -> NotesShown:
        return NotesShown(files=[_read_file(memory, name) for name in memory.settings.notebook_files])


def _read_file(memory: Memory, name: str) -> NotesInfo:
    limit = memory.notebook.limit(name)
    try:
        stored = memory.notebook.entries(name)
        entries = memory.notebook.render(stored)
    except MnemosError as exc:
        return NotesInfo(target=name, entries=[], used=0, limit=limit, percent=0, unread=str(exc))
    use = Use(Book(name), len(join_entries(stored)), limit, len(stored))
    return NotesInfo(
        target=name,
        entries=entries,
        used=use.used,
        limit=limit,
        percent=use.percent,
        altered=entries != stored,
        version=name_version(stored),
    )


class NotesInfo(Info, frozen=True, kw_only=True):
    """A file of the notebook; ``unread`` says why it could not be read."""

    target: str
    entries: list[str]
    used: int
    limit: int
    percent: int
    altered: bool = False
    """True if an entry is not shown as it is stored: it has hidden characters, or is blocked."""
    version: str | UnsetType = UNSET
    """Name of this state of the file, to pass as the base of an edit."""
    unread: str | UnsetType = UNSET


class NotesShown(Result, frozen=True, kw_only=True):
    files: list[NotesInfo]

    def as_text(self) -> str:
        lines: list[str] = []
        for file in self.files:
            lines.append(f"{file.target}: {file.percent}% ({file.used}/{file.limit} characters)")
            lines += [f"  - {entry}" for entry in file.entries]
            lines += [f"  {file.unread}"] if file.unread else []
        return join_items(lines) or "The notebook is turned off."


class AddNote(Operation, frozen=True, kw_only=True):
    """Add a note to the notebook."""

    traits: ClassVar[Traits] = Traits(
        title="Add a note",
        begins=True,
        positional=("content",),
        words=True,
        stdin="content",
        example='"Tests run with make test" --target memory',
    )

    content: Annotated[str, Meta(description="The note")]
    target: Target = "memory"
    allow: Allow = False

    def run(self, memory: Memory) -> NotesEdited:
        before = memory.notebook.use(self.target).entries
        use = memory.notebook.add(self.content, target=self.target, allow=self.allow)
        return NotesEdited.of(use, changed=use.entries != before)


class RewriteNotes(Operation, frozen=True, kw_only=True):
    """Replace all entries of a notebook file. Separate entries by a line that contains only §."""

    traits: ClassVar[Traits] = Traits(
        title="Rewrite a notebook file",
        begins=True,
        positional=("target", "text"),
        stdin="text",
        edited="text",
        example='memory "Tests run with make test"',
    )

    target: Target
    text: Annotated[str | None, Meta(description="New text of the whole file")] = None
    base: Annotated[
        str | None, Meta(description="Version that you edited; others' later changes are kept")
    ] = None
    allow: Allow = False

    def run(self, memory: Memory) -> NotesEdited:
        if self.text is None or not self.text.strip():
            raise InvalidInput("text is empty. Pass the new text of the whole file, or remove its entries.")
        before = memory.notebook.entries(self.target)
        use = memory.notebook.write(self.target, self.text, allow=self.allow, base=self.base)
        now = memory.notebook.entries(self.target)
        return replace(
            NotesEdited.of(use, changed=before != now),
            version=name_version(now),
            merged=UNSET if self.base is None else name_version(before) != self.base,
        )

    def draft(self, memory: Memory) -> str:
        return join_entries(memory.notebook.entries(self.target)) + "\n"

    def merge_draft(self, text: str, draft: str, now: str) -> str:
        if now == draft or not text.strip():
            return text
        return join_entries(merge_entries(parse_entries(text), parse_entries(draft), parse_entries(now)))


class ListVersions(Operation, frozen=True, kw_only=True):
    """List the versions of a notebook file, newest first, with their entries."""

    traits: ClassVar[Traits] = Traits(
        title="List versions of the notebook",
        read_only=True,
        positional=("target",),
        example="memory --limit 5",
    )

    target: Target = "memory"
    limit: Annotated[int, up_to(1000)] = 50

    def run(self, memory: Memory) -> NoteVersions:
        found = memory.notebook.versions(self.target, self.limit)
        return NoteVersions(
            target=self.target,
            versions=[
                NoteVersion(
                    version=one.name,
                    entries=memory.notebook.render(list(one.entries)),
                    text=join_entries(list(one.entries)),
                    at=one.at,
                    actor=one.actor,
                    entry=one.entry,
                )
                for one in found
            ],
        )


class NoteVersion(Info, frozen=True, kw_only=True):
    version: str
    entries: list[str]
    text: str
    """The whole file, to be passed to an edit that restores it."""
    at: float | None
    """None for a manual edit that is not logged yet."""
    actor: str
    entry: int | None
    """Entry of the log."""


class NoteVersions(Result, frozen=True, kw_only=True):
    target: str
    versions: list[NoteVersion]
    """The first is the current one."""

    def as_text(self) -> str:
        lines = []
        for one in self.versions:
            when = f"{render_time(one.at)}  {one.actor}" if one.at is not None else "not logged yet"
            lines.append(f"{one.version}  {when}  {plural(len(one.entries), 'entry', 'entries')}")
            lines += [f"  - {entry}" for entry in one.entries]
        return join_items(lines)


class UndoNotes(Operation, frozen=True, kw_only=True):
    """Undo the newest change of the notebook that can be undone."""

    traits: ClassVar[Traits] = Traits(title="Undo a notebook change", reverts=True)

    def run(self, memory: Memory) -> Done:
        return Done(done=memory.undo_notes())


class OptimizeNotes(Operation, frozen=True, kw_only=True):
    """Make room in notebook files above the threshold: drop entries that the facts already contain, move
    constraints, decisions and values to facts, and shorten wordy entries. Safe to run on a schedule."""

    traits: ClassVar[Traits] = Traits(title="Make room in the notebook", idempotent=True, example="--dry-run")

    threshold_pct: Annotated[
        float, Meta(ge=0, le=100, description="Act above this percentage of the limit")
    ] = 55
    dry_run: Annotated[bool, Meta(description="Only show what would be done")] = False
    session_id: Annotated[str | None, Meta(description=IGNORED)] = None

    def writes(self) -> bool:
        return not self.dry_run

    def run(self, memory: Memory) -> NotesOptimized:
        done = memory.optimize_notebook(threshold=self.threshold_pct, dry_run=self.dry_run)
        return NotesOptimized(
            before=done.before,
            after=done.after,
            steps=[
                NoteStep(
                    target=str(step.book),
                    action=step.action,
                    entry=step.entry,
                    facts=list(step.facts),
                    shorter=step.shorter,
                )
                for step in done.steps
            ],
            unread=done.unread,
            dry_run=self.dry_run,
        )


class NoteStep(Info, frozen=True, kw_only=True):
    """A note that was dropped, moved to ``facts``, or made ``shorter``."""

    target: str
    action: str
    entry: str
    facts: list[str]
    shorter: str


class NotesOptimized(Result, frozen=True, kw_only=True):
    before: dict[str, int]
    after: dict[str, int]
    steps: list[NoteStep]
    unread: dict[str, str]
    dry_run: bool

    def as_text(self) -> str:
        shares = ", ".join(f"{name} {share}% -> {self.after[name]}%" for name, share in self.before.items())
        would = "would be " if self.dry_run else ""
        lines = [f"{would}{step.action}: {' '.join(step.entry.split())}" for step in self.steps]
        lines += self.unread.values()
        return join_items([shares or "No files were read.", *(lines or ["Nothing to do."])])
