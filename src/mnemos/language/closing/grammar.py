"""The grammar of closing statements: a letter for each kind of word, and the forms made of them.

A word becomes one letter for its role in a clause. Forms are expressions over these letters, so that a rule
reads "subject, form of to be, adverbs, a word that closes" and not as a list of sentences. Anything without
a place in a form, such as a negation, a modal verb, a condition or a noun after the participle, makes it
fail: what is not understood closes nothing.

The letters, the same in every language:

nouns        n any word that is not known   j work, or what has a number (PR, ticket, #12, v2, `code`)
             q a problem (bug, error)   h a thing, not work (cell, lock)     @ a process (query)
             G a verb in -ing or -ed
before nouns d the, my   g a, each   t this, that
pronouns     i I, we, you   u it, everything   f they, she
verbs        b is   P was   p been   s 's   v have   k got   R load, render   ~ I have just
             m must, will, want   N can, let's, please   r tell, show, think   * r or j: fix, release
adverbs      a now, already, finally   _ perfectly, manually   I in production   T yesterday
             H always, last year   e almost, half, probably   x not, never   Z no longer   S any more
joints       l and, so   > then   y but, however   c if, when, until   w who, what, because
             o ok, thanks, emoji   , : signs   ! the end of an exclamation
trouble      z fails, broken, missing
prepositions 1 to, into   2 in   3 on, at   4 with   5 by   6 for   7 of, from   8 after   0 via, as
what closes  D done   E finished   Q complete   M merged   F fixed   K closed   L live   O gone
             U landed   W works   J worked   V working   Y work   X ship it   A did it   C closing
             < close   B mark, call   9 as done   % pushed   # resolves   = its infinitive
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from mnemos.language.closing.lexicon import Phrases, load_phrases, load_words

WORK: Final = "njqG"
"""Nouns of what people finish."""
STEP: Final = f"{WORK}@"
"""Nouns of what is deployed or repaired too: a query that is done is not finished work."""
THING: Final = f"{STEP}h"
"""All nouns."""


class Token(NamedTuple):
    """A word or a sign: corrected and without accents, as written in lower case, and its place."""

    word: str
    written: str
    start: int


@dataclass(frozen=True, slots=True)
class Language:
    """The words of a language and the forms of closing statements.

    The forms match the letters of a whole clause; the group ``said`` is the statement itself. ``bare`` forms
    have no subject, so that the clauses before them decide too. ``signs`` are characters that identify the
    language.
    """

    words: Mapping[str, str]
    phrases: Phrases
    signs: frozenset[str]
    whole: tuple[re.Pattern[str], ...]
    bare: tuple[re.Pattern[str], ...]

    def count_known(self, tokens: Sequence[Token]) -> int:
        """Count the words of this language, and once more those with a sign of it."""
        known = self.words
        count = sum(token.written in known or token.word in known for token in tokens)
        if self.signs:
            count += sum(not self.signs.isdisjoint(token.written) for token in tokens)
        return count


_END: Final = r"(?:[oN].*|!?)$"
_ANY: Final = f"{THING}QMFEKL"
# A source or an occasion may come first: QA confirmed it is fixed.
_OPENING: Final = "[oaT]*(?:(?<=o)t(?=[utd])|8[dtg]?[njG]{1,4}(?=[diu])|[dt]?[nj]{1,2}a+(?=[utd]))?"
FREELY: Final = rf"[aITdtgiu0-8njhG@DQMFEKLU_]*{_END}"
"""May follow a statement that can't mean anything else."""


def compile_forms(*forms: tuple[str, str]) -> tuple[re.Pattern[str], ...]:
    """Compile statements with what may follow them; openers and adverbs may come before."""
    return tuple(re.compile(rf"{_OPENING}(?P<said>{said}){tail}") for said, tail in forms)


def make_noun(nouns: str = WORK) -> str:
    """Make a noun with its attributes (the new login page of the shop); its last word is of these."""
    return rf"(?:u?7?[dt])?a?[{THING}]{{0,5}}[{nouns}](?:[1-7][dt]?[{THING}]{{0,4}}[{nouns}]){{0,2}}"


def make_tail(prepositions: str = "", adverbs: str = "aIT_") -> str:
    """Make the rest of a clause: adverbs, and places and times with these prepositions."""
    place = rf"(?:[dtgu]?[{_ANY}]{{1,5}}|G[dt]?[{_ANY}]{{1,4}}|[utif])[{adverbs}]*"
    places = rf"(?:[{prepositions}]{place})*" if prepositions else ""
    return rf"[{adverbs}]*{places}{_END}"


def _english() -> Language:
    noun = make_noun()
    subject = rf"(?:[iut]|u[1-7]{noun}|u?{noun})a*"
    made = rf"(?:[iut]|u?{make_noun(STEP)})a*"
    broken = rf"[dt][{THING}z]{{1,5}}[{STEP}]a*"
    # A noun with a clause: the problem that annoyed us for weeks; everything we planned.
    described = rf"(?:{noun}[tw][{THING}fiudazP1-7]{{1,8}}|ut?i[{THING}dtamrv1-7]{{1,8}})"
    anything = rf"(?:[ut]|u?{make_noun(THING)})a*"
    named = r"(?:[ut]|u?[dt]?a?[nG]{0,4}[jq][njq]{0,3})a*"
    problem = r"(?:u?[dt]?[njhz]{0,3}q[nj]{0,2})a*"
    # A noun without an article is an object only where a place follows: merged develop into main.
    target = (
        rf"(?:u(?:[dt]?[{WORK}]{{1,4}})?|t|[dt]a?[{WORK}]{{1,6}}(?:[67][dt]?[{WORK}]{{1,4}})?"
        rf"|[jq][njq]{{0,4}}|[{WORK}]{{1,4}}(?=[1I]))"
    )
    given = rf"(?:[ut]|[dt]a?[{WORK}]{{1,6}}(?:[67][dt]?[{WORK}]{{1,4}})?)"
    mended = rf"(?:[dt]a?[{THING}z]{{1,6}}(?:[1-7][dt]?[{THING}]{{1,4}})?|{target})"
    ticket = "(?:u|t[jq]?|[dt][njq]{0,2}[jq]|[jq][njq]{0,2})"
    was = "(?:P|k|[vs]a*p)a*"
    now = make_tail(adverbs="aI_")
    # Done manually, done for speed: how and why it is done, and not that it is.
    still = make_tail(adverbs="aIT")
    everywhere = rf"[aI_]*(?:[236]u(?:7?[{THING}f]{{1,2}}))?{now}"

    return Language(
        load_words("english"),
        load_phrases("english"),
        signs=frozenset(),
        whole=compile_forms(
            # The migration is finished.
            (rf"{subject}[bs]a*[DEQ]", still),
            (rf"{subject}[bs]a*[EQ]", make_tail("6", "aIT")),
            # We're done with the API.
            (r"i[bs]a*[DE]", make_tail("4", "aIT")),
            # I'm done refactoring the parser.
            (rf"i[bsv]a*[DE]G(?:{target})?", make_tail("126")),
            # The service is deployed to production.
            (rf"{made}[bs]a*M", make_tail("16")),
            # The flaky test is fixed in #12.
            (rf"(?:{made}|{broken})[bs]a*F", make_tail("2456")),
            # The problem that annoyed us for weeks is fixed.
            (rf"{described}(?:b|va*p)a*[DEMF]", make_tail("126")),
            # The PR has been merged, got merged, was merged.
            (rf"{subject}{was}[EMF]", FREELY),
            (rf"{subject}{was}D", still),
            (rf"(?:{made}|{broken}){was}[MF]", FREELY),
            # I've merged the branch into main.
            (rf"{subject}va*[DEMF]a*(?:{target})?", make_tail("123567")),
            (rf"ia*(?:va*)?[EMF]a*{target}", FREELY),
            # Migration finished; the team shipped it.
            (rf"{subject}[EM]a*(?:{given})?", make_tail("12356")),
            (rf"ia*[EM]a*(?:{target})?", make_tail("12356")),
            # Step 3 done; migration complete.
            (rf"{subject}[DQ]", still),
            (rf"{subject}F", make_tail("256")),
            # Your last change fixed the broken build.
            (rf"{subject}(?:va*)?Fa*{mended}", make_tail("23456")),
            # I pushed the fix to production.
            (rf"ia*(?:va*)?%(?:{target})?a*I", make_tail("12356")),
            (rf"iE(?:{target}|G(?:{target})?)", make_tail("12356")),
            # PR landed; the deploy went through.
            (rf"{named}(?:(?:[bs]|P|k|v|[vs]a*p)a*)?U", make_tail("1236")),
            (rf"{named}(?:(?:[bs]|P|k|v|[vs]a*p)a*)?K", make_tail("0125")),
            # This can be closed.
            (rf"{ticket}NmK", now),
            (rf"i(?:va*)?K{ticket}", make_tail("01235")),
            # The page is live.
            (rf"{anything}(?:[bs]|[vs]a*p)a*L", make_tail("1236")),
            ("ia*(?:[bs]|[vs]a*p)a*L", now),
            # The hotfix is on prod.
            (r"(?:[ut]|[dt]?n{0,3}j[nj]{0,3})a*[bs]a*I", now),
            # That resolves it.
            (r"[tu]#(?:u|t|[dt]n{0,2}q)", now),
            # The error is gone.
            (rf"{problem}(?:[bsv]a*(?:pa*)?)?O", now),
            (rf"(?:u|u?{make_noun(THING)})a*W", everywhere),
            # That works now. "That works" alone may agree to a proposal.
            (r"ta*W(?:[aI_]+|(?=[o!]))", now),
            (rf"{anything}J", now),
            (rf"{anything}[bs]a*V", now),
            # That got it working.
            (rf"(?:{subject})?a*k{target}V", now),
            (rf"iv{target}V", now),
            (rf"(?:{subject})?a*k{target}[DEMF]", make_tail("12")),
            # Both buttons work now.
            (rf"(?:f|{anything})Y[aI_]+", now),
            # It no longer crashes.
            (rf"{anything}Za*z", now),
            (rf"{problem}Za*[nzR]", now),
            # It doesn't crash any more.
            (rf"{anything}x+a*zS", now),
            (rf"{subject}A", now),
        ),
        bare=compile_forms(
            ("D", make_tail("4", "aIT")),
            # Done in 3fa2c1.
            ("D2j", make_tail("1")),
            (rf"[DE]G(?:{target})?", make_tail("126")),
            ("Q", now),
            # Merged it; merged develop into main.
            (rf"[EM]a*(?:{target})?", make_tail("123567")),
            (rf"[EMF]a*(?:[jut]|[dt]a?[{WORK}]{{1,6}})", FREELY),
            ("M4(?:[dt]n*)?j", make_tail("12356")),
            (rf"Fa*(?:{mended})?", make_tail("24567")),
            (rf"%(?:{target})?a*I", make_tail("12356")),
            (rf"K(?:{ticket})?9?", make_tail("025")),
            # Has been merged.
            ("(?:b|P|k|[vs]?a*p)a*[DEMF]", make_tail("1")),
            ("(?:[bP]a*)?L", now),
            ("U", make_tail("23")),
            ("[WJ]", everywhere),
            ("V[aI_]+", now),
            # Confirmed working.
            ("(?<=a)V", now),
            ("N?X", make_tail("36")),
            ("A(?=[o!])", now),
            # Closing this; you can close the ticket.
            (rf"(?:i[bs]a*|i?N)?[C<]{ticket}9?", rf"(?:{now}|[0w].*$)"),
            ("i?N<", now),
            ("C", now),
            # Let's call it done.
            (rf"(?:i[bs]a*|i?N|i)?B(?:{ticket}|t[nj])(?:9|0?[DEFKQ])", now),
            ("B9", now),
        ),
    )


def _german() -> Language:
    noun = make_noun()
    subject = rf"(?:[iut]|u?{noun})a*"
    anything = rf"(?:[ut]|u?{make_noun(THING)})a*"
    problem = r"(?:u?[dt]?[nj]{0,3}q[nj]{0,2})a*"
    named = r"(?:[ut]|[dt]?a?n{0,4}j[nj]{0,3})a*"
    ticket = "(?:[ut]|[dt][njq]{0,2}[jq][njq]{0,2}|[jq][njq]{0,2})"
    target = rf"(?:u|t|[dt]a?[{THING}]{{1,6}}|[{WORK}]{{1,4}})"
    # Between the two parts of the verb.
    field = rf"[aIT]*(?:[1-7][dtg]?[{THING}]{{1,4}}[aIT]*){{0,2}}"
    state = rf"[aIT]*(?:1[dtg]?[{THING}]{{1,4}}[aIT]*)?"
    now = make_tail(adverbs="aI")
    anywhere = make_tail("1234567")

    return Language(
        load_words("german"),
        load_phrases("german"),
        signs=frozenset("äöüß"),
        whole=compile_forms(
            # Fertig für den Test: it is ready, and not finished.
            (rf"{subject}b{state}D", make_tail("2")),
            (rf"{subject}b{state}[MF]", make_tail("126")),
            (rf"ib{field}D", make_tail("4")),
            (rf"(?<=a)b{subject}{state}[DMFL]", make_tail("2")),
            (rf"{subject}P{field}[DMF]", anywhere),
            (rf"{subject}v{field}(?:{target}{field})?[DMFX]", make_tail("1236")),
            (rf"(?<=a)v[iut]{field}(?:{target}{field})?[DMF]", make_tail("1236")),
            (rf"(?:[ut]|{noun})vi{field}[DMF]", make_tail("1236")),
            (rf"u?[{WORK}]{{1,5}}a*[DMF]", make_tail("2")),
            (rf"{named}(?:b{state})?U", now),
            (rf"{named}PU", now),
            (rf"(?:i|{anything})b{state}L", make_tail("1236")),
            (r"(?:[ut]|[dt]?n{0,3}j[nj]{0,3})a*ba*I", now),
            (rf"{ticket}[bP]a*K", now),
            (rf"{ticket}NK", rf"m?{now}"),
            (rf"{ticket}K", now),
            (rf"{problem}ba*O", now),
            (rf"{anything}W[aI]*U?", now),
            (r"(?<=a)W(?:[ut]|[dt]?[nj]{1,4})", now),
            (r"(?<=a)Vu", now),
            (rf"{anything}V[aI]+", now),
            (rf"{anything}va*[WJ]", now),
            (rf"{anything}Y[aI]+", now),
            (rf"{anything}z[nj]?Z3?", now),
            (rf"iC{ticket}", now),
            (rf"{subject}v{field}{ticket}{field}K", now),
        ),
        bare=compile_forms(
            ("u?D", make_tail("24")),
            ("u?[MF]", make_tail("12346")),
            (rf"[bP]{field}[DMFL]", make_tail("24")),
            (rf"v{field}(?:{target}{field})?[DMF]", make_tail("1236")),
            (rf"v{field}{ticket}{field}K", now),
            (rf"vi{field}[DMF]", now),
            ("[LK]", now),
            ("W", now),
            ("V[aI]+", now),
            ("va*[WJ]", now),
            ("N?X", now),
            (rf"(?:i?N|Ni){ticket}C", now),
            ("NK", rf"m{now}"),
            ("[ut]NiC", now),
            (rf"C{ticket}", now),
        ),
    )


def _french() -> Language:
    noun = make_noun()
    subject = rf"(?:[iut]|u?{noun})a*"
    anything = rf"(?:[ut]|u?{make_noun(THING)})a*"
    problem = r"(?:u?[dt]?[nj]{0,3}q[nj]{0,2})a*"
    ticket = "(?:[ut]|[dt][njq]{0,2}[jq][njq]{0,2}|[jq][njq]{0,2})"
    target = (
        rf"(?:[utd](?![{THING}])|u?[dt]a?[{THING}]{{1,6}}(?:7[dt]?[{THING}]{{1,4}})?"
        rf"|[jq][njq]{{0,3}}|[{WORK}]{{1,3}}(?=[1I]))"
    )
    now = make_tail(adverbs="aI")
    still = make_tail(adverbs="aIT")
    done = "[DMFQ]"

    return Language(
        load_words("french"),
        load_phrases("french"),
        signs=frozenset("àâæçèêëîïôùûœ"),
        whole=compile_forms(
            # C'est fait pour durer: what it is made for.
            (rf"{subject}ba*D", still),
            (rf"{subject}ba*[MFQ]", make_tail("16")),
            ("ib?a*D", make_tail("4")),
            (rf"{subject}vpa*{done}", FREELY),
            (rf"{subject}[utd]?va*u?a*{done}a*(?:{target})?", make_tail("123567")),
            (rf"i[utd]?va*u?a*{done}a*{target}", FREELY),
            (rf"{subject}~[=C](?:{target})?", make_tail("12367")),
            (rf"u?[{WORK}Q]{{1,5}}a*D", still),
            (rf"u?[{WORK}Q]{{1,5}}a*[MF]", make_tail("16")),
            (rf"{subject}ba*I", now),
            (rf"{ticket}(?:b|vp)?a*[KL]", now),
            # Without its accent: le ticket est ferme.
            (rf"{ticket}ba*C", now),
            (rf"{subject}[utd]?va*K{ticket}", now),
            (rf"{problem}(?:ba*|va*)O", now),
            (rf"{anything}W", now),
            (rf"u?[dt]?[{THING}]{{1,5}}V", now),
            (r"[ut]Vu?", now),
            (rf"{anything}Y[aI]+", now),
            (rf"{anything}x?zS", now),
            (rf"{problem}x?[nz]S", now),
            (rf"i[utd]?C(?:{ticket})?", rf"(?:{now}|[0w].*$)"),
        ),
        bare=compile_forms(
            ("u?D", make_tail("4")),
            ("u?[MF]", make_tail("12467")),
            ("K", now),
            ("(?:b|vp)a*[DMFQ]", make_tail("1")),
            ("ba*I", now),
            ("I", r"!$"),
            ("W", now),
            ("V[aI]+", now),
            ("N?X", now),
            (rf"(?:i?N|Ni)C(?:{ticket})?", now),
        ),
    )


def _spanish() -> Language:
    noun = make_noun()
    subject = rf"(?:[iut]|u?{noun})a*"
    anything = rf"(?:[ut]|u?{make_noun(THING)})a*"
    problem = r"(?:u?[dt]?[nj]{0,3}q[nj]{0,2})a*"
    ticket = "(?:[ut]|[dt][njq]{0,2}[jq][njq]{0,2}|[jq][njq]{0,2})"
    target = (
        rf"(?:[ut]|u?[dt]a?[{THING}]{{1,6}}(?:7[dt]?[{THING}]{{1,4}})?"
        rf"|[jq][njq]{{0,3}}|[{WORK}]{{1,3}}(?=[1I]))"
    )
    now = make_tail(adverbs="aI")
    still = make_tail(adverbs="aIT")

    return Language(
        load_words("spanish"),
        load_phrases("spanish"),
        signs=frozenset("áíñóú¿¡"),
        whole=compile_forms(
            # Listo para revisar: it is ready, and not finished.
            (rf"{subject}[bt9]a*u?a*[DMFKQ]u?", still),
            (rf"{subject}[bt9]a*u?a*[MFKQ]u?", make_tail("16")),
            (rf"{subject}(?:vp|P)a*[DMFK]", FREELY),
            (rf"(?:{subject})?k?u?va*[DMF]a*(?:{target})?", make_tail("1236")),
            (rf"(?:{subject})?va*K{ticket}", now),
            (rf"(?:{subject})?k[JE]a*(?:{target})?", make_tail("123")),
            (rf"{subject}J", now),
            (rf"i?u?E(?:{target})?", make_tail("12346")),
            (rf"i?(?:uE|E{target})", FREELY),
            (rf"i?u?~[=C](?:{target})?", make_tail("1236")),
            (rf"u?[{WORK}]{{1,5}}a*[DMFK]", still),
            (rf"u?[{WORK}]{{1,5}}a*[MFK]", make_tail("16")),
            (rf"{subject}[bt9]a*u?I", now),
            (rf"{problem}(?:k?v)?O", now),
            (rf"{anything}W", rf"u?{now}"),
            (rf"(?<=a)W(?:[ut]|[dt]?[{THING}]{{1,4}})", now),
            (rf"{anything}V[aI]+", now),
            (rf"{anything}Y[aI]+", now),
            (rf"{anything}aY", now),
            (rf"{anything}Zz", now),
            (rf"{problem}Z[nz]", now),
        ),
        bare=compile_forms(
            ("D", make_tail("4")),
            ("[MFK]", make_tail("1246")),
            ("u[DMF]", now),
            ("[bt9]a*u?a*[DMFKQ]u?", still),
            ("[bt9]a*u?a*[MFKQ]u?", make_tail("16")),
            ("[bt9]a*u?I", now),
            ("kNC", now),
            ("9", now),
            ("k?P[DMF]", make_tail("16")),
            ("W", rf"u?{now}"),
            ("(?<=a)V", now),
            ("J", r"(?:[aI]+|o.*|!)$"),
            ("Zz", now),
            ("N?X", now),
            (rf"(?:N|[ud])?C(?:{ticket})?", r"(?:[oN].*|[0w].*|!?)$"),
        ),
    )


LANGUAGES: Final = (_english(), _german(), _french(), _spanish())
