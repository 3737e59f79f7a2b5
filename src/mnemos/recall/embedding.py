"""The vectors of a storage, which are kept up to date with its passages.

A step reads some passages without vectors, embeds them outside any transaction, and stores the vectors if
nothing was erased in the meantime. Any process may do a step. The loser of a race discards its work. After a
change of the model, the former vectors are used until the new model has caught up, then removed.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct

from mnemos.errors import Busy, InvalidInput, MnemosError, ModelUnavailable, Unavailable
from mnemos.storage.base import Reads, Storage
from mnemos.storage.passages import MAX_PIECES, PIECE_BITS, Coverage, NewVectors, Unembedded
from mnemos.text import pieces

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mnemos.recall.embedders import Embedder

log = logging.getLogger("mnemos.recall")

# The number of characters embedded in one step, which takes some tens of milliseconds.
_STEP_CHARACTERS = 60_000
_SEPARATOR = " | "
# 0.29 * 100 is a little less than 29.
_TINY = 1e-9
# Seconds to wait for other writers, regardless of the total time allowed.
_PATIENCE = 10.0
# The number of a former model's chunks removed in one transaction.
_DROPPED = 16


class Stored(Struct, frozen=True):
    """The state of a storage's vectors: each model's coverage, and the number of passages."""

    coverages: Sequence[Coverage]
    total: int

    @staticmethod
    def read(tx: Reads) -> Stored:
        return Stored(tx.vectors.coverage(), tx.passages.count())


class Embedding:
    """The vectors of one storage. ``none`` means no vectors; ``make`` makes any other embedder."""

    def __init__(
        self, storage: Storage, spec: str, make: Callable[[str], Embedder], *, may_write: bool = True
    ) -> None:
        self._storage = storage
        self._spec = spec
        self._make = make
        self._may_write = may_write
        self.failure: str | None = None
        """The reason why the last step failed, if any."""
        self._former: dict[str, Embedder | None] = {}

    @property
    def is_wanted(self) -> bool:
        return self._spec != "none"

    @cached_property
    def embedder(self) -> Embedder:
        """The configured model. Raises Unavailable if it can't be used."""
        return self._make(self._spec)

    def step(self, *, within: float | None = None) -> bool:
        """Do one step; False if nothing is left. Waits up to ``within`` seconds for other writers."""
        model = self.model
        todo = self._storage.read(lambda tx: tx.vectors.pending(model, characters=_STEP_CHARACTERS))
        if todo is None:
            return self._drop_former(model, within)
        vectors = _new_vectors(self.embedder, todo)
        self.failure = None
        self._storage.write(lambda tx: tx.vectors.add(model, self.embedder.dim, todo, vectors), within=within)
        return True

    def in_background(self) -> bool:
        """Do one step in a background thread; False too if the model is not available."""
        try:
            return self.step()
        except (Unavailable, InvalidInput) as exc:
            if self.failure is None:
                log.warning("passages are not embedded: %s", exc)
            self.failure = str(exc)
            return False

    def catch_up(self, seconds: float | None = None, progress: Callable[[float], None] | None = None) -> None:
        """Embed for up to about ``seconds``. A busy or read-only storage is left alone."""
        if self._storage.read_only or not self._may_write:
            return
        deadline = None if seconds is None else time.monotonic() + seconds
        while deadline is None or time.monotonic() < deadline:
            try:
                if not self.step(within=None if seconds is None else min(seconds, _PATIENCE)):
                    return
            except Busy:
                return
            if progress is not None:
                progress(self.coverage().share)

    def catch_up_if_fast(self, seconds: float) -> None:
        """Catch up if a static model is already loaded. Any other would keep the caller waiting."""
        if "embedder" in self.__dict__ and self.embedder.kind == "static":
            self.catch_up(seconds)

    def coverage(self) -> Coverage:
        return self._own(self._storage.read(Stored.read))

    def peek(self) -> Coverage | None:
        """Return the coverage without loading the model, or None if no vectors are wanted.

        Vectors of an older version of the same model count until the first new ones are stored.
        """
        if not self.is_wanted:
            return None
        stored = self._storage.read(Stored.read)
        named = (one for one in stored.coverages if one.model.startswith(f"{self._spec}{_SEPARATOR}"))
        return next(named, Coverage(self._spec, 0, 0, stored.total))

    def serve(self, stored: Stored) -> tuple[Embedder, Coverage]:
        """Choose the model to answer with: the configured one, or a former one that covers more."""
        own = self._own(stored)
        if own.share < 1.0:
            for coverage in stored.coverages:
                if coverage.done > own.done and (former := self._former_embedder(coverage.model)):
                    return former, coverage
        return self.embedder, own

    @property
    def model(self) -> str:
        """The name that the configured model's vectors are stored under."""
        return name_model(self._spec, self.embedder)

    def _own(self, stored: Stored) -> Coverage:
        for coverage in stored.coverages:
            if coverage.model == self.model:
                return coverage
        return Coverage(self.model, self.embedder.dim, 0, stored.total)

    def _former_embedder(self, model: str) -> Embedder | None:
        """Return the embedder that made the former vectors, if it is still available."""
        if model not in self._former:
            try:
                embedder = self._make(model.partition(_SEPARATOR)[0])
            except MnemosError:
                self._former[model] = None
            else:
                same = name_model(model.partition(_SEPARATOR)[0], embedder) == model
                self._former[model] = embedder if same else None
        return self._former[model]

    def _drop_former(self, model: str, within: float | None) -> bool:
        """Remove other models' vectors once the configured model's are complete."""
        if not self._storage.read(lambda tx: tx.vectors.has_others(model)):
            return False
        return self._storage.write(lambda tx: tx.vectors.drop_others(model, _DROPPED), within=within)


def describe_coverage(share: float) -> str:
    """Describe the share indexed for semantic search, rounded down, and how to complete it."""
    done = f"{int(share * 100 + _TINY)}% of messages indexed for meaning"
    return done if share >= 1 else f"{done}; `mnemos optimize` finishes it"


def describe_search(share: float | None, *, deep: bool = False) -> str:
    """Describe the kind of search, and its coverage unless complete. None means keywords only."""
    read = ", best ones read closely" if deep else ""
    if share is None:
        return f"keyword search{read}"
    coverage = "" if share >= 1 else f" ({describe_coverage(share)})"
    return f"keyword + semantic search{read}{coverage}"


def name_model(spec: str, embedder: Embedder) -> str:
    """Name vectors by the setting, the model and the version of the rule that cuts texts."""
    return _SEPARATOR.join((spec, embedder.name, str(pieces.RULE_VERSION)))


def _new_vectors(embedder: Embedder, todo: Unembedded) -> NewVectors:
    keys, vectors = embed_pieces(embedder, todo.passages)
    return NewVectors(keys, *quantise(vectors)) if keys else NewVectors((), b"", b"")


def embed_pieces(
    embedder: Embedder, passages: Sequence[tuple[int, str]]
) -> tuple[list[int], NDArray[np.float32]]:
    """Embed every piece of these passages; return their keys and vectors."""
    keys: list[int] = []
    texts: list[str] = []
    for passage, text in passages:
        for number, (start, end) in enumerate(pieces.pieces(text)[:MAX_PIECES]):
            keys.append((passage << PIECE_BITS) + number)
            texts.append(text[start:end])
    if not texts:
        # Imported here, because numpy is only needed if there is something to embed.
        import numpy as np

        return keys, np.zeros((0, embedder.dim), np.float32)
    return keys, embed(embedder, texts)


def embed(embedder: Embedder, texts: list[str]) -> NDArray[np.float32]:
    """Embed texts. A plug-in's failure raises ModelUnavailable."""
    try:
        vectors = embedder.embed(texts)
        shape = tuple(vectors.shape)
    except MnemosError:
        raise
    except Exception as exc:  # Plug-ins may raise anything.
        raise ModelUnavailable(f"The embedder {embedder.name!r} failed: {exc!r}.") from exc
    if shape != (len(texts), embedder.dim):
        raise ModelUnavailable(
            f"The embedder {embedder.name!r} gave an array of shape {shape} for {len(texts)} texts of "
            f"{embedder.dim} dimensions."
        )
    return vectors


def quantise(vectors: NDArray[np.float32]) -> tuple[bytes, bytes]:
    """Quantise vectors to signed bytes, with the largest component as 127, and to sign bits."""
    import numpy as np

    largest = np.maximum(np.abs(vectors).max(axis=1, keepdims=True), 1e-9)
    codes = np.rint(vectors * (127.0 / largest)).astype(np.int8)
    return codes.tobytes(), np.packbits(vectors > 0, axis=1).tobytes()
