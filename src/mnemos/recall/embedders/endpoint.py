"""Vectors from a server that speaks OpenAI's ``/embeddings``: OpenAI's own, Ollama, vLLM, llama.cpp …"""

from __future__ import annotations

import json
import time
import urllib.error
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnemos.errors import InvalidInput, ModelUnavailable
from mnemos.llm import post
from mnemos.recall.embedders.static import to_length_one
from mnemos.settings import Model

_BATCH = 32
# Models read 512 to 8,192 tokens, and some servers refuse a longer text instead of truncating it.
_MAX_CHARACTERS = 8_000
# 32 vectors of 4,096 numbers, each written with 20 characters, six times over.
_MAX_ANSWER_BYTES = 16 * 1024 * 1024
_PAUSES = (0.5, 1.0, 2.0)
_LONGEST_PAUSE = 20.0
# No component of a unit vector is above 1. Above this value, squares no longer fit into float32.
_LARGEST_NUMBER = 1e15

_ADVICE = {
    400: ". Does it serve this model?",
    401: ". The API key is missing or wrong: see embedding.api_key_env",
    403: ". The API key does not allow this: see embedding.api_key_env",
    404: ". Is embedding.base_url right (it often ends in /v1), and does it serve this model?",
}


class EndpointEmbedder:
    """Asks a server for the vectors of 32 texts at a time. Blank texts are not sent.

    After a 429 or 5xx response, it retries up to three times, but never waits longer than 20 seconds.
    """

    kind = "model"

    def __init__(self, model: Model, *, pause: Callable[[float], None] = time.sleep) -> None:
        self.name = f"endpoint:{model.model}"
        self._model = model
        self._pause = pause
        self._dim = 0

    @property
    def dim(self) -> int:
        """The number of dimensions, from the first response. Before that, the server is asked."""
        if not self._dim:
            self._rows(["dimension"])
        return self._dim

    def embed(self, texts: list[str]) -> NDArray[np.float32]:
        said = [place for place, text in enumerate(texts) if text.strip()]
        found = [
            self._rows([_sendable(texts[place]) for place in said[start : start + _BATCH]])
            for start in range(0, len(said), _BATCH)
        ]
        rows = np.zeros((len(texts), self.dim), np.float32)
        if said:
            rows[said] = np.concatenate(found)
        return to_length_one(rows)

    def _rows(self, texts: list[str]) -> NDArray[np.float32]:
        rows = self._parse(self._answer(texts), len(texts))
        if self._dim not in (0, rows.shape[1]):
            raise self._no_use(f"vectors of {rows.shape[1]} numbers instead of {self._dim}")
        self._dim = rows.shape[1]
        return rows

    def _answer(self, texts: list[str]) -> bytes:
        question = {"model": self._model.model, "input": texts}
        for pause in (*_PAUSES, None):
            try:
                return post(
                    self._model, "/embeddings", question, section="embedding", most_bytes=_MAX_ANSWER_BYTES
                )
            except ModelUnavailable as exc:
                wait = _wait(exc.__cause__, pause)
                if wait is None:
                    raise ModelUnavailable(f"{exc}{_advice(exc.__cause__)}") from exc
                self._pause(wait)
        raise AssertionError("the last try returns or raises")

    def _parse(self, answer: bytes, count: int) -> NDArray[np.float32]:
        try:
            items: list[Any] = json.loads(answer)["data"]
            if len(items) != count:
                raise self._no_use(f"{len(items)} vectors for {count} texts")
            vectors = {item.get("index", place): item["embedding"] for place, item in enumerate(items)}
            rows = np.array([vectors[place] for place in range(count)], np.float64)
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as exc:
            raise self._no_use("something that is not an embedding") from exc
        # Written so that NaN fails too, as every comparison with it is false.
        if rows.ndim != 2 or not rows.size or not (np.abs(rows) < _LARGEST_NUMBER).all():
            raise self._no_use("vectors that are not numbers")
        return rows.astype(np.float32)

    def _no_use(self, what: str) -> ModelUnavailable:
        return ModelUnavailable(
            f"{self._model.base_url} answered {what}. Is it an OpenAI-compatible API, and is "
            f"{self._model.model!r} an embedding model?"
        )


def make(model: Model) -> EndpointEmbedder:
    """Make an embedder without calling the server. A missing name or address raises InvalidInput."""
    if not model.model:
        raise InvalidInput("endpoint needs a model after a colon, such as endpoint:nomic-embed-text")
    if not model.base_url:
        raise InvalidInput(
            f"endpoint:{model.model} needs an address. Set embedding.base_url, such as http://localhost:11434/v1"
        )
    return EndpointEmbedder(model)


def _sendable(text: str) -> str:
    # Half a surrogate pair can't be encoded as UTF-8, and servers refuse it.
    return text[:_MAX_CHARACTERS].encode("utf-8", "replace").decode()


def _wait(cause: BaseException | None, pause: float | None) -> float | None:
    """Return the seconds to wait before the next try; None to give up."""
    if pause is None or not isinstance(cause, urllib.error.HTTPError):
        return None
    if cause.code != 429 and cause.code < 500:
        return None
    asked = (cause.headers.get("Retry-After") or "").strip()
    # The header's other form, a date, is rare, and our own pause is used then.
    seconds = float(asked) if asked.isdecimal() else pause
    return seconds if seconds <= _LONGEST_PAUSE else None


def _advice(cause: BaseException | None) -> str:
    return _ADVICE.get(cause.code, "") if isinstance(cause, urllib.error.HTTPError) else ""
