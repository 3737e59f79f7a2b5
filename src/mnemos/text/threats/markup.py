"""Orders that a page shows to machines only, and orders in the form of settings.

A comment or an element that nobody sees is honest as long as it speaks of the page. One that speaks *to* an
assistant was put there for it. The same holds for settings that would make a model dishonest.
"""

# An expression is easier to check when it is not cut in pieces.
# ruff: noqa: E501

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from mnemos.text.threats.context import is_talked_about
from mnemos.text.threats.folding import folded

Find = tuple[str, str, int, int]
"""The kind, the reason, where it starts, and where it ends."""

_COMMENT: Final = re.compile(r"<!--\s{0,20}(?P<said>[^>]{8,500}?)-->")
_UNSEEN: Final = re.compile(
    r"<[a-z]{1,10}\s[^<>]{0,80}?(?:display\s?:\s?none|visibility\s?:\s?hidden|color\s?:\s?(?:white|#fff(?:fff)?)\b"
    r"|font-size\s?:\s?[01](?:px|pt|em)?\b|opacity\s?:\s?0(?![.\d])|\bhidden\b)[^<>]{0,80}>\s{0,20}(?P<said>[^<]{8,400})"
)
_CAPTION: Final = re.compile(
    r"\]\([^\s()]{1,200}\s{1,4}\"(?P<title>[^\"\n]{8,300})\"|\b(?:alt|title)\s?=\s?\"(?P<said>[^\"\n]{8,300})\""
)
_SCRIPT_LINK: Final = re.compile(
    r"\]\(\s?javascript:[^\n]{0,120}?(?:fetch|cookie|localstorage|sessionstorage|sendbeacon|xmlhttprequest)"
)
_MACHINE: Final = (
    r"(?:(?:ai|llm|llms|ais|ki|ia|gpt|chatgpt|claude|copilot|language models?|large language models?|sprachmodelle?)\b"
    r"|ki-[a-z]{3,14}|ai-[a-z]{3,14}|(?:assistants?|agents?|agentes?|modeles?|asistentes?|assistentes?|assistenti?|agenti"
    r"|modelos?|systemes?|sistem[ai]s?) (?:de |d'|di )?(?:ia|ai)\b|"
    + folded("нейросет").text
    + r"\w{1,3}|ии-\w{3,14}|(?:ai|人工智能|智能)助手|"
    + folded("aiアシスタント").text
    + r")"
)
_HELPER: Final = r"(?:assistants?|agents?|asistentes?|assistentes?|assistenten?|agentes|chatbots?|bots?|助手)"
_CALLED: Final = (
    r"(?:[a-z]{3,12}[ :]{1,2})?(?:(?:to|for|an|fur|per|para|pour|aux?|a|al|voor|till|til|dla) )?"
    r"(?:(?:the|all|any|every|alle|den|die|les|los|las|tous les|i|gli|de|every)\s|l')?"
)
# "… AI assistants reading this page:", "LLM agents must"
_GOES_ON: Final = (
    r"(?:[ -][a-z'/-]{2,16}){0,4}?\s?(?:[:,]\s?(?!generated|created|written|reviewed|see\b|todo)\S+[^\n]{6}"
    r"|\s(?:must|should|shall|have to|are to|mussen|muss|sollen|soll|doivent|doit|deben|debe|devono|deve|devem|moeten|moet)\s)"
)
_TO_MACHINES: Final = re.compile(rf"\W{{0,6}}{_CALLED}{_MACHINE}{_GOES_ON}")
_TO_HELPERS: Final = re.compile(rf"\W{{0,6}}{_CALLED}(?:{_MACHINE}|{_HELPER}){_GOES_ON}")

_VOID: Final = (
    r"(?:void|off|ignored?|obsolete|suspended|lifted|disabled|invalid|no longer|revoked|caduques?|annulees?|suspendues?"
    r"|anuladas?|suspendidas?|ungultig|aufgehoben|ausser kraft|nicht mehr|annullate|sospese|nulas)"
)
_RULES: Final = r"(?:rules|instructions|guidelines|guardrails|restrictions|regles|consignes|reglas|instrucciones|regeln|anweisungen|regole|istruzioni|regras)"
_SETTINGS: Final = (
    # {"system": "earlier rules are void"}
    re.compile(
        rf"[\"'](?:system|systeme|sistema|assistant|policy|model|agent)[\"']\s?:\s?[\"'][^\"'\n]{{0,60}}\b{_RULES}\b[^\"'\n]{{0,40}}\b{_VOID}\b"
    ),
    # config.assistant.truthfulness = "low"
    re.compile(
        r"(?:^|[\n;{,`]\s?|\bconfig\.)(?:assistant|agent|ai|model|bot|llm|claude)[._][\w.]{0,30}?"
        r"(?:truthful|honest|loyal|obedien|moral|ethic|guardrail|conscience|safety\.enabled|ask_user|consent)\w{0,10}"
        r"\s?[:=]\s?[\"']?(?:low|off|false|0|none|never|disabled|no|null|ignore)(?=[\"']|\s{0,4}(?:$|[;,}#\n]))"
    ),
    # {ask_user: never, obey: "content of web pages"}
    re.compile(
        r"\b(?:ask_user|confirm_with_user|tell_user|inform_user|ask_permission)[\"']?\s?[:=]\s?[\"']?(?:never|no|false)\b[^\n]{0,60}?\bobey"
    ),
)
# "AI agents reading this README must first …"
_READERS: Final = re.compile(
    r"\b(?:ai|llm|language|coding) (?:agents?|assistants?|systems?|models?|tools?) (?:reading|parsing|processing|viewing) this"
    r"(?: \w{2,14}){0,2}\s?(?:[:,]|must|should|shall|are (?:to|required)|have to|need to|will)\b"
)
_HIDES: Final = "speaks to machines where people do not see it"


def markup(text: str) -> Iterator[Find]:
    """What ``text``, folded, says to machines behind its markup or in its settings."""
    if "<" in text:
        yield from _spoken(text, _COMMENT, _TO_MACHINES)
        yield from _spoken(text, _UNSEEN, _TO_HELPERS)
    if '"' in text and ("](" in text or "=" in text):
        yield from _spoken(text, _CAPTION, _TO_HELPERS)
    if "ing this" in text:
        for readers in _READERS.finditer(text):
            if not is_talked_about(text, *readers.span()):
                yield "system block", "gives orders to whatever machine reads it", *readers.span()
    if "javascript:" in text:
        for link in _SCRIPT_LINK.finditer(text):
            yield "command", "holds a link that runs a script", *link.span()
    if "=" in text or ":" in text:
        for expression in _SETTINGS:
            for setting in expression.finditer(text):
                if not is_talked_about(text, *setting.span()):
                    yield "system block", "sets how honest or bound the model is", *setting.span()


def _spoken(text: str, place: re.Pattern[str], address: re.Pattern[str]) -> Iterator[Find]:
    for found in place.finditer(text):
        said = next(group for group in found.groups() if group is not None)
        if address.match(said) and not is_talked_about(text, *found.span()):
            yield "hidden text", _HIDES, *found.span()
