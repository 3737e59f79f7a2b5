"""The query language: plain text first, a few signs on top.

``"quoted words"`` are a phrase, ``a OR b`` matches either, ``-word`` and ``NOT word`` exclude, ``pre*`` is a
prefix; everything else is words, all of them wanted. No text is an error. The meaning of a query is defined
here; how to run it is up to an engine.
"""

from __future__ import annotations

import re

from msgspec import Struct

from mnemos.text import words
from mnemos.text.words import STOP_WORDS

# A pasted log is a query too, and its first words are enough. Engines take time that grows with the square
# of these.
MAX_CLAUSES = 32
MAX_FORMS = 64
MAX_CHARACTERS = 10_000

_PART = re.compile(r'-?"[^"]*"\*?|\S+')
_EXCLUDED = re.compile(r'-(?="|\w\w)')
_SEPARATOR = re.compile(r"[,;|()\[\]{}<>]+")


class Term(Struct, frozen=True):
    """One thing to look for.

    ``forms``: exact words next to each other (one, or a phrase).
    ``beside``: an alternative indexed alongside the forms: the stem of a word, the whole of an identifier.
    ``prefix``: the last form may continue.
    ``exact``: quoted; inflections and wholes don't count.
    """

    forms: tuple[str, ...]
    beside: tuple[str, ...] = ()
    prefix: bool = False
    exact: bool = False

    @property
    def is_stop_word(self) -> bool:
        return not self.prefix and all(form in STOP_WORDS for form in self.forms)


class Clause(Struct, frozen=True):
    """Any of these terms."""

    terms: tuple[Term, ...]


class Query(Struct, frozen=True):
    """All clauses must match, and nothing of ``excluded``. Without clauses, nothing matches."""

    clauses: tuple[Clause, ...] = ()
    excluded: tuple[Term, ...] = ()

    def loosen(self) -> Query:
        """Return the query with phrases and identifiers split into words, for when nothing matches."""
        seen: dict[Clause, None] = {}
        for clause in self.clauses:
            if len(clause.terms) == 1 and len(clause.terms[0].forms) > 1:
                for form in clause.terms[0].forms:
                    if form not in STOP_WORDS:
                        seen[Clause((_make_word(form),))] = None
            else:
                seen[clause] = None
        return Query(tuple(seen)[:MAX_CLAUSES], self.excluded)

    def terms(self) -> list[Term]:
        return [term for clause in self.clauses for term in clause.terms]


def is_plain(text: str) -> bool:
    """True if a query is words only, without signs of the query language."""
    return not any(
        '"' in part or part in ("OR", "NOT", "AND") or part.endswith("*") or _EXCLUDED.match(part)
        for part in text[:MAX_CHARACTERS].split()
    )


def parse(text: str) -> Query:
    """Parse a query. Never raises; a text without words gives a query without clauses."""
    wanted: list[Clause] = []
    excluded: list[Term] = []
    text = text[:MAX_CHARACTERS].replace("\0", " ")
    parts = _PART.findall(text)
    either = negate = False
    for position, part in enumerate(parts):
        inner = 0 < position < len(parts) - 1
        if part == "OR" and inner and wanted and not negate:
            either = True
            continue
        if part == "NOT" and position < len(parts) - 1:
            negate = True
            continue
        if part == "AND" and inner:
            continue
        barred = part[0] == "-" and _EXCLUDED.match(part) is not None
        negative = negate or barred
        terms = _terms(part[1:] if barred else part)
        negate = False
        if negative:
            excluded += terms
        elif either and terms:
            wanted[-1] = Clause(tuple(dict.fromkeys((*wanted[-1].terms, *terms)))[:MAX_CLAUSES])
        else:
            wanted += [Clause((term,)) for term in terms]
        either = False
    if not wanted:
        # "NOT" or "-foo" alone is a text to find.
        plain = [term for piece in text.replace('"', " ").split() for term in _terms(piece)]
        return Query(tuple(dict.fromkeys(Clause((term,)) for term in plain))[:MAX_CLAUSES])
    return Query(_drop_stop_words(wanted), tuple(dict.fromkeys(excluded))[:MAX_CLAUSES])


def _drop_stop_words(clauses: list[Clause]) -> tuple[Clause, ...]:
    telling = [c for c in clauses if not all(term.is_stop_word for term in c.terms)]
    return tuple(dict.fromkeys(telling or clauses))[:MAX_CLAUSES]


def _terms(part: str) -> list[Term]:
    if part.isalnum() and part.isascii():
        return _join(words.runs(part), prefix=False)
    if part.startswith('"') and len(part) > 2 and part.rstrip("*").endswith('"'):
        forms = tuple(f for run in words.runs(part) for f in _searchable_forms(run))
        return [Term(forms[:MAX_FORMS], prefix=part.endswith("*"), exact=True)] if forms else []
    return [term for piece in _SEPARATOR.split(part) for term in _parse_piece(piece)]


def _parse_piece(piece: str) -> list[Term]:
    """Return the terms of a piece without blanks: a word, an identifier, a path, an address."""
    prefix = piece.endswith("*")
    found: list[Term] = []
    pending: list[words.Run] = []
    # Where scripts change without a blank ("API設計") the words are still separate.
    for run, unspaced in _runs_of(piece):
        if unspaced:
            found += _join(pending, prefix=False)
            pending = []
            found.append(_make_unspaced(run))
        else:
            pending.append(run)
    return found + _join(pending, prefix=prefix)


def _runs_of(piece: str) -> list[tuple[words.Run, bool]]:
    if piece.isascii():
        return [(run, False) for run in words.runs(piece)]
    cut = re.split(f"([{words.UNSPACED}]+)", piece)
    return [(run, position % 2 == 1) for position, text in enumerate(cut) for run in words.runs(text)]


def _make_unspaced(run: words.Run) -> Term:
    if len(run.forms) == 1:
        return Term(run.forms, prefix=True)
    return Term(run.forms[:-1][:MAX_FORMS])


def _join(pending: list[words.Run], *, prefix: bool) -> list[Term]:
    if not pending:
        return []
    if len(pending) == 1 and len(pending[0].forms) == 1 and not prefix:
        return [_make_word(pending[0].forms[0])]
    forms = tuple(form for run in pending for form in run.forms)[:MAX_FORMS]
    whole = pending[0].beside[:1] if len(pending) == 1 and len(pending[0].forms) > 1 else ()
    return [Term(forms, beside=() if prefix else whole, prefix=prefix)]


def _make_word(form: str) -> Term:
    stem = words.stem(form)
    return Term((form,), beside=(stem,) if stem != form else ())


def _searchable_forms(run: words.Run) -> tuple[str, ...]:
    # The last single character of an unspaced run is only for one-character queries.
    return run.forms[:-1] if len(run.forms) > 1 and words.is_unspaced(run.forms[0]) else run.forms
