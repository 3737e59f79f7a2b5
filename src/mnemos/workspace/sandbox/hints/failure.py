"""The hint for a statement that failed: what was meant, and where possible a statement that works."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from mnemos.workspace.sandbox.hints import nearest
from mnemos.workspace.sandbox.hints.equivalents import Rewritten, explain, recognise, rewrite
from mnemos.workspace.sandbox.hints.nearest import Schema
from mnemos.workspace.sandbox.hints.repairs import Complaint, Trial, repair
from mnemos.workspace.sandbox.hints.sql_text import LONGEST, Text, write_name
from mnemos.workspace.sandbox.lexer import Kind, unquote

MOST = 2_000
OFFER = "\nTry: "
_LONGEST_STATEMENT = 1_400
_MOST_REASONS = 500
_EXCERPT = 40
_AROUND = 100

_UNKNOWN = re.compile(r"no such (table|view|column|function): (.+)", re.DOTALL)
_QUOTED = re.compile(
    r'no such column: "(.*)" - should this be a string literal in single-quotes\?', re.DOTALL
)
_NO_COLUMN = re.compile(r"table (\S+) has no column named (.+)", re.DOTALL)
_AMBIGUOUS = re.compile(r"ambiguous column name: (.+)", re.DOTALL)


def hint(sql: str, message: str, offset: int | None, tables: Mapping[str, Sequence[str]]) -> str | None:
    """Return what to do about a statement that SQLite refused; None where there is nothing to say.

    ``offset`` is where SQLite's message points, in bytes of UTF-8. ``tables`` have their columns.
    The hint has at most 2,000 characters. An offered statement has been compiled by SQLite and is whole, at
    the end after ``Try:``.
    """
    if "\0" in sql:
        return "the statement holds a NUL character: char(0) makes one, and params may hold it"
    schema = Schema.of(tables)
    complaint = Complaint(message[:MOST], offset if offset is not None and offset >= 0 else None)
    if len(sql) > LONGEST:
        return _hint_long(sql, complaint, schema)
    said = _Failure(sql, complaint, schema).hint()
    if not said:
        return None
    words, label, statement = said.partition(OFFER)
    if len(statement) > _LONGEST_STATEMENT:
        label = statement = ""
    return f"{words[: MOST - _LONGEST_STATEMENT - len(OFFER)]}{label}{statement}"


def _hint_long(sql: str, complaint: Complaint, schema: Schema) -> str | None:
    """Explain a statement that is too long to try anything with."""
    text = Text(sql[: LONGEST + 1])
    advice = _advise(text, complaint, schema)
    if words := advice or explain(complaint.message, schema):
        return words[:MOST]
    if not complaint.is_syntax or complaint.offset is None:
        return None
    near = sql.encode(errors="replace")[max(complaint.offset - _AROUND, 0) : complaint.offset + _AROUND]
    said = near.decode(errors="ignore")
    return _join(recognise(said)) or f"SQLite stopped reading here: … {' '.join(said.split())} …"


def _advise(text: Text, complaint: Complaint, schema: Schema) -> str | None:
    """Return advice on a message about a name; None for other messages."""
    if match := _NO_COLUMN.fullmatch(complaint.message):
        return nearest.advise_target_column(match[1], match[2], schema)
    if match := _AMBIGUOUS.fullmatch(complaint.message):
        return nearest.advise_ambiguous(match[1], text, schema)
    match = _UNKNOWN.fullmatch(complaint.message)
    if match is None:
        return None
    if match[1] in ("table", "view"):
        return nearest.advise_table(match[2], text, schema)
    if match[1] == "function":
        return nearest.advise_function(match[2], schema)
    place = text.at_offset(complaint.offset) if complaint.offset is not None else -1
    return nearest.advise_column(match[2], text, place, schema)


class _Failure:
    """One failed statement, short enough to try things with."""

    def __init__(self, sql: str, complaint: Complaint, schema: Schema) -> None:
        self._text = Text(sql)
        self._complaint = complaint
        self._schema = schema
        self._trial = Trial(sql, schema)

    def hint(self) -> str | None:
        """Return the first that has something to say: it is the surest, too."""
        message = self._complaint.message
        if match := _QUOTED.fullmatch(message):
            return self._hint_single_quotes(match[1])
        # A statement that broke a constraint was understood.
        understood = "constraint failed" in message
        better = Rewritten("", ()) if understood else rewrite(self._text.sql, message)
        if not understood and better.sql != self._text.sql and (said := self._hint_rewritten(better)):
            return said
        if self._complaint.is_syntax:
            if better.reasons:
                # A form of another dialect is not a typing error.
                return _join(better.reasons)
            if fixed := repair(self._text.sql, self._complaint, self._trial):
                return self._offer(fixed)
            return self._hint_place()
        if advice := _advise(self._text, self._complaint, self._schema):
            # The table's advice on the statement says more than a list of names.
            return _join(better.reasons or (advice,))
        return explain(message, self._schema)

    def _hint_rewritten(self, better: Rewritten) -> str | None:
        left = self._trial.compile(better.sql)
        if left is None or not left.is_syntax:
            is_same = left is not None and left.message == self._complaint.message
            return None if is_same else self._offer(better)
        if better.is_stuck:
            return None
        fixed = repair(better.sql, left, self._trial)
        return self._offer(Rewritten(fixed.sql, (*better.reasons, *fixed.reasons))) if fixed else None

    def _offer(self, better: Rewritten) -> str | None:
        """Offer a statement that SQLite can read, with what else is wrong with it."""
        text = Text(better.sql)
        # A DELETE or UPDATE with a WHERE is never offered without one.
        narrow = self._text.word(0) in ("DELETE", "UPDATE") and "WHERE" in self._text.words
        if narrow and "WHERE" not in text.words:
            return _join(better.reasons)
        reasons = self._fill(better.reasons)
        left = self._trial.compile(better.sql)
        if left is None:
            return _join(reasons, better.sql)
        advice = _advise(text, left, self._schema)
        words = advice or explain(left.message, self._schema)
        return _join((*reasons, f"then: {left.message[:200]}{f': {words}' if words else ''}"))

    def _fill(self, reasons: tuple[str, ...]) -> tuple[str, ...]:
        """Put the values of the message into a sentence that is about the message."""
        said = explain(self._complaint.message, self._schema)
        return tuple((said or reason) if "{" in reason else reason for reason in reasons)

    def _hint_single_quotes(self, inside: str) -> str | None:
        why = f"text is in single quotes, '{inside[:_EXCERPT]}'; double quotes are for names"
        place = self._text.at_offset(self._complaint.offset)
        advice = nearest.advise_column(inside, self._text, place, self._schema)
        if "did you mean" in advice:
            why = f"{why}. If it is a column, {advice}"
        return why

    def _hint_place(self) -> str | None:
        """Say where SQLite stopped, if nobody knows why."""
        place = self._text.at_offset(self._complaint.offset)
        before = _tail(self._text.source(0, place))
        if place >= len(self._text):
            return f"the statement ends after `{before}`, and something must follow" if before else None
        token = self._text.tokens[place]
        shown = token.text[:_EXCERPT]
        if token.kind is Kind.ILLEGAL and token.text[0] in "'\"`[":
            return f"the quote that opens at {shown} is not closed"
        if token.kind is Kind.ILLEGAL:
            return f"`{shown}` is not SQL. A value from outside is a parameter: ? or :name"
        if place:
            return f"SQLite stopped at `{shown}`, after `{before}`"
        table = self._schema.tables.get(unquote(token.text).lower()) if len(self._text) == 1 else None
        made = f"SELECT * FROM {write_name(table)}" if table else None
        return _join(
            (f"a statement begins with SELECT, INSERT, UPDATE, CREATE or the like, not with {shown}",), made
        )


def _tail(text: str) -> str:
    words = " ".join(text[-2 * _EXCERPT :].split())
    return words if len(words) <= _EXCERPT else "… " + words[-_EXCERPT:].partition(" ")[2]


def _join(reasons: Iterable[str], statement: str | None = None) -> str | None:
    """Join the reasons, as many as there is room for, and the statement."""
    kept: list[str] = []
    room = _MOST_REASONS
    for reason in dict.fromkeys(filter(None, reasons)):
        room -= len(reason)
        if kept and room < 0:
            break
        kept.append(reason)
    words = "; ".join(kept)
    if statement is None:
        return words[:MOST] or None
    return f"{words}{OFFER}{statement.strip()}"
