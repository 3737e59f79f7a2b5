"""The cost of starting: CPU and wall time of whole processes, and the size of an installation.

Every command runs once unmeasured, so that its bytecode is compiled, and then in turn with the
others. ``above`` is what the command costs on top of an interpreter that does nothing.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.corpus import EVERYWHERE
from benchmarks.measure import median, summary
from benchmarks.peers import (
    HERMES,
    MNEMOS,
    ROOT,
    Child,
    assemble,
    clean_environment,
    hermes_python,
    working_folder,
)
from benchmarks.report import Options, Result, Table

RUNS = 15
QUICK_RUNS = 3
MESSAGES = 1_000
FLOOR = "python -c pass"
# Read by the process itself: what the kernel tells its parent begins with the parent's own size.
PEAK = "\nprint(next(l for l in open('/proc/self/status') if l.startswith('VmHWM')).split()[1])"


@dataclass(frozen=True, slots=True)
class Command:
    label: str
    arguments: Sequence[str]
    # Python that does the same, where the peak memory can be asked for.
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Spent:
    wall: float
    cpu: float


def run(options: Options) -> Result:
    field = assemble((MNEMOS, *((HERMES,) if options.peers else ())))
    missing = dict(field.missing)
    with working_folder() as home:
        environment = clean_environment(home)
        commands = _usable(_commands(home, searchable=MNEMOS in field), environment, missing)
        if HERMES in field:
            code = "import hermes_state"
            arguments = (str(hermes_python()), "-c", code)
            commands.append(Command("import hermes_state", arguments, code))
        times = _measure(commands, environment, QUICK_RUNS if options.quick else RUNS)
        memory = {one.label: _peak(one, environment) for one in commands}
    size = None if options.quick else _installed_size(missing)
    figures = {
        "processes": {
            label: {
                "wall_ms": summary([one.wall * 1e3 for one in taken]),
                "cpu_ms": summary([one.cpu * 1e3 for one in taken]),
                "peak_memory_bytes": memory[label],
            }
            for label, taken in times.items()
        },
        "installation": size,
    }
    tables = [_times_table(times, memory)]
    if size is not None:
        tables.append(_size_table(size))
    return Result("startup", tables, figures, field.versions, missing)


def _commands(home: Path, *, searchable: bool) -> list[Command]:
    python = sys.executable
    mnemos = str(Path(python).parent / "mnemos")
    if searchable:
        _fill(home)
    return [
        Command(FLOOR, (python, "-c", "pass"), "pass"),
        Command("import mnemos", (python, "-c", "import mnemos"), "import mnemos"),
        Command(
            "import mnemos; SessionDB",
            (python, "-c", "from mnemos import SessionDB"),
            "from mnemos import SessionDB",
        ),
        Command("mnemos --version", (mnemos, "--version")),
        Command("mnemos sessions search", (mnemos, "sessions", "search", EVERYWHERE)),
    ]


def _fill(home: Path) -> None:
    """A home with a thousand messages, as `mnemos` finds it through MNEMOS_HOME."""
    with Child(MNEMOS, home) as child:
        child.ask("load", path=str(home / "mnemos.db"), size=MESSAGES, seed=1)
        child.ask("close")


def _usable(
    commands: Sequence[Command], environment: dict[str, str], missing: dict[str, str]
) -> list[Command]:
    """Those that run here at all; running them also compiles their bytecode."""
    usable = []
    for command in commands:
        if not Path(command.arguments[0]).exists():
            missing[command.label] = f"{command.label}: the command is not installed"
            continue
        answer = subprocess.run(
            command.arguments, env=environment, capture_output=True, text=True, check=False
        )
        if answer.returncode:
            missing[command.label] = f"{command.label}: it ends with exit code {answer.returncode}"
        else:
            usable.append(command)
    return usable


def _measure(commands: Sequence[Command], environment: dict[str, str], runs: int) -> dict[str, list[Spent]]:
    times: dict[str, list[Spent]] = {command.label: [] for command in commands}
    for _ in range(runs):
        for command in commands:
            times[command.label].append(_spend(command.arguments, environment))
    return times


def _spend(arguments: Sequence[str], environment: dict[str, str]) -> Spent:
    before = time.perf_counter()
    process = subprocess.Popen(
        arguments,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - before
    # wait4 has reaped the child behind the back of Popen, which would look for it again.
    process.returncode = os.waitstatus_to_exitcode(status)
    return Spent(wall, usage.ru_utime + usage.ru_stime)


def _peak(command: Command, environment: dict[str, str]) -> int | None:
    if command.source is None or not Path("/proc/self/status").exists():
        return None
    answer = subprocess.run(
        [command.arguments[0], "-c", command.source + PEAK],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return int(answer.stdout) * 1024 if answer.returncode == 0 else None


def _installed_size(missing: dict[str, str]) -> dict[str, Any] | None:
    """Build the wheel and install it into an environment of its own."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        build = [sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", str(folder), str(ROOT)]
        if not _succeeds(build):
            missing["installation"] = "installation: pip could not build the wheel"
            return None
        wheel = next(folder.glob("*.whl"))
        venv.create(folder / "fresh", with_pip=True)
        python = folder / "fresh" / "bin" / "python"
        pinned = ["-c", str(ROOT / "constraints.txt")]
        if not _succeeds([str(python), "-m", "pip", "install", *pinned, str(wheel)]):
            missing["installation"] = "installation: pip could not install the wheel"
            return None
        return {"wheel_bytes": wheel.stat().st_size, **_packages(folder / "fresh")}


def _packages(environment: Path) -> dict[str, Any]:
    """The packages installed besides the installer itself."""
    site = next(environment.glob("lib/python*/site-packages"))
    tools = re.compile(r"(pip|setuptools|wheel|pkg_resources|_distutils_hack|distutils-)")
    ours = [entry for entry in site.iterdir() if not tools.match(entry.name)]
    names = sorted(
        entry.name.removesuffix(".dist-info").rpartition("-")[0]
        for entry in ours
        if entry.name.endswith(".dist-info")
    )
    return {
        "packages": names,
        "package_count": len(names),
        "installed_bytes": sum(_bytes_of(entry) for entry in ours),
    }


def _bytes_of(entry: Path) -> int:
    if entry.is_file():
        return entry.stat().st_size
    return sum(file.stat().st_size for file in entry.rglob("*") if file.is_file())


def _succeeds(command: list[str]) -> bool:
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode:
        # pip's own words name index hosts and folders; they belong on the screen, not in a result.
        print(answer.stderr, file=sys.stderr)
    return answer.returncode == 0


def _times_table(times: dict[str, list[Spent]], memory: dict[str, int | None]) -> Table:
    floor = median([one.cpu for one in times[FLOOR]])
    rows = []
    for label, taken in times.items():
        cpu = median([one.cpu for one in taken])
        peak = memory[label]
        rows.append(
            [
                label,
                f"{cpu * 1e3:.1f}",
                f"{(cpu - floor) * 1e3:.1f}",
                f"{min(one.cpu for one in taken) * 1e3:.1f}",
                f"{max(one.cpu for one in taken) * 1e3:.1f}",
                f"{median([one.wall for one in taken]) * 1e3:.1f}",
                f"{peak / 1e6:.0f}" if peak else "-",
            ]
        )
    headings = ("process", "CPU ms", "above", "lowest", "highest", "wall ms", "peak memory MB")
    note = f"Medians of {len(next(iter(times.values())))} runs; a home of {MESSAGES:,} messages."
    return Table("Start-up", headings, rows, [note])


def _size_table(size: dict[str, Any]) -> Table:
    row = [
        "pip install mnemos",
        f"{size['wheel_bytes'] / 1e3:,.0f}",
        f"{size['package_count']}",
        f"{size['installed_bytes'] / 1e6:.1f}",
    ]
    headings = ("installation", "wheel kB", "packages", "installed MB")
    return Table("Size", headings, [row], [f"Packages: {', '.join(size['packages'])}."])
