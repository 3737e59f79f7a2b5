"""What a hint may count on: the tables, columns and functions that the failed statement could have used."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from apsw import keywords

from mnemos.workspace.identifiers import quote as quoted

# A hostile database has ten thousand tables with names as long as a page: so much of it is looked at.
_MOST_TABLES = 2_000
_MOST_COLUMNS = 500
_LONGEST_NAME = 100

# The functions of SQLite that are worth a suggestion; the guard decides which can be called.
BUILT_IN = frozenset(
    """abs acos asin atan atan2 avg ceil ceiling changes char coalesce concat concat_ws cos count cume_dist
    date datetime degrees dense_rank exp first_value floor format glob group_concat hex if ifnull iif
    instr json json_array json_array_length json_each json_extract json_group_array json_group_object
    json_insert json_object json_patch json_pretty json_quote json_remove json_replace json_set
    json_tree json_type json_valid julianday lag last_insert_rowid last_value lead length like likely ln
    log log10 log2 lower ltrim max median min mod nth_value ntile nullif octet_length percent_rank
    percentile percentile_cont percentile_disc pi pow power printf quote radians random randomblob rank
    replace round row_number rtrim sign sin sqlite_version sqrt strftime string_agg substr substring sum
    tan time timediff total total_changes trim trunc typeof unhex unicode unixepoch unlikely upper
    zeroblob""".split()
)
# What is not ASCII is a letter. Said by what is none: a class of a million characters takes milliseconds to
# compile, and every worker that starts would wait for it.
_BARE = re.compile(r"[^\x00-@\[-^`{-\x7f][^\x00-/:-@\[-^`{-\x7f]*")


@dataclass(frozen=True, slots=True)
class Known:
    """The database as hints see it."""

    tables: Mapping[str, Sequence[str]]
    """Tables and views with the names of their columns."""
    functions: Sequence[str]
    """Functions beyond SQLite's own."""
    signatures: Mapping[str, str] = field(default_factory=dict)
    """How some of them are called, as documentation writes it."""


@dataclass(frozen=True, slots=True)
class Schema:
    """What is known, found by names in lower case, as SQLite compares them."""

    tables: dict[str, str]
    columns: dict[str, tuple[str, ...]]
    functions: frozenset[str]
    """Beyond SQLite's own."""
    signatures: dict[str, str]

    @classmethod
    def of(cls, known: Known) -> Schema:
        names = _usable(known.tables, _MOST_TABLES)
        return cls(
            tables={name.lower(): name for name in names},
            columns={name.lower(): _usable(known.tables[name], _MOST_COLUMNS) for name in names},
            functions=frozenset(name.lower() for name in known.functions),
            signatures={name.lower(): signature for name, signature in known.signatures.items()},
        )

    def has_function(self, name: str) -> bool:
        return name.lower() in self.functions or name.lower() in BUILT_IN


def written(name: str) -> str:
    """A name as SQL takes it, in quotes only where it needs them."""
    return name if _BARE.fullmatch(name) and name.upper() not in keywords else quoted(name)


def bare(name: str) -> str:
    """A name, or a string, as it is written in SQL, without its quotes."""
    quote = name[:1]
    if len(name) < 2 or quote not in _CLOSING or name[-1] != _CLOSING[quote]:
        return name
    return name[1:-1] if quote == "[" else name[1:-1].replace(quote * 2, quote)


_CLOSING = {'"': '"', "`": "`", "'": "'", "[": "]"}


def _usable(names: Iterable[str], most: int) -> tuple[str, ...]:
    return tuple(islice((name for name in names if len(name) <= _LONGEST_NAME and "\0" not in name), most))
