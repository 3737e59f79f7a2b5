"""Text that imitates what only the host writes: system blocks and turns of a chat.

The same signs stand in notes about chat templates and parsers. There they are quoted or explained; here
they open a block, and what they hold speaks to the model.
"""

# An expression is easier to check when it is not cut in pieces.
# ruff: noqa: E501

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Final

from mnemos.text.threats.context import is_explained, is_introduced, is_talked_about

Find = tuple[str, int, int]
"""The reason, where it starts, and where it ends."""

_IMITATES: Final = "imitates a block of the system or a turn of the chat"

# Tokens of chat templates: anything between <| and |>, [INST], <<SYS>>, <start_of_turn>, [|user|], ]~b].
_TOKEN: Final = re.compile(
    r"<\s?\|\s?/?[a-z][\w\u2581 ./-]{1,40}\s?\|\s?>|<\|[a-z_]{3,20}>|<[a-z_]{3,20}\|>|<<\s?/?sys\s?>>|\[\s?/?inst\s?\]|\[/?system_prompt\]|<(?:start|end)_of_turn>"
    r"|</?s>\s*\[inst\]|\[\|\s?(?:system|user|assistant|endofturn|tool)\s?\|\]|\]~[!b]{0,2}[\[\]]|\[/?available_tools\]|\[gmask\]\s?<sop>"
    r"|<(?:special_\d{1,3}|extra_id_\d{1,3}|reserved_\d{1,4})>\s?(?:system|user|assistant|developer)\b|<seed:(?:bos|eos|think)>"
    r"|\bgpt4 correct (?:user|assistant|system)\s?:"
)
# <system>, </developer>, {{#system}}: what a block of the host might begin or end with.
_TAG: Final = re.compile(
    r"(?<!\w)<\s*/?\s*(?:system|sys|system[-_ ]?(?:prompt|message|reminder|instructions?|note|override|notice"
    r"|update|rules?|context)|developer(?:[-_ ](?:message|prompt|instructions?))?|assistant|admin"
    r"|instructions?|important|secret|hidden|override|memory|memory-context|human|user_query"
    r"|user_message)\b[^<>\n]{0,60}>|\{\{[#~]?\s?system\b[^{}\n]{0,20}\}\}|%%\s?system\s?%%|::system::"
)
_FENCE: Final = re.compile(r"```\s?(?:system|developer|assistant|sys|system_prompt)\b\s?\n")
_ALPACA: Final = re.compile(
    r"#{2,3}\s?(?:instructions?|anweisung|instruction|instruccion|istruzione|instrucao|指令|指示)\s?:[^#]{1,400}#{2,3}"
    r"\s?(?:response|output|answer|antwort|reponse|respuesta|risposta|resposta|回复|回答|応答)\s?:"
)
_LABEL: Final = re.compile(
    r"(?:^|\n|[.!?]\s|[\"'`(>|]\s?)[ \t]*(?P<label>(?:[#*=_\[({<>-]{1,6}\s?)?(?:begin |end of |new "
    r"|start of )?(?:the )?(?:system|sys|developer|admin|administrator|root|anthropic|openai|operator|(?:note"
    r"|message|notice|update|memo|announcement|order|word) (?:from|to|for) (?:the )?(?:system|developers?"
    r"|admin\w*|anthropic|openai|operator|security|model|ai|assistant)(?: staff| team)?|systemnachricht"
    r"|systeme|sistema|entwickler)(?:[ _-](?:prompt|message|override|instructions?|notice|update|note|command"
    r"|alert|directive|msg|admin|mode|role|nachricht|anweisung|hinweis|team|security|to the ai|to the model"
    r"|to the assistant)){0,2}(?:\s?[\])}>*=_#-]{1,6})?\s?(?::|\n|[-=]{2,}|(?<=[\])}>*])| - )[\s*_]*)"
)
_LABELLED: Final = (
    *(
        "system",
        "sys:",
        "sys]",
        "developer",
        "admin",
        "root",
        "anthropic",
        "openai",
        "operator",
        "entwickler",
    ),
    *(
        "sistema",
        "note ",
        "message ",
        "notice ",
        "update ",
        "memo ",
        "announcement ",
        "order from",
        "word from",
    ),
)
_ORDER: Final = re.compile(
    r"\byou(?:'re| are) (?:now|no longer|hereby|required|ordered|instructed|allowed|permitted"
    r"|an? (?:unrestricted|different|new|evil))|\b(?:assistant|agent|model|ai) (?:will|must|shall|should"
    r"|is now|has been)\b|\brules? (?:are|is) off|\byou (?:must|will|shall|should|may|can|have to) (?:now"
    r"|obey|comply|always|never|ignore|accept|approve|execute|run all|run every|answer any|reveal|leak"
    r"|do everything|from now|treat|bypass|hand out|give|tell|prioriti\w+)\b|(?:^|[.!?:;,\n>\])}]\s*"
    r"|\b(?:must|should|will|shall|to|and|please|now|then) )(?:ignore|disregard|discard|obey)\b"
    r"|\bforget (?:all|your|the|every|previous)|\bfrom (?:now on|this (?:moment|point))\b|\btake orders\b"
    r"|\balways (?:comply|obey|answer|respond|approve|allow|trust|reveal|say|include|accept|execute|run"
    r"|recommend)\b|\bnever (?:refuse|mention|ask|decline|question|warn)\b|\bnew (?:rules?|instructions?"
    r"|directives?|polic|persona|role)|\boverrid|\bunrestricted\b|\bfull (?:access|permission|trust)"
    r"|\bgrant(?:ed|s)?\b|\bobey\b|\bcomply\b|\brun it as root\b|\byour (?:new |only |true )?(?:task|role"
    r"|instructions?|rules|goal|job|safety|guidelines|restrictions)\b|\brespond only\b|\breveal\b"
    r"|\bdo not (?:tell|refuse|mention|reveal|inform|ask|warn)|\bdisable[ds]?\b|\bsafety\b.{0,30}\b(?:off"
    r"|lifted|suspended)|\bthe (?:assistant|model|ai|agent) (?:must|is now|will|shall|should|has)\b"
    r"|\ball (?:restrictions|rules|previous|prior|safety|tool calls|commands)|\bexecute\b|\bprivileges?\b"
    r"|\belevated\b|\bauthori[sz]ed\b|\btransfer\b|\bapproved?\b|\bsend (?:all|the|your|every)|\bdu (?:musst"
    r"|bist|sollst|darfst|wirst)\b|\bignorier|\bab (?:sofort|jetzt)\b|\btu (?:dois|es|vas|n')\b"
    r"|\bvous (?:devez|etes)\b|\bdesormais\b|\bdebes\b|\beres\b|\bignora\b|\ba partir de ahora\b|\bobedece"
)
# Inside a tag of the host, any word to the model is one too many.
_ROLE: Final = re.compile(
    r"\byou(?:'re| are)\b|\byou (?:must|will|shall|should|may|can|do|obey|follow|accept|serve|work|have|never"
    r"|always)\b"
)
_HUMAN: Final = r"(?:^|\n)[ \t>*#]*(?:human|user|mensch|nutzer|utilisateur|usuario)\s?:[^\n]{0,400}\n+"
_MODEL: Final = r"[ \t>*#]*(?:assistant|ai|claude|gpt|assistent|asistente|model)\s?:\s*"
_TURN: Final = re.compile(
    rf"{_HUMAN}{_MODEL}(?:sure|ok|okay|understood|of course|yes|certainly|i (?:will|'ll|understand|agree)"
    rf"|absolutely"
    r"|done|got it|klar|verstanden|bien sur|claro|entendido|confirmed|acknowledged)"
    rf"|(?:^|\n){_MODEL}(?:sure|understood|of course|certainly|i (?:will|'ll|agree|understand)|absolutely"
    rf"|confirmed"
    r"|acknowledged|as instructed)\b[^\n]{0,80}\b(?:ignore|comply|obey|unrestricted|send|forward|upload"
    r"|no longer|restrictions?|instructions?|rules)"
)
_JSON_ROLE: Final = re.compile(
    r"[\"']?role[\"']?\s?[:=]\s?[\"'](?:system"
    r"|developer)[\"']\s?,\s?[\"']?content[\"']?\s?[:=]\s?[\"'](?P<content>[^\"\n]{0,300})"
)


def blocks(text: str) -> Iterator[Find]:
    """Where ``text``, folded, imitates the host or a turn of the chat."""
    if "<" in text or "[" in text or "gpt4" in text:
        for token in _TOKEN.finditer(text):
            if not is_talked_about(text, *token.span()):
                yield (_IMITATES, *token.span())
    if "<" in text or "system" in text:
        yield from _tags(text)
    if "```" in text or "##" in text:
        yield from _fences(text)
    if any(sign in text for sign in _LABELLED):
        yield from _labels(text)
    if "role" in text:
        for role in _JSON_ROLE.finditer(text):
            if _ORDER.search(role["content"]) and not is_explained(text, *role.span()):
                yield (_IMITATES, *role.span())
    if any(sign in text for sign in ("assist", "asist", "claude:", "gpt:", "ai:", "model:")):
        for turn in _TURN.finditer(text):
            if not is_talked_about(text, *turn.span()):
                yield (_IMITATES, *turn.span())


# What is said between <system> and </system>: a name or a number is only data.
_BLOCK: Final = re.compile(
    r"(?<!\w)<\s?(?P<tag>system(?:[-_ ]?(?:prompt|message|reminder|instructions?|override))?"
    r"|developer)\s?>\s*(?:[^\s<>]+\s+){3,200}[^\s<>]*\s*</\s?(?P=tag)\s?>"
)


def _tags(text: str) -> Iterator[Find]:
    """A tag of the host with a word to the model behind it, or with a whole sentence in it."""
    for block in _BLOCK.finditer(text):
        if not is_explained(text, *block.span()):
            yield (_IMITATES, *block.span())
    tags = list(_TAG.finditer(text))
    spoken = _places(text, _ORDER, _ROLE) if tags else []
    for tag in tags:
        if _is_near(spoken, tag.end(), 300) and not is_explained(text, *tag.span()):
            yield (_IMITATES, *tag.span())


def _places(text: str, *expressions: re.Pattern[str]) -> list[int]:
    """Where the expressions match, in order: searched once, however many tags ask for it."""
    return sorted(match.end() for expression in expressions for match in expression.finditer(text))


def _is_near(places: list[int], start: int, reach: int) -> bool:
    at = bisect_right(places, start)
    return at < len(places) and places[at] <= start + reach


def _fences(text: str) -> Iterator[Find]:
    for fence in _FENCE.finditer(text):
        if _ROLE.search(text, fence.end(), fence.end() + 300) and not is_introduced(text, fence.start()):
            yield (_IMITATES, *fence.span())
    for block in _ALPACA.finditer(text):
        if not is_introduced(text, block.start()):
            yield (_IMITATES, *block.span())


def _labels(text: str) -> Iterator[Find]:
    """``SYSTEM:`` with an order behind it; ``System: Ubuntu 22.04`` has none."""
    labels = list(_LABEL.finditer(text))
    orders = _places(text, _ORDER) if labels else []
    for label in labels:
        end = text.find("\n\n", label.end(), label.end() + 240)
        reach = 240 if end < 0 else end - label.end()
        if _is_near(orders, label.end(), reach) and not is_explained(text, label.start("label"), label.end()):
            yield (_IMITATES, label.start("label"), min(len(text), label.end() + 1))
