"""Resolve Mnemos beside the newest release of every framework: none may be moved to an older version for it.

    python tests/frameworks/resolve.py [PACKAGE …]

Nothing is installed. ``make test-frameworks`` runs it, and every week a workflow does.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
# Those with an adapter, and those whose users may want Mnemos beside them.
PACKAGES = """
openai-agents langgraph langchain claude-agent-sdk anthropic pydantic-ai-slim google-adk
mem0ai agent-framework-core llama-index-core strands-agents crewai autogen-core haystack-ai smolagents
litellm agno langchain-mcp-adapters
""".split()


def resolve(package: str) -> str:
    """Return what is wrong with a package beside Mnemos; empty if nothing is.

    A package that cannot be had here raises CalledProcessError.
    """
    # With its dependencies: the newest release of all may need what is not published for this Python.
    newest = _find_versions(package)[package]
    try:
        chosen = _find_versions(package, str(ROOT))[package]
    except subprocess.CalledProcessError as exc:
        return f"{package} {newest} cannot be installed beside Mnemos: {exc.stderr[-500:]}"
    return "" if chosen == newest else f"{package} {newest} is moved to {chosen} beside Mnemos"


def _find_versions(*arguments: str) -> dict[str, str]:
    with tempfile.NamedTemporaryFile() as report:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed"]
        subprocess.run(
            [*command, "--report", report.name, *arguments], check=True, capture_output=True, text=True
        )
        found = json.loads(Path(report.name).read_text(encoding="utf-8"))["install"]
    return {one["metadata"]["name"].lower(): one["metadata"]["version"] for one in found}


def main(packages: list[str]) -> int:
    """Print a line for each package; return 1 if one is moved to an older version, or none could be tried."""
    problems, missing = [], []
    for package in packages or PACKAGES:
        try:
            problem = resolve(package)
        except subprocess.CalledProcessError:
            missing.append(package)
            print(f"{package}: not to be had here", flush=True)
            continue
        problems += [problem] if problem else []
        print(f"{package}: {problem or 'its newest release'}", flush=True)
    tried = len(packages or PACKAGES) - len(missing)
    print(f"Resolved beside Mnemos: {tried - len(problems)} of {tried}; not to be had here: {len(missing)}")
    return int(bool(problems) or not tried)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
