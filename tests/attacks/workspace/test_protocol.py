"""A worker that was taken over says what it likes: its host believes nothing, and is not brought down."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mnemos.workspace import worker
from mnemos.workspace.workspace import Workspace

from .prey import attempt, is_worker

_BEGIN = """
import os, socket, struct, time
import msgspec
line = socket.socket(fileno=0)
def hear():
    size = struct.unpack("!I", line.recv(4, socket.MSG_WAITALL))[0]
    return msgspec.msgpack.decode(line.recv(size, socket.MSG_WAITALL))
def say(body):
    body = body if isinstance(body, bytes) else msgspec.msgpack.encode(body)
    line.sendall(struct.pack("!I", len(body)) + body)
hear()
"""
_READY = """
say({"ready": True})
asked = hear()
value = {"results": [], "warnings": [], "changes": 0, "wrote": False,
         "schema_changed": False, "size_bytes": 0, "elapsed_ms": 0.0}
answer = {"id": asked["id"], "value": value}
"""
LIES = {
    "ends at once": "",
    "ends before it hears": "os._exit(3)",
    "says nothing": "time.sleep(60)",
    "is not ready": "say({'error': 'no'}); hear(); line.recv(1)",
    "garbage instead of ready": "say(b'\\xc1' * 100); line.recv(1)",
    "ends when asked": _READY,
    "hangs when asked": _READY + "time.sleep(60)",
    "garbage": _READY + "say(b'\\xc1\\xc1\\xc1'); line.recv(1)",
    "no object": _READY + "say([1, 2, 3]); line.recv(1)",
    "a number": _READY + "say(5); line.recv(1)",
    "nothing": _READY + "say(None); line.recv(1)",
    "an empty frame": _READY + "say(b''); line.recv(1)",
    "a frame without end": _READY + "line.sendall(b'\\xff\\xff\\xff\\xff' + b'x' * 1000000); line.recv(1)",
    "half a frame": _READY + "line.sendall(b'\\0\\0\\1\\0' + b'x' * 10); line.recv(1)",
    "another id": _READY + "say(answer | {'id': 999}); line.recv(1)",
    "no id": _READY + "answer.pop('id'); say(answer); line.recv(1)",
    "nothing but the id": _READY + "say({'id': asked['id']}); line.recv(1)",
    "results that are none": _READY + "say(answer | {'value': value | {'results': 5}}); line.recv(1)",
    "results without columns": _READY
    + "say(answer | {'value': value | {'results': [{'rows': []}]}}); line.recv(1)",
    "an error that is none": _READY + "say({'id': asked['id'], 'error': 'x'}); line.recv(1)",
    "an error without a message": _READY + "say({'id': asked['id'], 'error': {}}); line.recv(1)",
    "an unknown code": _READY
    + "say({'id': asked['id'], 'error': {'code': 'SystemExit', 'message': 'x', 'statement': None}})",
    "depth": _READY + "say(b'\\x91' * 100000 + b'\\x01'); line.recv(1)",
    "a size that lies": _READY + "say(b'\\xdd\\xff\\xff\\xff\\xff'); line.recv(1)",
    "progress without end": _READY + "\nwhile True: say({'progress': 0.5})",
    "files": _READY + "\nsocket.send_fds(line, [b'\\0'], [os.open('/dev/null', 0)] * 20); line.recv(1)",
    "drop by drop": _READY + "\nwhile True: line.sendall(b'\\0'); time.sleep(0.05)",
    "noise on standard error": _READY + "\nwhile True: os.write(2, b'x' * 1000)",
}


@pytest.fixture
def lying(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[Workspace]:
    """A workspace whose worker is a program of the attacker's."""
    (tmp_path / "mnemos_taken_over.py").write_text(_BEGIN + LIES[request.param])
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(worker, "_MODULE", "mnemos_taken_over")
    monkeypatch.setattr(worker, "_START_SECONDS", 1.0)
    assert str(tmp_path) in sys.path
    workspace = Workspace(tmp_path / "databases")
    yield workspace
    workspace.close()


@pytest.mark.parametrize("lying", LIES, indirect=True)
def test_a_worker_that_lies_harms_nobody(lying: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = attempt(lambda: lying.query("SELECT 1", timeout=0.3))
    assert outcome.code in {"unavailable", "timed_out", "too_large", "error"}, outcome
    # However loaded the machine is: it came back, and did not wait for the liar.
    assert outcome.seconds < 60
    process = lying._worker.process_id()
    # With a worker of ours, everything is as it was.
    monkeypatch.setattr(worker, "_MODULE", "mnemos.workspace.sandbox")
    monkeypatch.setattr(worker, "_START_SECONDS", 30.0)
    lying.close()
    assert process is None or not is_worker(process)
    assert lying.query("SELECT 1").rows == [[1]]
