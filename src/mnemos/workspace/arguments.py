"""Checks of what callers pass in, before it goes to the worker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mnemos import inputs
from mnemos.errors import InvalidInput, TooLarge
from mnemos.workspace import limits

_LONGEST_NAME = 128
_RESERVED = ("sqlite_", "mnemos_")
_PARAMETER_SIGNS = (":", "@", "$")


def check_text(label: str, value: Any) -> str:
    if not isinstance(value, str):
        raise InvalidInput(f"{label} must be a string, not {type(value).__name__}")
    try:
        value.encode()
    except UnicodeEncodeError as exc:
        raise InvalidInput(f"{label} has an unpaired surrogate at {exc.start}. Use valid Unicode.") from exc
    return value


def check_parameters(params: Any) -> Any:
    """Return values by position or by name. Values SQLite has no type for become JSON in the worker."""
    if params is None:
        return None
    if isinstance(params, Mapping):
        return _strip_signs(params)
    if _is_list(params):
        return list(params)
    raise InvalidInput(
        f"params is a {type(params).__name__}. Use a list of values, or an object of names and values."
    )


def check_rows(rows: Any) -> Any:
    """Return the parameters of each execution of one statement."""
    if rows is None:
        return None
    if not _is_list(rows):
        raise InvalidInput(f"rows is a {type(rows).__name__}. Use a list of lists, or of objects.")
    if len(rows) > limits.PARAMETER_ROWS.value:
        raise TooLarge(
            f"rows has {len(rows)} rows. The limit is {limits.PARAMETER_ROWS.value} per call. "
            "Import a file instead."
        )
    for place, row in enumerate(rows):
        if not isinstance(row, list | tuple | dict):
            raise InvalidInput(
                f"row {place} of rows is {str(row)[:80]!r}. Use a list of values, or an object."
            )
    if rows and isinstance(rows[0], dict) and any(str(name).startswith(_PARAMETER_SIGNS) for name in rows[0]):
        return [_strip_signs(row) if isinstance(row, dict) else row for row in rows]
    return rows


def check_timeout(timeout: Any, default: float) -> float:
    if timeout is None:
        return default
    is_number = isinstance(timeout, int | float) and not isinstance(timeout, bool)
    if not is_number or not 0 < timeout <= limits.MOST_SECONDS:
        raise InvalidInput(
            f"timeout must be more than 0 and at most {limits.MOST_SECONDS:g} seconds, not {timeout!r}."
        )
    return float(timeout)


def check_table(name: Any) -> str:
    """Return the name of the table that an import goes into."""
    if not isinstance(name, str) or not name.strip() or len(name) > _LONGEST_NAME or "\0" in name:
        raise InvalidInput(f"table is {str(name)[:100]!r}. Use a name of 1 to {_LONGEST_NAME} characters.")
    if name.lower().startswith(_RESERVED):
        raise InvalidInput(f"table is {name!r}. Names that begin with {' or '.join(_RESERVED)} are reserved.")
    return check_text("table", name)


def check_key(key: Any, mode: str) -> list[str]:
    """Return the key columns, from one name, names with commas between them, or a list."""
    names = key.split(",") if isinstance(key, str) else [] if key is None else key
    if not _is_list(names) or not all(isinstance(name, str) and name.strip() for name in names):
        raise InvalidInput(f"key must be the name of a column, or several separated by commas, not {key!r}.")
    if mode == "upsert" and not names:
        raise InvalidInput("upsert needs a key: the column or columns that identify a row")
    return [name.strip() for name in names]


def clamp(label: str, value: Any, most: int) -> int:
    """Return a whole number of at most ``most``, which is also the default."""
    return most if value is None else min(inputs.whole(label, value), most)


def check_choice(label: str, value: Any, known: Sequence[str]) -> str:
    if value not in known:
        raise InvalidInput(f"{label} is {value!r}.{inputs.suggest(value, known)} Use {', '.join(known)}.")
    return str(value)


def _strip_signs(values: Mapping[Any, Any]) -> dict[str, Any]:
    """Return values by name, where a name may have been written with its sign as in SQL."""
    return {str(name).lstrip("".join(_PARAMETER_SIGNS)): value for name, value in values.items()}


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray)
