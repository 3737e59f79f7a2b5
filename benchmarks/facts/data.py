"""The written facts and the questions about them, as the text files next to this one hold them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
KEPT_BACK = "kept-back.tsv"
LANGUAGES = ("en", "de", "fr", "es")
_FACT = re.compile(r"(?P<type>[CDV?✓~])\[(?P<target>[^\]]+)\]: (?P<content>.+)")

# The smallest words of a question in the four languages, for a search that wants every word it is
# given. Its user would leave these out, and would have to know that.
SMALL_WORDS = frozenset(
    """
    a about after all am an and any anything are as at be because been before by can could did do
    does for from get give had has have how i if in into is it its kind like made make many may me
    must my no not of on one or our out should so some someone something that the their them then
    there they this to too up us use used using very was we were what when where which who whom why
    will with would you your
    am an auf aus bekomme bis dem den der des die das darf ein eine einer haben hat ich im in ist
    kann können man muss sein soll statt und unser unsere viel viele von vom wann war warum was
    welche welchem welchen welcher welches wer werden wie wir wird wo zu zum zur
    a au aux avec ce combien comment dans de des du elle elles en est et faire fait il ils la le les
    nous on ou où par pour peut pourquoi quand que quel quelle quels quelles qui sera seront sont
    sur un une va y
    al como con cuál cuándo cuánto cuántos de del dónde el ella en es está están hay la las le lo
    los más nos o para por puede que qué quién se ser si son su sus tiene un una y
    """.split()
)


@dataclass(frozen=True, slots=True)
class Statement:
    """One line of the store. ``scope`` is empty for what belongs to no unit of work."""

    type: str
    target: str
    content: str
    scope: str

    @property
    def line(self) -> str:
        return f"{self.type}[{self.target}]: {self.content}"

    @property
    def key(self) -> str:
        return f"{self.type}[{self.target}]"


@dataclass(frozen=True, slots=True)
class Question:
    language: str
    text: str
    # The current value of each key that answers it.
    answers: tuple[Statement, ...]


def statements() -> list[Statement]:
    """All statements in the order in which they were made."""
    made = []
    scope = ""
    for line in _lines("store.txt"):
        if line.startswith("scope:"):
            scope = line.partition(":")[2].strip()
            continue
        fact = _FACT.fullmatch(line)
        if fact is None:
            raise ValueError(f"store.txt: {line!r} is no fact; write TYPE[target]: content")
        made.append(Statement(fact["type"], fact["target"], fact["content"], scope))
    return made


def holding(made: Sequence[Statement]) -> dict[tuple[str, str], Statement]:
    """By scope and key, the last statement."""
    return {(one.scope, one.key): one for one in made}


def questions(made: Sequence[Statement], file: str = "questions.tsv") -> list[Question]:
    current = list(holding(made).values())
    asked = []
    for line in _lines(file):
        language, text, keys = line.split("\t")
        answers = tuple(_find(key, current, file) for key in keys.split(";"))
        asked.append(Question(language, text, answers))
    return asked


def without_small_words(question: str) -> str:
    """The telling words of a question, without punctuation; the question if none is telling."""
    words = re.findall(r"[^\W_]+(?:[-'][^\W_]+)*", question)
    telling = [word for word in words if word.lower() not in SMALL_WORDS]
    return " ".join(telling or words)


def _find(wanted: str, current: Sequence[Statement], file: str) -> Statement:
    found = [one for one in current if wanted in (one.key, f"{one.scope}/{one.key}")]
    if len(found) != 1:
        raise ValueError(f"{file}: {wanted} names {len(found)} statements; it must name one")
    return found[0]


def _lines(name: str) -> Iterator[str]:
    for line in (FOLDER / name).read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            yield line.strip()
