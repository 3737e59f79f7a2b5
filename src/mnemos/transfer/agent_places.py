"""Places: the agent programs that keep conversations here, and where."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mnemos.hermes_folder import hermes_home
from mnemos.settings import Settings


@dataclass(frozen=True, slots=True)
class Folders:
    """Folders of programs, found by environment, platform and the user's folder."""

    env: Mapping[str, str]
    platform: str
    """A value of ``sys.platform``."""
    home: Path

    def folder(self, variable: str, default: str) -> Path:
        """Return the folder in a variable, or else that name in the user's folder."""
        named = self.env.get(variable, "").strip()
        return Path(named).expanduser().absolute() if named else self.home / default

    def data(self) -> Path:
        """Return the XDG data folder, which some programs use on every system."""
        return self.folder("XDG_DATA_HOME", ".local/share")

    def app(self, name: str) -> Path:
        """Return the settings folder of a desktop program."""
        if self.platform == "darwin":
            return self.home / "Library" / "Application Support" / name
        if self.platform == "win32":
            return self.folder("APPDATA", "AppData/Roaming") / name
        return self.folder("XDG_CONFIG_HOME", ".config") / name

    def local_app(self, name: str) -> Path:
        """Return the data folder of a desktop program."""
        if self.platform == "win32":
            return self.folder("LOCALAPPDATA", "AppData/Local") / name
        return self.app(name) if self.platform == "darwin" else self.data() / name.lower()

    def extensions(self, name: str) -> tuple[Path, ...]:
        """Return the folders of an extension's tasks in VS Code and its variants."""
        return tuple(self.app(one) / "User" / "globalStorage" / name / "tasks" for one in _EDITORS)


# Editors that keep the data of extensions like VS Code does.
_EDITORS: Final = ("Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf")

Places = Callable[[Folders], tuple[Path, ...]]

# In the order in which programs are offered.
_PLACES: Final[Mapping[str, Places]] = {
    "hermes": lambda here: (hermes_home(env=here.env) / "state.db",),
    "gemini": lambda here: (here.folder("GEMINI_CLI_HOME", "") / ".gemini" / "tmp",),
    "qwen": lambda here: (here.folder("QWEN_HOME", ".qwen") / "projects",),
    "opencode": lambda here: (here.data() / "opencode" / "opencode.db",),
    "cursor": lambda here: (here.app("Cursor") / "User" / "globalStorage" / "state.vscdb",),
    "cline": lambda here: (
        here.folder("CLINE_DATA_DIR", ".cline/data") / "sessions",
        *here.extensions("saoudrizwan.claude-dev"),
    ),
    "roo": lambda here: here.extensions("rooveterinaryinc.roo-cline"),
    "copilot": lambda here: tuple(
        here.app(editor) / "User" / place
        for editor in _EDITORS[:3]
        for place in ("workspaceStorage", "globalStorage/emptyWindowChatSessions")
    ),
    "continue": lambda here: (here.folder("CONTINUE_GLOBAL_DIR", ".continue") / "sessions",),
    "goose": lambda here: (here.data() / "goose" / "sessions" / "sessions.db",),
    "zed": lambda here: (here.local_app("Zed") / "threads" / "threads.db",),
}
ONLY: Final = {"copilot": "chatSessions"}
"""The only subfolder to search in each folder of a place, which has many others."""
VARIABLES: Final = (
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "HERMES_HOME",
    "GEMINI_CLI_HOME",
    "QWEN_HOME",
    "CLINE_DATA_DIR",
    "CONTINUE_GLOBAL_DIR",
    "XDG_DATA_HOME",
    "XDG_CONFIG_HOME",
)
"""Variables that move these places."""
KINDS: Final = ("claude-code", "codex", *_PLACES)
"""Programs whose files are found without being named."""


def find_default_places(
    kind: str, settings: Settings, env: Mapping[str, str] | None = None, platform: str = sys.platform
) -> tuple[Path, ...]:
    """Return where a program keeps its conversations; empty if that could be anywhere.

    A program may have several places, of which some or all don't exist.
    """
    if kind == "claude-code":
        return (Path(settings.claude_dir).expanduser() / "projects",)
    if kind == "codex":
        return (Path(settings.codex_dir).expanduser(),)
    if kind not in _PLACES:
        return ()
    return _PLACES[kind](Folders(os.environ if env is None else env, platform, Path("~").expanduser()))
