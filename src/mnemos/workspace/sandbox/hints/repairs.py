"""Slips of the pen: commas, quotes, parentheses, reserved words, misspelt keywords, clauses out of order.

Each repair is a guess at one place, where SQLite stopped reading. It is offered only if SQLite takes the
statement with it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from difflib import get_close_matches

from apsw import keywords

from mnemos.workspace.identifiers import quote as quoted
from mnemos.workspace.sandbox.hints.known import Schema
from mnemos.workspace.sandbox.hints.reading import Rewritten, Text, reads
from mnemos.workspace.sandbox.hints.trial import Complaint, Trial
from mnemos.workspace.sandbox.lexer import Kind

_MOST_REPAIRS = 6
_MOST_STRINGS = 30

Repair = Callable[[Text, int, Schema], Iterator[tuple[str, str]]]
"""From a statement and the token where SQLite stopped: statements that may be meant, each with the reason."""


def repaired(sql: str, complaint: Complaint, trial: Trial, schema: Schema) -> Rewritten | None:
    """The statement with its slips repaired, if SQLite can then read it; names may still be unknown."""
    reasons: dict[str, None] = {}
    for _ in range(_MOST_REPAIRS):
        found = _one(sql, complaint, trial, schema)
        if found is None:
            return None
        sql, why = found
        reasons[why] = None
        left = trial.complaint(sql)
        if left is None or not left.is_syntax:
            return Rewritten(sql, tuple(reasons))
        complaint = left
    return None


def _one(sql: str, complaint: Complaint, trial: Trial, schema: Schema) -> tuple[str, str] | None:
    """The first repair with which SQLite takes the statement, or reads it, or reads further than before."""
    text = Text(sql)
    place = stopped(text, complaint)
    second: tuple[str, str] | None = None
    for repair in _REPAIRS:
        for candidate, why in repair(text, place, schema):
            left = trial.complaint(candidate)
            if left is None:
                return candidate, why
            if not left.is_syntax and repair not in _DOUBTFUL:
                return candidate, why
            likely = text.word(place) in _LIKELY_NAMES if repair is _reserved else repair in _REPEATED
            if second is None and likely and _is_better(sql, complaint, candidate, left):
                second = candidate, why
    return second


def stopped(text: Text, complaint: Complaint) -> int:
    """The token where SQLite stopped; the number of tokens if it read to the end."""
    if complaint.offset is None:
        return len(text)
    before = text.sql.encode()[: complaint.offset]
    return max(text.at(len(before.decode(errors="ignore"))), 0)


def _is_better(sql: str, complaint: Complaint, candidate: str, left: Complaint) -> bool:
    """Whether SQLite reads further with a repair than without, or to the end."""
    if not left.is_syntax or complaint.offset is None:
        return not left.is_syntax
    longer = len(candidate.encode()) - len(sql.encode())
    return left.offset is not None and left.offset > complaint.offset + max(longer, 0)


# Reserved words that people give to tables and columns.
_LIKELY_NAMES = frozenset(
    """CASE CHECK CONSTRAINT DEFAULT FOREIGN FROM GROUP INDEX LIMIT ORDER PRIMARY REFERENCES SET TABLE TO
    TRANSACTION UNIQUE VALUES""".split()
)


def _with(text: Text, first: int, last: int, new: str) -> str:
    """The statement with other text in the place of some tokens, or before one."""
    if first >= len(text):
        return text.sql.rstrip() + new
    start = text.tokens[first].start
    end = text.tokens[last - 1].end if last > first else start
    head, tail = text.sql[:start], text.sql[end:]
    return (head.rstrip() + tail) if not new else head + new + tail


def _closed(text: Text, place: int, new: str) -> str:
    """The statement with something put right after the token before a place."""
    end = text.tokens[place - 1].end if 0 < place <= len(text) else 0
    return text.sql[:end] + new + text.sql[end:]


_ODD = str.maketrans(
    {
        "\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"',
        "\u00a0": " ", "\u2003": " ", "\u2009": " ", "\u202f": " ", "\u3000": " ", "\u200b": "",
        "\u2212": "-", "\u2013": "-", "\u2260": "<>", "\u2264": "<=", "\u2265": ">=",
        "\uff08": "(", "\uff09": ")", "\uff0c": ",", "\uff1b": ";",
    }
)  # fmt: skip


def _plain(text: Text, table: dict[int, str]) -> str:
    """The statement with other characters outside strings and names in quotes."""
    pieces, position = [], 0
    for token in text.tokens:
        if token.kind in (Kind.WORD, Kind.ILLEGAL):
            pieces += [text.sql[position : token.start], token.text.translate(table)]
            position = token.end
    return "".join([*pieces, text.sql[position:]])


def _odd_characters(text: Text, _place: int, _schema: Schema) -> Iterator[tuple[str, str]]:
    why = "curly quotes, hard spaces and the like are letters to SQLite; use ' \" and plain spaces"
    # What stands in double quotes is more likely a text where there is no such column.
    for table in (_ODD, _ODD | {ord(sign): "'" for sign in "\u201c\u201d"}):
        made = _plain(text, table)
        if made != text.sql:
            yield made, why


_COMMENTS = re.compile(r"\A(?:\s*+(?://|#)[^\n]*+)++")
_FENCE = re.compile(r"^\s*```[a-z]*\s*|\s*```\s*$", re.IGNORECASE)


def _wrapping(text: Text, _place: int, _schema: Schema) -> Iterator[tuple[str, str]]:
    if "```" in text.sql:
        yield _FENCE.sub("", text.sql), "send the SQL alone, without Markdown around it"
    # Only in front of the statement: further on, such a line may be within a string.
    made = _COMMENTS.sub("", text.sql)
    if made != text.sql and made.strip():
        yield made, "comments begin with -- in SQL"


_ESCAPED = re.compile(r"'(?:[^'\\]|\\.|'')*+'", re.DOTALL)


def _escapes(text: Text, _place: int, _schema: Schema) -> Iterator[tuple[str, str]]:
    """``'it\\'s'``."""
    if "\\'" in text.sql:
        made = _ESCAPED.sub(lambda match: match[0].replace("\\'", "''"), text.sql)
        yield (
            made,
            "SQLite's strings have no backslash escapes; a quote in a string is written twice: 'it''s'",
        )


def _apostrophes(text: Text, place: int, _schema: Schema) -> Iterator[tuple[str, str]]:
    """``'it's'``: SQLite stops at the word that touches the end of a string."""
    if text.kind(place - 1) is Kind.STRING and text.kind(place) in (Kind.WORD, Kind.NUMBER):
        end = text.tokens[place - 1].end
        if end == text.tokens[place].start:
            yield f"{text.sql[:end]}'{text.sql[end:]}", "a quote within a string is written twice: 'it''s'"


_AFTER_LIST = frozenset(
    {")", "FROM", "WHERE", "ORDER", "GROUP", "HAVING", "LIMIT", "SELECT", "ON", "UNION", "RETURNING", ""}
)


def _unclosed(text: Text, _place: int, _schema: Schema) -> Iterator[tuple[str, str]]:
    """A quote that is opened last and never closed: before the next clause, or at the end."""
    token = text.tokens[-1] if text.tokens else None
    if token is None or token.kind is not Kind.ILLEGAL or token.text[0] not in "'\"`":
        return
    quote = token.text[0]
    why = f"a quote is not closed: {quote} is missing"
    ends = [
        match.start()
        for match in re.finditer(r"\s+(?:FROM|WHERE|ORDER|GROUP|AND|OR|LIMIT)\b|[,)]", token.text)
    ]
    if not reads(text):
        # What ends a string too early here is data, and must not become a condition.
        ends = []
    for end in [*ends[:5], len(token.text.rstrip())]:
        yield f"{text.sql[: token.start + end]}{quote}{text.sql[token.start + end :]}", why


def _trailing_comma(text: Text, place: int, _schema: Schema) -> Iterator[tuple[str, str]]:
    if text.word(place - 1) == "," and text.word(place) in _AFTER_LIST:
        yield (
            _with(text, place - 1, place, ""),
            f"there is a comma too many before {text.word(place) or 'the end'}",
        )
    elif text.word(place) == "," and (text.word(place + 1) in (",", ")") or text.word(place - 1) == ","):
        yield _with(text, place, place + 1, ""), "there is a comma too many"


def _keyword(text: Text, place: int, _schema: Schema) -> Iterator[tuple[str, str]]:
    """A keyword with a letter wrong, where SQLite stopped or just before."""
    for index in (place, place - 1):
        word = text.word(index)
        if text.kind(index) is not Kind.WORD or len(word) < 3 or word in keywords:
            continue
        for close in get_close_matches(word[:30], keywords, n=3, cutoff=0.7):
            yield _with(text, index, index + 1, close), f"{text.tokens[index].text[:40]} looks like {close}"


_BEGINNINGS = frozenset(
    {"SELECT", "WITH", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "ALTER", "PRAGMA", "EXPLAIN"}
)


def _missing(text: Text, place: int, _schema: Schema) -> Iterator[tuple[str, str]]:
    """A word that was left out: FROM, VALUES, SET, the columns, an equals sign."""
    word, before = text.word(place), text.word(place - 1)
    if before == "SELECT" and word == "FROM":
        yield _with(text, place, place, "* "), "SELECT needs columns, or * for all"
    if before == "*" and text.word(0) == "SELECT" and "FROM" not in text.words:
        yield _with(text, place, place, "FROM "), "FROM is missing before the table"
    if text.word(0) in ("INSERT", "REPLACE") and word == "(" and "VALUES" not in text.words:
        yield _with(text, place, place, "VALUES "), "VALUES is missing before the values"
    if text.word(0) == "UPDATE" and "SET" not in text.words:
        yield _with(text, place, place, "SET "), "SET is missing after the table"
    if text.word(0) == "UPDATE" and place < len(text):
        yield _with(text, place, place, "= "), f"= is missing before {text.tokens[place].text[:40]}"
    if place == 0 and text.kind(0) is Kind.WORD and text.word(0) not in _BEGINNINGS:
        first = next((index for index in range(len(text)) if text.words[index] in ("SELECT", "WITH")), 0)
        if first:
            yield text.source(first, len(text)), "send the SQL alone, without words around it"


def _by(text: Text, place: int, _schema: Schema) -> Iterator[tuple[str, str]]:
    before = text.word(place - 1)
    if before in ("ORDER", "GROUP", "PARTITION"):
        yield _with(text, place, place, "BY "), f"it is {before} BY"


def _common_table(text: Text, place: int, _schema: Schema) -> Iterator[tuple[str, str]]:
    """``WITH a (SELECT 1)``."""
    if text.word(place) in ("SELECT", "VALUES") and text.word(place - 1) == "(":
        yield _with(text, place - 1, place - 1, "AS "), "WITH says name AS (SELECT ...)"


def _parentheses(text: Text, place: int, _schema: Schema) -> Iterator[tuple[str, str]]:
    missing = text.words.count("(") - text.words.count(")")
    if 0 < missing <= 20:
        why = "a parenthesis is not closed"
        yield _closed(text, place, ")" * missing), why
        yield _closed(text, len(text), ")" * missing), why
    elif missing < 0 and text.word(place) == ")":
        yield _with(text, place, place + 1, ""), "there is a ) too many"


def _cases(text: Text, place: int, _schema: Schema) -> Iterator[tuple[str, str]]:
    if text.words.count("CASE") > text.words.count("END"):
        yield _closed(text, place, " END"), "CASE ends with END"
    if text.word(place) == "THEN" and "CASE" in text.words:
        first = len(text) - 1 - text.words[::-1].index("CASE")
        yield _with(text, first + 1, first + 1, "WHEN "), "CASE says WHEN condition THEN value"
    for first in (place - 1, place - 2):
        if text.has(first, "ELSE", "IF"):
            yield _with(text, first, first + 2, "WHEN"), "CASE says WHEN again, not ELSE IF"


def _commas(text: Text, place: int, schema: Schema) -> Iterator[tuple[str, str]]:
    """A comma that is missing before the place, or before the name that was taken for an alias."""
    name = text.tokens[place].text[:40] if place < len(text) else ""
    if not name or (text.kind(place) is Kind.OPERATOR and name != "("):
        return
    why = f"a comma seems to be missing before {name}"
    columns = {column.lower() for columns in schema.columns.values() for column in columns}
    if {text.word(place - 1).lower(), text.word(place - 2).lower(), name.lower()} <= columns:
        both = _with(text, place - 1, place + 1, f", {text.tokens[place - 1].text}, {name}")
        yield re.sub(r"\s+,", ",", both, count=1), "commas seem to be missing between the columns"
    start = text.tokens[place].start
    yield f"{text.sql[:start].rstrip()}, {text.sql[start:]}", why


def _doubled(text: Text, place: int, _schema: Schema) -> Iterator[tuple[str, str]]:
    """``WHERE AND x``, ``IS NOT BETWEEN``, ``IN 'a', 'b'``."""
    word = text.word(place)
    if word in ("AND", "OR"):
        yield _with(text, place, place + 1, ""), f"{word} stands between two conditions"
    if word in ("BETWEEN", "LIKE", "IN", "GLOB", "REGEXP"):
        if text.word(place - 1) == "IS":
            yield _with(text, place - 1, place, ""), f"{word} stands without IS"
        elif text.has(place - 2, "IS", "NOT"):
            yield _with(text, place - 2, place - 1, ""), f"it is NOT {word}, without IS"
    listed = [index for index in range(max(place - 3, 0), place + 1) if text.word(index) == "IN"]
    for index in listed:
        last = index + 1
        while text.kind(last) in (Kind.STRING, Kind.NUMBER, Kind.PARAMETER):
            last += 1 + (text.word(last + 1) == ",")
        if last > index + 1:
            values = text.source(index + 1, last)
            yield _with(text, index + 1, last, f"({values})"), "the values after IN stand in parentheses"


_ORDER = ("SELECT", "FROM", "WHERE", "GROUP", "HAVING", "WINDOW", "ORDER", "LIMIT")


def _clauses(text: Text, _place: int, _schema: Schema) -> Iterator[tuple[str, str]]:
    """``ORDER BY`` before ``WHERE``, ``LIMIT`` before ``ORDER BY``, ``HAVING`` before ``GROUP BY``."""
    first = text.find(0, len(text), "SELECT")
    if first is None:
        return
    starts = [
        index
        for index in range(first, len(text))
        if text.words[index] in _ORDER and text.depths[index] == text.depths[first]
    ]
    words = [text.words[index] for index in starts]
    if len(set(words)) != len(words) or words == sorted(words, key=_ORDER.index):
        return
    stops = [*starts[1:], len(text)]
    clauses = sorted(zip(words, starts, stops, strict=True), key=lambda clause: _ORDER.index(clause[0]))
    ordered = " ".join(text.source(start, stop) for _, start, stop in clauses)
    head = text.source(0, first)
    why = "the clauses come in the order SELECT, FROM, WHERE, GROUP BY, HAVING, ORDER BY, LIMIT"
    yield f"{head} {ordered}".strip(), why


def _reserved(text: Text, place: int, _schema: Schema) -> Iterator[tuple[str, str]]:
    for index in (place, place - 1) if place < len(text) else ():
        word = text.word(index)
        if text.kind(index) is Kind.WORD and word in keywords:
            name = quoted(text.tokens[index].text)
            yield (
                _with(text, index, index + 1, name),
                f"{word} is a reserved word; as a name it stands in quotes: {name}",
            )


_REPAIRS: tuple[Repair, ...] = (
    _wrapping,
    _odd_characters,
    _escapes,
    _apostrophes,
    _unclosed,
    _trailing_comma,
    _missing,
    _by,
    _common_table,
    _parentheses,
    _cases,
    _clauses,
    _doubled,
    _keyword,
    _reserved,
    _commas,
)

# These change what a word is: they are believed only if nothing else is wrong.
_DOUBTFUL: tuple[Repair, ...] = (_missing, _reserved, _keyword, _unclosed, _commas, _apostrophes)
# These may be needed several times before SQLite takes the statement.
_REPEATED: tuple[Repair, ...] = (_commas, _trailing_comma, _apostrophes)


def unquoted(sql: str, trial: Trial) -> str | None:
    """The statement with single quotes around texts that had double quotes; None if that does not help."""
    for _ in range(_MOST_STRINGS):
        complaint = trial.complaint(sql)
        if complaint is None:
            return sql
        text = Text(sql)
        place = stopped(text, complaint)
        token = text.tokens[place] if place < len(text) else None
        if token is None or token.kind is not Kind.NAME or "no such column" not in complaint.message:
            return None
        inside = token.text[1:-1].replace('""', '"').replace("'", "''")
        sql = _with(text, place, place + 1, f"'{inside}'")
    return None
