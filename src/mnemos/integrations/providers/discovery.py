"""Which providers there are, and how one is loaded by name.

A package declares its own as an entry point of the group ``mnemos.providers``; a person puts a folder into
``<home>/plugins``. Listing them runs no code of theirs; loading one does.
"""

from __future__ import annotations

import hashlib
import importlib.util
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from mnemos.errors import InvalidInput, NotFound, Unavailable
from mnemos.integrations.providers import manifest
from mnemos.integrations.providers.contract import MemoryProvider

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "mnemos.providers"
BUILT_IN = "builtin"
FOLDER = "plugins"

_REQUIRED = ("is_available", "initialize", "get_tool_schemas")
_DISTRIBUTION = re.compile(r"[A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class Found:
    """A provider that could be loaded."""

    name: str
    where: str
    """``built-in``, the package that declares it, or its folder."""
    version: str = ""
    description: str = ""
    requirements: tuple[str, ...] = ()
    problem: str = ""
    """What is wrong with its manifest."""
    folder: Path | None = None


def found(home: Path) -> list[Found]:
    """Every provider, the built-in one first; of two with the same name, the one of a package."""
    everything = [_built_in(), *_declared(), *_in_folders(home / FOLDER)]
    return list({one.name: one for one in reversed(everything)}.values())[::-1]


def missing(one: Found) -> list[str]:
    """The packages that a provider requires and that are not installed."""
    # importlib.metadata: too slow for those who need none of it.
    from importlib.metadata import PackageNotFoundError, distribution

    lacking = []
    for requirement in one.requirements:
        name = _DISTRIBUTION.match(requirement.strip())
        try:
            distribution(name[0] if name else requirement)
        except (PackageNotFoundError, ValueError):
            lacking.append(requirement)
    return lacking


def load(name: str, home: Path) -> MemoryProvider:
    """A provider by its name, not initialized.

    An unknown name raises NotFound, one that cannot be loaded Unavailable, what is no provider InvalidInput.
    """
    known = {one.name: one for one in found(home)}
    if name not in known or name == BUILT_IN:
        there = ", ".join(sorted(known.keys() - {BUILT_IN})) or "none is installed"
        raise NotFound(f"there is no provider {name!r}; known are: {there}")
    one = known[name]
    try:
        made = _from_entry_point(name) if one.folder is None else _from_folder(one.folder)
    except Exception as exc:
        lacking = missing(one)
        advice = f"; install {', '.join(lacking)}" if lacking else ""
        raise Unavailable(
            f"the provider {name!r} cannot be loaded from {one.where}: {type(exc).__name__}: {exc}{advice}"
        ) from exc
    return checked(made, f"what {name!r} makes")


def checked(provider: Any, what: str) -> MemoryProvider:
    """The same, when it has what a provider must have; else InvalidInput. It need not derive from ours."""
    lacking = [each for each in _REQUIRED if not callable(getattr(provider, each, None))]
    if isinstance(provider, type) or lacking:
        kind = provider.__name__ if isinstance(provider, type) else type(provider).__name__
        why = f"it has no {', '.join(lacking)}" if lacking else "it is a class; make one of it"
        raise InvalidInput(f"{what} ({kind}) is no provider: {why}")
    return cast(MemoryProvider, provider)


# --- where they come from ------------------------------------------------------------------------


def _built_in() -> Found:
    from mnemos import __version__

    return Found(BUILT_IN, "built-in", __version__, "Sessions, notebook, facts and recall of this home")


def _declared() -> Iterator[Found]:
    for entry in _entry_points():
        if entry.name == BUILT_IN:
            continue
        about = entry.dist.metadata.json if entry.dist is not None else {}
        version, summary = (str(about.get(key) or "") for key in ("version", "summary"))
        yield Found(entry.name, f"package {about.get('name') or entry.value}", version, summary)


def _in_folders(folder: Path) -> Iterator[Found]:
    try:
        inside = sorted(path for path in folder.iterdir() if path.is_dir())
    except OSError:
        return
    for path in inside:
        if path.name.startswith((".", "_")) or not (path / manifest.FILE).exists():
            continue
        try:
            about = manifest.read(path)
        except InvalidInput as exc:
            yield Found(path.name, str(path), problem=str(exc), folder=path)
            continue
        problem = "" if (path / "__init__.py").is_file() else f"{path} has no __init__.py"
        yield Found(path.name, str(path), about.version, about.description, about.requirements, problem, path)


def _entry_points() -> Iterable[EntryPoint]:
    # importlib.metadata: too slow for those who need none of it.
    from importlib.metadata import entry_points

    return entry_points(group=GROUP)


# --- loading -------------------------------------------------------------------------------------


def _from_entry_point(name: str) -> Any:
    entry = next(entry for entry in _entry_points() if entry.name == name)
    made = entry.load()
    return made() if callable(made) else made


def _from_folder(folder: Path) -> Any:
    module = _module(folder)
    register = getattr(module, "register", None)
    if callable(register):
        registration = _Registration()
        register(registration)
        if registration.provider is not None:
            return registration.provider
    kinds = [kind for kind in vars(module).values() if _is_provider_of(kind, module)]
    if len(kinds) != 1:
        raise InvalidInput(
            f"{folder / '__init__.py'} has {len(kinds)} classes that are providers and registers none; write "
            "register(context) and call context.register_memory_provider(provider)"
        )
    return kinds[0]()


def _module(folder: Path) -> ModuleType:
    """The folder as a package; loaded once, whoever asks."""
    # Two homes may have plug-ins of the same name.
    place = hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:8]
    name = f"mnemos_plugin_{re.sub(r'[^A-Za-z0-9_]', '_', folder.name)}_{place}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(
        name, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    if spec is None or spec.loader is None:
        raise InvalidInput(f"{folder} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _is_provider_of(kind: Any, module: ModuleType) -> bool:
    """A class of that module that derives from a contract: ours, or that of the host it was written for."""
    return (
        isinstance(kind, type)
        and kind.__module__ == module.__name__
        and any(base.__name__ == MemoryProvider.__name__ for base in kind.__mro__[1:])
        and not getattr(kind, "__abstractmethods__", None)
    )


class _Registration:
    """What a plug-in is given to register with. Whatever else hosts offer is taken and left alone."""

    def __init__(self) -> None:
        self.provider: Any = None

    def register_memory_provider(self, provider: Any) -> None:
        self.provider = provider

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda *_, **__: None
