"""Conversion of plain data into structs and other types, safe with several threads."""

from __future__ import annotations

import os
import threading
from functools import cache
from typing import Any, TypeVar, overload

import msgspec

T = TypeVar("T")

_analysing = threading.RLock()
# A fork must not leave the lock held by a thread that the child doesn't have.
if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(
        before=_analysing.acquire, after_in_parent=_analysing.release, after_in_child=_analysing.release
    )


def analyse(kind: type[T]) -> type[T]:
    """Return the type once msgspec has analysed it.

    msgspec analyses a type at its first use, and publishes it before its fields are known: a second
    thread that converts into it at that moment ends the process with a segmentation fault.
    """
    _analyse(kind)  # type: ignore[arg-type]
    return kind


@cache
def _analyse(kind: Any) -> None:
    with _analysing:
        msgspec.msgpack.Decoder(kind)


@overload
def convert(value: Any, kind: type[T], **options: Any) -> T: ...


@overload
def convert(value: Any, kind: Any, **options: Any) -> Any: ...


def convert(value: Any, kind: Any, **options: Any) -> Any:
    """Convert plain data or an object into a type, like ``msgspec.convert``."""
    return msgspec.convert(value, analyse(kind), **options)
