"""Operations on the notebook: the few notes that belong in every prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from msgspec import Meta

from mnemos.errors import InvalidInput, MnemosError
from mnemos.notebook.note_block import render_entry
from mnemos.notebook.notes import join_entries, parse_entries
from mnemos.operations.base import Done, Operation, Result, Traits

if TYPE_CHECKING:
    from mnemos.memory import Memory
    from mnemos.notebook.notes import Use

Target = Annotated[
    Literal["memory", "user"], Meta(description="memory: your own notes; user: who the user is")
]


class EditNotes(Operation, frozen=True, kw_only=True):
    """Curate the notes that stand in every prompt: add, replace or remove an entry. Keep them few: what will
    matter in most sessions, such as conventions, the environment, lessons, preferences. Not for tasks or for
    what recall finds anyway. To make room and add in one go, pass operations."""

    traits: ClassVar[Traits] = Traits(
        title="Edit notes",
        begins=True,
        positional=("action", "content"),
        example=("add", "Tests run with make test"),
    )

    action: Annotated[
        Literal["add", "replace", "remove"] | None, Meta(description="What to do; leave out with operations")
    ] = None
    content: Annotated[str | None, Meta(description="The entry, for add and replace")] = None
    target: Target = "memory"
    old_text: Annotated[
        str | None, Meta(description="A part of the entry to replace or remove that no other has")
    ] = None
    operations: Annotated[
        list[dict[str, Any]] | None, Meta(description="Several of {action, content, old_text}: all or none")
    ] = None

    def run(self, memory: Memory) -> NotesEdited:
        asked = {"action": self.action, "content": self.content, "old_text": self.old_text}
        if self.operations and self.action is not None:
            raise InvalidInput("pass an action or operations, not both")
        before = memory.notebook.entries(self.target)
        use = memory.notebook.change(self.operations or [asked], target=self.target)
        return NotesEdited.of(use, changed=before != memory.notebook.entries(self.target))


class NotesEdited(Result, frozen=True, kw_only=True):
    target: str
    entries: int
    used: int
    limit: int
    percent: int
    warning: str
    changed: bool

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
        done = "Done." if self.changed else "That is noted already; nothing was changed."
        entries = "1 entry" if self.entries == 1 else f"{self.entries} entries"
        said = f"{done} {self.target}: {entries}, {self.percent}% ({self.used}/{self.limit})."
        return f"{said} {self.warning}".rstrip()


class ShowNotes(Operation, frozen=True, kw_only=True):
    """Show the notebook as it is now, with how full it is."""

    traits: ClassVar[Traits] = Traits(title="Show the notebook", read_only=True)

    def run(self, memory: Memory) -> NotesShown:
        files = []
        for name in memory.settings.notebook_files:
            file: dict[str, Any] = {
                "target": name,
                "entries": [],
                "used": 0,
                "limit": memory.notebook.limit(name),
            }
            try:
                use = memory.notebook.use(name)
                file |= {
                    "entries": [render_entry(one) for one in memory.notebook.entries(name)],
                    "used": use.used,
                    "percent": use.percent,
                }
            except MnemosError as exc:
                file |= {"percent": 0, "unread": str(exc)}
            files.append(file)
        return NotesShown(files=files)


class NotesShown(Result, frozen=True, kw_only=True):
    files: list[dict[str, Any]]

    def as_text(self) -> str:
        lines: list[str] = []
        for file in self.files:
            lines.append(f"{file['target']}: {file['percent']}% ({file['used']}/{file['limit']} characters)")
            lines += [f"  - {entry.replace(chr(10), chr(10) + '    ')}" for entry in file["entries"]]
            lines += [f"  {file['unread']}"] if "unread" in file else []
        return "\n".join(lines) or "The notebook is switched off."


class AddNote(Operation, frozen=True, kw_only=True):
    """Add a note to the notebook."""

    traits: ClassVar[Traits] = Traits(
        title="Add a note",
        begins=True,
        positional=("content",),
        stdin="content",
        example=("Tests run with make test", "--target", "memory"),
    )

    content: Annotated[str, Meta(description="The note; - or nothing: standard input")]
    target: Target = "memory"

    def run(self, memory: Memory) -> NotesEdited:
        before = memory.notebook.use(self.target).entries
        use = memory.notebook.add(self.content, target=self.target)
        return NotesEdited.of(use, changed=use.entries != before)


class RewriteNotes(Operation, frozen=True, kw_only=True):
    """Replace a whole file of the notebook: entries, separated by a line with only § in it."""

    traits: ClassVar[Traits] = Traits(
        title="Rewrite a file of the notebook",
        begins=True,
        positional=("target", "text"),
        stdin="text",
        edited="text",
        example=("memory", "Tests run with make test"),
    )

    target: Target
    text: Annotated[
        str | None, Meta(description="The new text; - or nothing: standard input, at a terminal the editor")
    ] = None

    def run(self, memory: Memory) -> NotesEdited:
        if self.text is None or not self.text.strip():
            raise InvalidInput("text is empty; pass the whole new text of the file, or remove its entries")
        before = memory.notebook.entries(self.target)
        use = memory.notebook.write(self.target, self.text)
        return NotesEdited.of(use, changed=before != memory.notebook.entries(self.target))

    def draft(self, memory: Memory) -> str:
        return join_entries(memory.notebook.entries(self.target)) + "\n"

    def merged(self, text: str, draft: str, now: str) -> str:
        if now == draft or not text.strip():
            return text
        before, after = parse_entries(draft), parse_entries(now)
        kept = [entry for entry in parse_entries(text) if entry in after or entry not in before]
        return join_entries([*kept, *(entry for entry in after if entry not in before)])


class UndoNotes(Operation, frozen=True, kw_only=True):
    """Take back the newest change of the notebook that can be taken back."""

    traits: ClassVar[Traits] = Traits(title="Undo a change of the notebook")

    def run(self, memory: Memory) -> Done:
        return Done(done=memory.undo_notes())


class OptimizeNotes(Operation, frozen=True, kw_only=True):
    """Make room in the notebook. Above the threshold: drop what the facts say already, move constraints,
    decisions and values into facts, abbreviate what is verbose. Safe to run from a schedule."""

    traits: ClassVar[Traits] = Traits(
        title="Make room in the notebook", idempotent=True, example=("--dry-run",)
    )

    threshold_pct: Annotated[float, Meta(ge=0, le=100, description="Act above this share of a limit")] = 55
    dry_run: Annotated[bool, Meta(description="Only say what would be done")] = False
    session_id: Annotated[str | None, Meta(description="Not needed")] = None

    def writes(self) -> bool:
        return not self.dry_run

    def run(self, memory: Memory) -> NotesOptimized:
        done = memory.optimize_notebook(threshold=self.threshold_pct, dry_run=self.dry_run)
        return NotesOptimized(
            before=done.before,
            after=done.after,
            steps=[
                {
                    "target": str(step.book),
                    "action": step.action,
                    "entry": step.entry,
                    "facts": list(step.facts),
                    "shorter": step.shorter,
                }
                for step in done.steps
            ],
            unread=done.unread,
            dry_run=self.dry_run,
        )


class NotesOptimized(Result, frozen=True, kw_only=True):
    before: dict[str, int]
    after: dict[str, int]
    steps: list[dict[str, Any]]
    unread: dict[str, str]
    dry_run: bool

    def as_text(self) -> str:
        shares = ", ".join(f"{name} {share}% -> {self.after[name]}%" for name, share in self.before.items())
        would = "would be " if self.dry_run else ""
        lines = [f"{would}{step['action']}: {' '.join(step['entry'].split())}" for step in self.steps]
        lines += self.unread.values()
        return "\n".join([shares or "No file was looked at.", *(lines or ["Nothing to do."])])
