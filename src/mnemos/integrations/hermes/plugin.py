"""The plug-in folder for Hermes: its files, and how it is connected.

Three files go to ``plugins/mnemos`` in the home of Hermes. ``mnemos.json`` names the memory, and one line of
``config.yaml`` the provider. No other program's text is changed.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mnemos import __version__, files
from mnemos.errors import Refused
from mnemos.integrations.clients import settings_files
from mnemos.integrations.clients.machine import Machine
from mnemos.integrations.clients.settings_files import Records, digest
from mnemos.integrations.hermes import host
from mnemos.integrations.hermes.host import Place

NAME: Final = "mnemos"
FOLDER: Final = "plugins"
CONFIG: Final = "config.yaml"
_WRITTEN: Final = "`mnemos connect hermes`"
# The packages that Mnemos needs inside Hermes.
_PARTS: Final = ("mnemos", "apsw", "msgspec", "numpy", "Stemmer", "click")

_BOM: Final = "\ufeff"
_MEMORY: Final = re.compile(r"\ufeff?memory[ \t]*:\s*(?:#.*)?$")
_OTHER_MEMORY: Final = re.compile(r"""\ufeff?(?:memory|"memory"|'memory')[ \t]*:""")
_PROVIDER: Final = re.compile(r"[ \t]+provider[ \t]*:(?:[ \t]+(.*?))?((?:[ \t]+#.*)?\s*)$")
_NOTHING: Final = ("", "''", '""', "null", "~")
_PLAIN: Final = re.compile(r"[A-Za-z0-9_.-]+")

_FINDER: Final = """import sys
from importlib.machinery import PathFinder

# Mnemos need not be installed where Hermes is: its packages are found where they were when this was written.
# Nothing else is imported from there, and only what Hermes does not have: it keeps its own packages.
PARTS = {parts!r}
PLACES = {places!r}
PYTHON = {python!r}


class Finder:
    places = PLACES

    @staticmethod
    def find_spec(name, path=None, target=None):
        if path is None and name in PARTS and sys.version_info[:2] == PYTHON:
            return PathFinder.find_spec(name, PLACES)
        return None


if not any(getattr(one, "places", None) == PLACES for one in sys.meta_path):
    sys.meta_path.append(Finder)
"""

_INIT: Final = '''"""Mnemos as the MemoryProvider of this Hermes Agent.

Written by {written}, which may overwrite it. Add --undo to remove it.
"""

import logging
{finder}

def register(ctx):
    """Hand the provider to Hermes, by ctx.register_memory_provider."""
    try:
        from mnemos.integrations.hermes import register as hand_over
    except ImportError as exc:
        logging.getLogger(__name__).warning(
            "Mnemos cannot be loaded (%s). It was connected from Python %s.%s, and Hermes runs %s.%s: "
            "install Mnemos for that one and run {written} again.", exc, *PYTHON, *sys.version_info[:2]
        )
        raise
    hand_over(ctx)
'''

_CLI: Final = '''"""The commands of `hermes mnemos`. Written by {written}."""

{finder}

def register_cli(parser):
    from mnemos.faces.cli.hermes import register_cli as add

    add(parser)


def mnemos_command(arguments):
    from mnemos.faces.cli.hermes import mnemos_command as run

    run(arguments)
'''


@dataclass(frozen=True, slots=True)
class Step:
    """A change to one file."""

    path: Path
    text: str | None
    """The new contents; None deletes the file."""

    def render_diff(self) -> str:
        after = None if self.text is None else self.text.encode()
        return settings_files.render_diff(settings_files.read(self.path), after)


def plan_connect(hermes: Path, memory: Place) -> list[Step]:
    """Plan to connect a home of Hermes with a memory; empty if it already is."""
    folder = _check_folder(hermes)
    named = host.render_place({"home": str(memory.home), "space": memory.space})
    wanted = {folder / name: text for name, text in render_files().items()} | {hermes / host.FILE: named}
    steps = [Step(path, text) for path, text in wanted.items() if files.read(path) != text]
    config, before = _read_config(hermes)
    if read_provider(before) == "":
        steps.append(Step(config, set_provider(before, NAME)))
    return steps


def plan_disconnect(hermes: Path, records: Records) -> list[Step]:
    """Plan to disconnect and keep the memory; empty if it is not connected.

    If the settings are still as they were written, the original bytes are restored.
    """
    folder = _check_folder(hermes)
    ours = [*(folder / name for name in render_files()), hermes / host.FILE]
    return [*_restore_config(hermes, records), *(Step(path, None) for path in ours if path.exists())]


def summarise(steps: list[Step], hermes: Path, machine: Machine, *, undo: bool) -> list[str]:
    """Describe a plan's changes to the plug-in and the settings."""
    files_of_plugin = sum(step.path.name != CONFIG for step in steps)
    verb, setting = ("remove", "clear memory.provider") if undo else ("write", f"set memory.provider: {NAME}")
    lines = (
        [f"{machine.shorten(hermes)}: {verb} {files_of_plugin} files of a plug-in"] if files_of_plugin else []
    )
    return lines + [f"{machine.shorten(step.path)}: {setting}" for step in steps if step.path.name == CONFIG]


def is_installed(hermes: Path) -> bool:
    """True if Hermes finds the plug-in."""
    return (hermes / FOLDER / NAME / "__init__.py").is_file()


def carry_out(steps: list[Step], hermes: Path, records: Records, *, undo: bool) -> None:
    """Carry out a plan, each file in one step, recording the original settings.

    With ``undo``, folders that were made for the files are deleted if they are empty.
    """
    for step in steps:
        settings_files.check_writable(step.path)
    first, config = hermes / FOLDER / NAME / "__init__.py", hermes / CONFIG
    made = settings_files.missing_folders(first)
    if made and not undo:
        records.keep(first, written=b"", original=None, folders=made)
    for step in steps:
        if step.text is None:
            settings_files.remove(step.path, [])
            continue
        if step.path == config and not undo:
            was = settings_files.read(config)
            records.keep(config, written=step.text.encode(), original=was, folders=[])
        settings_files.replace(step.path, step.text.encode())
    if undo:
        kept = records.find(first)
        _remove_folder(first.parent)
        # The innermost folder is already deleted.
        made = [folder for one in kept.folders if (folder := Path(one)).exists()] if kept else []
        settings_files.remove(first, made)
        for path in (first, config):
            records.drop(path)


def find_remarks(hermes: Path, *, undo: bool = False) -> list[str]:
    """Return what a person should know or do."""
    found = []
    _, config = _read_config(hermes)
    used = read_provider(config)
    if undo:
        is_named = used is None and NAME in config
        return [f"If {hermes / CONFIG} selects {NAME}, select another provider there."] if is_named else []
    if used is None:
        found.append(f"Choose it in {hermes / CONFIG}: hermes config set memory.provider {NAME}")
    elif used not in ("", NAME):
        found.append(f"Hermes still uses {used!r}. To change that: hermes config set memory.provider {NAME}")
    python, own = _find_python(), sys.version_info[:2]
    if python is not None and python != own:
        found.append(
            f"Hermes runs Python {python[0]}.{python[1]}, but Mnemos is installed for {own[0]}.{own[1]}. "
            "Install it for the same version, and connect again."
        )
    return found


def render_files() -> dict[str, str]:
    """Return the files of the folder by name."""
    finder = _FINDER.format(parts=_PARTS, places=_find_places(), python=tuple(sys.version_info[:2]))
    about = (Path(__file__).parent / "plugin.yaml").read_text(encoding="utf-8")
    return {
        "__init__.py": _INIT.format(written=_WRITTEN, finder=finder),
        "plugin.yaml": f"# Written by {_WRITTEN}.\n{about}version: {__version__}\n",
        "cli.py": _CLI.format(written=_WRITTEN, finder=finder),
    }


# --- files ----------------------------------------------------------------------------------------


def _check_folder(hermes: Path) -> Path:
    folder = hermes / FOLDER / NAME
    for name in render_files():
        there = files.read(folder / name)
        if there is not None and _WRITTEN not in there:
            raise Refused(f"{folder / name} was not written by {_WRITTEN}. Move {folder} away first.")
    return folder


def _read_config(hermes: Path) -> tuple[Path, str]:
    path = hermes / CONFIG
    return path, settings_files.decode(settings_files.read(path), path)


def _restore_config(hermes: Path, records: Records) -> list[Step]:
    """Plan to restore the original settings, or if they changed, to remove our line."""
    path, now = _read_config(hermes)
    kept = records.find(path)
    data = records.original(kept) if kept is not None and records.has_original(kept) else None
    original = None if data is None else settings_files.decode(data, path)
    if kept is not None and digest(now.encode()) == kept.digest and records.has_original(kept):
        return [Step(path, original)]
    if read_provider(now) != NAME:
        return []
    if kept is None or not records.has_original(kept):
        return [Step(path, set_provider(now, ""))]
    after = _strip_provider(now, original or "")
    return [Step(path, after if after.strip() or kept.backup else None)]


def _strip_provider(text: str, original: str) -> str:
    """Return the settings with the original provider: none, or an empty value."""
    lines, former = text.splitlines(keepends=True), original.splitlines(keepends=True)
    table, former_table = _find_table(lines), _find_table(former)
    found = None if table is None else _find_provider(lines, table)[0]
    if (
        table is None
        or found is None
        or (former_table is not None and _find_provider(former, former_table)[0])
    ):
        return set_provider(text, "")
    del lines[found[0]]
    following = next(_iter_content(lines, table + 1), (0, ""))[1]
    if former_table is None and not following.startswith((" ", "\t")):
        # Including the blank line that we wrote before it.
        is_blank = table > 0 and not lines[table - 1].strip()
        del lines[table - is_blank : table + 1]
    return "".join(lines)


def _find_places() -> list[str]:
    """Return the folders from which the packages are imported."""
    found: dict[str, None] = {}
    for name in _PARTS:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin:
            origin = Path(spec.origin)
            found[str(origin.parent.parent if spec.submodule_search_locations else origin.parent)] = None
    return list(found)


def _remove_folder(folder: Path) -> None:
    """Delete the folder if it only contains compiled copies of our files."""
    shutil.rmtree(folder / "__pycache__", ignore_errors=True)
    try:
        folder.rmdir()
    except OSError:
        # Somebody has files of their own there.
        pass


def _find_python() -> tuple[int, int] | None:
    """Return the Python version of the command ``hermes``; None if it is unknown."""
    command = shutil.which("hermes")
    try:
        head = Path(command).read_bytes()[:512].decode("utf-8", "replace") if command else ""
    except OSError:
        return None
    interpreter = re.match(r"#!\s*(\S+/)bin/python[\d.]*\s*$", head.partition("\n")[0])
    if interpreter is None:
        return None
    versions = [
        re.fullmatch(r"python(\d+)\.(\d+)", path.name) for path in Path(interpreter[1], "lib").glob("python*")
    ]
    found = [(int(version[1]), int(version[2])) for version in versions if version]
    return found[0] if len(found) == 1 else None


# --- config.yaml ----------------------------------------------------------------------------------


def read_provider(text: str) -> str | None:
    """Return the provider; empty for none, None if the notation is unknown.

    A YAML library would be a dependency for everybody just for this line.
    """
    lines = text.splitlines(keepends=True)
    table = _find_table(lines)
    if table is None:
        first = next(_iter_content(lines, 0), (0, ""))[1].lstrip(f"{_BOM} \t")
        is_odd = first.startswith(("{", "[", "- ", "%", "&", "!"))
        return None if is_odd or any(map(_OTHER_MEMORY.match, lines)) else ""
    found, indent = _find_provider(lines, table)
    if found is None:
        return ""
    number, match = found
    following = next(_iter_content(lines, number + 1), (0, ""))[1]
    if following.startswith((f"{indent} ", f"{indent}\t")):
        # The value continues on that line.
        return None
    value = match[1] or ""
    if value in _NOTHING:
        return ""
    bare = value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"" else value
    return bare if _PLAIN.fullmatch(bare) else None


def set_provider(text: str, name: str) -> str:
    """Return a text with another provider, if ``read_provider`` understands it.

    Line breaks are kept.
    """
    lines = text.splitlines(keepends=True)
    newline = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
    value = name or "''"
    table = _find_table(lines)
    if table is None:
        last = lines[-1].removeprefix(_BOM) if lines else ""
        gap = newline * ((bool(last) and not last.endswith(("\n", "\r"))) + bool(last.strip()))
        return f"{text}{gap}memory:{newline}  provider: {value}{newline}"
    found, indent = _find_provider(lines, table)
    if found is None:
        bare = lines[table].rstrip("\r\n")
        closing = lines[table][len(bare) :]
        lines[table : table + 1] = [bare + (closing or newline), f"{indent}provider: {value}{closing}"]
    else:
        number, match = found
        lines[number] = f"{indent}provider: {value}{match[2]}"
    return "".join(lines)


def _find_table(lines: list[str]) -> int | None:
    found = [number for number, line in enumerate(lines) if _MEMORY.match(line)]
    return found[0] if len(found) == 1 else None


def _find_provider(lines: list[str], table: int) -> tuple[tuple[int, re.Match[str]] | None, str]:
    """Return the line of the provider, if any, and the indentation of the table."""
    indent = ""
    for number, line in _iter_content(lines, table + 1):
        own = line[: len(line) - len(line.lstrip(" \t"))]
        if not own:
            break
        indent = indent or own
        if own == indent and (match := _PROVIDER.match(line)):
            return (number, match), indent
    return None, indent or "  "


def _iter_content(lines: list[str], start: int) -> Iterator[tuple[int, str]]:
    """Yield the numbered lines from ``start`` that are neither blank nor comments."""
    for number in range(start, len(lines)):
        if lines[number].strip() and not lines[number].lstrip().startswith("#"):
            yield number, lines[number]
