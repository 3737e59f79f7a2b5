"""The part of recall's result that explains how the answer was found."""

from __future__ import annotations

from collections.abc import Iterator

from mnemos.operations.base import Info
from mnemos.operations.texts import render_time


class ScorePartInfo(Info, frozen=True, kw_only=True):
    """A reason for or against a passage: ``value`` times ``weight`` is what it adds to the score."""

    name: str
    group: str
    label: str
    value: float
    weight: float
    points: float
    sentence: str


class HitExplained(Info, frozen=True, kw_only=True):
    """The parts that add up to the score of a hit, and what became of it in the packed text."""

    parts: list[ScorePartInfo]
    packed: str
    """``whole``, ``cut``, ``doubled`` or ``left out``."""
    same_as: str | None
    """The hit that is shown in the place of a doubled one."""

    def render(self, score: float) -> str:
        parts = " ".join(f"{part.points:+.2f} {part.label}" for part in self.parts)
        return f"{score:.2f} = {parts}" + (f" ({self.packed})" if self.packed != "whole" else "")


class UnderstoodInfo(Info, frozen=True, kw_only=True):
    """A question as it was understood."""

    words: list[str]
    """Those that count most first."""
    shares: list[float]
    """The share of the question that each word counts."""
    passages: list[int]
    """The number of passages that have each word."""
    speakers: list[str]
    codes: list[str]
    asks_for: list[str]
    since: float | None
    until: float | None

    def render(self) -> str:
        said = [", ".join(self.words) or "no words to look for"]
        said += [f"names {', '.join(self.speakers)}"] if self.speakers else []
        said += [f"asks for {', '.join(self.asks_for)}"] if self.asks_for else []
        if self.since is not None and self.until is not None:
            said.append(f"from {render_time(self.since)} to {render_time(self.until)}")
        return f"Understood: {'; '.join(said)}."


class StageCountInfo(Info, frozen=True, kw_only=True):
    """The number of passages that each stage left."""

    by_words: int
    by_vectors: int
    by_time: int
    too_many: int
    """Proposals that were not read."""
    read: int
    """Proposals and their neighbours."""
    judged: int
    ranked: int
    shown: int
    packed: int
    cut: int
    doubled: int

    def render(self) -> str:
        return (
            f"Proposed: {self.by_words:,} by words, {self.by_vectors:,} by vectors, {self.by_time:,} by time"
            f"; {self.too_many:,} too many. Read with neighbours: {self.read:,}. Judged: {self.judged:,}. "
            f"Ranked: {self.ranked:,}. Shown: {self.shown:,}. Packed: {self.packed:,} ({self.cut:,} cut, "
            f"{self.doubled:,} doubled)."
        )


class ProbeInfo(Info, frozen=True, kw_only=True):
    """The stage that a passage reached."""

    ref: str
    stage: str
    sentence: str
    rank: int | None
    score: float | None
    parts: list[ScorePartInfo]


class RecallExplained(Info, frozen=True, kw_only=True):
    """An account of the question: how it was understood, what each stage did and how long it took."""

    understood: UnderstoodInfo
    counts: StageCountInfo
    tokens: int
    """Of the packed text."""
    milliseconds: dict[str, float]
    """By stage, in their order."""
    probed: ProbeInfo | None

    def render(self) -> Iterator[str]:
        yield self.understood.render()
        yield self.counts.render()
        stages = ", ".join(f"{stage} {spent:.1f}" for stage, spent in self.milliseconds.items())
        yield f"{sum(self.milliseconds.values()):.1f} ms: {stages}."
        if self.probed is not None:
            yield f"{self.probed.ref}: {self.probed.sentence}"
