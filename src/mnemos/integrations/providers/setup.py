"""Setup of a provider: its fields, its secrets, and selecting it.

Secrets go to ``<home>/.env``, readable by the owner only; the provider finds them in its environment. It
stores all other values itself. ``<home>/config.toml`` names the selected provider.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import tomlkit

from mnemos import config_file, files
from mnemos.errors import InvalidInput, Unavailable
from mnemos.inputs import suggest
from mnemos.integrations.providers import discovery
from mnemos.integrations.providers.contract import MemoryProvider

SECRETS: Final = ".env"
_LOCK: Final = ".setup.lock"
_SECONDS: Final = 30.0
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LINE: Final = re.compile(r"[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*(.*?)[ \t]*$")
# Characters with a special meaning to a terminal or a shell.
_UNWRITABLE: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Field:
    """A value that a person fills in for a provider."""

    key: str
    description: str = ""
    secret: bool = False
    required: bool = False
    default: Any = None
    choices: tuple[str, ...] = ()
    url: str = ""
    env_var: str = ""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A provider with its fields, not initialized. Its secrets are in the environment."""

    provider: MemoryProvider
    fields: tuple[Field, ...]


def load_provider(name: str, home: Path) -> Loaded:
    """Load a provider by name. Raises NotFound, Unavailable or InvalidInput."""
    provider = discovery.load(name, home)
    ask = getattr(provider, "get_config_schema", list)
    try:
        schema: Any = ask()
    except Exception as exc:
        raise Unavailable(f"The provider {name!r} failed to list its settings: {exc}") from exc
    fields = tuple(parse_fields(schema, name))
    lend_secrets(home, fields)
    return Loaded(provider, fields)


def parse_fields(schema: Any, provider: str) -> list[Field]:
    """Parse a provider's ``get_config_schema``. Raises InvalidInput."""
    if not isinstance(schema, list | tuple):
        raise InvalidInput(f"The fields of {provider!r} must be a list, not {type(schema).__name__}.")
    return [_parse_field(one, provider) for one in schema]


def parse_values(text: str, fields: Sequence[Field]) -> dict[str, str]:
    """Parse ``KEY=VALUE`` lines. An unknown key or an invalid value raises InvalidInput."""
    known = {field.key: field for field in fields}
    values: dict[str, str] = {}
    for line in text.splitlines():
        if not line.strip():
            continue
        key, equals, value = line.partition("=")
        key = key.strip()
        if not equals:
            raise InvalidInput("A line has no =. Write KEY=VALUE, one per line.")
        if key not in known:
            fields_of = ", ".join(known) or "none"
            raise InvalidInput(f"There is no field {key!r}.{suggest(key, known)} Fields: {fields_of}.")
        values[key] = _check_value(known[key], value.strip())
    return values


def find_unset(fields: Sequence[Field], values: Mapping[str, str]) -> list[Field]:
    """List required fields without a value, a default or an environment variable."""
    return [
        field
        for field in fields
        if field.required and not values.get(field.key) and field.default in (None, "") and not is_set(field)
    ]


def is_set(field: Field) -> bool:
    """True if the environment variable of a field is set."""
    return bool(field.env_var and os.environ.get(field.env_var))


# --- secrets -------------------------------------------------------------------------------------


def read_secrets(home: Path) -> dict[str, str]:
    """Return the variables in ``<home>/.env``; empty if there is no such file."""
    found: dict[str, str] = {}
    for line in (files.read(home / SECRETS) or "").splitlines():
        match = _LINE.match(line)
        if match and not line.lstrip().startswith("#"):
            found[match[1]] = _unquote(match[2])
    return found


def keep_secrets(home: Path, secrets: Mapping[str, str]) -> Path:
    """Write variables to ``<home>/.env`` (mode 0600) and the environment.

    Other lines of the file are not changed.
    """
    path = home / SECRETS
    with files.lock(home, _LOCK, _SECONDS):
        kept = [line for line in (files.read(path) or "").splitlines() if not _sets(line, secrets)]
        lines = [*kept, *(f"{name}={_quote(value)}" for name, value in secrets.items())]
        files.replace(path, ("\n".join(lines) + "\n").encode(), alone=True)
    os.environ.update(secrets)
    return path


def lend_secrets(home: Path, fields: Sequence[Field]) -> None:
    """Copy a provider's secrets into the environment, unless they are set."""
    wanted = [field.env_var for field in fields if field.env_var and not is_set(field)]
    kept = read_secrets(home) if wanted else {}
    os.environ.update({name: kept[name] for name in wanted if kept.get(name)})


# --- the provider that is used --------------------------------------------------------------------


def use(home: Path, provider: str) -> Path:
    """Select a provider in ``config.toml``; empty for the built-in one alone.

    Returns the path. Everything else in the file is kept. A file that cannot be parsed raises InvalidInput.
    """

    def change(config: dict[str, Any]) -> None:
        if provider or "provider" in config or "provider" in config.get("memory", {}):
            config.pop("provider", None)
            config.setdefault("memory", tomlkit.table())["provider"] = provider

    return config_file.edit(home, change)


# --- fields and lines -----------------------------------------------------------------------------


def _parse_field(given: Any, provider: str) -> Field:
    key = given.get("key") if isinstance(given, Mapping) else None
    if not isinstance(key, str) or not key.strip() or "=" in key or _UNWRITABLE.search(key):
        raise InvalidInput(f"A field of {provider!r} has no valid key: {str(given)[:80]!r}.")
    secret = bool(given.get("secret"))
    made = re.sub(r"[^A-Za-z0-9]+", "_", f"{provider}_{key}").upper() if secret else ""
    env_var = str(given.get("env_var") or made)
    if env_var and not _VARIABLE.fullmatch(env_var):
        raise InvalidInput(
            f"{env_var!r}, in the field {key!r} of {provider!r}, is not a valid variable name."
        )
    choices = given.get("choices") or ()
    return Field(
        key=key,
        description=" ".join(str(given.get("description") or "").split()),
        secret=secret,
        required=bool(given.get("required")),
        default=given.get("default"),
        choices=tuple(map(str, choices)) if isinstance(choices, list | tuple) else (),
        url=str(given.get("url") or ""),
        env_var=env_var,
    )


def _check_value(field: Field, value: str) -> str:
    if field.required and not value:
        # A script with an empty variable should not delete an existing value.
        raise InvalidInput(f"{field.key} is empty. Write its value after the =, or omit the line.")
    if _UNWRITABLE.search(value):
        raise InvalidInput(f"The value of {field.key} has control characters. Remove them.")
    if field.choices and value not in field.choices:
        meant = suggest(value, field.choices)
        raise InvalidInput(f"{field.key} must be one of {', '.join(field.choices)}, not {value!r}.{meant}")
    return value


def _sets(line: str, names: Mapping[str, str]) -> bool:
    match = _LINE.match(line)
    return match is not None and match[1] in names


def _quote(value: str) -> str:
    # Shells and parsers of such files take everything in single quotes literally.
    if "'" not in value:
        return f"'{value}'"
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$").replace("`", "\\`")
    return f'"{escaped}"'


def _unquote(value: str) -> str:
    if len(value) >= 2 and value[0] == value[-1] == "'":
        return value[1:-1]
    if len(value) >= 2 and value[0] == value[-1] == '"':
        return re.sub(r"\\(.)", r"\1", value[1:-1])
    return value.partition(" #")[0].rstrip()
