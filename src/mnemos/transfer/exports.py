"""An export of a chat service, read conversation by conversation; what one is, its reader knows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from mnemos.errors import InvalidInput
from mnemos.transfer.model import Item, Mark, Source, Unread
from mnemos.transfer.zipped import conversations

T = TypeVar("T")
_HEAD: Final = 100_000


@dataclass(frozen=True, slots=True)
class Service(Generic[T]):
    """How the conversations of a service are read."""

    title: str
    decode: Callable[[bytes], T]
    """Raises ValueError for what is no conversation of it."""
    items: Callable[[T, bytes, int, float], Iterator[Item]]
    """What a conversation tells; besides it, its bytes, its number, and when the export was made."""
    of_another: tuple[bytes, str]
    """What stands in the conversations of the other service only, and what to do then."""


def told(service: Service[T], source: Source) -> Iterator[Item]:
    """Every conversation, a mark after each. A file in which none is understood raises InvalidInput."""
    number = understood = 0
    sign, advice = service.of_another
    for found in conversations(source.path):
        number = found.number
        if found.data is None:
            yield Unread(number, found.why)
            continue
        try:
            conversation = service.decode(found.data)
        except (ValueError, RecursionError) as exc:
            if sign in found.data[:_HEAD] and not understood:
                raise InvalidInput(f"{source.path} is {advice}") from exc
            yield Unread(number, f"it is no conversation of {service.title}: {exc}")
        else:
            understood += 1
            yield from service.items(conversation, found.data, number, source.changed_ns / 1e9)
        # Before the end: only the last mark says that all was read.
        yield Mark(min(found.position, source.size - 1), number)
    if number and not understood:
        raise InvalidInput(
            f"{source.path} is no export of {service.title}: none of its {number:,} parts is a conversation"
        )
    yield Mark(source.size, number)
