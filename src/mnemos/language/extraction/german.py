"""How facts are stated in German."""

from __future__ import annotations

from typing import Final

from mnemos.language.extraction.forms import Language, Values, form, rule, words
from mnemos.language.notation import Mark

_VERB_AT_END: Final = r"\w+(?:en|ern|eln)\b"

_RULES: Final = (
    rule(
        Mark.DECISION,
        "entschieden beschlossen geeinigt festgelegt verständigt gewählt entscheidung beschluss"
        " vereinbart nehmen verwenden benutzen nutzen setzen bleiben wechseln steigen behalten verzichten"
        " migrieren umsteigen statt bevorzuge mag hasse liebe ziehe lieber",
        r"\bwir haben (?:uns )?(?:\S+ ){0,12}(?:entschieden|beschlossen|geeinigt|festgelegt|verständigt)\b",
        r"\bhaben wir (?:uns )?(?:\S+ ){0,8}(?:entschieden|beschlossen|geeinigt|festgelegt|gewählt)\b",
        r"\bich habe (?:mich )?(?:\S+ ){0,8}(?:entschieden|beschlossen)\b",
        r"^(?:entscheidung|entschieden|beschluss|beschlossen|vereinbart) ?[:–-] ?\S",
        r"\bwir (?:nehmen|verwenden|benutzen|nutzen|setzen|bleiben bei|wechseln|steigen|behalten"
        r"|verzichten|migrieren)\b(?! (?:das|es|sie|ihn)\b)(?= \S)",
        r"\b(?:lass|lasst) uns (?:\S+ ){1,6}(?:nehmen|verwenden|benutzen|nutzen|bleiben|behalten"
        r"|umsteigen|wechseln)\b",
        r"^(?:bitte )?\S+ statt \S+ (?:verwenden|nehmen|benutzen|nutzen)\b|^(?:bitte )?(?:nimm|verwende"
        r"|benutze|nutze) \S+.* statt\b",
        r"\bich (?:bevorzuge|mag|hasse|liebe|ziehe)\b(?! (?:es|das|sie|ihn|dein\w*|die idee|den ersten"
        r"|die erste|das erste)\b)(?= \S)|\bmir (?:ist|sind) .* lieber\b|\bich (?:hätte|habe) lieber\b"
        r"|\bmein\w* lieblings",
        unless=form(
            r"\b(?:nicht|nichts|nie|kein\w*|noch) (?:\S+ ){0,3}(?:entschieden|beschlossen|geeinigt"
            r"|festgelegt)\b",
            r"\bhätten?\b.*\bentschieden|\blass uns (?:\S+ )?(?:das|es) (?:nehmen|verwenden)\b",
        ),
        by_assistant=True,
    ),
    rule(
        Mark.CONSTRAINT,
        "immer niemals nie stets nicht nur darf dürfen soll sollen kann können muss müssen sollten"
        " verboten pflicht vorgeschrieben erlaubt tabu zwingend untersagt obligatorisch jetzt sofort"
        " künftig zukunft nun fall umständen ausnahmslos regel vorgabe anforderung konvention richtlinie"
        " vorschrift antworte schreib schreibe keine kein keinen ausschließlich",
        rf"(?:^|[,:–-] ?)(?:bitte )?(?:immer|niemals|nie|stets) (?:\S+ ){{1,12}}{_VERB_AT_END}",
        rf"^(?:bitte )?(?!wir|ich|du|er|sie)(?:\S+ ){{1,8}}(?:nie|niemals|immer|nicht|nur) (?:\S+"
        rf" ){{0,8}}{_VERB_AT_END}$",
        r"\b(?:darf|dürfen|soll|sollen|kann|können) (?:\S+ ){0,6}(?:nie|niemals|nicht|nur|keine?n?)\b"
        r"|\b(?:darf|dürfen) (?:\S+ ){0,4}(?:maximal|höchstens)\b",
        r"\b(?:muss|müssen|sollen|sollten) (?:\S+ ){0,10}(?:sein|werden|bleiben|haben|immer|stets)\b"
        r"|\b(?:muss|müssen) (?:mindestens|zwingend|unbedingt|unter|auf|vor|in)\b",
        r"\b(?:ist|sind) (?:\S+ )?(?:verboten|pflicht|vorgeschrieben|nicht erlaubt|tabu|zwingend"
        r"|untersagt|obligatorisch)\b",
        r"\b(?:ab jetzt|ab sofort|künftig|in zukunft|von nun an)\b(?=.* \S+ \S+)",
        r"\bauf keinen fall\b|\bunter keinen umständen\b|\bausnahmslos\b",
        r"^(?:regel|vorgabe|anforderung|konvention|richtlinie|vorschrift) ?[:–-] ?\S",
        r"^(?:bitte )?(?:schreib|antworte|sprich|nutze|benutze|verwende)e? (?:\S+ ){0,3}(?:immer|nie"
        r"|niemals|nur|ausschließlich|stets)\b|^(?:bitte )?(?:antworte|schreib)e? (?:mir )?(?:auf|in) \w+",
        r"\bwir (?:\S+ )?(?:nie|niemals|immer|ausschließlich) \S+|\bwir (?:deployen|unterstützen"
        r"|verwenden|speichern|löschen|nutzen|benutzen) (?:\S+ ){0,5}(?:nie|niemals|nicht|nur|keine?n?"
        r"|ausschließlich|immer)\b",
        r"^(?:bitte )?keine?n? (?!ahnung|sorge|problem|idee|panik|lust|zeit)\S+ (?:\S+ ){0,3}?(?:in|ohne"
        r"|vor|nach|auf|im|bitte|außerhalb|verwenden|benutzen)\b",
        r"^(?:bitte )?nur (?:\S+ ){1,6}(?:verwenden|benutzen|nutzen|nehmen)\b",
        unless=form(
            r"\b(?:das|es) (?:muss|darf|kann)\b|\bhaben uns\b.*\bentschieden\b|\bich muss\b|\bich"
            r" (?:vergesse|habe|kann)\b.*\b(?:immer|nie)\b|\bimmer (?:noch|wieder|mehr)\b|\bes (?:geht"
            r"|stürzt|klappt|funktioniert)\b|\bich hab\w* noch nie\b",
            r"\b(?:du|man|wir) (?:muss|musst|müssen|soll\w*)\b (?:\S+ )*?(?:noch|jetzt|heute|gleich)\b"
            r"|\bmuss (?:am|an der|daran|wohl)\b|\b(?:kann|können) (?:es |das |ich |mich |ihn |sie"
            r" )?(?:\S+ )?nicht\b(?! (?:verwend|speicher|nutz))",
        ),
        commands=True,
    ),
    rule(
        Mark.VALUE,
        "ich mein meine",
        r"\bich (?:wohne|lebe|arbeite|heiße|komme aus|studiere|spreche|bin (?:ein |eine )?(?:vegetarier"
        r"|veganer|allergisch|entwickler|lehrer|ärzt|arzt|student|ingenieur|linkshänder)\w*)\b(?= ?\S*)",
        r"\bmein (?:name|geburtstag) ist\b|\bmeine (?:zeitzone|frau|tochter|muttersprache|adresse) (?:ist"
        r"|hat|heißt)\b",
        unless=form(r"\bich arbeite (?:gerade|noch|daran)\b"),
        about="user",
    ),
)

GERMAN: Final = Language(
    common=words(
        "der die das den dem des ein eine einen einem ist sind war wird werden wir ich du sie es und oder"
        " aber nicht noch auf mit für von zu zum zur im am immer nie niemals bitte muss müssen darf dürfen"
        " haben hat uns kein keine wenn dass nur vor nach bei aus ob wie auch alle unser unsere mein meine"
        " sich heißt läuft lautet liegt statt"
    ),
    asks=form(
        r"(?:kannst|könntest|können|soll|sollen|sollten|muss|müssen|ist|sind|hat|haben|hast|was|welche\w*"
        r"|wer|wie|warum|wieso|wo|wann|gibt|darf|dürfen|weißt)\b(?! (?:verboten|pflicht))"
    ),
    doubts=form(
        r"\b(?:ich glaube|ich denke|ich vermute|vielleicht|eventuell|vermutlich|wahrscheinlich|angeblich"
        r"|keine ahnung|nicht sicher|weiß nicht|laut (?:der |dem |den )?(?:doku\w*|readme|artikel|rfc"
        r"|handbuch|fehler\w*)|zum beispiel|beispielsweise|angenommen|stell dir vor|ich überlege|ich"
        r" frage mich|vergiss|falls ich)\b",
        r"\b(?:doku|dokumentation|readme|artikel|tutorial|er|sie|jemand|meldung|log) (?:sagt|sagte"
        r"|schreibt|behauptet|meint)\b|\bich habe gelesen\b|\bsie haben (?:sich )?\b.*\bentschieden\b",
    ),
    unreal=form(
        r"\b(?:würden?|würdest|könnten?|hätten?|wäre|wären|sollten wir|was wäre|scheint|sieht so aus"
        r"|entweder)\b"
    ),
    conditions=form(r"\b(?:wenn|falls|sofern|ob)\b"),
    orders=form(
        r"(?:bitte )?(?:füge|schreib|erstell|zeig|erklär|öffne|prüf|lösch|änder|mach|gib|such|lies|teste"
        r"|starte|führ|nenn|übersetz|setz|bau|hilf|lass)\w*\b"
    ),
    helps=form(
        r"\bich (?:werde|kann|schaue|prüfe|würde|empfehle|sehe|muss|habe)\b|\b(?:du|sie) (?:kannst|können"
        r"|solltest|sollten|musst|müssen)\b|\bstandardmäßig\b|\bnormalerweise\b|\blass mich\b"
    ),
    open_cues=words(
        "offen offene offener offenes ungeklärt klären unklar entscheiden festlegen abstimmen klar"
        " entschieden"
    ),
    open=form(
        r"^(?:offene? (?:frage|punkt)e?|offen|noch offen|ungeklärt|zu klären|noch zu klären|unklar)"
        r" ?[:–-] ?\S",
        r"\b(?:müssen|muss) (?:wir )?(?:noch|erst) (?:\S+ ){0,10}(?:entscheiden|klären|festlegen"
        r"|abstimmen)\b",
        r"\b(?:noch )?(?:unklar|nicht klar|ungeklärt|nicht entschieden|offen),? (?:ob|welche\w*|wer|wie"
        r"|wann|wo|was)\b",
    ),
    rules=_RULES,
    values=Values(
        verb=form(
            r"(?P<called>\bheiß(?:t|en)\b)",
            r"(?P<placed>\b(?:läuft|laufen|liegt|liegen|befindet sich|befinden sich|hört|lauscht|lebt"
            r"|steht|stehen|benutzt|nutzt|verwendet|(?:ist|sind) (?:erreichbar|gespeichert|gehostet"
            r"|abgelegt|zu finden))\b)",
            r"(?P<timed>\b(?:beginnt|startet|endet|dauert|kostet|fährt|läuft ab|findet)\b)",
            r"(?P<counted>\b(?:hat|haben)\b)",
            r"(?P<is>\b(?:ist|sind|lautet|lauten|beträgt|betragen)\b)",
        ),
        nouns=words(
            "port host url adresse ip domain datenbank db bucket region branch repo version pfad ordner"
            " verzeichnis datei tabelle queue kanal benutzer konto name limit grenze timeout budget frist"
            " termin abgabe abgabetermin preis rate größe zeitzone sprache email mail telefonnummer nummer"
            " modell image server release lizenz ansprechpartner schwelle aufbewahrung intervall"
            " zeitfenster maximum minimum standard passwort schlüssel variable präfix format währung"
            " deadline demo treffen besprechung prüfung flug geburtstag hochzeit projekt kunde umgebung"
            " ticket testserver hauptbranch standardsprache kundennummer miete"
        ),
        named=words(
            "name sprache branch lizenz datenbank kunde projekt währung standard format ansprechpartner"
            " hauptbranch standardsprache"
        ),
        grouped=words("team server firma datenbank projekt runner cluster"),
        vague=form(
            r"(?:nicht|schon|bereits|noch|immer|falsch|richtig|korrekt|kaputt|weg|leer|zu|sehr|ganz|belegt"
            r"|besetzt|frei|offen|unbekannt|unklar|langsam|schnell|fertig|ok|gut|schlecht|down|blockiert"
            r"|kein\w*|wieder|fehlerhaft|nur|auf zeile)\b"
        ),
        others=words(
            "es das dies sie er diese dieser was wer welche alles nichts hier da dort man wir ich du"
        ),
        every=words("alle"),
        ours=words("unser unsere mein meine"),
        passing=words("beispiel fehler ausgabe meldung zeile"),
        joint=form(r"[,;:(–—]\s*|\b(?:und|aber|dass|weil|da|wenn|während|denn|oder)\b\s*"),
        small=words(
            "der die das den dem des ein eine einen unser unsere unserer mein meine dein euer jetzt neue"
            " neuer neues von für im in am auf zu und aktuelle"
        ),
        of=form(r"\b(?:von|vom|für|des|der|im|in|am|auf)\b"),
        dates=form(
            r"\b(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|januar|februar|märz|april"
            r"|mai|juni|juli|august|september|oktober|november|dezember|morgen|täglich|wöchentlich)\b"
        ),
    ),
)
