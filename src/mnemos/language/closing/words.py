"""The words that close, by language and by what they do in a clause, and the nouns all languages share.

A message without one of these words closes nothing: they decide whether a message is read at all. The
letters are those of ``language``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import chain
from typing import Final

_WITH: Final = "àáâãäåçèéêëìíîïñòóôõöùúûüýÿ"
_WITHOUT: Final = "aaaaaaceeeeiiiinooooouuuuyy"
ACCENTS: Final = str.maketrans(_WITH, _WITHOUT)

NOUNS: Final = {
    "j": "pr prs mr mrs ticket tickets task tasks feature features story stories epic epics milestone"
    " milestones phase phases step steps sprint sprints branch branches release releases version"
    " versions hotfix hotfixes fix fixes bugfix bugfixes patch patches migration migrations"
    " deployment deployments deploy rollout refactor refactoring rewrite upgrade update updates"
    " change changes changeset commit commits module modules project prototype mvp integration"
    " implementation redesign cleanup audit spike poc investigation experiment todo todos item scope"
    " pull-request build launch pipeline frontend backend docs part parts one ones",
    "z": "500 500s 404 404s 502 503",
    "q": "bug bugs issue issues problem problems error errors crash crashes exception exceptions warning"
    " warnings leak leaks vulnerability vulnerabilities regression flake failure failures glitch typo"
    " typos blocker blockers incident incidents defect defects outage outages downtime",
    "h": "width height size length position price prices rate seed cell cells row rows column columns"
    " lists dict dicts dictionary array arrays object objects string strings lock locks mutex"
    " semaphore memory resource resources order orders parcel parcels promise promises dependency"
    " dependencies variable variables host reference references conflicts conflict font fonts source",
    "@": "process command request requests query queries download upload thread threads call response",
}

ENGLISH: Final = {
    "D": "done",
    "E": "finished completed finalized finalised",
    "Q": "complete sorted",
    "M": "merged deployed shipped released launched published delivered migrated implemented",
    "%": "pushed promoted moved",
    "#": "resolves solves fixes",
    "F": "fixed solved resolved patched squashed",
    "K": "closed",
    "L": "live",
    "O": "gone",
    "U": "landed succeeded successful",
    "W": "works",
    "J": "worked",
    "V": "working",
    "Y": "work",
    "X": "lgtm",
    "C": "closing",
    "<": "close",
}
# What developers say in every language.
_BORROWED: Final = {
    "D": "done",
    "M": "merged deployed shipped released",
    "F": "fixed",
    "L": "live",
    "X": "lgtm",
}

GERMAN: Final = {
    **_BORROWED,
    "D": "done fertig erledigt abgeschlossen beendet vollendet vollbracht abgehakt fertiggestellt",
    "M": "merged deployed shipped released gemerged gemergt gemerget gemergd gedeployed gedeployt deployt"
    " ausgerollt veroffentlicht veroeffentlicht gereleased ausgeliefert geliefert umgesetzt"
    " implementiert migriert eingespielt gelauncht eingebaut hochgeladen livegeschaltet",
    "F": "fixed gefixt gefixed behoben gelost geloest repariert korrigiert geklart geklaert bereinigt",
    "K": "geschlossen zu zugemacht",
    "L": "live online",
    "O": "weg verschwunden",
    "U": "durch durchgelaufen drin raus draussen draußen",
    "W": "funktioniert lauft laeuft klappt funzt",
    "V": "geht tut passt",
    "J": "geklappt hingehauen hinbekommen hingekriegt",
    "Y": "funktionieren laufen klappen",
    "X": "lgtm geschafft",
    "C": "schliesse schließe schliessen schließen",
}
# The masculine participles are written with their accents here; without them they are other words too.
FRENCH: Final = {
    **_BORROWED,
    "D": "done fini finie finis finies fait faite faits faites terminé terminés terminee terminees bouclé"
    " bouclee achevé achevee clos réglé reglee effectué effectuee plié",
    "M": "merged deployed shipped released mergé mergés mergee mergees fusionné fusionnee déployé"
    " déployés deployee deployees livré livrés livree livrees publié publiés publiee publiees lancé"
    " lancee sorti sortie implémenté implementee migré migree poussé poussee",
    "F": "fixed corrigé corrigés corrigee corrigees résolu résolus resolu resolue resolus resolues réparé"
    " reparee fixé fixee solutionné solutionnee",
    "K": "fermé fermés fermee fermees clôturé cloturee",
    "Q": "termine termines boucle acheve regle regles merge merges fusionne deploye deployes livre livres"
    " publie publies lance implemente migre pousse corrige corriges repare",
    "O": "disparu disparue disparus parti partie",
    "U": "passé passe passee",
    "W": "fonctionne refonctionne remarche",
    "V": "marche tourne roule",
    "Y": "marchent fonctionnent tournent",
    "C": "ferme cloture fermer cloturer clore",
    "=": "merger deployer finir terminer livrer corriger publier fusionner resoudre regler",
}
# First and third persons are written with their accents here; without them they are other words too.
SPANISH: Final = {
    **_BORROWED,
    "D": "done hecho hecha hechos hechas listo lista listos listas terminado terminada terminados"
    " terminadas acabado acabada acabados acabadas finalizado finalizada completado completada"
    " completados completadas concluido concluida",
    "M": "merged deployed shipped released mergeado mergeada mergeados mergeadas fusionado fusionada"
    " desplegado desplegada desplegados desplegadas publicado publicada lanzado lanzada liberado"
    " liberada entregado entregada implementado implementada migrado migrada deployado deployada"
    " deployeado subido subida",
    "F": "fixed arreglado arreglada arreglados arregladas resuelto resuelta resueltos resueltas"
    " solucionado solucionada solucionados corregido corregida corregidos corregidas reparado"
    " reparada",
    "K": "cerrado cerrada cerrados cerradas",
    "E": "hice hicimos terminé acabé cerré arreglé mergeé desplegué publiqué lancé resolví solucioné"
    " corregí completé implementé subí migré deployé terminamos acabamos cerramos arreglamos"
    " mergeamos desplegamos publicamos lanzamos resolvimos solucionamos corregimos completamos"
    " implementamos subimos migramos deployamos",
    "J": "terminó acabó cerró arregló mergeó desplegó publicó lanzó resolvió solucionó corrigió completó"
    " implementó subió migró funcionó salió finalizó",
    "W": "funciona",
    "V": "anda sirve jala",
    "Q": "funcionando",
    "Y": "funcionan andan",
    "O": "desaparecido desapareció desaparecieron",
    "C": "cierro cierra cerrar cerrarlo cerrarla cerremos",
    "=": "mergear desplegar terminar acabar publicar entregar arreglar resolver solucionar corregir subir"
    " completar lanzar implementar deployar",
}

# Words of which a phrase that closes is made; the others of such phrases are above.
_IN_PHRASES: Final = (
    "ship prod production main master pypi npm trick job wrap accomplished accomplie wrapped rolled"
    " went signed ticked checked did cracked nailed longer anymore more running online back care dealt"
    " mark marked marking calling consider declare out erfolgreich produktion mehr dran drauf plus ligne"
    " boite mission classee joue produccion quedo esta vivo linea aparece ocurre falla cumplida looks nothing"
)


def _misspelt(line: str) -> dict[str, str]:
    """Words with two neighbouring letters in the wrong order, or without one of the letters inside.

    The first two and the last letter stay: what is left then is no other word.
    """
    found: dict[str, str] = {}
    for word in line.split():
        for at in range(1, len(word) - 2):
            found[word[:at] + word[at + 1] + word[at] + word[at + 2 :]] = word
            found[word[: at + 1] + word[at + 2 :]] = word
    return found


_OFTEN_MISSPELT: Final = (
    "merged deployed shipped released finished completed fixed resolved works working closing"
)
_OTHER_WORDS: Final = frozenset("competed fied mered resoled woks".split())
TYPOS: Final[Mapping[str, str]] = {
    "doen": "done",
    "dnoe": "done",
    **{wrong: word for wrong, word in _misspelt(_OFTEN_MISSPELT).items() if wrong not in _OTHER_WORDS},
}
SIGNS: Final = frozenset(
    word.translate(ACCENTS)
    for line in (_IN_PHRASES, *chain.from_iterable(map(dict.values, (ENGLISH, GERMAN, FRENCH, SPANISH))))
    for word in line.split()
).union(TYPOS)


def has_sign(lowered: str) -> bool:
    """Whether a text in lower case has a word without which nothing closes."""
    folded = lowered if lowered.isascii() else lowered.translate(ACCENTS)
    return not SIGNS.isdisjoint(_WORD.findall(folded))


_WORD: Final = re.compile("[a-zß]+")
