"""Regular expressions in time linear in the text (RE2).

RE2 has no look-around and no back-references. Everything else is as in Perl, Python and PostgreSQL.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from mnemos.workspace.functions.function import (
    Function,
    FunctionFailed,
    Value,
    as_json,
    as_text,
    as_whole,
    declare,
    expression,
    quote_value,
    refuse_longer,
)

if TYPE_CHECKING:
    # RE2 carries no types.
    Pattern = Any
    Match = Any

FUNCTIONS: list[Function] = []

# Room for one expression's automaton. With less, plain expressions fall back to a way 1,000 times slower.
_MEMORY = 8 * 1024 * 1024
_KEPT = 16
LONGEST_PATTERN = 10_000
MOST_GROUPS = 100
# Steps of the compiled expression times bytes of text: 5 ns each in the worst case, nearly nothing in others.
MOST_WORK = 5_000_000_000
# One search is linear; as many searches as there are matches need not be.
SECONDS = 10.0

CHARACTERS = 60
WINDOWS = 10

_REFERENCE = r"\\([0-9\\])|\$([0-9])"


@lru_cache(maxsize=_KEPT)
def _compile(pattern: str) -> Pattern:
    re2 = _re2()
    if len(pattern) > LONGEST_PATTERN:
        raise FunctionFailed(f"pattern is {len(pattern):,} characters long; the limit is {LONGEST_PATTERN:,}")
    options = re2.Options()
    options.max_mem = _MEMORY
    options.log_errors = False
    try:
        compiled = re2.compile(pattern, options)
    except re2.error as wrong:
        reason = wrong.args[0].decode("utf-8", "replace")
        raise FunctionFailed(
            f"pattern {quote_value(pattern)} is not valid: {reason}"
            " (look-ahead, look-behind and back-references are not available)"
        ) from wrong
    # Its own cache would keep 128 of them.
    re2.purge()
    if compiled.groups > MOST_GROUPS:
        raise FunctionFailed(f"pattern has {compiled.groups} groups; the limit is {MOST_GROUPS}")
    return compiled


@cache
def _re2() -> Any:
    # google-re2: takes 4 ms, and most sessions never use it.
    import re2  # type: ignore[import-untyped]

    return re2


def _prepare(pattern: Value, text: bytes) -> Pattern:
    compiled = _compile(as_text(pattern))
    if compiled.programsize * len(text) > MOST_WORK:
        raise FunctionFailed(
            f"pattern {quote_value(pattern)} needs {compiled.programsize:,} steps per byte, too many for a "
            f"text of {len(text):,} bytes; use shorter repetitions or cut the text with substr_range(...)"
        )
    return compiled


def _as_utf8(value: Value) -> bytes:
    return as_text(value).encode()


def _matches(pattern: Value, text: bytes) -> Iterator[Match]:
    """Yield every match from left to right, with positions in bytes."""
    stop = time.monotonic() + SECONDS
    for match in _prepare(pattern, text).finditer(text):
        start, end = match.span()
        # After an empty match the search goes on at the next byte, which may be inside a character.
        if start == end < len(text) and 0x80 <= text[start] < 0xC0:
            continue
        if time.monotonic() > stop:
            raise FunctionFailed(
                f"stopped after {SECONDS:g} seconds: pattern {quote_value(pattern)} has too many matches, or "
                "reads to the end of the text for each; narrow it or cut the text with substr_range(...)"
            )
        yield match


def _get_group(match: Match, group: int) -> str | None:
    found = match.group(group)
    return None if found is None else found.decode("utf-8", "replace")


def _choose_group(compiled: Pattern, group: Value) -> int:
    """Return the number of the requested group; by default the first, or the whole match."""
    if group is None:
        return 1 if compiled.groups else 0
    if isinstance(group, str | bytes) and as_text(group) in compiled.groupindex:
        number: int = compiled.groupindex[as_text(group)]
        return number
    number = as_whole(group, "group")
    if not 0 <= number <= compiled.groups:
        raise FunctionFailed(f"group is {number}; the pattern has {compiled.groups} (0 is the whole match)")
    return number


@declare(FUNCTIONS, "text REGEXP pattern", "'order 66' REGEXP '[0-9]+$'", "1")
def regexp(pattern: Value, text: Value) -> Value:
    """1 if the pattern (RE2; '(?i)' in front ignores case) is found anywhere in the text, otherwise 0."""
    data = _as_utf8(text)
    return int(_prepare(pattern, data).search(data) is not None)


@declare(
    FUNCTIONS,
    "regexp_extract(text, pattern [, group])",
    "regexp_extract('High: 31 C', 'High: ([0-9]+)')",
    "'31'",
)
def regexp_extract(text: Value, pattern: Value, group: Value = None) -> Value:
    """The first match: its first group if the pattern has one, or the group with that number or name (0 is
    the whole match); NULL without a match."""
    data = _as_utf8(text)
    compiled = _prepare(pattern, data)
    number = _choose_group(compiled, group)
    match = compiled.search(data)
    return None if match is None else _get_group(match, number)


@declare(
    FUNCTIONS,
    "regexp_find_all(text, pattern [, group])",
    "regexp_find_all('a=1, b=22', '[0-9]+')",
    """'["1","22"]'""",
)
def regexp_find_all(text: Value, pattern: Value, group: Value = None) -> Value:
    """JSON array of all matches, or of one group of each; with several groups an array of arrays."""
    data = _as_utf8(text)
    compiled = _prepare(pattern, data)
    groups = compiled.groups
    found: list[object] = []
    length = 0
    if group is None and groups > 1:
        for match in _matches(pattern, data):
            row = [_get_group(match, number) for number in range(1, groups + 1)]
            length += sum(len(item or "") + 4 for item in row)
            refuse_longer(length, "the JSON of all matches")
            found.append(row)
    else:
        number = _choose_group(compiled, group)
        for match in _matches(pattern, data):
            item = _get_group(match, number)
            length += len(item or "") + 4
            refuse_longer(length, "the JSON of all matches")
            found.append(item)
    return as_json(found)


@declare(
    FUNCTIONS,
    "regexp_replace(text, pattern, replacement)",
    "regexp_replace('2024-01-31', '([0-9]+)-([0-9]+)-([0-9]+)', '$3.$2.$1')",
    "'31.01.2024'",
)
def regexp_replace(text: Value, pattern: Value, replacement: Value) -> Value:
    """Every match replaced; $1 in the replacement is the first group."""
    data = _as_utf8(text)
    expand = _make_expander(as_text(replacement), _prepare(pattern, data))
    pieces: list[bytes] = []
    end = length = 0
    for match in _matches(pattern, data):
        start = match.start()
        new = expand(match)
        length += start - end + len(new)
        refuse_longer(length, "the result")
        pieces += (data[end:start], new)
        end = match.end()
    refuse_longer(length + len(data) - end, "the result")
    pieces.append(data[end:])
    return b"".join(pieces).decode("utf-8", "replace")


def _make_expander(template: str, compiled: Pattern) -> Callable[[Match], bytes]:
    """Return what fills a template with groups: ``\\1`` or ``$1``."""
    parts: list[bytes | int] = []
    end = 0
    for found in expression(_REFERENCE).finditer(template):
        parts += (template[end : found.start()].encode(), _resolve(found, compiled))
        end = found.end()
    parts.append(template[end:].encode())
    if not any(isinstance(part, int) for part in parts):
        fixed = b"".join(part for part in parts if isinstance(part, bytes))
        return lambda _: fixed
    return lambda match: b"".join(
        part if isinstance(part, bytes) else match.group(part) or b"" for part in parts
    )


def _resolve(found: Any, compiled: Pattern) -> bytes | int:
    """Return the number of the group that is meant, or the text."""
    escaped, dollar = found.groups()
    if escaped == "\\":
        return b"\\"
    number = int(escaped or dollar)
    if number <= compiled.groups:
        return number
    if dollar:
        # A price, not a group: "$5" with no group 5.
        return f"${dollar}".encode()
    raise FunctionFailed(f"replacement has {quote_value(found[0])}; the pattern has {compiled.groups} groups")


@declare(
    FUNCTIONS,
    "grep_context(text, pattern [, characters])",
    "grep_context('The quick brown fox jumps', 'brown', 6)",
    "'…quick brown fox j…'",
)
def grep_context(text: Value, pattern: Value, characters: Value = CHARACTERS) -> Value:
    """The first match with 60 characters, or as many as given, on both sides; NULL without a match."""
    whole, around = as_text(text), _check_width(characters)
    for start, end in _places(whole, pattern):
        return _cut_out(whole, start - around, end + around)
    return None


@declare(
    FUNCTIONS,
    "grep_context_all(text, pattern [, characters [, most]])",
    "grep_context_all('one two three four five', 'one|five', 4)",
    """'["one two…","…our five"]'""",
)
def grep_context_all(
    text: Value, pattern: Value, characters: Value = CHARACTERS, most: Value = WINDOWS
) -> Value:
    """JSON array of all matches with the text around them, up to 10 unless more are asked for; neighbours
    share one window."""
    whole, around, count = as_text(text), _check_width(characters), as_whole(most, "most")
    if count < 1:
        raise FunctionFailed(f"most is {count}; give 1 or more")
    spans: list[tuple[int, int]] = []
    for start, end in _places(whole, pattern):
        if spans and start - around <= spans[-1][1]:
            spans[-1] = (spans[-1][0], end + around)
        elif len(spans) == count:
            break
        else:
            spans.append((start - around, end + around))
    return as_json([_cut_out(whole, start, end) for start, end in spans])


def _check_width(characters: Value) -> int:
    around = as_whole(characters, "characters")
    if around < 0:
        raise FunctionFailed(f"characters is {around}; give 0 or more")
    return around


def _cut_out(text: str, start: int, end: int) -> str:
    """Return a part of the text, with an ellipsis where it is cut."""
    return ("…" if start > 0 else "") + text[max(start, 0) : end].strip() + ("…" if end < len(text) else "")


def _places(text: str, pattern: Value) -> Iterator[tuple[int, int]]:
    """Yield the matches with positions in characters. Each byte of the text is decoded once."""
    data = text.encode()
    is_ascii = len(data) == len(text)
    seen = count = 0
    for match in _matches(pattern, data):
        start, end = match.span()
        if not is_ascii:
            count += len(data[seen:start].decode("utf-8", "replace"))
            seen = start
            length = len(data[start:end].decode("utf-8", "replace"))
            start, end = count, count + length
        yield start, end
