"""One question to a chat model behind an OpenAI-compatible endpoint. Optional everywhere it is used."""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.request
from typing import Any

from mnemos.errors import InvalidInput, ModelUnavailable
from mnemos.settings import Model

_MAX_ANSWER_BYTES = 4 * 1024 * 1024


def complete(model: Model, *, system: str, user: str) -> str:
    """The model's answer. Every failure, the time-out included, raises ModelUnavailable."""
    if not model.base_url.startswith(("http://", "https://")):
        raise InvalidInput(f"llm.base_url is {model.base_url!r}; use an http:// or https:// address")
    request = urllib.request.Request(  # noqa: S310 - the scheme was checked above
        model.base_url.rstrip("/") + "/chat/completions",
        data=json.dumps(
            {
                "model": model.model,
                "messages": [
                    {"role": "system", "content": system},
                    {"role": "user", "content": user},
                ],
            }
        ).encode(),
        headers={"Content-Type": "application/json", **_authorization(model)},
    )
    try:
        with urllib.request.urlopen(request, timeout=model.timeout) as response:  # noqa: S310
            answer = response.read(_MAX_ANSWER_BYTES)
    except urllib.error.HTTPError as exc:
        raise ModelUnavailable(f"{model.base_url} answered {exc.code} {exc.reason}") from exc
    except (OSError, http.client.HTTPException) as exc:
        raise ModelUnavailable(f"{model.base_url} did not answer: {exc}") from exc
    return _text(answer, model)


def _authorization(model: Model) -> dict[str, str]:
    return {"Authorization": f"Bearer {model.api_key}"} if model.api_key else {}


def _text(answer: bytes, model: Model) -> str:
    try:
        parsed: Any = json.loads(answer)
        text = parsed["choices"][0]["message"]["content"]
    except (ValueError, KeyError, IndexError, TypeError) as exc:
        raise ModelUnavailable(f"{model.base_url} answered something that is no completion") from exc
    if not isinstance(text, str) or not text.strip():
        raise ModelUnavailable(f"{model.base_url} answered with no text")
    return text.strip()
