"""Operations on entries in namespaces: what programs store in this memory, as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from msgspec import Meta

from mnemos.operations.arguments import Offset, up_to
from mnemos.operations.base import Done, Info, Operation, Result, Traits
from mnemos.operations.texts import plural
from mnemos.sessions.records import dump_json
from mnemos.text.stored_text import join_items, one_line

if TYPE_CHECKING:
    from mnemos.memory import Memory

Labels = Annotated[list[str], Meta(description="Labels of the namespace; the first is its owner")]


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


class FindEntries(Operation, frozen=True, kw_only=True):
    """Find entries in a namespace and those below it, by a question or by their fields.

    Without a question, the last changed come first.
    """

    traits: ClassVar[Traits] = Traits(
        title="Find entries in namespaces", read_only=True, positional=("query",), example="editor"
    )

    query: Annotated[str, Meta(description="Question or words")] = ""
    namespace: Labels | None = None
    filter: Annotated[
        dict[str, Any] | None, Meta(description="Fields of the value, such as size with $gt 3")
    ] = None
    limit: Annotated[int, up_to(1000)] = 20
    offset: Offset = 0

    def run(self, memory: Memory) -> FoundEntries:
        found = memory.entries.find(
            tuple(self.namespace or ()),
            query=self.query,
            filter=self.filter,
            limit=self.limit,
            offset=self.offset,
        )
        entries = [
            FoundEntry(
                ref=f"entry:{one.number}",
                namespace=list(one.namespace),
                key=one.key,
                value=one.value,
                metadata=one.metadata,
                created_at=one.created_at,
                updated_at=one.updated_at,
                expires_at=one.expires_at,
                score=one.score,
            )
            for one in found
        ]
        return FoundEntries(entries=entries)


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
    value: Annotated[dict[str, Any], Meta(description="Any JSON object")]
    fields: Annotated[
        list[str] | None, Meta(description="Paths in the value that are searched; default: all")
    ] = None
    expires_at: Annotated[float | None, Meta(description="Unix seconds from which on it is gone")] = None

    def run(self, memory: Memory) -> Done:
        memory.entries.put(
            tuple(self.namespace), self.key, self.value, fields=self.fields, expires_at=self.expires_at
        )
        return Done(done=f"Set {self.key} in {'/'.join(self.namespace)}.")


class ListNamespaces(Operation, frozen=True, kw_only=True):
    """List the namespaces that have entries."""

    traits: ClassVar[Traits] = Traits(title="List namespaces", read_only=True)

    prefix: Annotated[list[str] | None, Meta(description="First labels; * is any label")] = None
    suffix: Annotated[list[str] | None, Meta(description="Last labels; * is any label")] = None
    max_depth: Annotated[int | None, Meta(description="Cut them to this number of labels")] = None
    limit: Annotated[int, up_to(1000)] = 100
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
