"""Settings. No other module reads them.

An argument of ``mnemos.open`` overrides the environment, which overrides ``<home>/config.toml``, which
overrides the default.
"""

from __future__ import annotations

import getpass
import os
import tomllib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from mnemos.errors import Disabled, InvalidInput, PermissionDenied
from mnemos.files import read_bounded
from mnemos.inputs import read_home, suggest
from mnemos.setting_values import (
    Durability,
    check_backend,
    check_database,
    check_depth,
    check_durability,
    check_names,
    check_notebook_files,
    check_positive,
    check_project,
    check_prompt_parts,
    check_provider,
    check_space,
    check_stater,
    check_switch,
    check_text,
    check_tokens,
    check_whole,
)

_MEMORY_TABLE = ("provider", "prompt_parts", "prefetch_tokens", "prefetch_seconds")
_LARGEST_FILE = 1_000_000

ACTING: ContextVar[str] = ContextVar("actor", default="")
"""The name in the audit log, where ``act_as`` sets one."""


@contextmanager
def act_as(name: str) -> Iterator[None]:
    """Use another name in the audit log during this block; empty for the settings'."""
    token = ACTING.set(name)
    try:
        yield
    finally:
        ACTING.reset(token)


VARIABLES = {
    "database": ("MNEMOS_DATABASE",),
    "space": ("MNEMOS_SPACE",), "source": ("MNEMOS_SOURCE", "HERMES_SESSION_SOURCE"),
    "project": ("MNEMOS_PROJECT",), "prefer_project": ("MNEMOS_PREFER_PROJECT",),
    "actor": ("MNEMOS_ACTOR",), "durability": ("MNEMOS_DURABILITY",),
    "redact": ("MNEMOS_REDACT",), "recall_log": ("MNEMOS_RECALL_LOG",), "disabled": ("MNEMOS_DISABLED",),
    "embedder": ("MNEMOS_EMBEDDER",), "depth": ("MNEMOS_DEPTH",), "notebook_files": ("MNEMOS_NOTEBOOK",),
    "hermes_memory_db": ("HERMES_MEMORY_DB",), "claude_dir": ("CLAUDE_CONFIG_DIR",),
    "codex_dir": ("CODEX_HOME",), "provider": ("MNEMOS_PROVIDER",), "files": ("MNEMOS_FILES",),
    "backend": ("MNEMOS_BACKEND", "HERMES_MEMORY_BACKEND"),
    "llm.base_url": ("MNEMOS_LLM_BASE_URL",), "llm.model": ("MNEMOS_LLM_MODEL",),
    "embedding.base_url": ("MNEMOS_EMBEDDING_BASE_URL",),
    "honcho.base_url": ("HONCHO_BASE_URL",), "honcho.app_id": ("HONCHO_APP_ID",),
}  # fmt: skip
"""The environment variables of settings; of several, the first that is set counts."""

TABLES = {
    "llm": ("base_url", "model", "api_key_env", "timeout"),
    "embedding": ("base_url", "api_key_env", "timeout"),
    "honcho": ("base_url", "app_id", "timeout"),
}
"""Tables of config.toml with their settings."""

KEYS = {"llm": "MNEMOS_LLM_API_KEY", "embedding": "MNEMOS_EMBEDDING_API_KEY"}
"""The variables that hold the keys of endpoints, unless ``api_key_env`` names others."""


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
    """A Honcho server, which stores what is known about users."""

    base_url: str = "https://api.honcho.dev"
    app_id: str = "hermes-agent"
    """The workspace there."""
    api_key: str = ""
    timeout: float = 10.0
    """Timeout of a call in seconds, including retries."""


@dataclass(frozen=True, slots=True)
class Settings:
    home: Path
    database: str = field(default="", repr=False)
    """URL of a PostgreSQL database that holds the memory: ``postgresql://…``; empty: a file in the home."""
    space: str = "default"
    source: str = "cli"
    """The source of conversations, if the host does not name one."""
    project: str = ""
    """The current project, a folder. If empty: none, or the working folder at the command line and MCP."""
    prefer_project: bool = True
    """Prefer the current project in recall and session search."""
    actor: str = "unknown"
    """The name in the audit log, unless ``act_as`` sets another."""
    stated_by: str = "agent"
    """The source of facts for calls that name none: ``user`` at the command line."""
    durability: Durability = Durability.NORMAL
    redact: bool = True
    disabled: bool = False
    """For batch and training runs: no file is created or changed. Writes raise Disabled."""
    busy_seconds: float = 30.0
    """Seconds that a write waits for other processes before it fails with ``busy``."""
    max_message_bytes: int = 16 * 1024 * 1024
    max_fact_characters: int = 400
    """Maximum length of a fact."""
    hot_tokens: int = 150
    """Token budget of the facts in every prompt; their frame takes up to 30 more."""
    notebook_files: tuple[str, ...] = ("memory", "user")
    """Files of the notebook. ``MNEMOS_NOTEBOOK``: ``on``, ``off``, ``memory``, ``user``."""
    memory_characters: int = 2200
    """Maximum size of MEMORY.md."""
    user_characters: int = 1375
    """Maximum size of USER.md."""
    hermes_memory_db: str = "~/.hermes/memory.db"
    """The database of hermes-memory to import."""
    claude_dir: str = "~/.claude"
    """Folder of Claude Code, with its transcripts in ``projects``."""
    codex_dir: str = "~/.codex"
    """Folder of Codex, with its rollouts in ``sessions``."""
    audit_days: int = 30
    """Days for which a deleted session can be restored with undo."""
    llm: Model = Model()
    code_tools: tuple[str, ...] = ()
    """Tools that run code, besides the known ones. They show what kind of work a session was."""
    file_tools: tuple[str, ...] = ()
    """Tools that read and write files, besides the known ones."""
    research_tools: tuple[str, ...] = ()
    """Tools that search and read elsewhere, besides the known ones."""
    template_tokens: int = 4000
    """Token budget of a template in a conversation."""
    embedder: str = "static"
    """The embedding model: ``static``, ``none``, ``onnx:MODEL``, ``endpoint:MODEL`` or a plug-in."""
    recall_log: bool = True
    """Keep the last 1,000 questions that were asked of recall, for people to look at."""
    depth: str = "normal"
    """Depth of recall: ``normal``, or ``deep`` with the extra ``mnemos[deep]``."""
    embedding: Model = Model()
    """The endpoint of the embedder ``endpoint:MODEL``."""
    provider: str = ""
    """The external provider besides the built-in one; in config.toml under ``[memory]``."""
    prompt_parts: str = "notebook,facts,tables"
    """Parts of the system prompt of the built-in provider."""
    prompt_schema_tokens: int = 600
    """Token budget of the workspace's tables in the system prompt."""
    database_bytes: int = 50_000_000
    """Maximum size of a database of the workspace."""
    max_databases: int = 100
    """Maximum number of databases of the workspace."""
    databases_bytes: int = 250_000_000
    """Maximum size of all databases of the workspace."""
    snapshots_bytes: int = 1_000_000_000
    """Maximum size of all snapshots of the workspace."""
    exports_bytes: int = 500_000_000
    """Maximum size of all files that agents exported from the workspace."""
    query_seconds: float = 30.0
    """Default time limit of a call of the workspace in seconds."""
    files: str = ""
    """Folder for an agent's imports and exports; empty: ``<home>/files/<space>``."""
    prefetch_tokens: int = 800
    """Token budget of recall for a message."""
    recall_seconds: float = 0.05
    """Seconds that a prompt of an agent framework waits for recall; a later answer is left out."""
    prefetch_seconds: float = 8.0
    """Seconds that a turn waits for an external provider."""
    hook_start_tokens: int = 1500
    """Token budget of the Claude Code hooks at the start of a session."""
    hook_prompt_tokens: int = 400
    """Token budget of the Claude Code hooks for a prompt."""
    backend: str = ""
    """The store of entries: ``null``, ``local``, ``honcho`` or a plug-in; empty: automatic."""
    honcho: Honcho = Honcho()

    @property
    def current_actor(self) -> str:
        """Return the name for the audit log."""
        return ACTING.get() or self.actor

    def check_enabled(self, outcome: str = "Nothing was changed") -> None:
        """Raise Disabled if memory is switched off."""
        if self.disabled:
            error = Disabled(f"Memory is disabled (MNEMOS_DISABLED is set). {outcome}.")
            error.advice = "Unset it and repeat the command."
            raise error

    @classmethod
    def load(
        cls,
        home: str | Path | None = None,
        *,
        env: Mapping[str, str] | None = None,
        here: str | None = None,
        **flags: Any,
    ) -> Settings:
        """Read arguments, environment and config.toml. A wrong value raises InvalidInput.

        ``here`` is the folder that the program runs in, and the project if no other is named.
        """
        env = os.environ if env is None else env
        folder = home_folder(home, env)
        found: dict[str, Any] = {"actor": env.get("USER") or _login_name(), "project": here or ""}
        found |= _read_file(folder)
        found |= _read_environment(env)
        found |= {name: value for name, value in flags.items() if value is not None}
        return cls.check(folder, found, env)

    @classmethod
    def check(cls, folder: Path, found: dict[str, Any], env: Mapping[str, str]) -> Settings:
        """Build settings from the values found. A wrong value raises InvalidInput."""
        llm, embedding = found.pop("llm", {}), found.pop("embedding", {})
        honcho = found.pop("honcho", {})
        settings = cls(home=folder, **_check(found))
        if not isinstance(llm, Model):
            llm = _endpoint("llm", llm, env)
        if not isinstance(embedding, Model):
            embedding = _endpoint("embedding", embedding, env)
        if not isinstance(honcho, Honcho):
            honcho = _honcho(honcho, env)
        return replace(settings, llm=llm, embedding=embedding, honcho=honcho)


def home_folder(home: str | Path | None = None, env: Mapping[str, str] | None = None) -> Path:
    """Return the home's path, which need not exist. InvalidInput if it is invalid."""
    env = os.environ if env is None else env
    return read_home(home or env.get("MNEMOS_HOME") or "~/.mnemos")


def find_token(env: Mapping[str, str] | None = None) -> str:
    """Return the token for a server, ``MNEMOS_TOKEN``; empty if it is not set."""
    return (os.environ if env is None else env).get("MNEMOS_TOKEN", "").strip()


def read_config(home: Path) -> dict[str, Any]:
    """Return the unchecked content of ``config.toml``; empty if there is none."""
    path = home / "config.toml"
    try:
        return tomllib.loads(read_bounded(path, _LARGEST_FILE).decode())
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as exc:
        raise InvalidInput(f"{path} is not valid TOML: {exc}. Fix or move it.") from exc
    except PermissionError as exc:
        raise PermissionDenied(f"{path} cannot be read. Does this home belong to another user?") from exc
    except NotADirectoryError as exc:
        raise InvalidInput(f"The home must be a folder, but {home} is inside a file.") from exc
    except OSError as exc:
        raise InvalidInput(f"{path} cannot be read: {exc.strerror}") from exc


def flatten(found: dict[str, Any]) -> dict[str, Any]:
    """Move settings from the table ``[memory]``, where hosts look for them, to the top."""
    table = found.pop("memory", {})
    if not isinstance(table, Mapping):
        raise InvalidInput("[memory] in config.toml must be a table.")
    for name in table:
        if name not in _MEMORY_TABLE:
            raise InvalidInput(
                f"[memory] has no setting {name!r}.{suggest(name, _MEMORY_TABLE)} "
                f"Settings: {', '.join(_MEMORY_TABLE)}."
            )
    return found | dict(table)


def _read_file(home: Path) -> dict[str, Any]:
    found = flatten(read_config(home))
    unknown = found.keys() - _setting_names() - {"llm", "embedding", "honcho"}
    if unknown:
        raise InvalidInput(f"{home / 'config.toml'}: {unknown_setting(min(unknown), _setting_names())}")
    return found


def _setting_names() -> set[str]:
    return {field.name for field in fields(Settings)} - {"home"}


def _read_environment(env: Mapping[str, str]) -> dict[str, Any]:
    return {setting: env[variable] for setting, variable in find_variables(env).items() if "." not in setting}


def find_variables(env: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variable that each setting comes from.

    Settings that no variable sets are missing.
    """
    found = {setting: [name for name in names if env.get(name)] for setting, names in VARIABLES.items()}
    return {setting: names[0] for setting, names in found.items() if names}


def _check(found: dict[str, Any]) -> dict[str, Any]:
    known = _setting_names()
    checked: dict[str, Any] = {}
    for name, value in found.items():
        if name not in known:
            raise unknown_setting(name, known)
        checked[name] = _READ[name](name, value)
    return checked


def unknown_setting(name: str, known: Collection[str]) -> InvalidInput:
    """Return the error for an unknown setting, which names the nearest one."""
    return InvalidInput(
        f"There is no setting {name[:80]!r}.{suggest(name, known)} `mnemos config` lists all settings."
    )


def _check_table(name: str, found: Any) -> None:
    known = TABLES[name]
    if not isinstance(found, Mapping):
        raise InvalidInput(f"[{name}] in config.toml must be a table with {', '.join(known)}.")
    unknown = set(found) - set(known)
    if unknown:
        first = min(unknown)
        raise InvalidInput(
            f"[{name}] has no setting {first!r}.{suggest(first, known)} Settings: {', '.join(known)}. "
            "API keys belong in the environment."
        )


def _endpoint(name: str, found: Any, env: Mapping[str, str]) -> Model:
    """Read an endpoint. The environment overrides config.toml and alone has the key."""
    _check_table(name, found)
    used = find_variables(env)
    return Model(
        base_url=env.get(used.get(f"{name}.base_url", "")) or str(found.get("base_url", "")),
        model=env.get(used.get(f"{name}.model", "")) or str(found.get("model", "")),
        api_key=env.get(str(found.get("api_key_env", KEYS[name])), ""),
        timeout=check_positive(f"{name}.timeout", found.get("timeout", 60.0)),
    )


def _honcho(found: Any, env: Mapping[str, str]) -> Honcho:
    """Read Honcho's settings. The environment overrides the file and alone has the key."""
    _check_table("honcho", found)
    usual = Honcho()
    return Honcho(
        base_url=env.get("HONCHO_BASE_URL") or str(found.get("base_url", usual.base_url)),
        app_id=env.get("HONCHO_APP_ID") or str(found.get("app_id", usual.app_id)),
        api_key=env.get("HONCHO_API_KEY", ""),
        timeout=check_positive("honcho.timeout", found.get("timeout", usual.timeout)),
    )


def _login_name() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "unknown"


_READ = {
    "database": check_database,
    "space": lambda _name, value: check_space(value),
    "source": check_text,
    "project": check_project,
    "prefer_project": check_switch,
    "actor": check_text,
    "stated_by": check_stater,
    "durability": check_durability,
    "redact": check_switch,
    "recall_log": check_switch,
    "disabled": check_switch,
    "busy_seconds": check_positive,
    "max_message_bytes": check_whole,
    "audit_days": check_whole,
    "max_fact_characters": check_whole,
    "hot_tokens": check_tokens,
    "hermes_memory_db": check_text,
    "claude_dir": check_text,
    "codex_dir": check_text,
    "notebook_files": check_notebook_files,
    "memory_characters": check_whole,
    "user_characters": check_whole,
    "code_tools": check_names,
    "file_tools": check_names,
    "research_tools": check_names,
    "template_tokens": check_tokens,
    "embedder": check_text,
    "depth": check_depth,
    "provider": check_provider,
    "prompt_parts": check_prompt_parts,
    "prompt_schema_tokens": check_tokens,
    "database_bytes": check_whole,
    "max_databases": check_whole,
    "databases_bytes": check_whole,
    "snapshots_bytes": check_whole,
    "exports_bytes": check_whole,
    "query_seconds": check_positive,
    "files": check_text,
    "prefetch_tokens": check_tokens,
    "prefetch_seconds": check_positive,
    "recall_seconds": check_positive,
    "hook_start_tokens": check_tokens,
    "hook_prompt_tokens": check_tokens,
    "backend": check_backend,
}
