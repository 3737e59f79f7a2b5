"""The schema card: what is in a database, short enough for a prompt and honest about what it did not read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import apsw

from mnemos.errors import InvalidInput
from mnemos.workspace.sandbox.card import listing, structure
from mnemos.workspace.sandbox.card.contents import NO_TIME, Reader
from mnemos.workspace.sandbox.card.data import as_data
from mnemos.workspace.sandbox.card.fitting import Budget, fitted
from mnemos.workspace.sandbox.card.listing import Listing, folded
from mnemos.workspace.sandbox.card.model import Contents, Described, Listed, Structure
from mnemos.workspace.sandbox.card.pace import CARD, LOOK_EVERY, ONE_TABLE, Bounds, Pace
from mnemos.workspace.sandbox.card.showing import line
from mnemos.workspace.sandbox.card.views import Weights
from mnemos.workspace.sandbox.card.writing import EMPTY, LEVELS, LONG_LEVELS
from mnemos.workspace.sandbox.database import Clockwork, Database
from mnemos.workspace.sandbox.failures import Failure

MOST_TABLES = 25
MOST_BYTES = 30_000
_KEPT_CARDS = 16
_NAMED = 20
_NAME = 64


def build(
    database: Database,
    clock: Clockwork,
    *,
    table: str | None = None,
    most_tables: int = MOST_TABLES,
    most_bytes: int = MOST_BYTES,
    tokens: int | None = None,
    bounds: Bounds | None = None,
) -> dict[str, Any]:
    """The card of a database, or of one ``table`` in full: ``text``, ``tables`` as data, how many ``more``.

    The text never exceeds ``most_bytes`` nor ``tokens``; what there is no room for is counted in ``more``.
    An unknown table raises Failure with the code not_found. The answer is kept until the contents change
    and must not be changed.
    """
    pace = Pace(bounds or (CARD if table is None else ONE_TABLE), clock)
    with _reading(database, pace) as connection:
        kept = database.kept().setdefault("card", {})
        if "listing" not in kept:
            kept.update(listing=listing.listed(connection), described={}, cards={})
        there: Listing = kept["listing"]
        if table is not None:
            chosen, others = [_found(there, table)], []
        else:
            ordered = there.ordered(database.recent)
            chosen, others = ordered[:most_tables], ordered[most_tables:]
        asked = (table is not None, tuple(one.name for one in chosen), most_bytes, tokens, pace.bounds)
        if asked in kept["cards"]:
            answer: dict[str, Any] = kept["cards"][asked]
            return answer
        tables = _Describing(connection, there, pace, kept["described"]).all(chosen)
    answer = _answer(tables, others, Budget(most_bytes, tokens), is_one=table is not None)
    if not any(one.contents.is_hurried for one in tables):
        while len(kept["cards"]) >= _KEPT_CARDS:
            kept["cards"].pop(next(iter(kept["cards"])))
        kept["cards"][asked] = answer
    return answer


@contextmanager
def _reading(database: Database, pace: Pace) -> Iterator[apsw.Connection]:
    """One look at the database: under the guard, nothing can be changed, and nothing changes meanwhile."""
    with database.agents(read_only=True) as connection:
        connection.set_progress_handler(pace, LOOK_EVERY, id=pace)
        with database.own():
            connection.execute("BEGIN")
        try:
            yield connection
        finally:
            connection.set_progress_handler(None, id=pace)
            with database.own():
                connection.execute("ROLLBACK")


_Kept = dict[tuple[str, Bounds], Described]


class _Describing:
    """Describes tables one by one; what is wrong with one is no reason to keep silent about the others."""

    def __init__(
        self,
        connection: apsw.Connection,
        there: Listing,
        pace: Pace,
        kept: _Kept,
    ) -> None:
        self._connection = connection
        self._listing = there
        self._pace = pace
        self._kept = kept
        self._weights = Weights(there.tables)
        self._reader = Reader(connection, there, self._weights, pace)

    def all(self, chosen: list[Listed]) -> list[Described]:
        return [self._one(one) for one in chosen]

    def _one(self, one: Listed) -> Described:
        key = (one.name, self._pace.bounds)
        if key not in self._kept:
            described = self._described(one)
            if described.contents.is_hurried:
                return described
            self._kept[key] = described
        return self._kept[key]

    def _described(self, one: Listed) -> Described:
        made = Structure()
        try:
            made = structure.read(self._connection, one, self._listing, self._weights, self._pace)
            contents = self._reader.read(one, made)
        except apsw.InterruptError:
            if self._pace.call_is_over:
                raise
            contents = Contents(unread="too slow", is_hurried=self._pace.is_over)
        except apsw.Error as exc:
            contents = Contents(unread=_said(exc))
        except (UnicodeDecodeError, InvalidInput):
            # Only a file that another program wrote has such names.
            contents = Contents(unread="a name in it is not text")
        if not made.columns and not made.unread:
            made = replace(made, unread=contents.unread or NO_TIME)
        return Described(one, made, contents)


def _said(exc: apsw.Error) -> str:
    if isinstance(exc, apsw.CorruptError | apsw.NotADBError):
        return "its part of the file is damaged"
    if isinstance(exc, apsw.NoMemError | apsw.TooBigError):
        return "it needs too much memory"
    return str(exc)


def _found(there: Listing, table: str) -> Listed:
    found = there.tables.get(folded(table))
    if found is not None:
        return found
    names = [one.name[:_NAME] for one in there.ordered({})]
    shown = ", ".join(line(name, _NAME) for name in names[:_NAMED]) + ", …" * (len(names) > _NAMED)
    # Imported for a mistake only: it takes as long as a small card.
    from difflib import get_close_matches

    near = get_close_matches(table[:_NAME], names, n=1)
    hint = f" Did you mean {line(near[0], _NAME)}?" if near else ""
    raise Failure(
        "not_found",
        f"there is no table {line(table, _NAME)!r}; there are {shown or 'none yet'}.{hint}".strip(),
    )


def _answer(tables: list[Described], others: list[Listed], budget: Budget, *, is_one: bool) -> dict[str, Any]:
    if not tables and not others:
        fits = all(count(EMPTY) <= most for count, most in budget.counters())
        return {"text": EMPTY if fits else "", "tables": [], "more": 0}
    card = fitted(tables, others, LONG_LEVELS if is_one else LEVELS, budget)
    return {
        "text": card.text,
        "tables": [as_data(one, in_full=is_one) for one in card.tables],
        "more": len(tables) - len(card.tables) + len(others),
    }
