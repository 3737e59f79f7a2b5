"""Answers as streams: events of a call, lines, files that are downloaded and uploaded."""

from __future__ import annotations

import io
import json
import shutil
import socket
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mnemos.faces.http import file_transfers, limits
from mnemos.memory import Memory
from mnemos.memory.access_tokens import create_token
from mnemos.operations import registry
from mnemos.settings import Settings

from ..mcp.wire import SECONDS
from .schemas import check_result
from .servers import Answered, Server, serving

CONVERSATION = '{"messages": [{"role": "user", "content": "Which kiln do we fire in, number %d?"}]}\n'


@pytest.fixture(scope="module")
def root(filled: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shutil.copytree(filled, tmp_path_factory.mktemp("streamed") / "root")


@pytest.fixture(scope="module")
def server(root: Path) -> Iterator[Server]:
    with serving(root / "home") as one:
        yield one


def events_of(answer: Answered) -> list[tuple[str, Any]]:
    assert answer.headers["content-type"] == "text/event-stream"
    return list(parse_events(answer.body.decode()))


def parse_events(text: str) -> Iterator[tuple[str, Any]]:
    assert text.endswith("\n\n")
    for block in text.removesuffix("\n\n").split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n") if not line.startswith(":"))
        if fields:
            yield fields["event"], json.loads(fields["data"])


def upload(server: Server, name: str, body: bytes, media: str, token: str | None = None) -> Answered:
    return server.send("POST", f"/v1/{name}", body, token=token, **{"content-type": media})


def give_token(root: Path, scope: str) -> str:
    return create_token(Settings(home=root / "home"), scope, scope, now=time.time())[1]


def test_any_operation_answers_with_the_events_of_its_result(server: Server) -> None:
    for name in ("memory_status", "notebook_show", "log"):
        [(event, data)] = events_of(server.post(name, accept="text/event-stream"))
        assert event == "result"
        check_result(name, data)
        assert data == server.post(name).json


def test_a_long_operation_reports_its_progress_first(server: Server, root: Path) -> None:
    asked = {"path": str(root / "progress.tar")}
    made = events_of(server.post("export", asked, accept="text/event-stream"))
    assert {name for name, _ in made[:-1]} == {"progress"}
    shares = [data["share"] for _, data in made[:-1]]
    assert shares == sorted(shares)
    assert 0 <= shares[0] <= shares[-1] <= 1
    assert made[0][1]["label"]
    check_result("export", made[-1][1])


def test_a_call_that_fails_at_once_has_its_status(server: Server) -> None:
    answer = server.post("sessions_show", {"session": "nowhere"}, accept="text/event-stream")
    assert (answer.status, answer.code) == (404, "not_found")


def test_a_call_that_fails_later_ends_with_an_error_event(server: Server, root: Path) -> None:
    broken = (root / "copy.tar.zst").read_bytes()[:-200]
    answer = server.send(
        "POST",
        "/v1/import_archive",
        broken,
        **{"content-type": "application/zstd", "accept": "text/event-stream"},
    )
    assert b"Traceback" not in answer.body
    if answer.status == 200:
        event, data = events_of(answer)[-1]
        assert event == "error"
        assert data["error"]["code"]
    else:
        assert answer.code


def test_a_client_that_leaves_does_not_stop_what_it_began(server: Server, root: Path) -> None:
    lines = "".join(CONVERSATION % number for number in range(300)).encode()
    with socket.create_connection(("127.0.0.1", server.port)) as client:
        head = (
            f"POST /v1/import_jsonl HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
            f"Authorization: Bearer {server.token}\r\nAccept: text/event-stream\r\n"
            f"Content-Type: application/x-ndjson\r\nContent-Length: {len(lines)}\r\n\r\n"
        )
        client.sendall(head.encode() + lines)
        assert client.recv(12) == b"HTTP/1.1 200"
    deadline = time.monotonic() + SECONDS
    with Memory.at(root / "home") as memory:
        while memory.sessions.session_count("jsonl") < 300:
            assert time.monotonic() < deadline


def test_lines_are_those_that_the_operation_writes(server: Server, root: Path) -> None:
    with Memory.at(root / "home") as memory:
        expected = io.StringIO()
        registry.read("sessions_export", {"path": "-"}).write_lines(memory, expected)
    answer = server.post("sessions_export", accept="application/x-ndjson")
    assert answer.headers["content-type"] == "application/x-ndjson; charset=utf-8"
    assert answer.body.decode() == expected.getvalue()
    markdown = server.post("sessions_export", {"session": ["slot-bug"]}, accept="text/markdown")
    assert markdown.body.startswith(b"# ")
    rows = server.post("sqlite_export", {"query": "SELECT 'a,b' AS x, 1 AS y"}, accept="text/csv")
    assert rows.body == b'x,y\r\n"a,b",1\r\n' or rows.body == b'x,y\n"a,b",1\n'


@pytest.mark.parametrize(
    ("name", "arguments", "accept", "status"),
    [
        ("recall", {"query": "x"}, "text/csv", 406),
        ("sessions_export", {}, "application/zstd", 406),
        ("sessions_export", {"path": "/tmp/elsewhere.jsonl"}, "application/x-ndjson", 400),
        ("sessions_export", {"format": "markdown"}, "application/x-ndjson", 400),
        ("sessions_export", {}, "text/csv", 400),
        ("sessions_export", {"session": ["nowhere"]}, "application/x-ndjson", 404),
        ("sqlite_export", {"query": "DELETE FROM prices"}, "text/csv", 403),
        ("export", {"path": "/tmp/elsewhere.tar"}, "application/x-tar", 400),
        ("memory_status", {}, "image/png", 200),
        ("memory_status", {}, "application/json, text/event-stream", 200),
    ],
)
def test_an_answer_that_cannot_be_given_in_a_form_is_refused(
    server: Server, name: str, arguments: dict[str, Any], accept: str, status: int
) -> None:
    answer = server.post(name, arguments, accept=accept)
    assert answer.status == status, answer.body
    assert answer.headers["content-type"] == "application/json"


def test_an_export_without_a_path_explains_how_to_download_it(server: Server) -> None:
    answer = server.post("export")
    assert answer.code == "invalid_input"
    assert b"Accept: application/zstd" in answer.body


def test_a_downloaded_archive_is_complete_and_can_be_uploaded(server: Server, root: Path) -> None:
    reader = give_token(root, "read")
    archive = server.post("export", token=reader, accept="application/zstd")
    assert int(archive.headers["content-length"]) == len(archive.body)
    assert archive.headers["content-disposition"].startswith('attachment; filename="mnemos-')
    verified = upload(server, "verify", archive.body, "application/zstd", token=reader)
    assert (verified.status, verified.json["holds_all"]) == (200, True)
    assert upload(server, "import_archive", archive.body, "application/zstd", token=reader).status == 403
    done = upload(server, "import_archive", archive.body, "application/zstd", token=give_token(root, "write"))
    assert done.status == 200
    check_result("import_archive", done.json)


def test_a_backup_of_all_spaces_is_for_the_owner_only(server: Server, root: Path, tmp_path: Path) -> None:
    media = "application/vnd.sqlite3"
    assert server.post("backup", token=give_token(root, "admin"), accept=media).status == 403
    assert server.post("backup", accept=media, **{"x-forwarded-for": "10.0.0.1"}).status == 403
    copy = tmp_path / "copy.db"
    copy.write_bytes(server.post("backup", accept=media).body)
    with Memory.at(tmp_path / "home") as memory:
        memory.restore(copy)
        assert memory.sessions.get_session("slot-bug") is not None


def test_an_export_of_chatgpt_and_a_csv_are_uploaded_and_imported(server: Server, root: Path) -> None:
    packed = io.BytesIO()
    folder = root / "imports" / "chatgpt" / "export"
    with zipfile.ZipFile(packed, "w") as archive:
        for file in sorted(folder.rglob("*")):
            archive.write(file, file.relative_to(folder))
    writer = give_token(root, "write")
    first = upload(server, "import_chatgpt?text=false", packed.getvalue(), "application/zip", token=writer)
    assert (first.status, first.json["sessions"] > 0, "text" in first.json) == (200, True, False)
    check_result("import_chatgpt", first.json)
    assert (first.json["path"], str(root).encode() in first.body) == ("upload.zip", False)
    broken = upload(server, "import_chatgpt", b"PK no zip", "application/zip", token=writer)
    assert (broken.json["sessions"], b"damaged zip" in broken.body) == (0, True)
    assert str(root).encode() not in broken.body
    second = upload(server, "import_chatgpt", packed.getvalue(), "application/octet-stream", token=writer)
    assert (second.json["sessions"], second.json["messages"]) == (0, 0)
    rows = "name,n\nMüller,1\n東京,2\n".encode()
    done = upload(server, "sqlite_import?table=people&mode=create", rows, "text/csv", token=writer)
    assert (done.status, done.json["rows"]) == (200, 2)
    asked = server.post("sqlite_query", {"query": "SELECT name FROM people ORDER BY n"})
    assert asked.json["rows"] == [["Müller"], ["東京"]]


@pytest.mark.parametrize("name", ["verify", "import_archive"])
@pytest.mark.parametrize("media", ["application/zstd", "application/octet-stream"])
def test_a_damaged_upload_is_a_mistake_of_the_client(server: Server, name: str, media: str) -> None:
    done = upload(server, name, b"(\xb5/\xfd not an archive", media)
    assert (done.status, done.code) == (400, "invalid_input")
    assert "damaged" in done.json["error"]["message"]


def test_nothing_of_an_upload_stays_whatever_becomes_of_it(root: Path, tmp_path: Path) -> None:
    home = shutil.copytree(root / "home", tmp_path / "home")
    with serving(home) as server:
        _fail_to_upload(server)
        assert server.stop() == 0
    assert list((home / "files" / "default").glob(".mnemos*")) == []


def _fail_to_upload(server: Server) -> None:
    assert upload(server, "import_chatgpt", b"not a zip file", "application/zip").status in (200, 400)
    assert upload(server, "sqlite_import?table=x&path=/etc/passwd", b"a\n1\n", "text/csv").status == 400
    assert upload(server, "sqlite_import", b"a\n1\n", "text/csv").code == "invalid_input"
    assert upload(server, "sqlite_import?table=x&preview=maybe", b"a\n1\n", "text/csv").status == 400
    assert upload(server, "sessions_append", b"a\n1\n", "text/csv").status == 415
    assert upload(server, "restore", b"a", "application/octet-stream").status == 415
    assert upload(server, "import_jsonl", b"a", "text/html").status == 415
    with server.connect() as client:
        head = (
            f"POST /v1/import_jsonl HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
            f"Authorization: Bearer {server.token}\r\nContent-Type: application/x-ndjson\r\n"
        )
        client.sendall(f"{head}Content-Length: {limits.UPLOAD_BYTES + 1}\r\n\r\n".encode())
        assert client.recv(12) == b"HTTP/1.1 413"
    with server.connect() as client:
        client.sendall(f"{head}Content-Length: 100000\r\n\r\n".encode() + b"{" * 50_000)


def test_every_operation_with_a_file_in_a_body_has_a_path_and_is_local() -> None:
    for name in {*file_transfers.UPLOADS, *file_transfers.DOWNLOADS}:
        operation = registry.find(name)
        assert operation.traits.local, name
        assert "path" in operation.__struct_fields__, name
