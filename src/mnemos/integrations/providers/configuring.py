"""Setting a provider up: which fields it has, where its secrets are, and which one is used.

Secrets go to ``<home>/.env``, readable by their owner only; the provider finds them in its environment. All
else is its own to keep. Which provider is used stands in ``<home>/config.toml``.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from mnemos import files
from mnemos.errors import InvalidInput, Unavailable
from mnemos.integrations.providers import discovery
from mnemos.integrations.providers.contract import MemoryProvider

SECRETS: Final = ".env"
CONFIG: Final = "config.toml"
_LOCK: Final = ".setup.lock"
_SECONDS: Final = 30.0
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LINE: Final = re.compile(r"[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*(.*?)[ \t]*$")
_TABLE: Final = re.compile(r"[ \t]*\[memory\][ \t]*(?:#.*)?$")
_ANY_TABLE: Final = re.compile(r"[ \t]*\[")
_PROVIDER: Final = re.compile(r"[ \t]*provider[ \t]*=")
# What a terminal or a shell would take for something else.
_UNWRITABLE: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Field:
    """Something that a person fills in for a provider."""

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
    """A provider, not initialized, with the fields that it has and its secrets within its reach."""

    provider: MemoryProvider
    fields: tuple[Field, ...]


def loaded(name: str, home: Path) -> Loaded:
    """A provider by its name; NotFound, Unavailable or InvalidInput say why there is none."""
    provider = discovery.load(name, home)
    ask = getattr(provider, "get_config_schema", list)
    try:
        schema: Any = ask()
    except Exception as exc:
        raise Unavailable(f"the provider {name!r} does not say what it needs: {exc}") from exc
    fields = tuple(fields_of(schema, name))
    lend_secrets(home, fields)
    return Loaded(provider, fields)


def fields_of(schema: Any, provider: str) -> list[Field]:
    """A provider's ``get_config_schema``, understood; what makes no sense raises InvalidInput."""
    if not isinstance(schema, list | tuple):
        raise InvalidInput(f"the fields of {provider!r} are a {type(schema).__name__}, not a list")
    return [_field(one, provider) for one in schema]


def values_of(text: str, fields: Sequence[Field]) -> dict[str, str]:
    """``KEY=VALUE`` lines as values of fields; an unknown key, or a value that is no choice, is refused."""
    known = {field.key: field for field in fields}
    values: dict[str, str] = {}
    for line in text.splitlines():
        if not line.strip():
            continue
        key, equals, value = line.partition("=")
        key = key.strip()
        if not equals:
            raise InvalidInput("a line has no =; write KEY=VALUE, one a line")
        if key not in known:
            raise InvalidInput(f"there is no field {key!r}; known are {', '.join(known) or 'none'}")
        values[key] = _checked(known[key], value.strip())
    return values


def lacking(fields: Sequence[Field], values: Mapping[str, str]) -> list[Field]:
    """Required fields that have neither a value, a default, nor a variable that is set."""
    return [
        field
        for field in fields
        if field.required and not values.get(field.key) and field.default in (None, "") and not is_set(field)
    ]


def is_set(field: Field) -> bool:
    """Whether the variable of a field is set."""
    return bool(field.env_var and os.environ.get(field.env_var))


# --- secrets -------------------------------------------------------------------------------------


def read_secrets(home: Path) -> dict[str, str]:
    """The variables of ``<home>/.env``; none where there is no such file."""
    found: dict[str, str] = {}
    for line in (files.read(home / SECRETS) or "").splitlines():
        match = _LINE.match(line)
        if match and not line.lstrip().startswith("#"):
            found[match[1]] = _unquoted(match[2])
    return found


def keep_secrets(home: Path, secrets: Mapping[str, str]) -> Path:
    """Put variables into ``<home>/.env``, mode 0600, and into the environment of this process; where it is.

    Other lines of the file stay as they are.
    """
    path = home / SECRETS
    with files.locked(home, _LOCK, _SECONDS):
        kept = [line for line in (files.read(path) or "").splitlines() if not _sets(line, secrets)]
        lines = [*kept, *(f"{name}={_quoted(value)}" for name, value in secrets.items())]
        files.replace(path, ("\n".join(lines) + "\n").encode(), alone=True)
    os.environ.update(secrets)
    return path


def lend_secrets(home: Path, fields: Sequence[Field]) -> None:
    """Let a provider find its secrets in the environment: those that it declares and nobody set."""
    wanted = [field.env_var for field in fields if field.env_var and not is_set(field)]
    kept = read_secrets(home) if wanted else {}
    os.environ.update({name: kept[name] for name in wanted if kept.get(name)})


# --- which one is used ---------------------------------------------------------------------------


def use(home: Path, provider: str) -> Path:
    """Let ``config.toml`` name the provider, empty for none besides the built-in; where that is.

    Only that one line is changed. A file that says it in some way that is not understood is left alone, and
    InvalidInput says what to write into it.
    """
    path = home / CONFIG
    with files.locked(home, _LOCK, _SECONDS):
        before = files.read(path) or ""
        after = _with_provider(before, provider)
        if not _says(after, before, provider):
            raise InvalidInput(
                f'{path} was left as it is; write provider = "{provider}" under [memory] in it'
            )
        if after != before:
            files.replace(path, after.encode(), alone=True)
    return path


def _with_provider(text: str, provider: str) -> str:
    line = f'provider = "{provider}"'
    lines = text.splitlines()
    table = next((number for number, one in enumerate(lines) if _TABLE.match(one)), None)
    if table is None:
        head = [*lines, ""] if lines and lines[-1].strip() else lines
        return "\n".join([*head, "[memory]", line]) + "\n" if provider else text
    for number in range(table + 1, len(lines)):
        if _ANY_TABLE.match(lines[number]):
            break
        if _PROVIDER.match(lines[number]):
            lines[number] = line
            return "\n".join(lines) + "\n"
    lines.insert(table + 1, line)
    return "\n".join(lines) + "\n"


def _says(after: str, before: str, provider: str) -> bool:
    """Whether the text names the provider and says nothing else than before."""
    try:
        now, then = tomllib.loads(after), tomllib.loads(before)
    except tomllib.TOMLDecodeError:
        return False
    named = [*_pop_provider(now), ""][0]
    _pop_provider(then)
    return named == provider and now == then


def _pop_provider(config: dict[str, Any]) -> list[Any]:
    table = config.get("memory", {})
    if not isinstance(table, dict):
        return []
    found = [table.pop("provider")] if "provider" in table else []
    if not table:
        config.pop("memory", None)
    return found or ([config.pop("provider")] if "provider" in config else [])


# --- inside --------------------------------------------------------------------------------------


def _field(given: Any, provider: str) -> Field:
    key = given.get("key") if isinstance(given, Mapping) else None
    if not isinstance(key, str) or not key.strip() or "=" in key or _UNWRITABLE.search(key):
        raise InvalidInput(f"{provider!r} has a field without a usable key: {str(given)[:80]!r}")
    secret = bool(given.get("secret"))
    made = re.sub(r"[^A-Za-z0-9]+", "_", f"{provider}_{key}").upper() if secret else ""
    env_var = str(given.get("env_var") or made)
    if env_var and not _VARIABLE.fullmatch(env_var):
        raise InvalidInput(
            f"the field {key!r} of {provider!r} names the variable {env_var!r}, which is no name"
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


def _checked(field: Field, value: str) -> str:
    if field.required and not value:
        # A variable that a script left empty is no wish to lose what was set before.
        raise InvalidInput(f"{field.key} is empty; write its value after the =, or leave the line out")
    if _UNWRITABLE.search(value):
        raise InvalidInput(f"the value of {field.key} has control characters; leave them out")
    if field.choices and value not in field.choices:
        raise InvalidInput(f"{field.key} is {value!r}; use {', '.join(field.choices)}")
    return value


def _sets(line: str, names: Mapping[str, str]) -> bool:
    match = _LINE.match(line)
    return match is not None and match[1] in names


def _quoted(value: str) -> str:
    # Between single quotes nothing means anything else, to shells and to the readers of such files.
    if "'" not in value:
        return f"'{value}'"
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$").replace("`", "\\`")
    return f'"{escaped}"'


def _unquoted(value: str) -> str:
    if len(value) >= 2 and value[0] == value[-1] == "'":
        return value[1:-1]
    if len(value) >= 2 and value[0] == value[-1] == '"':
        return re.sub(r"\\(.)", r"\1", value[1:-1])
    return value.partition(" #")[0].rstrip()
