"""What a person or a host may set, read here and nowhere else.

A flag (an argument of ``mnemos.open``) wins over the environment, which wins over
``<home>/config.toml``, which wins over the default.
"""

from __future__ import annotations

import getpass
import os
import re
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from mnemos.errors import InvalidInput, PermissionDenied

_SPACE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]*(/[A-Za-z0-9][A-Za-z0-9._@-]*)*")
_BACKEND = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_PROVIDER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_PROMPT_PARTS = ("notebook", "facts", "tables")
_OF_MEMORY = ("provider", "prompt_parts", "prefetch_tokens", "prefetch_seconds")
# Fewer tokens hold no fact worth printing.
_FEWEST_TOKENS = 50
_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off", ""})


# Which variables name an endpoint and its key.
_ENDPOINTS = {
    "llm": {
        "base_url": "MNEMOS_LLM_BASE_URL",
        "model": "MNEMOS_LLM_MODEL",
        "api_key": "MNEMOS_LLM_API_KEY",
    },
    "embedding": {
        "base_url": "MNEMOS_EMBEDDING_BASE_URL",
        "api_key": "MNEMOS_EMBEDDING_API_KEY",
    },
}


class Durability(StrEnum):
    NORMAL = "normal"
    """An acknowledged write survives a killed process."""
    FULL = "full"
    """An acknowledged write survives a power cut."""


@dataclass(frozen=True, slots=True)
class Model:
    """An OpenAI-compatible endpoint. Without a base URL no model is used."""

    base_url: str = ""
    model: str = ""
    api_key: str = ""
    timeout: float = 60.0

    @property
    def is_configured(self) -> bool:
        return bool(self.base_url and self.model)


@dataclass(frozen=True, slots=True)
class Honcho:
    """A Honcho server that keeps what is known about users."""

    base_url: str = "https://api.honcho.dev"
    app_id: str = "hermes-agent"
    """The workspace there."""
    api_key: str = ""
    timeout: float = 10.0
    """How long a call may take, its repetitions included."""


@dataclass(frozen=True, slots=True)
class Settings:
    home: Path
    space: str = "default"
    source: str = "cli"
    """Where conversations come from when the host does not say."""
    actor: str = "unknown"
    """Who stands in the audit log."""
    durability: Durability = Durability.NORMAL
    redact: bool = True
    disabled: bool = False
    """Batch and training runs: every write is a no-op that says so."""
    busy_seconds: float = 30.0
    """How long a write waits for other processes before it fails with ``busy``."""
    max_message_bytes: int = 16 * 1024 * 1024
    max_fact_characters: int = 400
    """The longest content of a fact; a longer one is refused."""
    hot_tokens: int = 150
    """What the facts in every prompt may take; what stands around them takes up to 30 more."""
    notebook_files: tuple[str, ...] = ("memory", "user")
    """Which files of the notebook are used. ``MNEMOS_NOTEBOOK``: ``on``, ``off``, ``memory``, ``user``."""
    memory_characters: int = 2200
    """The limit of MEMORY.md."""
    user_characters: int = 1375
    """The limit of USER.md."""
    hermes_memory_db: str = "~/.hermes/memory.db"
    """Where an import looks for the database of hermes-memory."""
    claude_dir: str = "~/.claude"
    """Where Claude Code keeps its transcripts, below ``projects``."""
    codex_dir: str = "~/.codex"
    """Where Codex keeps its rollouts, below ``sessions``."""
    audit_days: int = 30
    """How long a deleted session can be brought back with undo."""
    llm: Model = Model()
    code_tools: tuple[str, ...] = ()
    """Tools that run something, besides those that are known: what kind of work a session was."""
    file_tools: tuple[str, ...] = ()
    """Tools that read and write files, likewise."""
    research_tools: tuple[str, ...] = ()
    """Tools that search and read elsewhere, likewise."""
    template_tokens: int = 4000
    """What a template may add to a conversation."""
    embedder: str = "static"
    """What makes vectors: ``static``, ``none``, ``onnx:MODEL``, ``endpoint:MODEL`` or a plug-in."""
    embedding: Model = Model()
    """The endpoint of the embedder, where it is one."""
    provider: str = ""
    """The external provider of memory beside the built-in one; in config.toml under ``[memory]``."""
    prompt_parts: str = "notebook,facts,tables"
    """What the built-in provider puts into the system prompt."""
    prompt_schema_tokens: int = 600
    """What the tables of the workspace may take of the system prompt."""
    database_bytes: int = 50_000_000
    """How large a database of the workspace may become."""
    query_seconds: float = 30.0
    """How long a call of the workspace may take when it does not say."""
    files: str = ""
    """The folder where an agent's imports and exports may be; empty: ``<home>/files/<space>``."""
    prefetch_tokens: int = 800
    """What is recalled for a message may take so much of its prompt."""
    prefetch_seconds: float = 8.0
    """How long a turn waits for an external provider."""
    hook_start_tokens: int = 1500
    """What the hooks of Claude Code put at the beginning of a session may take."""
    hook_prompt_tokens: int = 400
    """What they add to a prompt may take."""
    backend: str = ""
    """What keeps entries: ``null``, ``local``, ``honcho`` or a plug-in; empty: as it comes."""
    honcho: Honcho = Honcho()

    @classmethod
    def load(
        cls, home: str | Path | None = None, *, env: Mapping[str, str] | None = None, **flags: Any
    ) -> Settings:
        """Read flags, environment and config.toml; a wrong value raises InvalidInput naming it."""
        env = os.environ if env is None else env
        folder = home_folder(home, env)
        found: dict[str, Any] = {"actor": env.get("USER") or _login_name()}
        found |= _flat(_from_file(folder / "config.toml"))
        found |= _from_environment(env)
        found |= {name: value for name, value in flags.items() if value is not None}
        llm, embedding = found.pop("llm", {}), found.pop("embedding", {})
        honcho = found.pop("honcho", {})
        settings = cls(home=folder, **_checked(found))
        if not isinstance(llm, Model):
            llm = _endpoint("llm", ("base_url", "model"), llm, env)
        if not isinstance(embedding, Model):
            embedding = _endpoint("embedding", ("base_url",), embedding, env)
        if not isinstance(honcho, Honcho):
            honcho = _honcho(honcho, env)
        return replace(settings, llm=llm, embedding=embedding, honcho=honcho)


def home_folder(home: str | Path | None = None, env: Mapping[str, str] | None = None) -> Path:
    """Where the home is, whether it is there or not; a name that no folder can have raises InvalidInput."""
    env = os.environ if env is None else env
    return _folder(home or env.get("MNEMOS_HOME") or "~/.mnemos")


def _folder(name: str | Path) -> Path:
    try:
        folder = Path(name).expanduser().absolute()
        str(folder).encode()
        folder.lstat()
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return folder
    except (ValueError, TypeError, RuntimeError, OSError) as exc:
        raise InvalidInput(f"{str(name)[:200]!r} is no name for a folder: {exc}") from exc
    if not folder.is_dir():
        raise InvalidInput(f"{folder} is a file; the home must be a folder")
    return folder


def check_space(space: str) -> str:
    """The space itself, when it is a name: parts of letters, digits and ``. _ @ -``, joined by ``/``."""
    if not isinstance(space, str) or len(space) > 200 or not _SPACE.fullmatch(space):
        raise InvalidInput(
            f"{space!r} is not a space: use letters, digits and . _ @ - in parts joined by /, "
            "such as team-a/alice"
        )
    return space


def _from_file(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            return tomllib.load(file)
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as exc:
        raise InvalidInput(f"{path} cannot be read as TOML: {exc}") from exc
    except PermissionError as exc:
        raise PermissionDenied(f"{path} cannot be read: is this somebody else's home?") from exc
    except OSError as exc:
        raise InvalidInput(f"{path} cannot be read: {exc.strerror}") from exc


def _flat(found: dict[str, Any]) -> dict[str, Any]:
    """Settings with those of the table ``[memory]``, where hosts look for them, among the others."""
    table = found.pop("memory", {})
    if not isinstance(table, Mapping):
        raise InvalidInput("[memory] in config.toml must be a table, such as one with provider")
    for name in table:
        if name not in _OF_MEMORY:
            raise InvalidInput(f"[memory] has no setting {name!r}; known are {', '.join(_OF_MEMORY)}")
    return found | dict(table)


def _from_environment(env: Mapping[str, str]) -> dict[str, Any]:
    names = {
        "space": ("MNEMOS_SPACE",),
        "source": ("MNEMOS_SOURCE", "HERMES_SESSION_SOURCE"),
        "actor": ("MNEMOS_ACTOR",),
        "durability": ("MNEMOS_DURABILITY",),
        "redact": ("MNEMOS_REDACT",),
        "disabled": ("MNEMOS_DISABLED",),
        "embedder": ("MNEMOS_EMBEDDER",),
        "hermes_memory_db": ("HERMES_MEMORY_DB",),
        "claude_dir": ("CLAUDE_CONFIG_DIR",),
        "codex_dir": ("CODEX_HOME",),
        "notebook_files": ("MNEMOS_NOTEBOOK",),
        "provider": ("MNEMOS_PROVIDER",),
        "files": ("MNEMOS_FILES",),
        "backend": ("MNEMOS_BACKEND", "HERMES_MEMORY_BACKEND"),
    }
    found: dict[str, Any] = {}
    for setting, variables in names.items():
        for variable in variables:
            if env.get(variable):
                found[setting] = env[variable]
                break
    return found


def _checked(found: dict[str, Any]) -> dict[str, Any]:
    known = {field.name for field in fields(Settings)} - {"home"}
    checked: dict[str, Any] = {}
    for name, value in found.items():
        if name not in known:
            raise InvalidInput(f"there is no setting {name!r}; known are {', '.join(sorted(known))}")
        checked[name] = _READ[name](name, value)
    return checked


def _endpoint(name: str, known: Sequence[str], found: Mapping[str, Any], env: Mapping[str, str]) -> Model:
    """A table of config.toml that names an endpoint; the environment wins, and only it has the key."""
    if not isinstance(found, Mapping):
        raise InvalidInput(f"[{name}] in config.toml must be a table with {' and '.join(known)}")
    known = (*known, "api_key_env", "timeout")
    unknown = set(found) - set(known)
    if unknown:
        raise InvalidInput(
            f"[{name}] has no setting {sorted(unknown)[0]!r}; known are {', '.join(known)} "
            "(the key itself belongs into the environment)"
        )
    variables = _ENDPOINTS[name]
    return Model(
        base_url=env.get(variables["base_url"]) or str(found.get("base_url", "")),
        model=env.get(variables.get("model", "")) or str(found.get("model", "")),
        api_key=env.get(str(found.get("api_key_env", variables["api_key"])), ""),
        timeout=_positive(f"{name}.timeout", found.get("timeout", 60.0)),
    )


def _honcho(found: Any, env: Mapping[str, str]) -> Honcho:
    """The table ``[honcho]`` of config.toml; the environment wins, and only it has the key."""
    known = ("base_url", "app_id", "timeout")
    if not isinstance(found, Mapping) or set(found) - set(known):
        raise InvalidInput(
            f"[honcho] in config.toml must be a table with {', '.join(known)} "
            "(the key itself belongs into the environment)"
        )
    usual = Honcho()
    return Honcho(
        base_url=env.get("HONCHO_BASE_URL") or str(found.get("base_url", usual.base_url)),
        app_id=env.get("HONCHO_APP_ID") or str(found.get("app_id", usual.app_id)),
        api_key=env.get("HONCHO_API_KEY", ""),
        timeout=_positive("honcho.timeout", found.get("timeout", usual.timeout)),
    )


def _truth(name: str, value: Any) -> bool:
    text = str(value).strip().lower()
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    raise InvalidInput(f"{name} is {value!r}; use true or false")


def _positive(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = -1.0
    if not 0 < number < 1e12:
        raise InvalidInput(f"{name} is {value!r}; use a number above zero")
    return number


def _whole(name: str, value: Any) -> int:
    number = _positive(name, value)
    if number != int(number):
        raise InvalidInput(f"{name} is {value!r}; use a whole number above zero")
    return int(number)


def _tokens(name: str, value: Any) -> int:
    number = _whole(name, value)
    if number < _FEWEST_TOKENS:
        raise InvalidInput(f"{name} is {value!r}; use at least {_FEWEST_TOKENS}")
    return number


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(f"{name} is {value!r}; use a text that is not empty")
    return value


def _files(name: str, value: Any) -> tuple[str, ...]:
    """Files of the notebook, named one by one, or all or none of them by a word."""
    every = ("memory", "user")
    if isinstance(value, str):
        word = value.strip().lower()
        value = every if word in _TRUE else () if word in _FALSE else word.split(",")
    wanted = [str(one).strip() for one in value] if isinstance(value, Sequence) else [repr(value)]
    if not set(wanted) <= set(every):
        raise InvalidInput(f"{name} is {value!r}; use on, off, memory or user")
    return tuple(one for one in every if one in wanted)


def _names(name: str, value: Any) -> tuple[str, ...]:
    """Names in a list, or in one text with commas."""
    several = value.split(",") if isinstance(value, str) else value
    if not isinstance(several, (list, tuple)) or not all(isinstance(one, str) for one in several):
        raise InvalidInput(f"{name} is {value!r}; use a list of names")
    return tuple(one.strip() for one in several if one.strip())


def check_provider(name: str, value: Any) -> str:
    """The name of a provider; empty for none, and for the built-in one, which is always there."""
    known = value.strip() if isinstance(value, str) else None
    if known in ("", "none", "builtin"):
        return ""
    if known is None or not _PROVIDER.fullmatch(known):
        raise InvalidInput(f"{name} is {value!r}; use a name of letters, digits and . _ -")
    return known


def _backend(name: str, value: Any) -> str:
    """The name of a backend, in lower case; empty when the choice is left open."""
    known = value.strip().lower() if isinstance(value, str) else None
    if known is None or (known and not _BACKEND.fullmatch(known)):
        raise InvalidInput(f"{name} is {value!r}; use null, local, honcho or the name of a plug-in")
    return known


def _prompt_parts(name: str, value: Any) -> str:
    """Parts of the system prompt, separated by commas; ``off`` for none of them."""
    text = ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    wanted = {part.strip() for part in text.lower().split(",")} - _FALSE
    if not wanted <= set(_PROMPT_PARTS):
        raise InvalidInput(f"{name} is {value!r}; use off, or some of {', '.join(_PROMPT_PARTS)}")
    return ",".join(part for part in _PROMPT_PARTS if part in wanted)


def _durability(name: str, value: Any) -> Durability:
    try:
        return Durability(value)
    except ValueError:
        raise InvalidInput(f"{name} is {value!r}; use normal or full") from None


def _login_name() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "unknown"


_READ = {
    "space": lambda _name, value: check_space(value),
    "source": _text,
    "actor": _text,
    "durability": _durability,
    "redact": _truth,
    "disabled": _truth,
    "busy_seconds": _positive,
    "max_message_bytes": _whole,
    "audit_days": _whole,
    "max_fact_characters": _whole,
    "hot_tokens": _tokens,
    "hermes_memory_db": _text,
    "claude_dir": _text,
    "codex_dir": _text,
    "notebook_files": _files,
    "memory_characters": _whole,
    "user_characters": _whole,
    "code_tools": _names,
    "file_tools": _names,
    "research_tools": _names,
    "template_tokens": _tokens,
    "embedder": _text,
    "provider": check_provider,
    "prompt_parts": _prompt_parts,
    "prompt_schema_tokens": _tokens,
    "database_bytes": _whole,
    "query_seconds": _positive,
    "files": _text,
    "prefetch_tokens": _tokens,
    "prefetch_seconds": _positive,
    "hook_start_tokens": _tokens,
    "hook_prompt_tokens": _tokens,
    "backend": _backend,
}


def hermes_home(given: str | os.PathLike[str] | None = None, env: Mapping[str, str] | None = None) -> Path:
    """The home of Hermes: the one that is given, ``$HERMES_HOME``, or where it is by default."""
    env = os.environ if env is None else env
    if given or env.get("HERMES_HOME", "").strip():
        named = Path(given or env["HERMES_HOME"].strip())
    elif sys.platform == "win32":
        named = Path(env.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "hermes"
    else:
        named = Path("~/.hermes")
    try:
        return named.expanduser().absolute()
    except RuntimeError as exc:
        raise InvalidInput(f"{str(named)!r} names no folder: {exc}; write it out") from exc
