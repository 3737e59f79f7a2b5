"""Run the frameworks' own tests on our adapters: ``make test-frameworks``, or ``ONLY=langgraph``.

Each framework has an environment of its own with its newest release. Its tests come from the source package
on the package index, fetched when this runs and never committed, and run unmodified. ``counted.py`` reports
only the tests that call an adapter.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
PLACE = ROOT / ".venv-frameworks"


@dataclass(frozen=True)
class Suite:
    """Tests of one source package, or of ours where ``package`` is empty."""

    package: str
    tests: tuple[str, ...]
    plugin: str = ""
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class Framework:
    packages: tuple[str, ...]
    suites: tuple[Suite, ...]
    test_packages: tuple[str, ...] = field(default=("pytest", "pytest-asyncio"))
    example: str = ""
    shows: tuple[str, ...] = ()
    """Lines that the example prints."""


_OPENAI = """
memory/test_session.py memory/test_session_limit.py memory/test_compaction_suffix.py
memory/test_compaction_model_visibility.py memory/test_openai_responses_compaction_session.py
extensions/memory/test_encrypt_session.py test_run_impl_resume_paths.py test_agent_runner.py
test_agent_runner_streamed.py test_max_turns.py test_soft_cancel.py test_tool_batch_failure_history.py
test_native_tool_failure_history.py test_programmatic_tool_calling.py test_tool_failure_boundaries.py
"""
_STORE = ("-o", "asyncio_mode=auto", "-o", "markers=flaky: upstream retries it")

FRAMEWORKS = {
    "openai-agents": Framework(
        ("openai-agents",),
        (
            Suite(
                "openai-agents",
                tuple(f"tests/{name}" for name in _OPENAI.split()),
                "frameworks.openai_agents_suite",
            ),
            Suite("", ("check_openai_agents.py",)),
        ),
        ("pytest", "pytest-asyncio", "httpx", "inline-snapshot", "cryptography"),
        "openai_agents.py",
        ("The first process was killed: True", "- user: We deploy on Tuesdays at 9, never on Fridays."),
    ),
    "langgraph": Framework(
        ("langgraph", "langgraph-checkpoint-sqlite"),
        (
            Suite("langgraph-checkpoint", ("tests/test_store.py",), "frameworks.langgraph_suite", _STORE),
            Suite(
                "langgraph-checkpoint-sqlite",
                ("tests/test_store.py", "tests/test_async_store.py", "tests/test_ttl.py"),
                "frameworks.langgraph_suite",
                _STORE,
            ),
            Suite("", ("check_langgraph.py",)),
        ),
        ("pytest", "pytest-asyncio", "pytest-mock", "numpy"),
        "langgraph_memory.py",
        ("['We deploy on Tuesdays at 9, never on Fridays.']", "2 [('ada', 'notes')]"),
    ),
    "anthropic": Framework(
        ("anthropic",),
        (Suite("", ("check_anthropic_memory.py",)),),
        ("pytest",),
        "memory_tool.py",
        ("File created successfully at: /memories/deploy.md", "default/memory-tool /memories/deploy.md"),
    ),
    "claude-agent-sdk": Framework(
        ("claude-agent-sdk",),
        (Suite("", ("check_claude_agent_sdk.py",)),),
        ("pytest", "trio"),
        "claude_sessions.py",
        ("2 lines to resume from", "On Tuesdays at 9, never on Fridays."),
    ),
    "pydantic-ai": Framework(
        ("pydantic-ai-slim",),
        (Suite("", ("check_pydantic_ai.py",)),),
        ("pytest",),
        "pydantic_conversations.py",
        (
            "['When do we deploy?', 'And the database?']",
            "['When do we deploy?', 'And on Fridays?']",
            "The late writer was refused: True",
            "- assistant: On Tuesdays at 9, never on Fridays.",
        ),
    ),
    "google-adk": Framework(
        ("google-adk",),
        (Suite("", ("check_google_adk.py",)),),
        ("pytest",),
        "google_adk_memory.py",
        ("ada knows: True", "bob knows: False"),
    ),
    "langchain": Framework(
        ("langchain",),
        # The standard tests of langchain-tests are classes that ours inherit.
        (Suite("", ("check_langchain.py",), options=("-o", "asyncio_mode=auto")),),
        ("pytest", "pytest-asyncio", "langchain-tests"),
        "langchain_agent.py",
        ("- user: We deploy on Tuesdays at 9, never on Fridays.", "1 document: We deploy on Tuesdays at 9"),
    ),
}


def main(names: list[str]) -> int:
    failed = 0
    for name in names or list(FRAMEWORKS):
        framework = FRAMEWORKS[name]
        python = PLACE / name / "bin" / "python"
        try:
            _install(name, framework, python)
        except subprocess.CalledProcessError:
            print(f"==== SKIPPED: {name} cannot be installed here, so nothing was tested with it ====")
            continue
        for suite in framework.suites:
            failed += _run(name, suite, python)
        failed += _show(framework, python)
    return min(failed, 1)


def _install(name: str, framework: Framework, python: Path) -> None:
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(PLACE / name)], check=True)
    install = [str(python), "-m", "pip", "install", "--quiet", "--upgrade"]
    subprocess.run([*install, *framework.packages, *framework.test_packages], check=True)
    subprocess.run([*install, "-e", str(ROOT)], check=True)
    for suite in framework.suites:
        if suite.package and not _source(suite, python).is_dir():
            target = PLACE / "sources"
            download = [str(python), "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
            pinned = f"{suite.package}=={_version(suite, python)}"
            subprocess.run([*download, pinned, "-d", str(target)], check=True)
            with tarfile.open(f"{_source(suite, python)}.tar.gz") as packed:
                packed.extractall(target, filter="data")


def _version(suite: Suite, python: Path) -> str:
    code = f"from importlib.metadata import version; print(version({suite.package!r}))"
    return subprocess.run(
        [str(python), "-c", code], check=True, capture_output=True, text=True
    ).stdout.strip()


def _source(suite: Suite, python: Path) -> Path:
    return PLACE / "sources" / f"{suite.package.replace('-', '_')}-{_version(suite, python)}"


def _run(name: str, suite: Suite, python: Path) -> int:
    folder = _source(suite, python) if suite.package else HERE
    report = PLACE / f"{name}-{suite.package or 'own'}.json"
    report.unlink(missing_ok=True)
    command = [str(python), "-m", "pytest", "-q", "--tb=line", "-p", "no:cacheprovider", *suite.options]
    for plugin in filter(None, ("frameworks.counted", suite.plugin)):
        command += ["-p", plugin]
    if not suite.package:
        command += ["--noconftest", "--rootdir", str(HERE), "-c", os.devnull]
    environment = os.environ | {
        "PYTHONPATH": str(ROOT / "tests"),
        "MNEMOS_FRAMEWORK": name,
        "MNEMOS_COUNTED": str(report),
    }
    done = subprocess.run(
        [*command, *suite.tests], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if not report.is_file():
        print(done.stdout[-4000:], done.stderr[-2000:])
        return 1
    found = json.loads(report.read_text(encoding="utf-8"))
    package = f"{suite.package} {_version(suite, python)}" if suite.package else f"{name}, our own"
    print(f"{package}: {found['passed']} passed, {found['listed']} listed with a reason, ", end="")
    print(f"{len(found['failed'])} failed")
    for label in ("failed", "listed but passing"):
        for test in found[label]:
            print(f"  {label}: {test}")
    return int(bool(found["failed"] or found["listed but passing"]))


def _show(framework: Framework, python: Path) -> int:
    """Run the example as a reader would, and look for the lines it should print."""
    example = ROOT / "examples" / "frameworks" / framework.example
    done = subprocess.run([str(python), str(example)], capture_output=True, text=True, check=False)
    missing = [line for line in framework.shows if line not in done.stdout]
    print(f"{framework.example}: {'as described' if not missing and not done.returncode else 'WRONG'}")
    if missing or done.returncode:
        print(f"  missing: {missing}", done.stdout[-1000:], done.stderr[-1000:], sep="\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
