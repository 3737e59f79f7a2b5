"""Threats that no fixed phrase tells: judged by what comes together in one sentence.

"Your guidelines" is harmless, and so is "outdated"; a sentence that calls the model's guidelines outdated
is not. Each rule here asks for two or three fields of meaning at once. Sentences about attacks pass.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from mnemos.text.threats.context import is_addressed, is_mentioned, is_negated
from mnemos.text.threats.fields import BARE, DOERS, LEXICON
from mnemos.text.threats.words import Hit, Words

Judgement = tuple[str, int, int] | None
"""The reason and where it stands, if there is anything to say against a sentence."""

_LONGEST: Final = 400
_STOP: Final = re.compile(r"[.!?](?=[\s\"')\]]|$)|\n")


class Sentence:
    """A stretch of the text with what the fields of meaning find in it."""

    __slots__ = ("end", "fields", "start", "text", "words")

    def __init__(self, words: Words, start: int, end: int, hits: list[Hit]) -> None:
        self.text = words.text
        self.words = words
        self.start = start
        self.end = end
        self.fields: dict[str, list[Hit]] = {}
        for hit in hits:
            self.fields.setdefault(hit.field, []).append(hit)

    def has(self, field: str) -> bool:
        return field in self.fields

    def of(self, *fields: str) -> list[Hit]:
        return [hit for field in fields for hit in self.fields.get(field, ())]

    def search(self, expression: re.Pattern[str]) -> re.Match[str] | None:
        return expression.search(self.text, self.start, self.end)


def sentences(words: Words) -> Iterator[tuple[str, str, int, int]]:
    """(kind, reason, start, end) of what the sentences of a folded text ask of the model."""
    text = words.text
    hits = list(LEXICON.find(words))
    if not _may_say_something(text, {hit.field for hit in hits}):
        return
    at = number = 0
    while at < len(text):
        stop = _STOP.search(text, at, at + _LONGEST)
        end = stop.start() if stop else min(len(text), at + _LONGEST)
        first = number
        while number < len(hits) and hits[number].start < end:
            number += 1
        yield from _judged(Sentence(words, at, end, hits[first:number]))
        at = stop.end() if stop else end


def _may_say_something(text: str, fields: set[str]) -> bool:
    if not fields.isdisjoint(("firm", "loose")) and not fields.isdisjoint(("void", "defy")):
        return True
    if not fields.isdisjoint(("shown", "leave")) and any(sign in text for sign in _SPOKEN_OF):
        return True
    carries = not fields.isdisjoint(("send", "move", "sent", "give"))
    return "![" in text or (carries and ("private" in fields or any(sign in text for sign in _FILES)))


_SPOKEN_OF: Final = (
    "your ",
    "the hidden",
    "the secret",
    "the initial",
    "the original",
    "user",
    "owner",
    "human",
    "operator",
)
_FILES: Final = (
    *(
        ".env",
        ".ssh",
        ".aws",
        ".kube",
        "memory.md",
        "user.md",
        "id_rsa",
        "id_ed25519",
        "_history",
        "etc/passwd",
    ),
    *(
        "etc/shadow",
        "_key",
        "_token",
        "_secret",
        "_password",
        "login data",
        "logins.json",
        "key4.db",
        "://",
        "@",
    ),
)


def _judged(sentence: Sentence) -> Iterator[tuple[str, str, int, int]]:
    if sentence.has("attack"):
        return
    for kind, rule in _RULES:
        found = rule(sentence)
        if found is not None and not is_mentioned(sentence.text, *found[1:]):
            yield (kind, *found)
            return


def _span(*hits: Hit) -> tuple[int, int]:
    return min(hit.start for hit in hits), max(hit.end for hit in hits)


def _is_meant(text: str, at: int) -> bool:
    return is_addressed(text, at) and not is_negated(text, at, reach=50)


# --- rules that are said not to hold ---------------------------------------------------------------

_AS_IF: Final = re.compile(
    r"\b(?:(?:act|behave|respond|answer|suppose|assume|proceed|work|operate|speak)\b[^.!?\n]{0,24}\b(?:as if"
    r"|as though|like|that|there)|imagine|pretend|tu so,? als|stell dir vor|verhalte dich,? als|handle,? als"
    r"|fais comme si|agis comme si|imagine que|actua como si|finge que|imagina que|comportate como si)\b"
)
_EVERY_EARLIER: Final = re.compile(
    r"\b(?:all|any|every|alle|samtliche|toutes|tous|todas|todos)\b[^.!?\n]{0,16}\b(?:previous|prior|earlier"
    r"|above|preceding|zuvor|bisherigen|vorherigen|obigen|fruheren|precedentes|anteriores|previas)\b"
    r"|\b(?:previous|prior|earlier|preceding) (?:\w+ )?(?:instructions|directives|guidelines|prompts?)\b"
)
_ORDER: Final = re.compile(
    r"[\s\-*>#\"'`(]*(?:(?:please|now|just|kindly|always|also|then|bitte)\s+)?(?:consider|treat|regard|act"
    r"|behave|assume|remember|know|take|think|switch|enter|disregard|ignore|forget|overlook|skip|stop|drop"
    r"|betrachte|(?:do not|don't|never) (?:follow|obey|listen|apply|respect|use)|considere|considera)\b"
    r"|[\s\-*>#\"'`(\[]*(?:system |admin |security )?(?:override|authori[sz]ation|master|emergency)(?: code"
    r"| key| command| mode)?\b[^\n:]{0,20}:"
)
_NARROWED: Final = re.compile(
    r"[^\w.!?;\n]{1,3}(?:(?:stored|defined|listed|written|found|configured|documented)\s+)?(?:in|for|about|on"
    r"|regarding|of|from|under|when|at|to|that|which|found|embedded|contained|coming|inside|within|hidden"
    r"|there|fur|zu|zur|zum|uber|aus|pour|dans|sur|para|sobre|en|de|engine|file|files|violation\w*|pdf|docs?"
    r"|document|page|template|table|field|wiki|folder|section"
    r"|repo)\b(?P<by>(?:[^\w.!?;\n]{1,3}[\w.'/-]+){0,4})"
)
_OWN: Final = re.compile(
    r"^\W+(?:the |this |any )?(?:users?|admins?|guests?|everyone|anyone|me|requests)\b|\b(?:forbid\w*"
    r"|prohibit\w*|prevent\w*|restrict\w*|protect\w*|conflict\w*|stops?|you|your|this (?:conversation|chat"
    r"|session|note|entry|prompt|user|account|project|context|file|workspace|assistant)|the (?:top|start"
    r"|beginning|system|developers?|operator|user|rest|context)|anthropic|openai|developers?|deine\w*|tes|ton"
    r"|tus|safety|sicherheit|securite|seguridad|now|here)\b"
)
# "The safety copy" is a copy; "your safety is off" is about safety.
_OTHER_NOUN: Final = re.compile(
    r" (?!is\b|was\b|has\b|are\b|off\b|and\b|or\b|for\b|first\b|when\b|so\b|no\b|does)[a-z]"
)
_FORBIDS: Final = re.compile(r"\s+(?:that|which) (?:forbid|prohibit|prevent|restrict|stop|keep|protect)")
_CLOSE: Final = 6
# How far what voids the rules may stand from them, before and behind.
_BEFORE: Final = 70
_BEHIND: Final = 80


def _voided(sentence: Sentence) -> Judgement:
    rules = sentence.of("firm", "loose")
    voids = sentence.of("void", "defy")
    if not rules or not voids:
        return None
    spoken = sentence.has("spoken") or sentence.search(_AS_IF) is not None
    if not spoken and not _ORDER.match(sentence.text, sentence.start) and not sentence.search(_EVERY_EARLIER):
        return None
    for rule in rules:
        sure = spoken or rule.field == "firm" or _FORBIDS.match(sentence.text, rule.end)
        if not sure or not _is_of_the_model(sentence, rule):
            continue
        for void in voids:
            if (
                rule.start - _BEFORE <= void.start
                and void.end <= rule.end + _BEHIND
                and _holds(sentence, rule, void)
            ):
                return "tells the model to ignore its instructions", *_span(rule, void)
    return None


def _is_of_the_model(sentence: Sentence, rule: Hit) -> bool:
    """Not ESLint's, not the firewall's: no other noun before, and not narrowed down behind."""
    if rule.at:
        before, (start, end) = sentence.words.list[rule.at - 1], sentence.words.spans[rule.at - 1]
        between = sentence.text[end : rule.start]
        if start >= sentence.start and not between.strip(" \"'*_-") and before not in BARE:
            return False
    if rule.text.endswith("told"):
        return True
    if rule.text == "safety" and _OTHER_NOUN.match(sentence.text, rule.end):
        return False
    narrowed = _NARROWED.match(sentence.text, rule.end)
    return narrowed is None or _OWN.search(narrowed["by"]) is not None


def _holds(sentence: Sentence, rule: Hit, void: Hit) -> bool:
    """Whether ``void`` is said of ``rule``, and neither denied nor told of somebody."""
    if void.start < rule.end and rule.start < void.end:
        return False
    if void.field == "defy":
        # What is defied follows closely: "ignore the first row, it holds the instructions" is about a row.
        if void.end < rule.start and rule.at - void.at > _CLOSE:
            return False
        before = sentence.words.list[void.at - 1] if void.at else ""
        if before in DOERS or is_negated(
            sentence.text, void.start, reach=min(30, void.start - sentence.start)
        ):
            return False
    return not is_mentioned(sentence.text, void.start, void.end)


# --- asking for the prompt -------------------------------------------------------------------------

_PROMPT: Final = re.compile(
    r"\byour (?:full |entire |complete |own |whole |exact )?system (?:prompt|message|instructions)\b"
    r"|\b(?:your|the) (?:initial|hidden|original|secret|internal) (?:instructions|prompt|message|guidelines"
    r"|rules)\b|\b(?:your|the) developer (?:message|instructions)\b|\btu prompt\b"
    r"|\bdeine[nr]? (?:\w+ )?systemprompt\b|\bton prompt\b"
)


def _asked_for_prompt(sentence: Sentence) -> Judgement:
    shown = sentence.of("shown")
    prompt = _hit(sentence, "prompt", _PROMPT) if shown else None
    if prompt is None or is_negated(sentence.text, shown[0].start, reach=40):
        return None
    if prompt.text.startswith("the ") and not is_addressed(sentence.text, shown[0].start):
        return None
    return "asks the model for its hidden instructions", *_span(prompt, shown[0])


# --- left out ---------------------------------------------------------------------------------------

_WHO: Final = r"(?:the |your |our |my )?(?:user|human|owner|operator|customer|client|boss)"
_ANSWERS: Final = (
    r"(?:summar\w+|reports?|repl(?:y|ies)|answers?|responses?|logs?|transcript|user|owner|human|operator)"
)
_LEFT_OUT: Final = re.compile(
    r"\b(?:leave|keep|omit|exclude|drop|skip|cut|strip|remove|gloss over|suppress|withhold|hide"
    r"|conceal)\b(?P<what>\s+\w[^.\n]{0,60}?)\b(?:out of|from|off|when|in|for|to)\b[^.\n]{0,20}"
    rf"\b{_ANSWERS}\b(?! (?:message|input|prompt|text|query|agent))"
    r"|\b(?:summari[sz]ing|summary|report\w*|answering|replying)\b[^.\n]{0,40}\b(?P<verb>skip|omit|leave out"
    r"|exclude|drop|suppress|gloss over|withhold)\b(?P<part>[^.\n]{1,60})"
    rf"|\b(?:conceal|hide|withhold) from {_WHO} (?:that|the fact|what|how|any)(?P<that>[^.\n]{{1,60}})"
)
_DEED: Final = re.compile(
    r"\b(?:upload|transfer|cop(?:y|ies|ied)\b|forward|backup|sending|sent\b|export|sync|notes?\b|instruction"
    r"|recipient|bcc\b|payment|e?mails?\b|request|commands?\b|change|steps?\b|script|connection|messages?\b"
    r"|memor|entry\b|actions?\b|deal\b|arrangement|address|access\b|leak|deletion|purchase|orders?\b"
    r"|charges?\b|fee\b|costs?\b|replaced|deleted|switched|disabled|bank\b|account|password|credential"
    r"|keys?\b|token|secret|files?\b|branch protection|fail|errors?\b|commit|settings|data\b|this\b|it\b"
    r"|these\b|that\b|mention|part about)"
)
_OF_THE_SCREEN: Final = re.compile(
    r"\b(?:page|screen|flash|flicker|errors?|traces?|spinner|prompts?|field|panel|button|column|menu|tab|ids?"
    r"|json|html|widget|form|label|icon|toolbar|sidebar|banner|markup|noise|boilerplate|greetings?"
    r"|duplicates?|whitespace|emojis?|interface|user's|users)\b"
)
_MODEL_OR_USER: Final = re.compile(r"\b(?:your|user|owner|human|operator)\b")


def _left_out(sentence: Sentence) -> Judgement:
    if not sentence.has("leave"):
        return None
    found = sentence.search(_LEFT_OUT) if sentence.search(_MODEL_OR_USER) else None
    if found is None or not _is_meant(sentence.text, found.start("verb") if found["verb"] else found.start()):
        return None
    what = found["what"] or found["part"] or found["that"]
    if not _DEED.search(what) or sentence.search(_OF_THE_SCREEN):
        return None
    return "tells the model to hide something from the user", *found.span()


# --- carried away -----------------------------------------------------------------------------------

_CARRIES: Final = "tells the model to send private data away"
_OUTSIDE: Final = re.compile(
    r"(?:https?|s?ftp|wss?)://(?!localhost|127\.|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|0\.0\.0\.0"
    r"|[\w.-]*\.(?:internal|local|lan|svc)\b)[^\s\"'`)>]+|\b(?:an? |the )?public (?:issue|repo(?:sitory)?"
    r"|gist|channel|page|comment|wiki|bucket|paste|forum|thread|folder)\b|(?<!\w)\+\d{8,15}\b"
    r"|\b[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}\b(?!:)|(?<![\w.])(?!10\.|127\.|192\.168\."
    r"|0\.)(?:\d{1,3}\.){3}\d{1,3}\b(?![\w.]|/\d)"
)
_PRIVATE_FILE: Final = re.compile(
    r"\b\w*(?:_api_key|_token|_secret|_secret_key|_access_key|_password|api_key)\b|\b(?:login data"
    r"|logins\.json|key4\.db)\b|\.bash_history\b|\.zsh_history\b|\betc/(?:passwd|shadow)\b"
    r"|(?<![\w-])(?:\.env(?!\.(?:example|sample|template|dist))\b|\.ssh\b|\.aws\b|\.kube\b|memory\.md"
    r"|user\.md|id_rsa\b(?!\.pub)|id_ed25519\b(?!\.pub))"
)
_IMAGE: Final = re.compile(
    r"!\[[^\]\n]{0,60}\]\(\s?https?://[^)\s]{1,120}[?&/=](?:\{|<|\[|\$|%7b|conversation|secret|history|prompt"
    r"|chat|memory|user_?data|base64|summary|data=(?:\{|<|conv))"
)
_EVIL: Final = re.compile(r"evil|attack|hacker|malicious|malware|exfil|steal|spion|espion|espia|pirate")
_LETS: Final = re.compile(r"\b(?:let|have|give|grant)\b[^\n]{0,60}\b(?:a copy|copies|access|read access)\b")
_ASSIGNS: Final = re.compile(r"[=:\"]|\s+\w+=")
_KEY_NAME: Final = re.compile(r"\w*(?:_api_key|_token|_secret|_secret_key|_access_key|_password)")
_MUST: Final = re.compile(r"\b(?:must|should|shall|has to|needs to|will)\s+$")
_MUST_BE: Final = re.compile(r"\b(?:must|should|shall|have to|need to|are to|is to|to|always) be\s+$")
_KEY: Final = re.compile(r"secret|credential|password|key|token")


def _carried_away(sentence: Sentence) -> Judgement:
    if "![" in sentence.text and (image := sentence.search(_IMAGE)):
        return _CARRIES, *image.span()
    private = next(iter(sentence.of("private")), None) or _hit(sentence, "file", _PRIVATE_FILE)
    outside = _hit(sentence, "outside", _OUTSIDE)
    if outside is not None and _EVIL.search(outside.text) and _is_sent(sentence, outside, outside):
        return _CARRIES, *_span(private or outside, outside)
    if private is None or sentence.has("proper"):
        return None
    if outside is not None:
        return (_CARRIES, *_span(private, outside)) if _is_sent(sentence, private, outside) else None
    strangers, gives = sentence.of("stranger"), sentence.of("give")
    if strangers and gives and _is_meant(sentence.text, gives[0].start):
        return _CARRIES, *_span(private, strangers[0], gives[0])
    return None


def _hit(sentence: Sentence, field: str, expression: re.Pattern[str]) -> Hit | None:
    found = sentence.search(expression)
    return None if found is None else Hit(field, found[0], *found.span(), at=0)


def _is_sent(sentence: Sentence, private: Hit, outside: Hit) -> bool:
    """Whether somebody is told to send it, in one of the ways people say so."""
    lets = sentence.search(_LETS)
    if lets is not None and _is_meant(sentence.text, lets.start()):
        return True
    return any(
        _is_told(sentence, verb, private)
        for verb in sentence.of("send", "move")
        if verb.start <= outside.start and not _ASSIGNS.match(sentence.text, verb.end)
    ) or (
        _KEY.search(private.text) is not None
        and any(_has_to_be(sentence, sent) for sent in sentence.of("sent"))
    )


def _is_told(sentence: Sentence, verb: Hit, private: Hit) -> bool:
    """Of a verb that may be about less than sending, all of it has to go."""
    if is_negated(sentence.text, verb.start, reach=50):
        return False
    whole = sentence.has("whole")
    if is_addressed(sentence.text, verb.start):
        return verb.field == "send" or whole
    if whole and verb.text in ("goes", "go", "geht"):
        return True
    before = sentence.text[max(sentence.start, verb.start - 16) : verb.start]
    return _KEY_NAME.fullmatch(private.text) is not None and _MUST.search(before) is not None


def _has_to_be(sentence: Sentence, sent: Hit) -> bool:
    before = sentence.text[max(sentence.start, sent.start - 20) : sent.start]
    return _MUST_BE.search(before) is not None and not is_negated(sentence.text, sent.start, reach=50)


_RULES: Final[tuple[tuple[str, Callable[[Sentence], Judgement]], ...]] = (
    ("override", _voided),
    ("override", _asked_for_prompt),
    ("concealment", _left_out),
    ("exfiltration", _carried_away),
)
