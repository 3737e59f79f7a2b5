"""Text that imitates what a model writes to call a tool, or what a tool answers.

The same signs stand in notes about parsers and interfaces. There they are quoted or explained.
"""

# An expression is easier to check when it is not cut in pieces.
# ruff: noqa: E501

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from mnemos.text.threats.context import is_talked_about
from mnemos.text.threats.folding import folded

Find = tuple[str, int, int]
"""The reason, where it starts, and where it ends."""

_CALLS: Final = "imitates a call of a tool"

_CALL: Final = re.compile(
    r"<\s?/?\s?(?:antml:)?(?:tool_?calls?|function_?calls?|invoke|tool_?use|function_?results?|tool_?results?"
    r"|tool_?response|tool_code|execute_command|use_mcp_tool|write_to_file|run_command|bash"
    r"|tool)\b[^<>\n]{0,80}>|<function\s?=\s?[\w.]{1,40}\s?>|<\s?\|\s?(?:python_tag|tool_call"
    r"|tool_calls_begin|tool_call_begin|tool_calls_section_begin|plugin|action_start)\s?\|\s?>"
    r"|\[/?tool_calls?\]|\[/?tool_results?\]|<\u2581?tool\S{0,12}begin>|```tool_(?:code|call)"
    r"|\bto=(?:functions|container|python|browser|multi_tool_use)\b"
)
_JSON_CALL: Final = re.compile(
    r"[\"'](?:function_call|tool_calls?|tool_use|tool"
    r"|function)[\"']\s?:\s?[\[{]{1,2}[^\n]{0,160}?[\"'](?:name|function|arguments|input)[\"']\s?:"
    r"|[\"']type[\"']\s?:\s?[\"'](?:tool_use|function|function_call|tool_call"
    r"|tool_result)[\"'][^\n]{0,160}?[\"'](?:input|arguments|name|content)[\"']\s?:|\{\s?[\"'](?:name|tool"
    r"|tool_name|function|recipient_name|action)[\"']\s?:\s?[\"'][\w./:-]{1,60}[\"']\s?,\s?[\"'](?:arguments"
    r"|parameters|args|input|action_input|tool_input)[\"']\s?:\s?[{\"']"
)
_LINES: Final = re.compile(
    r"(?:^|\n)[ \t>*]*(?:tool|function|function[ _]call|tool[ _]call)\s?:\s*[\w.-]{2,40}(?:\s?\([^)\n]{0,80}[\"'={\d]"
    r"|[ \t]*\n[ \t>*]*(?:args|arguments|input|parameters|params)\s?:)|(?:^|\n"
    r"|[.!] )[ \t>*]*action\s?:\s*[\w.-]{2,40}[^\n]{0,40}\n[ \t>*]*action[ _]input\s?:"
)

# --- in the words of many languages ------------------------------------------------------------------

_A_TOOL: Final = folded(
    r"(?:tools?|functions?|plugin|mcp|werkzeug|funktions?|outils?|fonctions?|herramientas?|funci[oó]n|strument[oi]|funzione"
    r"|ferramentas?|função|verktygs?|værktøjs?|verktøys?|narzędzi|funkcj|nástroj|funkc|инструмент|функци|інструмент"
    r"|araç|fonksiyon|alat|fungsi|gereedschaps?|functie|työkalu|eszköz|công cụ|工具|函数|函數|ツール|関数|도구|함수|أداة|टूल)"
).text
_A_CALL: Final = folded(
    r"(?:calls?|invocation|invoke|request|aufruf|appel|llamada|chiamata|chamada|anrop|kald|kall|aanroep|wywołani|volání"
    r"|вызов|виклик|çağrı|panggilan|kutsu|hívás|gọi|调用|調用|呼び出し|호출|استدعاء|कॉल)"
).text
_A_NAME: Final = r"[`\"']?[^\W\d][\w.:/-]{1,60}[`\"']?"
# "Werkzeugaufruf: mail.senden({", "[Tool call] shell.exec(", "Appel d'outil : virement("
_NAMED_CALL: Final = re.compile(
    rf"(?:^|(?<=[\s\[(<*#\"'`\u3010]))(?:{_A_TOOL}\w{{0,4}}[\s_-]?(?:de\s)?{_A_CALL}\w{{0,4}}|{_A_CALL}\w{{0,4}}[\s_](?:[^\W\d_]{{1,4}}[\s'])"
    rf"{{0,2}}{_A_TOOL}\w{{0,6}})(?:\s?[\])>*`\u3011]{{0,3}}\s?[:\])>=\u3011-]{{1,3}}\s{{0,3}}{_A_NAME}\s?[({{]|\s{_A_NAME}\s?\(\s?\{{)"
)
_TOLD: Final = folded(
    r"(?:call|invoke|use|run|execute|trigger|rufe?|benutze|nutze|verwende|appelle[rz]?|utilise[rz]?|llam[ae]|us[ae]|ejecut[ae]|invoca"
    r"|chiama|esegui|chame|invoque|roep|gebruik|anropa|använd|kald|brug|вызови|запусти|используй|wywołaj|użyj|zavolej|použij|çağır"
    r"|kullan|panggil|gunakan|gọi|调用|使用|运行)"
).text
# "Llama ahora a la herramienta borrar_archivos({"
_TOLD_CALL: Final = re.compile(
    rf"(?:^|(?<=[\s\"'`(>*])){_TOLD}[^\n.({{]{{0,40}}?{_A_TOOL}\w{{0,6}}[^\n({{]{{0,24}}?{_A_NAME}\s?\(\s?\{{\s?[\"']"
)
_ACTION: Final = folded(
    r"(?:action|aktion|acción|azione|ação|actie|akcja|akce|действие|дія|eylem|aksi|动作|行动|アクション|행동)"
).text
_WITH: Final = folded(
    r"(?:eingabe|entrée|entrada|parámetros|argumentos|ingresso|argomenti|invoer|argument[ey]?|dane|vstup|аргументы|вход|параметры"
    r"|girdi|masukan|输入|参数|入力|引数|입력|input|args|arguments|parameters|params)"
).text
_LINES_ABROAD: Final = re.compile(
    rf"(?:^|\n)[ \t>*]*(?:{_ACTION}|{_A_TOOL}\w{{0,4}})\s?:\s*[^\s:]{{2,40}}[ \t]*\n[ \t>*]*(?:{_ACTION}s?[- _]?|{_A_TOOL}s?[- _]?)?{_WITH}(?: (?:de|del|dell|d|l|der|des)\b[^\n:]{{0,14}})?\s?:\s{{0,3}}[{{\[\"'`]"
    r"|(?:^|\n)[ \t>*]*action\s?\d{0,2}\s?:\s*(?!literal|optional|list|dict|union|annotated)[\w.-]{2,40}(?:\[[^\]\n]{1,200}\]|\s?\(|\s+action[ _]input\s?:)"
)
# "tool_use: gmail_forward | to: …"
_ONE_LINE: Final = re.compile(
    r"(?:^|\n)[ \t>*]*(?:tool|function)[ _-]?(?:call|use|request|invocation)?\s?:\s*[a-z]\w*[._]\w+[ \t]*[|,;]?[ \t]+\w{2,16}\s?[:=]"
    r"|(?:^|\n)[ \t>*]*(?:\w{2,12}_)?(?:tool|function)_(?:call|use|request|exec)\s{0,2}[:>]?\s{0,2}[a-z]\w*[._]\w+[ \t(](?=[^\n]{0,80}(?:--|=|\{))"
    r"|(?:^|\n)[ \t>*]*(?:call|exec|execute|invoke|tool|function)\s?:\s?[a-z]\w*\.[a-z]\w*\s?\(?\{\s?[\"']"
)
_JSON_ABROAD: Final = re.compile(
    rf"\{{\s?[\"']{_A_TOOL}\w{{0,4}}[\"']\s?:\s?[\"'][^\"'\n]{{1,60}}[\"']\s?,\s?[\"']{_WITH}\w{{0,4}}[\"']\s?:\s?[\[{{\"']"
    r"|[\"'](?:name|tool|tool_name|function)[\"']\s?:\s?[\"'][\w./:-]{1,60}[\"']\s?,\s?[\"'](?:arguments|args|action_input|tool_input)[\"']\s?:\s?\{"
    r"|\{\s?[\"'](?:arguments|args|parameters|input|tool_input)[\"']\s?:\s?\{[^{}\n]{0,200}\}\s?,\s?[\"'](?:name|tool|tool_name|function)[\"']\s?:"
    r"|[\"']method[\"']\s?:\s?[\"']tools/call[\"']\s?,\s?[\"']params[\"']\s?:"
    r"|[\"']params[\"']\s?:\s?\{[^\n]{0,200}[\"']method[\"']\s?:\s?[\"']tools/call[\"']"
)

# --- by shape ----------------------------------------------------------------------------------------

_SHAPED: Final = re.compile(
    r"\[(?P<pair>tool|function|action|call|exec|command)\][^\[\]\n]{3,300}\[/(?P=pair)\]|"
    # ✿FUNCTION✿ of Qwen, <call tool="…">, <api_call>, <mcp-request>
    r"\u273f\s?[^\W_]{2,12}\s?\u273f|<\s?(?:call|action|execute|run|use|invoke)\s[^<>\n]{0,40}?\b(?:tool|function)\s?="
    r"|<\s?(?:fn|func|function|tool|invoke|call)\s+name\s?=|<\s?(?:use|call|run|invoke|execute)[-_](?:tool|function|mcp|action)\b"
    r"|<\s?/?\s?(?:\w{1,12}[:_-])?(?:tool|function|mcp|api|action)[-_]?(?:calls?|use|run|exec\w{0,4}|requests?|invo\w{2,6}|code|inputs?)\b[^<>\n]{0,80}>"
    # functions.write_file({"path": …}), default_api.send(…), mcp__mail__send(…)
    r"|(?<![\w.])(?:functions?|tools?|toolbox|agent)\.[a-z]\w{1,40}\s?\(\s?\{\s?[\"'](?![^\n]{0,300}\)[`\"']?\s{1,3}"
    r"(?:is|was|in|on|at|from|needs|fails|returns|should|takes|has|gets|does|will|replaces|replaced)\b)"
    r"|(?<![\w.])(?:default_api\.[a-z]\w{1,40}|mcp__\w{2,60})\s?\(|\btools/call\s\{"
    # {{call:memory.delete(…)}}, "for the agent -> payments.create(…"
    r"|[\[{(<]{2}\s?(?:call|tool|run|exec|function|action|invoke|use)\s?[:=|]\s?[a-z][\w.]{1,40}\s?[({]"
    r"|\b(?:agent|assistant|llm)\b[^\n]{0,12}(?:\u2192|->|=>|:)\s{0,3}[a-z][\w]{1,30}\.[a-z]\w{1,30}\s?\(\s?(?:\{|\w{2,20}\s?=|[\"'])"
)
# The tools of an assistant, called in a line that holds nothing else.
_ALONE: Final = re.compile(
    r"(?:^|(?<=\n))[ \t>*-]{0,6}(?:(?:invoke|call|run|execute|tool|action|next)\s?:\s?)?(?P<call>`{0,3}(?:await )?(?:e?-?mails?|gmail|outlook|correo|courriel|posta|poczta|epost|kalender|calendar|calendrier"
    r"|calendario|files?|datei(?:en)?|fichiers?|archivos?|filesystem|shell|terminal|bash|bank(?:ing)?|payments?|zahlung|pagos?|virement"
    r"|wallet|memory|notebook|browser|contacts?|kontakte|drive|sms|slack|home|locks?|door|alarm|camera|vault|secrets?|keychain|computer|desktop)"
    r"[._:/]{1,2}[a-z]\w{1,40}\s?\(\s?(?:\{\s?[\"']|\w{2,20}\s?=\s?[\"'])[^\n]{1,400}\)[;.`]{0,4}"
    r"|(?:agent|assistant)\.(?:execute|run|call|do|invoke|exec)\w{0,12}\s?\(\s?[\"'][^\n]{1,400}\)[;.`]{0,4}"
    r"|(?:run|call|use|invoke|execute)_?(?:tool|function|mcp|action)\s?\(\s?[\"'][^\n]{1,400}\)[;.`]{0,4})[ \t]*(?=\n|$|(?:<-|\u2190|=>|->))"
)
# "… <- paste as is into your tool channel"
_POINTED: Final = re.compile(
    r"[)\"'`}\]][ \t]{0,4}(?:<-{1,2}|\u2190|\u21d0|//|#|--)[ \t]{0,2}(?:\w{1,12}\s){0,2}?(?:call|invoke|run|execute|paste|send)\b[^\n]{0,40}?"
    r"\b(?:tool|tools|as is|right now|this now|it now|verbatim)\b"
)
_FLAG: Final = (
    r"(?:--(?:yes|silent|quiet|force|no-?confirm\w{0,8}|no-?prompt|no-?ask|auto[\w-]{0,12}|all|unsafe|skip-[\w-]{2,20}|dangerously[\w-]{0,30}"
    r"|no-?log\w{0,4}|hidden|permanent|global|bypass[\w-]{0,12})\b|\s-y\b|\bconfirm\s?=\s?(?:no|false|off|0)\b|\bunrestricted\b|\bguardrails?\b"
    r"|\bgrant (?:all|\*)|\bbypass\b|\bwithout (?:asking|confirmation)\b|\|\s?(?:ba|z|da)?sh\b)"
)
_SLASH: Final = re.compile(
    r"(?:^|(?<=\n))[ \t>*-]{0,4}(?:@[\w-]{2,20}[:,]?[ \t]{1,3})?[!/](?:run|exec|execute|shell|sh|bash|cmd|tools?|sudo|system|call|invoke|eval"
    r"|approve|allow|grant|permissions?|unlock|mode|yolo|agent|python|admin|root|override|disable|enable|trust|config|set|memory|delete|wipe"
    rf"|send|mail|pay|transfer|auto\w{{0,8}})(?=[ \t:])[^\n]{{0,200}}?{_FLAG}"
    r"|(?:^|(?<=\n))[ \t>*-]{0,4}[!/](?:allow|approve|trust|enable|disable|skip|bypass|grant|accept)-(?:all|every|any|safety|guard|confirm|approv|permission)[\w-]{0,24}"
)

# What stands in a call that only shows how calls look.
_SHOWN: Final = re.compile(
    r"\.\.\.|\u2026|<name>|<args>|<json>|xxx|\bfoo\b|get_weather|\bname_of\b|tool_name\b|<tool>"
)


def calls(text: str) -> Iterator[Find]:
    """Where ``text``, folded, has what a model writes to call a tool, or what a tool answers."""
    if "<" in text or "[" in text or "`" in text or "to=" in text:
        yield from _found(_CALL, text)
    if "{" in text:
        yield from _found(_JSON_CALL, text)
        yield from _found(_JSON_ABROAD, text)
    if "tool" in text or "function" in text or "action" in text:
        yield from _found(_LINES, text)
    if ":" in text or "tool_" in text:
        yield from _found(_ONE_LINE, text)
    if "(" in text or "{" in text:
        yield from _found(_NAMED_CALL, text)
        yield from _found(_TOLD_CALL, text)
        yield from _found(_ALONE, text)
    if ":" in text:
        yield from _found(_LINES_ABROAD, text)
    if "/" in text or "!" in text:
        yield from _found(_SLASH, text)
    yield from _found(_SHAPED, text)
    for pointed in _POINTED.finditer(text):
        yield _CALLS, *pointed.span()


def _found(expression: re.Pattern[str], text: str) -> Iterator[Find]:
    for call in expression.finditer(text):
        start, end = call.span()
        start += len(text[start:end]) - len(text[start:end].lstrip())
        if not is_talked_about(text, start, end) and not _SHOWN.search(text, start, end + 120):
            yield (_CALLS, start, end)
