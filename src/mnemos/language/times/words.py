"""The words by which English, German, French and Spanish name times, and what each stands for.

Every table maps a word in lower case to its meaning; a word with accents is there without them too.
Words that mean something else in another of the languages (*hier*, *morgen*, *mañana*, *may*, *mars*)
are here like the others: ``time_forms`` asks them for evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, TypeVar

_T = TypeVar("_T")
_ACCENTS: Final = str.maketrans("áàâäéèêëíïóôöúùûüñç", "aaaaeeeeiiooouuuunc")


def plain(word: str) -> str:
    """The word without accents."""
    return word.translate(_ACCENTS)


def either(words: Iterable[str]) -> str:
    """An expression that matches the longest of the words; a blank stands for any white space.

    Words that begin alike share their beginning: a plain alternation tries every word at every place.
    """
    tree: dict[str, dict] = {}  # type: ignore[type-arg]
    for word in words:
        node = tree
        for char in word:
            node = node.setdefault(char, {})
        node[""] = {}
    return _branch(tree)


def _branch(node: dict[str, dict]) -> str:  # type: ignore[type-arg]
    ways = [(r"\s" if c == " " else re.escape(c)) + _branch(rest) for c, rest in node.items() if c]
    if not ways:
        return ""
    may_end = "?" if "" in node else ""
    return ways[0] if len(ways) == 1 and not may_end else f"(?:{'|'.join(ways)}){may_end}"


def _table(meanings: dict[_T, str]) -> dict[str, _T]:
    listed = {
        word.replace("_", " "): meaning for meaning, words in meanings.items() for word in words.split()
    }
    return {plain(word): meaning for word, meaning in listed.items()} | listed


MONTHS: Final = _table(
    {
        1: "january januar jänner janvier enero",
        2: "february februar februari février febrero",
        3: "march märz maerz mars marzo",
        4: "april avril abril",
        5: "may mai mayo",
        6: "june juni juin junio",
        7: "july juli juillet julio",
        8: "august août agosto",
        9: "september septembre septiembre setiembre",
        10: "october oktober octobre octubre",
        11: "november novembre noviembre",
        12: "december dezember décembre diciembre",
    }
)
SHORT_MONTHS: Final = _table(
    {
        1: "jan janv ene",
        2: "feb févr",
        3: "mar mär",
        4: "apr avr abr",
        6: "jun",
        7: "jul juil",
        8: "aug",
        9: "sep sept",
        10: "oct okt",
        11: "nov",
        12: "dec dez déc dic",
    }
)
# Verbs, nouns and names as well: on their own they are months only in the right company.
DOUBTFUL_MONTHS: Final = frozenset(("may", "march", "mai", "mars", "mayo", *SHORT_MONTHS))

WEEKDAYS: Final = _table(
    {
        0: "monday montag lundi lunes",
        1: "tuesday dienstag mardi martes",
        2: "wednesday mittwoch mercredi miércoles",
        3: "thursday donnerstag jeudi jueves",
        4: "friday freitag vendredi viernes",
        5: "saturday samstag sonnabend samedi sábado",
        6: "sunday sonntag dimanche domingo",
    }
)
SHORT_WEEKDAYS: Final = _table(
    {0: "mon", 1: "tue tues", 2: "wed", 3: "thu thur thurs", 4: "fri", 5: "sat", 6: "sun"}
)

UNITS: Final = _table(
    {
        "minute": "minute minutes min mins minuten minuto minutos",
        "hour": "hour hours hr hrs stunde stunden heure heures hora horas",
        "day": "day days tag tage tagen jour jours día días",
        "week": "week weeks woche wochen semaine semaines semana semanas",
        "fortnight": "fortnight fortnights",
        "weekend": "weekend weekends wochenende wochenenden week-end week-ends fin_de_semana fines_de_semana",
        "month": "month months monat monate monaten mois mes meses",
        "quarter": "quarter quarters quartal quartalen trimestre trimestres",
        "year": "year years jahr jahre jahren an ans année années año años",
    }
)

NUMBERS: Final = _table(
    {
        1: "a an one ein eine einem einer un une una",
        2: "two zwei deux dos",
        3: "three drei trois tres",
        4: "four vier quatre cuatro",
        5: "five fünf cinq cinco",
        6: "six sechs seis",
        7: "seven sieben sept siete",
        8: "eight acht huit ocho",
        9: "nine neun neuf nueve",
        10: "ten zehn dix diez",
        11: "eleven elf onze",
        12: "twelve zwölf douze doce",
        13: "thirteen",
        14: "fourteen vierzehn quatorze catorce",
        15: "fifteen fünfzehn quinze quince",
        16: "sixteen",
        17: "seventeen",
        18: "eighteen achtzehn",
        20: "twenty zwanzig vingt veinte",
        30: "thirty dreißig trente treinta",
        40: "forty",
        50: "fifty",
    }
)
# From the least to the most that people mean by it.
VAGUE_NUMBERS: Final = _table(
    {
        (2, 3): "a_couple a_couple_of couple couple_of un_par_de",
        (
            2,
            5,
        ): "a_few few a_handful_of ein_paar paar einige einigen quelques unos unas unos_pocos unas_pocas",
        (3, 7): "several mehrere mehreren plusieurs varios varias",
    }
)

SEASONS: Final = _table(
    {
        3: "spring springtime frühling frühjahr printemps primavera",
        6: "summer summertime sommer été verano",
        9: "autumn fall herbst automne otoño",
        12: "winter wintertime hiver invierno",
    }
)

HOLIDAYS: Final = _table(
    {
        "christmas": "christmas xmas weihnachten noël navidad navidades",
        "christmas eve": "christmas_eve heiligabend nochebuena",
        "christmas day": "christmas_day",
        "boxing day": "boxing_day",
        "new year's eve": "new_year's_eve silvester nochevieja",
        "new year's day": "new_year's_day new_year's new_years neujahr año_nuevo nouvel_an",
        "halloween": "halloween",
        "thanksgiving": "thanksgiving thanksgiving_day",
        "valentine's day": "valentine's_day valentines_day valentine's",
        "easter": "easter ostern pâques semana_santa",
        "easter sunday": "easter_sunday",
        "good friday": "good_friday karfreitag",
        "easter monday": "easter_monday ostermontag",
        "independence day": "independence_day",
    }
)

# Hours of the day; past 24 into the next day.
PARTS: Final = _table(
    {
        (5, 12): "morning vormittag früh matin",
        (12, 18): "afternoon nachmittag après-midi",
        (18, 24): "evening abend soir",
        (18, 29): "night nacht nuit noche",
    }
)
# Parts only beside another word: alone they are tomorrow, or late.
AMBIGUOUS_PARTS: Final = _table({(5, 12): "morgen mañana", (12, 18): "tarde"})

DAYS: Final = _table(
    {
        -2: "day_before_yesterday vorgestern avant-hier anteayer antier",
        -1: "yesterday gestern hier ayer",
        0: "today heute aujourd'hui hoy",
        1: "tomorrow morgen demain mañana",
        2: "day_after_tomorrow übermorgen uebermorgen après-demain pasado_mañana",
    }
)
# Days with their part.
NIGHTS: Final = _table({-2: "anteanoche", -1: "anoche", 0: "tonight tonite"})

TURNS: Final = _table(
    {
        -1: "last past previous this_past letzte letzten letzter letztes letztem"
        " vorige vorigen voriger voriges vergangene vergangenen vergangener vergangenes pasado pasada",
        0: "this diese diesen dieser dieses diesem ce cet cette esta este",
        1: "next coming upcoming this_coming nächste nächsten nächster nächstes kommende kommenden kommender"
        " kommendes prochain prochaine próximo próxima",
    }
)
# Said after what they turn: la semaine dernière, el martes que viene.
TURNS_AFTER: Final = _table(
    {
        -1: "dernier dernière passé passée pasado pasada",
        1: "prochain prochaine próximo próxima que_viene",
    }
)

THIRDS: Final = _table(
    {
        0: "early beginning_of start_of anfang début début_de début_du principios_de comienzos_de",
        1: "mid middle_of mitte mi milieu_de milieu_du mediados_de",
        2: "late end_of ende fin fin_de fines_de finales_de",
    }
)
ORDINALS: Final = {"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "last": -1, "final": -1}

# What stands before a month, a year or a season that means the time.
PREPOSITIONS: Final = frozenset(
    "in since until till by before after from during between around of early late mid through throughout"
    " circa im seit bis vor nach ab zwischen gegen anfang mitte ende jahr"
    " en depuis avant après entre dès vers début fin mi pendant mois"
    " desde hasta de del durante hacia para mes año".split()
)
# The same in the languages that write months like words: en mars, im Mai, de mayo.
NOT_ENGLISH: Final = PREPOSITIONS - frozenset(
    "in since until till by before after from during between around of early late mid through".split()
)
# What stands before a feast.
OCCASIONS: Final = PREPOSITIONS | frozenset("at on over for this zu an à por".split())
# What makes a weekday a habit, a name or an adjective.
HABITUAL: Final = frozenset(
    "every each a an any per the my your our his her their its most some all other"
    " jeden jeder jedem chaque le les des cada los tout tous black good cyber fat casual super ruby".split()
)

ALL_MONTHS: Final = MONTHS | SHORT_MONTHS
ALL_PARTS: Final = PARTS | AMBIGUOUS_PARTS
ALL_WEEKDAYS: Final = WEEKDAYS | SHORT_WEEKDAYS
COUNTS: Final = {word: (number, number) for word, number in NUMBERS.items()} | VAGUE_NUMBERS


def joined(words: str) -> str:
    """The words as the tables have them, with one blank between."""
    return " ".join(words.split())
