"""The card of several tables within a number of bytes, and of tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mnemos.workspace.sandbox.card import showing
from mnemos.workspace.sandbox.card.model import Described, Listed, Sort
from mnemos.workspace.sandbox.card.writing import Detail, block

_MOST_NAMED = 100


@dataclass(frozen=True, slots=True)
class Budget:
    bytes: int
    tokens: int | None = None

    def counters(self) -> list[tuple[Callable[[str], int], int]]:
        """What is counted, and how much of it there may be."""
        found: list[tuple[Callable[[str], int], int]] = [(_size, self.bytes)]
        if self.tokens is not None:
            # Imported when a card goes into a prompt: the tables of costs take 10 ms.
            from mnemos.text.tokens import count_tokens

            found.append((count_tokens, self.tokens))
        return found


@dataclass(frozen=True, slots=True)
class Fitted:
    text: str
    tables: list[Described]
    """Those of which more than the name is told."""


class _Pieces:
    """Texts of tables at each level of detail, and what they cost."""

    def __init__(self, tables: Sequence[Described], levels: Sequence[Detail], budget: Budget) -> None:
        self._tables = tables
        self._levels = levels
        self._counters = budget.counters()
        self._texts: dict[tuple[int, int], str] = {}
        self._costs: dict[tuple[int, int], tuple[int, ...]] = {}

    def text(self, place: int, level: int) -> str:
        if (place, level) not in self._texts:
            self._texts[place, level] = block(self._tables[place], self._levels[level])
        return self._texts[place, level]

    def cost(self, place: int, level: int) -> tuple[int, ...]:
        if (place, level) not in self._costs:
            self._costs[place, level] = self.cost_of(self.text(place, level) + "\n")
        return self._costs[place, level]

    def cost_of(self, text: str) -> tuple[int, ...]:
        return tuple(count(text) for count, _ in self._counters)

    def fits(self, cost: tuple[int, ...]) -> bool:
        return all(spent <= most for spent, (_, most) in zip(cost, self._counters, strict=True))


def fitted(
    tables: Sequence[Described], others: Sequence[Listed], levels: Sequence[Detail], budget: Budget
) -> Fitted:
    """As many tables as there is room for, all in about the same detail, the first in more when room is left.

    The budget is never exceeded; a budget too small for a line gives an empty text.
    """
    return _Fitting(tables, others, levels, budget).fitted()


class _Fitting:
    def __init__(
        self, tables: Sequence[Described], others: Sequence[Listed], levels: Sequence[Detail], budget: Budget
    ) -> None:
        self._tables = tables
        self._others = others
        self._lowest = len(levels) - 1
        self._pieces = _Pieces(tables, levels, budget)

    def fitted(self) -> Fitted:
        chosen = self._chosen()
        self._improve(chosen)
        text = self._written(chosen)
        # Costs of pieces add up to a little more than the cost of the whole, or with some counters less.
        while not self._pieces.fits(self._pieces.cost_of(text)) and chosen:
            self._reduce(chosen)
            text = self._written(chosen)
        if not self._pieces.fits(self._pieces.cost_of(text)):
            text = next((text for text in self._least() if self._pieces.fits(self._pieces.cost_of(text))), "")
        return Fitted(text, [self._tables[place] for place in sorted(chosen)])

    def _chosen(self) -> dict[int, int]:
        """Tables and their level: the highest at which all fit, or at the lowest those that do."""
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
        """A level more for each table in turn, as long as there is room for all before it."""
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
        """A little less: of the last table that has more detail than the least, or one table less."""
        for place in sorted(chosen, reverse=True):
            if chosen[place] < self._lowest:
                chosen[place] += 1
                return
        del chosen[max(chosen)]

    def _total(self, chosen: dict[int, int]) -> tuple[int, ...]:
        frame = self._pieces.cost_of(self._head(is_sampled=True) + "\n" + self._tail(chosen, named=0))
        costs = [self._pieces.cost(place, level) for place, level in chosen.items()]
        return tuple(sum(each) for each in zip(frame, *costs, strict=True))

    def _written(self, chosen: dict[int, int]) -> str:
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
        said = _counted([table.listed for table in self._tables] + list(self._others))
        order = "; last used first" if len(self._tables) > 1 else ""
        return f"{said}{order}{'. ~: seen in sampled rows' * is_sampled}"

    def _left_out(self, chosen: dict[int, int]) -> int:
        return len(self._tables) - len(chosen) + len(self._others)

    def _tail(self, chosen: dict[int, int], *, named: int) -> str:
        left_out = [self._tables[place].listed for place in range(len(self._tables)) if place not in chosen]
        left_out += self._others
        if not left_out:
            return ""
        names = ", ".join(showing.name(one.name) for one in left_out[:named])
        rest = ", …" if named < len(left_out) else ""
        return f"and {len(left_out):,} more{f': {names}{rest}' if names else ''}"

    def _least(self) -> list[str]:
        said = _counted([table.listed for table in self._tables] + list(self._others))
        return [said, said.partition(",")[0]]


def _counted(listed: Sequence[Listed]) -> str:
    views = sum(one.sort is Sort.VIEW for one in listed)
    tables = len(listed) - views
    said = [f"{tables:,} table{'s' * (tables != 1)}"] if tables or not views else []
    if views:
        said.append(f"{views:,} view{'s' * (views != 1)}")
    return ", ".join(said)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
