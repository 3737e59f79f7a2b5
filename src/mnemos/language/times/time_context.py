"""The context of an expression of time: the words before it, its tense, its language."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from mnemos.language.times.stretches import Lean, Stretch

# The reach of the context in characters; a verb further away belongs to another clause.
_WORDS_REACH: Final = 40
_BEFORE_REACH: Final = 100
_AFTER_REACH: Final = 60
_LANGUAGE_REACH: Final = 200
_JOINT_REACH: Final = 16
_MONTH: Final = timedelta(days=28)

# Verbs and similar words that show the tense of a sentence.
_FUTURE: Final = frozenset(
    "will won't shall gonna going plan plans planning upcoming scheduled forward can't cannot hope hoping"
    " want wants thinking considering need needs due deadline let's should leaving soon tomorrow"
    " werde wirst wird werden werdet möchte will wollen vais vas va allons allez vont voy vamos".split()
)
_PAST: Final = frozenset(
    "was wasn't were weren't had did didn't went got made took saw came bought met gave told said found left"
    " began won lost ran ate wrote spent felt kept held heard brought thought sent built drove flew rode sold"
    " taught caught became broke chose grew led paid spoke swam threw wore born"
    " war waren hatte hatten habe haben ging gingen était étions ai avons avez suis sommes fue fui fuimos"
    " estuve estuvimos hice hicimos hemos".split()
)
# Words in -ed that are not past.
_NO_VERB: Final = frozenset("need feed speed seed indeed hundred sacred excited naked".split())
_PRESENT: Final = frozenset("am is are i'm we're you're they're he's she's it's".split())
_PRONOUNS: Final = frozenset("i we you he she they it who finally just also".split())
_SIGNS: Final = "\"'“”‘’()[],:*_"
_SENTENCE_END: Final = tuple(".!?;")

_JOINT: Final = re.compile(
    r"(?:\s?[,/–-]\s?|,?\s(?:and|or|to|through|until|till|und|oder|bis|et|ou|à|y|o|a|hasta)\s)(?:the\s)?"
)

_FRENCH: Final = re.compile(
    r"\b(?:je|nous|vous|il|elle|le|la|les|des|du|au|une|est|était|avec|pour|dans|que|qui|ai|à|et|sur|soir|matin)\b"
)
_GERMAN: Final = re.compile(
    r"\b(?:ich|wir|ihr|er|sie|es|der|die|das|den|dem|ein|eine|ist|sind|war|und|nicht|mit|für|von|zu|auf|wo|gibt|bin)\b"
)
_ENGLISH: Final = re.compile(
    r"\b(?:the|and|of|to|i|was|is|in|my|on|it|for|at|we|you|by|from|due|with|that|this|have|are|be|what|did)\b"
)
_SPANISH: Final = re.compile(r"\b(?:el|los|las|y|que|con|por|para|fue|del|una|es|está|nos|se|mi)\b")


@dataclass(frozen=True, slots=True)
class Found:
    """A stretch and the place of its words; ``dated`` if they name the year."""

    stretch: Stretch
    start: int
    end: int
    dated: bool = False


@dataclass(slots=True)
class Reading:
    """A text whose times are being read. It begins with a blank, so that every word has a sign before it.

    ``lean`` is the tense of the whole text; None leaves it to the words around each expression. ``previous``
    is the last time that was read, from which "two days later" counts. ``led_to`` is a place where a time is
    expected, after "the end of" or "two weeks before".
    """

    text: str
    lower: str
    now: datetime
    lean: Lean | None = None
    previous: Stretch | None = None
    previous_end: int = -1
    led_to: int = -1

    def before(self, place: int) -> list[str]:
        """Return the words before a place, the nearest first, without signs around them."""
        start = max(0, place - _WORDS_REACH)
        words = self.lower[start:place].split()
        # The slice may have cut the first word.
        if start and words and not self.lower[start - 1].isspace():
            del words[0]
        return [word.strip(_SIGNS) for word in reversed(words)]

    def is_capital(self, place: int) -> bool:
        return self.text[place].isupper()

    def follows_a_time(self, place: int) -> bool:
        """True if a time is expected here, or ends right before with at most an *and* between."""
        if place == self.led_to:
            return True
        if self.previous is None or not 0 < place - self.previous_end < _JOINT_REACH:
            return False
        # "Yesterday, May called" names a day and a friend.
        is_long = self.previous.end - self.previous.start >= _MONTH
        return is_long and _JOINT.fullmatch(self.lower, self.previous_end, place) is not None

    def tense(self, start: int, end: int) -> Lean:
        """Return the tense of the sentence around an expression."""
        if self.lean is not None:
            return self.lean
        before = self.lower[max(0, start - _BEFORE_REACH) : start].split()
        after = self.lower[end : end + _AFTER_REACH].split()
        return _tense_before(before) or _tense_after(after) or Lean.NEAR

    def is_french(self) -> bool:
        """True if *hier* means yesterday and not the German *here*."""
        return len(_FRENCH.findall(self._first_words())) >= len(_GERMAN.findall(self._first_words()))

    def puts_the_day_first(self) -> bool:
        """True if 5/7 is a day of July, as in languages other than English."""
        beginning = self._first_words()
        foreign = max(len(known.findall(beginning)) for known in (_FRENCH, _GERMAN, _SPANISH))
        return foreign > len(_ENGLISH.findall(beginning))

    def _first_words(self) -> str:
        return self.lower[:_LANGUAGE_REACH]


def _tense_before(words: list[str]) -> Lean | None:
    """Return the tense of the last verb that shows one in the current sentence."""
    progressive = False
    for word in reversed(words):
        if word.endswith(_SENTENCE_END):
            return None
        verb = word.strip(_SIGNS)
        if verb in _FUTURE or verb.endswith("'ll") or (progressive and verb in _PRESENT):
            return Lean.FUTURE
        if verb in _PAST or _is_past_form(verb):
            return Lean.PAST
        progressive = verb.endswith("ing")
    return None


def _tense_after(words: list[str]) -> Lean | None:
    """Return the tense of the first verb that shows one before the sentence ends."""
    subject = present = False
    for word in words:
        verb = word.strip(_SIGNS).rstrip(".!?;")
        if verb in _FUTURE or verb.endswith("'ll") or (present and verb.endswith("ing")):
            return Lean.FUTURE
        # Without a subject, "haunted" is an adjective.
        if verb in _PAST or (subject and _is_past_form(verb)):
            return Lean.PAST
        if word.endswith(_SENTENCE_END):
            return None
        subject, present = verb in _PRONOUNS, verb in _PRESENT
    return None


def _is_past_form(word: str) -> bool:
    return word.endswith("ed") and len(word) > 3 and word not in _NO_VERB
