"""Secrets found in text and taken out before it is stored.

Three sources: tokens that say what they are (``ghp_…``), values given to a name that says so
(``password=…``, ``"api_key": "…"``), and the places a protocol keeps them (URLs, headers, key files).
Whatever is a stand-in for a secret stays: ``$PASSWORD``, ``sk-xxxx``, ``<your token>``.

Every message that is stored passes here, and hardly any holds a secret. So a few searches for
literals decide which of ``secret_forms`` are looked for, if any.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from types import ModuleType
from typing import Any, Final

Redact = Callable[[str], str]
"""Returns a text without its secrets."""


@dataclass(frozen=True, slots=True)
class Secret:
    """Where the value of a secret is: ``text[start:end]``."""

    kind: str
    start: int
    end: int


def redact(text: str) -> str:
    """``text`` with the value of every secret replaced by ``[redacted: KIND]``.

    The same object when there is none. Redacting again changes nothing. Valid JSON stays valid,
    also JSON in a string of JSON.
    """
    return _without(text, find_secrets(text))


def _without(text: str, found: list[Secret]) -> str:
    if not found:
        return text
    parts: list[str] = []
    end = 0
    for secret in found:
        parts += text[end : secret.start], f"{_MARK}{secret.kind}]"
        end = secret.end
    return "".join(parts) + text[end:]


def redact_all(texts: Sequence[str]) -> list[str]:
    """The same as ``redact`` for each, and quicker: those that can hold no secret are told in one go."""
    clean = list(texts)
    for number in _sieve.suspects(clean):
        clean[number] = redact(clean[number])
    return clean


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


class _Sieve:
    """Tells which texts may hold a secret, in a better way once a process reads many."""

    def __init__(self) -> None:
        self._read = 0

    def suspects(self, texts: Sequence[str]) -> Iterable[int]:
        if self._read < _WORTH_LOADING:
            self._read += sum(map(len, texts))
            return [number for number, text in enumerate(texts) if _DIGIT in _folded(text)]
        from mnemos.text import secret_signs

        foreign = [number for number, text in enumerate(texts) if not text.isascii()]
        return chain(foreign, secret_signs.suspects(texts))


def find_secrets(text: str) -> list[Secret]:
    """The secrets of ``text`` in the order they stand in it; no two overlap."""
    folded = _folded(text)
    return _found(text, folded) if _DIGIT in folded else []


def _folded(text: str) -> str:
    """In lower case, what may be in a secret as a zero, a character for each: places stay the same."""
    # By way of bytes, and back to str: there, what is searched for is found in half the time.
    return text.encode("ascii", "replace").translate(_FOLDED).decode("ascii")


def _found(text: str, folded: str) -> list[Secret]:
    runs = text.encode("ascii", "replace").translate(_RUNS).decode("ascii")
    has_run = LONG_RUN in runs
    has_login = "@" in text and "://" in text
    has_bearer = "bearer" in folded
    has_basic = "basic " in folded
    has_flag = "-" in text and (" -u" in text or " -p" in text or " --" in text)
    names = [name for name in NAMES if name in folded]
    if not text.isascii():
        names += [name.lower() for name in _FOREIGN_NAMES if name in text]
    if not (has_run or has_login or has_bearer or has_basic or has_flag or names):
        return []
    forms = _forms()
    found: list[tuple[str, int, int]] = []
    if has_run:
        found += forms.tokens(text, runs, LONG_RUN)
    if has_login:
        found += forms.passwords_in_urls(text)
    if has_bearer:
        found += forms.bearer_tokens(text)
    if has_basic:
        found += forms.basic_credentials(text)
    if has_flag:
        found += forms.passwords_in_commands(text)
    if names:
        found += forms.assigned_values(text, names)
    return _without_overlaps(found) if found else []


@cache
def _forms() -> ModuleType:
    """Imported when first needed: it is mostly expressions, which take long to compile."""
    from mnemos.text import secret_forms

    return secret_forms


def _without_overlaps(found: list[tuple[str, int, int]]) -> list[Secret]:
    """Overlapping finds become one, named by the one that starts first or, then, was found first."""
    kept: list[Secret] = []
    for kind, start, end in sorted(found, key=lambda find: find[1]):
        if kept and start < kept[-1].end:
            kept[-1] = Secret(kept[-1].kind, kept[-1].start, max(kept[-1].end, end))
        else:
            kept.append(Secret(kind, start, end))
    return kept


_MARK: Final = "[redacted: "

# No secret is without a digit or one of these signs, and many a message is.
_DIGIT: Final = "0"
_FOLDED: Final = bytes(range(256)).lower().translate(bytes.maketrans(b"123456789@#$%^&*+~", b"0" * 18))
_RUN_OF: Final = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
_RUNS: Final = bytes(ord("a" if byte in _RUN_OF else " ") for byte in range(256))
LONG_RUN: Final = "a" * 20
NAMES: Final = ("pass", "key", "token", "secret", "pw")
_FOREIGN_NAMES: Final = (
    *("пароль", "Пароль", "密码", "密碼", "パスワード", "비밀번호", "contraseña", "Contraseña"),
    *("hasło", "Hasło", "şifre", "Şifre", "كلمة المرور"),
)
# So many characters are looked through in the time that it takes to load what does it faster.
_WORTH_LOADING: Final = 2_000_000
_sieve: Final = _Sieve()
