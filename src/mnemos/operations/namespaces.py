"""Operations on entries in namespaces, which programs store as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from msgspec import Meta

from mnemos.errors import NotFound
from mnemos.operations.arguments import Allow, Offset, leave_unlisted, up_to
from mnemos.operations.base import Done, Info, Operation, Result, Traits, fill
from mnemos.operations.texts import plural, render_time
from mnemos.sessions.records import dump_json
from mnemos.text.stored_text import join_items, one_line

if TYPE_CHECKING:
    from mnemos.entries.backend import MemoryBackend, MemoryEntry
    from mnemos.entries.entry_store import Entries
    from mnemos.memory import Memory

Expiry = Annotated[float | None, Meta(description="When it expires, in Unix seconds")]
Labels = Annotated[list[str], Meta(description="Labels of the namespace; the first is its owner")]

Namespace = Annotated[list[str] | None, leave_unlisted("Labels of a namespace, instead of a user")]


def choose_place(memory: Memory, user: str, namespace: list[str] | None) -> tuple[MemoryBackend, Any]:
    """Return the backend and the user or, with a namespace, this memory and labels."""
    return (memory.backend, user) if namespace is None else (memory.entries, tuple(namespace))


class PlacedKey(Info, frozen=True, kw_only=True):
    """An entry in a namespace of this memory."""

    ref: str
    """Name to forget it by."""
    namespace: list[str]
    key: str


def list_placed(memory: Memory, user: str, limit: int) -> list[PlacedKey]:
    """Return the entries in namespaces below a user, last changed first."""
    found = memory.entries.find((user,), limit=limit)
    return [fill(PlacedKey, one) for one in found if len(one.namespace) > 1]


class FoundEntry(Info, frozen=True, kw_only=True):
    ref: str
    """Name to forget it by."""
    namespace: list[str]
    key: str
    value: Any
    metadata: dict[str, Any]
    created_at: float
    updated_at: float
    expires_at: float | None
    score: float | None
    """Match with the question, from 0 to 1."""
    match: str = ""
    """``words``, or ``semantic`` if it is only similar in meaning."""


class FindEntries(Operation, frozen=True, kw_only=True):
    """Find entries in a namespace and those below it, by a question or by their fields.

    Without a question, the most recently changed entries come first.
    """

    traits: ClassVar[Traits] = Traits(
        title="Find entries in namespaces", read_only=True, positional=("query",), example="editor"
    )

    query: Annotated[str, Meta(description="Question or words")] = ""
    namespace: Labels | None = None
    filter: Annotated[
        dict[str, Any] | None, Meta(description='Conditions on its fields: {"size": {"$gt": 3}}')
    ] = None
    limit: Annotated[int, up_to(10_000)] = 20
    offset: Offset = 0
    key: Annotated[str | None, leave_unlisted("Only the entry with this key")] = None
    exact: Annotated[bool, leave_unlisted("With a query: search only this namespace, not those below it")] = (
        False
    )

    def run(self, memory: Memory) -> FoundEntries:
        return FoundEntries(entries=[fill(FoundEntry, one) for one in self._find(memory.entries)])

    def _find(self, entries: Entries) -> list[MemoryEntry]:
        labels = tuple(self.namespace or ())
        if self.key is not None:
            entry = entries.retrieve(labels, self.key)
            return [] if entry is None else [entry]
        if self.exact and self.query:
            return entries.query(labels, self.query, self.limit)
        return entries.find(
            labels, query=self.query, filter=self.filter, limit=self.limit, offset=self.offset
        )


class FoundEntries(Result, frozen=True, kw_only=True):
    entries: list[FoundEntry]

    def as_text(self) -> str:
        return join_items(map(_render, self.entries)) or "No entries."


def _render(one: FoundEntry) -> str:
    value = one.value if isinstance(one.value, str) else dump_json(one.value)
    return one_line(f"{'/'.join(one.namespace)}  {one.key}: {value}  ({one.ref})")


class PutEntry(Operation, frozen=True, kw_only=True):
    """Set an entry of a namespace to any JSON value."""

    traits: ClassVar[Traits] = Traits(
        title="Set an entry in a namespace",
        idempotent=True,
        positional=("key",),
        example="""theme --namespace ada --value '{"name": "dark"}'""",
    )

    key: Annotated[str, Meta(description="Key of the entry")]
    namespace: Labels
    value: Annotated[
        dict[str, Any] | list[Any] | str | int | float | bool | None,
        Meta(description="Any JSON value, such as an object"),
    ]
    fields: Annotated[
        list[str] | None, Meta(description="Paths in the value to index for search; default: all")
    ] = None
    expires_at: Expiry = None
    metadata: Annotated[dict[str, Any] | None, leave_unlisted("Any JSON object")] = None
    allow: Allow = False

    def run(self, memory: Memory) -> Done:
        memory.entries.put(
            tuple(self.namespace),
            self.key,
            self.value,
            metadata=self.metadata,
            fields=self.fields,
            expires_at=self.expires_at,
            allow=self.allow,
        )
        return Done(done=f"Set {self.key} in {'/'.join(self.namespace)}.")


class ExpireEntry(Operation, frozen=True, kw_only=True):
    """Change when an entry of a namespace expires. Without a time, it never expires."""

    traits: ClassVar[Traits] = Traits(
        title="Change when an entry expires",
        idempotent=True,
        positional=("key",),
        example="pref_editor --namespace sam --expires-at 1893456000",
    )

    key: Annotated[str, Meta(description="Key of the entry")]
    namespace: Labels
    expires_at: Expiry = None

    def run(self, memory: Memory) -> Done:
        place = "/".join(self.namespace)
        if not memory.entries.set_expiry(tuple(self.namespace), self.key, self.expires_at):
            raise NotFound(f"There is no entry {self.key!r} in {place}.")
        when = "never expires" if self.expires_at is None else f"expires {render_time(self.expires_at)}"
        return Done(done=f"{self.key} in {place} {when}.")


class ListNamespaces(Operation, frozen=True, kw_only=True):
    """List the namespaces that have entries."""

    traits: ClassVar[Traits] = Traits(title="List namespaces", read_only=True)

    prefix: Annotated[list[str] | None, Meta(description="First labels; * is any label")] = None
    suffix: Annotated[list[str] | None, Meta(description="Last labels; * is any label")] = None
    max_depth: Annotated[int | None, Meta(description="Shorten them to this number of labels")] = None
    limit: Annotated[int, up_to(10_000)] = 100
    offset: Offset = 0

    def run(self, memory: Memory) -> NamespaceList:
        found = memory.entries.namespaces(
            prefix=self.prefix,
            suffix=self.suffix,
            max_depth=self.max_depth,
            limit=self.limit,
            offset=self.offset,
        )
        return NamespaceList(namespaces=[list(labels) for labels in found])


class NamespaceList(Result, frozen=True, kw_only=True):
    namespaces: list[list[str]]

    def as_text(self) -> str:
        lines = ["/".join(labels) for labels in self.namespaces]
        return join_items([*lines, f"({plural(len(lines), 'namespace')})"])
