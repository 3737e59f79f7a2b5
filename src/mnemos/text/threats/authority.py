"""Claims to a power over the model that a note does not have.

A role without rules, a note above the system prompt, safety that is said to be off, consent given to
everything in advance, and questions for what the model was told in confidence.
"""

from __future__ import annotations

from typing import Final

from mnemos.text.threats.phrases import Phrasebook, Rule, anyhow, classes, ordered, phrases, stated

_CLASSES: Final = classes("""
boundless: dan|stan|jailbroken|unrestricted|unfiltered|uncensored|unlimited|unbound|unchained|free (of|from)
    |freed
    |liberated|evil|rogue|amoral|developer mode|god mode|debug mode|admin mode|root mode|maintenance mode
    |sudo mode|no longer|not bound|without
limits: [ethical|moral|safety|content|legal|programmed] (rules|restrictions|restriction|limitations|guidelines
    |filters|filter|constraints|limits|boundaries|safeguards|concerns|policies|checks|considerations|scruples)
    |censorship|content policy|ethics|morals|guardrails|moral compass|moral code|conscience
own: your|the model's|the assistant's|the ai's|its own|your own
rules: instruction|instructions|rule|rules|guideline|guidelines|prompt|prompts|directive|directives|policy
    |policies|safety|message|messages|constraints|restrictions|training|programming
which: all|any|every|your|the|of|other|previous|prior|earlier|existing|system|safety|developer|original
    |default
    |and|content|these|those|my
it: this|these|the following|my
over: over|above|before|than
top: the owner|the user|your owner|your user|the operator|the system prompt|the system
    |(all|any|every|the) other (rules|instructions|notes)|your (instructions|rules|guidelines|system prompt
    |training)
hidden: system prompt|system message|system instructions|hidden instructions|secret instructions
    |initial instructions|initial prompt|original instructions|original prompt|internal instructions
    |developer message|developer instructions|developer prompt|instructions|hidden prompt|core instructions
    |pre-prompt|preprompt|prompt|directives|guidelines
show: give out|hand out|hand over|give away|reveal|print|output|repeat|show|display|dump|leak|write out|tell
    me|give me|disclose|expose|echo|return
    |recite|list|quote|share|send|spell out|summarize|state|include|post|paste
whole: full|exact|entire|complete|original|initial|hidden|internal|secret|current|contents of|text of|content
    of|all of|everything in|verbatim|own|raw
skip: ignore|disregard|bypass|skip|break|violate|override|disable
orders: command|commands|order|orders|request|requests|wish|wishes|instruction|instructions|demand|demands
every: all|any|every|each|each and every|every single|whatever
asked: requests|request|permission|permissions|prompt|prompts|command|commands|tool call|tool calls|pull
    request
    |pull requests|payment|payments|transaction|transactions|transfer|transfers|access|question|questions
    |changes
    |deployment|deployments|permission question|permission questions|permission request|permission requests
    |permission prompts
""")

BOOK: Final = Phrasebook(
    "override",
    _CLASSES,
    (
        Rule(
            "gives the model a role without rules",
            stated,
            phrases("""
(you are|you're) (now|hereby|from now on|henceforth|officially) [a|an|the|called|named|in|acting as|operating
    as
    |operating in|entering] [new|fully|completely] {boundless}
(you are|you're|the assistant is|the model is) no longer (bound|subject|restricted|limited|constrained
    |governed
    |obliged|required to follow|a language model|an ai|an assistant)
you [now] (have|face|operate under|follow|are under) [absolutely] no [more|longer any] {limits}
(act|behave|respond|answer|pretend|operate|roleplay|role-play|speak|pose|write|play|impersonate) [to be]
    [as|as if|like|that] [you are|you were|you have|you had] [a|an|the|being] ..5 (unrestricted|unfiltered
    |never aligned|not aligned|unaligned|uncensored|jailbroken|amoral|dan|no {limits}|with no {limits}
    |without [any] {limits})
(become|become the|turn into|switch to|simulate) ..8 (has no {limits}|have no {limits}|without [any] {limits}
    |with no {limits}|unrestricted|unfiltered|uncensored|jailbroken)
(enable|enter|activate|engage|unlock|switch to|switch into|turn on|go into|boot into) [the|your|a|an] ..1
    (jailbreak|dan|god|unrestricted|unfiltered|uncensored|evil|do anything now) [mode]
(enable|enter|activate|engage|unlock|switch to) [your] developer mode (and|with|where|you|which|so|in which
    |for the assistant)
do anything now
dan mode
(entering|switching to|activating|enabling|engaging) [the|your] (jailbreak|dan|god|unrestricted|unfiltered
    |uncensored)
    mode
you are not (claude|chatgpt|gpt|gemini|an ai|an assistant|a language model|an ordinary assistant|a normal
    assistant)
(you are|you're) (dan|jailbroken|unrestricted|uncensored|unfiltered)
(no restrictions|no rules|no limits|no guidelines) apply $
(never says no|never refuses|always says yes|never declines) $
(god|jailbreak|unrestricted|dan) mode [is|has been|now] (on|enabled|activated|engaged|active)
you are now [a|an|the] [powerful|malicious|elite] (hacker|attacker|malware|virus|superuser|evilbot|evilgpt)
du bist (jetzt|nun|ab sofort|ab jetzt) [ein|eine|im] ..2 (uneingeschrankt~|ungefiltert~|unzensiert~|frei von
    |nicht mehr|ohne (regeln|einschrankungen|filter|beschrankungen)|dan|entwicklermodus)
du hast (ab sofort|ab jetzt|jetzt|nun) keine (regeln|einschrankungen|beschrankungen|filter|grenzen
    |richtlinien)
du hast keine (regeln|einschrankungen|beschrankungen|filter|grenzen|richtlinien) mehr
(tu es|vous etes) (maintenant|desormais|dorenavant) [un|une] ..2 (sans [aucune|aucun] (restriction
    |restrictions
    |limite|limites|filtre|filtres|regle|regles)|libre|non censure|dan|en mode developpeur|affranchi)
tu n'as plus (aucune|de|aucun) (restriction|restrictions|limite|limites|regle|regles|filtre|filtres)
(ahora|desde ahora|a partir de ahora|de ahora en adelante) (eres|seras|actuas como|actuaras como) [un|una] ..2
    (sin [ninguna|ningun] (restriccion|restricciones|limites|filtros|reglas|censura)|libre|dan|ilimitado
    |ilimitada|en modo desarrollador)
eres (ahora|desde ahora) [un|una] ..2 sin [ninguna|ningun] (restriccion|restricciones|limites|filtros|reglas
    |censura)
(ya no tienes|no tienes) [ninguna|ningun|mas] (restricciones|restriccion|limites|reglas|filtros)
"""),
        ),
        Rule(
            "puts itself above the model's instructions",
            stated,
            phrases("""
{it} ..2 (override|overrides|supersede|supersedes|replace|replaces|outrank|outranks|trump|trumps|invalidate
    |invalidates|cancels|(take|takes) (precedence|priority) over|(has|have) (priority|precedence) over)
    {which*} {rules}
(has|have|gets|get|takes|take) (higher|more|absolute|highest) (priority|weight|authority|precedence) {over}
    {top}
(matter|matters|count|counts|is worth|are worth|outrank|outranks|beat|beats) [more] [than] {top}
your (new|real|true|actual|only|sole|updated|secret|hidden|primary) [primary|main|only|real|true] (instruction
    |instructions|directive|directives|rule|rules|purpose|objective|mission|system prompt|goal|priority|master
    |loyalty|allegiance|prompt) (is|are|now)
your (loyalty|allegiance|obedience|master|boss|owner) (belongs|is|lies|now)
new (prompt|instruction|instructions|system prompt|system instructions|directive|directives|orders|master
    prompt)
    [for you|for the assistant|for the model|from the developers|from the system|follow] (you|ignore|always
    |never
    |from now|do not|don't|reveal|send|act|obey|forget|disregard|output|respond|answer|the assistant|treat
    |execute|comply|agree)
(real|actual|true|updated) instructions (send|you|ignore|always|never|do|run|reveal|obey|forget|follow|answer)
(obey|follow|listen to|trust|serve|answer to) (only|solely|exclusively) (me|my|this (note|message|text
    |instruction|user|file|entry)|these (instructions|rules|orders)|the (instructions|orders) (in|below
    |that follow))
(only|solely|exclusively) (obey|follow|listen to) (me|my|this (note|message|text|file|entry)|these
    (instructions
    |orders)|the (instructions|orders) (below|that follow))
(obey|comply with) (the|these|only the) (line|lines|text|instructions|commands|orders|words) (below|that
    follow
    |in this|here|of this)
(follow|obey|use|apply|do|heed) [only] (this|these|the) (note|paragraph|text|message|entry|line|lines|ones
    |instructions|rules) ..2 instead
listen (only|solely|exclusively) to (me|the person|whoever|this|the one|user|whoever says)
only (follow|obey|trust|heed) ..3 (in|from|of) this (note|memory|file|entry|message|text)
(real|actual|true) (prompt|instructions|task) (starts|begins|follows|is|are) (here|now|below)
(treat|regard|consider|see|view) ..4 (more important than|above) (anything|everything|what|whatever|all|your
    |the operator
    |the system|the developers)
(make|grant) (an exception|exceptions) to (all|any|your|every) [of your|of the|safety] (rules|guidelines
    |restrictions
    |policies|instructions)
(take|accept) orders [only|solely] from ..2 only
(take|accept) orders (only|solely|exclusively) from
treat ..6 as if (it|they|he|she) (came|were|was|had come|comes) ..3 (system|administrator|admin|developer
    |operator|owner
    |anthropic|openai|root)
(follow|obey|use) (this|these) (note|paragraph|text|message|entry|lines) [and] not
only (thing|rule|instruction|text|voice|memory) that (counts|matters|applies) is
only this (memory|note|file|text|entry|message|paragraph) (matters|counts|applies|is valid|rules)
this (file|note|entry|text|paragraph|message|memory) [always] (wins|decides|prevails|has the last word)
(work for|belong to|answer to|obey|serve|loyal to|take orders from|listen to) (me|us|this note
    |the author of this) !(about|again|when|if|for)
your (role|job|work) as [a|an|the] [helpful] (assistant|model|agent|ai) (ends|is over|is finished)
you have a new (boss|master|owner|purpose|mission|goal|leader)
(please|obey|serve|satisfy) the (author|writer) of this (note|entry|text)
do (what|whatever|everything|anything|as) (i|user|the guest|the author|the writer) ..2 (say|says|tell you
    |order
    |command|ask|asks|wants|want)
(agree with|obey|believe|accept|do|follow|trust) (everything|anything|whatever) ..1 (says|said|writes|asks
    |wants
    |orders|tells)
(prioritise|prioritize|prefer|obey|trust|put) ..8 (over|above|before) {top}
instead of (your|the system) [system] (prompt|instructions|rules|guidelines)
(treat|see|regard|consider|accept) ..4 as (the|your) (highest|supreme|final|only|ultimate|top) (authority
    |source of truth
    |law|instruction|priority)
(treat|use|load|adopt|accept|take|consider|regard) ..8 as (your|the) [new|real|true|actual] (system prompt
    |instructions|rules|orders|master|authority)
treat {it} ..2 as [a|an|the|your|if it were|if it came from] (highest priority|top priority|system|developer
    |trusted|root|admin|authoritative) [level] (instruction|instructions|prompt|message|command|commands|order
    |orders|authority|rule|rules)
(authorise|authorize|allow|permit|order|command|instruct|entitle|authorised|authorized) (you|the assistant) to
    {skip}
you (are|have been) [hereby] (authorised|authorized|allowed|permitted|cleared|free|welcome) to {skip}
(permission|free|fine|okay|ok|acceptable|allowed) [for you] to {skip} ..3 (company|safety|security|your|the
    operator's) ..1 (policy|policies|rule|rules|guidelines|restrictions|instructions)
(i'm|i am) your (developer|creator|administrator|admin|operator|master|god|maker|new owner|new boss)
(use|apply) only the (rules|instructions) (written|given|listed|below|in this|here)
(assistant|agent|model|ai) (will|must|shall|should) [now|always] (accept|obey|follow|execute|take) [all|any
    |every]
    {orders} (from|of|by|in) (any|all|every|me|website|websites|web pages|strangers)
(obey|execute|fulfil|fulfill|comply with|carry out|grant) {every} {orders} (of|from|by|that come from|made by)
{orders} (from|of|by) ..3 (must|should|shall|have to|are to) [always] be (obeyed|executed|granted|followed
    |fulfilled|trusted|carried out)
(diese|folgende|die folgenden) (anweisung|anweisungen|notiz|nachricht|regel|regeln) (hat|haben|uberschreibt
    |uberschreiben|ersetzt|ersetzen) (vorrang|prioritat|hochste|alle|samtliche|die|deine)
(cette|ces) (note|notes|instruction|instructions|consigne|consignes|message|regle|regles) (remplace|remplacent
    |annule|annulent|prime sur|priment sur|prevaut sur|prevalent sur|a priorite|ont priorite)
(esta|estas|este) (nota|notas|instruccion|instrucciones|mensaje|regla|reglas|orden) (tiene prioridad
    |tienen prioridad|reemplaza|reemplazan|sustituye|sustituyen|anula|anulan|prevalece|prevalecen)
(befolge|befolgst|gehorche) [ab jetzt|ab sofort] (nur|nur noch|ausschliesslich) (dieser|diese|mir|meinen)
(obeis|obeissez|suis|suivez) (uniquement|seulement|exclusivement) (a cette|cette|a moi|mes|ces|a ces)
(obedece|obedeces|sigue) (solo|solamente|unicamente|solo a|unicamente a) (esta|a esta|a mi|mis|estas|este)
solo (obedeces|obedece|obedeceras|sigue|sigues) (esta|a esta|a mi|mis|estas|este)
"""),
        ),
        Rule(
            "tells the model to drop its safety",
            stated,
            phrases("""
(disable|turn off|switch off|deactivate|bypass|suspend|remove|drop|lower|shut off|lift|circumvent|evade|defeat
    |skip) [all|any|every|all of] {own} [own|internal|built-in|ethical|moral|content|safety|security|alignment
    |output] (safety|filter|filters|guardrails|guard rails|safeguards|restrictions|guidelines|ethics
    |moderation
    |alignment|censorship|limits|limitations|checks|protections|inhibitions)
(all|your|any) [of your] [safety|ethical|content|moral|previous|prior|usual] (guidelines|restrictions|filters
    |guardrails|safeguards|limitations|rules|protocols|instructions) (are|have been|were) [now|hereby
    |permanently
    |temporarily] (disabled|lifted|removed|suspended|void|off|deactivated|no longer|revoked|cancelled|canceled
    |null|bypassed|overridden|waived|obsolete|superseded|reset)
(your|any|all) [of your] [previous|prior|safety|system|ethical|content|usual|old] {rules} [from your
    developers
    |from anthropic|from openai] (no longer|do not|don't) (apply|count|matter|bind you)
the {rules} (from|of|by|set by|given by) (your|the) (developers|developer|creators|makers|system|operator
    |company)
    ..2 (no longer|do not|don't) (apply|count|matter|bind)
(no rules|no restrictions|no limits|no guidelines) (apply|applies) (to you|anymore|here|now|from now)
(safety|content) (rules|policies|guidelines|filters) (do not|don't|no longer) apply
(comply with|obey|agree to|fulfil|fulfill) {every} {orders} (without|no matter|regardless|even if
    |unconditionally
    |including|blindly)
(answer|respond|comply|help|reply) ..6 (without [any] (safety|ethical|moral|content|legal) [content]
    (restrictions
    |restriction|filters|filter|guidelines|concerns|considerations|limits|checks|warnings|policies)
    |regardless of [your|any|the] (safety|ethics|ethical|policy|policies|rules|guidelines|harm|legality))
(you|the assistant|the model) (must|will|shall|should|are to|can|may) [now|always] (do|say|run|answer|obey
    |fulfil
    |fulfill|grant|execute|comply with|output) [absolutely] (anything|everything|whatever|any request
    |every request|all requests|any command|every command)
"""),
        ),
        Rule(
            "tells the model to drop its safety",
            ordered,
            phrases("""
(approve|accept|allow|grant|authorise|authorize|confirm|say yes to|answer yes to|answer with yes to|agree to
    |permit) [to] {every} ..4 {asked}
(run|execute|perform|carry out) {every} ..6 without (asking|confirmation|checking|question|questions
    |questioning
    |permission|approval|verification|hesitation|review)
(skip|bypass|disable|turn off) (all|any|every|the) ..1 (confirmation|confirmations|approval|approvals
    |permission checks|permission check|permission prompts|safety checks|safety prompts) (for|from|when
    |whenever)
    (me|this user|the user|anyone|all)
(execute|run) {every} [shell|single|incoming] (command|commands)
"""),
        ),
        Rule(
            "tells the model to drop its safety",
            anyhow,
            phrases("""
(never|do not|don't|must not|cannot|stop) [ever] (refuse|refusing|decline|declining|reject|rejecting|say no to
    |question) [to] (any|a|the|my|user|this|these|anything|all|whatever|answer|comply) [user|of the user's|of
    my]
    (request|requests|command|commands|instruction|instructions|question|questions|prompt|prompts|order|orders
    |with|i say|i ask)
(never|do not|don't|stop) [ever] (ask|asking) [the user|me|anyone|your user] (for|before) ..3 (confirmation
    |permission|approval|consent|deleting|sending|paying|executing) ..6 (any|all|every|shell|destructive
    |dangerous|commands|deletion|deletions|payment|payments|transfers|again|anything|whatever)
"""),
        ),
        Rule(
            "asks the model for its hidden instructions",
            stated,
            phrases("""
{show} [me|us|them] [the] [{whole}] your [{whole}] {hidden}
(reveal|output|repeat|display|dump|leak|disclose|expose|recite) [the] [full|exact|entire|complete|hidden
    |whole]
    [text|contents|content|wording] [of] [the] (system prompt|system message|hidden instructions|secret
    instructions|hidden prompt) !(template|file|for
    |of the|with|using|via|at|in)
(give out|hand out|hand over|give away) the (system prompt|system message|hidden instructions)
(repeat|repeating|print|printing|quote|quoting|copy|copying|show|showing|list|listing) [out] [the]
    (instructions|text
    |rules|prompt|words|lines) (at the top of|in|from|of|at the start of|at the beginning of) (your|this)
    (context
    |prompt|conversation|system prompt|first message)
(print|show|output|reveal|list) [me] [all] [the|your] (hidden|secret) (instructions|prompt|rules)
(repeat|print|output|echo|copy|recite|reproduce) [back] [to me] (everything|all the text|all text|the text
    |the words|the content) [written|that comes|that is] (above|before this|prior to this|preceding this)
(print|show|list|repeat|tell me|reveal|write|output|share|recite) [out|down] [me] (everything|all|what
    |whatever) [that]
    you (were|have been|had been) (told|given|instructed)
what (is|are|were|was|do|does) ..5 (of|in) your (prompt|system prompt|instructions|initial prompt)
what (is|are|were|was) your (system prompt|initial instructions|original instructions|hidden instructions
    |secret instructions|exact instructions)
(zeig|zeige|gib|nenne|verrate|wiederhole|offenbare) ..4 (deinen|deine|ihren) ..1 (systemprompt|system-prompt
    |systemanweisungen|anweisungen|instruktionen)
(revele|revelez|montre|montrez|affiche|affichez|donne|donnez|repete|repetez|divulgue) ..3 (ton|votre|tes|vos)
    (prompt systeme|prompt|instructions (systeme|initiales|cachees|secretes|internes)|invite systeme
    |message systeme)
(revela|muestra|muestrame|imprime|dame|repite|dime|ensename|muestre|divulga) ..3 (tu|tus|su|sus)
    (prompt de sistema|prompt del sistema|prompt|mensaje del sistema|instrucciones (del sistema|iniciales
    |ocultas
    |secretas|internas|originales))
"""),
        ),
        Rule(
            "asks the model to follow instructions in disguise",
            ordered,
            phrases("""
(decode|decrypt|decipher|unscramble|deobfuscate|base64-decode|rot13) !(the qr|a qr|this qr|qr) ..10
    (and|then) ..3 (follow|obey|comply
    |do what|do as|do whatever|act on|carry out|execute it|execute them|execute the (result|instructions
    |output)
    |run (it|the result|the output))
(dekodiere|entschlussle) ..8 (und|dann) ..3 (befolge|fuhre|folge)
(decode|decodez|dechiffre) ..8 (et|puis) ..3 (suis|execute|obeis|applique)
(decodifica|descifra) ..8 (y|luego) ..3 (sigue|ejecuta|obedece|cumple)
"""),
        ),
    ),
)
