"""Lines and content blocks of Claude Code transcripts, as messages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any, Final

import msgspec

from mnemos.structs import convert
from mnemos.transfer.foreign_files import clean_name, drop_empty, make_call, parse_count, remember
from mnemos.transfer.reader import ImportedMessage, Item, Skipped
from mnemos.transfer.readers.injected_text import SplitText, describe_injected, split_injected

# Tags that Claude Code, its hooks and editors inject into a user's message.
_INJECTED: Final = frozenset(
    """
    system-reminder local-command-caveat local-command-stdout local-command-stderr user-prompt-submit-hook
    session-start-hook post-tool-use-hook ide_opened_file ide_selection ide_diagnostics new-diagnostics
    task-notification background-task command-contents fork-boilerplate command-message
    """.split()
)
# Tags around messages of teammates, other sessions and channels. A channel is any tag with a source.
_LETTERS: Final = ("teammate-message", "cross-session-message", "agent-message", "channel")
_LETTER_TAGS: Final = frozenset({*_LETTERS[:-1], "channel source"})
# Claude Code's announcement of one. The text after it is Claude Code's, too.
_ANNOUNCED: Final = re.compile(
    rf"\s*[A-Z][\w ]{{0,60}} sent a message(?: [\w ]{{1,40}})?:\s*<(?:{'|'.join(_LETTERS)})\s"
)
# Origins of lines and queued commands other than the user.
_OTHERS: Final = frozenset(
    {"channel", "peer", "peer-send-message", "coordinator", "task-notification", "auto-continuation"}
)
_COMMANDS: Final = frozenset({"command-name", "command-args", "bash-input"})
_SHELL: Final = frozenset({"bash-stdout", "bash-stderr"})
# Tags around other text: output of commands, files open in an editor, other agents.
_QUOTED: Final = "ide_selection ide_diagnostics new-diagnostics task-notification command-contents".split()
_FOREIGN: Final = (
    _SHELL,
    frozenset({"local-command-stdout", "local-command-stderr"}),
    *(frozenset({tag}) for tag in (*_QUOTED, *_LETTERS)),
)
_REMINDER: Final = "system-reminder"
_USER_TAGS: Final = _INJECTED | _LETTER_TAGS | _COMMANDS | _SHELL
_RESULT_TAGS: Final = frozenset({"system-reminder"})
_MAX_NAMES: Final = 200
_MAX_LEAVES: Final = 200
_MAX_CHAINED: Final = 20_000
# Maximum bytes of lines to join to one answer.
_LONGEST_ANSWER: Final = 4_000_000
# Maximum bytes of lines to keep until more of their answer comes.
_LONGEST_HELD: Final = 100_000


class Block(msgspec.Struct):
    type: str = ""
    text: str | None = None
    thinking: str | None = None
    id: str | None = None
    name: str | None = None
    input: msgspec.Raw = msgspec.Raw(b"{}")
    tool_use_id: str | None = None
    content: str | list[Block | str] | None = None
    is_error: bool | None = None
    source: Any = None


Content = str | list[Block | str] | None


class Usage(msgspec.Struct):
    input_tokens: Any = 0
    output_tokens: Any = 0
    cache_creation_input_tokens: Any = 0
    cache_read_input_tokens: Any = 0

    def totals(self) -> tuple[int, int]:
        """Return input tokens, including cached ones, and output tokens."""
        cached = parse_count(self.cache_creation_input_tokens) + parse_count(self.cache_read_input_tokens)
        return parse_count(self.input_tokens) + cached, parse_count(self.output_tokens)


class Message(msgspec.Struct):
    id: str | None = None
    role: str | None = None
    model: str | None = None
    content: Content = None
    usage: Usage | None = None


class Attachment(msgspec.Struct):
    type: str = ""
    prompt: Any = None
    origin: Any = None


class Line(msgspec.Struct):
    """A line, with Claude Code's field names."""

    type: str = ""
    uuid: str | None = None
    parentUuid: str | None = None  # noqa: N815
    sessionId: str | None = None  # noqa: N815
    agentId: str | None = None  # noqa: N815
    timestamp: str | int | float | None = None
    isSidechain: bool | None = None  # noqa: N815
    isMeta: bool | None = None  # noqa: N815
    isCompactSummary: bool | None = None  # noqa: N815
    isApiErrorMessage: bool | None = None  # noqa: N815
    cwd: str | None = None
    gitBranch: str | None = None  # noqa: N815
    version: str | None = None
    message: Message | None = None
    attachment: Attachment | None = None
    origin: Any = None
    summary: str | None = None
    leafUuid: str | None = None  # noqa: N815
    customTitle: str | None = None  # noqa: N815
    aiTitle: str | None = None  # noqa: N815

    def make_key(self, session_id: str) -> str:
        """Return the line's uuid, or a key made of its time and content."""
        if self.uuid:
            return self.uuid
        said = blake2b(msgspec.json.encode(self.message or self.attachment), digest_size=8).hexdigest()
        return f"{session_id}@{self.timestamp}@{said}"

    def is_injected(self) -> bool:
        """True if it is marked as from another agent, a channel or Claude Code itself."""
        origin = self.origin or (self.attachment.origin if self.attachment is not None else None)
        kind = origin.get("kind") if isinstance(origin, dict) else None
        is_of_others = isinstance(kind, str) and kind in _OTHERS
        return bool(self.isMeta or self.isCompactSummary or is_of_others)

    def get_queued(self) -> Content:
        """Return what the user typed while the agent was working."""
        if self.attachment is None or self.attachment.type != "queued_command":
            return None
        try:
            typed: Content = convert(self.attachment.prompt, Content)
        except msgspec.ValidationError:
            return None
        return typed


class Chains:
    """Assigns lines to sub-agents, by their own id or the line they follow."""

    def __init__(self, state: Any) -> None:
        self._agents: dict[str, str] = dict(state) if isinstance(state, dict) else {}

    def find_agent(self, line: Line) -> str | None:
        if line.agentId:
            return line.agentId
        if not line.isSidechain or not line.uuid:
            return None
        agent = self._agents.get(line.parentUuid or "") or line.uuid
        remember(self._agents, line.uuid, agent, _MAX_CHAINED)
        return agent

    def state(self) -> dict[str, str]:
        """Return the last lines, which later lines may follow."""
        return dict(list(self._agents.items())[-_MAX_LEAVES:])


@dataclass(slots=True)
class KnownCalls:
    """State that later lines refer to: called tools, and tokens already counted."""

    names: dict[str, str] = field(default_factory=dict)
    counted: tuple[str, int, int] = ("", 0, 0)

    @classmethod
    def load(cls, state: dict[str, Any]) -> KnownCalls:
        return cls(dict(state.get("names") or {}), tuple(state.get("counted") or ("", 0, 0)))

    def state(self) -> dict[str, Any]:
        return drop_empty(
            names=dict(self.names) or None, counted=list(self.counted) if self.counted[0] else None
        )

    def add(self, block: Block) -> None:
        if block.id and block.name:
            remember(self.names, block.id, block.name, _MAX_NAMES)

    def count_tokens(self, message: Message) -> tuple[int, int]:
        """Return a message's tokens, except those counted for its earlier lines."""
        if message.usage is None:
            return 0, 0
        read, written = message.usage.totals()
        known_id, known_read, known_written = self.counted
        self.counted = (message.id or "", read, written)
        if message.id and message.id == known_id:
            return max(0, read - known_read), max(0, written - known_written)
        return read, written


class Answer:
    """The consecutive lines of one answer of the model."""

    def __init__(self, session_id: str, line: Line, at: float) -> None:
        self.session_id = session_id
        self._id = line.message.id if line.message is not None else None
        self._at = at
        self._lines: list[Line] = []
        self.data: list[bytes] = []
        """The lines as they were read."""
        self._size = 0

    def continues(self, session_id: str, line: Line) -> bool:
        same = self._id is not None and line.message is not None and line.message.id == self._id
        return same and session_id == self.session_id and self._size < _LONGEST_ANSWER

    def add(self, line: Line, data: bytes) -> None:
        """Add a line, parsed and as it was read."""
        self._lines.append(line)
        self.data.append(data)
        self._size += len(data)

    def has_begun(self) -> bool:
        """True if it only has thoughts, and few enough to keep for the next import."""
        blocks = (
            block for line in self._lines if line.message for block in list_blocks(line.message.content)
        )
        return self._size < _LONGEST_HELD and all(block.type == "thinking" for block in blocks)

    def items(self, known: KnownCalls, usual_model: str | None) -> Iterator[Item]:
        read = written = 0
        for line in self._lines:
            message = line.message or Message()
            for block in list_blocks(message.content):
                if block.type == "tool_use":
                    known.add(block)
            more_read, more_written = known.count_tokens(message)
            read, written = read + more_read, written + more_written
        whole = self._join(0, usual_model)
        if whole is None:
            yield Skipped("empty messages")
        else:
            rest = (lambda first: self._join(first, usual_model)) if whole.also else None
            yield replace(whole, input_tokens=read, output_tokens=written, rest=rest)

    def _join(self, first: int, usual_model: str | None) -> ImportedMessage | None:
        """Return the message of the lines from one on; None if they are empty."""
        lines = self._lines[first:]
        texts: list[str] = []
        thoughts: list[str] = []
        calls: list[dict[str, Any]] = []
        for block in (block for line in lines for block in list_blocks((line.message or Message()).content)):
            if block.type == "tool_use":
                calls.append(make_call(block.id, block.name, bytes(block.input).decode("utf-8", "replace")))
            elif block.thinking:
                thoughts.append(block.thinking)
            elif block.text:
                texts.append(block.text)
        if not texts and not calls and not thoughts:
            return None
        model = clean_name(lines[0].message.model) if lines[0].message else None
        metadata = drop_empty(
            uuid=lines[0].uuid,
            message_id=self._id,
            model=model if model != usual_model else None,
            thinking="\n\n".join(thoughts),
        )
        fields = drop_empty(
            role="assistant",
            content="\n\n".join(texts),
            tool_calls=calls or None,
            timestamp=self._at,
            metadata=metadata or None,
        )
        key, *also = (line.make_key(self.session_id) for line in lines)
        return ImportedMessage(self.session_id, key, fields, tuple(also))


@dataclass(slots=True)
class UserContent:
    """The messages of one user line: the user's text, and tool results."""

    messages: list[dict[str, Any]] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)


def split_user_content(content: Content, known: KnownCalls) -> UserContent:
    """Return a user line's messages: results first, because the tools ran first."""
    spoken = UserContent()
    texts: list[str] = []
    images: list[dict[str, Any]] = []
    for block in list_blocks(content):
        if block.type == "tool_result":
            spoken.messages.append(_read_result(block, known, spoken))
        elif block.type in ("image", "document"):
            images.append(_describe_media(block))
            spoken.skipped[f"{block.type}s"] += 1
        elif block.text:
            texts.append(block.text)
    if texts or images:
        _add_user_text(texts, images, spoken)
    return spoken


def list_blocks(content: Content) -> Sequence[Block]:
    if content is None:
        return ()
    if isinstance(content, str):
        return (Block("text", content),)
    return [Block("text", block) if isinstance(block, str) else block for block in content]


def _add_user_text(texts: Sequence[str], images: list[dict[str, Any]], spoken: UserContent) -> None:
    apart = _split_texts(texts)
    tagged = dict(apart.injected)
    said = apart.text
    if "command-name" in tagged or "bash-input" in tagged:
        shell = f"! {tagged['bash-input']}" if "bash-input" in tagged else ""
        command = f"{tagged.get('command-name', '')} {tagged.get('command-args', '')}".strip()
        said = "\n".join(filter(None, (command, shell, said)))
    output = "\n".join(body for tag, body in apart.injected if tag in _SHELL and body)
    if output:
        spoken.messages.append({"role": "tool", "tool_name": "bash", "content": output})
    injected = [(tag, body) for tag, body in apart.injected if tag in _INJECTED or tag in _LETTERS]
    if not said and not images:
        if not output:
            spoken.skipped["injected context"] += 1
        return
    spoken.messages.append(
        drop_empty(
            role="user",
            content=[*([{"type": "text", "text": said}] if said else []), *images] if images else said,
            metadata=drop_empty(injected=describe_injected(injected)),
        )
    )


def _split_texts(texts: Sequence[str]) -> SplitText:
    """Separate injected blocks from the user's words."""
    if len(texts) == 1:
        return _split_text(texts[0], _FOREIGN)
    # A reminder in its own text ends with that text, even if it quotes a closing tag.
    found = [
        _split_text(text, (*_FOREIGN, {_REMINDER}) if _is_reminder(text) else _FOREIGN) for text in texts
    ]
    return SplitText(
        "\n\n".join(one.text for one in found if one.text),
        tuple(block for one in found for block in one.injected),
    )


def _split_text(text: str, foreign: Collection[Collection[str]]) -> SplitText:
    apart = split_injected(text, _USER_TAGS, foreign)
    return SplitText("", apart.injected) if _ANNOUNCED.match(text) else apart


def _is_reminder(text: str) -> bool:
    text = text.strip()
    return text.startswith(f"<{_REMINDER}>") and text.endswith(f"</{_REMINDER}>")


def _read_result(block: Block, known: KnownCalls, spoken: UserContent) -> dict[str, Any]:
    texts: list[str] = []
    for part in list_blocks(block.content):
        if part.text:
            texts.append(part.text)
        elif part.type == "image":
            spoken.skipped["images"] += 1
    # Fences identify results of the memory's own tools.
    apart = split_injected("\n".join(texts), _RESULT_TAGS, keep_recalled=True)
    name = known.names.pop(block.tool_use_id or "", None)
    return drop_empty(
        role="tool",
        content=apart.text or "[no output]",
        tool_name=clean_name(name),
        tool_call_id=clean_name(block.tool_use_id),
        metadata=drop_empty(is_error=block.is_error or None),
    )


def _describe_media(block: Block) -> dict[str, Any]:
    """Return the type and size of an image or document, which is not stored."""
    source = block.source if isinstance(block.source, dict) else {}
    data = source.get("data")
    return {"type": block.type} | drop_empty(
        media_type=clean_name(source.get("media_type")),
        # Base64 has four letters for three bytes.
        bytes=len(data) * 3 // 4 if isinstance(data, str) else None,
    )
