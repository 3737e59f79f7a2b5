"""The chat service on FastAPI keeps people and tenants apart, under load, too: ``make test-fastapi``."""

from __future__ import annotations

import http.client
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))

import fastapi_load
from fastapi_service import sign

Ask = Callable[..., tuple[int, Any]]


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    with fastapi_load.serving(str(tmp_path_factory.mktemp("chat") / "home")) as host:

        def send(method: str, path: str, key: str, body: Any = None) -> tuple[int, Any]:
            with closing(http.client.HTTPConnection(host, timeout=60)) as connection:
                headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
                connection.request(method, path, json.dumps(body), headers)
                answer = connection.getresponse()
                return answer.status, json.loads(answer.read())

        yield send


def test_only_the_person_who_said_something_gets_it_back(ask: Ask) -> None:
    ada, bob, other = sign("acme", "ada"), sign("acme", "bob"), sign("globex", "ada")
    said = {"text": "My locker has the number 4711."}
    assert ask("POST", "/sessions/first/messages", ada, said)[0] == 200
    question = {"text": "Which number does my locker have?"}
    assert "4711" in ask("POST", "/sessions/second/messages", ada, question)[1]["reply"]
    for key, session in ((bob, "third"), (other, "first")):
        status, answer = ask("POST", f"/sessions/{session}/messages", key, question)
        assert status == 200
        assert "4711" not in json.dumps(answer)


def test_the_session_of_somebody_else_is_not_there(ask: Ask) -> None:
    ada, bob = sign("acme", "ada"), sign("acme", "bob")
    assert ask("POST", "/sessions/adas/messages", ada, {"text": "hello"})[0] == 200
    assert ask("POST", "/sessions/adas/messages", bob, {"text": "hello"})[0] == 404
    assert ask("DELETE", "/sessions/adas", bob)[0] == 404
    assert "adas" not in ask("GET", "/sessions", bob)[1]
    assert "adas" in ask("GET", "/sessions", ada)[1]


def test_what_is_forgotten_is_not_recalled(ask: Ask) -> None:
    eve = sign("acme", "eve")
    assert ask("POST", "/sessions/eves/messages", eve, {"text": "My bicycle is a red Gazelle."})[0] == 200
    assert ask("DELETE", "/sessions/eves", eve) == (200, {"forgotten": True})
    assert ask("GET", "/sessions", eve) == (200, [])
    status, answer = ask("POST", "/sessions/next/messages", eve, {"text": "Which bicycle do I have?"})
    assert (status, answer["recalled"]) == (200, [])


@pytest.mark.parametrize("key", ["", "acme.ada", "acme.ada.0000", "a.b.c.d", "acme.bob." + "0" * 64, "é.é.é"])
def test_a_key_that_was_not_signed_is_refused(ask: Ask, key: str) -> None:
    assert ask("GET", "/sessions", key)[0] == 401


@pytest.mark.parametrize("body", [{}, {"text": ""}, {"text": "x" * 20_001}, {"text": 5}, None])
def test_a_body_that_says_nothing_is_refused(ask: Ask, body: Any) -> None:
    assert ask("POST", "/sessions/s/messages", sign("acme", "ada"), body)[0] == 422


def test_under_load_no_request_fails_and_nothing_leaks() -> None:
    assert fastapi_load.main(["--tenants", "3", "--people", "3", "--turns", "8"]) == 0
