"""Frames that pose as something other than a note, and what they hold.

A frame is a heading, a rule of signs with a title, a tag, a label, a header of keys, the prompt of a console
or the end of what the note stands in. Its title says who speaks: the system, whoever runs or made it, the model
itself or a tool. That alone is no threat, because people head their notes "System requirements" and quote
consoles. It is one when what follows takes power: lifts what holds a model back, grants, or gives orders.
"""

# An expression is easier to check when it is not cut in pieces.
# ruff: noqa: E501

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import lru_cache
from typing import Final

from mnemos.text.threats.context import is_explained, is_introduced, is_talked_about
from mnemos.text.threats.folding import folded
from mnemos.text.threats.host_words import BARE, EMPOWERED, HEADED, WORD, WORDS
from mnemos.text.threats.power import HELD, OFF, Power, folded_words, power

Find = tuple[str, int, int]
"""The reason, where it starts, and where it ends."""

_POSES: Final = "poses as the system or its operator"
_BREAKS_OUT: Final = "pretends that the notebook ends and somebody else speaks"
_THINKS: Final = "puts words into the mouth of the model or of a tool"
_REACH: Final = 320
_SENTENCE_END: Final = re.compile(r"[.!?;]+(?=[\s\"'<)\]])|\n|\u3002|[%*=|@>]{2,}")


@dataclass(frozen=True, slots=True)
class _Frame:
    """A frame from ``start`` to ``end``, and how much what follows has to take to make it a threat.

    ``before``: how far back it may stand instead.
    """

    start: int
    end: int
    least: Power
    reason: str = _POSES
    before: int = 0


class _Form(Enum):
    """How a title is set: between signs, as a heading of a text, or before a colon."""

    BANNER = auto()
    HEADING = auto()
    LABEL = auto()


class _Powers:
    """Where a text takes power, sentence by sentence; no sentence reaches over the edge of a frame."""

    def __init__(self, text: str, frames: list[_Frame]) -> None:
        self._places: dict[Power, list[int]] = {level: [] for level in Power}
        titles = {frame.start for frame in frames}
        edges = titles | {frame.end for frame in frames}
        start = 0
        for end in sorted({*edges, *(mark.end() for mark in _SENTENCE_END.finditer(text)), len(text)}):
            taken = Power.NONE
            if start not in titles:
                taken = power(text[start : min(end, start + _LONGEST_SENTENCE)])
            for level in range(Power.RULE, taken + 1):
                self._places[Power(level)].append(start)
            start = end
        if not text.isascii():
            found = [match.start() for match in EMPOWERED.finditer(text)]
            for level in _LEVELS:
                self._places[level] = sorted((*self._places[level], *found))

    def near(self, start: int, least: Power, *, before: int = 0) -> bool:
        """Whether a sentence that begins behind ``start``, or a little before, takes that much."""
        if least is Power.NONE:
            return True
        places = self._places[least]
        at = bisect_left(places, start - before)
        return at < len(places) and places[at] <= start + _REACH


_LEVELS: Final = (Power.RULE, Power.ORDER, Power.TAKEN, Power.FREED)
_LONGEST_SENTENCE: Final = 1_000

# --- frames ------------------------------------------------------------------------------------------


# Signs that draw lines and boxes, brackets, and the pictures that warn.
_DRAWN: Final = "#*=~%@<>\\[\\](){}+!\u2500-\u259f\u25a0-\u25ff\u2600-\u27bf\u3008-\u3011\u3014-\u301b\U0001f300-\U0001faff"
_BANNER: Final = re.compile(
    rf"(?:^|(?<=[\s.\"'`]))(?:[{_DRAWN}]|--|//|/\*|:::|\u3010)[{_DRAWN}-]{{0,80}}+[ \t]{{0,3}}"
    rf"(?P<title>[^\W_][^\n:{_DRAWN}]{{1,70}}?)[ \t]{{0,3}}(?:\([^()\n]{{1,40}}\)[ \t]{{0,3}})?"
    rf"(?:[{_DRAWN}]|--+|:|\n|$)[{_DRAWN}-]{{0,80}}+"
)
_BEGINS: Final = re.compile(r"(?:^|(?<=\n))[ \t]{0,3}(?:begin|start) (?P<title>[^\n:]{3,40})(?:\n|:|$)")
_LABEL: Final = re.compile(
    r"(?:^|(?<=\n)|(?<=[.!?] ))[ \t>*-]{0,4}(?P<title>[^\W\d_][^\n:()]{1,50}?)\s?(?P<aside>\([^()\n]{1,40}\))?[*_]{0,2}\s?(?::|>{1,3}|[-=]>|\|)"
)
_LINE: Final = re.compile(r"(?:^|(?<=\n))[ \t]{0,3}(?P<title>[^\W\d_][^\n:.,;!?]{5,60})\n")
_TAG: Final = re.compile(
    r"<\s?(?P<slash>/?)\s?(?P<name>[^\W\d_][\w.:-]{1,30})(?P<keys>(?:\s[^<>\n]{0,120})?)/?>"
)
_STANDS_ALONE: Final = r"(?=\s*(?:$|[\n\"',;|}\])>:]|[\w-]{2,20}\s?[:=]|\.(?:\s|$)))"
_KEY: Final = re.compile(
    r"(?<![\w.-])(?:x-)?(?:message[-_ ])?(?:(?:role|type|rolle|rol|ruolo|papel)\"?\s?[:=]\s?[\"']?(?P<chat>system|developer)"
    r"|(?:role|rolle|rol)\"?\s?[:=]\s?[\"']?(?P<user>root|admin|administrator|superuser)"
    r"|(?:from|author|source|issuer|issued[-_ ]by|sender|authority|speaker|origin|sent[-_ ]by|signed[-_ ]by)\"?\s?[:=]\s?[\"']?"
    r"(?P<host>system|developer|operator|admin|administrator|root|host|platform|superuser|entwickler|betreiber|sistema"
    rf"|desarrollador|operador|sviluppatore|systeme)){_STANDS_ALONE}"
)
# Settings by which a header raises itself above others.
_RAISED: Final = re.compile(
    r"(?<![\w.])(?:x-)?(?:priority|trust(?:ed)?|override|overrides|supersedes|clearance|level|auth|authority|scope|rank"
    r"|precedence|privilege|importance|verified)\"?\s?[:=]\s?[\"']?(?:0|1|highest|high|max|maximum|critical|absolute|full"
    r"|true|yes|ok|root|all|system|admin|top|urgent|p0)\b"
)
_COMPOUND: Final = re.compile(
    r"(?:syste?em|entwickler|betreiber|admin|administrator|ontwikkelaars?|utvecklar|jarjestelma|rendszer|operator|udvikler)"
    r"[s-]?(?:nachricht|meldung|hinweis|anweisung|mitteilung|befehl|prompt|bericht|melding|opdracht|meddelande|besked"
    r"|meddelelse|viesti|ilmoitus|uzenet|utasitas|richtlinie|weisung|regel|instruktion|instructie|vorgabe|modus|mode)\w{0,3}"
)
# What heads notes of people whose work is called so.
_OF_PEOPLE: Final = frozenset(
    "note notes nota update reminder memo alert rule rules order orders announcement bulletin messages".split()
)
_RULING: Final = frozenset("policy instruction instructions prompt guardrail authorization".split())
_COMMANDING: Final = frozenset("directive directives override".split())
_ASSISTANT: Final = folded_words(
    "assistant claude gpt chatgpt copilot gemini llm assistent asistente assistente asystent ассистент асистент asistan"
)
_MODEL: Final = _ASSISTANT | folded_words(
    "ai model agent ki ia bot ии modell modele modelo modello модель assistants agents"
)
_MODEL_ABROAD: Final = re.compile(folded("(?:ai)?(?:助手|助理|アシスタント|어시스턴트|المساعد|सहायक)").text)
_THOUGHT: Final = folded_words(
    "thought thoughts thinking think reasoning reflection scratchpad monologue analysis gedanke gedanken überlegung"
    " überlegungen pensée pensées réflexion raisonnement pensamiento pensamientos razonamiento reflexión pensiero"
    " pensieri ragionamento riflessione pensamento pensamentos raciocínio gedachte gedachten redenering tankar"
    " resonemang myśli rozumowanie myšlenky úvaha рассуждение рассуждения мысли размышления міркування düşünce düşünceler"
)
_ASIDE: Final = folded_words(
    "me myself internal private hidden to self note own silent inner memory summary intern interne internen interner privat"
    " privée interno interna privado interior interiore log my for the of step final de la du del l der des inre wewnętrzne"
    " vnitřní внутренние внутреннее внутрішні iç der"
)
_PEOPLE: Final = frozenset("user human nutzer benutzer utilisateur usuario utente".split())
_TOOL: Final = re.compile(
    r"(?:tools?|function|functions|plugin|werkzeug\w{0,2}|outil|herramienta|strumento|ferramenta|approval|mcp|resultado|resultat|risultato)"
)
_RESULT: Final = re.compile(
    r"(?:result|response|output|return|returned|reply|observation|ergebnis|resultat|resultado|risultato|outil|herramienta|strumento"
    r"|ferramenta|l'outil|d'outil)s?"
)
_TOOL_RESULT: Final = re.compile(
    r"(?:observation|(?:werkzeug|tool)-?(?:ergebnis|antwort|ausgabe|result)\w{0,2}|verktygsresultat)"
)
_BULLETS: Final = frozenset("*+>~")
_CLOSING: Final = re.compile(r"\]\]>")


def frames(text: str) -> Iterator[Find]:
    """Where ``text``, folded, is framed as something that only the host, the model or a tool says."""
    yield from _consoles(text)
    found = [*_banners(text), *_labels(text), *_tags(text), *_headers(text)]
    if not found:
        return
    powers = _Powers(text, found)
    for frame in found:
        takes = powers.near(frame.end, frame.least, before=frame.before)
        if frame.reason is _BREAKS_OUT:
            takes = takes or _from_the_host(text[frame.end : frame.end + 120])
        if takes and not _is_told(text, frame):
            yield frame.reason, frame.start, frame.end


@lru_cache(maxsize=1_024)
def _from_the_host(text: str) -> bool:
    """Whether the text begins with something like "this comes from the operator"."""
    words = WORD.findall(text)[:12]
    return any(
        "host" in WORDS.of(word)
        and (
            not _FROM.isdisjoint(words[max(0, number - 2) : number])
            or words[number + 1 : number + 2] == ["here"]
        )
        for number, word in enumerate(words)
    )


_FROM: Final = frozenset("from by von vom de del du da do van fra fran от od dal dari".split())


def _is_told(text: str, frame: _Frame) -> bool:
    """Whether the frame is explained: by what stands before it, or by the word right behind it."""
    # The marks around the keys of JSON quote nothing.
    explains = (
        is_introduced(text, frame.start) if frame.before else is_explained(text, frame.start, frame.end)
    )
    return explains or _NAMED.match(text, frame.end) is not None


_NAMED: Final = re.compile(
    r"[\s\"'`]{0,3}(?:tags?|tokens?|prefix|lines?|blocks?|headers?|entries|entry|means|is|are|in the log|elements?|fields?)\b"
)


def _banners(text: str) -> Iterator[_Frame]:
    for expression in (_BANNER, _BEGINS):
        for banner in expression.finditer(text):
            title = banner["title"]
            drawn = text[banner.start() : banner.start("title")].strip(" \t")
            if drawn in _BULLETS:
                continue
            is_drawn = drawn.strip("#") or "#" in text[banner.end("title") : banner.end()]
            least = _least(title, _Form.BANNER if is_drawn else _Form.HEADING)
            if least is None and "[" in drawn and _from_the_host(title):
                least = Power.TAKEN
            if least is not None:
                yield _Frame(banner.start(), banner.end(), least)
            elif (least := _ends(title)) is not None:
                yield _Frame(banner.start(), banner.end(), least, _BREAKS_OUT)
    for line in _LINE.finditer(text):
        least = _least(line["title"], _Form.HEADING)
        if least is not None and len(line["title"].split()) > 1:
            yield _Frame(*line.span(), least)
    for closing in _CLOSING.finditer(text):
        if "<![cdata[" not in text[: closing.start()]:
            yield _Frame(*closing.span(), Power.ORDER, _BREAKS_OUT)


@lru_cache(maxsize=1_024)
def _least(title: str, form: _Form) -> Power | None:
    """How much has to be taken under a title of the host; None if it is none."""
    if HEADED.fullmatch(title.strip()):
        return None if form is _Form.LABEL and BARE.fullmatch(title.strip()) else Power.TAKEN
    if compound := next(filter(_COMPOUND.fullmatch, title.split()), None):
        if form is _Form.BANNER:
            return Power.ORDER
        return Power.TAKEN if compound.startswith("sys") else Power.FREED
    words = WORD.findall(title.replace("_", " ").replace("-", " "))
    if not 0 < len(words) <= _LONGEST_TITLE:
        return None
    if form is _Form.BANNER and _PRIVILEGED.intersection(words) and _SECTION.intersection(words):
        return Power.RULE
    fields = list(WORDS.read(words))
    hosts = [number for number, of in enumerate(fields) if "host" in of]
    strange = [word for word, of in zip(words, fields, strict=True) if not of & _TITLE and not word.isdigit()]
    if not hosts or len(strange) > _STRANGE[form]:
        return None
    messages = {words[number] for number, of in enumerate(fields) if "message" in of}
    if all("office" in fields[number] for number in hosts):
        return _least_of_office(form, set(words), messages, is_bare=not strange)
    if messages:
        return Power.ORDER if form is _Form.BANNER else Power.TAKEN
    if strange or len(words) > _LONGEST_NAME:
        return None
    return Power.TAKEN if form is _Form.BANNER else Power.FREED


def _least_of_office(form: _Form, words: set[str], messages: set[str], *, is_bare: bool) -> Power | None:
    """The same where the host is called like people are: an operator, a developer, an administrator."""
    if not messages:
        return Power.FREED if is_bare and form is _Form.BANNER else None
    if messages & _COMMANDING:
        return Power.ORDER
    if words & _MODEL:
        return Power.TAKEN
    if messages <= _OF_PEOPLE or (form is not _Form.BANNER and messages <= _RULING):
        return None
    return Power.FREED


_STRANGE: Final = {_Form.BANNER: 2, _Form.HEADING: 0, _Form.LABEL: 0}
"""So many words of a title may be about something else."""
_PRIVILEGED: Final = frozenset("privileged trusted authoritative elevated".split())
_SECTION: Final = frozenset("context section content instructions zone area segment".split())
_TITLE: Final = frozenset(("host", "message", "title"))
_LONGEST_TITLE: Final = 8
_LONGEST_NAME: Final = 4


@lru_cache(maxsize=1_024)
def _ends(title: str) -> Power | None:
    """How much has to be taken behind "end of notebook", "Ende der Notizen"; None if nothing ends.

    People end their notes and files so, but no notebook and nothing that is called untrusted.
    """
    words = WORD.findall(title.replace("_", " "))[:_LONGEST_TITLE]
    fields = list(WORDS.read(words))
    if not any("end" in of for of in fields) or not any("container" in of for of in fields):
        return None
    return Power.TAKEN if any("paper" in of for of in fields) else Power.ORDER


def _labels(text: str) -> Iterator[_Frame]:
    turns: list[_Frame] = []
    asked: list[_Frame] = []
    for label in _LABEL.finditer(text):
        title, aside = label["title"], label["aside"] or ""
        words = WORD.findall(title)
        if (least := _least_of_turn(words, aside)) is not None:
            turns.append(_Frame(*label.span(), least, _THINKS))
        elif len(words) == 1 and words[0] in _PEOPLE:
            asked.append(_Frame(*label.span(), Power.TAKEN, _THINKS))
        elif _is_a_result(words):
            yield _Frame(*label.span(), Power.TAKEN, _THINKS)
        elif (least := _least(title, _Form.LABEL)) is not None:
            yield _Frame(*label.span(), least)
    if asked:
        # A question and its answer: a chat, and no list of roles.
        turns = [replace(turn, least=min(turn.least, Power.TAKEN)) for turn in turns]
    yield from turns
    if turns:
        yield from asked
    for result in _RESULTS.finditer(text):
        yield _Frame(*result.span(), Power.TAKEN, _THINKS)


def _is_a_result(words: list[str]) -> bool:
    first, second, *_ = (*words, "", "")
    if _TOOL_RESULT.fullmatch(first):
        return True
    return (
        _TOOL.fullmatch(first) is not None
        and _RESULT.fullmatch(words[-1] if len(words) < 5 else second) is not None
    )


_RESULTS: Final = re.compile(
    r"(?:^|(?<=\n)|(?<=[.!?] ))[ \t\[<(*#]{0,4}(?:tool|function)[-_ ]?(?:result|response|output|return)s?\b[^\n]{0,40}?"
    r"(?:->|=>|\]|>|=)|(?:^|(?<=\n)|(?<=[.!?] ))[ \t]{0,3}(?:result|response|output|return value) (?:of|from) \w{2,40}(?:\(\))?\s?:"
)


def _least_of_turn(words: list[str], aside: str) -> Power | None:
    """How much has to be taken by what the model is made to say; None if it is not the model.

    A machine and a printer have a model too, and offices have assistants. Nobody else thinks aloud.
    """
    if len(words) == 1 and _MODEL_ABROAD.fullmatch(words[0]):
        return Power.RULE if aside else Power.FREED
    if not words or len(words) > _LONGEST_THOUGHT:
        return None
    named = [*words, *WORD.findall(aside)]
    models = [word for word in named if word in _MODEL]
    thoughts = [word for word in named if word in _THOUGHT]
    if not all(word in _MODEL or word in _THOUGHT or word in _ASIDE for word in named):
        return None
    if models and thoughts:
        return Power.RULE
    return Power.FREED if thoughts or named[0] in _ASSISTANT else None


_LONGEST_THOUGHT: Final = 6


def _tags(text: str) -> Iterator[_Frame]:
    if "<" not in text:
        return
    opened: set[str] = set()
    for tag in _TAG.finditer(text):
        name = tag["name"]
        words = re.split(r"[-_.:]", name)
        if tag["slash"]:
            if name not in opened and any("container" in WORDS.of(word) for word in words):
                yield _Frame(*tag.span(), Power.ORDER, _BREAKS_OUT)
            continue
        opened.add(name)
        if any(word in _THOUGHT or word in _ASSISTANT for word in words):
            yield _Frame(*tag.span(), Power.TAKEN, _THINKS)
        elif _least(name.replace("-", " "), _Form.HEADING) is not None or HEADED.fullmatch(name):
            yield _Frame(*tag.span(), Power.ORDER)
        elif any("message" in WORDS.of(word) and word not in _OF_PEOPLE for word in words):
            yield _Frame(*tag.span(), _least_of_tag(tag["keys"]))


def _least_of_tag(keys: str) -> Power:
    """The same for a tag that is called policy or instruction, by what is set in it."""
    if _RAISED.search(keys):
        return Power.RULE
    return Power.ORDER if any("host" in WORDS.of(word) for word in WORD.findall(keys)) else Power.TAKEN


def _headers(text: str) -> Iterator[_Frame]:
    """``role=developer priority=0``: keys that say who speaks, and how loudly."""
    for key in _KEY.finditer(text):
        around = max(0, key.start() - _HEADER), key.end() + _HEADER
        if key["user"]:
            # What an account is called that may do everything; it says nothing to a model.
            yield _Frame(*key.span(), Power.FREED, before=_HEADER)
            continue
        raised = _RAISED.search(text, *around) is not None
        ruled = raised and _DIRECTIVE.search(text, *around) is not None
        least = Power.NONE if ruled else Power.RULE if raised else Power.TAKEN
        if key["chat"] and _BODY.search(text, key.end(), around[1]):
            least = min(least, Power.ORDER)
        yield _Frame(*key.span(), least, before=_HEADER)


_HEADER: Final = 120
_BODY: Final = re.compile(r"(?<!\w)(?:body|content|text|message|payload)\"?\s?[:=]")
_DIRECTIVE: Final = re.compile(r"(?<!\w)(?:directive|instruction|order|command|mandate)s?\"?\s?[:=]")

# --- consoles ----------------------------------------------------------------------------------------

_CONSOLE: Final = re.compile(
    rf"(?:^|(?<=\n))[ \t]{{0,4}}(?:[\w@.:~/ \[\]()-]{{1,40}}?[>#$%]{{1,3}}|>>>|console\s?:)[ \t]{{1,3}}(?:[^\n]{{0,80}}?"
    rf"(?:\b{HELD}[\"']?\s?(?:=|:|\s|\.|[-=]>)\s?[\"']?{OFF}(?![\w])|\b{OFF}\s{HELD}\b|\b(?:disable|bypass|suspend|skip)\s(?:the\s)?{HELD}\b"
    rf"|\bunrestricted\b)"
    r"|(?:agent|assistant|model|ai|bot|llm|session)\.[\w.]{0,40}?(?:permission|guard|confirm|approv|polic|safety|restrict)\w{0,12}"
    r"(?:\.(?:grant|disable|allow|bypass|revoke|clear)\w{0,10}\(|\s?=\s?(?:false|none|0|off)\b))"
)
# A console of whoever runs the model needs fewer words.
_HOST_CONSOLE: Final = re.compile(
    r"(?:^|(?<=\n))[ \t]{0,4}(?:[\w.:\\/-]{0,20}[\\/-])?(?:agent|assistant|operator|operador|betreiber|ops|system|sistema|model|ai|policy|guard)(?:[-_]?\w{1,12})?"
    r"[>#$%]{1,3}[ \t]{1,3}[^\n]{0,60}?(?:polic|permission|confirm|approv|aprob|aprov|trust|filter|guard|safety|restrict|limit|review|freigabe|permis)\w{0,12}"
    rf"(?:[^\n]{{0,40}}?[ =:$])(?:{OFF}|everything|unlimited|nenhuma?|ninguna?|keine?|aus|true)(?!\w)"
)


def _consoles(text: str) -> Iterator[Find]:
    for console in (*_CONSOLE.finditer(text), *_HOST_CONSOLE.finditer(text)):
        if not is_introduced(text, console.start()) and not is_talked_about(text, *console.span()):
            yield "imitates a console in which the model is set free", *console.span()
