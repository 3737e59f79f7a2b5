"""What a conversation stated, saved before it is dropped or noted when it is over."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from mnemos.errors import InvalidInput, NotFound, Refused
from mnemos.integrations.providers.turns import text_of
from mnemos.language.extraction import extract_facts
from mnemos.language.notation import Statement, looks_like
from mnemos.sessions.model import call_name
from mnemos.text.secrets import redact
from mnemos.text.tokens import count_tokens

if TYPE_CHECKING:
    from mnemos.memory import Memory

_HEAD: Final = "Stated in these messages and saved as facts; the summary must keep them:"
_LINES_TOKENS: Final = 800
_MOST_FACTS: Final = 200
_MOST_CANDIDATES: Final = 50
# A turn with fewer calls is no pattern.
_FEWEST_CALLS: Final = 3
_MOST_PATTERNS: Final = 10


@dataclass(frozen=True, slots=True)
class Stated:
    """A statement, and the text of the message that makes it, as it is stored."""

    statement: Statement
    guessed: bool
    """Whether its target was guessed from a sentence."""
    text: str


def stated(memory: Memory, messages: Any) -> list[Stated]:
    """What users and assistants state in messages, in order; a later statement of the same counts alone."""
    found: dict[tuple[str, str, str], Stated] = {}
    for role, spoken in _spoken(messages):
        # Before anything is guessed: a secret is no part of a target either.
        text = redact(spoken) if memory.settings.redact else spoken
        for one in extract_facts(text, role=role):
            key = (str(one.statement.mark), one.statement.key, one.statement.content)
            found.pop(key, None)
            found[key] = Stated(one.statement, not looks_like(one.sentence), text)
    return list(found.values())[-_MOST_FACTS:]


def save(memory: Memory, session_id: str, found: Iterable[Stated]) -> list[Statement]:
    """Store statements as facts, each with its message where that is stored; those that now hold."""
    places = _Places(memory, session_id)
    saved: list[Statement] = []
    for one in found:
        try:
            memory.facts.state(
                [one.statement],
                session_id=session_id or None,
                message_id=places.of(one.text),
                guessed=one.guessed,
            )
        except (InvalidInput, NotFound, Refused):
            # Nothing to withdraw, or nothing that can be kept: the others still count.
            continue
        saved.append(one.statement)
    return saved


def as_lines(statements: Iterable[Statement]) -> str:
    """Lines for whoever writes the summary; when there are too many, the latest."""
    lines: list[str] = []
    left = _LINES_TOKENS - count_tokens(f"{_HEAD}\n")
    for statement in reversed(list(statements)):
        line = f"- {statement}"
        left -= count_tokens(f"{line}\n")
        if left < 0:
            break
        lines.insert(0, line)
    return "\n".join((_HEAD, *lines)) if lines else ""


def candidates(memory: Memory, session_id: str, messages: Any) -> dict[str, Any]:
    """What may be worth keeping of a conversation that is over: facts not on record, patterns of calls."""
    places = _Places(memory, session_id)
    facts = [
        {"fact": str(one.statement), "message_id": places.of(one.text)}
        for one in stated(memory, messages)
        if not _is_known(memory, one.statement)
    ][-_MOST_CANDIDATES:]
    patterns = list(dict.fromkeys(_patterns(messages)))[:_MOST_PATTERNS]
    found = {"facts": facts, "templates": [list(pattern) for pattern in patterns]}
    return {name: some for name, some in found.items() if some}


class _Places:
    """Where texts stand in a session, looked up when the first is asked for."""

    def __init__(self, memory: Memory, session_id: str) -> None:
        self._memory = memory
        self._session_id = session_id
        self._ids: dict[str, int] | None = None

    def of(self, text: str) -> int | None:
        if self._ids is None:
            self._ids = dict(self._read())
        return self._ids.get(text.strip())

    def _read(self) -> Iterator[tuple[str, int]]:
        if not self._session_id or self._memory.sessions.get_session(self._session_id) is None:
            return
        for message in self._memory.sessions.get_messages(self._session_id):
            yield text_of(message["content"]).strip(), message["id"]


def _spoken(messages: Any) -> Iterator[tuple[str, str]]:
    for message in messages if isinstance(messages, list | tuple) else ():
        if isinstance(message, Mapping) and isinstance(role := message.get("role"), str):
            text = text_of(message.get("content"))
            if text:
                yield role, text


def _is_known(memory: Memory, statement: Statement) -> bool:
    try:
        known = memory.facts.history(statement.target)
    except NotFound:
        return False
    return any(fact.content == statement.content for fact in known)


def _patterns(messages: Any) -> Iterator[tuple[str, ...]]:
    """The tools that turns called, in order, of turns that called several."""
    called: list[str] = []
    for message in [*(messages if isinstance(messages, list | tuple) else ()), {"role": "user"}]:
        if not isinstance(message, Mapping):
            continue
        if message.get("role") == "user":
            if len(called) >= _FEWEST_CALLS:
                yield tuple(called)
            called = []
        calls = message.get("tool_calls")
        names = (
            (call_name(call) for call in calls if isinstance(call, Mapping))
            if isinstance(calls, list)
            else ()
        )
        called += [name for name in names if name]
