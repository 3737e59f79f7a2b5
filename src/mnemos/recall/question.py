"""Understanding a question: its words, what kind of answer it asks for, whom and which time it is about."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import tzinfo

from mnemos.text import times
from mnemos.text.query import MAX_CHARACTERS, MAX_CLAUSES, Clause, Term
from mnemos.text.stopwords import STOP_WORDS
from mnemos.text.words import Run, is_unspaced, runs, stem

# Words that questions are made of. They tell little about the answer.
_GENERIC = frozenset(
    stem(word)
    for word in """
    kind type sort many much name call happen thing stuff way time day date year month week recent recently
    current currently previously mention discuss talk tell say ask know remember remind give get go
    make take use think want like favorite different various several first last new old person people
    conversation chat session would could might long often
    """.split()
)
_GENERIC_WEIGHT = 0.3
# What a part of an identifier counts beside the whole.
_PART_WEIGHT = 0.4

_NUMBER = re.compile(
    r"\b(?:how (?:many|much|old|long|far|often|big|tall|fast|heavy)"
    r"|what (?:percentage|number|amount|age|price)"
    r"|total (?:number|amount|cost|distance)|percentage|which (?:port|version)|what (?:port|version)"
    r"|wie ?viele?|combien|cuánt[oa]s?)\b",
    re.IGNORECASE,
)
_NAME = re.compile(
    r"\b(?:who|whose|whom|where|wer|wessen|wo|qui|où|quién|dónde)\b"
    r"|\b(?:what|which|what's)\b.{0,30}?\b(?:city|country|state|place|town|location|park|restaurant|store|school"
    r"|university|company|museum|book|movie|film|song|band|artist|musician|author|game|show|series|brand"
    r"|team|pet|dog|cat|name|title|event|class|course|podcast|instrument|platform|app|language|character"
    r"|library|tool|framework|package|host|server|file)s?\b"
    r"|\b(?:called|named)\b",
    re.IGNORECASE,
)
_TO_ASSISTANT = re.compile(
    r"\byou(?: (?:had|have|also|just|previously|earlier|already|once))* "
    r"(?:suggest|recommend|mention|tell|told|say|said|give|gave|given|provid|list|explain|describ|advis|shar"
    r"|propos|wrote|write|creat|came up|generat|offer|refer|were|discuss)\w*"
    r"|\byour (?:suggestion|recommendation|advice|answer|list|response|explanation|example|previous|earlier)"
    r"|\bour (?:previous|last|earlier|past|recent)?\s?(?:conversation|chat|discussion|session|exchange)"
    r"|\b(?:did|had|have) you\b|\bremind me\b|\bwe (?:discuss|talk|explor|chatted)\w*"
    r"|\b(?:hast|hattest) du\b|\bas-tu\b|\b(?:the )?assistant\b",
    re.IGNORECASE,
)
# A wish for new advice is no question about former advice.
_WISH = re.compile(
    r"\b(?:can|could|would|will|do) you (?:please )?"
    r"(?:suggest|recommend|give|provide|tell|list|explain|share|have|think|help)\b"
    r"|\bany (?:suggestion|recommendation|tip|advice|idea)s?\b",
    re.IGNORECASE,
)
_LATEST = re.compile(
    r"\b(?:latest|newest|most recent(?:ly)?|current(?:ly)?|now|these days|at the moment|still|up to date"
    r"|aktuell\w*)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a question, by its stem; ``weight`` is less for words that questions are made of."""

    stem: str
    form: str
    weight: float

    @property
    def clause(self) -> Clause:
        # Whatever form the text has, its stem is in the index.
        return Clause((Term((self.stem,)),))


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    words: tuple[Word, ...]
    mentioned: frozenset[str]
    """Every word as it was typed, folded: to see who is named."""
    wants_time: bool
    wants_number: bool
    wants_name: bool
    to_assistant: bool
    """Whether it asks for what the assistant said."""
    wants_latest: bool
    span: times.Span | None
    """The time it is about."""

    def without(self, names: frozenset[str]) -> Question:
        """The same question, in which names of speakers are no words to look for, unless it has no others."""
        kept = tuple(word for word in self.words if word.form not in names)
        return self if not kept or len(kept) == len(self.words) else replace(self, words=kept)


def understand(text: str, now: float, tz: tzinfo | None = None) -> Question:
    """Read a question; any text will do, of a very long one the beginning is read."""
    text = text[:MAX_CHARACTERS]
    weighed = [pair for run in runs(text) for pair in _forms(run)]
    forms = [form for form, _ in weighed]
    telling = [pair for pair in weighed if pair[0] not in STOP_WORDS] or weighed
    words: dict[str, Word] = {}
    for form, weight in telling:
        stemmed = stem(form)
        if stemmed not in words:
            words[stemmed] = Word(stemmed, form, _GENERIC_WEIGHT if stemmed in _GENERIC else weight)
    past = text if re.search(r"\bremind me\b", text, re.IGNORECASE) else _WISH.sub(" ", text)
    return Question(
        text,
        tuple(words.values())[:MAX_CLAUSES],
        frozenset(forms),
        wants_time=times.asks_when(text),
        wants_number=_NUMBER.search(text) is not None,
        wants_name=_NAME.search(text) is not None,
        to_assistant=_TO_ASSISTANT.search(past) is not None,
        wants_latest=_LATEST.search(text) is not None,
        span=times.asked(text, now, tz),
    )


def _forms(run: Run) -> list[tuple[str, float]]:
    """The words of a run and what they count: of an identifier the whole, and its parts a little."""
    if len(run.forms) == 1:
        return [(run.forms[0], 1.0)]
    if is_unspaced(run.forms[0]):
        # The lone last character is there for one-character queries only.
        return [(form, 1.0) for form in run.forms[:-1]]
    return [(run.beside[0], 1.0), *((form, _PART_WEIGHT) for form in run.forms)]
