"""The hint for a statement that failed: what was meant, and where it is possible the statement that works."""

from __future__ import annotations

import re
from collections.abc import Iterable

from mnemos.workspace.sandbox.hints import (
    alters,
    calls,
    casts,
    commands,
    dates,
    names,
    operators,
    repairs,
    selects,
    tables,
    translation,
    writes,
)
from mnemos.workspace.sandbox.hints.known import Known, Schema, bare, written
from mnemos.workspace.sandbox.hints.meanings import OFFER, explained
from mnemos.workspace.sandbox.hints.names import Said
from mnemos.workspace.sandbox.hints.reading import LONGEST, Rewritten, Text, recognised, rewrite
from mnemos.workspace.sandbox.hints.trial import Complaint, Trial
from mnemos.workspace.sandbox.lexer import Kind

MOST = 2_000
# Before a statement that is better than the failed one and does not work yet.
SO_FAR = "\nSo far: "
_LONGEST_STATEMENT = 1_400
_MOST_REASONS = 500
_EXCERPT = 40
_AROUND = 300

_RULES = (
    *commands.RULES,
    *alters.RULES,
    *tables.RULES,
    *writes.RULES,
    *selects.RULES,
    *dates.RULES,
    *casts.RULES,
    *calls.RULES,
    *operators.RULES,
)
_NAMELESS = re.compile(r"no such (table|column|function): (.+)", re.DOTALL)
_QUOTED = re.compile(
    r'no such column: "(.*)" - should this be a string literal in single-quotes\?', re.DOTALL
)
_NO_COLUMN = re.compile(r"table (\S+) has no column named (.+)", re.DOTALL)
_AMBIGUOUS = re.compile(r"ambiguous column name: (.+)", re.DOTALL)


def hint_of(sql: str, message: str, offset: int | None, known: Known) -> str | None:
    """What the package promises as ``hint``."""
    if "\0" in sql:
        return "the statement holds a NUL character; char(0) makes one, and params may hold it"
    schema = Schema.of(known)
    complaint = Complaint(message[:MOST], offset if offset is not None and offset >= 0 else None)
    if len(sql) > LONGEST:
        return _cut(_long(sql, complaint, schema))
    failed = _Failed(sql, complaint, schema)
    return _cut(failed.hint())


def _cut(said: str | None) -> str | None:
    if not said:
        return None
    words, offer, statement = said.partition(OFFER if OFFER in said else SO_FAR)
    if len(statement) > _LONGEST_STATEMENT:
        offer = statement = ""
    return f"{words[: MOST - _LONGEST_STATEMENT - len(OFFER)]}{offer}{statement}"


def _long(sql: str, complaint: Complaint, schema: Schema) -> str | None:
    """Of a statement too long to try anything with: what the message says, what stands there, and where."""
    text = Text(sql[: LONGEST + 1])
    said = _name(text, complaint, schema)
    words = said.text if said else explained(complaint.message, text, schema)
    if words:
        return words.partition(OFFER)[0]
    if not complaint.is_syntax or complaint.offset is None:
        return None
    whole = sql.encode(errors="replace")
    around = whole[max(complaint.offset - _AROUND, 0) : complaint.offset + _AROUND].decode(errors="ignore")
    if reasons := recognised(around, _RULES, schema):
        return _offer(reasons, None)
    start, stop = complaint.offset - 2 * _EXCERPT, complaint.offset + _EXCERPT
    shown = whole[max(start, 0) : stop].decode(errors="ignore")
    return f"SQLite stopped reading here: … {' '.join(shown.split())} …"


def _name(text: Text, complaint: Complaint, schema: Schema) -> Said | None:
    """Of a message about a name."""
    if match := _NO_COLUMN.fullmatch(complaint.message):
        return names.new_column(match[1], match[2], schema)
    if match := _AMBIGUOUS.fullmatch(complaint.message):
        return names.ambiguous(match[1], text, schema)
    match = _NAMELESS.fullmatch(complaint.message)
    if match is None:
        return None
    if match[1] == "table":
        return names.table(match[2], text, schema)
    if match[1] == "function":
        return names.function(match[2], schema)
    place = repairs.stopped(text, complaint) if complaint.offset is not None else -1
    return names.column(match[2], text, place, schema)


class _Failed:
    """One failed statement, short enough to try things with."""

    def __init__(self, sql: str, complaint: Complaint, schema: Schema) -> None:
        self._sql = sql
        self._complaint = complaint
        self._schema = schema
        self._text = Text(sql)
        self._trial = Trial(sql, schema)

    def hint(self) -> str | None:
        """The first that has something to say: it is the surest, too."""
        if _QUOTED.fullmatch(self._complaint.message):
            return self._single_quotes()
        rewritten = self._rewritten()
        if offer := self._dialect(rewritten):
            return offer
        if self._complaint.is_syntax:
            return self._syntax(rewritten)
        said = _name(self._text, self._complaint, self._schema)
        if said is not None:
            return self._named(said, rewritten)
        return self._explained()

    def _explained(self) -> str | None:
        said = explained(self._complaint.message, self._text, self._schema)
        if said is None or OFFER not in said:
            return said
        words, _, statement = said.partition(OFFER)
        return said if self._trial.complaint(statement) is None else words

    # --- another dialect ----------------------------------------------------------------------

    def _rewritten(self) -> Rewritten:
        # A statement that broke a constraint was understood.
        if "constraint failed" in self._complaint.message:
            return Rewritten(self._sql, ())
        return rewrite(self._sql, _RULES, self._schema)

    def _dialect(self, rewritten: Rewritten) -> str | None:
        if rewritten.sql == self._sql:
            return None
        left = self._trial.complaint(rewritten.sql)
        if left is not None and left.is_syntax:
            return self._further(rewritten, left)
        if left is not None and left.message == self._complaint.message:
            return None
        return self._offered(rewritten)

    def _further(self, rewritten: Rewritten, left: Complaint) -> str | None:
        """A statement that is better than it was, and still not SQLite's."""
        fixed = (
            None if rewritten.is_stuck else repairs.repaired(rewritten.sql, left, self._trial, self._schema)
        )
        if fixed:
            return self._offered(Rewritten(fixed.sql, (*rewritten.reasons, *fixed.reasons)))
        if made := translation.translated(Text(rewritten.sql), self._trial, self._schema):
            return self._offered(Rewritten(made[0], (*rewritten.reasons, f"the rest is as {made[1]} has it")))
        return None

    def _offered(self, better: Rewritten) -> str | None:
        """A statement that SQLite can read, and what else it has against it."""
        if not self._is_as_narrow(better.sql):
            return _offer(better.reasons, None)
        left = self._trial.complaint(better.sql)
        if left is None:
            return _offer(better.reasons, better.sql)
        text = Text(better.sql)
        said = _name(text, left, self._schema)
        words = said.text if said else (explained(left.message, text, self._schema) or "").partition(OFFER)[0]
        reasons = (*better.reasons, f"then: {left.message[:200]}{f': {words}' if words else ''}")
        made = self._corrected(text, left, said) if said else None
        return _offer(reasons, made) if made else _offer(reasons, better.sql, label=SO_FAR)

    def _is_as_narrow(self, sql: str) -> bool:
        """A DELETE or UPDATE with a WHERE is never offered without one, whatever the rules made of it."""
        takes = self._text.word(0) in ("DELETE", "UPDATE") and "WHERE" in self._text.words
        return not takes or "WHERE" in Text(sql).words

    # --- syntax -------------------------------------------------------------------------------

    def _syntax(self, rewritten: Rewritten) -> str | None:
        if rewritten.is_all:
            return _offer(rewritten.reasons, None)
        if rewritten.reasons:
            # What was recognised as another dialect's is not a slip of the pen.
            made = translation.translated(self._text, self._trial, self._schema)
            if made:
                return self._offered(Rewritten(made[0], rewritten.reasons))
            return _offer(rewritten.reasons, None)
        if fixed := repairs.repaired(self._sql, self._complaint, self._trial, self._schema):
            return self._offered(fixed)
        if made := translation.translated(self._text, self._trial, self._schema):
            return self._offered(Rewritten(made[0], (f"read as {made[1]}, it is this in SQLite",)))
        return self._where()

    def _where(self) -> str | None:
        """Where SQLite stopped, if nobody knows why."""
        place = repairs.stopped(self._text, self._complaint)
        before = _tail(self._text.source(0, min(place, len(self._text))))
        if place >= len(self._text):
            return f"the statement ends after `{before}`, and something must follow" if before else None
        token = self._text.tokens[place]
        if place == 0 and token.kind is not Kind.ILLEGAL:
            return self._no_statement()
        if token.kind is Kind.ILLEGAL and token.text[0] in "'\"`[":
            closing = "]" if token.text[0] == "[" else token.text[0]
            return f"the quote that opens at {token.text[:_EXCERPT]} is not closed: {closing} is missing"
        if token.kind is Kind.ILLEGAL:
            return f"`{token.text[:_EXCERPT]}` is no SQL; a value from outside is a parameter: ? or :name"
        return f"SQLite stopped at `{token.text[:_EXCERPT]}`, after `{before}`"

    def _no_statement(self) -> str:
        name = self._text.tokens[0].text
        said = (
            f"a statement begins with SELECT, INSERT, UPDATE, CREATE or the like, not with {name[:_EXCERPT]}"
        )
        if len(self._text) == 1 and (real := self._schema.tables.get(bare(name).lower())):
            return f"{said}{OFFER}SELECT * FROM {written(real)}"
        return said

    # --- names --------------------------------------------------------------------------------

    def _named(self, said: Said, rewritten: Rewritten) -> str | None:
        reasons = (*rewritten.reasons, said.text) if said.text else rewritten.reasons
        made = self._corrected(self._text, self._complaint, said)
        if made is None and (offer := self._unknown_function()):
            return offer
        return _offer(reasons, made)

    def _corrected(self, text: Text, complaint: Complaint, said: Said) -> str | None:
        """A SELECT with the right name, if there is no doubt which it is."""
        wrong = complaint.message.partition(": ")[2]
        if said.instead is None or not wrong:
            return None
        made = names.corrected(text, wrong, said.instead)
        return made if made and Trial(made, self._schema).complaint(made) is None else None

    def _unknown_function(self) -> str | None:
        if not self._complaint.message.startswith("no such function"):
            return None
        made = translation.translated(self._text, self._trial, self._schema)
        if made is None or self._trial.complaint(made[0]) is not None:
            return None
        return _offer((f"read as {made[1]}, it is this in SQLite",), made[0])

    def _single_quotes(self) -> str | None:
        match = _QUOTED.fullmatch(self._complaint.message)
        inside = match[1][:_EXCERPT] if match else ""
        why = f"text stands in single quotes: '{inside}'; double quotes are for names"
        made = repairs.unquoted(self._sql, self._trial)
        place = repairs.stopped(self._text, self._complaint) if self._complaint.offset is not None else -1
        said = names.column(inside, self._text, place, self._schema)
        if "did you mean" in said.text:
            why = f"{why}; if it is a column, {said.text}"
        return _offer((why,), made)


def _tail(text: str) -> str:
    """The end of a text, on one line."""
    words = " ".join(text[-2 * _EXCERPT :].split())
    return words if len(words) <= _EXCERPT else "… " + words[-_EXCERPT:].partition(" ")[2]


def _offer(reasons: Iterable[str], statement: str | None, *, label: str = OFFER) -> str | None:
    """The reasons, as many as there is room for, and the statement."""
    kept: list[str] = []
    room = _MOST_REASONS
    for reason in dict.fromkeys(reasons):
        room -= len(reason)
        if kept and room < 0:
            break
        kept.append(reason)
    words = "; ".join(kept)
    if statement is None:
        return words or None
    return f"{words}{label}{statement.strip()}"
