"""Slips of the pen where SQLite stopped reading: commas, quotes, parentheses, keywords, reserved words.

Each repair is a guess at one place. It is offered only if SQLite takes the statement with it. For that, a
statement is compiled and never run, in a database in memory that has the tables and columns of the real one
and none of its rows. The agent's SQL may be hostile here too: pragmas act while they are compiled, so all but
those that describe tables are refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches

import apsw
from apsw import keywords

from mnemos.workspace import functions
from mnemos.workspace.identifiers import quote
from mnemos.workspace.sandbox.hints.equivalents import Rewritten
from mnemos.workspace.sandbox.hints.nearest import Schema
from mnemos.workspace.sandbox.hints.sql_text import Text
from mnemos.workspace.sandbox.lexer import Kind, statements, tokens, unquote

_MOST_TABLES = 50
_DESCRIBING = frozenset(
    {"table_info", "table_xinfo", "table_list", "index_list", "foreign_key_list", "index_info"}
)
_WORDS = re.compile(r"\w+")
_MALFORMED = re.compile(r'near ".*": syntax error|unrecognized token: ".*"|incomplete input', re.DOTALL)
_IN_THE_WAY = re.compile(r"(?:table|view|index|trigger) (.+) already exists", re.DOTALL)
# Complaints that depend on the real tables: their keys, and which of them are views.
_ONLY_HERE = (
    "ON CONFLICT clause does not match",
    "no such index",
    "no such trigger",
    "no such constraint",
    "use DROP ",
)


@dataclass(frozen=True, slots=True)
class Complaint:
    """SQLite's refusal of a statement."""

    message: str
    offset: int | None
    """The place in bytes of UTF-8; None where SQLite doesn't say."""

    @property
    def is_syntax(self) -> bool:
        return bool(_MALFORMED.fullmatch(self.message))


class Trial:
    """A database to compile statements in that use the tables of a failed one."""

    def __init__(self, sql: str, schema: Schema) -> None:
        self._connection = apsw.Connection(":memory:")
        for option in (apsw.SQLITE_DBCONFIG_DQS_DML, apsw.SQLITE_DBCONFIG_DQS_DDL):
            self._connection.config(option, 0)
        self._add_tables(sql, schema)
        functions.register(self._connection)
        self._connection.authorizer = _authorize
        self._connection.exec_trace = lambda *_: False

    def _add_tables(self, sql: str, schema: Schema) -> None:
        for name in [name for name in _find_names(sql) if name in schema.tables][:_MOST_TABLES]:
            columns = ", ".join(map(quote, {name.lower(): name for name in schema.columns[name]}.values()))
            if columns and not name.startswith("sqlite_"):
                self._connection.execute(f"CREATE TABLE {quote(schema.tables[name])} ({columns})")

    def compile(self, sql: str) -> Complaint | None:
        """Return the complaint about the first statement that is refused; None if all compile."""
        before: set[str] = set()
        for statement in statements(sql):
            complaint = self._compile_one(statement.text)
            # Nothing is run, so what an earlier statement creates is missing in a later one.
            if complaint and not _concerns(complaint.message, before):
                return complaint
            before.update(_find_names(statement.text))
        return None

    def _compile_one(self, sql: str) -> Complaint | None:
        try:
            self._connection.execute(sql)
        except (apsw.ExecTraceAbort, apsw.BindingsError, apsw.AuthError):
            return None
        except apsw.Error as exc:
            message = str(exc)
            if message.startswith(_ONLY_HERE):
                return None
            offset = getattr(exc, "error_offset", -1)
            return Complaint(message, offset if offset >= 0 else None)
        return None


def _concerns(message: str, names: set[str]) -> bool:
    """True if something is missing, or in the way, only because earlier statements were not run."""
    if match := _IN_THE_WAY.fullmatch(message):
        return match[1].strip('"').lower() in names
    missing = message.partition(": ")[2].rpartition(".")[2]
    return message.startswith("no such ") and missing.lower() in names


def _find_names(sql: str) -> dict[str, None]:
    """Return what may be names, in lower case and in order, also in quotes that are not closed."""
    return dict.fromkeys(
        name.lower()
        for token in tokens(sql)
        if token.kind in (Kind.WORD, Kind.NAME, Kind.STRING, Kind.ILLEGAL)
        for name in (_WORDS.findall(token.text) if token.kind is Kind.ILLEGAL else [unquote(token.text)])
    )


def _authorize(action: int, one: str | None, *_rest: str | None) -> int:
    is_pragma = action == apsw.SQLITE_PRAGMA and (one or "").lower() not in _DESCRIBING
    is_refused = is_pragma or action in (apsw.SQLITE_ATTACH, apsw.SQLITE_DETACH)
    return apsw.SQLITE_DENY if is_refused else apsw.SQLITE_OK


# --- repairing ----------------------------------------------------------------------------------

Repair = Callable[[Text, int], Iterator[tuple[str, str]]]
"""Yields statements that may be meant, each with the reason, from the token where SQLite stopped."""


def repair(sql: str, complaint: Complaint, trial: Trial) -> Rewritten | None:
    """Return the first repair with which SQLite can read the statement; names may still be unknown."""
    text = Text(sql)
    place = text.at_offset(complaint.offset)
    for candidates in _REPAIRS:
        for candidate, why in candidates(text, place):
            left = trial.compile(candidate)
            if left is None or not (left.is_syntax or candidates in _DOUBTFUL):
                return Rewritten(candidate, (why,))
    return None


# --- around the statement and its characters ----------------------------------------------------

_ODD = str.maketrans(
    {
        "\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"',
        "\u00a0": " ", "\u2003": " ", "\u2009": " ", "\u202f": " ", "\u3000": " ", "\u200b": "",
        "\u2212": "-", "\u2013": "-", "\u2260": "<>", "\u2264": "<=", "\u2265": ">=",
        "\uff08": "(", "\uff09": ")", "\uff0c": ",", "\uff1b": ";",
    }
)  # fmt: skip
_COMMENTS = re.compile(r"\A(?:\s*+(?://|#)[^\n]*+)++")
_FENCE = re.compile(r"^\s*```[a-z]*\s*|\s*```\s*$", re.IGNORECASE)


def _replace_characters(text: Text, _place: int) -> Iterator[tuple[str, str]]:
    # Text in double quotes is more likely meant as a string where there is no such column.
    for table in (_ODD, _ODD | {ord(sign): "'" for sign in "\u201c\u201d"}):
        pieces, position = [], 0
        for token in text.tokens:
            if token.kind in (Kind.WORD, Kind.ILLEGAL):
                pieces += [text.sql[position : token.start], token.text.translate(table)]
                position = token.end
        made = "".join([*pieces, text.sql[position:]])
        if made != text.sql:
            yield made, "curly quotes and hard spaces are letters to SQLite: use ' \" and plain spaces"


def _unwrap(text: Text, place: int) -> Iterator[tuple[str, str]]:
    alone = "send the SQL alone, without Markdown or words around it"
    if "```" in text.sql:
        yield _FENCE.sub("", text.sql), alone
    # Only in front of the statement: further on, such a line may be part of a string.
    made = _COMMENTS.sub("", text.sql)
    if made != text.sql and made.strip():
        yield made, "comments begin with -- in SQL"
    if place == 0 and text.kind(0) is Kind.WORD and text.word(0) not in keywords:
        first = next((index for index, word in enumerate(text.words) if word in ("SELECT", "WITH")), 0)
        if first:
            yield text.source(first, len(text)), alone


# --- quotes -------------------------------------------------------------------------------------

_ESCAPED = re.compile(r"'(?:[^'\\]|\\.|'')*+'", re.DOTALL)


def _double_quotes(text: Text, place: int) -> Iterator[tuple[str, str]]:
    """Repair ``'it\\'s'`` and ``'it's'``, where SQLite stops at the word that touches the string."""
    twice = "a quote within a string is written twice: 'it''s'"
    if "\\'" in text.sql:
        yield _ESCAPED.sub(lambda match: match[0].replace("\\'", "''"), text.sql), twice
    is_word = text.kind(place) in (Kind.WORD, Kind.NUMBER)
    if is_word and text.kind(place - 1) is Kind.STRING and text.touches(place):
        end = text.tokens[place - 1].end
        yield f"{text.sql[:end]}'{text.sql[end:]}", twice


# --- words and signs ----------------------------------------------------------------------------

_AFTER_LIST = frozenset(
    {")", ",", "FROM", "WHERE", "ORDER", "GROUP", "HAVING", "LIMIT", "SELECT", "ON", "UNION", "RETURNING", ""}
)


def _remove_comma(text: Text, place: int) -> Iterator[tuple[str, str]]:
    for index in (place - 1, place):
        if text.word(index) == "," and text.word(index + 1) in _AFTER_LIST:
            yield text.replace(index, index + 1, ""), "there is a comma too many"


def _insert_after(text: Text, place: int, new: str) -> str:
    end = text.tokens[place - 1].end if 0 < place <= len(text) else 0
    return text.sql[:end] + new + text.sql[end:]


def _balance_parentheses(text: Text, place: int) -> Iterator[tuple[str, str]]:
    missing = text.words.count("(") - text.words.count(")")
    if 0 < missing <= 20:
        for index in (place, len(text)):
            yield _insert_after(text, index, ")" * missing), "a parenthesis is not closed"
    elif missing < 0 and text.word(place) == ")":
        yield text.replace(place, place + 1, ""), "there is a ) too many"


def _spell_keyword(text: Text, place: int) -> Iterator[tuple[str, str]]:
    for index in (place, place - 1):
        word = text.word(index)
        if text.kind(index) is not Kind.WORD or len(word) < 3 or word in keywords:
            continue
        for close in get_close_matches(word[:30], keywords, n=3, cutoff=0.7):
            yield text.replace(index, index + 1, close), f"{text.tokens[index].text[:40]} looks like {close}"


def _quote_reserved(text: Text, place: int) -> Iterator[tuple[str, str]]:
    for index in (place, place - 1) if place < len(text) else ():
        word = text.word(index)
        if text.kind(index) is Kind.WORD and word in keywords:
            name = quote(text.tokens[index].text)
            made = text.replace(index, index + 1, name)
            yield made, f"{word} is a reserved word: as a name it is in quotes, {name}"


def _insert_comma(text: Text, place: int) -> Iterator[tuple[str, str]]:
    """Insert a comma before the place, or also before the name that was taken for an alias."""
    if place >= len(text) or (text.kind(place) is Kind.OPERATOR and text.word(place) != "("):
        return
    why = f"a comma seems to be missing before {text.tokens[place].text[:40]}"
    made = _insert_after(text, place, ",")
    if text.kind(place - 1) is text.kind(place - 2) is Kind.WORD and text.word(place - 2) not in keywords:
        end = text.tokens[place - 2].end
        yield f"{made[:end]},{made[end:]}", why
    yield made, why


_REPAIRS: tuple[Repair, ...] = (
    _unwrap,
    _replace_characters,
    _double_quotes,
    _remove_comma,
    _balance_parentheses,
    _spell_keyword,
    _quote_reserved,
    _insert_comma,
)
# These change what a word is: they are believed only if nothing else is wrong.
_DOUBTFUL: tuple[Repair, ...] = (
    _quote_reserved,
    _spell_keyword,
    _insert_comma,
    _double_quotes,
)
