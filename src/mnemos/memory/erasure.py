"""Erasure of what a reference names, with everything that was made of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mnemos.errors import InvalidInput, NotFound, Refused, Unavailable
from mnemos.inputs import optional_name
from mnemos.sessions import session_upkeep

if TYPE_CHECKING:
    from mnemos.memory.memory import Memory


@dataclass(frozen=True, slots=True)
class _Said:
    """What a message or a session says, read before it is erased."""

    session_id: str
    messages: list[dict[str, Any]] = field(default_factory=list)
    is_whole: bool = False
    """True for a whole session."""

    @property
    def text(self) -> str:
        return "\n".join(text for one in self.messages for text in _iterate_texts(one["content"]))


def erase(memory: Memory, ref: str, user_id: str | None = None) -> dict[str, Any]:
    """Erase what a reference names; see ``Memory.forget``.

    Facts that were taken from a message alone go first: whoever is interrupted can repeat the call.
    """
    kind, _, name = ref.partition(":") if isinstance(ref, str) else ("", "", "")
    user = optional_name("user_id", user_id)
    said = _read(memory, kind, name)
    if user is not None:
        _check_owner(memory, kind, name, said, user)
    erased, kept = _erase_facts(memory, said)
    templates = _find_templates(memory, said)
    if kind == "message" and said is not None:
        memory.sessions.forget_message(int(name))
    elif kind == "session" and name:
        memory.sessions.forget_session(name)
    elif kind == "fact" and name:
        memory.facts.forget(name, user_id=user)
    elif kind == "note" and name:
        memory.notebook.forget(name)
    elif kind == "entry" and name:
        memory.entries.forget(name)
    elif kind == "template" and name:
        if not memory.templates.delete_template(name):
            raise NotFound(f"there is no template {name!r}; see `mnemos templates list`")
    else:
        raise InvalidInput(
            f"{ref!r} is not a reference; use message:ID, session:ID, fact:ID, note:ID, entry:ID or "
            "template:NAME"
        )
    return scrub(memory, ref, templates) | {"erased": erased, "kept": kept}


def scrub(memory: Memory, ref: str, further: list[str]) -> dict[str, Any]:
    """Erase the bytes of what was just forgotten; return the answer of ``forget``."""
    pending = not memory.storage.scrub()
    copies = [*memory.home.backups(), *memory.notebook.copies(), *further]
    return {"ref": ref, "forgotten": True, "pending": pending, "copies": copies}


def _read(memory: Memory, kind: str, name: str) -> _Said | None:
    """Read a message or a session, also one that only the log still has; None for everything else."""
    if kind == "message" and name.isascii() and name.isdecimal():
        messages = memory.sessions.get_messages_around(int(name), 0, 0)
        return _Said(messages[0]["session_id"], messages)
    if kind != "session" or not name:
        return None
    try:
        return _Said(name, memory.sessions.export_session(name)["messages"], is_whole=True)
    except NotFound:
        logged = memory.storage.read(lambda tx: tx.audit.on(session_upkeep.ref(name)))
    packed = [row.before for row in logged if row.operation == session_upkeep.DELETE and row.before]
    messages = [one for session in map(session_upkeep.unpack, packed) for one in session["messages"]]
    return _Said(name, messages, is_whole=True)


def _check_owner(memory: Memory, kind: str, name: str, said: _Said | None, user: str) -> None:
    """Raise NotFound for what belongs to another user."""
    if kind == "entry":
        raise Refused("an entry can't be forgotten for a user by its id; delete it by its key")
    if said is None:
        return
    session = memory.sessions.get_session(said.session_id)
    if session is None or session["user_id"] not in (None, user):
        raise NotFound(f"there is no {kind} {name!r}")


def _erase_facts(memory: Memory, said: _Said | None) -> tuple[list[str], list[str]]:
    """Erase the facts that were taken from messages alone. Returns references to them and to the others."""
    if said is None:
        return [], []
    ids = {message["id"] for message in said.messages}
    taken, further = memory.facts.forget_taken(said.session_id, ids, None if said.is_whole else said.text)
    return [f"fact:{one}" for one in taken], [f"fact:{one}" for one in further]


def _find_templates(memory: Memory, said: _Said | None) -> list[str]:
    """Find the templates that may hold what is about to be forgotten."""
    if said is None:
        return []
    try:
        lineage = memory.sessions.get_lineage(said.session_id)
        return memory.templates.find_by_sessions([said.session_id, *lineage])
    except NotFound:
        return memory.templates.find_by_sessions([said.session_id])
    except Unavailable:
        # A folder that can't be read keeps nobody from forgetting.
        return [str(memory.templates_folder)]


def _iterate_texts(value: Any) -> Iterator[str]:
    """Yield every text in a value of a message."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _iterate_texts(one)
