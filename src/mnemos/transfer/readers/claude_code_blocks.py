"""The blocks that messages of Claude Code consist of, and what they say."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Final

import msgspec

from mnemos.transfer.foreign_files import call, count, filled, short
from mnemos.transfer.reader import Item, Left, Said
from mnemos.transfer.readers.injected_text import Parted, about, parted

# What Claude Code, its hooks and its editors put between tags into what a user says.
_INJECTED: Final = frozenset(
    {
        "system-reminder", "local-command-caveat", "local-command-stdout", "local-command-stderr",
        "user-prompt-submit-hook", "session-start-hook", "post-tool-use-hook", "ide_opened_file",
        "ide_selection", "ide_diagnostics", "new-diagnostics", "task-notification", "background-task",
        "command-contents", "fork-boilerplate", "command-message",
    }
)  # fmt: skip
# Around what teammates, other sessions and channels sent: a channel is any tag that says its source.
_LETTERS: Final = ("teammate-message", "cross-session-message", "agent-message", "channel")
_LETTER_TAGS: Final = frozenset({*_LETTERS[:-1], "channel source"})
# How Claude Code announces one; what it says after it is its own, too.
_ANNOUNCED: Final = re.compile(
    rf"\s*[A-Z][\w ]{{0,60}} sent a message(?: [\w ]{{1,40}})?:\s*<(?:{'|'.join(_LETTERS)})\s"
)
# Of a line or of what was queued: who said it, where the program tells that it was not the user.
_OTHERS: Final = frozenset(
    {"channel", "peer", "peer-send-message", "coordinator", "task-notification", "auto-continuation"}
)
_COMMANDS: Final = frozenset({"command-name", "command-args", "bash-input"})
_SHELL: Final = frozenset({"bash-stdout", "bash-stderr"})
# Around what others wrote: commands, files that are open in an editor, other agents.
_FOREIGN: Final = (
    _SHELL,
    frozenset({"local-command-stdout", "local-command-stderr"}),
    *(
        frozenset({tag})
        for tag in (
            "ide_selection",
            "ide_diagnostics",
            "new-diagnostics",
            "task-notification",
            "command-contents",
            *_LETTERS,
        )
    ),
)
_REMINDER: Final = "system-reminder"
_USER_TAGS: Final = _INJECTED | _LETTER_TAGS | _COMMANDS | _SHELL
_RESULT_TAGS: Final = frozenset({"system-reminder"})
_MOST_NAMES: Final = 200
_MOST_LEAVES: Final = 200
_MOST_CHAINED: Final = 20_000


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
        """What was read, cached or not, and what was written."""
        cached = count(self.cache_creation_input_tokens) + count(self.cache_read_input_tokens)
        return count(self.input_tokens) + cached, count(self.output_tokens)


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
    """What matters of a line; the names are those of Claude Code."""

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

    def key_in(self, session_id: str) -> str:
        """What the line is called: where it has no name, by its time and by what it says."""
        if self.uuid:
            return self.uuid
        said = blake2b(msgspec.json.encode(self.message or self.attachment), digest_size=8).hexdigest()
        return f"{session_id}@{self.timestamp}@{said}"

    def is_put_in(self) -> bool:
        """Whether the program says that no user said it: another agent, a channel, the program itself."""
        told = self.origin or (self.attachment.origin if self.attachment is not None else None)
        kind = told.get("kind") if isinstance(told, dict) else None
        is_of_others = isinstance(kind, str) and kind in _OTHERS
        return bool(self.isMeta or self.isCompactSummary or is_of_others)

    def queued(self) -> Content:
        """What a user typed while the agent was at work."""
        if self.attachment is None or self.attachment.type != "queued_command":
            return None
        try:
            typed: Content = msgspec.convert(self.attachment.prompt, Content)
        except msgspec.ValidationError:
            return None
        return typed


class Chains:
    """Which sub-agent a line belongs to: as it says itself, or by the line that it follows."""

    def __init__(self, state: Any) -> None:
        self._agents: dict[str, str] = dict(state) if isinstance(state, dict) else {}

    def agent_of(self, line: Line) -> str | None:
        if line.agentId:
            return line.agentId
        if not line.isSidechain or not line.uuid:
            return None
        agent = self._agents.get(line.parentUuid or "") or line.uuid
        self._agents[line.uuid] = agent
        while len(self._agents) > _MOST_CHAINED:
            del self._agents[next(iter(self._agents))]
        return agent

    def state(self) -> dict[str, str]:
        """The last lines: those that the next may follow."""
        return dict(list(self._agents.items())[-_MOST_LEAVES:])


@dataclass(slots=True)
class Told:
    """What results and later lines refer to: names of tools that were called, and tokens already counted."""

    names: dict[str, str] = field(default_factory=dict)
    counted: tuple[str, int, int] = ("", 0, 0)

    @classmethod
    def of(cls, state: dict[str, Any]) -> Told:
        return cls(dict(state.get("names") or {}), tuple(state.get("counted") or ("", 0, 0)))

    def state(self) -> dict[str, Any]:
        return filled(names=dict(self.names) or None, counted=list(self.counted) if self.counted[0] else None)

    def called(self, block: Block) -> None:
        if block.id and block.name:
            self.names[block.id] = block.name
            while len(self.names) > _MOST_NAMES:
                del self.names[next(iter(self.names))]

    def tokens(self, message: Message) -> tuple[int, int]:
        """What a message used, without what earlier lines of the same said already."""
        if message.usage is None:
            return 0, 0
        read, written = message.usage.totals()
        known_id, known_read, known_written = self.counted
        self.counted = (message.id or "", read, written)
        if message.id and message.id == known_id:
            return max(0, read - known_read), max(0, written - known_written)
        return read, written


class Answer:
    """The lines of one answer of the model, which follow each other."""

    def __init__(self, session_id: str, line: Line, at: float) -> None:
        self.session_id = session_id
        self._id = line.message.id if line.message is not None else None
        self._at = at
        self._lines: list[Line] = []

    def goes_on(self, session_id: str, line: Line) -> bool:
        same = self._id is not None and line.message is not None and line.message.id == self._id
        return same and session_id == self.session_id

    def add(self, line: Line) -> None:
        self._lines.append(line)

    def items(self, told: Told, usual_model: str | None) -> Iterator[Item]:
        texts: list[str] = []
        thoughts: list[str] = []
        calls: list[dict[str, Any]] = []
        read = written = 0
        for line in self._lines:
            message = line.message or Message()
            for block in blocks_of(message.content):
                if block.type == "tool_use":
                    told.called(block)
                    calls.append(call(block.id, block.name, bytes(block.input).decode("utf-8", "replace")))
                elif block.thinking:
                    thoughts.append(block.thinking)
                elif block.text:
                    texts.append(block.text)
            more_read, more_written = told.tokens(message)
            read, written = read + more_read, written + more_written
        if not texts and not calls and not thoughts:
            yield Left("empty messages")
            return
        uuids = [line.key_in(self.session_id) for line in self._lines]
        model = short(self._lines[0].message.model) if self._lines[0].message else None
        metadata = filled(
            uuid=self._lines[0].uuid,
            message_id=self._id,
            model=model if model != usual_model else None,
            thinking="\n\n".join(thoughts),
        )
        yield Said(
            self.session_id,
            uuids[0],
            filled(
                role="assistant",
                content="\n\n".join(texts),
                tool_calls=calls or None,
                timestamp=self._at,
                metadata=metadata or None,
            ),
            tuple(uuids[1:]),
            read,
            written,
        )


@dataclass(slots=True)
class Spoken:
    """The messages in one line of a user: what was said, and results of tools."""

    messages: list[dict[str, Any]] = field(default_factory=list)
    left: dict[str, int] = field(default_factory=dict)

    def leave(self, what: str) -> None:
        self.left[what] = self.left.get(what, 0) + 1


def text_and_results(content: Content, told: Told) -> Spoken:
    """Results first, as the tools ran before the user spoke."""
    spoken = Spoken()
    texts: list[str] = []
    images: list[dict[str, Any]] = []
    for block in blocks_of(content):
        if block.type == "tool_result":
            spoken.messages.append(_result(block, told, spoken))
        elif block.type in ("image", "document"):
            images.append(_picture(block))
            spoken.leave(f"{block.type}s")
        elif block.text:
            texts.append(block.text)
    if texts or images:
        _say(texts, images, spoken)
    return spoken


def blocks_of(content: Content) -> Sequence[Block]:
    if content is None:
        return ()
    if isinstance(content, str):
        return (Block("text", content),)
    return [Block("text", block) if isinstance(block, str) else block for block in content]


def _say(texts: Sequence[str], images: list[dict[str, Any]], spoken: Spoken) -> None:
    apart = _apart(texts)
    tagged = dict(apart.injected)
    said = apart.said
    if "command-name" in tagged or "bash-input" in tagged:
        shell = f"! {tagged['bash-input']}" if "bash-input" in tagged else ""
        command = f"{tagged.get('command-name', '')} {tagged.get('command-args', '')}".strip()
        said = "\n".join(filter(None, (command, shell, said)))
    output = "\n".join(body for tag, body in apart.injected if tag in _SHELL and body)
    if output:
        spoken.messages.append({"role": "tool", "tool_name": "bash", "content": output})
    put_in = [(tag, body) for tag, body in apart.injected if tag in _INJECTED or tag in _LETTERS]
    if not said and not images:
        if not output:
            spoken.leave("injected context")
        return
    spoken.messages.append(
        filled(
            role="user",
            content=[*([{"type": "text", "text": said}] if said else []), *images] if images else said,
            metadata=filled(injected=about(put_in)),
        )
    )


def _apart(texts: Sequence[str]) -> Parted:
    """What was said in some blocks of text, and what was put in."""
    if len(texts) == 1:
        return _parted(texts[0], _FOREIGN)
    # A reminder that has a block of its own ends where the block does, whatever a file that it quotes says.
    found = [_parted(text, (*_FOREIGN, {_REMINDER}) if _is_reminder(text) else _FOREIGN) for text in texts]
    return Parted(
        "\n\n".join(one.said for one in found if one.said),
        tuple(block for one in found for block in one.injected),
    )


def _parted(text: str, foreign: Collection[Collection[str]]) -> Parted:
    apart = parted(text, _USER_TAGS, foreign)
    return Parted("", apart.injected) if _ANNOUNCED.match(text) else apart


def _is_reminder(text: str) -> bool:
    text = text.strip()
    return text.startswith(f"<{_REMINDER}>") and text.endswith(f"</{_REMINDER}>")


def _result(block: Block, told: Told, spoken: Spoken) -> dict[str, Any]:
    texts: list[str] = []
    for part in blocks_of(block.content):
        if part.text:
            texts.append(part.text)
        elif part.type == "image":
            spoken.leave("images")
    apart = parted("\n".join(texts), _RESULT_TAGS)
    name = told.names.pop(block.tool_use_id or "", None)
    return filled(
        role="tool",
        content=apart.said or "[no output]",
        tool_name=short(name),
        tool_call_id=short(block.tool_use_id),
        metadata=filled(is_error=block.is_error or None),
    )


def _picture(block: Block) -> dict[str, Any]:
    """What is kept of an image or a document: that there was one, of which type and how large."""
    source = block.source if isinstance(block.source, dict) else {}
    data = source.get("data")
    return {"type": block.type} | filled(
        media_type=short(source.get("media_type")),
        # Three bytes are four letters.
        bytes=len(data) * 3 // 4 if isinstance(data, str) else None,
    )
