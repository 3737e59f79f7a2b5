"""What the card knows of a table: how it is made, and what was seen in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

Value = None | int | float | str


class Sort(StrEnum):
    TABLE = "table"
    VIEW = "view"
    VIRTUAL = "virtual table"


@dataclass(frozen=True, slots=True)
class Blob:
    """A blob of a row, of which only the size is told."""

    size: int


Cell = Value | Blob


@dataclass(frozen=True, slots=True)
class Listed:
    """A table or view as the schema lists it."""

    name: str
    sort: Sort
    sql: str
    """Of a long one the beginning."""
    is_cut: bool
    number: int
    """Later ones have a higher number."""
    module: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    type: str
    """As declared; empty when it was not."""
    not_null: bool = False
    default: str | None = None
    key: int = 0
    """Its place in the primary key, from 1; 0 outside of it."""
    generated: str = ""
    """``virtual`` or ``stored`` when it is computed."""


@dataclass(frozen=True, slots=True)
class Index:
    name: str
    columns: tuple[str, ...]
    """``(expression)`` stands for what is no column."""
    is_unique: bool
    is_partial: bool
    origin: str
    """``c`` made by CREATE INDEX, ``u`` by UNIQUE, ``pk`` by PRIMARY KEY."""

    @property
    def is_rule(self) -> bool:
        """Whether no two rows may have the same values."""
        return self.is_unique and not self.is_partial


@dataclass(frozen=True, slots=True)
class Reference:
    """A foreign key."""

    columns: tuple[str, ...]
    table: str
    to: tuple[str, ...]
    """Empty when the primary key is meant."""
    on_delete: str


@dataclass(frozen=True, slots=True)
class Trigger:
    name: str
    event: str
    """``after insert``; empty when it cannot be told."""


@dataclass(frozen=True, slots=True)
class Structure:
    columns: tuple[Column, ...] = ()
    indexes: tuple[Index, ...] = ()
    more_indexes: int = 0
    references: tuple[Reference, ...] = ()
    triggers: tuple[Trigger, ...] = ()
    comment: str = ""
    comments: dict[str, str] = field(default_factory=dict)
    """By column."""
    unread: str = ""
    """Why the columns are not known."""

    def is_unique(self, column: Column) -> bool:
        """Whether a column tells rows apart alone, other than as the primary key."""
        return any(
            index.is_rule and index.origin != "pk" and index.columns == (column.name,)
            for index in self.indexes
        )


@dataclass(frozen=True, slots=True)
class Count:
    """How many rows there are: exactly, or between two numbers."""

    least: int = 0
    most: int | None = None
    about: int | None = None
    """By the statistics of ANALYZE."""

    @property
    def is_exact(self) -> bool:
        return self.least == self.most

    @property
    def rows(self) -> int | None:
        """The best single figure."""
        return self.most if self.about is None else self.about


@dataclass(frozen=True, slots=True)
class Range:
    low: Value
    high: Value
    is_exact: bool


@dataclass(frozen=True, slots=True)
class Seen:
    """What the rows that were read have in a column."""

    storage: str = ""
    """``integer``, ``real``, ``text``, ``blob``; ``mixed``; empty when there was nothing but NULL."""
    kind: str = ""
    is_mostly: bool = False
    """Some values are of another kind."""
    fields: tuple[str, ...] = ()
    """Of JSON objects."""
    range: Range | None = None
    values: tuple[Value, ...] = ()
    """All that were seen, when they are few."""


@dataclass(frozen=True, slots=True)
class Contents:
    count: Count | None = None
    sampled: int = 0
    """Rows that were read to tell kinds, ranges and values."""
    is_whole: bool = False
    """These were all."""
    seen: dict[str, Seen] = field(default_factory=dict)
    """By column; what was not read is not there."""
    rows: tuple[tuple[Cell, ...], ...] = ()
    """To be shown, spread over the table."""
    columns: tuple[str, ...] = ()
    """Of these rows."""
    unread: str = ""
    """Why there is nothing, or less."""
    is_hurried: bool = False
    """Only for want of time: another call may read more."""


@dataclass(frozen=True, slots=True)
class Described:
    listed: Listed
    structure: Structure
    contents: Contents
