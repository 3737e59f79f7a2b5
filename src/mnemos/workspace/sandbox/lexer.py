"""The words of a text of SQL, by SQLite's own lexical rules, and where its statements end.

One regular expression, in which nothing is tried twice: the time is linear in any text.
Nothing here judges the grammar. An unrecognized token of SQLite is its own token kind,
``ILLEGAL``, and goes as far as it does in SQLite's message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class Kind(StrEnum):
    WORD = "word"
    """A keyword or a bare name: SQLite's grammar decides which."""
    STRING = "string"
    NAME = "name"
    """A name in double quotes, backticks or brackets."""
    NUMBER = "number"
    BLOB = "blob"
    PARAMETER = "parameter"
    OPERATOR = "operator"
    """Also parentheses, commas, points and semicolons."""
    COMMENT = "comment"
    ILLEGAL = "illegal"


# A tuple, because a text of 4 MB has a million of them.
class Token(NamedTuple):
    kind: Kind
    text: str
    start: int
    """Its place in the text, in characters."""

    @property
    def end(self) -> int:
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement without the semicolon that ends it, nor the space and comments around it."""

    text: str
    start: int
    """Its place in the whole text, in characters."""


# Every repetition is possessive (`*+`): a failed match gives nothing back to try again.
# The first and further characters of a name, as negated classes: a class of a million characters would take
# Python too long to compile at every start of the worker.
_LETTER = r"^\x00-@\[-\^`{-\x7f"
_INNER = r"^\x00-\#%-/:-@\[-\^`{-\x7f"
_SPACE = r" \t\n\x0b\f\r"
_DIGITS = r"[0-9]++(?:_[0-9]++)*+"
_EXPONENT = rf"(?:[eE][+-]?{_DIGITS})?+"
_NUMBER = (
    r"(?:0[xX][0-9A-Fa-f]++(?:_[0-9A-Fa-f]++)*+"
    rf"|{_DIGITS}(?:\.(?:{_DIGITS})?+)?+{_EXPONENT}"
    rf"|\.{_DIGITS}{_EXPONENT})"
)
_STRING = r"'[^']*+(?:''[^']*+)*+'"
_NAME = r'"[^"]*+(?:""[^"]*+)*+"|`[^`]*+(?:``[^`]*+)*+`|\[[^\]]*+\]'
_UNCLOSED = r"['\"`\[].*+"
_COMMENT = r"--[^\n]*+|/\*(?=.)[^*]*+(?:\*(?!/)[^*]*+)*+(?:\*/)?+"
# A name after a colon and the like; Tcl's `$a::b(c)` is in SQLite's rules.
_TCL = rf"\([^{_SPACE})]*+"
_PARAMETER = rf"\?[0-9]*+|[$@\#:](?:::)*+[{_INNER}](?:[{_INNER}]|::)*+(?:{_TCL}\)|(?!\())"
_BAD_PARAMETER = rf"[$@\#:](?:::)*+(?:[{_INNER}](?:[{_INNER}]|::)*+{_TCL})?+"
_BLANK = rf"\ufeff|[ \t\n\f\r][{_SPACE}]*+"

# The commonest kinds come first. The end is its own alternative: white space that leads to nothing
# would be tried again from each of its characters.
_TOKEN = re.compile(
    rf"""(?sx) (?:{_BLANK})*+ (?:
      (?P<word>      (?![xX]')[{_LETTER}][{_INNER}]*+ )
    | (?P<mark>      [(),;] )
    | (?P<number>    {_NUMBER}(?![{_INNER}]) )
    | (?P<string>    {_STRING} )
    | (?P<comment>   {_COMMENT} )
    | (?P<operator>  ->>|->|\|\||<<|>>|<=|>=|<>|!=|==|[-+*/%=<>&~|]|\.(?![0-9]) )
    | (?P<name>      {_NAME} )
    | (?P<parameter> {_PARAMETER} )
    | (?P<blob>      [xX]'(?:[0-9A-Fa-f]{{2}})*+' )
    | (?P<end>       \Z )
    | (?P<bad_blob>  [xX]'[^']*+'? )
    | (?P<unclosed>  {_UNCLOSED} )
    | (?P<bad_number> {_NUMBER}[{_INNER}]++ )
    | (?P<bad_parameter> {_BAD_PARAMETER} )
    | (?P<stray>     . )
    )"""
)
_NAMED = {kind.value: kind for kind in Kind} | {"mark": Kind.OPERATOR}
_KINDS = {group: _NAMED.get(name, Kind.ILLEGAL) for name, group in _TOKEN.groupindex.items()}
_END = _TOKEN.groupindex["end"]

_GAP = rf"(?:{_BLANK}|{_COMMENT})++"
_TRIGGER = re.compile(
    rf"(?si)(?:EXPLAIN{_GAP}(?:QUERY{_GAP}PLAN{_GAP})?)?"
    rf"CREATE(?:{_GAP}TEMP(?:ORARY)?)*+{_GAP}TRIGGER(?![{_INNER}])"
)


def tokens(sql: str) -> Iterator[Token]:
    """Every token of the text in order, comments too, white space not."""
    for match in _TOKEN.finditer(sql):
        group = match.lastindex
        if group is not None and group != _END:
            yield Token(_KINDS[group], match[group], match.start(group))


def statements(sql: str, most: int | None = None) -> list[Statement]:
    """The statements of a text, in order, or the first ``most``; none for space, comments and semicolons.

    A trigger goes on to the END between two semicolons, as ``sqlite3_complete`` has it; without that END it
    takes the rest of the text.
    """
    found: list[Statement] = []
    start = stop = -1
    is_trigger = False
    before = last = ""
    for match in _TOKEN.finditer(sql):
        group = match.lastindex
        if group is None or group == _END or _KINDS[group] is Kind.COMMENT:
            continue
        text = match[group]
        if text == ";" and not (is_trigger and (before != ";" or last.upper() != "END")):
            if start >= 0:
                found.append(Statement(sql[start:stop], start))
                if len(found) == most:
                    return found
            start, is_trigger = -1, False
            continue
        if start < 0:
            start = match.start(group)
            is_trigger = _TRIGGER.match(sql, start) is not None
            last = ""
        before, last, stop = last, text, match.end()
    return found if start < 0 else [*found, Statement(sql[start:stop], start)]


def is_complete(sql: str) -> bool:
    """True if a text ends with a finished statement, as somebody who types it means it."""
    # apsw: only needed at a prompt.
    from apsw import complete

    return complete(f"{sql}\n")


_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
_CLOSING = {'"': '"', "`": "`", "'": "'", "[": "]"}


def fold(name: str) -> str:
    """Return a name as SQLite compares it: only the letters of ASCII have no case."""
    return name.translate(_LOWER)


def unquote(text: str) -> str:
    """Return the name or string that a token of SQL means, without its quotes."""
    quote = text[:1]
    if len(text) < 2 or quote not in _CLOSING or text[-1] != _CLOSING[quote]:
        return text
    return text[1:-1] if quote == "[" else text[1:-1].replace(quote * 2, quote)
