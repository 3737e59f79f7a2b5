"""A wrapper that turns the failures of another package's backend into our errors."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from mnemos.entries.backend import MemoryBackend, MemoryEntry, NullBackend
from mnemos.errors import MnemosError, Unavailable

T = TypeVar("T")
log = logging.getLogger("mnemos.entries")


class PlugInBackend(MemoryBackend):
    """A backend whose calls only raise our errors and return the promised types.

    Any other exception or type becomes Unavailable with the name of the backend.
    """

    def __init__(self, inner: MemoryBackend, name: str = "") -> None:
        self.inner = inner
        self._name = name or type(inner).__name__

    @property
    def backend_name(self) -> str:
        return self._check(str, self._call(lambda: self.inner.backend_name))

    @property
    def is_cloud(self) -> bool:
        return bool(self._call(lambda: self.inner.is_cloud))

    @property
    def location(self) -> str:
        return self._check(str, self._call(lambda: self.inner.location))

    @property
    def needs_api_key(self) -> bool:
        return bool(self._call(lambda: self.inner.needs_api_key))

    @property
    def problem(self) -> str:
        """The reason why the backend is not available, or "" if it gives none."""
        return str(self._call(lambda: getattr(self.inner, "problem", "")))

    def is_available(self) -> bool:
        return bool(self._call(self.inner.is_available))

    def store(self, user_id: str, key: str, value: str, metadata: Mapping[str, Any] | None = None) -> bool:
        return bool(self._call(lambda: self.inner.store(user_id, key, value, metadata)))

    def retrieve(self, user_id: str, key: str) -> MemoryEntry | None:
        found = self._call(lambda: self.inner.retrieve(user_id, key))
        return found if found is None else self._check(MemoryEntry, found)

    def query(self, user_id: str, query_text: str, limit: int = 10) -> list[MemoryEntry]:
        return self._check_all(MemoryEntry, self._call(lambda: self.inner.query(user_id, query_text, limit)))

    def list_keys(self, user_id: str) -> list[str]:
        return self._check_all(str, self._call(lambda: self.inner.list_keys(user_id)))

    def delete(self, user_id: str, key: str) -> bool:
        return bool(self._call(lambda: self.inner.delete(user_id, key)))

    def close(self) -> None:
        """Close the backend. A failure is only logged, because the caller already has its results."""
        try:
            self._call(self.inner.close)
        except MnemosError as exc:
            log.warning("closing a backend: %s", exc)

    def _call(self, call: Callable[[], T]) -> T:
        try:
            return call()
        except MnemosError:
            raise
        except Exception as exc:  # other packages' code may raise anything
            raise Unavailable(f"The backend {self._name!r} failed: {type(exc).__name__}: {exc}") from exc

    def _check(self, kind: type[T], answer: T) -> T:
        if not isinstance(answer, kind):
            raise Unavailable(
                f"The backend {self._name!r} answered with {type(answer).__name__}, not {kind.__name__}."
            )
        return answer

    def _check_all(self, kind: type[T], answers: list[T]) -> list[T]:
        return [self._check(kind, one) for one in self._check(list, answers)]


def guard(backend: MemoryBackend, name: str = "") -> MemoryBackend:
    """Wrap a backend, unless it is null or guarded, so that it raises only our errors."""
    return backend if isinstance(backend, NullBackend | PlugInBackend) else PlugInBackend(backend, name)
