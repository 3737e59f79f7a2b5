"""Requests to an optional model behind an OpenAI-compatible endpoint."""

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
# Longer timeouts overflow on some systems.
_LONGEST_WAIT = 86_400.0


def complete(model: Model, *, system: str, user: str) -> str:
    """Return the model's answer.

    Every failure, including a timeout, raises ModelUnavailable, but an address that is not http or https
    raises InvalidInput.
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
    """Post JSON and return the body of the answer. Fails like ``complete``.

    ``section`` is the section of the settings with the address. If the endpoint answered with an error
    status, the cause of the exception is urllib's HTTPError.
    """
    if not model.base_url.startswith(("http://", "https://")):
        raise InvalidInput(f"{section}.base_url must start with http:// or https://, not {model.base_url!r}.")
    try:
        with _opener.open(_request(model, path, question), timeout=patience(model)) as response:
            return _read(response, model, most_bytes)
    except urllib.error.HTTPError as exc:
        exc.close()
        raise ModelUnavailable(
            f"{model.base_url} answered {exc.code} {exc.reason}{_describe_redirect(exc, section)}"
        ) from exc
    except (OSError, http.client.HTTPException) as exc:
        raise ModelUnavailable(f"{model.base_url} did not answer: {exc}") from exc
    except ValueError as exc:
        raise ModelUnavailable(
            f"{section}.base_url {model.base_url!r} is not a valid address: {exc}"
        ) from exc


def patience(model: Model) -> float:
    """Return the timeout of a model in seconds."""
    return min(model.timeout, _LONGEST_WAIT)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Refuses redirects, which would send the key to another server, as a GET."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


_opener = urllib.request.build_opener(_NoRedirect)


def _request(model: Model, path: str, question: Any) -> urllib.request.Request:
    return urllib.request.Request(  # noqa: S310 - the scheme was checked by the caller
        model.base_url.rstrip("/") + path,
        data=json.dumps(question).encode(),
        headers={"Content-Type": "application/json", **_authorization(model)},
    )


def _authorization(model: Model) -> dict[str, str]:
    if not model.api_key:
        return {}
    # Checked here, because urllib's error would quote the key.
    if not (model.api_key.isascii() and model.api_key.isprintable()):
        raise ModelUnavailable("The API key has a line break or another invalid character. Set it again.")
    return {"Authorization": f"Bearer {model.api_key}"}


def _read(response: http.client.HTTPResponse, model: Model, most_bytes: int) -> bytes:
    """Read the body within the timeout, even if the server only trickles bytes."""
    deadline = time.monotonic() + patience(model)
    answer = b""
    while piece := response.read1(_PIECE_BYTES):
        answer += piece
        if time.monotonic() > deadline:
            raise TimeoutError(f"no whole answer within {model.timeout:g} seconds")
        if len(answer) > most_bytes:
            raise ModelUnavailable(f"{model.base_url} answered more than {most_bytes:,} bytes")
    return answer


def _describe_redirect(exc: urllib.error.HTTPError, section: str) -> str:
    target = exc.headers.get("Location") if 300 <= exc.code < 400 else None
    return f". It redirects to {target}: set {section}.base_url to that if you trust it." if target else ""


def _text(answer: bytes, model: Model) -> str:
    try:
        parsed: Any = json.loads(answer)
        text = parsed["choices"][0]["message"]["content"]
    except (ValueError, KeyError, IndexError, TypeError, RecursionError) as exc:
        raise ModelUnavailable(f"{model.base_url} did not answer with a completion") from exc
    if not isinstance(text, str) or not text.strip():
        raise ModelUnavailable(f"{model.base_url} answered without text")
    return text.strip()
