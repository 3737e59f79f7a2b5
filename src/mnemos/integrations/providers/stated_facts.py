"""Statements: saved as facts before compaction, noted at the end of a session."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from mnemos.errors import InvalidInput, NotFound, Refused
from mnemos.integrations.providers.conversation import extract_text, list_messages
from mnemos.language.extraction import extract_facts
from mnemos.language.notation import Statement, looks_like
from mnemos.sessions.tool_names import call_name, is_own_tool
from mnemos.text.secrets import redact
from mnemos.text.stored_text import one_line
from mnemos.text.tokens import count_tokens

if TYPE_CHECKING:
    from mnemos.memory import Memory

_HEAD: Final = "Stated in these messages and saved as facts; the summary must keep them:"
_LINES_TOKENS: Final = 800
_MOST_FACTS: Final = 200
_MOST_CANDIDATES: Final = 50
# A turn with fewer calls is not considered a pattern.
_FEWEST_CALLS: Final = 3
_MOST_PATTERNS: Final = 10


@dataclass(frozen=True, slots=True)
class Stated:
    """A statement, and the text of its message as it is stored."""

    statement: Statement
    guessed: bool
    """True if its target was guessed from a sentence."""
    text: str
    role: str


def find_statements(memory: Memory, messages: Any) -> list[Stated]:
    """Find what users and assistants state. The last of equal statements counts."""
    found: dict[tuple[str, str, str], Stated] = {}
    for role, raw in _iter_texts(messages):
        # Redact first, so that no secret becomes part of a guessed target.
        text = redact(raw) if memory.settings.redact else raw
        for one in extract_facts(text, role=role):
            key = (str(one.statement.mark), one.statement.key, one.statement.content)
            found.pop(key, None)
            found[key] = Stated(one.statement, not looks_like(one.sentence), text, role)
    return list(found.values())[-_MOST_FACTS:]


def save(
    memory: Memory, session_id: str, found: Sequence[Stated], user_id: str | None = None
) -> list[Statement]:
    """Store statements as facts linked to their messages. Returns those that now hold."""
    ids = _find_ids(memory, session_id) if found else {}
    saved: list[Statement] = []
    for one in found:
        try:
            memory.facts.state(
                [one.statement],
                session_id=session_id or None,
                message_id=ids.get(one.text.strip()),
                guessed=one.guessed,
                stated_by="user" if one.role == "user" else "agent",
                user_id=user_id,
            )
        except (InvalidInput, NotFound, Refused):
            # There is nothing to withdraw, or it was refused. The others still count.
            continue
        saved.append(one.statement)
    return saved


def render_lines(statements: Iterable[Statement]) -> str:
    """Render lines that a summary must keep; the latest, if there are too many."""
    lines: list[str] = []
    left = _LINES_TOKENS - count_tokens(f"{_HEAD}\n")
    for statement in reversed(list(statements)):
        line = f"- {one_line(str(statement))}"
        left -= count_tokens(f"{line}\n")
        if left < 0:
            break
        lines.insert(0, line)
    return "\n".join((_HEAD, *lines)) if lines else ""


def find_candidates(memory: Memory, session_id: str, messages: Any) -> dict[str, Any]:
    """Find what a finished conversation leaves to keep: facts and tool call patterns."""
    new = [one for one in find_statements(memory, messages) if not _is_known(memory, one.statement)]
    ids = _find_ids(memory, session_id) if new else {}
    facts = [
        {"fact": str(one.statement), "message_id": ids.get(one.text.strip())}
        for one in new[-_MOST_CANDIDATES:]
    ]
    patterns = list(dict.fromkeys(_iter_patterns(messages)))[:_MOST_PATTERNS]
    found = {"facts": facts, "templates": [list(pattern) for pattern in patterns]}
    return {name: some for name, some in found.items() if some}


def _find_ids(memory: Memory, session_id: str) -> dict[str, int]:
    """Return the ids of a session's messages by text."""
    if not session_id or memory.sessions.get_session(session_id) is None:
        return {}
    messages = memory.sessions.get_messages(session_id)
    return {extract_text(message["content"]).strip(): message["id"] for message in messages}


def _iter_texts(messages: Any) -> Iterator[tuple[str, str]]:
    for message in list_messages(messages):
        role, text = message.get("role"), extract_text(message.get("content"))
        if isinstance(role, str) and text:
            yield role, text


def _is_known(memory: Memory, statement: Statement) -> bool:
    try:
        known = memory.facts.history(statement.target)
    except NotFound:
        return False
    return any(fact.content == statement.content for fact in known)


def _iter_patterns(messages: Any) -> Iterator[tuple[str, ...]]:
    """Yield the called tools of each turn that called several."""
    called: list[str] = []
    for message in [*list_messages(messages), {"role": "user"}]:
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
        called += [name for name in names if name and not is_own_tool(name)]
