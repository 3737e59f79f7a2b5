"""Spanish statements of finished work; the letters are those of ``language``."""

from __future__ import annotations

from typing import Final

from mnemos.language.closing.language import (
    FREELY,
    THING,
    WORK,
    Language,
    noun,
    phrases,
    statements,
    tail,
    words,
)
from mnemos.language.closing.words import NOUNS
from mnemos.language.closing.words import SPANISH as KEYS

_WORDS: Final = words(
    NOUNS,
    {
        "j": "tarea tareas funcionalidad funcionalidades correccion parche parches paso pasos rama ramas"
        " version versiones migracion migraciones despliegue despliegues fase fases cambio cambios"
        " proyecto ticket tickets entrega modulo refactorizacion historia",
        "q": "bug bugs problema problemas error errores fallo fallos incidencia incidencias",
        "h": "ancho alto tamaño posicion precio celda celdas fila filas columna columnas archivo proceso"
        " script comando peticion conexion ventana pedido pedidos conflicto conflictos memoria",
        "d": "el la los las mi mis nuestro nuestra nuestros nuestras tu tus su sus",
        "g": "un una unos unas cada algun alguna algunos algunas varios varias muchos muchas",
        "t": "este esta estos estas ese esa esos esas aquel",
        "i": "yo nosotros usted ustedes",
        "u": "todo toda todos todas ambos ambas eso esto ello lo",
        "f": "ellos ella alguien me te nos les",
        "k": "se",
        "b": "está están estan estamos estoy quedo quedó quedaron queda quedan",
        "P": "fue fueron",
        "v": "he ha hemos han has",
        "m": "va voy vamos van debe deben debería deberia deberian tiene tienen quiero quiere queremos"
        " necesito necesita necesitamos será sera seran estara estará estaran esté estén esten podria"
        " intenta ojala tendria hay seria",
        "N": "puedes puede podemos porfa",
        "r": "era eran avisa avisame dime di revisa verifica comprueba muestra muestrame haz asegurate"
        " creo pienso parece sabes sé explica anade agrega crea escribe mergea despliega prueba cambia"
        " renombra pon borra elimina confirma espera mira dice dijo revierte busca dame continua sigue",
        "a": "ya ahora finalmente bien perfectamente correctamente completamente totalmente tambien hoy"
        " exitosamente justo recien aqui oficialmente realmente definitivamente",
        "o": "ok okay sí vale gracias perfecto genial excelente bueno dale super hola oye venga bravo"
        " estupendo buenisimo buenas eureka olé guay yes thanks",
        "l": "y e & + asi",
        ">": "entonces luego",
        "y": "pero o sino",
        "yw": "aunque mientras",
        ",w": "porque pues",
        "c": "si cuando hasta antes objetivo",
        "w": "que qué quien quién cual cuál como cómo donde dónde cuanto cuánto cuándo",
        "e": "casi medio media parcialmente quizas quiza probablemente pronto solo solamente todavia aun"
        " mañana manana supuestamente teoricamente aparentemente estaba estaban localmente excepto salvo"
        " menos tal",
        "x": "no nunca jamas nada ningun ninguno ninguna sin tampoco ni nadie",
        "z": "falla fallan rompio rompe roto rota rotos cae caido caida lamentablemente desgraciadamente"
        " falta faltan crashea cuelga revertido revertida mal lento lenta rojo peta falló",
        "H": "siempre normalmente automaticamente generalmente habitualmente anteriormente",
        "T": "ayer anoche",
        "1": "a al hacia",
        "2": "en dentro",
        "3": "sobre",
        "4": "con",
        "5": "por",
        "6": "para",
        "7": "de del desde",
        "8": "tras despues",
        "0": "via segun bajo entre contra mediante",
    },
    KEYS,
)  # fmt: skip

_PHRASES: Final = phrases(
    {
        "9": "ya esta|ya estan|ya quedo|ya quedaron",
        "vp": "ha sido|han sido",
        "~": "acabo de|acabamos de|acaba de|acaban de",
        "a": "por aqui|por fin|con exito|sin problemas|sin errores|sin problema|esta mañana|esta manana"
        "|esta tarde|esta noche|de nuevo|otra vez|de maravilla|como esperaba|como se esperaba"
        "|a la primera|del todo|hace una hora|hace un rato|sin novedad|como debe|de una vez",
        "I": "en prod|en produccion|a prod|a produccion|en main|a main|en master|a master|en vivo"
        "|en linea",
        "o": "muchas gracias|mil gracias|buenas noticias|buen trabajo|gran trabajo|muy bien|bien hecho"
        "|de acuerdo",
        "x": "todavia no|aun no|sin terminar|sin desplegar|lejos de|en vez|en lugar",
        "e": "a medias|mas o menos|en teoria|en principio|en parte|en local|por ahora|la mitad|una parte"
        "|parte de|algunos de|tal vez|a staging|en staging",
        "m": "hay que|tiene que|tienes que|tenemos que|por hacer",
        "N": "por favor",
        "c": "una vez|en cuanto|tan pronto|siempre que|a menos|en caso|antes de|por si|si es que"
        "|hasta que",
        "y": "sin embargo|no obstante",
        "w": "por que|para que|lo que|los que|las que|el que|la que",
        "H": "la semana pasada|el año pasado|el ano pasado|el mes pasado|hace meses|hace semanas"
        "|hace años|cada vez|por defecto|a menudo",
        "Z": "ya no",
        "X": "damos por terminado|damos por terminada|damos por cerrado|damos por cerrada"
        "|doy por terminado|doy por cerrado|ship it|caso cerrado|mision cumplida|asunto resuelto",
    }
)  # fmt: skip

_NOUN: Final = noun()
_SUBJECT: Final = rf"(?:[iut]|u?{_NOUN})a*"
_ANYTHING: Final = rf"(?:[ut]|u?{noun(THING)})a*"
_PROBLEM: Final = r"(?:u?[dt]?[nj]{0,3}q[nj]{0,2})a*"
_TICKET: Final = "(?:[ut]|[dt][njq]{0,2}[jq][njq]{0,2}|[jq][njq]{0,2})"
_OBJECT: Final = (
    rf"(?:[ut]|u?[dt]a?[{THING}]{{1,6}}(?:7[dt]?[{THING}]{{1,4}})?|[jq][njq]{{0,3}}|[{WORK}]{{1,3}}(?=[1I]))"
)
_NOW: Final = tail(adverbs="aI")
_STILL: Final = tail(adverbs="aIT")

SPANISH: Final = Language(
    _WORDS,
    _PHRASES,
    signs=frozenset("áíñóú¿¡"),
    whole=statements(
        # Listo para revisar: it is ready, and not finished.
        (rf"{_SUBJECT}[bt9]a*u?a*[DMFKQ]u?", _STILL),
        (rf"{_SUBJECT}[bt9]a*u?a*[MFKQ]u?", tail("16")),
        (rf"{_SUBJECT}(?:vp|P)a*[DMFK]", FREELY),
        (rf"(?:{_SUBJECT})?k?u?va*[DMF]a*(?:{_OBJECT})?", tail("1236")),
        (rf"(?:{_SUBJECT})?va*K{_TICKET}", _NOW),
        (rf"(?:{_SUBJECT})?k[JE]a*(?:{_OBJECT})?", tail("123")),
        (rf"{_SUBJECT}J", _NOW),
        (rf"i?u?E(?:{_OBJECT})?", tail("12346")),
        (rf"i?(?:uE|E{_OBJECT})", FREELY),
        (rf"i?u?~[=C](?:{_OBJECT})?", tail("1236")),
        (rf"u?[{WORK}]{{1,5}}a*[DMFK]", _STILL),
        (rf"u?[{WORK}]{{1,5}}a*[MFK]", tail("16")),
        (rf"{_SUBJECT}[bt9]a*u?I", _NOW),
        (rf"{_PROBLEM}(?:k?v)?O", _NOW),
        (rf"{_ANYTHING}W", rf"u?{_NOW}"),
        (rf"(?<=a)W(?:[ut]|[dt]?[{THING}]{{1,4}})", _NOW),
        (rf"{_ANYTHING}V[aI]+", _NOW),
        (rf"{_ANYTHING}Y[aI]+", _NOW),
        (rf"{_ANYTHING}aY", _NOW),
        (rf"{_ANYTHING}Zz", _NOW),
        (rf"{_PROBLEM}Z[nz]", _NOW),
    ),
    bare=statements(
        ("D", tail("4")),
        ("[MFK]", tail("1246")),
        ("u[DMF]", _NOW),
        ("[bt9]a*u?a*[DMFKQ]u?", _STILL),
        ("[bt9]a*u?a*[MFKQ]u?", tail("16")),
        ("[bt9]a*u?I", _NOW),
        ("kNC", _NOW),
        ("9", _NOW),
        ("k?P[DMF]", tail("16")),
        ("W", rf"u?{_NOW}"),
        ("(?<=a)V", _NOW),
        ("J", r"(?:[aI]+|o.*|!)$"),
        ("Zz", _NOW),
        ("N?X", _NOW),
        (rf"(?:N|[ud])?C(?:{_TICKET})?", r"(?:[oN].*|[0w].*|!?)$"),
    ),
)
