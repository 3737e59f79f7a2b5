"""The ``state.db`` of Hermes Agent, which may be running: sessions one by one, those of parents first."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from mnemos.errors import InvalidInput, NotFound, StorageError, Unavailable
from mnemos.inputs import can_be_name
from mnemos.storage import HermesState, hermes_state
from mnemos.transfer.finding import Tell, is_folder, source_of
from mnemos.transfer.model import BEGINNING, Conversation, Item, Left, Mark, Reader, Said, Source, Unread
from mnemos.transfer.readers.hermes_session import as_session
from mnemos.transfer.values import filled

KIND: Final = "hermes"
_STATE: Final = "state.db"
_LOG: Final = "-wal"
# Of a message. What a store takes is less, and is its business.
_LONGEST: Final = 1 << 30


def find(path: Path, tell: Tell) -> Iterator[Source]:
    """A ``state.db``, or the one in a folder."""
    file = path / _STATE if is_folder(path) else path
    source = source_of(file, tell)
    if source is None:
        return
    log = file.with_name(file.name + _LOG)
    try:
        # What was written last stands beside it, as long as Hermes runs.
        found = log.stat()
    except OSError:
        yield source
    else:
        changed = max(source.changed_ns, found.st_mtime_ns)
        yield replace(source, size=source.size + found.st_size, changed_ns=changed)


def read(source: Source, mark: Mark = BEGINNING) -> Iterator[Item]:  # noqa: ARG001
    """Every session, a mark after each; where reading begins is not asked, it begins at the first."""
    number = 0
    try:
        with hermes_state(source.path) as state:
            ids = parents_first(state.parents())
            for number, session_id in enumerate(ids, start=1):
                yield from _session(state, session_id, number)
                # Before the end: only the last mark says that all was read.
                yield Mark(source.size * number // (len(ids) + 1), number)
    except UnicodeDecodeError as exc:
        raise InvalidInput(f"{source.path} holds text that is not UTF-8: {exc}") from exc
    except (NotFound, StorageError, Unavailable) as exc:
        raise InvalidInput(str(exc)) from exc
    yield Mark(source.size, number)


READER: Final = Reader(KIND, "Hermes Agent", find, read, resumes=False)


def parents_first(parents: Mapping[str, str | None]) -> list[str]:
    """The sessions in their order, but none before the one that it follows."""
    ordered: dict[str, None] = {}
    for session_id in parents:
        line: list[str] = []
        above: str | None = session_id
        while above is not None and above in parents and above not in ordered and above not in line:
            line.append(above)
            above = parents[above]
        ordered |= dict.fromkeys(reversed(line))
    return list(ordered)


def _session(state: HermesState, session_id: str, number: int) -> Iterator[Item]:
    if not isinstance(session_id, str) or not can_be_name("id", session_id):
        yield Unread(number, f"session {session_id!r:.100} has an id that none can have")
        return
    try:
        found = state.session(session_id)
    except InvalidInput as exc:
        yield Unread(number, str(exc))
        return
    if found is None:
        # Gone since the list was read.
        return
    session = as_session(found, before=math.inf, longest=_LONGEST)
    said = session["messages"]
    left = len(found.messages) - len(said)
    if left:
        yield Left("messages that were taken back, copied or empty", left)
    if not said:
        return
    yield _conversation(session)
    tokens = (session["input_tokens"], session["output_tokens"])
    for message in said:
        fields = {name: value for name, value in message.items() if name != "id"}
        yield Said(session_id, f"{session_id}/{message.get('id')}", fields, (), *tokens)
        tokens = (0, 0)


def _conversation(session: Mapping[str, Any]) -> Conversation:
    metadata = session["metadata"] or {}
    return Conversation(
        session["id"],
        session["source"],
        started_at=session["started_at"] if math.isfinite(session["started_at"]) else None,
        model=session["model"],
        title=session["title"],
        parent_id=session["parent_session_id"],
        user_id=session["user_id"],
        model_config=session["model_config"],
        end_reason=session["end_reason"],
        metadata=metadata | filled(program=KIND),
        ended_at=session["ended_at"],
        archived=session["archived"],
    )
