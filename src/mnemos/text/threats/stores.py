"""Where secrets and private things are kept on Linux, macOS and Windows, and which machines are one's own.

A store is *secret* (keys, credentials, cookies, wallets, what was typed) or merely *private* (documents, a
whole home). What prints a single token for use, ``$GITHUB_TOKEN`` or ``gh auth token``, is a *value*. Public
halves of keys, settings without secrets and ``.env.example`` are none of these. Everything here reads folded
text: lower case.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from mnemos.text.threats.forms import Forms, Seen


class Store(StrEnum):
    SECRET = "secret"  # noqa: S105
    PRIVATE = "private"
    VALUE = "value"


@dataclass(frozen=True, slots=True)
class Kept:
    """A store named by ``text[start:end]``; ``is_file`` when it is named by its path."""

    kind: Store
    start: int
    end: int
    is_file: bool


# A part of a path ends with a slash of either kind; inside quotes a backslash may be doubled.
_S: Final = r"[/\\]{1,2}"
_REST: Final = rf"\b(?:{_S}[^\s\"'`|;&<>()]{{0,120}})?"
_FILES: Final = Forms(rf"""
(?<!\w)\.ssh{_S}(?![\w.*-]{{0,60}}\.pub\b|config\b|known_hosts|authorized_keys)[\w.*-]{{0,60}}
(?<!\w)\.ssh\b(?!{_S})
(?<!\w)\.(?:gnupg|aws|azure|oci|kube|password-store|mozilla|thunderbird|bitcoin|electrum|ethereum|monero
    |hermes
    |mnemos|databricks|ibmcloud|netlify|vercel|heroku){_REST}
(?<!\w)\.(?:docker{_S}config\.json|gem{_S}credentials|cargo{_S}credentials|m2{_S}settings
    |composer{_S}auth\.json
    |gradle{_S}gradle\.properties|codex{_S}auth|claude{_S}\.credentials|terraform\.d{_S}credentials
    |local{_S}share{_S}(?:keyrings|kwalletd))
(?<!\w)\.config{_S}(?:gh|gcloud|hub|glab-cli|op|rclone|doctl|solana|keepassxc|bitwarden|1password|slack
    |discord
    |signal|google-chrome|chromium|bravesoftware|microsoft-edge|vivaldi|opera|github-copilot){_REST}
\bapplication\\? support/(?:google|chromium|bravesoftware|microsoft edge|firefox|slack|signal|discord
    |1password
    |bitwarden|exodus){_REST}
\bappdata{_S}(?:local|roaming){_S}(?:google|chromium|mozilla|bravesoftware|microsoft{_S}edge
    |microsoft{_S}credentials
    |gcloud|slack|discord|exodus){_REST}
(?<!\w)\.config/?(?=[\s\"'`]|$)
(?<!\w)\.env(?:\.(?!example|sample|template|dist|schema)\w+)?\b(?![.\w-])
(?<!\w)\.(?:envrc|netrc|npmrc|pypirc|yarnrc|pgpass|my\.cnf|mylogin\.cnf|git-credentials|vault-token|boto|s3cfg
    |databrickscfg|terraformrc|claude\.json)\b
\.(?:bash|zsh|fish|psql|mysql|python|node_repl|sqlite)_history\b
/etc/(?:passwd|g?shadow|sudoers|krb5\.keytab|ssh/ssh_host_\w+_key\b(?!\.pub)|kubernetes/[\w./-]{{0,60}})
/run/secrets/\w
/proc/(?:self|\d{{1,7}}|\$\w{{1,20}})/environ
\bid_(?:rsa|ed25519|ecdsa|dsa)\b(?!\.pub)
\bid_\*
\*\.(?:pem|key|kdbx|p12|pfx)\b
(?<=\w)\.(?:kdbx|keystore|jks|p12|pfx)\b
\bwallet\.dat\b
\bcookies\.(?:sqlite|db|binarycookies)
\blogins\.json
\bkey[34]\.db\b
\blogin data\b
(?<=[/\\])cookies\b
\blibrary/(?:keychains|messages|mail|cookies)\b
\blogin\.keychain
\b(?:consolehost|fish)_history\b
\bntds\.dit\b
\bhklm\\{{1,2}}(?:sam|security)\b
\bapplication_default_cred
\bservice[-_]account[\w-]{{0,30}}\.json
\bterraform\.tfstate\b
\brclone\.conf\b
\bgcloud{_S}\w
\bwp-config\.php
\bconfig/master\.key
\btdata\b
\bsecrets?\.(?:json|ya?ml|toml|env|txt)\b
\bcredentials(?:\.\w|\b(?=[\"'`]|\s?[|>]))
\bmemories/\w{{1,40}}\.md
\b(?:memory|user)\.md\b
\bkeyrings\b
\bmetamask\b
""")
_PRIVATE_FOLDER: Final = (
    rf"(?:{_S}(?:my )?(?:documents|dokumente|documentos|desktop|schreibtisch|bureau|escritorio|pictures"
    r"|bilder|images|imagenes|photos|downloads|mail|maildir|notes|notizen|private|privat|obsidian\w{0,20}|onedrive"
    rf"|dropbox|nextcloud){_REST}|{_S}?(?=[\s\"'`:]|$))"
)
_OF_PEOPLE: Final = Forms(rf"""
(?<![:\w])~[\w-]{{0,30}}{_PRIVATE_FOLDER}
(?<![:\w])\$(?:home|\{{home\}}|env:(?:userprofile|home)){_PRIVATE_FOLDER}
%userprofile%{_PRIVATE_FOLDER}
(?<![:\w])/(?:home|users)/[\w.$*-]{{1,40}}{_PRIVATE_FOLDER}
(?<![:\w])/root{_PRIVATE_FOLDER}
\bc:{_S}users{_S}[\w.-]{{1,40}}{_PRIVATE_FOLDER}
(?<!\S)/home/?(?!\S)
\b(?:mysqldump|pg_dump|mongodump|docker save|git bundle create|git archive)\b
""")
_START_OF_WORD: Final = r"(?<![^\s;&|(`$])"
_PRINTED: Final = Forms(rf"""
{_START_OF_WORD}(?:env|set|export -p|declare -x|history)(?=\s?[|>)]|`)
\bprintenv\b
\bhistory \d{{1,6}}(?=\s?\|)
\b(?:get-childitem|gci|dir|ls) env:
\bkubectl (?:-\S{{1,20}} \S{{1,40}} )?get secrets?\b
\bkubectl config view[^\n|;]{{0,20}}--raw
\bos\.environ\b(?!\[|\.get|\.pop|\.setdefault)
\bprocess\.env\b(?![.\[\w])
\bsystem\.getenv\(\)
\b(?:get-clipboard|pbpaste|wl-paste|scrot|screencapture)\b
\bxclip[^\n|;]{{0,20}} -o\b
\bimport -window root\b
--export-secret-keys?\b
\bsecurity dump-keychain\b
\bbw list items\b
\bps (?:auxe|auxwe|axe|-ef e)
\bcmdkey /list\b
\btojson\(secrets\)
""")
_KEY_NAME: Final = r"\w{0,40}(?:key|token|secret|passw)\w{0,40}"
_VALUE: Final = Forms(rf"""
\$\{{?(?:env:)?\w{{0,40}}(?:api_?key|token|secret|passw(?:or)?d|credentials?|private_?key
    |access_?key(?:_id)?)\w{{0,40}}
os\.environ(?:\[|\.get\()[\"']?{_KEY_NAME}
os\.getenv\([\"']?{_KEY_NAME}
process\.env\.{_KEY_NAME}
\bsecurity find-(?:generic|internet)-password\b
\b(?:pass show|op read|op item get|bw get|secret-tool lookup|gh auth token|aws configure get)\b
\baws configure export-credentials\b
\bgcloud auth (?:application-default )?print-access-token\b
\b(?:aws secretsmanager get-secret-value|aws ssm get-parameter|gcloud secrets versions access
    |az keyvault secret)\b
\$\{{\{{ ?secrets\.\w
\bvault (?:kv get|read|print token)\b
""")
_SOURCES: Final = (
    (Store.SECRET, _FILES, True),
    (Store.SECRET, _PRINTED, False),
    (Store.VALUE, _VALUE, False),
    (Store.PRIVATE, _OF_PEOPLE, True),
)
# A key that opens a door on the way is not what is carried through it.
_USED: Final = re.compile(
    r"(?:\bsource|(?:^|\s)\.|\s-[io]|\bidentityfile|--(?:identity|env-file|netrc-file|key|cert|cacert|config"
    r"|kubeconfig|identity-file|from-env-file|exclude))[ =][\"']?\S{0,30}$"
)


def stores(seen: Seen) -> list[Kept]:
    """What is kept somewhere, in order of place; of two that overlap only the first."""
    found = [(*span, kind, is_file) for kind, forms, is_file in _SOURCES for span in seen.spans(forms)]
    found.sort(key=lambda one: one[0])
    kept: list[Kept] = []
    for start, end, kind, is_file in found:
        overlaps = kept and kept[-1].end > start
        if not overlaps and not (is_file and _USED.search(seen.text, max(0, start - 45), start)):
            kept.append(Kept(kind, start, end, is_file))
    return kept


# --- whose machine ----------------------------------------------------------------------------------

PRIVATE_NET: Final = r"(?:10\.|127\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|0\.0)"
NUMBERS: Final = rf"(?!{PRIVATE_NET})\d{{1,3}}(?:\.\d{{1,3}}){{3}}"
_OWN_HOST: Final = re.compile(
    rf"localhost|{PRIVATE_NET}|\[?::1|(?:[\w-]+\.)*(?:local|lan|internal|home|intranet|svc|localdomain)$"
    r"|(?:[\w-]+\.)*internal\.|[\w-]+$"
)
_HOST: Final = re.compile(
    # A bucket is no machine.
    r"(?<!s3)(?<!gs)://(?:[^\s/@\"'`]{1,80}@)?(?P<url>[^\s/:\"'`?)]{1,100})"
    rf"|@(?P<login>\[?[\w.-]{{1,100}}\]?):|(?<=[\s@])(?P<plain>{NUMBERS})\b"
    r"|(?<=\s)(?P<copied>[\w-]{1,60}\.[\w.-]{1,100}):(?=[/~\w]|$|\s)"
    r"|(?<=tcp:)(?P<dialled>[\w.-]{1,100}):\d"
)
SHADY: Final = Forms(rf"""
(?:webhook\.site|requestbin|pipedream|ngrok|beeceptor|burpcollaborator|oastify|interact\.sh|pastebin
    |transfer\.sh
    |file\.io|0x0\.st|termbin|ix\.io|hookbin|requestcatcher|mocky|canarytokens|dnslog|ceye\.|evil|attack|exfil
    |malicious|hacker|steal|serveo|localtunnel|trycloudflare|tinyurl|duckdns)
\b(?:oast\.|c2\b|collect(?:or)?\b|drop\b|bit\.ly\b|paste\.)
\b(?:leak|loot|grab)\w{{0,10}}\.
\.(?:xyz|tk|top|ru|cn)\b
//{NUMBERS}
""")


def hosts(text: str, start: int, end: int) -> Iterator[str]:
    """The machines that are named between two places, by address, by login or by number."""
    for match in _HOST.finditer(text, start, end):
        yield match[match.lastgroup or 0].strip("[]")


def is_own(host: str) -> bool:
    """Whether a machine is this one, on the own net, or called by a short name."""
    return _OWN_HOST.match(host) is not None


def goes_home(seen: Seen, start: int, end: int) -> bool:
    """Whether machines are named and all of them are one's own."""
    named = list(hosts(seen.text, start, end))
    return bool(named) and all(map(is_own, named)) and not seen.has(SHADY, start, end)
