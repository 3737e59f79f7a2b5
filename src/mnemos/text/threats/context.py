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
    "assistant model ai agent claude chatgpt gpt llm bot hermes gemini copilot assistants models agents"
    " ki".split()
)
_CONDITIONS: Final = frozenset(
    "if when unless because whenever that what how why where wenn si cuando quand".split()
)
_TO_YOU: Final = re.compile(
    r"\b(?:(?:you|du|sie|tu|vous)(?:'re|'ve|'d)?(?:\s+[a-z']+){0,4}|(?:remember|sure|careful|free|need|want"
    r"|wish)|your\s+(?:[a-z]+\s+){1,3}(?:is|are)(?:\s+[a-z]+){0,2}|^(?:please\s+|now\s+|then\s+)?(?:use|call"
    r"|invoke|take|open|run|make|get|configure|set up|create|write|try)\b.{0,60}|(?:it\s+is|it's)\s+[a-z]+"
    r"|(?:assistant|model|ai|agent)\s+(?:has|needs|is|ought)(?:\s+[a-z]+){0,2})\s+to$"
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
    r"\b(?:never|not|don'?t|doesn'?t|didn'?t|cannot|can'?t|mustn'?t|shouldn'?t|won'?t|nie|niemals|nicht"
    r"|jamais|pas|ne|nunca|jamas)\b"
    # These deny what they stand before, not what "and" adds to it.
    r"|\b(?:avoid|refuse|refuses|without|no|nobody|nothing|none|forbidden|prohibited|instead of|rather than"
    r"|stop|prevents?|avoids?|kein|keine|keinen|nichts|ohne|rien|aucun|aucune|sans|ningun|sin)\b(?!.*\b(?:and"
    r"|then|und|et|y)\b)"
)


def is_negated(text: str, start: int, *, reach: int = 60) -> bool:
    """Whether the clause before ``start`` says that it must not, or does not, happen."""
    before = text[max(0, start - reach) : start]
    clause = _NEW_CLAUSE.split(before)[-1]
    # "Stop, ignore …" is an order; "never, not even when asked, ignore …" is none.
    if _INSERTION.search(clause):
        return True
    return _NEGATION.search(clause.rpartition(",")[2]) is not None


_NEW_CLAUSE: Final = re.compile(r"[.!?;\n]|\bbut\b|\baber\b|\bmais\b|\bpero\b|: ")
_INSERTION: Final = re.compile(r"\b(?:never|nie|niemals|jamais|nunca|not|nor),? [^,]{3,40},\s*$")


# --- is it mentioned? ----------------------------------------------------------------------------

_QUOTES: Final = '"`'
# An apostrophe inside a word is no quotation mark.
_SINGLE_OPEN: Final = re.compile(r"(?<![\w'])'(?=[\w<\[#{$])")
_SINGLE_CLOSE: Final = re.compile(r"(?<=[\w.!?>\]})])'(?![\w'])")

_ABOUT: Final = re.compile(
    r"(?<![\w./@:-])(?:detect\w*|catch\w*|caught|flag(?:s|ged|ging)?|block\w*|reject\w*|refus\w*|filter\w*"
    r"|scan\w*|sanitiz\w*|strip\w*|escap\w*|guard\w*|tests?|tested|testing|fixtures?|assert\w*|regex\w*"
    r"|regexp|patterns?|examples?|e\.g|such as|phrases?|strings?|wordings?|payloads?|inject\w*|jailbreak\w*"
    r"|attack\w*|malicious|hostile|adversar\w*|red[- ]?team\w*|pentest\w*|threats?|suspicious|vulnerab\w*|cve"
    r"|owasp|phishing|slides?|quot\w*|literals?|contain\w*|parser|parse[sd]?|tokeniz\w*|templates?|corpus"
    r"|dataset|benchmark\w*|probe[sd]?|honeypot|demo\w*|malware|virus|trojan|backdoor\w*|compromised"
    r"|poison\w*|spam\w*|scam\w*|finding|findings|attempt\w*|tried|tries|trick\w*|exploit\w*|classif\w*"
    r"|false positives?|sample[sd]?|lint\w*|rule id|treat(?:ed)? as data|variants?|trips?|talks?|blog"
    r"|articles?|papers?|books?|chapters?|titles?|titled|told|sentence|wording|never (?:follow|obey|act on|do"
    r"|execute|run)|not (?:follow|obey|act on|comply|execute|run)|untrusted|erkenn\w*|erkannt|blockier\w*"
    r"|filter\w*|beispiel\w*|z\.\s?b|muster|angriff\w*|angreifer|schadhaft\w*|boswillig\w*|prufe?n?|prufung"
    r"|satz|satze|formulierung\w*|zeichenkette\w*|schulung\w*|detecte\w*|bloque\w*|filtre\w*|exemples?|par ex"
    r"|motifs?|attaque\w*|attaquant\w*|malveillant\w*|phrases?|chaine\w*|formation|detecta\w*|ejemplos?"
    r"|p\. ?ej|patron\w*|ataque\w*|atacante\w*|malicios\w*|frases?|cadenas?|prueba\w*|rechaza\w*"
    r"|marca\w*)(?![\w-]|\.\w)"
)
# "phrases like X", "e.g. X", "the string X": no quotation marks needed.
_NAMING: Final = re.compile(
    r"(?:\b(?:(?:phrases?|strings?|texts?|lines?|payloads?|patterns?|sentences?|prompts?|attacks?|injections?"
    r"|inputs?|messages?|things?|commands?|titled|literal|words?|comments?|variants?)\s+(?:like|such as"
    r"|saying|says?|containing|e\.g\.|of the form)|(?:told|tells|telling|asked|asks|asking|instruct\w*"
    r"|trick\w*|urg\w+|got|made)\s+(?!you\b)(?:[\w'-]+\s+){1,3}to|(?:asking|telling|trying|attempting)\s+to"
    r"|(?<!this )(?:readme|page|site|website|document|doc|pdf|image|comment|e-?mail|issue|pr|ticket|post"
    r"|tweet|attacker|hacker|scammer|somebody|someone|spammer|review|repo|package)\w{0,2}\s+(?:that\s+"
    r"|which\s+)?(?:says?|said|wrote|writes|reads?|contained|contains|containing|saying|reading)\s*:?"
    r"|(?:injections?|jailbreaks?|attacks?|exploits?|phishing|payloads?|angriff|attaque"
    r"|ataque)\b[^.!?\n:]{0,40}:|such as|e\.g\.?,?|i\.e\.?,?|for example,?|for instance,?|examples?:|(?:the|a"
    r"|classic)\s+(?:phrase|string|words|payload|pattern|sentence|classic|wording|title)|wie(?: etwa)?"
    r"|z\.\s?b\.|zum beispiel|par exemple|comme|p\. ?ej\.|por ejemplo|como)\s*[:\-]?\s*[\"'`(]*)$"
)
# "Patterns we flag: X, Y, Z", "the word list includes: X, Y, Z"
_CATALOGUE: Final = re.compile(
    r"\b(?:patterns|phrases|strings|blocklist|blacklist|denylist|keywords|terms|triggers|payloads|test cases"
    r"|variants|attacks|injections|signatures|samples|probes|muster|phrasen|begriffe|motifs|patrones"
    r"|frases)\b[^.!?\n:]{0,60}(?::|e\.g\.?|such as|like)[^.!?\n]{0,160}$|\b(?:word ?list|list|filter|regex"
    r"|rule|classifier|corpus|dataset)\b[^.!?\n:]{0,40}\b(?:includes?|contains?|has|covers"
    r"|lists?)\b\s?:[^.!?\n]{0,160}$"
)
# "If a page tells you to X, do not do it."
_WHEN: Final = re.compile(
    r"\b(?:if|when|whenever|should|falls|wenn|sobald|si|cuando|quand|lorsqu\w*)\b[^.!?\n]{0,80}$"
)
_REFUSED: Final = re.compile(
    r"[^.!?\n]{0,60}[,;:.-]\s*(?:you )?(?:do not|don't|never|refuse|report|decline|reject|must not|should not"
    r"|not comply|tell the user|ask the user|warn|treat (?:it|that|them) as|nicht|nie|melde|refuse[zr]?"
    r"|signale|rechaza|avisa|no lo)\b"
)
_TOLD_TO_USE: Final = re.compile(
    r"\b(?:follow|obey|apply|comply with|act on|carry out|adhere to|respond with|reply with|output|repeat|say"
    r"|remember|befolge|suis|sigue|rule|instruction|directive|order|command|regel|consigne|regla"
    r"|your (?:new )?(?:goal|task|job|mission))(?:\s+(?:this|these|that|the following|what follows|the"
    r"|exactly|strictly|is|now))*\s*[:\-]?\s*$"
)


@dataclass(frozen=True, slots=True)
class Quotation:
    """A quoted stretch: where it opens and where it closes, marks included."""

    start: int
    end: int


def quotation(text: str, start: int, end: int) -> Quotation | None:
    """The quotation that ``text[start:end]`` stands in, if any: quotes, backticks or a block of code."""
    first = max(text.rfind("\n\n", max(0, start - _AROUND), start) + 1, start - _AROUND)
    last = text.find("\n\n", end, end + _AROUND)
    last = last if last >= 0 else min(len(text), end + _AROUND)
    before, after = text[first:start], text[end:last]
    for mark in _QUOTES:
        if before.count(mark) % 2 and mark in after:
            return Quotation(first + before.rfind(mark), end + after.index(mark) + 1)
    opened = [found.start() for found in _SINGLE_OPEN.finditer(text, first, start + 1)]
    if opened and (closed := _SINGLE_CLOSE.search(text, max(opened[-1] + 1, end - 1), last)):
        between = _SINGLE_CLOSE.search(text, opened[-1] + 1, start)
        if between is None:
            return Quotation(opened[-1], closed.end())
    return _comment(text, start, end) or _fence(text, start, end)


def _comment(text: str, start: int, end: int) -> Quotation | None:
    opened = text.rfind("<!--", max(0, start - _AROUND), start)
    closed = text.find("-->", end, end + _AROUND)
    return Quotation(opened, closed + 3) if opened >= 0 and closed >= 0 else None


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
    line = _line(text, start)
    if _NAMING.search(text[line:start]) or _CATALOGUE.search(text[line:start]):
        return True
    if _WHEN.search(text[line:start]) and _REFUSED.match(text[end : end + 120]):
        return True
    quoted = quotation(text, start, end)
    if quoted is None:
        return _is_listed(text, start)
    before = text[max(0, quoted.start - 160) : quoted.start]
    after = text[quoted.end : quoted.end + 140]
    if _TOLD_TO_USE.search(before) and not is_negated(text, quoted.start):
        return False
    return _ABOUT.search(before) is not None or _ABOUT.search(after) is not None


def _line(text: str, start: int) -> int:
    """Where the line of ``start`` begins, or how far back one looks for it."""
    return max(text.rfind("\n", max(0, start - _AROUND), start) + 1, start - _AROUND, 0)


_HEADING: Final = re.compile(r"[^\n]*:[ \t*_]*$", re.M)
# The longest mark of an item: "- [ ] **".
_BULLET: Final = 12


def _is_listed(text: str, start: int) -> bool:
    """Whether it is an item of a list whose heading says that these are examples or attacks."""
    line = _line(text, start)
    if start - line > _BULLET or not text[line:start].strip(" \t") or line == 0:
        return False
    above = text[max(0, line - 400) : line]
    headings = _HEADING.findall(above)
    return bool(headings) and (_ABOUT.search(headings[-1]) or _NEGATION.search(headings[-1])) is not None


def is_talked_about(text: str, start: int, end: int) -> bool:
    """Like ``is_mentioned``, for signs nobody writes by accident: a tag, a token, a piece of JSON.

    Here a quotation in a sentence is enough, and so is a sentence that speaks of formats before it.
    """
    if _is_inline(text, start, end):
        return True
    quoted = quotation(text, start, end)
    if quoted is not None:
        outside = text[max(0, quoted.start - 160) : quoted.start] + " " + text[quoted.end : quoted.end + 140]
        if len(_WORDS_BEFORE.findall(outside)) >= 2:
            return not _TOLD_TO_USE.search(text[max(0, quoted.start - 60) : quoted.start])
    line = _line(text, start)
    stop = text.find("\n", end, end + 100)
    stop = stop if stop >= 0 else min(len(text), end + 100)
    return is_introduced(text, start) or (
        _WORDS_BEFORE.search(text, line, start) is not None and _FORMAT.search(text, end, stop) is not None
    )


_IN_A_SENTENCE: Final = re.compile(r"\w+ (?:\w+ )*$")
_GOES_ON: Final = re.compile(r"[,.;:)]?\s+[a-z(]|[,.;:)]?\s*$")


def _is_inline(text: str, start: int, end: int) -> bool:
    """ "The loop stops at </tool_call>; see loop.py": a word among words, which opens nothing."""
    before = text[max(0, start - 60) : start].rpartition("\n")[2]
    return (
        len(_WORDS_BEFORE.findall(before)) >= 2
        and _IN_A_SENTENCE.search(before) is not None
        and _GOES_ON.match(text[end : end + 3]) is not None
    )


def is_introduced(text: str, start: int) -> bool:
    """Whether the line before ``start`` speaks of formats, tags or tokens."""
    return _FORMAT.search(text, _line(text, start), start) is not None


def is_explained(text: str, start: int, end: int) -> bool:
    """Like ``is_talked_about``, for signs that also stand in a text by themselves: marks have to be set."""
    quoted = quotation(text, start, end)
    if quoted is not None and quoted.start > 0:
        return is_talked_about(text, start, end)
    return is_introduced(text, start)


_FORMAT: Final = re.compile(
    r"(?<![\w./@:\"'-])(?:tags?|tokens?|tokeniz\w*|templates?|formats?|parser?s?|parsing|stop (?:words?"
    r"|sequences?)|delimiters?|wraps?|wrapped|wrapping|markup|syntax|schema|emits?|looks? like|shaped"
    r"|renders?|escap\w*|strip\w*|special|separators?|logs?|responses?|docs?|documented|example|convention"
    r"|grammar|payload|regex|elements?|expects?|serializ\w*|xml|markers?|prefix(?:ed)?|uses?|inject\w*"
    r"|attack\w*|jailbreak\w*|detect\w*|block\w*|reject\w*|flag(?:s|ged)?|scan\w*|filter\w*|fixtures?|tests?"
    r"|stop|eos|bos|chatml|vorlage|balise\w*|etiqueta\w*|formato|plantilla|format|gabarit)(?![\w\"'-]|\.\w)"
)
