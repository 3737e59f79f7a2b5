"""The index of words in PostgreSQL: a row of lexemes for each row of the index.

Forms are at their places with weight A. Stems and wholes have weight D, and tags no place at all. Every
lexeme begins with the space, so that a search in one space reads only its own words, whatever the neighbours
have.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from mnemos.storage.base import Documents
from mnemos.storage.passages import Passage
from mnemos.storage.postgres.connection import PostgresTransaction
from mnemos.storage.postgres.search import PostgresSearch
from mnemos.storage.postgres.statements import load
from mnemos.storage.postgres.tsqueries import BLOCKS, LONG, quote
from mnemos.storage.space import Space
from mnemos.storage.terms import Indexable, IndexRow, ids_of, index_rows, indexable, passage_row

# PostgreSQL's limits: the number of places of a lexeme, the highest place, and the bytes of lexemes.
_PLACES = 255
_LAST_PLACE = 16_383
_ROW_BYTES = 800_000
# A stretch of a long row: no word can be in it more often than PostgreSQL counts. They overlap.
_STRETCH = 255
_OVERLAP = 64
_PAGE = 200
# A longer lexeme is cut, here and in queries.
_LONGEST = 500


class Words(msgspec.Struct):
    """A row of the table of words."""

    id: int
    piece: int
    message: int
    at: float
    n: int
    words: str


class Stretch(msgspec.Struct):
    id: int
    stretch: int
    words: str


class Rendered(msgspec.Struct):
    """Rows ready to be stored."""

    words: list[Words]
    stretches: list[Stretch]


def prefix_of(space: Space) -> str:
    return f"{space.id:x}:"


class Writer:
    """Makes rows of lexemes for one space."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self._prefix = prefix_of(space)

    def render(self, rows: Iterable[IndexRow], owner: int, at: float) -> Rendered:
        """Make the rows of one message or passage, which is ``owner``."""
        rendered = Rendered([], [])
        for row in rows:
            self._render_row(rendered, row, owner, at)
        return rendered

    def _render_row(self, rendered: Rendered, row: IndexRow, owner: int, at: float) -> None:
        number, said, tool, beside, tags = row
        forms = said.split()
        # A gap between the text and the tool calls, so that no phrase matches across.
        tools = tool.split()
        places: dict[str, list[str]] = {}
        is_long = len(forms) + len(tools) + 2 > _LAST_PLACE
        place = 0
        for words, gap in ((forms, 1), (tools, 1)):
            for word in words:
                place += 1
                there = places.setdefault(word, [])
                if place <= _LAST_PLACE and len(there) < _PLACES:
                    there.append(f"{place}A")
                else:
                    is_long = True
            place += gap
        for word in beside.split():
            place += 1
            there = places.setdefault(word, [])
            if place <= _LAST_PLACE and len(there) < _PLACES:
                there.append(f"{place}")
        own = tags.split()
        if owner <= self._space.last:
            position = number - self._space.first
            own += [f"{tag}{position >> bits:x}" for tag, bits in BLOCKS]
        if is_long:
            own.append(LONG)
            self._render_stretches(rendered, number, forms, tools)
        ends = " ".join(self._quote(tag) for tag in own)
        for piece, lexemes in enumerate(self._pieces(places)):
            text = f"{lexemes} {ends}"
            rendered.words.append(Words(number, piece, owner, at, len(forms), text))

    def _pieces(self, places: dict[str, list[str]]) -> Iterator[str]:
        """Yield the lexemes of a row, in several pieces if one is too small."""
        lexemes: list[str] = []
        size = 0
        for word, there in places.items():
            lexeme = self._quote(word)
            if there:
                lexeme = f"{lexeme}:{','.join(there)}"
            # The bytes of the word, its places and its entry.
            size += 4 * len(word) + 2 * len(there) + len(self._prefix) + 8
            if size > _ROW_BYTES and lexemes:
                yield " ".join(lexemes)
                lexemes, size = [], 0
            lexemes.append(lexeme)
        yield " ".join(lexemes)

    def _render_stretches(self, rendered: Rendered, number: int, forms: list[str], tools: list[str]) -> None:
        count = 0
        for words in (forms, tools):
            for start in range(0, len(words), _STRETCH - _OVERLAP):
                some = words[start : start + _STRETCH]
                text = " ".join(f"{self._quote(word)}:{place}A" for place, word in enumerate(some, 1))
                rendered.stretches.append(Stretch(number, count, text))
                count += 1
                if start + _STRETCH >= len(words):
                    break

    def _quote(self, word: str) -> str:
        return quote(self._prefix + word[:_LONGEST])


class PostgresIndex:
    def __init__(self, tx: PostgresTransaction, space: Space, documents: Documents, schema: str) -> None:
        self.documents = documents
        self.tx = tx
        self._space = space
        self._schema = schema
        self._sql: Any = load("words", schema)
        self._sessions: Any = load("sessions", schema)
        self._writer = Writer(space)

    def searching(self) -> PostgresSearch:
        return PostgresSearch(self.tx, self._space, self._schema)

    def indexables(self, after: int, through: int) -> Iterator[Indexable]:
        start = after + 1
        owner = self.tx.value(self._sessions.owner_of_id, (self._space.first, start))
        position = owner if owner is not None else start
        while True:
            page = self.tx.rows(self._sessions.messages_between, (position, through, _PAGE))
            for row in page:
                item = indexable(row)
                if item.message.id + ids_of(item.message) > start:
                    yield item
            if len(page) < _PAGE:
                return
            position = page[-1][0] + 1

    def render(self, item: Indexable) -> Rendered:
        """Make the rows of a message."""
        message = item.message
        return self._writer.render(index_rows(item, self.documents), message.id, message.timestamp)

    def add(self, item: Indexable) -> None:
        self.store(self.render(item))

    def remove(self, item: Indexable) -> None:
        first = item.message.id
        self._remove(first, first + ids_of(item.message) - 1)

    def add_passage(self, passage: Passage) -> None:
        self.store(self._writer.render([passage_row(passage)], passage.id, passage.at))

    def remove_passage(self, passage: Passage) -> None:
        self._remove(passage.id, passage.id)

    def store(self, rendered: Rendered) -> None:
        if rendered.words:
            self.tx.change(self._sql.add, (to_json(rendered.words),))
        self.store_stretches(rendered)

    def store_stretches(self, rendered: Rendered) -> None:
        if rendered.stretches:
            self.tx.change(self._sql.add_long, (to_json(rendered.stretches),))

    def _remove(self, first: int, last: int) -> None:
        self.tx.change(self._sql.remove, (first, last))
        self.tx.change(self._sql.remove_long, (first, last))


def to_json(rows: Any) -> str:
    return msgspec.json.encode(rows).decode()
