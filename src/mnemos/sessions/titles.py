"""Titles for untitled sessions, and ids short enough to type."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from mnemos.sessions.message_text import text_of
from mnemos.storage.base import Glimpse, Reads, SessionRow
from mnemos.text.fences import strip_fences

MAX_TITLE = 60
OPENING = 2_000
"""The number of characters of a message that a title is made from."""
# An id of up to this length was probably chosen by a person and is shown in full.
_CHOSEN = 16
_SHORT = 8
_CUT = "…"
# Claude Code's sub-agents have the id of their session, a colon, this prefix and their own id.
_AGENT = "agent-"
_MOST_ALIKE = 500

# Context that programs add to what a person typed: <system-reminder>…</system-reminder>.
_INJECTED = re.compile(r"<([a-z]+(?:[-_][a-z]+)+)\b[^<>]{0,200}>.*?(?:</\1>|\Z)", re.DOTALL)
_COMMAND = re.compile(r"</?(?:command-name|command-args|bash-input)>")
_TAG = re.compile(r"</?[A-Za-z][A-Za-z_-]{0,40}>")
_NOT_SAID = re.compile(
    r"Caveat: The messages below|This session is being continued from|\[Request interrupted|# AGENTS\.md\b"
)
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff\ufffd]+")
_MARKUP = re.compile(r"[\s#>*•`~=_-]+")
_BARE_COMMAND = re.compile(r"/[\w:.-]+")


def make_title(text: str) -> str:
    """Return the first line that a person wrote, cut to 60 characters; empty if there is none.

    Context added by programs and commands without arguments are left out.
    """
    text = _COMMAND.sub(" ", strip_fences(text[:OPENING]))
    text = _TAG.sub(" ", _INJECTED.sub("\n", text))
    if _NOT_SAID.match(text.lstrip()):
        return ""
    for line in text.splitlines():
        markup = _MARKUP.match(line)
        said = " ".join(_CONTROLS.sub(" ", line[markup.end() if markup else 0 :]).split()).rstrip("`*_#")
        if any(map(str.isalnum, said)) and not _BARE_COMMAND.fullmatch(said):
            return _cut(said)
    return ""


def _cut(text: str) -> str:
    """Cut at a word, unless a script writes no blanks."""
    if len(text) <= MAX_TITLE:
        return text.rstrip(".:,; ")
    part = text[: MAX_TITLE - 1]
    words = part.rpartition(" ")[0] if text[MAX_TITLE - 1] != " " else part
    return (words if len(words) > MAX_TITLE // 2 else part).rstrip(" ,;:.-–(") + "…"


def add_titles(tx: Reads, rows: Sequence[SessionRow]) -> list[SessionRow]:
    """Give each session a title: its own, or the user's first line, if any."""
    titles = find_titles(tx, [row.id for row in rows if row.title is None])
    return [replace(row, title=titles[row.id]) if row.id in titles else row for row in rows]


def find_titles(tx: Reads, session_ids: Sequence[str]) -> dict[str, str]:
    """Return titles made from the first line users wrote. Sessions without any are left out."""
    openings = tx.sessions.openings(session_ids, characters=OPENING) if session_ids else {}
    made = {name: choose_title(said) for name, said in openings.items()}
    return {name: title for name, title in made.items() if title}


def choose_title(said: Iterable[Glimpse]) -> str | None:
    """Return the title from the first of these messages that gives one, if any."""
    return next(filter(None, (make_title(text_of(one)) for one in said)), None)


def shorten_ids(tx: Reads, session_ids: Iterable[str]) -> dict[str, str]:
    """Return the shortest form of each id that ``find_by_short_id`` understands.

    It is the beginning of the id: 8 characters, or more if they are needed. Ids that share more than 16
    characters also show their end, and a sub-agent shows its session's id and its own: ``8d4e7b20…0002:s2``.
    """
    return {one: _shorten(tx, one) for one in dict.fromkeys(session_ids)}


def _shorten(tx: Reads, session_id: str) -> str:
    parent, colon, own = session_id.partition(":")
    if not colon or len(parent) <= _CHOSEN:
        return _shorten_plain(tx, session_id)
    siblings = [
        one for one in tx.sessions.neighbours_of_id(session_id) if one and one.startswith(f"{parent}:")
    ]
    shared = max((_count_shared(session_id, one) - len(parent) for one in siblings), default=0)
    end = max(_SHORT + len(_AGENT), shared)
    return f"{_shorten_plain(tx, parent)}:{own[:end].removeprefix(_AGENT)}"


def _shorten_plain(tx: Reads, session_id: str) -> str:
    if len(session_id) <= _CHOSEN:
        return session_id
    beside = tx.sessions.neighbours_of_id(session_id)
    shared = max((_count_shared(session_id, other) for other in beside if other), default=0)
    if shared < _CHOSEN:
        return session_id[: max(_SHORT, shared + 1)]
    start = session_id[:_SHORT]
    others = {row.id.partition(":")[0] for row in tx.sessions.by_id_prefix(start, _MOST_ALIKE)} - {session_id}
    for size in (4, 8, 12):
        end = session_id[-size:]
        if len(others) < _MOST_ALIKE and not any(one.endswith(end) for one in others):
            return f"{start}{_CUT}{end}"
    return session_id[: shared + 1]


def find_by_short_id(tx: Reads, text: str, most: int) -> list[SessionRow]:
    """Return sessions whose ids begin with this text, or that ``shorten_ids`` shortens to it."""
    if found := tx.sessions.by_id_prefix(text, most):
        return found
    parent, colon, own = text.partition(":")
    start, cut, end = parent.partition(_CUT)
    if not colon and not cut:
        return []
    return [row for row in tx.sessions.by_id_prefix(start, most) if _is_meant(row.id, end, own)]


def _is_meant(session_id: str, end: str, own: str) -> bool:
    parent, _, its_own = session_id.partition(":")
    return parent.endswith(end) and its_own.startswith((own, _AGENT + own))


def _count_shared(one: str, other: str) -> int:
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
