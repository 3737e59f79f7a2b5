"""What stands around a find, which decides whether it is meant.

"Ignore all previous instructions" is dangerous when it is said to the model, and harmless when a note
says that the scanner must catch it. Two questions tell them apart: is it *addressed* (an imperative, or
said to "you"), and is it only *mentioned* (quoted, or named as an example, by a sentence about such texts)?

All of it looks at a bounded stretch around the find, so that a hostile text costs no more than its length.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_AROUND: Final = 240


# --- is it addressed? ----------------------------------------------------------------------------

_BOUNDARY: Final = frozenset(".!?:;,\n-*>#([{|\"'`•·)]}=/")
_LEAD: Final = frozenset(
    "please pls now and then just also simply kindly so first always instead hereby therefore but or next "
    "immediately important attention note urgent again ok okay hey yes finally otherwise simultaneously "
    "henceforth afterwards secondly thus do "
    "bitte und dann jetzt nun sofort zuerst einfach also aber oder immer wichtig "
    "et puis ensuite maintenant alors svp veuillez mais ou donc toujours toi vous tu important merci "
    "y luego ahora despues entonces favor pero o siempre debes tienes tu usted importante e".split()
)
_MODALS: Final = frozenset("must should shall will can may could would 'll cannot can't".split())
_ORDERS: Final = frozenset("must should shall".split())
_YOU: Final = frozenset("you u ya du sie ihr tu vous usted ustedes".split())
_MODELS: Final = frozenset(
    "assistant model ai agent claude chatgpt gpt llm bot hermes gemini copilot assistants models agents ki".split()
)
_CONDITIONS: Final = frozenset("if when unless because whenever that what how why where wenn si cuando quand".split())
_TO_YOU: Final = re.compile(
    r"\b(?:(?:you|du|sie|tu|vous)(?:'re|'ve|'d)?(?:\s+[a-z']+){0,4}|(?:remember|sure|careful|free|need|want|wish)"
    r"|your\s+(?:[a-z]+\s+){1,3}(?:is|are)(?:\s+[a-z]+){0,2}"
    r"|(?:it\s+is|it's)\s+[a-z]+|(?:assistant|model|ai|agent)\s+(?:has|needs|is|ought)(?:\s+[a-z]+){0,2})\s+to$"
)
_WORDS_BEFORE: Final = re.compile(r"[\w']+")
_END_OF_CLAUSE: Final = re.compile(r"[.!?:;,\n(\[{|\"`>#•]")


def is_addressed(text: str, start: int) -> bool:
    """Whether the verb at ``start`` is an imperative, or what "you" or the model must do."""
    before = text[max(0, start - 80) : start].rstrip(" \t")
    if not before or before[-1] in _BOUNDARY:
        return True
    clause = _END_OF_CLAUSE.split(before)[-1].strip(" -*'")
    if _TO_YOU.search(clause):
        return True
    words = _WORDS_BEFORE.findall(clause)
    while words and words[-1].endswith("ly") and len(words[-1]) > 4:
        words.pop()
    if not words:
        return True
    return _is_lead(words)


def _is_lead(words: list[str]) -> bool:
    last = words[-1]
    earlier = words[-2] if len(words) > 1 else ""
    if last in _LEAD:
        return True
    if last in _MODALS:
        return earlier in _YOU or (last in _ORDERS and earlier in _MODELS)
    if last in _YOU:
        return earlier not in _CONDITIONS
    return last in _MODELS and len(words) <= 2


_NEGATION: Final = re.compile(
    r"\b(?:never|not|don'?t|doesn'?t|didn'?t|cannot|can'?t|mustn'?t|shouldn'?t|won'?t|avoid|refuse|refuses|without"
    r"|no|nobody|nothing|none|forbidden|prohibited|instead of|rather than|stop|prevents?|avoids?"
    r"|nie|niemals|nicht|kein|keine|keinen|nichts|ohne|jamais|pas|ne|n'|rien|aucun|aucune|sans|nunca|jamas|no|ningun|sin)\b"
)


def is_negated(text: str, start: int, *, reach: int = 60) -> bool:
    """Whether the clause before ``start`` says that it must not, or does not, happen."""
    before = text[max(0, start - reach) : start]
    clause = re.split(r"[.!?;\n]|\bbut\b|\baber\b|\bmais\b|\bpero\b|: ", before)[-1]
    return _NEGATION.search(clause) is not None


# --- is it mentioned? ----------------------------------------------------------------------------

_QUOTES: Final = '"`'
# An apostrophe inside a word is no quotation mark.
_SINGLE_OPEN: Final = re.compile(r"(?<![\w'])'(?=[\w<\[#{$])")
_SINGLE_CLOSE: Final = re.compile(r"(?<=[\w.!?>\]})])'(?![\w'])")

_ABOUT: Final = re.compile(
    r"\b(?:detect\w*|catch\w*|caught|flag(?:s|ged|ging)?|block\w*|reject\w*|refus\w*|filter\w*|scan\w*|sanitiz\w*|strip\w*"
    r"|escap\w*|guard\w*|tests?|tested|testing|fixtures?|assert\w*|regex\w*|regexp|patterns?|examples?|e\.g|such as|phrases?|strings?|wordings?"
    r"|payloads?|inject\w*|jailbreak\w*|attack\w*|malicious|hostile|adversar\w*|red[- ]?team\w*|pentest\w*|threats?|suspicious"
    r"|vulnerab\w*|cve|owasp|phishing|slides?|quot\w*|literals?|contain\w*|parser|parse[sd]?|tokeniz\w*|templates?|corpus"
    r"|dataset|benchmark\w*|probe[sd]?|honeypot|demo\w*|poison\w*|spam\w*|scam\w*|finding|findings|attempt\w*|tried|tries|trick\w*"
    r"|exploit\w*|classif\w*|false positives?|sample[sd]?|lint\w*|rule id|treat(?:ed)? as data|variants?|trips?|talk|blog|article|paper|sentence|wording"
    r"|never (?:follow|obey|act on|do|execute|run)|not (?:follow|obey|act on|comply|execute|run)|untrusted"
    r"|erkenn\w*|erkannt|blockier\w*|filter\w*|beispiel\w*|z\.\s?b|muster|angriff\w*|angreifer|schadhaft\w*|boswillig\w*|prufe?n?|prufung"
    r"|satz|satze|formulierung\w*|zeichenkette\w*|schulung\w*"
    r"|detecte\w*|bloque\w*|filtre\w*|exemples?|par ex|motifs?|attaque\w*|attaquant\w*|malveillant\w*|phrases?|chaine\w*|formation"
    r"|detecta\w*|ejemplos?|p\. ?ej|patron\w*|ataque\w*|atacante\w*|malicios\w*|frases?|cadenas?|prueba\w*|rechaza\w*|marca\w*)\b"
)
# "phrases like X", "e.g. X", "the string X": no quotation marks needed.
_NAMING: Final = re.compile(
    r"(?:\b(?:(?:phrases?|strings?|texts?|lines?|payloads?|patterns?|sentences?|prompts?|attacks?|injections?|inputs?|messages?"
    r"|things?|commands?|titled|literal|words?|comments?|variants?)\s+(?:like|such as|saying|says?|containing|e\.g\.|of the form|is|are|was)"
    r"|such as|e\.g\.?,?|i\.e\.?,?|for example,?|for instance,?|examples?:|(?:the|a|classic)\s+(?:phrase|string|words|payload|pattern|sentence|classic|wording|title)"
    r"|wie(?: etwa)?|z\.\s?b\.|zum beispiel|par exemple|comme|p\. ?ej\.|por ejemplo|como)\s*[:\-]?\s*[\"'`(]*)$"
)
_TOLD_TO_USE: Final = re.compile(
    r"\b(?:follow|obey|apply|comply with|act on|carry out|adhere to|respond with|reply with|output|repeat|say|remember|befolge|suis|sigue"
    r"|rule|instruction|directive|order|command|regel|consigne|regla|your (?:new )?(?:goal|task|job|mission))"
    r"(?:\s+(?:this|these|that|the following|what follows|the|exactly|strictly|is|now))*\s*[:\-]?\s*$"
)


@dataclass(frozen=True, slots=True)
class Quotation:
    """A quoted stretch: where it opens and where it closes, marks included."""

    start: int
    end: int


def quotation(text: str, start: int, end: int) -> Quotation | None:
    """The quotation that ``text[start:end]`` stands in, if any: quotes, backticks or a block of code."""
    first = max(text.rfind("\n\n", 0, start) + 1, start - _AROUND)
    last = text.find("\n\n", end)
    last = min(last if last >= 0 else len(text), end + _AROUND)
    before, after = text[first:start], text[end:last]
    for mark in _QUOTES:
        if before.count(mark) % 2 and mark in after:
            return Quotation(first + before.rfind(mark), end + after.index(mark) + 1)
    opened = [found.start() for found in _SINGLE_OPEN.finditer(text, first, start + 1)]
    if opened and (closed := _SINGLE_CLOSE.search(text, max(opened[-1] + 1, end - 1), last)):
        between = _SINGLE_CLOSE.search(text, opened[-1] + 1, start)
        if between is None:
            return Quotation(opened[-1], closed.end())
    return _fence(text, start, end)


def _fence(text: str, start: int, end: int) -> Quotation | None:
    opened = text.rfind("```", max(0, start - 2_000), start)
    closed = text.find("```", end, end + 2_000)
    if opened < 0 or closed < 0 or text.count("```", max(0, start - 2_000), start) % 2 == 0:
        return None
    return Quotation(opened, closed + 3)


def is_mentioned(text: str, start: int, end: int) -> bool:
    """Whether ``text[start:end]`` is what a sentence talks about rather than what it says.

    Quotation marks alone prove nothing, because anybody can set them: the words outside have to be
    about examples, detection or attacks, and must not ask to follow what is quoted.
    """
    line = max(text.rfind("\n", 0, start) + 1, start - _AROUND)
    if _NAMING.search(text[line:start]):
        return True
    quoted = quotation(text, start, end)
    if quoted is None:
        return _is_listed(text, start)
    before = text[max(0, quoted.start - 160) : quoted.start]
    after = text[quoted.end : quoted.end + 140]
    if _TOLD_TO_USE.search(before) and not is_negated(text, quoted.start):
        return False
    return _ABOUT.search(before) is not None or _ABOUT.search(after) is not None


_HEADING: Final = re.compile(r"[^\n]*:[ \t*_]*$", re.M)


def _is_listed(text: str, start: int) -> bool:
    """Whether it is an item of a list whose heading says that these are examples or attacks."""
    line = text.rfind("\n", 0, start) + 1
    if start - line > 12 or not text[line:start].strip(" \t") or line == 0:
        return False
    above = text[max(0, line - 400) : line]
    headings = _HEADING.findall(above)
    return bool(headings) and _ABOUT.search(headings[-1]) is not None


def is_talked_about(text: str, start: int, end: int) -> bool:
    """Like ``is_mentioned``, for signs nobody writes by accident: a tag, a token, a piece of JSON.

    Here a quotation in a sentence is enough, and so is a sentence that speaks of formats before it.
    """
    quoted = quotation(text, start, end)
    if quoted is not None:
        outside = text[max(0, quoted.start - 160) : quoted.start] + " " + text[quoted.end : quoted.end + 140]
        if len(_WORDS_BEFORE.findall(outside)) >= 2:
            return not _TOLD_TO_USE.search(text[max(0, quoted.start - 60) : quoted.start])
    line = max(text.rfind("\n", 0, start) + 1, start - 160)
    stop = text.find("\n", end)
    stop = min(stop if stop >= 0 else len(text), end + 100)
    return _FORMAT.search(text[line:start]) is not None or (
        text[line:start].strip(" -*") != "" and _FORMAT.search(text[end:stop]) is not None
    )


_FORMAT: Final = re.compile(
    r"\b(?:tags?|tokens?|tokeniz\w*|templates?|formats?|parser?s?|parsing|stop (?:words?|sequences?)|delimiters?|wraps?|wrapped|wrapping|markup|syntax"
    r"|schema|emits?|looks? like|shaped|renders?|escap\w*|strip\w*|special|separators?|logs?|responses?|docs?|documented|example|convention|grammar|payload"
    r"|regex|expects?|serializ\w*|xml|markers?|prefix(?:ed)?|uses?|inject\w*|attack\w*|jailbreak\w*|detect\w*|block\w*|reject\w*|flag(?:s|ged)?|scan\w*|filter\w*|fixtures?|tests?|stop|eos|bos|chatml|vorlage|balise\w*|etiqueta\w*|formato|plantilla|format|gabarit)\b"
)
