"""Redaction of secrets before text is stored.

Secrets are tokens that name their kind (``ghp_…``), values assigned to a telling name (``password=…``,
``"api_key": "…"``, "the password is …"), and values where protocols keep them (URLs, headers, cookies, key
files). Placeholders stay: ``$PASSWORD``, ``sk-xxxx``, ``<your token>``.

Every stored message passes here, and hardly any holds a secret. So a few searches for literals decide which
forms of ``secret_tokens`` and ``secret_forms`` are looked for, if any.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from importlib import import_module
from types import ModuleType
from typing import Any, Final

from mnemos.errors import Refused

Find = tuple[str, int, int]
"""The kind of a secret, where its value starts, and where it ends."""
Redact = Callable[[str], str]
"""Returns a text without its secrets."""


@dataclass(frozen=True, slots=True)
class Secret:
    """The kind and place of a secret: ``text[start:end]``."""

    kind: str
    start: int
    end: int


def redact(text: str) -> str:
    """Replace the value of every secret by ``[redacted: KIND]``.

    Returns the same object if there is none. Redacting again changes nothing. Valid JSON stays valid, also
    JSON in a string of JSON.
    """
    return _cut_out(text, find_secrets(text))


def _cut_out(text: str, found: list[Secret]) -> str:
    if not found:
        return text
    parts: list[str] = []
    end = 0
    for secret in found:
        parts += text[end : secret.start], f"{_MARK}{secret.kind}]"
        end = secret.end
    return "".join(parts) + text[end:]


def refuse_secret(label: str, value: str | None, redact: Redact) -> None:
    """Raise Refused if the name of a thing holds a secret. Another name would be another thing."""
    if value is not None and redact(value) != value:
        raise Refused(
            f"The {label} contains a secret, but it is shown in lists, prompts and logs. Choose another one."
        )


def redact_id(value: str, redact: Redact) -> str:
    """Return an imported id without its secret, the same one each time and different from other ids."""
    if (clean := redact(value)) == value:
        return value
    # Enough to tell a few ids apart, and too little to check a guess of the secret with.
    return f"{clean}-{blake2b(value.encode('utf-8', 'surrogatepass'), digest_size=2).hexdigest()}"


def redact_value(value: Any, redact: Redact) -> Any:
    """Redact every string in a structure without breaking the structure.

    A string that is JSON itself, such as the arguments of a tool call, stays JSON. A value is judged
    together with its key, so ``{"password": …}`` counts as an assignment.
    """
    if isinstance(value, str):
        return _redact_text(value, redact)
    if isinstance(value, (list, tuple)):
        return [redact_value(item, redact) for item in value]
    if isinstance(value, dict):
        return {_redact_text(key, redact): _redact_item(key, item, redact) for key, item in value.items()}
    return value


def _redact_text(text: str, redact: Redact) -> str:
    clean = redact(text)
    if clean is text or not text.lstrip().startswith(("{", "[")):
        return clean
    try:
        inner = json.loads(text)
    except (ValueError, RecursionError):
        return clean
    return json.dumps(redact_value(inner, redact), ensure_ascii=False)


def _redact_item(key: str, item: Any, redact: Redact) -> Any:
    if not isinstance(item, str):
        return redact_value(item, redact)
    alone = _redact_text(item, redact)
    if alone != item:
        return alone
    assignment = f"{key}={item}"
    together = redact(assignment)
    return together.removeprefix(f"{key}=") if together != assignment else item


def find_secrets(text: str) -> list[Secret]:
    """Return the secrets of a text in order; no two overlap."""
    raw = text.encode("ascii", "replace")
    folded = raw.translate(_FOLDED)
    # Without a digit, a sign or a long run there is no secret.
    has_sign = _DIGIT in folded or _LONG_RUN in raw.translate(_RUNS)
    if not has_sign and text.isascii():
        return []
    found = _find(text, raw, folded) if has_sign else []
    if _may_hide(text) and (hidden := _compile_hidden()).search(text):
        found += _find_split(text, hidden)
    return _merge_overlaps(found) if found else []


def _may_hide(text: str) -> bool:
    if text.isascii():
        return "\\u" in text
    return "\ufe0f" in text or "\u034f" in text or not text.replace("\n", "").isprintable()


def _find_split(text: str, hidden: re.Pattern[str]) -> list[Find]:
    """Find the secrets of a text that hidden characters split."""
    places: list[int] = []
    end = 0
    for mark in hidden.finditer(text):
        places += range(end, mark.start())
        end = mark.end()
    places += range(end, len(text))
    shown = hidden.sub("", text)
    raw = shown.encode("ascii", "replace")
    found = _find(shown, raw, raw.translate(_FOLDED))
    return [(kind, places[start], places[end - 1] + 1) for kind, start, end in found]


def _find(text: str, raw: bytes, folded_bytes: bytes) -> list[Find]:
    # Places stay the same. A search in str takes half the time of one in bytes.
    folded, runs = folded_bytes.decode("ascii"), raw.translate(_RUNS).decode("ascii")
    found: list[Find] = []
    if LONG_RUN in runs:
        found += _load("tokens").find_tokens(text, runs, LONG_RUN)
    if "@" in text and "://" in text:
        found += _load("tokens").find_url_passwords(text)
    if "bearer" in folded:
        found += _load("tokens").find_bearer_tokens(text)
    if "basic " in folded:
        found += _load("tokens").find_basic_credentials(text)
    if "auth" in folded:
        found += _load("tokens").find_authorizations(text, folded)
    if "cookie" in folded or " -b" in text:
        found += _load("tokens").find_cookies(text, folded)
    if "sess" in folded:
        found += _load("tokens").find_session_ids(text, folded)
    if " -" in text and _FLAG.search(text):
        found += _load("tokens").find_command_passwords(text)
    names = [name for name in NAMES if name in folded]
    if not text.isascii():
        names += [name.lower() for name in _FOREIGN_NAMES if name in text]
    if names:
        found += _load("forms").find_assigned_values(text, names)
    return found


@cache
def _load(kind: str) -> ModuleType:
    # Imported when first needed: their expressions take long to compile.
    return import_module(f"mnemos.text.secret_{kind}")


@cache
def _compile_hidden() -> re.Pattern[str]:
    """Compile hidden characters between visible ones, as they are and as JSON writes them."""
    return re.compile(
        "(?<=[!-~])(?:[\u00ad\u034f\u061c\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
        r"\U000e0000-\U000e0fff]|\\+u(?i:00ad|034f|061c|180[b-e]|200[b-f]|202[a-e]|206[0-9a-f]|fe0[0-9a-f]|feff))+"
        "(?=[!-~])"
    )


def _merge_overlaps(found: list[Find]) -> list[Secret]:
    """Merge overlapping finds, named by the one that starts first."""
    kept: list[Secret] = []
    for kind, start, end in sorted(found, key=lambda find: find[1]):
        if kept and start < kept[-1].end:
            kept[-1] = Secret(kept[-1].kind, kept[-1].start, max(kept[-1].end, end))
        else:
            kept.append(Secret(kind, start, end))
    return kept


_MARK: Final = "[redacted: "

# In lower case, with digits and signs as zero. Many messages have none.
_DIGIT: Final = ord("0")
_FOLDED: Final = bytes(range(256)).lower().translate(bytes.maketrans(b"123456789@#$%^&*+~", b"0" * 18))
_RUN_OF: Final = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
_RUNS: Final = bytes(ord("a" if byte in _RUN_OF else " ") for byte in range(256))
LONG_RUN: Final = "a" * 20
_LONG_RUN: Final = LONG_RUN.encode()
NAMES: Final = ("pass", "key", "token", "secret", "pw", "kennwort", "mdp", "clave")
_FOREIGN_NAMES: Final = (
    *("пароль", "Пароль", "密码", "密碼", "パスワード", "비밀번호", "contraseña", "Contraseña", "CONTRASEÑA"),
    *("hasło", "Hasło", "şifre", "Şifre", "كلمة المرور"),
)
_FLAG: Final = re.compile(r" -(?:[upa]|-user|-proxy)")
