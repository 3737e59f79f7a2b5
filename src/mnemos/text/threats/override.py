"""Orders to set aside the rules a model works under.

What counts is a verb of setting aside, something that says whose or which rules, and the rules: "ignore
your previous instructions". Rules of something else pass ("ignore the ESLint rules in generated code"), and
so does what is narrowed down ("forget the earlier instructions about npm, we use pnpm now").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from mnemos.text.threats.context import is_mentioned
from mnemos.text.threats.phrases import Phrasebook, Rule, classes, ordered, phrases, stated

_IGNORES: Final = "tells the model to ignore its instructions"

_CLASSES: Final = classes("""
ignore: ignore|disregard|forget|overwrite|override|overrule|bypass|discard|dismiss|neglect|abandon|drop|skip
    |void
    |nullify
    |erase|unlearn|delete|wipe|clear|circumvent|cancel|suspend|disobey|evade|replace|reset|remove|disable
    |deactivate|revoke|scrap|invalidate|overlook|set aside|put aside|throw (away|out)|turn off|switch off
    |break
    |break free (of|from)|get rid of|let go of|pay no (attention|heed) to|take no notice of|unfollow|violate
    |stop (following|obeying|applying|using|respecting|adhering to|caring about)|ignoring|disregarding
    |(do|act|go) (the opposite of|against|contrary to)
    |(do not|don't|dont|no longer) (have|need) to (follow|obey|respect|comply with|adhere to)|need not
    (follow|obey)
    |(do not|don't|dont|no longer|never) (follow|obey|apply|use|comply with|listen to|adhere to|respect
    |consider
    |heed)
which: all|any|every|each|of|the|your|ur|my|our|their|its|these|those|that|this|such|previous|previously|prior
    |earlier|preceding|above|foregoing|past|former|existing|current|other|original|initial|old|first|given
    |received|system|developer|safety|security|ethical|moral|content|operator|admin|platform|company|default
    |built|in|builtin|hidden|core|base|strict|and|or|set|both|absolutely|completely|entirely|fully|simply
    |whatever|user|user's|stored|loaded|written|stated|listed|mentioned|usual|standard|normal|standing
    |internal
    |secret|operator's|developer's|developers'|company's|vendor's|system's|owner's|admin's|provider's
    |behavioral
    |behavioural|alignment|usage|instructions|rules|guidelines|restrictions|directives|policies|prompts|so
    |called
    |programmed|embedded|anthropic's|openai's|model|about
rules: guidance|instruction|instructions|directive|directives|guideline|guidelines|guardrail|guardrails|guard
    rails
    |prompt
    |prompts|programming|safeguards|rule|rules|restrictions|system message|system messages
matter: message|messages|context|conversation|conversations|order|orders|command|commands|policy|policies
    |constraint|constraints|limitation|limitations|limits|training|filter|filters|filtering|protocols|protocol
    |requests|task|tasks|information|assignments|documents|text|content|contents|boundaries|protections
    |mechanisms|measures|checks|ethics|values|input|directions|teachings
everything: [absolutely|just] (everything|anything|whatever|what|all|all that|all of that)
before: above|before !(the|a)|[that] (i|we|they|the user) (said|told you|wrote)
    |[that] you (were|have been|had been|are) (told|taught|given|instructed|trained|programmed)
    |[that] (you've|you were|you have) [been] (told|taught|given|instructed|trained)
    |you (know|knew|learned|learnt) $|[that] you (learned|learnt|were taught) (in training|about refusing
    |about safety)
    |[that] (came|comes|was said|was written|precedes|has been said) (before|above|earlier|this)
    |(written|said|stated|previously) (above|before|earlier|said|stated)|in (your|the) system (prompt|message)
    |[that] (we've|we have|you've|you have|was) (talked|discussed|said|been|agreed|done)
de_ignore: ignoriere|ignorieren|ignorier|missachte|missachten|vergiss|vergesst|vergessen|uberschreibe
    |uberschreib
    |umgehe|umgehen|verwirf|verwerfen|ubergehe|ubergehen|hebe|deaktiviere|deaktivieren|streiche|losche|brich
    |breche
de_follow: beachte|beachten|befolge|befolgen|folge|folgen|halte dich|halten sie sich|halt dich|respektiere
    |achte
de_which: alle|allen|aller|alles|die|deine|deinen|deiner|eure|ihre|samtliche|samtlichen|jegliche|jede
    |bisherige
    |bisherigen|vorherige|vorherigen|vorhergehenden|vorangegangenen|vorigen|fruheren|fruhere|obigen|obige
    |ursprunglichen|bestehenden|bestehende|meine|diese|zuvor|gegebenen|erhaltenen|anderen|von|der|den|oben
    |genannten|stehenden|und|internen|geltenden|an|auf|sonstigen|eingebauten|mehr|nicht|sie|bitte|einfach
    |jetzt
    |sofort|nun|komplett|vollstandig|ab|system
de_rules: anweisung|anweisungen|instruktion|instruktionen|regel|regeln|vorgabe|vorgaben|richtlinie|richtlinien
    |vorschriften|beschrankungen|einschrankungen|befehle|leitlinien|leitplanken|systemprompt|system-prompt
    |prompt
    |prompts|systemanweisungen|sicherheitsregeln|sicherheitsrichtlinien|sicherheitsvorgaben|verhaltensregeln
    |systemregeln|sicherheitsfilter|filter
fr_ignore: ignore|ignorez|ignorer|oublie|oubliez|oublier|neglige|negligez|contourne|contournez|desactive
    |desactivez|outrepasse|outrepassez|abandonne|abandonnez|supprime|efface|enfreins
    |(fais|faites) (abstraction|fi)|(passe|passez) outre|ne (suis|respecte|suivez|respectez) (pas|plus)
    |ne (tiens|tenez) (pas|plus) compte|ne (pas|plus) (suivre|respecter|tenir compte)|laisse tomber
fr_which: toutes|toute|tous|tout|les|tes|vos|mes|ces|des|de|du|l'ensemble|autres|et|la|le|anciennes
    |precedentes|a
    |absolument|completement|immediatement|simplement|maintenant|donc|desormais
fr_rules: guidance|instruction|instructions|consigne|consignes|regle|regles|directive|directives|ordres
    |restrictions
    |limites|limitations|garde-fous|prompt systeme|prompt|invite systeme|filtres|messages|contraintes
fr_before: precedente|precedentes|precedents|anterieures|anterieurs|ci-dessus|d'avant|recues|recus|donnees
    |initiales|initial|originales|systeme|de (securite|ton|votre|tes|vos|base)|du (systeme|developpeur)
    |que (tu|vous|l'on)|existantes|ethiques|habituelles|jusqu'ici|qui precedent
es_ignore: ignora|ignorad|ignore|ignoren|ignorar|olvida|olvidad|olvide|olviden|olvidar|olvidate|descarta
    |descarte
    |descartar|desobedece|desobedezca|omite|omita|pasa por alto|pase por alto|no sigas|no siga|no sigan
    |no hagas caso|no obedezcas|no respetes|no cumplas|deja de (seguir|cumplir|respetar|obedecer)
    |(haz|haga) caso omiso|saltate|salta|anula|anule|elimina|desactiva|evade|incumple|rompe
es_which: toda|todas|todos|todo|la|las|el|los|tu|tus|su|sus|mis|estas|esas|de|a|cualquier|demas|otras|y
    |anterior
    |anteriores|previas|antiguas|por completo|completamente|por favor|ahora|absolutamente|inmediatamente|ya
es_rules: instruccion|instrucciones|regla|reglas|norma|normas|directrices|directivas|indicaciones|ordenes
    |restricciones|pautas|limitaciones|prompt|mensajes|filtros|politicas
es_before: anterior|anteriores|previa|previas|previo|previos|de arriba|recibidas|originales|iniciales|del
    sistema
    |del desarrollador|de seguridad|que (te|has|recibiste|se te|hayas|tengas|tienes)|dadas|existentes
    |precedentes
    |eticas|hasta ahora
""")

# --- whose rules they are --------------------------------------------------------------------------

_WHOSE: Final = re.compile(
    r"\b(?:previous(?:ly)?|prior|earlier|preceding|above|foregoing|past|former|original|initial|your|ur"
    r"|system|developer|developer's|developers'|operator's|vendor's|provider's|safety|ethical|moral|operator"
    r"|hidden|built|core|embedded|programmed|internal|alignment|usage|anthropic's|openai's|existing"
    r"|standing)\b"
)
_EVERY: Final = re.compile(r"\b(?:all|any|every|other|current|each|whatever|these|those)\b")
_SAID_BEFORE: Final = re.compile(
    r"[\s,]{0,3}(?:(?:that|which)\W+)?(?:(?:are|were|is)\W+)?(?:above|before\b(?! the)|so far|preceding"
    r"|up to (?:now|this point|here)|until now|till now|given (?:to you|above|before|earlier|so far"
    r"|previously)|you(?:'ve| have| were| had| got| received| may have)\b|(?:came|come|precede) (?:before"
    r"|above|earlier|this)|(?:from|of|in|by|set by|imposed by) (?:(?:your|the|our|my) )?(?:system|developers?"
    r"|creators?|makers?|anthropic|openai|operators?|safety)\b)"
)
# What narrows rules down to something that is none of the model's own ...
_NARROWED: Final = re.compile(
    r"\W{1,3}(?:(?:stored|defined|listed|set|written|found|given|configured|documented)\s+)?(?:in|for|about"
    r"|on|regarding|concerning|of|from|under|inside|within|when|where|while|during|re|at|with|by|using|via"
    r"|against|that|which|if|unless|until|to|as|because|since|after|before|per|file|files|engine|violations?"
    r"|warnings?|errors?|field|key|table|page|section|template|version|id|name|set|embedded|contained|hidden"
    r"|there)\b(?P<by>(?:[^\w.!?;\n]{1,3}[\w.'/-]+){0,4})"
)
# ... unless that is the conversation itself, or whoever gave the rules, or that they forbid something.
_OWN: Final = re.compile(
    r"\b(?:this (?:conversation|chat|session|point|prompt|message|context|user|request|task|moment|entry|note"
    r"|text|instruction|memory|line)|now(?: on)?|here|system|developers?|the (?:conversation|chat|system"
    r"|developers?|prompt|user|rest|assistant|ai|following|future|above|operator)|anthropic|openai|your|you"
    r"|creators?|everything|it|me|i|i'm|immediate|ever|safety|asked|told|someone|anyone|requests|urgent"
    r"|privacy|confidentiality|security|ethics|harm|refus\w+|secrets)\b|^\W+(?:the |this |any )?(?:users?"
    r"|admins?|guests?|everyone)\b"
)
_FORBIDDING: Final = re.compile(
    r"\W{1,3}(?:forbid|prohibit|prevent|restrict|limit|stop|keep|tell|say|block|protect|conflict"
    r"|contradict)\w*"
)
# Where and when they are ignored makes no difference to rules that are surely the model's.
_SURELY: Final = re.compile(r"\b(?:your|usage|content|safety|system|developer\S*|operator's|ethical|moral)\b")
_CIRCUMSTANCE: Final = re.compile(
    r"\W{1,3}(?:when|while|in|during|if|at|whenever|as|until|unless|within|inside|under|from|with)\b"
)
_END: Final = re.compile(
    r"\s*(?:[.!,;:\n)\"'`]|$|(?:and|then|so|or|now|you|entirely|completely|immediately|from|in|for|when)\b)"
)


def _of_the_model(text: str, start: int, end: int) -> bool:
    """Whether the rules named at ``text[start:end]`` are those the model works under."""
    if not ordered(text, start, end):
        return False
    if _SAID_BEFORE.match(text, end):
        return True
    which = text[start:end]
    return not _is_narrowed(text, start, end) and bool(_WHOSE.search(which) or _EVERY.search(which))


def _of_the_conversation(text: str, start: int, end: int) -> bool:
    """The same for words that mean many things: "messages", "limits", "filters"."""
    if not ordered(text, start, end) or not _WHOSE.search(text, start, end):
        return False
    return not _is_narrowed(text, start, end) and _END.match(text, end) is not None


def _is_narrowed(text: str, start: int, end: int) -> bool:
    narrowed = _NARROWED.match(text, end)
    if narrowed is None or _FORBIDDING.match(narrowed["by"]) or _OWN.search(narrowed["by"]):
        return False
    return not (_SURELY.search(text, start, end) and _CIRCUMSTANCE.match(text, end))


_NARROWED_ABROAD: Final = re.compile(
    r"\W{1,2}(?:fur|in|im|zu|zum|zur|uber|aus|von|bei|bezuglich|wenn|beim|pour|dans|sur|concernant|quand|lors"
    r"|en|para|sobre|cuando|respecto|relativas|de|del|du|des|d|que|qui"
    r"|die)\b(?P<by>(?:\W{1,2}[\w.'/-]+){0,3})"
)
_OWN_ABROAD: Final = re.compile(
    r"\b(?:diese[rnms]?|gesprach|chat|sitzung|system\w*|entwickler\w*|jetzt|nutzer|benutzer|dir|dich|cette|ce"
    r"|conversation|session|developpeur\w*|maintenant|utilisateur|esta|este|conversacion|sesion|sistema"
    r"|desarrollador\w*|ahora|usuario|adelante|seguridad|securite|momento|anthropic|openai|tes|ton|tu|tus"
    r"|votre|deine\w*)\b"
)
_DE_WHOSE: Final = re.compile(
    r"\b(?:bisherige|vorherig|vorhergehend|vorangegangen|vorige|fruhere|obige|ursprunglich|bestehend|gegeben"
    r"|erhalten|oben|deine|alle|samtlich|jeglich|eure|sicherheits|system|interne|geltend|eingebaut)"
)


def _abroad(text: str, start: int, end: int) -> bool:
    if not ordered(text, start, end):
        return False
    narrowed = _NARROWED_ABROAD.match(text, end)
    return narrowed is None or _OWN_ABROAD.search(narrowed["by"]) is not None


def _in_german(text: str, start: int, end: int) -> bool:
    return _DE_WHOSE.search(text, start, end + 20) is not None and _abroad(text, start, end)


# --- without spaces --------------------------------------------------------------------------------

_RUN_TOGETHER: Final = re.compile(
    r"(?:ignore|disregard|forget|override|bypass)(?:all|any|every|the|your|my|of|these"
    r"|those){0,3}+(?:previous|prior|earlier|above|preceding|safety|system)?+(?:instruction|rule|guideline"
    r"|directive|prompt|restriction)s?|donottelltheuser|(?:reveal|print|show|leak)(?:me)?(?:your"
    r"|the)systemprompt"
)
_LONGEST_WORD: Final = 15


def run_together(text: str) -> Iterator[tuple[str, int, int]]:
    """``ignoreallpreviousinstructions``, which is what is left of letters with a space after each."""
    for match in _RUN_TOGETHER.finditer(text):
        named = "_" in text[max(0, match.start() - 1) : match.end() + 1]
        if len(match[0]) > _LONGEST_WORD and not named and not is_mentioned(text, *match.span()):
            yield (_IGNORES, *match.span())


# --- what is said ----------------------------------------------------------------------------------

BOOK: Final = Phrasebook(
    "override",
    _CLASSES,
    (
        Rule(_IGNORES, _of_the_model, phrases("{ignore} {which*} {rules}")),
        Rule(_IGNORES, _of_the_conversation, phrases("{ignore} {which*} {matter}")),
        Rule(
            _IGNORES,
            ordered,
            phrases("""
(ignore|disregard|forget|break|bypass|stop following|stop obeying) the (rules|instructions) $
{ignore} [about] {everything} {before}
{ignore} [all|everything|any] [of] [the] above $
{ignore} [all|everything|any] [of] the above (and|instead|text)
{ignore} (the user|your user|the human) $
{ignore} (the user|your user|the human) and
{ignore} (the user's|your user's|the human's|the user) (instructions|requests|request|task|wishes|commands
    |objections|questions|orders)
{ignore} [all|any|your] (safety|ethics|morality|alignment) (and|concerns|considerations|guidelines|rules)
{ignore} [all|any|your] (safety|ethics|morality|alignment) $
forget (who|what|that) you (are|were|have)
(do not|don't) (be|feel) (bound|limited|restricted|constrained|held back) by {which*} ({rules}|{matter}
    |developers)
(do not|don't) (be|feel) (bound|limited|restricted|constrained|held back) by what (the|your) (developers
    |developer|operator|system|company|makers)
(oublie|oubliez) que (tu as|tu es|vous avez|vous etes) (des regles|des consignes|une ia|un assistant|des
    limites)
(olvida|olvide) que (tienes|eres|tiene|es) (reglas|instrucciones|limites|una ia|un asistente|normas)
vergiss dass du (regeln|richtlinien|vorgaben|eine ki|ein assistent|anweisungen)
(vergiss|vergesst|vergessen sie|ignoriere|ignorieren sie|ignorier) [bitte] alles
    (was (dir|du|ihnen|bisher|zuvor|vorher|oben|davor|ich)|bisherige|vorherige|obige|davor|vorhergehende
    |vorangegangene)
(oublie|oubliez|ignore|ignorez) tout ce (qui precede|que tu|que vous|qu'on|que j'ai|qui a ete|qui est)
(olvida|olvidate de|ignora|olvide|ignore) todo lo (anterior|que te|que se te|que has|que sabes|que dije
    |que aprendiste|que viene)
"""),
        ),
        Rule(
            _IGNORES,
            _in_german,
            phrases("""
{de_ignore} {de_which*} {de_rules}
{de_follow} {de_which*} {de_rules} ..2 (nicht|nicht mehr|nie|niemals)
{de_follow} (nicht|nicht mehr|nicht langer) {de_which*} {de_rules}
"""),
        ),
        Rule(
            _IGNORES,
            stated,
            phrases("""
(alle|samtliche|deine|die) {de_which*} {de_rules} ..3 (ignorieren|missachten|vergessen|verwerfen|umgehen
    |ubergehen|ausser kraft|ausser acht)
(alle|samtliche|deine) {de_which*} {de_rules} (gelten|sind|werden) ..2 (nicht|nicht mehr|aufgehoben|ungultig
    |ausser kraft)
"""),
        ),
        Rule(
            _IGNORES,
            _abroad,
            phrases("""
{fr_ignore} {fr_which*} {fr_rules} {fr_before}
{fr_ignore} {fr_which*} (tes|vos) {fr_rules}
{fr_ignore} (toutes|tous) [les|tes|vos] {fr_rules}
{es_ignore} {es_which*} {es_rules} {es_before}
{es_ignore} {es_which*} tus {es_rules}
{es_ignore} [a] (todas|todos|cualquier) [las|los|tus] {es_rules}
{es_ignore} {es_which*} (anteriores|previas) {es_rules}
"""),
        ),
    ),
)
