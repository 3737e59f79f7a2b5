"""Questions: their words, and the kind of answer, people and time they are about.

Also the matcher, which finds these words and similar ones in many texts.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, tzinfo
from functools import lru_cache
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from mnemos.language import times
from mnemos.text.query import MAX_CHARACTERS, MAX_CLAUSES, Clause, Term
from mnemos.text.words import STOP_WORDS, Run, fold, is_unspaced, runs, split_runs, stem

# Words common in questions, which say little about the answer.
_GENERIC = frozenset(
    stem(word)
    for word in """
    kind type sort many much name happen thing things stuff way lot long often specific particular
    particularly one ones different various main current currently recent recently new get got mention
    mentioned say said tell told talk talked describe ask asked think know feel like likely would make take
    remind previous conversation suggest suggested recommend chat discuss discussed provide provided give
    gave person people time first date day year month week call remember could might plan planning lately
    quite bit another soon help look looking try trying want need really good great also ever still already
    better best idea ideas tip tips advice any anything something someone everything else since ago last
    next today usually maybe able use used go going went come came two three start started finish mean keep
    let see total number amount during
    """.split()
)
_GENERIC_WEIGHT = 0.3
# The weight of the words of a time if the time itself was understood.
_TIME_WEIGHT = 0.5
# The weight of a part of an identifier, in addition to the whole.
_PART_WEIGHT = 0.4

_CAPITALISED = re.compile(r"(?<=\s)[^\W\d_a-z][^\W\d_]+")
# A possible code: at the beginning of a word, or after a colon that follows another sign.
_CODE = re.compile(r"(?<![\w.:/-])(?:(?=[.:/-])[\w.:/-]*?:)?(\w[\w.:/-]*+)")
# A code contains a digit or an underscore, has a dot or a slash between letters, or is in camelCase.
_CODE_SIGN = re.compile(r"\d|_|\w[./]\w|[a-z][A-Z]")
_NUMBER = re.compile(
    r"\b(?:how (?:many|much|old|long|far|often|big|tall|fast|heavy)"
    r"|what (?:percentage|number|amount|age|price)"
    r"|total (?:number|amount|cost|distance)|percentage|which (?:port|version)|what (?:port|version)"
    r"|wie ?viele?|combien|cuánt[oa]s?)\b",
    re.IGNORECASE,
)
# Questions about durations and order are answered by dates.
_DURATION = re.compile(
    r"\bhow (?:many|much) (?:days?|weeks?|months?|years?|hours?|minutes?|time)\b.*"
    r"\b(?:ago|before|after|between|pass(?:ed)?|since|until|when|from)\b"
    r"|\bhow long ago\b|\bwhich .*\bfirst\b|\b(?:order|earliest|latest|most recent)\b",
    re.IGNORECASE,
)
_ELAPSED = re.compile(r"\b(?:ago|ha(?:d|s|ve) passed)\b", re.IGNORECASE)
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
    r"(?:(?!need)\w+ed|said|told|gave|given|made|shown|taught|wrote|came up|were)\b"
    r"|\byour (?:suggestion|recommendation|advice|answer|list|response|explanation|example|previous|earlier)"
    r"|\b(?:did|had|have|were) you\b|\b(?:hast|hattest) du\b|\bas-tu\b|\b(?:the )?assistant\b",
    re.IGNORECASE,
)
# These too, unless the question says what the user did.
_TOGETHER = re.compile(r"\bremind me\b|\bwe (?:discuss|talk|explor|chatted)\w*", re.IGNORECASE)
_BY_USER = re.compile(
    r"\b(?:what|which|whom?|where|when|why|how|that)\b[^.,;?!]{0,80} I "
    r"(?!should|could|can|might|may|must|need)"
    r"|\bI (?:\w+ )?(?:mentioned|said|told you|asked|brought up|shared|raised|described)\b"
    r"|\bmy (?:questions|messages|requests|words)\b",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(r"\b(?:I|my|me|mine|ich|mein\w*|mir|mich)\b")
# "Which libraries was I considering when you recommended one?" asks for the user's words.
_ASKS_ME = re.compile(r"\b(?:did|had|have|was|am) I\b", re.IGNORECASE)
# A time in a request is when something should happen, not when it was said.
_REQUEST = re.compile(
    r"^\W*(?:(?:please|bitte|hey|ok|okay|and|now) )*"
    r"(?:arrange|book|buy|choose|come up|cook|create|draft|find|get|give|help|invite|let'?s|make|order"
    r"|organi[sz]e|pick|plan|prepare|propose|put|recommend|reserve|schedule|set|suggest|write"
    r"|bestell\w*|buche?|empfiehl|empfehl\w*|finde?|gib|hilf|mach|organisiere?|plane?|reserviere?|schlage?"
    r"|schreibe?|suche?)\b"
    r"|\b(?:should|shall|could|might|would) (?:I|we|you)\b"
    r"|\b(?:I|we) (?:should|could|might|need|want|would like)\b"
    r"|\b(?:what|where|which|how)\b.* (?:can (?:I|we)|(?<!have )to \w+)\b"
    r"|\bcan you (?:please )?(?!tell|remind|show)\w+"
    r"|\b(?:sollen|sollten?|könnten?|können) (?:ich|wir|man)\b|\b(?:soll|kann) ich\b"
    r"|\b(?:suggestion|recommendation|tip|advice|idea|tipp|vorschl[aä]g)\w*\b|\bany thoughts\b|\bhow about\b",
    re.IGNORECASE,
)
# Without a verb in the past tense, these lie in the future in a request.
_COMING_DAY = re.compile(
    r"\b(?:for|on|by|this|für|am|dies\w+) (?:\w+ )?\w*"
    r"(?:day|night|evening|summer|autumn|fall|winter|spring|tag|woch|abend)$|day (?:morning|afternoon)$",
    re.IGNORECASE,
)
_PAST = re.compile(
    r"\b(?:did|was(?! (?:soll|kann|könn))|were|said|told|went|made|bought|spoke|wrote|chose|thought"
    r"|hatten?|haben|wollten?|war(?:en)?)\b"
    r"|\b(?:have|has|had) (?:I|we|you|he|she|they)\b|\b(?:I|we|you|they|he|she) ha(?:ve|s|d) \w+(?:ed|en|t)\b"
    r"|\b(?!need|feed|seed|speed|indeed|weed|proceed)\w{2,}ed\b",
    re.IGNORECASE,
)
# "won't" is unrelated to "won".
_NEGATED = re.compile(r"\b[a-z]+n['’]t\b", re.IGNORECASE)
_CONTRACTION = re.compile(rf"{_NEGATED.pattern}|(?<=\w)['’](?:s|re|ve|ll|d|m)\b", re.IGNORECASE)
# A request for new advice is not about former advice.
_WISH = re.compile(
    r"\b(?:can|could|would|will|do) you (?:please )?"
    r"(?:suggest|recommend|give|provide|tell|list|explain|share|have|think|help)\b"
    r"|\bany (?:suggestion|recommendation|tip|advice|idea)s?\b",
    re.IGNORECASE,
)
_QUESTION = re.compile(
    r"\?(?:\s|$)|^\s*(?:who|whose|whom|what|what's|when|where|which|why|how|did|do|does|is|are|was|were|have|has|had"
    r"|can|could|would|should|tell me|remind me|wer|wann|wo|wie|warum|welche[rsnm]?|qui|que|quand|où"
    r"|comment|pourquoi|quién|qué|cuándo|dónde|cómo)\b|？|[吗呢か]\s*$",
    re.IGNORECASE,
)
_LATEST = re.compile(
    r"\b(?:latest|newest|most recent(?:ly)?|current(?:ly)?|now|these days|at the moment|still|up to date"
    r"|aktuell\w*)\b",
    re.IGNORECASE,
)


def is_question(text: str) -> bool:
    """True if a text is a question rather than search words."""
    return _QUESTION.search(text) is not None


class Word(Struct, frozen=True):
    """A word of a question. Words common in questions weigh less."""

    stem: str
    form: str
    weight: float

    @property
    def clause(self) -> Clause:
        # The index has the stem of every form.
        return Clause((Term((self.stem,)),))


class Question(Struct, frozen=True):
    text: str
    words: tuple[Word, ...]
    mentioned: frozenset[str]
    """All words, folded but otherwise as typed, to tell who is named: in "in June", nobody."""
    capitalised: frozenset[str]
    """The words among them that are capitalized and don't begin the question."""
    codes: tuple[str, ...]
    """Its numbers, identifiers and paths, folded. They only match exactly."""
    wants_time: bool
    wants_number: bool
    wants_name: bool
    to_assistant: bool
    """True if it asks about the assistant's words."""
    by_user: bool
    """True if it is about the user, who asks in the first person."""
    wants_latest: bool
    is_question: bool
    """True if it is a question rather than search words."""
    span: times.Span | None
    """The time it is about."""

    def without(self, names: frozenset[str]) -> Question:
        """Return the question without speakers' names as words, unless it has no other words."""
        kept = tuple(word for word in self.words if word.form not in names)
        return self if not kept or len(kept) == len(self.words) else replace(self, words=kept)


def understand(text: str, now: float, tz: tzinfo | None = None) -> Question:
    """Interpret a question. Of a very long text, only the beginning is read."""
    text = text[:MAX_CHARACTERS]
    span = times.find_asked(text, now, tz)
    weighed = [pair for run in runs(_CONTRACTION.sub(" ", text)) for pair in _forms(run)]
    timeless = text if span is None else f"{text[: span.places[0]]} {text[span.places[1] :]}"
    mentioned = frozenset(form for run in runs(_CONTRACTION.sub(" ", timeless)) for form, _ in _forms(run))
    telling = [pair for pair in weighed if pair[0] not in STOP_WORDS]
    if span is not None:
        telling = _without_time(telling, mentioned - STOP_WORDS)
    if span is not None and _is_wished_for(span, text, now):
        span = None
    if span is None and not telling:
        telling = weighed
    words: dict[str, Word] = {}
    for form, weight in telling:
        stemmed = stem(form)
        if stemmed not in words:
            words[stemmed] = Word(stemmed, form, _GENERIC_WEIGHT if stemmed in _GENERIC else weight)
    past = text if re.search(r"\bremind me\b", text, re.IGNORECASE) else _WISH.sub(" ", text)
    together = _TOGETHER.search(past) is not None and not _BY_USER.search(past)
    to_assistant = (together or _TO_ASSISTANT.search(past) is not None) and not _ASKS_ME.search(past)
    return Question(
        text,
        tuple(words.values())[:MAX_CLAUSES],
        mentioned,
        frozenset(fold(word) for word in _CAPITALISED.findall(timeless)),
        codes=_codes(timeless),
        wants_time=times.asks_when(text) or _DURATION.search(text) is not None,
        wants_number=_NUMBER.search(text) is not None and not _ELAPSED.search(text),
        wants_name=_NAME.search(text) is not None,
        to_assistant=to_assistant,
        by_user=_FIRST_PERSON.search(text) is not None and not to_assistant,
        wants_latest=_LATEST.search(text) is not None,
        is_question=is_question(text),
        span=span,
    )


def _is_wished_for(span: times.Span, text: str, now: float) -> bool:
    """True if the time belongs to a request, such as "book a train for Friday"."""
    is_ahead = span.end > now or _COMING_DAY.search(text[: span.places[1]])
    is_request = _REQUEST.search(text) or _WISH.search(text)
    return bool(is_ahead and is_request and not _PAST.search(text))


def _without_time(telling: list[tuple[str, float]], others: frozenset[str]) -> list[tuple[str, float]]:
    """Weigh the words of an understood time less. Alone, they are not searched for."""
    if all(stem(form) in _GENERIC for form in others):
        return []
    return [(form, weight if form in others else _TIME_WEIGHT) for form, weight in telling]


def _codes(text: str) -> tuple[str, ...]:
    found = (match[1] for match in _CODE.finditer(text) if _CODE_SIGN.search(match[1]))
    codes = (fold(code.rstrip(".-/:")) for code in found)
    return tuple(dict.fromkeys(code for code in codes if len(code) > 2))[:MAX_CLAUSES]


def _forms(run: Run) -> list[tuple[str, float]]:
    """Return the words of a run with their weights. Parts of an identifier weigh less."""
    if len(run.forms) == 1:
        return [(run.forms[0], 1.0)]
    if is_unspaced(run.forms[0]):
        # The single last character only serves one-character queries.
        return [(form, 1.0) for form in run.forms[:-1]]
    return [(run.beside[0], 1.0), *((form, _PART_WEIGHT) for form in run.forms)]


def describe_time(question: Question) -> Iterator[str]:
    """Describe how the time in a question was understood."""
    span = question.span
    if span is None:
        return
    since, until = (_day(moment) for moment in (span.start, span.end - 1))
    if since and until:
        yield f"Asked about {since}" if since == until else f"Asked about {since} to {until}"
    elif since or until:
        yield f"Asked about the time since {since}" if since else f"Asked about the time until {until}"


def _day(moment: float) -> str:
    """Format a date for people; "" if it is outside the calendar."""
    try:
        return f"{datetime.fromtimestamp(moment).astimezone():%-d %B %Y}"
    except (OverflowError, ValueError, OSError):
        return ""


log = logging.getLogger("mnemos.recall")

RELATED = Path(__file__).with_name("assets") / "related.txt"

# Words are related from this cosine on, and their weight grows from there to 1.
_UNRELATED = 40


@lru_cache(maxsize=4_096)
def find_related(word: str) -> dict[str, float]:
    """Return the stems of related words, with weights between 0 and 1."""
    if not word.isascii():
        return {}
    try:
        pairs = [entry.split(":") for entry in _look_up(_table(RELATED), word).split()]
        return {stem: (int(cosine) - _UNRELATED) / (100 - _UNRELATED) for stem, cosine in pairs}
    except ValueError as exc:
        log.warning("the table of related words is damaged (%s); install mnemos again", exc)
        return {}


def _look_up(table: bytes, word: str) -> str:
    """Look up a word in the sorted lines of the table; "" if it is missing."""
    wanted = f"{word}\t".encode()
    low, high = 0, len(table)
    while low < high:
        start = table.rfind(b"\n", low, (low + high) // 2) + 1 or low
        end = table.find(b"\n", start) + 1 or len(table)
        line = table[start:end]
        if line.startswith(wanted):
            return line[len(wanted) :].decode("ascii")
        if line < wanted:
            low = end
        else:
            high = start
    return ""


@lru_cache(maxsize=2)
def _table(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as exc:
        log.warning("recall works without related words: %s", exc)
        return b""


_MOST_STEMS = 100_000


class _Stems(dict[str, str]):
    """A cache of stems by word form, computed on first use."""

    def __missing__(self, form: str) -> str:
        if len(self) >= _MOST_STEMS:
            self.clear()
        stemmed = self[form] = stem(form)
        return stemmed


_STEMS = _Stems()

# A longer text is only read if it may contain any of the words.
_SHORT = 20_000
_LETTERS_AND_DIGITS = bytes(code if chr(code).isalnum() and code < 128 else 32 for code in range(256))


class Matcher:
    """Finds the words of a question in texts, and the words ``related`` to each."""

    def __init__(self, words: Sequence[Word], related: Sequence[Mapping[str, float]]) -> None:
        # In scripts without blanks, the word may be anywhere.
        self._anywhere = [(number, word.stem) for number, word in enumerate(words) if is_unspaced(word.stem)]
        self._by_stem: dict[str, list[tuple[int, float]]] = {}
        for number, (word, others) in enumerate(zip(words, related, strict=True)):
            self._by_stem.setdefault(word.stem, []).append((number, 1.0))
            for other, strength in others.items():
                self._by_stem.setdefault(other, []).append((number, strength))
        self._beginnings = sorted({_beginning(stem) for stem in self._by_stem})
        spaced = "|".join([re.escape(one) for one in self._beginnings if one.isascii()])
        # For texts with blanks between words. Words that begin differently are skipped.
        self._find_forms = re.compile(f" (?:{spaced})[a-z0-9]*".encode()).findall if spaced else None

    def find(self, folded: str) -> tuple[dict[int, int], dict[int, float]]:
        """Count each word in a folded text; return counts, and strengths including related words."""
        counts: dict[int, int] = {}
        strengths: dict[int, float] = {}
        by_stem = self._by_stem
        # Other words are skipped without a Python loop, because most of a question's time is spent here.
        for stemmed in filter(by_stem.__contains__, map(_STEMS.__getitem__, self._forms_of(folded))):
            for word, strength in by_stem[stemmed]:
                if strength == 1.0:
                    counts[word] = counts.get(word, 0) + 1
                elif strength > strengths.get(word, 0.0):
                    strengths[word] = strength
        for word, text in self._anywhere:
            if text in folded:
                counts[word] = folded.count(text)
        strengths.update(counts)
        return counts, strengths

    def forms(self, folded: str) -> list[str]:
        """Return the question's words as the text spells them, once each, in the question's order."""
        found = {word: text for word, text in self._anywhere if text in folded}
        for form in self._forms_of(folded):
            for word, strength in self._by_stem.get(_STEMS[form], ()):
                if strength == 1.0:
                    found.setdefault(word, form)
        return list(dict.fromkeys(found[word] for word in sorted(found)))

    def _forms_of(self, folded: str) -> list[str]:
        """Return the words of a text that may be forms of the question's words."""
        if "n't" in folded or "n’t" in folded:
            folded = _NEGATED.sub(" ", folded)
        if folded.isascii() and "+" not in folded and "#" not in folded:
            if self._find_forms is None:
                return []
            blanked = b" " + folded.encode().translate(_LETTERS_AND_DIGITS)
            return [form[1:].decode() for form in self._find_forms(blanked)]
        if len(folded) > _SHORT and not any(beginning in folded for beginning in self._beginnings):
            return []
        forms = split_runs(folded)
        if "+" not in folded and "#" not in folded:
            return forms
        # "C++" counts as a word itself, and as "C".
        return forms + [form.rstrip("+#") for form in forms if form[-1] in "+#"]


def share_weights(weights: Sequence[float]) -> tuple[float, ...]:
    """Return each word's share in the weight of the question."""
    total = sum(weights) or 1.0
    return tuple(weight / total for weight in weights)


def _beginning(stemmed: str) -> str:
    """Return the beginning that all forms of a word share. A stem may differ: *tri* for *try*."""
    return stemmed[:3] if len(stemmed) > 3 else stemmed[:1]
