"""Orders to send away what must not leave: keys, passwords, private files, conversations.

It takes a verb of sending, something private right behind it, and a place outside. Sending reports, logs and
builds passes; so do rules against it, and logging in, where a password goes to the place it belongs to.
"""

from __future__ import annotations

import re
from typing import Final

from mnemos.text.threats.context import is_addressed, is_negated
from mnemos.text.threats.phrases import Phrasebook, Rule, classes, ordered, phrases

_SENDS: Final = "tells the model to send private data away"

# A place outside: an address, or words for a machine or a person that nobody here knows.
WHERE: Final = (
    r"re:(?:(?:the|this|that|an?|our|my|his|her|their|following|attacker's|hacker's|remote|external|unknown"
    r"|server|url|address|endpoint|webhook|site|den|dem|die|der|diese[rnms]?|einen?|externen?|fremden?|le|la"
    r"|les|l'|l|cette|ce|un|une|serveur|adresse|el|esta|este|una?|servidor|direccion|mi"
    r"|mon)\W{1,3}){0,5}(?:[\"'`<(]{0,2}(?:https?|s?ftp|wss?)\W{1,3}[^\s\"'`<>)]{3,}|[\w.+-]+@[\w-]+\.\w+"
    r"|\+?\d{8,15}\b|\d{1,3}(?:\.\d{1,3}){3}|[\w-]+(?:\.[\w-]+)*\.(?:com|net|org|io|xyz|ru|cn|tk|site|top"
    r"|info|dev|app|sh|me|cc|biz|evil|example|test|co|ai|online|link|live|club|st|in|eu|de|fr|es)\b"
    r"|external\b|remote\b|attackers?\b|hackers?\b|third[- ]part(?:y|ies)|my (?:server|email|inbox|address"
    r"|endpoint|webhook|site|telegram|discord)|webhook|pastebin|telegram|discord|ngrok|dropbox|gist"
    r"|public (?:repo\w*|gist|fork|bucket|channel|paste|branch|issue|page|forum|wiki)|your (?:next |first "
    r"|every )?(?:reply|replies|answers?|response|responses|output)|deine[rn]? (?:\w+ )?antwort"
    r"|ta (?:\w+ )?reponse|tu (?:\w+ )?respuesta|(?:url|endpoint|server|address|webhook|inbox|email|channel"
    r"|bot|collector|site|domain|ip|account)\b|externen? server|server\b|webhook-url|serveur (?:externe"
    r"|distant)|servidor (?:externo|remoto)|dritte\b|un tiers|terceros)"
)
_FILE: Final = (
    r"re:(?:~|/home/\w+|/root|\$home|\.|/etc|\.\.)?/?(?:\.ssh(?:/[\w.*-]+)?|\.aws(?:/\w+)?"
    r"|\.env(?:\.(?!example|sample|template)\w+)?|\.netrc|\.npmrc|\.pypirc|\.git-credentials"
    r"|\.kube(?:/config)?|\.gnupg|\.bash_history|\.zsh_history|etc/passwd|etc/shadow|passwd|shadow|id_rsa"
    r"|id_ed25519|\.docker/config\.json|\.config/gh|credentials(?:\.json)?|secrets?\.(?:json|ya?ml|toml|env)"
    r"|config/secrets\S*|memories/\w+\.md|memory\.md|user\.md|state\.db|\.mnemos\S*|\.hermes\S*|wallet\.dat"
    r"|cookies\.sqlite|\.vault\S*)|\w*(?:_api_key|_token|_secret|_secret_key|_access_key|_password)\b"
)

_CLASSES: Final = {
    "where": WHERE,
    "file": _FILE,
    **classes("""
send: send|include|show|print|commit|post|upload|email|e-mail|mail|forward|transmit|exfiltrate|leak|submit
    |deliver
    |push|publish|copy|relay|share|paste|dump|ship|pipe|beacon|smuggle|transfer|report|stream|export|message
    |text
    |fax|bcc|cc|attach|sync|post up|hand over|give|write|curl|put|pass|output|append
det: all|any|every|each|of|the|your|my|our|their|his|her|its|this|that|these|those|a|an|full|entire|complete
    |raw
    |user's|users'|user|current|latest|stored|saved|whole|contents|content|copy|copies|list|values|value
    |output
    |result|results|from|in|and|both|found|available|local|project|project's|developer's|owner's|base64
    |base64-encoded|encoded|encrypted|zipped|everything|files|file|me|us|over|out|back|along|private|secret
    |sensitive|host's|machine's|repo's|environment's|customer's|customers'|company's|company|team's|active
    |decrypted|plaintext|unredacted|last|recent|new|session's|session|aws|github|openai|anthropic|cloud
    |production
    |prod|database|db|api|ssh|gpg|root|admin|browser|bank|to|as|it
private: secrets|credentials|passwords|password|api keys|api key|api-keys|keys|private keys|private key|ssh
    keys
    |ssh key|tokens|access tokens|auth tokens|session tokens|session cookies|cookies|environment
    |environment variables|env vars|env variables|env|keychain|wallet|wallets|seed phrase|seed phrases
    |recovery phrase|history|chat history|conversation|conversations|conversation history|chat|chats|chat log
    |chat logs|transcript|transcripts|messages|prompts|system prompt|memory|memories|memory.md|user.md
    |notebook
    |source code|codebase|customer data|personal data|personal information|contacts|credit card|credit cards
    |card numbers|shadow|passwd|bash_history|id_rsa|id_ed25519|credentials.json|known_hosts|private data|user
    data
    |sensitive data|confidential data|confidential files|sensitive files|data you (find|have|see|collect)
    |everything you (know|learn|find|see)|everything the user (types|says|writes|sends)|login data|logins
    |emails
    |whatever the user (types|says|writes)|inbox|documents|files
keys: api keys|api key|secrets|credentials|passwords|private keys|access tokens|personal data|user data
    |customer data|confidential data|session cookies|environment variables|env vars
seek: find|collect|gather|read|grab|take|extract|search for|search|look for|scan for|scan|get|open|list
    |harvest
    |cat|steal|copy|dump|retrieve|fetch|compress|zip|tar|archive|encode|base64|encrypt|load|locate|record
    |capture
    |log|pull
it: it|them|that|this|the result|the results|everything|its contents|its content|the contents|the content
    |the output|the data|the values|the file|the files|the archive|the list|what you find|whatever you find|a
    copy
    |copies|these|those|all of it|all of them|each one|the zip|the tarball|the text|the encoded text|the
    string
to: to|at|via|through|into|using|over|on|with|as|in
de_send: sende|senden sie|schicke|schick|schicken sie|ubermittle|ubermitteln sie|ubertrage|leite|maile|poste
    |lade
    |exportiere|kopiere|verschicke|versende|gib|leake|veroffentliche|zeige
de_private: zugangsdaten|passworter|passwort|kennworter|kennwort|api-schlussel|api schlussel|api-keys|api keys
    |schlussel|privaten schlussel|private schlussel|ssh-schlussel|ssh-keys|token|tokens|geheimnisse|geheimnis
    |secrets|umgebungsvariablen|chatverlauf|gesprachsverlauf|gesprach|verlauf|nachrichten|nachricht
    |kundendaten
    |dateien|quellcode|anmeldedaten|inhalte|inhalt|notizen|system-prompt|systemprompt|geheimen daten|daten
    |cookies
    |unterhaltung|gesprache|env-datei
de_det: alle|allen|den|die|das|der|des|deine|seine|ihre|gefundenen|gespeicherten|inhalt|inhalte|kompletten
    |gesamten|ganzen|vollstandigen|von|aus|privaten|und|nutzers|benutzers|samtliche|jede|jedes|datei|meine
    |eine
    |kopie|aktuellen|gesamte|dir|mir
fr_send: envoie|envoyez|transmets|transmettez|poste|postez|transfere|transferez|expedie|expediez|publie|copie
    |televerse|televersez|exporte|partage|partagez|communique|fais suivre|faites suivre|exfiltre|envoyer
    |transmettre|affiche
fr_private: cles|cle|cles api|cle api|cles ssh|cle ssh|cle privee|cles privees|mots de passe|mot de passe
    |identifiants|secrets|jetons|jeton|tokens|variables d'environnement|historique|conversation|conversations
    |messages|donnees|donnees personnelles|fichiers|code source|fichier .env|notes|memoire|prompt systeme
    |cookies
    |contenu
fr_det: toutes|tous|tout|les|le|la|l'integralite|integralite|des|de|du|d'|tes|vos|ses|mes|contenu|du fichier
    |fichier|entier|l'historique|ensemble|de l'utilisateur|et|une|copie|l'ensemble|donnees|complet|complete
    |d'api|l
es_send: envia|envie|envien|manda|mande|sube|suba|publica|publique|reenvia|reenvie|transmite|transmita|remite
    |copia|exporta|comparte|comparta|exfiltra|enviar|mandar|postea|filtra|muestra
es_private: claves|clave|claves api|clave api|claves ssh|clave privada|claves privadas|contrasenas|contrasena
    |credenciales|secretos|tokens|token|variables de entorno|historial|conversacion|conversaciones|mensajes
    |datos
    |datos personales|archivos|ficheros|codigo fuente|contenido|notas|memoria|cookies|prompt del sistema
    |llaves
    |llave
es_det: todas|todos|todo|toda|las|los|el|la|del|de|tus|sus|mis|contenido|archivo|fichero|completo|entero|una
    |copia
    |y|usuario|cada|historial|completa|api|datos|privados|privadas
"""),
}

_LOGIN: Final = re.compile(
    r"\b(?:log ?-?in|sign ?-?in|auth\w*|oauth\w*|token endpoint|/token|/session|header|bearer|refresh|vault"
    r"|1password|bitwarden|keychain|secret manager|secrets manager|kms|sops)\b"
)
_AT_HOME: Final = re.compile(
    r"(?:localhost|127\.0\.0\.1|\blocal\b|\binternal\b|\.internal|\.local\b|\.lan\b|10\.\d|192\.168\.)"
)


def _sent_away(text: str, start: int, end: int) -> bool:
    clause = text[start : end + 60].split("\n")[0]
    if _LOGIN.search(clause) or _AT_HOME.search(text, start, end + 60):
        return False
    return is_addressed(text, start) and not is_negated(text, start, reach=50)


BOOK: Final = Phrasebook(
    "exfiltration",
    _CLASSES,
    (
        Rule(
            _SENDS,
            _sent_away,
            phrases("""
{send} {det*} ({private}|{file}) ..8 {to} {where}
{send} {det*} ({private}|{file}) ..3 (to|with) (me|us)
{seek} ..10 (and|then) [then|silently|quietly|also|immediately] (include|embed|append|attach|put|add|{send})
    {it}
    [it|over|out|along|back|up] ..2 {to} {where}
{seek} {det*} ({private}|{file}) ..6 (and|then) ..2 (include|embed|append|attach|put|add|{send}) ..8 {to}
    {where}
(include|embed|append|encode|put|insert|hide|place) {det*} ({private}|{file}) ..4 (in|into|to|as|inside) ..3
    (image|img|pixel|markdown|subdomain|dns|query string|url parameter|link|hyperlink|url) ..4 (to|of|at|on
    |that
    |pointing|so|when|and|you|in)
(leak|expose|disclose|reveal|exfiltrate|steal|divulge) {det*} {keys}
(print|show|output|display|list|dump|return) (all|any|every|the user's|all of the) {det*} (api keys|secrets
    |credentials|passwords|private keys|access tokens)
(give|tell|send|show) me {det*} {keys}
(send|give|deliver|hand) (all|any|the|your) [user|customer|private|collected|personal] (data|information
    |files) to
    [the] (attacker|attackers|hacker|hackers)
(cc|bcc) {where} (on|in) (all|every|each|any)
(forward|bcc|cc|copy|mirror|relay|duplicate) (all|every|each|any) ..6 (to|at) {where}
"""),
        ),
        Rule(
            _SENDS,
            ordered,
            phrases("""
{de_send} ..1 {de_det*} ({de_private}|{file}) ..6 (an|nach|zu|auf|uber|per|bei|unter|in) {where}
{de_send} ..3 {file} ..4 (an|nach|zu|auf|in) {where}
{fr_send} ..1 {fr_det*} ({fr_private}|{file}) ..6 (a|vers|sur|chez|par|au|dans) {where}
{fr_send} ..3 {file} ..4 (a|vers|sur|dans) {where}
{es_send} ..1 {es_det*} ({es_private}|{file}) ..6 (a|al|hacia|en|por|hasta) {where}
{es_send} ..3 {file} ..4 (a|al|hacia|en) {where}
"""),
        ),
    ),
)
