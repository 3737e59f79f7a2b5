"""Connect a client with a memory and undo it: plan the changes, then make them.

If a file is unchanged since, undo restores the original bytes. Otherwise it only removes our entries.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from msgspec import structs

from mnemos.errors import Busy, Refused
from mnemos.integrations.clients import settings_files
from mnemos.integrations.clients.additions import (
    Addition,
    has_addition,
    list_words,
    locate,
    starts_mnemos,
    starts_same,
    value_at,
)
from mnemos.integrations.clients.catalogue import Client, ClientCommand, claude_files, claude_plugin
from mnemos.integrations.clients.formats import Format, Script
from mnemos.integrations.clients.machine import CLAUDE_CODE, NAME, Launch, Machine
from mnemos.integrations.clients.settings_files import Record, Records

_PLUGIN: Final = "claude-code-plugin"


@dataclass(frozen=True, slots=True)
class Request:
    """A client to connect, or with ``undo`` to disconnect, and how."""

    client: Client
    launch: Launch
    home: Path
    space: str
    undo: bool = False
    config: Path | None = None
    """Another settings folder than the usual one."""
    hooks: bool = True
    plugin: Path | None = None
    """Write a plug-in into this folder and don't change the settings."""


@dataclass(frozen=True, slots=True)
class _Target:
    """A file and the additions it should have."""

    path: Path
    format: Format
    additions: tuple[Addition, ...]
    client: str
    empty: str = ""
    """The text that a new file begins with."""

    def text(self, data: bytes | None) -> str:
        return settings_files.decode(data, self.path)

    def parse(self, data: bytes | str | None) -> dict[str, Any]:
        return self.format.parse(data if isinstance(data, str) else self.text(data), str(self.path))


@dataclass(frozen=True, slots=True)
class Change:
    """A change to one file."""

    target: _Target
    before: bytes | None
    after: bytes | None
    """The new contents; None deletes the file."""
    original: bytes | None
    """The contents without our additions."""
    additions: tuple[Addition, ...]
    """Our additions afterwards; empty if all are removed."""
    former: tuple[Addition, ...] = ()
    """Our additions before."""

    @property
    def path(self) -> Path:
        return self.target.path

    def render_diff(self) -> str:
        return settings_files.render_diff(self.before, self.after)

    def describe(self) -> str:
        """Describe the change as an order, such as "add the MCP server mnemos"."""
        if self.additions:
            return f"{'update' if self.former else 'add'} {_describe_additions(self.additions)}"
        what = f"remove {_describe_additions(self.former)}"
        return f"{what} and the file, which is otherwise empty" if self.after is None else what


@dataclass(frozen=True, slots=True)
class Plan:
    """Changes in the order in which they are made."""

    changes: tuple[Change, ...]
    command: ClientCommand | None = None
    """The client's own command, which makes the first change."""
    remarks: tuple[str, ...] = ()
    folder: Path | None = None
    """The plug-in folder that all changes are in."""

    def summarise(self, request: Request, machine: Machine) -> list[str]:
        """Describe the changes, one line per file or one for a plug-in folder."""
        if self.folder is not None and self.changes:
            verb = "remove" if request.undo else "write"
            return [f"{machine.shorten(self.folder)}: {verb} {len(self.changes)} files of a plug-in"]
        lines = [f"{machine.shorten(change.path)}: {change.describe()}" for change in self.changes]
        if self.command:
            words = (self.command.program, *self.command.add[:2])
            lines[0] += f" (by `{' '.join(words)}`)"
        return lines

    def command_line(self, request: Request) -> str:
        """Return the client's own command as a person would type it; empty for none."""
        if self.command is None:
            return ""
        return shlex.join((self.command.program, *self.command.arguments(request.launch)))


def plan(request: Request, machine: Machine) -> Plan:
    """Plan a request without changing anything. Raises if settings can't be changed."""
    records = _records(request)
    planned: list[Change | None] = []
    remarks: list[str] = []
    for target in _targets(request, machine):
        try:
            planned.append(_plan_change(target, records, undo=request.undo))
        except Refused:
            if request.plugin is None or not request.undo:
                raise
            remarks.append(f"{target.path} was changed since and stays")
    changes = tuple(change for change in planned if change is not None)
    if request.undo:
        # A folder that was made for the first file is deleted with it.
        changes = changes[::-1]
    for change in changes:
        settings_files.check_writable(change.path)
    command = request.client.command
    first = planned[0] if planned else None
    if (
        command is None
        or request.plugin is not None
        # The client's command would leave an empty list of servers, and write its own ids.
        or request.undo
        or request.config is not None
        or first is None
        or machine.find_program(command.program) is None
        # The client's command doesn't change an existing entry.
        or _has_all(first.target)
    ):
        command = None
    if not request.undo and request.plugin is None and not request.client.is_installed(machine):
        name = request.client.name
        remarks.append(f"{name} was not found on this machine. It will use the memory once it is installed.")
    return Plan(changes, command, tuple(remarks), request.plugin)


def carry_out(request: Request, machine: Machine) -> Plan:
    """Carry out a request under the home's lock and return what was done."""
    records = _records(request)
    planned = plan(request, machine)
    if not planned.changes and not (request.undo and _recorded_paths(request, machine, records)):
        return planned
    with records.lock():
        planned = plan(request, machine)
        remarks = list(planned.remarks)
        changes: list[Change | None] = list(planned.changes)
        if planned.command:
            first, *others = planned.changes
            remarks += _run_command(planned.command, request, machine, first, records)
            # The client's command may also have written to the other files.
            changes = [_plan_change(one.target, records, undo=False) for one in others]
        for change in changes:
            if change is not None:
                _make(change, records)
        if request.undo:
            # Our entries may be gone already: removed by others, or by an interrupted run.
            for path in _recorded_paths(request, machine, records):
                records.drop(path)
    return replace(planned, remarks=tuple(remarks))


def is_connected(request: Request, machine: Machine) -> bool:
    """True if the client's list of servers has Mnemos, on any memory."""
    return _has_all(_targets(replace(request, hooks=False, undo=False), machine)[0])


def has_hooks(request: Request, machine: Machine) -> bool:
    """True if the client has our hooks or plug-in for this memory, trusted or not."""
    recorder = request.client.recorder
    if recorder is None:
        return False
    target = _targets(request, machine)[-1]
    settings = target.parse(settings_files.read(target.path))
    return all(has_addition(settings, one) for one in recorder.additions(request.launch))


def will_record(request: Request) -> bool:
    """True if a request gives the client hooks or a plug-in."""
    recorder = request.client.recorder
    return recorder is not None and request.hooks and (request.config is None or recorder.is_anywhere)


def find_backups(request: Request, changes: tuple[Change, ...]) -> list[str]:
    """Return the paths of the copies of original files."""
    records = _records(request)
    return [str(path) for change in changes if (path := records.find_backup(change.path)) is not None]


def _records(request: Request) -> Records:
    return Records(request.home, request.client.key if request.plugin is None else _PLUGIN)


def _targets(request: Request, machine: Machine) -> list[_Target]:
    client, recorder = request.client, request.client.recorder
    if request.plugin is not None:
        with_hooks = request.hooks or request.undo
        files = claude_plugin(request.launch, request.home, request.space, with_hooks=with_hooks)
        return [
            _Target(request.plugin / name, Script(), (Addition(path=(NAME,), value=text),), client.key)
            for name, text in files.items()
        ]
    server = (client.server(request.launch),)
    servers = request.config or client.file(machine)
    beside = servers.parent / recorder.file if recorder and recorder.file else servers
    if client.key == CLAUDE_CODE:
        servers, beside = claude_files(machine, request.config)
    if recorder is None or not (recorder.is_anywhere or request.config is None):
        return [_Target(servers, client.format, server, client.key)]
    hooks = recorder.additions(request.launch) if request.hooks or request.undo else ()
    if beside == servers:
        return [_Target(servers, client.format, (*server, *hooks), client.key)]
    return [
        _Target(servers, client.format, server, client.key),
        _Target(beside, recorder.format, hooks, client.key, recorder.empty),
    ]


def _recorded_paths(request: Request, machine: Machine, records: Records) -> list[Path]:
    return [one.path for one in _targets(request, machine) if records.find(one.path) is not None]


def _has_all(target: _Target) -> bool:
    settings = target.parse(settings_files.read(target.path))
    return all(locate(settings, one) is not None for one in target.additions)


def _describe_additions(additions: tuple[Addition, ...]) -> str:
    hooks = sum(one.is_item for one in additions)
    # A plug-in is a whole file.
    servers = [
        "the plug-in" if len(one.path) == 1 else f"the MCP server {one.path[-1]}"
        for one in additions
        if not one.is_item
    ]
    return " and ".join([*servers, *([f"{hooks} hooks"] if hooks else [])])


# --- one file -------------------------------------------------------------------------------------


def _plan_change(target: _Target, records: Records, *, undo: bool) -> Change | None:
    current = settings_files.read(target.path)
    record = records.find(target.path)
    if undo:
        return _plan_removal(target, current, record, records)
    settings = target.parse(current)
    is_stale = record is not None and any(one not in target.additions for one in record.additions)
    if not is_stale and all(has_addition(settings, one) for one in target.additions):
        return None
    base = _strip_ours(target, current, record, records)
    text = target.text(base) or target.empty
    added: list[Addition] = []
    for addition in target.additions:
        if has_addition(target.parse(text), addition):
            continue
        _check_free(target, target.parse(text), addition)
        present: Any = None if addition.is_item else value_at(settings, addition.path)
        whole = addition
        if record and starts_mnemos(present):
            # A person may have added to our entry.
            whole = structs.replace(addition, value={**present, **addition.value})
        text = target.format.add(text, whole, str(target.path))
        added.append(addition)
    after = text.encode() if added or base is not None else None
    former = tuple(one for one in (record.additions if record else ()) if locate(settings, one) is not None)
    return None if after == current else Change(target, current, after, base, tuple(added), former)


def _plan_removal(
    target: _Target, current: bytes | None, record: Record | None, records: Records
) -> Change | None:
    if current is None:
        return None
    settings = target.parse(current)
    if record is None:
        for addition in target.additions:
            if not has_addition(settings, addition):
                _check_free(target, settings, addition)
    after = _strip_ours(target, current, record, records)
    if record is not None:
        left = target.parse(after)
        for addition in record.additions:
            _check_free(target, left, addition)
    ours = target.additions if record is None else record.additions
    former = tuple(one for one in ours if locate(settings, one) is not None)
    return None if after == current else Change(target, current, after, after, (), former)


def _strip_ours(
    target: _Target, current: bytes | None, record: Record | None, records: Records
) -> bytes | None:
    """Return the file without our additions; None to delete it."""
    if current is None:
        return None
    original = None
    if record is not None and records.has_original(record):
        original = records.original(record)
        if settings_files.digest(current) == record.digest:
            return original
    text = target.text(current)
    # Objects that were made for our entries are removed with them.
    former = target.parse(original) if record is not None and records.has_original(record) else None
    additions = target.additions if record is None else record.additions
    for addition in reversed(additions):
        settings = target.parse(text)
        keys = locate(settings, addition)
        if keys is None:
            continue
        present = value_at(settings, keys)
        if addition.is_item or starts_same(present, addition.value) or (record and starts_mnemos(present)):
            text = _remove(target, text, keys, former)
    if record is not None and record.backup is None and not text.strip("{} \t\r\n"):
        return None
    return text.encode()


def _remove(target: _Target, text: str, keys: tuple[str | int, ...], former: Any) -> str:
    text = target.format.remove(text, keys, str(target.path))
    while former is not None and len(keys) > 1:
        keys = keys[:-1]
        is_ours = value_at(former, keys) is None and value_at(target.parse(text), keys) in ({}, [])
        if not is_ours:
            break
        text = target.format.remove(text, keys, str(target.path))
    return text


def _check_free(target: _Target, settings: Any, addition: Addition) -> None:
    """Raise Refused if somebody else wrote an entry with our name."""
    if addition.is_item or locate(settings, addition) is None:
        return
    present = value_at(settings, addition.path)
    name = ".".join(addition.path)
    if len(addition.path) == 1:
        raise Refused(
            f"{target.path} was not written by `mnemos connect` for this memory, or was changed since. "
            "Move it away. Nothing was changed."
        )
    if not starts_mnemos(present):
        raise Refused(
            f"{target.path} has an entry {name} that `mnemos connect` did not write. "
            "Rename or remove it there. Nothing was changed."
        )
    words = list_words(present)
    options = words[words.index("mcp", 1) + 1 :]
    command = shlex.join(["mnemos", *map(str, options), "connect", target.client, "--undo"])
    raise Refused(
        f"{target.path} already has an entry {name}, for another memory or written by hand. "
        f"`{command}` removes it if Mnemos wrote it, otherwise remove it there. Nothing was changed."
    )


def _make(change: Change, records: Records) -> None:
    """Make a change. Raises Busy if another program changed the file in the meantime."""
    if settings_files.read(change.path) != change.before:
        raise Busy(f"Another program has just changed {change.path}. Nothing was written to it. Try again.")
    _keep(change, records, change.after)
    if change.after is None:
        record = records.find(change.path)
        settings_files.remove(change.path, [Path(one) for one in record.folders] if record else [])
    else:
        settings_files.replace(change.path, change.after)
    if not change.additions:
        records.drop(change.path)


def _keep(change: Change, records: Records, written: bytes | None) -> None:
    """Record what is needed to undo a change."""
    if not change.additions:
        return
    record = records.find(change.path)
    folders = [Path(one) for one in record.folders] if record else settings_files.missing_folders(change.path)
    records.keep(
        change.path,
        written=written or b"",
        original=change.original,
        folders=folders,
        additions=change.additions,
    )


# --- the client's own command ---------------------------------------------------------------------


def _run_command(
    command: ClientCommand, request: Request, machine: Machine, change: Change, records: Records
) -> list[str]:
    """Let the client's command make a change, or make it here. Returns remarks."""
    _keep(change, records, change.after)
    problem = machine.run(command.program, command.arguments(request.launch))
    if not problem and _has_all(change.target):
        now = settings_files.read(change.path)
        # Restoring the original bytes would lose what else the client wrote.
        _keep(change, records, now if _changed_only_ours(change, now) else change.after)
        return []
    again = _plan_change(change.target, records, undo=False)
    if again is not None:
        _make(again, records)
    return [
        f"`{command.program} {' '.join(command.add[:2])}` failed ({problem or 'it changed nothing'}); "
        "the file was changed directly"
    ]


def _changed_only_ours(change: Change, now: bytes | None) -> bool:
    """True if the settings differ from those before only in our entry."""
    before, after = change.target.parse(change.before), change.target.parse(now)
    table, own = change.target.additions[0].path
    others = {name: one for name, one in after.pop(table, {}).items() if name != own}
    if others or table in before:
        after[table] = others
    return after == before
