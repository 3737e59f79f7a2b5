"""Operations on entries: what is known about users, in the chosen backend."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from msgspec import UNSET, Meta, UnsetType, field
from msgspec.structs import asdict

from mnemos.entries.backend import WORDS, MemoryBackend, MemoryEntry, NullBackend
from mnemos.errors import Disabled, InvalidInput, MnemosError, NotFound, Refused, Unavailable
from mnemos.language.threats import scan
from mnemos.language.threats.guard import ADVICE, admit
from mnemos.operations.arguments import Allow, Offset, up_to
from mnemos.operations.base import Done, Info, LongOperation, Operation, Result, Traits, fill
from mnemos.operations.evaluation import EvaluationReport
from mnemos.operations.namespaces import Namespace, PlacedKey, choose_place, list_placed
from mnemos.operations.texts import cut, plural, render_time
from mnemos.progress import Progress
from mnemos.text.stored_text import join_items, one_line

if TYPE_CHECKING:
    from mnemos.memory import Memory

User = Annotated[str, Meta(description="User the entries belong to; users never see each other's")]
Key = Annotated[str, Meta(description="Subject of the entry, e.g. pref_editor")]
_SHOWN = 200
_PLACED = 1000
_OFF = "Nothing is stored: the backend is disabled ({}). Set MNEMOS_BACKEND=local to store entries here."


def store_entry(
    memory: Memory,
    user: str,
    key: str,
    value: str,
    metadata: dict[str, Any] | None = None,
    *,
    allow: bool = False,
) -> None:
    """Store an entry. Text that looks like a prompt injection needs a person's consent."""
    # A remote backend needs no local home for harmless text.
    if scan(key) or scan(value):
        now, actor = memory.clock(), memory.settings.current_actor
        admit(memory.storage, "entry", [key, value], allow=allow, at=now, actor=actor)
    if not memory.backend.store(user, key, value, metadata):
        raise Unavailable(f"{memory.backend.backend_name} did not accept {key!r}. Nothing was stored.")


class UseBackend(LongOperation, frozen=True, kw_only=True):
    """Keep what is known about a user across sessions, as keys and values: preferences, habits, profile.
    Actions: store (key, value), retrieve (key), query (query_text: a question or a few words), list, delete
    (key), info, evaluate (compares the available backends)."""

    traits: ClassVar[Traits] = Traits(
        title="What is known about a user",
        help="Run an action of the tool `memory_backend`. The other commands of this group do one action "
        "each.",
        destructive=True,
        begins=True,
        positional=("action",),
        example="store --key pref_editor --value vim",
    )

    action: Annotated[
        Literal["store", "retrieve", "query", "list", "delete", "info", "evaluate"],
        Meta(description="What to do"),
    ]
    user_id: User = "default"
    key: Key | None = None
    value: Annotated[str, Meta(description="For store")] | None = None
    query_text: Annotated[str, Meta(description="For query")] | None = None
    metadata: Annotated[dict[str, Any], Meta(description="For store: any object")] | None = None
    allow: Allow = False

    def writes(self) -> bool:
        return self.action in ("store", "delete", "evaluate")

    def destroys(self) -> bool:
        return self.action == "delete"

    def at_stake(self, memory: Memory) -> str:  # noqa: ARG002
        return f"the entry {self.key!r} of {self.user_id}" if self.action == "delete" and self.key else ""

    def work(self, memory: Memory, progress: Progress) -> BackendAnswer:
        try:
            self._check()
            if self.action == "evaluate":
                return BackendAnswer(
                    success=True, report=fill(EvaluationReport, memory.evaluate(progress=progress))
                )
            return _ACTIONS[self.action](self, memory)
        except MnemosError as exc:
            return BackendAnswer(success=False, error=f"{exc.code}: {exc}")

    def _check(self) -> None:
        # An empty value is valid.
        missing = [
            name
            for name in _NEEDED.get(self.action, ())
            if getattr(self, name) is None or (name != "value" and getattr(self, name) == "")
        ]
        if missing:
            raise InvalidInput(f"{self.action} needs {' and '.join(missing)}")

    def _store(self, memory: Memory) -> BackendAnswer:
        key, value = self.key or "", self.value or ""
        store_entry(memory, self.user_id, key, value, self.metadata, allow=self.allow)
        return BackendAnswer(success=True, key=key, note=_note(memory.backend))

    def _retrieve(self, memory: Memory) -> BackendAnswer:
        entry = memory.backend.retrieve(self.user_id, self.key or "")
        if entry is None:
            off = _note(memory.backend)
            raise NotFound(f"{self.user_id} has no entry {self.key!r}" + (f". {off}" if off else ""))
        return BackendAnswer(
            success=True,
            key=entry.key,
            value=entry.value,
            metadata=entry.metadata,
            updated_at=entry.updated_at,
        )

    def _query(self, memory: Memory) -> BackendAnswer:
        results = [_info(one) for one in memory.backend.query(self.user_id, self.query_text or "")]
        return BackendAnswer(success=True, results=results, count=len(results), note=_note(memory.backend))

    def _list(self, memory: Memory) -> BackendAnswer:
        keys = memory.backend.list_keys(self.user_id)
        return BackendAnswer(success=True, keys=keys, count=len(keys), note=_note(memory.backend))

    def _delete(self, memory: Memory) -> BackendAnswer:
        if not memory.backend.delete(self.user_id, self.key or ""):
            raise NotFound(f"{self.user_id} has no entry {self.key!r}. Nothing was deleted.")
        return BackendAnswer(success=True)

    def _info(self, memory: Memory) -> BackendAnswer:
        backend = memory.backend
        return BackendAnswer(
            success=True,
            backend=backend.backend_name,
            is_cloud=backend.is_cloud,
            available=backend.is_available(),
            note=_note(backend),
        )


_ACTIONS: dict[str, Callable[[UseBackend, Memory], BackendAnswer]] = {
    "store": UseBackend._store,
    "retrieve": UseBackend._retrieve,
    "query": UseBackend._query,
    "list": UseBackend._list,
    "delete": UseBackend._delete,
    "info": UseBackend._info,
}
_NEEDED = {
    "store": ("key", "value"),
    "retrieve": ("key",),
    "query": ("query_text",),
    "delete": ("key",),
}


class BackendAnswer(Result, frozen=True, kw_only=True):
    """The answer of an action. Only the action's fields are filled."""

    success: bool
    error: str | UnsetType = UNSET
    key: str | UnsetType = UNSET
    value: str | UnsetType = UNSET
    metadata: dict[str, Any] | UnsetType = UNSET
    updated_at: float | UnsetType = UNSET
    results: list[EntryInfo] | UnsetType = UNSET
    keys: list[str] | UnsetType = UNSET
    count: int | UnsetType = UNSET
    backend: str | UnsetType = UNSET
    is_cloud: bool | UnsetType = UNSET
    available: bool | UnsetType = UNSET
    report: EvaluationReport | UnsetType = UNSET
    note: str | UnsetType = UNSET
    """The remark that nothing is stored, if the backend is disabled."""

    @property
    def is_ok(self) -> bool:
        return self.success

    def as_text(self) -> str:
        return join_items(line for line in (*self._lines(), self.note) if isinstance(line, str)) or "Done."

    def for_person(self) -> str:
        is_refused = isinstance(self.error, str) and self.error.startswith(Refused.code)
        return f"{self.as_text()}. {ADVICE}" if is_refused else self.as_text()

    def _lines(self) -> list[str]:
        if isinstance(self.error, str):
            return [self.error]
        if isinstance(self.results, list):
            return [_line(one) for one in self.results] or ["Nothing found."]
        if isinstance(self.keys, list):
            return [*map(one_line, self.keys)] or ["No entries."]
        if isinstance(self.report, EvaluationReport):
            return [self.report.recommendation]
        if isinstance(self.value, str):
            return [self.value]
        if isinstance(self.backend, str):
            return [f"{self.backend}, {'available' if self.available else 'not available'}"]
        return [f"Stored {self.key}."] if isinstance(self.key, str) and self.note is UNSET else []


class ListEntries(Operation, frozen=True, kw_only=True):
    """List the keys of a user's entries, most recently updated first. Use `values` to include their values.

    Entries that programs keep in namespaces of the user are listed last.
    """

    traits: ClassVar[Traits] = Traits(
        title="List entries", read_only=True, begins=True, example="--user alice --values --limit 20"
    )

    user: User = "default"
    values: Annotated[bool, Meta(description="Include the values")] = False
    limit: Annotated[int, up_to(1000)] | None = None
    offset: Offset = 0
    namespace: Namespace = None

    def run(self, memory: Memory) -> KeyList:
        backend, user = choose_place(memory, self.user, self.namespace)
        keys = backend.list_keys(user)
        end = None if self.limit is None else self.offset + self.limit
        page = keys[self.offset : end]
        found = (backend.retrieve(user, key) for key in page) if self.values else ()
        return KeyList(
            user=self.user,
            keys=page,
            count=len(keys),
            backend=backend.backend_name,
            entries=[fill(EntryDetail, entry) for entry in found if entry is not None],
            placed=[] if memory.backend.is_cloud else list_placed(memory, self.user, self.limit or _PLACED),
        )


class EntryDetail(Info, frozen=True, kw_only=True):
    """An entry with its times."""

    key: str
    value: str
    metadata: dict[str, Any]
    created_at: float
    updated_at: float


class KeyList(Result, frozen=True, kw_only=True):
    user: str
    keys: list[str]
    count: int
    """All keys of the user, of which ``keys`` may be a part."""
    backend: str
    entries: list[EntryDetail] = field(default_factory=list)
    """The entries of ``keys``, if values were asked for."""
    placed: list[PlacedKey] = field(default_factory=list)
    """Entries in namespaces below the user, which `entries find` shows with their values."""

    def as_text(self) -> str:
        if not self.count and not self.placed:
            is_off = self.backend.startswith("null")
            how = " Before you set one, run `mnemos config set backend local`." if is_off else ""
            return f"{self.user} has no entries.{how}"
        shown = [f"{one.key}: {cut(one.value, _SHOWN)}" for one in self.entries] or self.keys
        placed = [f"{'/'.join(one.namespace)}  {one.key}  ({one.ref})" for one in self.placed]
        rest = [f"({len(self.keys)} of {self.count})"] if len(self.keys) < self.count else []
        return join_items([*map(one_line, [*shown, *placed]), *rest])


class ListEntryUsers(Operation, frozen=True, kw_only=True):
    """List the users that have entries on this machine, and how many each has."""

    traits: ClassVar[Traits] = Traits(title="List users with entries", read_only=True, begins=True)

    limit: Annotated[int, up_to(1000)] = 1000

    def run(self, memory: Memory) -> EntryUsers:
        if not isinstance(memory.backend, NullBackend) and memory.backend.is_cloud:
            raise Refused(f"{memory.backend.backend_name} does not list its users. Name one with --user.")
        found = memory.storage.read(lambda tx: tx.entries.users(self.limit))
        return EntryUsers(users=[EntryUser(user=user, entries=count) for user, count in found.items()])


class EntryUser(Info, frozen=True, kw_only=True):
    user: str
    entries: int


class EntryUsers(Result, frozen=True, kw_only=True):
    users: list[EntryUser]
    """By name."""

    def as_text(self) -> str:
        lines = (f"{one_line(one.user)}: {plural(one.entries, 'entry', 'entries')}" for one in self.users)
        return join_items(lines) or "No user has entries here."


class GetEntry(Operation, frozen=True, kw_only=True):
    """Show the value of an entry."""

    traits: ClassVar[Traits] = Traits(
        title="Show an entry", read_only=True, begins=True, positional=("key",), example="pref_editor"
    )

    key: Key
    user: User = "default"

    def run(self, memory: Memory) -> EntryShown:
        entry = memory.backend.retrieve(self.user, self.key)
        if entry is None:
            raise _missing(memory.backend, self.user, self.key)
        return EntryShown(user=entry.user_id, **asdict(fill(EntryDetail, entry)))


class EntryShown(EntryDetail, Result, frozen=True, kw_only=True):
    user: str

    def as_text(self) -> str:
        return join_items([self.value])

    def for_person(self) -> str:
        return self.value


class SetEntry(Operation, frozen=True, kw_only=True):
    """Set the value of a key, replacing its old value."""

    traits: ClassVar[Traits] = Traits(
        title="Set an entry",
        idempotent=True,
        begins=True,
        positional=("key", "value"),
        stdin="value",
        example='pref_editor "vim with dark colours" --user alice',
    )

    key: Key
    value: Annotated[str, Meta(description="The value")]
    user: User = "default"
    metadata: Annotated[dict[str, Any], Meta(description="Any JSON object")] | None = None
    allow: Allow = False

    def run(self, memory: Memory) -> Done:
        off = _note(memory.backend)
        if isinstance(off, str):
            raise Disabled(off)
        store_entry(memory, self.user, self.key, self.value, self.metadata, allow=self.allow)
        return Done(done=f"Set {self.key} for {self.user}.")


class QueryEntries(Operation, frozen=True, kw_only=True):
    """Find entries of a user by a question, a few words or part of a word, best first."""

    traits: ClassVar[Traits] = Traits(
        title="Query entries",
        read_only=True,
        begins=True,
        positional=("query",),
        words=True,
        example="which editor --user alice",
    )

    query: Annotated[str, Meta(description="A question, a few words or part of a word")]
    user: User = "default"
    limit: Annotated[int, up_to(200)] = 10

    def run(self, memory: Memory) -> EntriesFound:
        found = memory.backend.query(self.user, self.query, self.limit)
        return EntriesFound(
            user=self.user,
            entries=[fill(EntryInfo, entry) for entry in found],
            count=len(found),
        )


class EntriesFound(Result, frozen=True, kw_only=True):
    user: str
    entries: list[EntryInfo]
    count: int

    def as_text(self) -> str:
        return join_items(_line(one) for one in self.entries) or "Nothing found."


class DeleteEntry(Operation, frozen=True, kw_only=True):
    """Permanently delete an entry. Cannot be undone."""

    traits: ClassVar[Traits] = Traits(
        title="Delete an entry",
        destructive=True,
        idempotent=True,
        positional=("key",),
        begins=True,
        example="pref_editor --yes",
    )

    key: Key
    user: User = "default"
    namespace: Namespace = None

    @property
    def _owner(self) -> str:
        return self.user if self.namespace is None else "/".join(self.namespace)

    def at_stake(self, memory: Memory) -> str:
        backend, user = choose_place(memory, self.user, self.namespace)
        entry = backend.retrieve(user, self.key)
        if entry is None:
            raise _missing(backend, self._owner, self.key)
        when = render_time(entry.updated_at)
        return f"the entry {self.key!r} of {self._owner}, last set {when}, permanently"

    def run(self, memory: Memory) -> Done:
        backend, user = choose_place(memory, self.user, self.namespace)
        if not backend.delete(user, self.key):
            raise _missing(backend, self._owner, self.key)
        return Done(done=f"Deleted {self.key} of {self._owner}.")


class ShowBackend(Operation, frozen=True, kw_only=True):
    """Show which backend stores entries, why it was chosen, and where the data is."""

    traits: ClassVar[Traits] = Traits(title="Show the backend", read_only=True, begins=True)

    def run(self, memory: Memory) -> BackendShown:
        from mnemos.entries.backend_choice import choose_backend

        backend = memory.backend
        return BackendShown(
            backend=backend.backend_name,
            is_cloud=backend.is_cloud,
            available=backend.is_available(),
            reason=choose_backend(memory.settings).reason,
            location=backend.location,
        )


class BackendShown(Result, frozen=True, kw_only=True):
    backend: str
    is_cloud: bool
    available: bool
    reason: str
    location: str

    def as_text(self) -> str:
        leaves = " Data leaves this machine." if self.is_cloud else ""
        return join_items([f"{self.backend}: {self.reason}. Data location: {self.location}.{leaves}"])


def _missing(backend: MemoryBackend, user: str, key: str) -> NotFound:
    name = backend.backend_name
    return NotFound(f"User {user!r} has no entry {key!r} in {name}. The tool entries_list lists the keys.")


def _note(backend: MemoryBackend) -> str | UnsetType:
    return _OFF.format(backend.reason) if isinstance(backend, NullBackend) else UNSET


class EntryInfo(Info, frozen=True, kw_only=True):
    """An entry. ``match`` says how it was found, unless by its words."""

    key: str
    value: str
    metadata: dict[str, Any]
    match: str | UnsetType = UNSET
    created_at: float | UnsetType = UNSET
    updated_at: float | UnsetType = UNSET


def _info(entry: MemoryEntry) -> EntryInfo:
    match = UNSET if entry.match == WORDS else entry.match
    return EntryInfo(key=entry.key, value=entry.value, metadata=entry.metadata, match=match)


def _line(one: EntryInfo) -> str:
    how = "" if one.match is UNSET or one.match == WORDS else f"  ({one.match})"
    return f"{one_line(one.key)}: {cut(one.value, _SHOWN)}{how}"
