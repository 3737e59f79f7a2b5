"""Finding JSON, addresses and the parts of addresses in text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from mnemos.workspace.functions.base import (
    Function,
    FunctionFailed,
    Value,
    as_json,
    as_text,
    as_whole,
    expression,
    no_constant,
    shown,
)

# As deep as SQLite reads JSON.
DEEPEST = 1000

_STRING = r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+"'
_NUMBER = r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?"
_TOKEN = rf"[ \t\r\n]*+(?:({_STRING})|({_NUMBER}|true|false|null)|([\[\]{{}}:,]))"

# What may come in each place, and the place after it.
_VALUE = {"[": "open", "{": "open"}
_ITEM = {**_VALUE, "string": "array more", "scalar": "array more"}
_GRAMMAR = {
    "array first": {**_ITEM, "]": "close"},
    "array value": _ITEM,
    "array more": {",": "array value", "]": "close"},
    "object first": {"string": "object colon", "}": "close"},
    "object key": {"string": "object colon"},
    "object colon": {":": "object value"},
    "object value": {**_VALUE, "string": "object more", "scalar": "object more"},
    "object more": {",": "object key", "}": "close"},
}

# With what may follow it, so that brackets in prose and code cost little.
_OPENING = r'\{(?=[ \t\r\n]*+["}])|\[(?=[ \t\r\n]*+[\[\]{"0-9tfn-])'

# Letters of the scripts that put blanks between words; the others stand right before an address.
_LETTER = r"[^\W\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef]"
# Tried only where a name can begin, so that a long run of letters is read once.
_EMAIL = (
    rf"(?<!{_LETTER})(?<![.+%-])((?:{_LETTER}|[+%-])(?:{_LETTER}|[.+%-]){{0,63}})"
    r"@((?:[^\W_][\w-]{0,62}\.){1,10}[A-Za-z]{2,63})(?![A-Za-z0-9_-])"
)

_URL = (
    r"(?<![\w@.])(?i:(?:https?|ftp)://|www\.(?=[^\W_]))(?:[^\s<>\"'\[\]/]*@)?(?:\[[0-9a-fA-F:.]{2,45}\](?::[0-9]{1,5})?)?"
    "[^\\s<>\"'`\\[\\]{}|\\\\^\x00-\x1f\u3000-\u3003\u3008-\u3011\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f\u201c\u201d\u2019]*"
)

_PARTS = {
    "scheme": "scheme", "protocol": "scheme", "host": "host", "hostname": "host", "domain": "host",
    "port": "port", "path": "path", "filename": "filename", "file": "filename", "query": "query",
    "search": "query", "fragment": "fragment", "hash": "fragment", "ref": "fragment", "anchor": "fragment",
    "user": "user", "username": "user", "password": "password", "authority": "authority",
    "netloc": "authority", "origin": "origin",
}  # fmt: skip
_ADDRESS = r"(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?"
# A host without a scheme, with a port that would else be taken for the rest after a scheme.
_BARE_HOST = r"(?:[\w-]+(?:\.[\w-]+)+|localhost)(?::[0-9]+)?(?:[/?#].*)?"
# Those where browsers read a backslash as a slash, so that it cannot hide the true host.
_WEB = frozenset(["http", "https", "ftp", "ws", "wss", ""])


def extract_json(text: Value, number: Value = 1) -> Value:
    nth = as_whole(number, "number")
    if nth < 1:
        raise FunctionFailed(f"number is {nth}; the first is 1")
    for count, found in enumerate(_documents(as_text(text)), start=1):
        if count == nth:
            return found
    return None


def _documents(text: str) -> Iterator[str]:
    """Each JSON object or array that is in no other, from left to right."""
    opening = expression(_OPENING)
    end_of = _end_of
    at = 0
    while start := opening.search(text, at):
        first = start.start()
        last = end_of(text, first)
        if last:
            yield text[first:last]
            at = last
            continue
        # The quick reader is asked once too often at most: what fails may be all the rest of the text.
        end_of = _no_end
        complete, at = _attempt(text, first)
        for first, last in complete:
            yield text[first:last]


def _end_of(text: str, at: int) -> int:
    """Where the JSON that begins here ends; 0 where it is none."""
    # json: only for those who use it.
    from json import JSONDecoder

    try:
        return JSONDecoder(parse_constant=no_constant).raw_decode(text, at)[1]
    except (ValueError, RecursionError):
        return 0


def _no_end(text: str, at: int) -> int:  # noqa: ARG001 - takes the place of _end_of
    return 0


def _attempt(text: str, at: int) -> tuple[list[tuple[int, int]], int]:
    """Read from an opening bracket up to its end or the first thing that cannot be; give the outermost
    complete parts, and where to go on.

    Every token is read once. Where the grammar is broken, all that was open is not JSON, and what was
    complete inside of it stands on its own.
    """
    token = expression(_TOKEN).match
    opened: list[tuple[int, str]] = []
    complete: list[tuple[int, int]] = []
    state = "array value"
    while found := token(text, at):
        string, _, sign = found.groups()
        following = _GRAMMAR[state].get(sign or ("string" if string else "scalar"))
        if following is None or (following == "open" and len(opened) == DEEPEST):
            break
        at = found.end()
        if following == "open":
            opened.append((at - 1, "array more" if state.startswith("array") else "object more"))
            state = "array first" if sign == "[" else "object first"
        elif following == "close":
            start, state = opened.pop()
            while complete and complete[-1][0] > start:
                complete.pop()
            complete.append((start, at))
            if not opened:
                return complete, at
        else:
            state = following
    return complete, _after_break(text, at)


def _after_break(text: str, at: int) -> int:
    """Past what broke the grammar, unless it is a bracket that may begin another document."""
    blank = expression(r"[ \t\r\n]*+").match(text, at)
    at = blank.end() if blank else at
    return at if text[at : at + 1] in {"[", "{"} else at + 1


def extract_emails(text: Value) -> Value:
    found = expression(_EMAIL).finditer(as_text(text))
    return as_json(
        list(dict.fromkeys(match[0] for match in found if ".." not in match[1] and match[1][-1] != "."))
    )


def extract_urls(text: Value) -> Value:
    found = (_without_closers(match[0]) for match in expression(_URL).finditer(as_text(text)))
    return as_json([url for url in dict.fromkeys(found) if not url.endswith("//")])


def _without_closers(url: str) -> str:
    """The address without the signs that belong to the sentence: a closing bracket stays if it was opened."""
    open_brackets = url.count("(") - url.count(")")
    end = len(url)
    while end:
        last = url[end - 1]
        if last == ")" and open_brackets < 0:
            open_brackets += 1
        elif last not in ".,;:!?*…。、":
            break
        end -= 1
    return url[:end]


class _Address(NamedTuple):
    scheme: str | None
    authority: str | None
    path: str
    query: str | None
    fragment: str | None


def url_extract(url: Value, part: Value, key: Value = None) -> Value:
    name = _PARTS.get(as_text(part).strip().lower())
    if name is None:
        raise FunctionFailed(f"part is {shown(part)}; use {', '.join(dict.fromkeys(_PARTS.values()))}")
    address = _address(as_text(url).strip())
    if name == "query" and key is not None:
        return _parameter(address.query or "", as_text(key))
    if name in {"scheme", "authority", "query", "fragment"}:
        found: str | None = getattr(address, name)
        return found
    if name in {"path", "filename"}:
        return (address.path if name == "path" else address.path.rpartition("/")[2]) or None
    return _of_authority(address, name)


def _address(url: str) -> _Address:
    found = expression(_ADDRESS, re.DOTALL).fullmatch(url)
    # It matches any text; only the type checker does not know.
    scheme, authority, path, query, fragment = found.groups() if found else (None, None, url, None, None)
    if authority is None and expression(_BARE_HOST, re.DOTALL).fullmatch(url):
        return _address("//" + url)
    scheme = scheme.lower() if scheme else None
    if authority is not None and (scheme or "") in _WEB and "\\" in authority:
        authority, _, rest = authority.partition("\\")
        path = "/" + rest + path
    return _Address(scheme, authority, path, query, fragment)


def _of_authority(address: _Address, name: str) -> Value:
    """Host, port, user, password or origin; the last at sign ends the user."""
    user_info, at, place = (address.authority or "").rpartition("@")
    if name in {"user", "password"}:
        user, colon, password = user_info.partition(":")
        found = password if name == "password" else user
        return _decoded(found) if at and (name == "user" or colon) else None
    bracketed = expression(r"(\[[^\]]*\])(?::(.*))?", re.DOTALL).fullmatch(place)
    host, port = bracketed.groups("") if bracketed else place.partition(":")[::2]
    if name == "port":
        return int(port) if expression("[0-9]{1,5}").fullmatch(port) else None
    if not host:
        return None
    if name == "origin":
        return f"{address.scheme}://{host.lower()}{':' + port if port else ''}" if address.scheme else None
    return host.lower().strip("[]")


def _parameter(query: str, key: str) -> Value:
    for pair in query.split("&"):
        name, _, value = pair.partition("=")
        if _decoded(name.replace("+", " ")) == key:
            return _decoded(value.replace("+", " "))
    return None


def _decoded(text: str) -> str:
    if "%" not in text:
        return text
    # urllib.parse: only for those who use it.
    from urllib.parse import unquote

    return unquote(text)


FUNCTIONS = (
    Function(
        "extract_json",
        "extract_json(text [, number])",
        "The first JSON object or array in the text (or the one with that number), as it is written; NULL"
        " without one.",
        """extract_json('Result: {"ok": true}, bye')""",
        """'{"ok": true}'""",
        call=extract_json,
        arity=(1, 2),
    ),
    Function(
        "extract_emails",
        "extract_emails(text)",
        "JSON array of the e-mail addresses, each once.",
        "extract_emails('Write to ada@example.org.')",
        """'["ada@example.org"]'""",
        call=extract_emails,
    ),
    Function(
        "extract_urls",
        "extract_urls(text)",
        "JSON array of the web addresses, each once, without the signs of the sentence around them.",
        "extract_urls('See (https://example.org/a?b=1).')",
        """'["https://example.org/a?b=1"]'""",
        call=extract_urls,
    ),
    Function(
        "url_extract",
        "url_extract(url, part [, key])",
        "A part of the address: scheme, host, port, path, filename, query, fragment, user, password,"
        " authority or origin; 'query' with a key gives that parameter. NULL where it has none.",
        "url_extract('https://ada:pw@Example.org:8080/x?q=1', 'host')",
        "'example.org'",
        call=url_extract,
        arity=(2, 3),
    ),
)
