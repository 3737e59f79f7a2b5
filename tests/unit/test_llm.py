"""One question to a chat model: over real HTTP, on loopback."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator

import pytest

from faces.model_endpoint import ModelEndpoint, Reply, completion
from mnemos.errors import InvalidInput, MnemosError, ModelUnavailable
from mnemos.llm import complete
from mnemos.settings import Model


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelEndpoint]:
    # A proxy of whoever runs the tests has nothing to do with loopback.
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with ModelEndpoint() as served:
        yield served


def model(base_url: str, api_key: str = "", timeout: float = 10.0) -> Model:
    return Model(base_url, "small", api_key, timeout)


def ask(asked: Model) -> str:
    return complete(asked, system="Be short.", user="What is it?")


def free_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return int(held.getsockname()[1])


@pytest.mark.parametrize("slash", ["", "/", "//"])
def test_a_question_is_asked_as_openai_does(endpoint: ModelEndpoint, slash: str) -> None:
    endpoint.reply = lambda _: completion("  It is a cake.\n")
    assert ask(model(endpoint.base_url + slash)) == "It is a cake."
    (asked,) = endpoint.asked
    assert (asked.method, asked.path) == ("POST", "/v1/chat/completions")
    assert asked.headers["Content-Type"] == "application/json"
    assert asked.body == {
        "model": "small",
        "messages": [
            {"role": "system", "content": "Be short."},
            {"role": "user", "content": "What is it?"},
        ],
    }


def test_a_key_is_sent_only_when_there_is_one(endpoint: ModelEndpoint) -> None:
    ask(model(endpoint.base_url))
    ask(model(endpoint.base_url, "k-123"))
    assert [asked.headers.get("Authorization") for asked in endpoint.asked] == [None, "Bearer k-123"]


def test_text_in_any_script_arrives_as_it_was(endpoint: ModelEndpoint) -> None:
    said = "予約 \U0001f980 é \x00 \u2028 end"
    endpoint.reply = lambda asked: completion(asked.prompt)
    assert complete(model(endpoint.base_url), system="", user=said) == said


@pytest.mark.parametrize(
    "reply",
    [
        Reply(b"<html><body>Welcome</body></html>"),
        Reply(b""),
        Reply(b"null"),
        Reply(b"[]"),
        Reply(b"{}"),
        Reply(b'"text"'),
        Reply(b"\xff\xfe\x00"),
        Reply(b'{"choices": []}'),
        Reply(b'{"choices": [{}]}'),
        Reply(b'{"choices": [{"message": null}]}'),
        Reply(b'{"choices": [{"message": {"content": null}}]}'),
        Reply(b'{"choices": {"0": 1}}'),
        Reply(b'{"choices": [{"message": {"content": "cut off'),
        Reply(b"[" * 200_000),
        completion(""),
        completion(" \n"),
        completion(17),
        completion(["parts"]),
        Reply(b'{"error": {"message": "overloaded"}}', 500),
        Reply(b"", 401),
        Reply(b"", 429),
        Reply(b"", 404),
        Reply(b"", 204),
    ],
    ids=lambda reply: f"{reply.status} {reply.body[:40]!r}",
)
def test_an_answer_that_is_not_a_completion_is_model_unavailable(
    endpoint: ModelEndpoint, reply: Reply
) -> None:
    endpoint.reply = lambda _: reply
    with pytest.raises(ModelUnavailable) as raised:
        ask(model(endpoint.base_url))
    assert endpoint.base_url in str(raised.value)


def test_an_error_status_is_reported(endpoint: ModelEndpoint) -> None:
    endpoint.reply = lambda _: Reply(b"", 503)
    with pytest.raises(ModelUnavailable):
        ask(model(endpoint.base_url))


def test_a_server_that_does_not_answer_in_time_is_unavailable(endpoint: ModelEndpoint) -> None:
    def wait(_: object) -> Reply:
        endpoint.closing.wait()
        return completion("too late")

    endpoint.reply = wait
    with pytest.raises(ModelUnavailable):
        ask(model(endpoint.base_url, timeout=0.1))


def test_a_server_that_hangs_up_is_unavailable(endpoint: ModelEndpoint) -> None:
    endpoint.reply = lambda _: Reply(b"short", headers={"Content-Length": "5000"})
    with pytest.raises(ModelUnavailable):
        ask(model(endpoint.base_url, timeout=0.5))


def test_a_port_where_nobody_listens_is_unavailable() -> None:
    with pytest.raises(ModelUnavailable):
        ask(model(f"http://127.0.0.1:{free_port()}/v1"))


def test_an_endless_answer_is_not_read_to_its_end(endpoint: ModelEndpoint) -> None:
    endpoint.reply = lambda _: completion("x" * 6_000_000)
    with pytest.raises(ModelUnavailable):
        ask(model(endpoint.base_url))


@pytest.mark.parametrize(
    "base_url", ["", "localhost:8080/v1", "file:///etc/passwd", "ftp://127.0.0.1/", "javascript:1"]
)
def test_an_address_that_is_not_http_is_invalid_input_and_is_named(base_url: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        ask(model(base_url))
    assert repr(base_url) in str(raised.value)


@pytest.mark.parametrize(
    ("base_url", "api_key"),
    [
        ("http://[::1", ""),
        ("http://" + "a" * 80 + ".invalid", ""),
        ("http://exa mple", ""),
        ("http://127.0.0.1:no", ""),
        ("http://", ""),
        ("http://127.0.0.1:1", "two\nlines"),
        ("http://127.0.0.1:1", "ключ"),
    ],
)
def test_an_address_or_key_that_cannot_be_sent_is_one_of_our_errors(base_url: str, api_key: str) -> None:
    with pytest.raises(MnemosError) as raised:
        ask(model(base_url, api_key))
    assert not api_key or api_key not in str(raised.value)


def test_a_redirect_is_not_followed_with_the_key(
    endpoint: ModelEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ModelEndpoint() as elsewhere:
        for status in (301, 302, 303, 307, 308):
            there = {"Location": f"{elsewhere.base_url}/chat/completions"}
            endpoint.reply = lambda _, status=status, there=there: Reply(b"", status, there)  # type: ignore[misc]
            with pytest.raises(ModelUnavailable):
                ask(model(endpoint.base_url, "k-123"))
        assert [asked.headers.get("Authorization") for asked in elsewhere.asked] == []


def test_a_failure_does_not_reveal_the_key(endpoint: ModelEndpoint) -> None:
    endpoint.reply = lambda asked: Reply(json.dumps(asked.headers).encode(), 401)
    with pytest.raises(ModelUnavailable) as raised:
        ask(model(endpoint.base_url, "k-123"))
    assert "k-123" not in str(raised.value)
