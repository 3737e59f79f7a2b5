"""The peers: starts each engine in a child process, and installs a peer on first use."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / ".benchmarks"


class PeerError(Exception):
    """An engine cannot take part; the message says why, without paths or hosts."""


class CallError(Exception):
    """An engine answered a request with an error."""


@dataclass(frozen=True, slots=True)
class Environment:
    """A peer's own environment: what is installed in it, and what it must be able to import."""

    folder: str
    package: str
    version: str
    module: str
    # Of other packages, where the newest would not do.
    bounds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Contender:
    name: str
    module: str
    arguments: tuple[str, ...] = ()
    # None: it runs with the interpreter of the benchmarks.
    environment: Environment | None = None


HERMES_AGENT = Environment("hermes", "hermes-agent", "0.19.0", "hermes_state")
# It asks for mcp>=1.0.0, gets 2.x, and does not start with that: its server needs a name of 1.x.
HERMES_MEMORY = Environment(
    "hermes-memory", "hermes-memory", "0.3.0", "hermes_memory.mcp.server", bounds=("mcp<2",)
)

MNEMOS = Contender("mnemos", "benchmarks.product")
RAW = Contender("raw", "benchmarks.raw")
RAW_FTS = Contender("raw+fts", "benchmarks.raw", ("fts",))
HERMES = Contender("hermes", "benchmarks.hermes_peer", environment=HERMES_AGENT)


class Child:
    """One engine in its own process. Requests are answered in order, one at a time."""

    def __init__(self, contender: Contender, home: Path) -> None:
        self.name = contender.name
        own = contender.environment
        python = python_of(own) if own else Path(sys.executable)
        self._process = subprocess.Popen(
            [str(python), "-m", contender.module, *contender.arguments],
            cwd=ROOT,
            env=clean_environment(home),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def ask(self, verb: str, **arguments: Any) -> dict[str, Any]:
        self.send(verb, **arguments)
        return self.receive()

    def send(self, verb: str, **arguments: Any) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps({"do": verb, **arguments}) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError as error:
            raise PeerError(f"{self.name}: its process ended before it answered") from error

    def receive(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise PeerError(f"{self.name}: its process ended before it answered")
        reply: dict[str, Any] = json.loads(line)
        if "error" in reply:
            raise CallError(f"{self.name}: {reply['error']}")
        return reply


@dataclass(frozen=True, slots=True)
class Field:
    """The engines that can run here, with their versions, and why the others cannot."""

    contenders: tuple[Contender, ...]
    versions: dict[str, dict[str, str]]
    missing: dict[str, str]

    def __contains__(self, contender: Contender) -> bool:
        return contender in self.contenders


def assemble(wanted: Sequence[Contender]) -> Field:
    """Start each engine once to see whether it works here."""
    able, versions, missing = [], {}, {}
    for contender in wanted:
        try:
            with working_folder() as folder, Child(contender, folder) as child:
                versions[contender.name] = child.ask("versions")["versions"]
            able.append(contender)
        except (PeerError, CallError) as error:
            missing[contender.name] = str(error)
    return Field(tuple(able), versions, missing)


@contextmanager
def children(contenders: Sequence[Contender], home: Path) -> Iterator[list[Child]]:
    with ExitStack() as stack:
        yield [stack.enter_context(Child(contender, home)) for contender in contenders]


@contextmanager
def working_folder() -> Iterator[Path]:
    """A folder on the disk of the repository: on a memory file system an fsync costs nothing."""
    CACHE.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE, prefix="run-") as folder:
        yield Path(folder)


def clean_environment(home: Path) -> dict[str, str]:
    """This process's environment without settings that would change what is measured."""
    ours = ("MNEMOS_", "HERMES_", "PYTHON")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return {**kept, "MNEMOS_HOME": str(home), "HERMES_HOME": str(home)}


def hermes_python() -> Path:
    return python_of(HERMES_AGENT)


def python_of(environment: Environment) -> Path:
    """The interpreter of a peer's environment, installed if it is not there yet."""
    folder = CACHE / environment.folder
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if _works(python, environment):
        return python
    CACHE.mkdir(exist_ok=True)
    venv.create(folder, with_pip=True, clear=True)
    requirement = f"{environment.package}=={environment.version}"
    _install(python, requirement, environment.bounds)
    if not _works(python, environment):
        raise PeerError(f"{environment.folder}: {requirement} was installed but cannot be imported")
    return python


def _works(python: Path, environment: Environment) -> bool:
    if not python.exists():
        return False
    probe = f"import importlib.metadata as m, {environment.module}; print(m.version({environment.package!r}))"
    with tempfile.TemporaryDirectory() as home:
        answer = subprocess.run(
            [str(python), "-c", probe],
            env=clean_environment(Path(home)),
            capture_output=True,
            text=True,
            check=False,
        )
    return answer.stdout.strip() == environment.version


def _install(python: Path, requirement: str, bounds: Sequence[str]) -> None:
    command = [str(python), "-m", "pip", "install", "--quiet", requirement, *bounds]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode:
        # pip's own words name index hosts and folders; they belong on the screen, not in a result.
        print(answer.stderr, file=sys.stderr)
        raise PeerError(f"{requirement}: pip could not install it")
