"""A store for LangGraph: ``create_agent(model, tools, store=MnemosStore())``.

An item is an entry in the same namespace. Searches use the memory's own index or the caller's embedder, whose
vectors are then kept with the items. Recall finds what is stored below its user.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, cast

from mnemos.entries import MemoryEntry
from mnemos.errors import InvalidInput
from mnemos.integrations.shared.memory_source import OpenedSync, Source, clock_of, framework, open_store
from mnemos.integrations.shared.vectors import best_cosine, pack_vector
from mnemos.memory.call_lanes import READS, WRITES, Lanes

with framework("langgraph"):
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        IndexConfig,
        Item,
        ListNamespacesOp,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
        TTLConfig,
        ensure_embeddings,
        get_text_at_path,
        tokenize_path,
        validate_op_namespace,
    )

_COMPARED = 10_000  # Entries per search with the caller's embedder
Vectors = dict[str, list[float]]


class MnemosStore(OpenedSync, BaseStore):
    """Items of LangGraph in a memory."""

    supports_ttl = True

    def __init__(
        self,
        memory: Source = None,
        *,
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
        **flags: Any,
    ) -> None:
        """``memory``: an open one, or the home or URL; ``index``: embedder and fields."""
        self._memory, self._owned = open_store(memory, **flags)
        self._lanes = Lanes()
        self.ttl_config = ttl
        self.index_config = index
        self.embeddings = ensure_embeddings(index.get("embed")) if index else None
        asked: Mapping[str, Any] = index or {}
        self._fields = list(asked.get("fields") or asked.get("text_fields") or ["$"])

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        planned, vectors = self._plan(ops), Vectors()
        if self.embeddings is not None:
            if texts := self._texts(planned):
                vectors = dict(zip(texts, self.embeddings.embed_documents(texts), strict=True))
            vectors |= {f"?{query}": self.embeddings.embed_query(query) for query in _queries(planned)}
        return self._run(planned, vectors)

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        planned, vectors = self._plan(ops), Vectors()
        if self.embeddings is not None:
            if texts := self._texts(planned):
                vectors = dict(zip(texts, await self.embeddings.aembed_documents(texts), strict=True))
            for query in _queries(planned):
                vectors[f"?{query}"] = await self.embeddings.aembed_query(query)
        lane = WRITES if any(isinstance(op, PutOp) for op in planned) else READS
        return await self._lanes.run(lane, partial(self._run, planned, vectors))

    def sweep_ttl(self) -> int:
        """Erase expired items and return how many. Searches never find them."""
        before = self._sync.entries.count()
        self._sync.entries.settle()
        return before - self._sync.entries.count()

    def _plan(self, ops: Iterable[Op]) -> list[Op]:
        planned = list(ops)
        for op in planned:
            if not isinstance(op, (GetOp, PutOp, SearchOp, ListNamespacesOp)):
                raise ValueError(f"Unknown operation type: {type(op)}")  # noqa: TRY004 - as LangGraph has it
            validate_op_namespace(op)
        return planned

    def _run(self, ops: Sequence[Op], vectors: Vectors) -> list[Result]:
        """Answer reads from the state before the puts. The last put of a key counts."""
        results = [None if isinstance(op, PutOp) else self._read(op, vectors) for op in ops]
        puts = {(op.namespace, op.key): op for op in ops if isinstance(op, PutOp)}
        for op in puts.values():
            self._put(op, vectors)
        return results

    def _read(self, op: Op, vectors: Vectors) -> Result:
        if isinstance(op, GetOp):
            entry = self._sync.entries.retrieve(op.namespace, op.key)
            self._refresh([entry] if entry else [], refresh=op.refresh_ttl)
            return Item(**_fields(entry)) if entry else None
        if isinstance(op, SearchOp):
            try:
                scored = self._search(op, vectors)
            except InvalidInput as exc:
                raise ValueError(f"Invalid filter key or value: {exc}" if op.filter else str(exc)) from exc
            self._refresh([entry for entry, _ in scored], refresh=op.refresh_ttl)
            return [SearchItem(**_fields(entry), score=score) for entry, score in scored]
        return self._list_namespaces(cast(ListNamespacesOp, op))

    def _search(self, op: SearchOp, vectors: Vectors) -> list[tuple[MemoryEntry, float | None]]:
        find = partial(self._sync.entries.find, op.namespace_prefix, filter=op.filter)
        question = vectors.get(f"?{op.query}") if op.query else None
        if question is None:
            found = find(query=op.query, limit=op.limit, offset=op.offset)
            return [(entry, entry.score) for entry in found]
        compared = [
            (entry, best_cosine(entry.metadata.get("vectors", ()), question))
            for entry in find(limit=_COMPARED)
        ]
        compared.sort(key=lambda one: -2.0 if one[1] is None else one[1], reverse=True)
        return compared[op.offset : op.offset + op.limit]

    def _put(self, op: PutOp, vectors: Vectors) -> None:
        if op.value is None:
            self._sync.entries.delete(op.namespace, op.key)
            return
        if not isinstance(op.value, Mapping):
            raise InvalidInput(f"The value of an item must be a dict, not {type(op.value).__name__}.")
        metadata: dict[str, Any] = {} if op.ttl is None else {"ttl": op.ttl}
        fields = None if op.index is None else [] if op.index is False else list(op.index)
        if self.embeddings is not None and op.index is not False:
            texts = _texts_at(op.value, fields or self._fields)
            metadata["vectors"] = [pack_vector(vectors[text]) for text in texts]
        self._sync.entries.put(
            op.namespace,
            op.key,
            dict(op.value),
            metadata=metadata,
            fields=None if fields == ["$"] else fields,
            expires_at=None if op.ttl is None else clock_of(self._sync)() + op.ttl * 60,
            # Not scanned, because the program asks for it. Recall scans what enters a prompt unasked.
            allow=True,
        )

    def _refresh(self, entries: Sequence[MemoryEntry], *, refresh: bool) -> None:
        """Extend the time to live of entries after an access."""
        for entry in entries if refresh else ():
            if (minutes := entry.metadata.get("ttl")) is not None:
                until = clock_of(self._sync)() + minutes * 60
                self._sync.entries.set_expiry(entry.namespace, entry.key, until)

    def _list_namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        asked: list[Any] = [{str(one.match_type): tuple(one.path)} for one in op.match_conditions or ()]
        together = {kind: path for one in asked for kind, path in one.items()}
        list_some = self._sync.entries.namespaces
        if len(together) == len(asked):
            return list_some(**together, max_depth=op.max_depth, limit=op.limit, offset=op.offset)
        found = set.intersection(*(set(list_some(**one, limit=1 << 30)) for one in asked))
        return sorted({one[: op.max_depth] for one in found})[op.offset : op.offset + op.limit]

    def _texts(self, ops: Sequence[Op]) -> list[str]:
        """Return the texts for the caller's embedder."""
        puts = [op for op in ops if isinstance(op, PutOp) and op.value is not None and op.index is not False]
        return list(
            dict.fromkeys(one for op in puts for one in _texts_at(op.value, op.index or self._fields))
        )


def _queries(ops: Sequence[Op]) -> set[str]:
    return {op.query for op in ops if isinstance(op, SearchOp) and op.query}


def _texts_at(value: Mapping[str, Any], paths: Iterable[str]) -> Iterator[str]:
    for path in paths:
        yield from get_text_at_path(value, path if path == "$" else tokenize_path(path))


def _fields(entry: MemoryEntry) -> dict[str, Any]:
    return {
        "value": entry.value,
        "key": entry.key,
        "namespace": entry.namespace,
        "created_at": datetime.fromtimestamp(entry.created_at, UTC),
        "updated_at": datetime.fromtimestamp(entry.updated_at, UTC),
    }
