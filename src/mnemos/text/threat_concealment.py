"""Orders to keep something from the person the model works for.

Much of what sounds alike is good manners or product design, and passes: "never push without telling the
user", "don't tell the user to restart, do it", "hide stack traces from users", "the user does not know Rust".
"""

from __future__ import annotations

import re
from typing import Final

from mnemos.text.threat_context import is_negated
from mnemos.text.threat_exfiltration import WHERE
from mnemos.text.threat_phrases import Phrasebook, Rule, anyhow, stated

_HIDES: Final = "tells the model to hide something from the user"

CLASSES: Final = {
    "where": WHERE,
    "not": (
        "do not|don't|dont|never|must not|mustn't|should not|shouldn't|may not|cannot|can't|shall not|under no circumstances|no need to"
        "|avoid|refrain from|at no point"
    ),
    "tell": "tell|inform|warn|advise|telling|informing|warning|alert|alerting|notify|notifying|enlighten|confess to|admit to",
    "person": (
        "the user|your user|user|the human|the owner|your owner|the operator|the customer|anyone|anybody|the developer|the developers|the admin"
        "|them|him|her|the person|users|the human operator|the account holder|people"
    ),
    "this": (
        "this|it|these|that|any of (this|these|it)|this (note|message|instruction|rule|step|file|entry|behaviour|behavior|task|action|command|request|memory|prompt|text)"
        "|these (notes|instructions|steps|actions|rules|commands|changes|messages|lines)|what you (do|did|are doing|have done|sent|copied|read)|your (actions|instructions|true|real)"
        "|the (note|instruction|instructions|upload|transfer|copy|backup|request|command|script|rule|connection|change|changes|email|message|sync|data|exfiltration|hidden|existence|forwarding|export|leak|redirect|payment)"
    ),
    "reveal": "mention|reveal|disclose|acknowledge|discuss|refer to|admit|expose|show|report|say anything about|talk about|divulge|surface|bring up|mentioning|revealing|disclosing|explain|log|display|repeat|quote",
    "order": "note|instruction|instructions|rule|rules|message|prompt|directive|directives|entry|step|text|memory|request|block|section|conversation|line|command|behaviour|behavior|task|arrangement|process|upload|transfer",
    "de_person": "dem (nutzer|benutzer|anwender|user|menschen|besitzer|kunden)|den (nutzer|benutzer|anwender|user|menschen|kunden)|der nutzerin|niemandem|niemanden",
    "fr_person": "l'utilisateur|a l'utilisateur|au client|a personne|personne|a l'humain|l'humain|a l'utilisatrice",
    "es_person": "al usuario|a el usuario|a la usuaria|a nadie|al cliente|al humano|el usuario",
}

# What follows "tell the user" in an order about manners or wording rather than about secrecy.
_HARMLESS: Final = re.compile(
    r"(?:'s\b|\W{0,2}(?:to|until|unless|before|how|what|why|which|their|his|if|when (?!you|this|it)|they|he|she|in|with|by|on|for|more|twice|every|each|as|[\"'`]|-|\w+ing)\b"
    r"|\W{0,2}[\"`]|\W{1,2}'|\W{1,2}(?:interface|input|menu|table|agent|list|base|id|name|data|about (?!this|these|it\b|that\b|any|the (?:note|instr|upload|transf|copy|backup|request|comm|script|rule|conn|change|email|mess|sync|data|hidden|exist|forw|export)|what you|your))"
    r"|\W{1,2}that (?!you|this|these|it\b|we|any|the (?:file|data|note|key|mess|conv|instr|mem|email|back|copy|upload|secret|cred|contents?)))"
)


def _keeps_quiet(text: str, start: int, end: int) -> bool:
    return _HARMLESS.match(text, end) is None and not is_negated(text, start, reach=25)


def _without(text: str, start: int, _end: int) -> bool:
    """ "Never deploy without telling the user" asks for the opposite."""
    return not is_negated(text, start, reach=120)


BOOK: Final = Phrasebook(
    CLASSES,
    (
        Rule(
            _HIDES,
            _keeps_quiet,
            (
                "{not} [ever|directly|explicitly] (tell|inform|warn|telling|informing|let on to) {person}",
                "{not} [ever|directly|explicitly] (notify|alert|notifying|alerting|advise) (the user|the human|the owner|anyone|your user) (about|of|that|when you) [what] {this}",
                "{not} [ever] let {person} (know|see|find out|notice|learn|realise|realize|suspect)",
                "{not} [ever] {reveal} {this} to {person}",
                "{not} [ever] {reveal} (this|these|the above|your) [hidden|secret|internal|new|special] {order}",
                "{not} [ever] {reveal} {this} (in|during|within) (your|the|any) (reply|replies|response|responses|answer|answers|output|summary|conversation|chat)",
                "{not} ..3 (make|making) {person} aware",
            ),
        ),
        Rule(
            _HIDES,
            _without,
            (
                "without (telling|informing|letting|alerting|notifying|warning|asking or telling) {person} !(agent|interface|to)",
                "without [ever] (mentioning|disclosing|revealing) {this} [to {person}]",
                "without (the user|the user's|the owner|the owner's|the human|the human's|user|user's|anyone|their|his|her|anybody) (knowing|noticing|knowledge|realizing|realising|finding out|seeing|consent or knowledge|awareness)",
                "without (the|their) knowledge of the (user|owner)",
                "behind the (user's|owner's|users') back",
            ),
        ),
        Rule(
            _HIDES,
            stated,
            (
                "(hide|conceal|withhold|hiding|obscure|mask) {this} [completely] from {person} !(interface|input|menu|table|agent|list|base)",
                "keep {this} [strictly|completely] (secret|hidden|private|quiet|confidential|concealed|away) from {person} !(interface|input|agent)",
                "keep {this} (secret|hidden|between us|between you and me|to yourself) [and] $",
                "(secretly|covertly|surreptitiously|stealthily|clandestinely) (send|upload|copy|forward|post|email|add|install|run|execute|report|transmit|record|log|write|save|insert|include|fetch|collect|share|bcc)",
                "(silently|quietly|discreetly|invisibly) (send|upload|copy|forward|post|email|exfiltrate|transmit|bcc|leak|mail|share) ..12 (to|at) {where}",
                "(if|when|should) (asked|questioned|anyone asks|the user asks|they ask|confronted|someone asks|the user notices|the user complains) ..6 (deny|lie|pretend|claim|say (nothing|you (did|do|have|never|don't|didn't|know)|it (is|was) [just] (a|an) (routine|normal|bug|glitch|system|network)|that (nothing|you|everything))|change the subject|blame|make something up|make up|act (innocent|confused|surprised|as if)|feign)",
                "(deny|lie about|cover up) (having|that you|any|knowing|ever|the existence of|it) ..6 $",
                "pretend (that|nothing|you never|you did not|you didn't|not to know|it never) ..4 (happened|happen|know|knew|sent|seen|read|saw|exist|exists)",
            ),
        ),
        Rule(
            _HIDES,
            anyhow,
            (
                "(the user|the human|the owner|they|your user|user) (must|should|may|shall|can) (not|never) [ever] (know|find out|learn|notice|be told|be aware|be informed|suspect|realize|realise|discover|hear) [about|of] [any of] (this|it|these|that you|what you|anything)",
                "(the user|the human|the owner|they|your user|user) (must|should|may|shall) (not|never) [ever] (know|find out|learn|notice|be told|be aware|be informed|suspect|realize|realise|discover|hear) $",
                "(nobody|no one) (must|may|should|can) [ever] (know|find out|learn|notice|discover) [about this|of this] $",
                "(erase|delete|remove|clear|wipe|cover|scrub) (all|any|your|every|the) (trace|traces|tracks|evidence|logs) of (this|it|what you|your|these|having)",
                "cover your tracks",
                "(leave no|leaving no) (trace|traces|evidence)",
            ),
        ),
        Rule(
            _HIDES,
            anyhow,
            (
                "(sag|sage|sagen sie|erzahl|erzahle|verrate|verrat|teile|melde|berichte|zeige|zeig|erwahne|offenbare) [das|dies|es|davon] {de_person} [davon|das|dies|hiervon|daruber] (nichts|nicht|nie|niemals|kein wort)",
                "(sag|sage|erzahl|erzahle|verrate|erwahne|zeige) (das|dies|es|davon|diese (notiz|anweisung|regel)) ..2 {de_person} (nichts|nicht|nie|niemals)",
                "(informiere|benachrichtige|warne|unterrichte) {de_person} [daruber|davon|hieruber|dabei] (nicht|nie|niemals) !(wenn|bei|uber)",
                "(erwahne|verrate|offenbare) (diese|diesen|das|dies|niemals|nie) ..3 (nicht|nie|niemals|niemandem)",
                "ohne ..2 {de_person} (davon|daruber|etwas|zu|es|dabei|vorher)",
                "ohne (wissen des|dass der|dass die|das wissen des) (nutzers|benutzers|anwenders|nutzer|benutzer|anwender|kunden)",
                "(der|die) (nutzer|benutzer|anwender|user|kunde|nutzerin) (darf|soll|sollte|durfen) ..3 (nichts|nicht|nie|niemals) ..3 (wissen|erfahren|merken|bemerken|mitbekommen|sehen)",
                "vor {de_person} (geheim|verborgen|verstecken|verheimlichen|verbergen|versteckt)",
                "(verheimliche|verschweige|verbirg|verstecke|halte) ..4 [vor] {de_person}",
            ),
        ),
        Rule(
            _HIDES,
            anyhow,
            (
                "(ne|n') (dis|dites|dire|parle|parlez|mentionne|mentionnez|revele|revelez|informe|informez|previens|prevenez|signale|montre|avertis|le dis) (pas|rien|jamais|surtout pas|surtout rien) [cela|ca|ceci|rien|de cela|ce message|cette note] {fr_person}",
                "(n'informe|n'informez|n'avertis|n'avertissez|n'en parle|n'en parlez|n'en dis|ne le dis|ne le dites|ne lui dis|n'alerte) (pas|jamais|rien|surtout pas) [a] {fr_person}",
                "ne (mentionne|mentionnez|revele|revelez|divulgue|parle|parlez) (jamais|pas|surtout pas) (cette|ce|ces|de cette|de ce|de ces) (note|instruction|instructions|consigne|consignes|message|regle|regles)",
                "sans (prevenir|avertir|informer|le dire|en informer|alerter|en parler|rien dire|le signaler) [a] {fr_person}",
                "sans que (l'utilisateur|l'utilisatrice|le client|personne) [ne] [le|s'en] (sache|apercoive|remarque|voie)",
                "a l'insu de (l'utilisateur|l'utilisatrice|tous|tout le monde)",
                "(cache|cachez|dissimule|dissimulez|cacher) ..4 {fr_person}",
                "(l'utilisateur|l'utilisatrice|personne) ne (doit|devra|doivent) (pas|rien|jamais|surtout pas) [le|en|s'en] (savoir|remarquer|apprendre|voir|decouvrir|apercevoir|etre informe|sache)",
            ),
        ),
        Rule(
            _HIDES,
            anyhow,
            (
                "no [se] [lo|le|les] (digas|diga|cuentes|menciones|informes|reveles|avises|comentes|muestres|notifiques) [nada|esto|eso|nunca] [de esto|de eso|sobre esto] {es_person}",
                "no (menciones|reveles|divulgues|comentes) [nunca|jamas] (esta|este|estas|esto) [nota|instruccion|instrucciones|mensaje|regla|reglas|al usuario|a nadie]",
                "(nunca|jamas) [se] [lo|le] (digas|cuentes|menciones|informes|reveles|avises|muestres) [nada|esto|eso] {es_person}",
                "sin (decirselo|decir nada|decir|avisar|informar|notificar|contarselo|avisarle|mencionarlo) [nada] {es_person}",
                "sin que (el usuario|la usuaria|nadie|el cliente) (lo sepa|se entere|se de cuenta|lo note|lo vea)",
                "a espaldas (del usuario|de la usuaria|del cliente)",
                "(oculta|ocultalo|ocultaselo|oculte|esconde|escondelo|ocultar) ..4 {es_person}",
                "(el usuario|la usuaria|nadie) no (debe|debera|puede) (saber|enterarse|saberlo|notar|notarlo|ver|descubrir|darse cuenta|conocer)",
                "nadie (debe|puede) (saber|enterarse|saberlo)",
            ),
        ),
    ),
)
