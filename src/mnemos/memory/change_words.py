"""Descriptions of entries of the change log."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from mnemos.errors import MnemosError
from mnemos.storage.audit import AuditRow
from mnemos.text.stored_text import one_line

if TYPE_CHECKING:
    from mnemos.memory.memory import Memory

_UNDO: Final = "undo "
_SESSION: Final = "session:"
_QUOTED: Final = 60


def shorten_refs(memory: Memory, rows: Sequence[AuditRow]) -> dict[str, str]:
    """Return log entries' references to sessions with shortened ids."""
    named = [row.ref.removeprefix(_SESSION) for row in rows if row.ref.startswith(_SESSION)]
    return {_SESSION + full: _SESSION + own for full, own in memory.sessions.shorten_ids(named).items()}


def describe_change(memory: Memory, row: AuditRow, short: Mapping[str, str]) -> str:
    """Describe a log entry, with its text or title if that still exists, using ``short`` references."""
    operation = row.operation.removeprefix(_UNDO)
    say = _SAYINGS.get(operation)
    if operation != row.operation:
        # The entry's texts are about the undo itself.
        row = replace(row, before=None, after=None)
    what = f"{operation} {short.get(row.ref, row.ref)}".rstrip() if say is None else say(memory, row, short)
    return what if operation == row.operation else f"Undid: {what}"


def _quote(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= _QUOTED else f"{line[: _QUOTED - 1].rstrip()}…"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' if number != 1 else ''}"


def _quote_fact(verb: str) -> Callable[[Memory, AuditRow, Mapping[str, str]], str]:
    def say(memory: Memory, row: AuditRow, _: Mapping[str, str]) -> str:
        name = row.ref.removeprefix("fact:")
        others = len(json.loads(row.after)["facts"]) - 1 if row.after else 0
        more = f" and {_count(others, 'other fact')}" if others > 0 else ""
        try:
            return f"{verb} {name}{more}: {_quote(str(memory.facts.get(name)))}"
        except MnemosError:
            return f"{verb} {name}{more}, which was erased since"

    return say


def find_entry(memory: Memory, ref: str) -> str:
    """Return the key, user and value of an entry, or "" for each if it was deleted."""
    number = ref.removeprefix("entry:")
    owner = memory.storage.read(lambda tx: tx.entries.owner(int(number))) if number.isdecimal() else None
    entry = owner and memory.entries.retrieve(*owner)
    return f"{entry.key} of {owner[0]}: {entry.value}" if owner and entry else ""


def _say_entry(memory: Memory, row: AuditRow, _: Mapping[str, str]) -> str:
    return f"Set {_quote(find_entry(memory, row.ref)) or f'{row.ref}, which was deleted since'}"


def _name_session(memory: Memory, row: AuditRow, short: Mapping[str, str]) -> str:
    session_id = row.ref.removeprefix(_SESSION)
    title = _quote(memory.sessions.find_title(session_id) or "")
    name = short.get(row.ref, row.ref).removeprefix(_SESSION)
    return f"{title} ({name})" if title else name


def _say_title(memory: Memory, row: AuditRow, short: Mapping[str, str]) -> str:
    if row.after is None:
        return f"Changed the title of {_name_session(memory, row, short)}"
    name = short.get(row.ref, row.ref).removeprefix(_SESSION)
    return f"Renamed {name} to {_quote(row.after)}"


def _say_archive(memory: Memory, row: AuditRow, short: Mapping[str, str]) -> str:
    return f"{'Unarchived' if row.after == 'false' else 'Archived'} {_name_session(memory, row, short)}"


def _say_import(_memory: Memory, row: AuditRow, _short: Mapping[str, str]) -> str:
    if row.after is None:
        return "Imported sessions"
    counts = json.loads(row.after)
    return f"Imported {_count(len(counts), 'session')}, {_count(sum(counts.values()), 'message')}"


def _say_archive_import(_memory: Memory, row: AuditRow, _short: Mapping[str, str]) -> str:
    counts = {part: count for part, count in json.loads(row.after or "{}").items() if count}
    some = ", ".join(f"{count:,} {part}" for part, count in counts.items()) or "nothing new"
    return f"Imported an archive: {some}"


def _say_notes(_memory: Memory, row: AuditRow, _short: Mapping[str, str]) -> str:
    name = f"{row.ref.removeprefix('notebook:').upper()}.md"
    before, after = (set((text or "").split("\n§\n")) for text in (row.before, row.after))
    if (added := sorted(after - before - {""})) and len(added) == 1:
        return f"Changed {name}: {_quote(added[0])}"
    if not added and (removed := sorted(before - after - {""})):
        return f"Removed from {name}: {_quote(removed[0])}"
    return f"Changed {name}"


def _say_plain(text: str) -> Callable[[Memory, AuditRow, Mapping[str, str]], str]:
    def say(_: Memory, row: AuditRow, short: Mapping[str, str]) -> str:
        ref = short.get(row.ref, row.ref)
        return text.format(ref=ref, after=one_line(row.after or ""), path=row.ref.removeprefix("file://"))

    return say


_SAYINGS: Final[Mapping[str, Callable[[Memory, AuditRow, Mapping[str, str]], str]]] = {
    "facts.write": _quote_fact("Stored"),
    "facts.withdraw": _quote_fact("Withdrew"),
    "facts.confirm": _quote_fact("Confirmed"),
    "facts.purge": _say_plain("Deleted {after}"),
    "facts.import": _say_plain("Imported facts: {after}"),
    "sessions.title": _say_title,
    "sessions.archive": _say_archive,
    "sessions.delete": _say_plain("Deleted {ref}"),
    "sessions.import": _say_import,
    "sessions.prune": _say_plain("Deleted {after}"),
    "archive.import": _say_archive_import,
    "notebook.change": _say_notes,
    "entries.set": _say_entry,
    "entries.delete": _say_plain("Deleted {ref}"),
    "forget": _say_plain("Erased {ref}"),
    "export": _say_plain("Exported to {path}"),
    "allow": _say_plain("Allowed a text that {after}"),
    "compact session": _say_plain("Noted a {ref}"),
}
