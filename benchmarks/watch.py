"""The watch for an hour: lag, memory and CPU while it rests and while transcripts grow, and `kill -9`.

``python -m benchmarks watch`` runs `mnemos watch` on a user's folder of its own. It has old conversations of
Claude Code, and empty folders of Codex, Gemini CLI and Qwen Code. For ten minutes nothing happens. Then lines
are added to conversations of Claude Code and Codex for fifty minutes, and the watch is killed now and then.
In the end, what it stored is compared with one import of the same files.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw

import mnemos
from benchmarks import transcripts
from benchmarks.measure import median, percentile
from benchmarks.report import Options, Result, Table
from mnemos.transfer.reader import load_reader

OLD_MEGABYTES, QUICK_MEGABYTES = 20.0, 2.0
REST, QUICK_REST = 600.0, 20.0
GROWTH, QUICK_GROWTH = 3_000.0, 60.0
PAUSE = 4.0
"""Mean seconds between two lines; now and then nothing happens for a minute."""
LONG_PAUSE, LONG_PAUSES = 60.0, 0.01
KILLS = 20
CONVERSATIONS = 4
# Between two looks for what was stored, which is how exactly a lag is known.
LOOK = 0.2
TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGESIZE")
LONGEST_WAIT = 300.0


@dataclass(slots=True)
class Seen:
    """Measurements of the watch."""

    cpu: float = 0.0
    poller_bytes: int = 0
    importer_bytes: int = 0
    lags: list[float] = field(default_factory=list)
    kills: int = 0
    lines: int = 0


class Watch:
    """`mnemos watch` in a user's folder of its own."""

    def __init__(self, user: Path) -> None:
        self.home = user / "mnemos"
        self.seen = Seen()
        moved = ("CODEX_HOME", "CLAUDE_CONFIG_DIR", "GEMINI_CLI_HOME", "QWEN_HOME", "XDG_DATA_HOME")
        self._environment = {name: text for name, text in os.environ.items() if name not in moved}
        self._environment |= {"HOME": str(user), "MNEMOS_HOME": str(self.home)}
        self._process: subprocess.Popen[bytes] | None = None
        self._noted = 0.0

    def start(self) -> None:
        command = [sys.executable, "-P", "-m", "mnemos", "watch"]
        self._process = subprocess.Popen(
            command, env=self._environment, stderr=subprocess.DEVNULL, start_new_session=True
        )
        self._noted = 0.0

    def kill(self) -> None:
        """Kill the poller and the importer as `kill -9` does."""
        if self._process is not None:
            self.sample()
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None
            self.seen.kills += 1

    def sample(self) -> None:
        """Note the CPU time and the memory of both processes."""
        if self._process is None:
            return
        pid, importers = self._process.pid, self.importers()
        used = _cpu(pid) + sum(map(_cpu, importers))
        # The CPU time of an importer that ended meanwhile is in that of the poller's children.
        self.seen.cpu += max(0.0, used - self._noted)
        self._noted = max(used, self._noted)
        self.seen.poller_bytes = max(self.seen.poller_bytes, _resident(pid))
        self.seen.importer_bytes = max(self.seen.importer_bytes, *map(_resident, importers), 0)

    def importers(self) -> list[int]:
        if self._process is None:
            return []
        pid = self._process.pid
        return [int(word) for word in _read(f"/proc/{pid}/task/{pid}/children").split()]

    def rest(self) -> None:
        """Wait until everything is imported and the importer has ended."""
        _wait(lambda: (self.home / "mnemos.db").exists())
        _wait(lambda: not self.importers())


def run(options: Options) -> Result:
    quick = options.quick
    rest, growth = (QUICK_REST, QUICK_GROWTH) if quick else (REST, GROWTH)
    with tempfile.TemporaryDirectory() as folder:
        user = Path(folder)
        _prepare(user, QUICK_MEGABYTES if quick else OLD_MEGABYTES)
        watch = Watch(user)
        try:
            watch.start()
            time.sleep(5.0)
            watch.rest()
            resting = _measure_rest(watch, rest)
            started = time.monotonic()
            watch.seen = Seen()
            _grow(watch, user, growth, min(KILLS, int(growth / 20)))
            took = time.monotonic() - started
            watch.sample()
        finally:
            watch.kill()
        watch.seen.kills -= 1
        stored, whole = _messages(watch.home), _import_once(user)
    return _report(resting, rest, watch.seen, took, stored, whole)


def _prepare(user: Path, megabytes: float) -> None:
    transcripts.write(user / ".claude", megabytes)
    for path in (user / ".claude").rglob("*.jsonl"):
        os.utime(path, (1.0, 1.0))
    for folder in (".codex", ".gemini/tmp", ".qwen/projects"):
        (user / folder).mkdir(parents=True)


def _measure_rest(watch: Watch, seconds: float) -> Seen:
    watch.sample()
    watch.seen = Seen()
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        time.sleep(5.0)
        watch.sample()
    return watch.seen


def _grow(watch: Watch, user: Path, seconds: float, kills: int) -> None:
    chance = random.Random(26)
    with tempfile.TemporaryDirectory() as made:
        files = [*_claude_lines(Path(made), user), *_codex_lines(user, chance)]
    started = time.monotonic()
    deaths = sorted(chance.uniform(0.0, seconds) for _ in range(kills))
    following = _Following(watch.home)
    pause = 0.0
    while (elapsed := time.monotonic() - started) < seconds:
        path, lines = chance.choice(files)
        line = next(lines, None)
        if line is not None:
            watch.seen.lines += 1
            following.expect(_append(path, line, watch.seen.lines))
        pause = LONG_PAUSE if chance.random() < LONG_PAUSES else chance.expovariate(1 / PAUSE)
        until = time.monotonic() + pause
        while time.monotonic() < until:
            if deaths and elapsed >= deaths[0]:
                deaths.pop(0)
                watch.kill()
                watch.start()
            following.look()
            time.sleep(LOOK if following.expected else max(0.0, min(1.0, until - time.monotonic())))
            elapsed = time.monotonic() - started
        watch.sample()
    _wait(lambda: not following.look())
    watch.rest()
    watch.seen.lags = following.lags


def _append(path: Path, line: dict[str, Any], number: int) -> str:
    """Add a line. Returns a mark in the text of a user, which is stored as soon as it is read."""
    mark = f"mark{number:06d}"
    text = json.dumps(line)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write(text.replace("MARK", mark) + "\n")
    return mark if "MARK" in text else ""


class _Following:
    """Looks for marks in what is stored, as another program that reads the database."""

    def __init__(self, home: Path) -> None:
        self._path = home / "mnemos.db"
        self._connection: apsw.Connection | None = None
        self._last = 0
        self.expected: dict[str, float] = {}
        self.lags: list[float] = []

    def expect(self, mark: str) -> None:
        if mark:
            self.expected[mark] = time.monotonic()

    def look(self) -> bool:
        """Return True if something is not stored yet."""
        if not self.expected:
            return False
        if self._connection is None:
            self._connection = apsw.Connection(str(self._path), flags=apsw.SQLITE_OPEN_READONLY)
        rows = self._connection.execute("SELECT id, content FROM messages WHERE id > ?", (self._last,))
        for number, content in rows.fetchall():
            self._last = max(self._last, number)
            for mark in [mark for mark in self.expected if mark in (content or "")]:
                self.lags.append(time.monotonic() - self.expected.pop(mark))
        return bool(self.expected)


def _claude_lines(made: Path, user: Path) -> list[tuple[Path, Iterator[dict[str, Any]]]]:
    """Make conversations of Claude Code with a mark in what the user says."""
    transcripts.write(made, CONVERSATIONS * 1.5, seed=26)
    found = []
    for path in sorted(made.rglob("*.jsonl"))[:CONVERSATIONS]:
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        for line in lines:
            if isinstance(line["message"]["content"], str):
                line["message"]["content"] += " MARK"
        found.append((user / ".claude" / path.relative_to(made), iter(lines)))
    return found


def _codex_lines(user: Path, chance: random.Random) -> list[tuple[Path, Iterator[dict[str, Any]]]]:
    found = []
    for number in range(CONVERSATIONS):
        session = f"019ca000-0000-7000-8000-{number:012d}"
        at = "2026-11-18T12:00:00.000Z"
        about = {"id": session, "timestamp": at, "cwd": "/home/dev/project", "originator": "codex_exec"}
        lines: list[dict[str, Any]] = [{"timestamp": at, "type": "session_meta", "payload": about}]
        for turn in range(2_000):
            role, kind = ("user", "input_text") if turn % 2 == 0 else ("assistant", "output_text")
            said = [{"type": kind, "text": f"MARK {chance.getrandbits(200):x} in turn {turn}"}]
            message = {"type": "message", "role": role, "content": said}
            lines.append({"timestamp": at, "type": "response_item", "payload": message})
        name = f"rollout-2026-11-18T12-00-00-{session}.jsonl"
        found.append((user / ".codex" / "sessions" / "2026" / "11" / "18" / name, iter(lines)))
    return found


def _messages(home: Path) -> Counter[tuple[str, str, str]]:
    """Count what is in a home."""
    with mnemos.open(home) as memory:
        return _count(memory)


def _count(memory: mnemos.Memory) -> Counter[tuple[str, str, str]]:
    """Count texts and calls by session and role.

    A text and the call after it are one message if they are read at once, and otherwise two.
    """
    counted: Counter[tuple[str, str, str]] = Counter()
    for session in memory.sessions.search_sessions(limit=100_000):
        for message in memory.sessions.get_messages(session["id"]):
            said = [message["content"], *map(json.dumps, message.get("tool_calls") or ())]
            counted.update((session["id"], message["role"], str(one)) for one in said if one)
    return counted


def _import_once(user: Path) -> Counter[tuple[str, str, str]]:
    with mnemos.open(":memory:", embedder="none") as memory:
        for kind, folder in (("claude-code", ".claude/projects"), ("codex", ".codex")):
            memory.imports.import_files(load_reader(kind), user / folder)
        return _count(memory)


def _report(
    resting: Seen, rest: float, growing: Seen, took: float, stored: Counter[Any], whole: Counter[Any]
) -> Result:
    lost, doubled = (whole - stored).total(), (stored - whole).total()
    lags = growing.lags
    figures = {
        "rest": {
            "seconds": rest,
            "cpu_percent_of_a_core": 100 * resting.cpu / rest,
            "poller_mb": resting.poller_bytes / 1e6,
        },
        "growth": {
            "seconds": took,
            "lines": growing.lines,
            "kills": growing.kills,
            "cpu_percent_of_a_core": 100 * growing.cpu / took,
            "poller_mb": growing.poller_bytes / 1e6,
            "importer_mb": growing.importer_bytes / 1e6,
            "lags": len(lags),
            "lag_p50_s": median(lags),
            "lag_p95_s": percentile(lags, 0.95),
            "lag_max_s": max(lags),
        },
        "stored": stored.total(),
        "expected": whole.total(),
        "lost": lost,
        "doubled": doubled,
    }
    rows = [
        (
            "at rest", f"{rest:.0f}", f"{100 * resting.cpu / rest:.3f}",
            f"{resting.poller_bytes / 1e6:.1f}", "-",
        ),
        (
            "growing", f"{took:.0f}", f"{100 * growing.cpu / took:.2f}", f"{growing.poller_bytes / 1e6:.1f}",
            f"{growing.importer_bytes / 1e6:.1f}",
        ),
    ]  # fmt: skip
    notes = [
        f"lines: {growing.lines:,}; lag of {len(lags):,} messages: p50 {median(lags):.1f} s, "
        f"p95 {percentile(lags, 0.95):.1f} s, longest {max(lags):.1f} s",
        f"kills: {growing.kills}; expected {whole.total():,} texts and calls, stored {stored.total():,}, "
        f"lost {lost}, doubled {doubled}",
    ]
    heads = ("watch", "seconds", "% of a core", "poller MB", "importer MB")
    return Result("watch", [Table("watch: CPU and memory", heads, rows, notes)], figures)


def _cpu(pid: int) -> float:
    """Return the CPU seconds of a process and its ended children."""
    fields = _read(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / TICKS if fields else 0.0


def _resident(pid: int) -> int:
    fields = _read(f"/proc/{pid}/statm").split()
    return int(fields[1]) * PAGE if fields else 0


def _read(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        # The process has ended.
        return ""


def _wait(is_so: Callable[[], bool]) -> None:
    until = time.monotonic() + LONGEST_WAIT
    while not is_so():
        if time.monotonic() > until:
            raise TimeoutError("the watch did not get there in five minutes")
        time.sleep(LOOK)
