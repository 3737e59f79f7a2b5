"""The interface of mem0, without mem0.

A memory is an entry of its user. ``infer=True`` uses rules and no model: it keeps the sentences that state a
fact, or else what the user said, unless that is a question or small talk; an update replaces the memory that
it updates. ``infer=False`` stores every message.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime
from functools import partial
from typing import Any, Self

from mnemos.entries.backend import MemoryEntry, NewEntry
from mnemos.entries.entry_store import MAX_FOUND
from mnemos.errors import Conflict
from mnemos.integrations.mem0_forms import (
    IDS,
    as_item,
    check_expiry,
    check_ids,
    find_statements,
    make_change,
    read_messages,
    refuse,
    translate,
)
from mnemos.integrations.shared.memory_source import OpenedSync, Source, open_source
from mnemos.language.updates import Verdict, judge
from mnemos.memory.call_lanes import READS, WRITES, Lanes

LABEL = "mem0"
_HISTORY = "mem0-history"
_READING = frozenset({"get", "get_all", "search", "history"})
_UNSET = object()
_REPORTED = ("id", "memory", "actor_id", "role")
_COMPARED = 50
# No transaction should take longer than 50 ms.
_AT_ONCE = 100
Stated = tuple[str, Mapping[str, Any]]
"""A statement, and the message that makes it."""


class Memory(OpenedSync):
    """Memories of users, agents and runs."""

    def __init__(self, memory: Source = None, **flags: Any) -> None:
        """``memory``: an open one, or the home or URL to open with settings as ``flags``."""
        self._memory, self._owned = open_source(memory, **flags)

    def add(
        self,
        messages: str | Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        expiration_date: str | date | None = None,
        infer: bool = True,
        **unsupported: Any,
    ) -> dict[str, Any]:
        """Store what messages state or, with ``infer=False``, all of them."""
        refuse(unsupported)
        ids = check_ids({"user_id": user_id, "agent_id": agent_id, "run_id": run_id})
        about = ids | check_expiry(expiration_date) | {"metadata": dict(metadata or {})}
        said = read_messages(messages)
        if infer:
            stated = [(text, message) for message in said for text in find_statements(message)]
            done = [self._update_old(text, about) or self._add([(text, m)], about)[0] for text, m in stated]
        else:
            done = self._add([(str(message["content"]), message) for message in said], about)
        return {"results": done}

    def search(
        self,
        query: str,
        *,
        filters: Mapping[str, Any] | None = None,
        top_k: int = 20,
        threshold: float = 0.1,
        show_expired: bool = False,
        **unsupported: Any,
    ) -> dict[str, Any]:
        """Return the memories that match, best first. Pass ids in ``filters``."""
        refuse(unsupported)
        if not query.strip():
            raise ValueError("query must not be empty")
        found = self._find(filters, top_k, query=query.strip(), show_expired=show_expired)
        return {"results": [as_item(one) for one in found if (one.score or 0.0) >= threshold]}

    def get_all(
        self,
        *,
        filters: Mapping[str, Any] | None = None,
        top_k: int = 20,
        show_expired: bool = False,
        **unsupported: Any,
    ) -> dict[str, Any]:
        """Return memories, last changed first. Pass ids in ``filters``."""
        refuse(unsupported)
        return {"results": [as_item(one) for one in self._find(filters, top_k, show_expired=show_expired)]}

    def get(self, memory_id: str) -> dict[str, Any] | None:
        found = self._look_up(memory_id)
        return None if found is None else as_item(found)

    def update(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        expiration_date: Any = _UNSET,
    ) -> dict[str, str]:
        """Change a memory's text, its expiry, or keys of its metadata."""
        changes: dict[str, Any] = {} if text is None else {"memory": text}
        if expiration_date is not _UNSET:
            changes |= {"expiration_date": None} | check_expiry(expiration_date)
        if not changes and metadata is None:
            raise ValueError("At least one of text, metadata, or expiration_date must be provided.")
        while True:
            old = self._check(memory_id)
            changes["metadata"] = {**old.value["metadata"], **(metadata or {})}
            if text is not None:
                changes["changes"] = [*old.value["changes"], make_change("UPDATE", old.value["memory"], text)]
            new, known = {**old.value, **changes}, {memory_id: old.revision}
            # If another writer is faster, update again what that one wrote.
            with suppress(Conflict):
                entry = NewEntry(memory_id, new, fields=["memory"])
                self._sync.entries.write(old.namespace, [entry], if_revisions=known)
                return {"message": "Memory updated successfully!"}

    def delete(self, memory_id: str) -> dict[str, str]:
        self._delete(self._check(memory_id))
        return {"message": "Memory deleted successfully!"}

    def delete_all(
        self, user_id: str | None = None, agent_id: str | None = None, run_id: str | None = None
    ) -> dict[str, str]:
        ids = check_ids({"user_id": user_id, "agent_id": agent_id, "run_id": run_id})
        while found := self._find(ids, MAX_FOUND, show_expired=True):
            for one in found:
                self._delete(one)
        return {"message": "Memories deleted successfully!"}

    def history(self, memory_id: str) -> list[dict[str, Any]]:
        """Return the changes of a memory, oldest first."""
        known = self._look_up(memory_id)
        found = [known] if known else self._sync.entries.find((), filter={"deleted": memory_id}, limit=1)
        return [{"memory_id": memory_id, **change} for one in found for change in one.value["changes"]]

    def reset(self) -> None:
        """Delete every memory and its history, but nothing else in the home."""
        for label in (LABEL, _HISTORY):
            for namespace in self._sync.entries.namespaces(suffix=(label,), limit=MAX_FOUND):
                for key in self._sync.entries.list_keys(namespace):
                    self._sync.entries.delete(namespace, key)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _add(self, stated: Sequence[Stated], about: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Store memories, up to a hundred in one transaction."""
        new, done = [], []
        for text, message in stated:
            name, memory_id = message.get("name"), str(uuid.uuid4())
            value = {"id": memory_id, "memory": text, "role": message["role"], "actor_id": name, **about}
            value["changes"] = [make_change("ADD", None, text)]
            new.append(NewEntry(memory_id, value, fields=["memory"]))
            done.append({name: value[name] for name in _REPORTED} | {"event": "ADD"})
        for start in range(0, len(new), _AT_ONCE):
            self._sync.entries.write((about.get("user_id", LABEL), LABEL), new[start : start + _AT_ONCE])
        return done

    def _update_old(self, text: str, about: Mapping[str, Any]) -> dict[str, Any] | None:
        """Replace the memory that a statement updates or repeats; None if there is none."""
        for old in self._find({name: about[name] for name in IDS if name in about}, _COMPARED):
            before = old.value["memory"]
            if before == text or judge(before, text).verdict is Verdict.REPLACES:
                self.update(old.key, text)
                return {"id": old.key, "memory": text, "event": "UPDATE", "previous_memory": before}
        return None

    def _delete(self, old: MemoryEntry) -> None:
        changes = [*old.value["changes"], make_change("DELETE", old.value["memory"], None)]
        kept = {"deleted": old.key, "changes": changes}
        self._sync.entries.put((old.namespace[0], _HISTORY), old.key, kept, fields=[])
        self._sync.entries.delete(old.namespace, old.key)

    def _find(
        self,
        filters: Mapping[str, Any] | None,
        limit: int,
        *,
        query: str | None = None,
        show_expired: bool = False,
    ) -> list[MemoryEntry]:
        given = dict(filters or {})
        ids = check_ids({name: given.get(name) for name in IDS})
        wanted: list[Any] = [{"memory": {"$ne": None}}, *translate(given | ids)]
        if not show_expired:
            today = datetime.now(UTC).date().isoformat()
            wanted.append({"$or": [{"expiration_date": None}, {"expiration_date": {"$gte": today}}]})
        prefix = (ids["user_id"], LABEL) if "user_id" in ids else ()
        return self._sync.entries.find(prefix, query=query, filter={"$and": wanted}, limit=limit)

    def _look_up(self, memory_id: str) -> MemoryEntry | None:
        found = self._sync.entries.find((), filter={"id": memory_id, "memory": {"$ne": None}}, limit=1)
        return found[0] if found else None

    def _check(self, memory_id: str) -> MemoryEntry:
        found = self._look_up(memory_id)
        if found is None:
            raise ValueError(f"Memory with id {memory_id} not found")
        return found


class AsyncMemory:
    """The same for async code. Every method of Memory is awaited."""

    def __init__(self, memory: Source = None, **flags: Any) -> None:
        self._memory = Memory(memory, **flags)
        self._lanes = Lanes({READS: 4, WRITES: 1})

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._memory, name)
        if name.startswith("_") or not callable(method):
            raise AttributeError(name)
        lane = READS if name in _READING else WRITES

        async def call(*args: Any, **kwargs: Any) -> Any:
            return await self._lanes.run(lane, partial(method, *args, **kwargs))

        return call

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._lanes.run(WRITES, self._memory.close)
