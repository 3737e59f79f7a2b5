"""What callers pass in, checked before it goes to the worker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mnemos import inputs
from mnemos.errors import InvalidInput, TooLarge
from mnemos.workspace import limits

_LONGEST_NAME = 128
_RESERVED = ("sqlite_", "mnemos_")
_SIGNS = (":", "@", "$")


def text(label: str, value: Any) -> str:
    if not isinstance(value, str):
        raise InvalidInput(f"{label} is a {type(value).__name__}; use a text")
    try:
        value.encode()
    except UnicodeEncodeError as exc:
        raise InvalidInput(f"{label} holds half a character at {exc.start}; use text that is whole") from exc
    return value


def parameters(params: Any) -> Any:
    """Values by position or by name; what SQLite has no type for becomes JSON in the worker."""
    if params is None:
        return None
    if isinstance(params, Mapping):
        return _named(params)
    if _is_list(params):
        return list(params)
    raise InvalidInput(
        f"params is a {type(params).__name__}; use a list of values, or an object of names and values"
    )


def rows(given: Any) -> Any:
    """Parameters of many executions of one statement."""
    if given is None:
        return None
    if not _is_list(given):
        raise InvalidInput(f"rows is a {type(given).__name__}; use a list of lists, or of objects")
    if len(given) > limits.PARAMETER_ROWS.value:
        raise TooLarge(
            f"rows has {len(given)} rows; at most {limits.PARAMETER_ROWS.value} go in one call: import a file"
        )
    for place, row in enumerate(given):
        if not isinstance(row, list | tuple | dict):
            raise InvalidInput(
                f"row {place} of rows is {str(row)[:80]!r}; use a list of values, or an object"
            )
    if given and isinstance(given[0], dict) and any(str(name).startswith(_SIGNS) for name in given[0]):
        return [_named(row) if isinstance(row, dict) else row for row in given]
    return given


def seconds(timeout: Any, default: float) -> float:
    if timeout is None:
        return default
    if (
        isinstance(timeout, bool)
        or not isinstance(timeout, int | float)
        or not 0 < timeout <= limits.MOST_SECONDS
    ):
        raise InvalidInput(
            f"timeout is {timeout!r}; use seconds, more than 0 and at most {limits.MOST_SECONDS:g}"
        )
    return float(timeout)


def table(name: Any) -> str:
    """The name of a table that rows are brought into."""
    if not isinstance(name, str) or not name.strip() or len(name) > _LONGEST_NAME or "\0" in name:
        raise InvalidInput(f"table is {str(name)[:100]!r}; use a name of 1 to {_LONGEST_NAME} characters")
    if name.lower().startswith(_RESERVED):
        raise InvalidInput(f"table is {name!r}; names that begin with {' or '.join(_RESERVED)} are taken")
    return text("table", name)


def key(given: Any, mode: str) -> list[str]:
    """The columns that tell rows apart, by one name, several with commas between, or a list."""
    named = given.split(",") if isinstance(given, str) else given
    if named is None:
        named = []
    if not _is_list(named) or not all(isinstance(name, str) and name.strip() for name in named):
        raise InvalidInput(f"key is {given!r}; use the name of a column, or several with commas between")
    if mode == "upsert" and not named:
        raise InvalidInput("upsert needs a key: the column, or columns, by which a row is known")
    return [name.strip() for name in named]


def at_most(label: str, value: Any, most: int) -> int:
    """A whole number; left out, or larger than can be, the most."""
    return most if value is None else min(inputs.whole(label, value), most)


def one_of(label: str, value: Any, known: Sequence[str]) -> str:
    if value not in known:
        raise InvalidInput(f"{label} is {value!r}; use {', '.join(known)}")
    return str(value)


def _named(values: Mapping[Any, Any]) -> dict[str, Any]:
    """Values by their names, which may be written with the sign that they have in SQL."""
    return {str(name).lstrip("".join(_SIGNS)): value for name, value in values.items()}


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray)
