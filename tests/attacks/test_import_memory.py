"""Imports in little memory: long lines and many files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import mnemos
from mnemos.errors import TooLarge
from mnemos.sessions import transcript
from mnemos.transfer.foreign_files import LONGEST
from mnemos.transfer.reader import Item, Mark, Reader, SourceFile

MEGABYTE = 1 << 20
MOST = 200 * MEGABYTE

needs_proc = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc")

_IMPORT = r"""
import json, re, sys
from importlib import import_module
from pathlib import Path
import mnemos
kind, path = sys.argv[1:]
with mnemos.open() as memory:
    reader = import_module(f"mnemos.transfer.readers.{kind}").READER
    report = memory.imports.import_files(reader, Path(path))
# Not getrusage, whose peak begins with that of the process which started this one.
peak = int(re.search(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024
lines = [[problem.line, problem.path] for problem in report.problems]
print(json.dumps([report.messages, report.unchanged, lines, peak]))
"""

Build = Callable[[str], Any]
Attempts = Callable[[int], None]


def claude_code(text: str) -> Any:
    return {"type": "user", "uuid": text[:9], "sessionId": "s", "message": {"role": "user", "content": text}}


def claude_code_image(data: str) -> Any:
    source = {"type": "base64", "media_type": "image/png", "data": data}
    content = [{"type": "text", "text": data[:9]}, {"type": "image", "source": source}]
    return {"type": "user", "uuid": "1", "sessionId": "s", "message": {"role": "user", "content": content}}


def claude_code_answer(text: str) -> Any:
    message = {"role": "assistant", "id": "m", "content": [{"type": "text", "text": text}]}
    return {"type": "assistant", "uuid": text[:9], "sessionId": "s", "message": message}


def openai_jsonl(text: str) -> Any:
    return {"role": "user", "content": text}


def codex(text: str) -> Any:
    content = [{"type": "input_text", "text": text}]
    return {"type": "response_item", "payload": {"type": "message", "role": "user", "content": content}}


def import_file(kind: str, path: Path) -> tuple[int, int, list[list[Any]], int]:
    done = subprocess.run(
        [sys.executable, "-c", _IMPORT, kind, str(path)], capture_output=True, text=True, check=True
    )
    messages, unchanged, lines, peak = json.loads(done.stdout)
    return messages, unchanged, lines, peak


@needs_proc
@pytest.mark.parametrize("build", [claude_code, openai_jsonl, codex])
def test_a_line_of_200_megabytes_is_skipped_and_reported(tmp_path: Path, build: Build) -> None:
    file = tmp_path / "s.jsonl"
    with file.open("w") as out:
        out.write(json.dumps(build("before it")) + "\n" + json.dumps(build(""))[: -len('"}')])
        for _ in range(200):
            out.write("a" * 1_000_000)
        out.write("\n" + json.dumps(build("after it")) + "\n")
    messages, _, problems, peak = import_file(build.__name__, file)
    assert messages == 2
    assert problems == [[2, str(file)]]
    assert peak < MOST


@needs_proc
@pytest.mark.parametrize(
    ("build", "text", "messages"),
    [
        (claude_code, "word and more ", 3),
        (claude_code_image, "iVBORw0KGgo", 1),
        (claude_code_answer, "word and more ", 3),
        (openai_jsonl, "word and more ", 3),
        (codex, "word and more ", 3),
    ],
)
def test_the_longest_lines_that_are_read_take_little_memory(
    tmp_path: Path, build: Build, text: str, messages: int
) -> None:
    file = tmp_path / "s.jsonl"
    with file.open("w") as out:
        for number in range(3):
            long = text * ((LONGEST - 1_000) // len(text))
            out.write(json.dumps(build(f"{number:09}{long}")) + "\n")
    kind = "claude_code" if build.__name__.startswith("claude_code") else build.__name__
    stored, _, problems, peak = import_file(kind, file)
    assert (stored, problems) == (messages, [])
    assert peak < MOST


def test_a_session_of_200_megabytes_is_refused_before_it_is_read(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "all.jsonl"
    with file.open("wb") as out:
        out.truncate(200 * MEGABYTE)
    tracemalloc.start()
    with mnemos.open(home) as memory, file.open("rb") as stream:
        with pytest.raises(TooLarge):
            memory.sessions.import_jsonl(stream)
        peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * transcript.LONGEST_LINE


def test_one_session_of_an_export_is_in_memory_at_a_time(tmp_path: Path) -> None:
    file = tmp_path / "all.jsonl"
    with file.open("w") as out:
        for number in range(50):
            said = [{"role": "user", "content": f"{number} " + "word " * 40_000, "timestamp": 1.0}]
            parent = f"s{number + 1}" if number < 49 else None
            session = {"id": f"s{number}", "source": "cli", "parent_session_id": parent, "messages": said}
            out.write(json.dumps(session) + "\n")
    with file.open("rb") as stream:
        tracemalloc.start()
        lines = transcript.SessionLines(stream)
        sessions = transcript.check_sessions(lines, now=1.0, redact=str, max_bytes=16 * MEGABYTE)
        contents = [
            (message.message.content or "")[:7] for session in sessions for message in session.messages
        ]
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    # Children come first in the file, and parents are stored first.
    assert [session.session.id for session in sessions] == [f"s{number}" for number in reversed(range(50))]
    assert contents[:2] == ["49 word", "48 word"]
    assert file.stat().st_size > 9 * MEGABYTE
    assert peak < 4 * MEGABYTE


def test_many_files_are_not_listed_in_memory(home: Path, tmp_path: Path, attempts: Attempts) -> None:
    attempts(20_000)

    def find(_path: Path, _on_problem: object) -> Iterator[SourceFile]:
        return (SourceFile(tmp_path / f"{number}.jsonl", 1, 1) for number in range(20_000))

    def read(_source: SourceFile, _mark: Mark) -> Iterator[Item]:
        raise AssertionError("none of them is new enough")

    with mnemos.open(home) as memory:
        tracemalloc.start()
        report = memory.imports.import_files(Reader("many", "Many", find, read), tmp_path, since=1e9)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert report.left_out == {"older files": 20_000}
    # Modules that are read for the first time count too; a list of the files would take 10.
    assert peak < 6 * MEGABYTE


@needs_proc
@pytest.mark.nightly
def test_200_000_files_take_less_than_200_megabytes(tmp_path: Path) -> None:
    for number in range(200_000):
        folder = tmp_path / "projects" / str(number // 1_000)
        folder.mkdir(parents=True, exist_ok=True)
        line = claude_code(f"{number:09}") | {"sessionId": f"{number:08}-0000-4000-8000-000000000000"}
        (folder / f"{number}.jsonl").write_text(json.dumps(line) + "\n")
    messages, _, problems, peak = import_file("claude_code", tmp_path)
    assert (messages, problems) == (200_000, [])
    assert peak < MOST
    _, unchanged, _, peak = import_file("claude_code", tmp_path)
    assert unchanged == 200_000
    assert peak < MOST


def test_a_pipe_is_not_imported_as_sessions(home: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with mnemos.open(home) as memory, pytest.raises(mnemos.errors.PermissionDenied):
        memory.call("sessions_import", {"path": str(tmp_path / "pipe")})
