"""The tables of what other databases write, and of what SQLite accepts and understands differently.

``equivalents.txt`` has one entry per sentence: the sentence, then indented lines. A form is ``PATTERN`` or
``PATTERN -> REPLACEMENT``: the sentence is said of a statement in which it occurs. ``when REGEX`` has the
sentence said of SQLite's messages that match, and the forms after it are tried only then. A pattern is a list
of pieces separated by blanks:

- ``WORD``, ``A|B``, ``[WORD]``: a word, one of several, an optional one. ``+x`` must touch the piece before.
- ``^`` first: the pattern starts where the statement does.
- ``{x}``: an operand at either end of a pattern, else everything up to the next piece but no comma.
- ``{x...}``: everything up to the next piece, at the end of a pattern everything in the same parentheses.
  ``{x...-WORD}`` may not contain the word.
- ``{x:string}``: one token of a kind, see ``_KINDS``; ``{x:name}`` and ``{x:type}`` are a name and a type.
- ``$``: the end of the statement.
- ``{x}`` again: the same text again.

The replacement repeats pieces as ``{x}``, or names a function of this module with ``@``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

from apsw import keywords

from mnemos.workspace.sandbox.hints.nearest import Schema, enumerate_names
from mnemos.workspace.sandbox.hints.sql_text import Text, write_name
from mnemos.workspace.sandbox.lexer import Kind, statements

FAILED = "equivalents.txt"
ACCEPTED = "caveats.txt"
_MOST_STEPS = 20_000
# Before the name of a table or the like, which is never taken for a function.
_NAMING = frozenset({"TABLE", "INTO", "VIEW", "EXISTS", "INDEX", "UPDATE", "REFERENCES", "ON", "."})
_MOST_CHANGES = 12
_MOST_STATEMENTS = 20
_CAPTURE = re.compile(r"\{(\w+)(\.\.\.)?(?:-(\w+))?(?::(\w+))?\}")
_KINDS = {
    name: re.compile(pattern, re.DOTALL)
    for name, pattern in {
        "string": r"'.*",
        "words": r"'(?!\s*[+-]?[\d.]+\s*'\Z).*",
        "compares": r"=|==|<>|!=",
        "digits": r"\d+",
        "year": r"\d{4}",
        "month": r"0?[1-9]|1[0-2]",
        "day": r"0?[1-9]|[12]\d|3[01]",
        "number": r"\d.*|[?:$@].*",
        "word": r"\w+|'.*",
        "brackets": r"\[.*",
        "variable": r"@\w+",
        "temporary": r"#\w+",
        "days": r"(?:DAY|MONTH|YEAR)S?",
        "hours": r"(?:HOUR|MINUTE|SECOND)S?",
        "unit": r"(?:YEAR|QUARTER|MONTH|WEEK|DAY|HOUR|MINUTE|SECOND)S?",
        "datestring": r"'\d.*",
        "daystring": r"'\d+ (?:day|month|year)s?'",
        "hourstring": r"'\d+ (?:hour|minute|second)s?'",
    }.items()
}

Captured = dict[str, tuple[int, int]]


class _Piece(NamedTuple):
    words: frozenset[str]
    """Alternatives in capitals; none for a capture."""
    is_optional: bool = False
    touches: bool = False
    name: str = ""
    kind: str = ""
    is_rest: bool = False
    without: str = ""


@dataclass(frozen=True, slots=True)
class _Form:
    pieces: tuple[_Piece, ...]
    replacement: str | None
    starts: bool
    needs_message: bool
    is_call: bool
    needed: tuple[frozenset[str], ...]
    """Words of which a statement must contain one each."""


@dataclass(frozen=True, slots=True)
class _Entry:
    sentence: str
    message: re.Pattern[str] | None
    forms: tuple[_Form, ...]


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A statement after replacements, and the sentences that go with it."""

    sql: str
    reasons: tuple[str, ...]
    is_stuck: bool = False
    """Something was recognised that has no replacement."""


# --- reading the table --------------------------------------------------------------------------


@cache
def _load(table: str) -> tuple[_Entry, ...]:
    entries: list[tuple[str, list[str]]] = []
    for line in Path(__file__).with_name(table).read_text(encoding="utf-8").splitlines():
        if line[:1].isspace():
            entries[-1][1].append(line.strip())
        elif line and not line.startswith("#"):
            entries.append((line, []))
    return tuple(_parse_entry(sentence, lines) for sentence, lines in entries)


def _parse_entry(sentence: str, lines: Sequence[str]) -> _Entry:
    patterns: list[str] = []
    forms: list[_Form] = []
    for line in lines:
        if line.startswith("when "):
            patterns.append(f"(?:{line.removeprefix('when ')})")
        else:
            forms.append(_parse_form(line, needs_message=bool(patterns)))
    return _Entry(sentence, re.compile("|".join(patterns), re.DOTALL) if patterns else None, tuple(forms))


def _parse_form(line: str, *, needs_message: bool) -> _Form:
    pattern, arrow, replacement = line.partition(" ->")
    pieces = pattern.split()
    starts = pieces[0] == "^" and len(pieces) > 1
    parsed = tuple(map(_parse_piece, pieces[starts:]))
    needed = tuple(one.words for one in parsed if one.words - {"$"} and not one.is_optional)
    is_call = pieces[1:2] == ["("] and pieces[0][0].isalpha()
    return _Form(parsed, replacement.strip() if arrow else None, starts, needs_message, is_call, needed)


def _parse_piece(piece: str) -> _Piece:
    touches = piece[0] == "+" and len(piece) > 1
    piece = piece[touches:]
    if match := _CAPTURE.fullmatch(piece):
        name, rest, without, kind = match.groups(default="")
        return _Piece(frozenset(), touches=touches, name=name, kind=kind, is_rest=bool(rest), without=without)
    is_optional = piece[0] == "[" and len(piece) > 1
    piece = piece.strip("[]") if is_optional else piece
    words = piece.split("|") if any(letter.isalpha() for letter in piece) else [piece]
    return _Piece(frozenset(words), is_optional=is_optional, touches=touches)


# --- finding a form in a statement --------------------------------------------------------------


class _Search:
    """Matches forms in one statement, with a limit on the work."""

    def __init__(self, text: Text) -> None:
        self._text = text
        self._words = set(text.words)
        self._steps = _MOST_STEPS

    def find(self, form: _Form) -> tuple[int, int, Captured] | None:
        """Return where a form occurs first, and what its captures are."""
        if any(self._words.isdisjoint(words) for words in form.needed):
            return None
        first = form.pieces[0]
        for place in range(1 if form.starts else len(self._text)):
            if form.is_call and self._text.word(place - 1) in _NAMING:
                continue
            start, pieces, found = place, form.pieces, Captured()
            if first.name and not first.kind:
                before = self._text.operand_before(place)
                if before is None:
                    continue
                start, pieces, found = before, pieces[1:], {first.name: (before, place)}
            if match := next(self._match(pieces, place, found), None):
                return (start, *match)
        return None

    def _match(self, pieces: Sequence[_Piece], at: int, found: Captured) -> Iterator[tuple[int, Captured]]:
        self._steps -= 1
        if self._steps < 0:
            return
        if not pieces:
            yield at, found
            return
        piece, rest = pieces[0], pieces[1:]
        if piece.touches and not self._text.touches(at):
            return
        if piece.name:
            for stop in self._stops(piece, at, found, is_last=not rest):
                yield from self._match(rest, stop, {piece.name: (at, stop)} | found)
            return
        if piece.words == {"$"}:
            if at == len(self._text):
                yield from self._match(rest, at, found)
            return
        if self._text.word(at) in piece.words:
            yield from self._match(rest, at + 1, found)
        if piece.is_optional:
            yield from self._match(rest, at, found)

    def _stops(self, piece: _Piece, at: int, found: Captured, *, is_last: bool) -> Iterator[int]:
        """Yield the tokens at which a capture that begins at a token may end, the nearest first."""
        text = self._text
        if piece.name in found:
            first, last = found[piece.name]
            if text.words[first:last] == text.words[at : at + last - first]:
                yield at + last - first
        elif piece.kind:
            if stop := self._stop_of_kind(piece.kind, at):
                yield stop
        elif piece.is_rest:
            ends = list(self._walk(at, {piece.without}))
            yield from ends[-1:] if is_last else ends
        elif is_last:
            if stop := text.operand_after(at):
                yield stop
        else:
            yield from (stop for stop in self._walk(at, {","}) if stop > at)

    def _walk(self, at: int, without: set[str]) -> Iterator[int]:
        """Yield every token up to the end of the parentheses, skipping pairs of them."""
        yield at
        while at < len(self._text) and self._text.word(at) not in without | {")"}:
            at = self._text.closes.get(at, at) + 1
            self._steps -= 1
            yield at

    def _stop_of_kind(self, kind: str, at: int) -> int | None:
        text = self._text
        if kind in _KINDS:
            return at + 1 if _KINDS[kind].fullmatch(text.word(at)) else None
        is_name = text.kind(at) is Kind.NAME or (text.kind(at) is Kind.WORD and text.word(at) not in keywords)
        if kind == "name":
            return at + 1 if is_name else None
        if text.kind(at) is not Kind.WORD or sqlite_type(text.word(at)) is None:
            return None
        at = text.closes.get(at + 1, at) + 1
        while text.word(at) in _TYPE_TAIL:
            at += 1
        return at


# --- replacing ----------------------------------------------------------------------------------


def rewrite(sql: str, message: str) -> Rewritten:
    """Replace what the table knows, until it knows nothing more."""
    found = statements(sql)
    if len(found) > _MOST_STATEMENTS:
        return Rewritten(sql, ())
    made = [_rewrite_one(statement.text, message) for statement in found]
    if len(made) == 1:
        return made[0]
    reasons = dict.fromkeys(reason for one in made for reason in one.reasons)
    return Rewritten("; ".join(one.sql for one in made), tuple(reasons), any(one.is_stuck for one in made))


def _rewrite_one(sql: str, message: str) -> Rewritten:
    forms = [
        (entry, form)
        for entry in _load(FAILED)
        for form in entry.forms
        if not form.needs_message or (entry.message and entry.message.fullmatch(message))
    ]
    reasons: dict[str, None] = {}
    is_stuck = False
    for _ in range(_MOST_CHANGES):
        text = Text(sql)
        search = _Search(text)
        for entry, form in forms:
            match = search.find(form)
            if match is None:
                continue
            reasons[entry.sentence] = None
            new = _fill(form.replacement, text, match[2])
            if new is None:
                is_stuck = True
                continue
            sql = text.replace(match[0], match[1], new)
            break
        else:
            break
    return Rewritten(sql, tuple(reasons), is_stuck)


def recognise(sql: str, table: str = FAILED) -> tuple[str, ...]:
    """Return the sentences for what occurs in a piece of a statement."""
    search = _Search(Text(sql))
    return tuple(
        entry.sentence
        for entry in _load(table)
        if any(search.find(form) for form in entry.forms if not form.needs_message)
    )


def explain(message: str, schema: Schema) -> str | None:
    """Return what to do about a message of SQLite's, for any statement; None for an unknown one."""
    for entry in _load(FAILED):
        if entry.message and (match := entry.message.fullmatch(message)):
            fill = partial(
                _fill_field, groups=[one for one in match.groups() if one is not None], schema=schema
            )
            return _FIELD.sub(fill, entry.sentence)
    return None


_FIELD = re.compile(r"\{(\d)(?::(\w+))?\}")


def _fill_field(field: re.Match[str], *, groups: Sequence[str], schema: Schema) -> str:
    value = groups[int(field[1]) - 1][:200]
    match field[2]:
        case "columns":
            return enumerate_names(schema.columns.get(value.strip('"').lower(), ()))
        case "tables":
            return enumerate_names(schema.tables_with(value)) or "one of them"
        case "key":
            return ", ".join(write_name(part.strip().rpartition(".")[2]) for part in value.split(","))
        case "signature":
            return schema.signatures.get(value.lower(), "what sqlite_schema with functions shows")
    return value


def _fill(replacement: str | None, text: Text, found: Captured) -> str | None:
    if replacement is None:
        return None
    values = {name: text.source(*span) for name, span in found.items()}
    if replacement.startswith("@"):
        name, *constants = replacement[1:].split()
        return _COMPUTED[name](values, *constants)
    if "/*" in replacement and any("*/" in value for value in values.values()):
        return None
    return replacement.format(**values)


# --- replacements that are computed -------------------------------------------------------------

_TYPES = (
    ("TEXT", re.compile(r"N?(VAR)?CHAR2?|N?TEXT|STRING|CHARACTER|CITEXT|UUID|UNIQUEIDENTIFIER|CLOB")),
    ("INTEGER", re.compile(r"U?(BIG|SMALL|TINY|MEDIUM)?INT(EGER)?\d*|(UN)?SIGNED|BOOL(EAN)?|BIT|OID")),
    ("REAL", re.compile(r"FLOAT\d*|DOUBLE|REAL|(SMALL)?MONEY")),
    ("NUMERIC", re.compile(r"NUMERIC|DECIMAL|DEC|NUMBER")),
    ("BLOB", re.compile(r"BYTEA|(VAR)?BINARY|BLOB|BYTES")),
    ("datetime", re.compile(r"TIMESTAMP(TZ)?|(SMALL)?DATETIME2?")),
    ("date", re.compile(r"DATE")),
    ("time", re.compile(r"TIME")),
    ("", re.compile(r"JSONB?|XML|REGCLASS")),
)
_TYPE_TAIL = frozenset("PRECISION VARYING WITH WITHOUT TIME ZONE LOCAL UNSIGNED SIGNED INTEGER []".split())
_SCALE = re.compile(r"\(\s*\d+\s*,\s*(\d+)\s*\)")


def sqlite_type(word: str) -> str | None:
    """Return SQLite's type, or function, for another database's type in capitals; None if it isn't one."""
    return next((name for name, pattern in _TYPES if pattern.fullmatch(word)), None)


def _cast(values: dict[str, str]) -> str:
    value, kind = values["x"], values["t"]
    name = sqlite_type(re.match(r"\w*", kind)[0].upper())  # type: ignore[index]  # \w* matches any text
    if name == "NUMERIC" and (scale := _SCALE.search(kind)):
        return f"round({value}, {scale[1]})"
    if name and name.islower():
        return f"{name}({value})"
    return f"CAST({value} AS {name})" if name else value


def _write_list(values: dict[str, str], *head: str) -> str:
    """Write ``[1, 2]``, which SQLite takes for a name, in parentheses after a word."""
    return f"{' '.join(head)} ({values['l'][1:-1]})"


_COMPUTED: dict[str, Callable[..., str]] = {"cast": _cast, "list": _write_list}
