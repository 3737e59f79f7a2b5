"""The greeting of ``mnemos`` without a command."""

from __future__ import annotations

import os
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import click

from mnemos import __version__
from mnemos.faces.cli.output import in_json, plain
from mnemos.operations.texts import plural
from mnemos.recall.embedding import describe_search
from mnemos.transfer import agent_places

if TYPE_CHECKING:
    from mnemos.faces.cli.commands import Chosen
    from mnemos.memory import Memory

_FIRST_STEPS = {
    "mnemos import": "import conversations from Claude Code, ChatGPT and others",
    "mnemos connect": "let the agents on this machine use it",
    "mnemos demo": "try it with a temporary home",
}
_NEXT_STEPS = {
    "mnemos recall QUESTION": "find what was said, decided or noted",
    "mnemos sessions list": "list the newest conversations",
    "mnemos doctor": "check that everything is in order",
}
_UNRECORDED = "        `mnemos watch install` records those that are not recorded yet."
# Recall embeds up to this many messages itself.
_FEW = 100


@dataclass(frozen=True, slots=True)
class AgentInfo:
    """An agent program: if it is connected, how it is recorded, when it was seen."""

    program: str
    title: str
    connected: bool
    how: str
    last_seen: float | None
    can_be: bool

    def as_text(self) -> str:
        how = {
            "hooks": "recorded by hooks",
            "untrusted": "not recorded until you trust its hooks (/hooks)",
            "plug-in": "recorded by the plug-in",
            "watch": "recorded by the watch",
        }
        said = [how.get(self.how, "not recorded" if self.can_be else "stores only what its model saves")]
        if self.connected:
            said.insert(0, "connected")
        if self.last_seen:
            said.append(f"last seen {time.strftime('%Y-%m-%d %H:%M', time.localtime(self.last_seen))}")
        return f"agent   {self.title}: {', '.join(said)}"


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
    agents: list[AgentInfo]

    def as_text(self) -> str:
        counts = {"session": self.sessions, "message": self.messages, "fact": self.facts}
        holds = ", ".join(plural(number, thing) for thing, number in counts.items())
        width = max(map(len, self.next))
        steps = [f"  {command:{width}}  {what}" for command, what in self.next.items()]
        return "\n".join(
            [
                f"Mnemos {self.version}: memory for LLM agents\n",
                f"home    {self.home}",
                f"space   {self.space}",
                f"memory  {'empty: nothing has been recorded yet' if self.next is _FIRST_STEPS else holds}",
                *([f"search  {self.search}"] if self.search else []),
                *(agent.as_text() for agent in self.agents),
                *([_UNRECORDED] if any(not one.how and one.can_be for one in self.agents) else []),
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
        return Greeting(__version__, home, space, 0, 0, 0, "", _FIRST_STEPS, list_agents(memory))
    counts = (
        memory.sessions.session_count(archived=None), memory.sessions.message_count(), memory.facts.count()
    )  # fmt: skip
    agents = list_agents(memory)
    return Greeting(__version__, home, space, *counts, _describe_search(memory), _NEXT_STEPS, agents)


def list_agents(memory: Memory) -> list[AgentInfo]:
    """List the agent programs on this machine, and how each is recorded."""
    # Imported here, because it loads readers and settings of many programs.
    from mnemos.integrations.watch.recorders import list_recordings
    from mnemos.transfer.reader import load_reader

    titles = {kind: load_reader(kind).title for kind in agent_places.KINDS}
    return [AgentInfo(**asdict(one)) for one in list_recordings(memory, os.environ, titles)]


def _describe_search(memory: Memory) -> str:
    coverage = memory.embedding.peek()
    if coverage is None:
        return describe_search(None)
    is_close = coverage.total - coverage.done <= _FEW
    return describe_search(1.0 if is_close else coverage.share)
