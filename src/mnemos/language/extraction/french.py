"""How facts are stated in French."""

from __future__ import annotations

from typing import Final

from mnemos.language.extraction.forms import Language, Values, form, rule, words
from mnemos.language.notation import Mark

_RULES: Final = (
    rule(
        Mark.DECISION,
        "décidé choisi convenu opté retenu adopté accord tranché décision utiliser partir garder passer"
        " rester migrer abandonner part partons garde gardons passe passons reste restons utilise"
        " utilisons abandonne abandonnons préfère déteste aime préférerais lieu plutôt",
        r"\b(?:nous avons|on a|j'ai|l'équipe a|on s'est|nous nous sommes) (?:\S+ )?(?:décidé|choisi"
        r"|convenu|opté|retenu|adopté|mis d'accord|tranché)\b(?= \S+)",
        r"^(?:décision|décidé|convenu) ?[:–-] ?\S",
        r"\b(?:on|nous) (?:va|allons|vas) (?:utiliser|partir sur|garder|passer à|rester sur|migrer"
        r"|abandonner)\b(?! (?:ça|cela)\b)",
        r"\b(?:on|nous) (?:part sur|partons sur|garde|gardons|passe à|passons à|reste sur|restons sur"
        r"|utilise|utilisons|abandonne|abandonnons)\b(?! (?:ça|cela)\b)",
        r"^(?:utilisons|gardons|partons sur|passons à|restons sur)\b(?! (?:ça|cela)\b)",
        r"\bje (?:préfère|déteste|n'aime pas|préférerais)\b(?! (?:ça|cela|le premier|la première|le"
        r" second|la seconde|le deuxième|la deuxième|celui|celle|pas)\b)(?= \S)|\bj'aime (?:les|des|mieux"
        r"|quand)\b",
        r"^(?:utilise|utilisez|prends|préfère) .*\b(?:au lieu de|plutôt que)\b",
        unless=form(
            r"\b(?:n'a|n'avons|n'ai|pas|rien|encore) (?:\S+ ){0,2}(?:décidé|choisi)\b|\bencore rien\b"
        ),
        by_assistant=True,
    ),
    rule(
        Mark.CONSTRAINT,
        "faut doit doivent devons devez dois ne toujours jamais uniquement seulement exclusivement"
        " interdit interdite interdits interdites obligatoire obligatoires exclu exclue proscrit"
        " proscrite désormais dorénavant maintenant avenir cas exception règle contrainte exigence"
        " consigne convention réponds écris parle merci",
        r"\b(?:il faut|on doit|nous devons|vous devez|tu dois) (?:toujours|absolument|impérativement)\b"
        r"|\bil ne faut (?:jamais|pas|surtout pas)\b",
        r"\b(?:doit|doivent) (?:toujours |impérativement |absolument |obligatoirement )?(?:être|rester"
        r"|contenir|avoir|passer|tenir|fonctionner|se)\b",
        r"\bne (?:doit|doivent|peut|peuvent|devez|dois) (?:jamais|pas)\b",
        r"(?:^|[,:] ?)(?:s'il te plaît,? |merci de )?ne (?:\S+ ){0,2}(?:jamais|pas|surtout pas|plus)\b",
        r"(?:^|[,:] ?)(?:toujours|jamais) \w+",
        r"^(?:\w+ ){1,3}(?:toujours|uniquement|seulement|exclusivement) (?:\S+)",
        r"\b(?:est|sont) (?:strictement )?(?:interdite?s?|obligatoires?|exclue?s?|proscrite?s?)\b|\bil"
        r" est interdit\b|\bil est obligatoire\b",
        r"\b(?:désormais|dorénavant|à partir de maintenant|à l'avenir)\b(?=.* \S+ \S+)",
        r"\ben aucun cas\b|\bsans exception\b|^(?:règle|contrainte|exigence|consigne|convention) ?[:–-] ?\S",
        r"^(?:réponds|écris|parle)(?:-moi)? (?:\w+ )?(?:en|toujours|uniquement)\b",
        r"\bon ne \S+ (?:jamais|que|plus|pas) (?:\S+)",
        unless=form(
            r"\b(?:ça|c'|cela|ce) (?:doit|ne marche|ne fonctionne)|\bça marche toujours|\bje ne\b|\bj'ai"
            r" toujours\b|\btoujours pas\b|\bil ne (?:marche|fonctionne)\b|\bon n'a\b|\bne t'inquiète\b"
            r"|\bon ne (?:sait|peut) pas\b|\bil faut que (?:je|j')",
        ),
        commands=True,
    ),
    rule(
        Mark.VALUE,
        "j je mon ma",
        r"\bj'habite\b|\bje (?:vis|travaille|suis (?:allergique|végétarien\w*|végane|développeu\w+"
        r"|professeur\w*|médecin|infirmi\w+|étudiant\w*|basée?)|m'appelle)\b",
        r"\b(?:mon nom|mon anniversaire|mon fuseau horaire|ma femme|mon mari|ma fille|mon fils) (?:est|a"
        r"|s'appelle)\b",
        unless=form(r"\bje travaille (?:dessus|encore)\b"),
        about="user",
    ),
)

FRENCH: Final = Language(
    common=words(
        "le la les un une des du de est sont nous on je tu il elle et ou mais pas ne pour avec dans sur au"
        " aux à en que qui toujours jamais faut doit doivent avons avez notre nos mon ma mes ce cette ça"
        " plus sans être avant d l n s j utiliser décidé c"
    ),
    asks=form(
        r"(?:est-ce|peux-tu|pouvez|peut-on|quel\w*|comment|pourquoi|où|quand (?:est|faut)|qui|combien"
        r"|as-tu|avons-nous|faut-il|dois-je|doit-on|qu'est|tu peux|tu sais)\b"
    ),
    doubts=form(
        r"\b(?:je crois|je pense|peut-être|probablement|sans doute|apparemment|il paraît|je ne sais pas"
        r"|pas sûr|selon (?:la doc\w*|le readme|l'article)|d'après (?:la|le|l')|par exemple|imagine\w*"
        r"|supposons|oublie|je me demande)\b",
        r"\b(?:la doc|le readme|l'article|le tutoriel|il|elle|quelqu'un) (?:dit|disait|affirme|écrit)\b"
        r"|\bj'ai lu\b|\bon pourrait\b|\bils ont (?:décidé|choisi)\b",
    ),
    unreal=form(r"\b(?:serait|seraient|pourrait|pourraient|faudrait|devrait|devrions|semble|soit)\b"),
    conditions=form(r"\b(?:si|s'il|s'ils|au cas où)\b"),
    orders=form(
        r"(?:ajoute|écris|crée|montre|explique|ouvre|vérifie|supprime|change|donne|cherche|lis|lance"
        r"|traduis|corrige|fais|mets)\b"
    ),
    helps=form(
        r"\bje (?:vais|peux|vérifie|regarde|recommande|suggère|dois|vois)\b|\b(?:tu|vous) (?:peux|pouvez"
        r"|devriez|devrais|devez|dois)\b|\bpar défaut\b|\ben général\b|\blaisse-moi\b"
    ),
    open_cues=words(
        "question questions point décider définir clarifier choisir trancher clair décidé sait reste"
    ),
    open=form(
        r"^(?:questions? ouvertes?|point ouvert|à décider|à définir|à clarifier|reste à (?:décider"
        r"|définir|clarifier)) ?[:–-] ?\S",
        r"\b(?:il reste à|reste à|on doit encore|nous devons encore|il faut encore) (?:décider|définir"
        r"|clarifier|choisir|trancher)\b(?= \S)",
        r"\b(?:pas encore clair|pas clair|pas encore décidé) (?:si|quel\w*|qui|comment|quand|où)\b|\bon"
        r" ne sait pas encore (?:si|quel\w*|qui|comment|quand|où)\b",
    ),
    rules=_RULES,
    values=Values(
        verb=form(
            r"(?P<called>\bs'appellent?\b)",
            r"(?P<placed>\b(?:tourne|tournent|écoute|écoutent|se trouve|se trouvent|réside|vit|utilise"
            r"|(?:est|sont) (?:hébergée?s?|stockée?s?|déployée?s?|disponibles?|située?s?|accessibles?"
            r"|dans|sur|sous))\b)",
            r"(?P<timed>\b(?:commence|débute|finit|termine|expire|dure|coûte|part|arrive|(?:est|sont)"
            r" (?:prévue?s?|fixée?s?))\b)",
            r"(?P<counted>\b(?:a|ont|compte)\b)",
            r"(?P<is>\b(?:est|sont)\b)",
        ),
        nouns=words(
            "port hôte url adresse ip domaine base bucket région branche dépôt version chemin dossier"
            " répertoire fichier table file canal utilisateur compte nom limite délai budget échéance date"
            " prix taux taille fuseau langue email courriel téléphone numéro modèle serveur licence"
            " contact seuil rétention durée intervalle maximum minimum défaut variable préfixe format"
            " devise démo réunion examen vol anniversaire mariage projet client environnement ticket"
            " version livraison rendez-vous loyer"
        ),
        named=words("nom langue branche licence base client projet devise format contact"),
        grouped=words("équipe serveur entreprise base projet cluster"),
        vague=form(
            r"(?:pas|déjà|encore|toujours|faux|fausse|correcte?|cassée?|vide|trop|très|libre|occupée?"
            r"|inconnue?|ok|bonne?|mauvaise?|lente?|prête?|en panne|en cours|ouverte?|bloquée?|manquante?"
            r"|là)\b"
        ),
        others=words("il elle ce c'est cela ça ils elles qui que quoi on nous je tu tout rien ici là"),
        every=words("tous toutes"),
        ours=words("notre nos mon ma mes"),
        passing=words("exemple erreur sortie ligne"),
        joint=form(r"[,;:(–—]\s*|\b(?:et|mais|que|parce que|car|donc|ou|puisque|quand|si)\b\s*"),
        small=words(
            "le la les l un une des du de d notre nos mon ma mes ton ta ce cette nouveau nouvelle au aux"
            " pour dans sur actuel actuelle"
        ),
        of=form(r"\b(?:de la|de l'|du|des|de|d'|pour|dans|sur)\b ?"),
        dates=form(
            r"\b(?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|janvier|février|mars|avril|mai|juin"
            r"|juillet|août|septembre|octobre|novembre|décembre|demain)\b"
        ),
    ),
)
