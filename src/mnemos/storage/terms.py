"""Rows of the word index: the words and tags of a message, independent of the engine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from mnemos.storage.base import Document, Documents, MessageRow
from mnemos.storage.passages import PART_CHARACTERS, Passage
from mnemos.text.words import index_words, runs

# An index row is written at once, so a message longer than PART_CHARACTERS has several rows, and none delays
# the next writer for long. Parts begin and end between words, and overlap so that a phrase at a seam is whole
# in one of them.
_OVERLAP = 400
_LONGEST_WORD_AT_SEAM = 200

_WEEK = 7 * 24 * 3600.0
LAST_MOMENT = 1e12

IndexRow = tuple[int, str, str, str, str]
"""rowid, said, tool, beside, tags"""


class Indexable(Struct, frozen=True):
    """A message with the values that its tags are made from."""

    message: MessageRow
    session_key: int
    source: str
    user: str | None
    project: str | None


def message_row(row: tuple[Any, ...]) -> MessageRow:
    """Make a message row from the columns of the ``message_rows`` view."""
    return MessageRow(
        row[0], row[1], row[2], row[3], row[4] == 1, row[5], row[6], row[7], row[8], row[9], row[10],
        row[11] is not None, row[12], row[13], row[14] == 1,
    )  # fmt: skip


def indexable(row: tuple[Any, ...]) -> Indexable:
    return Indexable(message_row(row), row[15], row[16], row[18], row[19])


def ids_needed(content: str | None, tool_calls: str | None, tool_name: str | None) -> int:
    """Return the number of ids that a message takes: one for each index row it may need."""
    said = len(content) if content else 0
    if tool_calls:
        said = max(said, len(tool_calls) + len(tool_name or ""))
    return 1 + said // PART_CHARACTERS


def ids_of(message: MessageRow) -> int:
    return ids_needed(message.content, message.tool_calls, message.tool_name)


def index_rows(item: Indexable, documents: Documents, after: int = 0) -> Iterator[IndexRow]:
    """Yield a message's index rows with ids above ``after``. Forgotten messages and echoes have none."""
    message = item.message
    if message.forgotten:
        return
    document = documents(message)
    if message.origin is not None and not (document.said or document.tool):
        return
    tags = " ".join(
        (
            role_tag(message.role),
            source_tag(item.source),
            session_tag(item.session_key),
            week_tag(week_of(message.timestamp)),
            *owner_tags(item.user),
            *([] if item.project is None else [project_tag(item.project)]),
            *speaker_tags(document.speaker),
        )
    )
    parts = ids_of(message)
    for part in range(max(0, after + 1 - message.id), parts):
        yield _row(message.id + part, document if parts == 1 else _part(document, part), tags)


def parts_of(document: Document, parts: int) -> Iterator[tuple[int, str]]:
    """Return the indexed text of each part of a message. Empty parts are left out."""
    for part in range(parts):
        said = document.said if parts == 1 else _stretch(document.said, part)
        if said.strip():
            yield part, said


def passage_row(passage: Passage) -> IndexRow:
    """Return the index row of a passage that is not a message."""
    said, beside = index_words(passage.readable)
    tags = " ".join((kind_tag(passage.kind), week_tag(week_of(passage.at)), *owner_tags(passage.user_id)))
    if passage.group is not None:
        tags = f"{tags} {group_tag(passage.group)}"
    return passage.id, said, "", beside, tags


def _row(rowid: int, document: Document, tags: str) -> IndexRow:
    said, beside = index_words(document.said)
    if not document.tool:
        return rowid, said, "", beside, tags
    tool, beside_tool = index_words(document.tool)
    return rowid, said, tool, f"{beside} {beside_tool}", tags


def _part(document: Document, part: int) -> Document:
    return Document(_stretch(document.said, part), _stretch(document.tool, part), document.speaker)


def _stretch(text: str, part: int) -> str:
    start = part * PART_CHARACTERS
    end = start + PART_CHARACTERS + _OVERLAP
    return text[_seam(text, start, 1) : _seam(text, end, -1)]


def _seam(text: str, position: int, step: int) -> int:
    """Return the nearest position between two words, forward or backward."""
    for moved in range(_LONGEST_WORD_AT_SEAM):
        at = position + moved * step
        if not 0 < at < len(text) or not (text[at - 1].isalnum() and text[at].isalnum()):
            return at
    return position


# No word starts with "#", so no query matches a tag by accident, and words can be searched in all fields at
# once, which is faster than in some fields.


def role_tag(role: str) -> str:
    return "#r" + _plain(role)


def source_tag(source: str) -> str:
    return "#c" + _plain(source)


def session_tag(key: int) -> str:
    return f"#s{key:x}"


OWNED = "#o"
"""The tag of rows that belong to a user. All others are shared."""


def user_tag(user: str) -> str:
    return "#u" + _plain(user)


def owner_tags(user: str | None) -> list[str]:
    return [] if user is None else [OWNED, user_tag(user)]


def project_tag(project: str) -> str:
    return "#j" + _plain(project)


def speaker_tags(speaker: str) -> list[str]:
    """Return a tag for each word of the speaker's name."""
    if not speaker:
        return []
    return ["#p" + _plain(form) for run in runs(speaker) for form in run.forms]


def kind_tag(kind: str) -> str:
    return "#k" + _plain(kind)


def group_tag(group: str) -> str:
    return "#g" + _plain(group)


def week_tag(week: int) -> str:
    return f"#w{week}"


def week_of(timestamp: float) -> int:
    """Return the whole weeks since the epoch, clamped to the range of the calendar."""
    return int(min(max(timestamp, 0.0), LAST_MOMENT) // _WEEK)


def _plain(name: str) -> str:
    """Encode a name as one index word. Different names give different words."""
    if name.isascii() and name.isalnum() and name.islower():
        return "n" + name
    return "x" + name.encode("utf-8", "surrogatepass").hex()
