"""Letting other programs use a memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta

from mnemos.errors import InvalidInput, NotFound
from mnemos.integrations.hermes import place, plugin
from mnemos.operations.base import Operation, Progress, Result, Traits

if TYPE_CHECKING:
    from pathlib import Path

    from mnemos.memory import Memory


class ConnectHermes(Operation, frozen=True, kw_only=True):
    """Let a Hermes Agent use this memory. Writes a plug-in into its home and chooses it there, unless another
    provider is chosen; says what it changes. What Hermes knows already is brought in when it starts next."""

    traits: ClassVar[Traits] = Traits(
        title="Connect Hermes Agent", idempotent=True, local=True, begins=True, example=("--print",)
    )

    hermes_home: Annotated[
        str | None, Meta(description="The home of Hermes; default $HERMES_HOME or ~/.hermes")
    ] = None
    undo: Annotated[bool, Meta(description="Take the connection away; the memory stays")] = False
    print: Annotated[bool, Meta(description="Only show what would be written")] = False

    def writes(self) -> bool:
        return not self.print

    def run(self, memory: Memory, progress: Progress) -> HermesConnected:  # noqa: ARG002
        hermes = self._hermes()
        settings = memory.settings
        own = place.Place(settings.home, settings.space)
        if own.space == place.DEFAULT_SPACE:
            own = place.Place(own.home, place.profile(hermes) or own.space)
        steps = plugin.disconnecting(hermes) if self.undo else plugin.connecting(hermes, own)
        if not self.print:
            plugin.take(steps)
        return HermesConnected(
            hermes_home=str(hermes),
            home=str(own.home),
            space=own.space,
            connected=plugin.is_there(hermes),
            changes=[step.says for step in steps],
            done=not self.print,
            files={str(step.path): step.text for step in steps if step.text is not None}
            if self.print
            else {},
            remarks=[] if self.undo else plugin.remarks(hermes),
        )

    def _hermes(self) -> Path:
        if self.hermes_home is not None and (not self.hermes_home.strip() or "\0" in self.hermes_home):
            raise InvalidInput(f"hermes_home is {self.hermes_home!r}; use the name of a folder")
        hermes = place.hermes_home(self.hermes_home)
        if not hermes.is_dir():
            raise NotFound(
                f"there is no Hermes in {hermes}; run it once, or name its home with --hermes-home"
            )
        return hermes


class HermesConnected(Result, frozen=True, kw_only=True):
    hermes_home: str
    home: str
    space: str
    connected: bool
    changes: list[str]
    done: bool
    files: dict[str, str]
    remarks: list[str]

    def as_text(self) -> str:
        if not self.done:
            shown = [f"--- {path}\n{text}" for path, text in self.files.items()]
            return (
                "\n".join([*(f"would {change}" for change in self.changes), *shown]) or "Nothing to change."
            )
        is_new = "Connected" if self.changes else "Connected already"
        head = (
            f"{is_new}: the Hermes in {self.hermes_home} uses the memory in {self.home}, space {self.space}."
            if self.connected
            else f"The Hermes in {self.hermes_home} is not connected. The memory in {self.home} stays."
        )
        return "\n".join([head, *(f"  {change}" for change in self.changes), *self._next()])

    def _next(self) -> list[str]:
        if not self.connected:
            return []
        return [
            *self.remarks,
            "Start a new session of Hermes, and restart its gateway; `hermes memory status` shows it.",
        ]
