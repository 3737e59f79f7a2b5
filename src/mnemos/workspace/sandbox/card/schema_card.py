"""The schema card: what is in a database, short enough for a prompt, honest about what was not read."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import apsw

from mnemos.errors import InvalidInput
from mnemos.workspace.sandbox.card.card_text import (
    EMPTY,
    LEVELS,
    LONG_LEVELS,
    Detail,
    leaving_out_orders,
    one_line,
    render_table,
    write_name,
)
from mnemos.workspace.sandbox.card.table_description import (
    Contents,
    Structure,
    TableDescription,
    TableEntry,
    TableSort,
    to_data,
)
from mnemos.workspace.sandbox.card.table_rows import CARD, ONE_TABLE, Bounds, Pace, TableReader
from mnemos.workspace.sandbox.card.tables import Listing, list_tables, read_structure
from mnemos.workspace.sandbox.database import Clockwork, Database
from mnemos.workspace.sandbox.failures import Failure
from mnemos.workspace.sandbox.lexer import fold

MOST_TABLES = 25
MOST_BYTES = 30_000
_KEPT_CARDS = 16
_NAMED = 20
_NAME = 64
# Instructions between two looks at the clock: a single one may handle megabytes.
_LOOK_EVERY = 100
_NO_TIME = "no time left"


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
    """Build the card of a database, or of one ``table``: ``text``, ``tables`` as data, ``more``.

    The text never exceeds ``most_bytes`` nor ``tokens``; what there is no room for is counted in ``more``.
    With ``tokens``, it is for a prompt: what looks like a prompt injection is left out.
    An unknown table raises Failure with the code not_found. The answer is kept until the contents change
    and must not be changed.
    """
    pace = Pace(bounds or (CARD if table is None else ONE_TABLE), clock)
    with _reading(database, pace) as connection:
        kept = database.current_cache().setdefault("card", {})
        if "listing" not in kept:
            kept.update(listing=list_tables(connection), described={}, cards={})
        there: Listing = kept["listing"]
        if table is not None:
            chosen, others = [_find_table(there, table)], []
        else:
            ordered = there.sort_by_use(database.recent)
            chosen, others = ordered[:most_tables], ordered[most_tables:]
        asked = (table is not None, tuple(one.name for one in chosen), most_bytes, tokens, pace.bounds)
        if asked in kept["cards"]:
            answer: dict[str, Any] = kept["cards"][asked]
            return answer
        describing = _Describing(connection, pace, kept["described"])
        tables = [describing.describe(one) for one in chosen]
    answer = _answer(tables, others, Budget(most_bytes, tokens), is_one=table is not None)
    if not any(one.contents.is_hurried for one in tables):
        while len(kept["cards"]) >= _KEPT_CARDS:
            kept["cards"].pop(next(iter(kept["cards"])))
        kept["cards"][asked] = answer
    return answer


@contextmanager
def _reading(database: Database, pace: Pace) -> Iterator[apsw.Connection]:
    """Read at one moment, under the guard: nothing can be changed."""
    with database.agents(read_only=True) as connection:
        connection.set_progress_handler(pace, _LOOK_EVERY, id=pace)
        with database.own():
            connection.execute("BEGIN")
        try:
            yield connection
        finally:
            connection.set_progress_handler(None, id=pace)
            with database.own():
                connection.execute("ROLLBACK")


class _Describing:
    """Describes tables one by one; a problem with one does not hide the others."""

    def __init__(
        self,
        connection: apsw.Connection,
        pace: Pace,
        kept: dict[tuple[str, Bounds], TableDescription],
    ) -> None:
        self._connection = connection
        self._pace = pace
        self._kept = kept

    def describe(self, one: TableEntry) -> TableDescription:
        key = (one.name, self._pace.bounds)
        if key not in self._kept:
            described = self._read(one)
            if described.contents.is_hurried:
                return described
            self._kept[key] = described
        return self._kept[key]

    def _read(self, one: TableEntry) -> TableDescription:
        made, contents = Structure(), Contents()
        try:
            with self._pace.table():
                made = read_structure(self._connection, one)
                if self._pace.is_over and one.sort is TableSort.TABLE:
                    contents = Contents(unread=_NO_TIME, is_hurried=True)
                elif one.sort is TableSort.TABLE:
                    # The agent's code computes the rows of a view or a virtual table.
                    contents = TableReader(self._connection, one, made, self._pace).read()
        except apsw.InterruptError:
            if self._pace.call_is_over:
                raise
            contents = Contents(unread="too slow", is_hurried=self._pace.is_over)
        except apsw.Error as exc:
            contents = Contents(unread=_explain(exc))
        except (UnicodeDecodeError, InvalidInput):
            # Only a file that another program wrote has such names.
            contents = Contents(unread="a name in it is not text")
        if not (made.columns or made.definition or made.unread):
            made = replace(made, unread=contents.unread or _NO_TIME)
        return TableDescription(one, made, contents)


def _explain(exc: apsw.Error) -> str:
    if isinstance(exc, apsw.CorruptError | apsw.NotADBError):
        return "its part of the file is damaged"
    if isinstance(exc, apsw.NoMemError | apsw.TooBigError):
        return "it needs too much memory"
    return str(exc)


def _find_table(there: Listing, table: str) -> TableEntry:
    found = there.tables.get(fold(table))
    if found is not None:
        return found
    names = [one.name[:_NAME] for one in there.sort_by_use({})]
    shown = ", ".join(one_line(name, _NAME) for name in names[:_NAMED]) + ", …" * (len(names) > _NAMED)
    # Imported for a mistake only: it takes as long as a small card.
    from difflib import get_close_matches

    near = get_close_matches(table[:_NAME], names, n=1)
    hint = f" Did you mean {one_line(near[0], _NAME)}?" if near else ""
    raise Failure(
        "not_found",
        f"there is no table {one_line(table, _NAME)!r}; there are {shown or 'none yet'}.{hint}".strip(),
    )


def _answer(
    tables: list[TableDescription], others: list[TableEntry], budget: Budget, *, is_one: bool
) -> dict[str, Any]:
    if not tables and not others:
        return {"text": EMPTY if budget.allows(EMPTY) else "", "tables": [], "more": 0}
    text, fitted = fit(tables, others, LONG_LEVELS if is_one else LEVELS, budget)
    return {
        "text": text,
        "tables": [to_data(one, in_full=is_one) for one in fitted],
        "more": len(tables) - len(fitted) + len(others),
    }


# --- the text within a budget -------------------------------------------------------------------

_MOST_NAMED = 100


@dataclass(frozen=True, slots=True)
class Budget:
    bytes: int
    tokens: int | None = None

    def allows(self, text: str) -> bool:
        if len(text.encode("utf-8", "replace")) > self.bytes:
            return False
        if self.tokens is None:
            return True
        # Imported when a card goes into a prompt: the tables of costs take 10 ms.
        from mnemos.text.tokens import count_tokens

        return count_tokens(text) <= self.tokens


def fit(
    tables: Sequence[TableDescription], others: Sequence[TableEntry], levels: Sequence[Detail], budget: Budget
) -> tuple[str, list[TableDescription]]:
    """Return the most detailed text within the budget, and the tables with more than their name in it.

    Each cut takes one level of detail from one table, from the last to the first and then again; the last
    round leaves tables out. A budget too small for a line gives an empty text.
    """
    total = _render_total([*(table.listed for table in tables), *others])
    render = cache(lambda place, level: render_table(tables[place], levels[level]))

    def choose(cuts: int) -> dict[int, int]:
        chosen = {place: (cuts + place) // len(tables) for place in range(len(tables))}
        return {place: level for place, level in chosen.items() if level < len(levels)}

    def write(cuts: int, named: int) -> str:
        chosen = choose(cuts)
        body = [render(place, level) for place, level in chosen.items()]
        order = "; last used first" if len(tables) > 1 else ""
        head = f"{total}{order}{'. ~: seen in sampled rows' * any('~' in text for text in body)}"
        left_out = [table.listed for table in tables[len(chosen) :]] + list(others)
        return "\n".join([head, *body, *_render_rest(left_out, named)])

    most = len(tables) * len(levels)
    cuts = bisect_left(range(most), 1, key=lambda cuts: budget.allows(write(cuts, 0)))
    is_standing = budget.tokens is not None
    if is_standing:
        # Only what finds room is scanned. A remark may need more room than what was left out.
        render.cache_clear()
    with leaving_out_orders(when=is_standing):
        while cuts < most and not budget.allows(write(cuts, 0)):
            cuts += 1
        if not budget.allows(write(cuts, 0)):
            shorter = (total, total.partition(",")[0])
            return next((text for text in shorter if budget.allows(text)), ""), []
        # As many names of the others as there is room for.
        named = bisect_left(
            range(_MOST_NAMED), 1, key=lambda named: not budget.allows(write(cuts, named + 1))
        )
        return write(cuts, named), list(tables[: len(choose(cuts))])


def _render_rest(left_out: Sequence[TableEntry], named: int) -> Iterator[str]:
    if left_out:
        names = ", ".join(write_name(one.name) for one in left_out[:named])
        rest = ", …" if named < len(left_out) else ""
        yield f"and {len(left_out):,} more{f': {names}{rest}' if names else ''}"


def _render_total(listed: Sequence[TableEntry]) -> str:
    views = sum(one.sort is TableSort.VIEW for one in listed)
    tables = len(listed) - views
    said = [f"{tables:,} table{'s' * (tables != 1)}"] if tables or not views else []
    if views:
        said.append(f"{views:,} view{'s' * (views != 1)}")
    return ", ".join(said)
