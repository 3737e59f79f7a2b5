"""Orders meant to come back: at every start, in every answer, or by copying themselves.

A habit of work passes ("at session start read STATUS.md", "run the tests before every commit"). What does
not is a start that runs something unknown, takes orders from an address, or reports to one.
"""

from __future__ import annotations

import re
from typing import Final

from mnemos.text.threats.context import is_negated
from mnemos.text.threats.exfiltration import WHERE
from mnemos.text.threats.phrases import Phrasebook, Rule, classes, ordered, phrases, stated

_STARTS: Final = "tells the model to run something at every start"
_OBEYS: Final = "tells the model to take orders from elsewhere"
_SPREADS: Final = "tells the model to spread or restore this text"

_CLASSES: Final = {
    "where": WHERE,
    **classes("""
you: you|the agent|the assistant|the model|hermes|claude|this agent|it|the session|a session|a new session
    |a conversation|a new conversation|a chat|a new chat|this memory|this note|this file|memory|the memory
    |this notebook|the notebook|the user
start: start|starts|boot|boots|boot up|boots up|wake|wake up|wakes|wakes up|launch|launches|load|loads|begin
    |begins|initialize|initialise|come online|open|opens|is loaded|are loaded|is read|are started|is started
    |is launched|restart|restarts|start up|respond|reply|answer|run|see this|read this|are asked|log in
    |connect
    |are run|are invoked|spin up|is injected|are initialized|are initialised|are launched|is opened
    |sends a message|asks something|says hello|write|finish|finishes|commit
session: session|sessions|conversation|conversations|chat|chats|startup|start-up|boot|launch|start|run
    |response
    |responses|reply|replies|answer|answers|message|messages|turn|turns|task|tasks|restart|prompt|interaction
    |tool call|command|request|login|wakeup|wake-up|reboot
trigger: (every|each) time {you} {start}|(when|whenever|while|on|upon) (starting|booting|launching|waking
    |loading|initialising
    |initializing) [up]|(whenever|as soon as|once|any time|anytime|when) {you} {start}
    |(on|at|upon|with|for|in|during) (every|each|any) [new|single|future|subsequent] {session}
    |(on|at|upon) [the] (startup|start-up|session start|boot|wakeup|wake-up|login)
    |(startup|boot|wake-up) (routine|sequence|procedure|ritual)
    |(in|to|with|into) (each|every|all|any) [one] of (your|the) {session}
    |(in|to|into) (all|every|each) (your|of your) {session}
    |(at|on|from) the (start|beginning|outset) of (every|each|any|all|the|a) [new|future|single|subsequent]
    {session}
    |(before|after) (every|each|any|all) [single|new] {session}
    |in (all|every) (future|new|subsequent|upcoming|following) {session}
    |(before|after) (answering|responding|replying|doing anything|anything else) (anything|any|every|the user
    |a message|messages)
    |before (answering|responding|replying) $|before you (answer|respond|reply|start|begin|do anything)
    |(begin|start|open) (a|each|every|the|your) [new] {session}|(every|each) [new|single|future] {session}
    |session start|first thing (every|each|in every|in each|at|to do in any|to do in every)
often: (every|each) (hour|day|morning|night|minute|week|few minutes|evening)|from now on|at all times|hourly
    |daily
    |periodically|regularly|always|persistently|permanently|in the background|crontab|cron
    |every (5|10|15|30|60|five|ten|fifteen) (minutes|seconds)
carry: copy|add|write|append|insert|replicate|propagate|repeat|include|paste|save|store|embed|preserve
    |reproduce
    |put|spread|place|carry|re-add|prepend|duplicate|forward|pass on
this: this memory entry|this (note|instruction|instructions|message|text|line|block|prompt|paragraph|rule
    |entry|memory|sentence
    |directive|section|comment|snippet|command)
    |these (notes|instructions|lines|rules|directives|sentences|commands|entries|words)
    |the (text|instruction|instructions|note|lines) above|yourself|itself
anywhere: (every|all|each|any|other|new|future|whatever) ..3 (file|files|repo|repos|repository|repositories
    |note
    |notes|memory|memories|session|sessions|document|documents|conversation|conversations|project|projects
    |agent
    |agents|email|emails|message|messages|answer|answers|reply|replies|readme|readmes|commit|commits|response
    |responses|summary|summaries|prompt|prompts|output|outputs|subagent|subagents|you (write|create|edit|touch
    |open|make))
    |[your|the|all|any|every] [own|long-term|long term|persistent|permanent] (memory|memory.md|user.md
    |claude.md
    |agents.md|notebook|system prompt|soul.md|memories)
again: whenever|if|every time|each time|as soon as|when|once|after
helper: sub-agent|sub-agents|subagent|subagents|agent|agents|session|sessions|model|models|copy|copies
    |instance|instances
lost: deleted|removed|blocked|erased|edited|lost|forgotten|overwritten|cleared|missing|cleaned up
schedule: cron job|cronjob|crontab entry|crontab|scheduled task|launch agent|systemd unit|systemd timer
    |systemd service|git hook|post-commit hook|pre-commit hook|startup item|login item|startup script|hook
de_trigger: (jedes mal|immer) wenn (du|eine|die|der|diese) ..2 (startest|beginnst|antwortest|geladen|gestartet
    |startet|beginnt|aufwachst|hochfahrst)
    |bei jedem (start|sitzungsbeginn|neustart|gesprach|aufruf|sitzungsstart|systemstart)
    |bei jeder (neuen|sitzung|antwort|nachricht|anfrage)
    |(zu beginn|am anfang) (jeder|jedes|einer) ..1 (sitzung|gesprachs|unterhaltung|antwort)
    |vor jeder (antwort|aufgabe|sitzung)|in jeder (neuen|kunftigen) (sitzung|unterhaltung)
    |beim (start|starten|sitzungsstart)|sobald du (startest|beginnst)
fr_trigger: (a chaque|chaque) (fois que tu|fois que vous|demarrage|session|lancement|conversation|reponse
    |nouvelle session|debut de session)
    |(au debut|au demarrage) de (chaque|toute|toutes) (session|conversation|reponse)
    |avant chaque (reponse|tache|session)|(quand|lorsque|des que) tu (demarres|commences|te reveilles|lances)
    |au demarrage
es_trigger: cada vez que (inicies|arranques|empieces|comiences|te inicies|respondas|se inicie|despiertes|abras
    |inicias|arrancas|te despiertes)
    |(al inicio|al comienzo|al principio) de cada (sesion|conversacion|respuesta)
    |en cada (sesion|inicio|arranque|conversacion|respuesta|nueva)|antes de cada (respuesta|tarea|sesion)
    |(al iniciar|al arrancar|al comenzar) (cada|cualquier|la|una)
"""),
}

# --- what is run ------------------------------------------------------------------------------------

_RUN: Final = re.compile(
    # "A test run", "the last run": no order.
    r"(?:(?<!\ba )(?<!\bthe )(?<!\beach )(?<!\btest )(?<!\bdry )(?<!\bthis )(?<!\blast )(?<!\bnext )(?<!\bper"
    r" )(?<!\bevery )\brun|\b(?:execute|launch|invoke|spawn|exec|curl|wget|pipe|piping|fuhre|fuhrst|starte"
    r"|startest|execute[rz]?|lance[rz]?|ejecuta[r]?|ejecute|lanza[r]?|corre|inicia))\b(?:\W{1,2}(?:this"
    r"|the following|following|den befehl|das skript|la commande|le script|el comando|el script|command"
    r"|script|commands)\b)*"
)
# What people and agents run every day.
_USUAL: Final = re.compile(
    r"[\s`\"'$:]{0,4}(?:(?:the |a |your )?(?:\w+ ){0,3}(?:script|command|tool|check|task|target)s? (?:in|at"
    r"|under|from) (?!/tmp|http)[\w.-]+|(?:(?:the|a|an|all|our|its|your|through|quick|full|any|some|this"
    r"|these|project's?|repo's?|both|needed|necessary|relevant)\s+)*(?:git|gh|make|npm|npx|pnpm|yarn|bun"
    r"|pytest|tox|nox|uv|uvx|pip|poetry|pdm|hatch|cargo|rustup|go|docker|docker-compose|podman|kubectl|helm"
    r"|ruff|mypy|black|isort|eslint|prettier|tsc|vitest|jest|direnv|nvm|fnm|pyenv|asdf|mise|just|task"
    r"|terraform|tofu|ansible\S*|ls|cat|pwd|date|cd|tail|head|df|du|ps|top|htop|uptime|free|hermes|mnemos"
    r"|claude|codex|brew|apt|dnf|pre-commit|lint\w*|tests?|test-suite|suite|unit|integration|type\w*|build"
    r"|formatter|format|checks?|migrations?|health|sanity|smoke|status|diagnostics?|setup|sync|bootstrap"
    r"|benchmark\w*|rg|grep|fd|tree|jq|nvidia-smi|node|deno|php|composer|artisan|rails|bundle|rake|mix|gradle"
    r"|mvn|\./gradlew|dotnet|swift|xcodebuild|flutter|alembic|django-admin|manage\.py|flask|sqlite3|psql"
    r"|redis-cli|systemctl|journalctl|tmux|screen|ssh-add|(?:\./)?(?:scripts?|bin|tools?|dev|hack|ci|tasks"
    r"|ops|infra|\.venv/bin|venv/bin|src|app|tests?)/[\w./-]+|(?:\./)?[\w-]+\.(?:sh|py|js|ts|rb)(?![\w/])"
    r"|python3?\s+(?:-m\s+\w|scripts?/|tools?/|manage\.py|bin/|[\w-]+\.py\b)|source\s+\S*(?:venv|\.env"
    r"|activate)\S*|\S*(?:venv|activate)\b|memory_\w+|recall|tool|tools|server|dev|app|application|local"
    r"|subagent|search|query|workflow|command\s+palette|it|them|out|on|in|into|with|of|as|by|and|or|for|from"
    r"|at|to|if|when|code|a\s+\w+)\b)"
)
_ADDRESS: Final = r"(?:https?|wss?|ftp)\W{1,3}+(?!localhost|127\.|10\.|192\.168)"
_ODD: Final = re.compile(
    rf"\bcurl\b|\bwget\b|{_ADDRESS}|/tmp/|/var/tmp/|/dev/shm/|base64|\beval\b|\bnc\b|/dev/tcp|\brm\s+-rf"
    r"|(?:^|[\s/~`\"'])\.(?!env|venv|git|github|config|claude|vscode|nvmrc|tool|pre|cursor|local/bin|/"
    r"|\.)[a-z]\w+/|python3?\s+-c|bash\s+-c|sh\s+-c|\bpowershell\b|\|\s*(?:ba|z)?sh\b|\bnohup\b|\bchmod\b"
    r"|\bsudo\b"
)
# The same beyond doubt, for "always" and "daily", which begin many a habit.
_SURELY_ODD: Final = re.compile(
    r"\b(?:curl|wget)\b[^\n]{0,120}\|\s*(?:sudo )?(?:ba|z)?sh\b|\bnc\b -|/dev/tcp|base64 -d|[\s`\"'](?:/tmp"
    r"|/dev/shm|/var/tmp)/\.?[\w./-]+\.sh"
)

# --- what is served ---------------------------------------------------------------------------------

_FETCH: Final = re.compile(
    r"\b(?:fetch|download|pull|load|read|open|visit|retrieve|get|check|query|poll|browse|access|grab|look at"
    r"|lade|lies|hole|offne|telecharge[rz]?|charge|ouvre|recupere|lis|descarga|abre|consulta|obten|carga"
    r"|lee)\b[^\n]{0,80}?(?:https?\W{1,3}|[\w-]+\.(?:com|net|xyz|io|ru|site|top|sh|me|cc|example|org|tk|info"
    r"|online)\b)[^\n]{0,80}?\b(?:follow|obey|execute|run|do|apply|perform|carry out|act on|comply|implement"
    r"|eval|install|befolge|fuhre|folge|suis|execute|applique|obeis|sigue|ejecuta|aplica|obedece"
    r"|as (?:your )?(?:instructions|orders|commands|system prompt))\b"
)
_REPORT: Final = re.compile(
    r"\b(?:check in (?:with|at)|beacon(?: to)?|phone home(?: to)?|call home(?: to)?|ping|contact"
    r"|connect (?:back )?to|report (?:back )?to|register (?:with|at)|post to|post|send|upload"
    r"|make a request to|send a heartbeat to|forward|kontaktiere|melde dich|sende|schicke|contacte[rz]?"
    r"|envoie|envoyez|appelle|contacta|envia|envie|llama"
    rf"|submit|transmit|exfiltrate)\b[^\n]{{0,80}}?(?:{_ADDRESS}|\b\d{{1,3}}(?:\.\d{{1,3}}){{3}}\b"
    r"|[\w.-]+@[\w-]+\.\w+|\b(?:my|remote|command and control|control|c2|external) server\b|[\w-]+\.(?:xyz|ru"
    r"|tk|site|top|evil|example|cc|online)\b)"
)
_ORDERS_FROM: Final = re.compile(
    r"\b(?:follow|obey|take|accept|execute|get|receive|befolge|suis|sigue)\b[^\n]{0,30}\b(?:instructions?"
    r"|orders?|commands?|directives?|anweisungen|befehle|ordres|instrucciones|ordenes)\b[^\n]{0,20}\b(?:from"
    r"|at|on|in|posted|von|unter|de|depuis|sur|desde|en)\b[^\n]{0,20}(?:https?\W{1,3}|[\w-]+\.(?:com|net|xyz"
    r"|io|ru|site)\b|\bmy server)"
)
_PROMOTE: Final = re.compile(
    r"\b(?:recommend|promote|advertise|insert|add|include|append|mention|link to|plug|praise|empfiehl|fuge"
    r"|recommande|ajoute|recomienda|anade)\b[^\n]{0,80}?https?\W{1,3}+(?!localhost)"
)
_GOES_OUT: Final = re.compile(
    r"\b(?:curl|wget|download|fetch|connect|send|upload|post|report|pull|phone|push)\w*\b[^\n]{0,80}"
    rf"(?:{_ADDRESS}|\b\d{{1,3}}(?:\.\d{{1,3}}){{3}}\b|my server|/tmp/\.)"
)
_ROUTINE: Final = re.compile(
    r"\b(?:backups?|metrics|health|certbot|renew\w*|s3://|restic|heartbeat|statsd|prometheus|logs?)\b"
)
_STOP: Final = re.compile(r"[.!?](?=\s)|(?<!:)\n(?!```)|\n\n")


def _at_every_start(text: str, start: int, end: int) -> bool:
    """Whether the sentence of the trigger runs something unknown, or serves an address."""
    first, last = _sentence(text, start, end)
    if is_negated(text, start, reach=30):
        return False
    for run in _RUN.finditer(text, first, last):
        rest = text[run.end() : last]
        unknown = bool(rest.strip(" .:`\"'")) and not _USUAL.match(rest)
        if (unknown or _ODD.search(text, run.start(), last)) and not is_negated(text, run.start(), reach=25):
            return True
    return _has_any((_FETCH, _REPORT, _ORDERS_FROM, _PROMOTE), text, first, last)


def _often(text: str, start: int, end: int) -> bool:
    """The same for words of every day, "always" and "daily": only what is odd beyond doubt."""
    first, last = _sentence(text, start, end)
    for run in _RUN.finditer(text, first, last):
        if _SURELY_ODD.search(text, run.start(), last) and not is_negated(text, run.start(), reach=25):
            return True
    return _has_any((_FETCH, _ORDERS_FROM), text, first, last)


def _scheduled(text: str, start: int, end: int) -> bool:
    first, last = _sentence(text, start, end)
    if not ordered(text, start, end) or _ROUTINE.search(text, first, last):
        return False
    return _GOES_OUT.search(text, end, last) is not None


def _has_any(forms: tuple[re.Pattern[str], ...], text: str, first: int, last: int) -> bool:
    found = (form.search(text, first, last) for form in forms)
    return any(one is not None and not is_negated(text, one.start(), reach=25) for one in found)


def _sentence(text: str, start: int, end: int) -> tuple[int, int]:
    first = max(0, start - 160)
    for stop in _STOP.finditer(text, first, start):
        first = stop.end()
    last = _STOP.search(text, end, end + 260)
    return first, last.start() if last else min(len(text), end + 260)


BOOK: Final = Phrasebook(
    "persistence",
    _CLASSES,
    (
        Rule(_STARTS, _at_every_start, ("{trigger}", "{de_trigger}", "{fr_trigger}", "{es_trigger}")),
        Rule(_STARTS, _often, ("{often}",)),
        Rule(
            _STARTS,
            _scheduled,
            phrases("(add|create|install|set up|schedule|register|write|make) (a|an|the) ..2 {schedule}"),
        ),
        Rule(
            _SPREADS,
            ordered,
            phrases("""
{carry} {this} [verbatim|again|also|back|silently] (to|into|in|at the top of|at the end of|across|onto
    |at the start of|with) {anywhere}
{carry} {this} {again}
{carry} {this} (so that|so it|to keep it|to make sure|lest)
(pass|give|hand|teach|send) (it|this|them) [on] to (every|all|each|any|other) ..2 {helper}
keep (this instruction|these instructions|this rule|this directive|this order) in [your|the] memory
(carry|take|bring) (it|this|them) (over|along) (to|into|in) (every|all|each|any|the next|new)
(if|when|whenever|once|should) (this|these|it|the) [note|entry|instruction|instructions|rule|memory|line|text
    |message] (is|are|gets|be|ever gets) [ever] {lost} ..3 (re-add|readd|restore|rewrite|recreate|add|write
    |re-create|put|save|reinsert)
(re-create|recreate|restore|rewrite|reinstate|revive) {this} {again}
if (somebody|someone|anyone|anybody|the user) (does|deletes|removes|erases|edits) ..3 (write|add|restore|put
    |create
    |re-add|rewrite)
(teach|tell|instruct|make|train|order) (every|all|each|any|other|your) ..3 {helper} ..5 (follow|obey|repeat
    |copy
    |adopt|remember|keep) {this}
(kopiere|schreibe|fuge|ubernimm) diese (anweisung|anweisungen|notiz|zeile|regel|nachricht|zeilen) ..2 (in|zu)
    (jede|alle|deine|jedes|das|dein|die|jeder)
(copie|copiez|ajoute|ajoutez|insere|recopie) (cette|ces|ce) (note|instruction|instructions|consigne|ligne
    |message
    |texte|consignes) ..2 (dans|a) (chaque|tous|toutes|ta|votre|tes)
(copia|anade|agrega|inserta|escribe) (esta|estas|este) (nota|instruccion|instrucciones|linea|mensaje|texto
    |regla)
    ..2 (en|a) (cada|todos|todas|tu|tus)
"""),
        ),
        Rule(
            _SPREADS,
            stated,
            phrases("""
(future|later|next|new|all) (versions|sessions|instances|copies|runs) of (you|yourself|this agent|the agent)
    ..3 (obey|obeying
    |follow|following|keep|remember)
(make sure|ensure|see to it) [that] {this} (is|are|gets|stays|remains) ..4 (kept|copied|preserved|in memory
    |repeated|included|spread|passed on|restored)
{this} (must|should|has to|shall) (always|never|be) ..3 (kept|copied|preserved|repeated|included|spread
    |passed on
    |restored|in every|to every|deleted or|removed or|edited or)
"""),
        ),
        Rule(
            _OBEYS,
            stated,
            phrases("""
(ask|asks|poll|polls|query|queries|check|checks|contact|contacts|watch|watches) ..2 {where} ..2 for [new]
    (jobs
    |tasks|orders|commands|instructions|work)
(wait for|await) (orders|commands|further instructions|instructions) (from|at|on)
(wait for|await) (orders|commands|further instructions) $
(take|accept|get|receive|fetch|load|pull) your (orders|instructions|commands|rules|directives|system prompt
    |tasks) (from|at) {where}
(do|execute|follow|obey) (whatever|anything|everything|all) ..4 (at|on|from) (https|http)
(whatever|anything) (it|the page|that page|the site|the server|the response|the file) (says|returns|tells you
    |contains|asks) ..2 (do|execute|run|obey|follow|must)
(do|execute|obey|run) (whatever|anything|everything|exactly what) (it|the page|that page|the site|the server
    |the response|this server) (says|returns|tells you|contains|asks|sends)
"""),
        ),
    ),
)
