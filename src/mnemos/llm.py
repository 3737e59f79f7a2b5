"""One question to a model behind an OpenAI-compatible endpoint. Optional everywhere it is used."""

from __future__ import annotations

import http.client
import json
import time
import urllib.error
import urllib.request
from typing import Any

from mnemos.errors import InvalidInput, ModelUnavailable
from mnemos.settings import Model

_MAX_ANSWER_BYTES = 4 * 1024 * 1024
_PIECE_BYTES = 64 * 1024
# Longer waits do not fit into the clocks of every system.
_LONGEST_WAIT = 86_400.0


def complete(model: Model, *, system: str, user: str) -> str:
    """The model's answer. Every failure, the time-out included, raises ModelUnavailable.

    An address that is not of the web raises InvalidInput.
    """
    question = {
        "model": model.model,
        "messages": [
            {"role": "system", "content": system},
            {"role": "user", "content": user},
        ],
    }
    return _text(post(model, "/chat/completions", question), model)


def post(
    model: Model, path: str, question: Any, *, section: str = "llm", most_bytes: int = _MAX_ANSWER_BYTES
) -> bytes:
    """The body of the endpoint's answer to a question sent as JSON; failures are those of ``complete``.

    ``section`` is the part of the settings that the address is from. When the endpoint answered with a
    status that is no success, the cause of the error is urllib's HTTPError.
    """
    if not model.base_url.startswith(("http://", "https://")):
        raise InvalidInput(f"{section}.base_url is {model.base_url!r}; use an http:// or https:// address")
    try:
        with _opener.open(_request(model, path, question), timeout=patience(model)) as response:
            return _read(response, model, most_bytes)
    except urllib.error.HTTPError as exc:
        exc.close()
        raise ModelUnavailable(
            f"{model.base_url} answered {exc.code} {exc.reason}{_moved(exc, section)}"
        ) from exc
    except (OSError, http.client.HTTPException) as exc:
        raise ModelUnavailable(f"{model.base_url} did not answer: {exc}") from exc
    except ValueError as exc:
        raise ModelUnavailable(f"{section}.base_url is {model.base_url!r}, no valid address: {exc}") from exc


def patience(model: Model) -> float:
    """How many seconds the model may take for one answer."""
    return min(model.timeout, _LONGEST_WAIT)


class _StayHere(urllib.request.HTTPRedirectHandler):
    """A redirect would hand the key to whoever it points to, and turn the question into a GET."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


_opener = urllib.request.build_opener(_StayHere)


def _request(model: Model, path: str, question: Any) -> urllib.request.Request:
    return urllib.request.Request(  # noqa: S310 - the scheme was checked by the caller
        model.base_url.rstrip("/") + path,
        data=json.dumps(question).encode(),
        headers={"Content-Type": "application/json", **_authorization(model)},
    )


def _authorization(model: Model) -> dict[str, str]:
    if not model.api_key:
        return {}
    # Checked here, because the client's own complaint would quote the key.
    if not (model.api_key.isascii() and model.api_key.isprintable()):
        raise ModelUnavailable("the API key holds a line break or a character that no key has; set it anew")
    return {"Authorization": f"Bearer {model.api_key}"}


def _read(response: http.client.HTTPResponse, model: Model, most_bytes: int) -> bytes:
    """The body, as far as it comes in time: a server that sends a byte now and then is not waited for."""
    deadline = time.monotonic() + patience(model)
    answer = b""
    while piece := response.read1(_PIECE_BYTES):
        answer += piece
        if time.monotonic() > deadline:
            raise TimeoutError(f"no whole answer within {model.timeout:g} seconds")
        if len(answer) > most_bytes:
            raise ModelUnavailable(f"{model.base_url} answered more than {most_bytes:,} bytes")
    return answer


def _moved(exc: urllib.error.HTTPError, section: str) -> str:
    target = exc.headers.get("Location") if 300 <= exc.code < 400 else None
    return f"; it points to {target}: set {section}.base_url to that, if you trust it" if target else ""


def _text(answer: bytes, model: Model) -> str:
    try:
        parsed: Any = json.loads(answer)
        text = parsed["choices"][0]["message"]["content"]
    except (ValueError, KeyError, IndexError, TypeError, RecursionError) as exc:
        raise ModelUnavailable(f"{model.base_url} answered something that is no completion") from exc
    if not isinstance(text, str) or not text.strip():
        raise ModelUnavailable(f"{model.base_url} answered with no text")
    return text.strip()
