"""Claude Code hooks: when a prompt gets context, and how long a real process takes for each event.

The decision is measured on labelled prompts over a made-up history of thirty conversations: alone, and among
other messages. ``prompts.tsv`` is what the threshold was chosen on, ``prompts-held-out.tsv`` is not.
Processes run in turn, with compiled bytecode, alongside an interpreter that does nothing.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mnemos
from benchmarks.corpus import Corpus
from benchmarks.measure import percentile, summary
from benchmarks.peers import ROOT, clean_environment, working_folder
from benchmarks.report import Options, Result, Table
from mnemos.integrations.hooks import prompt_context
from mnemos.memory.home import Home
from mnemos.settings import Settings

DATA = ROOT / "tests" / "data" / "hooks"
SETS = ("prompts.tsv", "prompts-held-out.tsv")
NOTHING = "-"
RUNS = 25
QUICK_RUNS = 3
NEW_MESSAGES = 6
SESSION = "bench-session"
FLOOR = "python -c pass"
PROMPT = "which port does pgbouncer listen on?"


@dataclass(frozen=True, slots=True)
class Decision:
    """The number of prompts with context, and of those that should have had some."""

    given: int
    rightly: int
    from_the_right_place: int
    wanted: int

    @property
    def precision(self) -> float:
        return self.rightly / self.given if self.given else 1.0

    @property
    def recall(self) -> float:
        return self.rightly / self.wanted if self.wanted else 1.0


@dataclass(frozen=True, slots=True)
class Spent:
    """Milliseconds of a process; those of others that it started are not in it."""

    wall: float
    cpu: float


def run(options: Options) -> Result:
    figures: dict[str, Any] = {"decision": {}, "processes": {}}
    decided: list[list[str]] = []
    timed: list[list[str]] = []
    for size in (0, *options.sizes):
        with working_folder() as folder:
            fill(folder, size)
            for name in SETS:
                decision = decide(folder, DATA / name)
                figures["decision"][f"{name}, {size} others"] = {
                    "precision": decision.precision,
                    "recall": decision.recall,
                    "given": decision.given,
                    "from_the_right_place": decision.from_the_right_place,
                }
                decided.append(_decision_row(name, size, decision))
            if size:
                times = measure(folder, QUICK_RUNS if options.quick else RUNS)
                figures["processes"][str(size)] = {name: _spread(taken) for name, taken in times.items()}
                timed += [_time_row(size, name, taken, times[FLOOR]) for name, taken in times.items()]
    return Result("hooks", [_decision_table(decided), _time_table(timed)], figures)


def fill(home: Path, others: int) -> None:
    """The history, and a number of messages of other conversations; a note and facts besides."""
    with mnemos.open(home, embedder="none") as memory:
        for session in Corpus(size=others, seed=1).sessions() if others else ():
            memory.sessions.ensure_session(session.id, session.source)
            memory.sessions.append_messages(session.id, session.messages)
        for conversation, role, text in rows_of(DATA / "history.tsv"):
            memory.sessions.ensure_session(conversation, "claude-code")
            memory.sessions.append_message(conversation, role, text)
        memory.notebook.add("The user prefers short answers and metric units.", target="user")
        memory.notebook.add("The staging server is reached through the bastion.")
        memory.facts.write("C[deploy]: never on a Friday\nD[queue]: NATS instead of RabbitMQ")
        memory.storage.catch_up()


def decide(home: Path, prompts: Path) -> Decision:
    given = rightly = right_place = wanted = 0
    opened = Home(Settings.load(home), read_only=True)
    for prompt, conversation in rows_of(prompts):
        asked = prompt_context.extract_question(prompt)
        found = prompt_context.find_passages(opened, asked) if asked else None
        wanted += conversation != NOTHING
        if found is None or found.best < prompt_context.THRESHOLD:
            continue
        given += 1
        rightly += conversation != NOTHING
        best = found.ranked.candidates[found.evidence.index(found.best)]
        right_place += best.stretch is not None and best.stretch.session_id == conversation
    opened.close()
    return Decision(given, rightly, right_place, wanted)


def rows_of(file: Path) -> list[list[str]]:
    lines = file.read_text().splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


# --- processes ----------------------------------------------------------------------------------


def measure(home: Path, runs: int) -> dict[str, list[Spent]]:
    """Time the commands in turn; each runs once before, so that bytecode is compiled."""
    transcript = home / "transcripts" / f"{SESSION}.jsonl"
    transcript.parent.mkdir()
    told = {"session_id": SESSION, "transcript_path": str(transcript), "cwd": str(home)}
    hook = (str(Path(sys.executable).parent / "mnemos"), "hook")
    commands: dict[str, tuple[Sequence[str], dict[str, Any]]] = {
        FLOOR: ((sys.executable, "-c", "pass"), {}),
        "session-start": ((*hook, "session-start"), {**told, "source": "startup"}),
        "user-prompt": ((*hook, "user-prompt"), {**told, "prompt": PROMPT}),
        "user-prompt (thanks)": ((*hook, "user-prompt"), {**told, "prompt": "thanks"}),
        "stop": ((*hook, "stop"), {**told, "stop_hook_active": False}),
        "pre-compact": ((*hook, "pre-compact"), {**told, "trigger": "auto"}),
        "session-end": ((*hook, "session-end"), {**told, "reason": "other"}),
    }
    environment = clean_environment(home)
    times: dict[str, list[Spent]] = {name: [] for name in commands}
    for number in range(runs + 1):
        for name, (arguments, event) in commands.items():
            _talk(transcript, number)
            taken = _spend(arguments, json.dumps(event).encode(), environment)
            if number:
                times[name].append(taken)
            _settle(home)
    return times


def _settle(home: Path) -> None:
    """Wait until what was left to the background is done: it should not disturb the next."""
    until = time.monotonic() + 20
    while time.monotonic() < until and any((home / "hooks").glob("*.json")):
        time.sleep(0.02)


def _talk(transcript: Path, number: int) -> None:
    """Another turn of the session."""
    with transcript.open("a") as file:
        for part in range(NEW_MESSAGES):
            key = f"{transcript.stat().st_size}-{number}-{part}"
            text = (
                f"We look at the shipping module again, step {key}. "
                + "It moves parcels between depots. " * 4
            )
            is_user = part % 2 == 0
            message = {"role": "user", "content": text}
            if not is_user:
                message = {"role": "assistant", "id": key, "content": [{"type": "text", "text": text}]}
            line = {
                "type": message["role"],
                "uuid": key,
                "sessionId": SESSION,
                "timestamp": "2026-01-05T10:00:00.000Z",
                "message": message,
            }
            file.write(json.dumps(line) + "\n")


def _spend(arguments: Sequence[str], said: bytes, environment: dict[str, str]) -> Spent:
    with tempfile.TemporaryFile() as event:
        event.write(said)
        event.seek(0)
        before = time.perf_counter()
        process = subprocess.Popen(
            arguments, env=environment, stdin=event, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - before
        # wait4 has reaped the child behind the back of Popen, which would look for it again.
        process.returncode = os.waitstatus_to_exitcode(status)
        return Spent(wall * 1e3, (usage.ru_utime + usage.ru_stime) * 1e3)


# --- showing ------------------------------------------------------------------------------------


def _spread(taken: Sequence[Spent]) -> dict[str, Any]:
    return {
        "wall_ms": _summary([one.wall for one in taken]),
        "cpu_ms": _summary([one.cpu for one in taken]),
    }


def _summary(values: list[float]) -> dict[str, float]:
    return {**summary(values), "p95": percentile(values, 0.95)}


def _decision_row(name: str, size: int, decision: Decision) -> list[str]:
    return [
        name,
        f"{size:,}",
        f"{decision.precision:.3f}",
        f"{decision.recall:.3f}",
        f"{decision.from_the_right_place} of {decision.given}",
    ]


def _decision_table(rows: list[list[str]]) -> Table:
    return Table(
        f"context for a prompt, threshold {prompt_context.THRESHOLD}",
        ("prompts", "other messages", "precision", "recall", "right conversation"),
        rows,
    )


def _time_row(size: int, name: str, taken: Sequence[Spent], floor: Sequence[Spent]) -> list[str]:
    wall, cpu = _spread(taken)["wall_ms"], _spread(taken)["cpu_ms"]
    above = cpu["median"] - _spread(floor)["cpu_ms"]["median"]
    figures = (wall["median"], wall["p95"], cpu["median"], cpu["p95"], above)
    return [name, f"{size:,}", *(f"{figure:.0f}" for figure in figures)]


def _time_table(rows: list[list[str]]) -> Table:
    return Table(
        "whole processes, milliseconds",
        ("event", "messages", "wall", "p95", "CPU", "p95", "CPU above the floor"),
        rows,
        (f"{os.cpu_count()} cores; {NEW_MESSAGES} new messages before each event",),
    )
