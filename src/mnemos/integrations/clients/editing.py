"""Putting an entry into the settings of a program, and taking it out so that nobody notices we were there.

When a file still is as we left it, taking out puts back the very bytes that were there. When the program or a
person changed it since, only what is ours is cut out of the text.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from msgspec import structs

from mnemos.errors import Busy, Refused
from mnemos.integrations.clients import config_files, differences
from mnemos.integrations.clients.edits import (
    Addition,
    Format,
    Trace,
    Written,
    at,
    holds,
    located,
    option,
    starts_mnemos,
    starts_the_same,
)
from mnemos.integrations.clients.records import Kept, Records, digest_of


@dataclass(frozen=True, slots=True)
class Target:
    """A file and what it should hold."""

    path: Path
    format: Format
    additions: tuple[Addition, ...]
    client: str
    """What is typed after ``mnemos connect``."""


@dataclass(frozen=True, slots=True)
class Change:
    """What is to be done to one file."""

    target: Target
    before: bytes | None
    after: bytes | None
    """None: the file is removed."""
    original: bytes | None
    """What stands there without us."""
    written: tuple[Written, ...]
    """What is ours afterwards."""
    is_restored: bool = False
    """The very bytes from before are put back."""

    @property
    def path(self) -> Path:
        return self.target.path

    def shown(self) -> str:
        texts = [None if one is None else one.decode() for one in (self.before, self.after)]
        return differences.shown(texts[0], texts[1])

    def says(self) -> str:
        if self.after is None:
            return f"remove {self.path}"
        return f"{'write' if self.before is None else 'change'} {self.path}"


def connecting(target: Target, records: Records) -> Change | None:
    """What puts the additions in, and takes out what we put in before; None when all is as it should be."""
    current = config_files.read(target.path)
    values = target.format.value(config_files.text_of(current, target.path), str(target.path))
    kept = records.of(target.path)
    wanted = [addition for addition in target.additions if not holds(values, addition)]
    if not wanted and not _stale(kept, target, values):
        return None
    base, _ = _without_us(target, current, kept, records) if kept else (current, False)
    added = _added_by_others(target, config_files.text_of(current, target.path)) if kept else {}
    text = config_files.text_of(base, target.path)
    written: list[Written] = []
    for addition in target.additions:
        values = target.format.value(text, str(target.path))
        if holds(values, addition):
            continue
        _check_free(target, values, addition)
        whole = structs.replace(addition, value=addition.value | added.get(addition.path, {}))
        text, trace = target.format.add(text, whole, str(target.path))
        written.append(Written(addition=addition, trace=trace))
    after = text.encode() if written or base is not None else None
    return None if after == current else Change(target, current, after, base, tuple(written))


def disconnecting(target: Target, records: Records) -> Change | None:
    """What takes out what is ours; None when nothing is."""
    current = config_files.read(target.path)
    if current is None:
        return None
    text = config_files.text_of(current, target.path)
    values = target.format.value(text, str(target.path))
    kept = records.of(target.path)
    if kept is None:
        for addition in target.additions:
            if not addition.is_item and not holds(values, addition):
                _check_free(target, values, addition)
        written = tuple(Written(addition=one, trace=Trace()) for one in target.additions)
        kept = Kept(digest="", backup=None, folders=(), written=written)
        after: bytes | None = _cut_out(target, text, kept).encode()
        is_restored = False
    else:
        after, is_restored = _without_us(target, current, kept, records)
        left = target.format.value(config_files.text_of(after, target.path), str(target.path))
        for one in kept.written:
            if not one.addition.is_item:
                _check_free(target, left, one.addition)
    if after == current:
        return None
    return Change(target, current, after, after, (), is_restored)


def is_connected(target: Target) -> bool:
    """Whether the settings name some Mnemos, ours or another."""
    text = config_files.text_of(config_files.read(target.path), target.path)
    values = target.format.value(text, str(target.path))
    return any(located(values, one) is not None for one in target.additions)


def check(change: Change) -> None:
    """Raise when a change cannot be made; nothing is done yet."""
    config_files.check_writable(change.path)


def make(change: Change, records: Records) -> None:
    """Make a change; for who holds the lock. Somebody who changed the file meanwhile raises Busy."""
    if config_files.read(change.path) != change.before:
        raise Busy(f"{change.path} was changed by another program meanwhile; it stays so, try again")
    remember(change, records, change.after)
    if change.after is None:
        kept = records.of(change.path)
        config_files.remove(change.path, [Path(one) for one in kept.folders] if kept else [])
    else:
        config_files.replace(change.path, change.after)
    if not change.written:
        records.drop(change.path)


def remember(change: Change, records: Records, after: bytes | None) -> None:
    """Keep what is needed to take a change back."""
    if not change.written:
        return
    kept = records.of(change.path)
    made = [Path(one) for one in kept.folders] if kept else config_files.missing_folders(change.path)
    records.keep(
        change.path,
        digest=digest_of(after or b""),
        original=change.original,
        folders=made,
        written=list(change.written),
    )


# --- inside --------------------------------------------------------------------------------------


def _stale(kept: Kept | None, target: Target, values: object) -> bool:
    """Whether something of ours stands there that should not any more."""
    if kept is None:
        return False
    unwanted = [one.addition for one in kept.written if one.addition not in target.additions]
    # An entry of the same name was changed by a person, or is what we want.
    return any(
        located(values, one) is not None and located(values, one) not in _places(target, values)
        for one in unwanted
    )


def _places(target: Target, values: object) -> list[object]:
    return [located(values, addition) for addition in target.additions]


def _without_us(
    target: Target, current: bytes | None, kept: Kept, records: Records
) -> tuple[bytes | None, bool]:
    """The file without what is ours, and whether these are the very bytes from before."""
    if current is None:
        return None, False
    if digest_of(current) == kept.digest and records.has_original(kept):
        return records.original(kept), True
    text = _cut_out(target, config_files.text_of(current, target.path), kept)
    if kept.backup is None and kept.digest and not text.strip():
        return None, False
    return text.encode(), False


def _added_by_others(target: Target, text: str) -> dict[tuple[str, ...], dict[str, object]]:
    """What a person or the program put into our entries besides what we write there, by their paths."""
    where = str(target.path)
    values = target.format.value(text, where)
    found = {}
    for addition in target.additions:
        keys = None if addition.is_item else located(values, addition)
        if keys is not None and starts_mnemos(at(values, keys)):
            entry = target.format.entry(text, keys, where)
            found[addition.path] = {name: one for name, one in entry.items() if name not in addition.value}
    return found


def _cut_out(target: Target, text: str, kept: Kept) -> str:
    """The text without those additions that are still there, whatever was added to them."""
    where = str(target.path)
    for one in reversed(kept.written):
        values = target.format.value(text, where)
        keys = located(values, one.addition)
        if keys is None:
            continue
        present = at(values, keys)
        is_ours = (
            one.addition.is_item or starts_the_same(present, one.addition.value) or starts_mnemos(present)
        )
        if is_ours and (kept.digest or holds(values, one.addition)):
            text = target.format.remove(text, keys, one.trace, where)
    return text


def _check_free(target: Target, values: object, addition: Addition) -> None:
    """Raise Refused when an entry of that name was written by somebody else."""
    keys = None if addition.is_item else located(values, addition)
    if keys is None:
        return
    present = at(values, keys)
    name = ".".join(addition.path)
    if not starts_mnemos(present):
        raise Refused(
            f"{target.path} has an entry {name} that `mnemos connect` did not write; "
            "rename or remove it there. Nothing was changed"
        )
    home, space = option(present, "--home"), option(present, "--space")
    given = [*(("--home", home) if home else ()), *(("--space", space) if space else ())]
    command = shlex.join(["mnemos", *given, "connect", target.client, "--undo"])
    raise Refused(
        f"{target.path} has an entry {name} already, for another memory or written by hand; "
        f"`{command}` takes it out if Mnemos wrote it, "
        "else remove it there. Nothing was changed"
    )
