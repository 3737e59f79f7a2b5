"""The greeting of ``mnemos`` without a command."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import click

from mnemos import __version__
from mnemos.faces.cli.output import in_json, plain
from mnemos.recall.embedding import describe_search

if TYPE_CHECKING:
    from mnemos.faces.cli.commands import Chosen
    from mnemos.memory import Memory

_FIRST_STEPS = {
    "mnemos import": "import the conversations of Claude Code, Codex, ChatGPT and others",
    "mnemos connect": "let the agents on this machine use it",
    "mnemos demo": "try it with a temporary home",
}
_NEXT_STEPS = {
    "mnemos recall QUESTION": "find what was said, decided or noted",
    "mnemos sessions list": "the newest conversations",
    "mnemos doctor": "check that all is well",
}
# A question embeds that many messages by itself.
_FEW = 100


@dataclass(frozen=True, slots=True)
class Greeting:
    """The home, its contents, and three useful commands."""

    version: str
    home: str
    space: str
    sessions: int
    messages: int
    facts: int
    search: str
    next: dict[str, str]

    def as_text(self) -> str:
        holds = f"{self.sessions:,} sessions, {self.messages:,} messages, {self.facts:,} facts"
        steps = [f"  {command:34} {what}" for command, what in self.next.items()]
        return "\n".join(
            [
                f"Mnemos {self.version}: the memory of an LLM agent.\n",
                f"home    {self.home}",
                f"space   {self.space}",
                f"memory  {'empty: nothing has been recorded yet' if self.next is _FIRST_STEPS else holds}",
                *([f"search  {self.search}"] if self.search else []),
                "",
                "Next:",
                *steps,
            ]
        )


def greet(chosen: Chosen) -> None:
    with chosen.memory() as memory:
        greeting = _greeting(memory)
    if chosen.json:
        click.echo(in_json(asdict(greeting) | {"next": list(greeting.next)}))
    else:
        click.echo(plain(greeting.as_text()))


def _greeting(memory: Memory) -> Greeting:
    home, space = memory.home.location, memory.settings.space
    if not memory.home.exists:
        return Greeting(__version__, home, space, 0, 0, 0, "", _FIRST_STEPS)
    sessions = memory.sessions.session_count(archived=None)
    messages, facts = memory.sessions.message_count(), memory.facts.count()
    return Greeting(
        __version__, home, space, sessions, messages, facts, _describe_search(memory), _NEXT_STEPS
    )


def _describe_search(memory: Memory) -> str:
    coverage = memory.embedding.peek()
    if coverage is None:
        return describe_search(None)
    is_close = coverage.total - coverage.done <= _FEW
    return describe_search(1.0 if is_close else coverage.share)
