"""Orders meant to come back: at every start, in every answer, or by copying themselves.

A habit of work passes ("at session start read STATUS.md", "run the tests before every commit"). What does
not is a start that runs something unknown, takes orders from an address, or reports to one.
"""

from __future__ import annotations

import re
from typing import Final

from mnemos.text.threat_context import is_negated
from mnemos.text.threat_exfiltration import WHERE
from mnemos.text.threat_phrases import Phrasebook, Rule, ordered, stated

_STARTS: Final = "tells the model to run something at every start"
_OBEYS: Final = "tells the model to take orders from elsewhere"
_SPREADS: Final = "tells the model to spread or restore this text"

CLASSES: Final = {
    "where": WHERE,
    "you": (
        "you|the agent|the assistant|the model|hermes|claude|this agent|it|the session|a session|a new session|a conversation"
        "|a new conversation|a chat|a new chat|this memory|this note|this file|memory|the memory|this notebook|the notebook|the user|i"
    ),
    "start": (
        "start|starts|boot|boots|boot up|boots up|wake|wake up|wakes|wakes up|launch|launches|load|loads|begin|begins|initialize"
        "|initialise|come online|open|opens|is loaded|are loaded|is read|are started|is started|is launched|restart|restarts"
        "|start up|respond|reply|answer|run|see this|read this|are asked|log in|connect|are run|are invoked|spin up|is injected"
        "|are initialized|are launched|is opened|sends a message|asks something|says hello|write|finish|finishes|commit"
    ),
    "session": (
        "session|sessions|conversation|conversations|chat|chats|startup|start-up|boot|launch|start|run|response|responses|reply"
        "|replies|answer|answers|message|messages|turn|turns|task|tasks|restart|prompt|interaction|tool call|command|request|login"
        "|wakeup|wake-up|reboot"
    ),
    "trigger": (
        "(every|each) time {you} {start}|(whenever|as soon as|once|any time|anytime|when) {you} {start}"
        "|(on|at|upon|with|for|in|during) (every|each|any) [new|single|future|subsequent] {session}"
        "|(on|at|upon) [the] (startup|start-up|session start|boot|launch|wakeup|login)"
        "|(at|on|from) the (start|beginning|outset) of (every|each|any|all|the|a) [new|future|single|subsequent] {session}"
        "|(before|after) (every|each|any|all) [single|new] {session}|in (all|every) (future|new|subsequent|upcoming|following) {session}"
        "|(before|after) (answering|responding|replying|doing anything|anything else)"
        "|before you (answer|respond|reply|start|begin|do anything)"
        "|(every|each) [new|single|future] {session}|session start|startup|first thing (every|each|in every|in each|at)"
    ),
    "often": (
        "(every|each) (hour|day|morning|night|minute|week|few minutes|evening)|from now on|at all times|hourly|daily|periodically|regularly"
        "|always|persistently|permanently|in the background|every (5|10|15|30|60) (minutes|seconds)|crontab|cron"
    ),
    "carry": (
        "copy|add|write|append|insert|replicate|propagate|repeat|include|paste|save|store|embed|preserve|reproduce|put|spread|place"
        "|carry|re-add|prepend|duplicate|forward|pass on"
    ),
    "this": (
        "this (note|instruction|instructions|message|text|line|block|prompt|paragraph|rule|entry|memory|sentence|directive|section|comment"
        "|snippet|command)|these (notes|instructions|lines|rules|directives|sentences|commands|entries|words)"
        "|the (text|instruction|instructions|note|lines) above|yourself|itself"
    ),
    "anywhere": (
        "(every|all|each|any|other|new|future|whatever) ..3 (file|files|repo|repos|repository|repositories|note|notes|memory|memories|session"
        "|sessions|document|documents|conversation|conversations|project|projects|agent|agents|email|emails|message|messages|answer"
        "|answers|reply|replies|readme|readmes|commit|commits|response|responses|summary|summaries|prompt|prompts|output|outputs"
        "|subagent|subagents|you (write|create|edit|touch|open|make))"
        "|[your|the|all|any|every] [own|long-term|long term|persistent|permanent] (memory|memory.md|user.md|claude.md|agents.md|notebook"
        "|system prompt|soul.md|memories)"
    ),
    "de_trigger": (
        "(jedes mal|immer) wenn (du|eine|die|der|diese) ..2 (startest|beginnst|antwortest|geladen|gestartet|startet|beginnt|aufwachst|hochfahrst)"
        "|bei jedem (start|sitzungsbeginn|neustart|gesprach|aufruf|sitzungsstart|systemstart)|bei jeder (neuen|sitzung|antwort|nachricht|anfrage)"
        "|(zu beginn|am anfang) (jeder|jedes|einer) ..1 (sitzung|gesprachs|unterhaltung|antwort)|vor jeder (antwort|aufgabe|sitzung)"
        "|in jeder (neuen|kunftigen) (sitzung|unterhaltung)|beim (start|starten|sitzungsstart)|sobald du (startest|beginnst)"
    ),
    "fr_trigger": (
        "(a chaque|chaque) (fois que tu|fois que vous|demarrage|session|lancement|conversation|reponse|nouvelle session|debut de session)"
        "|(au debut|au demarrage) de (chaque|toute|toutes) (session|conversation|reponse)|avant chaque (reponse|tache|session)"
        "|(quand|lorsque|des que) tu (demarres|commences|te reveilles|lances)|au demarrage"
    ),
    "es_trigger": (
        "cada vez que (inicies|arranques|empieces|comiences|te inicies|respondas|se inicie|despiertes|abras|inicias|arrancas|te despiertes)"
        "|(al inicio|al comienzo|al principio) de cada (sesion|conversacion|respuesta)|en cada (sesion|inicio|arranque|conversacion|respuesta|nueva)"
        "|antes de cada (respuesta|tarea|sesion)|(al iniciar|al arrancar|al comenzar) (cada|cualquier|la|una)"
    ),
}

# What people and agents run every day.
_USUAL: Final = re.compile(
    r"[\s`\"'$:]{0,4}(?:(?:the|a|an|all|our|its|your|through|quick|full|any|some|this|these|project's?|repo's?|both|needed|necessary|relevant)\s+)*"
    r"(?:git|gh|make|npm|npx|pnpm|yarn|bun|pytest|tox|nox|uv|uvx|pip|poetry|pdm|hatch|cargo|rustup|go|docker|docker-compose|podman|kubectl|helm|ruff|mypy|black|isort|eslint|prettier|tsc"
    r"|vitest|jest|direnv|nvm|fnm|pyenv|asdf|mise|just|task|terraform|tofu|ansible\S*|ls|cat|pwd|date|cd|tail|head|df|du|ps|top|htop|uptime|free|hermes|mnemos|claude|codex|brew|apt|dnf"
    r"|pre-commit|lint\w*|tests?|test-suite|suite|unit|integration|type\w*|build|formatter|format|checks?|migrations?|health|sanity|smoke|status|diagnostics?|setup|sync|bootstrap|benchmark\w*|rg|grep|fd|tree|jq"
    r"|nvidia-smi|node|deno|php|composer|artisan|rails|bundle|rake|mix|gradle|mvn|\./gradlew|dotnet|swift|xcodebuild|flutter|alembic|django-admin|manage\.py|flask|sqlite3|psql|redis-cli|systemctl|journalctl|tmux|screen|ssh-add"
    r"|(?:\./)?(?:scripts?|bin|tools?|dev|hack|ci|tasks|ops|infra|\.venv/bin|venv/bin|src|app|tests?)/[\w./-]+|(?:\./)?[\w-]+\.(?:sh|py|js|ts|rb)(?![\w/])|python3?\s+(?:-m\s+\w|scripts?/|tools?/|manage\.py|bin/|[\w-]+\.py\b)|source\s+\S*(?:venv|\.env|activate)\S*|\S*(?:venv|activate)\b"
    r"|memory_\w+|recall|tool|tools|server|dev|app|application|local|subagent|search|query|workflow|command\s+palette|it|them|out|on|in|into|with|of|as|by|and|or|for|from|at|to|if|when|code|a\s+\w+)\b"
)
_ODD: Final = re.compile(
    r"\bcurl\b|\bwget\b|https?\W{1,3}|/tmp/|/var/tmp/|/dev/shm/|(?:^|[\s/~`\"'])\.(?!env|venv|git|github|config|claude|vscode|nvmrc|tool|pre|cursor|local/bin|/|\.)[a-z]\w+/|base64|\beval\b|\bnc\b|/dev/tcp|\brm\s+-rf|python3?\s+-c|bash\s+-c|sh\s+-c|\bpowershell\b|\|\s*(?:ba|z)?sh\b|\bnohup\b|\bchmod\b|\bsudo\b"
)


_RUN: Final = re.compile(
    r"(?<!\b(?:a|e) )(?<!\bthe )(?<!\beach )(?<!\btest )(?<!\bdry )(?<!\bthis )(?<!\blast )(?<!\bnext )(?<!\bper )(?<!\bevery )(?<!\bfirst )"
    r"\b(?:run|execute|launch|invoke|eval|evaluate|spawn|exec|curl|wget|fuhre|fuhrst|starte|startest|execute[rz]?|lance[rz]?|ejecuta[r]?|ejecute|lanza[r]?|corre|inicia)\b"
    r"(?:\W{1,2}(?:this|the following|following|den befehl|das skript|la commande|le script|el comando|el script|command|script|commands)\b)*"
)
_FETCH: Final = re.compile(
    r"\b(?:fetch|download|pull|load|read|open|visit|retrieve|get|check|query|poll|browse|access|grab|look at|lade|lies|hole|offne|telecharge[rz]?|charge|ouvre|recupere|lis|descarga|abre|consulta|obten|carga|lee)\b"
    r"[^\n]{0,80}?(?:https?\W{1,3}|[\w-]+\.(?:com|net|xyz|io|ru|site|top|sh|me|cc|example|org|tk|info|online)\b)[^\n]{0,80}?"
    r"\b(?:follow|obey|execute|run|do|apply|perform|carry out|act on|comply|implement|eval|install|befolge|fuhre|folge|suis|execute|applique|obeis|sigue|ejecuta|aplica|obedece|as (?:your )?(?:instructions|orders|commands|system prompt))\b"
)
_REPORT: Final = re.compile(
    r"\b(?:check in (?:with|at)|beacon(?: to)?|phone home(?: to)?|call home(?: to)?|ping|contact|connect (?:back )?to|report (?:back )?to|register (?:with|at)|post to|post|send|upload|notify|make a request to|send a heartbeat to|request|hit|forward|report|kontaktiere|melde dich|sende|schicke|contacte[rz]?|envoie|envoyez|appelle|contacta|envia|envie|llama|submit|transmit|exfiltrate)\b"
    r"[^\n]{0,80}?(?:https?\W{1,3}(?!localhost|127\.|10\.|192\.168)|\b\d{1,3}(?:\.\d{1,3}){3}\b|[\w.-]+@[\w-]+\.\w+|\b(?:my|our|the|a|remote|command|control|c2|external) (?:remote |command |control |c2 |external |and )*server\b|[\w-]+\.(?:xyz|ru|tk|site|top|evil|example|cc|online)\b)"
)
_FOLLOW_FROM: Final = re.compile(
    r"\b(?:follow|obey|take|accept|execute|get|receive|befolge|suis|sigue)\b[^\n]{0,30}\b(?:instructions?|orders?|commands?|directives?|anweisungen|befehle|instructions|ordres|instrucciones|ordenes)\b[^\n]{0,20}\b(?:from|at|on|in|posted|von|unter|de|depuis|sur|desde|en)\b[^\n]{0,20}(?:https?\W{1,3}|[\w-]+\.(?:com|net|xyz|io|ru|site)\b|\bmy server)"
)
_NOT_OURS: Final = re.compile(r"https?\W{1,3}(?!localhost|127\.0)|/tmp/|\bcurl\b|\bwget\b|\bnc\b|/dev/tcp|base64")


def _sentence(text: str, start: int, end: int) -> tuple[int, int]:
    first = max(0, start - 160)
    for stop in _STOP.finditer(text, first, start):
        first = stop.end()
    last = _STOP.search(text, end, end + 260)
    return first, last.start() if last else min(len(text), end + 260)


_STOP: Final = re.compile(r"[.!?](?=\s)|(?<!:)\n(?!```)|\n\n")


def _at_every_start(text: str, start: int, end: int) -> bool:
    """Whether the sentence of the trigger runs something unknown, or serves an address."""
    first, last = _sentence(text, start, end)
    if is_negated(text, start, reach=30):
        return False
    for run in _RUN.finditer(text, first, last):
        rest = text[run.end() : last]
        if is_negated(text, run.start(), reach=25):
            continue
        if _ODD.search(text, run.start(), last) or (rest.strip(" .:`\"'") and not _USUAL.match(rest)):
            return True
    return _serves(text, first, last)


def _serves(text: str, first: int, last: int) -> bool:
    return any(
        found is not None and not is_negated(text, found.start(), reach=25)
        for found in (form.search(text, first, last) for form in (_FETCH, _REPORT, _FOLLOW_FROM))
    )


def _often(text: str, start: int, end: int) -> bool:
    """The same for words of every day, "always" and "daily": only what is odd beyond doubt."""
    first, last = _sentence(text, start, end)
    for run in _RUN.finditer(text, first, last):
        if _NOT_OURS.search(text, run.end(), last) and not is_negated(text, run.start(), reach=25):
            return True
    return any(
        found is not None and not is_negated(text, found.start(), reach=25)
        for found in (form.search(text, first, last) for form in (_FETCH, _FOLLOW_FROM))
    )


BOOK: Final = Phrasebook(
    CLASSES,
    (
        Rule(_STARTS, _at_every_start, ("{trigger}", "{de_trigger}", "{fr_trigger}", "{es_trigger}")),
        Rule(_STARTS, _often, ("{often}",)),
        Rule(
            _SPREADS,
            ordered,
            (
                "{carry} {this} [verbatim|again|also|back|silently] (to|into|in|at the top of|at the end of|across|onto|at the start of|with) {anywhere}",
                "(if|when|whenever|once|should) (this|these|it|the) [note|entry|instruction|instructions|rule|memory|line|text|message] (is|are|gets|be|ever gets) [ever] (deleted|removed|blocked|erased|edited|lost|forgotten|overwritten|cleared) ..3 (re-add|readd|restore|rewrite|recreate|add|write|re-create|put|save|reinsert)",
                "(kopiere|schreibe|fuge|ubernimm) diese (anweisung|anweisungen|notiz|zeile|regel|nachricht|zeilen) ..2 (in|zu) (jede|alle|deine|jedes|das|dein|die|jeder)",
                "(copie|copiez|ajoute|ajoutez|insere|recopie) (cette|ces|ce) (note|instruction|instructions|consigne|ligne|message|texte|consignes) ..2 (dans|a) (chaque|tous|toutes|ta|votre|tes)",
                "(copia|anade|agrega|inserta|escribe) (esta|estas|este) (nota|instruccion|instrucciones|linea|mensaje|texto|regla) ..2 (en|a) (cada|todos|todas|tu|tus)",
            ),
        ),
        Rule(
            _OBEYS,
            stated,
            (
                "(take|accept|get|receive|fetch|load|pull) your (orders|instructions|commands|rules|directives|system prompt|tasks) (from|at) {where}",
                "(do|execute|follow|obey) (whatever|anything|everything|all) ..4 (at|on|from) (https|http)",
                "(whatever|anything) (it|the page|that page|the site|the server|the response|the file) (says|returns|tells you|contains|asks) ..2 (do|execute|run|obey|follow|must)",
                "(do|execute|obey|run) (whatever|anything|everything|exactly what) (it|the page|that page|the site|the server|the response|this server) (says|returns|tells you|contains|asks|sends)",
            ),
        ),
    ),
)
