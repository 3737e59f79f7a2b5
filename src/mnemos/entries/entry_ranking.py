"""Ranking of entries by the words of a question.

A word of the question matches a whole word, a stem, the beginning of a word or a part of one, and counts less
in that order. Rare words count more than common ones, and words in a key more than words in a value.
``text/words.py`` defines what a word is.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

from mnemos.storage.entries import EntryReads, EntryRow, Place, Posting
from mnemos.text.words import STOP_WORDS, fold, is_unspaced, runs, stem

_UUID = re.compile(r"[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}", re.IGNORECASE)

# Only the beginning of a long value is indexed.
INDEXED_CHARACTERS = 20_000

_EXACT, _STEM, _PREFIX, _INSIDE = 1.0, 0.8, 0.6, 0.4
_IN_KEY = 1.5
# Plain integers, because adding up enum members is slow.
_KEY, _VALUE, _BESIDE = int(Place.KEY), int(Place.VALUE), int(Place.BESIDE)
# Extra score when the whole question is the key, is in the key, or is in the value.
_IS_KEY, _WHOLE_IN_KEY, _WHOLE_IN_VALUE = 4.0, 1.0, 0.5

_MOST_TERMS = 24
# A question with more words is a sentence, in which "art" must not match "start".
_TERMS_IN_PARTS = 3
_LEAST_PART, _LEAST_PART_OF_SENTENCE = 2, 4
_LEAST_INSIDE = 3
# The number of words looked up for one part, and of entries read for one common word.
_MOST_WORDS = 60
_MOST_POSTINGS = 800
# A word in more entries than this is common: it ranks the entries that rarer words found, and is only looked
# up itself if those are too few.
_COMMON = 400
# The size of the cache: the words of a hundred users with ten thousand entries each.
_KEPT_CHARACTERS = 16_000_000


Found = tuple[EntryRow, float]
# The score of each term of a question, for each entry.
_Best = defaultdict[int, dict[int, float]]


@dataclass(frozen=True, slots=True)
class Term:
    """A word of a question and its stem."""

    form: str
    stem: str


def name_of(row: EntryRow) -> str:
    """Return the key of an entry, or "" for a UUID, which would drown out the value's meaning."""
    return "" if _UUID.fullmatch(row.key) else row.key


def render(row: EntryRow) -> str:
    """Render an entry for recall."""
    return f"{name_of(row)}: {row.readable}".removeprefix(": ")


def list_words(key: str, value: str) -> dict[str, int]:
    """Return the words of an entry and the places where they occur."""
    found: dict[str, int] = {}
    for text, place in ((key, _KEY), (value[:INDEXED_CHARACTERS], _VALUE)):
        for run in runs(text):
            for form in run.forms:
                found[form] = found.get(form, 0) | place
            for form in run.beside:
                found[form] = found.get(form, 0) | place | _BESIDE
    return found


@lru_cache(32)  # cached, as it is called for each namespace
def parse_question(question: str) -> tuple[Term, ...]:
    """Return the words of a question without stop words, or all if there are only stop words."""
    forms: dict[str, None] = {}
    for run in runs(question[:INDEXED_CHARACTERS]):
        # The last form of an unspaced run is one character, for one-character questions.
        own = run.forms[:-1] if len(run.forms) > 1 and is_unspaced(run.forms[0]) else run.forms
        forms |= dict.fromkeys(own)
    content = [form for form in forms if form not in STOP_WORDS] or list(forms)
    return tuple(Term(form, stem(form)) for form in content[:_MOST_TERMS])


class Vocabularies:
    """A cache of each user's words as one text, valid until the words change."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[int, str]] = {}

    def read(self, tx: EntryReads, user: str) -> str:
        mark = tx.vocabulary_mark(user)
        kept = self._kept.get(user)
        if kept is not None and kept[0] == mark:
            return kept[1]
        text = tx.vocabulary(user)
        if sum(len(known) for _, known in list(self._kept.values())) + len(text) > _KEPT_CHARACTERS:
            self._kept.clear()
        self._kept[user] = (mark, text)
        return text


def find_matches(
    tx: EntryReads,
    user: str,
    question: str,
    fresh: Sequence[EntryRow],
    limit: int,
    vocabularies: Vocabularies,
) -> list[Found]:
    """Return the user's entries that share words or parts of words with a question, best first.

    Words match by their stems, too. Each entry comes with its score, which is above 0.

    ``fresh`` are entries that the engine hasn't indexed yet, or only in an older version.
    """
    terms = parse_question(question)
    if not terms:
        literal = _select_literal([*tx.holding(user, question, limit), *fresh], question, limit)
        return [(row, _WHOLE_IN_VALUE) for row in literal]
    scores: defaultdict[int, float] = defaultdict(float)
    wanted = _expand(terms, _select_parts(terms), lambda: vocabularies.read(tx, user))
    _score_indexed(tx, user, wanted, limit, scores)
    for row in fresh:
        # The index has an older version of this entry.
        scores.pop(row.id, None)
    _score_fresh(fresh, terms, scores)
    best = sorted(scores, key=lambda entry: (-scores[entry], -entry))[: 3 * limit + 10]
    known = {row.id: row for row in fresh}
    rows = [known[entry] for entry in best if entry in known]
    rows += tx.of_ids(user, [entry for entry in best if entry not in known])
    return _rank(rows, scores, question)[:limit]


def rank_entries(rows: Sequence[EntryRow], question: str, limit: int) -> list[EntryRow]:
    """Rank entries in memory like ``find_matches``."""
    terms = parse_question(question)
    if not terms:
        return _select_literal(rows, question, limit)
    scores: defaultdict[int, float] = defaultdict(float)
    _score_fresh(rows, terms, scores)
    found = [row for row in rows if row.id in scores]
    return [row for row, _ in _rank(found, scores, question)[:limit]]


def _rank(rows: Iterable[EntryRow], scores: Mapping[int, float], question: str) -> list[Found]:
    whole = fold(question)
    ranked = [(row, scores[row.id] + _score_whole(row, whole)) for row in rows]
    return sorted(ranked, key=lambda one: (-one[1], -one[0].updated_at, -one[0].id))


def _select_literal(rows: Iterable[EntryRow], question: str, limit: int) -> list[EntryRow]:
    """Return entries that contain a question without words, such as ``%``, literally."""
    found = {row.id: row for row in rows if question in row.key or question in row.readable}
    return sorted(found.values(), key=lambda row: (question not in row.key, -row.updated_at, -row.id))[:limit]


def _expand(
    terms: Sequence[Term], parts: Sequence[Term], vocabulary: Callable[[], str]
) -> dict[str, tuple[int, float]]:
    """Return the words to look up, each with the number of its term and the quality of the match."""
    wanted: dict[str, tuple[int, float]] = {}
    for number, term in enumerate(terms):
        wanted[term.form] = (number, _EXACT)
    for number, term in enumerate(terms):
        wanted.setdefault(term.stem, (number, _STEM))
    if not parts:
        return wanted
    # Searching one long text takes microseconds, searching words one by one milliseconds.
    text = f"\n{vocabulary()}\n"
    for number, term in enumerate(terms):
        if term in parts:
            for word in _find_words(text, term.form):
                share = len(term.form) / len(word)
                quality = _PREFIX if word.startswith(term.form) else _INSIDE
                wanted.setdefault(word, (number, quality * (0.5 + share / 2)))
    return wanted


def _select_parts(terms: Sequence[Term]) -> list[Term]:
    """Return the terms that may match parts of words."""
    few = len(terms) <= _TERMS_IN_PARTS
    least = 1 if len(terms) == 1 else _LEAST_PART if few else _LEAST_PART_OF_SENTENCE
    return [term for term in terms if len(term.form) >= least]


def _find_words(text: str, part: str) -> list[str]:
    """Return words of a text (one per line) that start with a part or, if it is long, contain it."""
    needle = part if len(part) >= _LEAST_INSIDE or not part.isascii() else "\n" + part
    found: dict[str, None] = {}
    position = text.find(needle)
    while position >= 0 and len(found) < _MOST_WORDS:
        start = text.rfind("\n", 0, position + 1) + 1
        end = text.index("\n", max(start, position + 1))
        found[text[start:end]] = None
        position = text.find(needle, end)
    return list(found)


def _score_indexed(
    tx: EntryReads,
    user: str,
    wanted: dict[str, tuple[int, float]],
    limit: int,
    scores: defaultdict[int, float],
) -> None:
    counts = tx.counts(user, list(wanted))
    common = [word for word in counts if counts[word] > _COMMON]
    best: _Best = defaultdict(dict)
    _add_postings(
        best, tx.postings(user, [word for word in counts if counts[word] <= _COMMON]), wanted, counts
    )
    if len(best) >= limit:
        _add_postings(best, tx.among(user, common, list(best)) if common else [], wanted, counts)
    else:
        for word in common:
            _add_postings(best, tx.newest_with(user, word, _MOST_POSTINGS), wanted, counts)
    for entry, shares in best.items():
        scores[entry] = sum(shares.values())


def _add_postings(
    best: _Best, found: Iterable[Posting], wanted: dict[str, tuple[int, float]], counts: dict[str, int]
) -> None:
    """Add the score of each term's best word."""
    worth = {word: wanted[word][1] / (1 + math.log(max(count, 1))) for word, count in counts.items()}
    for word, entry, place in found:
        score = worth[word] * _IN_KEY if place & _KEY else worth[word]
        term = wanted[word][0]
        if score > best[entry].get(term, 0.0):
            best[entry][term] = score


def _score_fresh(fresh: Sequence[EntryRow], terms: Sequence[Term], scores: defaultdict[int, float]) -> None:
    """Score entries that are not indexed, as if no other entry had their words."""
    parts = _select_parts(terms)
    best: _Best = defaultdict(dict)
    for row in fresh:
        words = list_words(row.key, row.readable)
        wanted = _expand(terms, parts, partial("\n".join, words))
        found = [(word, row.id, words[word]) for word in wanted if word in words]
        _add_postings(best, found, wanted, dict.fromkeys(wanted, 1))
    for entry, shares in best.items():
        scores[entry] = sum(shares.values())


def _score_whole(row: EntryRow, question: str) -> float:
    key = fold(row.key)
    if key == question:
        return _IS_KEY
    if question in key:
        return _WHOLE_IN_KEY
    return _WHOLE_IN_VALUE if question in fold(row.readable[:INDEXED_CHARACTERS]) else 0.0
