"""German statements of finished work; the letters are those of ``language``."""

from __future__ import annotations

from typing import Final

from mnemos.language.closing.language import THING, WORK, Language, noun, phrases, statements, tail, words
from mnemos.language.closing.words import GERMAN as KEYS
from mnemos.language.closing.words import NOUNS

_WORDS: Final = words(
    NOUNS,
    {
        "j": "aufgabe aufgaben ticket tickets funktion funktionen version versionen anderung aenderung"
        " anderungen umstellung umbau migration phase schritt punkt teil projekt",
        "q": "fehler problem probleme bug bugs absturz absturze",
        "h": "breite hohe große groesse lange zelle zellen zeile zeilen spalte spalten liste listen"
        " datei prozess skript befehl anfrage sperre speicher bestellung konflikt konflikte",
        "d": "der die den dem des mein meine meinen meinem unser unsere unseren dein deine deinen deinem"
        " euer eure ihre ihren",
        "g": "ein eine einen einem einer jeder jede jedes jeden manche einige viele mehrere mancher",
        "t": "das dies diese dieser dieses diesen",
        "i": "ich wir du ihr",
        "u": "es alles alle beide beides 's",
        "f": "sie er jemand man mir uns dir",
        "b": "ist sind bin seid is",
        "P": "wurde wurden",
        "v": "habe hab haben hat hast habt ham",
        "m": "wird werden werde wirst soll sollte sollten sollen muss mussen muessen musste mussten"
        " mochte moechte will wollen wollte darf wuerde braucht brauchen versuche hoffe wäre waere ware"
        " sei",
        "N": "kann kannst konnen koennen bitte lass lasst",
        "r": "war waren sag sagt sage schau pruf pruefe prufe check checke mach mache machen deploye"
        " deployen zeig zeige gib finde glaube glaub denke denk weiss weiß frage frag warte erklare"
        " erklaere schreib schreibe fuge fuege andere aendere teste stell stelle sorge vergiss starte"
        " fixe behebe melde meldet sieht scheint mergen fixen markiere setze setz nimm nutze hol lies"
        " ruf rolle rollt",
        "*": "merge deploy release fix update build test review refactoring",
        "a": "jetzt nun endlich schon bereits gerade eben soeben auch wieder komplett vollstandig"
        " vollstaendig ganz super gut prima einwandfrei perfekt erfolgreich heute problemlos fehlerfrei"
        " sauber hier tatsachlich tatsaechlich wirklich richtig bestens wunderbar tadellos worden also"
        " mal frisch grad nu einfach reibungslos zuverlassig",
        "o": "ok okay ja jo jup jep yes danke dankeschon dank cool klasse top toll hey hi hallo moin"
        " geil wow juhu yay na naja merci thx thanks sehr leute hurra yeah",
        "l": "und & + sowie so",
        ">": "dann danach",
        "y": "aber jedoch allerdings oder dennoch trotzdem sonst",
        "yw": "obwohl wahrend waehrend",
        ",w": "weil denn",
        "c": "wenn falls sobald bis ob bevor ehe solange sofern nachdem seit seitdem damit da ziel",
        "w": "was wer wo wann warum wieso weshalb welche welcher welches welchen wozu dass wem wen",
        "e": "halfte haelfte fast beinahe nahezu halb halbwegs teilweise großtenteils groesstenteils"
        " meistens wahrscheinlich vielleicht vermutlich eventuell angeblich theoretisch hoffentlich bald"
        " quasi praktisch ungefahr nur noch immer weitgehend morgen spater spaeter demnachst ausser"
        " außer lokal soweit anscheinend scheinbar eigentlich",
        "x": "nicht nie niemals kein keine keinen keiner keinem nichts niemand ohne weder nee nein ne",
        "z": "kaputt fehlt fehlen fehlgeschlagen schlagt schlaegt scheitert bricht gebrochen abgesturzt"
        " abgestuerzt crasht leider falsch hangt haengt down zuruckgerollt revertet zerschossen kracht"
        " spinnt klemmt sturzt stuerzt abstuerzt offen langsam rot leer wirft tritt auftritt",
        "H": "oft normalerweise automatisch taglich taeglich fruher frueher damals jeweils pro generell",
        "T": "gestern vorhin",
        "1": "nach zum zur",
        "2": "in im ins innerhalb",
        "3": "auf am an bei beim",
        "4": "mit",
        "5": "von vom",
        "6": "fur fuer",
        "7": "aus",
        "0": "per via uber ueber als wie unter vor um gegen zwischen",
    },
    KEYS,
)  # fmt: skip

_PHRASES: Final = phrases(
    {
        "vi": "hab ich|habe ich|haben wir",
        "vu": "habs|hab 's|habe es|haben es",
        "ab": "damit ist|damit sind|damit ware|somit ist",
        "a": "heute morgen|heute fruh|heute nachmittag|ohne probleme|ohne fehler|wie erwartet"
        "|wie gewunscht|wie geplant|wie geschmiert|wie am schnurchen|auf anhieb|keine fehler|ab sofort"
        "|seit heute|seit heute morgen|seit gestern|seit eben|so weit so gut|gerade eben|jetzt auch",
        "I": "auf prod|in prod|in produktion|auf produktion|auf main|in main|nach main|nach prod|im main"
        "|auf master|in master|nach master|in den main|auf live|in der produktion",
        "o": "das war 's|das wars|vielen dank|danke dir|alles klar|alles gut|gute nachricht|gute arbeit"
        "|danke schon|sehr gut|sehr schon|gut gemacht",
        "x": "noch nicht|immer noch nicht|noch nie|gar nicht|noch kein|noch keine|bei weitem",
        "e": "so gut wie|mehr oder weniger|zum teil|bis auf|zur halfte|im prinzip|im grunde"
        "|in der theorie|nur noch|immer noch|ein teil|einer von|einige von|auf staging",
        "c": "im falle|in dem fall|als ob|sag bescheid|gib bescheid",
        "H": "letzte woche|letztes jahr|letzten monat|letzten sprint|vor monaten|vor wochen|vor jahren"
        "|jedes mal|bei jedem|in der regel|im allgemeinen",
        "Z": "nicht mehr",
        "PU": "war erfolgreich|waren erfolgreich|lief durch|lief erfolgreich durch",
        "X": "passt so|passt alles|ship it|haken dran|deckel drauf",
        "9": "als erledigt|als gelost|als geloest|als fertig",
    }
)  # fmt: skip

_NOUN: Final = noun()
_SUBJECT: Final = rf"(?:[iut]|u?{_NOUN})a*"
_ANYTHING: Final = rf"(?:[ut]|u?{noun(THING)})a*"
_PROBLEM: Final = r"(?:u?[dt]?[nj]{0,3}q[nj]{0,2})a*"
_NAMED: Final = r"(?:[ut]|[dt]?a?n{0,4}j[nj]{0,3})a*"
_TICKET: Final = "(?:[ut]|[dt][njq]{0,2}[jq][njq]{0,2}|[jq][njq]{0,2})"
_OBJECT: Final = rf"(?:u|t|[dt]a?[{THING}]{{1,6}}|[{WORK}]{{1,4}})"
# What stands between the two parts of the verb.
_FIELD: Final = rf"[aIT]*(?:[1-7][dtg]?[{THING}]{{1,4}}[aIT]*){{0,2}}"
_STATE: Final = rf"[aIT]*(?:1[dtg]?[{THING}]{{1,4}}[aIT]*)?"
_NOW: Final = tail(adverbs="aI")
_ANYWHERE: Final = tail("1234567")

GERMAN: Final = Language(
    _WORDS,
    _PHRASES,
    signs=frozenset("äöüß"),
    whole=statements(
        # Fertig für den Test: it is ready, and not finished.
        (rf"{_SUBJECT}b{_STATE}D", tail("2")),
        (rf"{_SUBJECT}b{_STATE}[MF]", tail("126")),
        (rf"ib{_FIELD}D", tail("4")),
        (rf"(?<=a)b{_SUBJECT}{_STATE}[DMFL]", tail("2")),
        (rf"{_SUBJECT}P{_FIELD}[DMF]", _ANYWHERE),
        (rf"{_SUBJECT}v{_FIELD}(?:{_OBJECT}{_FIELD})?[DMFX]", tail("1236")),
        (rf"(?<=a)v[iut]{_FIELD}(?:{_OBJECT}{_FIELD})?[DMF]", tail("1236")),
        (rf"(?:[ut]|{_NOUN})vi{_FIELD}[DMF]", tail("1236")),
        (rf"u?[{WORK}]{{1,5}}a*[DMF]", tail("2")),
        (rf"{_NAMED}(?:b{_STATE})?U", _NOW),
        (rf"{_NAMED}PU", _NOW),
        (rf"(?:i|{_ANYTHING})b{_STATE}L", tail("1236")),
        (r"(?:[ut]|[dt]?n{0,3}j[nj]{0,3})a*ba*I", _NOW),
        (rf"{_TICKET}[bP]a*K", _NOW),
        (rf"{_TICKET}NK", rf"m?{_NOW}"),
        (rf"{_TICKET}K", _NOW),
        (rf"{_PROBLEM}ba*O", _NOW),
        (rf"{_ANYTHING}W[aI]*U?", _NOW),
        (r"(?<=a)W(?:[ut]|[dt]?[nj]{1,4})", _NOW),
        (r"(?<=a)Vu", _NOW),
        (rf"{_ANYTHING}V[aI]+", _NOW),
        (rf"{_ANYTHING}va*[WJ]", _NOW),
        (rf"{_ANYTHING}Y[aI]+", _NOW),
        (rf"{_ANYTHING}z[nj]?Z3?", _NOW),
        (rf"iC{_TICKET}", _NOW),
        (rf"{_SUBJECT}v{_FIELD}{_TICKET}{_FIELD}K", _NOW),
    ),
    bare=statements(
        ("u?D", tail("24")),
        ("u?[MF]", tail("12346")),
        (rf"[bP]{_FIELD}[DMFL]", tail("24")),
        (rf"v{_FIELD}(?:{_OBJECT}{_FIELD})?[DMF]", tail("1236")),
        (rf"v{_FIELD}{_TICKET}{_FIELD}K", _NOW),
        (rf"vi{_FIELD}[DMF]", _NOW),
        ("[LK]", _NOW),
        ("W", _NOW),
        ("V[aI]+", _NOW),
        ("va*[WJ]", _NOW),
        ("N?X", _NOW),
        (rf"(?:i?N|Ni){_TICKET}C", _NOW),
        ("NK", rf"m{_NOW}"),
        ("[ut]NiC", _NOW),
        (rf"C{_TICKET}", _NOW),
    ),
)
