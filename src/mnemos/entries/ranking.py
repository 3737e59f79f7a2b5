"""Which entries a question finds by its words, and in which order.

A word of the question is found as it is, by its stem, at the beginning of a word, or inside one, and counts
less in that order. Words that few entries have count more, and words in a key more than in a value. What a
word is, is the rule of ``text/words.py``.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from mnemos.storage.entries import EntryReads, EntryRow, Place, Posting
from mnemos.text.stopwords import STOP_WORDS
from mnemos.text.words import fold, is_unspaced, runs, stem

# An entry is found by the words at its beginning: a longer one is a document.
INDEXED_CHARACTERS = 20_000

_EXACT, _STEM, _PREFIX, _INSIDE = 1.0, 0.8, 0.6, 0.4
_IN_KEY = 1.5
# As numbers: the sums of an enumeration are slow.
_KEY, _VALUE, _BESIDE = int(Place.KEY), int(Place.VALUE), int(Place.BESIDE)
# The whole question as a key, in a key, in a value.
_IS_KEY, _WHOLE_IN_KEY, _WHOLE_IN_VALUE = 4.0, 1.0, 0.5

_MOST_TERMS = 24
# A question of more words is a sentence: parts of words would find whatever has "art" in it.
_TERMS_IN_PARTS = 3
_LEAST_PART, _LEAST_PART_OF_SENTENCE = 2, 4
_LEAST_INSIDE = 3
# How many words that have the part are looked up, and how many entries of a word.
_MOST_WORDS = 60
_MOST_POSTINGS = 800
# From here on a word is common: it ranks what others found, and finds by itself only when no other does.
_COMMON = 400
# Words that are kept in memory: those of a hundred users with ten thousand entries each.
_KEPT_CHARACTERS = 16_000_000


# Of an entry, how much each term of a question counts.
_Best = defaultdict[int, dict[int, float]]


@dataclass(frozen=True, slots=True)
class Term:
    """A word of a question, and the stem that will do as well."""

    form: str
    stem: str


def words_of(key: str, value: str) -> dict[str, int]:
    """The words an entry is found by, and where they stand."""
    found: dict[str, int] = {}
    for text, place in ((key, _KEY), (value[:INDEXED_CHARACTERS], _VALUE)):
        for run in runs(text):
            for form in run.forms:
                found[form] = found.get(form, 0) | place
            for form in run.beside:
                found[form] = found.get(form, 0) | place | _BESIDE
    return found


def terms_of(question: str) -> list[Term]:
    """The telling words of a question; all of them when none is."""
    forms: dict[str, None] = {}
    for run in runs(question[:INDEXED_CHARACTERS]):
        # The last character alone of an unspaced run is there for questions of one character.
        own = run.forms[:-1] if len(run.forms) > 1 and is_unspaced(run.forms[0]) else run.forms
        forms |= dict.fromkeys(own)
    telling = [form for form in forms if form not in STOP_WORDS] or list(forms)
    return [Term(form, stem(form)) for form in telling[:_MOST_TERMS]]


class Vocabularies:
    """The words of the users asked about last, as one text each, kept while they are as they were."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[int, str]] = {}

    def of(self, tx: EntryReads, user: str) -> str:
        mark = tx.vocabulary_mark(user)
        kept = self._kept.get(user)
        if kept is not None and kept[0] == mark:
            return kept[1]
        text = tx.vocabulary(user)
        if sum(len(known) for _, known in list(self._kept.values())) + len(text) > _KEPT_CHARACTERS:
            self._kept.clear()
        self._kept[user] = (mark, text)
        return text


def matching(
    tx: EntryReads,
    user: str,
    question: str,
    fresh: Sequence[EntryRow],
    limit: int,
    vocabularies: Vocabularies,
) -> list[EntryRow]:
    """The user's entries that share words, stems or parts of words with a question, best first.

    ``fresh``: those whose words are not known to the engine yet, or those of a former version.
    """
    terms = terms_of(question)
    if not terms:
        return _as_it_stands(tx, user, question, fresh, limit)
    scores: defaultdict[int, float] = defaultdict(float)
    wanted = _wanted(terms, _parts(terms), lambda: vocabularies.of(tx, user))
    _score_indexed(tx, user, wanted, limit, scores)
    for row in fresh:
        # What the index says of it is of a version that is gone.
        scores.pop(row.id, None)
    _score_fresh(fresh, terms, scores)
    best = sorted(scores, key=lambda entry: (-scores[entry], -entry))[: 3 * limit + 10]
    known = {row.id: row for row in fresh}
    rows = [known[entry] for entry in best if entry in known]
    rows += tx.of_ids(user, [entry for entry in best if entry not in known])
    whole = fold(question)
    rows.sort(key=lambda row: (-scores[row.id] - _wholeness(row, whole), -row.updated_at, -row.id))
    return rows[:limit]


def among(rows: Sequence[EntryRow], question: str, limit: int) -> list[EntryRow]:
    """The same of entries that are all at hand."""
    terms = terms_of(question)
    if not terms:
        held = [row for row in rows if question in row.key or question in row.value]
        return sorted(held, key=lambda row: (question not in row.key, -row.updated_at, -row.id))[:limit]
    scores: defaultdict[int, float] = defaultdict(float)
    _score_fresh(rows, terms, scores)
    whole = fold(question)
    found = [row for row in rows if row.id in scores]
    found.sort(key=lambda row: (-scores[row.id] - _wholeness(row, whole), -row.updated_at, -row.id))
    return found[:limit]


def _as_it_stands(
    tx: EntryReads, user: str, question: str, fresh: Sequence[EntryRow], limit: int
) -> list[EntryRow]:
    """A question without a word, such as ``%``: entries that have these signs."""
    found = {row.id: row for row in tx.holding(user, question, limit)}
    found |= {row.id: row for row in fresh if question in row.key or question in row.value}
    return sorted(found.values(), key=lambda row: (question not in row.key, -row.updated_at, -row.id))[:limit]


def _wanted(
    terms: Sequence[Term], parts: Sequence[Term], vocabulary: Callable[[], str]
) -> dict[str, tuple[int, float]]:
    """Words to look up, each with the number of the term it stands for and how well it does."""
    wanted: dict[str, tuple[int, float]] = {}
    for number, term in enumerate(terms):
        wanted[term.form] = (number, _EXACT)
    for number, term in enumerate(terms):
        wanted.setdefault(term.stem, (number, _STEM))
    if not parts:
        return wanted
    # One long text is searched in microseconds, the words one by one take milliseconds.
    text = f"\n{vocabulary()}\n"
    for number, term in enumerate(terms):
        if term in parts:
            for word in _words_with(text, term.form):
                share = len(term.form) / len(word)
                quality = _PREFIX if word.startswith(term.form) else _INSIDE
                wanted.setdefault(word, (number, quality * (0.5 + share / 2)))
    return wanted


def _parts(terms: Sequence[Term]) -> list[Term]:
    """The terms that may be parts of words."""
    few = len(terms) <= _TERMS_IN_PARTS
    least = 1 if len(terms) == 1 else _LEAST_PART if few else _LEAST_PART_OF_SENTENCE
    return [term for term in terms if len(term.form) >= least]


def _words_with(text: str, part: str) -> list[str]:
    """Words of a text, one a line, that begin with a part or, when it is long enough, have it inside."""
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
    _note(best, tx.postings(user, [word for word in counts if counts[word] <= _COMMON]), wanted, counts)
    if len(best) >= limit:
        _note(best, tx.among(user, common, list(best)) if common else [], wanted, counts)
    else:
        for word in common:
            _note(best, tx.newest_with(user, word, _MOST_POSTINGS), wanted, counts)
    for entry, shares in best.items():
        scores[entry] = sum(shares.values())


def _note(
    best: _Best, found: Iterable[Posting], wanted: dict[str, tuple[int, float]], counts: dict[str, int]
) -> None:
    """Of the words that stand for a term, the best one counts."""
    worth = {word: wanted[word][1] / (1 + math.log(max(count, 1))) for word, count in counts.items()}
    for word, entry, place in found:
        score = worth[word] * _IN_KEY if place & _KEY else worth[word]
        term = wanted[word][0]
        if score > best[entry].get(term, 0.0):
            best[entry][term] = score


def _score_fresh(fresh: Sequence[EntryRow], terms: Sequence[Term], scores: defaultdict[int, float]) -> None:
    """The same for entries that have no index: each is taken for the only one with its words."""
    parts = _parts(terms)
    best: _Best = defaultdict(dict)
    for row in fresh:
        words = words_of(row.key, row.value)
        wanted = _wanted(terms, parts, partial("\n".join, words))
        found = [(word, row.id, words[word]) for word in wanted if word in words]
        _note(best, found, wanted, dict.fromkeys(wanted, 1))
    for entry, shares in best.items():
        scores[entry] = sum(shares.values())


def _wholeness(row: EntryRow, question: str) -> float:
    key = fold(row.key)
    if key == question:
        return _IS_KEY
    if question in key:
        return _WHOLE_IN_KEY
    return _WHOLE_IN_VALUE if question in fold(row.value[:INDEXED_CHARACTERS]) else 0.0
