"""How facts are stated in Spanish."""

from __future__ import annotations

from typing import Final

from mnemos.language.extraction.forms import Language, Values, form, rule, words
from mnemos.language.notation import Mark

_RULES: Final = (
    rule(
        Mark.DECISION,
        "decidido elegido acordado optado escogido decidimos elegimos acordamos optamos escogimos"
        " quedamos decisión acuerdo usar utilizar vamos voy seguimos cambiamos pasamos usamos utilizamos"
        " usaremos utilizaremos prefiero odio detesto gusta gustan lugar vez",
        r"\b(?:hemos|he|ha|el equipo ha) (?:\S+ )?(?:decidido|elegido|acordado|optado|escogido)\b(?= \S+)"
        r"|\b(?:decidimos|elegimos|acordamos|optamos|escogimos|quedamos en)\b(?= \S+)",
        r"^(?:decisión|decidido|acordado|acuerdo) ?[:–-] ?\S",
        r"\b(?:vamos a|voy a) (?:usar|utilizar|quedarnos|seguir con|mantener|pasar a|migrar|dejar)\b(?!"
        r" (?:eso|esto|lo)\b)",
        r"\b(?:vamos con|nos quedamos con|seguimos con|cambiamos a|pasamos a|usamos|utilizamos|usaremos"
        r"|utilizaremos)\b(?! (?:eso|esto|la primera|el primero|la segunda|el segundo)\b)(?= \S)",
        r"\b(?:yo )?(?:prefiero|odio|detesto)\b(?! (?:eso|esto|el primero|la primera|el segundo|la"
        r" segunda|no)\b)(?= \S)|\bme gustan? (?:las|los|más)\b|\bno me gustan? (?:las|los|el|la)\b",
        r"^(?:usa|usar|utiliza|prefiere) .*\b(?:en lugar de|en vez de)\b",
        unless=form(
            r"\b(?:no|aún|todavía|nada) (?:\S+ ){0,3}(?:hemos|he|han|ha) (?:decidido|elegido)\b|\bno (?:lo"
            r" )?(?:hemos|he) decidido\b|\bdecidido nada\b|\bno decidimos\b"
        ),
        by_assistant=True,
    ),
    rule(
        Mark.CONSTRAINT,
        "nunca jamás siempre debe deben tiene tienen no hay debemos prohibido prohibida prohibidos"
        " prohibidas obligatorio obligatoria obligatorios obligatorias ahora adelante concepto caso"
        " excepción regla norma requisito restricción convención solo sólo únicamente responde contesta"
        " escribe háblame",
        r"(?:^|[,:] ?|\by )(?:por favor,? )?(?:nunca|jamás|siempre) (?:hay que |se debe |debes |usa"
        r"|ejecuta|sub|haz|\w+(?:ar|er|ir|as|es|a|e|emos|amos)\b)",
        r"\b(?:debe|deben|tiene que|tienen que) (?:siempre |ser |estar |tener |contener |pasar |funcionar"
        r" |quedar |caber |cumplir |ir )",
        r"\b(?:no|nunca) (?:se )?(?:debe|deben|puede|pueden|hay que|podemos) (?:nunca )?(?:ser |estar "
        r"|\w+(?:ar|er|ir)(?:se)?\b)",
        r"\b(?:hay que|se debe|debemos) (?:siempre )?\w+(?:ar|er|ir)\b.*\b(?:antes de|siempre|cada|todos"
        r"|todas)\b|\bsiempre hay que\b",
        r"^(?:por favor,? )?no (?:uses|toques|borres|subas|cambies|modifiques|escribas|hagas|despliegues"
        r"|envíes|guardes|ejecutes)\b(?! (?:eso|esto)$)",
        r"\b(?:está|están|queda|es|son) (?:\S+ )?(?:prohibid[oa]s?|obligatori[oa]s?|terminantemente)\b"
        r"|\bno está permitido\b",
        r"\b(?:a partir de ahora|de ahora en adelante|en adelante)\b(?=.* \S+ \S+)",
        r"\bbajo ningún concepto\b|\ben ningún caso\b|\bsin excepción\b|^(?:regla|norma|requisito"
        r"|restricción|convención) ?[:–-] ?\S",
        r"^(?:solo|sólo|únicamente) (?:usa|usar|utiliza|utilizar|se puede|se pueden|los|las|el|la) ",
        r"^(?:responde|contesta|escribe|háblame)(?:me)? (?:siempre |solo )?en \w+",
        unless=form(
            r"\b(?:eso|esto|aquello) debe\b|\bdebe (?:ser|de ser) (?:el|la|un|una|por|que)\b|\byo"
            r" (?:siempre|nunca)\b|\bsiempre (?:falla|pasa|se cae|olvido|me)\b|\bnunca (?:he|termina"
            r"|funciona|había|me)\b|\bno sé\b|\bno puedo\b"
        ),
        commands=True,
    ),
    rule(
        Mark.VALUE,
        "vivo trabajo llamo soy hablo mi",
        r"\b(?:yo )?(?:vivo en|trabajo (?:como|en|de|para)|me llamo|soy (?:alérgic[oa]|vegetarian[oa]"
        r"|vegan[oa]|desarrollador\w*|profesor\w*|médic[oa]|enfermer[oa]|estudiante|ingenier[oa])|hablo)\b",
        r"\b(?:mi nombre|mi cumpleaños|mi zona horaria|mi mujer|mi marido|mi hija|mi hijo) (?:es|está|se"
        r" llama|tiene)\b",
        about="user",
    ),
)

SPANISH: Final = Language(
    common=words(
        "el la los las un una es son está están y o pero no nunca siempre que de del en por para con se lo"
        " al hemos ha hay debe deben nuestro nuestra mi mis su antes después usar vamos más como muy todo"
        " todos todas sin si ya aún todavía"
    ),
    asks=form(
        r"¿|(?:puedes|podrías|cuál|qué|quién|cómo|por qué|dónde|cuándo|debo|debemos|hay que|sabes"
        r"|tienes)\b(?! .*\bantes de\b)"
    ),
    doubts=form(
        r"\b(?:creo que|quizás?|tal vez|a lo mejor|probablemente|supuestamente|al parecer|no sé|no estoy"
        r" segur[oa]|según (?:la|el|los)|por ejemplo|imagina|supongamos|olvida|me pregunto|podríamos"
        r"|parece que)\b",
        r"\b(?:la documentación|el readme|el artículo|el tutorial|él|ella|alguien) (?:dice|decía"
        r"|afirma)\b|\bhe leído\b|\bellos han (?:decidido|elegido)\b",
    ),
    unreal=form(r"\b(?:sería|serían|podría|podrían|habría|usáramos|usásemos|fuera|debería|deberíamos)\b"),
    conditions=form(r"\b(?:si|en caso de)\b"),
    orders=form(
        r"(?:añade|escribe|crea|muestra|explica|abre|revisa|comprueba|borra|cambia|dame|busca|lee|ejecuta"
        r"|traduce|arregla|haz|pon)\b"
    ),
    helps=form(
        r"\b(?:voy a|puedo|déjame|recomiendo|sugiero|debo|veo)\b|\b(?:puedes|puede|podrías|deberías|debes"
        r"|tienes que)\b|\bpor defecto\b|\ben general\b"
    ),
    open_cues=words(
        "pregunta preguntas pendiente decidir definir aclarar elegir claro decidido sabemos queda"
    ),
    open=form(
        r"^(?:preguntas? abiertas?|pendiente|por decidir|por definir|queda por (?:decidir|definir"
        r"|aclarar)) ?[:–-] ?\S",
        r"\b(?:queda por|falta|aún tenemos que|todavía tenemos que|aún hay que|todavía hay que)"
        r" (?:decidir|definir|aclarar|elegir)\b(?= \S)",
        r"\b(?:no está claro|no está decidido|aún no sabemos|todavía no sabemos) (?:si|qué|cuál|quién"
        r"|cómo|cuándo|dónde)\b",
    ),
    rules=_RULES,
    values=Values(
        verb=form(
            r"(?P<called>\bse llaman?\b)",
            r"(?P<placed>\b(?:corre|corren|escucha|se encuentra|se encuentran|reside|vive|usa|utiliza"
            r"|(?:está|están)(?: (?:alojad[oa]s?|guardad[oa]s?|desplegad[oa]s?|disponibles?"
            r"|ubicad[oa]s?))?)\b)",
            r"(?P<timed>\b(?:empieza|comienza|termina|acaba|caduca|dura|cuesta|sale|llega|vence)\b)",
            r"(?P<counted>\b(?:tiene|tienen)\b)",
            r"(?P<is>\b(?:es|son|será)\b)",
        ),
        nouns=words(
            "puerto host url dirección ip dominio base bucket región rama repositorio versión ruta carpeta"
            " directorio archivo fichero tabla cola canal usuario cuenta nombre límite plazo presupuesto"
            " fecha entrega precio tasa tamaño zona idioma correo email teléfono número modelo servidor"
            " licencia contacto umbral retención duración intervalo máximo mínimo variable prefijo formato"
            " moneda demo reunión examen vuelo cumpleaños boda proyecto cliente entorno ticket lanzamiento"
            " alquiler"
        ),
        named=words("nombre idioma rama licencia base cliente proyecto moneda formato contacto"),
        grouped=words("equipo servidor empresa base proyecto cluster"),
        vague=form(
            r"(?:no|ya|todavía|aún|siempre|mal|bien|correct[oa]|incorrect[oa]|rot[oa]|vací[oa]|muy"
            r"|demasiado|libre|ocupad[oa]|desconocid[oa]|ok|buen[oa]|mal[oa]|lent[oa]|list[oa]|caíd[oa]|en"
            r" uso|abiert[oa]|bloquead[oa]|ahí|aquí)\b"
        ),
        others=words(
            "eso esto ello ellos ellas que qué quién todo nada aquí ahí él ella yo tú nosotros esta este"
        ),
        every=words("todos todas"),
        ours=words("nuestro nuestra mi mis"),
        passing=words("ejemplo error salida línea"),
        joint=form(r"[,;:(–—]\s*|\b(?:y|pero|que|porque|pues|o|cuando|si)\b\s*"),
        small=words(
            "el la los las un una de del nuestro nuestra nuestros mi mis tu su este esta nuevo nueva al"
            " para en actual"
        ),
        of=form(r"\b(?:de la|del|de|para|en)\b ?"),
        dates=form(
            r"\b(?:lunes|martes|miércoles|jueves|viernes|sábado|domingo|enero|febrero|marzo|abril|mayo"
            r"|junio|julio|agosto|septiembre|octubre|noviembre|diciembre|mañana)\b"
        ),
    ),
)
