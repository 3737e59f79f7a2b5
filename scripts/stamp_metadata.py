"""Write version and repository into every file that repeats them: ``python scripts/stamp_metadata.py``.

The version comes from src/mnemos/__init__.py, the repository from ``Repository`` in pyproject.toml.
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

from mnemos import __version__

ROOT = Path(__file__).parents[1]


def stamp() -> dict[Path, str]:
    """Return the text that each file should have."""
    project = _read("pyproject.toml")
    repository = tomllib.loads(project)["project"]["urls"]["Repository"]
    organisation, name = repository.removeprefix("https://github.com/").split("/")
    server = f"io.github.{organisation}/{name}"

    entry = json.loads(_read("server.json"))
    entry |= {"name": server, "version": __version__, "repository": {"url": repository, "source": "github"}}
    (package,) = entry["packages"]
    package["version"] = __version__
    package["runtimeArguments"][0]["value"] = f"mnemos[mcp]=={__version__}"
    return {
        ROOT / "pyproject.toml": re.sub(rf"https://github\.com/[\w.-]+/{name}\b", repository, project),
        ROOT / "server.json": json.dumps(entry, indent=2) + "\n",
        # The MCP registry looks for it in the package's description.
        ROOT / "README.md": re.sub(r"(?<=<!-- mcp-name: ).*?(?= -->)", server, _read("README.md")),
    }


def _read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


if __name__ == "__main__":
    for path, text in stamp().items():
        path.write_text(text, encoding="utf-8")
