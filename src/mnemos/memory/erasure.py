"""Erasure of the item that a reference names, and of everything derived from it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypedDict, cast

from mnemos.errors import InvalidInput, NotFound, Refused, Unavailable
from mnemos.inputs import find_nearest, optional_name, suggest
from mnemos.memory.remnants import find_remnants
from mnemos.notebook.notebook import digest
from mnemos.sessions import session_upkeep
from mnemos.templates.template_files import unknown_template

if TYPE_CHECKING:
    from mnemos.memory.memory import Memory

# The maximum number of digits of an entry's number.
_DIGITS: Final = 16
# Metadata with this many characters of a message repeats the message, not just a word of it.
_COPIED: Final = 20
_STRUCTURE: Final = frozenset({"id", "name", "tool_use_id", "type"})


@dataclass(frozen=True, slots=True)
class _Said:
    """The texts of a message or session, read before it is erased."""

    session_id: str
    messages: Sequence[Mapping[str, Any]] = field(default_factory=list)
    about: Mapping[str, Any] | None = None
    """The session itself, if it is forgotten as a whole."""

    @property
    def texts(self) -> list[str]:
        """The text of each message, and of the session itself."""
        about = [(self.about or {}).get(name) for name in ("title", "system_prompt", "metadata")]
        messages = [
            [message["content"], message["tool_calls"], message["metadata"]]
            for message in self.messages
            if not message.get("forgotten")
        ]
        return ["\n".join(_iterate_texts(part)) for part in [*about, *messages]]


_KINDS: Final = ("message", "session", "fact", "note", "entry", "template")
REFERENCE: Final = re.compile(rf"(?:{'|'.join(_KINDS)}):")


class Candidate(TypedDict):
    """A fact or note that was withdrawn, or that could be meant; see ``withdrawal.Item``."""

    id: str
    kind: str
    text: str
    at: float | None
    message_id: int | None


class Forgotten(TypedDict):
    """The answer of ``Memory.forget``."""

    ref: str
    forgotten: bool
    """False if the request is ambiguous."""
    permanent: bool
    """True if it was erased, which can't be undone."""
    withdrawn: list[Candidate]
    candidates: list[Candidate]
    entry: int | None
    """The log entry that undoes a withdrawal."""
    erased: list[str]
    """References to facts that were erased with it."""
    kept: list[str]
    """References to facts that are kept but may repeat it."""
    pending: bool
    """True while a reader prevents the write-ahead log from being emptied."""
    copies: list[str]
    """Files that may still contain the forgotten text."""
    tables: list[str]
    unsearched: list[str]
    dates: dict[str, float]


def forget(memory: Memory, ref: str | Sequence[str], user_id: str | None = None) -> Forgotten:
    """Erase items by reference, or withdraw an item described in words; see ``Memory.forget``."""
    refs = [ref] if isinstance(ref, str) else ref
    if not isinstance(refs, list | tuple) or not refs or not all(isinstance(one, str) for one in refs):
        raise InvalidInput(f"ref must be a string or a list of strings, not {ref!r}"[:200])
    refs = list(dict.fromkeys(refs))
    answer = Forgotten(
        ref=", ".join(refs), forgotten=True, permanent=True, withdrawn=[], candidates=[], entry=None,
        erased=[], kept=[], pending=False, copies=[], tables=[], unsearched=[], dates={},
    )  # fmt: skip
    permanent = [one for one in refs if _is_reference(one)]
    if len(permanent) == len(refs):
        return cast(Forgotten, answer | erase(memory, refs, user_id))
    if permanent:
        raise InvalidInput(
            f"{permanent[0]} would be erased permanently, but {_find_other(refs)!r} can be restored. "
            "Use two calls."
        )
    # Imported here, because only a withdrawal compares words with statements.
    from mnemos.memory.withdrawal import withdraw

    done = withdraw(memory, " and ".join(refs), user_id=user_id)
    answer["permanent"], answer["forgotten"], answer["entry"] = False, bool(done.items), done.entry
    answer["withdrawn"] = [cast(Candidate, asdict(item)) for item in done.items]
    answer["candidates"] = [cast(Candidate, asdict(item)) for item in done.candidates]
    return answer


def _is_reference(ref: str) -> bool:
    """True for a reference, even a mistyped one, as opposed to a request in words."""
    kind, colon, _ = ref.partition(":")
    return REFERENCE.match(ref) is not None or bool(colon and find_nearest(kind, _KINDS))


def _find_other(refs: Sequence[str]) -> str:
    return next(one for one in refs if not _is_reference(one))


def erase(memory: Memory, refs: Sequence[str], user_id: str | None = None) -> dict[str, Any]:
    """Erase the items that references name; see ``Memory.forget``.

    All messages and sessions are looked up first, so an unknown one raises before anything is erased. The
    bytes of all items are erased together at the end.
    """
    user = optional_name("user_id", user_id)
    found = [(ref, _read_item(memory, ref, user)) for ref in refs]
    texts: list[str] = []
    erased: list[str] = []
    kept: list[str] = []
    templates: list[str] = []
    for ref, said in found:
        kind, _, name = ref.partition(":")
        texts += said.texts if said else read_texts(memory, kind, name)
        # Facts that come only from a message are erased first, so that an interrupted call can be repeated.
        taken, further = _erase_facts(memory, said)
        erased += taken
        templates += _find_templates(memory, said)
        _erase_item(memory, ref, said, user)
        kept += further + _find_repeats(memory, said)
    gone = {*erased, *refs}
    memory.feeds.asked.forget([*gone], texts)
    kept = [one for one in dict.fromkeys(kept) if one not in gone]
    return {"erased": erased, "kept": kept, **scrub(memory, texts, list(dict.fromkeys(templates)))}


def _read_item(memory: Memory, ref: str, user: str | None) -> _Said | None:
    kind, _, name = ref.partition(":")
    said = _read(memory, kind, name)
    if user is not None:
        _check_owner(memory, kind, name, said, user)
    return said


def _erase_item(memory: Memory, ref: str, said: _Said | None, user: str | None) -> None:
    kind, _, name = ref.partition(":")
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
            raise unknown_template(name, [one.name for one in memory.templates.read_all()])
    else:
        raise InvalidInput(
            f"{ref!r} is not a reference.{suggest(kind, _KINDS)} Use message:ID, session:ID, fact:ID, "
            "note:ID, entry:ID or template:NAME."
        )


def scrub(memory: Memory, texts: Sequence[str], copies: Sequence[str] = ()) -> dict[str, Any]:
    """Erase the bytes of forgotten text; return True if that is pending, and remaining files.

    The files may still contain the text. ``copies`` are files that do, and are returned too.
    """
    pending = not memory.storage.scrub()
    remnants = find_remnants(memory, texts)
    remnants.copies += copies
    return {"pending": pending, **remnants.describe()}


def _read(memory: Memory, kind: str, name: str) -> _Said | None:
    """Read a message or session, even one that only the log still has; None for other kinds."""
    if kind == "message" and name.isascii() and name.isdecimal():
        messages = memory.sessions.get_messages_around(int(name), 0, 0)
        return _Said(messages[0]["session_id"], messages)
    if kind != "session" or not name:
        return None
    session: Mapping[str, Any]
    try:
        session = memory.sessions.export_session(name)
    except NotFound:
        logged = memory.storage.read(lambda tx: tx.audit.on(session_upkeep.ref(name)))
        packed = [row.before for row in logged if row.operation == session_upkeep.DELETE and row.before]
        session = session_upkeep.unpack(packed[0]) if packed else {"messages": []}
    return _Said(name, session["messages"], session)


def read_texts(memory: Memory, kind: str, name: str) -> list[str]:
    """Read the texts of a fact, a note or an entry; none if it is unknown, as erasing it raises."""
    try:
        if kind == "fact":
            return [memory.facts.get(name).content]
        if kind == "note":
            book, _, wanted = name.partition(":")
            entries = [*memory.notebook.entries(book), *memory.notebook.removed(book)]
            return [entry for entry in entries if digest(entry) == wanted]
        if kind == "entry" and name.isascii() and name.isdecimal() and len(name) < _DIGITS:
            owner = memory.storage.read(lambda tx: tx.entries.owner(int(name)))
            entry = owner and memory.entries.retrieve(*owner)
            return list(_list_strings(entry.value)) if entry else []
    except (InvalidInput, NotFound):
        pass
    return []


def _list_strings(value: Any) -> Iterator[str]:
    """Yield the texts in an entry's value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _list_strings(one)


def _check_owner(memory: Memory, kind: str, name: str, said: _Said | None, user: str) -> None:
    """Raise NotFound for another user's item."""
    if kind == "entry":
        raise Refused("A user's entry can't be forgotten by its id. Delete it by its key.")
    if said is None:
        return
    session = memory.sessions.get_session(said.session_id)
    if session is None or session["user_id"] not in (None, user):
        raise NotFound(f"There is no {kind} {name!r}.")


def _erase_facts(memory: Memory, said: _Said | None) -> tuple[list[str], list[str]]:
    """Erase facts that come only from these messages; return references to them and to those kept."""
    if said is None:
        return [], []
    ids = {message["id"] for message in said.messages}
    text = None if said.about else "\n".join(said.texts)
    taken, further = memory.facts.forget_taken(said.session_id, ids, text)
    return [f"fact:{one}" for one in taken], [f"fact:{one}" for one in further]


def _find_repeats(memory: Memory, said: _Said | None) -> list[str]:
    """List the title and metadata of a message's session if they repeat the message."""
    session = None if said is None or said.about else memory.sessions.get_session(said.session_id)
    text = "\n".join(said.texts).casefold().strip() if said else ""
    if said is None or session is None or not text:
        return []
    title = (session["title"] or "").casefold()
    noted = [one.casefold() for one in _iterate_texts(session["metadata"])]
    found = {
        "title": bool(title) and (title in text or text in title),
        # A short value, such as a name, does not repeat the message.
        "metadata": any(text in one or (len(one) >= _COPIED and one in text) for one in noted),
    }
    return [f"the {name} of session:{said.session_id}" for name, repeats in found.items() if repeats]


def _find_templates(memory: Memory, said: _Said | None) -> list[str]:
    """Find the templates that may contain the text to be forgotten."""
    if said is None:
        return []
    try:
        lineage = memory.sessions.get_lineage(said.session_id)
        return memory.templates.find_by_sessions([said.session_id, *lineage])
    except NotFound:
        return memory.templates.find_by_sessions([said.session_id])
    except Unavailable:
        # An unreadable folder must not prevent forgetting.
        return [str(memory.templates_folder)]


def _iterate_texts(value: Any) -> Iterator[str]:
    """Yield every text in a part of a message, without the names that belong to its structure."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from _iterate_texts(one)
    elif isinstance(value, dict):
        for name, one in value.items():
            if name not in _STRUCTURE:
                yield from _iterate_texts(one)
