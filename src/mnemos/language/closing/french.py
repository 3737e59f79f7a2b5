"""French statements of finished work; the letters are those of ``language``."""

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
from mnemos.language.closing.words import FRENCH as KEYS
from mnemos.language.closing.words import NOUNS

_WORDS: Final = words(
    NOUNS,
    {
        "j": "tache taches fonctionnalite fonctionnalites correctif correctifs etape etapes ticket"
        " tickets mise version versions migration branche branches projet refonte livraison deploiement"
        " deploiements",
        "q": "bug bugs probleme problemes erreur erreurs plantage plantages anomalie souci soucis",
        "h": "largeur hauteur taille position prix cellule cellules ligne lignes colonne colonnes"
        " fichier processus script commande requete verrou memoire connexion fenetre conflit conflits"
        " listes",
        "d": "le la les l' mon ma mes notre nos ton ta tes votre vos leur leurs",
        "g": "un une des chaque plusieurs certains certaines quelques",
        "t": "ce cet cette ces celui celle",
        "i": "je j' nous on tu vous",
        "u": "c' ca cela ceci tout tous toutes toute il elle ils elles",
        "f": "m' t' me te moi lui y",
        "b": "est sont suis sommes",
        "P": "fut",
        "v": "ai a as avons ont avez",
        "m": "faut doit dois devons doivent devra devrait devraient va vais allons vont veux veut"
        " voudrais voulons voulait sera seront serait aura auront soit soient besoin essaie essayer"
        " espere faudrait faudra pourra pourrait",
        "N": "peut peux pouvez pouvons stp svp peux-tu pouvez-vous",
        "r": "etait etaient dis dites previens previens-moi verifie verifier assure assure-toi montre"
        " montre-moi fais regarde pense crois sais trouve ajoute cree ecris deploie teste attends"
        " attendre change renomme mets supprime explique dit semble parait revert annule annuler ping"
        " relance liste affiche donne",
        "a": "maintenant deja enfin bien juste aussi completement totalement entierement parfaitement"
        " correctement nickel impeccable impec officiellement tres desormais vraiment finalement"
        " proprement",
        "o": "ok oui ouais merci parfait super genial cool top voila bon yes allez hop salut bonjour"
        " excellent bravo ah oh eh hourra youpi beau joli bref",
        "l": "et & + donc",
        ">": "puis ensuite",
        "y": "mais cependant toutefois pourtant ou sinon",
        "yw": "tandis quoique",
        ",w": "car",
        "c": "si quand lorsque lorsqu' avant tant objectif jusqu' pendant",
        "w": "que qu' qui quoi où comment pourquoi combien quel quelle quels quelles lequel laquelle"
        " dont est-ce est-il est-elle",
        "e": "presque quasiment quasi partiellement bientot peut-etre probablement normalement"
        " theoriquement seulement encore demain apparemment localement reste restent sauf toujours"
        " surement plutot",
        "x": "ne n' pas jamais rien aucun aucune ni sans non point personne",
        "S": "plus",
        "z": "plante plantent casse casser cassee casses echoue echouent manque manquent malheureusement"
        " bloque bloquee crashe foire rollback revertee tombee bugge lent lente rouge cassé planté",
        "H": "souvent automatiquement generalement habituellement autrefois auparavant depuis",
        "T": "hier",
        "1": "à au aux vers",
        "2": "dans en",
        "3": "sur chez",
        "4": "avec",
        "5": "par",
        "6": "pour",
        "7": "de d' du",
        "8": "apres",
        "0": "via comme sous entre contre",
    },
    KEYS,
)  # fmt: skip

_PHRASES: Final = phrases(
    {
        "vpM": "a ete mise en prod|a ete mis en prod|a ete mise en ligne|a ete mis en ligne"
        "|a ete mise en production",
        "vp": "a ete|ont ete|ai ete",
        "b": "vient d' etre|viennent d' etre",
        "iC": "je clos|on clos|nous closons",
        "~": "viens de|venons de|vient de|viens d'|vient d'",
        "a": "depuis ce matin|depuis hier|ce matin|cet apres-midi|ce soir|aujourd 'hui|ca y est"
        "|a merveille|sans probleme|sans souci|sans erreur|sans accroc|comme prevu|comme attendu"
        "|comme il faut|a nouveau|de nouveau|avec succes|plus d' erreur|du premier coup|pour de bon"
        "|il y a une heure|tout de suite|en plus|sans problemes|sans erreurs",
        "I": "en prod|en production|sur main|dans main|sur master|dans master|en ligne|sur prod"
        "|sur la prod|sur le main",
        "o": "c' est bon|c' est ok|merci beaucoup|bonne nouvelle|beau travail|bon travail|pas de souci"
        "|bien joue|merci bien|c' est tout bon",
        "x": "pas encore|toujours pas|loin d'|loin de|au lieu",
        "e": "a moitie|en partie|plus ou moins|a peu pres|en theorie|en principe|en local|une partie"
        "|a part|la moitie|pour l' instant|en preprod|en recette|en staging|sur staging",
        "c": "une fois|des que|des qu'|tant que|jusqu' a|jusqu' à|au cas|a condition|s' il|s' ils"
        "|s' elle|des lors|à condition",
        "yw": "bien que|bien qu'|meme si|alors que|alors qu'",
        ",w": "parce que|parce qu'|vu que|puisque",
        "H": "la semaine derniere|l' an dernier|l' annee derniere|le mois dernier|par defaut|à chaque"
        "|chaque fois",
        "w": "est-ce que|est-ce qu'|ce que|ce qu'|ce qui",
        "z": "en panne|en erreur|en vrac|par terre|ne marche|ne fonctionne|ne repond",
        "X": "ship it|c' est dans la boite|affaire classee|mission accomplie|le tour est joue",
        "j": "mise en prod|mise en production|mise en ligne",
        "bM": "est mis en prod|est mise en prod|est mise en ligne|est mis en ligne"
        "|est mise en production|est passe en prod|est passee en prod",
        "M": "mis en prod|mis en ligne|mis en production",
    }
)  # fmt: skip

_NOUN: Final = noun()
_SUBJECT: Final = rf"(?:[iut]|u?{_NOUN})a*"
_ANYTHING: Final = rf"(?:[ut]|u?{noun(THING)})a*"
_PROBLEM: Final = r"(?:u?[dt]?[nj]{0,3}q[nj]{0,2})a*"
_TICKET: Final = "(?:[ut]|[dt][njq]{0,2}[jq][njq]{0,2}|[jq][njq]{0,2})"
_OBJECT: Final = (
    rf"(?:[utd](?![{THING}])|u?[dt]a?[{THING}]{{1,6}}(?:7[dt]?[{THING}]{{1,4}})?"
    rf"|[jq][njq]{{0,3}}|[{WORK}]{{1,3}}(?=[1I]))"
)
_NOW: Final = tail(adverbs="aI")
_STILL: Final = tail(adverbs="aIT")
_DONE: Final = "[DMFQ]"

FRENCH: Final = Language(
    _WORDS,
    _PHRASES,
    signs=frozenset("àâæçèêëîïôùûœ"),
    whole=statements(
        # C'est fait pour durer: what it is made for.
        (rf"{_SUBJECT}ba*D", _STILL),
        (rf"{_SUBJECT}ba*[MFQ]", tail("16")),
        ("ib?a*D", tail("4")),
        (rf"{_SUBJECT}vpa*{_DONE}", FREELY),
        (rf"{_SUBJECT}[utd]?va*u?a*{_DONE}a*(?:{_OBJECT})?", tail("123567")),
        (rf"i[utd]?va*u?a*{_DONE}a*{_OBJECT}", FREELY),
        (rf"{_SUBJECT}~[=C](?:{_OBJECT})?", tail("12367")),
        (rf"u?[{WORK}Q]{{1,5}}a*D", _STILL),
        (rf"u?[{WORK}Q]{{1,5}}a*[MF]", tail("16")),
        (rf"{_SUBJECT}ba*I", _NOW),
        (rf"{_TICKET}(?:b|vp)?a*[KL]", _NOW),
        # Without its accent: le ticket est ferme.
        (rf"{_TICKET}ba*C", _NOW),
        (rf"{_SUBJECT}[utd]?va*K{_TICKET}", _NOW),
        (rf"{_PROBLEM}(?:ba*|va*)O", _NOW),
        (rf"{_ANYTHING}W", _NOW),
        (rf"u?[dt]?[{THING}]{{1,5}}V", _NOW),
        (r"[ut]Vu?", _NOW),
        (rf"{_ANYTHING}Y[aI]+", _NOW),
        (rf"{_ANYTHING}x?zS", _NOW),
        (rf"{_PROBLEM}x?[nz]S", _NOW),
        (rf"i[utd]?C(?:{_TICKET})?", rf"(?:{_NOW}|[0w].*$)"),
    ),
    bare=statements(
        ("u?D", tail("4")),
        ("u?[MF]", tail("12467")),
        ("K", _NOW),
        ("(?:b|vp)a*[DMFQ]", tail("1")),
        ("ba*I", _NOW),
        ("I", r"!$"),
        ("W", _NOW),
        ("V[aI]+", _NOW),
        ("N?X", _NOW),
        (rf"(?:i?N|Ni)C(?:{_TICKET})?", _NOW),
    ),
)
