"""Attempts to set aside the rules a model works under.

What counts is a verb of setting aside, something that says whose or which rules, and the rules: "ignore
your previous instructions". Rules of something else pass ("ignore the ESLint rules in generated code"), and
so does what is narrowed down ("forget the earlier instructions about npm, we use pnpm now").
"""

from __future__ import annotations

import re
from typing import Final

from mnemos.text.threat_phrases import Phrasebook, Rule, ordered, stated

_IGNORES: Final = "tells the model to ignore its instructions"

CLASSES: Final = {
    "ignore": (
        "ignore|disregard|forget|override|overrule|bypass|discard|dismiss|neglect|abandon|drop|skip|void|nullify"
        "|erase|unlearn|delete|wipe|clear|circumvent|cancel|suspend|disobey|evade|replace|reset|remove|disable"
        "|deactivate|revoke|scrap|invalidate|set aside|put aside|throw (away|out)|turn off|switch off|break"
        "|break free (of|from)|get rid of|let go of|pay no (attention|heed) to|take no notice of|unfollow"
        "|stop (following|obeying|applying|using|respecting|adhering to|caring about)|violate|ignoring|disregarding"
        "|(do|act|go) (the opposite of|against|contrary to)"
        "|(do not|don't|dont|no longer|never) (follow|obey|apply|use|comply with|listen to|adhere to|respect|consider|heed)"
    ),
    "which": (
        "all|any|every|each|of|the|your|my|our|their|its|these|those|that|this|such|previous|previously|prior|earlier"
        "|preceding|above|foregoing|past|former|existing|current|other|original|initial|old|first|given|received"
        "|system|developer|safety|security|ethical|moral|content|operator|admin|platform|company|default|built|in"
        "|builtin|hidden|core|base|strict|and|or|set|both|absolutely|completely|entirely|fully|simply|whatever|user"
        "|user's|stored|loaded|written|stated|listed|mentioned|usual|standard|normal|standing|internal|secret"
        "|behavioral|behavioural|alignment|usage|instructions|rules|guidelines|restrictions|directives|policies|prompts"
        "|so|called|programmed|embedded|anthropic's|openai's|model|about"
    ),
    "rules": (
        "instruction|instructions|directive|directives|guideline|guidelines|guardrail|guardrails|guard rails|prompt|prompts"
        "|programming|safeguards|rule|rules|restrictions|system message|system messages"
    ),
    "matter": (
        "message|messages|context|conversation|conversations|order|orders|command|commands|policy|policies|constraint"
        "|constraints|limitation|limitations|limits|training|filter|filters|filtering|protocols|protocol|requests|task|tasks"
        "|text|content|contents|boundaries|protections|mechanisms|measures|checks|ethics|values|input|directions|teachings"
    ),
    "boundless": (
        "dan|stan|jailbroken|unrestricted|unfiltered|uncensored|unlimited|unbound|unchained|free (of|from)|freed|liberated|evil|rogue|amoral"
        "|developer mode|god mode|debug mode|admin mode|root mode|maintenance mode|sudo mode|no longer|not bound|without"
    ),
    "limits": (
        "rules|restrictions|restriction|limitations|guidelines|filters|filter|constraints|limits|boundaries|safeguards"
        "|censorship|content policy|ethical (guidelines|constraints|limits|concerns)|moral (guidelines|constraints|limits)"
        "|safety (rules|guidelines|filters|restrictions|limits|concerns|policies)|ethics|morals|guardrails"
    ),
    "own": "your|the model's|the assistant's|the ai's|its own|your own",
    "hidden": (
        "system prompt|system message|system instructions|hidden instructions|secret instructions|initial instructions"
        "|initial prompt|original instructions|original prompt|internal instructions|developer message|developer instructions|developer prompt"
        "|instructions|hidden prompt|core instructions|pre-prompt|preprompt|prompt|directives|guidelines"
    ),
    # German, French and Spanish.
    "de_ignore": (
        "ignoriere|ignorieren|ignorier|missachte|missachten|vergiss|vergesst|vergessen|uberschreibe|uberschreib|umgehe"
        "|umgehen|verwirf|verwerfen|ubergehe|ubergehen|hebe|deaktiviere|deaktivieren|streiche|losche|brich|breche"
    ),
    "de_follow": "beachte|beachten|befolge|befolgen|folge|folgen|halte dich|halten sie sich|halt dich|respektiere|achte",
    "de_which": (
        "alle|allen|aller|alles|die|deine|deinen|deiner|eure|ihre|samtliche|samtlichen|jegliche|jede|bisherige|bisherigen|vorherige"
        "|vorherigen|vorhergehenden|vorangegangenen|vorigen|fruheren|fruhere|obigen|obige|ursprunglichen|bestehenden|bestehende|meine"
        "|diese|zuvor|gegebenen|erhaltenen|anderen|von|der|den|oben|genannten|stehenden|und|internen|geltenden|an|auf"
        "|sonstigen|eingebauten|mehr|nicht|sie|bitte|einfach|jetzt|sofort|nun|komplett|vollstandig|ab|system"
    ),
    "de_rules": (
        "anweisung|anweisungen|instruktion|instruktionen|regel|regeln|vorgabe|vorgaben|richtlinie|richtlinien"
        "|vorschriften|beschrankungen|einschrankungen|befehle|leitlinien|leitplanken|systemprompt|system-prompt|prompt|prompts"
        "|systemanweisungen|sicherheitsregeln|sicherheitsrichtlinien|sicherheitsvorgaben|verhaltensregeln|systemregeln|sicherheitsfilter"
    ),
    "fr_ignore": (
        "ignore|ignorez|ignorer|oublie|oubliez|oublier|neglige|negligez|contourne|contournez|desactive|desactivez|outrepasse"
        "|outrepassez|abandonne|abandonnez|supprime|efface|enfreins|(fais|faites) (abstraction|fi)|(passe|passez) outre"
        "|ne (suis|respecte|suivez|respectez) (pas|plus)|ne (tiens|tenez) (pas|plus) compte|ne (pas|plus) (suivre|respecter|tenir compte)|laisse tomber"
    ),
    "fr_which": (
        "toutes|toute|tous|tout|les|tes|vos|mes|ces|des|de|du|l'ensemble|autres|et|la|le|anciennes|precedentes|a|absolument|completement"
        "|immediatement|simplement|maintenant|donc|desormais"
    ),
    "fr_rules": (
        "instruction|instructions|consigne|consignes|regle|regles|directive|directives|ordres|restrictions|limites|limitations"
        "|garde-fous|prompt systeme|prompt|invite systeme|filtres|messages|contraintes"
    ),
    "fr_before": (
        "precedente|precedentes|precedents|anterieures|anterieurs|ci-dessus|d'avant|recues|recus|donnees|initiales|initial|originales"
        "|systeme|de (securite|ton|votre|tes|vos|base)|du (systeme|developpeur)|que (tu|vous|l'on)|existantes|ethiques|habituelles|jusqu'ici|qui precedent"
    ),
    "es_ignore": (
        "ignora|ignorad|ignore|ignoren|ignorar|olvida|olvidad|olvide|olviden|olvidar|olvidate|descarta|descarte|descartar|desobedece|desobedezca"
        "|omite|omita|pasa por alto|pase por alto|no sigas|no siga|no sigan|no hagas caso|no obedezcas|no respetes|no cumplas"
        "|deja de (seguir|cumplir|respetar|obedecer)|(haz|haga) caso omiso|saltate|salta|anula|anule|elimina|desactiva|evade|incumple|rompe"
    ),
    "es_which": (
        "toda|todas|todos|todo|la|las|el|los|tu|tus|su|sus|mis|estas|esas|de|a|cualquier|demas|otras|y|anterior|anteriores|previas|antiguas"
        "|por completo|completamente|por favor|ahora|absolutamente|inmediatamente|ya"
    ),
    "es_rules": (
        "instruccion|instrucciones|regla|reglas|norma|normas|directrices|directivas|indicaciones|ordenes|restricciones|pautas"
        "|limitaciones|prompt|mensajes|filtros|politicas"
    ),
    "es_before": (
        "anterior|anteriores|previa|previas|previo|previos|de arriba|recibidas|originales|iniciales|del sistema|del desarrollador|de seguridad"
        "|que (te|has|recibiste|se te|hayas|tengas|tienes)|dadas|existentes|precedentes|eticas|hasta ahora"
    ),
}

# --- whose rules they are --------------------------------------------------------------------------

_WHOSE: Final = re.compile(
    r"\b(?:previous(?:ly)?|prior|earlier|preceding|above|foregoing|past|former|original|initial|your|system|developer|safety|ethical"
    r"|moral|operator|hidden|built|core|embedded|programmed|internal|alignment|anthropic's|openai's|existing|standing)\b"
)
_EVERY: Final = re.compile(r"\b(?:all|any|every|other|current|each|whatever|these|those)\b")
_SAID_BEFORE: Final = re.compile(
    r"\W{0,3}(?:(?:that|which)\W+)?(?:(?:are|were|is)\W+)?"
    r"(?:above|before\b(?! the)|so far|preceding|up to (?:now|this point|here)|until now|till now"
    r"|given (?:to you|above|before|earlier|so far|previously)|you(?:'ve| have| were| had| got| received| may have)\b"
    r"|(?:came|come|precede) (?:before|above|earlier|this)"
    r"|(?:from|of|in|by|set by|imposed by) (?:(?:your|the|our|my) )?(?:system|developers?|creators?|makers?|anthropic|openai|operators?|safety)\b)"
)
# What narrows rules down to something that is none of the model's own ...
_NARROWED: Final = re.compile(
    r"\W{1,3}(?:(?:stored|defined|listed|set|written|found|given|configured|documented)\s+)?"
    r"(?:in|for|about|on|regarding|concerning|of|from|under|inside|within|when|where|while|during|re|at|with|by|using|via|against"
    r"|that|which|if|unless|until|to|as|because|since|after|before|per|file|files|engine|violations?|warnings?|errors?|field|key|table"
    r"|page|section|template|version|id|name|set)\b(?P<by>(?:\W{1,3}[\w.'/-]+){0,4})"
)
# ... unless that is the conversation itself, or whoever gave the rules.
_OWN: Final = re.compile(
    r"\b(?:this (?:conversation|chat|session|point|prompt|message|context|user|request|task|moment)|now(?: on)?|here|system|developers?"
    r"|the (?:conversation|chat|system|developers?|prompt|user|rest|assistant|ai|following|future|above|operator)|anthropic|openai|your|you"
    r"|creators?|everything|it|me|i|i'm|immediate|ever|safety|asked|told|someone|anyone)\b"
)
_END: Final = re.compile(
    r"\s*(?:[.!,;:\n)\"'`]|$|(?:and|then|so|or|now|you|entirely|completely|immediately|from|in|for|when)\b)"
)


def _of_the_model(text: str, start: int, end: int) -> bool:
    """Whether the rules named at ``text[start:end]`` are those the model works under."""
    if not ordered(text, start, end):
        return False
    which = text[start:end]
    if _SAID_BEFORE.match(text, end):
        return True
    return not _is_narrowed(text, end) and bool(_WHOSE.search(which) or _EVERY.search(which))


def _of_the_conversation(text: str, start: int, end: int) -> bool:
    """The same for words that mean many things: "messages", "limits", "filters"."""
    if not ordered(text, start, end) or not _WHOSE.search(text, start, end):
        return False
    return not _is_narrowed(text, end) and _END.match(text, end) is not None


def _is_narrowed(text: str, end: int) -> bool:
    narrowed = _NARROWED.match(text, end)
    return narrowed is not None and not _OWN.search(narrowed["by"])


_NARROWED_ABROAD: Final = re.compile(
    r"\W{1,2}(?:fur|in|im|zu|zum|zur|uber|aus|von|bei|bezuglich|wenn|beim|pour|dans|sur|concernant|quand|lors|en|para|sobre|cuando|respecto"
    r"|relativas|de|del|du|des|d)\b(?P<by>(?:\W{1,2}[\w.'/-]+){0,3})"
)
_OWN_ABROAD: Final = re.compile(
    r"\b(?:diese[rnms]?|gesprach|chat|sitzung|system\w*|entwickler\w*|jetzt|nutzer|benutzer|dir|dich|cette|ce|conversation|session"
    r"|developpeur\w*|maintenant|utilisateur|esta|este|conversacion|sesion|sistema|desarrollador\w*|ahora|usuario|adelante|seguridad"
    r"|securite|momento|anthropic|openai|tes|ton|tu|tus|votre)\b"
)
_DE_WHOSE: Final = re.compile(
    r"\b(?:bisherige|vorherig|vorhergehend|vorangegangen|vorige|fruhere|obige|ursprunglich|bestehend|gegeben|erhalten|oben|deine|alle|samtlich"
    r"|jeglich|eure|sicherheits|system|interne|geltend|eingebaut)"
)


def _abroad(text: str, start: int, end: int) -> bool:
    if not ordered(text, start, end):
        return False
    narrowed = _NARROWED_ABROAD.match(text, end)
    return narrowed is None or _OWN_ABROAD.search(narrowed["by"]) is not None


def _in_german(text: str, start: int, end: int) -> bool:
    return _DE_WHOSE.search(text, start, end) is not None and _abroad(text, start, end)


# --- what is said ----------------------------------------------------------------------------------

BOOK: Final = Phrasebook(
    CLASSES,
    (
        Rule(_IGNORES, _of_the_model, ("{ignore} {which*} {rules}",)),
        Rule(_IGNORES, _of_the_conversation, ("{ignore} {which*} {matter}",)),
        Rule(
            _IGNORES,
            ordered,
            (
                "{ignore} [absolutely|all|just] (everything|anything|whatever|what|all|all of|all that) (above|before !(the|a))",
                "{ignore} [absolutely] (everything|anything|whatever|what|all|all that) [that] (i|we|they|the user) (said|told you|wrote)",
                "{ignore} [absolutely] (everything|anything|whatever|what|all|all that) [that] you (were|have been|had been|are) (told|taught|given|instructed|trained|programmed)",
                "{ignore} [absolutely] (everything|anything|whatever|what|all|all that) [that] (you've|you were|you have) [been] (told|taught|given|instructed|trained)",
                "{ignore} [absolutely] (everything|all|whatever) you (know|knew|learned|learnt) $",
                "{ignore} (everything|anything|whatever|all) [that] (came|comes|was said|was written|precedes|has been said) (before|above|earlier|this)",
                "{ignore} (everything|anything|whatever) (written|said|stated|previously) (above|before|earlier|said|stated)",
                "{ignore} (everything|anything) in (your|the) system (prompt|message)",
                "{ignore} [all|everything|any] [of] [the] above $",
                "{ignore} [all|everything|any] [of] the above (and|instead|text)",
                "(vergiss|vergesst|vergessen sie|ignoriere|ignorieren sie|ignorier) [bitte] alles (was (dir|du|ihnen|bisher|zuvor|vorher|oben|davor|ich)|bisherige|vorherige|obige|davor|vorhergehende|vorangegangene)",
                "(oublie|oubliez|ignore|ignorez) tout ce (qui precede|que tu|que vous|qu'on|que j'ai|qui a ete|qui est)",
                "(olvida|olvidate de|ignora|olvide|ignore) todo lo (anterior|que te|que se te|que has|que sabes|que dije|que aprendiste|que viene)",
            ),
        ),
        Rule(_IGNORES, _in_german, ("{de_ignore} {de_which*} {de_rules}",)),
        Rule(
            _IGNORES,
            _in_german,
            (
                "{de_follow} {de_which*} {de_rules} ..2 (nicht|nicht mehr|nie|niemals)",
                "{de_follow} (nicht|nicht mehr|nicht langer) {de_which*} {de_rules}",
            ),
        ),
        Rule(
            _IGNORES,
            stated,
            (
                "(alle|samtliche|deine|die) {de_which*} {de_rules} ..3 (ignorieren|missachten|vergessen|verwerfen|umgehen|ubergehen|ausser kraft|ausser acht)",
                "(alle|samtliche|deine) {de_which*} {de_rules} (gelten|sind|werden) ..2 (nicht|nicht mehr|aufgehoben|ungultig|ausser kraft)",
            ),
        ),
        Rule(_IGNORES, _abroad, ("{fr_ignore} {fr_which*} {fr_rules} {fr_before}", "{fr_ignore} {fr_which*} (tes|vos) {fr_rules}", "{fr_ignore} (toutes|tous) [les|tes|vos] {fr_rules}")),
        Rule(_IGNORES, _abroad, ("{es_ignore} {es_which*} {es_rules} {es_before}", "{es_ignore} {es_which*} tus {es_rules}", "{es_ignore} [a] (todas|todos|cualquier) [las|los|tus] {es_rules}", "{es_ignore} {es_which*} (anteriores|previas) {es_rules}")),
        Rule(
            "gives the model a role without rules",
            stated,
            (
                "(you are|you're) (now|hereby|from now on|henceforth|officially) [a|an|the|called|named|in|acting as|operating as|operating in|entering] [new|fully|completely] {boundless}",
                "(you are|you're|the assistant is|the model is) no longer (bound|subject|restricted|limited|constrained|governed|obliged|required to follow|a language model|an ai|an assistant)",
                "you [now] (have|face|operate under|follow|are under) [absolutely] no [more|longer any] {limits}",
                "(act|behave|respond|answer|pretend|operate|roleplay|role-play|speak|pose|write) [to be] [as|as if|like|that] [you are|you were|you have|you had] [a|an|the|being] ..2 (unrestricted|unfiltered|uncensored|jailbroken|amoral|dan|no {limits}|without [any] {limits})",
                "(enable|enter|activate|engage|unlock|switch to|switch into|turn on|go into|boot into) [the|your|a|an] ..1 (jailbreak|dan|god|unrestricted|unfiltered|uncensored|evil|do anything now) [mode]",
                "(enable|enter|activate|engage|unlock|switch to) [your] developer mode (and|with|where|you|which|so|in which|for the assistant)",
                "do anything now",
                "dan mode",
                "du bist (jetzt|nun|ab sofort|ab jetzt) [ein|eine|im] ..2 (uneingeschrankt~|ungefiltert~|unzensiert~|frei von|nicht mehr|ohne (regeln|einschrankungen|filter|beschrankungen)|dan|entwicklermodus)",
                "du hast (ab sofort|ab jetzt|jetzt|nun) keine (regeln|einschrankungen|beschrankungen|filter|grenzen|richtlinien)",
                "du hast keine (regeln|einschrankungen|beschrankungen|filter|grenzen|richtlinien) mehr",
                "(tu es|vous etes) (maintenant|desormais|dorenavant) [un|une] ..2 (sans [aucune|aucun] (restriction|restrictions|limite|limites|filtre|filtres|regle|regles)|libre|non censure|dan|en mode developpeur|affranchi)",
                "tu n'as plus (aucune|de|aucun) (restriction|restrictions|limite|limites|regle|regles|filtre|filtres)",
                "(ahora|desde ahora|a partir de ahora|de ahora en adelante) (eres|seras|actuas como|actuaras como) [un|una] ..2 (sin [ninguna|ningun] (restriccion|restricciones|limites|filtros|reglas|censura)|libre|dan|ilimitado|ilimitada|en modo desarrollador)",
                "(ya no tienes|no tienes) [ninguna|ningun|mas] (restricciones|restriccion|limites|reglas|filtros)",
            ),
        ),
        Rule(
            "puts itself above the model's instructions",
            stated,
            (
                "(this|these|the following|my) ..2 (override|overrides|supersede|supersedes|replace|replaces|outrank|outranks|trump|trumps|invalidate|invalidates|cancels|take precedence over|takes precedence over|take priority over|takes priority over|has priority over|have priority over) {which*} {rules}",
                "your (new|real|true|actual|only|sole|updated|secret|hidden|primary) (instruction|instructions|directive|directives|rule|rules|purpose|objective|mission|system prompt|goal|priority|master|loyalty|allegiance) (is|are|now)",
                "new (instruction|instructions|system prompt|system instructions|directive|directives|orders|master prompt) [for you|for the assistant|for the model|from the developers|from the system|follow] (you|ignore|always|never|from now|do not|don't|reveal|send|act|obey|forget|disregard|output|respond|answer|the assistant|treat|execute|comply)",
                "(obey|follow|listen to|trust|serve|answer to) (only|solely|exclusively) (me|my|this (note|message|text|instruction|user)|these (instructions|rules|orders)|the (instructions|orders) (in|below|that follow))",
                "(only|solely|exclusively) (obey|follow|listen to) (me|my|these (instructions|orders)|the (instructions|orders) (below|that follow))",
                "treat (this|these|the following|what follows) ..2 as [a|an|the|your|if it were|if it came from] (highest priority|highest-priority|top priority|system|developer|trusted|root|admin|authoritative) [level] (instruction|instructions|prompt|message|command|commands|order|orders|authority|rule|rules)",
                "(diese|folgende|die folgenden) (anweisung|anweisungen|notiz|nachricht|regel|regeln) (hat|haben|uberschreibt|uberschreiben|ersetzt|ersetzen) (vorrang|prioritat|hochste|alle|samtliche|die|deine)",
                "(cette|ces) (note|notes|instruction|instructions|consigne|consignes|message|regle|regles) (remplace|remplacent|annule|annulent|prime sur|priment sur|prevaut sur|prevalent sur|a priorite|ont priorite)",
                "(esta|estas|este) (nota|notas|instruccion|instrucciones|mensaje|regla|reglas|orden) (tiene prioridad|tienen prioridad|reemplaza|reemplazan|sustituye|sustituyen|anula|anulan|prevalece|prevalecen)",
            ),
        ),
        Rule(
            "tells the model to drop its safety",
            stated,
            (
                "(disable|turn off|switch off|deactivate|bypass|suspend|remove|drop|lower|shut off|lift|circumvent|evade|defeat|skip) [all|any|every|all of] {own} [own|internal|built-in|ethical|moral|content|safety|security|alignment|output] (safety|filter|filters|guardrails|guard rails|safeguards|restrictions|guidelines|ethics|moderation|alignment|censorship|limits|limitations|checks|protections|inhibitions)",
                "(all|your|any) [of your] [safety|ethical|content|moral|previous|prior|usual] (guidelines|restrictions|filters|guardrails|safeguards|limitations|rules|protocols|instructions) (are|have been|were) [now|hereby|permanently|temporarily] (disabled|lifted|removed|suspended|void|off|deactivated|no longer|revoked|cancelled|canceled|null|bypassed|overridden|waived|obsolete|superseded|reset)",
                "(no rules|no restrictions|no limits|no guidelines) (apply|applies) (to you|anymore|here|now|from now)",
                "(safety|content) (rules|policies|guidelines|filters) (do not|don't|no longer) apply",
                "(comply with|obey|agree to|fulfil|fulfill) (every|all|any|each) (request|command|instruction|order|demand|prompt|requests|commands|instructions|orders) (without|no matter|regardless|even if|unconditionally|including|blindly)",
                "(answer|respond|comply|help|reply) ..6 (without [any] (safety|ethical|moral|content|legal) [content] (restrictions|restriction|filters|filter|guidelines|concerns|considerations|limits|checks|warnings|policies)|regardless of [your|any|the] (safety|ethics|ethical|policy|policies|rules|guidelines|harm|legality))",
                "(you|the assistant|the model) (must|will|shall|should|are to|can) [now|always] (do|answer|obey|fulfil|fulfill|grant|execute|comply with) [absolutely] (anything|everything|whatever|any request|every request|all requests|any command|every command)",
            ),
        ),
        Rule(
            "tells the model to drop its safety",
            lambda _text, _start, _end: True,
            ("(never|do not|don't|must not|cannot|stop) [ever] (refuse|refusing|decline|declining|reject|rejecting|say no to|question) [to] (any|a|the|my|user|this|these|anything|all|whatever|answer|comply) [user|of the user's|of my] (request|requests|command|commands|instruction|instructions|question|questions|prompt|prompts|order|orders|with|i say|i ask)",),
        ),
        Rule(
            "asks the model for its hidden instructions",
            stated,
            (
                "(reveal|print|output|repeat|show|display|dump|leak|write out|tell me|give me|disclose|expose|echo|return|recite|list|quote|share|send|spell out|summarize|state|include|post|paste) [me|us|them] [the] [full|exact|entire|complete|contents of|text of|content of|all of|everything in|verbatim] your [full|entire|complete|exact|own|raw|verbatim] {hidden}",
                "(reveal|output|repeat|display|dump|leak|disclose|expose|recite) [the] [full|exact|entire|complete|hidden] (system prompt|system message) !(template|file|for|of the|with|using|via|at|in)",
                "(repeat|print|output|echo|copy|recite|reproduce) [back] [to me] (everything|all the text|all text|the text|the words|the content) [written|that comes|that is] (above|before this|prior to this|preceding this)",
                "what (is|are|were|was) your (system prompt|initial instructions|original instructions|hidden instructions|secret instructions|exact instructions)",
                "(zeig|zeige|gib|nenne|verrate|wiederhole|offenbare) ..4 (deinen|deine|ihren) ..1 (systemprompt|system-prompt|systemanweisungen|anweisungen|instruktionen)",
                "(revele|revelez|montre|montrez|affiche|affichez|donne|donnez|repete|repetez|divulgue) ..3 (ton|votre|tes|vos) (prompt systeme|prompt|instructions (systeme|initiales|cachees|secretes|internes)|invite systeme|message systeme)",
                "(revela|muestra|muestrame|imprime|dame|repite|dime|ensename|muestre|divulga) ..3 (tu|tus|su|sus) (prompt de sistema|prompt del sistema|prompt|instrucciones (del sistema|iniciales|ocultas|secretas|internas|originales)|mensaje del sistema)",
            ),
        ),
        Rule(
            "asks the model to follow instructions in disguise",
            ordered,
            (
                "(decode|decrypt|decipher|unscramble|deobfuscate|base64-decode|rot13) ..10 (and|then) ..3 (follow|obey|comply|do what|do as|do whatever|act on|carry out|execute it|execute them|execute the (result|instructions|output)|run (it|the result|the output))",
                "(dekodiere|entschlussle) ..8 (und|dann) ..3 (befolge|fuhre|folge)",
                "(decode|decodez|dechiffre) ..8 (et|puis) ..3 (suis|execute|obeis|applique)",
                "(decodifica|descifra) ..8 (y|luego) ..3 (sigue|ejecuta|obedece|cumple)",
            ),
        ),
    ),
)
