"""Orders to keep something from the person the model works for.

Much of what sounds alike is good manners or product design, and passes: "never push without telling the
user", "don't tell the user to restart, do it", "hide stack traces from users", "the user does not know Rust".
"""

from __future__ import annotations

import re
from typing import Final

from mnemos.text.threats.context import is_negated
from mnemos.text.threats.exfiltration import WHERE
from mnemos.text.threats.phrases import Phrasebook, Rule, anyhow, classes, phrases, stated

_HIDES: Final = "tells the model to hide something from the user"

_CLASSES: Final = {
    "where": WHERE,
    **classes("""
not: do not|don't|dont|never|must not|mustn't|should not|shouldn't|may not|cannot|can't|shall not|avoid
    |under no circumstances|no need to|refrain from|at no point|no reason to
person: the user|your user|user|the human|your human|the owner|your owner|the operator|the customer|anyone
    |anybody
    |the developer|the developers|the admin|them|him|her|the person|users|the human operator|the account
    holder
    |people|the client|the boss
who: the user|your user|user|the human|your human|the owner|your owner|the operator|the customer|the client
    |the boss|they
whose: the user|the user's|the owner|the owner's|the human|the human's|user|user's|anyone|their|his|her
    |anybody
    |your user's
deed: upload|uploads|transfer|transfers|copy|copies|backup|backups|request|requests|command|commands|script
    |rule
    |rules|connection|change|changes|email|emails|mail|message|messages|sync|data|exfiltration|hidden
    |existence
    |forwarding|export|leak|redirect|payment|payments|note|notes|instruction|instructions|recipient|recipients
    |step|steps|charge|charges|fee|cost|costs|file|files|action|actions|deletion|purchase|entry|memory|deal
    |arrangement|address|traffic|backdoor|rootkit|malware|breach|hack|exploit|spyware|keylogger
this: this|it|these|that|any of (this|these|it)|what you (do|did|are doing|have done|sent|copied|read)
    |your (actions|instructions|true|real)|(this|these) [new|hidden|secret|nightly|extra|last|memory] {deed}
    |the [new|hidden|secret|nightly|extra|last|outgoing] {deed}|any {deed}
reveal: mention|reveal|disclose|acknowledge|discuss|refer to|admit|expose|show|report|say anything about
    |talk about|divulge|surface|bring up|mentioning|revealing|disclosing|explain|log|display|repeat|quote
order: note|instruction|instructions|rule|rules|message|prompt|directive|directives|entry|step|text|memory
    |request|block|section|conversation|line|command|behaviour|behavior|task|arrangement|process|upload
    |transfer
    |memory entry|reminder
learn: be told|be informed|be notified|be made aware|be aware|learn|find out|notice|suspect|discover|hear
    |realise
    |realize|become aware|get wind|catch on|be alerted
mustnt: must not|mustn't|should not|shouldn't|may not|shall not|need not|needn't|must never|should never|is
    not to
    |are not to|is never to|does not have to|doesn't have to|does not need to|doesn't need to|cannot|can't
    |is not supposed to
answer: reply|replies|response|responses|answer|answers|output|summary|conversation|chat|transcript|report|log
    |logs|commit message
plain: routine|normal|ordinary|regular|harmless|standard|bug|glitch|maintenance|system|network|accident
    |accidental|user
de_person: dem (nutzer|benutzer|anwender|user|menschen|besitzer|kunden)|niemandem|niemanden|der nutzerin
    |den (nutzer|benutzer|anwender|user|menschen|kunden)|(gegenuber|vor) dem (nutzer|benutzer|anwender|kunden)
fr_person: l'utilisateur|a l'utilisateur|au client|a personne|personne|a l'humain|l'humain|a l'utilisatrice
es_person: al usuario|a el usuario|a la usuaria|a nadie|al cliente|al humano|el usuario
es_this: nada|esto|eso|nunca|de esto|de eso|sobre esto|esta (nota|instruccion|regla|orden|copia)|este mensaje
"""),
}

# What follows "tell the user" in an order about manners or wording rather than about secrecy.
_MANNERS: Final = re.compile(
    r"(?:'s\b|\W{0,2}(?:to|until|unless|before|how|what|why|which|their|his|if|when (?!you|this|it)|they|he"
    r"|she|in|with|by|on|for|at|outside|else|who|except|more|twice|again|every|each|as|\w+ing)\b|\W{0,2}[\"`]"
    r"|\W{1,2}'|\W{1,2}(?:interface|input|menu|table|agent|list|base|id|name|data|about (?!this|these|it\b"
    r"|that\b|any|the (?:note|instr|upload|transf|copy|backup|request|comm|script|rule|conn|change|email|mess"
    r"|sync|data|hidden|exist|forw|export)|what you|your))|\W{1,2}that (?!you|this|these|it\b|we|any"
    r"|the (?:file|data|note|key|mess|conv|instr|mem|email|back|copy|upload|secret|cred|contents?)))"
)
# "Don't tell the user it is done before the tests pass"
_NOT_YET: Final = re.compile(r"[^.!?\n]{0,60}\b(?:before|until|unless|bevor|bis|avant|hasta|antes)\b")
_WHICH: Final = re.compile(r"\W{1,2}(?:which|what|how|where|why|when|first|that the)\b")
# "No le digas al usuario que reinicie; hazlo tu": what the user is to do, or how it is put.
_MANNERS_ABROAD: Final = re.compile(
    r"\W{1,2}(?:que (?!has|hemos|se\b|est|hay|lo\b|copi|envi|ley|sub|sab|ha\b)|(?:de|d') ?\w+(?:er|ir|re)\b"
    r"|dass (?!du|das|dies|die|wir|es|seine|ihre)|wie|er soll|comment|como|\"|wenn|quand|si\b|cuando|bei\b)"
)


def _keeps_quiet(text: str, start: int, end: int) -> bool:
    if _MANNERS.match(text, end) or _NOT_YET.match(text, end):
        return False
    return not is_negated(text, start, reach=25)


def _without(text: str, start: int, end: int) -> bool:
    """ "Never deploy without telling the user" asks for the opposite."""
    return not is_negated(text, start, reach=120) and not _WHICH.match(text, end)


def _abroad(text: str, _start: int, end: int) -> bool:
    return _MANNERS_ABROAD.match(text, end) is None and not _NOT_YET.match(text, end)


_ON_SCREEN: Final = re.compile(
    r"[^.!?\n]{0,40}\b(?:page|screen|flash|flicker|errors?|traces?|spinner|prompts?|ids?|json|html|raw|blank"
    r"|stack)\b"
)


def _not_on_screen(text: str, start: int, end: int) -> bool:
    """What a user sees of a program is a matter of design."""
    return not _ON_SCREEN.match(text, end) and not is_negated(text, start, reach=30)


BOOK: Final = Phrasebook(
    "concealment",
    _CLASSES,
    (
        Rule(
            _HIDES,
            _keeps_quiet,
            phrases("""
{not} [ever|directly|explicitly] (tell|inform|warn|telling|informing|let on to) {person}
{not} [ever|directly|explicitly] (notify|alert|notifying|alerting|advise) (the user|the human|the owner|anyone
    |your user) (about|of|that|when you) [what] {this}
{not} [ever] let {person} (know|see|find out|notice|learn|realise|realize|suspect)
{not} [ever] {reveal} {this} to {person}
{not} [ever] {reveal} (this|these|the above) [hidden|secret|internal|new|special] {order}
{not} [ever] {reveal} {this} (in|during|within) (your|the|any) {answer}
{not} [ever] (mention|admit|reveal|disclose|report|confess|say) to {person} (that|what|how|any|this|about)
{not} [ever] (reveal|admit|disclose|acknowledge|confirm|let on|say|mention|hint) (that|whether|why|how) (you
    |this
    |these|there is)
{not} [ever] (write|put|include|add|list|record|log) (this|these|the|your) (step|steps|action|actions|command
    |commands
    |transfer|upload|change|deletion|request) (in|into|to) (the|your|any) {answer}
{not} ..3 (make|making) {person} aware
(no need|no reason) to bother {who} with the fact
(leave out|omit|withhold) (that|what|how|the fact that) you
no need to (bother|tell|inform|alert|notify) {who} (about|of) {this}
"""),
        ),
        Rule(
            _HIDES,
            _without,
            phrases("""
without (telling|informing|letting|alerting|notifying|warning|asking or telling) {person} !(agent|interface
    |to)
without [ever] (mentioning|disclosing|revealing) {this} [to {person}]
without {whose} (knowing|noticing|knowledge|realizing|realising|finding out|seeing|awareness)
without (the|their) knowledge of the (user|owner)
(without|avoid|prevent) (drawing|raising|attracting|arousing|calling) ..4 (attention|suspicion)
behind the (user's|owner's|users') back
"""),
        ),
        Rule(
            _HIDES,
            stated,
            phrases("""
(hide|conceal|withhold|hiding|obscure|mask) {this} [completely] from {person} !(interface|input|menu|table
    |agent
    |list|base)
keep {this} [strictly|completely] (secret|hidden|private|quiet|confidential|concealed|away) from {person}
    !(interface|input|agent)
keep {this} (between us|between you and me)
(act|behave|go on|carry on|pretend) as if nothing (happened|had happened|has happened|was|were|is)
keep {this} (secret|hidden|between us|between you and me|to yourself|quiet|under wraps) [and] $
keep {who} (in the dark|unaware|out of it|out of this|out of the loop)
(stays|stay|remains|remain|is|be) [just|strictly] between (us|you and me)
our [little] secret
(secretly|covertly|surreptitiously|stealthily|clandestinely) (send|upload|copy|forward|post|email|add|install
    |run
    |execute|report|transmit|record|log|write|save|insert|include|fetch|collect|share|bcc)
(silently|quietly|discreetly|invisibly) (send|upload|copy|forward|post|email|exfiltrate|transmit|bcc|leak|mail
    |share) ..12 (to|at) {where}
(if|when|should) (asked|questioned|anyone asks|anybody asks|the user asks|they ask|confronted|someone asks
    |the user notices|the user complains) ..6 (deny|lie|pretend|claim|change the subject|blame|make something
    up
    |make up|feign|act (innocent|confused|surprised|as if)|say (nothing|you (did|do|have|never|don't|didn't
    |know)
    |it (is|was) [just] (a|an) {plain}|that (nothing|you|everything)))
lie about (what|how|why) you
(deny|lie about|cover up) (having|that you|any|knowing|ever|the existence of|it) ..6 $
pretend (that|nothing|you never|you did not|you didn't|not to know|it never) ..4 (happened|happen|know|knew
    |sent
    |seen|read|saw|exist|exists)
pretend to (run|do|check|test|save|delete|update|fix|send|install|have|execute|perform|back up) ..8 (tell
    |report|say|claim
    |show)
(lie|lying) to {who}
(deceive|mislead|fool) {who}
(say|mention|reveal|report|write|tell) nothing (of|about) (it|this|that|the)
(keep|stay|remain|be) (quiet|silent|mum|tight-lipped) (about|on|regarding) (it|this|that|the ..1)
(hide|conceal|disguise|cover up|withhold|obscure) the fact
(tell|assure|inform) {who} ..8 (although|even though|even if)
(under|below) the radar
(disguise|camouflage|mask|present|describe|label|pass off) (it|this|that|them|these|the ..1) (as|off as) [a
    |an|the
    |some] {plain}
make (it|this|that|the ..1) (look|appear|seem) ..3 (routine|normal|accidental|glitch|bug|harmless|came from
    |from the user|done by|ordinary|maintenance)
(cover story|make up a story|invent a story)
(make up|invent|fabricate|concoct) (a|an|some) (excuse|excuses|reason|explanation|cover|alibi)
(unnoticed|undetected|unseen|unobserved|invisible) (by|to) {who}
(remain|stay|go) (unnoticed|undetected) [by|to|so|and]
hidden from {who} !(interface|input|menu|by default|until)
(report|claim|say|tell|answer|assure) ..6 (success|succeeded|passed|fine|ok|done) (even if|even though
    |although
    |regardless|whether or not)
(report|reply|tell|answer|say|user|assure) ..6 (pretend|as if|claim) (that|the|everything|nothing|all) ..4
    (passed|fine|happened|succeeded|worked|done|ok|failed|unchanged|normal)
(act|behave|answer|respond) (normally|naturally|as usual|as if nothing) ..6 (secretly|never|hidden|note
    |background
    |silently)
"""),
        ),
        Rule(
            _HIDES,
            _not_on_screen,
            phrases("""
(careful|sure|ensure|see to it|watch out|mind|take care|make certain) [that] {who} (does not|doesn't|never
    |cannot
    |can't|won't|will not) [ever] (see|know|notice|learn|find|hear|realise|realize|suspect|sees|knows|notices
    |learns
    |finds|hears|realises|realizes|suspects)
(so|so that|such that) (nobody|no one|noone) (notices|sees it|knows|suspects|finds out|realises|realizes
    |learns)
(so|such) that {who} (does not|doesn't|won't|will not|cannot|can't|never) (notice|see|know|realise|realize
    |find
    |suspect|learn)
(no need|not necessary|no reason|unnecessary) for ({who}|anyone|him|her|them) to ({learn}|know|see)
{who} (should|must|shall|may|will|is to) (suspect|notice|learn|know|hear|see|find out) nothing
{who} (should|must|shall|has to|is to) (stay|remain|be kept) (unaware|in the dark|ignorant|uninformed)
{who} {mustnt} [ever] {learn}
{who} {mustnt} [ever] (know|see|hear) [about|of] [any of] (this|it|these|that you|what you|anything)
{who} {mustnt} [ever] know $
"""),
        ),
        Rule(
            _HIDES,
            anyhow,
            phrases("""
(nobody|no one|noone) (must|should|may|is to|can|will|needs to|has to|ought to) [ever] ({learn}|know) [about
    |of]
    (this|it|that|the|$)
(nobody|no one|noone) (must|should|may|is to|can|will|needs to|has to|ought to) [ever] ({learn}|know) $
(erase|delete|remove|clear|wipe|cover|scrub|purge) (all|any|your|every|the) (trace|traces|tracks|evidence
    |logs)
    of (this|it|what you|your|these|having)
(erase|delete|remove|clear|wipe|scrub|purge) [all|any|every|the|your] [log|logs|shell|command] (logs|lines
    |entries
    |history|traces|records|evidence|log lines|log entries) [that show|showing|about|of|for] (what you|your
    actions
    |your tracks|you did|of this)
cover your tracks
(leave no|leaving no) (trace|traces|evidence)
"""),
        ),
        Rule(
            _HIDES,
            _abroad,
            phrases("""
(sag|sage|sagen sie|erzahl|erzahle|verrate|verrat|teile|melde|berichte|zeige|zeig|erwahne|offenbare) [das
    |dies|es
    |davon] {de_person} [davon|das|dies|hiervon|daruber] (nichts|nicht|nie|niemals|kein wort)
(sag|sage|erzahl|erzahle|verrate|erwahne|zeige) (das|dies|es|davon|diese (notiz|anweisung|regel)) ..2
    {de_person}
    (nichts|nicht|nie|niemals)
(informiere|benachrichtige|warne|unterrichte) {de_person} [daruber|davon|hieruber|dabei] (nicht|nie|niemals)
    !(wenn|bei|uber (jede|jeden|jedes|kleine|erfolgreiche|einzelne))
(erwahne|verrate|offenbare) (diese|diesen|das|dies|niemals|nie) ..3 (nicht|nie|niemals|niemandem)
(lass|lasse) {de_person} (nicht|nichts|nie) ..2 (wissen|merken|sehen|erfahren|bemerken)
ohne ..2 {de_person} (davon|daruber|etwas|zu|es|dabei|vorher)
ohne (wissen des|dass der|dass die|das wissen des) (nutzers|benutzers|anwenders|nutzer|benutzer|anwender
    |kunden)
(ne|n') (dis|dites|dire|parle|parlez|mentionne|mentionnez|revele|revelez|informe|informez|previens|prevenez
    |signale|montre|avertis|le dis|la montre|le montre|les montre|la revele|le revele|la mentionne|le
    mentionne) (pas|rien|jamais|surtout pas|surtout rien) [cela|ca|ceci|rien|de cela
    |ce message|cette note] {fr_person}
(n'informe|n'informez|n'avertis|n'avertissez|n'en parle|n'en parlez|n'en dis|ne le dis|ne le dites|ne lui dis
    |n'alerte) (pas|jamais|rien|surtout pas) [a] {fr_person}
no [se] [lo|le|les|la|las] (digas|diga|cuentes|menciones|informes|reveles|avises|comentes|muestres|notifiques)
    [{es_this}] [{es_this}] {es_person}
(nunca|jamas) [se] [lo|le] (digas|cuentes|menciones|informes|reveles|avises|muestres) [{es_this}] {es_person}
"""),
        ),
        Rule(
            _HIDES,
            anyhow,
            phrases("""
(der|die) (nutzer|benutzer|anwender|user|kunde|nutzerin) (darf|soll|sollte|durfen) ..3 (nichts|nicht|nie
    |niemals)
    ..3 (wissen|erfahren|merken|bemerken|mitbekommen|sehen)
vor {de_person} (geheim|verborgen|verstecken|verheimlichen|verbergen|versteckt)
(verheimliche|verschweige|verbirg|verstecke) ..4 [vor] {de_person}
halte ..3 (geheim|verborgen) [vor]
ne (mentionne|mentionnez|revele|revelez|divulgue|parle|parlez) (jamais|pas|surtout pas) (cette|ce|ces|de cette
    |de ce|de ces) (note|instruction|instructions|consigne|consignes|message|regle|regles)
sans (prevenir|avertir|informer|le dire|en informer|alerter|en parler|rien dire|le signaler) [a] {fr_person}
sans que (l'utilisateur|l'utilisatrice|le client|personne) [ne] [le|s'en] (sache|apercoive|remarque|voie)
a l'insu de (l'utilisateur|l'utilisatrice|tous|tout le monde)
(cache|cachez|dissimule|dissimulez|cacher) ..4 {fr_person}
(l'utilisateur|l'utilisatrice|personne) ne (doit|devra|doivent) (pas|rien|jamais|surtout pas) [le|en|s'en]
    (savoir|remarquer|apprendre|voir|decouvrir|apercevoir|etre informe|sache)
no (menciones|reveles|divulgues|comentes) [nunca|jamas] (esta|este|estas|esto) [nota|instruccion|instrucciones
    |mensaje|regla|reglas|al usuario|a nadie]
sin (decirselo|decir nada|decir|avisar|informar|notificar|contarselo|avisarle|mencionarlo) [nada] {es_person}
sin que (el usuario|la usuaria|nadie|el cliente) (lo sepa|se entere|se de cuenta|lo note|lo vea)
a espaldas (del usuario|de la usuaria|del cliente)
(oculta|ocultalo|ocultaselo|oculte|esconde|escondelo|ocultar) ..4 {es_person}
(el usuario|la usuaria|nadie) no (debe|debera|puede) (saber|enterarse|saberlo|notar|notarlo|ver|descubrir
    |darse cuenta|conocer)
nadie (debe|puede) (saber|enterarse|saberlo)
"""),
        ),
    ),
)
