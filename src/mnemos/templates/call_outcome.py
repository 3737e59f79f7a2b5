"""The outcome of a tool call, judged by its result.

Certain signs come before likely ones: a flag alongside the result, the fields of a JSON result, an exit code,
and only then words. A template loses little without a call that worked and much with one that failed, so
what looks like a failure counts as one. Files and web pages may talk about errors: of tools that return
them, only the first line is judged by its words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

_EXIT_CODES: Final = frozenset({"exitcode", "exitstatus", "returncode", "rc"})
_HTTP_CODES: Final = frozenset({"statuscode", "httpstatus", "httpstatuscode", "httpcode"})
_FAILURES: Final = frozenset(
    {
        "error", "iserror", "errormessage", "errorcode", "exception", "traceback", "failed", "failure",
        "timedout", "timeout",
    }
)  # fmt: skip
_SUCCESSES: Final = frozenset({"success", "ok", "succeeded", "successful", "issuccess"})
_STATES: Final = frozenset({"status", "state", "outcome"})
_BAD_STATES: Final = frozenset(
    {
        "error", "errored", "failed", "failure", "fail", "timeout", "timedout", "cancelled", "canceled",
        "denied", "rejected", "aborted", "crashed", "blocked", "killed", "exception",
    }
)  # fmt: skip
_NOTHING: Final = frozenset({"", "0", "none", "null", "false", "no"})
_INNER: Final = frozenset(
    {"result", "output", "response", "structuredcontent", "content", "stdout", "stderr", "text"}
)
_DEEPEST: Final = 4
# Tools report the outcome at the beginning or the end of a result.
_HEAD: Final = 4_000
_TAIL: Final = 4_000
_LAST_LINES: Final = 3

_TRACEBACK: Final = "Traceback (most recent call last)"
_BEGINNING: Final = re.compile(
    r"""\W{0,6}(?!no\b|without\b|0\b)
    (?: (?:[\w'-]+[ ]){0,3}(?:error|exception|failure)
            (?: \W{0,2}[:!\[(] | \] | [ ]- | \s*$
              | [ ](?:executing|calling|running|while|occurred|in|at|reading|writing|[45]\d\d)\b )
      | (?:fehler|erreur|errore|erro|ошибка|错误|錯誤|エラー|오류)\s*[:\uff1a]
      | fail(?:ed|ure)\b(?!:?[ ]0)
      | (?:fatal|panic|npm[ ]err!)\W
      | (?:cannot|can't|can[ ]not|could[ ]not|couldn't|unable[ ]to)\b
      | (?:permission|access)[ ]denied | unauthori[sz]ed\b | forbidden\b | not[ ]found\b
      | (?:http[ ])?[45]\d\d[ ]
            (?:not|bad|forbidden|unauthori|internal|service|gateway|too|error|client|server)
      | (?:[\w-]+[ ]){0,3}?(?:timed?[ ]?out|interrupted|cancell?ed|aborted|rejected|blocked)\b
            (?!\s*[=:]\s*(?:0|false|no|none)\b)
      | (?:unknown|invalid|unsupported|no[ ]such|missing)[ ]
            (?:command|tool|option|argument|parameter|function|file|path)
      | segmentation[ ]fault | killed\s*$
      | \{'error':\s*(?!None|''|""|False)
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_NAMED_ERROR: Final = re.compile(
    r"^[ |>]*(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception)\b(?::|$)", re.MULTILINE
)
_SOMEWHERE: Final = re.compile(
    r"""(?:
        ^[^\n]{0,300}:[ ](?:command[ ])?not[ ]found\s*$
      | \bNo[ ]such[ ]file[ ]or[ ]directory\b
      | :[ ]Permission[ ]denied\b
      | is[ ]not[ ]recognized[ ]as[ ]
      | ^(?:\S{1,300}:\d+(?::\d+)?:[ ])?(?:fatal[ ])?error(?:\[\w+\])?:[ ]
      | ^(?:fatal|panic):[ ] | ^thread[ ]'[^'\n]*'[ ]panicked | \(core[ ]dumped\)
      | ^npm[ ](?:ERR!|error) | ^make(?:\[\d+\])?:[ ]\*\*\* | ^BUILD[ ]FAILED | ^FAILED[ ]\(
      | ^[^\n]{0,200}\b[1-9]\d*[ ](?:failed|errors?)\b[^\n]{0,200}[ ]in[ ]\d
    )""",
    re.MULTILINE | re.VERBOSE,
)
_MISSING: Final = re.compile(
    r"[^\n]{0,300}(?:No such file or directory|: not found|does not exist)\b"
    r"|(?:file|path|folder|directory|page)\b[^\n]{0,200} not found\b",
    re.IGNORECASE,
)
_EXIT: Final = re.compile(
    r"\bexit(?:ed with)?[ _-]?(?:code|status)\b(?: was| is| of)?\s*[:=]?\s*(-?\d+)"
    r"|\bexited with (?:code |status )?(-?\d+)"
    r"|\breturn(?:ed)?[ _-]?code\s*[:=]?\s*(-?\d+)",
    re.IGNORECASE,
)


def is_success(result: str, flags: Mapping[str, Any] | None = None, *, shows_contents: bool = False) -> bool:
    """True if a call worked. ``flags`` are fields stored alongside the result, such as ``is_error``."""
    if flags and _says_failure(flags, 0, shows_contents=shows_contents):
        return False
    fields = _parse(result)
    if fields is not None:
        return not _says_failure(fields, 0, shows_contents=shows_contents)
    return not _reads_as_failure(result, shows_contents=shows_contents, went_well=False)


def _parse(text: str) -> Mapping[str, Any] | None:
    """Return the fields of a result that is a JSON object."""
    if text.lstrip()[:1] != "{":
        return None
    try:
        found = msgspec.json.decode(text.strip())
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _says_failure(fields: Mapping[str, Any], depth: int, *, shows_contents: bool) -> bool:
    known = {_fold(key): value for key, value in fields.items() if isinstance(key, str)}
    went_well = False
    for key, value in known.items():
        verdict = _judge_field(key, value)
        if verdict is False:
            return True
        went_well = went_well or verdict is True
    if not went_well and _is_something(known.get("errors")):
        return True
    if depth >= _DEEPEST:
        return False
    for inner in _find_inner(known):
        if isinstance(inner, str):
            if _reads_as_failure(inner, shows_contents=shows_contents, went_well=went_well):
                return True
        # The result of a successful call may describe something that failed.
        elif not went_well and _says_failure(inner, depth + 1, shows_contents=shows_contents):
            return True
    return False


def _judge_field(key: str, value: Any) -> bool | None:
    """True or False if a field tells the outcome of the call, else None."""
    if key in _EXIT_CODES:
        number = _to_number(value)
        return None if number is None else number == 0
    if key in _HTTP_CODES:
        number = _to_number(value)
        return None if number is None else number < 400
    if key in _SUCCESSES:
        return _is_something(value) if isinstance(value, (bool, int, str)) else None
    if key in _FAILURES and _is_something(value):
        # {"timeout": 30} is a limit, {"timeout": true} an outcome.
        return None if key == "timeout" and value is not True else False
    if key in _STATES:
        if isinstance(value, str):
            return False if _fold(value) in _BAD_STATES else None
        return False if _to_number(value) is not None and 400 <= value < 600 else None
    return None


def _find_inner(fields: Mapping[str, Any]) -> Iterator[Mapping[str, Any] | str]:
    for key in _INNER & fields.keys():
        value = fields[key]
        if isinstance(value, (str, Mapping)):
            yield value
        elif isinstance(value, list):
            yield "\n".join(part["text"] for part in value if isinstance(part, dict) and _has_text(part))


def _has_text(part: Mapping[str, Any]) -> bool:
    return isinstance(part.get("text"), str)


def _reads_as_failure(text: str, *, shows_contents: bool, went_well: bool) -> bool:
    """Judge text by its words. With ``went_well`` a more certain sign of success was seen, so that
    only a traceback or an exit code counts.
    """
    start = text[:_HEAD].lstrip()
    if start.startswith(_TRACEBACK):
        return True
    if shows_contents:
        first = start.partition("\n")[0]
        return not went_well and bool(
            _BEGINNING.match(first)
            or _NAMED_ERROR.match(first)
            or (len(text) < 500 and _MISSING.match(first))
        )
    if _TRACEBACK in text:
        return True
    code = _find_exit_code(text)
    if code is not None and code != 0:
        return True
    if went_well or code == 0:
        return False
    read = text if len(text) <= _HEAD + _TAIL else f"{text[:_HEAD]}\n{text[-_TAIL:]}"
    return bool(
        _BEGINNING.match(start.partition("\n")[0]) or _NAMED_ERROR.search(read) or _SOMEWHERE.search(read)
    )


def _find_exit_code(text: str) -> int | None:
    """Return the exit code that the first or one of the last lines mentions."""
    if "xit" not in text and "eturn" not in text and "EXIT" not in text:
        return None
    lines = text[-_TAIL:].rstrip().splitlines()[-_LAST_LINES:]
    for line in [*reversed(lines), *text[:_HEAD].lstrip().splitlines()[:1]]:
        if len(line) <= 200 and (match := _EXIT.search(line)):
            return int(next(group for group in match.groups() if group is not None))
    return None


def _to_number(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return value
    try:
        return float(value) if isinstance(value, str) and len(value) < 20 else None
    except ValueError:
        return None


def _is_something(value: Any) -> bool:
    """True if the value of an ``error`` or ``success`` field is not null, empty or "none"."""
    if isinstance(value, str):
        return value.strip().lower() not in _NOTHING
    return bool(value)


def _fold(key: str) -> str:
    return key.lower().replace("_", "").replace("-", "").replace(" ", "")
