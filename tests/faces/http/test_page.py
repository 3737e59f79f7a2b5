"""The page's own addresses, without a browser; tests/web has those with one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from mnemos.faces.http.launch import open_ahead
from mnemos.memory import Memory
from mnemos.memory.access_tokens import create_token
from mnemos.memory.page_sessions import make_code
from mnemos.settings import Settings

from .servers import Server, serving


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("page") / "home", "--ui") as started:
        yield started


def ask(server: Server, body: object = None, token: str = "") -> tuple[int, dict[str, object]]:
    sent = None if body is None else json.dumps(body).encode()
    method = "GET" if body is None else "POST"
    headers = {} if body is None else {"content-type": "application/json"}
    headers["authorization"] = token and f"Bearer {token}"
    answer = server.send(method, "/page/session", sent, **headers)
    return answer.status, answer.json


def test_code_gives_a_token_with_all_rights(server: Server) -> None:
    code = make_code(Settings(home=server.home), server_time(server))
    status, got = ask(server, {"code": code})
    assert (status, got["scope"], got["space"]) == (200, "local", "default")
    assert server.post("stats", token=str(got["token"])).status == 200
    assert ask(server, {"code": code})[0] == 403


def server_time(server: Server) -> float:
    return (server.home / "token").stat().st_mtime


def test_rights_list_only_operations_that_are_allowed(server: Server) -> None:
    _, token = create_token(Settings(home=server.home), "x", "read", operations="sessions", now=0.0)
    status, got = ask(server, token=token)
    assert (status, got["scope"]) == (200, "read")
    assert "sessions_list" in got["operations"]
    assert not {"sessions_delete", "sessions_title", "recall"} & set(got["operations"])


def test_only_the_owner_gets_a_token_for_another_space(server: Server) -> None:
    _, token = create_token(Settings(home=server.home), "x", "admin", now=0.0)
    assert ask(server, {"space": "other"}, token=token)[0] == 403
    status, got = ask(server, {"space": "other"}, token=server.token)
    assert (status, got["space"]) == (200, "other")


def test_a_fact_stored_on_the_page_was_stated_by_the_user(server: Server) -> None:
    _, got = ask(server, {"code": make_code(Settings(home=server.home), server_time(server))})
    server.post("remember", {"text": "The port of staging is 5433"}, token=str(got["token"]))
    server.post("remember", {"text": "The owner of billing is Ana"})
    facts = server.post("facts_list").json["facts"]
    assert {fact["target"]: fact["stated_by"] for fact in facts} == {
        "port.staging": "user",
        "owner.billing": "agent",
    }


def test_what_a_question_needs_is_loaded_ahead_and_not_logged_as_one(tmp_path: Path) -> None:
    with Memory.at(tmp_path / "home", disabled=False) as memory:
        open_ahead(memory)
        assert "recaller" not in memory.__dict__, "there is no home yet"
        memory.call("remember", {"text": "The port of staging is 5433"})
        open_ahead(memory)
        assert "recaller" in memory.__dict__
        memory.feeds.asked.store()
        assert memory.call("recalls")["recalls"] == []


def test_without_the_switch_there_is_no_page(tmp_path: Path) -> None:
    with serving(tmp_path / "home") as started:
        assert started.send("GET", "/").status == 404
        assert started.send("GET", "/page/session").status == 404


def test_other_hosts_and_methods_are_refused(server: Server) -> None:
    assert server.send("GET", "/", host="evil.example").status == 421
    assert server.send("POST", "/", b"{}").status == 405
    assert ask(server, {"code": 1})[0] == 400
    assert ask(server)[0] == 401
