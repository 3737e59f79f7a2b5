"""Room in the notebook: notes that state facts become facts, and verbose ones become shorter.

Nothing is lost: an entry leaves its file only after its facts are durably stored, and every change of a file
can be undone.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from mnemos.errors import InvalidInput, MnemosError, Refused
from mnemos.facts.fact import is_same_content
from mnemos.facts.facts import Facts
from mnemos.facts.keywords import ABBREVIATIONS
from mnemos.language.brevity import shorten
from mnemos.language.extraction import extract_facts
from mnemos.language.notation import Mark, Statement, looks_like, parse
from mnemos.language.sentences import split_sentences
from mnemos.language.threats import scan
from mnemos.notebook.notebook import Notebook
from mnemos.notebook.notes import Book, join_entries, quote
from mnemos.settings import Model, Settings
from mnemos.text.secrets import find_secrets

log = logging.getLogger("mnemos.memory")

# A file above this percentage of its limit is shortened,
THRESHOLD: Final = 55
# until it is below this percentage.
GOAL: Final = 45

# From this percentage on, a file is first consolidated by a model, if one is configured.
FULL: Final = 95

# Longer entries are kept, and only the first entries of a huge file are considered.
_LONGEST: Final = 2_000
_MOST_ENTRIES: Final = 300

DROPPED: Final = "dropped"
MIGRATED: Final = "migrated"
SHORTENED: Final = "shortened"
CONSOLIDATED: Final = "consolidated"

_MIGRATING: Final = frozenset({Mark.CONSTRAINT, Mark.DECISION, Mark.VALUE})
# An interface can be more than an API.
_LONG: Final = {
    long: short for short, long in ABBREVIATIONS.items() if len(long) > len(short) + 2 and long != "interface"
}


@dataclass(frozen=True, slots=True)
class Step:
    """A made or planned change of an entry."""

    book: Book
    action: str
    entry: str
    facts: tuple[str, ...] = ()
    """The facts it became, in the notation."""
    shorter: str = ""


@dataclass(slots=True)
class Relieved:
    """The changes, and how full each file was before and after, in percent."""

    before: dict[str, int] = field(default_factory=dict)
    after: dict[str, int] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    unread: dict[str, str] = field(default_factory=dict)
    """Files that could not be read, with the reason."""


def relieve(
    notebook: Notebook,
    facts: Facts,
    settings: Settings,
    *,
    threshold: float = THRESHOLD,
    dry_run: bool = False,
) -> Relieved:
    """Make room in each file above the threshold. A dry run changes nothing.

    A file that is nearly full is first consolidated by the model, if one is configured.
    """
    if isinstance(threshold, bool) or not isinstance(threshold, (int, float)) or not 0 <= threshold <= 100:
        raise InvalidInput(f"threshold_pct must be from 0 to 100, not {quote(threshold)}.")
    done = Relieved()
    for book in map(Book, settings.notebook_files):
        try:
            use = notebook.use(book)
            entries = notebook.entries(book)
        except MnemosError as exc:
            # One file can't be read, but the other may still need room.
            done.unread[book] = str(exc)
            continue
        done.before[book] = done.after[book] = use.percent
        if use.percent > threshold:
            room = _Room(notebook, facts, book, use.limit, entries, settings.llm, dry_run=dry_run)
            done.steps += room.run()
            done.after[book] = room.percent
    return done


def abbreviate(entry: str) -> str:
    """Shorten an entry by fewer words and short forms, but keep names, code, quotations and addresses."""
    return shorten(entry, _LONG)


def parse_facts(entry: str, most: int) -> list[Statement]:
    """Return the facts that an entry consists of, or none if any part isn't a fact."""
    try:
        if looks_like(entry):
            found = parse(entry, most=most)
        else:
            found = [_parse_sentence(sentence, most) for sentence in split_sentences(entry)]
    except InvalidInput:
        return []
    return found if all(statement.mark in _MIGRATING for statement in found) else []


def _parse_sentence(sentence: str, most: int) -> Statement:
    line = " ".join(sentence.split())
    found = extract_facts(line)
    if len(found) != 1 or len(line) > most:
        raise InvalidInput("The sentence does not state exactly one fact.")
    statement = found[0].statement
    return Statement(statement.mark, statement.target, line)


def _may_move(entry: str) -> bool:
    """True unless the entry is too long for a fact, contains a secret or gives the model orders."""
    return len(entry) <= _LONGEST and not find_secrets(entry) and not scan(entry)


@dataclass(slots=True)
class _Room:
    """A file that is shortened until it is below the goal."""

    notebook: Notebook
    facts: Facts
    book: Book
    limit: int
    entries: list[str]
    model: Model
    dry_run: bool

    @property
    def percent(self) -> int:
        return round(100 * len(join_entries(self.entries)) / self.limit)

    def run(self) -> list[Step]:
        steps = list(self._consolidate())
        for stage in (self._drop, self._migrate, self._shorten):
            for entry in self.entries[:_MOST_ENTRIES]:
                if self.percent < GOAL:
                    return steps
                step = stage(entry) if _may_move(entry) else None
                if step is not None:
                    steps.append(step)
        return steps

    def _consolidate(self) -> Iterator[Step]:
        """Let the model shorten the notes of a nearly full file. If that fails, the rules do it."""
        given = [entry for entry in self.entries[:_MOST_ENTRIES] if _may_move(entry)]
        if self.percent < FULL or not given or self.dry_run or not self.model.is_configured:
            return
        # Imports requests to a model, and most homes have no model.
        from mnemos.memory.consolidation import consolidate_notes

        rest = [entry for entry in self.entries if entry not in given]
        most = self.limit * GOAL // 100 - len(join_entries(rest))
        try:
            shorter = consolidate_notes(self.model, given, max(most, 0))
            self.notebook.exchange(self.book, self.entries, [*rest, *shorter])
        except MnemosError as exc:
            log.warning("%s was not consolidated by the model: %s", self.book.filename, exc)
            return
        self.entries[:] = [*rest, *shorter]
        yield Step(self.book, CONSOLIDATED, join_entries(given), shorter=join_entries(shorter))

    def _drop(self, entry: str) -> Step | None:
        """Drop an entry that the facts already state."""
        if looks_like(entry):
            stated = parse_facts(entry, self.facts.longest)
            known = bool(stated) and all(self._is_live(one, one.content) for one in stated)
        else:
            known = self.facts.says(" ".join(entry.split()))
        if not known:
            return None
        self._change(entry, None)
        return Step(self.book, DROPPED, entry)

    def _migrate(self, entry: str) -> Step | None:
        statements = parse_facts(entry, self.facts.longest)
        if not statements or any(self._is_live(one) for one in statements if looks_like(entry)):
            # The live fact with the same key may be newer than the note.
            return None
        if not self.dry_run:
            # The fact is stored before the note is removed. If the process is killed in between, the next run
            # drops the note. Its facts get no scope, because a note belongs to every prompt.
            try:
                self.facts.state(
                    statements,
                    guessed=not looks_like(entry),
                    undated=True,
                    unscoped=True,
                    # The notebook is written by the model, so the agent is the source.
                    stated_by="agent",
                )
            except Refused:
                # A part of the note looks like a prompt injection.
                return None
        self._change(entry, None)
        return Step(self.book, MIGRATED, entry, tuple(map(str, statements)))

    def _shorten(self, entry: str) -> Step | None:
        shorter = abbreviate(entry)
        if len(shorter) >= len(entry):
            return None
        self._change(entry, shorter)
        return Step(self.book, SHORTENED, entry, shorter=shorter)

    def _is_live(self, statement: Statement, content: str | None = None) -> bool:
        """True if a shared fact of this type, and with this content if given, is live on the target."""
        live = [one for one in self.facts.live(statement.target, statement.mark) if one.user_id is None]
        return any(content is None or is_same_content(fact.content, content) for fact in live)

    def _change(self, entry: str, shorter: str | None) -> None:
        place = self.entries.index(entry)
        self.entries[place : place + 1] = [] if shorter is None else [shorter]
        if not self.dry_run:
            self.notebook.shrink(self.book, entry, shorter)
