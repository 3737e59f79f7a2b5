"""Connecting one client with a memory, and taking the connection away: what is to be done, and doing it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mnemos.errors import InvalidInput, Refused
from mnemos.integrations.clients import claude_code, config_files, editing
from mnemos.integrations.clients.catalogue import Client
from mnemos.integrations.clients.editing import Change, Target
from mnemos.integrations.clients.edits import Addition, Trace, Written, located
from mnemos.integrations.clients.json_edits import Json
from mnemos.integrations.clients.places import Starting, Surroundings
from mnemos.integrations.clients.records import Records, digest_of
from mnemos.integrations.clients.tools import Tool

_PLUGIN: Final = "claude-code-plugin"


@dataclass(frozen=True, slots=True)
class Asked:
    """What a person wants."""

    client: Client
    starting: Starting
    home: Path
    space: str
    undo: bool = False
    config: Path | None = None
    """Other settings than the usual ones."""
    hooks: bool = True
    plugin: Path | None = None
    """Write a plug-in there, and leave the settings alone."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done, in this order."""

    changes: tuple[Change, ...]
    tool: Tool | None = None
    """The client's own command, which makes the first of the changes."""
    remarks: tuple[str, ...] = ()

    def command(self, *, undo: bool) -> str:
        """The command that is run; empty for none."""
        return self.tool.line(self.tool.remove if undo else self.tool.add) if self.tool else ""


def plan(asked: Asked, here: Surroundings) -> Plan:
    """What is to be done; nothing is yet. Settings that cannot be read or changed raise."""
    if asked.plugin is not None:
        return _plan_plugin(asked, asked.plugin)
    records = Records(asked.home, asked.client.key)
    work = editing.disconnecting if asked.undo else editing.connecting
    targets = _targets(asked, here)
    changes = [change for target in targets if (change := work(target, records)) is not None]
    for change in changes:
        editing.check(change)
    remarks = () if asked.undo or asked.client.is_installed(here) else (_absent(asked.client),)
    return Plan(tuple(changes), _tool(asked, here, changes, targets[0]), remarks)


def carry_out(asked: Asked, here: Surroundings) -> Plan:
    """Do what is to be done, and say what was; nobody else does so meanwhile."""
    records = _records(asked)
    if not plan(asked, here).changes:
        if asked.undo and _remembered(asked, here, records):
            with records.locked():
                _forget(asked, here, records)
        return plan(asked, here)
    with records.locked():
        planned = plan(asked, here)
        remarks = list(planned.remarks)
        for number, change in enumerate(planned.changes):
            if number == 0 and planned.tool:
                remarks += _by_tool(planned.tool, asked, here, change, records)
            else:
                editing.make(change, records)
        if asked.undo:
            _forget(asked, here, records)
    return Plan(planned.changes, planned.tool, tuple(remarks))


def is_connected(asked: Asked, here: Surroundings) -> bool:
    """Whether the client's own list of servers names a Mnemos."""
    if asked.plugin is not None:
        return (asked.plugin / ".mcp.json").is_file()
    return editing.is_connected(_targets(asked, here)[0])


def backups(asked: Asked, changes: tuple[Change, ...]) -> list[str]:
    """Where copies of what was changed are."""
    records = _records(asked)
    found = [records.backup_of(change.path) for change in changes]
    return [str(path) for path in found if path is not None]


# --- inside --------------------------------------------------------------------------------------


def _records(asked: Asked) -> Records:
    return Records(asked.home, asked.client.key if asked.plugin is None else _PLUGIN)


def _targets(asked: Asked, here: Surroundings) -> list[Target]:
    if asked.client.key != claude_code.KEY:
        return [asked.client.target(here, asked.starting, asked.config)]
    servers = claude_code.files_in(asked.config) if asked.config else None
    return [
        asked.client.target(here, asked.starting, servers),
        claude_code.hooks(here, asked.starting, asked.config, wanted=asked.hooks or asked.undo),
    ]


def _tool(asked: Asked, here: Surroundings, changes: list[Change], servers: Target) -> Tool | None:
    """The client's own command, where it can be used for the list of servers."""
    make: Callable[[Starting], Tool] | None = asked.client.tool
    if make is None or asked.config is not None or not changes or changes[0].target is not servers:
        return None
    tool = make(asked.starting)
    if here.program(tool.program) is None:
        return None
    if asked.undo:
        # Bytes that are known need no command.
        return None if changes[0].is_restored else tool
    # It adds; what is there already, it does not change.
    return None if _is_there(servers) else tool


def _by_tool(tool: Tool, asked: Asked, here: Surroundings, change: Change, records: Records) -> list[str]:
    """Let the client's own command make a change, and make it ourselves when that does not; remarks."""
    editing.remember(change, records, change.after)
    arguments = tool.remove if asked.undo else tool.add
    problem = tool.run(here, arguments)
    if not problem and _is_there(change.target) == (not asked.undo):
        if asked.undo:
            records.drop(change.path)
        else:
            now = config_files.read(change.path)
            # What somebody else wrote meanwhile would be lost with the bytes from before: then only our
            # entry is taken out again.
            editing.remember(change, records, now if _kept_the_rest(change, now) else change.after)
        return []
    work = editing.disconnecting if asked.undo else editing.connecting
    again = work(change.target, records)
    if again is not None:
        editing.make(again, records)
    return [
        f"`{tool.program} {' '.join(arguments[:2])}` did not work ({problem or 'it changed nothing'}); "
        "the file was changed directly"
    ]


def _kept_the_rest(change: Change, now: bytes | None) -> bool:
    """Whether what stands in the settings still is as it was.

    The program itself may have added to it, or have left out what is its default anyway.
    """
    target = change.target
    table, own = target.additions[0].path
    before, after = (
        target.format.value(config_files.text_of(data, target.path), str(target.path))
        for data in (change.before, now)
    )
    servers = {name: entry for name, entry in after.get(table, {}).items() if name != own}
    rest = after | ({table: servers} if table in before else {})
    return all(rest[name] == value for name, value in before.items() if name in rest)


def _is_there(target: Target) -> bool:
    text = config_files.text_of(config_files.read(target.path), target.path)
    values = target.format.value(text, str(target.path))
    return all(located(values, one) is not None for one in target.additions)


def _forget(asked: Asked, here: Surroundings, records: Records) -> None:
    """What somebody else took out, or we before we were killed, is not ours any more."""
    for path in _remembered(asked, here, records):
        records.drop(path)


def _remembered(asked: Asked, here: Surroundings, records: Records) -> list[Path]:
    targets = [] if asked.plugin else _targets(asked, here)
    return [target.path for target in targets if records.of(target.path) is not None]


def _absent(client: Client) -> str:
    return f"{client.name} was not found on this machine; it will find the memory once it is installed."


def _plan_plugin(asked: Asked, folder: Path) -> Plan:
    if folder.exists() and not folder.is_dir():
        raise InvalidInput(f"{folder} is a file; name a folder for the plug-in")
    texts = claude_code.plugin(asked.starting, asked.home, asked.space, with_hooks=asked.hooks or asked.undo)
    records = Records(asked.home, _PLUGIN)
    changes: list[Change] = []
    remarks: list[str] = []
    for name, text in texts.items():
        target = Target(folder / name, Json(), (), asked.client.key)
        current = config_files.read(target.path)
        kept = records.of(target.path)
        is_ours = current is None or current == text.encode()
        is_ours = is_ours or (kept is not None and kept.digest == digest_of(current or b""))
        after = None if asked.undo else text.encode()
        if not is_ours and not asked.undo:
            raise Refused(
                f"{target.path} was not written by `mnemos connect`, or was changed since; "
                "name another folder, or move it away"
            )
        if not is_ours:
            remarks.append(f"{target.path} was changed since and stays")
        elif current != after:
            mark = Written(addition=Addition(path=(name,), value=None), trace=Trace())
            changes.append(Change(target, current, after, None, () if asked.undo else (mark,)))
    # The folder itself was made for the first file, and goes with it.
    return Plan(tuple(reversed(changes) if asked.undo else changes), None, tuple(remarks))
