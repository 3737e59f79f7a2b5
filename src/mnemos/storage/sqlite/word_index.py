"""The index of words in SQLite: messages in FTS5, and pending ones in a temporary index."""

from __future__ import annotations

from collections.abc import Iterator

import apsw

from mnemos.storage.base import Documents
from mnemos.storage.passages import Passage
from mnemos.storage.space import Space
from mnemos.storage.sqlite import index
from mnemos.storage.sqlite.connection import SqliteTransaction, rows, value
from mnemos.storage.sqlite.fts_queries import Scorer
from mnemos.storage.sqlite.search import FtsSearch
from mnemos.storage.stores.passages import make_passage
from mnemos.storage.terms import Indexable, passage_row
from mnemos.text.words import RULE_VERSION


class FtsIndex:
    def __init__(self, tx: SqliteTransaction, space: Space, documents: Documents) -> None:
        self.documents = documents
        self._tx = tx
        self._space = space
        self._scorer = Scorer(tx.connection)
        self._tail = index.Tail(space, documents)

    def searching(self) -> FtsSearch:
        return FtsSearch(self._tx, self._space, self._scorer, self._tail)

    def indexables(self, after: int, through: int) -> Iterator[Indexable]:
        position = index.State(through + 1, after, 0)
        return index.pending(self._tx.connection, self._space, position)

    def add(self, item: Indexable) -> None:
        index.put_back(self._tx.connection, self._space, item, self.documents)

    def remove(self, item: Indexable) -> None:
        index.remove(self._tx.connection, self._space, item, self.documents)

    def add_passage(self, passage: Passage) -> None:
        self._tx.change(index.SQL.add_other, passage_row(passage))

    def remove_passage(self, passage: Passage) -> None:
        self._tx.change(index.SQL.remove_other, passage_row(passage))

    def forget_tail(self) -> None:
        """Recreate the temporary index after a transaction was rolled back."""
        self._tail = index.Tail(self._space, self.documents)


def begin_index_again(connection: apsw.Connection) -> None:
    """Clear the index of all spaces: messages are pending again, other passages are put back at once."""
    connection.execute(index.SQL.clear)
    connection.execute(index.SQL.clear_marks)
    connection.execute(index.SQL.clear_late)
    others = (passage_row(make_passage(row)) for row in rows(connection, index.SQL.every_passage))
    connection.executemany(index.SQL.add_other, others)


def has_other_rule(connection: apsw.Connection) -> bool:
    """True if the index was made by another version of the rule of words."""
    return bool(value(connection, index.SQL.words_rule) != str(RULE_VERSION))


def renew_index(connection: apsw.Connection) -> bool:
    """Restart the index for the current rule of words. False if another process has done so."""
    if not has_other_rule(connection):
        return False
    begin_index_again(connection)
    connection.execute(index.SQL.set_words_rule, (str(RULE_VERSION),))
    return True
