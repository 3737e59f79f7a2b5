"""Texts that several results share: counts, sizes, times, messages."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from mnemos.projects import name_project
from mnemos.text.stored_text import one_line
from mnemos.text.tables import format_time


def plural(number: int, thing: str, several: str = "") -> str:
    """Render a count: ``1 session``, ``1,024 sessions``."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {several or thing + 's'}"


def floor_share(share: float) -> float:
    """Round a share down to four digits, so that only a complete one is 1."""
    return int(share * 10_000 + 1e-7) / 10_000


def render_size(count: float) -> str:
    """Render a number of bytes: ``1.5 MB``."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return ""


def render_path(path: str | Path) -> str:
    """Render a path as a person writes it, with ``~`` for the user's folder."""
    try:
        return f"~/{Path(path).relative_to(Path.home()).as_posix()}"
    except (RuntimeError, ValueError):  # There is no such folder, or the path is elsewhere.
        return str(path)


def render_time(when: float | None) -> str:
    """Render a time in the reader's time zone, to the minute; empty for None."""
    return "" if when is None else format_time(when)


def render_when(when: float | None, now: float, *, minute: bool = False) -> str:
    """Render a time for a person: ``today 14:03``, ``12 Oct 2025``; empty for None.

    With ``minute``, days before today include the time.
    """
    if when is None:
        return ""
    try:
        then, today = datetime.fromtimestamp(when), datetime.fromtimestamp(now)
    except (OverflowError, ValueError, OSError):
        return render_time(when)
    days = (today.date() - then.date()).days
    name = "today" if days == 0 else "yesterday" if days == 1 else f"{then.day} {then:%b %Y}"
    return f"{name} {then:%H:%M}" if minute or days == 0 else name


def iso_time(moment: float) -> str:
    """Render a time as ISO 8601 in UTC; outside the calendar, as seconds."""
    try:
        return datetime.fromtimestamp(moment, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    except (OverflowError, ValueError, OSError):
        return f"{moment:g}"


def render_title(title: str | None, project: str | None, *, elsewhere: bool = True) -> str:
    """Render a title, with the project's name if it isn't the current one."""
    shown = one_line(title or "") or "Untitled"
    return f"{shown} [{one_line(name_project(project))}]" if project and elsewhere else shown


def day(moment: str) -> str:
    """Return the local date of an ISO time."""
    try:
        return f"{datetime.fromisoformat(moment).astimezone():%Y-%m-%d}"
    except (OverflowError, ValueError, OSError):
        return moment[:10]


def shorten_names(names: Sequence[str], least: int) -> dict[str, str]:
    """Return beginnings of names that tell them apart, of ``least`` or more characters."""

    def is_unique(beginning: str) -> bool:
        return sum(name.startswith(beginning) for name in names) == 1

    return {
        name: next((name[:end] for end in range(least, len(name)) if is_unique(name[:end])), name)
        for name in names
    }


def cut(text: str, characters: int) -> str:
    return text if len(text) <= characters else text[: characters - 1] + "…"


def list_some(names: Sequence[str], most: int = 20) -> str:
    """Render the first names and the number of others."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


def render_first(lines: list[str], most: int) -> list[str]:
    """Render the first lines, indented, and the number of others."""
    rest = [f"  … and {len(lines) - most:,} more"] if len(lines) > most else []
    return [*(f"  {line}" for line in lines[:most]), *rest]


def message_text(content: Any) -> str:
    """Return the text of a message's content. Other parts are named by type."""
    if content is None or isinstance(content, str):
        return content or ""
    parts = content if isinstance(content, list) else [content]
    return "\n".join(_part(part) for part in parts)


def render_call(call: Any) -> str:
    """Render a tool call as its name and arguments."""
    if not isinstance(call, dict):
        return _json(call)
    function = call.get("function")
    named = function if isinstance(function, dict) else call
    if not isinstance(named.get("name"), str):
        return _json(call)
    arguments = named.get("arguments", named.get("input", ""))
    return f"{named['name']} {arguments if isinstance(arguments, str) else _json(arguments)}".rstrip()


def render_calls(tool_calls: Any) -> list[str]:
    """Render each tool call of a message."""
    calls = tool_calls if isinstance(tool_calls, list) else [tool_calls] if tool_calls else []
    return [render_call(call) for call in calls]


def _part(part: Any) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, dict):
        text = part.get("text")
        return text if isinstance(text, str) else f"[{part.get('type', 'part')}]"
    return _json(part)


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
