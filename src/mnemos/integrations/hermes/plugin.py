"""The folder that lets a Hermes Agent find Mnemos: what stands in its files, and how they come there and go.

Three files go to ``plugins/mnemos`` in the home of Hermes, ``mnemos.json`` says which memory is meant, and
``config.yaml`` which provider is used. Nothing is touched that another program wrote, but for that one line.
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
from mnemos.integrations.clients.settings_files import Records, digest
from mnemos.integrations.hermes import activation, place
from mnemos.integrations.hermes.place import Place

NAME: Final = "mnemos"
FOLDER: Final = "plugins"
_WRITTEN: Final = "`mnemos connect hermes`"
# What Mnemos consists of when it runs inside Hermes.
_PARTS: Final = ("mnemos", "apsw", "msgspec", "numpy", "Stemmer", "click")

_FINDING: Final = """import sys
from importlib.machinery import PathFinder

# Mnemos need not be installed where Hermes is: its parts are found where it was when this was written.
# Nothing else is looked for there, and only what Hermes does not have: its packages stay its own.
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

Written by {written}, which may write it anew; with --undo it is taken away.
"""

import logging
{finding}

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

{finding}

def register_cli(parser):
    from mnemos.faces.cli.hermes import register_cli as add

    add(parser)


def mnemos_command(arguments):
    from mnemos.faces.cli.hermes import mnemos_command as run

    run(arguments)
'''


@dataclass(frozen=True, slots=True)
class Step:
    """A file that is to be changed."""

    path: Path
    text: str | None
    """What it will hold; None: it is removed."""
    says: str


def connecting(hermes: Path, memory: Place) -> list[Step]:
    """What connects a home of Hermes with a memory; nothing is done yet. Empty when it is connected."""
    folder = _checked_folder(hermes)
    named = place.text({"home": str(memory.home), "space": memory.space})
    wanted = {folder / name: text for name, text in texts().items()} | {hermes / place.FILE: named}
    steps = [
        Step(path, text, f"{'rewrite' if path.exists() else 'write'} {path}")
        for path, text in wanted.items()
        if files.read(path) != text
    ]
    return steps + list(_config(hermes, to_mnemos=True))


def disconnecting(hermes: Path, records: Records) -> list[Step]:
    """What takes a connection away; the memory itself stays. Empty when there is none.

    Settings that still are as connecting left them become again what they were, to the byte.
    """
    folder = _checked_folder(hermes)
    ours = [*(folder / name for name in texts()), hermes / place.FILE]
    steps = [Step(path, None, f"remove {path}") for path in ours if path.exists()]
    return [*(_restored(hermes, records) or _config(hermes, to_mnemos=False)), *steps]


def is_there(hermes: Path) -> bool:
    """Whether Hermes finds the plug-in."""
    return (hermes / FOLDER / NAME / "__init__.py").is_file()


def connect(steps: list[Step], hermes: Path, records: Records) -> None:
    """Do what was planned, each file in one step, and remember what was there before."""
    for step in steps:
        settings_files.check_writable(step.path)
    first = _first_file(hermes)
    made = settings_files.missing_folders(first)
    if made:
        records.keep(first, written=b"", original=None, folders=made)
    for step in steps:
        text = step.text or ""
        if step.path == hermes / activation.FILE:
            was = settings_files.read(step.path)
            records.keep(step.path, written=text.encode(), original=was, folders=[])
        settings_files.replace(step.path, text.encode())


def disconnect(steps: list[Step], hermes: Path, records: Records) -> None:
    """Do what was planned; folders that were made for it go too, when nothing else is in them."""
    for step in steps:
        settings_files.check_writable(step.path)
    first = _first_file(hermes)
    kept = records.find(first)
    for step in steps:
        if step.text is not None:
            settings_files.replace(step.path, step.text.encode())
        else:
            settings_files.remove(step.path, [])
            if step.path.parent.name == NAME:
                _tidy(step.path.parent)
    # The innermost is gone.
    settings_files.remove(first, [Path(one) for one in kept.folders if Path(one).exists()] if kept else [])
    for path in (first, hermes / activation.FILE):
        records.drop(path)


def remarks(hermes: Path) -> list[str]:
    """What a person should know or do besides."""
    found = []
    used = activation.provider(files.read(hermes / activation.FILE) or "")
    if used is None:
        found.append(f"choose it in {hermes / activation.FILE}: hermes config set memory.provider {NAME}")
    elif used not in ("", NAME):
        found.append(
            f"Hermes uses {used!r} and keeps it; to change that: hermes config set memory.provider {NAME}"
        )
    python, own = _python_of_hermes(), sys.version_info[:2]
    if python is not None and python != own:
        found.append(
            f"Hermes runs Python {python[0]}.{python[1]}, and Mnemos is installed for {own[0]}.{own[1]}: "
            "install it for the same one, and connect again"
        )
    return found


def texts() -> dict[str, str]:
    """The files of the folder, by name."""
    finding = _FINDING.format(parts=_PARTS, places=_places(), python=tuple(sys.version_info[:2]))
    about = (Path(__file__).parent / "plugin.yaml").read_text(encoding="utf-8")
    return {
        "__init__.py": _INIT.format(written=_WRITTEN, finding=finding),
        "plugin.yaml": f"# Written by {_WRITTEN}.\n{about}version: {__version__}\n",
        "cli.py": _CLI.format(written=_WRITTEN, finding=finding),
    }


# --- inside --------------------------------------------------------------------------------------


def _checked_folder(hermes: Path) -> Path:
    folder = hermes / FOLDER / NAME
    for name in texts():
        there = files.read(folder / name)
        if there is not None and _WRITTEN not in there:
            raise Refused(f"{folder / name} was not written by {_WRITTEN}; move {folder} away first")
    return folder


def _first_file(hermes: Path) -> Path:
    return hermes / FOLDER / NAME / "__init__.py"


def _restored(hermes: Path, records: Records) -> list[Step]:
    """What puts the settings back as they were; nothing when somebody changed them since."""
    path = hermes / activation.FILE
    kept = records.find(path)
    now = settings_files.read(path)
    if kept is None or now is None or digest(now) != kept.digest or not records.has_original(kept):
        return []
    was = records.original(kept)
    return [Step(path, None if was is None else was.decode(), f"put {path} back as it was")]


def _config(hermes: Path, *, to_mnemos: bool) -> Iterator[Step]:
    path = hermes / activation.FILE
    before = settings_files.decode(settings_files.read(path), path)
    used = activation.provider(before)
    if to_mnemos and used == "":
        yield Step(path, activation.using(before, NAME), f"set memory.provider: {NAME} in {path}")
    elif not to_mnemos and used == NAME:
        yield Step(path, activation.using(before, ""), f"set memory.provider to nothing in {path}")


def _places() -> list[str]:
    """The folders that the parts are imported from."""
    found: dict[str, None] = {}
    for name in _PARTS:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin:
            origin = Path(spec.origin)
            found[str(origin.parent.parent if spec.submodule_search_locations else origin.parent)] = None
    return list(found)


def _tidy(folder: Path) -> None:
    """Remove the folder when nothing is left in it but what Python made of our files."""
    shutil.rmtree(folder / "__pycache__", ignore_errors=True)
    try:
        folder.rmdir()
    except OSError:
        # Somebody keeps something of his own there.
        pass


def _python_of_hermes() -> tuple[int, int] | None:
    """The Python that the command ``hermes`` runs; None when that cannot be told by looking."""
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
