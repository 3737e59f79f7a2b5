"""Sync with another memory: in a shared folder, behind ssh, or on a server."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from msgspec import Meta, field

from mnemos.errors import InvalidInput, NotAllowed, Refused
from mnemos.inputs import find_scheme, hide_password
from mnemos.operations.arguments import path_of, person_only
from mnemos.operations.base import Info, LongOperation, Result, Traits
from mnemos.operations.texts import plural, render_first
from mnemos.progress import Progress
from mnemos.text.stored_text import join_items

if TYPE_CHECKING:
    from mnemos.memory import Memory
    from mnemos.transfer.sync.exchange import Report
    from mnemos.transfer.sync.tally import Tally

_SHOWN = 10
_SEVERAL = {"entries": "entry"}
_PERSON = "/"


class Sync(LongOperation, frozen=True, kw_only=True):
    """Sync this memory with another one, both ways: sessions, facts with their history, notes, entries and
    templates, and what was deleted or forgotten. Each side gets what it lacks. Repeat an interrupted sync to
    complete it."""

    traits: ClassVar[Traits] = Traits(
        title="Sync with another memory",
        idempotent=True,
        local=True,
        begins=True,
        positional=("other",),
        example="usb-stick --dry-run",
    )

    other: Annotated[
        str | None,
        Meta(description="A folder that both can reach, ssh://HOST, or the URL of a server"),
    ] = None
    dry_run: Annotated[bool, Meta(description="Only show how much differs")] = False
    serve: Annotated[
        bool, person_only("Serve another machine over standard input and output; used by ssh")
    ] = False

    def work(self, memory: Memory, progress: Progress) -> Synced:
        # Imported here, because it loads zlib, subprocess and every part of a memory.
        from mnemos.memory.home import DATABASE
        from mnemos.transfer.sync import peers
        from mnemos.transfer.sync.exchange import sync

        if self.serve:
            peers.serve(memory, sys.stdin.buffer, sys.stdout.buffer)
            return Synced(other="", is_same=True)
        if not self.other:
            raise InvalidInput("Sync with what? Pass a folder, ssh://HOST, or the URL of a server.")
        scheme = find_scheme(self.other)
        if scheme is not None and memory.settings.files != _PERSON:
            raise Refused("Only a person may sync with another machine: run `mnemos sync` in a terminal.")
        if scheme == "ssh":
            with peers.connect_ssh(self.other, memory.settings.space) as program:
                report = sync(memory, program, progress, dry_run=self.dry_run)
        elif scheme in ("http", "https"):
            # Imported here, because the client is only needed for a URL.
            from mnemos.memory.opening import open as open_memory

            with open_memory(self.other) as server:
                report = sync(memory, _Server(self.other, server), progress, dry_run=self.dry_run)
        elif scheme is not None:
            raise InvalidInput(f"Can't sync with {scheme}://. Use a folder, ssh://HOST or https://HOST.")
        else:
            folder = path_of(self.other, "other")
            if (folder / DATABASE).exists():
                raise Refused(
                    f"{folder} is a home of Mnemos. Name another folder, which both sides can reach."
                )
            report = peers.SyncFolder(memory, folder).sync(progress, dry_run=self.dry_run)
        return Synced.of(report, dry_run=self.dry_run)


class _Server:
    """A server that answers through the operation ``sync_answer``."""

    def __init__(self, url: str, memory: Memory) -> None:
        self.name = hide_password(url)
        self._memory = memory

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        from mnemos.transfer.sync.peers import read_frame, write_frame

        try:
            found = self._memory.call("sync_answer", {"request": write_frame(request).decode()})
        except NotAllowed as exc:
            why = " Something was deleted here that the server still has." if _removes(request) else ""
            raise NotAllowed(f"{exc}{why}") from exc
        return read_frame(str(found["answer"]).encode())


def _removes(request: Mapping[str, Any]) -> bool:
    """True if a request has removals from the machine that sends it."""
    items = request.get("items")
    addresses = [
        item.get("address") for item in (items if isinstance(items, list) else ()) if isinstance(item, dict)
    ]
    return any(str(address).startswith("removed/") for address in addresses)


class Counts(Info, frozen=True, kw_only=True):
    """The numbers of items that one side received, changed and removed."""

    added: dict[str, int] = field(default_factory=dict)
    changed: dict[str, int] = field(default_factory=dict)
    removed: dict[str, int] = field(default_factory=dict)
    not_taken: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, tally: Tally) -> Counts:
        named = {name: dict(getattr(tally, name)) for name in ("added", "changed", "removed")}
        return cls(**named, not_taken=list(tally.reasons))

    def render(self, verb: str) -> list[str]:
        parts = [
            f"{what} {', '.join(_count(kind, number) for kind, number in counts.items())}"
            for what, counts in ((verb, self.added), ("changed", self.changed), ("removed", self.removed))
            if counts
        ]
        return ["; ".join(parts)] if parts else []


class Synced(Result, frozen=True, kw_only=True):
    other: str
    is_same: bool
    """True if both sides have the same now."""
    dry_run: bool = False
    received: Counts = field(default_factory=Counts)
    sent: Counts = field(default_factory=Counts)
    different: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, report: Report, *, dry_run: bool) -> Synced:
        received, sent = Counts.of(report.received), Counts.of(report.sent)
        return cls(
            other=report.other,
            is_same=report.is_same,
            dry_run=dry_run,
            received=received,
            sent=sent,
            different=report.different,
        )

    def as_text(self) -> str:
        if not self.other:
            return ""
        if self.dry_run:
            return join_items([_describe_differences(self.other, self.different)])
        lines = [f"Here: {line}." for line in self.received.render("received")]
        files = self.sent.added.get("files")
        lines += [f"There: {line}." for line in self.sent.render("received")] if files is None else []
        reasons = [*self.received.not_taken, *(f"there: {reason}" for reason in self.sent.not_taken)]
        if reasons:
            lines += ["Not taken:", *render_first(reasons, _SHOWN)]
        return join_items([*lines, self._describe_end(is_idle=not lines)])

    def _describe_end(self, *, is_idle: bool) -> str:
        if files := self.sent.added.get("files"):
            return f"Wrote {_count('files', files)} to {self.other}. Other machines read them when they sync."
        if self.is_same:
            return f"{self.other} and this memory have the same{' already' if is_idle else ' now'}."
        if is_idle:
            return f"Nothing new in {self.other}."
        return f"{self.other} still differs: something was written during the sync, or refused. Sync again."

    @property
    def is_ok(self) -> bool:
        return not (self.received.not_taken or self.sent.not_taken)


def _describe_differences(other: str, different: Mapping[str, int]) -> str:
    if not different:
        return f"{other} and this memory have the same. Nothing was changed."
    parts = ", ".join(_count(kind, number) for kind, number in different.items() if kind == "sessions")
    kinds = [kind for kind in different if kind != "sessions"]
    found = [*([parts] if parts else []), *kinds]
    return f"These differ from {other}: {', '.join(found)}. Nothing was changed."


def _count(kind: str, number: int) -> str:
    return plural(number, _SEVERAL.get(kind, kind.removesuffix("s")), kind)


class AnswerSync(LongOperation, frozen=True, kw_only=True):
    """Answer a request from another memory that syncs with this one. Programs such as `mnemos sync URL`
    call it."""

    traits: ClassVar[Traits] = Traits(
        title="Answer a sync",
        idempotent=True,
        begins=True,
        positional=("request",),
        example='\'{"ask": "hello"}\'',
    )

    request: Annotated[str, Meta(description='A request as JSON, such as {"ask": "hello"}')]

    def destroys(self) -> bool:
        from mnemos.transfer.sync.peers import read_frame

        return _removes(read_frame(self.request.encode()))

    def work(self, memory: Memory, progress: Progress) -> SyncAnswer:  # noqa: ARG002
        from mnemos.transfer.sync.exchange import Answering
        from mnemos.transfer.sync.peers import read_frame, write_frame

        answer = Answering(memory).answer(read_frame(self.request.encode()))
        return SyncAnswer(answer=write_frame(answer).decode())


class SyncAnswer(Result, frozen=True, kw_only=True):
    answer: str
    """JSON"""

    def as_text(self) -> str:
        return f"Answered with {len(self.answer):,} characters of JSON."
