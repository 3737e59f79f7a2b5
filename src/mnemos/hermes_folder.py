"""The folder of Hermes Agent."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from mnemos.errors import InvalidInput


def hermes_home(given: str | os.PathLike[str] | None = None, env: Mapping[str, str] | None = None) -> Path:
    """Return the home of Hermes: ``given``, ``$HERMES_HOME`` or the default."""
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
        raise InvalidInput(f"{str(named)!r} is not a folder: {exc}. Use the full path.") from exc
