"""Every operation over HTTP: answers, errors and their statuses."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mnemos import errors
from mnemos.errors import MnemosError
from mnemos.faces.http.replies import status_of
from mnemos.memory import Memory
from mnemos.operations import registry
from mnemos.operations.index import ENTRIES

from ..calls import CALLS, arguments
from ..test_same_result import comparable
from .servers import Server, serving

STATUSES = {
    "error": 500,
    "invalid_input": 400,
    "too_large": 413,
    "sql_error": 400,
    "not_found": 404,
    "refused": 409,
    "already_exists": 409,
    "ambiguous": 409,
    "conflict": 409,
    "disabled": 409,
    "not_allowed": 403,
    "read_only": 403,
    "permission_denied": 403,
    "unavailable": 503,
    "busy": 503,
    "disk_full": 507,
    "timed_out": 504,
    "cancelled": 503,
    "model_unavailable": 503,
}


@pytest.fixture(scope="module")
def root(filled: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shutil.copytree(filled, tmp_path_factory.mktemp("served") / "root")


@pytest.fixture(scope="module")
def server(root: Path) -> Iterator[Server]:
    with serving(root / "home") as one:
        yield one


def every_error(kind: type[MnemosError] = MnemosError) -> Iterator[type[MnemosError]]:
    yield kind
    for below in kind.__subclasses__():
        if below.__module__ == errors.__name__:
            yield from every_error(below)


def test_every_error_of_the_tree_has_its_status() -> None:
    found = {kind.code: status_of(kind("")) for kind in every_error()}
    assert found == {code: STATUSES.get(code, 500) for code in found}
    assert set(STATUSES) <= set(found)


def test_every_operation_has_a_route_that_checks_its_input(server: Server) -> None:
    answers = {entry.name: server.post(entry.name, {"no_such_field": 1}) for entry in ENTRIES}
    assert {name: (one.status, one.code) for name, one in answers.items()} == dict.fromkeys(
        answers, (400, "invalid_input")
    )


def test_every_read_answers_what_python_answers(server: Server, root: Path) -> None:
    names = [name for name in CALLS if registry.find(name).traits.read_only]
    assert len(names) > 20
    with Memory.at(root / "home") as memory:
        for name in names:
            given = arguments(name, str(root))
            answer = server.post(name, given)
            assert answer.status == 200, answer.body
            assert comparable(answer.json, root) == comparable(memory.call(name, given), root), name
            assert answer.json["text"].strip()


def test_a_write_is_there_for_the_next_request_and_for_python(server: Server, root: Path) -> None:
    said = "Der Zug fährt um 7 🚆 东京"
    stored = server.post("sessions_append", {"session_id": "empty", "role": "user", "content": said})
    assert stored.status == 200
    found = server.post("sessions_search", {"query": "Zug"}).json
    assert [hit["id"] for hit in found["hits"]] == [stored.json["message_id"]]
    with Memory.at(root / "home") as memory:
        assert said in str(memory.sessions.get_messages("empty"))


def test_the_text_is_left_out_on_request(server: Server) -> None:
    assert "text" in server.post("memory_status").json
    assert "text" not in server.post("memory_status?text=false").json


def test_a_preview_tells_what_would_be_deleted_and_deletes_nothing(server: Server) -> None:
    previewed = server.post("sessions_delete?preview=true", {"session": "slot-bug"})
    assert previewed.status == 200
    assert previewed.json["at_stake"]
    assert server.post("sessions_show", {"session": "slot-bug"}).status == 200
    assert server.post("sessions_delete?preview=true", {"session": "nowhere"}).status == 404


@pytest.mark.parametrize("query", ["text=0", "text", "preview=yes", "token=x", "Text=true", "%00=true"])
def test_an_unknown_switch_is_invalid(server: Server, query: str) -> None:
    assert server.post(f"memory_status?{query}").code == "invalid_input"


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/v1/recall", 405, "usage"),
        ("PUT", "/v1/recall", 405, "usage"),
        ("OPTIONS", "/v1/recall", 405, "usage"),
        ("DELETE", "/health", 405, "usage"),
        ("OPTIONS", "/health", 405, "usage"),
        ("POST", "/v1/recal", 404, "not_found"),
        ("POST", "/v1/", 404, "not_found"),
        ("POST", "/v1/recall/", 404, "not_found"),
        ("POST", "/v1/../v1/recall", 404, "not_found"),
        ("POST", "/", 404, "not_found"),
        ("POST", "/mcp", 404, "not_found"),
    ],
)
def test_other_methods_and_paths_are_refused(
    server: Server, method: str, path: str, status: int, code: str
) -> None:
    answer = server.send(method, path)
    assert (answer.status, answer.code) == (status, code)
    assert ("allow" in answer.headers) == (status == 405)
    assert not any(name.startswith("access-control") for name in answer.headers)


@pytest.mark.parametrize(
    "media", ["", "text/plain", "application/x-www-form-urlencoded", "application/jsonx"]
)
def test_a_body_must_be_declared_as_json(server: Server, media: str) -> None:
    assert server.post("recall", {"query": "x"}, content_type=media).status == 415


def test_a_charset_may_follow_the_media_type(server: Server) -> None:
    media = "Application/JSON; charset=utf-8"
    assert server.post("memory_status", content_type=media).status == 200


@pytest.mark.parametrize(
    "body", [b"{", b"[]", b"null", b'"x"', b"1", b"\xff\xfe", b'{"query": "\\ud800"}', b"{}{}"]
)
def test_a_body_that_is_not_an_object_is_invalid_input(server: Server, body: bytes) -> None:
    answer = server.post("recall", body)
    assert (answer.status, answer.code) == (400, "invalid_input")


def test_every_answer_has_a_request_id_and_is_not_cached(server: Server) -> None:
    answers = [server.post("memory_status"), server.post("recall", b"{"), server.send("GET", "/health")]
    ids = {answer.headers["x-request-id"] for answer in answers}
    assert len(ids) == 3
    assert answers[1].json["request_id"] in ids
    assert {answer.headers["cache-control"] for answer in answers} == {"no-store"}


def test_health_needs_no_token_and_tells_little(server: Server) -> None:
    answer = server.send("GET", "/health", token="")
    assert (answer.status, set(answer.json)) == (200, {"status", "version"})


def test_a_failure_of_ours_is_an_error_without_a_trace(server: Server, root: Path) -> None:
    answer = server.post("backup", {"path": f"{root}/no\0where"})
    assert answer.status == 400
    assert b"Traceback" not in answer.body


def test_the_api_loads_nothing_of_mcp() -> None:
    heavy = ("mcp", "mcp_types", "pydantic", "starlette", "anyio")
    code = f"import sys, mnemos.faces.http.launch; print([one for one in {heavy} if one in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_requests_are_logged_without_contents(root: Path, tmp_path: Path) -> None:
    home = shutil.copytree(root / "home", tmp_path / "home")
    with serving(home) as server:
        server.post("recall", {"query": "a question about Lisbon"})
        server.post("recall", {"query": "x"}, token="mnm_wrong")
        server.stop()
    lines: list[dict[str, Any]] = [json.loads(line) for line in server.log]
    told = [(one["token"], one["operation"], one["status"]) for one in lines]
    assert told == [("owner", "recall", 200), ("", "", 401)]
    assert all(one["ms"] > 0 and one["time"] and one["request_id"] for one in lines)
    assert "Lisbon" not in "".join(server.log)
    assert "mnm_" not in "".join(server.log)


def test_fields_for_people_are_taken_only_where_the_address_says_so(server: Server) -> None:
    given = {"query": "database", "user_id": "sam"}
    assert server.post("recall", given).code == "invalid_input"
    assert server.post("recall?person=true", given).status == 200
