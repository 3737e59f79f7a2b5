"""The schema card: what is in a database, short enough for a prompt, honest about what was not read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import apsw

from mnemos.errors import InvalidInput
from mnemos.workspace.sandbox.card.bounds import (
    CARD,
    LOOK_EVERY,
    ONE_TABLE,
    Bounds,
    Pace,
    Weights,
)
from mnemos.workspace.sandbox.card.card_text import (
    EMPTY,
    LEVELS,
    LONG_LEVELS,
    Detail,
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
from mnemos.workspace.sandbox.card.table_rows import NO_TIME, Reader
from mnemos.workspace.sandbox.card.table_structure import (
    Listing,
    list_tables,
    read_structure,
)
from mnemos.workspace.sandbox.database import Clockwork, Database
from mnemos.workspace.sandbox.failures import Failure
from mnemos.workspace.sandbox.lexer import fold

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
    """Build the card of a database, or of one ``table``: ``text``, ``tables`` as data, ``more``.

    The text never exceeds ``most_bytes`` nor ``tokens``; what there is no room for is counted in ``more``.
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
        tables = _Describing(connection, there, pace, kept["described"]).all(chosen)
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
        connection.set_progress_handler(pace, LOOK_EVERY, id=pace)
        with database.own():
            connection.execute("BEGIN")
        try:
            yield connection
        finally:
            connection.set_progress_handler(None, id=pace)
            with database.own():
                connection.execute("ROLLBACK")


_Kept = dict[tuple[str, Bounds], TableDescription]


class _Describing:
    """Describes tables one by one; a problem with one does not hide the others."""

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
        self._reader = Reader(connection, self._weights, pace)

    def all(self, chosen: list[TableEntry]) -> list[TableDescription]:
        return [self._describe_once(one) for one in chosen]

    def _describe_once(self, one: TableEntry) -> TableDescription:
        key = (one.name, self._pace.bounds)
        if key not in self._kept:
            described = self._describe(one)
            if described.contents.is_hurried:
                return described
            self._kept[key] = described
        return self._kept[key]

    def _describe(self, one: TableEntry) -> TableDescription:
        made = Structure()
        try:
            made = read_structure(self._connection, one, self._listing, self._weights, self._pace)
            contents = self._reader.read(one, made)
        except apsw.InterruptError:
            if self._pace.call_is_over:
                raise
            contents = Contents(unread="too slow", is_hurried=self._pace.is_over)
        except apsw.Error as exc:
            contents = Contents(unread=_explain(exc))
        except (UnicodeDecodeError, InvalidInput):
            # Only a file that another program wrote has such names.
            contents = Contents(unread="a name in it is not text")
        if not made.columns and not made.unread:
            made = replace(made, unread=contents.unread or NO_TIME)
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
        fits = all(count(EMPTY) <= most for count, most in budget.counters())
        return {"text": EMPTY if fits else "", "tables": [], "more": 0}
    card = fit(tables, others, LONG_LEVELS if is_one else LEVELS, budget)
    return {
        "text": card.text,
        "tables": [to_data(one, in_full=is_one) for one in card.tables],
        "more": len(tables) - len(card.tables) + len(others),
    }


# --- the text within a budget -------------------------------------------------------------------

_MOST_NAMED = 100


@dataclass(frozen=True, slots=True)
class Budget:
    bytes: int
    tokens: int | None = None

    def counters(self) -> list[tuple[Callable[[str], int], int]]:
        """Return what is counted, each with its limit."""
        found: list[tuple[Callable[[str], int], int]] = [(_size, self.bytes)]
        if self.tokens is not None:
            # Imported when a card goes into a prompt: the tables of costs take 10 ms.
            from mnemos.text.tokens import count_tokens

            found.append((count_tokens, self.tokens))
        return found


@dataclass(frozen=True, slots=True)
class Fitted:
    text: str
    tables: list[TableDescription]
    """Those with more than their name in the text."""


class _Pieces:
    """Texts of tables at each level of detail, and what they cost."""

    def __init__(self, tables: Sequence[TableDescription], levels: Sequence[Detail], budget: Budget) -> None:
        self._tables = tables
        self._levels = levels
        self._counters = budget.counters()
        self._texts: dict[tuple[int, int], str] = {}
        self._costs: dict[tuple[int, int], tuple[int, ...]] = {}

    def text(self, place: int, level: int) -> str:
        if (place, level) not in self._texts:
            self._texts[place, level] = render_table(self._tables[place], self._levels[level])
        return self._texts[place, level]

    def cost(self, place: int, level: int) -> tuple[int, ...]:
        if (place, level) not in self._costs:
            self._costs[place, level] = self.cost_of(self.text(place, level) + "\n")
        return self._costs[place, level]

    def cost_of(self, text: str) -> tuple[int, ...]:
        return tuple(count(text) for count, _ in self._counters)

    def fits(self, cost: tuple[int, ...]) -> bool:
        return all(spent <= most for spent, (_, most) in zip(cost, self._counters, strict=True))


def fit(
    tables: Sequence[TableDescription], others: Sequence[TableEntry], levels: Sequence[Detail], budget: Budget
) -> Fitted:
    """Fit as many tables as there is room for, all in about the same detail, the first in more.

    The budget is never exceeded; a budget too small for a line gives an empty text.
    """
    return _Fitting(tables, others, levels, budget).fit()


class _Fitting:
    def __init__(
        self,
        tables: Sequence[TableDescription],
        others: Sequence[TableEntry],
        levels: Sequence[Detail],
        budget: Budget,
    ) -> None:
        self._tables = tables
        self._others = others
        self._lowest = len(levels) - 1
        self._pieces = _Pieces(tables, levels, budget)

    def fit(self) -> Fitted:
        chosen = self._choose_levels()
        self._improve(chosen)
        text = self._render(chosen)
        # Costs of pieces add up to a little more than the cost of the whole, or with some counters less.
        while not self._pieces.fits(self._pieces.cost_of(text)) and chosen:
            self._reduce(chosen)
            text = self._render(chosen)
        if not self._pieces.fits(self._pieces.cost_of(text)):
            text = next(
                (text for text in self._shortest_texts() if self._pieces.fits(self._pieces.cost_of(text))), ""
            )
        return Fitted(text, [self._tables[place] for place in sorted(chosen)])

    def _choose_levels(self) -> dict[int, int]:
        """Return the level of each table: the highest at which all fit, else the lowest for those that do."""
        places = range(len(self._tables))
        for level in range(self._lowest + 1):
            chosen = dict.fromkeys(places, level)
            if self._pieces.fits(self._total(chosen)):
                return chosen
        chosen = {}
        for place in places:
            if self._pieces.fits(self._total({**chosen, place: self._lowest})):
                chosen[place] = self._lowest
        return chosen

    def _improve(self, chosen: dict[int, int]) -> None:
        """Raise the level of each table in turn, as long as there is room."""
        total = self._total(chosen)
        level = max(chosen.values(), default=0)
        while level > 0:
            level -= 1
            for place in sorted(chosen):
                now, better = self._pieces.cost(place, level + 1), self._pieces.cost(place, level)
                further = tuple(sum_ - old + new for sum_, old, new in zip(total, now, better, strict=True))
                if not self._pieces.fits(further):
                    return
                chosen[place], total = level, further

    def _reduce(self, chosen: dict[int, int]) -> None:
        """Lower the last table that has more than the least detail, or leave one table out."""
        for place in sorted(chosen, reverse=True):
            if chosen[place] < self._lowest:
                chosen[place] += 1
                return
        del chosen[max(chosen)]

    def _total(self, chosen: dict[int, int]) -> tuple[int, ...]:
        frame = self._pieces.cost_of(self._head(is_sampled=True) + "\n" + self._tail(chosen, named=0))
        costs = [self._pieces.cost(place, level) for place, level in chosen.items()]
        return tuple(sum(each) for each in zip(frame, *costs, strict=True))

    def _render(self, chosen: dict[int, int]) -> str:
        body = [self._pieces.text(place, chosen[place]) for place in sorted(chosen)]
        is_sampled = any("~" in text for text in body)
        best = ""
        # As many names of the others as there is room for.
        low, high = 0, min(self._left_out(chosen), _MOST_NAMED)
        while low <= high:
            named = (low + high + 1) // 2
            text = "\n".join(
                [self._head(is_sampled=is_sampled), *body, self._tail(chosen, named=named)]
            ).rstrip("\n")
            if self._pieces.fits(self._pieces.cost_of(text)) or named == 0:
                best, low = text, named + 1
            else:
                high = named - 1
        return best

    def _head(self, *, is_sampled: bool) -> str:
        said = _render_total([table.listed for table in self._tables] + list(self._others))
        order = "; last used first" if len(self._tables) > 1 else ""
        return f"{said}{order}{'. ~: seen in sampled rows' * is_sampled}"

    def _left_out(self, chosen: dict[int, int]) -> int:
        return len(self._tables) - len(chosen) + len(self._others)

    def _tail(self, chosen: dict[int, int], *, named: int) -> str:
        left_out = [self._tables[place].listed for place in range(len(self._tables)) if place not in chosen]
        left_out += self._others
        if not left_out:
            return ""
        names = ", ".join(write_name(one.name) for one in left_out[:named])
        rest = ", …" if named < len(left_out) else ""
        return f"and {len(left_out):,} more{f': {names}{rest}' if names else ''}"

    def _shortest_texts(self) -> list[str]:
        said = _render_total([table.listed for table in self._tables] + list(self._others))
        return [said, said.partition(",")[0]]


def _render_total(listed: Sequence[TableEntry]) -> str:
    views = sum(one.sort is TableSort.VIEW for one in listed)
    tables = len(listed) - views
    said = [f"{tables:,} table{'s' * (tables != 1)}"] if tables or not views else []
    if views:
        said.append(f"{views:,} view{'s' * (views != 1)}")
    return ", ".join(said)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
