"""The settings of a home as a person sees them, and edits to its config.toml."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

import tomlkit
import tomlkit.exceptions

from mnemos import files
from mnemos.errors import InvalidInput
from mnemos.inputs import hide_password
from mnemos.settings import KEYS, TABLES, Settings, find_variables, flatten, read_config, unknown_setting

FILE = "config.toml"
_SWITCHES: Final = dict.fromkeys(("true", "on", "yes", "1"), True) | dict.fromkeys(
    ("false", "off", "no", "0"), False
)
_LOCK = ".setup.lock"
_SECONDS = 30.0
_DEFAULTS = {
    **{field.name: field.default for field in fields(Settings) if field.name not in ("home", *TABLES)},
    **{f"{table}.{name}": "" for table, names in TABLES.items() for name in names},
}


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting with its value as text, and where the value comes from."""

    name: str
    value: str
    origin: str
    """``default``, ``config.toml``, or the name of an environment variable or an option."""


def list_settings(
    home: str | None = None, *, space: str | None = None, env: Mapping[str, str] | None = None
) -> list[Setting]:
    """Return all settings except the home. A wrong value raises InvalidInput."""
    env = os.environ if env is None else env
    settings = Settings.load(home, space=space, env=env)
    found = flatten(read_config(settings.home))
    written = {name for name in found if name not in TABLES}
    written |= {f"{table}.{name}" for table in TABLES for name in found.get(table, {})}
    origins = dict.fromkeys(written, FILE) | find_variables(env) | ({"space": "--space"} if space else {})
    values = {name: hide_password(_render(_find_value(settings, found, name))) for name in _DEFAULTS}
    return [Setting(name, value, origins.get(name, "default")) for name, value in values.items()]


def get_setting(name: str, home: str | None = None, *, space: str | None = None) -> Setting:
    """Return one setting; an unknown name raises InvalidInput with the nearest one."""
    check_name(name)
    return next(one for one in list_settings(home, space=space) if one.name == name)


def check_name(name: str) -> None:
    if name not in _DEFAULTS:
        raise unknown_setting(name, _DEFAULTS)


def set_value(home: Path, name: str, text: str) -> None:
    """Set a value in config.toml. Raises InvalidInput if it or the name is wrong."""
    check_name(name)
    table, _, key = name.rpartition(".")
    value = _parse(name, text)
    Settings.check(home, {table: {key: value}} if table else {key: value}, {})

    def change(config: dict[str, Any]) -> None:
        _find_table(config, name, table)[key] = value

    edit(home, change)


def unset_value(home: Path, name: str) -> bool:
    """Restore the default of a setting. False if config.toml does not set it."""
    check_name(name)
    table, _, key = name.rpartition(".")
    removed: list[Any] = []

    def change(config: dict[str, Any]) -> None:
        for one in (config.get(table),) if table else (config, config.get("memory")):
            if isinstance(one, dict) and key in one:
                removed.append(one.pop(key))

    edit(home, change)
    return bool(removed)


def edit(home: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """Edit config.toml, keeping comments and everything else, and return its path.

    A file that cannot be parsed raises InvalidInput.
    """
    path = home / FILE
    with files.lock(home, _LOCK, _SECONDS):
        before = files.read(path) or ""
        try:
            config = tomlkit.parse(before)
            change(config)
            after = tomlkit.dumps(config)
        except (tomlkit.exceptions.TOMLKitError, TypeError) as exc:
            raise InvalidInput(f"{path} cannot be changed: {exc}. Edit the file yourself.") from exc
        if after != before:
            files.replace(path, after.encode(), alone=True)
    return path


def _find_table(config: dict[str, Any], name: str, table: str) -> dict[str, Any]:
    """Return the table of a setting. Hosts look for some in ``[memory]``."""
    if table:
        found: dict[str, Any] = config.setdefault(table, tomlkit.table())
        return found
    memory = config.get("memory", {})
    return memory if name in memory else config


def _find_value(settings: Settings, found: Mapping[str, Any], name: str) -> Any:
    table, _, key = name.rpartition(".")
    if key == "api_key_env":
        return found.get(table, {}).get(key, KEYS[table])
    return getattr(getattr(settings, table) if table else settings, key)


def _parse(name: str, text: str) -> Any:
    """Convert a typed text to the value that config.toml would have."""
    if not text.isprintable():
        raise InvalidInput(f"{name} must be printable text, not {text[:80]!r}.")
    if name.endswith(".base_url") and text and not text.startswith(("http://", "https://")):
        raise InvalidInput(f"{name} must start with http:// or https://, not {text[:80]!r}.")
    default = 1.0 if name.endswith(".timeout") else _DEFAULTS[name]
    if isinstance(default, bool):
        return _SWITCHES.get(text.strip().lower(), text)
    if isinstance(default, (int, float)):
        try:
            return int(text) if text.strip().lstrip("-").isdecimal() else float(text)
        except ValueError:
            return text
    if isinstance(default, tuple) and name != "notebook_files":
        return [one.strip() for one in text.split(",") if one.strip()]
    return text


def _render(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ", ".join(value) if isinstance(value, tuple) else str(value)
