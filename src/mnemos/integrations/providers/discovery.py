"""Discovery of providers: lists them, and loads one by name.

A package declares a provider as an entry point of the group ``mnemos.providers``; a person puts a folder with
a ``plugin.yaml`` into ``<home>/plugins``. Listing them runs none of their code; loading one does.
"""

from __future__ import annotations

import hashlib
import importlib.util
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from mnemos.errors import InvalidInput, NotFound, Unavailable
from mnemos.inputs import suggest
from mnemos.integrations.providers.contract import MemoryProvider

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "mnemos.providers"
BUILT_IN = "builtin"
FOLDER = "plugins"
MANIFEST = "plugin.yaml"

_REQUIRED = ("is_available", "initialize", "get_tool_schemas")
_DISTRIBUTION = re.compile(r"[A-Za-z0-9._-]+")
_LARGEST_MANIFEST = 64 * 1024
_KEY = re.compile(r"([A-Za-z_][\w-]*)[ \t]*:(?:[ \t]+(.*))?$")
_ITEM = re.compile(r"[ \t]*-[ \t]+(.*)$")
_TEXTS = ("name", "version", "description")
# The second is Hermes' name for them.
_REQUIREMENTS = ("requirements", "pip_dependencies")


@dataclass(frozen=True, slots=True)
class Found:
    """A provider that can be loaded."""

    name: str
    where: str
    """``built-in``, its package or its folder."""
    version: str = ""
    description: str = ""
    requirements: tuple[str, ...] = ()
    problem: str = ""
    """The problem with its manifest."""
    folder: Path | None = None


def find_providers(home: Path) -> list[Found]:
    """List all providers: the built-in one, then packages before folders."""
    from mnemos import __version__

    about = "Sessions, notebook, facts and recall of this home"
    built_in = Found(BUILT_IN, "built-in", __version__, about)
    everything = [built_in, *_find_entry_points(), *_find_folders(home / FOLDER)]
    return list({one.name: one for one in reversed(everything)}.values())[::-1]


def find_missing(one: Found) -> list[str]:
    """List packages that a provider requires and that are not installed."""
    # importlib.metadata is slow to import.
    from importlib.metadata import PackageNotFoundError, distribution

    missing = []
    for requirement in one.requirements:
        name = _DISTRIBUTION.match(requirement.strip())
        try:
            distribution(name[0] if name else requirement)
        except (PackageNotFoundError, ValueError):
            missing.append(requirement)
    return missing


def load(name: str, home: Path) -> MemoryProvider:
    """Load a provider by name, without initializing it.

    Raises NotFound for an unknown name, Unavailable if it cannot be loaded, and InvalidInput if it is not a
    provider.
    """
    known = {one.name: one for one in find_providers(home)}
    if name not in known or name == BUILT_IN:
        names = sorted(known.keys() - {BUILT_IN})
        installed = ", ".join(names) or "none"
        raise NotFound(f"There is no provider {name!r}.{suggest(name, names)} Installed: {installed}.")
    one = known[name]
    try:
        made = _load_entry_point(name) if one.folder is None else _load_folder(one.folder)
    except Exception as exc:
        missing = find_missing(one)
        advice = f". Install {', '.join(missing)}." if missing else ""
        raise Unavailable(
            f"The provider {name!r} cannot be loaded from {one.where}: {type(exc).__name__}: {exc}{advice}."
        ) from exc
    return check_provider(made, f"the object that {name!r} makes")


def check_provider(provider: Any, what: str) -> MemoryProvider:
    """Return an object with the required methods, or raise InvalidInput."""
    missing = [each for each in _REQUIRED if not callable(getattr(provider, each, None))]
    if isinstance(provider, type) or missing:
        kind = provider.__name__ if isinstance(provider, type) else type(provider).__name__
        why = f"it has no {', '.join(missing)}" if missing else "it is a class; make an instance"
        raise InvalidInput(f"{what} ({kind}) is not a provider: {why}")
    return cast(MemoryProvider, provider)


# --- sources --------------------------------------------------------------------------------------


def _find_entry_points() -> Iterator[Found]:
    for entry in _entry_points():
        if entry.name == BUILT_IN:
            continue
        about = entry.dist.metadata.json if entry.dist is not None else {}
        version, summary = (str(about.get(key) or "") for key in ("version", "summary"))
        yield Found(entry.name, f"package {about.get('name') or entry.value}", version, summary)


def _find_folders(folder: Path) -> Iterator[Found]:
    try:
        inside = sorted(path for path in folder.iterdir() if path.is_dir())
    except OSError:
        return
    for path in inside:
        if path.name.startswith((".", "_")) or not (path / MANIFEST).exists():
            continue
        try:
            about = _read_manifest(path)
            problem = "" if (path / "__init__.py").is_file() else f"{path} has no __init__.py"
        except InvalidInput as exc:
            about, problem = {}, str(exc)
        yield Found(**{**about, "name": path.name}, where=str(path), problem=problem, folder=path)


def _entry_points() -> Iterable[EntryPoint]:
    # importlib.metadata is slow to import.
    from importlib.metadata import entry_points

    return entry_points(group=GROUP)


# --- loading -------------------------------------------------------------------------------------


def _load_entry_point(name: str) -> Any:
    entry = next(entry for entry in _entry_points() if entry.name == name)
    made = entry.load()
    return made() if callable(made) else made


def _load_folder(folder: Path) -> Any:
    module = _import_folder(folder)
    register = getattr(module, "register", None)
    if callable(register):
        registration = _Registration()
        register(registration)
        if registration.provider is not None:
            return registration.provider
    kinds = [kind for kind in vars(module).values() if _is_provider_class(kind, module)]
    if len(kinds) != 1:
        raise InvalidInput(
            f"{folder / '__init__.py'} has {len(kinds)} provider classes and registers none. Write "
            "register(context) and call context.register_memory_provider(provider) in it."
        )
    return kinds[0]()


def _import_folder(folder: Path) -> ModuleType:
    """Import a folder as a package, once per process."""
    # Two homes may have plug-ins with the same name.
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


def _is_provider_class(kind: Any, module: ModuleType) -> bool:
    """True for a module's concrete class that derives from any MemoryProvider."""
    return (
        isinstance(kind, type)
        and kind.__module__ == module.__name__
        and any(base.__name__ == MemoryProvider.__name__ for base in kind.__mro__[1:])
        and not getattr(kind, "__abstractmethods__", None)
    )


class _Registration:
    """The context that a plug-in registers with. Other calls of hosts do nothing."""

    def __init__(self) -> None:
        self.provider: Any = None

    def register_memory_provider(self, provider: Any) -> None:
        self.provider = provider

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda *_, **__: None


# --- manifests ------------------------------------------------------------------------------------


def _read_manifest(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    try:
        data = path.read_bytes()
    except OSError as exc:
        raise InvalidInput(f"{path} cannot be read: {exc.strerror}.") from exc
    if len(data) > _LARGEST_MANIFEST:
        raise InvalidInput(f"{path} has {len(data):,} bytes. The limit is {_LARGEST_MANIFEST:,}.")
    try:
        return parse_manifest(data.decode("utf-8-sig"))
    except UnicodeDecodeError as exc:
        raise InvalidInput(f"{path} is not UTF-8 text: {exc.reason} at byte {exc.start}") from exc


def parse_manifest(text: str) -> dict[str, Any]:
    """Return name, version, description and requirements of a ``plugin.yaml``.

    Only plain keys, strings and lists of strings are read; anything else is skipped.
    A YAML library would be a dependency for everybody just for these.
    """
    keys: dict[str, str | list[str]] = {}
    current = ""
    for line in text.splitlines():
        if item := _ITEM.match(line):
            entries = keys.get(current)
            if isinstance(entries, list) and (one := _unquote(item[1])):
                entries.append(one)
        elif found := _KEY.match(line):
            current = found[1]
            value = _strip_comment(found[2] or "").strip()
            keys[current] = _split_list(value) if not value or value.startswith("[") else _unquote(value)
    texts = {name: plain for name in _TEXTS if isinstance(plain := keys.get(name), str)}
    lists = [some for name in _REQUIREMENTS if isinstance(some := keys.get(name), list)]
    return {**texts, "requirements": tuple(chain.from_iterable(lists))}


def _split_list(value: str) -> list[str]:
    inside = value.strip("[]")
    return [one for part in inside.split(",") if (one := _unquote(part))]


def _unquote(value: str) -> str:
    """Return a string without its quotes or a comment after it."""
    value = value.strip()
    if value[:1] in ("'", '"'):
        return value[1:].partition(value[0])[0]
    return _strip_comment(value).strip()


def _strip_comment(value: str) -> str:
    return value if value[:1] in ("'", '"') else value.partition(" #")[0]
