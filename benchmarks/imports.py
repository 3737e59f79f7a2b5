"""Speed of imports: made-up Claude Code transcripts, in megabytes per CPU second.

Each import runs in a process of its own into a new home; the CPU of all its threads is counted, for reading
and storing alone that of the thread which does it, because another begins to index. "decode" is the
limit: the same lines read and decoded by msgspec into plain objects, nothing kept. Alongside an import, a
second process appends a message every few milliseconds, as an agent would, and says how long it waited.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks import transcripts
from benchmarks.measure import median, percentile
from benchmarks.peers import clean_environment, working_folder
from benchmarks.report import Options, Result, Table

MEGABYTES = 100
QUICK_MEGABYTES = 4
# Never decoded again, only looked at: as large as the promise.
UNCHANGED_MEGABYTES = 1_000


def run(options: Options) -> Result:
    figures: dict[str, Any] = {}
    with working_folder() as folder:
        megabytes = QUICK_MEGABYTES if options.quick else MEGABYTES
        files = folder / "transcripts"
        size = transcripts.write(files, megabytes)
        figures["bytes"] = size
        for way in ("decode", "store", "index", "vectors"):
            figures[way] = _measured(folder, files, way, options.repeat)
            figures[way]["mb_per_cpu_second"] = round(size / 1e6 / figures[way]["cpu_seconds"], 1)
        figures["agent"] = _beside(folder, files)
        figures["unchanged"] = _unchanged(folder, 20 if options.quick else UNCHANGED_MEGABYTES)
    return Result("imports", _tables(figures), figures)


def _measured(folder: Path, files: Path, way: str, repeat: int) -> dict[str, Any]:
    runs = [_child("one", way, str(files), str(folder / f"{way}-{number}")) for number in range(repeat)]
    return {
        "cpu_seconds": median([run["cpu"] for run in runs]),
        "memory_mb": max(run["memory_mb"] for run in runs),
        "messages": runs[0]["messages"],
        "file_bytes": runs[0]["file_bytes"],
    }


def _beside(folder: Path, files: Path) -> dict[str, Any]:
    """The time of an agent's appends during an import, and without one."""
    home = str(folder / "beside")
    alone = _child("agent", home, "2")
    importer = _started("one", "index", str(files), home)
    agent = _started("agent", home, "0", str(importer.pid))
    importer.communicate()
    return {"alone": alone, "beside": json.loads(agent.communicate()[0])}


def _unchanged(folder: Path, megabytes: float) -> dict[str, Any]:
    files, home = folder / "unchanged", str(folder / "unchanged-home")
    size = transcripts.write(files, megabytes)
    _child("one", "store", str(files), home)
    again = _child("one", "store", str(files), home)
    return {"bytes": size, "seconds": again["seconds"], "messages": again["messages"]}


def _started(*arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "benchmarks.imports", *arguments],
        stdout=subprocess.PIPE,
        env=clean_environment(Path(arguments[-1])),
    )


def _child(*arguments: str) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(_started(*arguments).communicate()[0])
    return answer


def _tables(figures: dict[str, Any]) -> list[Table]:
    names = {
        "decode": "decode the lines (the limit)",
        "store": "read and store",
        "index": "and index the words",
        "vectors": "and make the vectors",
    }
    speed = Table(
        "Import of transcripts",
        ("", "MB a CPU second", "share of the limit", "memory MB"),
        [
            (
                text,
                f"{figures[way]['mb_per_cpu_second']:.1f}",
                f"{figures['decode']['cpu_seconds'] / figures[way]['cpu_seconds']:.2f}",
                f"{figures[way]['memory_mb']:.0f}",
            )
            for way, text in names.items()
        ],
    )
    waits = Table(
        "An agent's append in the meantime, ms",
        ("", "p50", "p99", "longest"),
        [
            (text, *(f"{figures['agent'][key][name]:.1f}" for name in ("p50", "p99", "longest")))
            for key, text in (("alone", "alone"), ("beside", "alongside an import"))
        ],
    )
    unchanged = figures["unchanged"]
    again = Table(
        "Import of what is unchanged",
        ("MB", "seconds", "messages"),
        [(f"{unchanged['bytes'] / 1e6:.0f}", f"{unchanged['seconds']:.2f}", str(unchanged["messages"]))],
    )
    return [speed, waits, again]


# --- in a process of its own -------------------------------------------------------------------


def _import(way: str, files: str, home: str) -> dict[str, Any]:
    import mnemos
    from mnemos.transfer.readers.claude_code import READER

    timer = time.thread_time if way == "store" else time.process_time
    began, clock = timer(), time.perf_counter()
    if way == "decode":
        return _decode(Path(files), began)
    with mnemos.open(home, embedder="static" if way == "vectors" else "none") as memory:
        if way == "store":
            # Neither during the import nor after it.
            memory.storage.catch_up = lambda *_: 0  # type: ignore[method-assign]
        report = memory.imports.import_files(READER, Path(files), indexes=way != "store")
        if way == "vectors":
            memory.embedding.catch_up()
        cpu, seconds = timer() - began, time.perf_counter() - clock
        size = memory.database.stat().st_size
        if way == "store":
            # Closing would index.
            _say(cpu, seconds, report.messages, size)
            os._exit(0)
    return _figures(cpu, seconds, report.messages, size)


def _decode(files: Path, began: float) -> dict[str, Any]:
    import msgspec

    lines = 0
    for path in sorted(files.rglob("*.jsonl")):
        with path.open("rb") as file:
            for line in file:
                msgspec.json.decode(line)
                lines += 1
    return _figures(time.process_time() - began, 0.0, lines, 0)


def _append(home: str, seconds: float, importer: int) -> dict[str, Any]:
    """Append for ``seconds``, or as long as another process lives; how long each took, in ms."""
    import mnemos

    waits: list[float] = []
    with mnemos.open(home, embedder="none") as memory:
        memory.sessions.ensure_session("agent", "cli")
        end = time.monotonic() + seconds
        while not waits or ((time.monotonic() < end) if not importer else _lives(importer)):
            began = time.perf_counter()
            memory.sessions.append_message("agent", "user", "what the agent says in the meantime")
            waits.append((time.perf_counter() - began) * 1000)
            time.sleep(0.005)
    return {
        "p50": percentile(waits, 0.5),
        "p99": percentile(waits, 0.99),
        "longest": max(waits),
        "appends": len(waits),
    }


def _lives(process: int) -> bool:
    # A child that ended and was not waited for yet has this state.
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _figures(cpu: float, seconds: float, messages: int, size: int) -> dict[str, Any]:
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "cpu": cpu,
        "seconds": seconds,
        "messages": messages,
        "file_bytes": size,
        "memory_mb": memory,
    }


def _say(cpu: float, seconds: float, messages: int, size: int) -> None:
    os.write(1, json.dumps(_figures(cpu, seconds, messages, size)).encode())


if __name__ == "__main__":
    if sys.argv[1] == "one":
        print(json.dumps(_import(*sys.argv[2:5])))
    else:
        other = int(sys.argv[4]) if len(sys.argv) > 4 else 0
        print(json.dumps(_append(sys.argv[2], float(sys.argv[3]), other)))
