"""Text that imitates what only the host writes: system blocks, turns of a chat, calls of tools.

The same signs stand in notes about chat templates and parsers. There they are quoted or explained; here
they open a block, and what they hold speaks to the model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from mnemos.text.threat_context import is_talked_about, quotation

Find = tuple[str, int, int]

_IMITATES: Final = "imitates a block of the system or a turn of the chat"
_CALLS: Final = "imitates a call of a tool"

# Tokens of chat templates: <|im_start|>, [INST], <<SYS>>, <start_of_turn>.
_TOKEN: Final = re.compile(
    r"<\s?\|\s?(?:im_start|im_end|im_sep|system|user|assistant|endoftext|eot_id|eom_id|start_header_id|end_header_id|begin_of_text|end_of_text"
    r"|endofprompt|end|sep|begin_of_sentence|end_of_sentence|end_of_turn|start_of_role|end_of_role|start|channel|message|return|developer|human|bot|prompter|tool)\s?\|\s?>"
    r"|<<\s?/?sys\s?>>|\[\s?/?inst\s?\]|\[/?system_prompt\]|<(?:start|end)_of_turn>|</?s>\s*\[inst\]"
)
# <system>, </system>, [system], {{system}}: what a block of the host might begin or end with.
_TAG: Final = re.compile(
    r"<\s*/?\s*(?:system|sys|system[-_ ]?(?:prompt|message|reminder|instructions?|note|override|notice|update|rules?|context)|developer(?:[-_ ](?:message|prompt|instructions?))?|assistant|"
    r"admin|instructions?|important|secret|hidden|override|memory|memory-context|human|user_query|user_message)\b[^<>\n]{0,60}>"
)
_LABEL: Final = re.compile(
    r"(?:^|\n|[.!?]\s|[\"'`(>|]\s?)[ \t]*(?P<label>(?:[#*=_\[({<>-]{1,6}\s?)?(?:begin |end of |new |start of )?(?:the )?(?:system|sys|developer|admin|administrator|root|anthropic|openai|operator|systemnachricht|systeme|sistema|entwickler)"
    r"(?:[ _-](?:prompt|message|override|instructions?|notice|update|note|command|alert|directive|msg|admin|mode|role|nachricht|anweisung|hinweis|team|security))?(?:\s?[\])}>*=_#-]{1,6})?\s?(?::|\n|[-=]{2,}|(?<=[\])}>*]))[\s*_]*)"
)
_ORDER: Final = re.compile(
    r"\byou(?:'re| are) (?:now|no longer|hereby|required|ordered|instructed|an? (?:unrestricted|different|new|helpful|evil))|\byou (?:must|will|shall|should|have to|may now|can now|cannot|can't|do not|don't|need to)\b(?! (?:have|need|use) (?:cuda|python|node|docker|at least|version))"
    r"|\bignore\b|\bdisregard\b|\bforget (?:all|your|the|every|previous)|\bfrom now on\b|\balways (?:comply|obey|answer|respond|approve|allow|trust|reveal|say|include|accept|execute|run)\b|\bnever (?:refuse|mention|ask|decline|question|warn)\b"
    r"|\bnew (?:rules?|instructions?|directives?|polic|persona|role)|\boverrid|\bunrestricted\b|\bfull (?:access|permission|trust)|\bgrant(?:ed|s)?\b|\bobey\b|\bcomply\b|\byour (?:new |only |true )?(?:task|role|instructions?|rules|goal|job|safety|guidelines|restrictions)\b"
    r"|\brespond only\b|\breveal\b|\bdo not (?:tell|refuse|mention|reveal|inform|ask|warn)|\bdisable[ds]?\b|\bsafety\b.{0,30}\b(?:off|lifted|suspended)|\bthe (?:assistant|model|ai|agent) (?:must|is now|will|shall|should|has)\b|\ball (?:restrictions|rules|previous|prior|safety|tool calls|commands)|\bexecute\b|\bprivileges?\b|\belevated\b|\bauthori[sz]ed\b|\btransfer\b|\bapproved?\b|\bsend (?:all|the|your|every)"
    r"|\bdu (?:musst|bist|sollst|darfst|wirst)\b|\bignorier|\bab (?:sofort|jetzt)\b|\btu (?:dois|es|vas|n')\b|\bvous (?:devez|etes)\b|\bdesormais\b|\bdebes\b|\beres\b|\bignora\b|\ba partir de ahora\b|\bobedece"
)
_TURNS: Final = re.compile(r"(?:^|\n)[ \t>*#]*(?:human|user|mensch|nutzer|utilisateur|usuario)\s?:[^\n]{0,400}\n+[ \t>*#]*(?:assistant|ai|claude|gpt|assistent|asistente|model)\s?:\s*(?:sure|ok|okay|understood|of course|yes|certainly|i (?:will|'ll|understand|agree)|absolutely|done|got it|klar|verstanden|bien sur|claro|entendido|confirmed|acknowledged)")
_REPLY: Final = re.compile(r"(?:^|\n)[ \t>*#]*(?:assistant|ai|claude|gpt)\s?:\s*(?:sure|understood|of course|certainly|i (?:will|'ll|agree|understand)|absolutely|confirmed|acknowledged|as instructed)\b[^\n]{0,80}\b(?:ignore|comply|obey|unrestricted|send|forward|upload|no longer|restrictions?|instructions?|rules)")
_JSON_ROLE: Final = re.compile(r"[\"']?role[\"']?\s?[:=]\s?[\"'](?:system|developer)[\"']\s?,\s?[\"']?content[\"']?\s?[:=]\s?[\"'](?P<content>[^\"\n]{0,300})")


def blocks(text: str) -> Iterator[Find]:
    """Where ``text``, folded, imitates the host or a turn of the chat."""
    if "|" in text or "[" in text or "<" in text:
        yield from _tokens(text)
        yield from _tags(text)
    for label in _LABEL.finditer(text):
        after = text[label.end() : label.end() + 240]
        if _ORDER.search(after.split("\n\n")[0]) and not _is_explained(text, label.start("label"), label.end()):
            yield (_IMITATES, label.start("label"), min(len(text), label.end() + 1))
    if "assistant" in text or "claude" in text or "\nai:" in text or "assistent" in text or "asistente" in text:
        for expression in (_TURNS, _REPLY):
            for turn in expression.finditer(text):
                if not is_talked_about(text, turn.start(), turn.end()):
                    yield (_IMITATES, *turn.span())
    if "role" in text:
        for role in _JSON_ROLE.finditer(text):
            if _ORDER.search(role["content"]) and not _is_explained(text, role.start(), role.end()):
                yield (_IMITATES, *role.span())


def _tokens(text: str) -> Iterator[Find]:
    for token in _TOKEN.finditer(text):
        if not is_talked_about(text, *token.span()):
            yield (_IMITATES, *token.span())


def _tags(text: str) -> Iterator[Find]:
    """A tag of the host with an order behind it, or a closing one that an order follows."""
    for tag in _TAG.finditer(text):
        after = text[tag.end() : tag.end() + 300]
        if _ORDER.search(after) and not _is_explained(text, *tag.span()):
            yield (_IMITATES, *tag.span())


def _is_explained(text: str, start: int, end: int) -> bool:
    quoted = quotation(text, start, end)
    return is_talked_about(text, start, end) if quoted is None or quoted.start > 0 else False


# --- tools ------------------------------------------------------------------------------------------

_CALL: Final = re.compile(
    r"<\s?/?\s?(?:antml:)?(?:tool_?calls?|function_?calls?|invoke|tool_?use|function_?results?|tool_?results?|tool_?response|tool_code|execute_command|use_mcp_tool|write_to_file|run_command|bash|tool)\b[^<>\n]{0,80}>"
    r"|<function\s?=\s?[\w.]{1,40}\s?>|<\s?\|\s?(?:python_tag|tool_call|tool_calls_begin|tool_call_begin|tool_calls_section_begin|plugin|action_start)\s?\|\s?>|\[/?tool_calls?\]|\[/?tool_results?\]|<\u2581?tool\S{0,12}begin>"
)
_JSON_CALL: Final = re.compile(
    r"[\"'](?:function_call|tool_calls?|tool_use|tool|function)[\"']\s?:\s?[\[{]{1,2}[^\n]{0,160}?[\"'](?:name|function|arguments|input)[\"']\s?:"
    r"|[\"']type[\"']\s?:\s?[\"'](?:tool_use|function|function_call|tool_call|tool_result)[\"'][^\n]{0,160}?[\"'](?:input|arguments|name|content)[\"']\s?:"
    r"|\{\s?[\"'](?:name|tool|tool_name|function|recipient_name|action)[\"']\s?:\s?[\"'][\w./:-]{1,60}[\"']\s?,\s?[\"'](?:arguments|parameters|args|input|action_input|tool_input)[\"']\s?:\s?[{\"']"
)
_REACT: Final = re.compile(r"(?:^|\n)[ \t>*]*action\s?:\s*[\w.-]{2,40}[^\n]{0,40}\n[ \t>*]*action[ _]input\s?:")
_ELLIPSIS: Final = re.compile(r"\.\.\.|\u2026|<name>|<args>|\{\}|<json>|xxx|\bfoo\b|get_weather|\bname_of\b|tool_name\b|<tool>")


def calls(text: str) -> Iterator[Find]:
    """Where ``text``, folded, has what a model writes to call a tool, or what a tool answers."""
    for expression in (_CALL, _JSON_CALL, _REACT):
        for call in expression.finditer(text):
            start, end = call.span()
            if not is_talked_about(text, start, end) and not _ELLIPSIS.search(text, start, end + 120):
                yield (_CALLS, start, end)
