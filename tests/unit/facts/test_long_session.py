"""A session of three hundred turns in three scopes, checked after every turn."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import mnemos
from mnemos import Memory
from mnemos.facts.fact import Fact
from mnemos.facts.hot_set import CLOSE, OPEN
from mnemos.language.notation import parse
from mnemos.testing import FixedClock
from mnemos.text.tokens import count_tokens

TURNS = 300
SCOPES = ("auth", "billing", "search page")
WORDS = (
    "token session cookie refresh invoice currency ledger refund index ranking query facet cache queue "
    "worker retry timeout webhook tenant region bucket shard replica gateway proxy header schema column "
    "trigger"
).split()
MESSAGES = [
    "please go on",
    "what about {scope}?",
    "let us look at {scope} again",
    "{scope} is done",
    "merged",
    "not yet deployed",
    "is it fixed?",
    "and now something else",
    "日本語で続けてください",
]


class Story:
    """The events of a session; remembers every line that was ever written."""

    def __init__(self, memory: Memory, clock: FixedClock, seed: int) -> None:
        self.memory = memory
        self.facts = memory.facts
        self.clock = clock
        self.chance = random.Random(seed)
        self.said: dict[str, tuple[str, str, str]] = {}
        self.closed = 0
        self.reopened = 0
        self.left = 0
        self.pressed = 0
        self.scope = SCOPES[0]
        self.lines = 0

    def play(self, turn: int) -> None:
        self.clock.advance(self.chance.choice((5, 60, 900)))
        if turn % 25 == 0 or self.chance.random() < 0.03:
            self.scope = self.chance.choice(SCOPES)
        message = self.chance.choice(MESSAGES).format(scope=self.chance.choice(SCOPES))
        before = self.hot_constraints()
        ticked = self.facts.tick(turn, message)
        self.note(ticked.closed, ticked.reopened, ticked.left_hot, before)
        for _ in range(self.chance.choice((0, 1, 1, 2, 4))):
            self.write()
        if self.chance.random() < 0.3:
            self.facts.search(self.chance.choice(WORDS))

    def write(self) -> None:
        lines = [self.line() for _ in range(self.chance.choice((1, 1, 1, 3)))]
        scope = self.chance.choice((self.scope, self.scope, self.scope, None, *SCOPES))
        before = self.hot_constraints()
        written = self.facts.write("\n".join(lines), scope=scope, allow=True)
        for line, stored in zip(lines, written.facts, strict=True):
            (statement,) = parse(line)
            self.said[stored.id] = (str(statement.mark), statement.target, statement.content)
        self.note(written.closed, written.reopened, written.left_hot, before)

    def line(self) -> str:
        self.lines += 1
        mark = self.chance.choices("CDV?✓", (2, 4, 6, 2, 1))[0]
        target = f"{self.chance.choice(WORDS)}.{self.chance.choice(WORDS)}"
        if mark == "C":
            target = f"law{self.chance.randint(1, 12)}"
        content = " ".join(self.chance.choices(WORDS, k=self.chance.randint(1, 12)))
        return f"{mark}[{target}]: {content} item{self.lines}"

    def hot_constraints(self) -> dict[str, str | None]:
        return {fact.id: fact.scope for fact in self.facts.list(tier="hot", types=["C"])}

    def note(
        self,
        closed: tuple[str, ...],
        reopened: tuple[str, ...],
        left: tuple[Fact, ...],
        before: dict[str, str | None],
    ) -> None:
        """Constraints leave hot with their scope, or when they are replaced; never by pressure."""
        self.closed += len(closed)
        self.reopened += len(reopened)
        self.left += len(left)
        assert all(fact.type != "C" for fact in left)
        after = self.hot_constraints()
        for own, scope in before.items():
            if own not in after:
                fact = self.facts.get(own)
                assert scope in closed or fact.state != "live", fact
        assert set(closed).isdisjoint(reopened)


def check_block(story: Story) -> None:
    status = story.facts.status()
    self_again = story.facts.status()
    assert status == self_again
    assert count_tokens(status.text) == status.tokens <= 180
    assert status.gauge.used <= status.gauge.budget == 150
    lines = status.text.split("\n")
    assert (lines.count(OPEN), lines.count(CLOSE), lines[-1]) == (1, 1, CLOSE)
    printed = lines[lines.index(OPEN) + 2 : -1]
    left_out = 0
    if printed and printed[-1].startswith("and "):
        left_out = int(printed.pop().split()[1])
        story.pressed += 1
    hot = list(story.facts.list(tier="hot"))
    shown = "\n".join(printed)
    missing = [fact for fact in hot if fact.content not in shown]
    assert len(missing) == left_out
    # Only laws among laws that fill the budget are not printed: everything else left hot before.
    assert all(fact.type == "C" for fact in missing)
    if missing:
        assert all(fact.type == "C" for fact in hot)


def check_found(story: Story, ids: list[str]) -> None:
    """Every fact is found by its words while it is live, and is in the history of its target forever."""
    for own in ids:
        mark, target, content = story.said[own]
        history = {fact.id: fact for fact in story.facts.history(target)}
        assert (history[own].type, history[own].content) == (mark, content)
        if history[own].state == "live":
            (word,) = [word for word in content.split() if word.startswith("item")]
            assert [fact.id for fact in story.facts.search(word)] == [own]


@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(2, 12))]
)
def test_a_long_session_keeps_its_budget_its_laws_and_every_fact(
    home: Path, clock: FixedClock, seed: int
) -> None:
    with mnemos.open(home, clock=clock, embedder="none") as memory:
        story = Story(memory, clock, seed)
        for turn in range(1, TURNS + 1):
            known = len(story.said)
            story.play(turn)
            check_block(story)
            ids = list(story.said)
            check_found(story, [*ids[known:], *story.chance.sample(ids, min(3, len(ids)))])
        check_found(story, list(story.said))
        assert memory.facts.count() == sum(memory.facts.get(own).state == "live" for own in story.said)
        # Searches count from the next write on.
        memory.facts.flush()
        block = memory.facts.status().text
        # The story must have been one: scopes closed and opened, and the budget was too small.
        assert len(story.said) > 250
        assert story.closed > 20
        assert story.reopened > 10
        assert story.left > 50
        assert story.pressed > 5
    with mnemos.open(home, clock=clock, embedder="none") as again:
        assert again.facts.status().text == block
        everything = {fact.id for fact in again.facts.list(states=("live", "superseded", "retired"))}
        assert everything == set(story.said)
    exported = [str(parse(line)[0]) for line in block.split("\n") if line.startswith("C[law")]
    assert exported
