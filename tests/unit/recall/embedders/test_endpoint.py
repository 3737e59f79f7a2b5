"""Vectors from a server: over real HTTP, on loopback."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from faces.model_endpoint import Asked, ModelEndpoint, Reply
from mnemos.errors import InvalidInput, ModelUnavailable
from mnemos.recall.embedders import embedder
from mnemos.recall.embedders.endpoint import EndpointEmbedder
from mnemos.settings import Model


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelEndpoint]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with ModelEndpoint() as served:
        served.reply = lambda asked: answer([vector(text) for text in asked.body["input"]])
        yield served


def vector(text: str) -> list[float]:
    return [float(len(text)), 1.0, 0.5]


def answer(vectors: list[Any], places: list[Any] | None = None) -> Reply:
    numbered = zip(range(len(vectors)) if places is None else places, vectors, strict=True)
    data = [{"object": "embedding", "index": place, "embedding": vector} for place, vector in numbered]
    return Reply(json.dumps({"object": "list", "data": data, "model": "small"}).encode())


def made(base_url: str, *, key: str = "", timeout: float = 10.0) -> tuple[EndpointEmbedder, list[float]]:
    """An embedder, and the pauses it makes instead of waiting."""
    pauses: list[float] = []
    return EndpointEmbedder(Model(base_url, "small", key, timeout), pause=pauses.append), pauses


def sent(server: ModelEndpoint) -> list[list[str]]:
    return [asked.body["input"] for asked in server.asked]


def in_turn(*replies: Reply) -> Callable[[Asked], Reply]:
    left = list(replies)
    return lambda _: left.pop(0)


def unit(rows: list[list[float]]) -> Any:
    array = np.array(rows)
    return pytest.approx(array / np.linalg.norm(array, axis=1, keepdims=True), abs=1e-6)


def test_texts_are_sent_as_openai_wants_them(server: ModelEndpoint) -> None:
    asking = embedder("endpoint:small", base_url=server.base_url, api_key="k-123")
    rows = asking.embed(["one", "three"])
    assert (asking.name, asking.kind, asking.dim) == ("endpoint:small", "model", 3)
    assert rows.dtype == np.float32
    assert rows == unit([vector("one"), vector("three")])
    (asked,) = server.asked
    assert (asked.method, asked.path) == ("POST", "/v1/embeddings")
    assert asked.headers["Authorization"] == "Bearer k-123"
    assert asked.body == {"model": "small", "input": ["one", "three"]}


def test_nothing_is_asked_before_it_is_needed(server: ModelEndpoint) -> None:
    asking = embedder("endpoint:small", base_url=server.base_url)
    assert server.asked == []
    assert asking.dim == asking.dim == 3
    assert len(server.asked) == 1


def test_many_texts_go_in_batches_and_come_back_in_order(server: ModelEndpoint) -> None:
    asking, _ = made(server.base_url)
    texts = ["x" * length for length in range(1, 101)]
    assert asking.embed(texts) == unit([vector(text) for text in texts])
    assert [len(batch) for batch in sent(server)] == [32, 32, 32, 4]


def test_the_index_of_a_vector_says_whose_it_is(server: ModelEndpoint) -> None:
    server.reply = lambda _: answer([[0.0, 1.0], [1.0, 0.0]], [1, 0])
    asking, _ = made(server.base_url)
    assert asking.embed(["first", "second"]).tolist() == [[1, 0], [0, 1]]


def test_without_an_index_the_order_is_that_of_the_texts(server: ModelEndpoint) -> None:
    server.reply = lambda _: Reply(b'{"data": [{"embedding": [2, 0]}, {"embedding": [0, 3]}]}')
    asking, _ = made(server.base_url)
    assert asking.embed(["first", "second"]).tolist() == [[1, 0], [0, 1]]


def test_blank_texts_are_rows_of_zeros_and_are_not_sent(server: ModelEndpoint) -> None:
    asking, _ = made(server.base_url)
    rows = asking.embed(["", "said", " \n"])
    assert [bool(row.any()) for row in rows] == [False, True, False]
    assert sent(server) == [["said"]]


def test_no_texts_give_no_rows(server: ModelEndpoint) -> None:
    asking, _ = made(server.base_url)
    assert asking.embed([]).shape == (0, 3)


def test_a_long_text_is_cut_and_half_a_surrogate_pair_replaced(server: ModelEndpoint) -> None:
    asking, _ = made(server.base_url)
    asking.embed(["x" * 1_000_000, "a\ud83db"])
    assert sent(server) == [["x" * 8_000, "a?b"]]


def test_a_vector_of_zeros_stays_one(server: ModelEndpoint) -> None:
    server.reply = lambda _: answer([[0, 0], [3, 4]])
    asking, _ = made(server.base_url)
    assert asking.embed(["a", "b"]) == pytest.approx(np.array([[0, 0], [0.6, 0.8]]))


# --- trying again ---------------------------------------------------------------------------


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_busy_server_is_asked_again(server: ModelEndpoint, status: int) -> None:
    server.reply = in_turn(Reply(b"", status), Reply(b"", status), answer([[1, 0]]))
    asking, pauses = made(server.base_url)
    assert asking.embed(["x"]).tolist() == [[1, 0]]
    assert pauses == [0.5, 1.0]


def test_a_server_that_stays_busy_is_left_alone_after_four_tries(server: ModelEndpoint) -> None:
    server.reply = lambda _: Reply(b"", 503)
    asking, pauses = made(server.base_url)
    with pytest.raises(ModelUnavailable, match="503"):
        asking.embed(["x"])
    assert (len(server.asked), pauses) == (4, [0.5, 1.0, 2.0])


@pytest.mark.parametrize(
    ("header", "pause"),
    [("7", 7.0), ("0", 0.0), (" 20 ", 20.0), ("Wed, 21 Oct 2015 07:28:00 GMT", 0.5), ("-1", 0.5)],
)
def test_the_server_says_when_to_come_again(server: ModelEndpoint, header: str, pause: float) -> None:
    server.reply = in_turn(Reply(b"", 429, {"Retry-After": header}), answer([[1, 0]]))
    asking, pauses = made(server.base_url)
    asking.embed(["x"])
    assert pauses == [pause]


@pytest.mark.parametrize("header", ["21", "86400", "9" * 400])
def test_nobody_waits_for_minutes(server: ModelEndpoint, header: str) -> None:
    server.reply = lambda _: Reply(b"", 429, {"Retry-After": header})
    asking, pauses = made(server.base_url)
    with pytest.raises(ModelUnavailable, match="429"):
        asking.embed(["x"])
    assert (len(server.asked), pauses) == (1, [])


@pytest.mark.parametrize(
    ("status", "advice"),
    [(400, "model"), (401, "api_key_env"), (403, "api_key_env"), (404, "base_url"), (422, "422")],
)
def test_a_refusal_is_final_and_says_what_to_look_at(server: ModelEndpoint, status: int, advice: str) -> None:
    server.reply = lambda _: Reply(b"", status)
    asking, pauses = made(server.base_url, key="k-123")
    with pytest.raises(ModelUnavailable, match=advice) as raised:
        asking.embed(["x"])
    assert (len(server.asked), pauses) == (1, [])
    assert str(status) in str(raised.value)
    assert "k-123" not in str(raised.value)


# --- answers that are none ------------------------------------------------------------------


@pytest.mark.parametrize(
    "reply",
    [
        Reply(b"<html><body>Welcome</body></html>"),
        Reply(b""),
        Reply(b"null"),
        Reply(b"[]"),
        Reply(b"{}"),
        Reply(b"\xff\xfe"),
        Reply(b"[" * 200_000),
        Reply(b'{"data": null}'),
        Reply(b'{"data": {"0": 1}}'),
        Reply(b'{"data": [1]}'),
        Reply(b'{"data": [{}]}'),
        Reply(b'{"data": [{"embedding": [1, 2'),
        Reply(b'{"data": [{"embedding": [' + b"9" * 400 + b"]}]}"),
        answer([]),
        answer([[1, 2], [3, 4]]),
        answer([[1, 2]], [1]),
        answer([[1, 2]], ["first"]),
        answer([[1, 2]], [[]]),
        answer([[]]),
        answer([None]),
        answer([1.5]),
        answer([[[1.0]]]),
        answer(["AACAPwAAAEA="]),
        answer([[1, None]]),
        answer([[1, "x"]]),
        answer([[1, float("nan")]]),
        answer([[1, float("inf")]]),
        answer([[1, 1e300]]),
        answer([[1, {}]]),
    ],
    ids=lambda reply: repr(reply.body[:60]),
)
def test_an_answer_that_is_not_an_embedding_is_a_model_unavailable(
    server: ModelEndpoint, reply: Reply
) -> None:
    server.reply = lambda _: reply
    asking, pauses = made(server.base_url)
    with pytest.raises(ModelUnavailable) as raised:
        asking.embed(["x"])
    assert server.base_url in str(raised.value)
    assert pauses == []


def test_vectors_of_two_lengths_are_refused(server: ModelEndpoint) -> None:
    server.reply = lambda _: answer([[1, 2], [1, 2, 3]])
    asking, _ = made(server.base_url)
    with pytest.raises(ModelUnavailable):
        asking.embed(["a", "b"])


def test_a_server_that_changes_the_length_of_its_vectors_is_refused(server: ModelEndpoint) -> None:
    server.reply = in_turn(answer([[1, 2]]), answer([[1, 2, 3]]))
    asking, _ = made(server.base_url)
    asking.embed(["a"])
    with pytest.raises(ModelUnavailable, match="3 numbers instead of 2"):
        asking.embed(["b"])
    assert asking.dim == 2


def test_a_server_that_does_not_answer_in_time_is_unavailable(server: ModelEndpoint) -> None:
    def wait(_: object) -> Reply:
        server.closing.wait()
        return answer([[1, 0]])

    server.reply = wait
    asking, pauses = made(server.base_url, timeout=0.1)
    with pytest.raises(ModelUnavailable):
        asking.embed(["x"])
    assert pauses == []


def test_a_server_that_hangs_up_is_unavailable(server: ModelEndpoint) -> None:
    server.reply = lambda _: Reply(b"short", headers={"Content-Length": "5000"})
    asking, _ = made(server.base_url, timeout=0.5)
    with pytest.raises(ModelUnavailable):
        asking.embed(["x"])


def test_a_port_where_nobody_listens_is_unavailable() -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
    asking, _ = made(f"http://127.0.0.1:{port}/v1")
    with pytest.raises(ModelUnavailable):
        asking.embed(["x"])


def test_large_vectors_fit_into_an_answer(server: ModelEndpoint) -> None:
    server.reply = lambda asked: answer([[0.123456789012345678] * 4_096 for _ in asked.body["input"]])
    asking, _ = made(server.base_url)
    assert asking.embed(["x"] * 33).shape == (33, 4_096)


def test_a_redirect_takes_the_key_nowhere(server: ModelEndpoint) -> None:
    with ModelEndpoint() as elsewhere:
        server.reply = lambda _: Reply(b"", 307, {"Location": f"{elsewhere.base_url}/embeddings"})
        asking, _ = made(server.base_url, key="k-123")
        with pytest.raises(ModelUnavailable, match=r"embedding\.base_url"):
            asking.embed(["x"])
        assert elsewhere.asked == []


@pytest.mark.parametrize("base_url", ["localhost:8080/v1", "file:///etc/passwd"])
def test_an_address_that_is_not_http_is_invalid_input(base_url: str) -> None:
    with pytest.raises(InvalidInput, match=r"embedding\.base_url"):
        embedder("endpoint:small", base_url=base_url).embed(["x"])


def test_a_missing_address_or_model_is_invalid_input() -> None:
    with pytest.raises(InvalidInput, match="base_url"):
        embedder("endpoint:small")
    with pytest.raises(InvalidInput, match="endpoint:"):
        embedder("endpoint", base_url="http://127.0.0.1:1/v1")
